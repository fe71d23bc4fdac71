/* SPDX-License-Identifier: GPL-2.0-only */
#include "export_groups.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/order.h"
#include "metric/wait_class.h"
#include "window/blame.h"

/* Half-life of the activity that decides whether a group has a series. */
#define HALF_LIFE_NS (300 * NS_PER_S)
/* A group takes the place of the least series when its weight exceeds that one's by this factor. */
#define ADVANTAGE 2.0
/* Once a series has been without threads for so long, no more than its weight has to be exceeded. */
#define REST_NS (60 * NS_PER_S)

static const struct name_text retired_name = OWN_NAME("(retired)");

struct series {
	char *labels; /* `axis="process",group="worker-{N}"`, owned */
	size_t labels_length;
	uint32_t hash;
	double weight;
	uint64_t size;
	uint64_t seen_ns;              /* when it had threads or did something last */
	uint64_t created;              /* the round in which it got its room */
	struct export_number *numbers; /* of the choice's families, owned; counters since it began */
};

struct export_groups {
	struct export_groups_options options;
	struct buffer axis_label;
	struct series *series;
	size_t count, capacity;
	struct series other;
	struct series retired; /* counters of the series that were dropped; no labels before there are any */
	bool retired_grew;     /* in this round */
	uint64_t round, now_ns;
	struct export_groups_state state;
	struct hash_map by_hash; /* index of the last series of a hash */
	/* The recent activity of groups without a series, by the hash of their labels. */
	double *past;
	size_t past_count, past_capacity;
	struct hash_map past_by_hash;
	struct buffer labels; /* of a row being looked up */
};

static void release_series(struct series *series)
{
	free(series->labels);
	free(series->numbers);
}

static struct series create_series(const struct export_groups *groups, const char *labels, size_t length)
{
	return (struct series){
		.labels = memory_duplicate_bytes(labels, length),
		.labels_length = length,
		.hash = hash_bytes(labels, length),
		.numbers = memory_allocate_zero(export_family_numbers(groups->options.families) + 1,
						sizeof(struct export_number)),
	};
}

static int compare_texts(struct name_text a, struct name_text b)
{
	return order_bytes(a.text, a.length, b.text, b.length);
}

/* Whether a name of threads is also the name of a series that ctop makes. */
static bool is_literal(const struct export_groups *groups, struct name_text name)
{
	const struct name_text own = name_find_own(name.text, name.length);

	for (size_t cause = 0; cause < LATENCY_CAUSE_COUNT && groups->options.pairs; cause++) {
		const char *label = blame_cause_labels[cause];

		if (label != NULL && compare_texts(name_text_of(label), name) == 0)
			return true;
	}
	/* no group series shows ctop's own processes */
	if (own.length != 0 && !groups->options.pairs)
		return compare_texts(own, name_self) != 0;
	return own.length != 0 || compare_texts(name_text_of(retired_name.text), name) == 0;
}

/* Appends a label with this name. Returns is_literal() of the name. */
static bool append_name(struct export_groups *groups, const char *label, struct name_text name)
{
	exposition_append_label(&groups->labels, label, name.text, name_shown_length(name.text, name.length));
	return is_literal(groups, name);
}

/* Puts the labels of a row into groups->labels. */
static void make_labels(struct export_groups *groups, const struct export_group_row *row)
{
	struct buffer *labels = &groups->labels;
	bool is_first, is_second;

	buffer_clear(labels);
	buffer_append(labels, groups->axis_label.data, groups->axis_label.length);
	is_first = append_name(groups, groups->options.pairs ? "victim" : "group", row->name);
	is_second = groups->options.pairs && append_name(groups, "culprit", row->culprit);
	if (is_first || is_second) {
		const char *value = !groups->options.pairs  ? "group"
				    : is_first && is_second ? "victim,culprit"
				    : is_first              ? "victim"
							    : "culprit";

		exposition_append_label(labels, "literal", value, strlen(value));
	}
}

/* The same of what is no row: both names of a pair are this one. */
static void make_labels_of(struct export_groups *groups, struct name_text name)
{
	make_labels(groups, &(struct export_group_row){.name = name, .culprit = name});
}

struct export_groups *export_groups_create(const struct export_groups_options *options)
{
	struct export_groups *groups = memory_allocate_zero(1, sizeof(*groups));
	const char *word = axes[options->axis].word;

