/* SPDX-License-Identifier: GPL-2.0-only */
#include "diff_summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/humanize.h"
#include "base/memory.h"
#include "diff_evidence.h"
#include "metric/quantity.h"

static const char *const phrases[METRIC_COUNT] = {
#define PHRASE(id, phrase) [METRIC_##id] = phrase,
#include "diff_phrase.def"
#undef PHRASE
};

bool diff_summary_has(enum metric metric)
{
	return metric < METRIC_COUNT && phrases[metric] != NULL;
}

/* Whether the same is told of two metrics. */
static bool is_same(enum metric a, enum metric b)
{
	return a == b || (diff_summary_has(a) && diff_summary_has(b) && strcmp(phrases[a], phrases[b]) == 0);
}

/* --- numbers in a sentence --- */

/* Whether the table shows times of the ladder as percent of a CPU. */
static bool is_share(const struct diff_summary_per *per, enum ladder ladder)
{
	return per->rates && ladder == LADDER_NS;
}

static void append_number(const struct diff_summary_per *per, enum ladder ladder, double number,
			  struct buffer *buffer)
{
	if (is_share(per, ladder))
		humanize_percent(buffer, number * 100 / NS_PER_S);
	else
		quantity_append(number, ladder, buffer);
}

/* The change and what it is: "7.7 s longer", "1,200 fewer"; of a percentage only "more". */
static void append_change(const struct diff_summary_per *per, enum ladder ladder, double delta,
			  struct buffer *buffer)
{
	if (!is_share(per, ladder)) {
		quantity_append(fabs(delta), ladder, buffer);
		buffer_append_char(buffer, ' ');
	}
	if (delta >= 0)
		buffer_append_text(buffer, ladder == LADDER_NS && !per->rates ? "longer" : "more");
	else
		buffer_append_text(buffer, ladder == LADDER_UNITLESS ? "fewer" : "less");
}

static void append_threads(struct buffer *buffer, const struct diff_change *change, const char *arrow)
{
	const uint32_t before = change->threads[DIFF_BEFORE], after = change->threads[DIFF_AFTER];

	if (change->is_new && after == 0) {
		buffer_append_text(buffer, "ended since");
		return;
	}
	if (before != after && !change->is_new) {
		humanize_count(buffer, before);
		buffer_append_text(buffer, arrow);
	}
	humanize_counted(buffer, after, "thread");
}

void diff_summary_append(const struct diff_change *change, const struct diff_summary_per *per,
			 struct buffer *buffer)
{
	const enum ladder ladder = metric_type(change->metric)->ladder;
	const char *arrow = per->ascii ? " -> " : " → ";
	const char *per_second = per->rates && !is_share(per, ladder) ? " per second" : "";
	const char *phrase = phrases[change->metric], *star = strchr(phrase, '*');
	const double delta = change->number[DIFF_AFTER] - change->number[DIFF_BEFORE];

	buffer_append(buffer, change->name, change->name_length);
	buffer_append_text(buffer, change->is_new ? ", which was not there before, " : " ");
	buffer_append(buffer, phrase, (size_t)(star - phrase));
	if (change->is_new) {
		append_number(per, ladder, fabs(delta), buffer);
		buffer_append_format(buffer, "%s%s%s (", is_share(per, ladder) ? " of the time" : "",
				     star + 1, per_second);
	} else {
		append_change(per, ladder, delta, buffer);
		buffer_append_format(buffer, "%s (", star + 1);
		append_number(per, ladder, change->number[DIFF_BEFORE], buffer);
		buffer_append_text(buffer, arrow);
		append_number(per, ladder, change->number[DIFF_AFTER], buffer);
		buffer_append_format(buffer, "%s, ", per_second);
	}
	if (per->second && per->interval_ns != 0) {
		quantity_append(fabs(delta) * NS_PER_S / (double)per->interval_ns, ladder, buffer);
		buffer_append_text(buffer, " per second, ");
	}
	if (per->thread && change->threads[DIFF_AFTER] != 0) {
		if (change->threads[DIFF_BEFORE] != 0) {
			quantity_append(change->number[DIFF_BEFORE] / (double)change->threads[DIFF_BEFORE],
					ladder, buffer);
			buffer_append_text(buffer, arrow);
		}
		quantity_append(change->number[DIFF_AFTER] / (double)change->threads[DIFF_AFTER], ladder,
				buffer);
		buffer_append_text(buffer, " per thread, ");
	}
	append_threads(buffer, change, arrow);
	buffer_append_char(buffer, ')');
}

/* --- the largest --- */

struct candidate {
	double weight;
	size_t pair;
	struct diff_change change; /* without the name */
};

/* Puts a candidate where its weight belongs, unless the same, or with `one_each` something that weighs more,
 * is told of its group already. */
