/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_PROBE_SANDBOX_H
#define CTOP_PROBE_SANDBOX_H

#include <seccomp.h>
#include <stddef.h>

#include "base/error.h"

/*
 * Giving up rights for good before untrusted bytes are parsed. Everything here changes the calling process
 * and cannot be undone.
 */

/*
 * Drops every capability, also those that a real uid of 0 brings, from all sets (capabilities(7)), and sets
 * no_new_privs, which an exec would need to get them back. Returns 0 or a negative errno.
 */
int sandbox_drop_capabilities(void);

/*
 * Builds the filter for the system calls of a child; each child uses the same. Ends with seccomp_release(3).
 * Returns 0 or a negative errno with a sentence.
 */
int sandbox_filter_create(scmp_filter_ctx *ret_filter, struct error *error);

/*
 * Locks this process in: limits of CPU time, memory and descriptors, not dumpable, and the filter, under
 * which it can read, map (never to execute) and close the descriptors that it holds and talk over its socket.
 * A call that would open or look up a path fails with EACCES, as libraries try that on their own; any other
 * kills the process with SIGSYS. Returns 0 or a negative errno: then nothing untrusted may be parsed.
 */
int sandbox_enter(scmp_filter_ctx filter);

enum {
	SANDBOX_CPU_SECONDS = 10,
	SANDBOX_DESCRIPTORS = 64,
	SANDBOX_DATA_MEBIBYTES = 1024,
};

#endif
