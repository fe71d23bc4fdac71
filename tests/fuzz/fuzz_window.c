/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Files as they are shown and compared: what windows, groups, columns, tables and reports make of numbers
 * that no capture would write. The first three bytes choose the view; behind them is the text of a snapshot
 * with its window, or, with a NUL between, those of two that are compared.
 */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "compare/compare.h"
#include "compare/diff.h"
#include "compare/diff_summary.h"
#include "compare/tables.h"
#include "metric/selection.h"
#include "report/report.h"
#include "report/screen_table.h"
#include "session/session.h"
#include "store/load.h"
#include "table/screen_format.h"
#include "table/table.h"
#include "table/view.h"

enum {
	HEAD = 3,
	LIMIT = 1 << 16,
	THREADS_MAX = 64,
	ROWS_MAX = 2, /* that are explained */
};

/* The work on the files; each takes milliseconds. */
enum work {
	WORK_TABLE,
	WORK_METRICS, /* of a row of the table */
	WORK_REPORT,
	WORKS,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size); /* libFuzzer's own */

struct text {
	const char *data;
	size_t length;
};

static void require(bool holds)
{
	if (!holds)
		abort();
}

static ssize_t fetch(void *context, const char **ret_text)
{
	struct text *rest = context;
	const size_t length = rest->length;

	*ret_text = rest->data;
	rest->length = 0;
	return (ssize_t)length;
}

static struct snapshot *load(struct text text)
{
	struct snapshot *snapshot;
	struct error error;

	if (load_snapshot(fetch, NULL, &text, &snapshot, &error) < 0)
		return NULL;
	if (snapshot->thread_count <= THREADS_MAX)
		return snapshot;
	snapshot_release(snapshot);
	return NULL;
}

/* The place of a run of digits behind a place, `size` where there is none. */
static size_t find_digits(const uint8_t *data, size_t size, size_t from)
{
	while (from < size && (data[from] < '0' || data[from] > '9'))
		from++;
	return from;
}

/*
 * Most changes of bytes make a text that is refused. So three of four change the view, or put another number
 * in the place of one.
 */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
	static const char *const numbers[] = {
		"0",
		"1",
		"3",
		"100",
		"4294967295",
		"1000000000",
		"1795161600000000000",
		"9223372036854775807",
		"9223372036854775808",
		"18446744073709551615",
	};
	const char *number = numbers[seed / 16 % ARRAY_COUNT(numbers)];
	size_t begin, end, length = strlen(number);

	if (size <= HEAD || seed % 4 == 0)
		return LLVMFuzzerMutate(data, size, max_size);
	if (seed % 16 == 1) {
		data[seed / 16 % HEAD] = (uint8_t)(seed / 64);
		return size;
	}
	begin = find_digits(data, size, HEAD + seed / 7 % (size - HEAD));
	for (end = begin; end < size && data[end] >= '0' && data[end] <= '9'; end++)
		;
	if (begin == end || size - (end - begin) + length > max_size)
		return LLVMFuzzerMutate(data, size, max_size);
	memmove(data + begin + length, data + end, size - end);
	memcpy(data + begin, number, length);
	return size - (end - begin) + length;
}

static struct view make_view(const uint8_t head[static HEAD])
{
	struct view view;

	view_initialise(&view);
	view_set_tab(&view, (enum tab)(head[0] % TAB_COUNT));
	view.grouping.axis = (enum axis)(head[1] % AXIS_COUNT);
	view.mode = (enum window_mode)(head[1] / AXIS_COUNT % WINDOW_MODE_COUNT);
	view.level = (head[2] & 1) != 0 ? VIEW_LEVEL_THREADS : VIEW_LEVEL_GROUPS;
	view.hide_idle = (head[2] & 2) != 0;
	view.limit = (head[2] & 4) != 0 ? 2 : 0;
	view.equal_rows = (head[2] & 8) != 0;
	return view;
}

static void check_cell(const struct cell *cell)
{
	require(cell->state <= CELL_UNAVAILABLE && cell->form <= CELL_FORM_BAR);
	require(cell->verdict < CELL_VERDICT_COUNT);
	require(cell->state != CELL_VALUE || cell->form != CELL_FORM_REAL || isfinite(cell->value.real));
}

