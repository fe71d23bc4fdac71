/* SPDX-License-Identifier: GPL-2.0-only */
#include "diff_summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/humanize.h"
#include "base/memory.h"
#include "diff_blame.h"
#include "diff_evidence.h"
#include "diff_harm.h"
#include "metric/quantity.h"
#include "table/wait_text.h"

/* The part of the largest harm of a group that the column has which its sentence is about. */
static const double lead_part = 1.0 / 3;
/* The least part of it that a further number has. */
static const double other_part = 0.1;

enum {
	OTHERS_MAX = 2 /* further numbers in a sentence */
};

/* A sentence being written. */
struct sentence {
	const struct pair_sides *sides;
	const struct diff_pair *pair;
	const struct diff_summary_per *per;
	struct buffer *text;
};

/* --- numbers in a sentence --- */

/* Whether the table shows a column as percent. */
static bool is_percent(const struct sentence *sentence, enum column column)
{
	double divisor;

	return diff_unit(sentence->sides->diff, column, &divisor) == UNIT_PERCENT;
}

/* Appends an amount of a column, times of rates as the percent of a CPU that the table shows. */
static void append_amount(const struct sentence *sentence, enum column column, double amount)
{
	double divisor;

	if (diff_unit(sentence->sides->diff, column, &divisor) == UNIT_PERCENT)
		humanize_percent(sentence->text, amount / divisor);
	else
		quantity_append(amount, column_report_ladder(column), sentence->text);
}

/* " per second" behind an amount that is one, and is not a percentage. */
static const char *per_second(const struct sentence *sentence, enum column column)
{
	return sentence->sides->diff->options.rates && diff_has_amounts(column) &&
			       !is_percent(sentence, column)
		       ? " per second"
		       : "";
}

static const char *arrow_of(const struct sentence *sentence)
{
	return sentence->per->ascii ? " -> " : " → ";
}

/* The change and what it is: "7.7 s longer", "1,200 fewer"; of a percentage only "more". */
static void append_change(const struct sentence *sentence, enum column column, double change)
{
	const enum ladder ladder = column_report_ladder(column);
	const bool is_length = ladder == LADDER_NS && !sentence->sides->diff->options.rates;

	if (!is_percent(sentence, column)) {
		append_amount(sentence, column, fabs(change));
		buffer_append_char(sentence->text, ' ');
	}
	if (change >= 0)
		buffer_append_text(sentence->text, is_length ? "longer" : "more");
	else
		buffer_append_text(sentence->text, ladder == LADDER_UNITLESS ? "fewer" : "less");
}

static uint32_t threads_on(const struct sentence *sentence, enum diff_side side)
{
	return sentence->pair->threads[pair_side(sentence->sides, side)];
}

/* "64 → 96 threads", ", 64 → 96 threads" */
static void append_threads(const struct sentence *sentence, const char *before)
{
	const uint32_t former = threads_on(sentence, DIFF_BEFORE), present = threads_on(sentence, DIFF_AFTER);
	const bool joined = diff_pair_is_joined(sentence->pair);

	buffer_append_text(sentence->text, before);
	if (joined && former != present) {
		humanize_count(sentence->text, former);
		buffer_append_text(sentence->text, arrow_of(sentence));
	}
	humanize_counted(sentence->text, joined || present != 0 ? present : former, "thread");
}

/* The threads of a side, also those that ended within its window. */
static uint64_t all_threads_on(const struct sentence *sentence, enum diff_side shown)
{
	const struct diff *diff = sentence->sides->diff;
	const enum diff_side side = pair_side(sentence->sides, shown);
	const struct ended *ended = diff_ended(diff, side);
	uint64_t count = threads_on(sentence, shown);

	for (uint32_t i = 0; ended != NULL && i < ended->count; i++) {
		if (diff_pair_of_ended(diff, side, i) == (size_t)(sentence->pair - diff->pairs))
			count += ended->records[i].threads;
	}
	return count;
}

/*
 * Whether the waits of a side exceed its window times its threads: the kernel counts a whole wait when it
 * ends, including the part before the window. False for cgroups, for sets, which have many windows, and for
 * CPU time, which the kernel counts as it passes.
 */
