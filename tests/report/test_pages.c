/* SPDX-License-Identifier: GPL-2.0-only */
/* Markdown and HTML of names that try to be more than names, compared with files in golden/. */
#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "cmocka_include.h"
#include "compare/tables.h"
#include "golden.h"
#include "html_check.h"
#include "report/report.h"

#define NAME(text)                                                                                           \
	{                                                                                                    \
		text, sizeof(text) - 1                                                                       \
	}

static const struct {
	const char *text;
	size_t length;
} names[] = {
	NAME("<script>alert(1)</script>"),
	NAME("\"><img src=x onerror=alert(1)>"),
	NAME("' onclick='x"),
	NAME("</td></table></body>"),
	NAME("&lt;&#60;&"),
	NAME("]]>--><!--"),
	NAME("a|b||c\\|d"),
	NAME("`tick` ``two``"),
	NAME("`"),
	NAME(" *bold* _it_ [x](http://example.org) "),
	NAME("@someone #12 www.example.org"),
	NAME("new\nline\rand\ttab"),
	NAME("\n# heading"),
	NAME("red \x1b[31m bell \a"),
	NAME("zero\0after"),
	NAME("bad \xff\xc0\x80\xed\xa0\x80"),
	NAME("\u202eright to left\u2066"),
	NAME("sshd\u200b\U000e0041"),
	NAME("none \ufffe\uffff"),
	NAME("日本 é"),
	NAME("-5"),
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static struct snapshot *make_snapshot(void)
{
	struct snapshot *snapshot = snapshot_create();

	snapshot->provenance.present = true;
	snapshot->provenance.hostname = "<b>host|name</b>";
	snapshot->provenance.program = "ctop 0.1.0";
	snapshot->host.present = true;
	snapshot->host.kernel_name = "Linux";
	snapshot->host.kernel_release = "6.12.1-@x";
	snapshot->host.kernel_cmdline = "quiet \"a<b\" & \xff";
	snapshot->captured_at_unix_ns = 1767225600000000000; /* 2026-01-01 00:00:00 UTC */
	for (size_t i = 0; i < METRIC_COUNT; i++)
		snapshot->metric_source[i] = metrics[i].source;
	for (uint32_t i = 0; i < COUNT(names); i++) {
		size_t thread = snapshot_add_thread(snapshot, 10 + i, 10 + i);
		uint32_t name = string_pool_intern(&snapshot->strings, names[i].text, names[i].length);

		snapshot->triple[thread] = snapshot_intern_triple(snapshot, (struct triple){name, name, 0});
		snapshot_column(snapshot, METRIC_POLICY)[thread] = name;
		snapshot_column(snapshot, METRIC_RCHAR)[thread] = i * 1000;
		if (i % 7 == 3)
			snapshot_source_reasons(snapshot, SOURCE_IO)[thread] = reason_intern("<i>why|not</i>",
											     14);
	}
	snapshot_finish(snapshot);
	return snapshot;
}

static struct buffer page;

static int release_page(void **state)
{
	(void)state;
	buffer_release(&page);
	return 0;
}

static void draw(void *context, const struct table *table)
{
	report_table(context, table);
}

static void draw_report(enum report_format format, size_t limit, size_t chunk_rows)
{
	struct snapshot *snapshot = make_snapshot();
	struct diff *groups = diff_create(NULL, snapshot,
					  &(struct diff_options){.grouping = {.axis = AXIS_PROCESS}});
	struct tables_request request = {
		.sections[SECTION_PRIMARY] = true,
		.metrics[METRIC_POLICY] = true,
		.metrics[METRIC_RCHAR] = true,
		.limit = limit,
		.chunk_rows = chunk_rows,
	};
	struct report report = {.format = format, .out = &page, .snapshot = snapshot};

	buffer_clear(&page);
	report_begin(&report, &(struct report_subject){.command = "show",
						       .file = "a<b>`|&\".zst",
						       .group_by = axes[AXIS_PROCESS].name});
	tables_make(groups, &request, draw, &report);
	report_end(&report);
	diff_release(groups);
	snapshot_release(snapshot);
}

static void expect_page(void)
{
	const char *complaint = html_check(page.data, page.length);

	if (complaint != NULL)
		fail_msg("%s", complaint);
}

static void test_html(void **state)
{
	(void)state;
	draw_report(REPORT_FORMAT_HTML, 0, 0);
	expect_page();
	golden_compare("hostile.html", &page);
}

static void test_markdown(void **state)
{
	(void)state;
	draw_report(REPORT_FORMAT_MARKDOWN, 0, 0);
	golden_compare("hostile.md", &page);
}

/* Every row of a table has as many cells as its head: no name has added or swallowed one. */
static void test_markdown_cells(void **state)
{
	size_t rows = 0;

	(void)state;
	draw_report(REPORT_FORMAT_MARKDOWN, 0, 0);
	for (const char *line = strstr(page.data, "| process"); line != NULL && *line == '|';
	     line = strchr(line, '\n') + 1) {
		size_t bars = 0;

		for (const char *at = line; *at != '\n'; at++)
			bars += *at == '|' && (at == line || at[-1] != '\\');
		assert_int_equal(bars, 5);
		rows++;
	}
	assert_int_equal(rows, 2 + 2 * COUNT(names));
}

static void test_pieces(void **state)
{
	static const enum report_format formats[] = {REPORT_FORMAT_HTML, REPORT_FORMAT_MARKDOWN};

	(void)state;
	for (size_t i = 0; i < COUNT(formats); i++) {
		struct buffer whole;

		draw_report(formats[i], 0, 0);
		whole = page;
		page = (struct buffer){0};
		for (size_t rows = 1; rows < 12; rows += 3) {
			draw_report(formats[i], 0, rows);
			assert_int_equal(page.length, whole.length);
			assert_memory_equal(page.data, whole.data, whole.length);
		}
		buffer_release(&whole);
	}
}

static void test_limit(void **state)
{
	(void)state;
	draw_report(REPORT_FORMAT_HTML, 3, 0);
	expect_page();
	assert_non_null(strstr(page.data, "39 more rows are left out"));
	draw_report(REPORT_FORMAT_MARKDOWN, 3, 0);
	assert_non_null(strstr(page.data, "39 more rows are left out"));
	for (size_t i = 0; i < 2; i++) { /* one is not many */
		draw_report(i == 0 ? REPORT_FORMAT_HTML : REPORT_FORMAT_MARKDOWN, 41, 0);
		assert_non_null(strstr(page.data, "1 more row is left out"));
	}
}

/* The check itself sees what it is for. */
static void test_check(void **state)
{
	static const char *const bad[] = {
		"<html></html>",
		"<!DOCTYPE html>\n<html>",
		"<!DOCTYPE html>\n<html></p></html>",
		"<!DOCTYPE html>\n<html><img /></html>",
		"<!DOCTYPE html>\n<html onload=\"x\"></html>",
		"<!DOCTYPE html>\n<html lang=en></html>",
		"<!DOCTYPE html>\n<html>a & b</html>",
		"<!DOCTYPE html>\n<html>a > b</html>",
		"<!DOCTYPE html>\n<html>\x1b</html>",
		"<!DOCTYPE html>\n<html>\xff</html>",
		"<!DOCTYPE html>\n<html><script>a < b</script></html>",
		"<!DOCTYPE html>\n<html><script>fetch(x)</script></html>",
		"<!DOCTYPE html>\n<html><style>@import x;</style></html>",
	};
	static const char good[] = "<!DOCTYPE html>\n<html lang=\"a&amp;b\"><meta name=\"x\" />&lt;</html>";

	(void)state;
	for (size_t i = 0; i < COUNT(bad); i++)
		assert_non_null(html_check(bad[i], strlen(bad[i])));
	assert_null(html_check(good, strlen(good)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_html),   cmocka_unit_test(test_markdown),
		cmocka_unit_test(test_pieces), cmocka_unit_test(test_markdown_cells),
		cmocka_unit_test(test_limit),  cmocka_unit_test(test_check),
	};

	if (setlocale(LC_CTYPE, "C.UTF-8") == NULL) {
		printf("SKIP: no locale C.UTF-8\n");
		return 77;
	}
	return cmocka_run_group_tests_name("pages", tests, NULL, release_page);
}
