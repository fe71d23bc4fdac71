/* SPDX-License-Identifier: GPL-2.0-only */
#include "field_reduce.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/number.h"

enum {
	FIRST_RUNS = 16
};

/* So much may two clocks of a kernel differ, before a time stamp in the future is none. */
#define CLOCKS_DIFFER_NS NS_PER_S

static bool is_less(const struct task_field_member *member, uint64_t a, uint64_t b)
{
	return member->is_signed ? (int64_t)a < (int64_t)b : a < b;
}

static bool is_negative(const struct task_field_member *member, uint64_t value)
{
	return member->is_signed && (int64_t)value < 0;
}

/* --- counting by value --- */

static int compare_runs(const void *a, const void *b, void *member)
{
	const struct task_field_tally *left = a, *right = b;

	return is_less(member, right->value, left->value) - is_less(member, left->value, right->value);
}

/* Joins the runs of each value. */
static void join_runs(struct task_field_accumulator *accumulator, const struct task_field_member *member)
{
	size_t kept = 0;

	qsort_r(accumulator->runs, accumulator->run_count, sizeof(*accumulator->runs), compare_runs,
		(void *)member);
	for (size_t i = 1; i < accumulator->run_count; i++) {
		if (accumulator->runs[i].value == accumulator->runs[kept].value)
			accumulator->runs[kept].threads += accumulator->runs[i].threads;
		else
			accumulator->runs[++kept] = accumulator->runs[i];
	}
	accumulator->run_count = kept + 1;
}

/* Makes room for one more run: joins runs first, and grows the array only if that helps little. */
static void make_room(struct task_field_accumulator *accumulator, const struct task_field_member *member)
{
	if (accumulator->run_count < accumulator->run_capacity)
		return;
	if (accumulator->run_count != 0)
		join_runs(accumulator, member);
	if (accumulator->run_count <= accumulator->run_capacity / 2 && accumulator->run_capacity != 0)
		return;
	accumulator->run_capacity = accumulator->run_capacity != 0 ? accumulator->run_capacity * 2
								   : FIRST_RUNS;
	accumulator->runs = memory_resize(accumulator->runs, accumulator->run_capacity,
					  sizeof(*accumulator->runs));
}

static void count_value(struct task_field_accumulator *accumulator, const struct task_field_member *member,
			uint64_t value, uint32_t threads)
{
	const size_t last = accumulator->run_count - 1; /* if any */

	if (accumulator->run_count != 0 && accumulator->runs[last].value == value) {
		accumulator->runs[last].threads += threads;
		return;
	}
	make_room(accumulator, member);
	accumulator->runs[accumulator->run_count++] = (struct task_field_tally){value, threads};
}

static void find_commonest(struct task_field_accumulator *accumulator, const struct task_field_member *member,
			   struct task_field_reduced *reduced)
{
	reduced->value = accumulator->first;
	reduced->threads = accumulator->read;
	if (!accumulator->differs)
		return;
	join_runs(accumulator, member);
	reduced->threads = 0;
	for (size_t i = 0; i < accumulator->run_count; i++) {
		if (accumulator->runs[i].threads > reduced->threads) {
			reduced->value = accumulator->runs[i].value;
			reduced->threads = accumulator->runs[i].threads;
		}
	}
}

/* --- adding --- */

static void add_to_sum(struct task_field_sum *sum, uint64_t value)
{
	sum->low += value;
	sum->high += sum->low < value;
}

/* Keeps the least and the most; 0 is no time stamp. */
static void extend(struct task_field_accumulator *accumulator, const struct task_field_member *member,
		   uint64_t value)
{
	const bool is_first = accumulator->read == 0;

	if (is_first || is_less(member, accumulator->most, value))
		accumulator->most = value;
	if (member->facts.reduction == TASK_FIELD_REDUCTION_AGE) {
		if (value != 0 && (accumulator->least == 0 || value < accumulator->least))
			accumulator->least = value;
	} else if (is_first || is_less(member, value, accumulator->least)) {
		accumulator->least = value;
	}
}

void task_field_accumulate(struct task_field_accumulator *accumulator, const struct task_field_member *member,
			   uint64_t value)
{
	if (member->kind == TASK_FIELD_KIND_BOOLEAN)
		value = value != 0; /* a byte of BPF memory may hold anything */
	if (accumulator->read == 0)
		accumulator->first = value;
	if (member->facts.reduction == TASK_FIELD_REDUCTION_COUNT &&
	    member->kind != TASK_FIELD_KIND_BOOLEAN) {
		/* those before the first that differs are one run */
		if (!accumulator->differs && accumulator->read != 0 && value != accumulator->first)
			count_value(accumulator, member, accumulator->first, accumulator->read);
		if (accumulator->differs || value != accumulator->first)
			count_value(accumulator, member, value, 1);
	}
	accumulator->differs |= value != accumulator->first;
	extend(accumulator, member, value);
	if (is_negative(member, value))
		add_to_sum(&accumulator->below, 0 - value);
	else
		add_to_sum(&accumulator->above, value);
	accumulator->set += value != 0;
	accumulator->read++;
}

