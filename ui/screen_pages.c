/* SPDX-License-Identifier: GPL-2.0-only */
#include "screen.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "metric/metric.h"
#include "view/own_tab.h"

enum {
	HELP_KEY_CELLS = 22,
};

static const struct {
	const char *title;
	unsigned int where;
} key_sections[] = {
	{"Groups and threads", PLACE_LIST}, {"All metrics of a row", PLACE_METRICS},
	{"Pages of text", PLACE_TEXT},      {"Sort menu", PLACE_MENU},
	{"Columns of a tab", PLACE_SETUP},  {"Typing a text", PLACE_PROMPT},
};

static void add_entry(struct pager *pager, const char *head, const char *text)
{
	struct buffer line = {0};

	buffer_append_text(&line, head);
	while (line.length < HELP_KEY_CELLS)
		buffer_append_char(&line, ' ');
	buffer_append_text(&line, text);
	pager_add(pager, &(struct pager_line){
				 .text = line.data,
				 .length = line.length,
				 .head = HELP_KEY_CELLS,
				 .head_style = STYLE_KEY,
				 .style = STYLE_NORMAL,
				 .indent = HELP_KEY_CELLS,
			 });
	buffer_release(&line);
}

static void add_title(struct pager *pager, const char *title)
{
	if (pager->count != 0)
		pager_add_format(pager, STYLE_NORMAL, "%s", "");
	pager_add_format(pager, STYLE_STRONG, "%s", title);
}

/* Each key once, under the first place in which it works. */
static void add_keys(struct pager *pager)
{
	unsigned int told = 0;

	for (size_t i = 0; i < sizeof(key_sections) / sizeof(key_sections[0]); i++) {
		add_title(pager, key_sections[i].title);
		for (enum action action = 0; action < ACTION_COUNT; action++) {
			if ((ui_keys[action].where & key_sections[i].where) != 0 &&
			    (ui_keys[action].where & told) == 0)
				add_entry(pager, ui_keys[action].keys, ui_keys[action].help);
		}
		told |= key_sections[i].where;
	}
}

static void add_marks(struct pager *pager)
{
	const struct screen_marks *marks = draw_marks();

	add_title(pager, "Marks");
	add_entry(pager, marks->unavailable, "unavailable; i says why");
	add_entry(pager, "-", "does not apply, or was not measured in this file");
	add_entry(pager, marks->resolving, "not known yet");
	add_entry(pager, marks->at_least, "before a number: some threads are not in it");
	add_entry(pager, "*", "after a word or set: not all threads agree");
	add_entry(pager, "+", "before a name: new since the last round; after a peak: it rose");
	add_entry(pager, "x", "before a name: gone; the row disappears with the next round");
	add_entry(pager, "+ x", "in a comparison, before a name: in after only, in before only");
	add_entry(pager, "!", "in a comparison: it has no thread that is on both sides; it was restarted");
	add_entry(pager, "64>96", "in a comparison: threads before and after");
	add_entry(pager, "^", "before a name: among the three that rose most; in a title: ascending");
}

static void make_help(struct ui *ui)
{
	struct pager *pager = &ui->pager;

	add_keys(pager);
	add_marks(pager);
	add_title(pager, "Tabs");
	for (size_t i = 0; i < tab_count(); i++)
		add_entry(pager, tabs[tab_at(i)].title, tabs[tab_at(i)].description);
	add_title(pager, "Columns of this tab");
	for (size_t i = 0; i < ui->table->column_count; i++) {
		const char *description = screen_sort_description(ui->table->columns[i].column);

		if (description != NULL)
			add_entry(pager, ui->table->columns[i].title, description);
	}
}

/* --- explanation --- */

/* The column that `i` explains: the marked one, or the sort column when the name is marked. */
static size_t explained_column(const struct ui *ui)
{
	size_t column = list_column(&ui->list);

	if (column != SIZE_MAX)
		return column;
	if (ui->table->sort_column != SIZE_MAX)
		return ui->table->sort_column;
	return 0;
}

static void explain_cell(struct ui *ui)
{
	const struct table_row *row = list_row(&ui->list);
	size_t column = explained_column(ui);
	struct buffer lines = {0};

	if (row == NULL || column >= ui->table->column_count)
		return;
	free(ui->explain_title);
	/* the key of a row of one metric begins with the metric's name */
	ui->explain_title = memory_format("%s of %.*s",
					  row->key_name != 0 ? row->key : ui->table->columns[column].title,
					  (int)row->label_length, row->label);
	ui->content->explain(ui, row, column, &lines);
	pager_add_lines(&ui->pager, STYLE_NORMAL, lines.data, lines.length);
	buffer_release(&lines);
}

