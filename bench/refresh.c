/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The cost of refreshing, and the delays that a user of the screen sees. CPU time of the whole process per
 * refresh and thread, by both backends, against top in the same run; bytes and cells of a frame, the time
 * from a key to its paint and to the first paint, against htop, top and a program that only echoes; what
 * lies between the capture and the screen, for generated rounds; and the table of aims (aims.h). Absolute
 * times differ from machine to machine; ratios count.
 */
#include <malloc.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>
#include <vterm.h>

#include "aims.h"
#include "base/memory.h"
#include "generate.h"
#include "run.h"
#include "session/session.h"

enum {
	INTERVAL_MS = 1000,
	FRAME_END_MS = 60, /* a frame is what comes without such a gap */
	PAINT_END_MS = 3,  /* the same for a paint after a key, which is written at once */
	MARKED_COLUMNS = 24,
	HEADER_ROWS = 3,
	TITLE_ROWS = 3, /* tabs, path and titles, where a key changes no name */
	SKIPPED_FRAMES = 3,
	KEYS = 200,
	KEY_AIM_MS = 20,
	PATIENCE_MS = 60000,
	SPAREST_IDS = 5000, /* that the host needs beside a load */
	ROW_LIMIT = 50,     /* that a screen has room for */
};

struct load_kind {
	const char *name;
	const char *options[6];
	double aim, aim_procfs; /* ratio of ctop -b to top that is wanted at most, by BPF and from procfs */
};

static const struct load_kind load_kinds[] = {
	{"idle", {NULL}, 0.04, 0.35},
	{"busy", {"--busy", "8", NULL}, 0.04, 0.35},
	{"waking", {"--waking", "0.1", "--interval-ms", "1000", NULL}, 0.08, 1.0},
	{"churn", {"--churn", "1000", NULL}, 1.0, 1.0},
};

static void print_cost(const char *load, uint64_t threads, const char *name, const struct refresh_cost *cost,
		       const struct refresh_cost *peer, double aim)
{
	printf("%-7s %8llu  %-18s", load, (unsigned long long)threads, name);
	if (cost->refreshes == 0) {
		printf(" %9s\n", "-");
		return;
	}
	printf(" %9.2f %7.0f", cost->cpu_us / (double)threads, cost->kernel_share * 100);
	if (peer != NULL && peer->refreshes != 0 && peer->cpu_us > 0)
		printf(" %6.3f", cost->cpu_us / peer->cpu_us);
	else
		printf(" %6s", "");
	if (aim > 0)
		printf(" %5.2f", aim);
	else
		printf(" %5s", "");
	printf(" %9.0f %6.0f\n", cost->first_wanted_ms, cost->peak_mib);
	fflush(stdout);
}

static void measure_refreshes(const struct bench_options *options, const struct load_kind *kind,
			      uint32_t threads)
{
	static const char *const top[] = {"top", "-H", "-b", "-d", "1", NULL};
	static const char *const files[] = {"stat", "io", "schedstat", NULL};
	static const char *const backends[] = {"bpf", "procfs"};
	struct program load;
	struct refresh_cost peer, cost;
	uint64_t shown;

	load_start(&load, threads, kind->options);
	shown = host_threads();
	printf("%-7s %8llu  %-18s %9.2f\n", kind->name, (unsigned long long)shown, "stat, io, schedst.",
	       thread_files_floor(files));
	refresh_cost_of(&peer, top, INTERVAL_MS, options->runs, false, NULL);
	print_cost(kind->name, shown, "top -H -b", &peer, NULL, 0);
	for (size_t i = 0; i < ARRAY_COUNT(backends); i++) {
		const char *batch[] = {options->ctop, "-b", "-d", "1", "--backend", backends[i], NULL};
		const char *screen[] = {options->ctop, "-d", "1", "--backend", backends[i], NULL};
		char name[32];

		snprintf(name, sizeof(name), "ctop -b %s", backends[i]);
		refresh_cost_of(&cost, batch, INTERVAL_MS, options->runs, false, "load-");
		print_cost(kind->name, shown, name, &cost, &peer, i == 0 ? kind->aim : kind->aim_procfs);
		if (cost.refreshes == 0 && i > 0)
			fail("ctop -b has failed");
		snprintf(name, sizeof(name), "screen %s", backends[i]);
		refresh_cost_of(&cost, screen, INTERVAL_MS, options->runs, true, " threads in ");
		print_cost(kind->name, shown, name, &cost, &peer, 0);
	}
	program_end(&load);
}

