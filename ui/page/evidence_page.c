/* SPDX-License-Identifier: GPL-2.0-only */
/* The evidence page: sources, then features, as two tables of text that wrap. */
#include "evidence_page.h"

#include <stdlib.h>
#include <string.h>

#include "base/humanize.h"
#include "base/memory.h"
#include "table/evidence.h"
#include "table/table.h"

enum {
	COLUMN_GAP = 2,
	REMEDY_INDENT = 4,
};

/* Rows of the evidence table that are printed as one table. Column 0 is the label, column i cell i - 1. */
struct block {
	const struct table *table;
	const struct table_row **rows;
	size_t row_count;
	const char **titles; /* of column_count + 1 columns; NULL where no row has anything in it */
	int *widths;
	bool remedy_below; /* the last column does not fit beside the others */
};

static void append_cell(struct buffer *text, const struct table_row *row, size_t column)
{
	const struct cell *cell = column != 0 ? &row->cells[column - 1] : NULL;

	if (cell == NULL)
		buffer_append(text, row->label, row->label_length);
	else if (cell->state == CELL_VALUE && cell->form == CELL_FORM_INTEGER && cell->unit == UNIT_COUNT)
		humanize_count(text, cell->value.integer);
	else if (cell->state != CELL_EMPTY)
		screen_format_cell(text, cell, draw_marks());
}

static bool is_left(const struct block *block, size_t column)
{
	return column == 0 || block->table->columns[column - 1].left;
}

/* Sets width and title of a column. */
static void measure(struct block *block, size_t column, const char *title)
{
	struct buffer text = {0};
	int width = 0;

	for (size_t i = 0; i < block->row_count; i++) {
		int cells;

		buffer_clear(&text);
		append_cell(&text, block->rows[i], column);
		cells = text.length != 0 ? draw_width(text.data, text.length) : 0;
		width = cells > width ? cells : width;
	}
	buffer_release(&text);
	block->titles[column] = width != 0 ? title : NULL;
	block->widths[column] = width > (int)strlen(title) ? width : (int)strlen(title);
}

static void append_column(struct buffer *line, const struct block *block, const struct table_row *row,
			  size_t column)
{
	struct buffer text = {0};
	int missing;

	if (row != NULL)
		append_cell(&text, row, column);
	else
		buffer_append_text(&text, block->titles[column]);
	missing = block->widths[column] - (text.length != 0 ? draw_width(text.data, text.length) : 0);
	buffer_append_format(line, "%*s", is_left(block, column) ? 0 : missing, "");
	buffer_append(line, text.data, text.length);
	buffer_append_format(line, "%*s", (is_left(block, column) ? missing : 0) + COLUMN_GAP, "");
	buffer_release(&text);
}

static void add_remedy(struct pager *pager, const struct table_row *row, size_t column)
{
	struct buffer line = {0};

	buffer_append_format(&line, "%*s", REMEDY_INDENT, "");
	append_cell(&line, row, column);
	if (line.length > REMEDY_INDENT && strcmp(line.data + REMEDY_INDENT, "-") != 0)
		pager_add(pager, &(struct pager_line){.text = line.data,
						      .length = line.length,
						      .style = STYLE_STRONG,
						      .indent = REMEDY_INDENT + 2});
	buffer_release(&line);
}

/* A source that was not needed, because an equivalent one is cheaper. */
static bool is_unused(const struct table_row *row)
{
	return row->cells[0].form == CELL_FORM_INTEGER && row->cells[0].value.integer == 0 &&
	       row->cells[1].value.integer == 0;
}

/* One row, or the titles where `row` is NULL. */
static void add_row(struct pager *pager, const struct block *block, const struct table_row *row)
{
	size_t last = block->table->column_count;
	struct buffer line = {0};
	int indent = 0, before = 0;

	for (size_t column = 0; column <= last; column++) {
		if (block->titles[column] == NULL || (column == last && block->remedy_below))
			continue;
		indent = before;
		before += block->widths[column] + COLUMN_GAP;
		append_column(&line, block, row, column);
	}
	while (line.length != 0 && line.data[line.length - 1] == ' ')
		line.length--;
	pager_add(pager, &(struct pager_line){.text = line.data,
					      .length = line.length,
					      .style = row == NULL      ? STYLE_TITLE
						       : is_unused(row) ? STYLE_DIM
									: STYLE_NORMAL,
					      .indent = indent});
	buffer_release(&line);
	if (row != NULL && block->remedy_below)
		add_remedy(pager, row, last);
}

