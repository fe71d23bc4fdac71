/* SPDX-License-Identifier: GPL-2.0-only */
/* What is on the screen before the first round: the host, and the processes found so far. */
#include "screen.h"

#include "base/clock.h"
#include "base/number.h"

/* The least time between two readings of counters of ticks for a share that means anything. */
#define SHARE_SPAN_NS (100 * NS_PER_MS)

static bool is_before_first_round(const struct ui *ui)
{
	return session_now(ui->session) == NULL;
}

const struct snapshot *screen_now(const struct ui *ui)
{
	return is_before_first_round(ui) ? ui->preview.host : session_now(ui->session);
}

const struct snapshot *screen_before(const struct ui *ui)
{
	const struct snapshot *now = screen_now(ui), *first = ui->preview.first_host;

	if (session_previous(ui->session) != NULL || session_round_count(ui->session) > 1)
		return session_previous(ui->session);
	if (now == NULL || first == NULL ||
	    now->provenance.boottime_ns < first->provenance.boottime_ns + SHARE_SPAN_NS)
		return NULL;
	return first;
}

/* Names of processes are known, and nothing else that rows could be of. */
struct session *screen_session(const struct ui *ui)
{
	const struct view *view = &ui->view;

	if (is_before_first_round(ui) && ui->preview.session != NULL && view->level == VIEW_LEVEL_GROUPS &&
	    view->step_count == 0 && view->grouping.axis == AXIS_PROCESS)
		return ui->preview.session;
	return ui->session;
}

void screen_preview_append(const struct ui *ui, struct buffer *text)
{
	char digits[28];

	if (ui->preview.thread_count == 0) {
		buffer_append_text(text, "reading every thread for the first time");
		return;
	}
	number_group_digits(ui->preview.thread_count, digits);
	if (!ui->preview.is_complete) {
		buffer_append_format(text, "reading: %s threads so far", digits);
		return;
	}
	buffer_append_format(text, "reading %s threads for the first time", digits);
	if (ui->preview.read_count != 0)
		buffer_append_format(text, ": %s so far",
				     number_group_digits(ui->preview.read_count, digits));
}

void screen_preview_take(struct ui *ui, const struct ui_event *event)
{
	struct preview_shown *preview = &ui->preview;
	const struct snapshot *shown = preview->session != NULL ? session_now(preview->session) : NULL;

	if (!is_before_first_round(ui)) {
		snapshot_release(event->snapshot);
		snapshot_release(event->threads);
		return;
	}
	if (preview->first_host == NULL)
		preview->first_host = snapshot_reference(event->snapshot);
	snapshot_release(preview->host);
	preview->host = event->snapshot;
	preview->thread_count = event->thread_count;
	preview->read_count = event->read_count;
	preview->is_complete = event->is_complete;
	if (event->threads == NULL || event->threads == shown) {
		snapshot_release(event->threads);
		return;
	}
	/* one of its own each time: a second round would mark what is only found later as new */
	session_release(preview->session);
	preview->session = session_create();
	session_add_round(preview->session, event->threads);
	screen_list_refresh(ui);
}

void screen_preview_release(struct ui *ui)
{
	session_release(ui->preview.session);
	snapshot_release(ui->preview.host);
	snapshot_release(ui->preview.first_host);
	ui->preview = (struct preview_shown){0};
}
