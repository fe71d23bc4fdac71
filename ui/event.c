/* SPDX-License-Identifier: GPL-2.0-only */
/* Events from the host to the screen. */
#include "ui.h"

#include <stdlib.h>

#include "session/moment.h"
#include "snapshot/snapshot.h"
#include "table/table.h"

void ui_event_discard(void *untyped)
{
	struct ui_event *event = untyped;

	snapshot_release(event->snapshot);
	free(event->message);
	free(event->path);
	if (event->kind == UI_EVENT_MOMENT)
		ui_moment_discard(&event->moment);
	if (event->kind == UI_EVENT_COURSES)
		table_release(event->courses.table);
}

void ui_moment_discard(struct ui_moment *moment)
{
	session_moment_release(moment->moment);
	free(moment->note);
	free(moment->message);
	*moment = (struct ui_moment){.number = 0};
}
