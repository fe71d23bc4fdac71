/* SPDX-License-Identifier: GPL-2.0-only */
#include "screen.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/humanize.h"
#include "base/memory.h"
#include "base/order.h"

#define MINUTE_NS       (60 * (int64_t)NS_PER_S)
#define PLAY_DEFAULT_NS NS_PER_S

void look_refresh(struct ui *ui)
{
	bool resorted;

	screen_comparison_take_round(ui);
	resorted = navigate_follow_scheduler(ui);
	screen_list_refresh(ui);
	screen_metrics_refresh(ui);
	screen_blame_refresh(ui);
	screen_graph_refresh(ui);
	screen_pages_refresh(ui);
	screen_users_refresh(ui);
	if (resorted && !ui->list.moved)
		list_move(&ui->list, ACTION_FIRST);
}

/* --- what comes --- */

static void stop_playing(struct ui *ui)
{
	ui->past.plays = false;
}

/* The live session stays what it is, and another one shows moments. */
static void enter(struct ui *ui)
{
	struct past *past = &ui->past;

	if (ui->page == PLACE_GRAPH)
		screen_close_page(ui);
	past->open = true;
	if (ui->options->moment != NULL) /* there is no live one */
		return;
	if (past->own == NULL)
		past->own = session_create();
	past->live = ui->session;
	ui->session = past->own;
}

static void show(struct ui *ui, struct ui_moment *moment)
{
	struct past *past = &ui->past;

	if (!past->open)
		enter(ui);
	session_show_moment(ui->session, moment->moment);
	/* its numbers are of another moment */
	if (ui->overlay == OVERLAY_EXPLAIN)
		ui->overlay = OVERLAY_NONE;
	moment->moment = NULL;
	past->unix_ns = moment->unix_ns;
	when_format(past->name, past->unix_ns);
	past->newest_unix_ns = moment->newest_unix_ns;
	past->is_newest = moment->is_newest;
	free(past->note);
	past->note = moment->note;
	moment->note = NULL;
	if (past->is_newest)
		stop_playing(ui);
}

void look_take(struct ui *ui, struct ui_moment *moment)
{
	const bool shows = moment->moment != NULL;

	/* an answer to what was asked for before the screen went back to now */
	if (moment->number != 0 && moment->number <= ui->past.left)
		return;
	if (shows || moment->message != NULL)
		ui->past.is_waiting = false;
	if (shows)
		show(ui, moment);
	if (moment->message != NULL) {
		stop_playing(ui);
		screen_message(ui, moment->is_error ? STYLE_ERROR : STYLE_MESSAGE, "%s", moment->message);
	}
	if (shows)
		look_refresh(ui);
}

void look_begin(struct ui *ui)
{
	ui->past.plays = ui->options->plays;
	ui->settings.interval_ns = PLAY_DEFAULT_NS;
	show(ui, ui->options->moment);
	if (ui->options->moment->message != NULL)
		screen_message(ui, STYLE_MESSAGE, "%s", ui->options->moment->message);
	free(ui->options->moment->message);
	ui->options->moment->message = NULL;
	ui->past.due_ns = clock_ns(CLOCK_MONOTONIC) + ui->settings.interval_ns;
}

/* --- what is asked for --- */

static bool is_possible(struct ui *ui)
{
	if (ui_offers(ui->host, UI_REQUEST_MOMENT))
		return true;
	screen_message(ui, STYLE_MESSAGE, "%s",
		       ui->options->file_name != NULL ? "a file is of one moment"
						      : "this screen keeps no rounds (--keep-rounds 0)");
	return false;
}

static void request(struct ui *ui, struct ui_look look)
{
	const struct snapshot *base = session_base(ui->session);

	if (!is_possible(ui))
		return;
	/* what was asked for before may not be there yet */
	look.from_newest = !ui->past.open && !ui->past.is_waiting;
	/* what counted from the base goes on to do so */
	if (look.from_newest)
		ui->past.base_unix_ns = base != NULL ? base->captured_at_unix_ns : 0;
	look.base_unix_ns = ui->past.base_unix_ns;
	look.number = ++ui->past.asked;
	ui->past.is_waiting = true;
	(void)ui_request(ui->host, &(struct ui_request){.kind = UI_REQUEST_MOMENT, .look = look});
}

