/* SPDX-License-Identifier: GPL-2.0-only */
/* Matching rows and threads against a filter. */
#include "filter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/unicode.h"
#include "filter_internal.h"
#include "snapshot/metric_reader.h"
#include "snapshot/container_names.h"
#include "snapshot/user_names.h"
#include "window/ended.h"
#include "window/reduce.h"

/* Whether something holds; an AND is the least of its parts, an OR the largest. */
enum answer {
	ANSWER_NO,
	ANSWER_UNKNOWN, /* nobody knows the value that is compared */
	ANSWER_YES,
};

static enum answer answer_not(enum answer answer)
{
	return (enum answer)(ANSWER_YES - answer);
}

const char *filter_text(const struct filter *filter)
{
	return filter->text;
}

enum column filter_column(const struct filter *filter, size_t index)
{
	for (size_t i = 0; i < filter->count; i++) {
		const struct term *term = &filter->terms[i];

		if ((term->kind == TERM_COMPARISON || term->kind == TERM_FIELD) &&
		    term->column != COLUMN_COUNT && index-- == 0)
			return term->column;
	}
	return COLUMN_COUNT;
}

const char *filter_user(const struct filter *filter, size_t index)
{
	for (size_t i = 0; i < filter->count; i++) {
		const struct term *term = &filter->terms[i];

		if (term->kind == TERM_FIELD && term->field == FILTER_FIELD_USER && term->glob == NULL &&
		    index-- == 0)
			return term->text;
	}
	return NULL;
}

/* Whether a term is about command lines, alone or beside names. */
static bool term_reads_commands(const struct term *term)
{
	return term->kind == TERM_TEXT || term->kind == TERM_REGEX ||
	       (term->kind == TERM_FIELD && term->field == FILTER_FIELD_COMMAND);
}

bool filter_reads_commands(const struct filter *filter)
{
	for (size_t i = 0; filter != NULL && i < filter->count; i++) {
		if (term_reads_commands(&filter->terms[i]))
			return true;
	}
	return false;
}

enum column filter_rate(const struct filter *filter)
{
	for (size_t i = 0; i < filter->count; i++) {
		const struct term *term = &filter->terms[i];

		if (term->kind == TERM_COMPARISON && term->as_rate && column_has_rate(term->column))
			return term->column;
	}
	return COLUMN_COUNT;
}

bool filter_compares(const struct filter *filter)
{
	for (size_t i = 0; i < filter->count; i++) {
		if (filter->terms[i].kind == TERM_COMPARISON)
			return true;
	}
	return false;
}

/* --- names --- */

static bool contains(const struct term *term, const char *name, size_t length)
{
	return term->ignore_case ? unicode_contains(name, length, term->text)
				 : memmem(name, length, term->text, strlen(term->text)) != NULL;
}

/* Copies a name with blanks instead of NULs, and with its case folded if `ignore_case`. */
static char *prepare(const char *name, size_t length, bool ignore_case)
{
	struct buffer text = {0};

	if (ignore_case)
		unicode_append_folded(&text, name, length);
	else
		buffer_append(&text, name, length);
	for (size_t i = 0; i < text.length; i++) {
		if (text.data[i] == '\0')
			text.data[i] = ' ';
	}
	buffer_append_text(&text, "");
	return buffer_steal(&text);
}

static bool equals(const struct term *term, const char *name, size_t length)
{
	bool result;
	char *text;

	if (term->glob == NULL)
		return strlen(term->text) == length &&
		       (term->ignore_case ? unicode_is_alike(name, term->text, length)
					  : memcmp(name, term->text, length) == 0);
	text = prepare(name, length, term->ignore_case);
	result = glob_matches(term->glob, text, length);
	free(text);
	return result;
}

/* Whether a term of a text, an expression or names matches a name, NULs in it being blanks. */
static bool term_matches_name(const struct term *term, const char *name, size_t length)
{
	locale_t before;
	bool result;
	char *text;

	switch (term->kind) {
	case TERM_TEXT:
		return contains(term, name, length);
	case TERM_FIELD:
		return equals(term, name, length);
	case TERM_REGEX:
		text = prepare(name, length, false);
		before = uselocale(unicode_locale());
		result = regexec(&term->regex, text, 0, NULL, 0) == 0;
		uselocale(before);
		free(text);
		return result;
	default:
		return false;
	}
}

/* --- cells --- */

