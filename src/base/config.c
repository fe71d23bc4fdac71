/* SPDX-License-Identifier: GPL-2.0-only */
#include "config.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "memory.h"
#include "unicode.h"

static bool is_blank(char character)
{
	return character == ' ' || character == '\t' || character == '\r';
}

static void trim(const char **text, size_t *length)
{
	while (*length != 0 && is_blank(**text)) {
		(*text)++;
		(*length)--;
	}
	while (*length != 0 && is_blank((*text)[*length - 1]))
		(*length)--;
}

struct raw_line {
	const char *text;
	size_t length, whole; /* without the end of the line, and with it */
};

/* Reads the lines of a text, up to the limit; parsing and editing share it. */
struct raw_reader {
	const char *text;
	size_t length; /* bytes not read yet */
	size_t number; /* line number of the last line read, from 1 */
};

/* Skips the byte order mark, which some editors put first. */
static struct raw_reader begin_reading(const char *text, size_t length)
{
	static const char mark[] = "\xef\xbb\xbf";
	const size_t skipped = length >= sizeof(mark) - 1 && memcmp(text, mark, sizeof(mark) - 1) == 0
				       ? sizeof(mark) - 1
				       : 0;

	return (struct raw_reader){text + skipped, length - skipped, 0};
}

/* Takes the next line. Returns false at the end, and at the limit of lines: then `length` is not 0. */
static bool next_line(struct raw_reader *reader, struct raw_line *ret_line)
{
	const char *newline;

	if (reader->length == 0 || reader->number == CONFIG_LINES_MAX)
		return false;
	newline = memchr(reader->text, '\n', reader->length);
	ret_line->text = reader->text;
	ret_line->length = newline != NULL ? (size_t)(newline - reader->text) : reader->length;
	ret_line->whole = ret_line->length + (newline != NULL);
	reader->text += ret_line->whole;
	reader->length -= ret_line->whole;
	reader->number++;
	return true;
}

static bool problem(struct config_line *line, const char *sentence)
{
	line->kind = CONFIG_PROBLEM;
	line->value = memory_duplicate(sentence);
	return true;
}

static bool is_name(const char *name, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		if ((unsigned char)name[i] <= ' ' || name[i] == 0x7f || strchr("\"[]=#", name[i]) != NULL)
			return false;
	}
	return length != 0;
}

/* Refuses a section's head. The lines behind it belong to no known section. */
static bool bad_head(struct config_line *line, const char *sentence)
{
	problem(line, sentence);
	line->kind = CONFIG_SECTION;
	line->name = memory_duplicate("");
	return true;
}

/* `[tab  mine]`: the words of a section's head with one blank between. */
static bool read_section(const char *text, size_t length, struct config_line *line)
{
	const char *end = memchr(text, ']', length);
	size_t rest = end != NULL ? length - (size_t)(end + 1 - text) : 0;
	struct buffer name = {0};

	if (end == NULL)
		return bad_head(line, "a section's name ends with ]");
	end++;
	trim(&end, &rest);
	if (rest != 0 && *end != '#')
		return bad_head(line, "nothing stands behind the ] of a section");
	length = strcspn(text, "]");
	for (size_t i = 1; i < length; i++) {
		if (!is_blank(text[i]))
			buffer_append_char(&name, text[i]);
		else if (name.length != 0 && name.data[name.length - 1] != ' ')
			buffer_append_char(&name, ' ');
	}
	if (name.length != 0 && name.data[name.length - 1] == ' ')
		name.data[--name.length] = '\0';
	if (name.length == 0) {
		buffer_release(&name);
		return bad_head(line, "a section has a name: [tab NAME]");
	}
	line->kind = CONFIG_SECTION;
	line->name = buffer_steal(&name);
	return true;
}

/* Appends what stands in the quotes that the text begins with; returns how many bytes it takes with both
 * quotes, 0 if the second is missing. */
static size_t read_quotes(const char *text, size_t length, struct buffer *value)
{
	size_t i = 1;

	for (; i < length && text[i] != '"'; i++) {
		if (text[i] == '\\' && i + 1 < length && (text[i + 1] == '"' || text[i + 1] == '\\'))
			i++;
		buffer_append_char(value, text[i]);
	}
	return i < length ? i + 1 : 0;
}

/* A value in quotes; behind it only a comment may stand. */
static bool read_quoted(const char *text, size_t length, struct buffer *value)
{
	const size_t used = read_quotes(text, length, value);

	if (used == 0)
		return false;
	text += used;
	length -= used;
	trim(&text, &length);
	return length == 0 || *text == '#';
}

/* A value without quotes ends where a comment begins: at a # behind a blank. */
static size_t plain_length(const char *text, size_t length)
{
	size_t end = length;

	for (size_t i = 0; i < end; i++) {
		if (text[i] == '#' && (i == 0 || is_blank(text[i - 1])))
			end = i;
	}
	while (end != 0 && is_blank(text[end - 1]))
		end--;
	return end;
}

