/* SPDX-License-Identifier: GPL-2.0-only */
#include "ended.h"

#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/number.h"
#include "host_numbers.h"

enum {
	/* With this many names no more parents are noted: any user can start processes with ever new ones. */
	NAMES_MAX = 65536,
};

/* The record of one of the record names' triples, made when it is new; records may move. */
static uint32_t add_record(struct ended *ended, uint32_t index)
{
	if (index == ended->count)
		*MEMORY_APPEND(ended->records, ended->count,
			       ended->capacity) = (struct ended_record){.kernel = true};
	return index;
}

/*
 * Index of the record of a triple of a snapshot, made when it is new; once there are too many, that of all
 * others. Records may move.
 */
static uint32_t find_record(struct ended *ended, const struct snapshot *snapshot, uint32_t triple)
{
	if (ended->names == NULL)
		ended->names = snapshot_create();
	return add_record(ended, snapshot_copy_triple_within(
					 ended->names, &snapshot->strings, &snapshot->triples[triple],
					 ended->room != 0 ? ended->room : ENDED_RECORDS_MAX));
}

static void fold_missed(struct ended_record *record, size_t slot, uint16_t reason)
{
	record->states[slot] |= ENDED_MISSED;
	if (record->reasons[slot] == REASON_READ)
		record->reasons[slot] = (reason_id)reason;
}

/* `whole`: an amount that is known is all that the thread did. */
static void fold_slot(struct ended_record *record, size_t slot, uint16_t state, uint64_t amount, bool whole)
{
	if (state == REASON_READ) {
		record->amounts[slot] = number_add_saturating(record->amounts[slot], amount);
		record->states[slot] |= whole ? ENDED_COUNTED : ENDED_COUNTED | ENDED_AT_LEAST;
	} else if (state != STATE_ABSENT) {
		fold_missed(record, slot, REASON_ENDED);
	}
}

/* --- what threads told at their end --- */

/* The index of a metric among the amounts of an ended thread, or -1. */
static int amount_of(enum metric metric)
{
	for (int i = 0; i < ENDED_METRICS; i++) {
		if (ended_metrics[i] == metric)
			return i;
	}
	return -1;
}

/* The reason why an amount of threads, `delayed` of them with a record of delays, is unknown; or REASON_READ.
 */
static uint16_t amount_state(const struct ended_set *set, size_t amount, uint64_t delayed, uint64_t threads)
{
	if (set->reasons[amount] != REASON_READ)
		return set->reasons[amount];
	return metrics[ended_metrics[amount]].source == SOURCE_DELAYS && delayed < threads
		       ? REASON_OFF_AT_FORK
		       : REASON_READ;
}

/* Why a counter that no ended thread tells is not known of those that were never read. */
static uint16_t untold_state(const struct snapshot *now, enum metric metric)
{
	const enum source source = now->metric_source[metric];

	/* most programs have no jemalloc */
	if (source == SOURCE_NONE || source == SOURCE_JEMALLOC)
		return STATE_ABSENT;
	return now->default_reason[source] != REASON_READ ? now->default_reason[source] : REASON_ENDED;
}

static bool is_counter(int metric)
{
	return metric != METRIC_THREAD_COUNT && metric_type((enum metric)metric)->kind == METRIC_KIND_COUNTER;
}

/* Whether a metric does not apply: kernel threads do no I/O, and their idle sleep counts as blocked. */
static bool is_absent(enum metric metric, bool kernel)
{
	return kernel &&
	       (metrics[metric].source == SOURCE_IO || metrics[metric].family == METRIC_FAMILY_USER);
}

/* Whether amounts of ended threads have all that they did: of a clock tick that was not full there is
 * nothing. */
static bool is_whole(const struct ended_set *set, enum metric metric)
{
	return set != NULL && !set->lower_bound && metric_type(metric)->ladder != LADDER_TICKS;
}

