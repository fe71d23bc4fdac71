/* SPDX-License-Identifier: GPL-2.0-only */
#include "diff_blame.h"

#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/order.h"

/* The waits of a side, NULL where they were not measured. */
static const struct snapshot *waits_of(const struct diff *diff, enum diff_side side)
{
	const struct snapshot *snapshot = diff->snapshots[side], *within;
	uint64_t waits = 0;

	if (snapshot == NULL)
		return NULL;
	within = snapshot->window != NULL ? snapshot->window->latency : NULL;
	if (diff->options.rates || within != NULL)
		snapshot = within;
	if (snapshot == NULL || !snapshot->latency.present || snapshot->latency.span_ns == 0)
		return NULL;
	for (size_t i = 0; i < snapshot->latency.count; i++)
		waits += latency_count(&latency_waits_of(&snapshot->latency, i)->of[LATENCY_RUN_QUEUE]);
	/* files of older versions have waits but nothing that delayed them */
	return waits == 0 || snapshot->latency.delay_count != 0 ? snapshot : NULL;
}

static bool has_waits_of_others(const struct snapshot *waits, const uint32_t sum_of[], uint32_t other)
{
	for (size_t i = 0; i < waits->latency.count; i++) {
		if (sum_of[i] == other &&
		    latency_count(&latency_waits_of(&waits->latency, i)->of[LATENCY_RUN_QUEUE]) != 0)
			return true;
	}
	return false;
}

/* --- ids: those of pairs, and behind them the groups of names whose threads are all gone --- */

static uint32_t find_id(const struct diff *diff, const struct blame *blame, uint32_t group)
{
	size_t length;
	const char *key = grouping_key(blame->groups, group, &length);
	const size_t pair = diff_find(diff, key, length);

	return (uint32_t)(pair != SIZE_MAX ? pair : diff->pair_count + group);
}

const struct diff_pair *diff_blame_group(const struct diff_blame *blame, uint32_t id)
{
	const size_t pair_count = blame->diff->pair_count;

	return id < pair_count ? &blame->diff->pairs[id] : &blame->strangers[id - pair_count];
}

static void name_strangers(struct diff_blame *blame)
{
	const size_t count = grouping_count(blame->names->groups);

	blame->strangers = memory_allocate_zero(count + 1, sizeof(*blame->strangers));
	for (uint32_t group = 0; group < count; group++) {
		struct diff_pair *stranger = &blame->strangers[group];

		stranger->kind = DIFF_PAIR_ONLY_AFTER;
		stranger->key = grouping_key(blame->names->groups, group, &stranger->key_length);
		stranger->label = grouping_label(blame->names->groups, group, &stranger->label_length);
	}
}

/* --- entries of both sides --- */

static int order_entries(const void *left, const void *right)
{
	const struct diff_blame_entry *a = left, *b = right;
	int order = order_u64(a->victim, b->victim);

	if (order == 0)
		order = order_u64(a->cause, b->cause);
	return order != 0 ? order : order_u64(a->culprit, b->culprit);
}

/* Makes one of all with the same victim and culprit: of both sides, and of groups that were joined. */
static void join(struct diff_blame *blame)
{
	size_t count = 0;

	if (blame->count != 0)
		qsort(blame->entries, blame->count, sizeof(*blame->entries), order_entries);
	for (size_t i = 0; i < blame->count; i++) {
		struct diff_blame_entry *last = count != 0 ? &blame->entries[count - 1] : NULL;

		if (last == NULL || order_entries(last, &blame->entries[i]) != 0) {
			blame->entries[count++] = blame->entries[i];
			continue;
		}
		for (size_t side = 0; side < DIFF_SIDE_COUNT; side++) {
			last->time[side] += blame->entries[i].time[side];
			last->waits[side] += blame->entries[i].waits[side];
		}
	}
	blame->count = count;
}

static void add_side(struct diff_blame *blame, enum diff_side side, const struct blame *from)
{
	const double per_second = (double)NS_PER_S / (double)from->span_ns;

	for (size_t i = 0; i < from->count; i++) {
		const struct latency_delay *entry = &from->entries[i];
		struct diff_blame_entry *to = MEMORY_APPEND(blame->entries, blame->count, blame->capacity);

		*to = (struct diff_blame_entry){
			.victim = find_id(blame->diff, from, entry->victim),
			.culprit = entry->culprit != BLAME_NOBODY ? find_id(blame->diff, from, entry->culprit)
								  : BLAME_NOBODY,
			.cause = entry->cause,
		};
		to->time[side] = (double)entry->time_ns * per_second;
		to->waits[side] = (double)entry->waits * per_second;
	}
}

struct diff_blame *diff_blame_create(const struct diff *diff)
{
	const struct grouping_options options = diff->options.grouping;
	uint32_t *sum_of[DIFF_SIDE_COUNT] = {NULL}, other;
	const struct snapshot *waits[DIFF_SIDE_COUNT];
	struct snapshot *sums;
	struct diff_blame *blame;

