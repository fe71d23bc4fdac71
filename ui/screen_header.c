/* SPDX-License-Identifier: GPL-2.0-only */
#include "screen.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/humanize.h"
#include "session/missing.h"
#include "window/host_numbers.h"

#include "ui/widget/spark.h"

enum {
	SEGMENTS_MAX = 24,
	SEGMENT_BYTES = 160,
	CPU_WORDS_CELLS = 11, /* behind the cells of CPUs: how many CPUs one stands for */
	OTHER_LINES = 4,      /* of the header, at most */
	DEVICE_LINES = 3,     /* below these, at most */
	DEVICES_WIDTH = 80,
	DEVICE_NAME_MAX = 32, /* bytes */
	DEVICE_NAME_LEAST = 4,
	COST_CELLS = 14, /* of "read in 99.9ms", so that a slower round changes nothing else on the line */
};

/* A line made of pieces. One that does not fit is left out, so that no number is cut; only names are cut. */
struct header_line {
	struct header_segment {
		enum style style;
		bool is_name;
		char text[SEGMENT_BYTES];
	} segments[SEGMENTS_MAX];
	size_t count;
};

__attribute__((format(printf, 3, 4))) static void add(struct header_line *line, enum style style,
						      const char *format, ...)
{
	struct header_segment *segment;
	va_list arguments;

	if (line->count == SEGMENTS_MAX)
		return;
	segment = &line->segments[line->count++];
	segment->style = style;
	va_start(arguments, format);
	vsnprintf(segment->text, sizeof(segment->text), format, arguments);
	va_end(arguments);
}

/* Adds a text, unless it is empty, and empties it. */
static void add_text(struct header_line *line, struct buffer *text)
{
	if (text->length != 0)
		add(line, STYLE_NORMAL, "%s", text->data);
	buffer_clear(text);
}

static int segment_width(const struct header_segment *segment)
{
	return draw_width(segment->text, strlen(segment->text));
}

/* Cells the pieces take, each with the two blanks behind it. */
static int line_width(const struct header_line *line)
{
	int width = 0;

	for (size_t i = 0; i < line->count; i++)
		width += segment_width(&line->segments[i]) + 2;
	return width;
}

/* Draws the pieces that fit from a cell on, with two blanks between. */
static void draw_from(const struct header_line *line, int y, int x, int width)
{
	for (size_t i = 0; i < line->count; i++) {
		int cells = segment_width(&line->segments[i]);

		if (x + cells > width && line->segments[i].is_name)
			cells = width - x;
		if (x + cells > width || cells <= 0)
			continue;
		draw_string(y, x, cells, line->segments[i].style, line->segments[i].text);
		x += cells + 2;
	}
}

/* Draws the pieces at the right end; returns the cells left of them. */
static int draw_right_end(const struct header_line *line, int y, int width)
{
	int x = width;

	for (size_t i = line->count; i > 0; i--) {
		int cells = segment_width(&line->segments[i - 1]);

		if (cells + 1 > x)
			continue;
		x -= cells;
		draw_string(y, x, cells, line->segments[i - 1].style, line->segments[i - 1].text);
		x -= 2;
	}
	return x;
}

bool screen_is_of_now(const struct ui *ui)
{
	return ui->options->file_name == NULL && !ui->past.open;
}

const char *screen_name(const struct ui *ui)
{
	if (ui->options->file_name != NULL)
		return basename(ui->options->file_name);
	return ui->past.open ? ui->past.name : "now";
}

/* How long it is from one time to another, in whole seconds; none where the clock was set back. */
static void append_age(uint64_t from_ns, uint64_t to_ns, struct buffer *age)
{
	const uint64_t seconds = to_ns > from_ns ? (to_ns - from_ns) / NS_PER_S : 0;

	humanize_duration(age, (double)(seconds * NS_PER_S));
}

static void add_mode(struct header_line *line, const struct ui *ui)
{
	const struct snapshot *base = session_base(ui->session), *now = session_now(ui->session);
	struct buffer age = {0};

	if (ui->view.mode == WINDOW_MODE_BASE && base == NULL && ui->past.open) {
		add(line, STYLE_STRONG, "since base, no longer kept");
		return;
	}
	if (ui->view.mode != WINDOW_MODE_BASE || base == NULL) {
		add(line, STYLE_STRONG, "%s", window_mode_names[ui->view.mode]);
		return;
	}
	/* for how long, so that one clock stands on the line: the time of the round */
	append_age(base->captured_at_unix_ns, now->captured_at_unix_ns + NS_PER_S / 2, &age);
	add(line, STYLE_STRONG, "since base, %s ago", age.data);
	buffer_release(&age);
}