static bool began_earlier(const struct sentence *sentence, enum column column, enum diff_side shown,
			  const struct diff_value *value)
{
	const struct diff *diff = sentence->sides->diff;
	const double rounding = 1.1, number = value->side[shown].number;
	uint64_t threads;

	if (!diff->options.rates || diff_has_sets(diff) || column_report_ladder(column) != LADDER_NS ||
	    column_entry(column)->operation == COLUMN_OPERATION_CGROUP ||
	    column == column_stored_form(COLUMN_CPU) || !value->side[shown].has_number)
		return false;
	threads = all_threads_on(sentence, shown);
	return threads != 0 && number > rounding * (double)threads * NS_PER_S;
}

/* Both sides of a column, or that of the side on which the group is, which may be a bound. */
static void append_sides(const struct sentence *sentence, enum column column, const struct diff_value *value)
{
	const struct diff_side_value *before = &value->side[DIFF_BEFORE], *after = &value->side[DIFF_AFTER];
	const bool joined = diff_pair_is_joined(sentence->pair);
	const struct diff_side_value *last = joined || after->has_number ? after : before;

	if (joined) {
		append_amount(sentence, column, before->number);
		buffer_append_text(sentence->text, arrow_of(sentence));
	}
	buffer_append_text(sentence->text, last->partial ? "at least " : "");
	append_amount(sentence, column, last->number);
	buffer_append_text(sentence->text, per_second(sentence, column));
	if (began_earlier(sentence, column, DIFF_BEFORE, value) ||
	    began_earlier(sentence, column, DIFF_AFTER, value))
		buffer_append_text(sentence->text, ", in part before the window");
}

/* What each second between the captures, and each thread, has of it. */
static void append_quotients(const struct sentence *sentence, enum column column,
			     const struct diff_value *value)
{
	const struct diff *diff = sentence->sides->diff;
	const uint32_t before = threads_on(sentence, DIFF_BEFORE), after = threads_on(sentence, DIFF_AFTER);

	if (sentence->per->second && diff->interval_ns != 0 && diff_has_amounts(column)) {
		buffer_append_text(sentence->text, ", ");
		append_amount(sentence, column, fabs(value->delta) * NS_PER_S / (double)diff->interval_ns);
		buffer_append_text(sentence->text, " per second");
	}
	if (!sentence->per->thread || after == 0)
		return;
	buffer_append_text(sentence->text, ", ");
	if (before != 0) {
		append_amount(sentence, column, value->side[DIFF_BEFORE].number / before);
		buffer_append_text(sentence->text, arrow_of(sentence));
	}
	append_amount(sentence, column, value->side[DIFF_AFTER].number / after);
	buffer_append_text(sentence->text, " per thread");
}

/* --- sentences --- */

void diff_summary_append_burst(const struct diff *diff, const struct diff_pair *pair, enum column column,
			       struct buffer *buffer)
{
	const enum column stored = column_stored_form(column);
	const struct diff_value value = diff_column(diff, pair, stored);
	struct diff_evidence_cell evidence;
	char time[HUMANIZE_TIME_SIZE];

	if (diff->evidence == NULL)
		return;
	evidence = diff_evidence_of(diff, pair, stored, &value);
	if (!evidence.is_burst)
		return;
	buffer_append_text(buffer, ", most of it within ");
	humanize_duration(buffer, (double)evidence.burst.length_ns);
	if (evidence.burst.begin_unix_ns != 0)
		buffer_append_format(buffer, " at %s",
				     humanize_time(time, evidence.burst.begin_unix_ns, false));
}

/* " waited 7.7 s longer for a CPU (2.1 s → 9.8 s, 64 → 96 threads)" */
static void append_lead(const struct sentence *sentence, const struct diff_harm *told,
			const struct diff_value *value)
{
	const enum column column = column_stored_form(told->column);
	const char *star = strchr(told->phrase, '*');

	buffer_append_char(sentence->text, ' ');
	buffer_append(sentence->text, told->phrase, (size_t)(star - told->phrase));
	append_change(sentence, column, value->delta);
	buffer_append_format(sentence->text, "%s (", star + 1);
	append_sides(sentence, column, value);
	if (told->column != COLUMN_THR) {
		append_quotients(sentence, column, value);
		/* all may have ended within the windows */
		if ((threads_on(sentence, DIFF_BEFORE) | threads_on(sentence, DIFF_AFTER)) != 0)
			append_threads(sentence, ", ");
	}
	diff_summary_append_burst(sentence->sides->diff, sentence->pair, column, sentence->text);
	buffer_append_char(sentence->text, ')');
}

