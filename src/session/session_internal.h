/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_SESSION_INTERNAL_H
#define CTOP_SESSION_INTERNAL_H

#include "base/hash.h"
#include "session.h"
#include "snapshot/thread_match.h"

/*
 * Shared by the files of the session, for no one else.
 *
 *   session.c          rounds, base
 *   session_ended.c    what threads did that are gone
 *   session_delta.c    one metric of many threads over a span
 *   session_members.c  which threads a view shows and to which row each belongs
 *   session_reduce.c   a column's values reduced to one accumulator a row
 *   session_cell.c     from accumulators to cells
 *   session_cgroup.c   columns of cgroup records
 *   session_heap.c     columns of the allocator probe
 *   session_history.c  what changed since the last table: marks
 *   session_table.c    the table of a view
 *   session_pair*.c    the comparison with an older snapshot, in place of the tables above
 *   session_metrics.c, session_explain.c, session_evidence.c   the tables and texts behind one row or number
 */

/* Threads that ended since the base, by triple; what they did since. */
struct ended_record {
	uint64_t threads;
	uint64_t *amounts; /* [ended_slot_count()] */
	uint8_t *states;   /* [ended_slot_count()], ENDED_… */
};

enum {
	ENDED_COUNTED = 1 << 0, /* some thread had a value */
	ENDED_MISSED = 1 << 1,  /* some thread's value was unavailable */
	ENDED_RECORDS_MAX = 4096,
	GROUPING_CACHE_SIZE = 8,
};

struct ended {
	struct snapshot *names; /* no threads; triple i is that of record i; NULL while there is none */
	struct ended_record *records;
	size_t count;
	size_t capacity;
	uint64_t threads;
};

/* A grouping of the newest round, kept until the next one. */
struct cached_grouping {
	struct grouping *grouping; /* NULL: unused */
	struct grouping_options options;
	bool with_ended;
	uint64_t used; /* clock of the last use */
};

/* A row as it was when the table of a round was made. */
struct history_row {
	uint64_t hash;
	const char *key; /* in the arena of the generation; NULL for a thread row */
	size_t key_length;
	uint32_t thread; /* index in that round's snapshot, else UINT32_MAX */
	double sort;
	bool seen; /* found again in the round after */
};

struct history_generation {
	uint64_t round; /* 0: none */
	struct arena arena;
	struct history_row *rows;
	size_t count;
	size_t capacity;
	struct hash_map index; /* hash to row */
};

struct history {
	struct buffer signature; /* of the view it belongs to */
	struct history_generation now, before;
};

struct session {
	struct snapshot *now, *previous, *base; /* a reference each */
	uint32_t *previous_of;                  /* [now]: index in previous, or THREAD_… */
	uint32_t *base_of;                      /* [now]: index in base, or THREAD_… */
	uint64_t rounds;
	bool is_file;
	struct pattern_memory patterns;
	struct cached_grouping groupings[GROUPING_CACHE_SIZE];
	uint64_t grouping_clock;
	struct ended ended;
	struct history history;
	struct session_pair *pair; /* NULL unless it compares, see session_pair_internal.h */
};

/* --- session.c --- */

/*
 * The grouping of the newest round (snapshot 0) and, `with_ended`, of the names of ended threads (snapshot
 * 1). Owned by the session, valid until the next round or GROUPING_CACHE_SIZE other groupings.
 */
const struct grouping *session_grouping(struct session *session, const struct grouping_options *options,
					bool with_ended);

/* --- session_delta.c --- */

/* Between what two readings a value is taken. */
enum span {
	SPAN_INTERVAL, /* from the round before */
	SPAN_BASE,     /* from the base */
	SPAN_TOTAL,    /* the lifetime: as the kernel has it */
	SPAN_COUNT,
};

enum span span_of_mode(enum view_mode mode);

/* Value state of a series beside reason ids (REASON_READ: there). */
enum {
	SERIES_ABSENT = 256
};

/* One counter of many threads. */
struct series {
	double *values;
	uint16_t *states;
};

/*
 * Where a delta is taken: the newer side and what it is compared with. For threads of the session's newest
 * round session_comparison() makes it; for those that ended session_ended.c.
 */
struct comparison_sides {
	const struct snapshot *to;
	const struct snapshot *from; /* NULL: nothing to compare with */
	const uint32_t *from_of;     /* [to] */
	reason_id missing;           /* why, when `from` is NULL */
	bool total;                  /* no comparison: the lifetime */
};

struct comparison_sides session_comparison(const struct session *session, enum span span);

/*
 * The change of a counter of one thread, in the unit of the metric. Returns REASON_READ, SERIES_ABSENT or the
 * reason why it is not known.
 */
uint16_t thread_change(const struct comparison_sides *sides, uint32_t thread, enum metric metric,
		       uint64_t *ret_amount);

/*
 * The same for `count` threads into `series` (whose arrays have room): amounts (ticks as ns), or per second
 * when `as_rate`.
 */
void series_fill(const struct comparison_sides *sides, const uint32_t *threads, size_t count,
		 enum metric metric, bool as_rate, struct series *series);

/* --- session_ended.c --- */

size_t ended_slot_count(void);

/* Slot of a counter, and that of max(swap-in, thrashing) of each thread. */
size_t ended_slot_of(enum metric metric);
size_t ended_slot_of_overlap(void);

/* Adds what `thread` of `sides->to` did since the base. */
void ended_fold(struct ended *ended, const struct comparison_sides *sides, uint32_t thread);

void ended_clear(struct ended *ended);

/* --- session_members.c --- */

