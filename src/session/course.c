/* SPDX-License-Identifier: GPL-2.0-only */
#include "course.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum {
	SPARE_ROWS = 1024, /* that may be there in vain before rows are given up */
	HIDDEN_ROUNDS =
		4, /* without being drawn, before which a row's courses are given up where room is short */
	QUIET_ROUNDS = 16, /* of zeros, before which a number's course is given up where room is short */
	ALLOCATION = 16,   /* bytes that an allocation takes besides */
};

static const size_t values_size = COURSE_ROUNDS * sizeof(float) + ALLOCATION;

void courses_add_round(struct courses *courses, uint64_t unix_ns, uint64_t boottime_ns)
{
	const size_t slot = ++courses->round % COURSE_ROUNDS;

	courses->unix_ns[slot] = unix_ns;
	courses->span_ns[slot] = courses->round == 1 || boottime_ns < courses->boottime_ns
					 ? 0
					 : boottime_ns - courses->boottime_ns;
	courses->boottime_ns = boottime_ns;
}

/* --- memory --- */

static void release_series(struct courses *courses, struct course_series *series)
{
	if (series->values != NULL)
		courses->bytes -= values_size;
	free(series->values);
	*series = (struct course_series){0};
}

static void release_column(struct courses *courses, const struct course_view *view,
			   struct course_column *column)
{
	for (size_t i = 0; i < column->capacity && i < view->row_count; i++)
		release_series(courses, &column->series[i]);
	courses->bytes -= column->capacity * sizeof(*column->series);
	free(column->series);
	*column = (struct course_column){0};
}

/* With what arrays and the map have in reserve while they grow. */
static size_t row_bytes(size_t key_length)
{
	return 2 * sizeof(struct course_row) + 4 * sizeof(struct hash_map_slot) + key_length + 1 + ALLOCATION;
}

static void release_view(struct courses *courses, struct course_view *view)
{
	for (size_t i = 0; i < view->column_count; i++)
		release_column(courses, view, &view->columns[i]);
	for (size_t i = 0; i < view->row_count; i++) {
		courses->bytes -= row_bytes(view->rows[i].key_length);
		free(view->rows[i].key);
	}
	free(view->rows);
	hash_map_release(&view->index);
	buffer_release(&view->signature);
	*view = (struct course_view){0};
}

void courses_release(struct courses *courses)
{
	for (size_t i = 0; i < COURSE_VIEWS; i++)
		release_view(courses, &courses->views[i]);
	memset(courses, 0, sizeof(*courses));
}

/* The view other than `view` that was not shown for longest; NULL for none. */
static struct course_view *oldest_view(struct courses *courses, const struct course_view *view)
{
	struct course_view *oldest = NULL;

	for (size_t i = 0; i < COURSE_VIEWS; i++) {
		struct course_view *other = &courses->views[i];

		if (other != view && other->signature.length != 0 &&
		    (oldest == NULL || other->used < oldest->used))
			oldest = other;
	}
	return oldest;
}

/* Gives up what rows had that are not in sight, and notes nothing of them any more. */
static void forget_hidden(struct courses *courses, struct course_view *view)
{
	courses->hidden_forgotten = courses->round;
	view->drawn_only = true;
	for (size_t row = 0; row < view->row_count; row++) {
		if (view->rows[row].drawn != 0 && courses->round - view->rows[row].drawn < HIDDEN_ROUNDS)
			continue;
		view->rows[row].drawn = 0;
		for (size_t i = 0; i < view->column_count; i++) {
			if (row < view->columns[i].capacity)
				release_series(courses, &view->columns[i].series[row]);
		}
	}
}

/* Gives up what numbers that are zero now had before: nothing is known of it then. */
static void forget_quiet(struct courses *courses, struct course_view *view)
{
	courses->quiet_forgotten = courses->round;
	for (size_t i = 0; i < view->column_count; i++) {
		struct course_column *column = &view->columns[i];

		for (size_t row = 0; row < column->capacity && row < view->row_count; row++) {
			struct course_series *series = &column->series[row];
			const struct course_series zeros = {.first = series->last - series->zeros + 1,
							    .last = series->last,
							    .zeros = series->zeros};

			if (series->values == NULL || series->zeros < QUIET_ROUNDS)
				continue;
			release_series(courses, series);
			*series = zeros;
		}
	}
}

/*
 * Makes room for so many bytes, if need be at the cost of views that are not shown, then of rows that are not
 * drawn and of numbers that are zero now, each at most once in a round.
 */