/*
 * How often there is a round, and how long the last one counts where that is longer than asked for by more
 * than a tenth.
 */
static void add_interval(struct header_line *line, const struct ui *ui)
{
	const uint64_t asked_ns = ui->settings.interval_ns, real_ns = session_interval_ns(ui->session);
	struct buffer text = {0};

	buffer_append_format(&text, "every %gs", (double)asked_ns / NS_PER_S);
	if (session_round_count(ui->session) > 2 && real_ns > asked_ns + asked_ns / 10) {
		buffer_append_text(&text, ", took ");
		humanize_compact(&text, (double)(real_ns / NS_PER_MS * NS_PER_MS), HUMANIZE_TIME, true);
	}
	add_text(line, &text);
	buffer_release(&text);
}

/* That this is the past: when it was, and how long ago. */
static void add_moment(struct header_line *line, const struct ui *ui)
{
	const uint64_t now_ns = clock_ns(CLOCK_REALTIME), then_ns = ui->past.unix_ns;
	struct buffer age = {0};
	char time[HUMANIZE_TIME_SIZE];

	append_age(then_ns, now_ns, &age);
	add(line, STYLE_MESSAGE, " %s (%s ago)%s ", humanize_time(time, then_ns, true), age.data,
	    ui->past.plays ? " playing, Space stops" : "");
	buffer_release(&age);
}

/* Of a file: how long its window is; of one reading, what would give rates. */
static void add_window(struct header_line *line, const struct ui *ui)
{
	struct buffer text = {0};

	if (session_previous(ui->session) == NULL) {
		add(line, STYLE_NORMAL, "file: totals only (--for 10: rates)");
		return;
	}
	humanize_compact(&text, (double)session_interval_ns(ui->session), HUMANIZE_TIME, true);
	add(line, STYLE_NORMAL, "file of %s", text.data);
	buffer_release(&text);
}

/* The round that is shown, or what is known of the host before there is one; NULL: nothing. */
static const struct snapshot *now_of(const struct ui *ui)
{
	const struct snapshot *now = session_now(ui->session);

	return now != NULL ? now : ui->host_facts;
}

/* Where: host, uptime, load; what: interval, mode, the time of the round on the screen. */
static void draw_where(struct ui *ui, int y)
{
	const struct snapshot *now = now_of(ui);
	const char *file = ui->options->file_name;
	struct header_line left = {0}, right = {0};
	struct buffer text = {0};
	char clock[HUMANIZE_TIME_SIZE];

	add(&left, STYLE_STRONG, "ctop");
	if (file != NULL) {
		add(&left, STYLE_STRONG, "%s", basename(file));
		left.segments[left.count - 1].is_name = true;
	}
	if (now != NULL) {
		if (now->provenance.hostname != NULL)
			add(&left, STYLE_NORMAL, "%s", now->provenance.hostname);
		host_append_uptime(now, &text);
		add_text(&left, &text);
		host_append_load(now, &text);
		add_text(&left, &text);
		buffer_release(&text);
	}
	if (file != NULL)
		add_window(&right, ui);
	else if (ui->past.open)
		add_mode(&right, ui);
	else if (ui->settings.paused)
		add(&right, STYLE_MESSAGE, " PAUSED ");
	else
		add_interval(&right, ui);
	if (ui->past.open)
		add_moment(&right, ui);
	else if (file == NULL || session_previous(ui->session) != NULL)
		add_mode(&right, ui);
	if (now != NULL && !ui->past.open)
		add(&right, STYLE_NORMAL, "%s", humanize_time(clock, now->captured_at_unix_ns, file != NULL));
	draw_from(&left, y, 0, draw_right_end(&right, y, draw_screen_width()));
}