	groups->options = *options;
	exposition_append_label(&groups->axis_label, "axis", word, strlen(word));
	make_labels_of(groups, name_other);
	groups->other = create_series(groups, groups->labels.data, groups->labels.length);
	groups->retired = create_series(groups, "", 0);
	return groups;
}

void export_groups_release(struct export_groups *groups)
{
	if (groups == NULL)
		return;
	for (size_t i = 0; i < groups->count; i++)
		release_series(&groups->series[i]);
	free(groups->series);
	release_series(&groups->other);
	release_series(&groups->retired);
	hash_map_release(&groups->by_hash);
	hash_map_release(&groups->past_by_hash);
	free(groups->past);
	buffer_release(&groups->axis_label);
	buffer_release(&groups->labels);
	free(groups);
}

static bool is_series(const struct series *series, const struct buffer *labels)
{
	return order_bytes(series->labels, series->labels_length, labels->data, labels->length) == 0;
}

/* The series of the labels in groups->labels, or NULL. */
static struct series *find_series(struct export_groups *groups)
{
	const uint32_t hash = hash_bytes(groups->labels.data, groups->labels.length);
	uint32_t index;

	if (is_series(&groups->other, &groups->labels))
		return &groups->other;
	if (!hash_map_get(&groups->by_hash, hash, &index))
		return NULL;
	if (is_series(&groups->series[index], &groups->labels))
		return &groups->series[index];
	for (size_t i = 0; i < groups->count; i++) { /* two of one hash */
		if (groups->series[i].hash == hash && is_series(&groups->series[i], &groups->labels))
			return &groups->series[i];
	}
	return NULL;
}

static void add_number(struct export_number *sum, const struct export_number *number, bool is_largest)
{
	if (!number->known)
		return;
	if (!is_largest)
		sum->value = number_add_saturating(sum->value, number->value);
	else if (!sum->known || number->value > sum->value)
		sum->value = number->value;
	sum->known = true;
}

/* Adds a group of this round to a series: amounts to counters, present values to those of other groups. */
static void add_row(struct export_groups *groups, struct series *series, const struct export_group_row *row,
		    double share)
{
	const struct export_family_choice *families = groups->options.families;

	if (series->created != groups->round) /* else it has its weight already */
		series->weight += share * row->weight;
	series->size = number_add_saturating(series->size, row->size);
	if (row->threads != 0 || row->weight > 0)
		series->seen_ns = groups->now_ns;
	for (size_t family = 0; family < families->count; family++) {
		const bool is_largest = export_families[families->items[family]].is_largest;

		for (size_t i = families->first[family]; i < families->first[family + 1]; i++)
			add_number(&series->numbers[i], &row->numbers[i], is_largest);
	}
}

/* Makes a series ready for a new round: gauges begin again, counters stay. */
static void begin_round(const struct export_groups *groups, struct series *series, double fading)
{
	const struct export_family_choice *families = groups->options.families;

	series->weight *= fading;
	series->size = 0;
	for (size_t family = 0; family < families->count; family++) {
		if (export_families[families->items[family]].kind == EXPOSITION_COUNTER)
			continue;
		for (size_t i = families->first[family]; i < families->first[family + 1]; i++)
			series->numbers[i] = (struct export_number){false, 0};
	}
}

static void index_series(struct export_groups *groups)
{
	hash_map_clear(&groups->by_hash);
	for (size_t i = 0; i < groups->count; i++)
		hash_map_set(&groups->by_hash, groups->series[i].hash, (uint32_t)i);
}

/* Drops a series, but for what it has counted. Gauges are those of a round that it was no part of: unknown.
 */
static void drop_series(struct export_groups *groups, struct series *series)
{
	for (size_t i = 0; i < export_family_numbers(groups->options.families); i++)
		add_number(&groups->retired.numbers[i], &series->numbers[i], false);
	groups->retired_grew = true;
	groups->state.dropped++;
	release_series(series);
}

/* Makes it another series, for Prometheus, where it grew. */
static void label_retired(struct export_groups *groups)
{
	const uint64_t milliseconds = groups->now_ns / NS_PER_MS;
	char since[32];

	if (!groups->retired_grew)
		return;
	groups->retired_grew = false;
	snprintf(since, sizeof(since), "%" PRIu64 ".%03" PRIu64, milliseconds / 1000, milliseconds % 1000);
	make_labels_of(groups, retired_name);
	exposition_append_label(&groups->labels, "since", since, strlen(since));
	free(groups->retired.labels);
	groups->retired.labels = memory_duplicate_bytes(groups->labels.data, groups->labels.length);
	groups->retired.labels_length = groups->labels.length;
}

