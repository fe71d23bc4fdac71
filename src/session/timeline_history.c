/* SPDX-License-Identifier: GPL-2.0-only */
/* A recorded history as a timeline. */
#include "timeline.h"

static int first(void *source, struct history_round *ret_round, struct error *error)
{
	return history_first(source, ret_round, error);
}

static int last(void *source, struct history_round *ret_round, struct error *error)
{
	return history_last(source, ret_round, error);
}

static int find(void *source, uint64_t unix_ns, enum history_side side, struct history_round *ret_round,
		struct error *error)
{
	return history_find(source, unix_ns, side, ret_round, error);
}

static int step(void *source, const struct history_round *from, int64_t rounds,
		struct history_round *ret_round, struct error *error)
{
	return history_step(source, from, rounds, ret_round, error);
}

static bool adjoins(void *source, const struct history_round *before, const struct history_round *after)
{
	return history_adjoins(source, before, after);
}

static int range(void *source, uint64_t from_unix_ns, uint64_t to_unix_ns, size_t limit,
		 struct history_round **ret_rounds, size_t *ret_count, struct error *error)
{
	return history_range(source, from_unix_ns, to_unix_ns, limit, ret_rounds, ret_count, error);
}

static int read_round(void *source, const struct history_round *round, struct snapshot **ret_snapshot,
		      struct error *error)
{
	return history_read(source, round, ret_snapshot, error);
}

static int read_gone(void *source, const struct history_round *round, struct snapshot **ret_gone,
		     double *ret_left_ns, struct error *error)
{
	return history_read_gone(source, round, ret_gone, ret_left_ns, error);
}

static int next_mark(void *source, uint64_t unix_ns, bool before, struct history_marks *ret_marks,
		     struct error *error)
{
	return history_next_mark(source, unix_ns, before, ret_marks, error);
}

struct timeline timeline_of_history(struct history *history)
{
	static const struct timeline_functions functions = {
		.first = first,
		.last = last,
		.find = find,
		.step = step,
		.adjoins = adjoins,
		.range = range,
		.read = read_round,
		.read_gone = read_gone,
		.next_mark = next_mark,
	};

	return (struct timeline){&functions, history};
}
