/* SPDX-License-Identifier: GPL-2.0-only */
#include "diff_sides.h"

#include <stdio.h>
#include <string.h>

#include "cmocka_include.h"

struct snapshot *before, *after;
struct diff *diff;

static uint32_t intern(struct snapshot *snapshot, const char *text)
{
	return string_pool_intern(&snapshot->strings, text, strlen(text));
}

struct snapshot *diff_fixture_open(void)
{
	struct snapshot *snapshot = snapshot_create();

	for (size_t i = 0; i < METRIC_COUNT; i++)
		snapshot->metric_source[i] = metrics[i].source;
	return snapshot;
}

size_t diff_fixture_add(struct snapshot *snapshot, const char *cgroup, const char *process,
			const char *thread, uint64_t start)
{
	uint32_t id = (uint32_t)snapshot->thread_count + 1;
	size_t index = snapshot_add_thread(snapshot, id, id);

	snapshot->triple[index] = snapshot_intern_triple(snapshot, (struct triple){intern(snapshot, process),
										   intern(snapshot, thread),
										   intern(snapshot, cgroup)});
	snapshot->start_time[index] = start;
	return index;
}

void diff_fixture_set(struct snapshot *snapshot, size_t thread, enum metric metric, uint64_t value)
{
	snapshot_column(snapshot, metric)[thread] = value;
}

void diff_fixture_set_text(struct snapshot *snapshot, size_t thread, enum metric metric, const char *text)
{
	diff_fixture_set(snapshot, thread, metric, intern(snapshot, text));
}

static uint64_t random_number(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static uint64_t random_value(struct snapshot *snapshot, enum metric metric, uint64_t *state)
{
	static const char *const policies[] = {"SCHED_OTHER", "SCHED_BATCH", "SCHED_FIFO"};
	uint32_t cpus[] = {0, 1, 2, 3};

	switch (metric_type(metric)->encoding) {
	case METRIC_ENCODING_STRING:
		return intern(snapshot, policies[random_number(state) % 3]);
	case METRIC_ENCODING_CPU_SET:
		return cpu_set_intern(&snapshot->cpu_sets, cpus, 1 + random_number(state) % 4);
	case METRIC_ENCODING_CHARACTER:
		return random_number(state) % 2 == 0 ? 'R' : 'S';
	case METRIC_ENCODING_BOOLEAN:
		return random_number(state) % 2;
	case METRIC_ENCODING_I32:
		return (uint64_t)((int64_t)(random_number(state) % 40) - 20);
	case METRIC_ENCODING_U32:
		return random_number(state) % 100;
	case METRIC_ENCODING_U64:
		break;
	}
	/* few bits, so that sums of them are exact as a double */
	return random_number(state) % 4 == 0 ? 0 : random_number(state) >> (24 + random_number(state) % 38);
}

struct snapshot *diff_fixture_random(uint64_t seed, size_t threads, bool knowledge)
{
	struct snapshot *snapshot = diff_fixture_open();
	uint64_t state = seed * 2654435761 + 88172645463325252;
	char cgroup[32], process[32], name[32];

	snapshot->provenance.present = knowledge;
	for (size_t i = 0; i < threads; i++) {
		size_t thread;

		snprintf(cgroup, sizeof(cgroup), "/g%c.slice", "xyz"[random_number(&state) % 3]);
		snprintf(process, sizeof(process), "p%c", "xyzw"[random_number(&state) % 4]);
		snprintf(name, sizeof(name), "t%c-%u", "xyzw"[random_number(&state) % 4],
			 (unsigned int)(random_number(&state) % 3));
		thread = diff_fixture_add(snapshot, cgroup, process, name, 1 + random_number(&state) % 1000);
		snapshot->thread_flags[thread] = (uint8_t)(random_number(&state) % 2 == 0
								   ? 0xff & ~THREAD_KERNEL
								   : 0);
		for (size_t j = METRIC_THREAD_COUNT + 1; j < METRIC_COUNT; j++)
			diff_fixture_set(snapshot, thread, (enum metric)j,
					 random_value(snapshot, (enum metric)j, &state));
		if (knowledge && random_number(&state) % 8 == 0)
			snapshot_source_reasons(snapshot, SOURCE_IO)[thread] = REASON_NOT_PERMITTED;
	}
	snapshot_finish(snapshot);
	return snapshot;
}

int diff_fixture_begin(void **state)
{
	(void)state;
	diff_fixture_replace(diff_fixture_open(), diff_fixture_open());
	return 0;
}

int diff_fixture_end(void **state)
{
	(void)state;
	diff_fixture_replace(NULL, NULL);
	return 0;
}

void diff_fixture_add_both(const char *cgroup, const char *process, const char *thread, enum metric metric,
			   uint64_t first, uint64_t second)
{
	diff_fixture_set(before, diff_fixture_add(before, cgroup, process, thread, 1), metric, first);
	diff_fixture_set(after, diff_fixture_add(after, cgroup, process, thread, 1), metric, second);
}

void diff_fixture_compare(enum axis axis)
{
	const struct diff_options options = {.grouping = {.axis = axis}};

	diff_release(diff);
	diff = diff_create(before, after, &options);
}

void diff_fixture_replace(struct snapshot *first, struct snapshot *second)
{
	diff_release(diff);
	diff = NULL;
	snapshot_release(before);
	snapshot_release(after);
	before = first;
	after = second;
}

const struct diff_pair *diff_fixture_pair(const struct diff *of, const char *label)
{
	struct buffer text = {0};

	for (size_t i = 0; i < of->pair_count; i++) {
		bool found;

		buffer_clear(&text);
		diff_append_label(of, &of->pairs[i], &text);
		found = strcmp(text.data != NULL ? text.data : "", label) == 0;
		if (!found)
			continue;
		buffer_release(&text);
		return &of->pairs[i];
	}
	fail_msg("no pair '%s'", label);
	return NULL;
}

size_t diff_fixture_count(const struct diff *of, enum diff_pair_kind kind)
{
	size_t count = 0;

	for (size_t i = 0; i < of->pair_count; i++)
		count += of->pairs[i].kind == kind;
	return count;
}