/* Threads whose wait is too long, and those that are in D now. */
static void count_waiting(struct ui *ui, const struct snapshot *now)
{
	struct header_counts *counts = &ui->counts;

	if (counts->serial == now->serial)
		return;
	*counts = (struct header_counts){.serial = now->serial};
	for (size_t i = 0; i < now->thread_count; i++) {
		counts->stuck += now->stuck_ns != NULL && now->stuck_ns[i] != 0;
		counts->blocked += snapshot_value(now, i, METRIC_STATE) == 'D';
		counts->io_uring += snapshot_waits_for_io_uring(now, i);
	}
}

static void add_stuck(struct header_line *line, const struct ui *ui)
{
	char digits[28];

	if (ui->counts.stuck != 0)
		add(line, STYLE_ALARM, "stuck %s", humanize_digits(ui->counts.stuck, digits));
}

/* Processes that end faster than anyone could look at them. */
static void add_storm(struct header_line *line, const struct ui *ui)
{
	struct session_storm storm;

	if (session_find_storm(ui->session, &storm) && storm.names[0] != NULL)
		add(line, STYLE_WAIT, "fork storm: %.0f/s, %s%s%s%s%s", storm.processes_per_s,
		    storm.parent != NULL ? storm.parent : "", storm.parent != NULL ? " starts " : "",
		    storm.names[0], storm.names[1] != NULL ? ", " : "",
		    storm.names[1] != NULL ? storm.names[1] : "");
}

static void add_count(struct header_line *line, const char *name, struct optional_u64 number)
{
	if (number.present)
		add(line, STYLE_NORMAL, "%s %llu", name, (unsigned long long)number.value);
}

/*
 * The kernel counts only who waits for a disk (nr_iowait() of kernel/sched/core.c), and for an io_uring:
 * others in D are blocked too. The pressure of io has the same waits.
 */
static void add_blocked(struct header_line *line, const struct ui *ui, const struct snapshot *now)
{
	const struct header_counts *counts = &ui->counts;
	struct optional_u64 blocked = now->provenance.procs_blocked;
	uint64_t others;

	if (!blocked.present || counts->blocked > blocked.value)
		blocked = (struct optional_u64){counts->blocked, blocked.present || counts->blocked != 0};
	others = blocked.value - counts->blocked;
	if (others > counts->io_uring)
		others = counts->io_uring;
	if (others == 0)
		add_count(line, "blocked", blocked);
	else
		add(line, STYLE_NORMAL, "blocked %llu (%llu io_uring)", (unsigned long long)blocked.value,
		    (unsigned long long)others);
}

/* Threads that start, or end, in a second. */
static void add_lives(struct header_line *line, const char *name, double per_s, bool at_least)
{
	add(line, STYLE_NORMAL, "%s %s%.*f/s", name, at_least ? draw_marks()->at_least : "",
	    per_s == 0 || per_s >= 9.95 ? 0 : 1, per_s);
}

static void add_turnover(struct header_line *line, const struct ui *ui)
{
	const struct session_turnover turnover = session_turnover(ui->session);

	if (turnover.started_known)
		add_lives(line, "forks", turnover.started_per_s, false);
	if (turnover.ended_known)
		add_lives(line, "ended", turnover.ended_per_s, turnover.ended_at_least);
}

/* --- the scheduler of sched_ext --- */

/* For how long it has been running, or nothing where that is not known. */
static void append_scheduler_uptime(const struct ui *ui, struct buffer *text)
{
	const struct task_field_owner *scheduler = session_scheduler(ui->session);
	const uint64_t now_ns = session_now(ui->session)->provenance.boottime_ns;

	if (scheduler == NULL || scheduler->loaded_at_ns == 0 || now_ns < scheduler->loaded_at_ns)
		return;
	buffer_append_text(text, " up ");
	humanize_compact_truncated(text, (double)(now_ns - scheduler->loaded_at_ns), HUMANIZE_TIME);
}

/* Whether all tasks are its, or those that ask for it. */
static const char *switch_words(const struct snapshot *now)
{
	return now->sched_ext.switch_all != 0 ? "full" : "partial";
}

/* The counter of that name, NULL when there is none. */
static const struct task_field_event *find_event(const struct snapshot *snapshot, const char *name)
{
	for (size_t i = 0; i < snapshot->task_fields.event_count; i++) {
		if (strcmp(snapshot->task_fields.events[i].name, name) == 0)
			return &snapshot->task_fields.events[i];
	}
	return NULL;
}

