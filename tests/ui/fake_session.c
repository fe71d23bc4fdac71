/* SPDX-License-Identifier: GPL-2.0-only */
#include "fake_session.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/clock.h"
#include "base/memory.h"
#include "session/moment.h"
#include "session/session_internal.h"
#include "table/column_list.h"
#include "window/column.h"

#include "driven.h"

struct fake_row {
	enum row_mark mark;
	uint32_t threads;
	double cpu;
	char *label;
	size_t label_length;
};

struct fake_rows {
	struct fake_row *items;
	size_t count, capacity;
};

/* One for the newest round and one for the moment shown: no test has two sessions of a kind. */
static struct fake_rows shown_rows[2];
static struct fake_rows next_rows;

static struct fake_rows *rows_of(const struct session *session)
{
	return &shown_rows[session->is_moment];
}

static void release_rows(struct fake_rows *rows)
{
	for (size_t i = 0; i < rows->count; i++)
		free(rows->items[i].label);
	free(rows->items);
	memset(rows, 0, sizeof(*rows));
}

void fake_session_add_row(enum row_mark mark, uint32_t threads, double cpu, const char *label,
			  size_t label_length)
{
	*MEMORY_APPEND(next_rows.items, next_rows.count, next_rows.capacity) = (struct fake_row){
		.mark = mark,
		.threads = threads,
		.cpu = cpu,
		.label = memory_duplicate_bytes(label, label_length),
		.label_length = label_length,
	};
}

void fake_session_take_rows(struct session *session)
{
	struct fake_rows *rows = rows_of(session);

	release_rows(rows);
	*rows = next_rows;
	next_rows = (struct fake_rows){0};
}

static bool switched_off[FEATURE_COUNT] = {[FEATURE_DELAYS] = true};

void fake_session_switch(const char *feature, bool off)
{
	enum feature found = feature_find(feature, strlen(feature));

	if (found == FEATURE_COUNT)
		abort();
	switched_off[found] = off;
}

static struct latency latency;

void fake_session_measure_latency(uint64_t events)
{
	latency = (struct latency){.present = true,
				   .span_ns = 1000000000,
				   .events = events,
				   .cost_ns = events != 0 ? 20000000 : 0};
}

enum {
	DELAYS_MAX = 8,
};

static struct {
	char victim[32], culprit[32];
	uint64_t time_ns;
} delays[DELAYS_MAX];
static size_t delay_count;

void fake_session_delay(const char *victim, const char *culprit, uint64_t milliseconds)
{
	size_t i = 0;

	while (i < delay_count &&
	       (strcmp(delays[i].victim, victim) != 0 || strcmp(delays[i].culprit, culprit) != 0))
		i++;
	if (i == DELAYS_MAX)
		abort();
	delay_count += i == delay_count;
	snprintf(delays[i].victim, sizeof(delays[i].victim), "%s", victim);
	snprintf(delays[i].culprit, sizeof(delays[i].culprit), "%s", culprit);
	delays[i].time_ns = milliseconds * NS_PER_MS;
}

static uint32_t add_record(struct snapshot *snapshot, const char *name)
{
	const uint32_t id = string_pool_intern(&snapshot->strings, name, strlen(name));

	latency_add_record(snapshot, id, id, id);
	return (uint32_t)snapshot->latency.count - 1;
}

static void add_delays(struct snapshot *snapshot)
{
	struct latency *to = &snapshot->latency;

	*to = latency;
	for (size_t i = 0; i < delay_count && latency.present; i++) {
		const bool idle = strcmp(delays[i].culprit, "-") == 0;
		const uint32_t victim = add_record(snapshot, delays[i].victim);
		const uint32_t culprit = idle ? 0 : add_record(snapshot, delays[i].culprit);

		*MEMORY_APPEND(to->delays, to->delay_count, to->delay_capacity) = (struct latency_delay){
			.victim = victim,
			.culprit = culprit,
			.cause = idle ? LATENCY_CAUSE_WAKEUP : LATENCY_CAUSE_THREADS,
			.time_ns = delays[i].time_ns,
			.waits = 7,
			.wakes = idle ? 0 : 5,
		};
	}
}

