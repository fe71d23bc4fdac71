/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_HISTORY_H
#define CTOP_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "snapshot/snapshot.h"

enum {
	HISTORY_PSI_UNKNOWN = UINT16_MAX,
	/* Attempts to read a round near a damaged one before giving up. */
	HISTORY_DAMAGED_MAX = 4096,
	HISTORY_DECODED = 20, /* rounds that are kept decoded, at most */
};

/*
 * Past rounds. They are recorded in a directory with a file for each day (ctop-history(5)), possibly by
 * another process at this moment; or they are the last rounds of a live screen, in memory (session/ring.h);
 * or both (session/joined_history.h). Searches skip damaged rounds and files; history_damage() lists them. An
 * object belongs to one thread. Functions return 0 or a negative errno with a sentence: -ENOENT the
 * directory, round or mark does not exist; -ENODATA the history has no round; -ENOTDIR, -EACCES; -EMEDIUMTYPE
 * a file is not part of a history; -EPROTONOSUPPORT a file was written by a newer ctop, or by one before 1.0;
 * -EBADMSG a file is damaged; -ETIMEDOUT reading a file takes far longer than it should.
 */
struct history {
	const struct history_functions *functions;
	char *directory; /* NULL: it is in memory */
	struct history_decoded {
		struct snapshot *snapshot; /* a reference; NULL: none */
		uint32_t day;
		int64_t id;
		unsigned int depth; /* number of other rounds that it is decoded from; 0 for a whole round */
		uint64_t used;      /* clock of its last use */
	} decoded[HISTORY_DECODED];
	size_t decoded_max; /* how many are used */
	uint64_t decoded_clock;
};

/* A round without its threads. */
struct history_round {
	uint32_t day; /* the file that it is in; files of a day, and days, ascend */
	int64_t id;   /* ascends within the file; for a recorded round, the offset of its frame */
	uint64_t unix_ns, boottime_ns;
	uint64_t span_ns; /* from the round before, by CLOCK_BOOTTIME; 0 after a gap */
	uint32_t boot;    /* for history_boot() */
	uint32_t threads;
	/* Nothing is known of the time before it: recording began here, went on after the disk was full, or
	 * the host was started again. */
	bool after_gap;
	bool after_pause;  /* the gap is one of a full disk or the like */
	bool clock_jumped; /* the wall clock was set since the round before, by `clock_jump_ns` */
	int64_t clock_jump_ns;
	uint64_t suspended_ns; /* how long the host slept since the round before, 0: not, or not known */
	/* Part of the time since the round before in which some thread waited for a CPU, memory or I/O
	 * (pressure, `some`), hundredths of a percent. */
	uint16_t psi[PRESSURE_IRQ];
	uint32_t load_centi; /* load average of a minute, hundredths; UINT32_MAX: not known */
};

/* Whether a round is the one that was recorded next after another. */
static inline bool history_is_next(const struct history_round *before, const struct history_round *after)
{
	return !after->after_gap && before->boot == after->boot &&
	       before->boottime_ns + after->span_ns == after->boottime_ns;
}

/* Whether two are the same round of one history. */
static inline bool history_is_same(const struct history_round *a, const struct history_round *b)
{
	return a->day == b->day && a->id == b->id;
}

/* Describes a live round, without id, day and boot; `before` is the round before, NULL after a
 * gap. */
struct history_round history_round_of(const struct snapshot *before, const struct snapshot *now);

/* CPU time of the host between two rounds that no thread has, ns (ended_left_between()); NAN where that tells
 * nothing, or there is none before. */
double history_left_between(const struct snapshot *before, const struct snapshot *now);

enum history_boot_text {
	HISTORY_BOOT_ID,
	HISTORY_BOOT_KERNEL,
	HISTORY_BOOT_HOST,
	HISTORY_BOOT_ARCHITECTURE,
	HISTORY_BOOT_PROGRAM, /* that recorded it: "ctop 1.0" */
	HISTORY_BOOT_TEXTS,
};

/* A start of a host, as rounds tell it. Texts belong to the history; "" where it is not known. */
struct history_boot {
	const char *texts[HISTORY_BOOT_TEXTS];
};

/* A file of a day, or of a part of one. */
#define HISTORY_COUNT_UNKNOWN UINT64_MAX