static bool take_bytes(struct courses *courses, struct course_view *view, size_t bytes)
{
	while (courses->bytes + bytes > COURSE_BYTES_MAX) {
		struct course_view *oldest = oldest_view(courses, view);

		if (oldest != NULL)
			release_view(courses, oldest);
		else if (courses->hidden_forgotten != courses->round)
			forget_hidden(courses, view);
		else if (courses->quiet_forgotten != courses->round)
			forget_quiet(courses, view);
		else
			return false;
	}
	courses->bytes += bytes;
	return true;
}

/* --- views --- */

static void make_signature(const struct view *view, struct buffer *signature)
{
	buffer_append_format(signature, "%d ", (int)view->level);
	view_append_signature(view, view->grouping.axis, view->step_count, signature);
}

static struct course_view *find_view(struct courses *courses, const struct buffer *signature)
{
	for (size_t i = 0; i < COURSE_VIEWS; i++) {
		struct course_view *view = &courses->views[i];

		if (view->signature.length == signature->length &&
		    memcmp(view->signature.data, signature->data, signature->length) == 0)
			return view;
	}
	return NULL;
}

struct course_view *courses_view(struct courses *courses, const struct view *view)
{
	struct buffer signature = {0};
	struct course_view *found;

	make_signature(view, &signature);
	found = find_view(courses, &signature);
	if (found != NULL) {
		buffer_release(&signature);
	} else {
		found = &courses->views[0];
		for (size_t i = 1; i < COURSE_VIEWS; i++) {
			if (courses->views[i].used < found->used)
				found = &courses->views[i];
		}
		release_view(courses, found);
		found->signature = signature;
	}
	found->used = ++courses->clock;
	return found;
}

/* --- rows --- */

/* Two keys with one hash are so rare that the second just has no course. */
static uint64_t hash_key(const char *key, size_t length)
{
	return (uint64_t)hash_bytes(key, length) << 32 | (uint32_t)length;
}

static bool has_key(const struct course_row *row, const char *key, size_t key_length)
{
	return row->key_length == key_length && memcmp(row->key, key, key_length) == 0;
}

static size_t find_row(const struct course_view *view, const char *key, size_t key_length)
{
	uint32_t row;

	if (view->guess < view->row_count && has_key(&view->rows[view->guess], key, key_length))
		return view->guess;
	return hash_map_get(&view->index, hash_key(key, key_length), &row) &&
			       has_key(&view->rows[row], key, key_length)
		       ? row
		       : SIZE_MAX;
}

/* Adds a row that is not there; SIZE_MAX on lack of room. */
static size_t add_row(struct courses *courses, struct course_view *view, const char *key, size_t key_length)
{
	const uint64_t hash = hash_key(key, key_length);
	uint32_t taken;

	if (hash_map_get(&view->index, hash, &taken) || !take_bytes(courses, view, row_bytes(key_length)))
		return SIZE_MAX;
	hash_map_set(&view->index, hash, (uint32_t)view->row_count);
	*MEMORY_APPEND(view->rows, view->row_count, view->row_capacity) = (struct course_row){
		.key = memory_duplicate_bytes(key, key_length),
		.key_length = key_length,
		.hash = hash,
		.last = courses->round};
	return view->row_count - 1;
}

size_t courses_row(struct courses *courses, struct course_view *view, const char *key, size_t key_length)
{
	const size_t found = find_row(view, key, key_length);

	if (found == SIZE_MAX)
		return view->drawn_only ? SIZE_MAX : add_row(courses, view, key, key_length);
	view->guess = found + 1;
	view->rows[found].last = courses->round;
	return view->drawn_only && view->rows[found].drawn == 0 ? SIZE_MAX : found;
}

/* Whether a row was there, or was drawn, in the last `rounds` rounds before the newest, or is in that. */
static bool is_needed(const struct courses *courses, const struct course_view *view,
		      const struct course_row *row, uint32_t rounds)
{
	const uint32_t last = view->drawn_only ? row->drawn : row->last;

	return last != 0 && courses->round - last <= rounds;
}

