/* SPDX-License-Identifier: GPL-2.0-only */
#include "history_moment.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/humanize.h"
#include "base/memory.h"
#include "history_place.h"
#include "session/moment.h"
#include "session/session.h"
#include "session/when.h"

/* A round may be so much longer than the interval before anybody calls it a gap. */
#define LATE_NS (2 * NS_PER_S)

enum {
	PARTS_MAX = 12, /* of a range */
};

/* The parts of a name: the history before the '@', and one or two times. */
struct moment_name {
	char *directory;
	char *from; /* of a range; NULL: one moment */
	char *to;
};

static void release_name(struct moment_name *name)
{
	free(name->directory);
	free(name->from);
	free(name->to);
}

/* The two dots of a range, which are behind an '@' and in no path; NULL: none. */
static const char *find_dots(const char *name)
{
	const char *dots = NULL;

	for (const char *next = strchr(name, '@'); next != NULL && (next = strstr(next, "..")) != NULL;
	     next++)
		dots = next;
	return dots != NULL && strchr(dots, '/') == NULL ? dots : NULL;
}

/* The '@' before the time, which is the last one, or the one before it where the time begins with it; NULL:
 * none. */
static const char *find_separator(const char *name)
{
	const char *dots = find_dots(name), *at = dots != NULL ? dots : name + strlen(name);

	while (at >= name && *at != '@')
		at--;
	if (at < name)
		return NULL;
	return at > name && at[-1] == '@' ? at - 1 : at;
}

static struct moment_name split(const char *name)
{
	const char *separator = find_separator(name), *dots = find_dots(name);
	struct moment_name parts = {
		.directory = separator == name ? memory_duplicate(history_place())
					       : memory_duplicate_bytes(name, (size_t)(separator - name)),
		.to = memory_duplicate(dots != NULL ? dots + 2 : separator + 1),
	};

	if (dots != NULL)
		parts.from = memory_duplicate_bytes(separator + 1, (size_t)(dots - separator - 1));
	return parts;
}

char *history_moment_directory(const char *name)
{
	struct moment_name parts = split(name);
	char *directory = parts.directory;

	parts.directory = NULL;
	release_name(&parts);
	return directory;
}

bool history_moment_is_named(const char *name)
{
	return find_separator(name) != NULL && access(name, F_OK) != 0;
}

/* The usual time between rounds there: that of the round itself, or of the one after it. */
static uint64_t find_span(struct history *history, const struct history_round *round)
{
	struct history_round next;

	if (round->span_ns != 0)
		return round->span_ns;
	return history_step(history, round, 1, &next, NULL) == 0 ? next.span_ns : 0;
}

/*
 * Tells that the history begins later, has ended, or has a gap there, as an answer for `unix_ns`; to be
 * freed. NULL for a round at the time asked for.
 */
static char *describe_round(struct history *history, const struct history_round *round, uint64_t unix_ns)
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
		 history_is_same(&neighbour, round);
	buffer_append_format(&text, "%s at %s: the nearest round is of %s, ",
			     !at_end    ? "nothing was recorded"
			     : is_later ? "the history had not begun"
					: "the history has ended",
			     when_format(asked, unix_ns), when_format(found, round->unix_ns));
	humanize_duration(&text, (double)distance);
	buffer_append_text(&text, is_later ? " later" : " earlier");
	return buffer_steal(&text);
}

/* Adds what happened from one round to a later one as a part. */
static int read_part(struct history *history, const struct history_round *from,
		     const struct history_round *to, struct window_parts *parts)
{
	struct session *session;
	const int result = session_open_moment(history, from, to, NULL, &session, NULL);

	if (result < 0)
		return result;
	session_take_part(session, parts);
	session_release(session);
	return 0;
}

/* Nothing between the rounds is missing. */
static bool adjoin(const struct history *history, const struct history_round rounds[], size_t count)
{
	for (size_t i = 1; i < count; i++) {
		if (rounds[i].after_gap || !history_is_one_start(history, &rounds[i], &rounds[0]))
			return false;
	}
	return true;
}