static bool read_setting(const char *text, size_t length, struct config_line *line)
{
	const char *equals = memchr(text, '=', length);
	const char *name = text, *value;
	size_t name_length, value_length;
	struct buffer read = {0};

	if (equals == NULL)
		return problem(line, "a line is KEY = VALUE, [tab NAME] or a comment, which begins with #");
	value = equals + 1;
	name_length = (size_t)(equals - text);
	value_length = length - name_length - 1;
	trim(&name, &name_length);
	trim(&value, &value_length);
	if (!is_name(name, name_length))
		return problem(line, "a key is one word");
	if (value_length == 0 || *value != '"') {
		buffer_append(&read, value, plain_length(value, value_length));
	} else if (!read_quoted(value, value_length, &read)) {
		buffer_release(&read);
		return problem(line, "a value that begins with a \" ends with one");
	}
	buffer_append_text(&read, "");
	line->kind = CONFIG_SETTING;
	line->name = memory_duplicate_bytes(name, name_length);
	line->value = buffer_steal(&read);
	return true;
}

/* Reads a line; false for one that is empty or a comment. Names and values are owned by the caller. */
static bool read_line(const struct raw_line *line, struct config_line *ret_line)
{
	const char *text = line->text;
	size_t length = line->length;
	bool (*refuse)(struct config_line * line, const char *sentence);

	*ret_line = (struct config_line){.kind = CONFIG_PROBLEM};
	trim(&text, &length);
	if (length == 0 || *text == '#')
		return false;
	refuse = *text == '[' ? bad_head : problem;
	if (line->length > CONFIG_LINE_MAX)
		return refuse(ret_line, "the line is too long");
	if (memchr(text, '\0', length) != NULL || !unicode_is_valid(text, length))
		return refuse(ret_line, "this is no text in UTF-8");
	return *text == '[' ? read_section(text, length, ret_line) : read_setting(text, length, ret_line);
}

/* The position of the comment behind a setting, with the blanks before it; `length` without a comment. */
static size_t find_comment(const char *line, size_t length)
{
	const char *equals = memchr(line, '=', length);
	const char *value = equals != NULL ? equals + 1 : line + length;
	struct buffer ignored = {0};
	size_t rest, end;

	while (value < line + length && is_blank(*value))
		value++;
	rest = length - (size_t)(value - line);
	end = rest != 0 && *value == '"' ? read_quotes(value, rest, &ignored) : plain_length(value, rest);
	buffer_release(&ignored);
	return memchr(value + end, '#', rest - end) != NULL ? (size_t)(value - line) + end : length;
}

static void release_line(struct config_line *line)
{
	free(line->name);
	free(line->value);
	*line = (struct config_line){.kind = CONFIG_PROBLEM};
}

static void add_line(struct config *config, const struct config_line *line, size_t number)
{
	struct config_line *added = MEMORY_APPEND(config->lines, config->count, config->capacity);

	*added = *line;
	added->number = number;
}

void config_parse(const char *text, size_t length, struct config *config)
{
	struct raw_reader reader = begin_reading(text, length);
	struct config_line read;
	struct raw_line line;

	*config = (struct config){.count = 0};
	while (next_line(&reader, &line)) {
		if (read_line(&line, &read))
			add_line(config, &read, reader.number);
	}
	if (reader.length != 0) {
		problem(&read, "there are too many lines; the rest is not read");
		read.name = NULL;
		add_line(config, &read, reader.number + 1);
	}
}

void config_release(struct config *config)
{
	for (size_t i = 0; i < config->count; i++)
		release_line(&config->lines[i]);
	free(config->lines);
	*config = (struct config){.count = 0};
}

/* --- changing a text --- */

/* Whether a value read back without quotes would be another one. */
static bool needs_quotes(const char *value)
{
	const size_t length = strlen(value);

	return length != 0 &&
	       (value[0] == '"' || is_blank(value[0]) || plain_length(value, length) != length);
}

void config_append_setting(struct buffer *buffer, const char *key, const char *value)
{
	const bool quoted = needs_quotes(value);

	buffer_append_format(buffer, "%s =%s%s", key, *value != '\0' ? " " : "", quoted ? "\"" : "");
	for (; *value != '\0'; value++) {
		if (quoted && (*value == '"' || *value == '\\'))
			buffer_append_char(buffer, '\\');
		buffer_append_char(buffer, (char)(*value == '\n' ? ' ' : *value));
	}
	buffer_append_text(buffer, quoted ? "\"\n" : "\n");
}

struct edit {
	const struct config_change *changes;
	size_t change_count;
	size_t *counting; /* by change: 1 + the line that counts; 0: none */
	struct edited_line {
		struct raw_line raw;
		size_t change; /* of this line; `change_count`: none */
	} * lines;
	size_t count, capacity;
	size_t end; /* lines up to and with the last setting of the section, or its head; 0: no section */
};

