/* SPDX-License-Identifier: GPL-2.0-only */
/* Says that a filter asks for cgroups or containers which nothing is in: a name that was mistyped, mostly. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/string_pool.h"
#include "base/unicode.h"
#include "filter_internal.h"
#include "metric/nearest.h"
#include "snapshot/container_names.h"

enum {
	NAMES_LISTED = 4,
};

/* Whether a term holds for no thread of a snapshot. */
static bool is_unmatched(const struct filter *filter, size_t term, const struct snapshot *snapshot)
{
	bool *members = filter_term_members(filter, term, AXIS_CGROUP,
					    &(struct filter_subjects){.snapshot = snapshot});
	bool any = false;

	for (size_t i = 0; i < snapshot->thread_count && !any; i++)
		any = members[i];
	free(members);
	return !any;
}

/* Adds the name of the container or unit of a cgroup, or with `is_path` its path. */
static void add_name(const struct snapshot *snapshot, uint32_t path, bool is_path, struct string_pool *names)
{
	const char *text = string_pool_text(&snapshot->strings, path);
	const size_t length = name_shown_length(text, string_pool_length(&snapshot->strings, path));
	struct buffer name = {0};

	if (is_path)
		buffer_append(&name, text, length);
	else
		container_append_name(text, length, &name);
	string_pool_intern(names, name.data, name.length);
	buffer_release(&name);
}

/* The names of containers and units that threads are in, and with `paths` those of cgroups before them. */
static void find_names(const struct snapshot *snapshot, bool paths, struct string_pool *names)
{
	for (size_t pass = paths ? 0 : 1; pass < 2; pass++) {
		bool *seen = memory_allocate_zero(snapshot->triple_count + 1, sizeof(*seen));

		for (size_t i = 0; i < snapshot->thread_count; i++) {
			const uint32_t triple = snapshot->triple[i];

			if (!seen[triple])
				add_name(snapshot, snapshot->triples[triple].cgroup, pass == 0, names);
			seen[triple] = true;
		}
		free(seen);
	}
}

/* Appends the name that may have been meant, else a few of those that there are. */
static void append_names(const char *wanted, const struct string_pool *names, struct buffer *words)
{
	const char **candidates = memory_allocate((names->count + 1) * sizeof(*candidates));
	const char *nearest;
	uint32_t listed = 0;

	/* id 0 is the empty text */
	for (uint32_t id = 1; id < names->count; id++)
		candidates[id - 1] = string_pool_text(names, id);
	nearest = names->count > 1 ? nearest_name(wanted, candidates, names->count - 1) : NULL;
	for (uint32_t id = 1; nearest == NULL && id < names->count; id++) {
		if (unicode_contains(candidates[id - 1], strlen(candidates[id - 1]), wanted))
			nearest = candidates[id - 1];
	}
	if (nearest != NULL)
		buffer_append_format(words, "; did you mean %s?", nearest);
	for (uint32_t id = 1; nearest == NULL && id < names->count && listed < NAMES_LISTED; id++)
		buffer_append_format(words, "%s%s", listed++ == 0 ? "; there are: " : ", ",
				     candidates[id - 1]);
	if (nearest == NULL && names->count > listed + 1)
		buffer_append_format(words, " and %zu more", names->count - 1 - listed);
	free(candidates);
}

bool filter_append_unmatched(const struct filter *filter, const struct snapshot *snapshot,
			     struct buffer *words)
{
	bool any = false;

	for (size_t i = 0; filter != NULL && i < filter->count; i++) {
		const struct term *term = &filter->terms[i];
		struct string_pool names = {0};

		if (term->kind != TERM_FIELD || term->limit.comparison != COMPARISON_EQUAL ||
		    (term->field != FILTER_FIELD_CGROUP && term->field != FILTER_FIELD_CONTAINER) ||
		    !is_unmatched(filter, i, snapshot))
			continue;
		buffer_append_format(words, "%sno thread is in %s '%.100s'%s", any ? ". " : "",
				     filter_fields[term->field].word, term->text,
				     term->field == FILTER_FIELD_CGROUP ? " (option -c)" : "");
		find_names(snapshot, term->field == FILTER_FIELD_CGROUP && strchr(term->text, '/') != NULL,
			   &names);
		append_names(term->text, &names, words);
		string_pool_release(&names);
		any = true;
	}
	return any;
}