/* A word, with or without the mark that not all threads agree. */
static bool word_matches(const char *text, const char *word)
{
	size_t length = strlen(text);

	if (length > 0 && text[length - 1] == '*')
		length--;
	return strlen(word) == length && unicode_is_alike(text, word, length);
}

static enum answer compare_cell(const struct term *term, const struct cell *cell)
{
	bool holds, known;

	if (cell == NULL)
		return ANSWER_UNKNOWN;
	if (term->is_word) {
		known = cell->state == CELL_VALUE && cell->text != NULL;
		holds = known &&
			word_matches(cell->text, term->text) == (term->limit.comparison == COMPARISON_EQUAL);
	} else {
		struct cell compared = *cell;

		/* most kernels leave out what they keep per CPU, some pages of each thread */
		compared.partial &= term->column != COLUMN_RSS;
		holds = limit_holds(&term->limit, &compared, &known);
	}
	return !known ? ANSWER_UNKNOWN : holds ? ANSWER_YES : ANSWER_NO;
}

/* --- rows --- */

static enum answer ask_term(const struct filter *filter, size_t index, const struct filter_row *row)
{
	const struct term *term = &filter->terms[index];
	bool matches = false;

	if (term->kind == TERM_COMPARISON)
		return compare_cell(term, row->cell_of(row->context, term->column, term->as_rate));
	if (!term_is_of_threads(term))
		matches = term_matches_name(term, row->label, row->label_length);
	if (!matches && row->has_member != NULL)
		matches = row->has_member(row->context, index);
	else if (term_is_of_threads(term))
		return ANSWER_UNKNOWN;
	/* the sign of a field of threads is part of what is asked about each of them */
	if (term->kind == TERM_FIELD && !term_is_of_threads(term))
		matches = matches == (term->limit.comparison == COMPARISON_EQUAL);
	return matches ? ANSWER_YES : ANSWER_NO;
}

static enum answer ask_node(const struct filter *filter, uint32_t index, const struct filter_row *row)
{
	const struct node *node = &filter->nodes[index];
	enum answer answer = node->kind == NODE_AND ? ANSWER_YES : ANSWER_NO;

	if (node->kind == NODE_TERM)
		return ask_term(filter, node->term, row);
	if (node->kind == NODE_NOT)
		return answer_not(ask_node(filter, node->child, row));
	for (uint32_t child = node->child; child != NODE_NONE; child = filter->nodes[child].next) {
		const enum answer part = ask_node(filter, child, row);

		if ((part < answer) == (node->kind == NODE_AND))
			answer = part;
		if (answer == (node->kind == NODE_AND ? ANSWER_NO : ANSWER_YES))
			break;
	}
	return answer;
}

bool filter_matches(const struct filter *filter, const struct filter_row *row)
{
	for (size_t i = 0; i < filter->conjunct_count; i++) {
		if (!filter->conjuncts[i].narrows &&
		    ask_node(filter, filter->conjuncts[i].node, row) != ANSWER_YES)
			return false;
	}
	return true;
}

/* --- threads --- */

/* Only names and processes of ended threads are known. */
static bool is_unknown_of_ended(const struct term *term)
{
	return term->kind == TERM_FIELD &&
	       (term->field == FILTER_FIELD_USER || term->field == FILTER_FIELD_STATE ||
		term->field == FILTER_FIELD_TID || term->field == FILTER_FIELD_COMMAND ||
		term->field == FILTER_FIELD_WAITS_FOR);
}

bool filter_narrows(const struct filter *filter)
{
	for (size_t i = 0; filter != NULL && i < filter->conjunct_count; i++) {
		if (filter->conjuncts[i].narrows)
			return true;
	}
	return false;
}

static bool is_fleeting(const struct term *term)
{
	return term->kind == TERM_FIELD &&
	       (term->field == FILTER_FIELD_STATE || term->field == FILTER_FIELD_COMMAND ||
		term->field == FILTER_FIELD_WAITS_FOR);
}

static bool is_no_number(const struct term *term)
{
	return term->kind != TERM_COMPARISON;
}

/* Whether `is_so` is true for a term below a node. */
static bool node_has(const struct filter *filter, uint32_t index, bool (*is_so)(const struct term *))
{
	const struct node *node = &filter->nodes[index];

	if (node->kind == NODE_TERM)
		return is_so(&filter->terms[node->term]);
	for (uint32_t child = node->child; child != NODE_NONE; child = filter->nodes[child].next) {
		if (node_has(filter, child, is_so))
			return true;
	}
	return false;
}