void courses_forget_rows(struct courses *courses, struct course_view *view, size_t row_count)
{
	size_t expected, kept = 0;
	uint32_t rounds;

	view->drawn_only |= row_count > COURSE_ROWS_ALL;
	expected = view->drawn_only ? 0 : row_count;
	rounds = view->row_count > 4 * expected + 4 * SPARE_ROWS ? 1 : COURSE_ROUNDS;
	if (view->row_count <= expected + SPARE_ROWS)
		return;
	hash_map_clear(&view->index);
	for (size_t i = 0; i < view->row_count; i++) {
		const struct course_row row = view->rows[i];
		const bool keep = is_needed(courses, view, &row, rounds);

		if (keep) {
			view->rows[kept] = row;
			hash_map_set(&view->index, row.hash, (uint32_t)kept);
		} else {
			courses->bytes -= row_bytes(row.key_length);
			free(row.key);
		}
		for (size_t column = 0; column < view->column_count; column++) {
			struct course_series *series = view->columns[column].series;

			if (i >= view->columns[column].capacity)
				continue;
			if (!keep)
				release_series(courses, &series[i]);
			if (kept != i && keep) {
				series[kept] = series[i];
				series[i] = (struct course_series){0};
			}
		}
		kept += keep;
	}
	view->row_count = kept;
}

/* --- values --- */

static struct course_column *find_column(struct course_view *view, enum column column)
{
	for (size_t i = 0; i < view->column_count; i++) {
		if (view->columns[i].column == column)
			return &view->columns[i];
	}
	return NULL;
}

struct course_column *courses_begin_column(struct courses *courses, struct course_view *view,
					   enum column column)
{
	struct course_column *chosen = find_column(view, column);

	if (chosen == NULL && view->column_count < COURSE_COLUMNS) {
		chosen = &view->columns[view->column_count++];
		*chosen = (struct course_column){.column = column};
	} else if (chosen == NULL) {
		chosen = &view->columns[0];
		for (size_t i = 1; i < view->column_count; i++) {
			if (view->columns[i].noted < chosen->noted)
				chosen = &view->columns[i];
		}
		release_column(courses, view, chosen);
		chosen->column = column;
	}
	if (chosen->noted == courses->round)
		return NULL;
	chosen->noted = courses->round;
	return chosen;
}

/* Makes room for a series of the row; false on lack of room. */
static bool reserve_series(struct courses *courses, struct course_view *view, struct course_column *column,
			   size_t row)
{
	const size_t before = column->capacity;
	const size_t wanted = view->row_count + view->row_count / 4 + 16;

	if (row < before)
		return true;
	if (!take_bytes(courses, view, (wanted - before) * sizeof(*column->series)))
		return false;
	column->series = memory_resize(column->series, wanted, sizeof(*column->series));
	memset(&column->series[before], 0, (wanted - before) * sizeof(*column->series));
	column->capacity = wanted;
	return true;
}

/* The value of a series in a round that it covers. */
static float value_at(const struct course_series *series, uint32_t round)
{
	return series->values != NULL ? series->values[round % COURSE_ROUNDS] : 0;
}

/* Gives a series values of its own; false on lack of room. */
static bool make_values(struct courses *courses, struct course_view *view, struct course_series *series)
{
	if (series->values != NULL)
		return true;
	if (!take_bytes(courses, view, values_size))
		return false;
	series->values = memory_allocate_zero(COURSE_ROUNDS, sizeof(*series->values));
	return true;
}

/* Marks the rounds between the last one noted and the newest as gaps. */
static void note_gap(struct course_series *series, uint32_t round)
{
	uint32_t from = series->last + 1;

	if (round - from > COURSE_ROUNDS)
		from = round - COURSE_ROUNDS;
	for (; from < round; from++)
		series->values[from % COURSE_ROUNDS] = NAN;
}

void courses_note(struct courses *courses, struct course_view *view, struct course_column *column, size_t row,
		  double value)
{
	const uint32_t round = courses->round;
	struct course_series *series;
	bool has_gap;

	if (!isfinite(value) || row >= view->row_count || !reserve_series(courses, view, column, row))
		return;
	series = &column->series[row];
	/* a series older than all kept rounds starts anew */
	if (series->last != 0 && round - series->last >= COURSE_ROUNDS)
		release_series(courses, series);
	has_gap = series->last != 0 && series->last + 1 != round;
	if ((value != 0 || has_gap) && !make_values(courses, view, series)) {
		release_series(courses, series);
		return;
	}
	if (has_gap)
		note_gap(series, round);
	series->zeros = value != 0 || has_gap ? 0 : series->zeros + 1;
	series->first = series->first == 0 ? round : series->first;
	series->last = round;
	if (series->zeros >= COURSE_ROUNDS && series->values != NULL) {
		release_series(courses, series);
		*series = (struct course_series){
			.first = round - COURSE_ROUNDS + 1, .last = round, .zeros = COURSE_ROUNDS};
	}
	if (series->values != NULL)
		series->values[round % COURSE_ROUNDS] = (float)value;
}

