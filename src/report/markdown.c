/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * GitHub Flavored Markdown that pastes into a pull request: facts and warnings, then a table a section. Names
 * are foreign text: they stand in code spans, where neither HTML, links, mentions nor emphasis mean anything.
 */
#include <ctype.h>
#include <string.h>

#include "base/unicode.h"
#include "report_format.h"

/* Whether the text stays as it is outside a code span. */
static bool is_plain(const char *text, size_t length)
{
	static const char harmless[] = " .,;%()/";

	if (length != 0 && (text[0] == ' ' || text[length - 1] == ' '))
		return false;
	if (memmem(text, length, "www.", 4) != NULL) /* an address even without a scheme */
		return false;
	for (size_t i = 0; i < length; i++) {
		const unsigned char character = (unsigned char)text[i];
		const bool letter = (character >= '0' && character <= '9') ||
				    (character >= 'A' && character <= 'Z') ||
				    (character >= 'a' && character <= 'z');
		/* signs, and a colon that makes no address */
		const bool sign = (character == '+' || character == '-') ||
				  (character == ':' && i + 1 < length && text[i + 1] != '/');

		if (!letter && !sign && character < 0x80 && strchr(harmless, (char)character) == NULL)
			return false;
	}
	return true;
}

static size_t longest_fence(const char *text, size_t length)
{
	size_t longest = 0;
	size_t run = 0;

	for (size_t i = 0; i < length; i++) {
		run = text[i] == '`' ? run + 1 : 0;
		longest = run > longest ? run : longest;
	}
	return longest;
}

static void append_fence(struct buffer *out, size_t length)
{
	for (size_t i = 0; i < length; i++)
		buffer_append_char(out, '`');
}

/* Whether a backslash stands before a `|`: readers of tables disagree on what escapes what then. */
static bool has_escaped_bar(const char *text, size_t length)
{
	return memmem(text, length, "\\|", 2) != NULL;
}

/* Appends a code span in which everything but letters, digits and blanks is written as an entity. */
static void append_code_element(struct buffer *out, const char *text, size_t length)
{
	buffer_append_text(out, "<code>");
	for (size_t i = 0; i < length; i++) {
		const unsigned char character = (unsigned char)text[i];

		if (character >= 0x80 || isalnum(character) || character == ' ')
			buffer_append_char(out, text[i]);
		else
			buffer_append_format(out, "&#%d;", character);
	}
	buffer_append_text(out, "</code>");
}

/*
 * Appends a code span. Its fence is longer than any in the text. Blanks between text and fence are not shown
 * if both ends have one. In tables even a `|` in a code span must be escaped.
 */
static void append_code(struct buffer *out, const char *text, size_t length, bool in_table)
{
	const size_t fence = longest_fence(text, length) + 1;
	const bool padded = length != 0 && (text[0] == '`' || text[length - 1] == '`' || text[0] == ' ' ||
					    text[length - 1] == ' ');

	if (length == 0)
		return;
	if (in_table && has_escaped_bar(text, length)) {
		append_code_element(out, text, length);
		return;
	}
	append_fence(out, fence);
	buffer_append_text(out, padded ? " " : "");
	for (size_t i = 0; i < length; i++) {
		if (text[i] == '|' && in_table)
			buffer_append_char(out, '\\');
		buffer_append_char(out, text[i]);
	}
	buffer_append_text(out, padded ? " " : "");
	append_fence(out, fence);
}

/* Appends foreign text: as it is where that is safe (and no code is wanted), else in a code span. */
static void append_text(struct buffer *out, const char *text, size_t length, bool code, bool in_table)
{
	struct buffer safe = {0};

	unicode_append_printable(&safe, text, length, "\uFFFD");
	if (safe.length != 0 && (code || !is_plain(safe.data, safe.length)))
		append_code(out, safe.data, safe.length, in_table);
	else if (safe.length != 0)
		buffer_append(out, safe.data, safe.length);
	buffer_release(&safe);
}

/*
 * Appends a sentence of ours that holds foreign names, escaped so that Markdown and HTML take all of it as
 * text: marks by a backslash; by an entity `@` and `#`, which would mention somebody or an issue, the `:` of
 * an address and the `.` behind "www", and `<` and `&`.
 */
static void append_sentence(struct buffer *out, const char *text)
{
	struct buffer safe = {0};

	unicode_append_printable(&safe, text, strlen(text), "\uFFFD");
	for (size_t i = 0; i < safe.length; i++) {
		const char character = safe.data[i];
		const bool address = (character == ':' && safe.data[i + 1] == '/') ||
				     (character == '.' && i >= 3 &&
				      strncasecmp(&safe.data[i - 3], "www", 3) == 0);

		if (character == '@' || character == '<' || character == '&' || character == '#' || address)
			buffer_append_format(out, address ? "&#%d;<!-- -->" : "&#%d;", character);
		else if (strchr("\\`*_[]>|~", character) != NULL)
			buffer_append_format(out, "\\%c", character);
		else
			buffer_append_char(out, character);
		if (character == '@' || character == '#')
			buffer_append_text(out, "<!-- -->");
	}
	buffer_release(&safe);
}

static void append_cell(struct report *report, const struct table_column *column, const struct cell *cell,
			struct buffer *scratch)
{
	report_note_reason(report, cell);
	buffer_clear(scratch);
	report_append_shown(report, column, cell, scratch);
	append_text(report->out, scratch->data, scratch->length, column->left && cell->state == CELL_VALUE,
		    true);
}