static uint64_t forks, stuck, rings, table_ns;

void fake_session_fork(uint64_t per_round)
{
	forks = per_round;
}

void fake_session_stick(uint64_t threads, uint64_t at_rings)
{
	stuck = threads;
	rings = at_rings;
}

void fake_session_slow_down(uint64_t milliseconds)
{
	table_ns = milliseconds * NS_PER_MS;
}

/* In D for a day, and none of them for a disk. */
static void add_stuck(struct snapshot *snapshot)
{
	for (uint32_t i = 0; i < stuck; i++) {
		const size_t thread = snapshot_add_thread(snapshot, 700 + i, 700 + i);

		snapshot_column(snapshot, METRIC_STATE)[thread] = 'D';
	}
	snapshot->stuck_ns = memory_allocate_zero(snapshot->thread_capacity + 1, sizeof(uint64_t));
	for (uint32_t i = 0; i < stuck; i++)
		snapshot->stuck_ns[i] = UINT64_C(86400000000000);
	snapshot_intern_triple(snapshot, (struct triple){0});
}

/* Asleep until an io_uring has something for them. */
static void add_at_rings(struct snapshot *snapshot)
{
	for (uint32_t i = 0; i < rings; i++) {
		const size_t thread = snapshot_add_thread(snapshot, 800 + i, 800 + i);

		snapshot_column(snapshot, METRIC_STATE)[thread] = 'S';
		snapshot->wait_class[thread] = WAIT_CLASS_IO_URING;
	}
	if (rings != 0)
		snapshot_intern_triple(snapshot, (struct triple){0});
}

/* Without delay accounting ("off delays") nobody knows what was waited for, and so on. */
static void tell_sources(struct snapshot *snapshot)
{
	static const struct {
		enum source source;
		enum feature feature;
		reason_id reason;
	} missing[] = {
		{SOURCE_DELAYS, FEATURE_DELAYS, REASON_SWITCHED_OFF},
		{SOURCE_SCHEDSTATS, FEATURE_SCHEDSTATS, REASON_NOT_IN_KERNEL},
	};
	struct tally *tallies = arena_allocate_zero(&snapshot->arena, SOURCE_COUNT, sizeof(*tallies));

	for (size_t i = 0; i < METRIC_COUNT; i++)
		snapshot->metric_source[i] = metrics[i].source;
	for (size_t i = 0; i < SOURCE_COUNT; i++)
		tallies[i].read = snapshot->thread_count;
	for (size_t i = 0; i < ARRAY_COUNT(missing); i++) {
		struct tally *tally = &tallies[missing[i].source];

		tally->read = !switched_off[missing[i].feature];
		tally->missed[missing[i].reason] = switched_off[missing[i].feature];
	}
	snapshot->provenance.tallies = tallies;
}

/* All threads of the host are seen only where a test says how many start: then it is known how many end. */
static void tell_forks(struct provenance *provenance, uint64_t round)
{
	static uint32_t scope[] = {1};

	provenance->scope = scope;
	provenance->scope_count = forks == 0;
	provenance->forks = (struct optional_u64){forks * round, true};
	provenance->features[FEATURE_ALL_PROCESSES].state = FEATURE_STATE_ON;
	provenance->features[FEATURE_PID_NAMESPACE].state = FEATURE_STATE_ON;
}

static uint32_t device_cpus;

void fake_session_devices(uint32_t cpus)
{
	device_cpus = cpus;
}

/* Of each CPU but the second half the ticks, and of the first all. */
static void add_devices(struct snapshot *snapshot, uint64_t round)
{
	struct devices *devices = &snapshot->provenance.devices;

	devices->read_at_ns = snapshot->provenance.boottime_ns;
	devices->cpu_end = device_cpus;
	devices->cpus = arena_allocate_zero(&snapshot->arena, device_cpus, sizeof(*devices->cpus));
	for (uint32_t i = 0; i < device_cpus; i++) {
		if (i != 1)
			devices->cpus[devices->cpu_count++] = (struct cpu_ticks){i, i == 0 ? 1 : 50 * round,
										 1 + 100 * round};
	}
	devices->disks = arena_allocate_zero(&snapshot->arena, 1, sizeof(*devices->disks));
	devices->disks[0] = (struct device){"nvme0n1", 1940 * round, 240 * round << 20, 6 * round << 20};
	devices->disk_count = 1;
	devices->networks = arena_allocate_zero(&snapshot->arena, 1, sizeof(*devices->networks));
	devices->networks[0] = (struct device){"enp0s31f6", 0, 24 * round << 20, 2 * round << 20};
	devices->network_count = 1;
}

