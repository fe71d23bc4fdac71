/* SPDX-License-Identifier: GPL-2.0-only */
#include "screen.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "metric/metric.h"
#include "table/column_name.h"

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
	ui->explain_title = memory_format("%s of %.*s", ui->table->columns[column].title,
					  (int)row->label_length, row->label);
	ui->content->explain(ui, row, column, &lines);
	pager_add_lines(&ui->pager, STYLE_NORMAL, lines.data, lines.length);
	buffer_release(&lines);
}

static void explain_metric(struct ui *ui)
{
	const struct table_row *row = list_row(&ui->page_list);
	enum metric metric;
	enum derived derived;

	if (row == NULL)
		return;
	free(ui->explain_title);
	ui->explain_title = memory_duplicate_bytes(row->label, row->label_length);
	/* of what a scheduler keeps */
	if (ui->comparison == NULL && strchr(row->label, '.') != NULL) {
		struct buffer lines = {0};

		session_explain_member(ui->session, &ui->view, ui->page_row.key, ui->page_row.key_length,
				       ui->explain_title, &lines);
		pager_add_lines(&ui->pager, STYLE_NORMAL, lines.data, lines.length);
		buffer_release(&lines);
		return;
	}
	if (row->key_length == strlen(METRICS_FOLDED) &&
	    memcmp(row->key, METRICS_FOLDED, row->key_length) == 0) {
		pager_add_format(
			&ui->pager, STYLE_NORMAL,
			"Metrics that are not available here: a shows each of them with its source and "
			"why it is missing; e says what would help.");
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
	pager_search(&ui->pager, "");
	pager_clear(&ui->pager);
	if (page == OVERLAY_HELP)
		screen_help_make(ui);
	else if (page == OVERLAY_EVIDENCE)
		make_evidence(ui);
	else if (ui->page == PLACE_METRICS)
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

/* --- search --- */

/* Says at which match the user is. */
static void say_match(struct ui *ui)
{
	size_t number, count = pager_matches(&ui->pager, &number);

	if (count == 0)
		screen_message(ui, STYLE_MESSAGE, "not in this page: %s", ui->pager.sought.data);
	else
		screen_message(ui, STYLE_MESSAGE, "%zu of %zu: %s   n: next  N: previous", number, count,
			       ui->pager.sought.data);
}

static void change_search(struct ui *ui, const char *text)
{
	pager_search(&ui->pager, text);
}

static bool accept_search(struct ui *ui, const char *text)
{
	if (*text != '\0')
		say_match(ui);
	return true;
}

void screen_pages_search(struct ui *ui)
{
	static const struct prompt_use use = {
		.label = "search: ",
		.topic = PROMPT_TOPIC_SEARCH,
		.example = "a text of this page",
		.accept = accept_search,
		.changed = change_search,
		.cancelled = change_search,
	};

	screen_open_prompt(ui, &use, "");
}

void screen_pages_search_next(struct ui *ui)
{
	if (ui->pager.sought.length == 0) {
		screen_message(ui, STYLE_MESSAGE, "nothing is searched for: / searches in this page");
		return;
	}
	pager_search_next(&ui->pager, ui->action == ACTION_SEARCH_PREVIOUS);
	say_match(ui);
}

/* --- drawing --- */

/* A page that is longer than its rows gives one of them to say so. */
static void draw_page(struct ui *ui, struct area area, const char *title)
{
	const int rows = area.height - 1;
	const bool is_long = rows > 2 && pager_rows(&ui->pager, area.width) > (size_t)rows;

	draw_string(area.y, 0, area.width, STYLE_STRONG, title);
	pager_draw(&ui->pager, area.y + 1, 0, is_long ? rows - 1 : rows, area.width);
	if (is_long)
		pager_draw_more(&ui->pager, area.y + rows, 1, area.width - 1);
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
	/* in the lower rule of the box */
	pager_draw_more(&ui->pager, area.y + height - 1, 2, width - 4);
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