void task_field_accumulate_amount(struct task_field_accumulator *accumulator, double amount)
{
	accumulator->amount += amount;
	accumulator->read++;
}

void task_field_accumulate_missing(struct task_field_accumulator *accumulator, reason_id reason)
{
	accumulator->missed++;
	if (accumulator->reason == REASON_READ)
		accumulator->reason = reason;
}

/* --- what comes out --- */

static void set_whole(struct task_field_reduced *reduced, uint64_t whole)
{
	reduced->whole = whole;
	reduced->is_whole = true;
	reduced->number = (double)whole;
}

static bool is_less_sum(struct task_field_sum a, struct task_field_sum b)
{
	return a.high != b.high ? a.high < b.high : a.low < b.low;
}

/* The excess of the larger one. */
static struct task_field_sum subtract(struct task_field_sum large, struct task_field_sum small)
{
	return (struct task_field_sum){
		.high = large.high - small.high - (large.low < small.low),
		.low = large.low - small.low,
	};
}

static double sum_number(struct task_field_sum sum)
{
	return (double)sum.high * 0x1p64 + (double)sum.low;
}

static void set_sum(const struct task_field_accumulator *accumulator, struct task_field_reduced *reduced)
{
	const bool is_below = is_less_sum(accumulator->above, accumulator->below);
	const struct task_field_sum sum = is_below ? subtract(accumulator->below, accumulator->above)
						   : subtract(accumulator->above, accumulator->below);

	if (accumulator->amount != 0)
		reduced->number = accumulator->amount;
	else if (is_below || sum.high != 0)
		reduced->number = is_below ? -sum_number(sum) : sum_number(sum);
	else
		set_whole(reduced, sum.low);
}

static void set_mean(const struct task_field_accumulator *accumulator, const struct task_field_member *member,
		     struct task_field_reduced *reduced)
{
	if (!accumulator->differs && !is_negative(member, accumulator->first)) {
		set_whole(reduced, accumulator->first);
		return;
	}
	set_sum(accumulator, reduced);
	if (reduced->is_whole && reduced->whole % accumulator->read == 0) {
		set_whole(reduced, reduced->whole / accumulator->read);
		return;
	}
	reduced->number /= (double)accumulator->read;
	reduced->is_whole = false;
}

static void set_maximum(const struct task_field_accumulator *accumulator,
			const struct task_field_member *member, struct task_field_reduced *reduced)
{
	if (is_negative(member, accumulator->most))
		reduced->number = task_field_number(member, accumulator->most);
	else
		set_whole(reduced, accumulator->most);
}

static void set_age(const struct task_field_accumulator *accumulator, uint64_t read_at_ns,
		    struct task_field_reduced *reduced)
{
	if (accumulator->least == 0) {
		reduced->state = VALUE_ABSENT; /* never */
	} else if (read_at_ns == 0) {
		reduced->state = VALUE_UNAVAILABLE;
		reduced->reason = REASON_NOT_IN_FILE;
	} else if (accumulator->least > number_add_saturating(read_at_ns, CLOCKS_DIFFER_NS)) {
		reduced->state = VALUE_UNAVAILABLE;
		reduced->reason = REASON_BAD_STAMP;
	} else {
		set_whole(reduced, read_at_ns > accumulator->least ? read_at_ns - accumulator->least : 0);
	}
}

static void set_number(struct task_field_accumulator *accumulator, const struct task_field_member *member,
		       uint64_t read_at_ns, struct task_field_reduced *reduced)
{
	switch (member->facts.reduction) {
	case TASK_FIELD_REDUCTION_COUNTER:
	case TASK_FIELD_REDUCTION_SUM:
		set_sum(accumulator, reduced);
		break;
	case TASK_FIELD_REDUCTION_MEAN:
		set_mean(accumulator, member, reduced);
		break;
	case TASK_FIELD_REDUCTION_MAXIMUM:
		set_maximum(accumulator, member, reduced);
		break;
	case TASK_FIELD_REDUCTION_AGE:
		set_age(accumulator, read_at_ns, reduced);
		break;
	default:
		if (member->kind == TASK_FIELD_KIND_BOOLEAN) {
			reduced->threads = accumulator->set;
			set_whole(reduced, accumulator->set);
		} else {
			find_commonest(accumulator, member, reduced);
		}
		break;
	}
}

struct task_field_reduced task_field_reduce(struct task_field_accumulator *accumulator,
					    const struct task_field_member *member, uint64_t read_at_ns)
{
	struct task_field_reduced reduced = {.state = VALUE_ABSENT, .read = accumulator->read};

	if (accumulator->missed != 0) {
		reduced.state = VALUE_UNAVAILABLE;
		reduced.reason = accumulator->reason;
	}
	if (accumulator->read == 0)
		return reduced;
	reduced.state = VALUE_READ;
	reduced.partial = accumulator->missed != 0;
	reduced.differs = accumulator->differs;
	set_number(accumulator, member, read_at_ns, &reduced);
	reduced.partial &= reduced.state == VALUE_READ;
	return reduced;
}

void task_field_accumulator_release(struct task_field_accumulator *accumulator)
{
	free(accumulator->runs);
	*accumulator = (struct task_field_accumulator){0};
}
