/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_TEST_NOBODY_H
#define CTOP_TEST_NOBODY_H

/*
 * Becomes user nobody with CAP_DAC_READ_SEARCH and CAP_SYS_PTRACE, like the capturing thread of a ctop with
 * file capabilities. For a forked child, which exits with status 2 on failure.
 */
void nobody_become_with_capabilities(void);

/* Skips the test if a child cannot become this user. */
void nobody_need_capabilities(void);

#endif
