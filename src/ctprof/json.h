/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_JSON_H
#define CTOP_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/*
 * JSON text in pieces to events, with the guards that the parser underneath (yajl) lacks: valid UTF-8, no
 * lone surrogate escapes, at most JSON_DEPTH_MAX levels, at most JSON_QUIET_MAX bytes without an event.
 * Numbers are handed over as text, so that none of their digits is lost.
 */
enum {
	JSON_DEPTH_MAX = 16,
	JSON_QUIET_MAX = 1 << 20,
};

enum json_type {
	JSON_NULL = 1 << 0,
	JSON_BOOLEAN = 1 << 1,
	JSON_NUMBER = 1 << 2,
	JSON_STRING = 1 << 3,
	JSON_OBJECT = 1 << 4,
	JSON_ARRAY = 1 << 5,
};

/* A value that is neither object nor array. The text of a number or string lives for the callback. */
struct json_scalar {
	enum json_type type;
	bool boolean;
	const char *text;
	size_t length;
};

/* What is called in the order of the text; a callback that returns false ends the parse with -ECANCELED. */
struct json_callbacks {
	bool (*scalar)(void *context, const struct json_scalar *scalar);
	bool (*key)(void *context, const char *text, size_t length);
	bool (*begin)(void *context, enum json_type type); /* JSON_OBJECT or JSON_ARRAY */
	bool (*end)(void *context);
};

struct json_parser;

/* A parser of one JSON value; the callbacks must outlive it. Owned by the caller. */
struct json_parser *json_parser_create(const struct json_callbacks *callbacks, void *context);

/*
 * Parses the next piece of text. Returns 0, -ECANCELED when a callback refused, or -EBADMSG with a sentence
 * part that says what is wrong ("invalid UTF-8"). After an error nothing more may be fed.
 */
int json_parser_feed(struct json_parser *parser, const char *text, size_t length, struct error *error);

/*
 * Counts text that the caller read by itself. Allowed only where the parser stands between two tokens, and
 * only for text that leaves its grammar where it was: a whole element of an array with its comma.
 */
void json_parser_skip(struct json_parser *parser, size_t length);

/* Says that the text has ended; -EBADMSG when the value is not complete. */
int json_parser_finish(struct json_parser *parser, struct error *error);

/* Bytes of text parsed so far; after an error the place of the damage. */
uint64_t json_parser_offset(const struct json_parser *parser);

void json_parser_release(struct json_parser *parser);

#endif