/* Numbers must be fit to be printed and sorted by. */
static void look_at(const struct table *table)
{
	require(table->row_count <= table->row_total || table->more || table->continues);
	for (size_t i = 0; i < table->row_count; i++) {
		for (size_t k = 0; k < table->column_count && table->rows[i].cells != NULL; k++) {
			const struct cell *cell = &table->rows[i].cells[k];

			check_cell(cell);
			for (size_t side = 0; side < DIFF_SIDE_COUNT && cell->sides != NULL; side++) {
				check_cell(&cell->sides[side]);
				require(cell->sides[side].sides == NULL && isnan(cell_number(cell)));
			}
		}
	}
}

static bool reads_alike(const struct cell *a, const struct cell *b)
{
	struct buffer texts[2] = {0};
	bool alike;

	screen_format_cell(&texts[0], a, &screen_marks_utf8);
	screen_format_cell(&texts[1], b, &screen_marks_utf8);
	alike = texts[0].length == texts[1].length &&
		(texts[0].length == 0 || memcmp(texts[0].data, texts[1].data, texts[0].length) == 0);
	buffer_release(&texts[0]);
	buffer_release(&texts[1]);
	return alike;
}

/*
 * The table of a comparison: both sides are there where they read differently, a group of one side has
 * nothing on the other, and a table with its sides exchanged is the same in the same order.
 */
static void look_at_pairs(const struct table *table, const struct table *swapped)
{
	require(table->row_count == swapped->row_count && table->column_count == swapped->column_count);
	for (size_t i = 0; i < table->row_count; i++) {
		const struct table_row *row = &table->rows[i], *other = &swapped->rows[i];

		require(row->subject == other->subject);
		require((row->mark == ROW_MARK_NEW) == (other->mark == ROW_MARK_LEFT));
		for (size_t k = 0; k < table->column_count; k++) {
			const struct cell *cell = &row->cells[k], *exchanged = &other->cells[k];

			require(cell->verdict == exchanged->verdict);
			require((cell->sides != NULL) == (exchanged->sides != NULL));
			if (cell->sides == NULL)
				continue;
			require(!reads_alike(&cell->sides[DIFF_BEFORE], &cell->sides[DIFF_AFTER]));
			require(reads_alike(&cell->sides[DIFF_BEFORE], &exchanged->sides[DIFF_AFTER]));
			require(reads_alike(&cell->sides[DIFF_AFTER], &exchanged->sides[DIFF_BEFORE]));
			require(row->mark != ROW_MARK_NEW || cell->sides[DIFF_BEFORE].state == CELL_ABSENT);
			require(row->mark != ROW_MARK_LEFT || cell->sides[DIFF_AFTER].state == CELL_ABSENT);
		}
	}
}

static void check_text(const struct buffer *text)
{
	require(text->length == 0 || memchr(text->data, '\0', text->length) == NULL);
}

/* --- one file --- */

static void show(struct snapshot *snapshot, struct view *view, enum report_format format, bool with_metrics)
{
	struct session *session = session_create_file(snapshot);
	struct buffer out = {0}, lines = {0};
	struct report report = {.format = format, .out = &out, .snapshot = snapshot};
	struct table *table, *all;

	view_set_scheduler(view, session_scheduler(session));
	if (screen_table_has(format))
		view->naming = screen_table_naming(format);
	table = session_table(session, view);
	look_at(table);
	if (screen_table_has(format)) {
		screen_table_print(&report,
				   &(struct screen_subject){.file = "fuzz",
							    .previous = session_previous(session),
							    .interval_ns = session_interval_ns(session)},
				   view, table);
		report_end(&report);
	}
	for (size_t i = 0; i < table->row_count && i < ROWS_MAX; i++) {
		const struct table_row *row = &table->rows[i];

		session_explain(session, view, row->key, row->key_length,
				out.length % (table->column_count - table->name_count), &lines);
		check_text(&lines);
		buffer_release(&lines);
		all = with_metrics ? session_metric_table(session, view, row->key, row->key_length) : NULL;
		if (all != NULL)
			look_at(all);
		table_release(all);
	}
	table_release(table);
	session_release(session);
	buffer_release(&out);
}

/* --- two of them, or all metrics of one --- */

static void draw(void *report, const struct table *table)
{
	look_at(table);
	report_table(report, table);
}

