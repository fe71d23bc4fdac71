/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_KIND_H
#define CTOP_KIND_H

#include "column.h"
#include "ended.h"
#include "reduce.h"
#include "shown.h"
#include "value.h"
#include "window.h"

/*
 * A kind of column: how threads and records become the accumulators of rows, and these become values. For
 * this room only; everybody else calls reduce_column() and reduce_value().
 */

/* A column being reduced. */
struct reducer {
	const struct window *window;
	const struct shown *shown;
	const struct column_entry *entry;
	struct column_values *values;
	void *work;         /* of the kind, freed after `end` */
	bool only_movers;   /* threads that stand still add nothing but that they were read */
	bool no_threads;    /* the column needs no thread by thread pass after all */
	struct window life; /* see reducer_count_lives() */
};

/* The input of a conclusion. */
struct conclusion {
	const struct shown *shown;
	const struct column_values *values;
	const struct accumulator *accumulators; /* of the row */
	size_t row;
};

struct column_kind {
	size_t stride;        /* accumulators of a row; 0 is 1 */
	bool stored_by_input; /* as stored a row has one for each input */
	/*
	 * Looks up once what all threads are added with. Kinds that are made of records rather than of
	 * threads fill the accumulators here. May be NULL, as may all that follow but `conclude`.
	 */
	void (*begin)(struct reducer *reducer);
	/* Adds a thread of the window's `now` to the accumulators of its row. */
	void (*add_thread)(const struct reducer *reducer, uint32_t thread, struct accumulator *accumulators);
	/* Adds what ended threads did. */
	void (*add_ended)(const struct reducer *reducer, const struct ended_record *record,
			  struct accumulator *accumulators);
	void (*end)(struct reducer *reducer);
	/* Makes the value of a row; it is absent, and its sort NAN, when called. */
	void (*conclude)(const struct conclusion *of, struct value *value);
	/*
	 * Merges a row of several hosts: adds the accumulators `from` of one host's window, which has
	 * `values`, to `into`. `into->read` is 0 before the first host; the caller adds the counts of members
	 * afterwards. Returns false if the numbers of two hosts cannot be merged; NULL: they never can.
	 */
	bool (*merge)(const struct column_values *values, const struct accumulator *from,
		      struct accumulator *into);
};

#define OPERATION(id, kind, ...) extern const struct column_kind column_kind_##kind;
#include "column_operation.def"
#undef OPERATION

/* Counts over the lives of the living threads, in every mode. */
static inline void reducer_count_lives(struct reducer *reducer)
{
	reducer->life = window_of_life(reducer->window);
	reducer->window = &reducer->life;
}

/* The first accumulator of a row. */
static inline struct accumulator *reducer_row(const struct reducer *reducer, size_t row)
{
	return &reducer->values->accumulators[row * reducer->values->stride];
}

/* The factor from an amount over the window to the number shown: one per second for rates. */
static inline double reducer_scale(const struct window *window, bool as_rate)
{
	return as_rate && window->elapsed_ns != 0 ? 1e9 / (double)window->elapsed_ns : 1.0;
}

/* Sets the state by the threads that were read and missed; false without a value. */
bool value_set_state(const struct accumulator *accumulator, struct value *value);

/*
 * Conclusions of several kinds: the sum, a whole amount, or a real number if values->is_real; `present`, a
 * whole number; sum[0] - sum[1] where both are known completely; `present` as a word.
 */
void conclude_sum(const struct conclusion *of, struct value *value);
void conclude_present(const struct conclusion *of, struct value *value);
void conclude_net(const struct conclusion *of, struct value *value);
void conclude_word(const struct conclusion *of, struct value *value);

/*
 * Merge functions of several kinds: merge_sums() adds all sums of the row, merge_present() adds `present`,
 * merge_largest() keeps the larger `present`.
 */
bool merge_sums(const struct column_values *values, const struct accumulator *from, struct accumulator *into);
bool merge_present(const struct column_values *values, const struct accumulator *from,
		   struct accumulator *into);
bool merge_largest(const struct column_values *values, const struct accumulator *from,
		   struct accumulator *into);

/* Rounds a real number. */
void value_make_whole(struct value *value);

/* Adds a thread that was read to `present` of a column of words: the first word, and whether others follow.
 */
void reducer_add_word(struct accumulator *accumulator, uint64_t value);

/* The word of a thread, as it was added; false where it has none. */
typedef bool reducer_word(const struct reducer *reducer, uint32_t thread, uint64_t *ret_value);

/* Whether `a` stands for a row rather than `b`, which as many of its threads have. */
typedef bool reducer_comes_first(const struct reducer *reducer, uint64_t a, uint64_t b);

/* Finds the commonest word of the rows whose threads do not agree, once all are added. */
void reducer_elect_words(const struct reducer *reducer, reducer_word *word_of,
			 reducer_comes_first *comes_first);

/*
 * By the format's flags a group counts as measured with all that its threads store as soon as one of them
 * was. Whether each thread of `now` counts so for a metric; the caller frees it. NULL but in
 * a window of WINDOW_FLAGGED.
 */
bool *reducer_find_measured(const struct window *window, const struct shown *shown, enum metric metric);

/* Whether threads that stand still are known neither to wait for a CPU nor to be in D: see
 * origin_find_still(). */
bool reducer_sleeps_where_still(const struct reducer *reducer);

/* Whether it is known how long waits took in the rows (`shown` may be NULL: at all), and otherwise why not.
 */
bool reducer_has_latency(const struct window *window, const struct shown *shown);
reason_id reducer_latency_missing(const struct window *window);

/* Whether the threads that stand still in the window are gathered in `shown`. */
static inline bool reducer_knows_still(const struct reducer *reducer)
{
	return reducer->window->still != NULL && reducer->window->still == reducer->shown->still;
}

/*
 * Looks up the counters of several inputs, which all count as measured where the first one does. Clears
 * `only_movers` where threads that stand still have to be added one by one. Returns what the counters refer
 * to as `measured`; the caller frees it.
 */
bool *reducer_find_counters(struct reducer *reducer, const int inputs[], size_t count,
			    struct window_counter counters[]);

/*
 * A short cut for lives as stored: adds all threads to the sums or maxima of their rows, so that none has to
 * be added one by one. Does nothing for other windows.
 */
void reducer_add_stored(struct reducer *reducer, const struct metric_reader *reader, const bool *measured,
			bool is_sum);

#endif