/* The parts of a range, runs of whole rounds of about the same length; none where not all can be had. */
static struct window_parts read_parts(struct history *history, const struct history_round *from,
				      const struct history_round *to)
{
	struct history_round *rounds = NULL;
	struct window_parts parts = {0};
	size_t count = 0, wanted;
	int result = history_range(history, from->unix_ns, to->unix_ns, &rounds, &count, NULL);

	wanted = count > PARTS_MAX ? PARTS_MAX : count - (count != 0);
	if (result == 0 && (count < 2 || !history_is_same(&rounds[0], from) ||
			    !history_is_same(&rounds[count - 1], to) || !adjoin(history, rounds, count)))
		result = -ENODATA;
	for (size_t i = 1; result == 0 && i <= wanted; i++)
		result = read_part(history, &rounds[(i - 1) * (count - 1) / wanted],
				   &rounds[i * (count - 1) / wanted], &parts);
	free(rounds);
	if (result < 0)
		window_parts_clear(&parts);
	return parts;
}

static char *describe_damage(uint64_t unix_ns, const struct history_round *round)
{
	char asked[WHEN_TEXT_SIZE], found[WHEN_TEXT_SIZE];

	return memory_format("what was recorded at %s is damaged: the nearest round that is whole is of %s",
			     when_format(asked, unix_ns), when_format(found, round->unix_ns));
}

/* --- ranges --- */

struct range {
	uint64_t from_ns, to_ns; /* as asked for, CLOCK_REALTIME */
	struct history_round from, to;
};

/* Both ends are the same round. */
static int refuse_outside(struct history *history, const struct range *range, struct error *error)
{
	char begins[WHEN_TEXT_SIZE], ends[WHEN_TEXT_SIZE], first_text[WHEN_TEXT_SIZE],
		last_text[WHEN_TEXT_SIZE];
	struct history_round first, last;
	int result = history_first(history, &first, error);

	if (result == 0)
		result = history_last(history, &last, error);
	if (result < 0)
		return result;
	/* a round is called by its whole second */
	if (range->from.unix_ns + NS_PER_S > range->from_ns && range->from.unix_ns < range->to_ns + NS_PER_S)
		return error_set(error, -ENODATA,
				 "from %s to %s there is one round, that of %s: a range is from a round to a "
				 "later one",
				 when_format(begins, range->from_ns), when_format(ends, range->to_ns),
				 when_format(first_text, range->from.unix_ns));
	return error_set(error, -ENODATA, "nothing was recorded from %s to %s: %s has rounds from %s to %s",
			 when_format(begins, range->from_ns), when_format(ends, range->to_ns),
			 history->directory != NULL ? history->directory : "this screen",
			 when_format(first_text, first.unix_ns), when_format(last_text, last.unix_ns));
}

/* Finds the last round of the boot in which the range begins, and says so. */
static int refuse_reboot(struct history *history, const struct range *range, struct error *error)
{
	struct history_round before = range->from, after = range->from;
	char begins[WHEN_TEXT_SIZE], ends[WHEN_TEXT_SIZE];
	struct buffer ranges = {0};

	while (history_is_one_start(history, &after, &range->from)) {
		before = after;
		if (history_step(history, &before, 1, &after, NULL) < 0 || history_is_same(&before, &after))
			break;
	}
	/* one round is no range */
	if (!history_is_same(&range->from, &before))
		buffer_append_format(&ranges, ": take %s..%s", when_format(begins, range->from.unix_ns),
				     when_format(ends, before.unix_ns));
	if (!history_is_same(&after, &range->to))
		buffer_append_format(&ranges, "%s %s..%s", ranges.length != 0 ? " or" : ": take",
				     when_format(begins, after.unix_ns),
				     when_format(ends, range->to.unix_ns));
	error_set(error, -EINVAL, "the host was started again within the range%s",
		  ranges.length != 0 ? ranges.data : "");
	buffer_release(&ranges);
	return -EINVAL;
}

static int check_range(struct history *history, const struct range *range, struct error *error)
{
	char begins[WHEN_TEXT_SIZE], ends[WHEN_TEXT_SIZE];

	if (history_is_same(&range->from, &range->to))
		return refuse_outside(history, range, error);
	if (!history_is_one_start(history, &range->from, &range->to))
		return refuse_reboot(history, range, error);
	if (range->from.boottime_ns < range->to.boottime_ns)
		return 0;
	return error_set(error, -EINVAL, "the round of %s is not before that of %s: the clock was set back",
			 when_format(begins, range->from.unix_ns), when_format(ends, range->to.unix_ns));
}

/* The note about both ends; NULL for none. */
static char *describe_range(struct history *history, const struct range *range)
{
	char *from = describe_round(history, &range->from, range->from_ns);
	char *to = describe_round(history, &range->to, range->to_ns), *both;

	if (from == NULL || to == NULL)
		return from != NULL ? from : to;
	both = memory_format("%s; %s", from, to);
	free(from);
	free(to);
	return both;
}