struct history_day {
	uint32_t day;  /* as in struct history_round */
	char name[32]; /* of the file */
	uint64_t bytes;
	uint64_t rounds; /* 0 where the file cannot be read */
	uint64_t first_unix_ns, last_unix_ns;
	uint64_t gaps,
		marks;   /* as `rounds` HISTORY_COUNT_UNKNOWN where a damaged part of it has some of them */
	bool unreadable; /* history_damage() says why */
};

struct history_mark {
	uint64_t unix_ns;
	const char *kind; /* "rule", "user" */
	const char *text; /* what was noticed, a sentence or a rule; NULL for none */
	const char *path; /* of a snapshot of that moment, relative to the directory; NULL for none */
};

/* A time whose recorded rounds cannot be read. */
struct history_hole {
	char name[32];                     /* of the file */
	uint64_t from_unix_ns, to_unix_ns; /* from the first damaged round to the next whole one; of a file
					      that cannot be read at all its day */
	uint64_t rounds;                   /* that are lost, 0: not known */
	const char *why;                   /* a sentence, owned by the history */
};

/* Marks. */
struct history_marks {
	struct history_mark *items; /* oldest first */
	size_t count, capacity;
	struct arena arena; /* has the texts */
};

/* Implementation of the functions below by one kind of history. */
struct history_functions {
	int (*find_end)(struct history *history, bool newest, struct history_round *ret_round,
			struct error *error);
	/* The nearest round at a time or on a side of it. 1: found, 0: none there, or a negative errno. */
	int (*find_side)(struct history *history, uint64_t unix_ns, bool before,
			 struct history_round *ret_round, struct error *error);
	/* The neighbour of a round. 1: found, 0: it is at the end, or a negative errno. */
	int (*find_next)(struct history *history, const struct history_round *from, bool forward,
			 struct history_round *ret_round, struct error *error);
	bool (*adjoins)(const struct history *history, const struct history_round *before,
			const struct history_round *after);
	int (*range)(struct history *history, uint64_t from_unix_ns, uint64_t to_unix_ns,
		     struct history_round **ret_rounds, size_t *ret_count, struct error *error);
	/* Decodes a round, and others that it takes, for history_keep_decoded(). */
	int (*decode)(struct history *history, const struct history_round *round, struct error *error);
	int (*read_gone)(struct history *history, const struct history_round *round,
			 struct snapshot **ret_gone, double *ret_left_ns, struct error *error);
	/* NULL: it has no marks. */
	int (*read_marks)(struct history *history, uint64_t from_unix_ns, uint64_t to_unix_ns,
			  struct history_marks *ret_marks, struct error *error);
	/* NULL: two rounds are from one start if `boot` is the same. */
	bool (*is_one_start)(const struct history *history, const struct history_round *a,
			     const struct history_round *b);
	/* NULL: all rounds are in `directory`. */
	const char *(*directory_of)(const struct history *history, const struct history_round *round);
	/* Forgets the decoded rounds of the histories that this one is made of; NULL: it is made of none. */
	void (*forget_parts)(struct history *history);
};

enum history_side {
	HISTORY_AT_OR_BEFORE,
	HISTORY_AT_OR_AFTER,
	HISTORY_NEAREST,
};

/*
 * Opens the history of a directory to read it. No file is read before it is needed. A directory that has
 * nothing of a history is -ENODATA. The caller closes it.
 */
int history_open(const char *directory, struct history **ret_history, struct error *error);
void history_close(struct history *history); /* NULL is allowed */

/* The oldest and the newest round; -ENODATA: none. */
static inline int history_first(struct history *history, struct history_round *ret_round, struct error *error)
{
	return history->functions->find_end(history, false, ret_round, error);
}

static inline int history_last(struct history *history, struct history_round *ret_round, struct error *error)
{
	return history->functions->find_end(history, true, ret_round, error);
}

/*
 * The round at a time by the wall clock, ns since 1970; the nearest one to a whole second, which is how
 * rounds are called, is the first one that is in it. Where there is none on that side the first or last one
 * is taken: the caller compares. -ENODATA when there is none at all.
 */
int history_find(struct history *history, uint64_t unix_ns, enum history_side side,
		 struct history_round *ret_round, struct error *error);

/*
 * Finds the oldest round between two times (ns since 1970, both included; an end in whole seconds includes
 * its whole second). Returns 1, or 0 if no round lies there: then `*ret_round` is the nearest round. Errors
 * as for history_find().
 */