static void fold_amounts(struct ended_record *record, const struct ended_set *set,
			 const struct ended_group *group, const struct snapshot *now)
{
	const struct ended_amounts *amounts = &group->amounts;
	const bool some_known = group->threads == 0 || group->unknown < group->threads;
	uint64_t overlap = 0, overlaps = 0;
	uint16_t overlap_state = REASON_READ;

	for (int i = 0; i < METRIC_COUNT; i++) {
		const enum metric metric = (enum metric)i;
		const int amount = is_counter(i) ? amount_of(metric) : -1;
		uint16_t state;

		if (!is_counter(i) || is_absent(metric, group->kernel))
			continue;
		state = amount >= 0 ? amount_state(set, (size_t)amount, amounts->delayed, group->threads)
				    : untold_state(now, metric);
		if (amount >= 0 && set->reasons[amount] == REASON_READ && some_known &&
		    (state == REASON_READ || amounts->delayed != 0))
			fold_slot(record, metric, REASON_READ, amounts->of[amount], is_whole(set, metric));
		if (state == REASON_READ && group->unknown != 0)
			state = REASON_ENDED;
		if (state != REASON_READ && state != STATE_ABSENT)
			fold_missed(record, metric, state);
		if (metric != METRIC_SWAPIN_DELAY_TOTAL_NS && metric != METRIC_THRASHING_DELAY_TOTAL_NS)
			continue;
		overlap_state = state;
		if (amount < 0)
			continue;
		overlaps += amounts->of[amount] != 0;
		if (amounts->of[amount] > overlap)
			overlap = amounts->of[amount];
	}
	if (overlap_state == REASON_READ || overlap != 0)
		/* of several threads the sum of the larger ones may be more than the larger sum */
		fold_slot(record, ENDED_SLOT_OVERLAP, REASON_READ, overlap,
			  is_whole(set, METRIC_SWAPIN_DELAY_TOTAL_NS) &&
				  (group->threads <= 1 || overlaps < 2));
	if (overlap_state != REASON_READ && overlap_state != STATE_ABSENT)
		fold_missed(record, ENDED_SLOT_OVERLAP, overlap_state);
}

/* Notes the process of a thread, 0 where it is not known, before the thread is counted. */
static void note_process(struct ended_record *record, uint32_t tgid, uint64_t start_time)
{
	if (record->threads == 0) {
		record->tgid = tgid;
		record->earliest_start = start_time;
	}
	if (record->tgid != tgid)
		record->tgid = 0;
	if (start_time < record->earliest_start)
		record->earliest_start = start_time;
}

static void add_group(struct ended *ended, const struct ended_set *set, const struct ended_group *group,
		      const struct snapshot *now, uint32_t tgid, uint64_t start_time)
{
	uint32_t index = find_record(ended, set->names, group->triple);
	struct ended_record *record = &ended->records[index];

	/* the rest of a thread that is counted already tells of no process */
	if (group->threads != 0)
		note_process(record, tgid, start_time);
	record->threads += group->threads;
	record->processes += group->processes;
	record->born += group->threads - group->unknown;
	if (ended->names->strings.count < NAMES_MAX)
		started_by_add(&record->started_by, started_by_copy(&ended->names->strings,
								    &set->names->strings, group->started_by));
	record->kernel &= group->kernel;
	ended->threads += group->threads;
	ended->processes += group->processes;
	fold_amounts(record, set, group, now);
}

/* Adds a thread that told its end, and which `is_young`, or nothing else is known of it. */
static void add_thread(struct ended *ended, const struct ended_set *set, const struct ended_thread *thread,
		       bool is_young, const struct snapshot *now)
{
	const struct ended_group group = {
		.triple = thread->triple,
		.kernel = thread->kernel,
		.threads = 1,
		.processes = thread->tid == thread->tgid,
		.unknown = !is_young,
		.amounts = thread->amounts,
	};

	add_group(ended, set, &group, now, thread->tgid, thread->start_time);
}

/* --- threads that were read --- */

/* The larger of two waits of a thread that overlap, once one of them is known. */
struct overlap {
	bool known;
	uint64_t largest;
};

/* Threads that are folded, each with its record. */
struct folding {
	const struct window *window;
	const struct ended_set *set;
	const struct ended_row *rows;
	uint32_t *records;
	struct overlap *overlaps;
	size_t count;
	bool rest_counts;
};

/* Whether a thread was a zombie: it counts no more, so its last reading has all that it did. A zombie whose
 * end nobody told may have ended before ends were watched. */
static bool is_dead(const struct snapshot *snapshot, uint32_t thread)
{
	const uint64_t state = snapshot_value(snapshot, thread, METRIC_STATE);

	return state == 'Z' || state == 'X';
}

