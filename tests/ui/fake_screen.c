/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The screen over a fabricated session, which a test steers as described in driven.h. Requests of the screen
 * to its host become answers to the test. Commands:
 *
 *   row MARK THREADS CPU LABEL   adds a row to the next round; MARK is one of . + x ^, LABEL may have \xNN
 *   round, base                  sends the next round, or the requested full one
 *   saved TEXT, message TEXT, error TEXT
 *   failed TEXT                  reports that no round will come
 *   off FEATURE                  future rounds lack the feature ("delays" is off from the start)
 *   on FEATURE                   future rounds have it again
 *   devices NUMBER               future rounds have NUMBER CPUs, a disk and a network
 *   forks NUMBER                 NUMBER threads start, and end, per round
 *   stuck NUMBER [RINGS]         NUMBER threads are in D in future rounds, RINGS wait for an io_uring
 *   stderr TEXT                  a library writes to standard error
 *   moment ROUND [newest]        sends the requested moment
 *   slow MS                      making the rows takes MS ms, by the clock
 *   repaint                      the next frame is whole
 *   crash segv|stack|abort|exit|memory|thread
 */
#include <curses.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "ui/terminal/terminal.h"
#include "ui/ui.h"

#include "driven.h"
#include "fake_session.h"

struct fake_host {
	struct session *session;
	uint64_t rounds;
	uint64_t asked; /* number of the last request for a moment */
};

/* Turns \xNN into bytes in place; returns the new length. */
static size_t unescape(char *text)
{
	size_t length = 0;

	for (const char *from = text; *from != '\0'; length++) {
		unsigned int byte;

		if (from[0] == '\\' && from[1] == 'x' && sscanf(from + 2, "%2x", &byte) == 1) {
			text[length] = (char)byte;
			from += 4;
		} else {
			text[length] = *from++;
		}
	}
	return length;
}

static void add_row(char *arguments)
{
	char mark;
	unsigned int threads;
	double cpu;
	int used = 0;
	size_t length;

	if (sscanf(arguments, "%c %u %lf %n", &mark, &threads, &cpu, &used) != 3 || used == 0)
		abort();
	length = unescape(arguments + used);
	fake_session_add_row(mark == '+'   ? ROW_MARK_NEW
			     : mark == 'x' ? ROW_MARK_GONE
			     : mark == '^' ? ROW_MARK_MOVER
					   : ROW_MARK_NONE,
			     threads, cpu, arguments + used, length);
}

/* Round 0 is of the time at which the clock begins. */
static struct ui_moment make_moment(struct fake_host *host, uint64_t round, bool is_newest)
{
	struct snapshot *now = fake_session_snapshot(round);

	return (struct ui_moment){
		.unix_ns = now->captured_at_unix_ns,
		.moment = fake_session_moment(now),
		.is_newest = is_newest,
		.number = host->asked,
	};
}

static unsigned int overflow_stack(volatile unsigned int depth)
{
	volatile char frame[4096];

	frame[depth % sizeof(frame)] = 1;
	return depth == UINT32_MAX ? 0 : overflow_stack(depth + 1) + (unsigned int)frame[0];
}

enum {
	DRAWN_BESIDE = 10, /* times drawn between the reset of the terminal and the end */
};

static atomic_uint drawn; /* counted in crash_beside() */
static atomic_bool draws;

/* Handler that the crash guard leaves SIGUSR1 to: it ends late, as if the crashed thread got no CPU. */
static void end_late(int signal_number)
{
	const struct timespec pause = {0, 1000000};
	const unsigned int begun = drawn;

	while (draws && drawn < begun + DRAWN_BESIDE)
		nanosleep(&pause, NULL);
	signal(signal_number, SIG_DFL);
	raise(signal_number);
}

static void *raise_in_thread(void *unused)
{
	raise(SIGUSR1);
	return unused;
}

/* Sends a deadly signal to another thread while this one draws, mostly with the cursor off. */
static void crash_beside(void)
{
	const struct timespec pause = {0, 1000000};
	pthread_t thread;

	draws = true;
	if (pthread_create(&thread, NULL, raise_in_thread, NULL) != 0)
		abort();
	for (;; drawn++) {
		curs_set(1);
		curs_set(0);
		nanosleep(&pause, NULL);
	}
}

static void crash(const char *how)
{
	if (strcmp(how, "segv") == 0)
		raise(SIGSEGV);
	else if (strcmp(how, "stack") == 0)
		driven_answer("%u\n", overflow_stack(0));
	else if (strcmp(how, "abort") == 0)
		abort();
	else if (strcmp(how, "exit") == 0)
		exit(7);
	else if (strcmp(how, "memory") == 0)
		free(memory_allocate(SIZE_MAX / 2));
	else if (strcmp(how, "thread") == 0)
		crash_beside();
}

