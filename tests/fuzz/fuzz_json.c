/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The reader of JSON (src/base/json_reader.h) against jansson, which is as strict: both accept a text or
 * both refuse it, and what they read is the same. The length of the text says in what pieces it comes.
 */
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../ctprof/json_walk.h"

enum {
	LONGEST_PIECE = 17,
	FLAGS = JSON_DECODE_ANY | JSON_ALLOW_NUL | JSON_DECODE_INT_AS_REAL,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Limits of the one or the other that say nothing about the text. */
static bool is_limit(const struct json_outcome *outcome, const json_error_t *error)
{
	return json_error_code(error) == json_error_numeric_overflow ||
	       json_error_code(error) == json_error_null_byte_in_key ||
	       json_error_code(error) == json_error_stack_overflow ||
	       (outcome->damage != NULL && strstr(outcome->damage, "more than 127 objects") != NULL);
}

static void require_same(const json_t *wanted, const struct buffer *text)
{
	json_error_t error;
	json_t *again = json_loadb(text->data, text->length, FLAGS, &error);

	if (again == NULL || !json_equal(wanted, again))
		abort();
	json_decref(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	struct buffer output = {0};
	struct json_outcome walked = json_walk(text, size, 1 + size % LONGEST_PIECE, &output);
	struct json_outcome skipped = json_walk_past(text, size, size + 1);
	json_error_t error = {0};
	json_t *tree = json_loadb(text, size, FLAGS, &error);

	if (walked.result != skipped.result || walked.damage != skipped.damage ||
	    walked.offset != skipped.offset) {
		if (!is_limit(&walked, &error) && !is_limit(&skipped, &error))
			abort();
	} else if (size != 0 && memchr(text, '\0', size) != NULL) {
		/* is never allowed; jansson loses one behind a number */
		if (walked.result == 0)
			abort();
	} else if ((tree != NULL) != (walked.result == 0)) {
		if (!is_limit(&walked, &error))
			abort();
	} else if (tree != NULL) {
		require_same(tree, &output);
	}
	json_decref(tree);
	buffer_release(&output);
	return 0;
}
