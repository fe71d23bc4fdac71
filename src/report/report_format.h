/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_REPORT_FORMAT_H
#define CTOP_REPORT_FORMAT_H

#include "report.h"

/* What a format draws; NULL where it draws nothing. For the report room only. */
struct report_format_entry {
	void (*begin)(struct report *report, const struct report_subject *subject);
	void (*table)(struct report *report, const struct table *table);
	void (*end)(struct report *report);
};

extern const struct report_format_entry report_text, report_tsv, report_csv, report_json;

/* State of a cell in CSV and JSON: "ok", "absent", "unavailable", "partial", "" for an empty one. */
const char *report_state_name(const struct cell *cell);

/* The reason behind an unavailable or partial cell, as in files; NULL for others. */
const char *report_reason_name(const struct report *report, const struct cell *cell);

/* Whether the cell's printed form carries the mark of partial values: amounts do, ranges and sets do not. */
bool report_has_partial_mark(const struct cell *cell);

/* Appends a name of the host as valid UTF-8, without control characters where it goes to a terminal. */
void report_append_name(struct buffer *buffer, const char *text, size_t length, bool to_terminal);

/* Appends the printed form of a value: the cell's text, or its number. */
void report_append_value(struct buffer *buffer, const struct cell *cell);

/* Appends the number of a cell with all its digits; false (nothing appended) for cells that hold a text. */
bool report_append_number(struct buffer *buffer, const struct cell *cell);

#endif