/* Carries out one command; returns whether it made an event. */
static bool obey(void *context, char *line, struct ui_event *event)
{
	struct fake_host *host = context;
	char *arguments = strchr(line, ' ');

	if (arguments != NULL)
		*arguments++ = '\0';
	if (strcmp(line, "row") == 0) {
		add_row(arguments);
	} else if (strcmp(line, "round") == 0 || strcmp(line, "base") == 0) {
		fake_session_take_rows(host->session);
		event->kind = strcmp(line, "base") == 0 ? UI_EVENT_BASE : UI_EVENT_ROUND;
		event->snapshot = fake_session_snapshot(host->rounds++);
		return true;
	} else if (strcmp(line, "saved") == 0 || strcmp(line, "message") == 0 || strcmp(line, "error") == 0) {
		event->kind = strcmp(line, "saved") == 0 ? UI_EVENT_SAVED : UI_EVENT_MESSAGE;
		event->is_error = strcmp(line, "error") == 0;
		event->message = memory_duplicate(arguments);
		return true;
	} else if (strcmp(line, "failed") == 0) {
		event->kind = UI_EVENT_FAILED;
		event->message = memory_duplicate(arguments);
		return true;
	} else if (strcmp(line, "off") == 0 || strcmp(line, "on") == 0) {
		fake_session_switch(arguments, strcmp(line, "off") == 0);
	} else if (strcmp(line, "measured") == 0) {
		fake_session_measure_latency(strtoull(arguments, NULL, 10));
	} else if (strcmp(line, "delay") == 0) {
		char victim[32], culprit[32];
		unsigned int milliseconds;

		if (sscanf(arguments, "%31s %31s %u", victim, culprit, &milliseconds) != 3)
			abort();
		fake_session_delay(victim, culprit, milliseconds);
	} else if (strcmp(line, "devices") == 0) {
		fake_session_devices((uint32_t)strtoul(arguments, NULL, 10));
	} else if (strcmp(line, "forks") == 0) {
		fake_session_fork(strtoull(arguments, NULL, 10));
	} else if (strcmp(line, "stuck") == 0) {
		const char *at_rings = strchr(arguments, ' ');

		fake_session_stick(strtoull(arguments, NULL, 10),
				   at_rings != NULL ? strtoull(at_rings, NULL, 10) : 0);
	} else if (strcmp(line, "moment") == 0) {
		event->kind = UI_EVENT_MOMENT;
		event->moment = make_moment(host, strtoull(arguments, NULL, 10),
					    strchr(arguments, ' ') != NULL);
		return true;
	} else if (strcmp(line, "slow") == 0) {
		fake_session_slow_down(strtoull(arguments, NULL, 10));
	} else if (strcmp(line, "repaint") == 0) {
		terminal_repaint();
		/* the loop draws after events that may have changed something */
		event->kind = UI_EVENT_HOST;
		return true;
	} else if (strcmp(line, "stderr") == 0) {
		fprintf(stderr, "%s\n", arguments);
	} else if (strcmp(line, "crash") == 0) {
		crash(arguments);
	}
	return false;
}

static bool receive(void *context, struct ui_event *event)
{
	return driven_receive(obey, context, event);
}

/* Says what is asked for. */
static bool request(void *context, const struct ui_request *request)
{
	struct fake_host *host = context;

	if (request->kind == UI_REQUEST_MOMENT) {
		host->asked = request->look.number;
		driven_answer("look %d %lld\n", (int)request->look.kind, (long long)request->look.amount);
	} else if (request->kind == UI_REQUEST_BASE) {
		driven_answer("base\n");
	} else {
		driven_answer("save %zu threads\n", request->save.shown->thread_count);
		snapshot_window_release(request->save.window);
	}
	return true;
}

/* Says what changed; of needs, what they are. */
static void change_settings(void *context, const struct ui_settings *settings)
{
	static struct ui_settings before = {.interval_ns = 2000000000};

	(void)context;
	if (settings->interval_ns != before.interval_ns)
		driven_answer("interval %llu\n", (unsigned long long)settings->interval_ns);
	else if (settings->paused != before.paused)
		driven_answer("paused %d\n", settings->paused);
	else if (settings->heap_off != before.heap_off)
		driven_answer("heap %d\n", !settings->heap_off);
	else if (settings->latency != before.latency)
		driven_answer("latency %d\n", settings->latency);
	else if (memcmp(settings->limits_of, before.limits_of, sizeof(before.limits_of)) != 0)
		driven_answer("limits %u %u %u %u\n", settings->limits_of[0], settings->limits_of[1],
			      settings->limits_of[2], settings->limits_of[3]);
	else
		driven_answer("needs cgroups %d smaps %d sources %x\n", settings->cgroup_records,
			      settings->smaps, settings->needed);
	before = *settings;
}

int main(int argc, char **argv)
{
	struct fake_host fake = {.session = session_create()};
	struct ui_host host = {.context = &fake, .receive = receive, .request = request};
	struct ui_moment moment;
	struct view view;
	struct ui_options options = {.interval_ns = 2000000000, .view = &view};

	signal(SIGUSR1, end_late);
	view_initialise(&view);
	view.fold_idle = true;
	for (int i = 1; i < argc; i++) {
		for (enum theme theme = 0; theme < THEME_COUNT; theme++) {
			if (strncmp(argv[i], "--theme=", 8) == 0 &&
			    strcmp(argv[i] + 8, theme_names[theme]) == 0)
				options.theme = theme;
		}
		options.ascii |= strcmp(argv[i], "--ascii") == 0;
		options.no_mouse |= strcmp(argv[i], "--no-mouse") == 0;
		if (strncmp(argv[i], "--file=", 7) == 0)
			options.file_name = argv[i] + 7;
		if (strcmp(argv[i], "--past") == 0) {
			moment = make_moment(&fake, 0, false);
			options.moment = &moment;
		}
	}
	if (options.file_name != NULL) {
		fake_session_add_row(ROW_MARK_NONE, 3, 1000, "stored", 6);
		fake_session_take_rows(fake.session);
		session_add_round(fake.session, fake_session_snapshot(1));
	}
	if (options.file_name == NULL)
		host.offers = 1U << UI_REQUEST_MOMENT;
	if (options.file_name == NULL && options.moment == NULL) {
		host.offers |= 1U << UI_REQUEST_BASE | 1U << UI_REQUEST_SAVE;
		host.change_settings = change_settings;
		host.has_heap = host.has_latency = true;
	}
	return driven_run(fake.session, &host, &options);
}
