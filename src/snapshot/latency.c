/* SPDX-License-Identifier: GPL-2.0-only */
#include "latency.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/order.h"
#include "snapshot.h"

const char *const latency_cause_names[LATENCY_CAUSE_COUNT] = {
#define LATENCY_CAUSE(id, name, meaning) [LATENCY_CAUSE_##id] = name,
#include "latency_cause.def"
#undef LATENCY_CAUSE
};

size_t latency_bucket(uint64_t wait_ns)
{
	size_t bucket = 0;

	while (wait_ns > 1 && bucket < LATENCY_BUCKETS - 1) {
		wait_ns >>= 1;
		bucket++;
	}
	return bucket;
}

uint64_t latency_bucket_start(size_t bucket)
{
	return bucket != 0 ? UINT64_C(1) << bucket : 0;
}

uint64_t latency_bucket_end(size_t bucket)
{
	return bucket < LATENCY_BUCKETS - 1 ? UINT64_C(1) << (bucket + 1) : UINT64_MAX;
}

uint64_t latency_count(const struct latency_histogram *histogram)
{
	uint64_t count = 0;

	for (size_t i = 0; i < LATENCY_BUCKETS; i++)
		count = number_add_saturating(count, histogram->buckets[i]);
	return count;
}

void latency_merge(struct latency_histogram *histogram, const struct latency_histogram *more)
{
	for (size_t i = 0; i < LATENCY_BUCKETS; i++)
		histogram->buckets[i] = number_add_saturating(histogram->buckets[i], more->buckets[i]);
	histogram->sum_ns = number_add_saturating(histogram->sum_ns, more->sum_ns);
	if (more->max_ns > histogram->max_ns)
		histogram->max_ns = more->max_ns;
}

double latency_percentile(const struct latency_histogram *histogram, double share, uint64_t unknown)
{
	const double max = (double)histogram->max_ns;
	const double wanted = share * ((double)latency_count(histogram) + (double)unknown);
	double before = (double)unknown;

	if (unknown != 0 && wanted <= before)
		return 0;
	for (size_t i = 0; i < LATENCY_BUCKETS; i++) {
		const double here = (double)histogram->buckets[i];
		double start, end, time;

		if (here == 0 || before + here < wanted) {
			before += here;
			continue;
		}
		start = (double)latency_bucket_start(i);
		if (unknown != 0)
			return start;
		end = (double)latency_bucket_end(i);
		/* the longest wait bounds the bucket that it is in */
		if (end > max && max >= start)
			end = max;
		time = start + (end - start) * ((wanted - before) / here);
		return time < max ? time : max;
	}
	return 0;
}

struct latency_record *latency_add_record(struct snapshot *snapshot, uint32_t pcomm, uint32_t comm,
					  uint32_t cgroup)
{
	struct latency *latency = &snapshot->latency;
	struct latency_record *record = MEMORY_APPEND(latency->records, latency->count, latency->capacity);

	*record = (struct latency_record){.pcomm = pcomm, .comm = comm, .cgroup = cgroup};
	return record;
}

/* --- waits of records --- */

static const struct latency_waits no_waits;

const struct latency_waits *latency_waits_of(const struct latency *latency, size_t index)
{
	const uint32_t number = latency->records[index].waits;

	return number != 0 ? &latency->waits[number - 1] : &no_waits;
}

struct latency_waits *latency_own_waits(struct latency *latency, size_t index)
{
	struct latency_record *record = &latency->records[index];

	if (record->waits == 0) {
		*MEMORY_APPEND(latency->waits, latency->waits_count, latency->waits_capacity) = no_waits;
		record->waits = (uint32_t)latency->waits_count;
	}
	return &latency->waits[record->waits - 1];
}

void latency_add_waits(struct latency *latency, size_t index, const struct latency_waits *more)
{
	struct latency_waits *own;

	if (memcmp(more, &no_waits, sizeof(no_waits)) == 0)
		return;
	own = latency_own_waits(latency, index);
	for (size_t kind = 0; kind < LATENCY_KIND_COUNT; kind++)
		latency_merge(&own->of[kind], &more->of[kind]);
}

/* --- shares --- */

static int order_shares(const void *left, const void *right)
{
	const struct latency_share *a = left, *b = right;

	return a->record != b->record ? (a->record > b->record) - (a->record < b->record)
				      : (a->pid > b->pid) - (a->pid < b->pid);
}

