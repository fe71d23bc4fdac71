/* SPDX-License-Identifier: GPL-2.0-only */
#include "history_absence.h"

#include <errno.h>
#include <stdbool.h>

#include "base/buffer.h"
#include "base/clock.h"
#include "base/humanize.h"
#include "base/number.h"
#include "session/when.h"

static bool is_moment(const struct history_absence *absence)
{
	return absence->from_unix_ns == absence->to_unix_ns;
}

/* Whether the span overlaps a part of the history that is damaged or of another version. */
static bool is_unreadable(struct history *history, const struct history_absence *absence)
{
	/* users name a round by its whole second */
	const uint64_t end_ns = number_add_saturating(absence->to_unix_ns, NS_PER_S);
	const struct history_hole *holes;
	size_t count, i = 0;

	/* rounds in memory cannot be damaged */
	if (history->directory == NULL)
		return false;
	holes = history_damage(history, false, &count);
	while (i < count && (holes[i].from_unix_ns >= end_ns || holes[i].to_unix_ns < absence->from_unix_ns))
		i++;
	return i < count;
}

/* Whether the span lies before the first round or after the last one. */
static bool is_at_end(struct history *history, const struct history_absence *absence)
{
	const struct history_round *nearest = &absence->nearest;
	struct history_round neighbour;

	return history_step(history, nearest, nearest->unix_ns > absence->to_unix_ns ? -1 : 1, &neighbour,
			    NULL) < 0 ||
	       history_is_same(&neighbour, nearest);
}

/* Returns how the sentence begins: that nothing was recorded, or why. */
static const char *choose_words(struct history *history, const struct history_absence *absence,
				bool unreadable)
{
	if (unreadable)
		return "what was recorded";
	if (!is_moment(absence) || !is_at_end(history, absence))
		return "nothing was recorded";
	return absence->nearest.unix_ns > absence->to_unix_ns ? "the history had not begun"
							      : "the history had ended";
}

/* "at 09:40", "from 09:40 to 09:50", "after 09:40". */
static void append_span(struct buffer *text, const struct history_absence *absence)
{
	char from[WHEN_TEXT_SIZE], to[WHEN_TEXT_SIZE];

	when_format(from, absence->from_unix_ns);
	when_format(to, absence->to_unix_ns);
	if (is_moment(absence))
		buffer_append_format(text, "at %s", to);
	else if (absence->to_unix_ns == UINT64_MAX)
		buffer_append_format(text, "after %s", from);
	else if (absence->from_unix_ns == 0)
		buffer_append_format(text, "before %s", to);
	else
		buffer_append_format(text, "from %s to %s", from, to);
}

static void append_description(struct buffer *text, struct history *history,
			       const struct history_absence *absence)
{
	const uint64_t nearest_ns = absence->nearest.unix_ns;
	const bool unreadable = is_unreadable(history, absence), is_later = nearest_ns > absence->to_unix_ns;
	const uint64_t distance_ns = is_later ? nearest_ns - absence->to_unix_ns
					      : absence->from_unix_ns - nearest_ns;
	char found[WHEN_TEXT_SIZE];

	buffer_append_format(text, "%s ", choose_words(history, absence, unreadable));
	append_span(text, absence);
	buffer_append_format(text, "%s: the nearest round%s is of %s, ", unreadable ? " cannot be read" : "",
			     unreadable ? " that can" : "", when_format(found, nearest_ns));
	humanize_duration(text, (double)distance_ns);
	buffer_append_text(text, is_later ? " later" : " earlier");
}

char *history_absence_describe(struct history *history, const struct history_absence *absence)
{
	struct buffer text = {0};

	append_description(&text, history, absence);
	return buffer_steal(&text);
}

/* Finds the last recorded moment before the span at the same time of day, CLOCK_REALTIME ns. Returns 0 if
 * none is found, or if the user did not give a time of day alone. */
static uint64_t find_time_of_day(struct history *history, const struct history_absence *absence)
{
	uint64_t unix_ns = absence->from_unix_ns != 0 ? absence->from_unix_ns : absence->to_unix_ns;
	struct history_round before;

	if (absence->when == NULL || !when_is_time_of_day(absence->when))
		return 0;
	/* each turn goes back at least a day, and skips days without rounds */
	while (history_find(history, unix_ns, HISTORY_AT_OR_BEFORE, &before, NULL) == 0 &&
	       before.unix_ns < unix_ns) {
		uint64_t earlier_ns;

		if (when_parse(absence->when, before.unix_ns, before.unix_ns, &earlier_ns, NULL) < 0 ||
		    earlier_ns >= unix_ns)
			return 0;
		if (history_holds(history, earlier_ns, NULL) > 0)
			return earlier_ns;
		unix_ns = earlier_ns;
	}
	return 0;
}

int history_absence_refuse(struct history *history, const struct history_absence *absence,
			   struct error *error)
{
	const uint64_t last_ns = find_time_of_day(history, absence);
	char last[WHEN_TEXT_SIZE];
	struct buffer text = {0};

	append_description(&text, history, absence);
	buffer_append_text(&text, "; --nearest takes it");
	if (last_ns != 0)
		buffer_append_format(&text, ", and the last recorded %.40s is %s", absence->when,
				     when_format(last, last_ns));
	error_set(error, -ENODATA, "%s: %s", history->directory, text.data);
	buffer_release(&text);
	return -ENODATA;
}
