/* SPDX-License-Identifier: GPL-2.0-only */
/* The list of a session: the rounds of the live host, or one file. */
#include "screen.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "session/missing.h"
#include "table/column_list.h"
#include "table/tab.h"
#include "window/column.h"

#include "ui/page/evidence_page.h"

static struct table *make_table(struct ui *ui)
{
	missing_find_columns(ui->session, ui->settings.heap_off ? source_bit(SOURCE_JEMALLOC) : 0, &ui->view);
	ui->view.jemalloc_only = ui->view.tab == TAB_HEAP && ui->view.columns == NULL &&
				 session_now(ui->session) != NULL;
	return session_table(ui->session, &ui->view);
}

static void fill(void *context, size_t first, size_t count)
{
	struct ui *ui = context;

	session_table_fill(ui->session, &ui->view, ui->table, first, count);
	screen_lookup_fill(ui, first, count);
}

static struct table *make_metrics(struct ui *ui)
{
	static const enum column others[] = {COLUMN_CPU};
	struct metrics_page *page = &ui->metrics;
	struct session_slow slow = {0};
	struct view view = ui->view;

	/* the page has no cell of WAITS FOR, whatever the list has */
	view.columns = others;
	view.column_count = ARRAY_COUNT(others);
	if (page->task.tid != 0)
		session_find_slow(ui->session, &view, ui->page_row.key, ui->page_row.key_length, false,
				  &slow);
	buffer_release(&page->waits_for);
	page->waits_for = slow.waits_for;
	buffer_release(&slow.loss);
	return session_metric_table(ui->session, &ui->view, ui->page_row.key, ui->page_row.key_length);
}

static void explain(struct ui *ui, const struct table_row *row, size_t column, struct buffer *lines)
{
	const enum column id = (enum column)ui->table->columns[column].column;

	if (column_is_looked_up(id))
		buffer_append_format(lines, "%s\n", column_description(id));
	else
		session_explain(ui->session, &ui->view, row->key, row->key_length, column, lines);
	screen_lookup_explain(ui, row, id, lines);
}

static size_t sort_columns(const struct view *view, unsigned int columns[COLUMN_TOTAL])
{
	enum column of_tab[COLUMN_TOTAL];
	struct view all = *view;
	size_t count = 0;

	all.width = 0;
	/* one that is left out is refused with the reason */
	all.left_out = (struct column_set){0};
	for (size_t i = 0, all_count = view_columns(&all, of_tab); i < all_count; i++) {
		if (!column_is_looked_up(of_tab[i]))
			columns[count++] = of_tab[i];
	}
	return count;
}

/* Whether the command line of a row stands on the screen as a whole. */
static bool shows_command(const struct ui *ui, const char *command)
{
	for (size_t i = 0; i < ui->table->column_count; i++) {
		if (ui->table->columns[i].column == COLUMN_COMMAND)
			return list_shows_whole(&ui->list, i, command, strlen(command));
	}
	return false;
}

/* Whether the key l would tell who ran, as far as it is known. */
static bool offers_latency(const struct ui *ui)
{
	const struct feature_result *feature =
		&session_now(ui->session)->provenance.features[FEATURE_LATENCY];

	return ui->host->has_latency && !ui->settings.latency && !ui->past.open &&
	       feature->state != FEATURE_STATE_OFF;
}

/* What the row under the cursor waits for. Looked up once for a table: the screen is drawn more often. */
static void find_slow(struct ui *ui, const struct table_row *row)
{
	struct slow_note *slow = &ui->slow;

	if (slow->key != NULL && slow->key_length == row->key_length &&
	    memcmp(slow->key, row->key, row->key_length) == 0)
		return;
	free(slow->key);
	slow->key = memory_duplicate_bytes(row->key, row->key_length);
	slow->key_length = row->key_length;
	buffer_clear(&slow->why.loss);
	buffer_clear(&slow->why.waits_for);
	slow->why.cgroup = 0;
	session_find_slow(ui->session, &ui->view, row->key, row->key_length, offers_latency(ui), &slow->why);
	if (screen_is_of_now(ui))
		navigate_read_limits(ui, slow->why.cgroup);
}

/* Two blanks between the parts of the note. */
static void append_part(struct buffer *text, const struct buffer *part)
{
	if (part->length != 0 && text->length != 0)
		buffer_append_text(text, "  ");
	buffer_append(text, part->data, part->length);
}