static bool narrows_by(const struct filter *filter, bool (*is_so)(const struct term *))
{
	for (size_t i = 0; filter != NULL && i < filter->conjunct_count; i++) {
		if (filter->conjuncts[i].narrows && node_has(filter, filter->conjuncts[i].node, is_so))
			return true;
	}
	return false;
}

bool filter_chooses_rows(const struct filter *filter)
{
	for (size_t i = 0; i < filter->conjunct_count; i++) {
		if (!filter->conjuncts[i].narrows)
			return true;
	}
	return false;
}

bool filter_is_fleeting(const struct filter *filter)
{
	return narrows_by(filter, is_fleeting);
}

bool filter_is_of_living(const struct filter *filter)
{
	return narrows_by(filter, is_unknown_of_ended);
}

/* --- what is asked about --- */

static size_t subject_count(const struct filter_subjects *subjects)
{
	return subjects->ended_pids != NULL ? subjects->snapshot->triple_count
					    : subjects->snapshot->thread_count;
}

static uint32_t triple_of(const struct filter_subjects *subjects, size_t index)
{
	return subjects->ended_pids != NULL ? (uint32_t)index : subjects->snapshot->triple[index];
}

static uint8_t answer_if(bool holds)
{
	return holds ? ANSWER_YES : ANSWER_NO;
}

/* --- names --- */

/* A path is below one without wildcards, and is it; one that does not begin with a slash may stand at its
 * end. */
static bool is_in_cgroup(const struct term *term, const char *path, size_t length)
{
	const size_t wanted = strlen(term->text);

	for (size_t start = 0; start < length; start++) {
		const size_t rest = length - start;

		/* from the beginning, or behind any slash */
		if (start != 0 && (path[start - 1] != '/' || term->text[0] == '/'))
			continue;
		if (term->glob != NULL ? glob_matches(term->glob, path + start, rest)
				       : rest >= wanted && memcmp(path + start, term->text, wanted) == 0 &&
						 (rest == wanted || path[start + wanted] == '/' ||
						  (wanted == 1 && term->text[0] == '/')))
			return true;
	}
	return false;
}

/* The same of the container or unit that a cgroup belongs to, which may be written like the end of a path. */
static bool is_in_container(const struct term *term, const char *path, size_t length)
{
	struct buffer name = {0};
	bool matches;

	container_append_name(path, length, &name);
	matches = term->kind == TERM_FIELD ? is_in_cgroup(term, name.data, name.length)
					   : term_matches_name(term, name.data, name.length);
	buffer_release(&name);
	return matches;
}

/* The names of a snapshot; each is matched once. */
struct names {
	const struct term *term;
	const struct snapshot *snapshot;
	bool of_containers; /* they are cgroups, of which the containers are asked about */
	uint8_t *known;     /* by string id: 1 + whether it matches, 0 while nobody has looked */
};

static bool name_matches(const struct names *names, uint32_t id)
{
	const struct term *term = names->term;
	const char *name = snapshot_text(names->snapshot, id);
	const size_t length = name_shown_length(name, string_pool_length(&names->snapshot->strings, id));
	bool matches;

	if (names->known[id] != 0)
		return names->known[id] == 2;
	if (names->of_containers)
		matches = is_in_container(term, name, length);
	else if (term->kind == TERM_FIELD && term->field == FILTER_FIELD_CGROUP)
		matches = is_in_cgroup(term, name, length) || is_in_container(term, name, length);
	else
		matches = term_matches_name(term, name, length);
	names->known[id] = matches ? 2 : 1;
	return matches;
}

/* Whether a triple has a name that matches: that of a field, or those by which an axis groups. */
static bool triple_matches(const struct names *names, enum axis axis, const struct triple *triple)
{
	const struct term *term = names->term;

	if (term_is_of_threads(term))
		return name_matches(names, term->field == FILTER_FIELD_CGROUP ||
							   term->field == FILTER_FIELD_CONTAINER
						   ? triple->cgroup
					   : term->field == FILTER_FIELD_PROCESS ? triple->pcomm
										 : triple->comm);
	switch (axis) {
	case AXIS_CGROUP:
	case AXIS_CONTAINER:
		return name_matches(names, triple->cgroup);
	case AXIS_THREAD:
	case AXIS_THREAD_EXACT:
		return name_matches(names, triple->comm);
	case AXIS_ALL:
		return name_matches(names, triple->cgroup) || name_matches(names, triple->pcomm) ||
		       name_matches(names, triple->comm);
	case AXIS_USER:
	case AXIS_WAIT:
		return false;
	default:
		return name_matches(names, triple->pcomm);
	}
}

