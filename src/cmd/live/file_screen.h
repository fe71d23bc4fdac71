/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_FILE_SCREEN_H
#define CTOP_FILE_SCREEN_H

#include <stddef.h>

#include "base/error.h"
#include "ui/ui.h"

/*
 * Shows one file on the screen, or the comparison of two: `paths` are before and after. Sets the names in
 * `options`. Returns what ui_run() does; a file that cannot be read is reported before the screen comes up.
 * With `*ret_left_behind` a file system hangs: the process has to end without exit(3).
 */
int file_screen_run(const char *const *paths, size_t count, struct ui_options options, bool *ret_left_behind,
		    struct error *error);

#endif
