/* SPDX-License-Identifier: GPL-2.0-only */
#include "html_check.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/unicode.h"

enum {
	DEPTH_MAX = 32,
	NAME_MAX_LENGTH = 32,
};

static const char *const elements[] = {
	"html", "head",    "meta",  "title",   "style",   "script", "body",  "h1",    "h2", "p",
	"code", "strong",  "ul",    "li",      "table",   "thead",  "tbody", "tr",    "th", "td",
	"div",  "section", "label", "details", "summary", "input",  "span",  "small",
};

/* No href, no src, no style, no on…: a page with these alone can load and run nothing but its own script. */
static const char *const attributes[] = {
	"lang",  "charset", "http-equiv", "content", "name",        "class",        "id",   "hidden",
	"scope", "data-v",  "title",      "type",    "placeholder", "autocomplete", "role", "open",
};

static const char *const entities[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};

struct check {
	const char *start, *at, *end;
	char open[DEPTH_MAX][NAME_MAX_LENGTH];
	size_t depth;
	char complaint[256];
};

static bool complain(struct check *check, const char *what)
{
	if (check->complaint[0] == '\0')
		snprintf(check->complaint, sizeof(check->complaint), "%s at byte %zu: %.60s", what,
			 (size_t)(check->at - check->start), check->at);
	return false;
}

static bool starts_with(const struct check *check, const char *text)
{
	return (size_t)(check->end - check->at) >= strlen(text) && memcmp(check->at, text, strlen(text)) == 0;
}

static bool is_one_of(const char *name, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (strcmp(name, names[i]) == 0)
			return true;
	}
	return false;
}

static bool check_name(struct check *check, char name[NAME_MAX_LENGTH], const char *const *names,
		       size_t count)
{
	size_t length = 0;

	while (check->at < check->end && (isalnum((unsigned char)*check->at) || *check->at == '-') &&
	       length + 1 < NAME_MAX_LENGTH)
		name[length++] = *check->at++;
	name[length] = '\0';
	return is_one_of(name, names, count) || complain(check, "an unknown name before");
}

static bool check_entity(struct check *check)
{
	for (size_t i = 0; i < sizeof(entities) / sizeof(entities[0]); i++) {
		if (starts_with(check, entities[i])) {
			check->at += strlen(entities[i]);
			return true;
		}
	}
	return complain(check, "a bare ampersand");
}

/* Text up to the character `stop`, which is left. */
static bool check_text(struct check *check, char stop)
{
	while (check->at < check->end && *check->at != stop) {
		if (*check->at == '&') {
			if (!check_entity(check))
				return false;
		} else if (*check->at == '<' || *check->at == '>') {
			return complain(check, "a bare bracket");
		} else {
			check->at++;
		}
	}
	return true;
}

static bool check_attributes(struct check *check)
{
	while (check->at < check->end && *check->at == ' ' && check->at[1] != '/') {
		char name[NAME_MAX_LENGTH];

		check->at++;
		if (!check_name(check, name, attributes, sizeof(attributes) / sizeof(attributes[0])))
			return false;
		if (!starts_with(check, "=\""))
			return complain(check, "an attribute without a quoted value");
		check->at += 2;
		if (!check_text(check, '"'))
			return false;
		if (check->at++ == check->end)
			return complain(check, "an open quote");
	}
	return true;
}

static bool check_close(struct check *check)
{
	char name[NAME_MAX_LENGTH];

	check->at += 2;
	if (!check_name(check, name, elements, sizeof(elements) / sizeof(elements[0])))
		return false;
	if (check->depth == 0 || strcmp(check->open[check->depth - 1], name) != 0)
		return complain(check, "a tag closed that is not open");
	check->depth--;
	if (!starts_with(check, ">"))
		return complain(check, "no end of a tag");
	check->at++;
	return true;
}

/* The words by which a style or script would load something. */
static const char *const loaders[] = {"url(", "@import", "://", "fetch", "XMLHttpRequest", "import(", "eval"};

/* The text between <style> or <script> and its end is raw; it must hold nothing that ends it. */
static bool skip_raw(struct check *check, const char *name)
{
	char end[NAME_MAX_LENGTH + 4];

	snprintf(end, sizeof(end), "</%s>", name);
	for (; check->at < check->end && *check->at != '<'; check->at++) {
		for (size_t i = 0; i < sizeof(loaders) / sizeof(loaders[0]); i++) {
			if (starts_with(check, loaders[i]))
				return complain(check, "something that loads");
		}
	}
	return starts_with(check, end) || complain(check, "no end of a style or script");
}

static bool check_open(struct check *check)
{
	char name[NAME_MAX_LENGTH];

	check->at++;
	if (!check_name(check, name, elements, sizeof(elements) / sizeof(elements[0])) ||
	    !check_attributes(check))
		return false;
	if (starts_with(check, " />")) {
		check->at += 3;
		return true;
	}
	if (!starts_with(check, ">"))
		return complain(check, "no end of a tag");
	check->at++;
	if (check->depth == DEPTH_MAX)
		return complain(check, "tags too deep");
	snprintf(check->open[check->depth++], NAME_MAX_LENGTH, "%s", name);
	if (strcmp(name, "style") == 0 || strcmp(name, "script") == 0)
		return skip_raw(check, name);
	return true;
}

static bool check_characters(struct check *check)
{
	while (check->at < check->end) {
		uint32_t scalar = 0;
		size_t used = unicode_decode(check->at, (size_t)(check->end - check->at), &scalar);

		if (used == 0)
			return complain(check, "invalid UTF-8");
		if ((scalar < 0x20 && scalar != '\n' && scalar != '\t') ||
		    (scalar >= 0x7f && scalar < 0xa0) || scalar == 0xfffe || scalar == 0xffff ||
		    (scalar >= 0x200b && scalar <= 0x200f) || scalar >> 12 == 0xe0 ||
		    (scalar >= 0x202a && scalar <= 0x202e) || (scalar >= 0x2066 && scalar <= 0x2069))
			return complain(check, "a control character");
		check->at += used;
	}
	check->at = check->start;
	return true;
}

static bool check_page(struct check *check)
{
	static const char type[] = "<!DOCTYPE html>\n";

	if (!check_characters(check))
		return false;
	if (!starts_with(check, type))
		return complain(check, "no document type");
	check->at += strlen(type);
	while (check->at < check->end) {
		bool right;

		if (starts_with(check, "</"))
			right = check_close(check);
		else if (*check->at == '<')
			right = check_open(check);
		else
			right = check_text(check, '<');
		if (!right)
			return false;
	}
	return check->depth == 0 || complain(check, "a tag left open");
}

const char *html_check(const char *text, size_t length)
{
	static struct check check;

	check = (struct check){.start = text, .at = text, .end = text + length};
	return check_page(&check) ? NULL : check.complaint;
}
