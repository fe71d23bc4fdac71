/* SPDX-License-Identifier: GPL-2.0-only */
/* Columns of texts that say who a thread is: its process, user and cgroup. */
#include "reduce.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/order.h"
#include "user/user_names.h"

/* What a column is of in a thread: a number, or the id of a text. */
static uint32_t identity_of(const struct snapshot *now, enum identity identity, uint32_t thread)
{
	switch (identity) {
	case IDENTITY_PID:
	case IDENTITY_COMMAND:
	case IDENTITY_SLEEP:
		return now->tgid[thread];
	case IDENTITY_PROCESS:
		return now->triples[now->triple[thread]].pcomm;
	case IDENTITY_USER:
		return now->uid[thread];
	case IDENTITY_CGROUP:
		return now->triples[now->triple[thread]].cgroup;
	}
	return 0;
}

/* Why a user is not known: it comes with one of two sources. */
static reason_id why_no_user(const struct snapshot *now, uint32_t thread)
{
	const enum source sources_of_user[] = {SOURCE_TASKSTATS, SOURCE_STATUS};

	if (!now->provenance.present)
		return REASON_NOT_IN_FILE;
	for (size_t i = 0; i < sizeof(sources_of_user) / sizeof(*sources_of_user); i++) {
		const reason_id reason = snapshot_source_reason(now, thread, sources_of_user[i]);

		if (reason != REASON_READ)
			return reason;
	}
	return REASON_NOT_READ;
}

/* Whether a value was not seen in a row before. */
static bool is_first_in_row(struct hash_map *seen, uint32_t row, uint32_t value)
{
	const uint64_t key = (uint64_t)row << 32 | value;
	uint32_t unused;

	if (hash_map_get(seen, key, &unused))
		return false;
	hash_map_set(seen, key, 0);
	return true;
}

/* Threads of a process stand together, so that most are like the one before. */
static void count_distinct(const struct shown *shown, const struct column_values *values,
			   enum identity identity)
{
	struct hash_map seen = {0};

	for (size_t k = 0; k < shown->count; k++) {
		const uint32_t row = shown->row_of[k], thread = shown->threads[k];
		struct accumulator *accumulator = reduce_accumulator(values, row);
		const uint32_t value = identity_of(shown->now, identity, thread);

		if (identity == IDENTITY_USER && value == USER_UNKNOWN) {
			accumulator_miss(accumulator, why_no_user(shown->now, thread));
			continue;
		}
		if (accumulator->read++ == 0) {
			accumulator->identity.value = accumulator->identity.last = value;
			accumulator->identity.distinct = 1;
			continue;
		}
		if (value == accumulator->identity.last)
			continue;
		if (accumulator->identity.distinct == 1)
			is_first_in_row(&seen, row, accumulator->identity.value);
		accumulator->identity.last = value;
		if (is_first_in_row(&seen, row, value))
			accumulator->identity.distinct++;
	}
	hash_map_release(&seen);
}

/* The text of what a column is of; of a user without a name (yet) there is none. */
static const char *text_of(const struct snapshot *now, enum identity identity, uint32_t value,
			   size_t *ret_length)
{
	const char *name;

	if (identity != IDENTITY_USER) {
		*ret_length = string_pool_length(&now->strings, value);
		return snapshot_text(now, value);
	}
	/* of another host they are numbers: the names of this one are of others */
	name = user_names_hold(now->provenance.hostname) ? user_name(value) : NULL;
	*ret_length = name != NULL ? strlen(name) : 0;
	return name;
}

/* A text that rows have, to be put in order. */
struct ranked_text {
	const char *text;
	size_t length;
	uint32_t id;
};

static int compare_texts(const void *a, const void *b)
{
	const struct ranked_text *left = a, *right = b;
	const int order = order_bytes(left->text, left->length, right->text, right->length);

	return order != 0 ? order : (left->id > right->id) - (left->id < right->id);
}

