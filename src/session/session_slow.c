/* SPDX-License-Identifier: GPL-2.0-only */
/* Why a row is slow: what it waited for most, in words. */
#include "session_internal.h"

#include <inttypes.h>
#include <math.h>

#include "base/humanize.h"
#include "base/memory.h"
#include "snapshot/container_names.h"
#include "table/blame_text.h"
#include "table/wait_text.h"

/* Less than 1 % of a CPU is nothing. */
static const double percent_min = 1;

/* A row in the last interval. */
struct slow_row {
	struct window window;
	struct shown shown;
	struct value waits_for; /* of COLUMN_WAITS_FOR */
	bool tells_waits;       /* the loss mentions them */
	struct buffer *words;
};

/* The number of a column in a row, 0 where there is none. */
static double number_in(const struct slow_row *row, const struct shown *shown, size_t index,
			enum column column)
{
	struct column_values values;
	struct value value;
	double number = 0;

	reduce_column(&row->window, shown, column, &values);
	reduce_value(shown, &values, index, &value);
	if (!value_number(&value, &number))
		number = 0;
	column_values_release(&values);
	return number;
}

static double number_of(const struct slow_row *row, enum column column)
{
	return number_in(row, &row->shown, 0, column);
}

/* The cgroup with threads of a row that its cpu.max held back longest. */
struct slow_limit {
	uint32_t commonest; /* path of the cgroup with most threads, 0 for none */
	bool is_unread;     /* of all cgroups; the next rounds may tell more */
	uint32_t path;      /* id in the newest snapshot */
	double throttled_percent;
	double cpus; /* that cpu.max allows; 0 if unknown */
};

/* The threads of a row, with a row for each of their cgroups: row_group[] has the ids of the paths. */
static void collect_cgroups(const struct slow_row *row, struct shown *cgroups)
{
	const struct snapshot *now = row->shown.now;
	uint32_t *row_of_path = memory_allocate_zero(now->strings.count + 1, sizeof(*row_of_path));

	*cgroups = (struct shown){.now = now, .by_cgroup = true};
	shown_reserve(cgroups, row->shown.count, row->shown.count);
	for (size_t k = 0; k < row->shown.count; k++) {
		const uint32_t thread = row->shown.threads[k];
		const uint32_t path = now->triples[now->triple[thread]].cgroup;

		if (path != 0 && row_of_path[path] == 0) {
			cgroups->row_group[cgroups->row_count++] = path;
			row_of_path[path] = (uint32_t)cgroups->row_count;
		}
		if (path != 0)
			shown_add(cgroups, thread, row_of_path[path] - 1);
	}
	free(row_of_path);
}

static struct slow_limit find_limit(const struct slow_row *row)
{
	struct slow_limit limit = {0};
	struct column_values values;
	struct shown cgroups;
	size_t most = 0, unread = 0;

	collect_cgroups(row, &cgroups);
	for (size_t i = 1; i < cgroups.row_count; i++)
		most = cgroups.row_threads[i] > cgroups.row_threads[most] ? i : most;
	if (cgroups.row_count != 0)
		limit.commonest = cgroups.row_group[most];
	reduce_column(&row->window, &cgroups, COLUMN_THROT, &values);
	for (size_t i = 0; i < cgroups.row_count; i++) {
		struct value value;
		double percent;

		reduce_value(&cgroups, &values, i, &value);
		unread += value.state == VALUE_ABSENT ||
			  (value.state == VALUE_UNAVAILABLE && value.reason == REASON_NOT_READ);
		if (!value_number(&value, &percent) || percent <= limit.throttled_percent)
			continue;
		limit.throttled_percent = percent;
		limit.path = cgroups.row_group[i];
		most = i;
	}
	column_values_release(&values);
	limit.is_unread = unread != 0 && unread == cgroups.row_count;
	if (limit.throttled_percent > 0)
		limit.cpus = number_in(row, &cgroups, most, COLUMN_LIMIT);
	shown_release(&cgroups);
	return limit;
}

/* Threads in D: how many, for how long, and which part of the interval all of them took. */
struct in_d {
	uint64_t threads, longest_ns;
	double percent;
};

static struct in_d find_in_d(const struct slow_row *row)
{
	const struct snapshot *now = row->window.now;
	const uint64_t *ages = now->waiting_ns != NULL ? now->waiting_ns : now->stuck_ns;
	const uint64_t elapsed_ns = row->window.elapsed_ns;
	struct in_d in_d = {0};