static int find_range(struct history *history, struct range *range, struct error *error)
{
	char begins[WHEN_TEXT_SIZE], ends[WHEN_TEXT_SIZE];
	int result;

	if (range->from_ns >= range->to_ns)
		return error_set(error, -EINVAL, "the range is empty: it ends at %s and begins at %s",
				 when_format(ends, range->to_ns), when_format(begins, range->from_ns));
	result = history_find(history, range->from_ns, HISTORY_NEAREST, &range->from, error);
	if (result == 0)
		result = history_find(history, range->to_ns, HISTORY_NEAREST, &range->to, error);
	return result == 0 ? check_range(history, range, error) : result;
}

/* Reads what is at the end of the range, since its beginning where it is one. */
static int read_range(struct history *history, struct range *range, bool is_range, bool with_parts,
		      const atomic_bool *cancel, struct history_moment *ret_moment, struct error *error)
{
	char begins[WHEN_TEXT_SIZE], ends[WHEN_TEXT_SIZE];
	bool damaged;
	int result = is_range ? find_range(history, range, error) : 0;

	if (result == 0)
		result = session_read_nearest(history, is_range ? &range->from : NULL, range->to_ns, cancel,
					      &range->to, &ret_moment->snapshot, &damaged, error);
	if (result < 0)
		return result;
	if (is_range && with_parts && ret_moment->snapshot->window != NULL)
		ret_moment->snapshot->window->parts = read_parts(history, &range->from, &range->to);
	ret_moment->name = memory_format("%s%s%s%s%s", history->directory != NULL ? history->directory : "",
					 history->directory != NULL ? "@" : "",
					 is_range ? when_format(begins, range->from.unix_ns) : "",
					 is_range ? ".." : "", when_format(ends, range->to.unix_ns));
	ret_moment->note = damaged    ? describe_damage(range->to_ns, &range->to)
			   : is_range ? describe_range(history, range)
				      : describe_round(history, &range->to, range->to_ns);
	return 0;
}

/* Times without a day are the last ones before the newest round. */
static int read_named(const struct moment_name *name, uint64_t now_unix_ns, bool with_parts,
		      struct history_moment *ret_moment, struct error *error)
{
	struct history *history;
	struct range range = {0};
	uint64_t newest;
	int result = history_open(name->directory, &history, error);

	if (result < 0)
		return result;
	newest = history_newest(history, now_unix_ns);
	(void)when_parse(name->to, now_unix_ns, newest, &range.to_ns, NULL);
	if (name->from != NULL)
		(void)when_parse(name->from, now_unix_ns, newest, &range.from_ns, NULL);
	result = read_range(history, &range, name->from != NULL, with_parts, NULL, ret_moment, error);
	history_close(history);
	return result;
}

int history_moment_read_from(struct history *history, uint64_t from_unix_ns, uint64_t unix_ns,
			     const atomic_bool *cancel, struct history_moment *ret_moment,
			     struct error *error)
{
	struct range range = {.from_ns = from_unix_ns, .to_ns = unix_ns};

	*ret_moment = (struct history_moment){NULL, NULL, NULL};
	return read_range(history, &range, from_unix_ns != 0, false, cancel, ret_moment, error);
}

static int check_times(const char *name, const struct moment_name *parts, uint64_t now_unix_ns,
		       struct error *error)
{
	struct error cause;
	uint64_t unix_ns;
	int result = when_parse(parts->to, now_unix_ns, now_unix_ns, &unix_ns, &cause);

	if (result == 0 && parts->from != NULL)
		result = when_parse(parts->from, now_unix_ns, now_unix_ns, &unix_ns, &cause);
	return result == 0 ? 0
			   : error_set(error, result,
				       "there is no file %.1000s, and as a %s of a history: %.2900s", name,
				       parts->from != NULL ? "range" : "moment", cause.text);
}

int history_moment_check(const char *name, uint64_t now_unix_ns, struct error *error)
{
	struct moment_name parts = split(name);
	const int result = check_times(name, &parts, now_unix_ns, error);

	release_name(&parts);
	return result;
}

int history_moment_read(const char *name, uint64_t now_unix_ns, bool with_parts,
			struct history_moment *ret_moment, struct error *error)
{
	struct moment_name parts = split(name);
	int result = check_times(name, &parts, now_unix_ns, error);

	*ret_moment = (struct history_moment){NULL, NULL, NULL};
	if (result == 0)
		result = read_named(&parts, now_unix_ns, with_parts, ret_moment, error);
	release_name(&parts);
	return result;
}