static void print_all(const struct snapshot *before, const struct snapshot *after, const struct view *view,
		      enum report_format format)
{
	struct comparability *doubts = before != NULL ? comparability_create(before, after) : NULL;
	struct diff_options how = {
		.grouping = view->grouping,
		.dialect = view->hide_idle ? &dialect_ctop : &dialect_ktstr,
	};
	struct tables_request request = {.limit = view->limit};
	struct diff_summary changes = {0};
	struct buffer out = {0};
	struct report report = {
		.format = format, .out = &out, .snapshot = after, .before = before, .dialect = how.dialect};
	struct diff_match *match = NULL;
	struct diff *diff;

	selection_parse_sections(NULL, request.sections, NULL);
	selection_parse_metrics(NULL, request.metrics, request.derived, &request.fields, NULL);
	request.tab = view->tab;
	request.display = TABLES_DISPLAY_FULL;
	request.all = view->equal_rows;
	request.is_long = format != REPORT_FORMAT_TEXT || how.dialect == &dialect_ktstr;
	if (before != NULL) {
		how.rates = before->window != NULL && after->window != NULL && !how.dialect->is_flagged;
		how.match = match = diff_match_create(before, after, NULL);
		how.by_threads = match != NULL && !how.rates;
	}
	diff = diff_create(before, after, &how);
	if (before != NULL)
		diff_summary_make(diff, request.metrics, &(struct diff_summary_per){.ascii = false}, false,
				  &changes);
	report_begin(&report, &(struct report_subject){.command = before != NULL ? "diff" : "show",
						       .before_file = before != NULL ? "before" : NULL,
						       .file = "after",
						       .group_by = axes[view->grouping.axis].name,
						       .comparability = doubts,
						       .changes = before != NULL ? &changes : NULL});
	tables_make(diff, &request, draw, &report);
	report_end(&report);
	diff_summary_release(&changes);
	diff_release(diff);
	diff_match_release(match);
	comparability_release(doubts);
	buffer_release(&out);
}

/* The comparison on the screen. */
static void compare(struct snapshot *before, struct snapshot *after, struct view *view, bool by_change)
{
	struct comparison *comparison = compare_create(snapshot_reference(before));
	struct buffer lines = {0};
	struct table *table, *swapped;

	view->compares = true;
	view->sort_by_change = by_change;
	compare_set_after(comparison, after);
	view->mode = compare_has_rates(comparison) ? WINDOW_MODE_RATE : WINDOW_MODE_TOTAL;
	compare_swap(comparison);
	swapped = compare_table(comparison, view);
	compare_swap(comparison);
	table = compare_table(comparison, view);
	look_at(table);
	look_at_pairs(table, swapped);
	for (size_t i = 0; i < table->row_count && i < ROWS_MAX && table->column_count != 0; i++) {
		const struct table_row *row = &table->rows[i];
		const enum column column =
			(enum column)table->columns[row->subject % table->column_count].column;

		compare_explain(comparison, view, row->key, row->key_length, column, &lines);
		compare_append_note(comparison, row, &lines);
		compare_append_sentence(comparison, row, column, false, &lines);
	}
	check_text(&lines);
	table_release(table);
	table_release(swapped);
	buffer_release(&lines);
	compare_release(comparison);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct snapshot *before = NULL, *after;
	struct text first, second;
	enum report_format format;
	enum work work;
	struct view view;
	const char *end;

	if (size < HEAD || size > LIMIT)
		return 0;
	first = (struct text){(const char *)data + HEAD, size - HEAD};
	end = memchr(first.data, '\0', first.length);
	second = first;
	if (end != NULL) {
		first.length = (size_t)(end - first.data);
		second = (struct text){end + 1, second.length - first.length - 1};
		before = load(first);
		if (before == NULL)
			return 0;
	}
	after = load(second);
	if (after != NULL) {
		view = make_view(data);
		format = (enum report_format)(data[2] / 16 % REPORT_FORMAT_COUNT);
		work = (enum work)(data[0] / TAB_COUNT % WORKS);
		if (work == WORK_REPORT) {
			/* all axes are a tree of the screen's and of comparisons */
			if (view.grouping.axis != AXIS_ALL || before != NULL)
				print_all(before, after, &view, format);
		} else if (before != NULL) {
			compare(before, after, &view, data[0] < 128);
		} else {
			show(snapshot_reference(after), &view, format, work == WORK_METRICS);
		}
		view_release(&view);
	}
	snapshot_release(after);
	snapshot_release(before);
	return 0;
}
