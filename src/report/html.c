/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One page to attach to a ticket: everything inside, nothing loaded. It reads without its script, which only
 * sorts and filters. The page is well-formed XML as well as HTML.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/humanize.h"
#include "base/memory.h"
#include "base/unicode.h"
#include "html_page.h"
#include "report_format.h"
#include "table/cell_format.h"

/* Appends foreign text: control characters and what XML does not allow become U+FFFD, markup is escaped. */
static void append_text(struct buffer *out, const char *text, size_t length)
{
	static const struct {
		uint32_t scalar;
		const char *text;
	} escapes[] = {
		{'&', "&amp;"},  {'<', "&lt;"},      {'>', "&gt;"},      {'"', "&quot;"},
		{'\'', "&#39;"}, {0xfffe, "\uFFFD"}, {0xffff, "\uFFFD"},
	};
	struct buffer safe = {0};

	unicode_append_printable(&safe, text, length, "\uFFFD");
	for (size_t i = 0; i < safe.length;) {
		const char *escape = NULL;
		uint32_t scalar = 0;
		size_t used = unicode_decode(safe.data + i, safe.length - i, &scalar);

		for (size_t j = 0; j < ARRAY_COUNT(escapes); j++) {
			if (escapes[j].scalar == scalar)
				escape = escapes[j].text;
		}
		if (escape != NULL)
			buffer_append_text(out, escape);
		else
			buffer_append(out, safe.data + i, used);
		i += used;
	}
	buffer_release(&safe);
}

static void append(struct buffer *out, const char *text)
{
	append_text(out, text, strlen(text));
}

/* Appends the classes of a cell. Sets `*ret_compared` if it says whether something changed, `*ret_moved` if
 * so. */
static void append_classes(struct buffer *out, const struct table_column *column, const struct cell *cell,
			   bool *ret_compared, bool *ret_moved)
{
	const bool has_sign = cell->state == CELL_VALUE && cell_style_is_change[cell->style];

	buffer_append_text(out, column->left ? "t" : "n");
	if (cell->state == CELL_ABSENT)
		buffer_append_text(out, " a");
	if (cell->state == CELL_UNAVAILABLE)
		buffer_append_text(out, " u");
	*ret_compared |= has_sign || cell->verdict != CELL_VERDICT_NONE;
	*ret_moved |= cell->verdict > CELL_VERDICT_NO;
	if (!has_sign)
		return;
	if (cell->value.real == 0)
		return;
	*ret_moved = true;
	buffer_append_text(out, cell->value.real > 0 ? " up" : " down");
}

/* The sort key of a cell with both sides: the second side, else the first. */
static double sides_number(const struct cell *sides)
{
	const bool has_after = sides[1].state == CELL_VALUE && !isnan(sides[1].sort);

	return has_after ? sides[1].sort : sides[0].state == CELL_VALUE ? sides[0].sort : NAN;
}

/* Appends the number that the column is sorted by; texts have none. */
static void append_sort_value(struct buffer *out, const struct cell *cell)
{
	struct cell number = {.form = CELL_FORM_REAL, .value.real = cell->sort};
	struct buffer digits = {0};

	if (cell->state != CELL_VALUE || (cell->form == CELL_FORM_TEXT && cell->sides == NULL))
		return;
	if (cell->sides != NULL)
		number.value.real = sides_number(cell->sides);
	if (cell_format_number(&digits, cell) || cell_format_number(&digits, &number))
		buffer_append_format(out, " data-v=\"%s\"", digits.data);
	buffer_release(&digits);
}

/* Appends a cell, with the mark of a row whose group broke a rule if it `is_marked`. */
static void append_cell(struct report *report, const struct table_column *column, const struct cell *cell,
			bool is_marked, bool *ret_compared, bool *ret_moved)
{
	const char *reason = report_reason_words(cell);
	struct buffer *out = report->out;
	struct buffer printed = {0};

	report_note_reason(report, cell);
	buffer_append_text(out, "<td class=\"");
	append_classes(out, column, cell, ret_compared, ret_moved);
	buffer_append_char(out, '"');
	append_sort_value(out, cell);
	if (reason != NULL) {
		buffer_append_text(out, " title=\"");
		append(out, reason);
		buffer_append_char(out, '"');
	}
	buffer_append_char(out, '>');
	if (is_marked)
		buffer_append_text(out, "<strong title=\"broke a rule\">!</strong> ");
	report_append_shown(report, column, cell, &printed);
	append_text(out, printed.data, printed.length);
	buffer_append_text(out, "</td>");
	buffer_release(&printed);
}

