/* SPDX-License-Identifier: GPL-2.0-only */
#include "history_moment.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "history_absence.h"
#include "history_place.h"
#include "session/moment.h"
#include "session/session.h"
#include "session/when.h"

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

/* --- finding rounds --- */

/* The range or the moment that the user asked for. */
struct range {
	bool is_moment;          /* then `from_ns` and `from` are unused */
	uint64_t from_ns, to_ns; /* as asked for, CLOCK_REALTIME */
	const char *when;        /* `from_ns`, or a moment's `to_ns`, as the user wrote it; NULL: unknown */
	bool nearest;            /* accept the nearest round if nothing was recorded */
	struct history_round from, to;
	char *note; /* owned; set if the nearest round replaced a range without rounds, else NULL */
};

static struct history_absence absence_of(const struct range *range, const struct history_round *nearest)
{
	return (struct history_absence){
		.from_unix_ns = range->is_moment ? range->to_ns : range->from_ns,
		.to_unix_ns = range->to_ns,
		.nearest = *nearest,
		.when = range->when,
	};
}

/* Handles a range without rounds: makes it the moment of the nearest round, or refuses without --nearest. */
static int take_nearest(struct history *history, struct range *range, const struct history_round *nearest,
			struct error *error)
{
	const struct history_absence absence = absence_of(range, nearest);

	if (!range->nearest)
		return history_absence_refuse(history, &absence, error);
	range->note = history_absence_describe(history, &absence);
	range->is_moment = true;
	range->to_ns = nearest->unix_ns;
	return 0;
}

static int find_moment(struct history *history, struct range *range, struct error *error)
{
	struct history_absence absence;
	int result = range->nearest ? 1 : history_holds(history, range->to_ns, error);

	if (result != 0)
		return result < 0 ? result : 0;
	result = history_find(history, range->to_ns, HISTORY_NEAREST, &range->to, error);
	if (result < 0)
		return result;
	absence = absence_of(range, &range->to);
	return history_absence_refuse(history, &absence, error);
}

/* Refuses a range that has only one round. */
static int refuse_one_round(const struct range *range, struct error *error)
{
	char begins[WHEN_TEXT_SIZE], ends[WHEN_TEXT_SIZE], found[WHEN_TEXT_SIZE];

	return error_set(
		error, -ENODATA,
		"from %s to %s there is one round, that of %s: a range is from a round to a later one",
		when_format(begins, range->from_ns), when_format(ends, range->to_ns),
		when_format(found, range->from.unix_ns));
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
		return refuse_one_round(range, error);
	if (!history_is_one_start(history, &range->from, &range->to))
		return refuse_reboot(history, range, error);
	if (range->from.boottime_ns < range->to.boottime_ns)
		return 0;
	return error_set(error, -EINVAL, "the round of %s is not before that of %s: the clock was set back",
			 when_format(begins, range->from.unix_ns), when_format(ends, range->to.unix_ns));
}

static int find_range(struct history *history, struct range *range, struct error *error)
{
	char begins[WHEN_TEXT_SIZE], ends[WHEN_TEXT_SIZE];
	int result;

	if (range->from_ns >= range->to_ns)
		return error_set(error, -EINVAL, "the range is empty: it ends at %s and begins at %s",
				 when_format(ends, range->to_ns), when_format(begins, range->from_ns));
	result = history_find_within(history, range->from_ns, range->to_ns, &range->from, error);
	if (result < 0)
		return result;
	if (result == 0)
		return take_nearest(history, range, &range->from, error);
	result = history_find(history, range->from_ns, HISTORY_NEAREST, &range->from, error);
	if (result == 0)
		result = history_find(history, range->to_ns, HISTORY_NEAREST, &range->to, error);
	return result == 0 ? check_range(history, range, error) : result;
}

/* --- reading rounds --- */

/* Returns a note if `round` does not cover the time that was asked for, else NULL. The caller frees it. */
static char *describe_time(struct history *history, uint64_t unix_ns, const struct history_round *round,
			   bool damaged)
{
	if (!damaged && history_holds(history, unix_ns, NULL) != 0)
		return NULL;
	return history_absence_describe(history, &(struct history_absence){unix_ns, unix_ns, *round, NULL});
}

/* Returns the note about both ends, NULL for none; the caller frees it. `damaged`: the nearest round at the
 * end could not be read, and another one was used. */
static char *describe(struct history *history, const struct range *range, bool damaged)
{
	char *from, *to, *both;

	if (range->note != NULL)
		return range->note;
	to = describe_time(history, range->to_ns, &range->to, damaged);
	from = range->is_moment ? NULL : describe_time(history, range->from_ns, &range->from, false);
	if (from == NULL || to == NULL)
		return from != NULL ? from : to;
	both = memory_format("%s; %s", from, to);
	free(from);
	free(to);
	return both;
}

