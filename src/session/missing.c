/* SPDX-License-Identifier: GPL-2.0-only */
#include "missing.h"

#include <string.h>

#include "base/unicode.h"
#include "table/column_list.h"
#include "table/tab.h"
#include "window/column.h"

/* The columns of the view's tab at its width, also those that there is no room for. */
static size_t list_tab(const struct view *view, enum column columns[COLUMN_TOTAL])
{
	return column_list_with(view->tab, view->level == VIEW_LEVEL_THREADS,
				&(struct column_choice){
					.width = view->width,
					.whole = true,
					.sort = COLUMN_COUNT,
				},
				columns);
}

static bool is_users_choice(const struct view *view)
{
	return view->columns != NULL || tab_is_own(view->tab) ||
	       tab_has_own_columns(view->tab, view->level == VIEW_LEVEL_THREADS);
}

void missing_find_columns(struct session *session, source_set by_key, struct view *view)
{
	enum column columns[COLUMN_TOTAL];
	size_t count;

	view->left_out = (struct column_set){0};
	if (session_now(session) == NULL || is_users_choice(view))
		return;
	count = list_tab(view, columns);
	for (size_t i = 0; i < count; i++) {
		if ((column_sources(columns[i]) & by_key) == 0 &&
		    session_why_unavailable(session, view, columns[i], NULL))
			column_set_add(&view->left_out, columns[i]);
	}
	if (view->tab == TAB_TIME)
		session_leave_out_classes(session, view);
}

/* Those that left and are not shown all the same, as the rows are sorted by one. */
static size_t list_left_out(const struct view *view, enum column columns[COLUMN_TOTAL])
{
	size_t count = list_tab(view, columns), kept = 0;

	for (size_t i = 0; i < count; i++) {
		/* nobody misses the time in a class before asking for it, or while there is none */
		if (column_set_has(&view->left_out, columns[i]) && !view_shows(view, columns[i]) &&
		    column_entry(columns[i])->operation != COLUMN_OPERATION_TIME)
			columns[kept++] = columns[i];
	}
	return kept;
}

/* --- for the header --- */

/*
 * Whether to name a missing feature: not when it is missing because of another, which is named, nor when this
 * kernel lacks it and there is no remedy, unless others depend on it.
 */
static bool is_worth_naming(const struct feature_result results[FEATURE_COUNT], enum feature feature,
			    bool scheduler_runs)
{
	const struct feature_result *result = &results[feature];

	if (result->state != FEATURE_STATE_OFF && result->state != FEATURE_STATE_PARTIAL)
		return false;
	if (feature == FEATURE_PASSES)
		return false; /* the cost says how threads were read */
	if (feature_cause(results, feature) != feature)
		return false;
	/* nobody misses it before asking for it, and then its columns say why */
	if (feature == FEATURE_LATENCY)
		return false;
	/* of a scheduler that does not run nobody misses anything */
	if (feature == FEATURE_TASK_FIELDS && !scheduler_runs)
		return false;
	return result->remedy != NULL || result->reason != REASON_NOT_IN_KERNEL ||
	       feature == FEATURE_TASKSTATS || feature == FEATURE_SCHED_INFO;
}

static void append_feature(const struct snapshot *now, enum feature feature, struct buffer *text)
{
	buffer_append_format(text, "%s %s", features[feature].name,
			     feature_state_names[now->provenance.features[feature].state]);
}

/*
 * Names the first `named` features that are missing and counts the others; `but` is in the text already.
 */
static void append_features(const struct snapshot *now, size_t named, const char *but, struct buffer *text)
{
	const bool scheduler_runs = snapshot_sched_ext_runs(now);
	size_t found = 0;

	for (enum feature feature = 0; feature < FEATURE_COUNT; feature++) {
		struct buffer words = {0};

		if (!is_worth_naming(now->provenance.features, feature, scheduler_runs))
			continue;
		append_feature(now, feature, &words);
		if (strcmp(words.data, but) != 0 && ++found <= named)
			buffer_append_format(text, "%s%s", text->length == 0 ? "" : ", ", words.data);
		buffer_release(&words);
	}
	if (found > named && text->length != 0)
		buffer_append_format(text, ", %zu more missing", found - named);
	else if (found > named)
		buffer_append_format(text, "%zu source%s missing", found, found == 1 ? "" : "s");
}

/* The detail in which missing features are named. */
struct extent {
	size_t columns; /* that are named */
	bool cause;     /* whether it is said why they left */
	size_t features;
	bool brief; /* the key alone */
};

