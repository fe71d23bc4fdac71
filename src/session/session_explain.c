/* SPDX-License-Identifier: GPL-2.0-only */
/* Explains a number on the screen: its meaning and its origin. */
#include "session_internal.h"
#include "table/explain.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/humanize.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/order.h"
#include "table/blame_text.h"
#include "table/evidence.h"
#include "table/latency_text.h"
#include "window/column.h"

enum {
	TALLY_SHOWN = 8, /* and processes */
};

struct explanation {
	struct window window;
	struct shown shown;
	enum column column;
	struct buffer *lines;
};

/* The unit word behind a number; plain counts need none. */
static const char *unit_word(enum column column, const struct cell *cell)
{
	const struct column_entry *entry = column_entry(column);

	if (cell->unit == UNIT_COUNT &&
	    (column_has(entry, COLUMN_COUNTS_THREADS) ||
	     (column_is_task_field(column) && entry->inputs[1] == TASK_FIELD_REDUCTION_COUNT)))
		return cell->value.integer == 1 ? " thread" : " threads";
	return explain_unit(cell->unit);
}

static void append_unavailable(const struct explanation *explanation, reason_id reason)
{
	const struct snapshot *now = explanation->window.now;
	const source_set needed = column_sources(explanation->column);
	struct buffer remedy = {0};

	buffer_append_format(explanation->lines, "Unavailable: %s.\n", reason_words(reason));
	if (reason == REASON_BY_NAME)
		buffer_append_format(explanation->lines, "What would help: %s\n", session_by_name_remedy);
	for (enum source source = 0; source < SOURCE_COUNT; source++) {
		if ((needed & source_bit(source)) != 0)
			evidence_append_remedy(now, source, reason, &remedy);
	}
	if (remedy.length != 0)
		buffer_append_format(explanation->lines, "What would help: %s\n", remedy.data);
	buffer_release(&remedy);
}

/* Whether it is known of groups, never of threads. */
static bool is_of_groups(const struct explanation *explanation)
{
	const enum column_operation operation = column_entry(explanation->column)->operation;

	return operation == COLUMN_OPERATION_LATENCY || operation == COLUMN_OPERATION_TIME ||
	       operation == COLUMN_OPERATION_BLAME;
}

/* The number with all of its digits. */
static void append_exact_value(const struct explanation *explanation)
{
	struct buffer *lines = explanation->lines;
	struct column_values values;
	struct arena arena = {0};
	struct cell cell;
	const char *bound;
	char digits[28];

	reduce_column(&explanation->window, &explanation->shown, explanation->column, &values);
	column_cell(&explanation->shown, &values, 0, &arena, &cell);
	bound = cell.partial ? "at least " : cell.sampled ? "about " : "";
	if (cell.state == CELL_UNAVAILABLE)
		append_unavailable(explanation, cell.reason);
	else if (cell.state == CELL_ABSENT && column_is_task_field(explanation->column))
		buffer_append_text(lines, "No thread here has one.\n");
	else if (cell.state == CELL_ABSENT && explanation->shown.by_thread && is_of_groups(explanation))
		buffer_append_text(lines,
				   "Counted by names and process, not by thread: Esc goes back to rows "
				   "that have it.\n");
	else if (cell.state == CELL_ABSENT)
		buffer_append_text(lines, "Does not apply here, or there is nothing to divide by.\n");
	else if (cell.form == CELL_FORM_INTEGER)
		buffer_append_format(lines, "Value: %s%s%s\n", bound,
				     humanize_digits(cell.value.integer, digits),
				     unit_word(explanation->column, &cell));
	else if (cell.form == CELL_FORM_REAL)
		buffer_append_format(lines, "Value: %s%.3f%s\n", bound, cell.value.real,
				     unit_word(explanation->column, &cell));
	column_values_release(&values);
	arena_release(&arena);
}