static void refreshes(const struct bench_options *options, uint32_t threads)
{
	printf("CPU time of the whole process per refresh and thread; median of %u refreshes, one a "
	       "second\n\n"
	       "%-7s %8s  %-18s %9s %7s %6s %5s %9s %6s\n",
	       options->runs, "load", "threads", "program", "us/thread", "kernel%", "ratio", "aim",
	       "first ms", "MiB");
	for (size_t i = 0; i < ARRAY_COUNT(load_kinds); i++) {
		if (is_chosen(options->load, load_kinds[i].name) && (!options->is_short || i == 0))
			measure_refreshes(options, &load_kinds[i], threads);
	}
}

/* A program on a terminal that we hold. */
struct watched {
	pid_t child;
	int master;
	VTerm *terminal;
	VTermScreen *screen;
	uint64_t bytes;
	uint64_t written; /* cells */
	double start_us, last_us;
};

static int note_damage(VTermRect area, void *context)
{
	struct watched *watched = context;

	watched->written += (uint64_t)((area.end_row - area.start_row) * (area.end_col - area.start_col));
	return 1;
}

static const VTermScreenCallbacks callbacks = {.damage = note_damage};

static void watch(struct watched *watched, const char *const *arguments)
{
	*watched = (struct watched){.start_us = clock_us(CLOCK_MONOTONIC)};
	watched->master = start_on_terminal(arguments, &watched->child);
	watched->terminal = vterm_new(TERMINAL_ROWS, TERMINAL_COLUMNS);
	vterm_set_utf8(watched->terminal, 1);
	watched->screen = vterm_obtain_screen(watched->terminal);
	vterm_screen_enable_altscreen(watched->screen, 1);
	vterm_screen_set_callbacks(watched->screen, &callbacks, watched);
	vterm_screen_set_damage_merge(watched->screen, VTERM_DAMAGE_CELL);
	vterm_screen_reset(watched->screen, 1);
}

static void watch_end(struct watched *watched)
{
	kill(watched->child, SIGTERM);
	close(watched->master);
	waitpid(watched->child, NULL, 0);
	vterm_free(watched->terminal);
}

/* Takes in what comes within `milliseconds`; false when nothing did or the program ended. */
static bool take_in(struct watched *watched, int milliseconds)
{
	struct pollfd readable = {.fd = watched->master, .events = POLLIN};
	char bytes[65536];
	ssize_t count;

	if (poll(&readable, 1, milliseconds) <= 0)
		return false;
	count = read(watched->master, bytes, sizeof(bytes));
	if (count <= 0)
		return false;
	watched->last_us = clock_us(CLOCK_MONOTONIC);
	watched->bytes += (uint64_t)count;
	vterm_input_write(watched->terminal, bytes, (size_t)count);
	return true;
}

static VTermScreenCell cell_at(const struct watched *watched, int row, int column)
{
	VTermScreenCell cell;

	memset(&cell, 0, sizeof(cell));
	vterm_screen_get_cell(watched->screen, (VTermPos){.row = row, .col = column}, &cell);
	return cell;
}

static bool is_same_color(const VTermColor *a, const VTermColor *b)
{
	return vterm_color_is_equal(a, b) != 0;
}

static bool is_same_cell(const VTermScreenCell *a, const VTermScreenCell *b)
{
	/* a blank that was written and one that was erased look alike */
	const uint32_t character = a->chars[0] ? a->chars[0] : ' ', other = b->chars[0] ? b->chars[0] : ' ';

	return character == other && a->attrs.bold == b->attrs.bold && a->attrs.reverse == b->attrs.reverse &&
	       a->attrs.underline == b->attrs.underline && is_same_color(&a->fg, &b->fg) &&
	       is_same_color(&a->bg, &b->bg);
}

