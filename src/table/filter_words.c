/* SPDX-License-Identifier: GPL-2.0-only */
/* The words that the text of a filter is made of. */
#include "filter_internal.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "base/buffer.h"

bool filter_has_capital(const char *text)
{
	for (; *text != '\0'; text++) {
		if (isupper((unsigned char)*text))
			return true;
	}
	return false;
}

void filter_skip_blanks(struct filter_parser *parser)
{
	while (*parser->at == ' ' || *parser->at == '\t')
		parser->at++;
}

bool filter_ends_word(char character)
{
	return character == '\0' || character == ' ' || character == '\t';
}

bool filter_is_next(const struct filter_parser *parser, const char *word)
{
	const size_t length = strlen(word);
	const char end = strncasecmp(parser->at, word, length) == 0 ? parser->at[length] : 'x';

	return (filter_ends_word(end) || end == '(' || (end == ')' && parser->groups != 0)) &&
	       !isupper((unsigned char)parser->at[0]) == !isupper((unsigned char)parser->at[1]);
}

bool filter_is_joint_next(const struct filter_parser *parser)
{
	return filter_is_next(parser, "and") || filter_is_next(parser, "or");
}

bool filter_is_end(const struct filter_parser *parser)
{
	return *parser->at == '\0' || (*parser->at == ')' && parser->groups != 0);
}

size_t filter_word_length(const struct filter_parser *parser, const char *text, bool is_value)
{
	unsigned int open = 0;
	size_t length = 0;

	for (; !filter_ends_word(text[length]); length++) {
		const char character = text[length];

		if (character == '(')
			open++;
		else if (character == ')' && open != 0)
			open--;
		else if (character == ')' && parser->groups != 0)
			break;
		if (!is_value &&
		    (strchr("<>=", character) != NULL || (character == '!' && text[length + 1] == '=')))
			break;
	}
	return length;
}

int filter_take_quoted(struct filter_parser *parser, char **ret_text)
{
	struct buffer text = {0};
	const char *at = parser->at + 1;

	for (; *at != '\0' && *at != '"'; at++) {
		if (*at == '\\' && at[1] != '\0')
			at++;
		buffer_append_char(&text, *at);
	}
	if (*at != '"' || text.length == 0) {
		buffer_release(&text);
		return error_set(parser->error, -EINVAL,
				 *at != '"' ? "%s has no \" at its end" : "%s is an empty filter",
				 parser->at);
	}
	parser->at = at + 1;
	*ret_text = buffer_steal(&text);
	return 0;
}