static void append_clock(const struct snapshot *snapshot, uint64_t boottime_ns, struct buffer *lines)
{
	uint64_t unix_ns = snapshot->captured_at_unix_ns - snapshot->provenance.boottime_ns + boottime_ns;
	char text[HUMANIZE_TIME_SIZE];

	buffer_append_format(lines, "%s.%03u", humanize_time(text, unix_ns, false),
			     (unsigned int)(unix_ns / NS_PER_MS % 1000));
}

/* Earliest and latest of some readings. */
struct time_range {
	uint64_t first, last;
	uint64_t count;
};

static void extend(struct time_range *range, uint64_t time)
{
	if (range->count++ == 0 || time < range->first)
		range->first = time;
	if (time > range->last)
		range->last = time;
}

static void append_times(const char *what, const struct snapshot *snapshot, const struct time_range *range,
			 struct buffer *lines)
{
	if (range->count == 0 || snapshot->captured_at_unix_ns == 0)
		return;
	buffer_append_format(lines, "  %s ", what);
	append_clock(snapshot, range->first, lines);
	if (range->last != range->first) {
		buffer_append_text(lines, " to ");
		append_clock(snapshot, range->last, lines);
	}
	buffer_append_char(lines, '\n');
}

static void append_readings(struct explanation *explanation, enum metric metric)
{
	const struct window *window = &explanation->window;
	enum metric_kind kind = metric_type(metric)->kind;
	bool two = window->from != NULL && (kind == METRIC_KIND_COUNTER || kind == METRIC_KIND_PEAK);
	struct time_range now = {0}, from = {0};

	for (size_t k = 0; k < explanation->shown.count; k++) {
		uint32_t thread = explanation->shown.threads[k];
		uint32_t other = two ? window->from_of[thread] : THREAD_UNKNOWN;

		if (snapshot_value_state(window->now, thread, metric) == REASON_READ)
			extend(&now, snapshot_read_time(window->now, thread, metric));
		if (other == THREAD_STILL && snapshot_value_state(window->now, thread, metric) == REASON_READ)
			extend(&from, window->from->provenance.boottime_ns);
		if (other < THREAD_STILL && snapshot_value_state(window->from, other, metric) == REASON_READ)
			extend(&from, snapshot_read_time(window->from, other, metric));
	}
	append_times("read at", window->now, &now, explanation->lines);
	if (two)
		append_times("compared with", window->from, &from, explanation->lines);
}

struct tally_item {
	uint64_t value;
	uint64_t count;
};

/* Values of threads in a metric or field, and how many threads lack one for each reason. */
struct value_tally {
	uint64_t by_state[STATE_ABSENT + 1];
	struct tally_item *items; /* of one thread each */
	size_t count;
};

static struct value_tally begin_tally(const struct explanation *explanation)
{
	return (struct value_tally){
		.items = memory_allocate((explanation->shown.count + 1) * sizeof(struct tally_item))};
}

static void add_to_tally(struct value_tally *tally, uint16_t state, uint64_t value)
{
	tally->by_state[state]++;
	if (state == REASON_READ)
		tally->items[tally->count++] = (struct tally_item){value, 1};
}

static int compare_counts(const void *a, const void *b)
{
	const struct tally_item *left = a, *right = b;

	return left->count != right->count ? order_u64(right->count, left->count) : order_by_u64(a, b);
}

/* Joins the items of each value, the commonest first. */
static void join_items(struct value_tally *tally)
{
	struct tally_item *items = tally->items;
	size_t count = 0;

	qsort(items, tally->count, sizeof(*items), order_by_u64);
	for (size_t i = 0; i < tally->count; i++) {
		if (count != 0 && items[count - 1].value == items[i].value)
			items[count - 1].count++;
		else
			items[count++] = items[i];
	}
	qsort(items, count, sizeof(*items), compare_counts);
	tally->count = count;
}

/*
 * Tells how many threads contributed and why others did not, `absent` for those without a value; and with
 * `append_value`, which gets `of`, how many have which value. Frees the tally.
 */
