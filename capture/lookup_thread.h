/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_LOOKUP_THREAD_H
#define CTOP_LOOKUP_THREAD_H

#include <stdbool.h>

#include "base/error.h"
#include "snapshot/lookup.h"

/*
 * Looks texts up for whoever must not wait. A command line is read from the memory of its process, which may
 * be locked for as long as a file system does not answer (get_mm_cmdline() in fs/proc/base.c), so a thread
 * has a reader (base/reader.h) read one text after the other. When that takes too long the answer is
 * REASON_NOT_READ. Texts are fit for a terminal.
 */
struct lookup_thread;

/*
 * Starts the thread. `proc_root` is a directory like /proc, NULL for /proc: in one that the user names no
 * right is used that the user does not have. Returns 0 or a negative errno with a sentence.
 */
int lookup_thread_start(const char *proc_root, struct lookup_thread **ret_lookups, struct error *error);

/* Ends it, as soon as what it reads is read. NULL is allowed. */
void lookup_thread_stop(struct lookup_thread *lookups);

/* Readable when lookup_thread_receive() has something. */
int lookup_thread_descriptor(const struct lookup_thread *lookups);

/* Asks, without waiting. False: too much was asked already. */
bool lookup_thread_ask(struct lookup_thread *lookups, const struct lookup_request *request);

/* Takes an answer if one has come, without waiting. */
bool lookup_thread_receive(struct lookup_thread *lookups, struct lookup_answer *ret_answer);

#endif
