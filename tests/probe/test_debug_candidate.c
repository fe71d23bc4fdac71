/* SPDX-License-Identifier: GPL-2.0-only */
/* Paths of separate debug files, and which names may become part of one. */
#include <stdlib.h>
#include <string.h>

#include "../cmocka_include.h"
#include "probe/object/debug_candidate.h"

struct path_case {
	const char *object, *debuglink, *build_id;
	const char *paths[DEBUG_CANDIDATE_MAX + 1];
};

#define BUILD_ID_PATH "/usr/lib/debug/.build-id/ab/cdef0123456789.debug"
#define THREE_LINKS                                                                                          \
	"/usr/bin/example.debug", "/usr/bin/.debug/example.debug", "/usr/lib/debug/usr/bin/example.debug"

static const struct path_case path_cases[] = {
	{"/usr/bin/example", "example.debug", "abcdef0123456789", {BUILD_ID_PATH, THREE_LINKS}},
	{"/usr/bin/example", NULL, NULL, {NULL}},
	{"/usr/bin/example", "example.debug", "a", {THREE_LINKS}},
	{"/usr/bin/example", "example.debug", "", {THREE_LINKS}},
	{"/usr/bin/example", NULL, "ab", {"/usr/lib/debug/.build-id/ab/.debug"}},
	{"./example",
	 "example.debug",
	 "deadbeef12345678",
	 {"/usr/lib/debug/.build-id/de/adbeef12345678.debug", "./example.debug", "./.debug/example.debug"}},
	{"example", "example.debug", NULL, {"example.debug", ".debug/example.debug"}},
	{"/example",
	 "example.debug",
	 NULL,
	 {"/example.debug", "/.debug/example.debug", "/usr/lib/debug/example.debug"}},
	{"/", "orphan.debug", "abcdef0123456789", {BUILD_ID_PATH}},
	{"/usr/bin/example", "/etc/passwd", "abcdef0123456789", {BUILD_ID_PATH}},
	{"/usr/bin/example", "../../etc/passwd", NULL, {NULL}},
	{"/usr/bin/example", "example.debug", "/.passwd", {THREE_LINKS}},
	{"/usr/bin/example", NULL, "..", {NULL}},
	{"/usr/bin/example", NULL, "ABCDEF0123456789", {NULL}},
	{"/usr/bin/example", NULL, "xyzzy012345", {NULL}},
	{"/usr/bin/example", NULL, "abc", {NULL}},
	{"", "example.debug", NULL, {NULL}},
	{"//usr//bin//example",
	 "x",
	 NULL,
	 {"//usr//bin/x", "//usr//bin/.debug/x", "/usr/lib/debug//usr//bin/x"}},
};

static void test_paths(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(path_cases) / sizeof(path_cases[0]); i++) {
		const struct path_case *expected = &path_cases[i];
		struct debug_candidates found;
		size_t count = 0;

		debug_candidates_find(expected->object, expected->debuglink, expected->build_id, &found);
		while (expected->paths[count] != NULL)
			count++;
		assert_int_equal(found.count, count);
		for (size_t path = 0; path < count; path++) {
			assert_string_equal(found.paths[path], expected->paths[path]);
			free(found.paths[path]);
		}
	}
}

static void test_alternate(void **state)
{
	struct debug_candidates found;

	(void)state;
	debug_candidates_find_alternate("tools.debug", &found);
	assert_int_equal(found.count, 2);
	assert_string_equal(found.paths[0], "/usr/lib/debug/.dwz/tools.debug");
	assert_non_null(strstr(found.paths[1], "-linux-gnu/tools.debug"));
	free(found.paths[0]);
	free(found.paths[1]);
	debug_candidates_find_alternate("../../../etc/shadow", &found);
	assert_int_equal(found.count, 0);
}

struct name_case {
	const char *name;
	size_t length; /* 0: up to the NUL */
	bool safe;
};

static const struct name_case links[] = {
	{"example.debug", 0, true},
	{"libfoo-1.2.3.so.debug", 0, true},
	{".hidden.debug", 0, true},
	{"a", 0, true},
	{"...", 0, true},
	{"", 0, false},
	{".", 0, false},
	{"..", 0, false},
	{"/", 0, false},
	{"/etc/passwd", 0, false},
	{"../etc/passwd", 0, false},
	{"subdir/foo.debug", 0, false},
	{"./foo.debug", 0, false},
	{"foo\0bar", 7, false},
};

static const struct name_case build_ids[] = {
	{"ab", 0, true},
	{"0123456789abcdef", 0, true},
	{"0123456789abcdef0123456789abcdef01234567", 0, true},
	{"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", 0, true},
	{"", 0, false},
	{"abc", 0, false},
	{"AB", 0, false},
	{"xx", 0, false},
	{"ab cd", 0, false},
	{"ab-cd", 0, false},
	{"ab-c", 0, false},
	{"..", 0, false},
	{"a/b", 0, false},
	{"ab/c", 0, false},
	{"ab\0\0", 4, false},
};

static void test_names(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++) {
		const size_t length = links[i].length > 0 ? links[i].length : strlen(links[i].name);

		assert_int_equal(debug_link_is_safe(links[i].name, length), links[i].safe);
	}
	for (size_t i = 0; i < sizeof(build_ids) / sizeof(build_ids[0]); i++) {
		const size_t length = build_ids[i].length > 0 ? build_ids[i].length
							      : strlen(build_ids[i].name);

		assert_int_equal(debug_build_id_is_safe(build_ids[i].name, length), build_ids[i].safe);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_alternate),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
