/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_RECORDING_ROUND_H
#define CTOP_RECORDING_ROUND_H

#include "coder.h"
#include "member.h"
#include "snapshot/snapshot.h"
#include "vocabulary.h"

/*
 * The state while a round is being coded, one way or the other. Whatever codes a part of it takes the
 * round as it is when encoding and fills it in when decoding, by the same calls in the same order; only
 * decoding writes to `now`.
 */

/*
 * The streams of a round, by what their numbers mean; those of metrics and sources are by their words. The
 * numbers are part of the format: new ones come last.
 */
enum round_stream {
	STREAM_FACTS,
	STREAM_PRESENCE, /* of columns */
	STREAM_LENGTH,   /* of texts */
	STREAM_COUNT,    /* of lists */
	STREAM_ROWS,     /* how rows of one round follow those of the other */
	STREAM_CHANGED,
	STREAM_MOVED,
	STREAM_NAMES,
	STREAM_RECORDS,
	STREAM_TRIPLES,
	STREAM_CPU_SET = STREAM_TRIPLES + 3,
	STREAM_EXCEPTIONS,
	STREAM_EXCEPTION_METRIC,
	STREAM_EXCEPTION_REASON,
	STREAM_RESIDENT,
	STREAM_CGROUP = STREAM_RESIDENT + 4,
	STREAM_CGROUP_KEYS = STREAM_CGROUP + 64,
	STREAM_SMAPS = STREAM_CGROUP_KEYS + 2,
	STREAM_SMAPS_KEYS,
	STREAM_LATENCY = STREAM_SMAPS_KEYS + 2,
	STREAM_ENDED = STREAM_LATENCY + 16,
	STREAM_ENDED_AMOUNTS = STREAM_ENDED + 8,
	STREAM_TASK_FIELDS = STREAM_ENDED_AMOUNTS + 40,
	STREAM_TASK_FIELD_WORDS,
	STREAM_COLUMNS = STREAM_TASK_FIELD_WORDS + 64, /* by thread_column */
	/* three for each of those that hold still */
	STREAM_TIMES = STREAM_COLUMNS + 3 * (6 + VOCABULARY_SOURCES_MAX + VOCABULARY_METRICS_MAX),
	STREAM_WAIT_NEW = STREAM_TIMES,
	STREAM_WAIT_OTHER = STREAM_WAIT_NEW + 2,
	STREAM_WAIT_SAME = STREAM_WAIT_OTHER + 2,
	STREAM_STUCK = STREAM_WAIT_SAME + 2,
	STREAM_READ_AT = STREAM_STUCK + 2,
	STREAM_DELAYS = STREAM_READ_AT + 3 * VOCABULARY_SOURCES_MAX,
	STREAM_LATENCY_SHARES = STREAM_DELAYS + 8, /* how many, and the members of each */
	STREAM_DEVICES = STREAM_LATENCY_SHARES + 1 + 8,
	STREAM_MARKS = STREAM_DEVICES + 4, /* one number: made-up names have their mark */
	STREAM_TITLES, /* count, references to titles of the other round, tgids of other titles */
	STREAM_TITLE_TEXTS,
	STREAM_WAIT_CLASS, /* three, as every column has */
	STREAM_WAIT_OBJECT = STREAM_WAIT_CLASS + 3,
	/* The two streams before held times in an earlier form. Count, whose and in which class; how long. */
	STREAM_LATENCY_TIMES = STREAM_WAIT_OBJECT + 5,
	STREAM_TOTAL = STREAM_LATENCY_TIMES + 2,
};

struct round {
	struct coder coder;
	struct snapshot *now;           /* not written to when encoding */
	const struct snapshot *against; /* NULL: whole */
	const struct vocabulary *words; /* what numbers stand for */
	bool is_brief;                  /* only the facts that an interval needs */
	bool names_are_marked;          /* see STREAM_MARKS; false in older rounds */
	/* By row of `now`: row of `against`, UINT32_MAX for none; ascends. */
	uint32_t *old_row;
	/* Rows that have none, and those that differ in more than times; ascending. */
	uint32_t *rows;
	size_t row_count;
	/* By id in `against`: id of the same text, set, names in `now`, UINT32_MAX for none. */
	uint32_t *string_of, *cpu_set_of, *triple_of;
	/* While encoding: texts and names of `against` have the same ids in `now` (snapshot.names_serial). */
	bool keeps_names;
	struct coder_stream *streams; /* the coder's, [STREAM_TOTAL] */
	/* Reasons missing from `words`, numbered after them. Encoding adds each on first use; a round that
	 * added some is encoded again with the whole list. */
	reason_id more_reasons[UINT8_MAX + 1];
	size_t more_reason_count;
	bool lost_reasons; /* as in vocabulary.h */
};

/* The number of elements of a list without an expected one. */
static inline size_t round_new_count(struct round *round, size_t count)
{
	return coder_count(&round->coder, &round->streams[STREAM_COUNT], round->coder.decoding ? 0 : count);
}

/* --- names.c --- */

/* The pools: names, CPU sets, triples. */
void round_code_names(struct round *round);