	for (size_t k = 0; k < row->shown.count && ages != NULL && elapsed_ns != 0; k++) {
		const uint32_t thread = row->shown.threads[k];
		const uint64_t age = ages[thread];

		if (snapshot_value(now, thread, METRIC_STATE) != 'D' || age == 0)
			continue;
		in_d.threads++;
		in_d.longest_ns = age > in_d.longest_ns ? age : in_d.longest_ns;
		in_d.percent += (double)(age < elapsed_ns ? age : elapsed_ns) * 100 / (double)elapsed_ns;
	}
	return in_d;
}

/* "1.2 threads on average", "53% of one thread's time" */
static void append_loss(double percent, struct buffer *words)
{
	if (percent < 100) {
		humanize_percent(words, percent);
		buffer_append_text(words, " of one thread's time");
		return;
	}
	humanize_amount(words, percent / 100);
	buffer_append_text(words, " threads on average");
}

/* "kept back by cpu.max of api.service (2 CPUs), throttled 31%" */
static void append_limit(const struct slow_row *row, const struct slow_limit *limit)
{
	const struct string_pool *strings = &row->shown.now->strings;

	buffer_append_text(row->words, "kept back by cpu.max of ");
	container_append_name(string_pool_text(strings, limit->path),
			      string_pool_length(strings, limit->path), row->words);
	if (limit->cpus > 0)
		buffer_append_format(row->words, " (%.3g CPU%s)", limit->cpus, limit->cpus == 1 ? "" : "s");
	buffer_append_text(row->words, ", throttled ");
	humanize_percent(row->words, limit->throttled_percent);
}

/* What delayed the waits for a CPU most, unless that is a limit that was named; false where it is not known.
 */
static bool append_culprit(const struct slow_row *row, bool names_limit)
{
	struct blame *blame = row->shown.by_thread
				      ? NULL
				      : reduce_blame(&row->window, &row->shown, BLAME_DELAYED_BY);
	const struct latency_delay *first = NULL;
	size_t count = 0;

	if (blame != NULL)
		first = blame_of(blame, 0, &count);
	if (count == 0 || (names_limit && first->cause == LATENCY_CAUSE_THROTTLED)) {
		blame_release(blame);
		return false;
	}
	buffer_append_format(row->words, ", %.0f%% of it",
			     value_part_percent((double)first->time_ns / (double)blame->whole[0]));
	if (first->cause != LATENCY_CAUSE_THREADS) {
		buffer_append_format(row->words, ": %s", blame_cause_meaning(first->cause));
	} else if (first->culprit == first->victim) {
		buffer_append_text(row->words, " while its own threads ran");
	} else {
		buffer_append_text(row->words, " while ");
		blame_append_culprit(blame, first, row->words);
		buffer_append_text(row->words, " ran");
	}
	blame_release(blame);
	return true;
}

static void append_run_queue(const struct slow_row *row, double percent, const struct slow_limit *limit,
			     bool offers_latency)
{
	const bool is_limited = limit->throttled_percent >= percent_min;

	buffer_append_text(row->words, "waits for a CPU: ");
	append_loss(percent, row->words);
	if (is_limited) {
		buffer_append_text(row->words, ", ");
		append_limit(row, limit);
	}
	if (!append_culprit(row, is_limited) && offers_latency && !is_limited && !limit->is_unread &&
	    !row->shown.by_thread && !row->shown.behind_names)
		buffer_append_text(row->words, " (l says who ran)");
}

static void append_memory(const struct slow_row *row, double percent)
{
	static const struct {
		enum column column;
		const char *words;
	} kinds[] = {
		{COLUMN_RECL, "reclaim"},   {COLUMN_COMP, "compaction"}, {COLUMN_COW, "copy-on-write"},
		{COLUMN_SWAPIN, "swap-in"}, {COLUMN_THRA, "thrashing"},
	};
	const char *most = NULL;
	double largest = 0;

	for (size_t i = 0; i < ARRAY_COUNT(kinds); i++) {
		const double number = number_of(row, kinds[i].column);

		if (number > largest) {
			largest = number;
			most = kinds[i].words;
		}
	}
	buffer_append_text(row->words, "waits for memory: ");
	append_loss(percent, row->words);
	if (most != NULL)
		buffer_append_format(row->words, ", mostly %s", most);
}