/* Whether the newest round is on the screen already, or none at all. */
static bool is_at_end(struct ui *ui)
{
	if (ui->past.open)
		return false;
	screen_message(ui, STYLE_MESSAGE,
		       "this is now; T looks at the round before, [ a minute back, @ at a time");
	return true;
}

void look_step(struct ui *ui)
{
	const bool forward = ui->action == ACTION_LATER || ui->action == ACTION_MINUTE_LATER ||
			     ui->action == ACTION_NEWEST;

	if (!is_possible(ui) || (forward && is_at_end(ui)))
		return;
	stop_playing(ui);
	switch (ui->action) {
	case ACTION_LATER:
	case ACTION_EARLIER:
		/* behind the newest of a live screen is now */
		if (forward && ui->past.is_newest && ui->past.live != NULL)
			look_leave(ui);
		else
			request(ui, (struct ui_look){.kind = UI_LOOK_STEP, .amount = forward ? 1 : -1});
		break;
	case ACTION_OLDEST:
		request(ui, (struct ui_look){.kind = UI_LOOK_OLDEST});
		break;
	case ACTION_NEWEST:
		request(ui, (struct ui_look){.kind = UI_LOOK_NEWEST});
		break;
	default:
		request(ui,
			(struct ui_look){.kind = UI_LOOK_SPAN, .amount = forward ? MINUTE_NS : -MINUTE_NS});
		break;
	}
}

void look_at_mark(struct ui *ui, bool before)
{
	stop_playing(ui);
	request(ui, (struct ui_look){.kind = UI_LOOK_MARK, .amount = before ? -1 : 1});
}

static bool go_to(struct ui *ui, const char *text)
{
	struct ui_look look = {.kind = UI_LOOK_TIME};
	struct error error;

	if (text[strspn(text, " ")] == '\0')
		return true;
	if (screen_parse_time(ui, text, &look.unix_ns, &error) < 0) {
		screen_message(ui, STYLE_ERROR, "%s", error.text);
		return false;
	}
	stop_playing(ui);
	request(ui, look);
	return true;
}

void look_ask(struct ui *ui)
{
	static const struct prompt_use use = {
		.label = "go to: ",
		.topic = PROMPT_TOPIC_TIME,
		.example = "-15m, 09:40, yesterday 3pm, 2026-11-20 09:40",
		.accept = go_to,
	};

	if (is_possible(ui))
		screen_open_prompt(ui, &use, "");
}

void look_set_base(struct ui *ui)
{
	ui->past.base_unix_ns = ui->past.unix_ns;
	session_set_base(ui->session);
	ui->view.mode = WINDOW_MODE_BASE;
	look_refresh(ui);
	screen_message(ui, STYLE_MESSAGE, "numbers count from this moment on (d: other modes)");
}

/* --- playing --- */

void look_play(struct ui *ui)
{
	ui->past.plays = !ui->past.plays;
	ui->past.due_ns = clock_ns(CLOCK_MONOTONIC);
}

void look_change_speed(struct ui *ui)
{
	static const uint64_t steps_ms[] = {50, 100, 200, 500, 1000, 2000, 5000};
	uint64_t *interval_ns = &ui->settings.interval_ns;
	const size_t count = sizeof(steps_ms) / sizeof(steps_ms[0]);
	struct buffer text = {0};
	size_t step = 0;

	if (ui->past.live != NULL) {
		screen_message(ui, STYLE_MESSAGE, "only replay has a speed to choose; Esc goes back to now");
		return;
	}
	while (step + 1 < count && steps_ms[step] * NS_PER_MS < *interval_ns)
		step++;
	if (ui->action == ACTION_LONGER && step + 1 < count)
		step++;
	else if (ui->action == ACTION_SHORTER && step > 0)
		step--;
	*interval_ns = steps_ms[step] * NS_PER_MS;
	humanize_duration(&text, (double)*interval_ns);
	screen_message(ui, STYLE_MESSAGE, "one round every %s", text.data);
	buffer_release(&text);
}

int look_wait_ms(const struct ui *ui)
{
	const uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);

	if (!ui->past.open || !ui->past.plays || ui->past.is_waiting)
		return -1;
	return ui->past.due_ns > now_ns ? (int)((ui->past.due_ns - now_ns) / NS_PER_MS) + 1 : 0;
}

/* A live screen takes rounds meanwhile: playing catches up with it. */
static uint64_t play_interval_ns(const struct ui *ui)
{
	const uint64_t interval_ns = ui->settings.interval_ns;

	if (ui->past.live == NULL)
		return interval_ns;
	return interval_ns / 4 < PLAY_DEFAULT_NS ? interval_ns / 4 : PLAY_DEFAULT_NS;
}

