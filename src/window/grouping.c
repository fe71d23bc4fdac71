/* SPDX-License-Identifier: GPL-2.0-only */
#include "grouping.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "base/order.h"
#include "base/unicode.h"
#include "cgroup_key.h"
#include "pattern.h"
#include "snapshot/container_names.h"
#include "snapshot/user_names.h"
#include "thread_keys.h"

const struct axis_entry axes[AXIS_COUNT] = {
	[AXIS_PROCESS] = {"pcomm", "process", "pcomm", "pattern of the process name"},
	[AXIS_CGROUP] = {"cgroup", "cgroup", "cgroup", "cgroup path without its instance numbers"},
	[AXIS_CONTAINER] = {"container", "container", "container",
			    "container (pods have several), else the systemd unit"},
	[AXIS_THREAD] = {"comm", "thread", "comm-pattern", "pattern of the thread name"},
	[AXIS_THREAD_EXACT] = {"comm-exact", "thread-exact", "comm", "thread name as it is"},
	[AXIS_ALL] = {"all", "all", "comm", "cgroup, process and thread pattern together"},
	[AXIS_PID] = {"pid", "pid", "pid", "each process by itself"},
	[AXIS_USER] = {"user", "user", "user", "user that the thread runs as"},
	[AXIS_WAIT] = {"wait", "wait", "waits for",
		       "what the thread is waiting for or blocked on now: a lock or other futex, a socket, a "
		       "file ..."},
	[AXIS_HOST] = {"host", "host", "host", "all threads of the host together"},
};

enum axis axis_find(const char *name)
{
	for (size_t i = 0; i < AXIS_COUNT; i++) {
		if (strcmp(name, axes[i].name) == 0 || strcmp(name, axes[i].word) == 0)
			return (enum axis)i;
	}
	return AXIS_COUNT;
}

struct grouping {
	enum axis axis;
	const struct name_rules *rules;
	struct string_pool keys;
	uint32_t *key_of_group; /* id in keys */
	uint32_t *group_of_key; /* UINT32_MAX for the empty string when no group has it */
	size_t count;
	struct string_pool labels;
	uint32_t *label_of_key;     /* id in labels; UINT32_MAX: the key is shown */
	size_t labelled_keys;       /* how many keys label_of_key has: of the others the key is shown */
	uint32_t **group_of_triple; /* [snapshot][triple] */
	uint32_t **group_of_thread; /* [snapshot][thread], NULL where groups are by triple */
	size_t snapshot_count;
	struct thread_axis_groups by_thread; /* of axes by thread, by key */
	bool knows_users;                    /* of AXIS_USER: this host's names of users are theirs */
};

/* Working state for one snapshot, per string id or per triple. */
struct work {
	const struct snapshot *snapshot;
	uint32_t self_name;     /* string id of name_self */
	uint64_t *threads;      /* per triple */
	uint32_t *name_pattern; /* per string id: id in build.patterns, UINT32_MAX until needed */
	bool borrows_patterns;  /* name_pattern is that of pattern_memory.known */
	uint32_t *cgroup_key;   /* per string id: id in build.patterns, UINT32_MAX until needed */
	uint32_t *key_of_name;  /* per string id, of an axis of one name: id in grouping.keys, the same */
};

enum {
	RECENT_KEYS = 256,
	/* of shared ones, and of known ones; any user can give threads names of ever new patterns */
	PATTERNS_REMEMBERED = 65536,
};

/* The name of a triple that a pattern stands for: it may stand for several of one and one of the other. */
enum role {
	ROLE_PROCESS,
	ROLE_THREAD,
	ROLE_COUNT,
};

static const enum axis axis_of_role[] = {[ROLE_PROCESS] = AXIS_PROCESS, [ROLE_THREAD] = AXIS_THREAD};

/* The names and threads that a pattern stands for. */
struct pattern_use {
	const char *first; /* NULL: none yet */
	size_t length;
	bool several; /* names */
	uint64_t threads;
};

/* Bits that mark made-up names among the parts of an AXIS_ALL key. */
static const char part_is_own[ROLE_COUNT] = {[ROLE_PROCESS] = 1, [ROLE_THREAD] = 2};

/* A key of AXIS_ALL and what it is made of: ids in build.patterns. */
struct recent_key {
	uint32_t cgroup, pcomm, comm;
	uint32_t key; /* UINT32_MAX for none yet */
};

