/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_LOOKUP_H
#define CTOP_LOOKUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "metric/reason.h"

/*
 * Texts about a process or thread that are read for the rows on the screen only, elsewhere, and come later:
 * requests, answers, and the memory of both.
 */

enum lookup_kind {
	LOOKUP_COMMAND, /* command line of a process */
	LOOKUP_SLEEP,   /* where in the kernel a thread sleeps */
	LOOKUP_CALL,    /* the system call in which a thread sleeps */
	LOOKUP_PEER,    /* the processes at the other end of the file that this call waits for */
	LOOKUP_KIND_COUNT,
};

enum {
	LOOKUP_TEXT_MAX = 4000 /* bytes of a text */
};

struct lookup_request {
	uint32_t kind; /* enum lookup_kind */
	uint32_t tgid, tid;
	uint64_t start_time; /* of the process for LOOKUP_COMMAND, else of the thread: USER_HZ ticks since
				boot */
};

struct lookup_answer {
	struct lookup_request request;
	uint16_t reason;        /* why the text is missing, or REASON_READ */
	uint16_t detail_reason; /* the same of the frames of LOOKUP_SLEEP */
	uint16_t length;
	bool is_title; /* for LOOKUP_COMMAND: whether the process has written the text itself, as a title */
	/*
	 * Fit for a terminal, UTF-8. For LOOKUP_SLEEP the function that the thread sleeps in (empty while it
	 * runs), and in further lines the functions that led there, the innermost first. For LOOKUP_CALL the
	 * call (empty while the thread runs), and in further lines what it waits for. For LOOKUP_PEER the
	 * link of the descriptor, and in a second line who has the other end; empty for other files.
	 */
	char text[LOOKUP_TEXT_MAX + 1]; /* with a NUL behind `length` bytes */
};

/* A request and its answer, as remembered. */
struct lookup_entry {
	struct lookup_request request;
	uint16_t reason, detail_reason;
	char *text; /* NULL: not answered yet, or without a text */
	bool answered, is_title;
	uint64_t asked_ns, used_ns; /* CLOCK_MONOTONIC; 0: never */
};

/* A zeroed struct is empty. Belongs to one thread. */
struct lookup_cache {
	struct hash_map index;
	struct lookup_entry *entries;
	size_t count, capacity;
};

/* The entry of a request, noted as used at `now_ns`; made when it is new. Valid until the next call. */
struct lookup_entry *lookup_cache_entry(struct lookup_cache *cache, const struct lookup_request *request,
					uint64_t now_ns);

/* The entry of a request, as it is; NULL where there is none. Valid until the next call that changes the
 * cache. */
const struct lookup_entry *lookup_cache_find(const struct lookup_cache *cache,
					     const struct lookup_request *request);

/*
 * Whether an entry is to be asked for (again): it never was, or its text is too old. A target that did not
 * answer in time is left alone for LOOKUP_PATIENCE_NS.
 */
bool lookup_is_due(const struct lookup_entry *entry, uint64_t now_ns);

/* Takes an answer, or drops it if its entry is gone. Returns whether the entry is different now. */
bool lookup_cache_take(struct lookup_cache *cache, const struct lookup_answer *answer);

void lookup_cache_release(struct lookup_cache *cache);

/* An answer that takes longer is given up, and then not asked for again for this long. */
#define LOOKUP_DEADLINE_NS UINT64_C(100000000)
#define LOOKUP_PATIENCE_NS UINT64_C(30000000000)

#endif