bool diff_summary_append(const struct pair_sides *sides, const struct diff_pair *pair, enum column column,
			 const struct buffer *name, const struct diff_summary_per *per, struct buffer *buffer)
{
	const struct diff_harm *told = diff_harm_find(column);
	const struct sentence sentence = {sides, pair, per, buffer};
	struct diff_value value;

	if (told == NULL)
		return false;
	value = pair_value(sides, pair, column_stored_form(told->column));
	if (!value.has_delta || value.delta == 0 ||
	    diff_verdict(sides->diff, pair, column_stored_form(told->column)) == CELL_VERDICT_NO)
		return false;
	buffer_append(buffer, name->data, name->length);
	append_lead(&sentence, told, &value);
	return true;
}

/* --- the groups with most harm --- */

/* The harm that changes do, by pair and column of diff_harm.def; 0 for what is not told. */
struct harms {
	const struct diff *diff;
	double *of; /* [pair][column] */
	double *largest;
};

static bool is_tellable(const struct diff *diff, const struct diff_pair *pair, enum column column)
{
	const struct diff_value value = diff_column(diff, pair, column);
	const enum diff_side side = pair->kind == DIFF_PAIR_ONLY_BEFORE ? DIFF_BEFORE : DIFF_AFTER;

	if (diff_pair_is_joined(pair) ? !value.has_delta || value.delta == 0
				      : !value.side[side].has_number || value.side[side].number == 0)
		return false;
	return diff->evidence == NULL || diff_verdict(diff, pair, column) != CELL_VERDICT_NO;
}

/* Whether a column is about metrics that were all chosen; one about no metric only where every one was. */
static bool is_chosen(enum column column, const bool chosen[METRIC_COUNT], bool all)
{
	for (size_t i = 0; i < diff_metric_inputs(column); i++) {
		if (!chosen[column_entry(column)->inputs[i]])
			return false;
	}
	return all || diff_metric_inputs(column) != 0;
}

/* Whether a kind of waits, which come before the sum of all kinds, has enough of that sum to be told instead.
 */
static bool has_kind_of_waits(const double *kinds, size_t count, double sum)
{
	for (size_t k = 0; k < count; k++) {
		if (strstr(diff_harms[k].phrase, "waited") != NULL && kinds[k] >= lead_part * sum)
			return true;
	}
	return false;
}

/* The harm of a column of diff_harm.def that is told of a pair, 0 for others; `of` has that of columns
 * before. */
static double harm_to_tell(const struct diff *diff, const struct diff_pair *pair, size_t k, const double *of)
{
	const enum column column = column_stored_form(diff_harms[k].column);
	const double harm = is_tellable(diff, pair, column) ? diff_harm(diff, pair, column) : 0;

	return column == COLUMN_LOST && has_kind_of_waits(of, k, harm) ? 0 : harm;
}

static struct harms measure(const struct diff *diff, const bool chosen[METRIC_COUNT], bool forget)
{
	struct harms harms = {
		.diff = diff,
		.of = memory_allocate_zero(diff->pair_count * diff_harm_count + 1, sizeof(*harms.of)),
		.largest = memory_allocate_zero(diff->pair_count + 1, sizeof(*harms.largest)),
	};
	bool all = true;

	for (size_t i = 0; i < METRIC_COUNT; i++)
		all &= chosen[i];
	for (size_t k = 0; k < diff_harm_count; k++) {
		for (size_t i = 0; is_chosen(diff_harms[k].column, chosen, all) && i < diff->pair_count;
		     i++) {
			double *of = &harms.of[i * diff_harm_count];

			of[k] = harm_to_tell(diff, &diff->pairs[i], k, of);
			harms.largest[i] = fmax(harms.largest[i], of[k]);
		}
		if (forget)
			diff_forget(diff);
	}
	return harms;
}