static void append_tally(const struct explanation *explanation, struct value_tally *tally, const char *absent,
			 void (*append_value)(const struct explanation *explanation, const void *of,
					      uint64_t value),
			 const void *of)
{
	struct buffer *lines = explanation->lines;
	char text[28], total[28];

	buffer_append_format(lines, "  %s of %s threads\n",
			     humanize_digits(tally->by_state[REASON_READ], text),
			     humanize_digits(explanation->shown.count, total));
	explain_missing(tally->by_state, absent, lines);
	if (append_value != NULL)
		join_items(tally);
	for (size_t i = 0; append_value != NULL && i < tally->count && i < TALLY_SHOWN; i++) {
		buffer_append_format(lines, "  %s ", humanize_digits(tally->items[i].count, text));
		append_value(explanation, of, tally->items[i].value);
		buffer_append_char(lines, '\n');
	}
	if (append_value != NULL && tally->count > TALLY_SHOWN)
		buffer_append_format(lines, "  and %zu more\n", tally->count - TALLY_SHOWN);
	free(tally->items);
}

/* A word, a number on a scale or a CPU set; `of` is an enum metric. */
static void append_metric_value(const struct explanation *explanation, const void *of, uint64_t value)
{
	const struct snapshot *now = explanation->window.now;
	const enum metric metric = *(const enum metric *)of;
	char letter[5];

	if (metric_type(metric)->kind == METRIC_KIND_CATEGORY)
		buffer_append_text(explanation->lines, category_text(now, metric, value, letter));
	else if (metric_type(metric)->kind == METRIC_KIND_SET)
		cpu_set_append_ranges(&now->cpu_sets, (uint32_t)value, explanation->lines);
	else
		buffer_append_i64(explanation->lines, (int64_t)value);
}

static void append_metric(struct explanation *explanation, enum metric metric)
{
	const struct snapshot *now = explanation->window.now;
	const enum metric_kind kind = metric_type(metric)->kind;
	const bool has_values = kind == METRIC_KIND_CATEGORY || kind == METRIC_KIND_SET ||
				kind == METRIC_KIND_ORDINAL;
	struct window_counter counter = window_counter_of(&explanation->window, metric);
	struct value_tally tally = begin_tally(explanation);

	counter.without_io_uring = explanation->column < COLUMN_COUNT;
	explain_metric(now, metric, explanation->lines);
	append_readings(explanation, metric);
	for (size_t k = 0; k < explanation->shown.count; k++) {
		const uint32_t thread = explanation->shown.threads[k];
		uint64_t amount, elapsed;

		add_to_tally(&tally,
			     kind == METRIC_KIND_COUNTER ? window_change(&counter, thread, &amount, &elapsed)
							 : snapshot_value_state(now, thread, metric),
			     has_values ? snapshot_value(now, thread, metric) : 0);
	}
	append_tally(explanation, &tally, "it does not apply", has_values ? append_metric_value : NULL,
		     &metric);
}

/* Lists the processes with jemalloc and the origin of their numbers. */
static void append_heap_processes(struct explanation *explanation)
{
	const struct snapshot *now = explanation->window.now;
	uint32_t last = UINT32_MAX;
	size_t count = 0;

	for (size_t k = 0; k < explanation->shown.count; k++) {
		uint32_t thread = explanation->shown.threads[k], tgid = now->tgid[thread];
		const struct heap_process *process;

		if (tgid == last || (now->thread_flags[thread] & THREAD_JEMALLOC_MEASURED) == 0)
			continue;
		last = tgid;
		process = reduce_find_heap(now, tgid);
		if (process == NULL || process->layout == NULL || ++count > TALLY_SHOWN)
			continue;
		buffer_append_format(explanation->lines, "process %" PRIu32 ": jemalloc%s%s, %s\n", tgid,
				     process->version != NULL ? " " : "",
				     process->version != NULL ? process->version : "", process->layout);
	}
	if (count > TALLY_SHOWN)
		buffer_append_format(explanation->lines, "and %zu more\n", count - TALLY_SHOWN);
}