void latency_join_shares(struct latency *latency)
{
	struct latency_share *shares = latency->shares;
	size_t joined = 0;

	if (latency->share_count != 0)
		qsort(shares, latency->share_count, sizeof(*shares), order_shares);
	for (size_t i = 0; i < latency->share_count; i++) {
		struct latency_share *last = joined != 0 ? &shares[joined - 1] : NULL;

		if (last == NULL || order_shares(last, &shares[i]) != 0) {
			shares[joined++] = shares[i];
			continue;
		}
		for (size_t kind = 0; kind < LATENCY_KIND_COUNT; kind++)
			latency_merge(&last->waits.of[kind], &shares[i].waits.of[kind]);
	}
	latency->share_count = joined;
}

static uint64_t count_of_share(const struct latency_share *share)
{
	return number_add_saturating(latency_count(&share->waits.of[LATENCY_RUN_QUEUE]),
				     latency_count(&share->waits.of[LATENCY_BLOCKED]));
}

/* Leaves out the half with the fewest waits. */
static void drop_shares(struct latency *latency)
{
	const size_t count = latency->share_count;
	uint64_t *counts = memory_allocate(count * sizeof(*counts)), limit;
	size_t kept = 0;

	for (size_t i = 0; i < count; i++)
		counts[i] = count_of_share(&latency->shares[i]);
	qsort(counts, count, sizeof(*counts), order_by_u64);
	limit = counts[count - LATENCY_SHARES_MAX / 2];
	free(counts);
	for (size_t i = 0; i < count; i++) {
		if (count_of_share(&latency->shares[i]) > limit)
			latency->shares[kept++] = latency->shares[i];
	}
	latency->share_count = kept;
}

static void add_shares(struct latency *latency, const struct latency *from, const uint32_t indices[])
{
	for (size_t i = 0; i < from->share_count; i++) {
		struct latency_share *share = MEMORY_APPEND(latency->shares, latency->share_count,
							    latency->share_capacity);

		*share = from->shares[i];
		share->record = indices[share->record];
	}
	if (from->share_count == 0)
		return;
	latency_join_shares(latency);
	if (latency->share_count > LATENCY_SHARES_MAX)
		drop_shares(latency);
}

/* --- times --- */

static int order_times(const void *left, const void *right)
{
	const struct latency_time *a = left, *b = right;

	if (a->record != b->record)
		return (a->record > b->record) - (a->record < b->record);
	if (a->class != b->class)
		return (a->class > b->class) - (a->class < b->class);
	return (a->pid > b->pid) - (a->pid < b->pid);
}

void latency_add_time(struct latency *latency, const struct latency_time *time)
{
	if (time->time_ns != 0)
		*MEMORY_APPEND(latency->times, latency->time_count, latency->time_capacity) = *time;
}

static void join_times(struct latency *latency)
{
	struct latency_time *times = latency->times;
	size_t joined = 0;

	if (latency->time_count != 0)
		qsort(times, latency->time_count, sizeof(*times), order_times);
	for (size_t i = 0; i < latency->time_count; i++) {
		if (joined == 0 || order_times(&times[joined - 1], &times[i]) != 0)
			times[joined++] = times[i];
		else
			times[joined - 1].time_ns = number_add_saturating(times[joined - 1].time_ns,
									  times[i].time_ns);
	}
	latency->time_count = joined;
}

/* Makes the shorter half one for each record and class. */
static void fold_times(struct latency *latency)
{
	const size_t count = latency->time_count;
	uint64_t *lengths = memory_allocate(count * sizeof(*lengths)), limit;

	for (size_t i = 0; i < count; i++)
		lengths[i] = latency->times[i].time_ns;
	qsort(lengths, count, sizeof(*lengths), order_by_u64);
	limit = lengths[count - LATENCY_TIMES_MAX / 2];
	free(lengths);
	for (size_t i = 0; i < count; i++) {
		if (latency->times[i].time_ns <= limit)
			latency->times[i].pid = LATENCY_PROCESS_UNKNOWN;
	}
	join_times(latency);
}

void latency_join_times(struct latency *latency)
{
	join_times(latency);
	if (latency->time_count > LATENCY_TIMES_MAX)
		fold_times(latency);
}

static void add_times(struct latency *latency, const struct latency *from, const uint32_t indices[])
{
	for (size_t i = 0; i < from->time_count; i++) {
		struct latency_time time = from->times[i];

		time.record = indices[time.record];
		latency_add_time(latency, &time);
	}
	if (from->time_count != 0)
		latency_join_times(latency);
}

