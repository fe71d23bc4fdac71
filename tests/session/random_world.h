/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_TEST_RANDOM_WORLD_H
#define CTOP_TEST_RANDOM_WORLD_H

#include "base/clock.h"
#include "session_fixture.h"

/* Threads that come, move and go at random, snapshots of them, and tables of two sessions compared. */

enum {
	THREADS_MAX = 120,
	PROCESSES = 8,
	EXCEPTIONS = 2,
};

/* A thread as the host has it. */
struct thread {
	uint32_t tgid, tid;
	uint64_t start;
	unsigned int process, name, cgroup; /* of the lists of names */
	uint8_t flags;
	uint32_t uid;
	uint64_t values[METRIC_COUNT];
	reason_id reasons[SOURCE_COUNT];
	struct {
		enum metric metric; /* METRIC_COUNT: none */
		reason_id reason;
	} exceptions[EXCEPTIONS];
	uint64_t stuck_ns, waiting_ns;
	uint32_t row; /* in the round before, UINT32_MAX when it is new */
	bool moved;
};

struct world {
	struct thread threads[THREADS_MAX]; /* ascending by process and number */
	size_t count;
	uint64_t now_ns;
	uint64_t round, begun;
	reason_id uniform[SOURCE_COUNT];
	bool by_thread[SOURCE_COUNT]; /* the reasons of the threads count, else `uniform` */
	reason_id metric_reason[METRIC_COUNT];
	bool delays_off, own_times;
	bool knows_waits;
	bool is_quiet; /* few threads move, and what holds for all hardly ever changes */
	/* No thread stays unseen for a round, leaders alone are taken over, and no two rounds share a time.
	 */
	bool is_seen;
};

/* The source for the work of ended threads. */
enum telling {
	TOLD,      /* by themselves */
	LEFT_OVER, /* the host's CPU time has it */
	UNTOLD,
	TELLINGS,
};

/* The contents of a round beside its threads. Made twice, from the same chance. */
struct besides {
	uint64_t chance;
	enum telling telling;
	uint64_t now_ns, busy_ticks;
	const struct snapshot *before; /* NULL for the first */
	bool *seen;                    /* [before] */
};

/* The source of all chance; not 0. */
extern uint64_t random_state;

uint64_t random_below(uint64_t limit);
bool one_in(uint64_t n);

/* A new thread, where it has an id that is free. */
void world_add_thread(struct world *world);

/* Begins a world of some threads that is seen as a capture sees a host. */
void world_begin(struct world *world, uint64_t seed);

/* Lets things happen until the next round. */
void world_advance(struct world *world);

/* A round of it, not finished; ids in its pools differ from round to round, as those of a capture may. */
struct snapshot *world_photograph(const struct world *world);

/* Finds what of besides->before there is no more: `seen`, which the caller frees. */
void world_find_seen(const struct world *world, struct besides *besides);

/* The ended threads and the waits of a round. */
void world_fill_interval(struct snapshot *snapshot, const struct besides *besides);

/* A finished round with all that is besides its threads. */
struct snapshot *world_make_round(const struct world *world, const struct besides *besides);

/* The same, with the names of another round to begin with, see snapshot_begin_names(). */
struct snapshot *world_go_on(const struct world *world, const struct besides *besides,
			     const struct snapshot *names);

/* The next round of a world after `before`, NULL for the first; besides->seen is there until
 * world_end_round(), which lets things happen until the next one. */
struct snapshot *world_begin_round(const struct world *world, struct besides *besides,
				   const struct snapshot *before);
void world_end_round(struct world *world, struct besides *besides);

/* A live session over rounds up to one, none of which it may give up. */
struct session *world_live_session(struct snapshot *const rounds[], int base, int now);

/* Says what a capture that compares its rounds says of this one. */
void world_say_moved(struct snapshot *snapshot, const struct world *world, const struct snapshot *before);

/* Fails the test where rows or cells differ. */
void expect_same_table(const struct table *a, const struct table *b, bool ignore_marks);

/* The parts of a view that are compared. */
enum sameness {
	SAME_ROUNDS,
	SAME_MOMENT, /* not what changed since the table before, nor how long waits took in total */
	SAME_FILE,   /* besides no explanations, which say when something was read, and from what, and no list
			of all metrics, which has all modes, where a file has one beginning */
};

/* Compares all columns in a mode on all axes, all metrics of some row, and some explanations. */
void expect_same_mode(struct session *const sessions[2], enum window_mode mode, enum sameness sameness);

/* The same in all modes. */
void expect_same_views(struct session *const sessions[2], enum sameness sameness);

#endif