/* The kernel's counters that rose since the round before, as rates; of a single reading all that are not 0.
 */
static void add_scheduler_events(struct header_line *line, const struct ui *ui)
{
	static const char prefix[] = TASK_FIELD_EVENT_PREFIX;
	const struct snapshot *now = session_now(ui->session), *before = session_previous(ui->session);
	const uint64_t interval_ns = session_interval_ns(ui->session);
	const bool of_life = ui->options->file_name != NULL && before == NULL;
	struct buffer text = {0};

	for (size_t i = 0; i < now->task_fields.event_count; i++) {
		const struct task_field_event *event = &now->task_fields.events[i];
		const struct task_field_event *last = before != NULL ? find_event(before, event->name) : NULL;
		const char *name = strncmp(event->name, prefix, strlen(prefix)) == 0
					   ? event->name + strlen(prefix)
					   : event->name;
		struct cell cell = {.state = CELL_VALUE, .form = CELL_FORM_REAL, .unit = UNIT_COUNT_PER_S};

		if (of_life)
			cell.value.real = (double)event->value;
		else if (last != NULL && interval_ns != 0 && event->value > last->value &&
			 now->sched_ext.enable_seq == before->sched_ext.enable_seq)
			cell.value.real = (double)(event->value - last->value) * 1e9 / (double)interval_ns;
		if (cell.value.real == 0)
			continue;
		buffer_clear(&text);
		screen_format_cell(&text, &cell, draw_marks());
		add(line, STYLE_WAIT, "%s %s%s", name, text.data, of_life ? "" : "/s");
	}
	buffer_release(&text);
}

/* On the line of the host: in few letters, unless there is room beside the memory. */
static void add_scheduler(struct header_line *line, const struct ui *ui, int reserved)
{
	const struct snapshot *now = session_now(ui->session);
	const struct task_field_owner *scheduler = session_scheduler(ui->session);
	const char *name = scheduler != NULL ? scheduler->family : "on";
	struct buffer text = {0};

	buffer_append_format(&text, TASK_FIELD_SOURCE " %s", name);
	append_scheduler_uptime(ui, &text);
	buffer_append_format(&text, " %s", switch_words(now));
	if (line_width(line) + draw_width(text.data, text.length) + 2 + reserved <= draw_screen_width())
		add(line, STYLE_NORMAL, "%s", text.data);
	else
		add(line, STYLE_NORMAL, TASK_FIELD_SOURCE " %s", name);
	buffer_release(&text);
}

static void add_rejected(struct header_line *line, const struct snapshot *now)
{
	char digits[28];

	add(line, now->sched_ext.nr_rejected != 0 ? STYLE_WAIT : STYLE_NORMAL, "rejected %s",
	    humanize_digits(now->sched_ext.nr_rejected, digits));
}

/* Describes the scheduler, under its whole name or that of its family. */
static struct header_line make_scheduler_line(const struct ui *ui, bool whole)
{
	const struct snapshot *now = session_now(ui->session);
	const struct task_field_owner *scheduler = session_scheduler(ui->session);
	struct header_line line = {0};
	struct buffer text = {0};

	add(&line, STYLE_STRONG, "%s",
	    scheduler == NULL ? "a sched_ext scheduler"
	    : whole           ? scheduler->name
			      : scheduler->family);
	line.segments[0].is_name = true;
	append_scheduler_uptime(ui, &text);
	if (text.length != 0)
		add(&line, STYLE_NORMAL, "%s", text.data + 1);
	buffer_release(&text);
	if (now->sched_ext.present) {
		add(&line, STYLE_NORMAL, "%s", switch_words(now));
		add_rejected(&line, now);
	}
	add_scheduler_events(&line, ui);
	return line;
}

/* A line of its own, on the tab of task fields. Events are worth more than the version in the name. */
static void draw_scheduler(struct ui *ui, int y)
{
	struct header_line line = make_scheduler_line(ui, true);

	if (line_width(&line) - 2 > draw_screen_width())
		line = make_scheduler_line(ui, false);
	draw_from(&line, y, 0, draw_screen_width());
}

