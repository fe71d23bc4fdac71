/* SPDX-License-Identifier: GPL-2.0-only */
/* One JSON object: what the report is about, then its tables, a row an object keyed by column names. */
#include <inttypes.h>

#include "json_text.h"
#include "report_format.h"
#include "snapshot/capture_facts.h"
#include "window/column.h"

static void append_capture(struct buffer *out, const char *file, const struct snapshot *snapshot)
{
	json_append_member(out, "file", file);
	json_append_count(out, "captured_at_unix_ns", snapshot->captured_at_unix_ns);
	json_append_count(out, "threads", snapshot->thread_count);
}

static void append_facts(struct buffer *out, const struct snapshot *before, const struct snapshot *after)
{
	struct capture_facts *facts = capture_facts_create(before, after);

	buffer_append_text(out, ",\n\"facts\":[");
	for (size_t i = 0; i < facts->count; i++) {
		const struct capture_fact *fact = &facts->items[i];

		buffer_append_text(out, i != 0 ? ",\n{" : "\n{");
		json_append_member(out, "name", fact->name);
		json_append_member(out, "before", fact->value[0]);
		json_append_member(out, "after", fact->value[1]);
		buffer_append_format(out, ",\"differs\":%s}", fact->differs ? "true" : "false");
	}
	buffer_append_char(out, ']');
	capture_facts_release(facts);
}

static void append_comparability(struct buffer *out, const struct comparability *comparability)
{
	buffer_append_text(out, ",\n\"comparability\":[");
	for (size_t i = 0; comparability != NULL && i < comparability->count; i++) {
		const struct comparability_row *row = &comparability->rows[i];

		buffer_append_text(out, i != 0 ? ",\n{" : "\n{");
		json_append_member(out, "severity", comparability_severity_names[row->severity]);
		json_append_member(out, "id", row->id);
		json_append_member(out, "text", row->text);
		buffer_append_char(out, '}');
	}
	buffer_append_char(out, ']');
}

static void append_rules(struct buffer *out, const struct diff_rule_outcome *rules, size_t count)
{
	buffer_append_text(out, ",\n\"rules\":[");
	for (size_t i = 0; i < count; i++) {
		buffer_append_text(out, i != 0 ? ",\n{" : "\n{");
		json_append_member(out, "rule", rules[i].rule);
		buffer_append_format(out, ",\"broken\":%s",
				     rules[i].result == DIFF_RULE_BROKEN ? "true" : "false");
		json_append_member(out, "result", diff_rule_results[rules[i].result]);
		json_append_member(out, "text", rules[i].text);
		buffer_append_char(out, '}');
	}
	buffer_append_char(out, ']');
}

static void append_changes(struct buffer *out, const struct diff_summary *changes)
{
	if (changes == NULL)
		return;
	buffer_append_text(out, ",\n\"changes\":[");
	for (size_t i = 0; i < changes->count; i++) {
		buffer_append_text(out, i != 0 ? ",\n" : "\n");
		json_append_text(out, changes->items[i]);
	}
	buffer_append_char(out, ']');
}

static void append_comparison(struct report *report, const struct report_subject *subject)
{
	struct buffer *out = report->out;

	buffer_append_text(out, ",\"before\":{");
	append_capture(out, subject->before_file, report->before);
	buffer_append_text(out, "},\"after\":{");
	append_capture(out, subject->file, report->snapshot);
	buffer_append_char(out, '}');
	json_append_member(out, "group_by", report_word(report, subject->group_by));
	append_comparability(out, subject->comparability);
	append_rules(out, subject->rules, subject->rule_count);
	append_changes(out, subject->changes);
	append_facts(out, report->before, report->snapshot);
}

static void begin(struct report *report, const struct report_subject *subject)
{
	struct buffer *out = report->out;

	buffer_append_char(out, '{');
	json_append_member(out, "program", "ctop " CTOP_VERSION);
	json_append_member(out, "command", subject->command);
	if (report->before != NULL) {
		append_comparison(report, subject);
	} else if (report->snapshot != NULL) {
		append_capture(out, subject->file, report->snapshot);
		json_append_member(out, "group_by", report_word(report, subject->group_by));
	}
	buffer_append_text(out, ",\"tables\":[");
}

static void append_shares(struct buffer *out, const struct cell *cell)
{
	for (size_t i = 0; i < TIME_PART_COUNT; i++)
		buffer_append_format(out, "%s\"%s\":%.3f", i > 0 ? "," : "{", table_bar_names[i],
				     (double)cell->value.shares[i]);
	buffer_append_char(out, '}');
}

static void append_range(const struct report *report, const struct cell *cell)
{
	buffer_append_format(report->out,
			     report->round != NULL ? "[%" PRId64 ",%" PRId64 "]"
						   : "{\"low\":%" PRId64 ",\"high\":%" PRId64 "}",
			     cell->value.range.low, cell->value.range.high);
}