/* Finds the value that a counter of a thread had when the window began, with the part of a wait that had
 * passed by then. Returns false if it is not known. */
static bool find_first_value(const struct window_counter *counter, uint32_t thread, uint64_t *ret_value)
{
	const uint32_t other = counter->window->from_of[thread];
	/* a thread that stood still has the value that it had when the window began */
	const bool is_still = other == THREAD_STILL;
	const struct metric_reader *reader = is_still ? &counter->now : &counter->from;
	const uint32_t row = is_still ? thread : other;

	if (other > THREAD_STILL || metric_reader_known_state(reader, row) != REASON_READ)
		return false;
	*ret_value = metric_reader_value(reader, row);
	if (counter->under_way)
		*ret_value = number_add_saturating(*ret_value,
						   snapshot_wait_under_way(reader->snapshot, row));
	return true;
}

/*
 * The change of a thread within the window and after it; `amount` is its amount of the metric, -1 for none.
 * Returns REASON_READ, STATE_ABSENT or why it is not known; `*ret_amount` is then what is known.
 */
static uint16_t whole_change(const struct folding *folding, const struct window_counter *counter,
			     const struct ended_row *row, int amount, uint64_t *ret_amount)
{
	const struct window *window = folding->window;
	uint64_t elapsed, last, seen;
	uint16_t state, told;

	*ret_amount = 0;
	state = window_change(counter, row->thread, ret_amount, &elapsed);
	if (amount < 0 || state == STATE_ABSENT || !folding->rest_counts)
		return state;
	if (row->last == NULL)
		return is_dead(window->now, row->thread) ? state : REASON_ENDED;
	told = amount_state(folding->set, (size_t)amount, row->last->amounts.delayed, 1);
	if (told != REASON_READ)
		return told;
	last = row->last->amounts.of[amount];
	if (window->from_of[row->thread] == THREAD_BORN) {
		*ret_amount = last;
		return REASON_READ;
	}
	/* the values at the window's beginning and at its end tell all, whatever was read in between */
	if (state != REASON_READ && state != REASON_WENT_BACKWARDS && state != REASON_BAD_VALUE) {
		if (!find_first_value(counter, row->thread, &seen))
			return state;
		*ret_amount = last > seen ? last - seen : 0;
		return REASON_READ;
	}
	seen = metric_reader_value(&counter->now, row->thread);
	if (counter->under_way) /* the present wait was counted up to then */
		seen = number_add_saturating(seen, snapshot_wait_under_way(window->now, row->thread));
	if (state == REASON_READ && last > seen)
		*ret_amount += last - seen;
	return state;
}

static void fold_metric(const struct ended *ended, const struct folding *folding, enum metric metric)
{
	const struct window_counter counter = window_counter_of(folding->window, metric);
	const int last = amount_of(metric);
	/* what nobody tells of the end is as last read */
	const bool whole = is_whole(folding->set, metric) && (last >= 0 || !folding->rest_counts);
	const bool overlaps = metric == METRIC_SWAPIN_DELAY_TOTAL_NS ||
			      metric == METRIC_THRASHING_DELAY_TOTAL_NS;

	for (size_t i = 0; i < folding->count; i++) {
		struct ended_record *record = &ended->records[folding->records[i]];
		struct overlap *overlap = &folding->overlaps[i];
		uint64_t amount;
		const uint16_t state = whole_change(folding, &counter, &folding->rows[i], last, &amount);

		fold_slot(record, metric, state, amount, whole);
		if (state == REASON_ENDED && amount != 0)
			fold_slot(record, metric, REASON_READ, amount, whole); /* as last read */
		/* swap-in and thrashing overlap: the larger counts, thread by thread */
		if (!overlaps)
			continue;
		if (state == REASON_READ) {
			overlap->known = true;
			overlap->largest = amount > overlap->largest ? amount : overlap->largest;
		} else {
			fold_slot(record, ENDED_SLOT_OVERLAP, state, 0, whole);
		}
	}
}

