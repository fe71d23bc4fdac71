/* SPDX-License-Identifier: GPL-2.0-only */
#include "round_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "capture/procfs/procfs.h"

/* --- which source fills which metric --- */

/* The source of a metric under this capture's choice of equals. */
static enum source choose_source(const struct capture *capture, enum metric metric)
{
	const struct metric_entry *entry = &metrics[metric];

	switch (entry->source) {
	case SOURCE_SCHEDSTAT:
		return capture->counters_in_taskstats ? SOURCE_TASKSTATS : SOURCE_SCHEDSTAT;
	case SOURCE_STATUS:
		if (entry->equivalent_source == SOURCE_STAT)
			return SOURCE_STAT;
		return capture->taskstats != NULL ? SOURCE_TASKSTATS : SOURCE_STATUS;
	case SOURCE_AFFINITY:
		return capture->roots.own_namespace ? SOURCE_AFFINITY : SOURCE_STATUS;
	default:
		return entry->source;
	}
}

void capture_choose_sources(struct capture *capture)
{
	source_set defining = 0, filling = 0;

	memset(capture->fills, 0, sizeof(capture->fills));
	for (size_t i = 0; i < METRIC_COUNT; i++) {
		enum source source = choose_source(capture, (enum metric)i);
		struct metric_list *list;

		capture->metric_source[i] = source;
		capture->member[i] = TASKSTATS_MEMBER_NONE;
		if (source == SOURCE_NONE)
			continue;
		defining |= source_bit(metrics[i].source);
		filling |= source_bit(source);
		list = &capture->fills[source];
		list->metrics[list->count++] = (uint8_t)i;
		if (source_is_of(source, SOURCE_TASKSTATS))
			capture->member[i] = taskstats_member_of_metric((enum metric)i);
	}
	capture->replaced = (defining & ~filling) | source_bit(SOURCE_COMM); /* stat has the name */
}

uint8_t round_measured_flags(const struct feature_checks *checks)
{
	unsigned int flags = THREAD_TASKSTATS_MEASURED;

	if (feature_knows_delays(checks))
		flags |= THREAD_CPU_DELAY_ACTIVE;
	if (checks->task_delayacct == TASK_DELAYACCT_ON)
		flags |= THREAD_DELAY_BLOCK_ACTIVE;
	if (checks->task_xacct != KERNEL_OPTION_OFF)
		flags |= THREAD_XACCT_ACTIVE;
	return (uint8_t)flags;
}

uint8_t round_kind_flags(uint64_t task_flags, bool is_leader)
{
	if ((task_flags & PROCFS_PF_KTHREAD) != 0)
		return THREAD_KERNEL;
	return is_leader && (task_flags & PROCFS_PF_FORKNOEXEC) != 0 ? THREAD_FORKED : 0;
}

/* --- cells --- */

uint64_t round_policy_text(struct round *round, int64_t policy)
{
	char text[PROCFS_POLICY_NAME_SIZE];
	const char *name = procfs_policy_name(policy, text);

	return string_pool_intern(&round->snapshot->strings, name, strlen(name));
}

static void note_exception(struct round *round, size_t row, enum metric metric, enum reason reason)
{
	snapshot_add_exception(round->snapshot, row, metric, (reason_id)reason);
	round->states[row].flags |= ROW_ODD;
}

/* Whether to note that the file lacks a line for the metric: yes if other threads have one. */
static bool is_missing(const struct round *round, size_t row, enum metric metric)
{
	const struct snapshot *snapshot = round->snapshot;

	if (!metric_set_has(&round->capture->seen, metric) || metrics[metric].tag == METRIC_TAG_FAIR_POLICY)
		return false;
	return metrics[metric].family != METRIC_FAMILY_LEADER || snapshot->tid[row] == snapshot->tgid[row];
}

