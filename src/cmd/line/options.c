/* SPDX-License-Identifier: GPL-2.0-only */
#include "options.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "metric/nearest.h"
#include "base/number.h"
#include "command.h"
#include "metric/quantity.h"
#include "session/when.h"

struct parser {
	const struct option_table_use *uses;
	size_t use_count;
	char *values;
	char **words;
	int word_count;
	int next; /* index of the word to look at */
	struct option_set *given;
};

/* An option as it was found: its table entry, the struct it sets, and how the user wrote it. */
struct option_match {
	const struct option *option;
	size_t place; /* in an option_set */
	void *member;
	char written[72];
};

/* The name of an option that a word may be meant for, of those that may stand in a file if `in_file`; or
 * NULL. */
static const char *nearest_option(const struct option_table_use *uses, size_t use_count, const char *word,
				  bool in_file)
{
	const char *names[OPTIONS_MAX] = {NULL};
	size_t count = 0;

	for (size_t u = 0; u < use_count; u++) {
		for (size_t i = 0; i < uses[u].table->count && count < OPTIONS_MAX; i++) {
			const struct option *option = &uses[u].table->options[i];

			if (option->name != NULL && (option->in_file || !in_file))
				names[count++] = option->name;
		}
	}
	return nearest_name(word, names, count);
}

static bool is_name(const char *own, const char *name, size_t length)
{
	return own != NULL && strlen(own) == length && memcmp(own, name, length) == 0;
}

static bool is_called(const struct option *option, const char *name, size_t length, char letter)
{
	if (name == NULL)
		return option->letter != '\0' && option->letter == letter;
	return is_name(option->name, name, length) || is_name(option->old_name, name, length);
}

/* Finds an option by its long name, or by its letter when `name` is NULL. */
static bool find(const struct parser *parser, const char *name, size_t length, char letter,
		 struct option_match *ret_match)
{
	size_t place = 0;

	for (size_t u = 0; u < parser->use_count; u++) {
		const struct option_table *table = parser->uses[u].table;

		for (size_t i = 0; i < table->count; i++, place++) {
			const struct option *option = &table->options[i];

			if (!is_called(option, name, length, letter))
				continue;
			ret_match->option = option;
			ret_match->place = place;
			ret_match->member = parser->values != NULL
						    ? parser->values + parser->uses[u].offset + option->offset
						    : NULL;
			return true;
		}
	}
	return false;
}

/* What other programs call options of tables of rows that have another letter here. */
static const struct {
	const char *written, *hint;
} habits[] = {
	{"-o", "-s COLUMN sorts, --columns chooses columns, and -o FILE is the output of show, diff, dump "
	       "and capture"},
	{"-i", "idle groups are hidden (--all shows them), and -t io has reads and writes"},
};

static int unknown_option(const struct parser *parser, const char *written, struct error *error)
{
	const char *nearest = strncmp(written, "--", 2) == 0
				      ? nearest_option(parser->uses, parser->use_count, written + 2, false)
				      : NULL;
	struct option_match sort;

	if (nearest != NULL)
		return error_set(error, -EINVAL, "unknown option '%s', did you mean '--%s'?", written,
				 nearest);
	for (size_t i = 0; i < ARRAY_COUNT(habits) && find(parser, NULL, 0, 's', &sort); i++) {
		if (strcmp(habits[i].written, written) == 0)
			return error_set(error, -EINVAL, "unknown option '%s': %s", written, habits[i].hint);
	}
	return error_set(error, -EINVAL, "unknown option '%s'", written);
}

static bool is_unit_of_size(const char *unit)
{
	return strchr(unit, 'B') != NULL;
}

static int bad_number(const struct option_match *match, const char *value, struct error *error)
{
	const struct option *option = match->option;
	const bool is_size = option->unit != NULL && is_unit_of_size(option->unit);

	if (option->unit != NULL && option->maximum >= 1e15)
		return error_set(error, -EINVAL,
				 "%s takes a %s of at least %.15g %s, such as %s, not '%.100s'",
				 match->written, is_size ? "size" : "time", option->minimum, option->unit,
				 is_size ? "500M" : "90s", value);
	if (option->unit != NULL)
		return error_set(error, -EINVAL,
				 "%s takes a %s from %.15g to %.15g %s, such as %s, not '%.100s'",
				 match->written, is_size ? "size" : "time", option->minimum, option->maximum,
				 option->unit, is_size ? "500M" : "90s", value);
	if (option->maximum >= 1e15)
		return error_set(error, -EINVAL, "%s takes a number of at least %.15g, not '%.100s'",
				 match->written, option->minimum, value);
	return error_set(error, -EINVAL, "%s takes a number from %.15g to %.15g, not '%.100s'",
			 match->written, option->minimum, option->maximum, value);
}