/* A column of the probe counts what the threads' counters give. */
static void append_heap(struct explanation *explanation, const struct column_entry *entry)
{
	if (entry->operation == COLUMN_OPERATION_HEAP)
		append_metric(explanation, METRIC_ALLOCATED_BYTES);
	if (entry->operation == COLUMN_OPERATION_HEAP && entry->inputs[0] == HEAP_FIELD_LIVE)
		append_metric(explanation, METRIC_DEALLOCATED_BYTES);
	append_heap_processes(explanation);
}

/* Tells how many processes had their memory read, and when. */
static void append_smaps(struct explanation *explanation)
{
	const struct snapshot *now = explanation->window.now;
	const uint64_t *read_at = now->read_at[SOURCE_SMAPS_ROLLUP];
	struct time_range times = {0};
	char text[28];

	for (size_t k = 0; k < explanation->shown.count; k++) {
		uint32_t thread = explanation->shown.threads[k];

		if (snapshot_find_smaps(now, thread) != NULL)
			extend(&times, read_at != NULL ? read_at[thread] : now->provenance.boottime_ns);
	}
	buffer_append_format(explanation->lines, "From /proc/PID/smaps_rollup of %s processes\n",
			     humanize_digits(times.count, text));
	append_times("read at", now, &times, explanation->lines);
}

/* The threads that wait in one state, and for how long. */
struct waits {
	uint64_t count, sum, longest;
	bool at_least; /* some may have lasted longer */
};

static void append_waits_of(const struct waits *waits, const char *what, struct buffer *lines)
{
	char text[28];

	if (waits->count == 0)
		return;
	buffer_append_format(lines, "  %s %s, the longest for %s", humanize_digits(waits->count, text), what,
			     waits->at_least ? "at least " : "");
	humanize_duration(lines, (double)waits->longest);
	buffer_append_char(lines, '\n');
}

/* Tells which threads wait at present, or that it is not known. */
static void append_waits(struct explanation *explanation)
{
	const struct window *window = &explanation->window;
	struct waits for_cpu = {0}, in_d = {0}, asleep = {0};

	if (!window_knows_waits(window)) {
		buffer_append_format(explanation->lines,
				     column_counts_waits(explanation->column)
					     ? "Unfinished waits count only for stuck threads: %s.\n"
					     : "How long waits have lasted is not known (%s), only since "
					       "when they were seen.\n",
				     reason_words(window_waits_missing(window)));
		return;
	}
	for (size_t k = 0; k < explanation->shown.count; k++) {
		const uint32_t thread = explanation->shown.threads[k];
		const uint64_t state = snapshot_value(window->now, thread, METRIC_STATE);
		const uint64_t age = window->now->waiting_ns[thread];
		struct waits *waits = state == 'R' ? &for_cpu : state == 'D' ? &in_d : &asleep;

		if (age == 0 || snapshot_is_held(state))
			continue;
		waits->count++;
		waits->sum = number_add_saturating(waits->sum, age);
		waits->longest = age > waits->longest ? age : waits->longest;
		waits->at_least |= (window->now->thread_flags[thread] & THREAD_WAIT_AT_LEAST) != 0;
	}
	buffer_append_text(explanation->lines, "Waiting at present\n");
	append_waits_of(&for_cpu, "for a CPU", explanation->lines);
	append_waits_of(&in_d, "in uninterruptible sleep", explanation->lines);
	append_waits_of(&asleep, "asleep", explanation->lines);
	if (column_counts_waits(explanation->column) && for_cpu.sum != 0) {
		buffer_append_text(explanation->lines, "  the waits for a CPU, ");
		humanize_duration(explanation->lines, (double)for_cpu.sum);
		buffer_append_text(explanation->lines, " so far, count for their part in the span\n");
	}
}