static void apply_metrics(struct round *round, size_t row, enum source source)
{
	const struct metric_list *list = &round->capture->fills[source];
	const struct thread_reading *reading = &round->reading;
	bool odd = (round->states[row].flags & ROW_ODD) != 0;

	for (size_t i = 0; i < list->count; i++) {
		enum metric metric = (enum metric)list->metrics[i];
		uint64_t value = 0;

		if (metric_set_has(&reading->present, metric)) {
			metric_set_add(&round->capture->seen, metric);
			value = reading->value[metric];
			if (metric == METRIC_POLICY)
				value = round_policy_text(round, (int64_t)value);
			if (odd && round->previous != NULL)
				note_exception(round, row, metric, REASON_READ);
		} else if (metric_set_has(&reading->bad, metric)) {
			note_exception(round, row, metric, REASON_BAD_VALUE);
		} else if (is_missing(round, row, metric)) {
			note_exception(round, row, metric, REASON_NOT_IN_KERNEL);
		}
		snapshot_store(round->snapshot, row, metric, value);
	}
}

static void note_read(struct round *round, size_t row, enum source source)
{
	struct snapshot *snapshot = round->snapshot;

	round->states[row].flags |= ROW_CHANGED;
	if (snapshot->source_reason[source] != NULL || snapshot->default_reason[source] != REASON_READ)
		snapshot_source_reasons(snapshot, source)[row] = REASON_READ;
	if (snapshot->read_at[source] != NULL)
		snapshot->read_at[source][row] = round->now_ns;
	round->states[row].stale &= ~source_bit(source);
}

void round_apply(struct round *round, size_t row, enum source source)
{
	apply_metrics(round, row, source);
	note_read(round, row, source);
	if (source == SOURCE_SCHED) {
		enum reason reason = round->capture->checks.results[FEATURE_SCHEDSTATS].reason;

		if ((round->reading.read & source_bit(SOURCE_SCHEDSTATS)) != 0)
			round_apply(round, row, SOURCE_SCHEDSTATS);
		else
			round_apply_failure(round, row, SOURCE_SCHEDSTATS,
					    reason != REASON_READ ? reason : REASON_SWITCHED_OFF);
	}
}

void round_apply_failure(struct round *round, size_t row, enum source source, enum reason reason)
{
	const struct metric_list *list = &round->capture->fills[source];

	round->states[row].flags |= ROW_CHANGED;
	snapshot_source_reasons(round->snapshot, source)[row] = (reason_id)reason;
	for (size_t i = 0; i < list->count; i++)
		snapshot_store(round->snapshot, row, (enum metric)list->metrics[i], 0);
	round->states[row].stale &= ~source_bit(source);
	if (source == SOURCE_SCHED)
		round_apply_failure(round, row, SOURCE_SCHEDSTATS, reason);
}

/* --- what rows take over from the last snapshot --- */

/* Rows one after the other in both snapshots. */
struct stretch {
	size_t row, old, count;
};

/* What rows are carried over from the previous snapshot, found once for all columns. */
struct carriage {
	struct round *round;
	struct stretch *stretches;
	size_t count, capacity;
};

static void find_stretches(struct carriage *carriage)
{
	const uint32_t *old = carriage->round->old_row;
	const size_t rows = carriage->round->snapshot->thread_count;

	for (size_t row = 0, end; row < rows; row = end) {
		end = row + 1;
		if (old[row] == SNAPSHOT_NO_ROW)
			continue;
		while (end < rows && old[end] != SNAPSHOT_NO_ROW && old[end] == old[end - 1] + 1)
			end++;
		*MEMORY_APPEND(carriage->stretches, carriage->count,
			       carriage->capacity) = (struct stretch){row, old[row], end - row};
	}
}

/* Copies elements of `size` bytes of the rows that are carried over. */
static void copy_column(const struct carriage *carriage, void *to, const void *from, size_t size)
{
	for (size_t i = 0; i < carriage->count; i++) {
		const struct stretch *stretch = &carriage->stretches[i];

		memcpy((char *)to + stretch->row * size, (const char *)from + stretch->old * size,
		       stretch->count * size);
	}
}