struct grouping_build {
	const struct grouping_options *options;
	struct pattern_memory *memory;
	struct cgroup_key_rules cgroup_rules;
	struct string_pool *patterns;         /* patterns of names and cgroup keys */
	struct string_pool own_patterns;      /* unless they are those of pattern_memory.known */
	struct pattern_use *uses[ROLE_COUNT]; /* per pattern id; NULL where they decide nothing */
	uint32_t *key_of_pattern;             /* per pattern id, of an axis of one name: id in grouping.keys,
						 UINT32_MAX until needed; NULL where names are the keys */
	const struct name_rules *rules;
	struct work *work;
	struct grouping *grouping;
	const struct snapshot *const *snapshots;
	struct buffer scratch, name;
	struct buffer key, label;
	char marks;            /* part_is_own bits of `key` on AXIS_ALL */
	size_t label_capacity; /* of grouping->label_of_key */
	struct recent_key recent[RECENT_KEYS];
};

static uint32_t *new_ids(size_t count)
{
	uint32_t *ids = memory_allocate((count + 1) * sizeof(*ids));

	memset(ids, 0xff, (count + 1) * sizeof(*ids));
	return ids;
}

/* Pattern of a name, computed once per distinct string. */
static uint32_t name_pattern(struct grouping_build *build, struct work *work, uint32_t name)
{
	if (work->name_pattern[name] == UINT32_MAX) {
		const struct name_text text = name_rules_text(build->rules, work->snapshot, name,
							      &build->name);

		buffer_clear(&build->scratch);
		pattern_append(&build->scratch, text.text, text.length, build->rules);
		/* such a pattern would throw everything together: cc1, bc and a container's id */
		if (build->rules->keeps_hashes &&
		    strcmp(build->scratch.data != NULL ? build->scratch.data : "", "{H}") == 0) {
			buffer_clear(&build->scratch);
			buffer_append(&build->scratch, text.text, text.length);
		}
		work->name_pattern[name] = string_pool_intern(build->patterns, build->scratch.data,
							      build->scratch.length);
	}
	return work->name_pattern[name];
}

/* Key of a cgroup path, computed once per distinct string. */
static uint32_t cgroup_key(struct grouping_build *build, struct work *work, uint32_t path)
{
	if (work->cgroup_key[path] == UINT32_MAX) {
		buffer_clear(&build->scratch);
		cgroup_key_append_name(&build->cgroup_rules, work->snapshot, path, &build->scratch);
		work->cgroup_key[path] = string_pool_intern(build->patterns, build->scratch.data,
							    build->scratch.length);
	}
	return work->cgroup_key[path];
}

/* Threads of ctop itself are one group on the axes of thread names too. */
static uint32_t name_of_axis(const struct grouping_build *build, const struct work *work,
			     const struct triple *triple)
{
	const bool is_own = build->rules->joins_own && triple->pcomm == work->self_name;

	return build->options->axis == AXIS_PROCESS || is_own ? triple->pcomm : triple->comm;
}

static bool has_patterns(const struct grouping_options *options)
{
	return !options->keep_thread_names && (options->axis == AXIS_PROCESS || options->axis == AXIS_THREAD);
}

/* Whether some thread has a triple; a snapshot without threads has the triples of those that ended. */
static bool triple_counts(const struct work *work, size_t triple)
{
	return work->threads[triple] != 0 || work->snapshot->thread_count == 0;
}

static void note_name(struct pattern_use *use, const struct string_pool *strings, uint32_t name)
{
	const char *text = string_pool_text(strings, name);
	const size_t length = string_pool_length(strings, name);

	if (use->first == NULL) {
		use->first = text;
		use->length = length;
	} else if (text != use->first && (length != use->length || memcmp(text, use->first, length) != 0)) {
		use->several = true;
	}
}

/* Whether the patterns of that name of a triple are asked for. */
static bool role_is_used(const struct grouping_build *build, size_t role)
{
	return build->options->axis == AXIS_ALL || build->options->axis == axis_of_role[role];
}

/* Finds the patterns of all names that may be asked for. */
static void find_patterns(struct grouping_build *build, struct work *work)
{
	const struct snapshot *snapshot = work->snapshot;

	for (size_t i = 0; i < snapshot->triple_count; i++) {
		const struct triple *triple = &snapshot->triples[i];

		if (!triple_counts(work, i))
			continue;
		/* the threads of ctop itself have the name of their process */
		if (role_is_used(build, ROLE_PROCESS) || triple->pcomm == work->self_name)
			name_pattern(build, work, triple->pcomm);
		if (role_is_used(build, ROLE_THREAD))
			name_pattern(build, work, triple->comm);
	}
}