/* A row; one in which nothing changed has a class of its own, so that it can be hidden. */
static void draw_row(struct report *report, const struct table *table, const struct table_row *row)
{
	struct buffer cells = {0};
	struct buffer *out = report->out;
	bool is_compared = false;
	bool moved = false;

	report->out = &cells;
	for (size_t i = 0; i < table->column_count; i++)
		append_cell(report, &table->columns[i], &row->cells[i], i == 0 && row->broke_rule,
			    &is_compared, &moved);
	report->out = out;
	buffer_append_text(out, is_compared && !moved && !row->broke_rule ? "<tr class=\"z\">" : "<tr>");
	buffer_append(out, cells.data, cells.length);
	buffer_append_text(out, "</tr>\n");
	buffer_release(&cells);
}

static void draw_header(struct report *report, const struct table *table)
{
	struct buffer *out = report->out;

	buffer_append_text(out, "<section class=\"table\">\n<h2>");
	append(out, table->section != NULL ? report_word(report, table->section) : "");
	if (table->heading != NULL) {
		buffer_append_text(out, " <small>");
		append(out, table->heading);
		buffer_append_text(out, "</small>");
	}
	buffer_append_text(out, "</h2>\n<table class=\"report\">\n<thead><tr>");
	for (size_t i = 0; i < table->column_count; i++) {
		buffer_append_format(out, "<th scope=\"col\" class=\"%s\">",
				     table->columns[i].left ? "t" : "n");
		append(out, report_word(report, table->columns[i].name));
		buffer_append_text(out, "</th>");
	}
	buffer_append_text(out, "</tr></thead>\n<tbody>\n");
}

static void draw_table(struct report *report, const struct table *table)
{
	struct buffer *out = report->out;

	if (!table->continues)
		draw_header(report, table);
	for (size_t i = 0; i < table->row_count; i++)
		draw_row(report, table, &table->rows[i]);
	if (table->more)
		return;
	buffer_append_text(out, "</tbody></table>\n");
	report_append_left_out(report, table, "<p class=\"more\">", "", "</p>\n");
	report_append_folded(report, table, "<p class=\"more\">", "", "</p>\n");
	buffer_append_text(out, "</section>\n");
}

static void append_item(struct buffer *out, const char *class, const char *subject, const char *word,
			const char *text)
{
	buffer_append_format(out, "<li class=\"%s\"><strong>%s%s:</strong> ", class, subject, word);
	append(out, text);
	buffer_append_text(out, "</li>\n");
}

/* Classes of the style sheet. */
static const char *const rule_classes[DIFF_RULE_RESULT_COUNT] = {
	[DIFF_RULE_KEPT] = "kept",
	[DIFF_RULE_BROKEN] = "broken",
	[DIFF_RULE_UNJUDGED] = "broken",
	[DIFF_RULE_WARNING] = "warning",
};

static void append_banner(struct buffer *out, const struct report_subject *subject)
{
	const struct comparability *comparability = subject->comparability;
	const size_t rows = comparability != NULL ? comparability->count : 0;

	if (rows + subject->rule_count == 0)
		return;
	buffer_append_text(out, "<ul class=\"banner\">\n");
	for (size_t i = 0; i < subject->rule_count; i++)
		append_item(out, rule_classes[subject->rules[i].result], "rule ",
			    diff_rule_results[subject->rules[i].result], subject->rules[i].text);
	for (size_t i = 0; i < rows; i++) {
		const char *severity = comparability_severity_names[comparability->rows[i].severity];

		append_item(out, severity, "", severity, comparability->rows[i].text);
	}
	buffer_append_text(out, "</ul>\n");
}

static void append_changes(struct buffer *out, const struct report_subject *subject)
{
	if (subject->changes == NULL)
		return;
	if (subject->changes->nothing != NULL) {
		buffer_append_text(out, "<p>");
		append(out, subject->changes->nothing);
		buffer_append_text(out, "</p>\n");
		return;
	}
	buffer_append_text(out, "<section>\n<h2>Largest changes</h2>\n<ol>\n");
	for (size_t i = 0; i < subject->changes->count; i++) {
		buffer_append_text(out, "<li>");
		append(out, subject->changes->items[i]);
		buffer_append_text(out, "</li>\n");
	}
	buffer_append_text(out, "</ol>\n</section>\n");
}

