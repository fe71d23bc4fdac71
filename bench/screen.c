/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a user feels of the screen: bytes and CPU time of a frame, time from a key to its paint, time to the
 * first paint; of htop and top in the same run under the same load, and of a program that only echoes.
 */
#include <fcntl.h>
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

#include "run.h"

enum {
	FRAME_END_MS = 60, /* a frame is what comes without such a gap */
	PAINT_END_MS = 3,  /* the same for a paint after a key, which is written at once */
	MARKED_COLUMNS = 24,
	HEADER_ROWS = 3,
	TITLE_ROWS = 3, /* tabs, path and titles, where a key changes no name */
	SKIPPED_FRAMES = 3,
	KEYS = 200,
	PATIENCE_MS = 60000,
	SPAREST_IDS = 5000, /* that the host needs beside a load */
};

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
		    watched->last_us - watched->start_us > PATIENCE_MS * 1e3)
			return NAN;
	}
	return (watched->last_us - watched->start_us) / 1000;
}

/* CPU time of the thread that draws (the main one), in microseconds: /proc/PID/task/PID/schedstat. */
static double drawing_us(pid_t process)
{
	char path[64];
	unsigned long long ns = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/schedstat", (int)process, (int)process);
	file = fopen(path, "re");
	if (file == NULL)
		return NAN;
	if (fscanf(file, "%llu", &ns) != 1)
		ns = 0;
	fclose(file);
	return (double)ns / NS_PER_US;
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

/* Cells that differ from a picture, in the rows from `from` to before `to`. */
static uint64_t changed_cells(const struct picture *picture, const struct watched *watched, int from, int to)
{
	uint64_t count = 0;

	for (int row = from; row < to; row++) {
		for (int column = 0; column < TERMINAL_COLUMNS; column++) {
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
		header[count] = (double)changed_cells(&before, &watched, 0, HEADER_ROWS);
		table[count] = (double)changed_cells(&before, &watched, HEADER_ROWS, TERMINAL_ROWS);
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
	for (size_t i = sizeof(programs) / sizeof(programs[0]); i-- > 0;) {
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

/* What a key changes: where bars are, titles, and the beginnings of rows. */
struct mark {
	uint32_t characters[TERMINAL_ROWS][MARKED_COLUMNS];
	VTermColor bars[TERMINAL_ROWS];
	unsigned int reverse[TERMINAL_ROWS];
	uint32_t titles[TITLE_ROWS][TERMINAL_COLUMNS];
};

static void take_mark(struct mark *mark, const struct watched *watched)
{
	memset(mark, 0, sizeof(*mark));
	for (int row = HEADER_ROWS; row < TERMINAL_ROWS; row++) {
		const VTermScreenCell first = cell_at(watched, row, 0);

		mark->bars[row] = first.bg;
		mark->reverse[row] = first.attrs.reverse;
		for (int column = 0; column < MARKED_COLUMNS; column++)
			mark->characters[row][column] = cell_at(watched, row, column).chars[0];
	}
	for (int column = 0; column < TERMINAL_COLUMNS; column++) {
		for (int row = 0; row < TITLE_ROWS; row++)
			mark->titles[row][column] = cell_at(watched, HEADER_ROWS + row, column).chars[0];
	}
}

static bool is_same_mark(const struct mark *a, const struct mark *b)
{
	for (int row = HEADER_ROWS; row < TERMINAL_ROWS; row++) {
		if (!is_same_color(&a->bars[row], &b->bars[row]) || a->reverse[row] != b->reverse[row] ||
		    memcmp(a->characters[row], b->characters[row], sizeof(a->characters[row])) != 0)
			return false;
	}
	return memcmp(a->titles, b->titles, sizeof(a->titles)) == 0;
}

/* Microseconds from a key to the end of the paint that shows it; NAN: it showed nothing in time. */
static double key_us(struct watched *watched, const char *key)
{
	struct mark before, now;
	double start;

	take_mark(&before, watched);
	start = clock_us(CLOCK_MONOTONIC);
	if (write(watched->master, key, strlen(key)) != (ssize_t)strlen(key))
		return NAN;
	do {
		if (!take_in(watched, PATIENCE_MS / 10))
			return NAN;
		while (take_in(watched, PAINT_END_MS))
			;
		if (watched->last_us - start > PATIENCE_MS * 1e3)
			return NAN;
		take_mark(&now, watched);
	} while (is_same_mark(&before, &now));
	return watched->last_us - start;
}

static int compare_doubles(const void *a, const void *b)
{
	const double left = *(const double *)a, right = *(const double *)b;

	return (left > right) - (left < right);
}

static double percentile(const double *sorted, size_t count, double part)
{
	size_t rank = (size_t)ceil(part * (double)count);

	return count ? sorted[rank ? rank - 1 : 0] : NAN;
}

/* Types two keys in turn, at random times of the interval. */
static void measure_keys(struct watched *watched, const char *program, const char *name,
			 const char *const keys[2], size_t keys_wanted, double aim_ms, double *floor_us)
{
	double *took = calloc(keys_wanted, sizeof(*took));
	size_t count = 0, lost = 0, late = 0;
	uint32_t random = 12;

	if (took == NULL)
		fail("no memory");
	for (size_t i = 0; i < keys_wanted; i++) {
		double end, us;

		random = random * 1664525 + 1013904223;
		end = clock_us(CLOCK_MONOTONIC) + 20e3 + (random >> 16) % 100 * 1e3;
		while (clock_us(CLOCK_MONOTONIC) < end)
			take_in(watched, (int)((end - clock_us(CLOCK_MONOTONIC)) / 1000) + 1);
		us = key_us(watched, keys[i % 2]);
		if (isnan(us)) {
			lost++;
			continue;
		}
		late += aim_ms > 0 && us > aim_ms * 1000;
		took[count++] = us;
	}
	qsort(took, count, sizeof(*took), compare_doubles);
	if (*floor_us == 0)
		*floor_us = percentile(took, count, 0.5);
	printf("%-11s %-18s %8.2f %8.2f %8.2f %7.1f", program, name, percentile(took, count, 0.5) / 1000,
	       percentile(took, count, 0.99) / 1000, percentile(took, count, 1) / 1000,
	       percentile(took, count, 0.5) / *floor_us);
	if (aim_ms > 0)
		printf(" %5.1f %%",
		       100.0 * (double)(count - late) / (double)(count + lost ? count + lost : 1));
	if (lost > 0)
		printf(" %zu keys showed nothing", lost);
	printf("\n");
	fflush(stdout);
	free(took);
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

/* Keys of ctop where each thread is a row: in the list of all, and as a group of its own. */
static void keys_of_ctop(const struct bench_options *options, const char *name, const char *axis,
			 size_t wanted, double *floor_us)
{
	static const char *const rows[] = {"\033OB", "\033OA"}, *const pages[] = {"\033[6~", "\033[5~"},
				 *const ends[] = {"\033OF", "\033OH"}, *const tabs[] = {"\t", "\033[Z"},
				 *const sorts[] = {"N", "P"};
	const char *arguments[] = {options->ctop, "-d", "1", "--no-config", "-g", axis, NULL};
	const bool lists = strcmp(axis, "user") == 0; /* behind which the list of all threads is */
	struct watched watched;

	watch(&watched, arguments);
	if (!isnan(wait_for(&watched, " threads in ")) && (!lists || write(watched.master, "g", 1) == 1) &&
	    !isnan(wait_for(&watched, "THREAD "))) {
		/* the second round, so that the order is no longer that of names */
		for (double end = clock_us(CLOCK_MONOTONIC) + 4e6; clock_us(CLOCK_MONOTONIC) < end;)
			take_in(&watched, 300);
		measure_keys(&watched, name, "Down, Up", rows, wanted, 20, floor_us);
		measure_keys(&watched, name, "PgDn, PgUp", pages, wanted, 20, floor_us);
		measure_keys(&watched, name, "End, Home", ends, wanted, 20, floor_us);
		measure_keys(&watched, name, "Tab, Shift-Tab", tabs, wanted, 20, floor_us);
		measure_keys(&watched, name, "N, P (sort)", sorts, wanted, 20, floor_us);
	} else {
		printf("%s shows no thread\n", name);
	}
	watch_end(&watched);
}

static void keys(const struct bench_options *options, const char *self, uint32_t threads)
{
	static const char *const none[] = {NULL};
	static const char *const rows[] = {"\033OB", "\033OA"}, *const pages[] = {"\033[6~", "\033[5~"},
				 *const letters[] = {"x", "y"};
	static const char *const htop[] = {"htop", "-d", "10", NULL};
	const char *floor_arguments[] = {self, "--echo", NULL};
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
		measure_keys(&watched, "floor", "any", letters, wanted, 0, &floor_us);
	watch_end(&watched);
	watch(&watched, htop);
	if (!isnan(wait_for(&watched, "Load average"))) {
		while (take_in(&watched, 300))
			;
		measure_keys(&watched, "htop", "Down, Up", rows, wanted / 2, 20, &floor_us);
		measure_keys(&watched, "htop", "PgDn, PgUp", pages, wanted / 2, 20, &floor_us);
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

static uint64_t number_in(const char *path)
{
	FILE *file = fopen(path, "re");
	unsigned long long number = 0;

	if (file == NULL || fscanf(file, "%llu", &number) != 1)
		number = 0;
	if (file != NULL)
		fclose(file);
	return number;
}

static bool has_room(uint32_t threads)
{
	const uint64_t ids = number_in("/proc/sys/kernel/pid_max"),
		       most = number_in("/proc/sys/kernel/threads-max");

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
	printf("\nFirst paint, %llu threads, median ms from exec: header, table; ctop's has rates, a third\n"
	       "of a second after the first round\n(aim: header at 100,000 threads 50)\n\n%-8s %9s %9s\n",
	       (unsigned long long)host_threads(), "program", "header", "table");
	first_paint("top -H", top, "load average", " root ", (options->runs + 1) / 2);
	first_paint("htop", htop, "Load average", " root ", (options->runs + 1) / 2);
	first_paint("ctop", ctop, "  load ", "load-{N}", options->runs);
	program_end(&load);
}

static const char usage[] =
	"usage: bench-screen [--short] [--ctop PROGRAM] [--load NAME] [--threads N] [--runs N]\n"
	"  --short      1,000 threads, few runs: only shows that it works\n"
	"  --load NAME  frames, keys or paint; all of them unless given\n"
	"  --threads N  unless given, 10,000 for frames, 30,000 for keys, 10,000 and 100,000 for the first "
	"paint\n"
	"  --runs N     frames and first paints of each program (15)\n";

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		uint32_t threads;
	} parts[] = {{"frames", 10000}, {"keys", 30000}, {"paint", 10000}, {"paint", 100000}};
	struct bench_options options = {.ctop = CTOP_PROGRAM, .runs = 15};
	bool is_known = options.load == NULL;

	if (argc == 2 && strcmp(argv[1], "--echo") == 0)
		echo();
	setenv("LC_ALL", "C.UTF-8", 1);
	setvbuf(stdout, NULL, _IOLBF, 0);
	signal(SIGPIPE, SIG_IGN);
	bench_options_parse(&options, usage, argc, argv);
	if (options.is_short)
		options.runs = 3;
	if (geteuid() != 0)
		printf("not root: ctop reads less than it would, the figures do not count\n");
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		const uint32_t threads = options.threads ? options.threads : parts[i].threads;

		if (options.load != NULL && strcmp(options.load, parts[i].name) != 0)
			continue;
		is_known = true;
		/* the second size of a part only where none was asked for */
		if ((options.threads != 0 && i == 3) || !has_room(threads))
			continue;
		if (i == 0)
			frames(&options, threads);
		else if (i == 1)
			keys(&options, argv[0], threads);
		else
			paints(&options, threads);
	}
	if (!is_known)
		fprintf(stderr, "bench-screen: no part is called '%s'\n", options.load);
	return is_known ? EXIT_SUCCESS : EXIT_FAILURE;
}