/* Finds the names and threads behind each pattern of a role. */
static void find_uses_of_role(struct grouping_build *build, size_t role)
{
	struct pattern_use *uses = memory_allocate_zero(build->patterns->count + 1, sizeof(*uses));

	for (size_t s = 0; s < build->grouping->snapshot_count; s++) {
		const struct work *work = &build->work[s];
		const struct snapshot *snapshot = work->snapshot;

		for (size_t i = 0; i < snapshot->triple_count; i++) {
			const struct triple *triple = &snapshot->triples[i];
			const uint32_t name = role == ROLE_PROCESS ? triple->pcomm : triple->comm;
			struct pattern_use *use;

			if (!triple_counts(work, i))
				continue;
			use = &uses[work->name_pattern[name]];
			use->threads += work->threads[i];
			note_name(use, &snapshot->strings, name);
		}
	}
	build->uses[role] = uses;
}

/* The same over all snapshots and roles. */
static void find_uses(struct grouping_build *build)
{
	for (size_t s = 0; s < build->grouping->snapshot_count; s++)
		find_patterns(build, &build->work[s]);
	for (size_t role = 0; role < ROLE_COUNT; role++) {
		if (role_is_used(build, role))
			find_uses_of_role(build, role);
	}
	if (has_patterns(build->options))
		build->key_of_pattern = new_ids(build->patterns->count);
}

/*
 * Whether a pattern replaces the names that it stands for: several, or by ktstr's rules those of two
 * threads. In a live session one that did so once remains.
 */
static bool is_shared(struct grouping_build *build, enum role role, uint32_t pattern)
{
	const struct pattern_use *use = &build->uses[role][pattern];
	const bool is_shared_now = build->rules->keeps_patterns ? use->several : use->threads >= 2;
	const char *text = string_pool_text(build->patterns, pattern);
	const size_t length = string_pool_length(build->patterns, pattern);
	struct string_pool *remembered;

	if (build->memory == NULL)
		return is_shared_now;
	remembered = &build->memory->patterns[axis_of_role[role]];
	if (!is_shared_now)
		return string_pool_find(remembered, text, length) != UINT32_MAX;
	if (remembered->count < PATTERNS_REMEMBERED)
		string_pool_intern(remembered, text, length);
	return true;
}

static void forget_known(struct name_patterns *known)
{
	string_pool_release(&known->texts);
	free(known->of_name);
	*known = (struct name_patterns){0};
}

/* Lets the names of a live round have the patterns that they had in the rounds before, and keeps new ones. */
static void borrow_patterns(struct grouping_build *build, struct work *work)
{
	struct name_patterns *known = &build->memory->known;
	const size_t count = work->snapshot->strings.count + 1; /* id 0 is there without any string */

	if (known->names_serial != work->snapshot->names_serial || known->rules != build->rules ||
	    known->texts.count > PATTERNS_REMEMBERED)
		forget_known(known);
	known->names_serial = work->snapshot->names_serial;
	known->rules = build->rules;
	if (count > known->count) {
		known->of_name = memory_resize(known->of_name, count, sizeof(*known->of_name));
		memset(known->of_name + known->count, 0xff, (count - known->count) * sizeof(*known->of_name));
		known->count = count;
	}
	build->patterns = &known->texts;
	work->name_pattern = known->of_name;
	work->borrows_patterns = true;
}

static void start_work(struct grouping_build *build, struct work *work, const struct snapshot *snapshot)
{
	work->snapshot = snapshot;
	work->self_name = snapshot_self_name(snapshot);
	work->threads = memory_allocate_zero(snapshot->triple_count + 1, sizeof(*work->threads));
	for (size_t i = 0; i < snapshot->thread_count; i++)
		work->threads[snapshot->triple[i]]++;
	/* of one snapshot alone: a second one could make the ids move */
	if (build->memory != NULL && snapshot->names_serial != 0 && build->patterns == &build->own_patterns)
		borrow_patterns(build, work);
	else
		work->name_pattern = new_ids(snapshot->strings.count);
	work->cgroup_key = new_ids(snapshot->strings.count);
	work->key_of_name = build->options->axis != AXIS_ALL ? new_ids(snapshot->strings.count) : NULL;
}

static void end_work(struct work *work)
{
	free(work->threads);
	if (!work->borrows_patterns)
		free(work->name_pattern);
	free(work->cgroup_key);
	free(work->key_of_name);
}

/* --- keys and labels --- */

/* Appends the key of a cgroup. Paths begin with a slash, so their part needs no mark on AXIS_ALL. */
static void append_pattern(struct grouping_build *build, uint32_t pattern)
{
	const char *text = string_pool_text(build->patterns, pattern);
	const size_t length = string_pool_length(build->patterns, pattern);
	const size_t shown = name_shown_length(text, length);

	buffer_append(&build->key, text, build->options->axis == AXIS_ALL ? shown : length);
	buffer_append(&build->label, text, shown);
}

