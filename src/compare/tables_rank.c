/* SPDX-License-Identifier: GPL-2.0-only */
#include "tables_rank.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/order.h"
#include "diff_evidence.h"
#include "diff_weight.h"

enum {
	PAIRS_MAX = 4096 /* with more, all reduced columns at once would take tens of megabytes */
};

bool tables_rank_forgets(const struct tables_build *build)
{
	return build->request->limit != 0 && build->diff->pair_count > PAIRS_MAX &&
	       build->diff->options.grouping.axis != AXIS_CGROUP;
}

void tables_rank_forget(const struct diff *diff)
{
	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++) {
		if (diff->reductions[side] != NULL)
			reduction_forget_all(diff->reductions[side]);
	}
}

static bool has_rows(const struct tables_build *build, const struct diff_pair *pair)
{
	return !build->is_comparison || pair->kind == DIFF_PAIR_MATCHED || pair->kind == DIFF_PAIR_FUDGED;
}

/* What changed most first, then by key, which the pairs follow, and registry order. */
static int compare_rows(const void *a, const void *b, void *context)
{
	const struct tables_ranked *left = a, *right = b;

	(void)context;
	if (left->sort != right->sort)
		return left->sort > right->sort ? -1 : 1;
	if (left->pair != right->pair)
		return left->pair < right->pair ? -1 : 1;
	return (left->subject > right->subject) - (left->subject < right->subject);
}

/* The best rows so far, and others until the next look. */
struct best {
	struct tables_ranked *rows;
	size_t count, capacity;
	size_t limit; /* 0 for all */
	bool full;
	struct tables_ranked last; /* of the best when full: what comes after it has no chance */
};

static void cut(struct best *best)
{
	order_first(best->rows, best->count, sizeof(*best->rows), best->limit, compare_rows, NULL);
	best->count = best->limit;
}

static void offer(struct best *best, struct tables_ranked row)
{
	if (best->full && compare_rows(&row, &best->last, NULL) > 0)
		return;
	best->rows = memory_grow(best->rows, &best->capacity, best->count + 1, sizeof(*best->rows));
	best->rows[best->count++] = row;
	if (best->limit == 0 || best->count / 2 < best->limit)
		return;
	cut(best);
	best->last = best->rows[best->limit - 1];
	best->full = true;
}

/* The weights of a subject's changes in the pairs, as a row's `sort`: -INFINITY where nothing is known. */
static void weigh(const struct tables_build *build, const uint32_t *pairs, size_t pair_count,
		  enum column subject, double known_total, double *ret_weights)
{
	const struct diff_weight_kind kind = diff_weight_kind(subject);
	const double seconds = build->diff->options.rates ? 1
							  : diff_weight_seconds(build->request->interval_ns);
	double total = 0;

	for (size_t i = 0; i < pair_count; i++) {
		const struct diff_pair *pair = &build->diff->pairs[pairs[i]];
		const struct diff_value value = diff_column(build->diff, pair, subject);
		const double amount = diff_weight_amount(&value, pair->kind == DIFF_PAIR_ONLY_BEFORE,
							 pair->kind == DIFF_PAIR_ONLY_AFTER);

		total += amount;
		if (!value.has_delta && !value.differs)
			ret_weights[i] = -INFINITY;
		else
			ret_weights[i] = kind.has_total ? amount : diff_weight_alone(&kind, &value, amount);
	}
	for (size_t i = 0; kind.has_total && i < pair_count; i++) {
		if (ret_weights[i] >= 0)
			ret_weights[i] = diff_weight_in_total(
				&kind, ret_weights[i], isnan(known_total) ? total : known_total, seconds);
	}
}

double tables_rank_total(const struct tables_build *build, enum column subject)
{
	double total = 0;

	for (size_t i = 0; i < build->diff->pair_count; i++) {
		const struct diff_pair *pair = &build->diff->pairs[i];
		const struct diff_value value = diff_column(build->diff, pair, subject);

		total += diff_weight_amount(&value, pair->kind == DIFF_PAIR_ONLY_BEFORE,
					    pair->kind == DIFF_PAIR_ONLY_AFTER);
	}
	return total;
}

/* Whether rows that did not change measurably are left out. */
static bool folds(const struct tables_build *build)
{
	return build->diff->evidence != NULL && build->request->for_people && !build->request->all;
}