/* The host as a whole: CPUs, run queue, pressure, memory; behind them what is left out first. */
static struct header_line make_host_line(const struct ui *ui, bool with_scheduler, bool brief)
{
	const struct snapshot *now = now_of(ui), *before = session_previous(ui->session);
	struct header_line line = {0};
	struct buffer text = {0};

	host_append_busy(now, before, &text);
	add_text(&line, &text);
	add_stuck(&line, ui);
	add_storm(&line, ui);
	add_count(&line, brief ? "run" : "runnable", now->provenance.procs_running);
	add_blocked(&line, ui, now);
	host_append_pressure(now, before, &text);
	add_text(&line, &text);
	host_append_memory(now, brief, &text);
	if (with_scheduler)
		add_scheduler(&line, ui, text.length != 0 ? (int)text.length + 2 : 0);
	add_text(&line, &text);
	buffer_release(&text);
	if (with_scheduler) {
		if (now->sched_ext.nr_rejected != 0)
			add_rejected(&line, now);
		add_scheduler_events(&line, ui);
	}
	add_turnover(&line, ui);
	return line;
}

static void draw_host(struct ui *ui, int y, bool with_scheduler)
{
	const struct snapshot *now = now_of(ui);
	struct header_line line;

	if (now == NULL)
		return;
	count_waiting(ui, now);
	line = make_host_line(ui, with_scheduler, false);
	if (line_width(&line) - 2 > draw_screen_width())
		line = make_host_line(ui, with_scheduler, true);
	draw_from(&line, y, 0, draw_screen_width());
}

static void add_threads(struct header_line *line, const struct ui *ui)
{
	const struct view *view = &ui->view;
	bool keep = view->grouping.axis == AXIS_CGROUP      ? view->grouping.keep_cgroup_names
		    : view->grouping.axis == AXIS_CONTAINER ? false
							    : view->grouping.keep_thread_names;
	const char *names = keep || view->grouping.axis == AXIS_THREAD_EXACT ||
					    (view->grouping.axis == AXIS_CONTAINER &&
					     !view->grouping.fold_containers) ||
					    axis_is_by_thread(view->grouping.axis)
				    ? ""
				    : " {N}";
	const size_t living = ui->table->row_total - ui->table->row_gone + ui->table->row_idle;
	const uint64_t hidden = session_now(ui->session)->provenance.hidden_threads;
	struct buffer text = {0};
	char digits[28];

	humanize_counted(&text, view->level == VIEW_LEVEL_THREADS ? living : ui->table->threads, "thread");
	if (view->level != VIEW_LEVEL_THREADS) {
		buffer_append_text(&text, " in ");
		humanize_counted(&text, living, "group");
		buffer_append_format(&text, " by %s%s", axes[view->grouping.axis].word, names);
	}
	add_text(line, &text);
	buffer_release(&text);
	if (hidden != 0 && view->level != VIEW_LEVEL_THREADS)
		add(line, STYLE_WAIT, "%s%s hidden from BPF", draw_marks()->at_least,
		    humanize_digits(hidden, digits));
}

/* Names the missing features in the words that fit beside the cost. */
static void add_missing(struct header_line *line, const struct ui *ui)
{
	struct buffer text = {0};

	missing_append_words(ui->session, &ui->view, "e",
			     draw_screen_width() - line_width(line) - COST_CELLS - 2, &text);
	if (text.length != 0)
		add(line, STYLE_WAIT, "%s", text.data);
	buffer_release(&text);
}

/* The backend that read the threads, and the time that it took. */
static void add_cost(struct header_line *line, const struct snapshot *now)
{
	static const char *const ways[] = {
		[FEATURE_STATE_UNKNOWN] = "read in",
		[FEATURE_STATE_ON] = "bpf",
		[FEATURE_STATE_PARTIAL] = "bpf",
		[FEATURE_STATE_OFF] = "procfs",
	};
	struct buffer text = {0};

	if (now->provenance.duration_ns == 0)
		return;
	humanize_compact(&text, (double)now->provenance.duration_ns, HUMANIZE_TIME, true);
	add(line, STYLE_DIM, "%s %s", ways[now->provenance.features[FEATURE_PASSES].state], text.data);
	buffer_release(&text);
}

/* That waits are measured and at least how much of one CPU that takes, where it is known, or that they cannot
 * be; on its tab, how to measure them. */
