/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_CONFIG_LINE_H
#define CTOP_CONFIG_LINE_H

#include <stdbool.h>

#include "config.h"

/* The inside of this room. */

/*
 * Takes the next line off `*text`, of which `*length` bytes are left: its bytes without the end of the line,
 * and with it in `*ret_whole`. False at the end of the text.
 */
bool config_next_line(const char **text, size_t *length, const char **ret_line, size_t *ret_length,
		      size_t *ret_whole);

/* Reads a line; false for one that is empty or a comment. Names and values are owned by the caller. */
bool config_read_line(const char *line, size_t length, struct config_line *ret_line);

/* The position of the comment behind a setting, with the blanks before it; `length` without a comment. */
size_t config_comment(const char *line, size_t length);

void config_release_line(struct config_line *line);

#endif
