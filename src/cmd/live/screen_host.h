/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_SCREEN_HOST_H
#define CTOP_SCREEN_HOST_H

#include "base/error.h"
#include "capture/capture.h"
#include "session/ring.h"
#include "store/history.h"
#include "ui/ui.h"

/*
 * The work behind a screen: a capture where it is live, lookups, and tasks that load, save and make moments.
 * Events of all of them come through one queue.
 */

/* NULL: this screen has none. What they point to outlives the host. */
struct screen_host_options {
	const struct capture_options *capture;
	struct ring *ring;          /* keeps the rounds that the screen gets */
	struct history *history;    /* for moments */
	const struct ui_look *look; /* a moment of the history to begin with */
	bool saves;
	const char *save_directory; /* NULL: the working directory */
};

/*
 * Starts the threads of the host, sets `ui->moment`, shows the session by ui_run(), releases the session and
 * ends the threads. The screen is shown while the capture still opens; if opening fails, the screen ends
 * (UI_EVENT_FAILED). The capture takes no round before the screen asks for one.
 *
 * A save, a report or a change of the configuration under way at the end is finished first, as long as a
 * thread works on it. What came of a save or a report, and the screen has not shown, goes to stderr.
 *
 * Returns the exit status of the command, after the sentence of a failure. The signal that ended the screen
 * is raised again. What hangs in the kernel is left behind, so that this takes less than a second then, and
 * the process ends here: exit(3) would wait for a thread that hangs, for a leak checker. `error` is scratch.
 */
int screen_host_show(const struct screen_host_options *options, struct session *session,
		     struct ui_options *ui, struct error *error);

#endif
