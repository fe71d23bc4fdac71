/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_FILE_SCREEN_H
#define CTOP_FILE_SCREEN_H

#include <stddef.h>

#include "base/error.h"
#include "ui/ui.h"

/* ui_run() on a host that offers files to compare with besides. */
int file_screen_show(struct session *session, struct ui_host host, const struct ui_options *options,
		     struct error *error);

/*
 * Shows one file on the screen, or the comparison of two: `paths` are before and after. Sets the names in
 * `options`. Returns what ui_run() does; a file that cannot be read is reported before the screen comes up.
 */
int file_screen_run(const char *const *paths, size_t count, struct ui_options options, struct error *error);

#endif