/* Appends a visible form of a name to the label. */
static void append_visible(struct grouping_build *build, const char *name, size_t length)
{
	const char *instead = grouping_invisible_name(name, length);

	if (instead != NULL)
		buffer_append_text(&build->label, instead);
	else
		buffer_append(&build->label, name, name_shown_length(name, length));
}

/* Appends a name or pattern to the key. On AXIS_ALL, moves the mark of a made-up name to `marks`. */
static void append_to_key(struct grouping_build *build, enum role role, const char *name, size_t length)
{
	if (build->options->axis == AXIS_ALL && name_is_own(name, length)) {
		build->marks |= part_is_own[role];
		length--;
	}
	buffer_append(&build->key, name, length);
}

static void append_name(struct grouping_build *build, const struct work *work, enum role role, uint32_t name)
{
	const struct name_text text = name_rules_text(build->rules, work->snapshot, name, &build->name);

	append_to_key(build, role, text.text, text.length);
	append_visible(build, text.text, text.length);
}

/* A pattern, and as its label the name that it stands for alone. */
static void append_names(struct grouping_build *build, enum role role, uint32_t pattern)
{
	const char *text = string_pool_text(build->patterns, pattern);
	const size_t length = string_pool_length(build->patterns, pattern);
	const struct pattern_use *use = build->uses[role] != NULL ? &build->uses[role][pattern] : NULL;

	append_to_key(build, role, text, length);
	if (use != NULL && use->first != NULL && !is_shared(build, role, pattern))
		append_visible(build, use->first, use->length);
	else
		append_visible(build, text, length);
}

static void append_end_of_part(struct grouping_build *build)
{
	buffer_append_char(&build->key, '\0');
	buffer_append_char(&build->label, '\0');
}

static void set_label(struct grouping *grouping, size_t *capacity, uint32_t key, const struct buffer *label)
{
	const bool is_key = label->length == string_pool_length(&grouping->keys, key) &&
			    (label->length == 0 ||
			     memcmp(label->data, string_pool_text(&grouping->keys, key), label->length) == 0);
	const size_t before = *capacity;

	grouping->label_of_key = memory_grow(grouping->label_of_key, capacity, (size_t)key + 1,
					     sizeof(uint32_t));
	memset(grouping->label_of_key + before, 0xff, (*capacity - before) * sizeof(uint32_t));
	grouping->label_of_key[key] = is_key ? UINT32_MAX
					     : string_pool_intern(&grouping->labels, label->data,
								  label->length);
}

/* Whether that is the label of a key by now. */
static bool has_label(const struct grouping *grouping, size_t capacity, uint32_t key,
		      const struct buffer *label)
{
	const uint32_t id = key < capacity ? grouping->label_of_key[key] : UINT32_MAX;

	return id != UINT32_MAX && string_pool_length(&grouping->labels, id) == label->length &&
	       memcmp(string_pool_text(&grouping->labels, id), label->data, label->length) == 0;
}

/*
 * The name of a container is key and label. Where pods of one template are folded, the key is the pattern,
 * and the label is the name while there is only one.
 */
static void append_container(struct grouping_build *build, const struct work *work, uint32_t path)
{
	const struct string_pool *strings = &work->snapshot->strings;
	struct buffer *name = &build->scratch;
	uint32_t known;

	buffer_clear(name);
	container_append_name(string_pool_text(strings, path), string_pool_length(strings, path), name);
	append_visible(build, name->data, name->length);
	if (build->options->fold_containers)
		pattern_append_container(&build->key, name->data, name->length);
	/* ids of containers without a name have nothing in common */
	if (!build->options->fold_containers || strcmp(build->key.data, "{H}") == 0) {
		buffer_clear(&build->key);
		buffer_append(&build->key, name->data, name->length);
		return;
	}
	known = string_pool_find(&build->grouping->keys, build->key.data, build->key.length);
	if (known != UINT32_MAX && !has_label(build->grouping, build->label_capacity, known, &build->label)) {
		buffer_clear(&build->label);
		buffer_append(&build->label, build->key.data, build->key.length);
	}
}

/* Interns the key, on AXIS_ALL with its marks after the last part. */
static uint32_t intern_key(struct grouping_build *build)
{
	uint32_t key;

	if (build->marks != 0) {
		buffer_append_char(&build->key, '\0');
		buffer_append_char(&build->key, build->marks);
	}
	key = string_pool_intern(&build->grouping->keys, build->key.data, build->key.length);

	if (build->rules->keeps_patterns)
		set_label(build->grouping, &build->label_capacity, key, &build->label);
	return key;
}