/* The record of a thread: by the names that it had last. */
static uint32_t record_of(struct ended *ended, const struct folding *folding, const struct ended_row *row)
{
	const struct snapshot *now = folding->window->now;
	uint32_t index = row->last != NULL ? find_record(ended, folding->set->names, row->last->triple)
					   : find_record(ended, now, now->triple[row->thread]);
	struct ended_record *record = &ended->records[index];
	const bool leader = now->tid[row->thread] == now->tgid[row->thread];

	note_process(record, now->tgid[row->thread], now->start_time[row->thread]);
	record->threads++;
	record->processes += leader;
	record->born += folding->window->from_of[row->thread] == THREAD_BORN;
	record->kernel &= (now->thread_flags[row->thread] & THREAD_KERNEL) != 0;
	record->untold = folding->set == NULL && folding->rest_counts;
	ended->threads++;
	ended->processes += leader;
	return index;
}

/* The memory that a process gave back at its end which it had when the window began. */
static void fold_resident(struct ended_record *record, const struct window *window, uint32_t thread,
			  size_t *hint)
{
	const struct snapshot *now = window->now;
	const struct resident_record *before;

	if (now->tid[thread] != now->tgid[thread] || window->from == NULL ||
	    window->from->resident_missing != REASON_READ)
		return;
	before = snapshot_find_resident(window->from, now->tgid[thread], now->start_time[thread], hint);
	if (before != NULL)
		fold_slot(record, ENDED_SLOT_RESIDENT, REASON_READ, before->bytes, true);
}

void ended_fold(struct ended *ended, const struct window *window, const struct ended_set *set,
		const struct ended_row *rows, size_t count, bool rest_counts)
{
	const struct folding folding = {
		.window = window,
		.set = set,
		.rows = rows,
		.records = memory_allocate((count + 1) * sizeof(uint32_t)),
		.overlaps = memory_allocate_zero(count + 1, sizeof(struct overlap)),
		.count = count,
		.rest_counts = rest_counts,
	};
	size_t hint = 0;

	for (size_t i = 0; i < count; i++) {
		folding.records[i] = record_of(ended, &folding, &rows[i]);
		fold_resident(&ended->records[folding.records[i]], window, rows[i].thread, &hint);
	}
	for (int i = 0; i < METRIC_COUNT && count != 0; i++) {
		if (is_counter(i))
			fold_metric(ended, &folding, (enum metric)i);
	}
	for (size_t i = 0; i < count; i++) {
		if (folding.overlaps[i].known)
			fold_slot(&ended->records[folding.records[i]], ENDED_SLOT_OVERLAP, REASON_READ,
				  folding.overlaps[i].largest, is_whole(set, METRIC_SWAPIN_DELAY_TOTAL_NS));
	}
	free(folding.records);
	free(folding.overlaps);
}

/* --- all that ended between two rounds --- */

static int compare_thread_and_row(const struct ended_thread *thread, const struct snapshot *snapshot,
				  uint32_t row)
{
	if (thread->tgid != snapshot->tgid[row])
		return thread->tgid < snapshot->tgid[row] ? -1 : 1;
	if (thread->tid != snapshot->tid[row])
		return thread->tid < snapshot->tid[row] ? -1 : 1;
	return (thread->start_time > snapshot->start_time[row]) -
	       (thread->start_time < snapshot->start_time[row]);
}

/* Finds a thread among the rows that are gone; NULL if it is not there. Rows of captures ascend by (tgid,
 * tid). */
static struct ended_row *find_row(const struct ending *ending, const struct ended_thread *thread)
{
	size_t low = 0, high = ending->count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		const int order = compare_thread_and_row(thread, ending->before, ending->rows[middle].thread);

