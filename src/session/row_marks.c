/* SPDX-License-Identifier: GPL-2.0-only */
#include "row_marks.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/order.h"

enum {
	MOVERS = 3
};

/* A row counts as a mover when its value grew to at least this many times the one before. */
static const double mover_ratio = 1.5;

static void clear_generation(struct row_generation *generation)
{
	arena_release(&generation->arena);
	generation->names = NULL;
	generation->count = 0;
	generation->round = 0;
	hash_map_clear(&generation->index);
}

/* Makes it that of a view: what it has of another one is forgotten. */
static void follow_view(struct row_marks *row_marks, const struct view *view)
{
	struct buffer signature = {0};

	buffer_append_format(&signature, "%d %d ", (int)view->level, (int)view->mode);
	view_append_signature(view, view->grouping.axis, view->step_count, &signature);
	if (order_bytes(signature.data, signature.length, row_marks->signature.data,
			row_marks->signature.length) == 0) {
		buffer_release(&signature);
		return;
	}
	buffer_release(&row_marks->signature);
	row_marks->signature = signature;
	clear_generation(&row_marks->now);
	clear_generation(&row_marks->before);
}

/* Forgets the numbers of rows that were sorted by another column: there is nothing to compare. */
static void follow_sort(struct row_generation *generation, enum column sort)
{
	if (generation->sort == sort)
		return;
	generation->sort = sort;
	for (size_t i = 0; i < generation->count; i++)
		generation->rows[i].sort = NAN;
}

/* Moves `now` to `before` if it belongs to the last round of the same view. */
static void begin_round(struct row_marks *row_marks, uint64_t round, const struct view *view)
{
	struct row_generation spare;

	follow_view(row_marks, view);
	if (row_marks->now.round == round)
		return;
	spare = row_marks->before;
	row_marks->before = row_marks->now;
	row_marks->now = spare;
	clear_generation(&row_marks->now);
	if (row_marks->before.round + 1 != round)
		clear_generation(&row_marks->before);
}

static struct marked_row describe_row(const struct shown *shown, size_t row, double sort)
{
	const uint32_t of = shown->row_group[row];
	struct marked_row described = {.is_thread = shown->by_thread, .sort = sort};

	if (shown->by_thread) {
		described.tid = shown->now->tid[of];
		described.tgid = shown->now->tgid[of];
		described.start_time = shown->now->start_time[of];
		described.label = shown_thread_name(shown->now, of, &described.label_length);
		described.hash = hash_u64(hash_u64(described.tid) ^ described.start_time);
	} else {
		described.label = shown_row_label(shown, row, &described.label_length);
		described.key = shown_row_key(shown, row, &described.key_length);
		described.tgid = shown_row_pid(shown, row);
		described.is_own = shown_row_is_own(shown, row);
		described.hash = hash_bytes(described.key, described.key_length);
	}
	return described;
}

/* Notes a row with copies of its texts; threads of a triple share that of their name. */
static struct marked_row *note_row(struct row_generation *now, const struct shown *shown, size_t index,
				   struct marked_row row)
{
	struct marked_row *noted;

	if (row.is_thread) {
		const char **name;

		if (now->names == NULL)
			now->names = arena_allocate_zero(&now->arena, shown->now->triple_count,
							 sizeof(*now->names));
		name = &now->names[shown->now->triple[shown->row_group[index]]];
		if (*name == NULL)
			*name = arena_duplicate(&now->arena, row.label, row.label_length);
		row.label = *name;
	} else {
		const bool same = row.label == row.key;

		row.key = arena_duplicate(&now->arena, row.key, row.key_length);
		row.label = same ? row.key : arena_duplicate(&now->arena, row.label, row.label_length);
	}
	noted = MEMORY_APPEND(now->rows, now->count, now->capacity);
	*noted = row;
	return noted;
}

static bool is_same_row(const struct marked_row *a, const struct marked_row *b)
{
	if (a->hash != b->hash || a->is_thread != b->is_thread)
		return false;
	if (a->is_thread)
		return a->tid == b->tid && a->start_time == b->start_time;
	return order_bytes(a->key, a->key_length, b->key, b->key_length) == 0;
}