/* A table of facts; those that differ are marked by a sign and a colour. */
static void append_facts_table(struct buffer *out, const struct table *table)
{
	buffer_append_text(out, "<table class=\"facts\">\n<thead><tr>");
	for (size_t i = 0; i < table->column_count; i++)
		buffer_append_format(out, "<th scope=\"col\">%s</th>", table->columns[i].name);
	buffer_append_text(out, "</tr></thead>\n<tbody>\n");
	for (size_t row = 0; row < table->row_count; row++) {
		const bool differs = table->rows[row].mark == ROW_MARK_MOVER;

		buffer_append_text(out, differs ? "<tr class=\"d\"><th scope=\"row\">≠ "
						: "<tr><th scope=\"row\">");
		append(out, table->rows[row].cells[0].text);
		buffer_append_text(out, "</th>");
		for (size_t i = 1; i < table->column_count; i++) {
			const char *text = table->rows[row].cells[i].text;

			buffer_append_text(out, "<td>");
			append(out, text != NULL ? text : "-");
			buffer_append_text(out, "</td>");
		}
		buffer_append_text(out, "</tr>\n");
	}
	buffer_append_text(out, "</tbody></table>\n");
}

static void append_facts(struct report *report)
{
	struct table *main_facts = report_create_facts(report, REPORT_FACTS_MAIN);
	struct table *others = report_create_facts(report, REPORT_FACTS_OTHERS);

	append_facts_table(report->out, main_facts);
	if (others->row_count != 0) {
		buffer_append_text(report->out, "<details><summary>");
		humanize_counted(report->out, others->row_count, "more fact");
		buffer_append_text(report->out, "</summary>\n");
		append_facts_table(report->out, others);
		buffer_append_text(report->out, "</details>\n");
	}
	table_release(main_facts);
	table_release(others);
}

static void append_title(const struct report *report, const struct report_subject *subject,
			 const char *opening, const char *closing)
{
	struct buffer *out = report->out;

	buffer_append_format(out, "ctop %s", subject->command);
	if (report->snapshot == NULL)
		return;
	buffer_append_text(out, ": ");
	if (report->before != NULL) {
		buffer_append_text(out, opening);
		append(out, subject->before_file);
		buffer_append_text(out, closing);
		buffer_append_text(out, " → ");
	}
	buffer_append_text(out, opening);
	append(out, subject->file);
	buffer_append_text(out, closing);
}

/*
 * The page's policy allows its style and its script by their SHA-256 (base64) and nothing else, so a name
 * that got past the escaping could still do nothing. Neither has `<` or `&`: the page is well-formed XML,
 * too.
 */
static void append_head(const struct report *report, const struct report_subject *subject)
{
	struct buffer *out = report->out;

	buffer_append_format(out,
			     "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\" />\n"
			     "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
			     "style-src 'sha256-%s'; script-src 'sha256-%s'; base-uri 'none'; "
			     "form-action 'none'\" />\n"
			     "<meta name=\"referrer\" content=\"no-referrer\" />\n"
			     "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\" />\n"
			     "<meta name=\"color-scheme\" content=\"light dark\" />\n<title>",
			     html_page_style_hash, html_page_script_hash);
	append_title(report, subject, "", "");
	buffer_append_text(out, "</title>\n<style>");
	buffer_append_text(out, html_page_style);
	buffer_append_text(out, "</style>\n</head>\n<body>\n<h1>");
	append_title(report, subject, "<code>", "</code>");
	buffer_append_text(out, "</h1>\n");
}

static void draw_paragraph(const struct report *report, const char *text)
{
	buffer_append_text(report->out, "<p class=\"dim\">");
	append(report->out, text);
	buffer_append_text(report->out, "</p>\n");
}

static void begin(struct report *report, const struct report_subject *subject)
{
	struct buffer *out = report->out;

	append_head(report, subject);
	if (report->snapshot != NULL) {
		buffer_append_text(out, "<p class=\"dim\">by ");
		append(out, report_word(report, subject->group_by));
		buffer_append_text(out, ", written by ctop " CTOP_VERSION "</p>\n");
		append_banner(out, subject);
		append_changes(out, subject);
		append_facts(report);
		if (subject->order != NULL)
			draw_paragraph(report, subject->order);
	}
	buffer_append_text(
		out,
		"<div id=\"tools\" hidden=\"hidden\"><label>Filter: <input id=\"filter\" type=\"search\" "
		"placeholder=\"words that a row holds\" autocomplete=\"off\" /></label>\n"
		"<label id=\"still\"><input id=\"moved\" type=\"checkbox\" /> only what changed</label>\n"
		"<span id=\"count\" class=\"dim\" role=\"status\"></span></div>\n");
}

static void end(struct report *report)
{
	buffer_append_text(report->out, "<script>");
	buffer_append_text(report->out, html_page_script);
	buffer_append_text(report->out, "</script>\n</body>\n</html>\n");
}

const struct report_format_entry report_html = {begin, draw_table, draw_paragraph, end};
