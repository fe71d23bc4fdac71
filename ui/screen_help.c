/* SPDX-License-Identifier: GPL-2.0-only */
/* The help: columns of this tab, keys, marks and colours, then everything else there is. */
#include "screen.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "table/column_list.h"
#include "table/tab.h"
#include "window/column.h"

#include "ui/terminal/keys.h"
#include "ui/widget/spark.h"

enum {
	GAP_CELLS = 2,
	HEAD_CELLS_MAX = 24, /* of the first column; a longer head has its text below */
};

/* The unit of a column, unless its sentence names it. */
static const char *const unit_words[UNIT_TOTAL] = {
	[UNIT_COUNT_PER_S] = "per second",
	[UNIT_BYTES] = "bytes",
	[UNIT_BYTES_PER_S] = "bytes per second",
	[UNIT_NS] = "time",
	[UNIT_US] = "time",
	[UNIT_TICKS] = "time",
	[UNIT_NS_PER_S] = "time per second",
	[UNIT_TICKS_PER_S] = "time per second",
	[UNIT_PERCENT] = "percent",
	[UNIT_RATIO] = "a fraction",
	[UNIT_CPUS] = "CPUs",
};

/* Heads with a text each, aligned. */
struct entries {
	struct entry {
		const char *head, *text;
		enum style head_style;
		const char *unit; /* NULL for none */
	} * items;
	size_t count, capacity;
};

static void add_entry(struct entries *entries, const char *head, enum style head_style, const char *text,
		      const char *unit)
{
	*MEMORY_APPEND(entries->items, entries->count, entries->capacity) = (struct entry){head, text,
											   head_style, unit};
}

static int head_cells(const struct entries *entries)
{
	int cells = 0;

	for (size_t i = 0; i < entries->count; i++) {
		const int head = draw_width(entries->items[i].head, strlen(entries->items[i].head));

		if (head > cells && head <= HEAD_CELLS_MAX)
			cells = head;
	}
	return cells + GAP_CELLS;
}

static void write_entry(struct pager *pager, const struct entry *entry, int cells)
{
	struct buffer line = {0};
	int used = draw_width(entry->head, strlen(entry->head));

	buffer_append_text(&line, entry->head);
	if (used + GAP_CELLS > cells) {
		pager_add(pager, &(struct pager_line){.text = line.data,
						      .length = line.length,
						      .head = line.length,
						      .head_style = entry->head_style});
		buffer_clear(&line);
		used = 0;
	}
	buffer_append_format(&line, "%*s", cells - used, "");
	buffer_append_text(&line, entry->text);
	if (entry->unit != NULL)
		buffer_append_format(&line, " (%s)", entry->unit);
	pager_add(pager, &(struct pager_line){
				 .text = line.data,
				 .length = line.length,
				 .head = strncmp(line.data, entry->head, strlen(entry->head)) == 0
						 ? strlen(entry->head)
						 : 0,
				 .head_style = entry->head_style,
				 .style = STYLE_NORMAL,
				 .indent = cells,
			 });
	buffer_release(&line);
}

/* Writes a section and empties it. */
static void write_section(struct pager *pager, const char *title, struct entries *entries)
{
	const int cells = head_cells(entries);

	if (entries->count != 0) {
		if (pager->count != 0)
			pager_add_format(pager, STYLE_NORMAL, "%s", "");
		pager_add_format(pager, STYLE_STRONG, "%s", title);
	}
	for (size_t i = 0; i < entries->count; i++)
		write_entry(pager, &entries->items[i], cells);
	entries->count = 0;
}

static void add_columns_of_table(const struct ui *ui, struct entries *entries)
{
	for (size_t i = 0; i < ui->table->column_count; i++) {
		const struct table_column *column = &ui->table->columns[i];
		const char *description = screen_chooser_description(column->column);

		if (description != NULL)
			add_entry(entries, column->title, STYLE_KEY, description, unit_words[column->unit]);
	}
}

static bool is_in_table(const struct ui *ui, enum column column)
{
	for (size_t i = 0; i < ui->table->column_count; i++) {
		if (ui->table->columns[i].column == column)
			return true;
	}
	return false;
}

/* The columns of another tab that are not in the table. */
static void add_columns_of_tab(const struct ui *ui, enum tab tab, struct entries *entries)
{
	enum column columns[COLUMN_TOTAL];
	const size_t count = column_list(tab, false, 0, COLUMN_COUNT, columns);

	for (size_t i = 0; i < count; i++) {
		if (!is_in_table(ui, columns[i]))
			add_entry(entries, column_title(columns[i], ui->view.mode), STYLE_KEY,
				  column_description(columns[i]), NULL);
	}
}