/* --- processes that end --- */

/* Processes that count as ended: those that `rows` has not or, with `are_gone`, those that it has. */
struct ending {
	const struct snapshot *rows;
	bool are_gone;
	uint64_t read_at_ns;
};

static bool has_ended(const struct ending *ending, uint32_t pid)
{
	uint32_t leader;
	bool is_among;

	if (pid == 0 || pid == LATENCY_PROCESS_UNKNOWN)
		return false;
	leader = snapshot_find_row(ending->rows, pid, pid);
	is_among = leader != SNAPSHOT_NO_ROW &&
		   (ending->are_gone || ending->rows->start_time[leader] <= ending->read_at_ns / NS_PER_TICK);
	return is_among == ending->are_gone;
}

static void end_processes(struct latency *latency, const struct ending *ending)
{
	bool any_share = false, any_time = false;

	for (size_t i = 0; i < latency->share_count; i++) {
		if (!has_ended(ending, latency->shares[i].pid))
			continue;
		latency->shares[i].pid = 0;
		any_share = true;
	}
	for (size_t i = 0; i < latency->time_count; i++) {
		if (!has_ended(ending, latency->times[i].pid))
			continue;
		latency->times[i].pid = 0;
		any_time = true;
	}
	if (any_share)
		latency_join_shares(latency);
	if (any_time)
		latency_join_times(latency);
}

void latency_end_processes(struct latency *latency, const struct snapshot *now, uint64_t read_at_ns)
{
	end_processes(latency, &(struct ending){now, false, read_at_ns});
}

void latency_end_gone(struct latency *latency, const struct snapshot *gone)
{
	end_processes(latency, &(struct ending){gone, true, 0});
}

/* --- what delayed them --- */

int latency_order_delays(const void *left, const void *right)
{
	const struct latency_delay *a = left, *b = right;

	if (a->victim != b->victim)
		return (a->victim > b->victim) - (a->victim < b->victim);
	if (a->cause != b->cause)
		return (a->cause > b->cause) - (a->cause < b->cause);
	return (a->culprit > b->culprit) - (a->culprit < b->culprit);
}

size_t latency_join_delays(struct latency_delay delays[], size_t count)
{
	size_t joined = 0;

	if (count != 0)
		qsort(delays, count, sizeof(*delays), latency_order_delays);
	for (size_t i = 0; i < count; i++) {
		struct latency_delay *last = joined != 0 ? &delays[joined - 1] : NULL;

		if (last == NULL || latency_order_delays(last, &delays[i]) != 0) {
			delays[joined++] = delays[i];
			continue;
		}
		last->time_ns = number_add_saturating(last->time_ns, delays[i].time_ns);
		last->waits = number_add_saturating(last->waits, delays[i].waits);
		last->wakes = number_add_saturating(last->wakes, delays[i].wakes);
	}
	return joined;
}

/* Puts the half with the least time together, by victim: as many stay as there is room for beside these. */
static void fold_delays(struct latency *latency)
{
	const size_t count = latency->delay_count;
	uint64_t *times = memory_allocate(count * sizeof(*times)), limit;

	for (size_t i = 0; i < count; i++)
		times[i] = latency->delays[i].time_ns;
	qsort(times, count, sizeof(*times), order_by_u64);
	limit = times[count - (LATENCY_DELAYS_MAX - LATENCY_RECORDS_MAX)];
	free(times);
	for (size_t i = 0; i < count; i++) {
		struct latency_delay *delay = &latency->delays[i];

		if (delay->time_ns > limit || delay->cause != LATENCY_CAUSE_THREADS)
			continue;
		delay->cause = LATENCY_CAUSE_OTHER;
		delay->culprit = 0;
	}
	latency->delay_count = latency_join_delays(latency->delays, count);
}

void latency_add_delays(struct latency *latency, const struct latency *from, const uint32_t indices[])
{
	for (size_t i = 0; i < from->delay_count; i++) {
		struct latency_delay *delay = MEMORY_APPEND(latency->delays, latency->delay_count,
							    latency->delay_capacity);

		*delay = from->delays[i];
		delay->victim = indices[delay->victim];
		if (delay->cause == LATENCY_CAUSE_THREADS)
			delay->culprit = indices[delay->culprit];
	}
	latency->delay_count = latency_join_delays(latency->delays, latency->delay_count);
	if (latency->delay_count > LATENCY_DELAYS_MAX)
		fold_delays(latency);
}