static void append_latency(struct explanation *explanation, const struct column_entry *entry)
{
	const struct window *window = &explanation->window;
	const enum latency_kind kind = (enum latency_kind)entry->inputs[0];
	struct row_waits *waits = reduce_waits(window, &explanation->shown, kind);
	struct buffer duration = {0};
	char text[28];

	if (waits == NULL)
		return;
	if (waits->unknown != 0 && waits->reason == REASON_UNDER_OTHER)
		buffer_append_format(explanation->lines,
				     "%s more are counted only under %s, for lack of room:\n"
				     "any that belong to this row are missing below.\n",
				     humanize_digits(waits->unknown, text), name_other.text);
	else if (waits->unknown != 0)
		buffer_append_format(explanation->lines,
				     "%s more are known by name only, not by process:\n"
				     "any that belong to this row are missing below.\n"
				     "What would help: %s\n",
				     humanize_digits(waits->unknown, text), session_by_name_remedy);
	if (window->latency->unseen != 0)
		buffer_append_format(
			explanation->lines,
			"The kernel did not report at least %s context switches: waits that began "
			"with one are missing.\n",
			humanize_digits(window->latency->unseen, text));
	humanize_duration(&duration, (double)window->latency->span_ns);
	buffer_append_format(explanation->lines, "%s, measured for %s:\n",
			     kind == LATENCY_RUN_QUEUE ? "Waits for a CPU" : "Times in D", duration.data);
	latency_append_text(&waits->known, explanation->lines);
	buffer_release(&duration);
	free(waits);
}

/* Lists what delayed the waits of the row, or whom it woke or was woken by. */
static void append_blame(struct explanation *explanation, enum blame_relation relation)
{
	static const char *const words[] = {
		[BLAME_DELAYED_BY] = "Delayed",
		[BLAME_WOKEN_BY] = "Woken",
		[BLAME_WAKES] = "Wakes others",
	};
	struct blame *blame = reduce_blame(&explanation->window, &explanation->shown, relation);
	struct buffer duration = {0};

	if (blame == NULL)
		return;
	humanize_duration(&duration, (double)blame->span_ns);
	buffer_append_format(explanation->lines, "%s: %.1f %s, measured for %s%s\n", words[relation],
			     blame_per_s(blame, blame->whole[0]), blame_unit(blame), duration.data,
			     blame->whole[0] != 0 ? ":" : ".");
	blame_append_text(blame, 0, explanation->lines);
	blame_release(blame);
	buffer_release(&duration);
}

/* `of` is a member of contexts. */
static void append_member_number(const struct explanation *explanation, const void *of, uint64_t value)
{
	task_field_append(of, value, explanation->lines);
}

static void append_task_field(struct explanation *explanation)
{
	const struct task_fields *fields = &explanation->window.now->task_fields;
	const struct window_field field = window_field_of(
		&explanation->window, (uint16_t)(explanation->column - COLUMN_TASK_FIELDS));
	struct value_tally tally;

	if (field.member == NULL) {
		if (fields->owner != NULL)
			buffer_append_format(explanation->lines, "The scheduler %s has no such field.\n",
					     fields->owner->name);
		return;
	}
	explain_member(fields->owner, field.member, explanation->lines);
	tally = begin_tally(explanation);
	for (size_t k = 0; k < explanation->shown.count; k++) {
		uint64_t value = 0;
		const uint16_t state = window_field_value(&field, explanation->shown.threads[k], &value);

		add_to_tally(&tally, state, value);
	}
	append_tally(explanation, &tally, "no context belongs",
		     field.member->facts.reduction == TASK_FIELD_REDUCTION_COUNT ? append_member_number
										 : NULL,
		     field.member);
	if (field.is_change && field.from_missing == REASON_READ)
		buffer_append_text(explanation->lines, "Nothing is known of ended threads.\n");
	if (field.is_change && explanation->window.from != NULL &&
	    explanation->window.from->task_fields.owner != NULL &&
	    !task_field_owner_is_same_run(fields->owner, explanation->window.from->task_fields.owner))
		buffer_append_text(explanation->lines, "This scheduler was started since.\n");
}

/* --- waits --- */

enum {
	OBJECTS_SHOWN = 3, /* of a class */
};

/*
 * Names a class and the objects that most of its threads wait for: "futex (36 0x7f3a12c0, 1 0x55d0)". The
 * address of a futex is an object of one process, which is named where there are several.
 */
