/* SPDX-License-Identifier: GPL-2.0-only */
#include "glob.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/unicode.h"

enum token_kind {
	TOKEN_CHARACTER,
	TOKEN_ANY,        /* ? */
	TOKEN_SEQUENCE,   /* * */
	TOKEN_COMPONENTS, /* ** with the slash behind it: nothing, text up to a slash, or all that follows */
	TOKEN_CLASS,
	TOKEN_NEGATED_CLASS,
};

struct token {
	enum token_kind kind;
	uint32_t character;
	const uint32_t *set; /* of a class: what stands in its brackets, in glob.pattern */
	size_t set_length;
};

struct glob {
	uint32_t *pattern; /* scalars; a byte that is not UTF-8 stands for itself above the scalars */
	size_t length;
	struct token *tokens;
	size_t token_count;
};

enum {
	INVALID_BYTE = 0x110000
};

/* Decodes one character of at least one byte; an invalid byte is a character of its own. */
static size_t decode(const char *text, size_t length, uint32_t *ret_scalar)
{
	size_t used = unicode_decode(text, length, ret_scalar);

	if (used != 0)
		return used;
	*ret_scalar = INVALID_BYTE + (unsigned char)text[0];
	return 1;
}

static struct token *add_token(struct glob *glob, enum token_kind kind)
{
	struct token *token = &glob->tokens[glob->token_count++];

	*token = (struct token){.kind = kind};
	return token;
}

/* `*` or `**` at `i`; returns the index behind it, or 0 when it is not allowed there. */
static size_t parse_stars(struct glob *glob, size_t i)
{
	size_t start = i;

	while (i < glob->length && glob->pattern[i] == '*')
		i++;
	if (i - start == 1) {
		add_token(glob, TOKEN_SEQUENCE);
		return i;
	}
	if (i - start > 2 || (start > 0 && glob->pattern[start - 1] != '/'))
		return 0;
	if (i < glob->length && glob->pattern[i] != '/')
		return 0;
	add_token(glob, TOKEN_COMPONENTS);
	return i < glob->length ? i + 1 : i;
}

/* `[…]` at `i`: the first character inside belongs to the class even if it is `]`. 0 when it is open. */
static size_t parse_class(struct glob *glob, size_t i)
{
	bool negated = i + 1 < glob->length && glob->pattern[i + 1] == '!';
	size_t first = i + (negated ? 2 : 1);
	struct token *token;

	for (size_t end = first + 1; end < glob->length; end++) {
		if (glob->pattern[end] != ']')
			continue;
		token = add_token(glob, negated ? TOKEN_NEGATED_CLASS : TOKEN_CLASS);
		token->set = glob->pattern + first;
		token->set_length = end - first;
		return end + 1;
	}
	return 0;
}

static bool parse(struct glob *glob)
{
	size_t i = 0;

	while (i < glob->length) {
		switch (glob->pattern[i]) {
		case '?':
			add_token(glob, TOKEN_ANY);
			i++;
			break;
		case '*':
			i = parse_stars(glob, i);
			break;
		case '[':
			i = parse_class(glob, i);
			break;
		default:
			add_token(glob, TOKEN_CHARACTER)->character = glob->pattern[i];
			i++;
			break;
		}
		if (i == 0)
			return false;
	}
	return true;
}

struct glob *glob_compile(const char *pattern, size_t length)
{
	struct glob *glob = memory_allocate_zero(1, sizeof(*glob));

	glob->pattern = memory_allocate_zero(length + 1, sizeof(*glob->pattern));
	glob->tokens = memory_allocate_zero(length + 1, sizeof(*glob->tokens));
	for (size_t i = 0; i < length;)
		i += decode(pattern + i, length - i, &glob->pattern[glob->length++]);
	if (!parse(glob)) {
		glob_release(glob);
		return NULL;
	}
	return glob;
}

void glob_release(struct glob *glob)
{
	if (glob == NULL)
		return;
	free(glob->pattern);
	free(glob->tokens);
	free(glob);
}

bool glob_is_literal(const struct glob *glob)
{
	for (size_t i = 0; i < glob->token_count; i++) {
		if (glob->tokens[i].kind != TOKEN_CHARACTER)
			return false;
	}
	return true;
}

static bool class_holds(const struct token *token, uint32_t scalar)
{
	size_t i = 0;

	while (i < token->set_length) {
		bool is_range = i + 3 <= token->set_length && token->set[i + 1] == '-';
		uint32_t first = token->set[i], last = is_range ? token->set[i + 2] : first;

		if (scalar >= first && scalar <= last)
			return true;
		i += is_range ? 3 : 1;
	}
	return false;
}

/* Marks the state before token `i`, and those reached from there without taking a character. */
static void enter(const struct glob *glob, bool states[], size_t i)
{
	states[i] = true;
	while (i < glob->token_count &&
	       (glob->tokens[i].kind == TOKEN_SEQUENCE || glob->tokens[i].kind == TOKEN_COMPONENTS))
		states[++i] = true;
}

/* Goes from the states before a character to those behind it. */
static void step(const struct glob *glob, const bool before[], bool after[], uint32_t scalar)
{
	memset(after, 0, glob->token_count + 1);
	for (size_t i = 0; i < glob->token_count; i++) {
		const struct token *token = &glob->tokens[i];
		bool taken = false;

		if (!before[i])
			continue;
		switch (token->kind) {
		case TOKEN_CHARACTER:
			taken = scalar == token->character;
			break;
		case TOKEN_ANY:
			taken = true;
			break;
		case TOKEN_CLASS:
			taken = class_holds(token, scalar);
			break;
		case TOKEN_NEGATED_CLASS:
			taken = !class_holds(token, scalar);
			break;
		case TOKEN_SEQUENCE:
			enter(glob, after, i);
			break;
		case TOKEN_COMPONENTS:
			after[i] = true;
			if (scalar == '/')
				enter(glob, after, i);
			break;
		}
		if (taken)
			enter(glob, after, i + 1);
	}
}

/* At the end of the text a `**` may have taken all that was left. */
static bool is_accepting(const struct glob *glob, bool states[])
{
	for (size_t i = 0; i < glob->token_count; i++) {
		if (states[i] && glob->tokens[i].kind == TOKEN_COMPONENTS)
			enter(glob, states, i);
	}
	return states[glob->token_count];
}

bool glob_matches(const struct glob *glob, const char *text, size_t length)
{
	size_t state_count = glob->token_count + 1;
	bool *states = memory_allocate_zero(2 * state_count, sizeof(*states));
	bool *before = states;
	bool *after = states + state_count;
	uint32_t scalar;
	bool matches;

	enter(glob, before, 0);
	while (length != 0) {
		size_t used = decode(text, length, &scalar);
		bool *swap = before;

		step(glob, before, after, scalar);
		before = after;
		after = swap;
		text += used;
		length -= used;
	}
	matches = is_accepting(glob, before);
	free(states);
	return matches;
}