		if (order == 0)
			return &ending->rows[middle];
		if (order > 0)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

/* Whether a thread that is in no round began after a snapshot was taken. */
static bool started_since(const struct ended_thread *thread, const struct snapshot *snapshot)
{
	return thread->start_time >= snapshot->provenance.boottime_ns / NS_PER_TICK;
}

/* Adds reports of ended threads that have no row. */
static void add_unread(const struct ending *ending, const struct snapshot *from, struct ended *ended)
{
	const struct ended_set *set = ending->set;

	for (size_t i = 0; i < set->group_count; i++)
		add_group(ended, set, &set->groups[i], ending->now, 0, 0);
	for (size_t i = 0; i < set->thread_count; i++) {
		const struct ended_thread *thread = &set->threads[i];
		struct ended_row *row = find_row(ending, thread);

		if (row != NULL)
			row->last = thread;
		else
			add_thread(ended, set, thread, started_since(thread, from), ending->now);
	}
}

void ended_fold_ending(const struct ending *ending, const struct window *window, bool rest_counts,
		       struct ended *ended)
{
	if (ending->set != NULL) {
		ended->incomplete |= ending->set->lost != 0 || ending->set->unread;
		add_unread(ending, window->from, ended);
	}
	ended_fold(ended, window, ending->set, ending->rows, ending->count, rest_counts);
}

/* --- what nobody told --- */

/*
 * The host's times are what a tick met: beyond three standard deviations it is no chance. How long a tick is
 * nobody tells, at most 10 ms (CONFIG_HZ=100). Nor do they tell less than a USER_HZ tick, of three times at
 * two ends.
 */
#define TICK_NS    (10.0 * NS_PER_MS)
#define DEVIATIONS 3
#define STEPS_NS   (6.0 * NS_PER_TICK)
#define DRIFT      0.01 /* by which the clock of the scheduler and that of the tick may differ */

/* CPU time of a host between two rounds, by its CPU ticks. */
struct host_time {
	double busy_ns, total_ns; /* in which they ran threads, and all of it */
	double elapsed_ns;        /* between the two readings; 0 or less: nothing is known */
};

/* Kinds of cpu_ticks. */
enum {
	TICKS_USER,
	TICKS_NICE,
	TICKS_SYSTEM,
};

/*
 * Interrupts are left out of what is busy: whether the time of threads includes theirs depends on the kernel
 * (CONFIG_IRQ_TIME_ACCOUNTING), and that of idle CPUs is no thread's.
 */
static struct host_time host_time_of(const struct snapshot *from, const struct snapshot *now)
{
	const uint64_t *before = from->provenance.cpu_ticks, *after = now->provenance.cpu_ticks;
	const uint64_t earlier_cpus = host_online_cpus(from);
	uint64_t cpus = host_online_cpus(now);
	struct host_time time = {
		.elapsed_ns = (double)now->provenance.cpu_ticks_at_ns -
			      (double)from->provenance.cpu_ticks_at_ns,
	};

	for (size_t i = 0; i < CPU_TICK_KINDS; i++) {
		double part = after[i] > before[i] ? (double)(after[i] - before[i]) * NS_PER_TICK : 0;

		time.total_ns += part;
		if (i == TICKS_USER || i == TICKS_NICE || i == TICKS_SYSTEM)
			time.busy_ns += part;
	}
	/* The two clocks tick independently, but no CPU runs for longer than the elapsed time. CPUs that are
	 * now offline may have run before. */
	if (cpus < earlier_cpus)
		cpus = earlier_cpus;
	if (cpus != 0)
		time.busy_ns = fmin(time.busy_ns, (double)cpus * fmax(0, time.elapsed_ns));
	return time;
}

/* By how much the host's time may be off from that of its threads, in ns; INFINITY: nothing is known. */
static double host_time_uncertainty_ns(const struct snapshot *from, const struct snapshot *now)
{
	const struct host_time host = host_time_of(from, now);
	const double elapsed = (double)now->provenance.boottime_ns - (double)from->provenance.boottime_ns;

	if (host.total_ns == 0 || host.elapsed_ns <= 0)
		return INFINITY;
	/* threads are read while a round goes on, the host's time is read at one moment of it */
	return DEVIATIONS * sqrt(TICK_NS * host.busy_ns * fmax(0, 1 - host.busy_ns / host.total_ns)) +
	       STEPS_NS + DRIFT * host.busy_ns +
	       fabs(host.elapsed_ns - elapsed) * host.busy_ns / host.elapsed_ns;
}

static double left_in(const struct window *window)
{
	const struct window_counter counter = window_counter_of(window, METRIC_RUN_TIME_NS);
	const struct optional_u64 *before = &window->from->provenance.forks,
				  *after = &window->now->provenance.forks;
	const struct host_time host = host_time_of(window->from, window->now);
	uint64_t ended = window->from->thread_count;
	double left, most;

	if (!ended_set_is_left(window->now) || !ended_set_is_left(window->from) || host.elapsed_ns <= 0)
		return NAN;
	/* each was read at a time of its own: what counts is how much of its time it ran */
	left = host.busy_ns / host.elapsed_ns;
	for (uint32_t i = 0; i < window->now->thread_count; i++) {
		uint64_t amount, elapsed;
		const uint16_t state = window_change(&counter, i, &amount, &elapsed);

		if (state == REASON_READ && elapsed != 0)
			left -= (double)amount / (double)elapsed;
		else if (state != STATE_ABSENT && state != REASON_WENT_BACKWARDS)
			return NAN;
		if (window->from_of[i] != THREAD_BORN && window->from_of[i] != THREAD_UNKNOWN)
			ended--;
	}
	left *= (double)window->elapsed_ns;
	if (!before->present || !after->present || after->value < before->value)
		return left;
	/* none of those that went, or came, had a CPU for longer than there was time */
	ended += after->value - before->value;
	most = (double)ended * (double)window->elapsed_ns;
	return left > most ? most : left;
}

double ended_left_between(const struct snapshot *before, const struct snapshot *now,
			  const uint32_t before_of[])
{
	const struct window window = {
		.now = now,
		.from = before,
		.from_of = before_of,
		.elapsed_ns = now->provenance.boottime_ns - before->provenance.boottime_ns,
		.mode = WINDOW_MODE_INTERVAL,
	};

	return left_in(&window);
}

/* The record of what nobody told, made when it is new. */
static struct ended_record *estimate_of(struct ended *ended)
{
	uint32_t name;