/* Reads the round at the end of the range, with its window: since the beginning of the range, or, for a
 * moment, since the round before. */
static int read_found(struct history *history, struct range *range, bool with_parts,
		      const atomic_bool *cancel, struct history_moment *ret_moment, struct error *error)
{
	const bool is_range = !range->is_moment;
	char begins[WHEN_TEXT_SIZE], ends[WHEN_TEXT_SIZE];
	struct history_absence absence;
	struct snapshot *snapshot;
	bool damaged;
	const int result = session_read_nearest(history, is_range ? &range->from : NULL, range->to_ns, cancel,
						&range->to, &snapshot, &damaged, error);

	if (result < 0)
		return result;
	if (damaged && !is_range && !range->nearest) {
		snapshot_release(snapshot);
		absence = absence_of(range, &range->to);
		return history_absence_refuse(history, &absence, error);
	}
	ret_moment->snapshot = snapshot;
	if (is_range && with_parts && snapshot->window != NULL)
		snapshot->window->parts = read_parts(history, &range->from, &range->to);
	ret_moment->name = memory_format("%s%s%s%s%s", history->directory != NULL ? history->directory : "",
					 history->directory != NULL ? "@" : "",
					 is_range ? when_format(begins, range->from.unix_ns) : "",
					 is_range ? ".." : "", when_format(ends, range->to.unix_ns));
	ret_moment->note = describe(history, range, damaged);
	range->note = NULL;
	return 0;
}

static int read_range(struct history *history, struct range *range, bool with_parts,
		      const atomic_bool *cancel, struct history_moment *ret_moment, struct error *error)
{
	int result = range->is_moment ? find_moment(history, range, error)
				      : find_range(history, range, error);

	if (result == 0)
		result = read_found(history, range, with_parts, cancel, ret_moment, error);
	free(range->note);
	return result;
}

static int read_named(const struct moment_name *name, uint64_t now_unix_ns, bool with_parts, bool nearest,
		      struct history_moment *ret_moment, struct error *error)
{
	struct range range = {
		.is_moment = name->from == NULL,
		.when = name->from != NULL ? name->from : name->to,
		.nearest = nearest,
	};
	struct history *history;
	int result = history_place_open(name->directory, &history, error);

	if (result < 0)
		return result;
	(void)when_parse(name->to, now_unix_ns, now_unix_ns, &range.to_ns, NULL);
	if (name->from != NULL)
		(void)when_parse(name->from, now_unix_ns, now_unix_ns, &range.from_ns, NULL);
	result = read_range(history, &range, with_parts, NULL, ret_moment, error);
	history_close(history);
	return result;
}

int history_moment_read_from(struct history *history, uint64_t from_unix_ns, uint64_t unix_ns,
			     const atomic_bool *cancel, struct history_moment *ret_moment,
			     struct error *error)
{
	struct range range = {
		.is_moment = from_unix_ns == 0, .from_ns = from_unix_ns, .to_ns = unix_ns, .nearest = true};

	*ret_moment = (struct history_moment){NULL, NULL, NULL};
	return read_range(history, &range, false, cancel, ret_moment, error);
}

static int check_times(const char *name, const struct moment_name *parts, uint64_t now_unix_ns,
		       uint64_t *ret_to_ns, struct error *error)
{
	struct error cause;
	uint64_t from_ns;
	int result = when_parse(parts->to, now_unix_ns, now_unix_ns, ret_to_ns, &cause);

	if (result == 0 && parts->from != NULL)
		result = when_parse(parts->from, now_unix_ns, now_unix_ns, &from_ns, &cause);
	return result == 0 ? 0
			   : error_set(error, result,
				       "there is no file %.1000s, and as a %s of a history: %.2900s", name,
				       parts->from != NULL ? "range" : "moment", cause.text);
}

int history_moment_check(const char *name, uint64_t now_unix_ns, uint64_t *ret_unix_ns, struct error *error)
{
	struct moment_name parts = split(name);
	const int result = check_times(name, &parts, now_unix_ns, ret_unix_ns, error);

	release_name(&parts);
	return result;
}

int history_moment_read(const char *name, uint64_t now_unix_ns, bool with_parts, bool nearest,
			struct history_moment *ret_moment, struct error *error)
{
	struct moment_name parts = split(name);
	uint64_t to_ns;
	int result = check_times(name, &parts, now_unix_ns, &to_ns, error);

	*ret_moment = (struct history_moment){NULL, NULL, NULL};
	if (result == 0)
		result = read_named(&parts, now_unix_ns, with_parts, nearest, ret_moment, error);
	release_name(&parts);
	return result;
}