/* A number with a unit, in the unit of the option's plain numbers. */
static bool parse_with_unit(const char *unit, const char *value, double *ret_number)
{
	double number, factor, own = 1;
	size_t length;
	uint64_t ns, own_ns;
	char one[16];

	if (!is_unit_of_size(unit)) {
		snprintf(one, sizeof(one), "1%s", unit);
		if (!when_parse_span(value, &ns) || !when_parse_span(one, &own_ns))
			return false;
		*ret_number = (double)ns / (double)own_ns;
		return true;
	}
	length = quantity_parse_number(value, strlen(value), &number);
	if (length == 0 || !quantity_find_unit(LADDER_BYTES, unit, strlen(unit), &own) ||
	    !quantity_find_unit(LADDER_BYTES, value + length, strlen(value + length), &factor))
		return false;
	*ret_number = number * factor / own;
	return true;
}

static bool parse_real(const struct option *option, const char *value, double *ret_number)
{
	char *end;

	*ret_number = strtod(value, &end);
	if (end == value || !isfinite(*ret_number) ||
	    (*end != '\0' && (option->unit == NULL || !parse_with_unit(option->unit, value, ret_number))))
		return false;
	return *ret_number >= option->minimum && *ret_number <= option->maximum;
}

static int set_count(const struct option_match *match, const char *value, struct error *error)
{
	const struct option *option = match->option;
	uint64_t number;
	double real;

	if (number_parse_u64(value, strlen(value), &number)) {
		if ((double)number < option->minimum || (double)number > option->maximum)
			return bad_number(match, value, error);
	} else {
		if (option->unit == NULL || !parse_real(option, value, &real) || real != trunc(real))
			return bad_number(match, value, error);
		number = (uint64_t)real;
	}
	*(uint64_t *)match->member = number;
	return 0;
}

/* Numbers with commas between them. */
static int set_numbers(const struct option_match *match, const char *value, struct error *error)
{
	struct option_numbers *numbers = match->member;

	for (const char *next = value;; next++) {
		const size_t length = strcspn(next, ",");
		uint64_t number;

		if (!number_parse_u64(next, length, &number) || (double)number < match->option->minimum ||
		    (double)number > match->option->maximum)
			return bad_number(match, value, error);
		*MEMORY_APPEND(numbers->items, numbers->count, numbers->capacity) = (uint32_t)number;
		next += length;
		if (*next == '\0')
			return 0;
	}
}

static int set_real(const struct option_match *match, const char *value, struct error *error)
{
	double number;

	if (!parse_real(match->option, value, &number))
		return bad_number(match, value, error);
	*(double *)match->member = number;
	return 0;
}

static int set_choice(const struct option_match *match, const char *value, struct error *error)
{
	const char *const *choices = match->option->choices;
	char kind[96];
	size_t count = 0;

	while (choices[count] != NULL) {
		if (strcmp(choices[count], value) == 0) {
			*(int *)match->member = (int)count;
			return 0;
		}
		count++;
	}
	snprintf(kind, sizeof(kind), "value for %s", match->written);
	return nearest_refuse(error, kind, value, choices, count);
}

static int set_flag(const struct option_match *match, const char *value, struct error *error)
{
	static const char *const words[] = {"yes", "true", "on", "1", "no", "false", "off", "0"};

	for (size_t i = 0; i < ARRAY_COUNT(words); i++) {
		if (value == NULL || strcasecmp(value, words[i]) == 0) {
			*(bool *)match->member = i < ARRAY_COUNT(words) / 2;
			return 0;
		}
	}
	return error_set(error, -EINVAL, "%s takes yes or no, not '%.100s'", match->written, value);
}

static int set_value(const struct option_match *match, const char *value, struct error *error)
{
	struct option_texts *texts = match->member;

	switch (match->option->kind) {
	case OPTION_FLAG:
		return set_flag(match, value, error);
	case OPTION_TEXT:
		*(const char **)match->member = value;
		return 0;
	case OPTION_TEXTS:
		*MEMORY_APPEND(texts->items, texts->count, texts->capacity) = value;
		return 0;
	case OPTION_COUNT:
		return set_count(match, value, error);
	case OPTION_NUMBERS:
		return set_numbers(match, value, error);
	case OPTION_REAL:
		return set_real(match, value, error);
	case OPTION_CHOICE:
		return set_choice(match, value, error);
	case OPTION_PARSED:
		return match->option->parse(value, match->member, error);
	}
	return -EINVAL;
}