/* The key of AXIS_ALL from three patterns. Threads of a pool have the same and mostly follow each other. */
static uint32_t key_of_patterns(struct grouping_build *build, uint32_t cgroup, uint32_t pcomm, uint32_t comm)
{
	struct recent_key *recent = &build->recent[(cgroup * 31 + pcomm * 7 + comm) % RECENT_KEYS];

	if (recent->key != UINT32_MAX && recent->cgroup == cgroup && recent->pcomm == pcomm &&
	    recent->comm == comm)
		return recent->key;
	append_pattern(build, cgroup);
	append_end_of_part(build);
	append_names(build, ROLE_PROCESS, pcomm);
	append_end_of_part(build);
	append_names(build, ROLE_THREAD, comm);
	*recent = (struct recent_key){cgroup, pcomm, comm, intern_key(build)};
	return recent->key;
}

/* By ktstr's rules its parts never revert. */
static uint32_t key_of_all(struct grouping_build *build, struct work *work, const struct triple *triple)
{
	const uint32_t cgroup = cgroup_key(build, work, triple->cgroup);

	if (!build->options->keep_thread_names)
		return key_of_patterns(build, cgroup, name_pattern(build, work, triple->pcomm),
				       name_pattern(build, work, triple->comm));
	append_pattern(build, cgroup);
	append_end_of_part(build);
	append_name(build, work, ROLE_PROCESS, triple->pcomm);
	append_end_of_part(build);
	append_name(build, work, ROLE_THREAD, triple->comm);
	return intern_key(build);
}

/* The key of the names of a pattern, whose label is the same whichever of them is asked about. */
static uint32_t key_of_pattern(struct grouping_build *build, enum role role, uint32_t pattern)
{
	if (build->key_of_pattern[pattern] == UINT32_MAX) {
		append_names(build, role, pattern);
		build->key_of_pattern[pattern] = intern_key(build);
	}
	return build->key_of_pattern[pattern];
}

/* The key of an axis of one name, computed once per distinct string. */
static uint32_t key_of_name(struct grouping_build *build, struct work *work, uint32_t name)
{
	const enum role role = build->options->axis == AXIS_PROCESS ? ROLE_PROCESS : ROLE_THREAD;

	if (work->key_of_name[name] != UINT32_MAX)
		return work->key_of_name[name];
	if (has_patterns(build->options) &&
	    (build->rules->keeps_patterns || is_shared(build, role, work->name_pattern[name])))
		return work->key_of_name[name] = key_of_pattern(build, role, work->name_pattern[name]);
	if (build->options->axis == AXIS_CONTAINER)
		append_container(build, work, name);
	else if (build->options->axis == AXIS_CGROUP)
		append_pattern(build, cgroup_key(build, work, name));
	else
		append_name(build, work, role, name);
	work->key_of_name[name] = intern_key(build);
	return work->key_of_name[name];
}

/* Every host has the same key, so that two hosts can be compared. The label is the host name if all snapshots
 * have the same one. */
static uint32_t key_of_host(struct grouping_build *build)
{
	const char *host = build->snapshots[0]->provenance.hostname;

	for (size_t s = 1; s < build->grouping->snapshot_count && host != NULL; s++) {
		const char *other = build->snapshots[s]->provenance.hostname;

		/* a snapshot of names has no host name */
		if (other != NULL && strcmp(other, host) != 0)
			host = NULL;
	}
	buffer_append_text(&build->key, axes[AXIS_HOST].word);
	buffer_append_text(&build->label, host != NULL ? host : axes[AXIS_HOST].word);
	return intern_key(build);
}

static uint32_t key_of_triple(struct grouping_build *build, struct work *work, const struct triple *triple)
{
	buffer_clear(&build->key);
	buffer_clear(&build->label);
	build->marks = 0;
	switch (build->options->axis) {
	case AXIS_ALL:
		return key_of_all(build, work, triple);
	case AXIS_CGROUP:
	case AXIS_CONTAINER:
		return key_of_name(build, work, triple->cgroup);
	case AXIS_HOST:
		return key_of_host(build);
	default:
		return key_of_name(build, work, name_of_axis(build, work, triple));
	}
}

