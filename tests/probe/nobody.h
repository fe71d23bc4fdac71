/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_TEST_NOBODY_H
#define CTOP_TEST_NOBODY_H

/*
 * Becomes the user nobody, who has CAP_DAC_READ_SEARCH and CAP_SYS_PTRACE: what the thread that captures has
 * of file capabilities. For a forked child; ends it with status 2 when that fails.
 */
void nobody_become_with_capabilities(void);

/* Skips the test where a child could not. */
void nobody_need_capabilities(void);

#endif