/* The row as it was noted for a table of the same round, which has its rows in the same order; NULL for none.
 */
static struct marked_row *find_noted(struct row_generation *now, size_t row,
				     const struct marked_row *described)
{
	return row < now->count && is_same_row(&now->rows[row], described) ? &now->rows[row] : NULL;
}

static void index_rows(struct row_generation *generation)
{
	for (size_t i = 0; i < generation->count; i++) {
		struct marked_row *row = &generation->rows[i];

		row->alike = UINT32_MAX;
		(void)hash_map_get(&generation->index, row->hash, &row->alike);
		hash_map_set(&generation->index, row->hash, (uint32_t)i);
	}
}

/* Rows come in one order: `*guess` is likely to be the one. The index is made once it is not. */
static uint32_t find_before(struct row_generation *before, const struct marked_row *row, uint32_t *guess)
{
	uint32_t old = *guess;

	if (before->round == 0)
		return UINT32_MAX;
	if (old >= before->count || !is_same_row(&before->rows[old], row)) {
		if (before->index.count == 0)
			index_rows(before);
		old = UINT32_MAX;
		(void)hash_map_get(&before->index, row->hash, &old);
		while (old != UINT32_MAX && !is_same_row(&before->rows[old], row))
			old = before->rows[old].alike;
		if (old == UINT32_MAX)
			return UINT32_MAX;
	}
	*guess = old + 1;
	return old;
}

/* The largest rises so far, largest first. */
struct movers {
	struct mover {
		size_t row;
		double rise;
	} items[MOVERS];
	size_t count;
};

static void consider(struct movers *movers, size_t row, double before, double now)
{
	double rise = now - before;
	size_t rank = movers->count;

	if (!(rise > 0.0) || now < before * mover_ratio)
		return;
	while (rank > 0 && movers->items[rank - 1].rise < rise)
		rank--;
	if (rank == MOVERS)
		return;
	if (movers->count < MOVERS)
		movers->count++;
	for (size_t i = movers->count - 1; i > rank; i--)
		movers->items[i] = movers->items[i - 1];
	movers->items[rank] = (struct mover){row, rise};
}

struct marked_row *row_marks_update(struct row_marks *row_marks, uint64_t round, const struct view *view,
				    const struct shown *shown, const double *sort_values)
{
	struct marked_row *rows = memory_allocate((shown->row_count + 1) * sizeof(*rows));
	const enum column sort = view->sort_by_name ? COLUMN_COUNT : view->sort;
	struct movers movers = {0};
	uint32_t guess = 0;
	bool note;

	begin_round(row_marks, round, view);
	note = row_marks->now.round != round;
	follow_sort(&row_marks->now, sort);
	follow_sort(&row_marks->before, sort);
	for (size_t row = 0; row < shown->row_count; row++) {
		struct marked_row *noted;
		uint32_t old;

		rows[row] = describe_row(shown, row, sort_values[row]);
		noted = note ? note_row(&row_marks->now, shown, row, rows[row])
			     : find_noted(&row_marks->now, row, &rows[row]);
		old = noted != NULL && !note ? noted->before
					     : find_before(&row_marks->before, &rows[row], &guess);
		if (noted != NULL) {
			noted->sort = sort_values[row];
			noted->before = old;
		}
		if (row_marks->before.round == 0)
			continue;
		if (old == UINT32_MAX) {
			rows[row].mark = ROW_MARK_NEW;
			continue;
		}
		row_marks->before.rows[old].seen = true;
		consider(&movers, row, row_marks->before.rows[old].sort, sort_values[row]);
	}
	for (size_t i = 0; i < movers.count; i++)
		rows[movers.items[i].row].mark = ROW_MARK_MOVER;
	row_marks->now.round = round;
	return rows;
}

static void release_generation(struct row_generation *generation)
{
	arena_release(&generation->arena);
	hash_map_release(&generation->index);
	free(generation->rows);
}

void row_marks_release(struct row_marks *row_marks)
{
	release_generation(&row_marks->now);
	release_generation(&row_marks->before);
	buffer_release(&row_marks->signature);
}
