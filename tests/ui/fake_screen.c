/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The screen over a fabricated session, steered by a test: commands come as lines on descriptor 3, what the
 * screen asks of its host goes as lines to descriptor 4.
 *
 *   row MARK THREADS CPU LABEL   a row of the next round; MARK one of . + x ^, LABEL with \xNN
 *   round, base                  the next round, or the full one that was asked for
 *   saved TEXT, message TEXT, error TEXT
 *   failed TEXT                  there will be no round
 *   off FEATURE                  is missing in the rounds to come ("delays" is from the start)
 *   on FEATURE                   is there again
 *   forks NUMBER                 so many threads start, and end, from one round to the next
 *   stuck NUMBER                 so many threads are in D in the rounds to come
 *   stderr TEXT                  a library writes to standard error
 *   moment ROUND [newest]        the moment that was asked for
 *   slow MS                      making the rows takes so long, by the clock
 *   clock MS, sync NUMBER        as fake_clock.h says
 *   crash segv|stack|abort|exit|memory
 */
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "ui/ui.h"

#include "fake_clock.h"
#include "fake_session.h"

enum {
	COMMANDS = 3,
	ANSWERS = 4
};

struct fake_host {
	struct session *session;
	struct buffer received;
	uint64_t rounds;
	uint64_t asked; /* number of the last request for a moment */
};

static void answer(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void answer(const char *format, ...)
{
	char text[256];
	va_list arguments;
	ssize_t written;
	int length;

	va_start(arguments, format);
	length = vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	written = write(ANSWERS, text, (size_t)length);
	(void)written;
}

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

static void crash(const char *how)
{
	if (strcmp(how, "segv") == 0)
		raise(SIGSEGV);
	else if (strcmp(how, "stack") == 0)
		answer("%u\n", overflow_stack(0));
	else if (strcmp(how, "abort") == 0)
		abort();
	else if (strcmp(how, "exit") == 0)
		exit(7);
	else if (strcmp(how, "memory") == 0)
		free(memory_allocate(SIZE_MAX / 2));
}

/* Carries out one command; returns whether it made an event. */
static bool obey(struct fake_host *host, char *line, struct ui_event *event)
{
	char *arguments = strchr(line, ' ');

	if (fake_clock_obey(line))
		return false;
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
	} else if (strcmp(line, "forks") == 0) {
		fake_session_fork(strtoull(arguments, NULL, 10));
	} else if (strcmp(line, "stuck") == 0) {
		fake_session_stick(strtoull(arguments, NULL, 10));
	} else if (strcmp(line, "moment") == 0) {
		event->kind = UI_EVENT_MOMENT;
		event->moment = make_moment(host, strtoull(arguments, NULL, 10),
					    strchr(arguments, ' ') != NULL);
		return true;
	} else if (strcmp(line, "slow") == 0) {
		fake_session_slow_down(strtoull(arguments, NULL, 10));
	} else if (strcmp(line, "stderr") == 0) {
		fprintf(stderr, "%s\n", arguments);
	} else if (strcmp(line, "crash") == 0) {
		crash(arguments);
	}
	return false;
}

static bool receive(void *context, struct ui_event *event)
{
	struct fake_host *host = context;
	bool made = false;
	char bytes[4096];
	ssize_t length;
	char *newline;

	*event = (struct ui_event){0};
	while ((length = read(COMMANDS, bytes, sizeof(bytes))) > 0)
		buffer_append(&host->received, bytes, (size_t)length);
	while (!made && host->received.length != 0 &&
	       (newline = memchr(host->received.data, '\n', host->received.length)) != NULL) {
		size_t line = (size_t)(newline - host->received.data);
		char *text = memory_duplicate_bytes(host->received.data, line);

		memmove(host->received.data, newline + 1, host->received.length - line);
		host->received.length -= line + 1;
		made = obey(host, text, event);
		free(text);
	}
	return made;
}

/* Says what is asked for. */
static bool request(void *context, const struct ui_request *request)
{
	struct fake_host *host = context;

	if (request->kind == UI_REQUEST_MOMENT) {
		host->asked = request->look.number;
		answer("look %d %lld\n", (int)request->look.kind, (long long)request->look.amount);
	} else if (request->kind == UI_REQUEST_BASE) {
		answer("base\n");
	} else {
		answer("save %zu threads\n", request->save.shown->thread_count);
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
		answer("interval %llu\n", (unsigned long long)settings->interval_ns);
	else if (settings->paused != before.paused)
		answer("paused %d\n", settings->paused);
	else if (settings->heap_off != before.heap_off)
		answer("heap %d\n", !settings->heap_off);
	else if (settings->latency != before.latency)
		answer("latency %d\n", settings->latency);
	else
		answer("needs cgroups %d smaps %d sources %x\n", settings->cgroup_records, settings->smaps,
		       settings->needed);
	before = *settings;
}

int main(int argc, char **argv)
{
	struct fake_host fake = {.session = session_create()};
	struct ui_host host = {
		.context = &fake, .descriptor = COMMANDS, .receive = receive, .request = request};
	struct ui_moment moment;
	struct view view;
	struct ui_options options = {.interval_ns = 2000000000, .view = &view};
	struct error error = {0};
	int result;

	view_initialise(&view);
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
	setlocale(LC_CTYPE, "");
	fcntl(COMMANDS, F_SETFL, O_NONBLOCK);
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
	result = ui_run(fake.session, &host, &options, &error);
	session_release(fake.session);
	buffer_release(&fake.received);
	if (result < 0) {
		fprintf(stderr, "fake: %s\n", error.text);
		return 1;
	}
	if (result > 0)
		raise(result);
	return 0;
}