static void drop_old(struct export_groups *groups)
{
	size_t kept = 0;

	for (size_t i = 0; i < groups->count; i++) {
		if (groups->now_ns - groups->series[i].seen_ns > groups->options.keep_ns)
			drop_series(groups, &groups->series[i]);
		else
			groups->series[kept++] = groups->series[i];
	}
	if (kept != groups->count) {
		groups->count = kept;
		index_series(groups);
	}
}

/* The weight of a group: an average of its rounds that fades. */
static double mix(double past, double weight, double fading)
{
	return past * fading + weight * (1.0 - fading);
}

static double past_weight(const struct export_groups *groups, uint32_t hash)
{
	uint32_t index;

	return hash_map_get(&groups->past_by_hash, hash, &index) ? groups->past[index] : 0.0;
}

/* A group without a series, with what it did lately. */
struct candidate {
	const struct export_group_row *row;
	uint32_t hash;
	double weight;
};

/* Those that did most first, then those that hold most, then by name. */
static int compare_candidates(const void *left, const void *right)
{
	const struct candidate *a = left, *b = right;
	int order = order_numbers(a->weight, b->weight, false);

	if (order == 0)
		order = order_u64(b->row->size, a->row->size);
	if (order == 0)
		order = compare_texts(a->row->name, b->row->name);
	return order != 0 ? order : compare_texts(a->row->culprit, b->row->culprit);
}

/* The groups of a round that have no series, sorted; the caller frees them. */
static struct candidate *find_candidates(struct export_groups *groups, double fading,
					 const struct export_group_row rows[], size_t count,
					 size_t *ret_count)
{
	struct candidate *candidates = memory_allocate((count + 1) * sizeof(*candidates));
	size_t candidate_count = 0;

	for (size_t i = 0; i < count; i++) {
		struct candidate *candidate = &candidates[candidate_count];

		make_labels(groups, &rows[i]);
		if (find_series(groups) != NULL)
			continue;
		candidate->row = &rows[i];
		candidate->hash = hash_bytes(groups->labels.data, groups->labels.length);
		candidate->weight = mix(past_weight(groups, candidate->hash), rows[i].weight, fading);
		candidate_count++;
	}
	if (candidate_count != 0)
		qsort(candidates, candidate_count, sizeof(*candidates), compare_candidates);
	*ret_count = candidate_count;
	return candidates;
}

/* The weight that a group has to exceed to take the place of a series. */
static double hold(const struct export_groups *groups, const struct series *series)
{
	/* rare pairs would take the places of one another in each round */
	return groups->now_ns - series->seen_ns > REST_NS && !groups->options.pairs
		       ? series->weight
		       : ADVANTAGE * series->weight;
}

/* The series that makes room for a group, none that was made in this round; NULL for none. */
static struct series *find_least(struct export_groups *groups, const struct candidate *candidate)
{
	struct series *least = NULL;

	for (size_t i = 0; i < groups->count; i++) {
		struct series *series = &groups->series[i];

		if (series->created != groups->round &&
		    (least == NULL || hold(groups, series) < hold(groups, least)))
			least = series;
	}
	return least != NULL && candidate->weight > hold(groups, least) ? least : NULL;
}

static void fill_series(const struct export_groups *groups, struct series *series,
			const struct candidate *candidate)
{
	*series = create_series(groups, groups->labels.data, groups->labels.length);
	series->created = groups->round;
	series->weight = candidate->weight;
	series->seen_ns = groups->now_ns;
}

/* Gives a group a series of its own; false when there is no room. The labels are in groups->labels. */
static bool place(struct export_groups *groups, const struct candidate *candidate)
{
	struct series *series;

	if (groups->count < groups->options.limit) {
		series = MEMORY_APPEND(groups->series, groups->count, groups->capacity);
		fill_series(groups, series, candidate);
		hash_map_set(&groups->by_hash, series->hash, (uint32_t)(groups->count - 1));
		return true;
	}
	series = find_least(groups, candidate);
	if (series == NULL)
		return false;
	drop_series(groups, series);
	fill_series(groups, series, candidate);
	index_series(groups);
	return true;
}

