/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_SCREEN_OPTIONS_H
#define CTOP_SCREEN_OPTIONS_H

#include "options.h"
#include "report/screen_table.h"
#include "session/session.h"
#include "table/view.h"
#include "view_options.h"

/* The options that choose a table of the screen, shared by the screen itself, `-b` and `show`. */
struct screen_options {
	const char *tab; /* as written: the user may have tabs of his own; NULL for the first */
	int mode;        /* enum window_mode */
	const char *filter;
	bool all;     /* rows that did nothing, too */
	bool threads; /* a row for each thread */
	/* Conditions besides it: of users, and of cgroups. */
	struct option_texts users, cgroups;
};

enum {
	SCREEN_COLUMNS_MAX = 64
};

extern const struct option_table screen_option_table;

/* Whether any of the options gives a filter. */
bool screen_options_filter(const struct screen_options *options);

/*
 * The view that the options amount to, by `axis` unless they name one; instead of AXIS_PROCESS the tab Cgroup
 * has cgroups. `columns` is where the view's columns
 * are kept, for as long as it is used. Release the view with view_release(), after a failure too. Returns 0,
 * or -EINVAL with a sentence.
 */
int screen_options_make_view(const struct screen_options *options, const struct view_options *view_options,
			     enum axis axis, enum column columns[SCREEN_COLUMNS_MAX], struct view *view,
			     struct error *error);

/* Notes on stderr that a filter is by a column that cannot be read here, or by a cgroup that nothing is in.
 */
void screen_options_check_filter(const struct session *session, const struct view *view);

/*
 * Draws the newest table of a session as screen_table_print() does; returns it, the caller releases it.
 * Printed names cannot be corrected later: waits for those of users that nobody has asked for before, at most
 * `patience_ns`. In text, columns that nobody can read leave the table, as on the screen, and rows that did
 * nothing if the view folds them: `view` is changed for that. `file` as of a screen_subject. `look_up` (NULL
 * for nothing) gets the table before it is drawn.
 */
struct table *screen_options_draw(struct session *session, struct view *view, struct report *report,
				  const char *file, uint64_t patience_ns,
				  void (*look_up)(void *context, struct table *table), void *context);

#endif
