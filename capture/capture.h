/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_CAPTURE_H
#define CTOP_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "capture/host/cgroup.h"
#include "snapshot/snapshot.h"

/*
 * From the live host (or a saved tree) to snapshots. One capture object belongs to one thread; it keeps what
 * makes the next round cheap.
 */

struct feature_checks;
struct reader;
struct roots;

/* Threads are read all at once by a BPF program, or one by one from procfs and taskstats. */
enum capture_backend {
	CAPTURE_BACKEND_AUTOMATIC, /* by BPF where that works */
	CAPTURE_BACKEND_BPF,
	CAPTURE_BACKEND_PROCFS,
};

struct capture_options {
	const char *roots[ROOT_COUNT]; /* NULL: /proc, /sys, the cgroup2 mount of ROOT/self/mountinfo */
	const uint32_t *scope;         /* only these process ids are read; NULL for all */
	size_t scope_count;
	enum capture_backend backend;
	double budget_percent; /* of one CPU, for cheap sources that are not needed; 0: 3, negative: none */
	bool heap; /* with the allocator probe; else allocation counters are unavailable (switched off) */
	/*
	 * Reads what waits for a lock of another process (base/reader.h), owned by the caller, which
	 * outlives the capture. With NULL the capture reads it and may hang.
	 */
	struct reader *reader;
	bool allow_stop;           /* threads that can be read in no other way may be stopped for a moment */
	bool once;                 /* for one capture_full() alone: what only rounds use is not loaded */
	bool full_is_round;        /* the receiver counts from full snapshots as it does from rounds */
	bool latency;              /* capture_switch_latency() is to work */
	bool latency_later;        /* not before capture_load_latency(), which loads what it takes */
	bool futexes;              /* rounds have the futexes of the only process in `scope` */
	uint64_t heap_patience_ns; /* how long capture_full() waits for executables that are being resolved */
	const atomic_bool *hurry;  /* may be NULL; once it is set, that wait is over */
	/* May be NULL: of how many threads the files have been read in the capture under way. */
	atomic_uint *progress;
	struct context_choice
		fields; /* the user's choice of a scheduler's contexts; its texts outlive the capture */
	/* Finds a sched_ext scheduler that started later, with more rights; NULL: with those of the caller.
	 */
	void (*scheduler_rights)(void (*call)(void *argument), void *argument);
	/*
	 * Tests only: where replies of taskstats come from instead of the kernel: a directory with TID.bin
	 * messages as received, netlink header included. NULL for the kernel.
	 */
	const char *saved_taskstats;
};

struct capture;

/*
 * Reads the facts of a host that need no thread: host name, times, load, CPU ticks, memory, pressure. Returns
 * a finished snapshot without threads, which the caller owns; NULL if the roots cannot be opened, which
 * capture_open() reports with a sentence.
 */
struct snapshot *capture_read_host(const char *const roots[static ROOT_COUNT]);

/*
 * Checks features and opens what stays open, with the caller's rights. Returns 0 or a negative errno with a
 * sentence: -EINVAL for a root without processes and for a scope that names a thread which is no process,
 * -ENOTSUP when CAPTURE_BACKEND_BPF was asked for and cannot be had. The capabilities that BPF needs
 * (CAP_BPF, CAP_PERFMON) are not needed afterwards.
 */
int capture_open(const struct capture_options *options, struct capture **ret_capture, struct error *error);
void capture_close(struct capture *capture);

/*
 * One full snapshot: every source, every thread; expensive sources (smaps_rollup, cgroup records) for at most
 * `expensive_budget_ns` in all (UINT64_MAX: no bound), the rest is unavailable (over-budget). The caller owns
 * the one reference. Threads that end meanwhile are not an error. `cancel` (may be NULL) is checked now and
 * then and ends the capture with -ECANCELED.
 */
int capture_full(struct capture *capture, uint64_t expensive_budget_ns, const atomic_bool *cancel,
		 struct snapshot **ret_snapshot, struct error *error);

struct capture_round_options {
	source_set needed;   /* read in any case */
	bool only_needed;    /* `-b`: nothing else even when the budget would allow it */
	bool cgroup_records; /* the records of cgroups are needed */
	bool smaps;          /* smaps_rollup is needed (on a budget of its own) */
	bool task_fields;    /* what a sched_ext scheduler keeps for each thread is needed */

	/* Without records of all cgroups: for cgroup_read_limits(). */
	uint32_t limits_of[CGROUP_LIMITS_MAX];

	/*
	 * The longest wait for executables that the allocator probe resolves, where it is needed. A live
	 * round does not wait: what is being resolved is unavailable for that reason.
	 */
	uint64_t heap_patience_ns;
};

/*
 * One live round: what changed since the last round of this object is read, the rest carried over (see
 * docs/dev/live-round.md). Same ownership and errors as capture_full().
 */
int capture_round(struct capture *capture, const struct capture_round_options *options,
		  const atomic_bool *cancel, struct snapshot **ret_snapshot, struct error *error);

/*
 * Reads the records of ended threads to make room for more, and lets go of a sched_ext
 * scheduler that ended. To be called between rounds. Returns when it is to be called again (CLOCK_MONOTONIC
 * ns), UINT64_MAX for never.
 */
uint64_t capture_serve_ended(struct capture *capture);

/*
 * Takes the notice for the user about the captures so far, a sentence that lives as long as the capture;
 * NULL for nothing. It tells that threads are read from procfs from now on because a pass failed, which the
 * snapshot's FEATURE_PASSES explains too. With CAPTURE_BACKEND_BPF the captures fail instead.
 */
const char *capture_take_notice(struct capture *capture);

/*
 * Continues resolving the executables that the allocator probe has found, until none is left or the time has
 * come (CLOCK_MONOTONIC ns; 0: what can be done at once). To be called between rounds: the resolving
 * processes ask for files, and rounds do not wait for them. Returns how many are left.
 */
size_t capture_serve_heap(struct capture *capture, uint64_t deadline_ns);

/*
 * Checks what a capture of these roots could read, with the rights of the caller, by trying it: features, and
 * the programs of BPF. Words of the results are owned by `ret_checks` and by `arena`. The caller releases the
 * checks with feature_release().
 */
void capture_check(const struct roots *roots, struct arena *arena, struct feature_checks *ret_checks);

/*
 * Loads what options.latency_later left, with the rights of the caller (CAP_BPF and CAP_PERFMON); the feature
 * is unknown until then. Nothing where it was not left.
 */
void capture_load_latency(struct capture *capture);

/*
 * Begins or ends measuring how long threads wait (off at first). From then on the snapshots of rounds have
 * the waits since the round before, those of full captures all since measuring began. Returns 0 or a negative
 * errno; -ENOTSUP where it cannot be measured, which the snapshot's FEATURE_LATENCY explains.
 */
int capture_switch_latency(struct capture *capture, bool on);

/* Why it cannot be measured, in words that the capture owns. */
const char *capture_latency_refusal(struct capture *capture);

/* Gives back what a round's snapshot that nobody has looked at says of waits: the next round has it too. */
void capture_return_latency(struct capture *capture, const struct snapshot *snapshot);

/* Switches the allocator probe, which is on at first, for the captures to come. */
void capture_switch_heap(struct capture *capture, bool on);

#endif