/* Gives series to those that did most, and remembers what the others did. */
static void place_candidates(struct export_groups *groups, const struct candidate candidates[], size_t count)
{
	size_t next = 0;
	bool has_room = true;

	for (; next < count && has_room; next++) {
		make_labels(groups, candidates[next].row);
		/* two names may be one as they are exported */
		has_room = find_series(groups) != NULL || place(groups, &candidates[next]);
	}
	groups->past_count = 0;
	hash_map_clear(&groups->past_by_hash);
	for (size_t i = has_room ? next : next - 1; i < count; i++) {
		hash_map_set(&groups->past_by_hash, candidates[i].hash, (uint32_t)groups->past_count);
		*MEMORY_APPEND(groups->past, groups->past_count,
			       groups->past_capacity) = candidates[i].weight;
	}
}

/*
 * A series that loses its place in a round must not have taken part in it: what its group did would be
 * counted nowhere. So new groups are placed first, by the rounds before, and all are added behind.
 */
void export_groups_add(struct export_groups *groups, uint64_t now_ns, const struct export_group_row rows[],
		       size_t count)
{
	const double fading = groups->round == 0 || now_ns <= groups->now_ns
				      ? 0.0
				      : exp2(-(double)(now_ns - groups->now_ns) / (double)HALF_LIFE_NS);
	struct candidate *candidates;
	size_t candidate_count;

	groups->round++;
	groups->now_ns = now_ns > groups->now_ns ? now_ns : groups->now_ns;
	for (size_t i = 0; i < groups->count; i++)
		begin_round(groups, &groups->series[i], fading);
	begin_round(groups, &groups->other, fading);
	drop_old(groups);
	candidates = find_candidates(groups, fading, rows, count, &candidate_count);
	place_candidates(groups, candidates, candidate_count);
	free(candidates);
	label_retired(groups);
	groups->state.groups = groups->state.folded = 0;
	for (size_t i = 0; i < count; i++) {
		struct series *series;

		make_labels(groups, &rows[i]);
		series = find_series(groups);
		groups->state.groups += rows[i].threads != 0;
		groups->state.folded += series == NULL && rows[i].threads != 0;
		add_row(groups, series != NULL ? series : &groups->other, &rows[i], 1.0 - fading);
	}
}

struct export_groups_state export_groups_state(const struct export_groups *groups)
{
	return groups->state;
}

const char *export_groups_axis_label(const struct export_groups *groups)
{
	return groups->axis_label.data;
}

static bool has_number(const struct export_groups *groups, const struct series *series, size_t family)
{
	const size_t *first = &groups->options.families->first[family];
	bool known = false;

	for (size_t i = first[0]; i < first[1] && !known; i++)
		known = series->numbers[i].known;
	return known;
}

bool export_groups_have(const struct export_groups *groups, size_t family)
{
	bool known = has_number(groups, &groups->other, family) ||
		     has_number(groups, &groups->retired, family);

	for (size_t i = 0; i < groups->count && !known; i++)
		known = has_number(groups, &groups->series[i], family);
	return known;
}

static void write_series(const struct export_groups *groups, const struct series *series, size_t family,
			 struct exposition *exposition)
{
	const struct export_family_choice *families = groups->options.families;
	const struct export_number *numbers = &series->numbers[families->first[family]];

	if (!export_families[families->items[family]].by_class) {
		if (numbers->known)
			exposition_add(exposition, series->labels, series->labels_length, numbers->value);
		return;
	}
	for (size_t i = 0; i < WAIT_CLASS_COUNT; i++) {
		const char *name = wait_classes[i].name;
		struct buffer labels = {0};

		if (!numbers[i].known)
			continue;
		buffer_append(&labels, series->labels, series->labels_length);
		exposition_append_label(&labels, "class", name, strlen(name));
		exposition_add(exposition, labels.data, labels.length, numbers[i].value);
		buffer_release(&labels);
	}
}

void export_groups_write(const struct export_groups *groups, size_t family, struct exposition *exposition)
{
	for (size_t i = 0; i < groups->count; i++)
		write_series(groups, &groups->series[i], family, exposition);
	write_series(groups, &groups->other, family, exposition);
	write_series(groups, &groups->retired, family, exposition);
}
