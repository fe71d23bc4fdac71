/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_REPORT_FORMAT_H
#define CTOP_REPORT_FORMAT_H

#include "report.h"

/* The functions by which a format draws; NULL for a part that it does not have. For the report room only. */
struct report_format_entry {
	void (*begin)(struct report *report, const struct report_subject *subject);
	void (*table)(struct report *report, const struct table *table);
	void (*paragraph)(const struct report *report,
			  const char *text); /* a sentence of its own, which may hold names as read */
	void (*end)(struct report *report);
};

#define REPORT_FORMAT(id, name, ...) extern const struct report_format_entry report_##name;
#include "report_format.def"
#undef REPORT_FORMAT

/* State of a cell in CSV and JSON: "ok", "absent", "unavailable", "partial", "sampled", "" for an empty one.
 */
const char *report_state_name(const struct cell *cell);

/* The reason behind an unavailable or partial cell, as in files; NULL for others. */
const char *report_reason_name(const struct cell *cell);

/* The same in words for people. */
const char *report_reason_words(const struct cell *cell);

/* Remembers the reason of a cell that is drawn with a mark, for the legend. */
void report_note_reason(struct report *report, const struct cell *cell);

/* Appends how many rows did not change measurably, a sentence with the option in `quote`; nothing for none.
 */
void report_append_folded(const struct report *report, const struct table *table, const char *begin,
			  const char *quote, const char *end);

/* The same for rows that a limit has cut. */
void report_append_left_out(const struct report *report, const struct table *table, const char *begin,
			    const char *quote, const char *end);

/* The name of a column or section as this report has it; NULL stays NULL. */
const char *report_word(const struct report *report, const char *name);

/* A choice of the facts of the captures. */
enum report_facts {
	REPORT_FACTS_HOST_DIFFERENCES, /* those of the host that differ */
	REPORT_FACTS_MAIN,             /* the main ones, and those of the host that differ */
	REPORT_FACTS_OTHERS,           /* all but those */
};

/* The facts as a table "host-context": fact, before, after (of one capture: fact, capture); a fact that
 * differs has the row mark ROW_MARK_MOVER. The caller releases it. */
struct table *report_create_facts(const struct report *report, enum report_facts which);

/*
 * Appends a name of the host as valid UTF-8: each byte that belongs to no valid sequence becomes U+FFFD, each
 * character that is not printable, but those of `kept` (ASCII), `\x1b`, `\u202e` or `\U000e0041`. In a report
 * that goes to a terminal they are U+FFFD.
 */
void report_append_name(const struct report *report, const char *text, size_t length, const char *kept);

/* Appends the title of a column, or a cell, as people read it: as the screen prints it in the table of a
 * round, else as reports do. */
void report_append_title(const struct report *report, const struct table_column *column,
			 struct buffer *buffer);
void report_append_shown(const struct report *report, const struct table_column *column,
			 const struct cell *cell, struct buffer *buffer);

/*
 * Appends the value of a cell to the report as programs read it; returns false and appends nothing if it is a
 * text. In the table of a round, real numbers have three decimals, or six digits below 1 so that only zero
 * reads as zero, and ranges and bars are values, too.
 */
bool report_append_number(const struct report *report, const struct cell *cell);

/* Appends the number of one side of a cell with both: "max" for a limit that is not set, false without a
 * number. */
bool report_append_side(struct buffer *buffer, const struct cell *cell, size_t side);

#endif