static size_t offer(struct candidate best[DIFF_SUMMARY_MAX], size_t count, const struct candidate *candidate,
		    bool one_each)
{
	size_t at = 0, last;

	for (size_t i = 0; i < count; i++) {
		if (best[i].pair != candidate->pair ||
		    (!one_each && !is_same(best[i].change.metric, candidate->change.metric)))
			continue;
		if (best[i].weight >= candidate->weight)
			return count;
		memmove(&best[i], &best[i + 1], (--count - i) * sizeof(*best));
	}
	while (at < count && best[at].weight >= candidate->weight)
		at++;
	if (at == DIFF_SUMMARY_MAX)
		return count;
	last = count < DIFF_SUMMARY_MAX ? count : DIFF_SUMMARY_MAX - 1;
	memmove(&best[at + 1], &best[at], (last - at) * sizeof(*best));
	best[at] = *candidate;
	return last + 1;
}

/* A change that can be told: of what is on both sides, or what a new group has done. */
static bool make_change(const struct diff_pair *pair, enum metric metric, const struct diff_value *value,
			struct diff_change *ret_change)
{
	const bool is_new = pair->kind == DIFF_PAIR_ONLY_AFTER;

	if (!value->has_delta &&
	    (!is_new || !value->side[DIFF_AFTER].has_number || value->side[DIFF_AFTER].partial))
		return false;
	*ret_change = (struct diff_change){.metric = metric, .is_new = is_new};
	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++) {
		ret_change->threads[side] = pair->threads[side];
		ret_change->number[side] = value->side[side].has_number ? value->side[side].number : 0;
	}
	return true;
}

/* The heaviest so far: of two windows what groups of one side alone do is kept apart, which may be all that
 * is heavy. */
struct heaviest {
	struct candidate both[DIFF_SUMMARY_MAX], alone[DIFF_SUMMARY_MAX];
	size_t both_count, alone_count;
};

/* Joins them; the last place is kept for a new group, if any. */
static size_t join(struct heaviest *heaviest)
{
	size_t taken = DIFF_SUMMARY_MAX - (heaviest->alone_count != 0 ? 1 : 0);

	if (heaviest->both_count > taken)
		heaviest->both_count = taken;
	for (size_t i = 0; i < heaviest->alone_count && heaviest->both_count < DIFF_SUMMARY_MAX; i++)
		heaviest->both[heaviest->both_count++] = heaviest->alone[i];
	return heaviest->both_count;
}

static void offer_metric(const struct diff *diff, enum metric metric, struct heaviest *heaviest)
{
	const enum column column = column_of_stored(metric);
	struct diff_weight *weights = diff_weigh(diff, column);

	for (size_t i = 0; i < diff->pair_count; i++) {
		struct candidate candidate = {.weight = weights[i].weight, .pair = i};
		struct diff_value value;

		if (!weights[i].is_notable || !diff_is_real(diff, &diff->pairs[i], column))
			continue;
		value = diff_column(diff, &diff->pairs[i], column);
		if (!make_change(&diff->pairs[i], metric, &value, &candidate.change))
			continue;
		if (diff->options.rates && candidate.change.is_new)
			heaviest->alone_count = offer(heaviest->alone, heaviest->alone_count, &candidate,
						      true);
		else
			heaviest->both_count = offer(heaviest->both, heaviest->both_count, &candidate,
						     diff->options.rates);
	}
	free(weights);
}

void diff_summary_make(const struct diff *diff, const bool chosen[METRIC_COUNT],
		       const struct diff_summary_per *per, bool forget, struct diff_summary *summary)
{
	struct heaviest heaviest = {.both_count = 0};
	const struct candidate *best = heaviest.both;
	struct buffer name = {0}, text = {0};
	size_t count;

	for (enum metric metric = 0; metric < METRIC_COUNT; metric++) {
		if (!chosen[metric] || !diff_summary_has(metric))
			continue;
		offer_metric(diff, metric, &heaviest);
		if (forget)
			diff_forget(diff);
	}
	count = join(&heaviest);
	for (size_t i = 0; i < count; i++) {
		struct diff_change change = best[i].change;

		buffer_clear(&name);
		buffer_clear(&text);
		diff_append_name(diff, &diff->pairs[best[i].pair], " in ", &name);
		change.name = name.data;
		change.name_length = name.length;
		diff_summary_append(&change, per, &text);
		summary->items[i] = arena_duplicate(&summary->arena, text.data, text.length);
	}
	summary->count = count;
	buffer_release(&name);
	buffer_release(&text);
}

void diff_summary_release(struct diff_summary *summary)
{
	arena_release(&summary->arena);
	*summary = (struct diff_summary){0};
}