void latency_add(struct latency *latency, const struct latency *from, const uint32_t indices[])
{
	latency->span_ns = number_add_saturating(latency->span_ns, from->span_ns);
	latency->events = number_add_saturating(latency->events, from->events);
	latency->unseen = number_add_saturating(latency->unseen, from->unseen);
	latency->cost_ns = number_add_saturating(latency->cost_ns, from->cost_ns);
	for (size_t i = 0; i < from->count; i++)
		latency_add_waits(latency, indices[i], latency_waits_of(from, i));
	add_shares(latency, from, indices);
	latency_add_delays(latency, from, indices);
	add_times(latency, from, indices);
}

/* A copy of a list with room for one more, which the caller frees. */
static void *copy_list(const void *list, size_t count, size_t size, size_t *ret_capacity)
{
	void *copy = memory_allocate((count + 1) * size);

	if (count != 0)
		memcpy(copy, list, count * size);
	*ret_capacity = count + 1;
	return copy;
}

#define COPY_LIST(list, count, ret_capacity) copy_list(list, count, sizeof(*(list)), ret_capacity)

void latency_copy(struct snapshot *to, const struct snapshot *from)
{
	const struct latency *latency = &from->latency;
	struct latency *own = &to->latency;

	*own = *latency;
	own->records = COPY_LIST(latency->records, latency->count, &own->capacity);
	own->waits = COPY_LIST(latency->waits, latency->waits_count, &own->waits_capacity);
	own->shares = COPY_LIST(latency->shares, latency->share_count, &own->share_capacity);
	own->delays = COPY_LIST(latency->delays, latency->delay_count, &own->delay_capacity);
	own->times = COPY_LIST(latency->times, latency->time_count, &own->time_capacity);
	for (size_t i = 0; i < own->count; i++) {
		struct latency_record *record = &own->records[i];

		record->pcomm = string_pool_copy(&to->strings, &from->strings, record->pcomm);
		record->comm = string_pool_copy(&to->strings, &from->strings, record->comm);
		record->cgroup = string_pool_copy(&to->strings, &from->strings, record->cgroup);
	}
}

void latency_release(struct latency *latency)
{
	free(latency->records);
	free(latency->waits);
	free(latency->shares);
	free(latency->delays);
	free(latency->times);
}

/* --- sums --- */

static struct triple names_of(const struct latency_record *record)
{
	return (struct triple){record->pcomm, record->comm, record->cgroup};
}

/* Index of the record of the same names; past the bound, that of all others when it is new. */
static uint32_t find_record(struct snapshot *sums, const struct snapshot *from,
			    const struct latency_record *record)
{
	const struct triple names = names_of(record);
	const uint32_t index = snapshot_copy_triple_within(sums, &from->strings, &names, LATENCY_RECORDS_MAX);
	const struct triple *own = &sums->triples[index];

	if (index == sums->latency.count)
		latency_add_record(sums, own->pcomm, own->comm, own->cgroup)->is_kernel = record->is_kernel;
	return index;
}

bool latency_sums_have_room(struct snapshot *sums, const struct snapshot *snapshot)
{
	size_t count = sums->latency.count;

	if (count + snapshot->latency.count <= LATENCY_RECORDS_MAX)
		return true;
	for (size_t i = 0; i < snapshot->latency.count && count <= LATENCY_RECORDS_MAX; i++) {
		const struct triple names = names_of(&snapshot->latency.records[i]);

		count += snapshot_look_up_triple(sums, &snapshot->strings, &names) == UINT32_MAX;
	}
	return count <= LATENCY_RECORDS_MAX;
}

uint32_t *latency_sums_add(struct snapshot *sums, const struct snapshot *snapshot)
{
	struct latency *to = &sums->latency;
	const struct latency *more = &snapshot->latency;
	uint32_t *indices = memory_allocate((more->count + 1) * sizeof(*indices));

	for (size_t i = 0; i < more->count; i++) {
		indices[i] = find_record(sums, snapshot, &more->records[i]);
		to->records[indices[i]].is_kernel &= more->records[i].is_kernel;
	}
	latency_add(to, more, indices);
	return indices;
}

uint32_t latency_sums_other(struct snapshot *sums)
{
	const uint32_t name = string_pool_find(&sums->strings, name_other.text, name_other.length);

	return snapshot_find_triple(sums, (struct triple){name, name, name});
}