static void append_in_d(struct slow_row *row, const struct in_d *in_d)
{
	if (in_d->threads == 1) {
		buffer_append_text(row->words, "in D for ");
	} else if (row->waits_for.wait.class == WAIT_CLASS_DISK && wait_text_threads(&row->waits_for) != 0) {
		row->tells_waits = true;
		wait_text_append(&row->waits_for, row->words);
		buffer_append_text(row->words, ", the longest for ");
	} else {
		buffer_append_format(row->words, "%" PRIu64 " threads in D, the longest for ", in_d->threads);
	}
	humanize_duration(row->words, (double)in_d->longest_ns);
}

/* Appends what the row lost most time to in the interval; returns how much, in percent of a CPU. */
static double append_loss_of_row(struct slow_row *row, bool offers_latency, struct session_slow *slow)
{
	const double run_queue = number_of(row, COLUMN_RUNQ), block_io = number_of(row, COLUMN_BLKIO);
	const double memory = number_of(row, COLUMN_MWAIT);
	const struct slow_limit limit = find_limit(row);
	const double throttled = row->shown.by_cgroup ? limit.throttled_percent : 0;
	const struct in_d in_d = find_in_d(row);
	const double most = fmax(fmax(fmax(run_queue, throttled), fmax(block_io, memory)), in_d.percent);

	if (run_queue >= percent_min)
		slow->cgroup = limit.commonest;
	if (most < percent_min)
		return 0;
	/* time in D is part of the waits for I/O and memory, as far as these have ended */
	if (most == in_d.percent) {
		append_in_d(row, &in_d);
	} else if (most == run_queue) {
		append_run_queue(row, run_queue, &limit, offers_latency);
	} else if (most == throttled) {
		append_limit(row, &limit);
	} else if (most == memory) {
		append_memory(row, memory);
	} else {
		buffer_append_text(row->words, "waits for block I/O: ");
		append_loss(block_io, row->words);
	}
	return most;
}

/* Appends what most threads of the row wait for now, or where these do not agree, its cell in words. */
static void append_waits_for(const struct slow_row *row, bool shows_cell, struct buffer *words)
{
	const struct value *value = &row->waits_for;

	if (wait_text_threads(value) != 0) {
		wait_text_append(value, words);
		return;
	}
	/* what runs or could run waits for nothing else than a CPU */
	if (value->state != VALUE_READ || shows_cell || value->wait.class == WAIT_CLASS_CPU ||
	    value->wait.class == WAIT_CLASS_RUN_QUEUE)
		return;
	buffer_append_format(words, "waits for: %s", wait_classes[value->wait.class].name);
	if (value->wait.length != 0) {
		buffer_append_char(words, ' ');
		buffer_append(words, value->wait.object, value->wait.length);
	}
	if (value->wait.of > 1)
		buffer_append_format(words, " (%" PRIu32 " of %" PRIu32 " threads)", value->wait.threads,
				     value->wait.of);
}

static void find_slow(struct slow_row *row, bool offers_latency, bool shows_cell, struct session_slow *slow)
{
	struct column_values values;
	double loss = 0;

	reduce_column(&row->window, &row->shown, COLUMN_WAITS_FOR, &values);
	reduce_value(&row->shown, &values, 0, &row->waits_for);
	if (row->window.from != NULL)
		loss = append_loss_of_row(row, offers_latency, slow);
	if (!row->tells_waits)
		append_waits_for(row, shows_cell, &slow->waits_for);
	slow->waits_first = wait_text_threads(&row->waits_for) * 100.0 > loss &&
			    wait_text_is_busy(&row->waits_for);
	column_values_release(&values);
}

void session_find_slow(struct session *session, const struct view *view, const char *key, size_t key_length,
		       bool offers_latency, struct session_slow *slow)
{
	static const enum column columns[] = {COLUMN_DELAYED_BY};
	struct slow_row row = {.words = &slow->loss};
	struct view own = *view;

	if (session->rounds.now == NULL)
		return;
	row.window = session_window(session, WINDOW_MODE_RATE);
	/* a view that shows what delayed its rows, so that this is collected */
	own.mode = WINDOW_MODE_RATE;
	own.columns = columns;
	own.column_count = ARRAY_COUNT(columns);
	session_collect(session, &own, key, key_length, session_ended(session, WINDOW_MODE_RATE), &row.shown);
	if (row.shown.row_count == 1)
		find_slow(&row, offers_latency, view_shows(view, COLUMN_WAITS_FOR), slow);
	shown_release(&row.shown);
}