struct snapshot *fake_session_snapshot(uint64_t round)
{
	struct snapshot *snapshot = snapshot_create();
	struct provenance *provenance = &snapshot->provenance;

	snapshot->captured_at_unix_ns = (1700000000 + 2 * round) * 1000000000;
	provenance->present = true;
	provenance->hostname = "fakehost";
	provenance->boottime_ns = (12 * 86400 + 2 * round) * 1000000000;
	provenance->duration_ns = 6000000;
	provenance->cpu_ticks_known = true;
	/* 38 of 100 ticks busy between two rounds */
	provenance->cpu_ticks[0] = 38 * round;
	provenance->cpu_ticks[3] = 62 * round;
	if (device_cpus != 0)
		add_devices(snapshot, round);
	provenance->procs_running = (struct optional_u64){5, true};
	provenance->procs_blocked = (struct optional_u64){4, true};
	if (stuck != 0)
		add_stuck(snapshot);
	provenance->mem_available_kib = (struct optional_u64){39 << 20 >> 2, true};
	provenance->load_centi[0] = 320;
	provenance->load_centi[1] = 290;
	provenance->load_centi[2] = 270;
	provenance->load_known = true;
	for (enum feature i = 0; i < FEATURE_COUNT; i++) {
		if (!switched_off[i])
			continue;
		/* messages cannot be had at all, the others can be switched on */
		provenance->features[i] = (struct feature_result){
			.state = FEATURE_STATE_OFF,
			.reason = i == FEATURE_TASKSTATS ? REASON_NOT_PERMITTED : REASON_SWITCHED_OFF,
			.remedy = i == FEATURE_TASKSTATS ? NULL : "sysctl kernel.task_delayacct=1",
		};
	}
	tell_forks(provenance, round);
	tell_sources(snapshot);
	add_delays(snapshot);
	snapshot->wait_class = memory_allocate_zero(snapshot->thread_capacity + 1, sizeof(uint8_t));
	snapshot->wait_object = memory_allocate_zero(snapshot->thread_capacity + 1, sizeof(uint32_t));
	add_at_rings(snapshot);
	snapshot->resident_missing = REASON_READ;
	snapshot->host.present = true;
	snapshot->host.online_cpus = (struct optional_u64){8, true};
	snapshot->host.total_memory_kib = (struct optional_u64){16 << 20, true};
	snapshot->pressure.resource[PRESSURE_CPU].some.total_usec = 240000 * round;
	snapshot_finish(snapshot);
	return snapshot;
}

/* A moment is a round, and a row that says when it was. */
struct session_moment {
	struct snapshot *now;
};

void session_moment_release(struct session_moment *moment)
{
	if (moment == NULL)
		return;
	snapshot_release(moment->now);
	free(moment);
}

struct session_moment *fake_session_moment(struct snapshot *now)
{
	struct session_moment *moment = memory_allocate_zero(1, sizeof(*moment));

	moment->now = now;
	return moment;
}

void session_show_moment(struct session *session, struct session_moment *moment)
{
	char label[32];
	const int length = snprintf(label, sizeof(label), "past-%" PRIu64,
				    moment->now->captured_at_unix_ns / NS_PER_S);

	session->is_moment = true;
	fake_session_add_row(ROW_MARK_NONE, 1, 10, label, (size_t)length);
	fake_session_take_rows(session);
	session_add_round(session, moment->now);
	moment->now = NULL;
	session_moment_release(moment);
}

static void set_number(struct cell *cell, enum unit unit, double value)
{
	*cell = (struct cell){.state = CELL_VALUE, .form = CELL_FORM_REAL, .unit = unit, .sort = value};
	cell->value.real = value;
}

