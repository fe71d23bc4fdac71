/* SPDX-License-Identifier: GPL-2.0-only */
/* Regular expressions of a filter. */
#include "filter_internal.h"

#include <errno.h>
#include <stdlib.h>

/* Behind a bracket expression that begins at `text`. */
static const char *skip_bracket(const char *text)
{
	text += text[1] == '^' ? 2 : 1;
	if (*text == ']')
		text++;
	while (*text != '\0' && *text != ']')
		text++;
	return *text == ']' ? text + 1 : text;
}

/*
 * Whether the C library would need much memory for an expression: it writes each repetition out, so that one
 * of a repetition multiplies.
 */
static bool is_vast(const char *pattern)
{
	struct {
		double before, last; /* how many atoms there are before the last one, and in it */
	} levels[32] = {{0}}, *level = levels;

	while (*pattern != '\0') {
		unsigned long most;
		double size = 1;
		char *end;

		switch (*pattern) {
		case '+':
			level->last *= 2;
			pattern++;
			continue;
		case '{':
			most = strtoul(pattern + 1, &end, 10);
			if (*end == ',' && end[1] == '}') {
				most++;
				end++;
			} else if (*end == ',') {
				most = strtoul(end + 1, &end, 10);
			}
			level->last *= most > 1 ? (double)most : 1;
			pattern = *end == '}' ? end + 1 : pattern + 1;
			continue;
		case '(':
			if (++level == levels + sizeof(levels) / sizeof(levels[0]))
				return true;
			level->before = level->last = 0;
			pattern++;
			continue;
		case ')':
			if (level != levels) {
				size += level->before + level->last;
				level--;
			}
			pattern++;
			break;
		case '[':
			pattern = skip_bracket(pattern);
			break;
		case '\\':
			pattern += pattern[1] != '\0' ? 2 : 1;
			break;
		default:
			pattern++;
		}
		level->before += level->last;
		level->last = size;
	}
	/* an open parenthesis is refused anyway */
	return level->before + level->last > 10000;
}

int filter_compile_regex(const char *pattern, bool ignore_case, regex_t *ret_regex, struct error *error)
{
	char reason[128];
	int result;

	if (is_vast(pattern))
		return error_set(
			error, -EINVAL,
			"/%s/ repeats repetitions so often that it needs too much memory; use fewer of "
			"+ and {}",
			pattern);
	result = regcomp(ret_regex, pattern, REG_EXTENDED | REG_NOSUB | (ignore_case ? REG_ICASE : 0));
	if (result == 0)
		return 0;
	regerror(result, ret_regex, reason, sizeof(reason));
	return error_set(error, -EINVAL, "/%s/ is not a regular expression: %s", pattern, reason);
}