/* Sets an option that was found; where its value is not joined to it (NULL), that is the next word. */
static int take_option(struct parser *parser, const struct option_match *match, const char *value,
		       struct error *error)
{
	if (match->place < OPTIONS_MAX)
		parser->given->has[match->place] = true;
	if (match->option->kind != OPTION_FLAG && value == NULL) {
		if (parser->next >= parser->word_count)
			return error_set(error, -EINVAL, "%s needs a value: %s", match->written,
					 match->option->value_name);
		value = parser->words[parser->next++];
	}
	return set_value(match, value, error);
}

static int parse_long(struct parser *parser, const char *word, struct error *error)
{
	const char *name = word + 2;
	const char *equals = strchr(name, '=');
	size_t length = equals != NULL ? (size_t)(equals - name) : strlen(name);
	const char *value = equals != NULL ? equals + 1 : NULL;
	struct option_match match;

	snprintf(match.written, sizeof(match.written), "--%.*s", (int)(length < 60 ? length : 60), name);
	if (!find(parser, name, length, '\0', &match))
		return unknown_option(parser, match.written, error);
	if (match.option->warns_of_old_name && is_name(match.option->old_name, name, length))
		command_note("%s is called --%s now, since it means something else elsewhere", match.written,
			     match.option->name);
	if (match.option->kind == OPTION_FLAG && value != NULL && !match.option->in_file)
		return error_set(error, -EINVAL, "%s takes no value", match.written);
	return take_option(parser, &match, value, error);
}

/* The request that a letter, or where `name` is not NULL a long name, makes without being in any table. */
static enum option_request find_request(const char *name, char letter)
{
	if (name == NULL && letter == 'h')
		return OPTION_REQUEST_BRIEF;
	if (name != NULL && strcmp(name, "help") == 0)
		return OPTION_REQUEST_HELP;
	if (name == NULL ? letter == 'V' : strcmp(name, "version") == 0)
		return OPTION_REQUEST_VERSION;
	return OPTION_REQUEST_NONE;
}

/* A word of letters: flags may be joined; what follows the first letter that takes a value is its value. */
static int parse_letters(struct parser *parser, const char *word, enum option_request *ret_request,
			 struct error *error)
{
	for (const char *letter = word + 1; *letter != '\0'; letter++) {
		struct option_match match;

		snprintf(match.written, sizeof(match.written), "-%c", *letter);
		if (!find(parser, NULL, 0, *letter, &match)) {
			*ret_request = find_request(NULL, *letter);
			return *ret_request == OPTION_REQUEST_NONE
				       ? unknown_option(parser, match.written, error)
				       : 0;
		}
		if (match.option->kind != OPTION_FLAG)
			return take_option(parser, &match, letter[1] != '\0' ? letter + 1 : NULL, error);
		take_option(parser, &match, NULL, error);
	}
	return 0;
}

void option_describe(const struct option *option, struct buffer *buffer)
{
	if (option->description != NULL)
		buffer_append_text(buffer, option->description);
	else
		option->describe(buffer);
}

bool options_have(const struct option_table_use *uses, size_t use_count, const struct option_set *given,
		  const char *name)
{
	const struct parser parser = {.uses = uses, .use_count = use_count};
	struct option_match match;

	return find(&parser, name, strlen(name), '\0', &match) && match.place < OPTIONS_MAX &&
	       given->has[match.place];
}

/* The next option that was given from `*place` on, which is moved behind it; NULL for none. */
static const struct option *next_given(const struct option_table_use *uses, size_t use_count,
				       const struct option_set *given, size_t *place)
{
	size_t first = 0;

	for (size_t u = 0; u < use_count; first += uses[u++].table->count) {
		for (; *place < first + uses[u].table->count && *place < OPTIONS_MAX; (*place)++) {
			if (given->has[*place])
				return &uses[u].table->options[(*place)++ - first];
		}
	}
	return NULL;
}

int options_refuse(const struct option_table_use *uses, size_t use_count, const struct option_set *given,
		   enum option_about about, const char *why, struct error *error)
{
	const struct option *option;

	for (size_t place = 0; (option = next_given(uses, use_count, given, &place)) != NULL;) {
		if (option->about != about)
			continue;
		return option->name != NULL ? error_set(error, -EINVAL, "--%s %s", option->name, why)
					    : error_set(error, -EINVAL, "-%c %s", option->letter, why);
	}
	return 0;
}

static int check_contradictions(const struct parser *parser, struct error *error)
{
	const struct option *option;

	for (size_t place = 0;
	     (option = next_given(parser->uses, parser->use_count, parser->given, &place)) != NULL;) {
		if (option->excludes != NULL &&
		    options_have(parser->uses, parser->use_count, parser->given, option->excludes))
			return error_set(error, -EINVAL, "--%s and --%s contradict each other: leave one out",
					 option->name, option->excludes);
	}
	return 0;
}