static void add_latency(struct header_line *line, const struct ui *ui)
{
	const struct snapshot *now = session_now(ui->session);
	const struct latency *latency = &now->latency;

	if (!screen_is_of_now(ui))
		return;
	if (ui->settings.latency && latency->events != 0 && latency->span_ns != 0 && !latency->is_whole)
		add(line, STYLE_MESSAGE, "latency on, %s%.2g%% of a CPU (l stops)", draw_marks()->at_least,
		    (double)latency->cost_ns * 100 / (double)latency->span_ns);
	else if (ui->settings.latency)
		add(line, STYLE_MESSAGE,
		    now->provenance.features[FEATURE_LATENCY].state == FEATURE_STATE_OFF
			    ? "no latency (e: why)"
			    : "latency on (l stops)");
	else if (ui->view.tab == TAB_LATENCY)
		add(line, STYLE_MESSAGE, "latency is off (l starts)");
}

/* Before the first round. */
static void draw_progress(const struct ui *ui, int y)
{
	const unsigned int read_count = ui->host->progress != NULL ? atomic_load(ui->host->progress) : 0;
	struct header_line line = {0};
	char digits[28];

	if (read_count == 0)
		add(&line, STYLE_MESSAGE, "reading every thread for the first time");
	else
		add(&line, STYLE_MESSAGE, "reading every thread for the first time: %s so far",
		    humanize_digits(read_count, digits));
	draw_from(&line, y, 0, draw_screen_width());
}

/* Threads and groups, missing features, and the cost of the round. */
static void draw_data(struct ui *ui, int y)
{
	const struct snapshot *now = session_now(ui->session);
	struct header_line line = {0};

	if (now == NULL) {
		draw_progress(ui, y);
		return;
	}
	if (ui->past.open && ui->past.note != NULL)
		add(&line, STYLE_WAIT, "%s", ui->past.note);
	if (ui->past.live != NULL)
		add(&line, STYLE_MESSAGE, "Esc: now");
	add_threads(&line, ui);
	if (ui->settings.heap_off && !ui->past.open)
		add(&line, STYLE_MESSAGE, "probe off (J)");
	add_latency(&line, ui);
	if (now->provenance.present)
		add_missing(&line, ui);
	else
		add(&line, STYLE_DIM, "by the file's flags (e: what is there)");
	add_cost(&line, now);
	draw_from(&line, y, 0, draw_screen_width());
}

/* --- CPUs and devices --- */

/* The number with the highest share; SIZE_MAX where none is known. */
static size_t find_busiest(const double shares[], size_t count)
{
	size_t busiest = SIZE_MAX;

	for (size_t i = 0; i < count; i++) {
		if (!isnan(shares[i]) && (busiest == SIZE_MAX || shares[i] > shares[busiest]))
			busiest = i;
	}
	return busiest;
}

/* The mean of those that are known, NAN for none. */
static double mean_of(const double shares[], size_t count)
{
	double sum = 0;
	size_t known = 0;

	for (size_t i = 0; i < count; i++) {
		if (isnan(shares[i]))
			continue;
		sum += shares[i];
		known++;
	}
	return known != 0 ? sum / (double)known : NAN;
}

/* A cell for each CPU, or for several. Returns the cells used. */
static int draw_cpu_cells(const double shares[], size_t count, size_t per_cell, int y, int x)
{
	int cells = 0;

	for (size_t i = 0; i < count; i += per_cell, cells++) {
		const double share = mean_of(&shares[i], count - i < per_cell ? count - i : per_cell);

		draw_string(y, x + cells, 1, isnan(share) ? STYLE_DIM : STYLE_NORMAL,
			    isnan(share) ? "-" : spark_sign(spark_height(share, 1)));
	}
	return cells;
}

