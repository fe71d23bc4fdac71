/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Programs with real jemallocs, built in the ways that programs and their debug data come: whatever ctop
 * reads of a parked thread equals what the thread's own mallctl(3) says. `--long` adds those that take
 * minutes to build.
 */
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../cmocka_include.h"
#include "../needs.h"
#include "probe_run.h"

struct variant {
	const char *name;        /* of the test */
	const char *target;      /* of tests/targets/build */
	const char *environment; /* of the target */
	const char *cache;       /* of ctop: debuginfod's, below the target's directory */
	bool is_root;            /* the target's directory is its root directory */
	bool needs_stop;         /* its C library registers no robust lists */
};

static const struct variant variants[] = {
	{.name = "5.3.0", .target = "5.3.0"},
	{.name = "5.2.1", .target = "5.2.1"},
	{.name = "5.1.0", .target = "5.1.0"},
	{.name = "no position-independent code", .target = "no-pie"},
	{.name = "static", .target = "static"},
	{.name = "static-pie", .target = "static-pie"},
	{.name = "own thread-local data before it", .target = "own-tls"},
	{.name = "debuglink", .target = "debuglink"},
	{.name = "debuglink, symbols kept", .target = "debuglink-symbols"},
	{.name = "build id below the target's root", .target = "build-id", .is_root = true},
	{.name = "debuginfod's cache", .target = "debuginfod", .cache = "DEBUGINFOD_CACHE_PATH"},
	{.name = "package, DWARF 4", .target = "dwp"},
	{.name = "package, DWARF 5", .target = "dwp-5"},
	{.name = "zlib", .target = "zlib"},
	{.name = "zstd", .target = "zstd"},
	{.name = "dwz", .target = "dwz"},
	{.name = "dwz with a common file", .target = "dwz-multi", .is_root = true},
	{.name = "5.3.0 without debug data", .target = "no-debug"},
	{.name = "5.2.1 without debug data", .target = "no-debug-5.2.1"},
	{.name = "5.1.0 without debug data", .target = "no-debug-5.1.0"},
	{.name = "without symbols", .target = "stripped"},
	{.name = "Debian's archive", .target = "debian"},
	{.name = "Debian's archive, static", .target = "debian-static"},
	{.name = "shared library", .target = "shared"},
	{.name = "preloaded library", .target = "plain", .environment = "LD_PRELOAD=libjemalloc.so.2"},
};

static const struct variant long_variants[] = {
	{.name = "prefix _rjem_", .target = "rjem"},
	{.name = "musl", .target = "musl", .needs_stop = true},
	{.name = "500 MiB of debug data", .target = "large"},
	{.name = "500 MiB of debug data without address ranges", .target = "large-no-ranges"},
};

static void start(const struct variant *variant, struct target *target)
{
	const char *path = target_path(variant->target);
	char *directory;

	if (!variant->is_root) {
		target_start(target, variant->environment, (const char *[]){path, "park", "3", NULL});
		return;
	}
	need_capability(CAP_SYS_CHROOT, "start a program in a root directory of its own");
	directory = strdup(path);
	assert_non_null(directory);
	target_start(target, NULL,
		     (const char *[]){"chroot", dirname(directory), "/target", "park", "3", NULL});
	free(directory);
}

static void test_variant(void **state)
{
	const struct variant *variant = *state;
	const char *option = variant->needs_stop ? NULL : "--no-stop";
	struct run_options options = {0};
	char environment[4200];
	struct target target;
	yajl_val tree;

	start(variant, &target);
	if (variant->cache != NULL) {
		char *directory = strdup(target_path(variant->target));

		snprintf(environment, sizeof(environment), "%s=%s/cache", variant->cache, dirname(directory));
		options.environment[0] = environment;
		free(directory);
	}
	for (int round = 0; round < 2; round++) {
		tree = probe_process(target.child, option, &options, 0);
		expect_own_counts(probe_threads(tree, 0), &target);
		yajl_tree_free(tree);
		if (round == 0)
			target_command(&target, "go");
	}
	target_end(&target);
}

/* musl registers no robust lists: without a stop its threads cannot be read, and that is said. */
static void test_musl_needs_stop(void **state)
{
	struct target target;
	yajl_val tree, threads;

	(void)state;
	target_start_named(&target, "musl", "park", "2");
	tree = probe_process(target.child, "--no-stop", NULL, 1);
	threads = probe_threads(tree, 0);
	assert_int_equal(threads->u.array.len, 3);
	for (size_t i = 0; i < 3; i++)
		expect_error_kind(threads->u.array.values[i], "needs-stop");
	yajl_tree_free(tree);
	target_end(&target);
}

int main(int argc, char **argv)
{
	bool is_long = argc > 1 && strcmp(argv[1], "--long") == 0;
	const struct variant *chosen = is_long ? long_variants : variants;
	size_t count = is_long ? sizeof(long_variants) / sizeof(long_variants[0])
			       : sizeof(variants) / sizeof(variants[0]);
	struct CMUnitTest tests[sizeof(variants) / sizeof(variants[0]) + 1] = {0};

	for (size_t i = 0; i < count; i++)
		tests[i] = (struct CMUnitTest){chosen[i].name, test_variant, NULL, NULL, (void *)&chosen[i]};
	if (is_long)
		tests[count++] = (struct CMUnitTest)cmocka_unit_test(test_musl_needs_stop);
	return _cmocka_run_group_tests("targets", tests, count, NULL, NULL);
}