	if (ended->has_estimate)
		return &ended->records[ended->estimate];
	if (ended->names == NULL)
		ended->names = snapshot_create();
	name = snapshot_intern_own_name(&ended->names->strings, name_ended);
	ended->estimate = add_record(ended,
				     snapshot_intern_triple(ended->names, (struct triple){name, name, name}));
	ended->has_estimate = true;
	return &ended->records[ended->estimate];
}

void ended_add_left(struct ended *ended, double left_ns)
{
	if (isnan(left_ns))
		ended->left_is_partial = true;
	else
		ended->left_ns += left_ns;
}

void ended_conclude_left(struct ended *ended, const struct snapshot *from, const struct snapshot *now)
{
	const double least = ended->left_is_partial ? 0 : host_time_uncertainty_ns(from, now);
	struct ended_record *record;

	/* a crafted history may say anything */
	ended->estimate_is_void = !(ended->left_ns > least && ended->left_ns < 0x1p63);
	if (ended->estimate_is_void)
		return;
	record = estimate_of(ended);
	*record = (struct ended_record){0};
	for (int i = 0; i < METRIC_COUNT; i++) {
		if (is_counter(i) && i != METRIC_RUN_TIME_NS)
			fold_slot(record, (size_t)i, untold_state(now, (enum metric)i), 0, false);
	}
	fold_missed(record, ENDED_SLOT_OVERLAP, REASON_ENDED);
	if (ended->left_is_partial)
		fold_missed(record, METRIC_RUN_TIME_NS, REASON_ENDED);
	else
		fold_slot(record, METRIC_RUN_TIME_NS, REASON_READ, (uint64_t)ended->left_ns, true);
}

/* --- what is kept --- */

uint32_t *ended_pids(const struct ended *ended)
{
	uint32_t *pids = memory_allocate((ended->count + 1) * sizeof(*pids));

	for (size_t i = 0; i < ended->count; i++)
		pids[i] = ended->records[i].tgid;
	return pids;
}

struct ended ended_copy(const struct ended *ended)
{
	struct ended copy = *ended;

	copy.names = NULL;
	copy.records = NULL;
	copy.count = copy.capacity = 0;
	copy.has_estimate = copy.estimate_is_void = false;
	for (size_t i = 0; i < ended->count; i++) {
		struct ended_record *record;

		if (ended_is_void(ended, i))
			continue;
		if (copy.names == NULL)
			copy.names = snapshot_create();
		if (ended->has_estimate && i == ended->estimate) {
			copy.has_estimate = true;
			copy.estimate = copy.count;
		}
		snapshot_copy_triple(copy.names, &ended->names->strings, &ended->names->triples[i]);
		record = MEMORY_APPEND(copy.records, copy.count, copy.capacity);
		*record = ended->records[i];
		record->started_by = started_by_copy(&copy.names->strings, &ended->names->strings,
						     record->started_by);
	}
	return copy;
}