static bool shows(const struct watched *watched, const char *text)
{
	char row_text[TERMINAL_COLUMNS + 1];

	for (int row = 0; row < TERMINAL_ROWS; row++) {
		for (int column = 0; column < TERMINAL_COLUMNS; column++) {
			const uint32_t character = cell_at(watched, row, column).chars[0];

			row_text[column] = character > ' ' && character < 0x7f ? (char)character : ' ';
		}
		row_text[TERMINAL_COLUMNS] = '\0';
		if (strstr(row_text, text) != NULL)
			return true;
	}
	return false;
}

/* Milliseconds from the start of the program until its screen shows the text; NAN: never. */
static double wait_for(struct watched *watched, const char *text)
{
	while (!shows(watched, text)) {
		if (!take_in(watched, PATIENCE_MS) ||
		    watched->last_us - watched->start_us > (double)PATIENCE_MS * 1e3)
			return NAN;
	}
	return (watched->last_us - watched->start_us) / 1000;
}

/* CPU time of the thread that draws (the main one), in microseconds: /proc/PID/task/PID/schedstat. */
static double drawing_us(pid_t process)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/schedstat", (int)process, (int)process);
	return (double)number_in(path, "%llu") / NS_PER_US;
}

struct picture {
	VTermScreenCell cells[TERMINAL_ROWS][TERMINAL_COLUMNS];
};

static void take_picture(struct picture *picture, const struct watched *watched)
{
	for (int row = 0; row < TERMINAL_ROWS; row++) {
		for (int column = 0; column < TERMINAL_COLUMNS; column++)
			picture->cells[row][column] = cell_at(watched, row, column);
	}
}

/* Cells that differ from a picture, in the rows from `from` to before `to` and the first columns. */
static uint64_t changed_cells(const struct picture *picture, const struct watched *watched, int from, int to,
			      int columns)
{
	uint64_t count = 0;

	for (int row = from; row < to; row++) {
		for (int column = 0; column < columns; column++) {
			const VTermScreenCell cell = cell_at(watched, row, column);

			count += !is_same_cell(&cell, &picture->cells[row][column]);
		}
	}
	return count;
}

/* Measures frames of a program that makes one a second; false when it is not here. */
static bool measure_frames(const char *name, const char *const *arguments, uint32_t frames,
			   const char *wanted, double *all_us)
{
	static struct picture before;
	double bytes[RUNS_MAX], all[RUNS_MAX], drawn[RUNS_MAX], header[RUNS_MAX], table[RUNS_MAX],
		vain[RUNS_MAX];
	struct watched watched;
	size_t count = 0;
	clockid_t clock;

	watch(&watched, arguments);
	if (clock_getcpuclockid(watched.child, &clock) != 0 || isnan(wait_for(&watched, wanted))) {
		printf("%-22s        -\n", name);
		watch_end(&watched);
		return false;
	}
	for (uint32_t frame = 0; frame < frames + SKIPPED_FRAMES; frame++) {
		double cpu = clock_us(clock), drawing = drawing_us(watched.child);
		uint64_t bytes_before = watched.bytes, written_before = watched.written, changed;

		take_picture(&before, &watched);
		if (!take_in(&watched, PATIENCE_MS))
			break;
		while (take_in(&watched, FRAME_END_MS))
			;
		if (frame < SKIPPED_FRAMES)
			continue;
		bytes[count] = (double)(watched.bytes - bytes_before);
		all[count] = clock_us(clock) - cpu;
		drawn[count] = drawing_us(watched.child) - drawing;
		header[count] = (double)changed_cells(&before, &watched, 0, HEADER_ROWS, TERMINAL_COLUMNS);
		table[count] = (double)changed_cells(&before, &watched, HEADER_ROWS, TERMINAL_ROWS,
						     TERMINAL_COLUMNS);
		changed = (uint64_t)(header[count] + table[count]);
		vain[count] = watched.written - written_before > changed
				      ? (double)(watched.written - written_before - changed)
				      : 0;
		count++;
	}
	watch_end(&watched);
	*all_us = median(all, count);
	printf("%-22s %8.0f %7.0f %7.0f %7.0f %9.0f %9.0f", name, median(bytes, count), median(header, count),
	       median(table, count), median(vain, count), *all_us, median(drawn, count));
	return count > 0;
}

