/* SPDX-License-Identifier: GPL-2.0-only */
#include "diff_rank.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/order.h"

enum {
	THRIFTY_PAIRS = 4096 /* with more, all columns at once would take tens of megabytes */
};

bool diff_rank_is_thrifty(const struct diff_build *build)
{
	return build->request->limit != 0 && diff_pair_count(build->diff) > THRIFTY_PAIRS &&
	       diff_options(build->diff)->grouping.axis != AXIS_CGROUP;
}

struct diff_value diff_subject_value(const struct diff *diff, const struct diff_pair *pair,
				     struct diff_subject subject)
{
	return subject.metric != METRIC_NONE ? diff_metric(diff, pair, subject.metric)
					     : diff_derived(diff, pair, subject.derived);
}

void diff_forget(const struct diff *diff)
{
	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++) {
		for (size_t i = 0; i < METRIC_COUNT; i++)
			aggregation_forget(diff_aggregation(diff, (enum diff_side)side), (enum metric)i);
	}
}

static bool has_rows(const struct diff_pair *pair)
{
	return pair->kind == DIFF_PAIR_MATCHED || pair->kind == DIFF_PAIR_FUDGED;
}

/* What changed most first, then by key, which the pairs follow, and registry order. */
static int compare_rows(const void *a, const void *b, void *context)
{
	const struct diff_row *left = a, *right = b;

	(void)context;
	if (left->sort != right->sort)
		return left->sort > right->sort ? -1 : 1;
	if (left->pair != right->pair)
		return left->pair < right->pair ? -1 : 1;
	return (left->subject > right->subject) - (left->subject < right->subject);
}

/* The best rows so far, and others until the next look. */
struct best {
	struct diff_row *rows;
	size_t count, capacity;
	size_t limit; /* 0 for all */
	bool full;
	struct diff_row last; /* of the best when full: what comes after it has no chance */
};

static void offer(struct best *best, struct diff_row row)
{
	if (best->full && compare_rows(&row, &best->last, NULL) > 0)
		return;
	best->rows = memory_grow(best->rows, &best->capacity, best->count + 1, sizeof(*best->rows));
	best->rows[best->count++] = row;
	if (best->limit == 0 || best->count / 2 < best->limit)
		return;
	order_first(best->rows, best->count, sizeof(*best->rows), best->limit, compare_rows, NULL);
	best->count = best->limit;
	best->last = best->rows[best->limit - 1];
	best->full = true;
}

static struct diff_ranking rank_by_change(const struct diff_build *build, const uint32_t *pairs,
					  size_t pair_count, const struct diff_subject *subjects,
					  size_t subject_count)
{
	struct best best = {.limit = build->request->limit}, renamed = {0};
	struct diff_ranking ranking = {0};

	for (size_t i = 0; i < subject_count; i++) {
		for (size_t j = 0; j < pair_count; j++) {
			const struct diff_pair *pair = diff_pair(build->diff, pairs[j]);
			struct diff_row row = {.pair = pairs[j], .subject = (uint32_t)i};

			if (!has_rows(pair))
				continue;
			row.sort = diff_subject_value(build->diff, pair, subjects[i]).sort;
			offer(pair->kind == DIFF_PAIR_FUDGED ? &renamed : &best, row);
			ranking.total++;
		}
		if (diff_rank_is_thrifty(build))
			diff_forget(build->diff);
	}
	if (best.limit != 0 && best.count > best.limit) {
		order_first(best.rows, best.count, sizeof(*best.rows), best.limit, compare_rows, NULL);
		best.count = best.limit;
	}
	best = (struct best){.rows = best.rows, .count = best.count, .capacity = best.capacity};
	for (size_t i = 0; i < renamed.count; i++)
		offer(&best, renamed.rows[i]);
	free(renamed.rows);
	order_first(best.rows, best.count, sizeof(*best.rows), best.count, compare_rows, NULL);
	ranking.rows = best.rows;
	ranking.count = best.count;
	return ranking;
}

struct pair_order {
	const uint32_t *pairs;
	const struct sort_keys *sort;
	double *values; /* sort->count of each, NAN for none */
};

/* By the deltas, those without one last in either direction, then by key, which the pairs follow. */
static int compare_pairs(const void *a, const void *b, void *context)
{
	const struct pair_order *order = context;
	size_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;

	for (size_t i = 0; i < order->sort->count; i++) {
		double x = order->values[left * order->sort->count + i];
		double y = order->values[right * order->sort->count + i];

		int result = order_numbers(x, y, order->sort->items[i].ascending);

		if (result != 0)
			return result;
	}
	return (left > right) - (left < right);
}

static void compute_deltas(const struct diff_build *build, struct pair_order *order, size_t pair_count)
{
	size_t key_count = order->sort->count;

	for (size_t i = 0; i < key_count; i++) {
		const struct sort_key *key = &order->sort->items[i];
		struct diff_subject subject = {key->metric, key->derived};

		for (size_t j = 0; j < pair_count; j++) {
			const struct diff_pair *pair = diff_pair(build->diff, order->pairs[j]);
			struct diff_value value = diff_subject_value(build->diff, pair, subject);

			order->values[j * key_count + i] = value.has_delta ? value.delta : (double)NAN;
		}
		if (diff_rank_is_thrifty(build))
			diff_forget(build->diff);
	}
}

static struct diff_ranking rank_by_keys(const struct diff_build *build, const uint32_t *pairs,
					size_t pair_count, size_t subject_count)
{
	struct pair_order order = {.pairs = pairs, .sort = &build->request->sort};
	uint32_t *places = memory_allocate_zero(pair_count + 1, sizeof(*places));
	struct diff_ranking ranking = {0};
	size_t capacity = 0, kept = 0;

	order.values = memory_allocate_zero(pair_count * order.sort->count + 1, sizeof(double));
	compute_deltas(build, &order, pair_count);
	for (size_t i = 0; i < pair_count; i++)
		places[i] = (uint32_t)i;
	if (pair_count > 1)
		qsort_r(places, pair_count, sizeof(*places), compare_pairs, &order);
	for (size_t i = 0; i < pair_count; i++) {
		uint32_t index = pairs[places[i]];
		const struct diff_pair *pair = diff_pair(build->diff, index);

		for (size_t j = 0; has_rows(pair) && j < subject_count; j++) {
			ranking.total++;
			if (pair->kind != DIFF_PAIR_FUDGED && build->request->limit != 0 &&
			    kept == build->request->limit)
				continue;
			kept += pair->kind != DIFF_PAIR_FUDGED;
			ranking.rows = memory_grow(ranking.rows, &capacity, ranking.count + 1,
						   sizeof(*ranking.rows));
			ranking.rows[ranking.count++] = (struct diff_row){.pair = index,
									  .subject = (uint32_t)j};
		}
	}
	free(order.values);
	free(places);
	return ranking;
}

struct diff_ranking diff_rank(const struct diff_build *build, const uint32_t *pairs, size_t pair_count,
			      const struct diff_subject *subjects, size_t subject_count)
{
	if (build->request->sort.count != 0)
		return rank_by_keys(build, pairs, pair_count, subject_count);
	return rank_by_change(build, pairs, pair_count, subjects, subject_count);
}
