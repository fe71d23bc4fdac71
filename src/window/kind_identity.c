/* SPDX-License-Identifier: GPL-2.0-only */
/* Columns of texts that say who a thread is: its process, user and cgroup. */
#include "kind.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/order.h"
#include "snapshot/container_names.h"
#include "snapshot/user_names.h"

static void prepare_containers(struct column_values *values)
{
	const size_t count = values->now->strings.count + 1;

	values->container_of_path = memory_allocate(count * sizeof(*values->container_of_path));
	memset(values->container_of_path, 0xff, count * sizeof(*values->container_of_path));
}

/* The container of a cgroup, as an id of values->containers. */
static uint32_t container_of(struct column_values *values, uint32_t path)
{
	const struct string_pool *strings = &values->now->strings;
	uint32_t *container = &values->container_of_path[path];
	struct buffer name = {0};

	if (*container != UINT32_MAX)
		return *container;
	container_append_name(string_pool_text(strings, path), string_pool_length(strings, path), &name);
	*container = string_pool_intern(&values->containers, name.data, name.length);
	buffer_release(&name);
	return *container;
}

/* The identity of a thread in a column: a number, or the id of a text. */
static uint32_t identity_of(const struct reducer *reducer, enum identity identity, uint32_t thread)
{
	const struct snapshot *now = reducer->shown->now;

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
	case IDENTITY_CONTAINER:
		return container_of(reducer->values, now->triples[now->triple[thread]].cgroup);
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
static void count_distinct(const struct reducer *reducer, enum identity identity)
{
	const struct shown *shown = reducer->shown;
	struct hash_map seen = {0};

	for (size_t k = 0; k < shown->count; k++) {
		const uint32_t row = shown->row_of[k], thread = shown->threads[k];
		struct accumulator *accumulator = reducer_row(reducer, row);
		const uint32_t value = identity_of(reducer, identity, thread);

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

/* The text of an identity; NULL for a user without a name (yet), or a process without a recorded title. */
static const char *text_of(const struct column_values *values, enum identity identity, uint32_t value,
			   size_t *ret_length)
{
	const struct snapshot *now = values->now;
	const char *name;

	if (identity == IDENTITY_CONTAINER) {
		name = string_pool_text(&values->containers, value);
		*ret_length = name_shown_length(name, string_pool_length(&values->containers, value));
		return name;
	}
	if (identity == IDENTITY_COMMAND) {
		name = snapshot_find_title(now, value);
		*ret_length = name != NULL ? strlen(name) : 0;
		return name;
	}
	if (identity != IDENTITY_USER) {
		name = snapshot_text(now, value);
		*ret_length = name_shown_length(name, string_pool_length(&now->strings, value));
		return name;
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
static void rank_texts(const struct reducer *reducer, enum identity identity)
{
	const struct shown *shown = reducer->shown;
	struct ranked_text *texts = memory_allocate((shown->row_count + 1) * sizeof(*texts));
	struct hash_map rank_of = {0};
	size_t count = 0;

	for (size_t row = 0; row < shown->row_count; row++) {
		const uint32_t id = reducer_row(reducer, row)->identity.value;
		uint32_t unused;

		if (reducer_row(reducer, row)->read == 0 || hash_map_get(&rank_of, id, &unused))
			continue;
		hash_map_set(&rank_of, id, 0);
		texts[count] = (struct ranked_text){.id = id};
		texts[count].text = text_of(reducer->values, identity, id, &texts[count].length);
		count++;
	}
	qsort(texts, count, sizeof(*texts), compare_texts);
	for (size_t i = 0; i < count; i++)
		hash_map_set(&rank_of, texts[i].id, (uint32_t)i + 1);
	for (size_t row = 0; row < shown->row_count; row++) {
		struct accumulator *accumulator = reducer_row(reducer, row);

		if (accumulator->read != 0)
			hash_map_get(&rank_of, accumulator->identity.value, &accumulator->identity.rank);
	}
	hash_map_release(&rank_of);
	free(texts);
}

static void begin(struct reducer *reducer)
{
	const enum identity identity = (enum identity)reducer->entry->inputs[0];

	if (identity == IDENTITY_CONTAINER)
		prepare_containers(reducer->values);
	count_distinct(reducer, identity);
	if (identity == IDENTITY_PROCESS || identity == IDENTITY_USER || identity == IDENTITY_CGROUP ||
	    identity == IDENTITY_CONTAINER)
		rank_texts(reducer, identity);
}

static void conclude(const struct conclusion *of, struct value *value)
{
	const enum identity identity = (enum identity)of->values->entry->inputs[0];
	const struct accumulator *accumulator = of->accumulators;
	const uint32_t number = accumulator->identity.value;

	if (!value_set_state(accumulator, value))
		return;
	if (identity == IDENTITY_SLEEP && !of->shown->by_thread) {
		value->state = VALUE_ABSENT;
		return;
	}
	/* a text that is not recorded is looked up when the row is shown, if a process of this host can
	 * answer */
	if ((identity == IDENTITY_COMMAND && accumulator->identity.distinct == 1 &&
	     snapshot_find_title(of->values->now, number) == NULL) ||
	    identity == IDENTITY_SLEEP) {
		value->state = VALUE_UNAVAILABLE;
		value->reason = REASON_NOT_IN_FILE;
		return;
	}
	value->form = VALUE_FORM_NAME;
	value->differs = accumulator->identity.distinct != 1 || accumulator->missed != 0;
	value->name.number = number;
	value->name.distinct = accumulator->identity.distinct;
	value->name.text = NULL;
	value->name.length = 0;
	if (accumulator->identity.distinct != 1)
		return;
	value->sort = identity == IDENTITY_PID ? number : accumulator->identity.rank;
	if (identity != IDENTITY_PID)
		value->name.text = text_of(of->values, identity, number, &value->name.length);
	if (identity == IDENTITY_PROCESS)
		value->name.text = grouping_visible_name(value->name.text, &value->name.length);
}

const struct column_kind column_kind_identity = {
	.begin = begin,
	.conclude = conclude,
};