static void frames(const struct bench_options *options, uint32_t threads)
{
	static const char *const top[] = {"top", "-H", "-d", "1", NULL};
	static const char *const htop[] = {"htop", "-d", "10", NULL};
	const char *ctop[] = {options->ctop, "-d", "1", "--no-config", NULL};
	const char *ctop_threads[] = {options->ctop, "-d", "1", "--no-config", "-g", "thread-exact", NULL};
	static const char *const busy[] = {"--busy", "8", NULL};
	static const char *const none[] = {NULL};
	const char *idle[] = {options->ctop,  "-d", "1",   "--no-config", "-g",
			      "thread-exact", "-f", "mt-", NULL};
	struct program load;
	double peer = 0, us;
	const struct {
		const char *name;
		const char *const *arguments;
		const char *wanted;
	} programs[] = {{"ctop", ctop, " threads in "},
			{"ctop -g thread-exact", ctop_threads, " threads in "},
			{"htop", htop, "Load average"},
			{"top -H", top, "load average"}};

	load_start(&load, threads, busy);
	printf("\nOne frame a second, %llu threads of which 8 are busy; cells that changed in the header and "
	       "below, and\n"
	       "cells that were written in vain; CPU time of the whole process and of the thread that "
	       "draws\n\n"
	       "%-22s %8s %7s %7s %7s %9s %9s %6s\n",
	       (unsigned long long)host_threads(), "program", "bytes", "header", "below", "in vain", "all us",
	       "draws us", "ratio");
	for (size_t i = ARRAY_COUNT(programs); i-- > 0;) {
		if (!measure_frames(programs[i].name, programs[i].arguments, options->runs,
				    programs[i].wanted, &us))
			continue;
		if (i == 3)
			peer = us;
		printf(" %6.3f\n", peer > 0 ? us / peer : NAN);
	}
	program_end(&load);
	/* rows of sleepers only: what changes is the clock and the host's own numbers above the table */
	load_start(&load, threads, none);
	if (measure_frames("ctop, only sleepers", idle, options->runs, "mt-", &us))
		printf(" %6.3f\n", peer > 0 ? us / peer : NAN);
	program_end(&load);
}

/* Microseconds from a key to the end of the paint that shows it; NAN: it showed nothing in time. */
static double key_us(struct watched *watched, const char *key)
{
	static struct picture before;
	double start;

	take_picture(&before, watched);
	start = clock_us(CLOCK_MONOTONIC);
	if (write(watched->master, key, strlen(key)) != (ssize_t)strlen(key))
		return NAN;
	do {
		if (!take_in(watched, PATIENCE_MS / 10))
			return NAN;
		while (take_in(watched, PAINT_END_MS))
			;
		if (watched->last_us - start > (double)PATIENCE_MS * 1e3)
			return NAN;
		/* the titles, and bars and the beginnings of rows: other cells change with each round */
	} while (changed_cells(&before, watched, HEADER_ROWS, HEADER_ROWS + TITLE_ROWS, TERMINAL_COLUMNS) +
			 changed_cells(&before, watched, HEADER_ROWS, TERMINAL_ROWS, MARKED_COLUMNS) ==
		 0);
	return watched->last_us - start;
}

static double percentile(const double *sorted, size_t count, double part)
{
	size_t rank = (size_t)ceil(part * (double)count);

	return count ? sorted[rank ? rank - 1 : 0] : NAN;
}