static void set_integer(struct cell *cell, enum unit unit, uint64_t value)
{
	*cell = (struct cell){
		.state = CELL_VALUE, .form = CELL_FORM_INTEGER, .unit = unit, .sort = (double)value};
	cell->value.integer = value;
}

static void fill_cell(struct cell *cell, enum column column, const struct fake_row *row)
{
	if (column == COLUMN_THR)
		set_integer(cell, UNIT_COUNT, row->threads);
	else if (column == COLUMN_CPU)
		set_number(cell, UNIT_PERCENT, row->cpu);
	else if (column == COLUMN_BLKIO || column == COLUMN_MWAIT)
		*cell = (struct cell){.state = CELL_UNAVAILABLE, .reason = REASON_SWITCHED_OFF, .sort = NAN};
	else if (column == COLUMN_WAITS_FOR)
		*cell = (struct cell){.state = CELL_VALUE,
				      .form = CELL_FORM_TEXT,
				      .text = "futex 0x7f3a12c0 38",
				      .head = 5,
				      .counted = true,
				      .unanimous = true,
				      .sort = 1};
	else if (column_is_identity(column))
		*cell = (struct cell){
			.state = CELL_VALUE, .form = CELL_FORM_TEXT, .text = "somebody", .unanimous = true};
	else
		set_integer(cell, UNIT_COUNT, column == COLUMN_STUCK ? 0 : row->threads * 1000ull + 1);
	if (column == COLUMN_CSW)
		cell->partial = true;
}

static const struct cell *cell_of(void *context, enum column column, bool as_rate)
{
	static struct cell cell;

	(void)as_rate;

	fill_cell(&cell, column, context);
	return &cell;
}

static void add_row(struct table *table, const struct view *view, const enum column columns[],
		    const struct fake_row *fake, uint32_t tid)
{
	struct table_row *row;

	if (view->filter != NULL &&
	    !filter_matches(view->filter, &(struct filter_row){.label = fake->label,
							       .label_length = fake->label_length,
							       .cell_of = cell_of,
							       .context = (void *)(uintptr_t)fake}))
		return;
	table->threads += fake->threads;
	if (view_hides_idle(view) && !view->mark_idle && fake->cpu == 0) {
		table->row_idle++;
		return;
	}
	row = table_add_row(table);
	row->idle = view_hides_idle(view) && fake->cpu == 0;
	row->label = arena_duplicate(&table->arena, fake->label, fake->label_length);
	row->label_length = fake->label_length;
	row->key = row->label;
	row->key_length = row->label_length;
	row->mark = fake->mark;
	table->row_gone += fake->mark == ROW_MARK_GONE;
	row->threads = fake->threads;
	row->tid = tid;
	row->tgid = tid != 0 ? 100 : 0;
	row->thread = UINT32_MAX;
	for (size_t i = 0; i < table->column_count; i++)
		fill_cell(&row->cells[i], columns[i], fake);
}

/* What is inside a group: one process, in it of "solo" one group, of the others two; then threads. */
static void add_inner_rows(struct table *table, const struct view *view, const enum column columns[])
{
	const struct view_step *step = &view->steps[0];
	bool solo = step->key_length >= 4 && memcmp(step->key, "solo", 4) == 0;
	bool threads = view->level == VIEW_LEVEL_THREADS;
	bool process = !threads && view->grouping.axis == AXIS_PID;

	for (uint32_t i = 1; i <= (process || (solo && !threads) ? 1 : 2); i++) {
		struct buffer label = {0};

		buffer_append_format(&label, "%s-%u",
				     process   ? "process"
				     : threads ? "thread"
				     : solo    ? "solo-inner"
					       : "inner",
				     i);
		add_row(table, view, columns,
			&(struct fake_row){.threads = 1,
					   .cpu = 10.0 * i,
					   .label = label.data,
					   .label_length = label.length},
			threads ? 100 + i : 0);
		buffer_release(&label);
	}
}

static const struct view *sorted_view;
static size_t cpu_column; /* where it stands in the table, or the one that stands for it */

