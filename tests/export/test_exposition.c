/* SPDX-License-Identifier: GPL-2.0-only */
/* The text formats of Prometheus and OpenMetrics, and which of them is asked for. */
#include "cmocka_include.h"

#include "base/memory.h"
#include "cmd/export/export_family.h"
#include "report/exposition.h"

#include <stdlib.h>
#include <string.h>

static void test_negotiation(void **state)
{
	static const struct {
		const char *accept;
		enum exposition_format format;
	} cases[] = {
		{NULL, EXPOSITION_TEXT},
		{"", EXPOSITION_TEXT},
		{"*/*", EXPOSITION_TEXT},
		/* Prometheus 2.42 */
		{"application/openmetrics-text;version=1.0.0,application/"
		 "openmetrics-text;version=0.0.1;q=0.75,"
		 "text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
		 EXPOSITION_OPENMETRICS},
		/* Prometheus 3 without a wish for OpenMetrics */
		{"text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,text/plain;version=0.0.4;q=0.3",
		 EXPOSITION_TEXT},
		{"application/openmetrics-text", EXPOSITION_OPENMETRICS},
		{" Application/OpenMetrics-Text ; Version=1.0.0 ; Q=0.5 , text/plain;q=0.4",
		 EXPOSITION_OPENMETRICS},
		{"application/openmetrics-text;version=0.0.1", EXPOSITION_TEXT},
		{"application/openmetrics-text;q=0,text/plain;q=0.1", EXPOSITION_TEXT},
		{"application/openmetrics-text;q=0.3,text/plain;q=0.4", EXPOSITION_TEXT},
		{"application/openmetrics-text;q=0.35,text/plain;q=0.349", EXPOSITION_OPENMETRICS},
		{"application/openmetrics-textual", EXPOSITION_TEXT},
		{",,;;=,q=;", EXPOSITION_TEXT},
		{"application/openmetrics-text;q=", EXPOSITION_OPENMETRICS},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		if (exposition_negotiate(cases[i].accept) != cases[i].format)
			fail_msg("%s", cases[i].accept != NULL ? cases[i].accept : "(none)");
	}
}

static char *label_of(const char *value, size_t length)
{
	struct buffer buffer = {0};

	exposition_append_label(&buffer, "group", value, length);
	return buffer_steal(&buffer);
}

static void assert_label(const char *value, size_t length, const char *expected)
{
	char *label = label_of(value, length);

	assert_string_equal(label, expected);
	free(label);
}

#define ASSERT_LABEL(value, expected) assert_label(value, sizeof(value) - 1, "group=\"" expected "\"")