/* Types two keys in turn, at random times of the interval. */
static void measure_keys(struct watched *watched, const char *program, const char *name,
			 const char *const keys[2], size_t keys_wanted, double *floor_us)
{
	double took[KEYS];
	size_t count = 0, in_time = 0;
	uint32_t random = 12;

	for (size_t i = 0; i < keys_wanted; i++) {
		double end, us;

		random = random * 1664525 + 1013904223;
		end = clock_us(CLOCK_MONOTONIC) + 20e3 + (random >> 16) % 100 * 1e3;
		while (clock_us(CLOCK_MONOTONIC) < end)
			take_in(watched, (int)((end - clock_us(CLOCK_MONOTONIC)) / 1000) + 1);
		us = key_us(watched, keys[i % 2]);
		if (isnan(us))
			continue;
		in_time += us <= KEY_AIM_MS * 1000;
		took[count++] = us;
	}
	median(took, count); /* which sorts */
	if (*floor_us == 0)
		*floor_us = percentile(took, count, 0.5);
	printf("%-11s %-18s %8.2f %8.2f %8.2f %7.1f %5.1f %%", program, name,
	       percentile(took, count, 0.5) / 1000, percentile(took, count, 0.99) / 1000,
	       percentile(took, count, 1) / 1000, percentile(took, count, 0.5) / *floor_us,
	       100.0 * (double)in_time / (double)keys_wanted);
	if (count < keys_wanted)
		printf(" %zu keys showed nothing", keys_wanted - count);
	printf("\n");
}

/* A terminal program that does nothing: it answers each byte with a line at the bottom. */
static _Noreturn void echo(void)
{
	struct termios modes;
	unsigned int count = 0;
	char byte;

	tcgetattr(STDIN_FILENO, &modes);
	cfmakeraw(&modes);
	tcsetattr(STDIN_FILENO, TCSANOW, &modes);
	printf("\033[2J\033[HLoad average");
	fflush(stdout);
	while (read(STDIN_FILENO, &byte, 1) == 1) {
		printf("\033[20;1H%08u", count++);
		fflush(stdout);
	}
	exit(0);
}

/* Two keys that are typed in turn. */
static const struct key_pair {
	const char *name, *keys[2];
} key_pairs[] = {
	{"Down, Up", {"\033OB", "\033OA"}},  {"PgDn, PgUp", {"\033[6~", "\033[5~"}},
	{"End, Home", {"\033OF", "\033OH"}}, {"Tab, Shift-Tab", {"\t", "\033[Z"}},
	{"N, P (sort)", {"N", "P"}},
};

/* Keys of ctop where each thread is a row: in the list of all, and as a group of its own. */
static void keys_of_ctop(const struct bench_options *options, const char *name, const char *axis,
			 size_t wanted, double *floor_us)
{
	const char *arguments[] = {options->ctop, "-d", "1", "--no-config", "-g", axis, NULL};
	static const char all_threads[] = "g\033OF\r"; /* the last of the menu of axes */
	const bool lists = strcmp(axis, "user") == 0;
	struct watched watched;

	watch(&watched, arguments);
	if (!isnan(wait_for(&watched, " threads in ")) &&
	    (!lists || write(watched.master, all_threads, strlen(all_threads)) > 0) &&
	    !isnan(wait_for(&watched, "THREAD "))) {
		/* the second round, so that the order is no longer that of names */
		for (double end = clock_us(CLOCK_MONOTONIC) + 4e6; clock_us(CLOCK_MONOTONIC) < end;)
			take_in(&watched, 300);
		for (size_t i = 0; i < ARRAY_COUNT(key_pairs); i++)
			measure_keys(&watched, name, key_pairs[i].name, key_pairs[i].keys, wanted, floor_us);
	} else {
		printf("%s shows no thread\n", name);
	}
	watch_end(&watched);
}