static void answer_names(const struct term *term, enum axis axis, const struct filter_subjects *subjects,
			 uint8_t *answers)
{
	const struct snapshot *snapshot = subjects->snapshot;
	const bool is_wanted = !term_is_of_threads(term) || term->limit.comparison == COMPARISON_EQUAL;
	const bool of_containers = term_is_of_threads(term) ? term->field == FILTER_FIELD_CONTAINER
							    : axis == AXIS_CONTAINER;
	const struct names names = {term, snapshot, of_containers,
				    memory_allocate_zero(snapshot->strings.count + 1, 1)};
	uint8_t *of_triple = memory_allocate(snapshot->triple_count + 1);

	for (size_t i = 0; i < snapshot->triple_count; i++)
		of_triple[i] = answer_if(triple_matches(&names, axis, &snapshot->triples[i]) == is_wanted);
	for (size_t i = 0; i < subject_count(subjects); i++)
		answers[i] = of_triple[triple_of(subjects, i)];
	free(names.known);
	free(of_triple);
}

/* --- users --- */

/* The name of a user of this host's snapshots, or its number as text; nothing is known of a name that was
 * asked for just now. */
static uint8_t ask_user(const struct term *term, uint32_t uid, bool has_names)
{
	const char *name = has_names ? user_name(uid) : uid == 0 ? "root" : NULL;
	char number[16];
	int length;
	bool matches;

	if (uid == USER_UNKNOWN)
		return ANSWER_UNKNOWN;
	length = snprintf(number, sizeof(number), "%u", uid);
	matches = term_matches_name(term, number, (size_t)length) ||
		  (name != NULL && term_matches_name(term, name, strlen(name)));
	return answer_if(matches == (term->limit.comparison == COMPARISON_EQUAL));
}

static void answer_users(const struct term *term, const struct filter_subjects *subjects, uint8_t *answers)
{
	const struct snapshot *snapshot = subjects->snapshot;
	const bool has_names = user_names_hold(snapshot->provenance.hostname);
	struct hash_map known = {0};

	for (size_t i = 0; i < snapshot->thread_count; i++) {
		const uint32_t uid = snapshot->uid[i];
		uint32_t answer;

		/* threads of a process stand together */
		if (i != 0 && uid == snapshot->uid[i - 1]) {
			answers[i] = answers[i - 1];
			continue;
		}
		if (!hash_map_get(&known, uid, &answer)) {
			answer = ask_user(term, uid, has_names);
			hash_map_set(&known, uid, answer);
		}
		answers[i] = (uint8_t)answer;
	}
	hash_map_release(&known);
}

/* --- numbers and states --- */

static void answer_ids(const struct term *term, const uint32_t *ids, size_t count, uint8_t *answers)
{
	for (size_t i = 0; i < count; i++) {
		answers[i] = answer_if(
			comparison_holds(term->limit.comparison, ids[i], ids[i], (double)term->id));
		/* of no thread: it ended, and nobody knows */
		if (ids[i] == 0)
			answers[i] = ANSWER_UNKNOWN;
	}
}

static void answer_states(const struct term *term, const struct snapshot *snapshot, uint8_t *answers)
{
	const struct metric_reader states = metric_reader_of(snapshot, METRIC_STATE);

	for (size_t i = 0; i < snapshot->thread_count; i++) {
		const uint64_t state = metric_reader_value(&states, i);

		answers[i] = answer_if((strchr(term->text, (int)state) != NULL) ==
				       (term->limit.comparison == COMPARISON_EQUAL));
		if (state == 0 || metric_reader_state(&states, i) != REASON_READ)
			answers[i] = ANSWER_UNKNOWN;
	}
}

/* --- waits --- */

/* A wait is known by its class, by this and its object, and by this and the object's first word. */
static bool wait_matches(const struct term *term, enum wait_class class, const char *object, size_t length)
{
	const char *name = wait_classes[class].name, *blank = memchr(object, ' ', length);
	struct buffer text = {0};
	bool matches = term_matches_name(term, name, strlen(name));

	if (!matches && length != 0) {
		buffer_append_format(&text, "%s ", name);
		buffer_append(&text, object, length);
		matches = term_matches_name(term, text.data, text.length) ||
			  (blank != NULL &&
			   term_matches_name(term, text.data,
					     text.length - length + (size_t)(blank - object)));
	}
	buffer_release(&text);
	return matches;
}