static void explain_metric(struct ui *ui)
{
	const struct table_row *row = list_row(&ui->metrics_list);
	enum metric metric;
	enum derived derived;

	if (row == NULL)
		return;
	free(ui->explain_title);
	ui->explain_title = memory_duplicate_bytes(row->label, row->label_length);
	if (ui->content->explain_member != NULL && strncmp(row->label, "scx.", 4) == 0) {
		struct buffer lines = {0};

		ui->content->explain_member(ui, ui->explain_title, &lines);
		pager_add_lines(&ui->pager, STYLE_NORMAL, lines.data, lines.length);
		buffer_release(&lines);
		return;
	}
	metric = metric_find(row->label, row->label_length);
	derived = derived_find(row->label, row->label_length);
	if (metric != METRIC_NONE) {
		const struct metric_entry *entry = &metrics[metric];

		pager_add_format(&ui->pager, STYLE_NORMAL, "%s", entry->description);
		if (entry->source != SOURCE_NONE)
			pager_add_format(&ui->pager, STYLE_NORMAL, "Source: %s, %s%s%s",
					 sources[entry->source].name, entry->key,
					 entry->equivalent_source != SOURCE_NONE ? "; the same value: " : "",
					 entry->equivalent_source != SOURCE_NONE
						 ? sources[entry->equivalent_source].name
						 : "");
		if (entry->config_gates != NULL)
			pager_add_format(&ui->pager, STYLE_NORMAL, "Kernel options: %s", entry->config_gates);
	} else if (derived != DERIVED_NONE) {
		pager_add_format(&ui->pager, STYLE_NORMAL, "%s", derived_metrics[derived].description);
		pager_add_format(&ui->pager, STYLE_NORMAL, "Formula: %s", derived_metrics[derived].formula);
	} else if (column_find(ui->explain_title) != COLUMN_COUNT) {
		pager_add_format(&ui->pager, STYLE_NORMAL, "%s",
				 column_description(column_find(ui->explain_title)));
	}
}

static void make_evidence(struct ui *ui)
{
	if (session_now(ui->session) != NULL)
		ui->content->make_evidence(ui);
	else
		pager_add_format(&ui->pager, STYLE_NORMAL, "The first round is being read.");
}

/* --- opening and drawing --- */

void screen_pages_open(struct ui *ui, enum overlay page)
{
	ui->overlay = page;
	ui->pager.top = 0;
	pager_clear(&ui->pager);
	if (page == OVERLAY_HELP)
		make_help(ui);
	else if (page == OVERLAY_EVIDENCE)
		make_evidence(ui);
	else if (ui->metrics_open)
		explain_metric(ui);
	else
		explain_cell(ui);
	if (ui->pager.count == 0) {
		ui->overlay = OVERLAY_NONE;
		screen_message(ui, STYLE_MESSAGE, "there is no number to explain");
	}
}

void screen_pages_refresh(struct ui *ui)
{
	if (ui->overlay == OVERLAY_EVIDENCE) {
		pager_clear(&ui->pager);
		make_evidence(ui);
	}
}

static void draw_page(struct ui *ui, struct area area, const char *title)
{
	char position[64];

	draw_string(area.y, 0, area.width, STYLE_STRONG, title);
	pager_draw(&ui->pager, area.y + 1, 0, area.height - 1, area.width);
	if (ui->pager.rows > ui->pager.page) {
		snprintf(position, sizeof(position), "%zu%%",
			 (ui->pager.top + ui->pager.page) * 100 / ui->pager.rows);
		draw_right(area.y, area.width - 5, 5, STYLE_DIM, position);
	}
}

/* The explanation is in a box as high as its text, over rows other than that of the cursor. */
static void draw_explanation(struct ui *ui, struct area area, int cursor_row)
{
	int width = area.width < 84 ? area.width : 84;
	int height = (int)pager_rows(&ui->pager, width - 4) + 2;

	if (height > area.height)
		height = area.height;
	if (cursor_row < area.y + area.height - height)
		area.y += area.height - height;
	draw_box(area.y, 0, height, width, ui->explain_title);
	pager_draw(&ui->pager, area.y + 1, 2, height - 2, width - 4);
}

void screen_pages_draw(struct ui *ui, struct area area, int cursor_row)
{
	if (ui->overlay == OVERLAY_HELP)
		draw_page(ui, area, "Help");
	else if (ui->overlay == OVERLAY_EVIDENCE)
		draw_page(ui, area, "Data quality");
	else
		draw_explanation(ui, area, cursor_row);
}