static void keys(const struct bench_options *options, uint32_t threads)
{
	static const char *const none[] = {NULL};
	static const char *const letters[] = {"x", "y"};
	static const char *const htop[] = {"htop", "-d", "10", NULL};
	const char *floor_arguments[] = {"/proc/self/exe", "--echo", NULL};
	const size_t wanted = options->is_short ? 10 : KEYS;
	struct watched watched;
	struct program load;
	double floor_us = 0;

	load_start(&load, threads, none);
	printf("\nFrom a key to the end of its paint, %llu threads, a row each, one round a second, ms; "
	       "ratio to the\n"
	       "median of a program that only answers; keys within 20 ms (aim: 99 %%)\n\n"
	       "%-11s %-18s %8s %8s %8s %7s %7s\n",
	       (unsigned long long)host_threads(), "program", "keys", "p50", "p99", "longest", "ratio",
	       "20 ms");
	watch(&watched, floor_arguments);
	if (!isnan(wait_for(&watched, "Load average")))
		measure_keys(&watched, "floor", "any", letters, wanted, &floor_us);
	watch_end(&watched);
	watch(&watched, htop);
	if (!isnan(wait_for(&watched, "Load average"))) {
		while (take_in(&watched, 300))
			;
		for (size_t i = 0; i < 2; i++)
			measure_keys(&watched, "htop", key_pairs[i].name, key_pairs[i].keys, wanted / 2,
				     &floor_us);
	}
	watch_end(&watched);
	keys_of_ctop(options, "ctop list", "user", wanted, &floor_us);
	keys_of_ctop(options, "ctop groups", "thread-exact", wanted, &floor_us);
	program_end(&load);
}

static void first_paint(const char *name, const char *const *arguments, const char *header, const char *row,
			uint32_t runs)
{
	double header_ms[RUNS_MAX], table_ms[RUNS_MAX];
	struct watched watched;
	size_t count = 0;

	for (uint32_t run = 0; run < runs; run++) {
		watch(&watched, arguments);
		header_ms[count] = wait_for(&watched, header);
		table_ms[count] = wait_for(&watched, row);
		count += !isnan(header_ms[count]) && !isnan(table_ms[count]);
		watch_end(&watched);
	}
	if (count == 0)
		printf("%-8s        -\n", name);
	else
		printf("%-8s %9.0f %9.0f\n", name, median(header_ms, count), median(table_ms, count));
	fflush(stdout);
}

static bool has_room(uint32_t threads)
{
	const uint64_t ids = number_in("/proc/sys/kernel/pid_max", "%llu"),
		       most = number_in("/proc/sys/kernel/threads-max", "%llu");

	if (ids >= threads + SPAREST_IDS && most >= threads + SPAREST_IDS)
		return true;
	printf("\n%u threads: not measured, kernel.pid_max (%llu) or kernel.threads-max (%llu) is too "
	       "small\n",
	       threads, (unsigned long long)ids, (unsigned long long)most);
	return false;
}

static void paints(const struct bench_options *options, uint32_t threads)
{
	static const char *const none[] = {NULL};
	static const char *const top[] = {"top", "-H", "-d", "1", NULL};
	static const char *const htop[] = {"htop", "-d", "10", NULL};
	const char *ctop[] = {options->ctop, "-d", "1", "--no-config", "-f", "load-", NULL};
	struct program load;

	load_start(&load, threads, none);
	printf("\nFirst paint, %llu threads, median ms from exec: header, table; ctop's has rates, a tenth\n"
	       "of a second after the first round\n(aim: header at 100,000 threads 50)\n\n%-8s %9s %9s\n",
	       (unsigned long long)host_threads(), "program", "header", "table");
	first_paint("top -H", top, "load average", " root ", (options->runs + 1) / 2);
	first_paint("htop", htop, "Load average", " root ", (options->runs + 1) / 2);
	first_paint("ctop", ctop, "  load ", "load-{N}", options->runs);
	program_end(&load);
}

/* All threads sleep, as nearly all do. */
static void add_waits(struct snapshot *snapshot)
{
	snapshot->stuck_ns = memory_allocate_zero(snapshot->thread_capacity, sizeof(uint64_t));
	snapshot->waiting_ns = memory_allocate_zero(snapshot->thread_capacity, sizeof(uint64_t));
	for (size_t i = 0; i < snapshot->thread_count; i++)
		snapshot->waiting_ns[i] = NS_PER_S;
}