static void answer_waits(const struct term *term, const struct snapshot *snapshot, uint8_t *answers)
{
	struct hash_map known = {0};

	memset(answers, ANSWER_UNKNOWN, snapshot->thread_count);
	for (uint32_t i = 0; snapshot->wait_class != NULL && i < snapshot->thread_count; i++) {
		const uint32_t object = snapshot->wait_object[i];
		enum wait_class class;
		uint32_t answer;

		if (reduce_wait_class(snapshot, i, &class) != REASON_READ)
			continue;
		if (!hash_map_get(&known, (uint64_t) class << 32 | object, &answer)) {
			answer = answer_if(wait_matches(term, class, snapshot_text(snapshot, object),
							string_pool_length(&snapshot->strings, object)) ==
					   (term->limit.comparison == COMPARISON_EQUAL));
			hash_map_set(&known, (uint64_t) class << 32 | object, answer);
		}
		answers[i] = (uint8_t)answer;
	}
	hash_map_release(&known);
}

/* --- command lines --- */

/* Whether a process's recorded title, or else its command line, is known and matches. */
static enum answer ask_command(const struct term *term, const struct filter_subjects *subjects, uint32_t tgid)
{
	const struct snapshot *snapshot = subjects->snapshot;
	const char *title = subjects->titles ? snapshot_find_title(snapshot, tgid) : NULL;
	const uint32_t leader = snapshot_find_row(snapshot, tgid, tgid);
	const struct lookup_entry *entry;

	if (title != NULL)
		return (enum answer)answer_if(term_matches_name(term, title, strlen(title)));
	if (subjects->commands == NULL || leader == SNAPSHOT_NO_ROW)
		return ANSWER_UNKNOWN;
	entry = lookup_cache_find(subjects->commands,
				  &(struct lookup_request){.kind = LOOKUP_COMMAND,
							   .tgid = tgid,
							   .tid = tgid,
							   .start_time = snapshot->start_time[leader]});
	if (entry == NULL || entry->text == NULL)
		return ANSWER_UNKNOWN;
	return (enum answer)answer_if(term_matches_name(term, entry->text, strlen(entry->text)));
}

/* Adds the threads whose process has a command line that matches: of the field, or besides their names. */
static void answer_commands(const struct term *term, const struct filter_subjects *subjects, uint8_t *answers)
{
	const struct snapshot *snapshot = subjects->snapshot;
	const bool is_field = term->kind == TERM_FIELD;
	enum answer answer = ANSWER_UNKNOWN;

	for (size_t i = 0; i < snapshot->thread_count; i++) {
		/* threads of a process stand together */
		if (i == 0 || snapshot->tgid[i] != snapshot->tgid[i - 1])
			answer = ask_command(term, subjects, snapshot->tgid[i]);
		if (is_field)
			answers[i] = (uint8_t)(term->limit.comparison == COMPARISON_EQUAL
						       ? answer
						       : answer_not(answer));
		else if (answer == ANSWER_YES)
			answers[i] = ANSWER_YES;
	}
}

/* --- conditions --- */

static bool is_known(const struct term *term, const struct filter_subjects *subjects)
{
	return subjects->ended_pids == NULL || (term->kind != TERM_COMPARISON && !is_unknown_of_ended(term));
}

static void answer_term(const struct term *term, enum axis axis, const struct filter_subjects *subjects,
			uint8_t *answers)
{
	const struct snapshot *snapshot = subjects->snapshot;
	const size_t count = subject_count(subjects);

	if (!is_known(term, subjects) || term->kind == TERM_COMPARISON ||
	    (term->kind == TERM_FIELD && term->field == FILTER_FIELD_COMMAND))
		memset(answers, ANSWER_UNKNOWN, count);
	else if (!term_is_of_threads(term))
		answer_names(term, axis, subjects, answers);
	else if (term->field == FILTER_FIELD_USER)
		answer_users(term, subjects, answers);
	else if (term->field == FILTER_FIELD_STATE)
		answer_states(term, snapshot, answers);
	else if (term->field == FILTER_FIELD_WAITS_FOR)
		answer_waits(term, snapshot, answers);
	else if (term->field == FILTER_FIELD_TID)
		answer_ids(term, snapshot->tid, count, answers);
	else if (term->field == FILTER_FIELD_PID)
		answer_ids(term, subjects->ended_pids != NULL ? subjects->ended_pids : snapshot->tgid, count,
			   answers);
	else
		answer_names(term, axis, subjects, answers);
	if ((subjects->commands != NULL || (subjects->titles && snapshot->provenance.title_count != 0)) &&
	    subjects->ended_pids == NULL && term_reads_commands(term))
		answer_commands(term, subjects, answers);
}

