/* SPDX-License-Identifier: GPL-2.0-only */
#include "nearest.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <strings.h>

#include "base/buffer.h"

enum {
	NEAREST_LONGEST = 64,
	NEAREST_PREFIX = 3, /* characters from which on the beginning of a name suggests it */
};

static unsigned int smallest(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

static unsigned int replacement_cost(char a, char b)
{
	if (a == b)
		return 0;
	return tolower((unsigned char)a) == tolower((unsigned char)b) ? 1 : 2;
}

/* Edit distance in halves of an edit, or some number above `most` where it is larger. */
static unsigned int distance(const char *a, size_t a_length, const char *b, size_t b_length,
			     unsigned int most)
{
	unsigned int rows[3][NEAREST_LONGEST + 1];
	unsigned int *before = rows[0], *last = rows[1], *row = rows[2];

	for (size_t j = 0; j <= b_length; j++)
		last[j] = (unsigned int)j * 2;
	for (size_t i = 1; i <= a_length; i++) {
		unsigned int *oldest = before, least = (unsigned int)i * 2;

		row[0] = least;
		for (size_t j = 1; j <= b_length; j++) {
			row[j] = smallest(last[j - 1] + replacement_cost(a[i - 1], b[j - 1]),
					  smallest(last[j], row[j - 1]) + 2);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				row[j] = smallest(row[j], before[j - 2] + 2);
			least = smallest(least, row[j]);
		}
		if (least > most)
			return least;
		before = last;
		last = row;
		row = oldest;
	}
	return last[b_length];
}

unsigned int nearest_distance(const char *word, const char *candidate, unsigned int most)
{
	const size_t length = strlen(word), candidate_length = strlen(candidate);
	const size_t added = length > candidate_length ? length - candidate_length
						       : candidate_length - length;
	unsigned int edits;

	if (length == 0 || length > NEAREST_LONGEST || candidate_length > NEAREST_LONGEST || 2 * added > most)
		return UINT_MAX;
	edits = distance(word, length, candidate, candidate_length, most);
	return edits <= most ? edits : UINT_MAX;
}

const char *nearest_name(const char *word, const char *const *candidates, size_t count)
{
	const size_t length = strlen(word);
	const char *best = NULL;
	unsigned int most;

	if (length == 0 || length > NEAREST_LONGEST)
		return NULL;
	/* with a third of the word wrong it is no typing error, but for one edit, which leaves some of it */
	most = smallest(2 + 2 * (unsigned int)((length - 1) / 3), 2 * (unsigned int)length - 1);
	for (size_t i = 0; i < count; i++) {
		const unsigned int edits = nearest_distance(word, candidates[i], most);

		if (edits > most)
			continue;
		best = candidates[i];
		if (edits == 0)
			break;
		most = edits - 1;
	}
	for (size_t i = 0; i < count && best == NULL; i++) {
		if (length >= NEAREST_PREFIX && strncasecmp(candidates[i], word, length) == 0)
			best = candidates[i];
	}
	return best;
}

int nearest_refuse(struct error *error, const char *kind, const char *word, const char *const *names,
		   size_t count)
{
	const char *nearest = nearest_name(word, names, count);
	struct buffer list = {0};

	for (size_t i = 0; i < count; i++) {
		buffer_append_text(&list, i != 0 ? ", " : "");
		buffer_append_text(&list, names[i]);
	}
	if (nearest != NULL)
		error_set(error, -EINVAL, "unknown %s '%.100s', did you mean '%s'? valid: %s", kind, word,
			  nearest, list.data);
	else
		error_set(error, -EINVAL, "unknown %s '%.100s'; valid: %s", kind, word,
			  list.data != NULL ? list.data : "none");
	buffer_release(&list);
	return -EINVAL;
}

int nearest_choose(struct error *error, const char *kind, const char *word, const char *const *names,
		   size_t count, size_t *ret_index)
{
	const size_t length = strlen(word);
	struct buffer several = {0};
	size_t found = count, found_count = 0;

	for (size_t i = 0; i < count; i++) {
		if (strcasecmp(names[i], word) == 0) {
			*ret_index = i;
			return 0;
		}
	}
	for (size_t i = 0; i < count && length != 0; i++) {
		if (strncasecmp(names[i], word, length) != 0 ||
		    (found != count && strcasecmp(names[found], names[i]) == 0))
			continue;
		buffer_append_format(&several, "%s%s", found != count ? ", " : "", names[i]);
		found_count++;
		found = i;
	}
	if (found_count > 1)
		error_set(error, -EINVAL, "%s '%s' may be any of %s", kind, word, several.data);
	buffer_release(&several);
	if (found_count > 1)
		return -EINVAL;
	if (found_count == 0)
		return nearest_refuse(error, kind, word, names, count);
	*ret_index = found;
	return 0;
}
