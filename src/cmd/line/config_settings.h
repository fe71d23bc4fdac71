/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_CONFIG_SETTINGS_H
#define CTOP_CONFIG_SETTINGS_H

#include <stdbool.h>

#include "config_file.h"
#include "screen_options.h"

/* Settings of the configuration file as options of a command. Lines that are wrong are told to the user and
 * ignored. */

/*
 * Sets the options of a command, but for those `given` on the command line, to what the file says; their
 * texts are the file's. With `has_all` the command has every key that a file may have, and others are told.
 */
void config_settings_use(struct config_file *file, const struct option_table_use *uses, size_t use_count,
			 void *options, const struct option_set *given, bool has_all);

/*
 * The same as screen_options_make_view(); a text of the file that is not valid for the view becomes NULL
 * before. Returns 0, or -EINVAL with a sentence for what is on the command line.
 */
int config_settings_make_view(struct config_file *file, struct screen_options *screen,
			      struct view_options *view_options, enum axis axis,
			      enum column columns[SCREEN_COLUMNS_MAX], struct view *view,
			      struct error *error);

#endif
