/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_LOOKUP_INTERNAL_H
#define CTOP_LOOKUP_INTERNAL_H

#include <sys/types.h>

#include "snapshot/lookup.h"

/* What the files of this room share. */

/* What is read where, and by which rights. */
struct lookup_source {
	const char *proc_root; /* NULL: /proc */
};

/* --- lookup_supervisor.c --- */

/* Serves requests that come over the socket, until it is closed. */
_Noreturn void lookup_supervisor_run(int socket, pid_t program, const struct lookup_source *source);

/* --- lookup_read.c --- */

/* Serves requests one after the other, and hangs where a file does. */
_Noreturn void lookup_reader_run(int socket, pid_t supervisor, const struct lookup_source *source);

/* Reads what is asked for below the open directory `proc`. */
void lookup_read(int proc, const struct lookup_request *request, struct lookup_answer *ret_answer);

/* The size of a message with an answer: no more than its text. */
static inline size_t lookup_answer_size(const struct lookup_answer *answer)
{
	return offsetof(struct lookup_answer, text) + answer->length + 1U;
}

/* Whether so many bytes are an answer. */
static inline bool lookup_answer_is_whole(const struct lookup_answer *answer, ssize_t size)
{
	return size > (ssize_t)offsetof(struct lookup_answer, text) && answer->length <= LOOKUP_TEXT_MAX &&
	       (size_t)size == lookup_answer_size(answer);
}

/* Ends with the process that forked this one. */
void lookup_bind(pid_t parent);

#endif