static void carry_sources(const struct carriage *carriage)
{
	const struct round *round = carriage->round;
	const struct snapshot *previous = round->previous;
	struct snapshot *snapshot = round->snapshot;

	for (size_t i = 0; i < SOURCE_COUNT; i++) {
		enum source source = (enum source)i;

		if (source == SOURCE_SMAPS_ROLLUP && !round->smaps) /* its records are not carried either */
			continue;
		if (previous->source_reason[i] != NULL) {
			copy_column(carriage, snapshot_source_reasons(snapshot, source),
				    previous->source_reason[i], sizeof(reason_id));
		} else if (previous->default_reason[i] != snapshot->default_reason[i]) {
			reason_id *column = snapshot_source_reasons(snapshot, source);

			for (size_t row = 0; row < snapshot->thread_count; row++) {
				if (round->old_row[row] != SNAPSHOT_NO_ROW)
					column[row] = previous->default_reason[i];
			}
		}
		if (previous->read_at[i] != NULL && snapshot->read_at[i] != NULL)
			copy_column(carriage, snapshot->read_at[i], previous->read_at[i], sizeof(uint64_t));
	}
}

/* Translates ids of the objects of waits, which most snapshots number alike. */
static void translate_objects(struct round *round)
{
	const struct snapshot *previous = round->previous;
	struct snapshot *snapshot = round->snapshot;
	uint32_t *object = snapshot->wait_object;

	if (object == NULL || snapshot->names_serial == previous->names_serial)
		return;
	for (size_t row = 0; row < snapshot->thread_count; row++) {
		if (object[row] != 0)
			object[row] = string_pool_copy(&snapshot->strings, &previous->strings, object[row]);
	}
}

/* Translates ids of CPU sets, and of policies beyond the known names, which all snapshots number alike. */
static void translate_ids(struct round *round)
{
	const struct snapshot *previous = round->previous;
	struct snapshot *snapshot = round->snapshot;
	/* while ids of a shared column are replaced, these stay as they are */
	const uint64_t *policy = snapshot->values[METRIC_POLICY];
	const uint64_t *affinity = snapshot->values[METRIC_CPU_AFFINITY];
	uint64_t last = 0, last_new = 0;

	for (size_t row = 0; row < snapshot->thread_count; row++) {
		if (policy != NULL && policy[row] > POLICY_NAMES)
			snapshot_store(snapshot, row, METRIC_POLICY,
				       string_pool_copy(&snapshot->strings, &previous->strings,
							(uint32_t)policy[row]));
		if (affinity != NULL && affinity[row] != 0) {
			if (affinity[row] != last) {
				last = affinity[row];
				last_new = string_pool_copy(&snapshot->cpu_sets, &previous->cpu_sets,
							    (uint32_t)last);
			}
			snapshot_store(snapshot, row, METRIC_CPU_AFFINITY, last_new);
		}
	}
}

/* Row of this snapshot by row of the previous one. */
static void carry_exceptions(struct round *round)
{
	const struct snapshot *previous = round->previous;
	size_t row = 0;

	for (size_t i = 0; i < previous->exception_count; i++) {
		const struct metric_exception *exception = &previous->exceptions[i];

		if (exception->reason == REASON_READ)
			continue;
		while (row < round->snapshot->thread_count &&
		       (round->old_row[row] == SNAPSHOT_NO_ROW || round->old_row[row] < exception->thread))
			row++;
		if (row < round->snapshot->thread_count && round->old_row[row] == exception->thread)
			note_exception(round, row, (enum metric)exception->metric,
				       (enum reason)exception->reason);
	}
}

/*
 * The same rows share the columns of the previous snapshot until a value changes. Otherwise most rounds copy
 * nearly all values of a column: only those of new rows are cleared.
 */
