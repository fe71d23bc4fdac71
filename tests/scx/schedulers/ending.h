/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_SCX_ENDING_H
#define CTOP_SCX_ENDING_H

/* A scheduler of the tests tells this to its loader when the kernel lets go of it: struct scx_exit_info. */
struct scheduler_ending {
	int kind; /* enum scx_exit_kind; 0 while it runs */
	char reason[128];
};

#endif