static void answer_node(const struct filter *filter, uint32_t index, const struct filter_subjects *subjects,
			uint8_t *answers)
{
	const struct node *node = &filter->nodes[index];
	const size_t count = subject_count(subjects);
	uint8_t *others;

	if (node->kind == NODE_TERM) {
		answer_term(&filter->terms[node->term], AXIS_PROCESS, subjects, answers);
		return;
	}
	answer_node(filter, node->child, subjects, answers);
	for (size_t i = 0; node->kind == NODE_NOT && i < count; i++)
		answers[i] = (uint8_t)answer_not((enum answer)answers[i]);
	if (node->kind == NODE_NOT)
		return;
	others = memory_allocate(count + 1);
	for (uint32_t child = filter->nodes[node->child].next; child != NODE_NONE;
	     child = filter->nodes[child].next) {
		answer_node(filter, child, subjects, others);
		for (size_t i = 0; i < count; i++) {
			if ((others[i] < answers[i]) == (node->kind == NODE_AND))
				answers[i] = others[i];
		}
	}
	free(others);
}

bool *filter_members(const struct filter *filter, const struct filter_subjects *subjects)
{
	const size_t count = subject_count(subjects);
	uint8_t *answers;
	bool *members;

	if (!filter_narrows(filter))
		return NULL;
	members = memory_allocate(count + 1);
	memset(members, true, count);
	answers = memory_allocate(count + 1);
	for (size_t i = 0; i < filter->conjunct_count; i++) {
		if (!filter->conjuncts[i].narrows)
			continue;
		answer_node(filter, filter->conjuncts[i].node, subjects, answers);
		for (size_t k = 0; k < count; k++)
			members[k] &= answers[k] == ANSWER_YES;
	}
	free(answers);
	return members;
}

bool *filter_ended_members(const struct filter *filter, const struct ended *ended)
{
	uint32_t *pids = ended_pids(ended);
	bool *members = filter_members(
		filter, &(struct filter_subjects){.snapshot = ended->names, .ended_pids = pids});

	if (members != NULL && ended->has_estimate)
		members[ended->estimate] = false;
	free(pids);
	return members;
}

bool *filter_term_members(const struct filter *filter, size_t term, enum axis axis,
			  const struct filter_subjects *subjects)
{
	const size_t count = subject_count(subjects);
	uint8_t *answers = memory_allocate(count + 1);
	bool *members = memory_allocate(count + 1);

	answer_term(&filter->terms[term], axis, subjects, answers);
	for (size_t i = 0; i < count; i++)
		members[i] = answers[i] == ANSWER_YES;
	free(answers);
	return members;
}

/* State for testing names of ended threads one by one. */
struct judging {
	const struct filter *filter;
	enum axis axis;
	const struct filter_subjects *subjects;
	bool **members; /* by term, NULL until needed */
	size_t subject;
};

static const struct cell *no_cell(void *context, enum column column, bool as_rate)
{
	(void)context;
	(void)column;
	(void)as_rate;
	return NULL;
}

static bool is_member(void *context, size_t term)
{
	const struct judging *judging = context;

	if (judging->members[term] == NULL)
		judging->members[term] = filter_term_members(judging->filter, term, judging->axis,
							     judging->subjects);
	return judging->members[term][judging->subject];
}

bool *filter_pool_members(const struct filter *filter, enum axis axis, const char *label, size_t label_length,
			  const struct filter_subjects *subjects)
{
	const size_t count = subject_count(subjects);
	struct judging judging = {.filter = filter, .axis = axis, .subjects = subjects};
	const struct filter_row row = {label, label_length, no_cell, is_member, &judging};
	bool *members = NULL;

	for (size_t i = 0; filter != NULL && i < filter->conjunct_count; i++) {
		const struct conjunct *conjunct = &filter->conjuncts[i];

		if (conjunct->narrows || !node_has(filter, conjunct->node, is_no_number))
			continue;
		if (members == NULL) {
			members = memory_allocate(count + 1);
			memset(members, true, count);
			judging.members = memory_allocate_zero(filter->count, sizeof(bool *));
		}
		for (judging.subject = 0; judging.subject < count; judging.subject++)
			members[judging.subject] &= ask_node(filter, conjunct->node, &row) == ANSWER_YES;
	}
	for (size_t i = 0; members != NULL && i < filter->count; i++)
		free(judging.members[i]);
	free(judging.members);
	return members;
}