/* The round after `before`, in which of 10,000 threads `part` moved, others in each round. */
static struct snapshot *next_round(const struct snapshot *before, size_t round, size_t part)
{
	const size_t count = before->thread_count;
	struct snapshot *snapshot = snapshot_create();

	snapshot_begin_names(snapshot, before);
	/* in their order, so that the ids are the same */
	for (uint32_t i = 1; i < before->cpu_sets.count; i++)
		string_pool_copy(&snapshot->cpu_sets, &before->cpu_sets, i);
	snapshot->provenance = before->provenance;
	snapshot->provenance.boottime_ns += 2 * NS_PER_S;
	snapshot_reserve(snapshot, count);
	for (size_t i = 0; i < count; i++)
		snapshot_add_thread(snapshot, before->tgid[i], before->tid[i]);
	memcpy(snapshot->triple, before->triple, count * sizeof(*snapshot->triple));
	memcpy(snapshot->uid, before->uid, count * sizeof(*snapshot->uid));
	memcpy(snapshot->start_time, before->start_time, count * sizeof(*snapshot->start_time));
	memcpy(snapshot->thread_flags, before->thread_flags, count);
	add_waits(snapshot);
	for (size_t i = METRIC_THREAD_COUNT + 1; i < METRIC_COUNT; i++)
		memcpy(snapshot_column(snapshot, (enum metric)i), before->values[i],
		       count * sizeof(uint64_t));
	snapshot->carried_serial = before->serial;
	snapshot->carried_row = memory_allocate((count + 1) * sizeof(uint32_t));
	snapshot->moved = memory_allocate((count + 1) * sizeof(uint32_t));
	snapshot->moved_known = true;
	for (size_t i = 0; i < count; i++) {
		snapshot->carried_row[i] = (uint32_t)i;
		if ((i * 7919 + round * 104729) % 10000 >= part)
			continue;
		snapshot->moved[snapshot->moved_count++] = (uint32_t)i;
		for (size_t j = METRIC_THREAD_COUNT + 1; j < METRIC_COUNT; j++) {
			if (metric_type((enum metric)j)->kind == METRIC_KIND_COUNTER)
				snapshot->values[j][i] += 1000;
		}
	}
	snapshot_finish(snapshot);
	return snapshot;
}

static void look(struct session *session, enum window_mode mode, enum view_level level)
{
	struct view view;
	struct table *table;

	view_initialise(&view);
	view.mode = mode;
	view.level = level;
	view.cells_on_demand = true;
	view.limit = ROW_LIMIT;
	table = session_table(session, &view);
	session_table_fill(session, &view, table, 0, ROW_LIMIT);
	table_release(table);
	view_release(&view);
}

/* Prints the cost of generated rounds, in which a part in 10,000 moves, and of their overview. */
static void measure_rounds(const char *name, size_t threads, size_t runs, size_t part, bool distinct)
{
	static const struct {
		enum window_mode mode;
		enum view_level level;
	} lookings[] = {{WINDOW_MODE_RATE, VIEW_LEVEL_GROUPS},
			{WINDOW_MODE_BASE, VIEW_LEVEL_GROUPS},
			{WINDOW_MODE_TOTAL, VIEW_LEVEL_GROUPS},
			{WINDOW_MODE_RATE, VIEW_LEVEL_THREADS}};
	double taking[RUNS_MAX], looking[RUNS_MAX];

	printf("%-28s", name);
	for (size_t i = 0; i < ARRAY_COUNT(lookings); i++) {
		struct session *session = session_create();
		const size_t bytes_before = mallinfo2().uordblks + mallinfo2().hblkhd;
		struct snapshot *before = snapshot_generate(threads, distinct);

		add_waits(before);
		/* the next rounds go on with its names, as those after the first one of a capture */
		before->names_serial = before->serial;
		snapshot_finish(before);
		session_keep_courses(session, COLUMN_COUNT);
		session_add_round(session, snapshot_reference(before));
		/* the first looks have none before them to continue, so they do not count */
		for (size_t round = 0; round < runs + 2; round++) {
			struct snapshot *snapshot = next_round(before, round, part);
			const size_t run = round < 2 ? 0 : round - 2;
			double start;

			snapshot_release(before);
			before = snapshot_reference(snapshot);
			start = clock_us(CLOCK_THREAD_CPUTIME_ID);
			session_add_round(session, snapshot);
			taking[run] = clock_us(CLOCK_THREAD_CPUTIME_ID) - start;
			look(session, lookings[i].mode, lookings[i].level);
			looking[run] = clock_us(CLOCK_THREAD_CPUTIME_ID) - start - taking[run];
		}
		if (i == 0)
			printf(" %8zu %9.2f",
			       (mallinfo2().uordblks + mallinfo2().hblkhd - bytes_before) / threads,
			       median(taking, runs) / 1000);
		printf(" %9.2f", median(looking, runs) / 1000);
		snapshot_release(before);
		session_release(session);
	}
	printf("\n");
}

