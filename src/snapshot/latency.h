/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_LATENCY_H
#define CTOP_LATENCY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "metric/wait_class.h"

/*
 * Durations of waits, by names and cgroup of their threads: for a CPU, and blocked in
 * uninterruptible sleep (D). A wait is counted when it ends. And what delayed those for a CPU: who ran on it
 * meanwhile. And how long the threads did, or waited for, what has a class in wait_class.def. Each of the
 * three is a list by names, or by names and process, with nothing for names that have none: most threads of
 * most hosts sleep, and have a time in one class only.
 */

struct snapshot;

enum latency_kind {
	LATENCY_RUN_QUEUE,
	LATENCY_BLOCKED,
	LATENCY_KIND_COUNT,
};

enum {
	LATENCY_BUCKETS = 40,
	LATENCY_RECORDS_MAX = 32768, /* of sums; what is beyond is put together under `(other)` */
	LATENCY_SHARES_MAX = 16384,  /* of sums; what is beyond is known by record only */
	LATENCY_DELAYS_MAX = 65536,  /* as LATENCY_RECORDS_MAX, of what delayed */
	LATENCY_TIMES_MAX = 131072,  /* of sums; what is beyond is known by record and class only */

	LATENCY_PROCESS_UNKNOWN = UINT32_MAX, /* a process id: which process it was is not known */
};

/* What delayed a wait for a CPU. */
enum latency_cause {
#define LATENCY_CAUSE(id, name, meaning) LATENCY_CAUSE_##id,
#include "latency_cause.def"
#undef LATENCY_CAUSE
	LATENCY_CAUSE_COUNT,
};

/* "wakeup", as in files. */
extern const char *const latency_cause_names[LATENCY_CAUSE_COUNT];

/*
 * Waits by the highest bit of their time: bucket i has those from 2^i ns on and below 2^(i+1) ns, the first
 * one also those of 0 ns, the last one (from 9 minutes on) all longer ones.
 */
struct latency_histogram {
	uint64_t buckets[LATENCY_BUCKETS];
	uint64_t sum_ns;
	uint64_t max_ns; /* the longest wait */
};

/* Waits of each kind. */
struct latency_waits {
	struct latency_histogram of[LATENCY_KIND_COUNT];
};

/* Names of threads. */
struct latency_record {
	uint32_t pcomm, comm, cgroup; /* ids in the strings of its snapshot, as in struct triple */
	uint32_t waits; /* number of its waits in `waits` of struct latency, from 1 on; 0: it has none */
	bool is_kernel; /* of kernel threads only */
};

/* The part of a record's waits that threads of one process had. */
struct latency_share {
	uint32_t record; /* its index */
	uint32_t pid;    /* 0: of processes that have ended */
	struct latency_waits waits;
};

/* The time that threads of one record and process spent in a class. */
struct latency_time {
	uint32_t record;  /* its index */
	uint32_t pid;     /* 0: of processes that have ended; or LATENCY_PROCESS_UNKNOWN */
	uint8_t class;    /* enum wait_class */
	uint64_t time_ns; /* unfinished waits count up to the reading */
};

/* How long threads of one record waited for a CPU while another ran, and how often that one woke them. */
struct latency_delay {
	uint32_t victim;  /* index of its record */
	uint32_t culprit; /* index of the record of those that ran; 0 of other causes */
	enum latency_cause cause;
	uint64_t time_ns; /* of the victim's waits; more than the span where several waited */
	uint64_t waits;   /* in how many of them */
	uint64_t wakes;   /* by the culprit; of interrupts: by them */
};

/* Wait latency in a snapshot. */
struct latency {
	bool present; /* it was measured */
	/* Length of what was measured: of a live round since the round before, of a full capture and of a
	 * file since measuring began. */
	uint64_t span_ns;
	uint64_t events;                /* of the scheduler that were looked at in this time; 0: not known */
	uint64_t unseen;                /* switches of CPUs that the kernel did not tell of; not in files */
	uint64_t cost_ns;               /* known CPU time of measuring */
	bool is_whole;                  /* since measuring began */
	struct latency_record *records; /* in no order; of sums: by the triple of the same index */
	size_t count, capacity;
	struct latency_waits *waits; /* of records, in the order in which they were given them */
	size_t waits_count, waits_capacity;
	/* By record, then process, each once. They may lack waits that the record has: of these it is not
	 * known whose they were. */
	struct latency_share *shares;
	size_t share_count, share_capacity;
	struct latency_delay *delays; /* of sums: each pair once, ascending */
	size_t delay_count, delay_capacity;
	struct latency_time *times; /* by record, class, then process, each once */
	size_t time_count, time_capacity;
};