static void draw_header(const struct report *report, const struct table *table)
{
	struct buffer *out = report->out;

	for (size_t i = 0; i < table->column_count; i++) {
		const char *name = report_word(report, table->columns[i].name);

		buffer_append_text(out, "| ");
		append_text(out, name, strlen(name), false, true);
		buffer_append_char(out, ' ');
	}
	buffer_append_text(out, "|\n");
	for (size_t i = 0; i < table->column_count; i++)
		buffer_append_text(out, table->columns[i].left ? "| :-- " : "| --: ");
	buffer_append_text(out, "|\n");
}

static void draw_rows(struct report *report, const struct table *table)
{
	struct buffer scratch = {0};

	for (size_t row = 0; row < table->row_count; row++) {
		for (size_t i = 0; i < table->column_count; i++) {
			buffer_append_text(report->out,
					   i == 0 && table->rows[row].broke_rule ? "| **!** " : "| ");
			append_cell(report, &table->columns[i], &table->rows[row].cells[i], &scratch);
			buffer_append_char(report->out, ' ');
		}
		buffer_append_text(report->out, "|\n");
	}
	buffer_release(&scratch);
}

static void draw_table(struct report *report, const struct table *table)
{
	struct buffer *out = report->out;

	if (!table->continues) {
		if (table->section != NULL) {
			buffer_append_text(out, "\n### ");
			append_text(out, report_word(report, table->section),
				    strlen(report_word(report, table->section)), false, false);
			buffer_append_text(out, "\n\n");
		}
		if (table->heading != NULL) {
			append_sentence(out, table->heading);
			buffer_append_text(out, "\n\n");
		}
		draw_header(report, table);
	}
	draw_rows(report, table);
	if (table->more)
		return;
	report_append_left_out(report, table, "\n", "`", "\n");
	report_append_folded(report, table, "\n", "`", "\n");
}

static void append_banner(struct buffer *out, const struct report_subject *subject)
{
	const struct comparability *comparability = subject->comparability;

	for (size_t i = 0; comparability != NULL && i < comparability->count; i++) {
		buffer_append_format(out, "- %s: ",
				     comparability->rows[i].severity == COMPARABILITY_WARNING ? "**warning**"
											      : "note");
		append_sentence(out, comparability->rows[i].text);
		buffer_append_char(out, '\n');
	}
	for (size_t i = 0; i < subject->rule_count; i++) {
		buffer_append_format(
			out, subject->rules[i].result == DIFF_RULE_KEPT ? "- rule %s: " : "- **rule %s**: ",
			diff_rule_results[subject->rules[i].result]);
		append_sentence(out, subject->rules[i].text);
		buffer_append_char(out, '\n');
	}
	if (subject->rule_count != 0 || (comparability != NULL && comparability->count != 0))
		buffer_append_char(out, '\n');
}

static void append_changes(struct buffer *out, const struct report_subject *subject)
{
	if (subject->changes == NULL)
		return;
	if (subject->changes->nothing != NULL) {
		append_sentence(out, subject->changes->nothing);
		buffer_append_text(out, "\n\n");
		return;
	}
	buffer_append_text(out, "**Largest changes**\n\n");
	for (size_t i = 0; i < subject->changes->count; i++) {
		buffer_append_format(out, "%zu. ", i + 1);
		append_sentence(out, subject->changes->items[i]);
		buffer_append_char(out, '\n');
	}
	buffer_append_char(out, '\n');
}

/* The main facts; a mark leads those that differ. */
static void append_facts(struct report *report)
{
	struct table *table = report_create_facts(report, REPORT_FACTS_MAIN);
	struct buffer *out = report->out;

	draw_header(report, table);
	for (size_t row = 0; row < table->row_count; row++) {
		buffer_append_text(out, table->rows[row].mark == ROW_MARK_MOVER ? "| ≠ " : "| ");
		append_sentence(out, table->rows[row].cells[0].text);
		for (size_t i = 1; i < table->column_count; i++) {
			const char *text = table->rows[row].cells[i].text;

			buffer_append_text(out, " | ");
			append_text(out, text != NULL ? text : "-", text != NULL ? strlen(text) : 1, false,
				    true);
		}
		buffer_append_text(out, " |\n");
	}
	table_release(table);
}

static void draw_paragraph(const struct report *report, const char *text)
{
	buffer_append_char(report->out, '\n');
	append_sentence(report->out, text);
	buffer_append_char(report->out, '\n');
}

static void append_file(struct buffer *out, const char *file)
{
	append_text(out, file, strlen(file), true, false);
}

static void begin(struct report *report, const struct report_subject *subject)
{
	struct buffer *out = report->out;

	if (report->snapshot == NULL)
		return;
	buffer_append_format(out, "## ctop %s: ", subject->command);
	if (report->before != NULL) {
		append_file(out, subject->before_file);
		buffer_append_text(out, " → ");
	}
	append_file(out, subject->file);
	buffer_append_format(out, " by %s\n\n", report_word(report, subject->group_by));
	append_banner(out, subject);
	append_changes(out, subject);
	append_facts(report);
	if (subject->order != NULL)
		draw_paragraph(report, subject->order);
}

const struct report_format_entry report_markdown = {begin, draw_table, draw_paragraph, NULL};
