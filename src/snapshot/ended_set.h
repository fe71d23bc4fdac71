/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_ENDED_SET_H
#define CTOP_ENDED_SET_H

#include "base/hash.h"
#include "snapshot.h"
#include "started_by.h"

/*
 * Threads that ended between two rounds, with the counters of their lives as the kernel told them at the end.
 * Those that were in a snapshot are listed one by one, with what they counted in all: how much of it came
 * after a reading is for whoever has the reading to find. The others are summed by name and cgroup.
 */

enum {
	ENDED_METRICS = 33, /* counters that are known of them */
	ENDED_GROUPS_MAX = 4096,
	ENDED_THREADS_MAX = 65536,
};

/* The metric of each amount. */
extern const enum metric ended_metrics[ENDED_METRICS];

/* Counters of one or several threads, in the units of the metrics. */
struct ended_amounts {
	uint64_t delayed; /* threads that delay accounting had a record for */
	uint64_t of[ENDED_METRICS];
};

/* Threads that no snapshot has. */
struct ended_group {
	uint32_t triple; /* of `names` */
	bool kernel;     /* kernel threads */
	/* Threads and, among them, leaders; both 0 for what came in late of threads that were listed. */
	uint64_t threads, processes;
	uint64_t unknown; /* threads among them whose amounts are not known */
	struct started_by started_by;
	struct ended_amounts amounts;
};

struct ended_thread {
	uint32_t triple; /* as they were when the thread ended */
	uint32_t tgid, tid;
	uint64_t start_time; /* USER_HZ ticks since boot */
	bool kernel;
	struct ended_amounts amounts; /* of its whole life */
};

struct ended_set {
	struct snapshot *names; /* has no threads; names and triples of the others */
	struct ended_group *groups;
	size_t group_count, group_capacity;
	struct hash_map group_index; /* triple and kind: place in `groups` */
	struct ended_thread *threads;
	size_t thread_count, thread_capacity;
	/* Why an amount is not known of any, REASON_READ where it is. */
	reason_id reasons[ENDED_METRICS];
	bool lower_bound; /* the last moments of threads are missing in their amounts */
	uint64_t lost;    /* threads that are unknown, for lack of room */
	bool unread;      /* some could not be read; they come with another round */
};

struct ended_set *ended_set_create(void);

/* NULL is allowed. */
void ended_set_release(struct ended_set *set);

/* Id of the triple of three names in set->names; beyond ENDED_GROUPS_MAX new ones become `(other)`. */
uint32_t ended_set_triple(struct ended_set *set, struct name_text process, struct name_text thread,
			  struct name_text cgroup);

/* The group of a triple, made when it is new; valid until the next one. */
struct ended_group *ended_set_group(struct ended_set *set, uint32_t triple, bool kernel);

/*
 * Appends a thread; its amounts are zero. Beyond ENDED_THREADS_MAX it is counted in its group, as one whose
 * amounts are not known, and NULL is returned.
 */
struct ended_thread *ended_set_add_thread(struct ended_set *set, uint32_t triple, bool kernel);

/* Adds amounts. */
void ended_amounts_add(struct ended_amounts *sum, const struct ended_amounts *amounts);

/* Whether every thread of the host has a row in the snapshot. */
bool ended_set_sees_all(const struct snapshot *snapshot);

/*
 * Whether nothing is told of threads that end, while every other thread of the host is there: then the CPU
 * time of the host that no thread has is theirs.
 */
bool ended_set_is_left(const struct snapshot *snapshot);

/* Adds all that is in `from`: what a snapshot tells that nobody looked at. */
void ended_set_absorb(struct ended_set *set, const struct ended_set *from);

#endif