static void write_keys(struct pager *pager, struct entries *entries)
{
	for (size_t section = 0; section < KEY_SECTION_COUNT; section++) {
		enum action actions[ACTION_COUNT];
		const size_t count = key_section_actions(section, actions);

		for (size_t i = 0; i < count; i++)
			add_entry(entries, ui_keys[actions[i]].keys, STYLE_KEY, ui_keys[actions[i]].help,
				  NULL);
		write_section(pager, key_sections[section].title, entries);
	}
}

static void add_marks(struct entries *entries)
{
	const struct screen_marks *marks = draw_marks();
	static char heights[32];
	const struct {
		const char *mark, *text;
	} legend[] = {
		{marks->unavailable, "unavailable; i says why"},
		{"0  0.0", "exactly zero, and small but not zero"},
		{"-", "does not apply, or was not measured in this file"},
		{marks->resolving, "not known yet"},
		{marks->at_least, "before a number: some threads are not in it"},
		{"~", "before a number: divided by what the threads waited for at up to 30 readings"},
		{"*", "after a word or set: not all threads agree"},
		{marks->ellipsis, "where a text was cut"},
		{marks->above, "number of rows above; likewise below"},
		{"+", "before a name: new since the last round; after a peak: it rose"},
		{"x", "before a name: gone; the row disappears with the next round"},
		{"^", "before a name: among the three that rose most; in a title: ascending"},
		{"v", "in a title: descending"},
		{"+ x", "in a comparison, before a name: in after only, in before only"},
		{"!", "in a comparison: it has no thread that is on both sides; it was restarted"},
		{"64>96", "in a comparison: threads before and after"},
		{heights,
		 "below TREND: the course of the number that the rows are sorted by, as a rate, round by "
		 "round; full height is the largest of the row itself (1 at least), the lowest is exactly "
		 "zero, and a blank is a round without a number"},
		{marks->below, "below TREND and in a graph: less than zero"},
	};

	snprintf(heights, sizeof(heights), "%s%s%s", spark_sign(0), spark_sign(SPARK_HEIGHTS / 2),
		 spark_sign(SPARK_HEIGHTS - 1));

	for (size_t i = 0; i < sizeof(legend) / sizeof(legend[0]); i++)
		add_entry(entries, legend[i].mark, STYLE_KEY, legend[i].text, NULL);
	if (draw_has_shade())
		add_entry(entries, "shade", STYLE_KEY,
			  "under CPU% and WAITED%: the row's share of the total; for a thread, of its own "
			  "time",
			  NULL);
}

static void add_mouse(struct entries *entries)
{
	add_entry(entries, "wheel", STYLE_KEY, "scrolls", NULL);
	add_entry(entries, "click", STYLE_KEY,
		  "on a title: sort by it, again: reverse; on a row: go there; on a tab: show it", NULL);
	add_entry(entries, "Shift", STYLE_KEY,
		  "while it is held, most terminals select text; with --no-mouse they always do", NULL);
}

/* Each style as it is drawn. */
static void add_styles(struct entries *entries)
{
	for (enum style style = 0; style < STYLE_COUNT; style++) {
		if (draw_legend(style) != NULL)
			add_entry(entries, "sample", style, draw_legend(style), NULL);
	}
}

void screen_help_make(struct ui *ui)
{
	struct pager *pager = &ui->pager;
	struct entries entries = {0};

	add_columns_of_table(ui, &entries);
	write_section(pager, "Columns of this tab", &entries);
	write_keys(pager, &entries);
	if (!ui->options->no_mouse)
		add_mouse(&entries);
	write_section(pager, "Mouse", &entries);
	add_marks(&entries);
	write_section(pager, "Marks", &entries);
	add_styles(&entries);
	write_section(pager, "Colours", &entries);
	for (size_t i = 0; i < tab_count(); i++)
		add_entry(&entries, tabs[tab_at(i)].title, STYLE_KEY, tabs[tab_at(i)].description, NULL);
	write_section(pager, "Tabs", &entries);
	for (size_t i = 0; i < tab_count(); i++) {
		char *title = memory_format("Columns of the tab %s", tabs[tab_at(i)].title);

		add_columns_of_tab(ui, tab_at(i), &entries);
		write_section(pager, title, &entries);
		free(title);
	}
	free(entries.items);
}
