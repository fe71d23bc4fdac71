/* SPDX-License-Identifier: GPL-2.0-only */
#include "json_reader.h"

#include <errno.h>

#include "unicode.h"

enum {
	END = -1, /* of the text, or of what can be read of it */
};

_Static_assert(JSON_TEXT_MAX == 1048576 && JSON_SKIP_DEPTH_MAX == 127, "the sentences below name them");

static int refuse(struct json_reader *reader, const char *damage)
{
	if (reader->result == 0) {
		reader->result = -EBADMSG;
		reader->damage = damage;
	}
	return reader->result;
}

static int refuse_end(struct json_reader *reader)
{
	return refuse(reader, "the text ends too early");
}

/* Fetches the next piece; false at the end of the text or when that failed. */
static bool fetch_piece(struct json_reader *reader)
{
	const char *text = reader->end;
	ssize_t length = reader->fetch != NULL && reader->result == 0 ? reader->fetch(reader->context, &text)
								      : 0;

	if (length < 0)
		reader->result = (int)length;
	if (length <= 0)
		return false;
	reader->before += (uint64_t)(reader->end - reader->piece);
	reader->piece = reader->next = text;
	reader->end = text + length;
	return true;
}

/* The byte that comes next, or END. */
static inline int peek(struct json_reader *reader)
{
	if (reader->next == reader->end && !fetch_piece(reader))
		return END;
	return (unsigned char)*reader->next;
}

/* The byte that comes next and is no blank. */
static inline int peek_token(struct json_reader *reader)
{
	int byte = peek(reader);

	while (byte == ' ' || byte == '\n' || byte == '\t' || byte == '\r') {
		reader->next++;
		byte = peek(reader);
	}
	return byte;
}

static bool take(struct json_reader *reader, char character)
{
	if (peek(reader) != character)
		return false;
	reader->next++;
	return true;
}

/* Cuts the text to the part that is wanted, and that part to the limit. */
static int bound_text(struct json_reader *reader, size_t keep)
{
	if (reader->text.length <= keep)
		return 0;
	if (keep == JSON_TEXT_MAX)
		return refuse(reader, "a string or number is longer than 1048576 bytes");
	reader->text.length = keep;
	return 0;
}

/* Keeps the bytes from `start` to where the reader stands. */
static int keep_run(struct json_reader *reader, const char *start, size_t keep)
{
	if (keep == 0)
		return 0;
	buffer_append(&reader->text, start, (size_t)(reader->next - start));
	return bound_text(reader, keep);
}

/* Hexadecimal digits of an escape. */
static int take_unit(struct json_reader *reader, uint32_t *ret_unit)
{
	uint32_t unit = 0;

	for (int i = 0; i < 4; i++) {
		int byte = peek(reader);
		int letter = byte | 0x20;

		if (byte >= '0' && byte <= '9')
			unit = unit << 4 | (uint32_t)(byte - '0');
		else if (byte != END && letter >= 'a' && letter <= 'f')
			unit = unit << 4 | (uint32_t)(letter - 'a' + 10);
		else
			return refuse(reader, "four hexadecimal digits must follow \\u");
		reader->next++;
	}
	*ret_unit = unit;
	return 0;
}

/* Behind "\u": the unit, and the one that must follow when it is the high half of a pair. */
static int take_scalar_value(struct json_reader *reader, uint32_t *ret_scalar)
{
	static const char half[] = "half of a surrogate pair stands alone in an escape";
	uint32_t low;

	if (take_unit(reader, ret_scalar) < 0)
		return reader->result;
	if ((*ret_scalar & 0xf800) != 0xd800)
		return 0;
	if (*ret_scalar >= 0xdc00 || !take(reader, '\\') || !take(reader, 'u'))
		return refuse(reader, half);
	if (take_unit(reader, &low) < 0)
		return reader->result;
	if ((low & 0xfc00) != 0xdc00)
		return refuse(reader, half);
	*ret_scalar = 0x10000 + ((*ret_scalar & 0x3ff) << 10) + (low & 0x3ff);
	return 0;
}

/* Behind the backslash. */
static int take_escape(struct json_reader *reader, uint32_t *ret_scalar)
{
	static const char meanings[] = {['"'] = '"',  ['\\'] = '\\', ['/'] = '/',  ['b'] = '\b',
					['f'] = '\f', ['n'] = '\n',  ['r'] = '\r', ['t'] = '\t'};
	int byte = peek(reader);

	if (byte == END)
		return refuse_end(reader);
	if (byte == 'u') {
		reader->next++;
		return take_scalar_value(reader, ret_scalar);
	}
	if ((size_t)byte >= sizeof(meanings) || meanings[byte] == '\0')
		return refuse(reader, "no such letter may follow a backslash in a string");
	*ret_scalar = (unsigned char)meanings[byte];
	reader->next++;
	return 0;
}