/* The threads of a view, each with its row. */
struct members {
	uint32_t *threads; /* indices in the newest snapshot */
	uint32_t *rows;
	size_t count;
	uint32_t *
		ended_rows; /* row of each ended record, UINT32_MAX for none; NULL: ended ones do not count */
	size_t row_count;
	uint32_t *row_threads; /* living members of each row */
	uint32_t *row_group;   /* group of each row, or its thread index when `by_thread` */
	bool by_thread;
	const struct grouping *grouping; /* of the rows; NULL when `by_thread` */
	bool by_cgroup;                  /* rows are cgroups */
};

/*
 * Finds them: those of the groups that the view was narrowed to. `key` (may be NULL) limits them to the row
 * of that key. Ended threads join groups in VIEW_MODE_BASE, or always when `with_ended`.
 */
void members_collect(struct session *session, const struct view *view, const char *key, size_t key_length,
		     bool with_ended, struct members *members);
void members_release(struct members *members);

/* Key of a row, NUL-terminated; a thread's is made in `buffer`, which is cleared. */
const char *members_row_key(const struct session *session, const struct members *members, size_t row,
			    struct buffer *buffer, size_t *ret_length);

/* Appends the key of a thread row, "TID:START". */
void append_thread_key(struct buffer *buffer, const struct snapshot *snapshot, uint32_t thread);

/* --- session_reduce.c --- */

/* Whatever a row's cell is made of. */
struct accumulator {
	union {
		struct {
			double first, second;
		} sum;
		struct {
			int64_t low, high;
		} range;
		struct {
			uint64_t value;
		} present;
	};
	uint32_t read, missed;
	uint16_t reason; /* of a missed one */
	bool partial;    /* an input of a member that was read is missing */
	bool differs;    /* members do not agree; of a ratio: inputs miss different threads */
	bool rose;
};

/* A column's accumulators, `stride` for each row. */
struct column_values {
	enum column column;
	enum view_mode mode;
	struct accumulator *accumulators; /* owned */
	size_t stride;
};

/* Reduces a column in a mode. */
void column_reduce(struct session *session, const struct members *members, enum column column,
		   enum view_mode mode, struct column_values *ret_values);

/* --- session_cgroup.c --- */

/* How a number of a cgroup behaves in time. */
enum cgroup_field_kind {
	CGROUP_FIELD_RATE,   /* a counter shown per second in VIEW_MODE_RATE */
	CGROUP_FIELD_AMOUNT, /* a counter shown as an amount in every mode */
	CGROUP_FIELD_GAUGE,
};

enum cgroup_field_kind cgroup_field_kind(int field);

/*
 * Reduces a column of cgroup records to one accumulator per row: sum.first, and `differs` where a cgroup of
 * the group has no limit. Rows that are not cgroups get nothing: it does not apply to them.
 */
void cgroup_reduce(struct session *session, const struct members *members,
		   const struct column_values *values);

/* --- session_heap.c --- */

/*
 * Reduces a column of the allocator probe (enum heap_field). `differs`: of LIVE, some process is not whole in
 * the row; of LAYOUT, processes do not agree, present.value being an index into provenance.heap.
 */
void heap_reduce(struct session *session, const struct members *members, const struct column_values *values);

/*
 * Reduces first - second of two counters over the span of `values->mode` to sum.first and sum.second. The
 * whole is missed with any member: a difference of parts is neither more nor less than that of all.
 */
void net_reduce(struct session *session, const struct members *members, const struct column_values *values);

/* How the counters of a process were found, and what became of the search; NULL when it is not known. */
const struct heap_process *heap_find(const struct snapshot *snapshot, uint32_t tgid);

/* --- session_evidence.c --- */

enum {
	EVIDENCE_READ,
	EVIDENCE_MISSED,
	EVIDENCE_WHY,
	EVIDENCE_REMEDY,
	EVIDENCE_COUNT,
};

/* Appends a row; its texts are kept as they are. */
struct table_row *evidence_add_row(struct table *table, const char *key, const char *label);

void evidence_set_count(struct table *table, uint64_t count, struct cell *cell);
void evidence_set_text(const char *text, struct cell *cell);

/* --- session_evidence_heap.c --- */

/*
 * A row for each process that the allocator probe looked at and that has jemalloc, or may have; those of one
 * name and outcome share a row. `tgid` of such a row is that of its first process.
 */
void evidence_add_heap(struct table *table, const struct snapshot *now);

/* --- session_cell.c --- */

/* Unit of a column's cells in a mode, in rows that are groups or threads. */
enum unit column_unit(enum column column, enum view_mode mode, bool by_thread);

/* Makes the cell of a row; its texts are in `arena`. */
void column_cell(const struct session *session, const struct members *members,
		 const struct column_values *values, size_t row, struct arena *arena, struct cell *ret_cell);

/* A category's value as words: SCHED_OTHER is OTHER, a state its letter. */
const char *category_text(const struct snapshot *snapshot, enum metric metric, uint64_t value,
			  char letter[static 5]);

/* Fills a table's column description: name with unit, title, width. */
void column_describe(enum column column, enum view_mode mode, bool by_thread, struct arena *arena,
		     struct table_column *ret_column);

/* --- session_explain.c --- */

/* Appends what a metric counts and from where a snapshot has it. */
void explain_place(const struct snapshot *snapshot, enum metric metric, struct buffer *lines);

/* --- session_history.c --- */

/* Prepares for the table of this round: what was `now` becomes `before` when it is of the last round of the
 * same view. */
void history_begin(struct session *session, const struct view *view);

/* Notes all rows with their sort values and returns, for each, its mark (owned by the caller, one byte each).
 */
unsigned char *history_update(struct session *session, const struct members *members,
			      const double *sort_values);

void history_release(struct history *history);

#endif