static void append_wait_class(const struct explanation *explanation, const void *of, uint64_t class)
{
	const struct snapshot *now = explanation->window.now;
	struct value_tally objects = begin_tally(explanation);
	uint64_t process = 0;
	bool of_several = false;
	char text[28];

	(void)of;
	buffer_append_text(explanation->lines, wait_classes[class].name);
	for (size_t k = 0; k < explanation->shown.count; k++) {
		const uint32_t thread = explanation->shown.threads[k];

		if (now->wait_class[thread] != class || now->wait_object[thread] == 0)
			continue;
		if (class == WAIT_CLASS_FUTEX) {
			of_several |= process != 0 && process != now->tgid[thread];
			process = now->tgid[thread];
		}
		add_to_tally(&objects, REASON_READ, process << 32 | now->wait_object[thread]);
	}
	join_items(&objects);
	for (size_t i = 0; i < objects.count && i < OBJECTS_SHOWN; i++) {
		const uint64_t value = objects.items[i].value;

		buffer_append_format(explanation->lines, "%s%s ", i == 0 ? " (" : ", ",
				     humanize_digits(objects.items[i].count, text));
		buffer_append_text(explanation->lines, snapshot_text(now, (uint32_t)value));
		if (of_several)
			buffer_append_format(explanation->lines, " of pid %" PRIu64, value >> 32);
	}
	if (objects.count > OBJECTS_SHOWN)
		buffer_append_format(explanation->lines, ", %zu more", objects.count - OBJECTS_SHOWN);
	buffer_append_text(explanation->lines, objects.count != 0 ? ")" : "");
	free(objects.items);
}

/* The process with most of the threads that wait at futexes. */
static uint32_t find_futex_process(const struct explanation *explanation)
{
	const struct snapshot *now = explanation->window.now;
	uint32_t process = 0, most = 0, last = 0, threads = 0;

	/* threads of one process follow each other */
	for (size_t k = 0; k < explanation->shown.count; k++) {
		const uint32_t thread = explanation->shown.threads[k];

		if (now->wait_class[thread] != WAIT_CLASS_FUTEX)
			continue;
		threads = now->tgid[thread] == last ? threads + 1 : 1;
		last = now->tgid[thread];
		if (threads > most) {
			most = threads;
			process = last;
		}
	}
	return process;
}

/* Tells how many threads are in which class, and what these mean. `is_live`: they still are. */
static void append_waits_for(struct explanation *explanation, bool is_live)
{
	const struct snapshot *now = explanation->window.now;
	struct value_tally tally;
	bool has[WAIT_CLASS_COUNT] = {false};

	if (now->wait_class == NULL)
		return;
	tally = begin_tally(explanation);
	for (size_t k = 0; k < explanation->shown.count; k++) {
		enum wait_class class;
		const uint16_t state = reduce_wait_class(now, explanation->shown.threads[k], &class);

		add_to_tally(&tally, state, class);
		has[class] |= state == REASON_READ;
	}
	append_tally(explanation, &tally, "it does not apply", append_wait_class, NULL);
	for (size_t i = 1; i < WAIT_CLASS_COUNT; i++) {
		if (has[i])
			buffer_append_format(explanation->lines, "%s: %s\n", wait_classes[i].name,
					     wait_classes[i].description);
	}
	if (has[WAIT_CLASS_FUTEX] && is_live)
		buffer_append_format(explanation->lines,
				     "Each futex with its threads, waits and times: ctop -b --futex -p %u\n",
				     find_futex_process(explanation));
}

/* Names the process that started most of those that came and went. */
static void append_parent(const struct explanation *explanation)
{
	const struct ended *ended = explanation->window.ended;
	struct started_by parent = {0};

	for (size_t i = 0; i < ended->count; i++) {
		if (explanation->shown.ended_row_of[i] != UINT32_MAX)
			started_by_add(&parent, ended->records[i].started_by);
	}
	if (parent.processes != 0)
		buffer_append_format(explanation->lines,
				     "Most of the processes that came and went were started by %s.\n",
				     snapshot_text(ended->names, parent.name));
}

