/* SPDX-License-Identifier: GPL-2.0-only */
#include "history_moment.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "history_place.h"
#include "timeline/when.h"

/* A round may be so much longer than the interval before anybody calls it a gap. */
#define LATE_NS (2 * NS_PER_S)

enum {
	/* Rounds that are told from one another are damaged together: more than a day of them. */
	TRIES_MAX = 4096,
};

/* The '@' before the time, which is the last one, or the one before it where the time begins with it; NULL:
 * none. */
static const char *find_separator(const char *name)
{
	const char *at = strrchr(name, '@');

	return at != NULL && at > name && at[-1] == '@' ? at - 1 : at;
}

bool history_moment_is_named(const char *name)
{
	return find_separator(name) != NULL && access(name, F_OK) != 0;
}

static void append_distance(struct buffer *text, uint64_t ns)
{
	const double seconds = (double)ns / 1e9;

	if (seconds < 120)
		buffer_append_format(text, "%.0f s", seconds);
	else if (seconds < 2 * 3600)
		buffer_append_format(text, "%.0f min", seconds / 60);
	else if (seconds < 2 * 86400)
		buffer_append_format(text, "%.1f h", seconds / 3600);
	else
		buffer_append_format(text, "%.1f days", seconds / 86400);
}

/* The usual time between rounds there: that of the round itself, or of the one after it. */
static uint64_t find_span(struct history *history, const struct history_round *round)
{
	struct history_round next;

	if (round->span_ns != 0)
		return round->span_ns;
	return history_step(history, round, 1, &next, NULL) == 0 ? next.span_ns : 0;
}

char *history_moment_describe(struct history *history, const struct history_round *round, uint64_t unix_ns)
{
	const bool is_later = round->unix_ns > unix_ns;
	const uint64_t distance = is_later ? round->unix_ns - unix_ns : unix_ns - round->unix_ns;
	char asked[WHEN_TEXT_SIZE], found[WHEN_TEXT_SIZE];
	struct history_round neighbour;
	struct buffer text = {0};
	bool at_end;

	if (distance <= find_span(history, round) + LATE_NS)
		return NULL;
	at_end = history_step(history, round, is_later ? -1 : 1, &neighbour, NULL) < 0 ||
		 (neighbour.day == round->day && neighbour.id == round->id);
	buffer_append_format(&text, "%s at %s: the nearest round is of %s, ",
			     !at_end    ? "nothing was recorded"
			     : is_later ? "the history had not begun"
					: "the history has ended",
			     when_format(asked, unix_ns), when_format(found, round->unix_ns));
	append_distance(&text, distance);
	buffer_append_text(&text, is_later ? " later" : " earlier");
	return buffer_steal(&text);
}

/* The nearest round; of a whole second, which is how rounds are called, the first one that is in it. */
static int find_nearest(struct history *history, uint64_t unix_ns, struct history_round *ret_round,
			struct error *error)
{
	if (unix_ns % NS_PER_S == 0) {
		int result = history_find(history, unix_ns, HISTORY_AT_OR_AFTER, ret_round, error);

		if (result < 0 || ret_round->unix_ns / NS_PER_S == unix_ns / NS_PER_S)
			return result;
	}
	return history_find(history, unix_ns, HISTORY_NEAREST, ret_round, error);
}

/* `when` is a time that when_parse() takes; one without a day is the last before the newest round. */
static int read_nearest(const char *directory, const char *when_text, uint64_t now_unix_ns,
			struct history_moment *ret_moment, struct error *error)
{
	struct history *history;
	struct history_round round;
	uint64_t unix_ns = 0;
	int result = history_open(directory, &history, error), tries = 0;

	if (result < 0)
		return result;
	(void)when_parse(when_text, now_unix_ns, history_newest(history, now_unix_ns), &unix_ns, NULL);
	/* once it was read, a round that is damaged is not found any more */
	do {
		result = find_nearest(history, unix_ns, &round, error);
		if (result < 0)
			break;
		result = history_read(history, &round, &ret_moment->snapshot, error);
	} while (result == -EBADMSG && ++tries < TRIES_MAX);
	if (result == 0) {
		char when[WHEN_TEXT_SIZE], asked[WHEN_TEXT_SIZE];

		ret_moment->name = memory_format("%s@%s", directory, when_format(when, round.unix_ns));
		ret_moment->note = tries == 0
					   ? history_moment_describe(history, &round, unix_ns)
					   : memory_format("what was recorded at %s is damaged: the nearest "
							   "round that is whole is of %s",
							   when_format(asked, unix_ns),
							   when_format(when, round.unix_ns));
	}
	history_close(history);
	return result;
}

int history_moment_read(const char *name, uint64_t now_unix_ns, struct history_moment *ret_moment,
			struct error *error)
{
	const char *separator = find_separator(name);
	struct error cause;
	uint64_t unix_ns;
	char *directory;
	int result;

	*ret_moment = (struct history_moment){NULL, NULL, NULL};
	result = when_parse(separator + 1, now_unix_ns, now_unix_ns, &unix_ns, &cause);
	if (result < 0)
		return error_set(error, result,
				 "there is no file %.1000s, and as a moment of a history: %.2900s", name,
				 cause.text);
	directory = separator == name ? memory_duplicate(history_place())
				      : memory_duplicate_bytes(name, (size_t)(separator - name));
	result = read_nearest(directory, separator + 1, now_unix_ns, ret_moment, error);
	free(directory);
	return result;
}