int history_find_within(struct history *history, uint64_t from_unix_ns, uint64_t to_unix_ns,
			struct history_round *ret_round, struct error *error);

/*
 * Whether the history covers a time (ns since 1970): the time lies in the span of a round, or is the whole
 * second in which a round lies. Times after the newest round count until the next round is overdue. Returns 1
 * or 0, or a negative errno with a sentence: -ENODATA the history has no round.
 */
int history_holds(struct history *history, uint64_t unix_ns, struct error *error);

/*
 * The round that many after (before: negative) another; the first or last one where there are not so many.
 * Rounds recorded meanwhile are found. Each round costs a look-up. `*ret_round` may be `*from`.
 */
int history_step(struct history *history, const struct history_round *from, int64_t rounds,
		 struct history_round *ret_round, struct error *error);

/*
 * Whether all is known of the time between two neighbours by history_step(), which passes by what is damaged:
 * no gap is between them, and nothing that was recorded there is known to be lost. What is damaged is known
 * once it was met.
 */
static inline bool history_adjoins(const struct history *history, const struct history_round *before,
				   const struct history_round *after)
{
	return !after->after_gap && history->functions->adjoins(history, before, after);
}

/*
 * All rounds from a time on to another, both included, oldest first. The caller frees `*ret_rounds`, which is
 * NULL for none.
 */
static inline int history_range(struct history *history, uint64_t from_unix_ns, uint64_t to_unix_ns,
				struct history_round **ret_rounds, size_t *ret_count, struct error *error)
{
	return history->functions->range(history, from_unix_ns, to_unix_ns, ret_rounds, ret_count, error);
}

/*
 * The snapshot of a round; the caller has one reference. Some that were read lately are kept, so that the
 * next and the one before cost little. After -EBADMSG the round is not found any more.
 */
int history_read(struct history *history, const struct history_round *round, struct snapshot **ret_snapshot,
		 struct error *error);

/* Gives up the decoded rounds that are kept, for when none is likely to be read soon. */
void history_forget_decoded(struct history *history);

/*
 * Reads what ended between the round before and this one: see recording_decode_interval(). `*ret_gone` is
 * NULL where there is nothing to tell; then, or where it is not known, `*ret_left_ns` is NAN.
 */
static inline int history_read_gone(struct history *history, const struct history_round *round,
				    struct snapshot **ret_gone, double *ret_left_ns, struct error *error)
{
	return history->functions->read_gone(history, round, ret_gone, ret_left_ns, error);
}

/* Marks from a time on to another, both included; the caller releases them, also after an error. */
int history_marks_read(struct history *history, uint64_t from_unix_ns, uint64_t to_unix_ns,
		       struct history_marks *ret_marks, struct error *error);
void history_marks_release(struct history_marks *marks);

/* Whether two rounds are from the same start of the host, even if different programs recorded them. */
static inline bool history_is_one_start(const struct history *history, const struct history_round *a,
					const struct history_round *b)
{
	if (history->functions->is_one_start != NULL)
		return history->functions->is_one_start(history, a, b);
	return a->boot == b->boot;
}

/* The directory in which a round is recorded, owned by the history; NULL for a round in memory. */
static inline const char *history_directory_of(const struct history *history,
					       const struct history_round *round)
{
	if (history->functions->directory_of != NULL)
		return history->functions->directory_of(history, round);
	return history->directory;
}

/* --- for the kinds of histories --- */

/* A round that was decoded lately, or NULL. It is the history's, until history_keep_decoded(). */
const struct history_decoded *history_find_decoded(struct history *history, uint32_t day, int64_t id);

/* Keeps a decoded round, whose reference is taken over, instead of those that were not used for longest. */
void history_keep_decoded(struct history *history, uint32_t day, int64_t id, unsigned int depth,
			  struct snapshot *snapshot);

/* --- of a recorded history only --- */

/* The boot that a round belongs to; owned by the history. */
const struct history_boot *history_boot(const struct history *history, const struct history_round *round);

/* Lists the files as of now, oldest first; owned by the history, valid until the next call. */
const struct history_day *history_days(struct history *history, size_t *ret_count);

/*
 * Holes that are known, oldest first; they belong to the history until the next call of any function. With
 * `search` every file is read to find them all, which for a day of a large host takes a second; else those
 * that were met.
 */
const struct history_hole *history_damage(struct history *history, bool search, size_t *ret_count);

#endif