/* A character beyond ASCII. */
static int take_sequence(struct json_reader *reader, uint32_t *ret_scalar)
{
	static const char damage[] = "the text is not valid UTF-8";
	int first = peek(reader);
	size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
	char bytes[4];

	for (size_t i = 0; i < length; i++) {
		int byte = peek(reader);

		if (byte == END)
			return refuse_end(reader);
		if (i != 0 && (byte & 0xc0) != 0x80)
			return refuse(reader, damage);
		bytes[i] = (char)byte;
		reader->next++;
	}
	return unicode_decode(bytes, length, ret_scalar) == length ? 0 : refuse(reader, damage);
}

static inline bool is_plain(char character)
{
	unsigned char byte = (unsigned char)character;

	return byte >= ' ' && byte < 0x80 && byte != '"' && byte != '\\';
}

/* A string holds these besides plain characters: an escape or a character beyond ASCII. */
static int take_other(struct json_reader *reader, size_t keep)
{
	uint32_t scalar = 0;
	int byte = peek(reader), result;

	if (byte == END)
		return refuse_end(reader);
	if (byte < ' ')
		return refuse(reader, "a control character stands in a string");
	if (take(reader, '\\'))
		result = take_escape(reader, &scalar);
	else
		result = take_sequence(reader, &scalar);
	if (result < 0 || keep == 0)
		return result;
	unicode_append(&reader->text, scalar);
	return bound_text(reader, keep);
}

/* Behind the quote. Nearly every string is whole and has no escapes, and nothing is copied. */
static int take_string(struct json_reader *reader, size_t keep, const char **ret_text, size_t *ret_length)
{
	const char *start = reader->next;
	int byte;

	buffer_clear(&reader->text);
	for (bool whole = true;; whole = false) {
		while (reader->next < reader->end && is_plain(*reader->next))
			reader->next++;
		if (whole && reader->next < reader->end && *reader->next == '"' &&
		    reader->next - start <= JSON_TEXT_MAX) {
			*ret_text = start;
			*ret_length = (size_t)(reader->next++ - start);
			return 0;
		}
		if (keep_run(reader, start, keep) < 0)
			return reader->result;
		byte = peek(reader);
		if (byte == '"')
			break;
		if ((byte == END || !is_plain((char)byte)) && take_other(reader, keep) < 0)
			return reader->result;
		start = reader->next;
	}
	reader->next++;
	*ret_text = reader->text.data != NULL ? reader->text.data : "";
	*ret_length = reader->text.length;
	return 0;
}

/* The part of a number that has been read (RFC 8259 section 6). */
enum number_state {
	NUMBER_START,
	NUMBER_MINUS,
	NUMBER_POINT,
	NUMBER_E,
	NUMBER_SIGN,
	NUMBER_FIRST_WHOLE, /* from here on it may end */
	NUMBER_ZERO = NUMBER_FIRST_WHOLE,
	NUMBER_INTEGER,
	NUMBER_FRACTION,
	NUMBER_EXPONENT,
	NUMBER_END, /* this character belongs to it no more */
};

static enum number_state number_step(enum number_state state, char character)
{
	bool digit = character >= '0' && character <= '9';
	bool e = character == 'e' || character == 'E';

	switch (state) {
	case NUMBER_START:
		if (character == '-')
			return NUMBER_MINUS;
		/* fall through */
	case NUMBER_MINUS:
		return character == '0' ? NUMBER_ZERO : digit ? NUMBER_INTEGER : NUMBER_END;
	case NUMBER_INTEGER:
		if (digit)
			return state;
		/* fall through */
	case NUMBER_ZERO:
		return character == '.' ? NUMBER_POINT : e ? NUMBER_E : NUMBER_END;
	case NUMBER_POINT:
		return digit ? NUMBER_FRACTION : NUMBER_END;
	case NUMBER_FRACTION:
		return digit ? state : e ? NUMBER_E : NUMBER_END;
	case NUMBER_E:
		if (character == '+' || character == '-')
			return NUMBER_SIGN;
		/* fall through */
	case NUMBER_SIGN:
	case NUMBER_EXPONENT:
		return digit ? NUMBER_EXPONENT : NUMBER_END;
	default:
		return NUMBER_END;
	}
}

static int take_number(struct json_reader *reader, size_t keep, const char **ret_text, size_t *ret_length)
{
	enum number_state state = NUMBER_START, following = NUMBER_START;
	const char *start = reader->next;

	buffer_clear(&reader->text);
	for (;;) {
		while (reader->next < reader->end) {
			following = number_step(state, *reader->next);
			if (following == NUMBER_END)
				break;
			state = following;
			reader->next++;
		}
		if (following == NUMBER_END && reader->text.length == 0 &&
		    reader->next - start <= JSON_TEXT_MAX) {
			*ret_text = start;
			*ret_length = (size_t)(reader->next - start);
			break;
		}
		if (keep_run(reader, start, keep) < 0)
			return reader->result;
		if (following == NUMBER_END || peek(reader) == END) {
			*ret_text = reader->text.data;
			*ret_length = reader->text.length;
			break;
		}
		start = reader->next;
	}
	if (reader->result == 0 && state < NUMBER_FIRST_WHOLE)
		refuse(reader, "a number lacks a digit");
	return reader->result;
}

static int take_word(struct json_reader *reader, const char *word)
{
	for (; *word != '\0'; word++) {
		if (!take(reader, *word))
			return refuse(reader, "only true, false and null are words");
	}
	return 0;
}