/* "no BLKIO% MWAIT%", "no BLKIO%, 3 more", "6 columns out". */
static void append_left_out(const struct view *view, const enum column columns[], size_t count, size_t named,
			    struct buffer *text)
{
	if (named == 0) {
		buffer_append_format(text, "%zu column%s out", count, count == 1 ? "" : "s");
		return;
	}
	buffer_append_text(text, "no");
	for (size_t i = 0; i < named && i < count; i++)
		buffer_append_format(text, " %s", column_title(columns[i], view->mode));
	if (count > named)
		buffer_append_format(text, ", %zu more", count - named);
}

/* Why columns left, where it is the same of all: "delays off". */
static void append_common_cause(const struct session *session, const struct view *view,
				const enum column columns[], size_t count, struct buffer *cause)
{
	for (size_t i = 0; i < count; i++) {
		struct buffer words = {0};

		session_append_cause(session, view, columns[i], &words);
		if (i == 0)
			buffer_append(cause, words.data, words.length);
		else if (words.length != cause->length || memcmp(words.data, cause->data, cause->length) != 0)
			buffer_clear(cause);
		buffer_release(&words);
		if (cause->length == 0)
			return;
	}
}

void missing_append_words(const struct session *session, const struct view *view, const char *page, int room,
			  struct buffer *text)
{
	static const struct extent with_columns[] = {
		{6, true, 3, false}, {6, true, 0, false}, {3, true, 0, false}, {3, true, 0, true},
		{6, false, 0, true}, {2, false, 0, true}, {0, true, 0, true},  {0, false, 0, true},
	};
	static const struct extent without[] = {{0, false, 3, false}, {0, false, 2, false},
						{0, false, 1, false}, {0, false, 1, true},
						{0, false, 0, false}, {0, false, 0, true}};
	const struct snapshot *now = session_now(session);
	enum column columns[COLUMN_TOTAL];
	const size_t count = list_left_out(view, columns);
	const struct extent *extents = count != 0 ? with_columns : without;
	const size_t extent_count = count != 0 ? sizeof(with_columns) / sizeof(*with_columns)
					       : sizeof(without) / sizeof(*without);
	struct buffer cause = {0}, words = {0};

	append_common_cause(session, view, columns, count, &cause);
	buffer_append_text(&cause, "");
	for (size_t i = 0; i < extent_count; i++) {
		const struct extent *extent = &extents[i];

		buffer_clear(&words);
		if (count != 0)
			append_left_out(view, columns, count, extent->columns, &words);
		if (count != 0 && extent->cause && cause.length != 0)
			buffer_append_format(&words, ": %s", cause.data);
		if (count == 0 || extent->features != 0)
			append_features(now, extent->features, cause.data, &words);
		if (words.length == 0)
			break;
		buffer_append_format(&words, extent->brief ? " (%s)" : " (%s: why)", page);
		if (unicode_width(words.data, words.length) <= room) {
			buffer_append(text, words.data, words.length);
			break;
		}
	}
	buffer_release(&cause);
	buffer_release(&words);
}

/* --- for pages --- */

void missing_append_columns(const struct session *session, const struct view *view, struct buffer *lines)
{
	enum column columns[COLUMN_TOTAL];
	const size_t count = list_left_out(view, columns);
	bool said[COLUMN_TOTAL] = {false};

	for (size_t i = 0; i < count; i++) {
		struct buffer why = {0};

		if (said[i])
			continue;
		session_why_unavailable(session, view, columns[i], &why);
		for (size_t k = i; k < count; k++) {
			struct buffer other = {0};

			session_why_unavailable(session, view, columns[k], &other);
			if (strcmp(why.data, other.data) == 0) {
				said[k] = true;
				buffer_append_format(lines, "%s%s", k == i ? "" : " ",
						     column_title(columns[k], view->mode));
			}
			buffer_release(&other);
		}
		buffer_append_format(lines, ": %s\n", why.data);
		buffer_release(&why);
	}
}

bool missing_is_all(const struct session *session, const struct view *view, struct buffer *why)
{
	enum column columns[COLUMN_TOTAL];
	const size_t count = list_tab(view, columns);
	size_t first = SIZE_MAX;

	for (size_t i = 0; i < count; i++) {
		if (columns[i] == COLUMN_THR || columns[i] == COLUMN_PROCS || columns[i] == COLUMN_SEEN ||
		    columns[i] == COLUMN_BAR || columns[i] == COLUMN_LAYOUT)
			continue;
		if (!column_set_has(&view->left_out, columns[i]))
			return false;
		if (first == SIZE_MAX)
			first = i;
	}
	return first != SIZE_MAX && session_why_unavailable(session, view, columns[first], why);
}