/* The keys of triples, which is enough of all axes but those by thread. */
static void find_keys_of_names(struct grouping_build *build)
{
	struct grouping *grouping = build->grouping;

	for (size_t s = 0; s < grouping->snapshot_count; s++)
		start_work(build, &build->work[s], build->snapshots[s]);
	if (has_patterns(build->options) ||
	    (build->options->axis == AXIS_ALL && build->rules->keeps_patterns &&
	     !build->options->keep_thread_names))
		find_uses(build);
	for (size_t s = 0; s < grouping->snapshot_count; s++) {
		const struct snapshot *snapshot = build->snapshots[s];

		for (size_t i = 0; i < snapshot->triple_count; i++) {
			if (triple_counts(&build->work[s], i))
				grouping->group_of_triple[s][i] = key_of_triple(build, &build->work[s],
										&snapshot->triples[i]);
		}
	}
	for (size_t s = 0; s < grouping->snapshot_count; s++)
		end_work(&build->work[s]);
}

/* --- axes by thread --- */

/* "4120 engine" */
static void label_processes(struct grouping_build *build)
{
	struct grouping *grouping = build->grouping;

	for (uint32_t key = 1; key < grouping->by_thread.count; key++) {
		const struct thread_axis_group *group = &grouping->by_thread.items[key];
		uint32_t name;

		if (group->snapshot == NULL)
			continue;
		name = group->snapshot->triples[group->triple].pcomm;
		buffer_clear(&build->label);
		buffer_append_u64(&build->label, group->number);
		buffer_append_char(&build->label, ' ');
		append_visible(build, string_pool_text(&group->snapshot->strings, name),
			       string_pool_length(&group->snapshot->strings, name));
		set_label(grouping, &build->label_capacity, key, &build->label);
	}
}

static void find_keys_of_threads(struct grouping_build *build)
{
	struct grouping *grouping = build->grouping;

	grouping->group_of_thread = memory_allocate_zero(grouping->snapshot_count + 1, sizeof(uint32_t *));
	grouping->knows_users = true;
	for (size_t s = 0; s < grouping->snapshot_count; s++) {
		const struct snapshot *snapshot = build->snapshots[s];

		grouping->group_of_thread[s] = new_ids(snapshot->thread_count);
		thread_keys_find(build->options->axis, snapshot, &grouping->keys, &grouping->by_thread,
				 grouping->group_of_thread[s]);
		if (snapshot->thread_count != 0)
			grouping->knows_users &= user_names_hold(snapshot->provenance.hostname);
		for (size_t i = 0; i < snapshot->triple_count && snapshot->thread_count == 0; i++)
			grouping->group_of_triple[s][i] = snapshot_intern_own_name(&grouping->keys,
										   name_ended);
	}
	if (build->options->axis == AXIS_PID)
		label_processes(build);
}

/* --- groups --- */

static int compare_keys(const void *a, const void *b, void *context)
{
	return string_pool_compare(context, *(const uint32_t *)a, *(const uint32_t *)b);
}

/* Eight bytes of a text from a place on as a number that orders as they do; zeros behind its end. */
static uint64_t bytes_from(const char *text, size_t length, size_t place)
{
	uint64_t bytes = 0;

	if (place < length)
		memcpy(&bytes, text + place, length - place < sizeof(bytes) ? length - place : sizeof(bytes));
	return be64toh(bytes);
}

/* Sorts ids of keys by their bytes: by the first sixteen, which most differ in, as numbers. */
static void sort_keys(struct string_pool *keys, uint32_t *ids, size_t count)
{
	struct order_item *items = memory_allocate((count + 1) * sizeof(*items));
	size_t first = 0;

	for (size_t i = 0; i < count; i++) {
		const char *text = string_pool_text(keys, ids[i]);
		const size_t length = string_pool_length(keys, ids[i]);

		items[i] = (struct order_item){
			.first = bytes_from(text, length, 0),
			.second = bytes_from(text, length, sizeof(uint64_t)),
			.index = ids[i],
		};
	}
	order_items(items, count);
	for (size_t i = 0; i < count; i++)
		ids[i] = items[i].index;
	for (size_t i = 1; i <= count; i++) {
		if (i < count && items[i].first == items[first].first &&
		    items[i].second == items[first].second)
			continue;
		if (i - first > 1)
			qsort_r(&ids[first], i - first, sizeof(*ids), compare_keys, keys);
		first = i;
	}
	free(items);
}

/* Whether some thread or triple has the empty key, which every pool has. */
static bool has_empty_key(const struct grouping_build *build)
{
	const struct grouping *grouping = build->grouping;

	/* no process or user has it */
	for (size_t s = 0; s < grouping->snapshot_count && grouping->group_of_thread == NULL; s++) {
		for (size_t i = 0; i < build->snapshots[s]->triple_count; i++) {
			if (grouping->group_of_triple[s][i] == 0)
				return true;
		}
	}
	return false;
}

static void number_all(const struct grouping *grouping, uint32_t *keys, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (keys[i] != UINT32_MAX)
			keys[i] = grouping->group_of_key[keys[i]];
	}
}

