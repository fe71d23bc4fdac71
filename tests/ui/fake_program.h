/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_TESTS_UI_FAKE_PROGRAM_H
#define CTOP_TESTS_UI_FAKE_PROGRAM_H

#include "pty_screen.h"

/* Starts fake_screen.c in a pseudoterminal. `options` may be NULL for 24x80; `argument` may be NULL. */
void fake_start(struct pty_screen *pty, const struct pty_options *options, const char *argument);

/* The same, with two rounds of six ordinary groups on the screen. */
void fake_start_with_rows(struct pty_screen *pty, const struct pty_options *options);

/* A round with rows "NAME CPU", separated by commas: all have 2 threads. */
void fake_round(struct pty_screen *pty, const char *rows);

#endif
