/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_TEST_WORKSHOP_H
#define CTOP_TEST_WORKSHOP_H

#include <stdbool.h>
#include <stddef.h>

/* A temporary directory in which a test builds programs with the tools of this machine. */

/* Makes the directory and goes there. */
void workshop_open(void);

/* Removes it with all in it. */
void workshop_close(void);

/* Runs a shell command, quietly; true when it exits with 0. */
bool workshop_run(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same, for a command that must work: else its output is shown and the test fails. */
void workshop_make(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Is there a tool of that name? When not, a line says what is skipped. */
bool workshop_has(const char *tool);

#endif