/* The change of a line of the section, or `change_count`. */
static size_t find_change(const struct edit *edit, const struct config_line *line)
{
	size_t i = line->kind == CONFIG_SETTING ? 0 : edit->change_count;

	while (i < edit->change_count && strcasecmp(edit->changes[i].key, line->name) != 0)
		i++;
	return i;
}

/* Finds the lines to change, reading like config_parse(). Returns false if the text has too many lines. */
static bool find_lines(struct edit *edit, const char *text, size_t length, const char *section)
{
	struct raw_reader reader = begin_reading(text, length);
	struct raw_line raw;
	bool inside = false;

	while (next_line(&reader, &raw)) {
		struct edited_line *line = MEMORY_APPEND(edit->lines, edit->count, edit->capacity);
		struct config_line read;

		*line = (struct edited_line){.raw = raw, .change = edit->change_count};
		if (!read_line(&raw, &read))
			continue;
		if (read.kind == CONFIG_SECTION)
			inside = strcasecmp(read.name, section) == 0;
		if (inside) {
			line->change = find_change(edit, &read);
			edit->counting[line->change] = edit->end = edit->count;
		}
		release_line(&read);
	}
	return reader.length == 0;
}

/* Begins a line unless the text is at the beginning of one. */
static void begin_line(struct buffer *text)
{
	if (text->length != 0 && text->data[text->length - 1] != '\n')
		buffer_append_char(text, '\n');
}

/* The setting with its new value, and with its comment. */
static void append_changed(const struct config_change *change, const struct raw_line *line,
			   struct buffer *result)
{
	const size_t comment = find_comment(line->text, line->length);

	config_append_setting(result, change->key, change->value);
	result->length--;
	buffer_append(result, line->text + comment, line->length - comment);
	buffer_append_char(result, '\n');
}

static void append_edited(const struct edit *edit, const char *text, size_t length, const char *section,
			  struct buffer *result)
{
	struct buffer missing = {0};

	for (size_t i = 0; i < edit->change_count; i++) {
		if (edit->counting[i] == 0 && edit->changes[i].value != NULL)
			config_append_setting(&missing, edit->changes[i].key, edit->changes[i].value);
	}
	/* keep the byte order mark */
	buffer_append(result, text, (size_t)(begin_reading(text, length).text - text));
	for (size_t i = 0; i < edit->count; i++) {
		const struct edited_line *line = &edit->lines[i];
		const struct config_change *change = &edit->changes[line->change];

		if (line->change == edit->change_count)
			buffer_append(result, line->raw.text, line->raw.whole);
		else if (change->value != NULL && edit->counting[line->change] == i + 1)
			append_changed(change, &line->raw, result);
		if (edit->end == i + 1) {
			begin_line(result);
			buffer_append(result, missing.data, missing.length);
		}
	}
	if (edit->end == 0 && missing.length != 0) {
		begin_line(result);
		buffer_append_format(result, "%s[%s]\n", result->length != 0 ? "\n" : "", section);
		buffer_append(result, missing.data, missing.length);
	}
	buffer_release(&missing);
}

static void begin_edit(struct edit *edit, const struct config_change *changes, size_t change_count)
{
	*edit = (struct edit){.changes = changes, .change_count = change_count};
	edit->counting = memory_allocate_zero(change_count + 1, sizeof(*edit->counting));
}

static void release_edit(struct edit *edit)
{
	free(edit->lines);
	free(edit->counting);
}

/* Checks that config_parse() would read all changes of the edited text. */
static int check_edited(const struct buffer *edited, const char *section, const struct config_change *changes,
			size_t change_count, struct error *error)
{
	struct edit again;
	int result = 0;

	begin_edit(&again, changes, change_count);
	if (edited->length > CONFIG_BYTES_MAX)
		result = error_set(error, -EFBIG, "it would exceed the %d KiB that ctop reads",
				   CONFIG_BYTES_MAX >> 10);
	else if (!find_lines(&again, edited->data, edited->length, section))
		result = error_set(error, -EFBIG, "only its first %d lines are read", CONFIG_LINES_MAX);
	for (size_t i = 0; i < change_count && result == 0; i++) {
		if (changes[i].value != NULL && again.counting[i] == 0)
			result = error_set(error, -EFBIG, "the line of %s would be longer than %d bytes",
					   changes[i].key, CONFIG_LINE_MAX);
	}
	release_edit(&again);
	return result;
}

int config_edit(const char *text, size_t length, const char *section, const struct config_change *changes,
		size_t change_count, struct buffer *result, struct error *error)
{
	struct edit edit;
	int status;

	begin_edit(&edit, changes, change_count);
	if (find_lines(&edit, text, length, section)) {
		append_edited(&edit, text, length, section, result);
		status = check_edited(result, section, changes, change_count, error);
	} else {
		status = error_set(error, -EFBIG, "only its first %d lines are read", CONFIG_LINES_MAX);
	}
	release_edit(&edit);
	return status;
}