void look_play_on(struct ui *ui)
{
	const uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);

	if (look_wait_ms(ui) != 0)
		return;
	ui->past.due_ns = now_ns + play_interval_ns(ui);
	request(ui, (struct ui_look){.kind = UI_LOOK_STEP, .amount = 1});
}

/* --- what was before and after --- */

/* Whether the moment is in what was asked for, or is being made, and was there then. */
static bool covers(const struct ui *ui)
{
	const struct past *past = &ui->past;
	const struct strip_data *data = &past->strip.data;

	return past->strip.number != past->strip_number ||
	       (past->unix_ns >= data->from_unix_ns &&
		past->unix_ns < data->from_unix_ns + data->step_ns * data->cells &&
		(past->strip_newest_unix_ns == 0 || past->unix_ns <= past->strip_newest_unix_ns));
}

static void request_strip(struct ui *ui, size_t cells, const struct table_column *column,
			  const struct table_row *row)
{
	struct past *past = &ui->past;
	const struct ui_strip_request wanted = {
		.number = ++past->strip_number,
		.unix_ns = past->unix_ns,
		.cells = cells,
		.view = &ui->view,
		.column = column != NULL ? (enum column)column->column : COLUMN_THR,
		.key = column != NULL && row != NULL ? row->key : NULL,
		.key_length = row != NULL ? row->key_length : 0,
	};

	past->strip_newest_unix_ns = past->newest_unix_ns;
	free(past->strip_title);
	free(past->strip_name);
	past->strip_title = memory_duplicate(column != NULL ? column_title(wanted.column, WINDOW_MODE_RATE)
							    : "");
	past->strip_unit = column_unit(wanted.column, WINDOW_MODE_RATE, ui->view.level == VIEW_LEVEL_THREADS);
	past->strip_name = wanted.key != NULL ? memory_duplicate_bytes(row->label, row->label_length) : NULL;
	for (size_t i = 0; i < STRIP_CELLS; i++)
		past->strip.data.values[i] = NAN;
	(void)ui_request(ui->host, &(struct ui_request){.kind = UI_REQUEST_STRIP, .strip = wanted});
}

void look_follow(struct ui *ui)
{
	const size_t cells = strip_cells(draw_screen_width());
	const struct table_column *column = screen_list_sorted_number(ui);
	const struct table_row *row = ui->table != NULL ? list_row(&ui->list) : NULL;
	struct buffer now = {0};

	if (!ui->past.open || ui->comparison != NULL || !ui_offers(ui->host, UI_REQUEST_STRIP) || cells == 0)
		return;
	if (row != NULL && table_row_is_gone(row))
		return;
	buffer_append_format(&now, "%zu %u ", cells, column != NULL ? column->column : 0);
	view_append_signature(&ui->view, ui->view.grouping.axis, ui->view.step_count, &now);
	if (row != NULL && column != NULL)
		buffer_append(&now, row->key, row->key_length);
	if (order_bytes(now.data, now.length, ui->past.strip_of.data, ui->past.strip_of.length) == 0 &&
	    covers(ui)) {
		buffer_release(&now);
		return;
	}
	buffer_release(&ui->past.strip_of);
	ui->past.strip_of = now;
	request_strip(ui, cells, column, row);
}

void look_take_strip(struct ui *ui, const struct ui_strip *strip)
{
	if (strip->number == ui->past.strip_number)
		ui->past.strip = *strip;
}

/* --- back to now --- */

void look_leave(struct ui *ui)
{
	struct past *past = &ui->past;

	if (past->open && past->live == NULL) /* there is no now */
		return;
	past->left = past->asked;
	past->is_waiting = false;
	if (!past->open)
		return;
	ui->session = past->live;
	past->live = NULL;
	past->open = past->plays = false;
	free(past->note);
	past->note = NULL;
	if (past->took_base && ui->comparison == NULL)
		ui->view.mode = WINDOW_MODE_BASE;
	past->took_base = false;
	look_refresh(ui);
}

void look_release(struct ui *ui)
{
	free(ui->past.note);
	free(ui->past.strip_title);
	free(ui->past.strip_name);
	buffer_release(&ui->past.strip_of);
	session_release(ui->past.own);
	ui->past = (struct past){0};
}