static void append_ended(struct explanation *explanation)
{
	const struct ended *ended = explanation->window.ended;
	const struct ended_set *set = explanation->window.now->ended;
	const bool since_base = explanation->window.mode == WINDOW_MODE_BASE;
	uint64_t threads = 0;
	char text[28];

	if (ended == NULL || explanation->shown.ended != ended)
		return;
	for (size_t i = 0; i < ended->count; i++)
		threads += explanation->shown.ended_row_of[i] != UINT32_MAX ? ended->records[i].threads : 0;
	if (threads != 0)
		buffer_append_format(explanation->lines, "%s the work of %s thread%s that ended %s, %s.\n",
				     set != NULL || since_base ? "Includes" : "Lacks",
				     humanize_digits(threads, text), threads == 1 ? "" : "s",
				     since_base ? "since the base" : "since the round before",
				     set == NULL        ? since_base ? "as last read" : "which is unknown"
				     : set->lower_bound ? "without the last moments"
							: "until the end");
	if (column_entry(explanation->column)->operation == COLUMN_OPERATION_LIVES)
		append_parent(explanation);
	if (explanation->shown.behind_names && explanation->shown.count == 0)
		buffer_append_text(
			explanation->lines,
			"These threads ended and only their names are known, not their processes and "
			"users; those of one process that is still there are in its row.\n");
	else if (explanation->shown.behind_names && ended->count != 0)
		buffer_append_text(explanation->lines,
				   "Work of ended threads is here if all of that name were of one "
				   "process, else in the row (ended).\n");
	if (ended->has_estimate && explanation->shown.ended_row_of[ended->estimate] != UINT32_MAX)
		buffer_append_text(explanation->lines,
				   "Its CPU time is an estimate: the host's, less that of all threads.\n");
}

/* The same of resident memory, which a file may have from there too. */
static void append_resident(struct explanation *explanation)
{
	const struct snapshot *now = explanation->window.now;
	struct time_range times = {0};
	size_t hint = 0;
	char text[28];

	if (now->resident_missing != REASON_READ) {
		append_smaps(explanation);
		return;
	}
	for (size_t k = 0; k < explanation->shown.count; k++) {
		const uint32_t thread = explanation->shown.threads[k];
		const struct resident_record *record;

		if (now->tid[thread] != now->tgid[thread])
			continue;
		record = snapshot_find_resident(now, now->tgid[thread], now->start_time[thread], &hint);
		if (record != NULL)
			extend(&times, record->read_at);
	}
	buffer_append_format(explanation->lines, "As in /proc/PID/statm of %s processes\n",
			     humanize_digits(times.count, text));
	if (now->provenance.resident_error != 0)
		buffer_append_text(explanation->lines, "The kernel leaves out what each CPU counts for "
						       "itself; Rss of smaps_rollup has it\n");
	append_times("read at", now, &times, explanation->lines);
}

static void append_how(enum column column, struct buffer *lines)
{
	const struct column_entry *entry = column_entry(column);
	const char *joint = column_operations[entry->operation].joint;
	const bool overlap = column_has(entry, COLUMN_OVERLAPS);

	if (entry->input_count < 2 || joint == NULL)
		return;
	buffer_append_text(lines, "= ");
	for (size_t i = 0; i < entry->input_count; i++) {
		if (i > 0)
			buffer_append_text(lines, overlap && i + 1 == entry->input_count ? ", " : joint);
		if (overlap && i + 2 == entry->input_count)
			buffer_append_text(lines, "max(");
		buffer_append_text(lines, metrics[entry->inputs[i]].name);
	}
	buffer_append_text(lines, overlap ? ")\n" : "\n");
}