static void carry_values(const struct carriage *carriage)
{
	const struct round *round = carriage->round;
	const struct snapshot *previous = round->previous;
	struct snapshot *snapshot = round->snapshot;
	uint32_t *new_rows = memory_allocate((snapshot->thread_count + 1) * sizeof(*new_rows));
	size_t new_count = 0;

	for (uint32_t row = 0; row < snapshot->thread_count; row++) {
		if (round->old_row[row] == SNAPSHOT_NO_ROW)
			new_rows[new_count++] = row;
	}
	for (size_t i = 0; i < METRIC_COUNT; i++) {
		uint64_t *column = snapshot->values[i];

		if (previous->values[i] == NULL ||
		    (round->same_rows && snapshot_share_column(snapshot, previous, (enum metric)i)))
			continue;
		if (column == NULL) {
			column = snapshot_bare_column(snapshot, (enum metric)i);
			for (size_t k = 0; k < new_count; k++)
				column[new_rows[k]] = 0;
		}
		copy_column(carriage, column, previous->values[i], sizeof(*column));
	}
	free(new_rows);
}

static void carry_over(struct round *round)
{
	const struct snapshot *previous = round->previous;
	struct snapshot *snapshot = round->snapshot;
	struct carriage carriage = {.round = round};

	find_stretches(&carriage);
	copy_column(&carriage, snapshot->uid, previous->uid, sizeof(*snapshot->uid));
	copy_column(&carriage, snapshot->thread_flags, previous->thread_flags,
		    sizeof(*snapshot->thread_flags));
	copy_column(&carriage, snapshot->start_time, previous->start_time, sizeof(*snapshot->start_time));
	if (snapshot->wait_class != NULL && previous->wait_class != NULL) {
		copy_column(&carriage, snapshot->wait_class, previous->wait_class,
			    sizeof(*snapshot->wait_class));
		copy_column(&carriage, snapshot->wait_object, previous->wait_object,
			    sizeof(*snapshot->wait_object));
	}
	carry_values(&carriage);
	carry_sources(&carriage);
	free(carriage.stretches);
	translate_ids(round);
	translate_objects(round);
	carry_exceptions(round);
}

/* --- rows --- */

void round_forget_heap(struct round *round, size_t row)
{
	round->snapshot->thread_flags[row] &= (uint8_t)~THREAD_JEMALLOC_MEASURED;
	round->states[row].heap_failure = 0;
	round->states[row].stale |= source_bit(SOURCE_JEMALLOC);
}

void round_forget_wait(struct round *round, size_t row)
{
	if (round->snapshot->wait_class == NULL)
		return;
	round->snapshot->wait_class[row] = WAIT_CLASS_UNKNOWN;
	round->snapshot->wait_object[row] = 0;
}

static void expect_source(struct round *round, enum source source, size_t first, size_t count, bool wanted)
{
	reason_id *column = snapshot_source_reasons(round->snapshot, source);

	for (size_t row = first; row < first + count; row++) {
		column[row] = wanted ? REASON_OVER_BUDGET : REASON_NOT_READ;
		if (source == SOURCE_JEMALLOC)
			round_forget_heap(round, row);
	}
}

/* Every source of these rows is to be read. */
static void expect_sources(struct round *round, size_t first, size_t count)
{
	source_set expected = source_with_flags(SOURCE_PER_THREAD) & ~round->capture->replaced;

	if (round->capture->passes.tasks != NULL)
		expected &= ~source_bit(SOURCE_WAIT); /* the pass says it of every row */
	for (size_t i = 0; i < SOURCE_COUNT; i++) {
		enum source source = (enum source)i, read = source_whole(source);

		if ((expected & source_bit(source)) != 0)
			expect_source(round, source, first, count,
				      ((round->needed | round->extra) & source_bit(read)) != 0);
	}
	if (round->heap_is_on)
		expect_source(round, SOURCE_JEMALLOC, first, count, round->heap != HEAP_USE_NONE);
}