/* Turns the ids of keys into group ids in the byte order of the keys. */
static void number_groups(struct grouping_build *build)
{
	struct grouping *grouping = build->grouping;
	size_t key_count = grouping->keys.count != 0 ? grouping->keys.count : 1;

	grouping->key_of_group = memory_allocate_zero(key_count, sizeof(uint32_t));
	grouping->group_of_key = new_ids(key_count);
	for (uint32_t key = has_empty_key(build) ? 0 : 1; key < key_count; key++)
		grouping->key_of_group[grouping->count++] = key;
	sort_keys(&grouping->keys, grouping->key_of_group, grouping->count);
	for (uint32_t group = 0; group < grouping->count; group++)
		grouping->group_of_key[grouping->key_of_group[group]] = group;
	for (size_t s = 0; s < grouping->snapshot_count; s++) {
		number_all(grouping, grouping->group_of_triple[s], build->snapshots[s]->triple_count);
		if (grouping->group_of_thread != NULL)
			number_all(grouping, grouping->group_of_thread[s], build->snapshots[s]->thread_count);
	}
	grouping->labelled_keys = build->label_capacity;
}

static const struct name_rules *choose_rules(const struct grouping_options *options,
					     const struct snapshot *const *snapshots, size_t count)
{
	if (options->rules != NULL)
		return options->rules;
	for (size_t s = 0; s < count; s++) {
		if (snapshots[s]->thread_count != 0 && !snapshots[s]->provenance.present)
			return &name_rules_ktstr;
	}
	return &name_rules_ctop;
}

struct grouping *grouping_create(const struct grouping_options *options,
				 const struct snapshot *const *snapshots, size_t snapshot_count,
				 struct pattern_memory *memory)
{
	struct grouping *grouping = memory_allocate_zero(1, sizeof(*grouping));
	struct grouping_options own_options = *options;
	struct grouping_build build = {
		.options = options,
		.snapshots = snapshots,
		.memory = memory,
		.grouping = grouping,
		.rules = choose_rules(options, snapshots, snapshot_count),
	};

	build.patterns = &build.own_patterns;
	memset(build.recent, 0xff, sizeof(build.recent));
	grouping->axis = options->axis;
	grouping->rules = build.rules;
	grouping->snapshot_count = snapshot_count;
	grouping->group_of_triple = memory_allocate_zero(snapshot_count + 1, sizeof(uint32_t *));
	for (size_t s = 0; s < snapshot_count; s++)
		grouping->group_of_triple[s] = new_ids(snapshots[s]->triple_count);
	build.work = memory_allocate_zero(snapshot_count + 1, sizeof(*build.work));
	own_options.rules = build.rules;
	cgroup_key_rules_initialise(&build.cgroup_rules, &own_options);
	if (axis_is_by_thread(options->axis))
		find_keys_of_threads(&build);
	else
		find_keys_of_names(&build);
	number_groups(&build);
	cgroup_key_rules_release(&build.cgroup_rules);
	string_pool_release(&build.own_patterns);
	free(build.key_of_pattern);
	buffer_release(&build.scratch);
	buffer_release(&build.name);
	buffer_release(&build.key);
	buffer_release(&build.label);
	for (size_t role = 0; role < ROLE_COUNT; role++)
		free(build.uses[role]);
	free(build.work);
	return grouping;
}

void grouping_release(struct grouping *grouping)
{
	if (grouping == NULL)
		return;
	for (size_t s = 0; s < grouping->snapshot_count; s++) {
		free(grouping->group_of_triple[s]);
		if (grouping->group_of_thread != NULL)
			free(grouping->group_of_thread[s]);
	}
	free(grouping->group_of_triple);
	free(grouping->group_of_thread);
	free(grouping->key_of_group);
	free(grouping->group_of_key);
	free(grouping->label_of_key);
	free(grouping->by_thread.items);
	string_pool_release(&grouping->keys);
	string_pool_release(&grouping->labels);
	free(grouping);
}

const struct name_rules *grouping_rules(const struct grouping *grouping)
{
	return grouping->rules;
}

size_t grouping_count(const struct grouping *grouping)
{
	return grouping->count;
}

const uint32_t *grouping_map(const struct grouping *grouping, size_t snapshot, bool *ret_by_thread)
{
	*ret_by_thread = grouping->group_of_thread != NULL;
	return *ret_by_thread ? grouping->group_of_thread[snapshot] : grouping->group_of_triple[snapshot];
}

uint32_t grouping_of_triple(const struct grouping *grouping, size_t snapshot, uint32_t triple)
{
	return grouping->group_of_triple[snapshot][triple];
}