static void add_block(struct pager *pager, const struct table *table, const struct table_row **rows,
		      size_t row_count, const char *label_title, const char *state_title)
{
	size_t columns = table->column_count + 1;
	struct block block = {
		.table = table,
		.rows = rows,
		.row_count = row_count,
		.titles = memory_allocate_zero(columns, sizeof(*block.titles)),
		.widths = memory_allocate_zero(columns, sizeof(*block.widths)),
	};
	int width = 0;

	for (size_t i = 0; i < columns; i++) {
		measure(&block, i, i == 0 ? label_title : i == 1 ? state_title : table->columns[i - 1].title);
		width += block.titles[i] != NULL ? block.widths[i] + COLUMN_GAP : 0;
	}
	block.remedy_below = width - COLUMN_GAP > draw_screen_width();
	add_row(pager, &block, NULL);
	for (size_t i = 0; i < row_count; i++)
		add_row(pager, &block, rows[i]);
	free(block.titles);
	free(block.widths);
}

/* A feature's row has its state, a source's a number. */
static bool is_feature(const struct table_row *row)
{
	return row->cells[0].form == CELL_FORM_TEXT;
}

/* A process that the allocator probe looked at. */
static bool is_process(const struct table_row *row)
{
	return row->tgid != 0;
}

static void add_processes(struct pager *pager, const struct table *table, const struct table_row **rows)
{
	size_t count = 0;

	for (size_t i = 0; i < table->row_count; i++) {
		if (is_process(&table->rows[i]))
			rows[count++] = &table->rows[i];
	}
	if (count == 0)
		return;
	add_block(pager, table, rows, count, "JEMALLOC IN", table->columns[0].title);
	pager_add_format(pager, STYLE_NORMAL, "%s", "");
}

static bool has_state(const struct table_row *row, enum feature_state state)
{
	return row->cells[0].text != NULL && strcmp(row->cells[0].text, feature_state_names[state]) == 0;
}

/* Features that are on, by name alone. */
static void add_features_on(struct pager *pager, const struct table *table)
{
	struct buffer line = {0};

	for (size_t i = 0; i < table->row_count; i++) {
		if (!is_feature(&table->rows[i]) || !has_state(&table->rows[i], FEATURE_STATE_ON))
			continue;
		buffer_append_text(&line, line.length == 0 ? "On: " : ", ");
		buffer_append(&line, table->rows[i].label, table->rows[i].label_length);
	}
	if (line.length != 0)
		pager_add(pager, &(struct pager_line){.text = line.data,
						      .length = line.length,
						      .style = STYLE_NORMAL,
						      .indent = 4});
	buffer_release(&line);
}

/* Adds the missing features and their reasons. A file of another program has no features. */
static void add_features_missing(struct pager *pager, const struct table *table,
				 const struct table_row **rows)
{
	size_t count = 0, unknown = 0;

	for (size_t i = 0; i < table->row_count; i++) {
		if (!is_feature(&table->rows[i]) || has_state(&table->rows[i], FEATURE_STATE_ON))
			continue;
		unknown += has_state(&table->rows[i], FEATURE_STATE_UNKNOWN);
		rows[count++] = &table->rows[i];
	}
	if (count != 0 && count == unknown)
		pager_add_format(pager, STYLE_DIM, "%s", "Features of the host: not in the file.");
	else if (count != 0)
		add_block(pager, table, rows, count, "FEATURE", "STATE");
}

static void add_table(struct pager *pager, const struct table *table)
{
	const struct table_row **rows = memory_allocate_zero(table->row_count + 1, sizeof(*rows));
	size_t count = 0;

	for (size_t i = 0; i < table->row_count; i++) {
		if (!is_feature(&table->rows[i]) && !is_process(&table->rows[i]))
			rows[count++] = &table->rows[i];
	}
	add_block(pager, table, rows, count, "SOURCE", table->columns[0].title);
	pager_add_format(pager, STYLE_NORMAL, "%s", "");
	add_processes(pager, table, rows);
	add_features_missing(pager, table, rows);
	add_features_on(pager, table);
	free(rows);
}

void evidence_page_add(struct pager *pager, const struct snapshot *snapshot, uint64_t interval_ns,
		       uint64_t ended)
{
	struct table *table = evidence_table(snapshot);
	struct buffer lines = {0};

	add_table(pager, table);
	table_release(table);
	pager_add_format(pager, STYLE_NORMAL, "%s", "");
	evidence_append_lines(snapshot, interval_ns, ended, &lines);
	pager_add_lines(pager, STYLE_NORMAL, lines.data, lines.length);
	buffer_release(&lines);
}