	if (diff->options.single || axis_is_by_thread(options.axis))
		return NULL;
	blame = memory_allocate_zero(1, sizeof(*blame));
	blame->diff = diff;
	sums = snapshot_create();
	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++) {
		waits[side] = waits_of(diff, (enum diff_side)side);
		blame->measured[side] = waits[side] != NULL;
		if (waits[side] != NULL)
			sum_of[side] = latency_sums_add(sums, waits[side]);
	}
	other = latency_sums_other(sums);
	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++) {
		struct latency span = {0};
		struct blame *made;

		if (waits[side] != NULL) {
			span.span_ns = waits[side]->latency.span_ns;
			latency_add_delays(&span, &waits[side]->latency, sum_of[side]);
			blame->is_at_least[side] = has_waits_of_others(waits[side], sum_of[side], other);
		}
		/* the names are those of both sides, so that both have the same groups */
		made = blame_create(&options, sums, &span, diff->patterns, BLAME_DELAYED_BY);
		if (waits[side] != NULL)
			add_side(blame, (enum diff_side)side, made);
		blame_release(blame->names);
		blame->names = made;
		latency_release(&span);
		free(sum_of[side]);
	}
	blame->other = other == UINT32_MAX ? BLAME_NOBODY
					   : find_id(diff, blame->names,
						     grouping_of_triple(blame->names->groups, 0, other));
	name_strangers(blame);
	join(blame);
	blame->sums = sums;
	return blame;
}

void diff_blame_release(struct diff_blame *blame)
{
	if (blame == NULL)
		return;
	blame_release(blame->names);
	snapshot_release(blame->sums);
	free(blame->strangers);
	free(blame->entries);
	free(blame);
}

/* --- what is read --- */

void diff_blame_append_group(const struct diff_blame *blame, uint32_t id, struct buffer *buffer)
{
	if (id == blame->other)
		buffer_append_text(buffer, name_other.text);
	else
		diff_append_label(blame->diff, diff_blame_group(blame, id), buffer);
}

void diff_blame_append_culprit(const struct diff_blame *blame, const struct diff_blame_entry *entry,
			       struct buffer *buffer)
{
	if (entry->culprit == BLAME_NOBODY)
		buffer_append_text(buffer, blame_cause_labels[entry->cause]);
	else
		diff_blame_append_group(blame, entry->culprit, buffer);
}

const struct diff_blame_entry *diff_blame_of(const struct diff_blame *blame, uint32_t victim,
					     size_t *ret_count)
{
	*ret_count = 0;
	if (blame->count == 0)
		return NULL;
	return &blame->entries[order_find_run(blame->entries, blame->count, sizeof(*blame->entries), victim,
					      ret_count)];
}

double diff_blame_delayed(const struct diff_blame *blame, uint32_t victim, enum diff_side side)
{
	size_t count;
	const struct diff_blame_entry *entries = diff_blame_of(blame, victim, &count);
	double time = 0;

	for (size_t i = 0; i < count; i++)
		time += entries[i].time[side];
	return time;
}

/* --- sentences --- */

static double change_of(const double sides[DIFF_SIDE_COUNT])
{
	return sides[DIFF_AFTER] - sides[DIFF_BEFORE];
}

static void append_culprit(const struct diff_blame *blame, const struct diff_blame_entry *entry,
			   struct buffer *text)
{
	if (entry->culprit == BLAME_NOBODY) {
		buffer_append_format(text, " %s", blame_cause_labels[entry->cause]);
	} else if (entry->culprit == entry->victim) {
		buffer_append_text(text, " while its own threads ran");
	} else {
		buffer_append_text(text, " while ");
		if (entry->culprit == blame->other)
			buffer_append_text(text, name_other.text);
		else
			diff_append_name(blame->diff, diff_blame_group(blame, entry->culprit), text);
		buffer_append_text(text, " ran");
	}
}

void diff_blame_append_reason(const struct diff_blame *blame, uint32_t victim, struct buffer *text)
{
	const struct diff_blame_entry *most = NULL;
	double sides[DIFF_SIDE_COUNT], change;
	size_t count;
	const struct diff_blame_entry *entries = diff_blame_of(blame, victim, &count);

	if (!blame->measured[DIFF_BEFORE] || !blame->measured[DIFF_AFTER])
		return;
	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++)
		sides[side] = diff_blame_delayed(blame, victim, (enum diff_side)side);
	change = change_of(sides);
	if (fabs(change) < fmax(DIFF_BLAME_FLOOR, sides[DIFF_BEFORE] / 10))
		return;
	for (size_t i = 0; i < count; i++) {
		const double delta = change_of(entries[i].time);

		if (delta * change > 0 && (most == NULL || fabs(delta) > fabs(change_of(most->time))))
			most = &entries[i];
	}
	if (most == NULL)
		return;
	buffer_append_format(text, "; %s %+.1f", column_title(COLUMN_RUNQ, WINDOW_MODE_RATE),
			     change_of(most->time) / diff_percent(COLUMN_RUNQ));
	append_culprit(blame, most, text);
}
