/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_TEST_HISTORY_FIXTURE_H
#define CTOP_TEST_HISTORY_FIXTURE_H

#include "cmocka_include.h"

#include "base/clock.h"
#include "base/memory.h"
#include "day_image.h"
#include "snapshot/snapshot.h"
#include "store/history.h"
#include "store/history_writer.h"

/* Rounds of a host that never was, and directories to record them into. */

/* 2026-11-20 08:00:00 UTC. */
#define FIXTURE_UNIX_NS (UINT64_C(1795161600) * NS_PER_S)

struct fixture_host {
	const char *boot_id, *kernel, *host;
	uint64_t unix_ns;     /* of its round 0 */
	uint64_t boottime_ns; /* of its round 0 */
	uint32_t threads;     /* ten in each process */
	bool noisy;           /* each thread of each round has a number that nobody can guess */
};

extern const struct fixture_host fixture_host;

/*
 * The round that many intervals of 5 s after the first. Every third thread runs `number` ms in all, thread k
 * of the others never; in each round one thread is gone and another one is new. The caller has the one
 * reference.
 */
struct snapshot *fixture_round(const struct fixture_host *host, uint64_t number);

/* The time of a round. */
uint64_t fixture_unix_ns(const struct fixture_host *host, uint64_t number);

/* Which round a snapshot is, by what its threads have: every one is looked at. Fails the test when it is
 * none. */
void fixture_assert_round(const struct snapshot *snapshot, const struct fixture_host *host, uint64_t number);

/* A directory of its own below $TMPDIR, removed with all that is in it by fixture_remove(), which frees it.
 */
char *fixture_directory(void);
void fixture_remove(char *directory);

/* A writer; fails the test when there is none. `options` may be NULL; its directory is set. */
struct history_writer *fixture_writer(const char *directory, const struct history_writer_options *options);

/* Adds a round; fails the test when it is not stored. */
void fixture_add(struct history_writer *writer, const struct fixture_host *host, uint64_t number);

/* Adds the rounds from one on to before another. */
void fixture_add_rounds(struct history_writer *writer, const struct fixture_host *host, uint64_t from,
			uint64_t to);

/* Records the first rounds of fixture_host into a directory of its own, which is returned. */
char *fixture_record(uint64_t rounds);

/* The file of the first day, and its path, to be freed. */
#define FIXTURE_DAY "2026-11-20.ctlog"
char *fixture_path(const char *directory);

/* Reads that file. fixture_put_image() writes the image back and releases it. */
struct day_image fixture_image(const char *directory);
void fixture_put_image(const char *directory, struct day_image *image);

/* Opens a history; fails the test when it cannot be. */
struct history *fixture_open(const char *directory);

/* history_find(); fails the test when there is none. */
struct history_round fixture_find(struct history *history, uint64_t unix_ns, enum history_side side);

/* Reads a round, which has to be that one. */
void fixture_expect_read(struct history *history, const struct history_round *round,
			 const struct fixture_host *host, uint64_t number);

/* How many decoded rounds a history keeps. */
size_t fixture_count_decoded(const struct history *history);

/*
 * Reads every round from the oldest at or after a time on, looks at it, and calls `visit` (NULL: nothing).
 * Returns how many could be read, and those that are damaged in `*ret_damaged`; NULL: none may be.
 */
typedef void fixture_visit(void *context, const struct history_round *round, uint64_t number);
size_t fixture_walk(struct history *history, const struct fixture_host *host, uint64_t from_unix_ns,
		    fixture_visit *visit, void *context, size_t *ret_damaged);

/* The same of a directory with rounds of fixture_host. */
size_t fixture_walk_all(const char *directory, size_t *ret_damaged);

/* --- histories that were made to do harm --- */

enum {
	FIXTURE_CPU_SECONDS = 30, /* for anything that one file makes us do */
	FIXTURE_SECONDS = 150,    /* the same where nothing runs, on a busy machine too */
	FIXTURE_MEMORY_BYTES = 512 << 20,
	FIXTURE_LATER = 300, /* the number of a round behind all that tests record */
};

/* Asks everything that can be asked of a history with rounds of fixture_host. Returns how many could be read.
 */
size_t fixture_read_everything(const char *directory);

/* The same before and after three rounds more are recorded, from FIXTURE_LATER on. True. */
bool fixture_read_and_record(const char *directory);

struct fixture_cost {
	uint64_t memory_bytes; /* the largest that it had at a time */
	uint64_t cpu_ns;
};

/*
 * Runs `body` in a process with the time and memory above. Fails, naming `what`, unless it ends well and
 * returns true. Returns what it took.
 */
struct fixture_cost fixture_survive(const char *what, const char *directory,
				    bool (*body)(const char *directory));

/* Which round of fixture_host a time is. */
uint64_t fixture_number(const struct fixture_host *host, uint64_t unix_ns);

#endif