/* The bucket of a wait. */
size_t latency_bucket(uint64_t wait_ns);

/* The bounds of a bucket: the shortest wait in it, and the shortest in the next one. */
uint64_t latency_bucket_start(size_t bucket);
uint64_t latency_bucket_end(size_t bucket);

/* The number of waits. */
uint64_t latency_count(const struct latency_histogram *histogram);

/* Adds the waits of another one. */
void latency_merge(struct latency_histogram *histogram, const struct latency_histogram *more);

/*
 * The time, ns, that `share` (0 to 1) of the waits did not exceed: the waits of a bucket are taken as spread
 * evenly over it, so that it is in the same bucket as the exact one; never more than the longest wait. 0 when
 * there are none. With up to `unknown` more waits of the same group, however long they took, the least that
 * it can be: as if all of them had been the shortest, and the others of its bucket too; 0 when nothing is
 * known.
 */
double latency_percentile(const struct latency_histogram *histogram, double share, uint64_t unknown);

/* A zeroed record of these names (ids in the snapshot's strings), valid until the next one. */
struct latency_record *latency_add_record(struct snapshot *snapshot, uint32_t pcomm, uint32_t comm,
					  uint32_t cgroup);

/* The waits of record `index`; zeros when it has none. */
const struct latency_waits *latency_waits_of(const struct latency *latency, size_t index);

/* Waits of record `index` that can be changed, zeros at first; valid until another record gets its own. */
struct latency_waits *latency_own_waits(struct latency *latency, size_t index);

/* Adds waits to those of record `index`. */
void latency_add_waits(struct latency *latency, size_t index, const struct latency_waits *more);

/* Adds time: to that of the same record, process and class once latency_join_times() was called. 0 adds
 * nothing. */
void latency_add_time(struct latency *latency, const struct latency_time *time);

/* Sorts times and makes one of all with the same record, class and process. Those beyond LATENCY_TIMES_MAX,
 * the shortest, become times of unknown processes. */
void latency_join_times(struct latency *latency);

/* Sorts shares and makes one of all with the same record and process. */
void latency_join_shares(struct latency *latency);

/*
 * Shares and times of processes that are not in `now`, a snapshot with threads, are of processes that have
 * ended from here on; so are those of a process that began after `read_at_ns` (CLOCK_BOOTTIME), when they
 * were read: another one had its id.
 */
void latency_end_processes(struct latency *latency, const struct snapshot *now, uint64_t read_at_ns);

/* The same, of the processes whose leaders are among `gone`, the threads that ended in a round. */
void latency_end_gone(struct latency *latency, const struct snapshot *gone);

/* Compares two delays, for qsort(3): by victim, then cause, then culprit. */
int latency_order_delays(const void *left, const void *right);

/* Sorts delays and makes one of all with the same victim, cause and culprit. Returns how many are left. */
size_t latency_join_delays(struct latency_delay delays[], size_t count);

/*
 * Adds what delayed the records of `from` to those of `latency`, which have the indices `indices`. What is
 * beyond LATENCY_DELAYS_MAX, of the least time, is put together by victim.
 */
void latency_add_delays(struct latency *latency, const struct latency *from, const uint32_t indices[]);

/*
 * Adds all that `from` has to `latency`, where its records have the indices `indices`, and their lengths.
 * Shares beyond LATENCY_SHARES_MAX, of the fewest waits, are left out; of delays and times see
 * LATENCY_DELAYS_MAX and LATENCY_TIMES_MAX.
 */
void latency_add(struct latency *latency, const struct latency *from, const uint32_t indices[]);

/* Gives a snapshot without waits those of another, in the same order. */
void latency_copy(struct snapshot *to, const struct snapshot *from);

/* Gives back what `latency` has, but for the struct itself. */
void latency_release(struct latency *latency);

/*
 * Sums are a snapshot without threads whose triple i is that of record i. Adds the records of another
 * snapshot, which may be of any kind; bounded by LATENCY_RECORDS_MAX. Returns in which record each was put;
 * the caller frees it.
 */
uint32_t *latency_sums_add(struct snapshot *sums, const struct snapshot *snapshot);

/* Whether each name of a snapshot would have a record of its own, were it added. */
bool latency_sums_have_room(struct snapshot *sums, const struct snapshot *snapshot);

/* The record `(other)` of sums, UINT32_MAX for none. Its waits may be of any group. */
uint32_t latency_sums_other(struct snapshot *sums);

#endif