static void draw_cpus(const double shares[], size_t count, int y)
{
	static const char title[] = "cpus ";
	const int width = draw_screen_width(), start = (int)strlen(title);
	const size_t busiest = find_busiest(shares, count);
	size_t per_cell, cells_max = SPARK_CELLS_MAX;
	struct header_line line = {0};
	int x;

	if (width - start - CPU_WORDS_CELLS < SPARK_CELLS_MAX)
		cells_max = (size_t)(width - start - CPU_WORDS_CELLS);
	per_cell = (count + cells_max - 1) / cells_max;
	draw_string(y, 0, start, STYLE_NORMAL, title);
	x = start + draw_cpu_cells(shares, count, per_cell, y, start) + 2;
	if (per_cell > 1)
		add(&line, STYLE_DIM, "%zu a cell", per_cell);
	if (busiest != SIZE_MAX)
		add(&line, STYLE_NORMAL, "cpu%zu %.0f%%", busiest, shares[busiest] * 100);
	draw_from(&line, y, x, width);
}

static const char *rate_text(double bytes_per_s, struct buffer *text)
{
	const struct cell cell = cell_of_real(bytes_per_s, UNIT_BYTES_PER_S);

	buffer_clear(text);
	screen_format_cell(text, &cell, draw_marks());
	return text->data;
}

/* Of a name so many bytes. */
static void add_disk(struct header_line *line, const struct host_device_rate *rate, int length)
{
	struct buffer in = {0}, out = {0};

	add(line, STYLE_NORMAL, "disk %.*s %.0f%% r %s/s w %s/s", length, rate->name, rate->busy * 100,
	    rate_text(rate->read_per_s, &in), rate_text(rate->write_per_s, &out));
	buffer_release(&in);
	buffer_release(&out);
}

static void add_network(struct header_line *line, const struct host_device_rate *rate, int length)
{
	struct buffer in = {0}, out = {0};

	add(line, STYLE_NORMAL, "net %.*s in %s/s out %s/s", length, rate->name,
	    rate_text(rate->read_per_s, &in), rate_text(rate->write_per_s, &out));
	buffer_release(&in);
	buffer_release(&out);
}

/* Both on one line, with their names cut where it would not fit; on a narrow screen a line each. Returns how
 * many. */
static int draw_devices(const struct snapshot *now, const struct snapshot *before, int y)
{
	const int width = draw_screen_width(), lines = width < DEVICES_WIDTH ? 2 : 1;
	struct header_line line[2] = {0};
	struct host_device_rate disk, network;
	const bool has_disk = host_busiest_disk(now, before, &disk),
		   has_network = host_busiest_network(now, before, &network);

	for (int length = DEVICE_NAME_MAX; length >= DEVICE_NAME_LEAST; length--) {
		line[0].count = line[1].count = 0;
		if (has_disk)
			add_disk(&line[0], &disk, length);
		else
			add(&line[0], STYLE_DIM, "no disk");
		if (has_network)
			add_network(&line[lines - 1], &network, length);
		else
			add(&line[lines - 1], STYLE_DIM, "no network");
		if (line_width(&line[0]) - 2 <= width)
			break;
	}
	for (int i = 0; i < lines; i++)
		draw_from(&line[i], y + i, 0, width);
	return lines;
}

/* Each CPU, and the busiest disk and network. Returns the lines used. */
static int draw_host_devices(const struct ui *ui, int y)
{
	const struct snapshot *now = session_now(ui->session), *before = session_previous(ui->session);
	size_t count;
	double *shares;

	if (now == NULL)
		return 0;
	shares = host_cpu_shares(now, before, &count);
	if (shares == NULL) {
		draw_string(y, 0, draw_screen_width(), STYLE_DIM,
			    screen_is_of_now(ui) ? "CPUs, disks and networks: with the next round"
						 : "CPUs, disks and networks: not recorded");
		return 1;
	}
	draw_cpus(shares, count, y);
	free(shares);
	return 1 + draw_devices(now, before, y + 1);
}

bool screen_header_has_room(int lines)
{
	return lines >= DEVICE_LINES + OTHER_LINES;
}

int screen_header_draw(struct ui *ui, int lines)
{
	const bool runs = session_now(ui->session) != NULL && session_scheduler_runs(ui->session);
	const bool own_line = runs && lines >= 4 && ui->view.tab == TAB_TASK_FIELDS;
	int y = 0;

	draw_where(ui, y++);
	if (lines >= 3)
		draw_host(ui, y++, runs && !own_line);
	if (lines >= 2)
		draw_data(ui, y++);
	if (own_line)
		draw_scheduler(ui, y++);
	if (ui->shows_devices && screen_header_has_room(lines))
		y += draw_host_devices(ui, y);
	return y;
}