/* The same of a snapshot that is nothing but names. */
void round_code_other_names(struct round *round, struct snapshot *names);

/* The id in `now` of what id `id` of `against` stands for, 0 where it stands for nothing here. */
static inline uint32_t round_id(const uint32_t *map, uint64_t id)
{
	return map[id] == UINT32_MAX ? 0 : map[id];
}

/* --- rows.c --- */

/* Codes the number of threads, their rows in `against`, and which of them changed. */
void round_code_rows(struct round *round);

/*
 * Codes which record of a list of `against` matches the next one of `now`: `place`, at or above `*next`, or
 * UINT32_MAX for none. `*next` becomes the one behind it.
 */
uint32_t round_code_place(struct round *round, unsigned int stream_index, uint32_t place, size_t *next,
			  size_t count);

/* --- columns.c --- */

/* Columns that are by thread, all but times: they hold still while a thread does. */
enum thread_column {
	COLUMN_TGID,
	COLUMN_TID,
	COLUMN_START_TIME,
	COLUMN_UID,
	COLUMN_FLAGS,
	COLUMN_TRIPLE,
	COLUMN_IDENTITY_COUNT,
	COLUMN_REASONS = COLUMN_IDENTITY_COUNT, /* by source */
	COLUMN_VALUES = COLUMN_REASONS + SOURCE_COUNT,
	COLUMN_WAIT_CLASS = COLUMN_VALUES + METRIC_COUNT,
	COLUMN_WAIT_OBJECT,
	COLUMN_COUNT,
};

/* The cells of a column. */
struct column_view {
	const void *cells; /* NULL: no column */
	size_t size;       /* of a cell, bytes */
	uint64_t absent;   /* every cell without a column */
	/* Ids in `now` by ids in `against`; NULL: the cells are no ids. */
	const uint32_t *map;
};

/* A column of `snapshot`, which is `now` or `against` of the round. */
struct column_view column_view_of(const struct round *round, const struct snapshot *snapshot,
				  unsigned int column);

static inline uint64_t column_cell(const struct column_view *view, size_t row)
{
	if (view->cells == NULL)
		return view->absent;
	switch (view->size) {
	case sizeof(uint8_t):
		return ((const uint8_t *)view->cells)[row];
	case sizeof(uint32_t):
		return ((const uint32_t *)view->cells)[row];
	default:
		return ((const uint64_t *)view->cells)[row];
	}
}

/* A cell of `against`, with an id of `now` where it is one. */
static inline uint64_t column_old_cell(const struct column_view *view, size_t row)
{
	const uint64_t cell = column_cell(view, row);

	return view->map != NULL ? round_id(view->map, cell) : cell;
}

/* Everything that is by thread, but for exceptions and contexts. */
void round_code_columns(struct round *round);

/* --- times.c --- */

void round_code_times(struct round *round);

/* --- lists.c --- */

void round_code_exceptions(struct round *round);
void round_code_resident(struct round *round);
void round_code_smaps(struct round *round);
void round_code_cgroups(struct round *round);

/* --- code_object.c --- */

/*
 * Codes a record by its table, but for what only files have. `expected` is one like it, NULL for none: zeros.
 * Ids in `expected` are of `against` if `is_old`, else of `now`. All goes into `stream`, or with `is_spread`
 * each member into one of its own from there on.
 */
void round_code_object(struct round *round, const struct object *object, unsigned int stream, bool is_spread,
		       void *record, const void *expected, bool is_old);

/* Facts of the whole host. */
void round_code_facts(struct round *round);

/* --- reasons.c --- */

/* Codes the names of reasons missing from the words. Must precede everything that contains reasons. */
void round_code_more_reasons(struct round *round);

/* The number of a reason in this round. */
uint64_t round_put_reason(struct round *round, reason_id reason);

/* The reason of a decoded number. For an unused number, fails the coder and returns REASON_READ. */
reason_id round_take_reason(struct round *round, uint64_t number);

/* --- task_field_round.c --- */

void round_code_task_fields(struct round *round);

/* --- devices.c --- */

void round_code_devices(struct round *round);

/* --- titles.c --- */

/* Codes titles of processes. A round without titles, such as one of an older version, has no stream of
 * titles. */
void round_code_titles(struct round *round);

/* --- interval.c --- */

/* A snapshot of these rows of another, with names of its own; finished. */
struct snapshot *interval_take_rows(const struct snapshot *from, const uint32_t rows[], size_t count);

void round_code_latency(struct round *round);
/* Shares of what that has. Rounds of versions that knew none have no stream of them. */
void round_code_latency_shares(struct round *round);

/* The same of the times in each class; older rounds have none. */
void round_code_latency_times(struct round *round);
void round_code_ended(struct round *round);

/* --- recording.c --- */

struct recorder;

/* Tests only: encodes as another version would, which has these words; they must outlive the recorder. */
void recorder_use_words(struct recorder *recorder, const struct vocabulary *words);

/* Tests only: encodes like versions that did not mark made-up names. */
void recorder_mark_nothing(struct recorder *recorder);

#endif