/* Both snapshots ascend by process and thread. */
static void match_rows(struct round *round)
{
	const struct snapshot *previous = round->capture->previous;
	const struct snapshot *snapshot = round->snapshot;
	size_t old = 0, old_count = previous != NULL ? previous->thread_count : 0;

	if (round->same_rows) {
		for (uint32_t row = 0; row < snapshot->thread_count; row++)
			round->old_row[row] = row;
		return;
	}
	for (size_t row = 0; row < snapshot->thread_count; row++) {
		uint64_t key = (uint64_t)snapshot->tgid[row] << 32 | snapshot->tid[row];

		while (old < old_count && ((uint64_t)previous->tgid[old] << 32 | previous->tid[old]) < key)
			old++;
		if (old < old_count && previous->tgid[old] == snapshot->tgid[row] &&
		    previous->tid[old] == snapshot->tid[row])
			round->old_row[row] = (uint32_t)old;
		else
			round->old_row[row] = SNAPSHOT_NO_ROW;
	}
}

void round_begin_rows(struct round *round)
{
	size_t count = round->snapshot->thread_count + 1;

	round->old_row = memory_allocate(count * sizeof(*round->old_row));
	round->states = memory_allocate(count * sizeof(*round->states));
	round->comm = memory_allocate(count * sizeof(*round->comm));
	round->cgroup = memory_allocate(count * sizeof(*round->cgroup));
	match_rows(round);
}

static void begin_states(struct round *round)
{
	for (size_t row = 0; row < round->snapshot->thread_count; row++) {
		struct thread_state *state = &round->states[row];

		round->comm[row] = UNKNOWN_TEXT;
		round->cgroup[row] = UNKNOWN_TEXT;
		if (round->old_row[row] == SNAPSHOT_NO_ROW) {
			*state = (struct thread_state){.stale = (source_set)~0U,
						       .flags = ROW_NEW | ROW_MOVED | ROW_CHANGED};
			continue;
		}
		*state = round->capture->states[round->old_row[row]];
		state->flags &= ROW_IDENTIFIED | ROW_DELAYED | ROW_IO_WORKER;
		if (round->full) {
			state->stale = (source_set)~0U;
			state->refused = 0;
		}
		if (round->schedstats_turned)
			state->stale |= source_bit(SOURCE_SCHED);
		if (round->capture->previous->wait_class == NULL) {
			state->stale |= source_bit(SOURCE_WAIT);
			state->refused &= ~source_bit(SOURCE_WAIT);
		}
	}
}

/* The same for all rows that are not carried over. */
static void expect_fresh_rows(struct round *round)
{
	const size_t count = round->snapshot->thread_count;

	for (size_t row = 0, end; row < count; row = end) {
		end = row;
		while (end < count && (round->old_row[end] == SNAPSHOT_NO_ROW || round->full))
			end++;
		if (end != row)
			expect_sources(round, row, end - row);
		else
			end++;
	}
}

void round_settle_rows(struct round *round)
{
	begin_states(round);
	expect_fresh_rows(round);
	if (round->previous != NULL)
		carry_over(round);
}

void round_reset_row(struct round *round, size_t row)
{
	struct snapshot *snapshot = round->snapshot;
	struct thread_state *state = &round->states[row];

	for (size_t i = 0; i < METRIC_COUNT; i++) {
		enum source source = round->capture->metric_source[i];
		bool counted = round->capture->member[i] != TASKSTATS_MEMBER_NONE ||
			       source == SOURCE_SCHEDSTAT;

		if (!counted)
			snapshot_store(snapshot, row, (enum metric)i, 0);
		if (!counted && (state->flags & ROW_ODD) != 0)
			note_exception(round, row, (enum metric)i, REASON_READ);
	}
	round->old_row[row] = SNAPSHOT_NO_ROW;
	round_forget_wait(round, row);
	expect_sources(round, row, 1);
	round->comm[row] = UNKNOWN_TEXT;
	state->stale = (source_set)~0U;
	state->refused = 0;
	state->blocked_since = 0;
	state->state = 0;
	state->flags |= ROW_NEW | ROW_MOVED;
	state->flags &= (uint16_t) ~(ROW_SUSPECT | ROW_IDENTIFIED);
}

