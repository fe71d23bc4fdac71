/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_PROBE_SANDBOX_H
#define CTOP_PROBE_SANDBOX_H

/*
 * Gives up rights for good before untrusted bytes are parsed. First every capability, also those that a real
 * uid of 0 brings, and the way to get them back (no_new_privs). Then locks this process in: limits of CPU
 * time, memory and descriptors, not dumpable, and a filter of system calls under which it can read, map
 * (never to execute) and close the descriptors that it holds and talk over its sockets. A call that would
 * open or look up a path fails with EACCES, as libraries try that on their own; any other kills the process
 * with SIGSYS. Nothing of it can be undone. Returns 0 or a negative errno: then nothing untrusted may be
 * parsed.
 */
int sandbox_enter(void);

enum {
	SANDBOX_CPU_SECONDS = 10,
	SANDBOX_DESCRIPTORS = 64,
	SANDBOX_DATA_MEBIBYTES = 1024,
};

#endif
