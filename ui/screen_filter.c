/* SPDX-License-Identifier: GPL-2.0-only */
/* The prompt of the filter: rows change while it is typed. */
#include "screen.h"

#include <string.h>

#include "base/clock.h"

/* What takes this long to show is worth waiting for the next key; how much longer that is waited for, and at
 * most. */
#define QUICK_NS    (4 * NS_PER_MS)
#define WAIT_FACTOR 4
#define WAIT_MAX_NS (400 * NS_PER_MS)

/* Whether all that a filter compares can be read here; what cannot is told when it is accepted. */
static bool is_readable(const struct ui *ui, const struct filter *filter)
{
	for (size_t i = 0; ui->comparison == NULL && filter_column(filter, i) != COLUMN_COUNT; i++) {
		if (session_why_unavailable(ui->session, &ui->view, filter_column(filter, i), NULL))
			return false;
	}
	return true;
}

/* Shows the rows of a filter, which is taken over, and notes how long that took. */
static void show(struct ui *ui, struct filter *filter)
{
	const uint64_t begin = clock_ns(CLOCK_MONOTONIC);

	frozen_release(&ui->frozen);
	filter_release(ui->view.filter);
	ui->view.filter = filter;
	navigate_change_cells(ui);
	ui->filtering.cost_ns = clock_ns(CLOCK_MONOTONIC) - begin;
}

/* Makes a filter of a text, NULL of none; false, with a sentence, where it is not valid. */
static bool parse(const char *text, struct filter **ret_filter, struct error *error)
{
	const bool is_empty = text[strspn(text, " ")] == '\0';

	*ret_filter = is_empty ? NULL : filter_parse(text, error);
	return is_empty || *ret_filter != NULL;
}

/* An unfinished filter changes nothing. */
static void apply(struct ui *ui, const char *text)
{
	const struct filter *present = ui->view.filter;
	struct filter *filter;

	ui->filtering.is_due = false;
	if (strcmp(text, present != NULL ? filter_text(present) : "") == 0 || !parse(text, &filter, NULL))
		return;
	if (filter != NULL && !is_readable(ui, filter))
		filter_release(filter);
	else if (filter != NULL || present != NULL)
		show(ui, filter);
}

bool screen_filter_set(struct ui *ui, const char *text)
{
	struct filter *filter;
	struct error error;

	if (!parse(text, &filter, &error)) {
		screen_message(ui, STYLE_ERROR, "%s", error.text);
		return false;
	}
	if (navigate_refuse_filter(ui, filter)) {
		filter_release(filter);
		return false;
	}
	show(ui, filter);
	return true;
}

static void change(struct ui *ui, const char *text)
{
	struct filtering *filtering = &ui->filtering;
	uint64_t wait = filtering->cost_ns > QUICK_NS ? filtering->cost_ns * WAIT_FACTOR : 0;

	(void)text;
	wait = wait < WAIT_MAX_NS ? wait : WAIT_MAX_NS;
	filtering->is_due = true;
	filtering->due_ns = clock_ns(CLOCK_MONOTONIC) + wait;
}

int screen_filter_wait_ms(const struct ui *ui)
{
	const uint64_t now = clock_ns(CLOCK_MONOTONIC), due = ui->filtering.due_ns;

	if (!ui->filtering.is_due)
		return -1;
	return due > now ? (int)((due - now + NS_PER_MS - 1) / NS_PER_MS) : 0;
}

void screen_filter_apply(struct ui *ui)
{
	if (screen_filter_wait_ms(ui) != 0)
		return;
	apply(ui, prompt_text(&ui->prompt));
}

static bool accept(struct ui *ui, const char *text)
{
	ui->filtering.is_due = false;
	return screen_filter_set(ui, text);
}

/* The rows are again what they were, and the cursor where it was. */
static void cancel(struct ui *ui, const char *before)
{
	const char *present = ui->view.filter != NULL ? filter_text(ui->view.filter) : "";
	struct filter *filter;

	ui->filtering.is_due = false;
	/* one that cannot be read here as well: it was there */
	if (strcmp(before, present) != 0 && parse(before, &filter, NULL))
		show(ui, filter);
	list_return(&ui->list, &ui->prompt_place);
}

void screen_filter_open(struct ui *ui)
{
	static const struct prompt_use use = {
		.label = "filter: ",
		.example = "text, /regex/, !text, cpu% > 50, user = root or state = D",
		.topic = PROMPT_TOPIC_FILTER,
		.accept = accept,
		.changed = change,
		.cancelled = cancel,
	};

	screen_lookup_read_commands(ui);
	screen_open_prompt(ui, &use, ui->view.filter != NULL ? filter_text(ui->view.filter) : "");
}
