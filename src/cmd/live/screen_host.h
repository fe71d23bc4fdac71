/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_SCREEN_HOST_H
#define CTOP_SCREEN_HOST_H

#include "base/error.h"
#include "capture/capture.h"
#include "capture/lookup_thread.h"
#include "session/ring.h"
#include "store/history.h"
#include "ui/ui.h"

/*
 * The work behind a screen: a capture where it is live, lookups, and tasks that load, save and make moments.
 * Events of all of them come through one queue.
 */
struct screen_host;

/* NULL: this screen has none. What they point to outlives the host. */
struct screen_host_options {
	const struct capture_options *capture;
	struct ring *ring;       /* keeps the rounds that the screen gets */
	struct history *history; /* for moments */
	struct lookup_thread *lookups;
	bool saves;
	const char *save_directory; /* NULL: the working directory */
};

/*
 * Starts what works. Returns 0, or a negative errno with a sentence for what fails at once; it does not wait
 * for a capture that takes long to open, whose failure ends the screen (UI_EVENT_FAILED). No round is taken
 * before the screen asks for them. To be called before ncurses is up; end it with screen_host_stop().
 */
int screen_host_start(const struct screen_host_options *options, struct screen_host **ret_host,
		      struct error *error);

/* moment_loader_begin() */
int screen_host_begin(struct screen_host *host, const struct ui_look *look, struct ui_moment *ret_moment,
		      struct error *error);

/* ui_run() with this host. */
int screen_host_run(struct screen_host *host, struct session *session, const struct ui_options *options,
		    struct error *error);

/*
 * Ends everything and releases the host. A save, a report or a change of the configuration under way is
 * finished first, as long as a thread works on it. What came of a save or a report, and the screen has not
 * shown, goes to stderr; `*ret_failed`: one was not written. What hangs in the kernel is left behind, so that
 * this takes less than a second then: false is returned, the options stay in use, and the process has to end
 * without exit(3), where a leak checker would wait for a thread that hangs.
 */
bool screen_host_stop(struct screen_host *host, bool *ret_failed);

#endif
