/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_CAPTURE_HEAP_H
#define CTOP_CAPTURE_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "metric/reason.h"

struct capture;
struct capture_options;
struct probe;
struct probe_thread;
struct process;
struct round;

/* The allocator probe as a capture uses it. */
struct heap {
	struct probe *probe;   /* NULL: there is none */
	reason_id none_reason; /* why there is none */
	bool off;              /* switched off by the user */
	bool allow_stop;
	uint32_t own_tgid, resolver_tgid; /* left out */
	uint64_t patience_ns;             /* how long a full capture waits for resolutions */
	/* Each process is looked at once in so many rounds, whatever it does; how many of them are over. */
	unsigned int window;
	uint32_t resume_tgid; /* where the budget ended */
	struct probe_thread *threads;
	size_t *rows;
};

/* How much of it a round reads. */
enum heap_use {
	HEAP_USE_NONE,
	HEAP_USE_EXTRA, /* while the budget lasts */
	HEAP_USE_NEEDED,
};

/* After the roots were opened. Without the options' resolver, or where calls by process id reach nobody,
 * there is no probe. */
void heap_open(struct capture *capture, const struct capture_options *options);
void heap_close(struct heap *heap);

/* What this round reads of it: of sources that are needed, or wanted while the budget lasts. */
enum heap_use heap_choose_use(const struct capture *capture, bool needed, bool wanted);

/* The reason of what is not read in this round. */
enum reason heap_default_reason(const struct capture *capture);

/* When the rows are made: what they hold while the probe is off, or until they are read. */
void heap_begin(struct round *round);

/* The same for `count` rows from `first` that are new, or belong to another thread than before. */
void heap_expect_rows(struct round *round, size_t first, size_t count);

/*
 * Whether there is nothing to look for in a process: kernel threads have no memory of their own, nor have
 * processes that are waited for; our own are left out.
 */
bool heap_has_none(const struct round *round, const struct process *process);

/* Whether a process is ours: neither looked at nor counted. */
bool heap_is_own(const struct heap *heap, uint32_t tgid);

/* Starts looking at a process, so that its executable is resolved while others are read. `tasks` is its task
 * directory. */
void heap_look_ahead(struct round *round, struct process *process, int tasks);

/* Reads the counters of all threads that moved since they were read. Returns 0 or -ECANCELED. */
int heap_read(struct round *round);

/* heap_summary.c: summary and processes of the snapshot, by the rules of the file format. */
void heap_summarize(struct round *round);

#endif