/* Gives the rows the places of their texts in byte order, from 1 on. */
static void rank_texts(const struct shown *shown, const struct column_values *values, enum identity identity)
{
	struct ranked_text *texts = memory_allocate((shown->row_count + 1) * sizeof(*texts));
	struct hash_map rank_of = {0};
	size_t count = 0;

	for (size_t row = 0; row < shown->row_count; row++) {
		const uint32_t id = reduce_accumulator(values, row)->identity.value;
		uint32_t unused;

		if (reduce_accumulator(values, row)->read == 0 || hash_map_get(&rank_of, id, &unused))
			continue;
		hash_map_set(&rank_of, id, 0);
		texts[count] = (struct ranked_text){.id = id};
		texts[count].text = text_of(shown->now, identity, id, &texts[count].length);
		count++;
	}
	qsort(texts, count, sizeof(*texts), compare_texts);
	for (size_t i = 0; i < count; i++)
		hash_map_set(&rank_of, texts[i].id, (uint32_t)i + 1);
	for (size_t row = 0; row < shown->row_count; row++) {
		struct accumulator *accumulator = reduce_accumulator(values, row);

		if (accumulator->read != 0)
			hash_map_get(&rank_of, accumulator->identity.value, &accumulator->identity.rank);
	}
	hash_map_release(&rank_of);
	free(texts);
}

void reduce_identity(const struct shown *shown, const struct column_values *values)
{
	const enum identity identity = (enum identity)column_entry(values->column)->inputs[0];

	count_distinct(shown, values, identity);
	if (identity == IDENTITY_PROCESS || identity == IDENTITY_USER || identity == IDENTITY_CGROUP)
		rank_texts(shown, values, identity);
}

void identity_cell(const struct shown *shown, enum identity identity, const struct accumulator *accumulator,
		   struct arena *arena, struct cell *ret_cell)
{
	static const char *const words[] = {
		[IDENTITY_PID] = "pids",          [IDENTITY_PROCESS] = "names",
		[IDENTITY_USER] = "users",        [IDENTITY_CGROUP] = "cgroups",
		[IDENTITY_COMMAND] = "processes", [IDENTITY_SLEEP] = "processes",
	};
	const uint32_t value = accumulator->identity.value;
	const char *text;
	size_t length;

	ret_cell->sort = NAN;
	if (accumulator->read == 0) {
		ret_cell->state = accumulator->missed != 0 ? CELL_UNAVAILABLE : CELL_ABSENT;
		ret_cell->reason = (reason_id)accumulator->reason;
		return;
	}
	if (identity == IDENTITY_SLEEP && !shown->by_thread) {
		ret_cell->state = CELL_ABSENT;
		return;
	}
	/* who shows the row looks the text up, where there is somebody to ask */
	if ((identity == IDENTITY_COMMAND && accumulator->identity.distinct == 1) ||
	    identity == IDENTITY_SLEEP) {
		ret_cell->state = CELL_UNAVAILABLE;
		ret_cell->reason = REASON_NOT_IN_FILE;
		return;
	}
	ret_cell->state = CELL_VALUE;
	ret_cell->form = CELL_FORM_TEXT;
	ret_cell->unanimous = accumulator->identity.distinct == 1 && accumulator->missed == 0;
	if (accumulator->identity.distinct != 1) {
		ret_cell->text = arena_format(arena, "%u %s", accumulator->identity.distinct,
					      words[identity]);
		ret_cell->several = true;
		ret_cell->value.integer = accumulator->identity.distinct;
		return;
	}
	if (identity == IDENTITY_PID) {
		ret_cell->form = CELL_FORM_INTEGER;
		ret_cell->value.integer = value;
		ret_cell->sort = value;
		ret_cell->text = arena_format(arena, "%u", value);
		return;
	}
	ret_cell->sort = accumulator->identity.rank;
	text = text_of(shown->now, identity, value, &length);
	ret_cell->text = text != NULL ? arena_duplicate(arena, text, length)
				      : arena_format(arena, "%u", value);
}
