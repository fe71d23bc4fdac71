/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_LOOKUP_PROCESS_H
#define CTOP_LOOKUP_PROCESS_H

#include "base/error.h"
#include "snapshot/lookup.h"

/*
 * Reads what may hang: a command line is read from the memory of its process, for which the kernel takes a
 * lock that whoever maps memory there holds, for as long as a file system that is gone does not answer
 * (get_mm_cmdline() in fs/proc/base.c). So a process of its own reads, and a supervisor, forked before any
 * thread exists, kills it and starts another when an answer takes longer than LOOKUP_DEADLINE_NS; then the
 * answer is REASON_NOT_READ. Only numbers go in, and only texts that are fit for a terminal come out.
 */
struct lookup_process;

/*
 * Starts the supervisor, which has one thread like its caller. `proc_root` is a directory like /proc, NULL
 * for /proc: in one that the user names no right is used that the user does not have. Returns 0 or a negative
 * errno with a sentence. All its processes end when this one does.
 */
int lookup_process_start(const char *proc_root, struct lookup_process **ret_process, struct error *error);

/* Ends the supervisor and who reads. NULL is allowed. */
void lookup_process_stop(struct lookup_process *process);

/* Readable when lookup_process_receive() has something, and for ever once the supervisor is gone. */
int lookup_process_descriptor(const struct lookup_process *process);

/* Asks, without waiting. False: too much was asked already, or nobody is there to answer. */
bool lookup_process_ask(struct lookup_process *process, const struct lookup_request *request);

/* Takes an answer if there is one, without waiting. */
bool lookup_process_receive(struct lookup_process *process, struct lookup_answer *ret_answer);

/* Whether the supervisor is gone: nothing will be answered any more. */
bool lookup_process_is_gone(const struct lookup_process *process);

#endif