static void test_labels(void **state)
{
	(void)state;
	ASSERT_LABEL("", "");
	ASSERT_LABEL("worker-{N}", "worker-{N}");
	ASSERT_LABEL("a\"b\\c\nd", "a\\\"b\\\\c\\nd");
	ASSERT_LABEL("\xc3\xa4", "\xc3\xa4");
	/* an end cut off, a byte of no sequence, a surrogate, a NUL, an escape sequence, C1 */
	ASSERT_LABEL("x\xc3", "x\xef\xbf\xbd");
	ASSERT_LABEL("\xff\xfe", "\xef\xbf\xbd\xef\xbf\xbd");
	ASSERT_LABEL("\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
	ASSERT_LABEL("a\0b", "a\xef\xbf\xbd"
			     "b");
	ASSERT_LABEL("\033[31m\r", "\xef\xbf\xbd[31m\xef\xbf\xbd");
	ASSERT_LABEL("\xc2\x9b", "\xef\xbf\xbd");
	/* a change of text direction, a Unicode line separator, a tag character */
	ASSERT_LABEL("\u202ea\u2028\U000e0041", "\uFFFDa\uFFFD\uFFFD");
}

static char *write_example(enum exposition_format format)
{
	static const char labels[] = "axis=\"process\",group=\"a\"";
	struct buffer buffer = {0};
	struct exposition exposition = {.buffer = &buffer, .format = format};

	exposition_begin(&exposition, EXPOSITION_COUNTER, "ctop_group_run", UNIT_NS, "Time\\ \"on\" a\nCPU.");
	exposition_add(&exposition, labels, strlen(labels), UINT64_C(1500000000));
	exposition_add(&exposition, labels, strlen(labels), 1);
	exposition_add(&exposition, labels, strlen(labels), UINT64_C(18446744073709551615));
	exposition_begin(&exposition, EXPOSITION_GAUGE, "ctop_group_resident", UNIT_BYTES, "Memory.");
	exposition_add(&exposition, labels, strlen(labels), 4096);
	exposition_begin(&exposition, EXPOSITION_GAUGE, "ctop_threads", UNIT_COUNT, "Threads.");
	exposition_add(&exposition, NULL, 0, 0);
	exposition_begin(&exposition, EXPOSITION_INFO, "ctop_build", UNIT_NONE, "The ctop.");
	exposition_add(&exposition, "version=\"1\"", strlen("version=\"1\""), 1);
	exposition_end(&exposition);
	exposition_release(&exposition);
	return buffer_steal(&buffer);
}

static void test_text(void **state)
{
	char *text = write_example(EXPOSITION_TEXT);

	(void)state;
	assert_string_equal(
		text, "# HELP ctop_group_run_seconds_total Time\\\\ \"on\" a\\nCPU.\n"
		      "# TYPE ctop_group_run_seconds_total counter\n"
		      "ctop_group_run_seconds_total{axis=\"process\",group=\"a\"} 1.5\n"
		      "ctop_group_run_seconds_total{axis=\"process\",group=\"a\"} 0.000000001\n"
		      "ctop_group_run_seconds_total{axis=\"process\",group=\"a\"} 18446744073.709551615\n"
		      "# HELP ctop_group_resident_bytes Memory.\n"
		      "# TYPE ctop_group_resident_bytes gauge\n"
		      "ctop_group_resident_bytes{axis=\"process\",group=\"a\"} 4096\n"
		      "# HELP ctop_threads Threads.\n"
		      "# TYPE ctop_threads gauge\n"
		      "ctop_threads 0\n"
		      "# HELP ctop_build_info The ctop.\n"
		      "# TYPE ctop_build_info gauge\n"
		      "ctop_build_info{version=\"1\"} 1\n");
	free(text);
}

static void test_openmetrics(void **state)
{
	char *text = write_example(EXPOSITION_OPENMETRICS);

	(void)state;
	assert_string_equal(
		text, "# HELP ctop_group_run_seconds Time\\\\ \\\"on\\\" a\\nCPU.\n"
		      "# TYPE ctop_group_run_seconds counter\n"
		      "# UNIT ctop_group_run_seconds seconds\n"
		      "ctop_group_run_seconds_total{axis=\"process\",group=\"a\"} 1.5\n"
		      "ctop_group_run_seconds_total{axis=\"process\",group=\"a\"} 0.000000001\n"
		      "ctop_group_run_seconds_total{axis=\"process\",group=\"a\"} 18446744073.709551615\n"
		      "# HELP ctop_group_resident_bytes Memory.\n"
		      "# TYPE ctop_group_resident_bytes gauge\n"
		      "# UNIT ctop_group_resident_bytes bytes\n"
		      "ctop_group_resident_bytes{axis=\"process\",group=\"a\"} 4096\n"
		      "# HELP ctop_threads Threads.\n"
		      "# TYPE ctop_threads gauge\n"
		      "ctop_threads 0\n"
		      "# HELP ctop_build The ctop.\n"
		      "# TYPE ctop_build info\n"
		      "ctop_build_info{version=\"1\"} 1\n"
		      "# EOF\n");
	free(text);
}

/* The table is whole: each name once, and what is counted is said in a sentence. */
static void test_families(void **state)
{
	struct export_family_choice all = {.count = 0}, chosen;
	struct error error;

	(void)state;
	assert_int_equal(export_family_choose(NULL, false, &all, &error), 0);
	assert_true(all.count > 20);
	for (size_t i = 0; i < EXPORT_FAMILY_COUNT; i++) {
		struct buffer buffer = {0};
		struct exposition exposition = {.buffer = &buffer, .format = EXPOSITION_OPENMETRICS};
		const char *end;

		export_family_begin(&exposition, (enum export_family)i);
		end = strchr(buffer.data, '\n');
		assert_true(end != NULL && end[-1] == '.' && end[-2] != '.');
		for (size_t k = 0; k < i; k++) {
			assert_string_not_equal(export_families[i].name, export_families[k].name);
			assert_int_not_equal(export_families[i].column, export_families[k].column);
		}
		exposition_release(&exposition);
		buffer_release(&buffer);
	}
	assert_int_equal(export_family_choose("RSS,CPU%", false, &chosen, &error), 0);
	assert_int_equal(chosen.count, 2);
	assert_int_equal(chosen.columns[0], COLUMN_RSS);
	assert_int_equal(chosen.columns[1], COLUMN_CPU);
	assert_int_equal(export_family_choose("+THROT", false, &chosen, &error), 0);
	assert_int_equal(chosen.count, all.count + 1);
	assert_true(export_family_choose("CPU%,CPUX", false, &chosen, &error) < 0);
	assert_non_null(strstr(error.text, "CPUX"));
	assert_true(export_family_choose("WHERE", false, &chosen, &error) < 0);
	assert_non_null(strstr(error.text, "WHERE is not exported"));
}

/* To all users of a host, what /proc tells them too: io, smaps_rollup and syscall it does not
 * (proc_pid_io(5)). */
static void test_families_for_all(void **state)
{
	static const enum export_family hidden[] = {
		EXPORT_FAMILY_READ,      EXPORT_FAMILY_WRITE,         EXPORT_FAMILY_RCHAR,
		EXPORT_FAMILY_WCHAR,     EXPORT_FAMILY_SYSR,          EXPORT_FAMILY_SYSW,
		EXPORT_FAMILY_CANC,      EXPORT_FAMILY_PSS,           EXPORT_FAMILY_SWAPPED,
		EXPORT_FAMILY_WAITS_FOR, EXPORT_FAMILY_TIME_THROTTLED};
	struct export_family_choice all, chosen;
	struct error error;

	(void)state;
	assert_int_equal(export_family_choose(NULL, false, &all, &error), 0);
	assert_int_equal(export_family_choose(NULL, true, &chosen, &error), 0);
	assert_int_equal(chosen.count, all.count - 8); /* by default there are eight of them */
	for (size_t i = 0; i < chosen.count; i++) {
		for (size_t k = 0; k < sizeof(hidden) / sizeof(hidden[0]); k++)
			assert_int_not_equal(chosen.items[i], hidden[k]);
	}
	for (size_t i = 0; i < sizeof(hidden) / sizeof(hidden[0]); i++) {
		const char *name = column_name(export_families[hidden[i]].column);

		assert_true(export_family_choose(name, true, &chosen, &error) < 0);
		assert_non_null(strstr(error.text, "for the owner of a process alone"));
		assert_int_equal(export_family_choose(name, false, &chosen, &error), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_negotiation), cmocka_unit_test(test_labels),
		cmocka_unit_test(test_text),        cmocka_unit_test(test_openmetrics),
		cmocka_unit_test(test_families),    cmocka_unit_test(test_families_for_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