/* The column with most harm of a pair that counts something else than those told; SIZE_MAX for none. */
static size_t find_other(const struct harms *harms, size_t pair, const size_t told[], size_t told_count)
{
	const double *of = &harms->of[pair * diff_harm_count];
	size_t found = SIZE_MAX;

	for (size_t k = 0; k < diff_harm_count; k++) {
		/* how many threads there are is in each sentence anyway */
		bool is_new = of[k] >= other_part * harms->largest[pair] &&
			      diff_harms[k].column != COLUMN_THR;

		for (size_t i = 0; i < told_count && is_new; i++)
			is_new = strcmp(diff_harms[told[i]].phrase, diff_harms[k].phrase) != 0;
		if (is_new && (found == SIZE_MAX || of[k] > of[found]))
			found = k;
	}
	return found;
}

/* Chooses what is told of a pair: what leads, and up to two others. */
static size_t choose(const struct harms *harms, size_t pair, size_t told[1 + OTHERS_MAX])
{
	const double *of = &harms->of[pair * diff_harm_count];
	size_t count = 0, other;

	while (of[count] < lead_part * harms->largest[pair])
		count++;
	told[0] = count;
	for (count = 1; count <= OTHERS_MAX; count++) {
		other = find_other(harms, pair, told, count);
		if (other == SIZE_MAX)
			break;
		told[count] = other;
	}
	return count;
}

/* " by deploy-hook.sh": who started most of the processes that came and went. */
static void append_parent(const struct sentence *sentence)
{
	const struct diff *diff = sentence->sides->diff;
	const struct ended *ended = diff_ended(diff, DIFF_AFTER);
	const size_t pair = (size_t)(sentence->pair - diff->pairs);
	struct started_by parent = {0};

	for (uint32_t i = 0; ended != NULL && i < ended->count; i++) {
		if (diff_pair_of_ended(diff, DIFF_AFTER, i) == pair)
			started_by_add(&parent, ended->records[i].started_by);
	}
	if (parent.processes != 0)
		buffer_append_format(sentence->text, " by %s", snapshot_text(ended->names, parent.name));
}

/* "on a CPU 3.1% → 9.6%" */
static void append_other(const struct sentence *sentence, const struct diff_harm *told)
{
	const enum column column = column_stored_form(told->column);
	const struct diff_value value = pair_value(sentence->sides, sentence->pair, column);

	buffer_append_format(sentence->text, "%s ", told->noun);
	append_sides(sentence, column, &value);
	if (told->column == COLUMN_BORN)
		append_parent(sentence);
	diff_summary_append_burst(sentence->sides->diff, sentence->pair, column, sentence->text);
}

/* Whether starts are told, beside which those that are left of them say nothing. */
static bool tells_starts(const size_t told[], size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (diff_harms[told[i]].column == COLUMN_BORN)
			return true;
	}
	return false;
}

static void append_all(const struct sentence *sentence, const size_t told[], size_t count)
{
	const bool joined = diff_pair_is_joined(sentence->pair);
	const bool about_threads = diff_harms[told[0]].column == COLUMN_THR;
	struct diff_value value;

	diff_append_name(sentence->sides->diff, sentence->pair, sentence->text);
	if (joined) {
		value = pair_value(sentence->sides, sentence->pair,
				   column_stored_form(diff_harms[told[0]].column));
		append_lead(sentence, &diff_harms[told[0]], &value);
	} else {
		buffer_append_text(sentence->text,
				   sentence->pair->kind == DIFF_PAIR_ONLY_AFTER ? ", new: " : ", gone: ");
		if (about_threads)
			append_threads(sentence, "");
		else
			append_other(sentence, &diff_harms[told[0]]);
	}
	for (size_t i = 1; i < count; i++) {
		buffer_append_text(sentence->text, joined && i == 1 ? "; " : ", ");
		append_other(sentence, &diff_harms[told[i]]);
	}
	if (!joined && !about_threads && !tells_starts(told, count) &&
	    (threads_on(sentence, DIFF_BEFORE) | threads_on(sentence, DIFF_AFTER)) != 0) {
		append_threads(sentence, " (");
		buffer_append_char(sentence->text, ')');
	}
}