const char options_separator[] = "--";

int options_parse(const struct option_table_use *uses, size_t use_count, void *values, char **words,
		  int word_count, bool has_sets, enum option_request *ret_request,
		  struct option_set *ret_given, struct error *error)
{
	struct parser parser = {uses, use_count, values, words, word_count, 0, ret_given};
	int operands = 0;
	bool only_operands = false;

	*ret_request = OPTION_REQUEST_NONE;
	*ret_given = (struct option_set){.operands_before_separator = 0};
	while (parser.next < word_count && *ret_request == OPTION_REQUEST_NONE) {
		char *word = words[parser.next++];
		const bool is_separator = strcmp(word, options_separator) == 0;
		int status = 0;

		/* no option is a digit: -15m is a time */
		if (only_operands || word[0] != '-' || word[1] == '\0' ||
		    (word[1] >= '0' && word[1] <= '9') || (is_separator && has_sets && operands > 0)) {
			words[operands++] = word;
			has_sets &= !is_separator;
		} else if (is_separator) {
			only_operands = true;
			ret_given->operands_before_separator = operands;
		} else if (word[1] != '-') {
			status = parse_letters(&parser, word, ret_request, error);
		} else {
			*ret_request = find_request(word + 2, '\0');
			if (*ret_request == OPTION_REQUEST_NONE)
				status = parse_long(&parser, word, error);
		}
		if (status < 0)
			return status;
	}
	if (!only_operands)
		ret_given->operands_before_separator = operands;
	return *ret_request == OPTION_REQUEST_NONE && check_contradictions(&parser, error) < 0 ? -EINVAL
											       : operands;
}

/* --- files --- */

static int unknown_setting(const struct option_table_use *uses, size_t use_count, const char *name,
			   bool is_option, struct error *error)
{
	const char *nearest = nearest_option(uses, use_count, name, true);

	if (is_option)
		return error_set(error, -ENOENT, "'%s' may stand on the command line only", name);
	if (nearest != NULL)
		return error_set(error, -ENOENT, "unknown key '%s', did you mean '%s'?", name, nearest);
	return error_set(error, -ENOENT, "unknown key '%s'; 'ctop --print-config' lists all", name);
}

int options_set(const struct option_table_use *uses, size_t use_count, void *values,
		const struct option_set *given, const char *name, const char *value, struct error *error)
{
	const struct parser parser = {.uses = uses, .use_count = use_count, .values = values};
	struct option_match match;
	const bool found = find(&parser, name, strlen(name), '\0', &match);

	if (!found || !match.option->in_file)
		return unknown_setting(uses, use_count, name, found, error);
	if (match.place < OPTIONS_MAX && given->has[match.place])
		return 0;
	snprintf(match.written, sizeof(match.written), "%s", name);
	/* an empty value is the same as no line */
	if (*value == '\0' && match.option->kind != OPTION_FLAG)
		return 0;
	return set_value(&match, value, error);
}

static bool print_text(const char *text, struct buffer *buffer)
{
	buffer_append_text(buffer, text != NULL ? text : "");
	return text != NULL;
}

bool option_print(const struct option *option, const void *member, size_t index, struct buffer *buffer)
{
	const struct option_texts *texts = member;
	const size_t before = buffer->length;

	switch (option->kind) {
	case OPTION_FLAG:
		return print_text(*(const bool *)member ? "yes" : "no", buffer);
	case OPTION_TEXT:
		return print_text(*(const char *const *)member, buffer);
	case OPTION_TEXTS:
		return print_text(index < texts->count ? texts->items[index] : NULL, buffer);
	case OPTION_COUNT:
		buffer_append_u64(buffer, *(const uint64_t *)member);
		return true;
	case OPTION_REAL:
		buffer_append_format(buffer, "%.15g", *(const double *)member);
		return true;
	case OPTION_CHOICE:
		return print_text(option->choices[*(const int *)member], buffer);
	case OPTION_PARSED:
		option->print(member, buffer);
		return buffer->length != before;
	case OPTION_NUMBERS:
		break;
	}
	return false;
}

void options_release(const struct option_table_use *uses, size_t use_count, void *values)
{
	for (size_t u = 0; u < use_count; u++) {
		char *base = (char *)values + uses[u].offset;

		for (size_t i = 0; i < uses[u].table->count; i++) {
			const struct option *option = &uses[u].table->options[i];

			if (option->kind == OPTION_TEXTS)
				free(((struct option_texts *)(void *)(base + option->offset))->items);
			else if (option->kind == OPTION_NUMBERS)
				free(((struct option_numbers *)(void *)(base + option->offset))->items);
		}
	}
}