/* Moves the elements of a column, which may be NULL, to their new rows. */
static void compact(void *column, size_t size, const uint32_t *new_row, size_t count)
{
	for (size_t row = 0; column != NULL && row < count; row++) {
		if (new_row[row] != SNAPSHOT_NO_ROW && new_row[row] != row)
			memcpy((char *)column + new_row[row] * size, (const char *)column + row * size, size);
	}
}

static void compact_columns(struct round *round, const uint32_t *new_row)
{
	struct snapshot *snapshot = round->snapshot;
	size_t count = snapshot->thread_count;

	compact(snapshot->tid, sizeof(*snapshot->tid), new_row, count);
	compact(snapshot->tgid, sizeof(*snapshot->tgid), new_row, count);
	compact(snapshot->uid, sizeof(*snapshot->uid), new_row, count);
	compact(snapshot->thread_flags, sizeof(*snapshot->thread_flags), new_row, count);
	compact(snapshot->start_time, sizeof(*snapshot->start_time), new_row, count);
	compact(snapshot->stuck_ns, sizeof(*snapshot->stuck_ns), new_row, count);
	compact(snapshot->waiting_ns, sizeof(*snapshot->waiting_ns), new_row, count);
	compact(snapshot->wait_class, sizeof(*snapshot->wait_class), new_row, count);
	compact(snapshot->wait_object, sizeof(*snapshot->wait_object), new_row, count);
	compact(round->old_row, sizeof(*round->old_row), new_row, count);
	compact(round->states, sizeof(*round->states), new_row, count);
	compact(round->comm, sizeof(*round->comm), new_row, count);
	compact(round->cgroup, sizeof(*round->cgroup), new_row, count);
	for (size_t i = 0; i < METRIC_COUNT; i++) {
		if (snapshot->values[i] != NULL)
			compact(snapshot_column(snapshot, (enum metric)i), sizeof(uint64_t), new_row, count);
	}
	for (size_t i = 0; i < SOURCE_COUNT; i++) {
		compact(snapshot->source_reason[i], sizeof(reason_id), new_row, count);
		compact(snapshot->read_at[i], sizeof(uint64_t), new_row, count);
	}
}

static void compact_exceptions(struct snapshot *snapshot, const uint32_t *new_row)
{
	size_t kept = 0;

	for (size_t i = 0; i < snapshot->exception_count; i++) {
		struct metric_exception exception = snapshot->exceptions[i];

		exception.thread = new_row[exception.thread];
		if (exception.thread != SNAPSHOT_NO_ROW)
			snapshot->exceptions[kept++] = exception;
	}
	snapshot->exception_count = kept;
}

static void compact_processes(struct process_list *processes, const uint32_t *new_row)
{
	for (size_t i = 0; i < processes->count; i++) {
		struct process *process = &processes->items[i];
		size_t first = process->first_row, count = process->row_count;

		process->row_count = 0;
		for (size_t row = first; row < first + count; row++) {
			if (new_row[row] == SNAPSHOT_NO_ROW)
				continue;
			if (process->row_count++ == 0)
				process->first_row = new_row[row];
		}
		if (process->row_count != count)
			process_list_distrust(process);
	}
}

void round_drop_ended(struct round *round)
{
	struct snapshot *snapshot = round->snapshot;
	size_t count = snapshot->thread_count;
	uint32_t *new_row = memory_allocate((count + 1) * sizeof(*new_row)), kept = 0;

	for (size_t row = 0; row < count; row++)
		new_row[row] = (round->states[row].flags & ROW_ENDED) != 0 ? SNAPSHOT_NO_ROW : kept++;
	if (kept != count) {
		compact_columns(round, new_row);
		compact_exceptions(snapshot, new_row);
		compact_processes(&round->capture->processes, new_row);
		snapshot->thread_count = kept;
		round->ended += count - kept;
	}
	free(new_row);
}
