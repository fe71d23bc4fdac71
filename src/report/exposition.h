/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_EXPOSITION_H
#define CTOP_EXPOSITION_H

#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "table/table.h"

/*
 * The text that a Prometheus scrapes, in its two formats: the classic one (text/plain; version=0.0.4) and
 * OpenMetrics 1.0, whose specification asks for units and for an end that is marked.
 */

enum exposition_format {
	EXPOSITION_TEXT,
	EXPOSITION_OPENMETRICS,
	EXPOSITION_FORMAT_COUNT,
};

/* Values of the header Content-Type. */
extern const char *const exposition_content_types[EXPOSITION_FORMAT_COUNT];

/*
 * The format that the header Accept of a request asks for (RFC 9110, 12.5.1), NULL for none: OpenMetrics if
 * it is named, in version 1.0.0 or in none, and not valued less than plain text; else the classic one.
 */
enum exposition_format exposition_negotiate(const char *accept);

enum exposition_kind {
	EXPOSITION_COUNTER, /* never falls while its series lives */
	EXPOSITION_GAUGE,
	EXPOSITION_INFO, /* a text in labels; its value is 1 */
};

/* Being written; a zeroed struct with these two set is an empty one. */
struct exposition {
	struct buffer *buffer;
	enum exposition_format format;
	/* The family begun last: */
	struct buffer sample; /* the name of its samples */
	enum unit unit;
};

void exposition_release(struct exposition *exposition);

/* Appends what the samples of a family are called: "run" in ns is run_seconds, a counter run_seconds_total
 * and an info build_info. */
void exposition_append_name(struct buffer *buffer, enum exposition_kind kind, const char *name,
			    enum unit unit);

/*
 * Begins a family: All its samples follow before the next family. `help` is one sentence.
 */
void exposition_begin(struct exposition *exposition, enum exposition_kind kind, const char *name,
		      enum unit unit, const char *help);

/*
 * A sample of the family: `labels` as exposition_append_label() made them, without braces, NULL or empty for
 * none. `value` is in the unit that the family was begun with; ns are written as seconds with all digits.
 */
void exposition_add(struct exposition *exposition, const char *labels, size_t labels_length, uint64_t value);

/* Ends the text: `# EOF` in OpenMetrics. */
void exposition_end(struct exposition *exposition);

/*
 * Appends NAME="VALUE", after a comma if `buffer` is not empty. Quotes, backslashes and newlines in the value
 * are escaped. Bytes outside valid UTF-8 and unprintable characters (unicode_is_printable()) become U+FFFD,
 * since labels have no other escapes.
 */
void exposition_append_label(struct buffer *buffer, const char *name, const char *value, size_t length);

#endif