void session_explain(struct session *session, const struct view *view, const char *key, size_t key_length,
		     size_t column, struct buffer *ret_lines)
{
	struct explanation explanation = {.window = session_window(session, view->mode), .lines = ret_lines};
	enum column columns[COLUMN_TOTAL];
	const struct column_entry *entry;

	window_describe_fields(session->scheduler);
	if (column >= view_columns(view, columns))
		return;
	explanation.column = columns[column];
	entry = column_entry(explanation.column);
	buffer_append_format(ret_lines, "%s: %s\n", column_title(explanation.column, view->mode),
			     column_description(explanation.column));
	append_how(explanation.column, ret_lines);
	if (session->rounds.now == NULL)
		return;
	session_collect(session, view, key, key_length, session_ended(session, view->mode),
			&explanation.shown);
	if (explanation.shown.row_count == 0) {
		buffer_append_text(ret_lines, "This row is gone.\n");
	} else {
		append_exact_value(&explanation);
		if (column_has(entry, COLUMN_OF_WAITS) || column_counts_waits(explanation.column))
			append_waits(&explanation);
		for (size_t i = 0; column_has_metrics(explanation.column) && i < entry->input_count; i++)
			append_metric(&explanation, (enum metric)entry->inputs[i]);
		if (entry->operation == COLUMN_OPERATION_SMAPS)
			append_smaps(&explanation);
		if (entry->operation == COLUMN_OPERATION_RESIDENT ||
		    entry->operation == COLUMN_OPERATION_GROWTH)
			append_resident(&explanation);
		if (entry->operation == COLUMN_OPERATION_LATENCY)
			append_latency(&explanation, entry);
		if (entry->operation == COLUMN_OPERATION_BLAME)
			append_blame(&explanation, (enum blame_relation)entry->inputs[0]);
		if ((column_sources(explanation.column) & source_bit(SOURCE_JEMALLOC)) != 0)
			append_heap(&explanation, entry);
		/* what ended threads did is in neither */
		if (entry->operation == COLUMN_OPERATION_TASK_FIELD)
			append_task_field(&explanation);
		else if (entry->operation == COLUMN_OPERATION_WAITS_FOR)
			append_waits_for(&explanation, !session->is_file && !session->is_moment);
		else
			append_ended(&explanation);
	}
	shown_release(&explanation.shown);
}

/* The member of a name with its source before it, or NULL. */
static const struct task_field_member *find_member(const struct task_field_owner *scheduler, const char *name)
{
	const char *own = strchr(name, '.');

	for (size_t i = 0; scheduler != NULL && own != NULL && i < scheduler->member_count; i++) {
		if (strcmp(scheduler->members[i].name, own + 1) == 0)
			return &scheduler->members[i];
	}
	return NULL;
}

/* Appends the value of one thread in a member, with all digits. */
static void append_member_value(const struct explanation *explanation, const struct task_field_member *member)
{
	const struct task_fields *fields = &explanation->window.now->task_fields;
	reason_id reason;
	const uint8_t *context = task_fields_context(fields, explanation->shown.threads[0], &reason);

	if (context == NULL)
		return;
	buffer_append_text(explanation->lines, "  as kept: ");
	explain_member_value(fields->owner, member, context, explanation->lines);
	buffer_append_char(explanation->lines, '\n');
}

void session_explain_member(struct session *session, const struct view *view, const char *key,
			    size_t key_length, const char *name, struct buffer *ret_lines)
{
	struct explanation explanation = {.lines = ret_lines};
	const struct task_field_member *member;

	if (session->rounds.now == NULL)
		return;
	window_describe_fields(session->scheduler);
	explanation.window = session_window(session, WINDOW_MODE_TOTAL);
	member = find_member(session->rounds.now->task_fields.owner, name);
	if (member == NULL) {
		buffer_append_text(ret_lines, "The scheduler that runs now has no such member.\n");
		return;
	}
	session_collect(session, view, key, key_length, NULL, &explanation.shown);
	if (explanation.shown.row_count == 0) {
		buffer_append_text(ret_lines, "This row is gone.\n");
	} else if (member->field == TASK_FIELD_NONE) {
		explain_member(session->rounds.now->task_fields.owner, member, ret_lines);
	} else {
		explanation.column = column_of_task_field(member->field);
		append_exact_value(&explanation);
		append_task_field(&explanation);
	}
	if (explanation.shown.row_count != 0 && explanation.shown.by_thread)
		append_member_value(&explanation, member);
	shown_release(&explanation.shown);
}