/* Whether threads wait for another thing than before. Addresses of futexes differ from run to run. */
static bool waits_differ(const struct value *before, const struct value *after)
{
	if (before->state != VALUE_READ)
		return before->state == VALUE_ABSENT;
	if (before->wait.class != after->wait.class)
		return true;
	return after->wait.class != WAIT_CLASS_FUTEX && before->wait.length != 0 &&
	       (before->wait.length != after->wait.length ||
		memcmp(before->wait.object, after->wait.object, after->wait.length) != 0);
}

/* "; now 38 of 40 threads wait at one futex, a lock by its value": for a group that is slower, or new. */
static void append_waits(const struct sentence *sentence, const struct diff_harm *told)
{
	const struct diff *diff = sentence->sides->diff;
	const struct diff_value lead = pair_value(sentence->sides, sentence->pair,
						  column_stored_form(told->column));
	struct value before, after;

	diff_side(diff, sentence->pair, pair_side(sentence->sides, DIFF_BEFORE), COLUMN_WAITS_FOR, &before);
	diff_side(diff, sentence->pair, pair_side(sentence->sides, DIFF_AFTER), COLUMN_WAITS_FOR, &after);
	if (wait_text_threads(&after) == 0 || !waits_differ(&before, &after) ||
	    (diff_pair_is_joined(sentence->pair) && lead.delta <= 0))
		return;
	buffer_append_text(sentence->text, "; now ");
	wait_text_append(&after, sentence->text);
}

static const char *tell_pair(const struct harms *harms, uint32_t pair, const struct diff_summary_per *per,
			     const struct diff_blame *blame, struct arena *arena)
{
	const struct pair_sides sides = {.diff = harms->diff};
	struct buffer text = {0};
	const struct sentence sentence = {&sides, &harms->diff->pairs[pair], per, &text};
	size_t told[1 + OTHERS_MAX];
	const size_t count = choose(harms, pair, told);
	const char *result;

	append_all(&sentence, told, count);
	for (size_t i = 0; blame != NULL && i < count; i++) {
		if (diff_harms[told[i]].column == COLUMN_RUNQ)
			diff_blame_append_reason(blame, pair, &text);
	}
	append_waits(&sentence, &diff_harms[told[0]]);
	result = arena_duplicate(arena, text.data, text.length);
	buffer_release(&text);
	return result;
}

/* "nothing of note changed in 212 groups with 2,005 threads" */
static void tell_nothing(const struct diff *diff, struct diff_summary *summary)
{
	struct buffer text = {0};

	buffer_append_text(&text, "nothing of note changed in ");
	humanize_counted(&text, diff->pair_count, "group");
	buffer_append_text(&text, " with ");
	humanize_counted(&text, diff->snapshots[DIFF_AFTER]->thread_count, "thread");
	summary->nothing = arena_duplicate(&summary->arena, text.data, text.length);
	buffer_release(&text);
}

/* The pair with most harm, at least 1: of equal ones the first by name. SIZE_MAX for none. */
static size_t find_most(const struct harms *harms)
{
	size_t most = SIZE_MAX;

	for (size_t i = 0; i < harms->diff->pair_count; i++) {
		if (harms->largest[i] >= 1 && (most == SIZE_MAX || harms->largest[i] > harms->largest[most]))
			most = i;
	}
	return most;
}

void diff_summary_make(const struct diff *diff, const bool chosen[METRIC_COUNT],
		       const struct diff_summary_per *per, bool forget, struct diff_summary *summary)
{
	struct harms harms = measure(diff, chosen, forget);
	/* who delayed whom is known of the last run of a set alone */
	struct diff_blame *blame = diff_has_sets(diff) ? NULL : diff_blame_create(diff);
	size_t pair;

	while (summary->count < DIFF_SUMMARY_MAX && (pair = find_most(&harms)) != SIZE_MAX) {
		summary->items[summary->count++] = tell_pair(&harms, (uint32_t)pair, per, blame,
							     &summary->arena);
		harms.largest[pair] = 0;
	}
	if (summary->count == 0)
		tell_nothing(diff, summary);
	diff_blame_release(blame);
	free(harms.of);
	free(harms.largest);
}

void diff_summary_release(struct diff_summary *summary)
{
	arena_release(&summary->arena);
	*summary = (struct diff_summary){0};
}