void json_reader_begin(struct json_reader *reader, const char *text, size_t length,
		       ssize_t (*fetch)(void *context, const char **ret_text), void *context)
{
	*reader = (struct json_reader){
		.next = text,
		.end = text + length,
		.piece = text,
		.fetch = fetch,
		.context = context,
	};
}

int json_reader_type(struct json_reader *reader, enum json_type *ret_type)
{
	switch (peek_token(reader)) {
	case '{':
		*ret_type = JSON_OBJECT;
		return 0;
	case '[':
		*ret_type = JSON_ARRAY;
		return 0;
	case '"':
		*ret_type = JSON_STRING;
		return 0;
	case 't':
	case 'f':
		*ret_type = JSON_BOOLEAN;
		return 0;
	case 'n':
		*ret_type = JSON_NULL;
		return 0;
	case '-':
	case '0' ... '9':
		*ret_type = JSON_NUMBER;
		return 0;
	case END:
		return refuse_end(reader);
	default:
		return refuse(reader, "no value begins with this character");
	}
}

/* Takes a scalar and keeps at most `keep` bytes of its text; of an object or array, takes only the type. */
static int take_scalar(struct json_reader *reader, size_t keep, struct json_scalar *ret_scalar)
{
	*ret_scalar = (struct json_scalar){.text = ""};
	if (json_reader_type(reader, &ret_scalar->type) < 0)
		return reader->result;
	switch (ret_scalar->type) {
	case JSON_STRING:
		reader->next++;
		return take_string(reader, keep, &ret_scalar->text, &ret_scalar->length);
	case JSON_NUMBER:
		return take_number(reader, keep, &ret_scalar->text, &ret_scalar->length);
	case JSON_BOOLEAN:
		ret_scalar->boolean = *reader->next == 't';
		return take_word(reader, ret_scalar->boolean ? "true" : "false");
	case JSON_NULL:
		return take_word(reader, "null");
	default:
		return 0;
	}
}

int json_reader_scalar(struct json_reader *reader, struct json_scalar *ret_scalar)
{
	return take_scalar(reader, JSON_TEXT_MAX, ret_scalar);
}

void json_reader_enter(struct json_reader *reader)
{
	reader->next++;
	reader->fresh = true;
}

/* The comma, where there must be one: 1 when a value may come, 0 and the bracket is taken. */
static int take_separator(struct json_reader *reader, char bracket)
{
	int byte = peek_token(reader);
	bool fresh = reader->fresh;

	reader->fresh = false;
	if (byte == END)
		return refuse_end(reader);
	if (fresh && byte != bracket)
		return 1;
	if (byte == bracket || byte == ',') {
		reader->next++;
		return byte == ',';
	}
	return refuse(reader, bracket == '}' ? "a comma or } must follow" : "a comma or ] must follow");
}

int json_reader_member(struct json_reader *reader, size_t keep, const char **ret_name, size_t *ret_length)
{
	int more = take_separator(reader, '}');

	if (more <= 0)
		return more;
	if (peek_token(reader) != '"')
		return reader->next == reader->end ? refuse_end(reader)
						   : refuse(reader, "a name in quotes must follow");
	reader->next++;
	if (take_string(reader, keep, ret_name, ret_length) < 0)
		return reader->result;
	if (json_reader_take_text(reader, ":", 1))
		return 1;
	/* the name is lost with its piece */
	if (*ret_name != reader->text.data && keep != 0 && *ret_length != 0) {
		buffer_append(&reader->text, *ret_name, *ret_length);
		*ret_name = reader->text.data;
	}
	if (peek_token(reader) != ':')
		return reader->next == reader->end ? refuse_end(reader)
						   : refuse(reader, "a colon must follow");
	reader->next++;
	return 1;
}

int json_reader_element(struct json_reader *reader)
{
	return take_separator(reader, ']');
}

static int skip_value(struct json_reader *reader, unsigned int depth)
{
	struct json_scalar value;
	const char *name;
	size_t length;
	int more;

	if (take_scalar(reader, 0, &value) < 0 || (value.type != JSON_OBJECT && value.type != JSON_ARRAY))
		return reader->result;
	if (depth == JSON_SKIP_DEPTH_MAX)
		return refuse(reader, "more than 127 objects and arrays lie in each other");
	json_reader_enter(reader);
	for (;;) {
		more = value.type == JSON_OBJECT ? json_reader_member(reader, 0, &name, &length)
						 : json_reader_element(reader);
		if (more <= 0)
			return more;
		if (skip_value(reader, depth + 1) < 0)
			return reader->result;
	}
}

int json_reader_skip(struct json_reader *reader)
{
	return skip_value(reader, 0);
}

int json_reader_finish(struct json_reader *reader)
{
	return peek_token(reader) == END ? reader->result
					 : refuse(reader, "something stands behind the value");
}

uint64_t json_reader_offset(const struct json_reader *reader)
{
	return reader->before + (uint64_t)(reader->next - reader->piece);
}

void json_reader_release(struct json_reader *reader)
{
	buffer_release(&reader->text);
}
