/* SPDX-License-Identifier: GPL-2.0-only */
/* The only file that knows yajl. */
#include "json.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <yajl/yajl_parse.h>

#include "base/memory.h"
#include "guard.h"

struct json_parser {
	const struct json_callbacks *callbacks;
	void *context;
	yajl_handle handle;
	struct json_guard guard;
	unsigned int depth;
	bool too_deep;
	bool event_seen; /* in the piece being parsed */
	size_t quiet;    /* bytes of whole pieces since the last one with an event */
	uint64_t offset;
};

static int pass_scalar(struct json_parser *parser, enum json_type type, bool boolean, const void *text,
		       size_t length)
{
	struct json_scalar scalar = {.type = type, .boolean = boolean, .text = text, .length = length};

	parser->event_seen = true;
	return parser->callbacks->scalar(parser->context, &scalar);
}

static int handle_null(void *parser)
{
	return pass_scalar(parser, JSON_NULL, false, "", 0);
}

static int handle_boolean(void *parser, int value)
{
	return pass_scalar(parser, JSON_BOOLEAN, value != 0, "", 0);
}

static int handle_number(void *parser, const char *text, size_t length)
{
	return pass_scalar(parser, JSON_NUMBER, false, text, length);
}

static int handle_string(void *parser, const unsigned char *text, size_t length)
{
	return pass_scalar(parser, JSON_STRING, false, text, length);
}

static int handle_key(void *parser_pointer, const unsigned char *text, size_t length)
{
	struct json_parser *parser = parser_pointer;

	parser->event_seen = true;
	return parser->callbacks->key(parser->context, (const char *)text, length);
}

static int begin(struct json_parser *parser, enum json_type type)
{
	parser->event_seen = true;
	if (parser->depth == JSON_DEPTH_MAX) {
		parser->too_deep = true;
		return 0;
	}
	parser->depth++;
	return parser->callbacks->begin(parser->context, type);
}

static int handle_start_map(void *parser)
{
	return begin(parser, JSON_OBJECT);
}

static int handle_start_array(void *parser)
{
	return begin(parser, JSON_ARRAY);
}

static int handle_end(void *parser_pointer)
{
	struct json_parser *parser = parser_pointer;

	parser->event_seen = true;
	parser->depth--;
	return parser->callbacks->end(parser->context);
}

/* With a number callback yajl uses neither the integer nor the double one. */
static const yajl_callbacks handlers = {
	.yajl_null = handle_null,
	.yajl_boolean = handle_boolean,
	.yajl_number = handle_number,
	.yajl_string = handle_string,
	.yajl_start_map = handle_start_map,
	.yajl_map_key = handle_key,
	.yajl_end_map = handle_end,
	.yajl_start_array = handle_start_array,
	.yajl_end_array = handle_end,
};

static void *allocate(void *context, size_t size)
{
	(void)context;
	return memory_allocate(size);
}

static void *resize(void *context, void *pointer, size_t size)
{
	(void)context;
	return memory_resize(pointer, size, 1);
}

static void release(void *context, void *pointer)
{
	(void)context;
	free(pointer);
}

struct json_parser *json_parser_create(const struct json_callbacks *callbacks, void *context)
{
	yajl_alloc_funcs allocator = {.malloc = allocate, .realloc = resize, .free = release};
	struct json_parser *parser = memory_allocate_zero(1, sizeof(*parser));

	parser->callbacks = callbacks;
	parser->context = context;
	parser->handle = yajl_alloc(&handlers, &allocator, parser);
	yajl_config(parser->handle, yajl_dont_validate_strings, 1); /* the guard does it, and better */
	return parser;
}

/* yajl's own words without its prefix and line end: "parse error: premature EOF\n". */
static int describe_error(struct json_parser *parser, struct error *error)
{
	unsigned char *text = yajl_get_error(parser->handle, 0, NULL, 0);
	const char *words = (const char *)text;
	const char *colon = strstr(words, ": ");

	if (colon != NULL)
		words = colon + 2;
	error_set(error, -EBADMSG, "%.*s", (int)strcspn(words, "\n"), words);
	yajl_free_error(parser->handle, text);
	return -EBADMSG;
}

static int check_status(struct json_parser *parser, yajl_status status, struct error *error)
{
	if (parser->too_deep)
		return error_set(error, -EBADMSG, "more than %d objects and arrays lie in each other",
				 JSON_DEPTH_MAX);
	if (status == yajl_status_client_canceled)
		return -ECANCELED;
	return describe_error(parser, error);
}

int json_parser_feed(struct json_parser *parser, const char *text, size_t length, struct error *error)
{
	const char *damage = NULL;
	size_t checked = json_guard_check(&parser->guard, text, length, &damage);
	yajl_status status;

	parser->event_seen = false;
	status = yajl_parse(parser->handle, (const unsigned char *)text, checked);
	if (status != yajl_status_ok) {
		parser->offset += yajl_get_bytes_consumed(parser->handle);
		return check_status(parser, status, error);
	}
	parser->offset += checked;
	if (damage != NULL)
		return error_set(error, -EBADMSG, "%s", damage);
	parser->quiet = parser->event_seen ? 0 : parser->quiet + length;
	if (parser->quiet > JSON_QUIET_MAX)
		return error_set(error, -EBADMSG, "a string, number or blank space is longer than %d bytes",
				 JSON_QUIET_MAX);
	return 0;
}

void json_parser_skip(struct json_parser *parser, size_t length)
{
	parser->offset += length;
	if (length != 0)
		parser->quiet = 0;
}

int json_parser_finish(struct json_parser *parser, struct error *error)
{
	yajl_status status = yajl_complete_parse(parser->handle);

	return status == yajl_status_ok ? 0 : check_status(parser, status, error);
}

uint64_t json_parser_offset(const struct json_parser *parser)
{
	return parser->offset;
}

void json_parser_release(struct json_parser *parser)
{
	if (parser == NULL)
		return;
	yajl_free(parser->handle);
	free(parser);
}