static void sessions(const struct bench_options *options, uint32_t threads)
{
	printf("\nFrom the capture to the screen, %u generated threads, CPU ms (aim: a round and its "
	       "overview 10 at\n"
	       "100,000 threads and 1 at 10,000 when 1 %% moves)\n\n%-28s %8s %9s %9s %9s %9s %9s\n",
	       threads, "", "B/thread", "taking up", "rate", "base", "total", "threads");
	measure_rounds("nothing moves", threads, options->runs, 0, false);
	measure_rounds("1 % moves", threads, options->runs, 100, false);
	measure_rounds("10 % moves", threads, options->runs, 1000, false);
	measure_rounds("1 % moves, a group each", threads, options->runs, 100, true);
}

static const char usage[] =
	"usage: bench-refresh [--short] [--ctop PROGRAM] [--part NAME] [--load NAME] [--threads N] [--runs "
	"N]\n"
	"  --short      1,000 threads, few runs: only shows that it works\n"
	"  --part NAME  refreshes, frames, keys, paint, session or aims; all of them unless given\n"
	"  --load NAME  of refreshes: idle, busy, waking or churn; of aims: host, 1000, 10000, moving,\n"
	"               births or 30000; all of them unless given\n"
	"  --threads N  about as many, in aims at most; each part has its own sizes unless given\n"
	"  --runs N     refreshes, frames, first paints and rounds of each program (9); of aims the whole "
	"(3)\n";

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(const struct bench_options *options, uint32_t threads);
		uint32_t sizes[2];
		uint32_t runs; /* the default of --runs */
	} parts[] = {
		{"refreshes", refreshes, {1000, 10000}, 9},
		{"frames", frames, {10000}, 9},
		{"keys", keys, {30000}, 9},
		{"paint", paints, {10000, 100000}, 9},
		{"session", sessions, {10000, 100000}, 9},
		{"aims", aims_measure, {30000}, 3},
	};
	struct bench_options options = {.ctop = CTOP_PROGRAM};

	if (argc == 2 && strcmp(argv[1], "--echo") == 0)
		echo();
	setenv("LC_ALL", "C.UTF-8", 1);
	signal(SIGPIPE, SIG_IGN);
	bench_options_parse(&options, usage, argc, argv);
	for (size_t i = 0; i < ARRAY_COUNT(parts); i++) {
		struct bench_options chosen = options;

		if (options.runs == 0)
			chosen.runs = parts[i].runs;
		for (size_t size = 0; size < 2 && parts[i].sizes[size] != 0; size++) {
			const uint32_t threads = options.threads != 0 ? options.threads
								      : parts[i].sizes[size];

			if (is_chosen(options.part, parts[i].name) && has_room(threads) &&
			    (size == 0 || options.threads == 0))
				parts[i].run(&chosen, threads);
		}
	}
	return EXIT_SUCCESS;
}