uint32_t grouping_of_thread(const struct grouping *grouping, size_t snapshot, const struct snapshot *of,
			    size_t thread)
{
	return grouping->group_of_thread != NULL ? grouping->group_of_thread[snapshot][thread]
						 : grouping->group_of_triple[snapshot][of->triple[thread]];
}

const char *grouping_key(const struct grouping *grouping, uint32_t group, size_t *ret_length)
{
	uint32_t key = grouping->key_of_group[group];

	*ret_length = string_pool_length(&grouping->keys, key);
	return string_pool_text(&grouping->keys, key);
}

static bool is_own_key(const struct grouping *grouping, uint32_t key)
{
	const char *text = string_pool_text(&grouping->keys, key);
	const size_t length = string_pool_length(&grouping->keys, key);
	size_t ends = 0;

	if (grouping->axis != AXIS_ALL)
		return name_is_own(text, length);
	for (size_t i = 0; i < length; i++)
		ends += text[i] == '\0';
	return ends == 3; /* two between the parts, one before the marks */
}

bool grouping_is_own(const struct grouping *grouping, uint32_t group)
{
	return is_own_key(grouping, grouping->key_of_group[group]);
}

/* The name of a user; NULL where its number is to be shown. */
static const char *user_label(const struct grouping *grouping, uint32_t key)
{
	const uint32_t uid = key < grouping->by_thread.count ? grouping->by_thread.items[key].number : 0;

	/* it may be that of threads that ended */
	if (key >= grouping->by_thread.count || is_own_key(grouping, key))
		return NULL;
	if (uid == USER_UNKNOWN)
		return "(unknown)";
	return grouping->knows_users ? user_name(uid) : NULL;
}

const char *grouping_label(const struct grouping *grouping, uint32_t group, size_t *ret_length)
{
	const uint32_t key = grouping->key_of_group[group];
	const char *user = grouping->axis == AXIS_USER ? user_label(grouping, key) : NULL;
	uint32_t label = UINT32_MAX;
	const char *text;

	if (user != NULL) {
		*ret_length = strlen(user);
		return user;
	}
	if (key < grouping->labelled_keys)
		label = grouping->label_of_key[key];
	if (label == UINT32_MAX) {
		text = grouping_key(grouping, group, ret_length);
		if (grouping->axis != AXIS_ALL)
			*ret_length = name_shown_length(text, *ret_length);
		return text;
	}
	*ret_length = string_pool_length(&grouping->labels, label);
	return string_pool_text(&grouping->labels, label);
}

uint32_t grouping_pid(const struct grouping *grouping, uint32_t group)
{
	const uint32_t key = grouping->key_of_group[group];

	return grouping->axis == AXIS_PID && key < grouping->by_thread.count
		       ? grouping->by_thread.items[key].number
		       : 0;
}

uint32_t grouping_find(const struct grouping *grouping, const char *key, size_t length)
{
	uint32_t id = string_pool_find(&grouping->keys, key, length);

	return id == UINT32_MAX ? UINT32_MAX : grouping->group_of_key[id];
}

const char *grouping_invisible_name(const char *name, size_t length)
{
	/* a name of a thread has 15 bytes (TASK_COMM_LEN) */
	static const char *const blanks[] = {
		"(no name)",
		"\" \"",
		"\"  \"",
		"\"   \"",
		"\"    \"",
		"\"     \"",
		"\"      \"",
		"\"       \"",
		"\"        \"",
		"\"         \"",
		"\"          \"",
		"\"           \"",
		"\"            \"",
		"\"             \"",
		"\"              \"",
		"\"               \"",
	};
	const char *visible = name;

	if (unicode_trim(&visible, length) != 0)
		return NULL;
	return length < sizeof(blanks) / sizeof(*blanks) && strspn(name, " ") >= length ? blanks[length]
											: "(blank)";
}

void pattern_memory_release(struct pattern_memory *memory)
{
	for (size_t i = 0; i < AXIS_COUNT; i++)
		string_pool_release(&memory->patterns[i]);
	forget_known(&memory->known);
}

bool grouping_options_agree(const struct grouping_options *a, const struct grouping_options *b)
{
	return a->axis == b->axis && a->keep_thread_names == b->keep_thread_names &&
	       a->keep_cgroup_names == b->keep_cgroup_names && a->fold_containers == b->fold_containers &&
	       a->flatten == b->flatten && a->flatten_count == b->flatten_count && a->rules == b->rules;
}

const char *grouping_visible_name(const char *name, size_t *length)
{
	const char *instead = grouping_invisible_name(name, *length);

	if (instead == NULL)
		return name;
	*length = strlen(instead);
	return instead;
}
