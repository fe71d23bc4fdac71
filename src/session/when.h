/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_WHEN_H
#define CTOP_WHEN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/*
 * Moments as people write them, in the local time zone (TZ), case ignored:
 *
 *	now   -15m   -1h30m   -2d (48 hours)   -90 seconds   @1763712000 (since 1970)
 *	09:40   9:40:30   3pm   3:30pm   noon   midnight
 *	today   yesterday   monday   mon   2026-11-20
 *	yesterday 3pm   monday 09:40   2026-11-20 09:40   2026-11-20T09:40:30.5
 *	2026-11-20T09:40Z   09:40 UTC   2026-11-20 09:40+05:30
 *
 * A day without a time means its beginning. A time of day is the last such time before now, recorded or not;
 * the day of a week is the last such day, today included, and with a time the last such moment. A skipped
 * local time uses the old offset (02:30 is 03:30); a repeated one means the later that has passed.
 */

/* Valid forms, for help and sentences. */
#define WHEN_FORMS                                                                                           \
	"-15m, -1h30m, -2d, now, 09:40, 3pm, yesterday 15:00, monday, 2026-11-20 09:40, 2026-11-20T09:40Z, " \
	"@1763712000"

/*
 * Parses a time in one of these forms. Lengths and days count back from `shown_unix_ns`: the moment on the
 * screen, or now without one. A time of day means its last occurrence before `now_unix_ns`. All times are
 * nanoseconds since 1970; the result may be later than now. Returns 0, or -EINVAL with a sentence that names
 * the nearest valid form.
 */
int when_parse(const char *text, uint64_t shown_unix_ns, uint64_t now_unix_ns, uint64_t *ret_unix_ns,
	       struct error *error);

/* Whether a text is a time of day without a day: "09:40", "noon", "09:40Z". */
bool when_is_time_of_day(const char *text);

enum {
	WHEN_TEXT_SIZE = 40
};

/*
 * The moment in local time to the second, as when_parse() takes it: "2026-11-20 09:40:05". Of two that would
 * look alike, since the clocks are put back, the earlier one has its offset: "2026-10-25 02:30:00+02:00".
 * Returns `text`.
 */
const char *when_format(char text[static WHEN_TEXT_SIZE], uint64_t unix_ns);

/*
 * A length of time with its units: "1h30m", "90 s", "1.5h", "500ms". Returns whether the text is one;
 * `*ret_ns` is UINT64_MAX for more than that.
 */
bool when_parse_span(const char *text, uint64_t *ret_ns);

/* A length of time as in -1h30m, without the sign and at least one second: "15m", "14d". Into a uint64_t, in
 * nanoseconds. Returns 0, or -EINVAL with a sentence. */
int when_parse_length(const char *text, void *ret_ns, struct error *error);

#endif