void courses_forget_columns(struct courses *courses, enum column first, enum column end)
{
	for (size_t i = 0; i < COURSE_VIEWS; i++) {
		struct course_view *view = &courses->views[i];
		size_t kept = 0;

		for (size_t j = 0; j < view->column_count; j++) {
			if (view->columns[j].column >= first && view->columns[j].column < end)
				release_column(courses, view, &view->columns[j]);
			else
				view->columns[kept++] = view->columns[j];
		}
		view->column_count = kept;
	}
}

/* The courses of a view, NULL where none were noted. */
static struct course_view *find_noted(struct courses *courses, const struct view *view)
{
	struct buffer signature = {0};
	struct course_view *found;

	make_signature(view, &signature);
	found = find_view(courses, &signature);
	buffer_release(&signature);
	return found;
}

/* A row that is drawn, made with places for its numbers when it is new; SIZE_MAX on lack of room. */
static size_t draw_row(struct courses *courses, struct course_view *view, const char *key, size_t key_length)
{
	size_t row = find_row(view, key, key_length);

	if (row == SIZE_MAX) {
		row = add_row(courses, view, key, key_length);
		for (size_t i = 0; row != SIZE_MAX && i < view->column_count; i++)
			(void)reserve_series(courses, view, &view->columns[i], row);
	}
	if (row != SIZE_MAX)
		view->rows[row].drawn = courses->round;
	return row;
}

/* The numbers of a row, SIZE_MAX for none, in a column; NULL where there is no place for them. */
static struct course_series *find_series(struct course_view *view, size_t row, enum column column)
{
	struct course_column *noted = row != SIZE_MAX ? find_column(view, column) : NULL;

	return noted != NULL && row < noted->capacity ? &noted->series[row] : NULL;
}

/* The round that ended at a time, of those that are kept; 0: none. */
static uint32_t round_at(const struct courses *courses, uint64_t unix_ns)
{
	const uint32_t newest = courses->round;

	for (uint32_t round = newest; round != 0 && newest - round < COURSE_ROUNDS; round--) {
		if (courses->unix_ns[round % COURSE_ROUNDS] == unix_ns)
			return round;
	}
	return 0;
}

void courses_note_earlier(struct courses *courses, const struct view *view, const char *key,
			  size_t key_length, enum column column, uint64_t unix_ns, double value)
{
	struct course_view *noted = find_noted(courses, view);
	struct course_series *series = noted != NULL
					       ? find_series(noted, find_row(noted, key, key_length), column)
					       : NULL;
	const uint32_t round = round_at(courses, unix_ns);
	bool has_gap;

	if (series == NULL || round == 0 || !isfinite(value) ||
	    (series->last != 0 && (round >= series->first || courses->round - series->last >= COURSE_ROUNDS)))
		return;
	has_gap = series->last != 0 && round + 1 != series->first;
	/* no view is given up for what is merely earlier */
	if ((value != 0 || has_gap) && series->values == NULL) {
		if (courses->bytes + values_size > COURSE_BYTES_MAX)
			return;
		courses->bytes += values_size;
		series->values = memory_allocate_zero(COURSE_ROUNDS, sizeof(*series->values));
	}
	/* the first that is known of it: as if nothing had followed so far */
	if (series->last == 0) {
		series->first = round + 1;
		series->last = round;
	}
	if (series->values != NULL) {
		for (uint32_t gap = round + 1; gap < series->first; gap++)
			series->values[gap % COURSE_ROUNDS] = NAN;
		series->values[round % COURSE_ROUNDS] = (float)value;
	}
	if (value == 0 && !has_gap && series->zeros == series->last - series->first + 1)
		series->zeros++;
	series->first = round;
}

size_t courses_points(struct courses *courses, const struct view *view, const char *key, size_t key_length,
		      enum column column, struct course_point points[], size_t limit)
{
	struct course_view *noted = find_noted(courses, view);
	const struct course_series *series =
		noted != NULL ? find_series(noted, draw_row(courses, noted, key, key_length), column) : NULL;
	const uint32_t newest = courses->round;
	const uint32_t kept = limit < COURSE_ROUNDS ? (uint32_t)limit : COURSE_ROUNDS;
	const uint32_t oldest = newest > kept ? newest - kept + 1 : 1;
	size_t count = 0;

	for (uint32_t round = oldest; round <= newest; round++) {
		const size_t slot = round % COURSE_ROUNDS;
		const bool known = series != NULL && series->last != 0 && round >= series->first &&
				   round <= series->last;

		points[count++] = (struct course_point){courses->unix_ns[slot], courses->span_ns[slot],
							known ? (double)value_at(series, round) : NAN};
	}
	return count;
}