/* Appends what the row lost time to, and where in the kernel a thread in D sleeps, if that is known already.
 */
static void append_loss(struct ui *ui, const struct table_row *row, struct buffer *text)
{
	const struct buffer *loss = &ui->slow.why.loss;
	const struct lookup_entry *sleep;

	append_part(text, loss);
	if (loss->length == 0 || strncmp(loss->data, "in D ", strlen("in D ")) != 0)
		return;
	sleep = screen_lookup_of(ui, row, LOOKUP_SLEEP);
	if (sleep == NULL || sleep->text == NULL || *sleep->text == '\0')
		return;
	buffer_append_text(text, " in ");
	buffer_append(text, sleep->text, strcspn(sleep->text, "\n"));
}

/*
 * What the row under the cursor waits for, its name where it was cut, and the command line of its process.
 */
static void draw_note(struct ui *ui, int y)
{
	const struct table_row *row = list_row(&ui->list);
	const char *command;
	struct buffer text = {0};

	if (row == NULL || table_row_is_gone(row))
		return;
	find_slow(ui, row);
	if (ui->slow.why.waits_first)
		append_part(&text, &ui->slow.why.waits_for);
	append_loss(ui, row, &text);
	if (!ui->slow.why.waits_first)
		append_part(&text, &ui->slow.why.waits_for);
	command = screen_lookup_command(ui, row);
	if (draw_width(row->label, row->label_length) > ui->list.name_cells) {
		buffer_append_text(&text, text.length != 0 ? "  " : "");
		buffer_append(&text, row->label, row->label_length);
	}
	if (command != NULL && *command != '\0' && !shows_command(ui, command))
		buffer_append_format(&text, "%s%u: %s", text.length != 0 ? "  " : "", row->process, command);
	if (text.length != 0)
		draw_text(y, 1, draw_screen_width() - 1, STYLE_DIM, text.data, text.length);
	buffer_release(&text);
}

static void make_evidence(struct ui *ui)
{
	struct buffer columns = {0};

	missing_append_columns(ui->session, &ui->view, &columns);
	if (columns.length != 0) {
		pager_add_format(&ui->pager, STYLE_TITLE, "%s", "COLUMNS OF THIS TAB THAT CANNOT BE READ");
		pager_add_lines(&ui->pager, STYLE_NORMAL, columns.data, columns.length);
		pager_add_format(&ui->pager, STYLE_NORMAL, "%s", "");
	}
	buffer_release(&columns);
	evidence_page_add(&ui->pager, session_now(ui->session), session_interval_ns(ui->session),
			  session_ended_count(ui->session));
}

static const char *why_empty(const struct ui *ui)
{
	if (ui->view.filter != NULL)
		return "No row matches the filter. / changes it, an empty one shows all.";
	if (ui->view.jemalloc_only) {
		if (ui->settings.heap_off && screen_is_of_now(ui))
			return "The allocator probe is off. J switches it on.";
		if (!ui->host->has_heap && screen_is_of_now(ui))
			return "ctop was started without the allocator probe (--no-heap).";
		return "No process is known to use jemalloc.";
	}
	return ui->view.step_count != 0 ? "Nothing is left in this group. Esc goes back." : "No threads.";
}

static void change_mode(struct ui *ui)
{
	if (ui->options->file_name != NULL && session_previous(ui->session) == NULL) {
		screen_message(ui, STYLE_MESSAGE,
			       "this file is one reading and has only totals; ctop capture --for 10 makes "
			       "one with rates");
		return;
	}
	ui->view.mode = (enum window_mode)((ui->view.mode + 1) % WINDOW_MODE_COUNT);
	navigate_change_cells(ui);
}

static struct ui_report subject(const struct ui *ui)
{
	return (struct ui_report){
		.after = session_now(ui->session),
		.after_name = ui->options->file_name,
		.grouping = &ui->view.grouping,
	};
}

const struct content content_of_session = {
	.make_table = make_table,
	.fill = fill,
	.make_metrics = make_metrics,
	.explain = explain,
	.sort_columns = sort_columns,
	.draw_header = screen_header_draw,
	.draw_note = draw_note,
	.make_evidence = make_evidence,
	.why_empty = why_empty,
	.change_mode = change_mode,
	.subject = subject,
};