static struct tables_ranking rank_by_change(const struct tables_build *build, const uint32_t *pairs,
					    size_t pair_count, const enum column *subjects,
					    size_t subject_count, const double *totals)
{
	double *weights = memory_allocate_zero(pair_count + 1, sizeof(*weights));
	struct best best = {.limit = build->request->limit}, renamed = {0};
	struct tables_ranking ranking = {0};

	for (size_t i = 0; i < subject_count; i++) {
		if (build->request->like_screen)
			weigh(build, pairs, pair_count, subjects[i], totals != NULL ? totals[i] : (double)NAN,
			      weights);
		for (size_t j = 0; j < pair_count; j++) {
			const struct diff_pair *pair = &build->diff->pairs[pairs[j]];
			struct tables_ranked row = {.pair = pairs[j], .subject = (uint32_t)i};

			if (!has_rows(build, pair))
				continue;
			if (folds(build) && !diff_is_real(build->diff, pair, subjects[i])) {
				ranking.folded++;
				continue;
			}
			row.sort = build->request->like_screen
					   ? weights[j]
					   : diff_column_sort(build->diff, pair, subjects[i]);
			offer(pair->kind == DIFF_PAIR_FUDGED ? &renamed : &best, row);
			ranking.total++;
		}
		if (tables_rank_forgets(build))
			tables_rank_forget(build->diff);
	}
	if (best.limit != 0 && best.count > best.limit)
		cut(&best);
	best = (struct best){.rows = best.rows, .count = best.count, .capacity = best.capacity};
	for (size_t i = 0; i < renamed.count; i++)
		offer(&best, renamed.rows[i]);
	free(renamed.rows);
	free(weights);
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

/* What a pair is ordered by: the change, or the value of one snapshot. */
static double sort_value(const struct tables_build *build, const struct diff_pair *pair, enum column subject)
{
	const struct diff_value value = diff_column(build->diff, pair, subject);

	if (build->is_comparison)
		return value.has_delta ? value.delta : (double)NAN;
	return value.side[DIFF_AFTER].has_number ? value.side[DIFF_AFTER].number : (double)NAN;
}

/* By those values, pairs without one last in either direction, then by key, which the pairs follow. */
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

static void compute_values(const struct tables_build *build, struct pair_order *order, size_t pair_count)
{
	size_t key_count = order->sort->count;

	for (size_t i = 0; i < key_count; i++) {
		const struct sort_key *key = &order->sort->items[i];
		const enum column subject = key->metric != METRIC_NONE ? column_of_stored(key->metric)
								       : column_of_derived(key->derived);

		for (size_t j = 0; j < pair_count; j++) {
			const struct diff_pair *pair = &build->diff->pairs[order->pairs[j]];

			order->values[j * key_count + i] = sort_value(build, pair, subject);
		}
		if (tables_rank_forgets(build))
			tables_rank_forget(build->diff);
	}
}

static struct tables_ranking rank_by_keys(const struct tables_build *build, const uint32_t *pairs,
					  size_t pair_count, size_t subject_count)
{
	struct pair_order order = {.pairs = pairs, .sort = &build->request->sort};
	uint32_t *sorted = memory_allocate_zero(pair_count + 1, sizeof(*sorted));
	struct tables_ranking ranking = {0};
	size_t capacity = 0, kept = 0;

	order.values = memory_allocate_zero(pair_count * order.sort->count + 1, sizeof(double));
	compute_values(build, &order, pair_count);
	for (size_t i = 0; i < pair_count; i++)
		sorted[i] = (uint32_t)i;
	if (pair_count > 1)
		qsort_r(sorted, pair_count, sizeof(*sorted), compare_pairs, &order);
	for (size_t i = 0; i < pair_count; i++) {
		uint32_t index = pairs[sorted[i]];
		const struct diff_pair *pair = &build->diff->pairs[index];

		for (size_t j = 0; has_rows(build, pair) && j < subject_count; j++) {
			ranking.total++;
			if (pair->kind != DIFF_PAIR_FUDGED && build->request->limit != 0 &&
			    kept == build->request->limit)
				continue;
			kept += pair->kind != DIFF_PAIR_FUDGED;
			ranking.rows = memory_grow(ranking.rows, &capacity, ranking.count + 1,
						   sizeof(*ranking.rows));
			ranking.rows[ranking.count++] = (struct tables_ranked){.pair = index,
									       .subject = (uint32_t)j};
		}
	}
	free(order.values);
	free(sorted);
	return ranking;
}

struct tables_ranking tables_rank(const struct tables_build *build, const uint32_t *pairs, size_t pair_count,
				  const enum column *subjects, size_t subject_count, const double *totals)
{
	if (build->request->sort.count != 0 || !build->is_comparison)
		return rank_by_keys(build, pairs, pair_count, subject_count);
	return rank_by_change(build, pairs, pair_count, subjects, subject_count, totals);
}