static void append_value(const struct report *report, const struct cell *cell);

static void append_sides(const struct report *report, const struct cell *cell)
{
	buffer_append_text(report->out, "{\"before\":");
	append_value(report, &cell->sides[0]);
	buffer_append_text(report->out, ",\"after\":");
	append_value(report, &cell->sides[1]);
	buffer_append_char(report->out, '}');
}

/* A bare value: a number where the cell holds one, else a text, null without a value. */
static void append_value(const struct report *report, const struct cell *cell)
{
	struct buffer *out = report->out;

	if (cell->state != CELL_VALUE)
		buffer_append_text(out, "null");
	else if (cell->form == CELL_FORM_RANGE)
		append_range(report, cell);
	else if (cell->form == CELL_FORM_BAR)
		append_shares(out, cell);
	else if (cell->sides != NULL)
		append_sides(report, cell);
	else if (cell->several)
		buffer_append_u64(out, cell->value.integer);
	else if (!report_append_number(report, cell))
		json_append_text(out, cell->text != NULL ? cell->text : "");
}

static void append_measured(const struct report *report, const struct table_column *column,
			    const struct cell *cell)
{
	struct buffer *out = report->out;
	const char *reason = report_reason_name(cell);
	struct buffer text = {0};

	buffer_append_text(out, "{\"value\":");
	append_value(report, cell);
	json_append_member(out, "unit", unit_names[cell->unit]);
	json_append_member(out, "state", report_state_name(cell));
	if (reason != NULL)
		json_append_member(out, "reason", reason);
	if (report->round == NULL)
		report_append_shown(report, column, cell, &text);
	if (text.length != 0) {
		json_append_name(out, "text");
		json_append_string(out, text.data, text.length);
	}
	buffer_append_char(out, '}');
	buffer_release(&text);
}

/* Appends the members of a row that are not cells. */
static void append_row_facts(const struct report *report, const struct table_row *row)
{
	if (row->is_own)
		buffer_append_text(report->out, ",\"own\":true");
	if (row->broke_rule)
		buffer_append_text(report->out, ",\"broke_rule\":true");
	if (report->round != NULL && row->tid == 0)
		json_append_count(report->out, "threads", row->threads);
}

static void draw_row(const struct report *report, const struct table *table, const struct table_row *row)
{
	const size_t facts_at = report->round != NULL ? table->name_count : table->column_count;

	buffer_append_char(report->out, '{');
	for (size_t i = 0; i < table->column_count; i++) {
		const struct table_column *column = &table->columns[i];

		if (i == facts_at)
			append_row_facts(report, row);
		if (report->round != NULL && column->column == COLUMN_THR)
			continue;
		json_append_name(report->out, report_word(report, column->name));
		if (column->measured)
			append_measured(report, column, &row->cells[i]);
		else
			append_value(report, &row->cells[i]);
	}
	if (facts_at == table->column_count)
		append_row_facts(report, row);
	buffer_append_char(report->out, '}');
}

static void begin_section(const struct report *report, const struct table *table)
{
	struct buffer *out = report->out;

	buffer_append_text(out, report->table_count != 0 ? ",\n{" : "\n{");
	json_append_member(out, "section", report_word(report, table->section));
	buffer_append_text(out, ",\"columns\":[");
	for (size_t i = 0; i < table->column_count; i++) {
		buffer_append_text(out, i != 0 ? "," : "");
		json_append_text(out, report_word(report, table->columns[i].name));
	}
	buffer_append_char(out, ']');
}

/* Each round is an object in a line of its own. */
static void begin_round(const struct report *report)
{
	struct buffer *out = report->out;

	buffer_append_char(out, '{');
	json_append_count(out, "time_unix_ns", report->snapshot->captured_at_unix_ns);
	json_append_count(out, "interval_ns", report->round->interval_ns);
	json_append_member(out, "mode", report->round->mode);
	if (report->round->waits != NULL)
		json_append_member(out, "waits", report->round->waits);
}

static void draw_table(struct report *report, const struct table *table)
{
	const bool is_round = report->round != NULL;
	const char *separator = is_round ? "" : "\n";
	struct buffer *out = report->out;

	if (!table->continues) {
		if (is_round)
			begin_round(report);
		else
			begin_section(report, table);
		buffer_append_text(out, ",\"rows\":[");
	}
	for (size_t i = 0; i < table->row_count; i++) {
		buffer_append_format(out, "%s%s", table->continues || i != 0 ? "," : "", separator);
		draw_row(report, table, &table->rows[i]);
	}
	if (table->more)
		return;
	buffer_append_char(out, ']');
	if (!is_round)
		json_append_count(out, "rows_left_out", table->row_total - table->row_count);
	buffer_append_text(out, is_round ? "}\n" : "}");
}

static void end(struct report *report)
{
	buffer_append_text(report->out, "]}\n");
}

const struct report_format_entry report_json = {begin, draw_table, NULL, end};
