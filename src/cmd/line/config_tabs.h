/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_CONFIG_TABS_H
#define CTOP_CONFIG_TABS_H

#include <stdbool.h>

#include "base/buffer.h"
#include "config_file.h"
#include "table/tab.h"

/*
 * Sections of tabs: `[tab NAME]` with columns, thread-columns, sort, title and after. The name of a tab of
 * the table changes that one, any other name makes a tab. What cannot be done is told to the user and left
 * out.
 */

/*
 * Makes the tabs of a file; `changes` says whether those of the table change too.
 */
void config_tabs_make(struct config_file *file, bool changes);

/*
 * Reads a configuration file (config_file_read()) for its tabs: those that change ctop's own only where
 * `path` names the file. Without a path nothing is read unless `tab` (NULL: none was asked for) is none of
 * ctop's own.
 */
int config_tabs_read(const char *path, const char *tab, struct config_file *file, struct error *error);

/* The keys of a section. */
enum config_tab_key {
	CONFIG_TAB_COLUMNS,
	CONFIG_TAB_THREAD_COLUMNS,
	CONFIG_TAB_SORT,
	CONFIG_TAB_TITLE,
	CONFIG_TAB_AFTER,
	CONFIG_TAB_KEY_COUNT,
};

extern const char *const config_tab_keys[CONFIG_TAB_KEY_COUNT];

/* The present value of a key of a tab, owned by the caller; NULL for the value it has without the key. */
char *config_tabs_value(enum config_tab_key key, enum tab tab);

/* Appends all tabs that the user changed or made as sections, and the others as comments. */
void config_tabs_print(struct buffer *buffer);

#endif