static int compare_rows(const void *left_pointer, const void *right_pointer)
{
	const struct table_row *left = left_pointer, *right = right_pointer;
	int order = strcmp(left->label, right->label);

	if (!sorted_view->sort_by_name) {
		size_t column = cpu_column;
		double difference = left->cells[column].sort - right->cells[column].sort;

		if (sorted_view->sort == COLUMN_THR)
			difference = (double)left->threads - (double)right->threads;
		order = difference < 0 ? 1 : difference > 0 ? -1 : order;
		return sorted_view->sort_ascending ? -order : order;
	}
	return sorted_view->sort_ascending ? order : -order;
}

/* Of the groups at the top in CPU%, in what the session keeps courses in. */
static void note_courses(struct session *session, const struct view *view)
{
	struct course_view *noted = courses_view(&session->courses, view);
	struct course_column *column = courses_begin_column(&session->courses, noted, COLUMN_CPU);
	const struct fake_rows *rows = rows_of(session);

	for (size_t i = 0; column != NULL && i < rows->count; i++) {
		const struct fake_row *row = &rows->items[i];

		if (row->mark != ROW_MARK_GONE)
			courses_note(&session->courses, noted, column,
				     courses_row(&session->courses, noted, row->label, row->label_length),
				     row->cpu);
	}
}

/*
 * A row whose name begins with "slow" waited in the cgroup that its last letter says, from A on. The threads
 * of one that begins with "lock" wait now; both is true of "lockslow", whose present waits are worse.
 */
void session_find_slow(struct session *session, const struct view *view, const char *key, size_t key_length,
		       bool offers_latency, struct session_slow *slow)
{
	const bool is_locked = key_length >= 4 && memcmp(key, "lock", 4) == 0;

	slow->waits_first = is_locked;
	if (is_locked && !view_shows(view, COLUMN_WAITS_FOR))
		buffer_append_text(&slow->waits_for, "waits for: futex 0x7f3a12c0 (38 of 40 threads)");
	if (memmem(key, key_length, "slow", 4) == NULL)
		return;
	buffer_append_format(&slow->loss, "waits for a CPU in round %" PRIu64 "%s",
			     session_round_count(session), offers_latency ? " (l says who ran)" : "");
	if (isupper((unsigned char)key[key_length - 1]))
		slow->cgroup = (uint32_t)(key[key_length - 1] - 'A' + 1);
}

struct table *session_table(struct session *session, const struct view *view)
{
	enum column columns[COLUMN_TOTAL];
	size_t count = view_columns(view, columns);
	const struct fake_rows *rows = rows_of(session);
	struct table *table = table_create(NULL, count);

	driven_pass(table_ns);
	table->sort_column = SIZE_MAX;
	for (size_t i = 0; i < count; i++) {
		table->columns[i] = (struct table_column){
			.title = column_title(columns[i], view->mode),
			.width = column_width(columns[i]),
			.column = columns[i],
			.left = column_is_text(columns[i]),
			.foreign = column_is_name(columns[i]),
			.stays = columns[i] == COLUMN_WAITS_FOR,
			.fill_order = column_fill_order(columns[i]),
		};
		if (!view->sort_by_name && columns[i] == view->sort)
			table->sort_column = i;
	}
	if (view->step_count != 0)
		add_inner_rows(table, view, columns);
	for (size_t i = 0; view->step_count == 0 && i < rows->count; i++)
		add_row(table, view, columns, &rows->items[i],
			view->level == VIEW_LEVEL_THREADS ? 100 + (uint32_t)i : 0);
	sorted_view = view;
	cpu_column = view->level == VIEW_LEVEL_THREADS ? 0 : 1;
	for (size_t i = 0; i < count; i++) {
		if (columns[i] == COLUMN_CPU)
			cpu_column = i;
	}
	if (table->row_count > 0)
		qsort(table->rows, table->row_count, sizeof(*table->rows), compare_rows);
	table->row_total = table->row_count;
	for (size_t i = 0; i < count; i++) {
		for (size_t row = 0; column_has_shares(columns[i]) && row < table->row_count; row++)
			table->columns[i].whole += fmax(cell_number(&table->rows[row].cells[i]), 0);
	}
	if (session->keeps_courses && view->step_count == 0)
		note_courses(session, view);
	return table;
}

