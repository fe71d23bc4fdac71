/* SPDX-License-Identifier: GPL-2.0-only */
#include "exposition.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "base/clock.h"
#include "base/unicode.h"

const char *const exposition_content_types[EXPOSITION_FORMAT_COUNT] = {
	[EXPOSITION_TEXT] = "text/plain; version=0.0.4; charset=utf-8",
	[EXPOSITION_OPENMETRICS] = "application/openmetrics-text; version=1.0.0; charset=utf-8",
};

/* --- Accept --- */

static bool is_blank(char character)
{
	return character == ' ' || character == '\t';
}

/* Whether the `length` bytes at `text`, without blanks around them, are `word`, case ignored. */
static bool is_word(const char *text, size_t length, const char *word)
{
	while (length != 0 && is_blank(*text)) {
		text++;
		length--;
	}
	while (length != 0 && is_blank(text[length - 1]))
		length--;
	return length == strlen(word) && strncasecmp(text, word, length) == 0;
}

/* Thousandths of a weight "0.75"; what is none counts as 1, as if it was not there. */
static int parse_weight(const char *text, size_t length)
{
	int weight = 0, digit = 1000;

	if (length == 0 || (text[0] != '0' && text[0] != '1'))
		return 1000;
	weight = (text[0] - '0') * 1000;
	for (size_t i = 2; i < length && text[1] == '.' && text[i] >= '0' && text[i] <= '9' && digit > 1; i++)
		weight += (text[i] - '0') * (digit /= 10);
	return weight > 1000 ? 1000 : weight;
}

/* The weight of each format in the header, in thousandths; -1: it is not named. */
struct wishes {
	int of[EXPOSITION_FORMAT_COUNT];
};

/* Notes one of the ranges of the header. */
static void note_range(struct wishes *wishes, const char *range, size_t length)
{
	const char *end = range + length, *part = memchr(range, ';', length);
	const size_t type_length = part != NULL ? (size_t)(part - range) : length;
	bool is_text, fits = true;
	int weight = 1000;

	if (is_word(range, type_length, "application/openmetrics-text"))
		is_text = false;
	else if (is_word(range, type_length, "text/plain") || is_word(range, type_length, "text/*"))
		is_text = true;
	else
		return;
	while (part != NULL) {
		const char *value, *next;
		size_t part_length;

		part++;
		next = memchr(part, ';', (size_t)(end - part));
		part_length = (size_t)((next != NULL ? next : end) - part);
		value = memchr(part, '=', part_length);
		if (value != NULL && is_word(part, (size_t)(value - part), "q"))
			weight = parse_weight(value + 1, part_length - (size_t)(value + 1 - part));
		else if (value != NULL && is_word(part, (size_t)(value - part), "version") && !is_text)
			fits = is_word(value + 1, part_length - (size_t)(value + 1 - part), "1.0.0");
		part = next;
	}
	if (fits && weight > wishes->of[is_text ? EXPOSITION_TEXT : EXPOSITION_OPENMETRICS])
		wishes->of[is_text ? EXPOSITION_TEXT : EXPOSITION_OPENMETRICS] = weight;
}

enum exposition_format exposition_negotiate(const char *accept)
{
	struct wishes wishes = {.of = {-1, -1}};

	while (accept != NULL && *accept != '\0') {
		const size_t length = strcspn(accept, ",");

		note_range(&wishes, accept, length);
		accept += length;
		accept += *accept == ',';
	}
	return wishes.of[EXPOSITION_OPENMETRICS] > 0 &&
			       wishes.of[EXPOSITION_OPENMETRICS] >= wishes.of[EXPOSITION_TEXT]
		       ? EXPOSITION_OPENMETRICS
		       : EXPOSITION_TEXT;
}

/* --- the text --- */

void exposition_release(struct exposition *exposition)
{
	buffer_release(&exposition->sample);
}

/* The name of a unit as names and UNIT have it: Prometheus counts in base units. "" for none. */
static const char *unit_word(enum unit unit)
{
	switch (unit) {
	case UNIT_NS:
		return "seconds";
	case UNIT_BYTES:
		return "bytes";
	case UNIT_RATIO:
		return "ratio";
	default:
		return "";
	}
}

static const char *const kinds[] = {"counter", "gauge", "info"};
static const char *const endings[] = {"_total", "", "_info"};

