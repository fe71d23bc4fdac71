/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_HISTORY_PLACE_H
#define CTOP_HISTORY_PLACE_H

#include <stddef.h>

#include "options.h"
#include "store/history.h"

/*
 * The choice of the history: that of the option --history DIR, else of the key `history` of the configuration
 * file, else the directory of the service manager ($STATE_DIRECTORY, systemd.exec(5)), root's /var/lib/ctop,
 * or a user's $XDG_STATE_HOME/ctop, by default ~/.local/state/ctop.
 *
 * The choice is one of the process. It is made before there are threads.
 */

/* The option --history, which sets no member. */
extern const struct option_table history_option_table;

/* That no configuration file is to be looked at, or that it has been. */
void history_place_settle(void);

/*
 * The directory; where neither the command line nor a file that was read has named one, and nothing was
 * settled, the user's configuration file is read. Never NULL; owned by this file. It need not exist.
 */
const char *history_place(void);

enum {
	HISTORY_PLACES_MAX = 2
};

/*
 * Lists the directories that a recorder on this host may write to: the chosen one, or, if none was chosen,
 * history_place() and the service's directory. Returns their number. The caller does not free the texts.
 */
size_t history_place_list(const char *places[static HISTORY_PLACES_MAX]);

/*
 * As history_open(). If an ordinary user has no history of their own, but the service has recorded on this
 * host, the error names the service's directory. May be called from any thread: it does not change the
 * choice.
 */
int history_place_open(const char *directory, struct history **ret_history, struct error *error);

/*
 * Makes the directories above it where none was chosen: ~/.local/state need not exist. What fails is left to
 * who makes the directory itself.
 */
void history_place_make(void);

#endif
