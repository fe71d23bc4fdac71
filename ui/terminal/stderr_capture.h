/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_STDERR_CAPTURE_H
#define CTOP_STDERR_CAPTURE_H

#include <stdbool.h>

#include "base/buffer.h"

/*
 * Keeps what libraries and other threads write to fd 2 away from the screen: it goes to a bounded pipe while
 * the screen is up and to the real standard error afterwards.
 */
struct stderr_capture {
	int standard_error; /* the real one */
	int reader;         /* readable when something was written; to poll */
	struct buffer kept; /* the last few kilobytes, printed at the end */
};

/* Changes nothing where it cannot be set up: the screen works without it. */
void stderr_capture_open(struct stderr_capture *capture);

/* Takes what was written; returns true and its last line (not sanitised) when there is any. */
bool stderr_capture_take(struct stderr_capture *capture, struct buffer *ret_line);

/* Restores fd 2 and prints what was kept. */
void stderr_capture_close(struct stderr_capture *capture);

#endif