/* The name of the family, without what its kind adds. */
static void append_family(struct buffer *buffer, const char *name, enum unit unit)
{
	const char *word = unit_word(unit);

	buffer_append_format(buffer, "%s%s%s", name, *word != '\0' ? "_" : "", word);
}

void exposition_append_name(struct buffer *buffer, enum exposition_kind kind, const char *name,
			    enum unit unit)
{
	append_family(buffer, name, unit);
	buffer_append_text(buffer, endings[kind]);
}

/* In OpenMetrics quotes are escaped too. */
static void append_help(struct buffer *buffer, enum exposition_format format, const char *help)
{
	for (; *help != '\0'; help++) {
		if (*help == '\\' || (*help == '"' && format == EXPOSITION_OPENMETRICS))
			buffer_append_char(buffer, '\\');
		if (*help == '\n')
			buffer_append_text(buffer, "\\n");
		else
			buffer_append_char(buffer, *help);
	}
}

void exposition_begin(struct exposition *exposition, enum exposition_kind kind, const char *name,
		      enum unit unit, const char *help)
{
	const bool is_open = exposition->format == EXPOSITION_OPENMETRICS;
	const char *word = unit_word(unit), *family;
	struct buffer *buffer = exposition->buffer;
	struct buffer base = {0};

	append_family(&base, name, unit);
	buffer_clear(&exposition->sample);
	exposition_append_name(&exposition->sample, kind, name, unit);
	exposition->unit = unit;
	/* the classic format knows nothing but names of samples, and no infos */
	family = is_open ? base.data : exposition->sample.data;
	buffer_append_format(buffer, "# HELP %s ", family);
	append_help(buffer, exposition->format, help);
	buffer_append_format(buffer, "\n# TYPE %s %s\n", family,
			     !is_open && kind == EXPOSITION_INFO ? "gauge" : kinds[kind]);
	if (is_open && *word != '\0')
		buffer_append_format(buffer, "# UNIT %s %s\n", family, word);
	buffer_release(&base);
}

static void begin_sample(struct exposition *exposition, const char *labels, size_t labels_length)
{
	struct buffer *buffer = exposition->buffer;

	buffer_append(buffer, exposition->sample.data, exposition->sample.length);
	if (labels_length != 0) {
		buffer_append_char(buffer, '{');
		buffer_append(buffer, labels, labels_length);
		buffer_append_char(buffer, '}');
	}
	buffer_append_char(buffer, ' ');
}

/* Seconds with all their digits, and none that says nothing. */
static void append_seconds(struct buffer *buffer, uint64_t nanoseconds)
{
	uint64_t rest = nanoseconds % NS_PER_S;
	char digits[10];
	size_t length = 10;

	buffer_append_u64(buffer, nanoseconds / NS_PER_S);
	if (rest == 0)
		return;
	for (size_t i = length; i-- > 1; rest /= 10)
		digits[i] = (char)('0' + rest % 10);
	digits[0] = '.';
	while (digits[length - 1] == '0')
		length--;
	buffer_append(buffer, digits, length);
}

void exposition_add(struct exposition *exposition, const char *labels, size_t labels_length, uint64_t value)
{
	begin_sample(exposition, labels, labels_length);
	if (exposition->unit == UNIT_NS)
		append_seconds(exposition->buffer, value);
	else
		buffer_append_u64(exposition->buffer, value);
	buffer_append_char(exposition->buffer, '\n');
}

void exposition_end(struct exposition *exposition)
{
	if (exposition->format == EXPOSITION_OPENMETRICS)
		buffer_append_text(exposition->buffer, "# EOF\n");
}

void exposition_append_label(struct buffer *buffer, const char *name, const char *value, size_t length)
{
	if (buffer->length != 0)
		buffer_append_char(buffer, ',');
	buffer_append_text(buffer, name);
	buffer_append_text(buffer, "=\"");
	while (length != 0) {
		uint32_t scalar;
		const size_t used = unicode_decode(value, length, &scalar);

		if (used != 0 && scalar == '\n') {
			buffer_append_text(buffer, "\\n");
		} else if (used == 0 || !unicode_is_printable(scalar)) {
			unicode_append(buffer, 0xfffd);
		} else {
			if (scalar == '"' || scalar == '\\')
				buffer_append_char(buffer, '\\');
			buffer_append(buffer, value, used);
		}
		value += used != 0 ? used : 1;
		length -= used != 0 ? used : 1;
	}
	buffer_append_char(buffer, '"');
}
