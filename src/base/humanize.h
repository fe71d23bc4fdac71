/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_HUMANIZE_H
#define CTOP_HUMANIZE_H

#include <stdbool.h>
#include <stdint.h>

#include "buffer.h"

/*
 * Numbers as people read them, in ASCII. A sentence has the unit after a blank: "12 min 5 s", "1.2 GiB".
 * Columns and headings have at most seven cells: "12.1m", "1.2G". Numbers of a sentence are not negative.
 */

/* A length of time in at most two units: "850 ns", "36.4 ms", "7.7 s", "12 min 5 s", "2 h 13 min", "4 d 1 h".
 */
void humanize_duration(struct buffer *buffer, double nanoseconds);

/* "512 B", "1.2 GiB" */
void humanize_bytes(struct buffer *buffer, double bytes);

/* All digits: "1,204,310". The first writes into `text` (28 bytes suffice) and returns it. */
char *humanize_digits(uint64_t value, char text[static 28]);
void humanize_count(struct buffer *buffer, uint64_t count);

/* A count with its noun, which is in the singular: "1 thread", "1,204 threads". */
void humanize_counted(struct buffer *buffer, uint64_t count, const char *noun);

/* A count of events, or a rate of them: "0.4", "1,204", "1.2M". */
void humanize_amount(struct buffer *buffer, double amount);

/* "0.4%", "338.2%", "1204%" */
void humanize_percent(struct buffer *buffer, double percent);

enum {
	HUMANIZE_TIME_SIZE = 32
};

/*
 * A time since 1970 by the local clock: "2026-11-20 09:40:05", or "09:40:05" without the date. "an unknown
 * time" or
 * "--:--:--" if the calendar does not have it. Returns `text`.
 */
const char *humanize_time(char text[static HUMANIZE_TIME_SIZE], uint64_t unix_ns, bool with_date);

/* Appends "2026-11-20 09:40:05 UTC"; nothing for 0 and for times that the calendar does not have. */
void humanize_utc(struct buffer *buffer, uint64_t unix_ns);

/* What a compact number counts. */
enum humanize_unit {
	HUMANIZE_COUNT,
	HUMANIZE_RATIO, /* a count with two decimals below 10 and one below 100 */
	HUMANIZE_BYTES,
	HUMANIZE_TIME, /* ns */
	HUMANIZE_PERCENT,
};

/*
 * The compact form, which may be negative: bytes by 1024, counts by 1000 from 100,000 on, letters K M G T P
 * E, one decimal below 100 (percent: below 1000) and none above; times in ns us ms, s below 120, m below 120,
 * h below 48, d. The unit is chosen after rounding. Zero is "0". Whole numbers (`is_whole`) have no decimals
 * in the first unit.
 */
void humanize_compact(struct buffer *buffer, double number, enum humanize_unit unit, bool is_whole);

/* The same rounded towards zero, without decimals: "8m" for 8 min 50 s. */
void humanize_compact_truncated(struct buffer *buffer, double number, enum humanize_unit unit);

#endif