void session_leave_out_classes(struct session *session, struct view *view)
{
	(void)session;
	for (enum wait_class class = WAIT_CLASS_RUN_QUEUE + 1; class < WAIT_CLASS_COUNT; class ++)
		column_set_add(&view->left_out, column_of_wait_class(class));
}

struct session_user *session_users(struct session *session, const struct view *view, size_t *ret_count)
{
	struct session_user *users = memory_allocate(2 * sizeof(*users));

	(void)session;
	(void)view;
	users[0] = (struct session_user){.uid = 4001, .threads = 1234};
	users[1] = (struct session_user){.uid = 4002, .threads = 1};
	*ret_count = 2;
	return users;
}

size_t session_find_sleepers(struct session *session, const struct view *view, const char *key,
			     size_t key_length, struct session_sleeper sleepers[], size_t limit,
			     size_t *ret_count)
{
	(void)session;
	(void)view;
	(void)key;
	(void)key_length;
	(void)sleepers;
	(void)limit;
	*ret_count = 0;
	return 0;
}

struct session_identity session_identify(struct session *session, const struct view *view)
{
	(void)session;
	return (struct session_identity){
		.threads = 2, .tgid = view->level == VIEW_LEVEL_THREADS ? 100 : 0, .process = "fake"};
}

void session_table_fill(struct session *session, const struct view *view, struct table *table, size_t first,
			size_t count)
{
	(void)session;
	(void)view;
	(void)table;
	(void)first;
	(void)count;
}

struct table *session_metric_table(struct session *session, const struct view *view, const char *key,
				   size_t key_length)
{
	static const char *const titles[] = {"NOW", "IN INTERVAL", "PER S", "SINCE BASE", "SOURCE"};
	static const enum metric shown[] = {METRIC_RUN_TIME_NS, METRIC_WAIT_TIME_NS, METRIC_NR_WAKEUPS,
					    METRIC_IOWAIT_COUNT};
	struct table *table = table_create(NULL, 5);

	(void)session;
	(void)view;
	(void)key;
	(void)key_length;
	table->sort_column = SIZE_MAX;
	for (size_t i = 0; i < 5; i++)
		table->columns[i] = (struct table_column){
			.title = titles[i], .width = 8, .left = i == 4, .column = UINT32_MAX};
	for (size_t i = 0; i < 4; i++) {
		struct table_row *row = table_add_row(table);

		row->label = row->key = metrics[shown[i]].name;
		row->label_length = row->key_length = strlen(row->label);
		for (size_t column = 0; column < 4; column++)
			set_integer(&row->cells[column], UNIT_NS, 1000000 * (column + 1));
		row->cells[4] = (struct cell){
			.state = CELL_VALUE, .form = CELL_FORM_TEXT, .text = "schedstat"};
		/* one that this kernel does not have */
		for (size_t column = 0; column < 4 && shown[i] == METRIC_IOWAIT_COUNT; column++)
			row->cells[column] = (struct cell){
				.state = CELL_UNAVAILABLE, .reason = REASON_NOT_IN_KERNEL, .sort = NAN};
		if (shown[i] == METRIC_IOWAIT_COUNT)
			row->cells[4].text = "schedstats: not in this kernel, so there is nothing to read";
	}
	table->row_total = table->row_count;
	return table;
}

void session_explain(struct session *session, const struct view *view, const char *key, size_t key_length,
		     size_t column, struct buffer *ret_lines)
{
	(void)session;
	(void)view;
	buffer_append_format(ret_lines, "Explanation of column %zu.\nRow %.*s.\n", column, (int)key_length,
			     key);
}

void session_explain_member(struct session *session, const struct view *view, const char *key,
			    size_t key_length, const char *name, struct buffer *ret_lines)
{
	(void)session;
	(void)view;
	buffer_append_format(ret_lines, "Explanation of %s.\nRow %.*s.\n", name, (int)key_length, key);
}
