/* SPDX-License-Identifier: GPL-2.0-only */
#include "comparability.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/humanize.h"
#include "base/memory.h"
#include "snapshot/capture_facts.h"
#include "snapshot/snapshot_window.h"

const char *const diff_side_names[DIFF_SIDE_COUNT] = {"before", "after"};

const char *const comparability_severity_names[COMPARABILITY_SEVERITY_COUNT] = {
	[COMPARABILITY_NOTE] = "note",
	[COMPARABILITY_WARNING] = "warning",
};

/* The two captures, and the rows made of them so far. */
struct examination {
	struct comparability *result;
	const struct snapshot *side[DIFF_SIDE_COUNT];
	const struct capture_facts *facts;
	struct buffer text; /* scratch of a sentence */
	bool same_boot;
	bool of_sets;                /* both are the last runs of sets, which come in any order */
	bool other_host;             /* they are known to be of two hosts */
	bool has_windows;            /* both, whose rates are compared */
	bool known[DIFF_SIDE_COUNT]; /* it has `ctop` objects */
};

/* Puts a row behind those that are as severe. */
void comparability_add(struct comparability *comparability, enum comparability_severity severity,
		       const char *id, const char *text)
{
	size_t index = comparability->count;

	comparability->rows = memory_grow(comparability->rows, &comparability->capacity,
					  comparability->count + 1, sizeof(*comparability->rows));
	while (index > 0 && comparability->rows[index - 1].severity < severity)
		index--;
	memmove(&comparability->rows[index + 1], &comparability->rows[index],
		(comparability->count - index) * sizeof(*comparability->rows));
	comparability->rows[index] = (struct comparability_row){
		.severity = severity,
		.id = id,
		.text = arena_duplicate(&comparability->arena, text, strlen(text)),
	};
	comparability->count++;
}

/* Adds a row with the sentence in examination->text. */
static void finish_row(struct examination *examination, enum comparability_severity severity, const char *id)
{
	comparability_add(examination->result, severity, id, examination->text.data);
	buffer_clear(&examination->text);
}

/* Adds a row with a sentence, after what examination->text holds already. */
static __attribute__((format(printf, 4, 5))) void add_row(struct examination *examination,
							  enum comparability_severity severity,
							  const char *id, const char *format, ...)
{
	va_list arguments;
	char *rest;

	va_start(arguments, format);
	rest = memory_format_list(format, arguments);
	va_end(arguments);
	buffer_append_text(&examination->text, rest);
	finish_row(examination, severity, id);
	free(rest);
}

/* A fact that both captures know and that is not the same, or NULL. */
static const struct capture_fact *find_difference(const struct examination *examination, const char *name)
{
	const struct capture_fact *fact = capture_facts_find(examination->facts, name);

	return fact != NULL && fact->differs && fact->value[DIFF_BEFORE] != NULL &&
			       fact->value[DIFF_AFTER] != NULL
		       ? fact
		       : NULL;
}

bool comparability_same_boot(const struct snapshot *before, const struct snapshot *after)
{
	const char *first = before->provenance.boot_id;
	const char *second = after->provenance.boot_id;

	return first != NULL && second != NULL && strcmp(first, second) == 0;
}

bool comparability_other_host(const struct snapshot *before, const struct snapshot *after)
{
	const char *first = before->provenance.hostname, *second = after->provenance.hostname;

	return first != NULL && second != NULL && strcmp(first, second) != 0 &&
	       !comparability_same_boot(before, after);
}

int64_t comparability_interval(const struct snapshot *before, const struct snapshot *after)
{
	uint64_t from = before->provenance.boottime_ns;
	uint64_t to = after->provenance.boottime_ns;

	if (!comparability_same_boot(before, after) || from == 0 || to == 0) {
		from = before->captured_at_unix_ns;
		to = after->captured_at_unix_ns;
	}
	if (from == 0 || to == 0)
		return 0;
	if (to >= from)
		return to - from > INT64_MAX ? INT64_MAX : (int64_t)(to - from);
	return from - to > INT64_MAX ? -INT64_MAX : -(int64_t)(from - to);
}

/* The same by their ends, and of windows by what they begin with, too. */
static bool are_one_capture(const struct snapshot *before, const struct snapshot *after)
{
	return before->captured_at_unix_ns != 0 &&
	       before->captured_at_unix_ns == after->captured_at_unix_ns &&
	       before->thread_count == after->thread_count &&
	       (before->window == NULL || after->window == NULL ||
		before->window->from->captured_at_unix_ns == after->window->from->captured_at_unix_ns);
}

static void examine_time(struct examination *examination)
{
	const struct snapshot *before = examination->side[DIFF_BEFORE];
	const struct snapshot *after = examination->side[DIFF_AFTER];
	int64_t interval = comparability_interval(before, after);
	struct buffer *text = &examination->text;

	if (examination->of_sets)
		return;
	if (examination->other_host) {
		if (interval == 0)
			return;
		humanize_duration(text, (double)(interval < 0 ? -interval : interval));
		add_row(examination, COMPARABILITY_NOTE, "interval",
			" lie between the captures by the clocks of the two hosts");
		return;
	}
	if (before == after || (interval == 0 && are_one_capture(before, after))) {
		add_row(examination, COMPARABILITY_WARNING, "same-capture",
			"both are the same capture: nothing can have changed");
		return;
	}
	if (interval == 0)
		return;
	if (interval < 0) {
		buffer_append_text(text, "after is the older capture, by ");
		humanize_duration(text, (double)-interval);
		add_row(examination, COMPARABILITY_WARNING, "swapped-order",
			": what grew looks as if it shrank; swap the two files");
		return;
	}
	buffer_append_text(text, "there are ");
	humanize_duration(text, (double)interval);
	add_row(examination, COMPARABILITY_NOTE, "interval", " between the captures%s",
		examination->same_boot ? "" : " by the wall clock");
}

static void examine_threads(struct examination *examination)
{
	static const char *const consequences[DIFF_SIDE_COUNT] = {"every group looks new",
								  "every group looks gone"};

	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++) {
		if (examination->side[side]->thread_count != 0)
			continue;
		add_row(examination, COMPARABILITY_WARNING, "empty", "%s has no threads: %s",
			diff_side_names[side], consequences[side]);
	}
}

/* Totals of two hosts count from different times. */
static void append_uptimes(struct examination *examination)
{
	const uint64_t before = examination->side[DIFF_BEFORE]->provenance.boottime_ns;
	const uint64_t after = examination->side[DIFF_AFTER]->provenance.boottime_ns;
	struct buffer *text = &examination->text;

	buffer_append_text(text, ", threads are not matched");
	if (before == 0 || after == 0)
		return;
	buffer_append_text(text, ", and counters count since the start of each: ");
	humanize_duration(text, (double)before);
	buffer_append_text(text, " in before, ");
	humanize_duration(text, (double)after);
	buffer_append_text(text, " in after");
}

static void examine_host(struct examination *examination)
{
	const struct capture_fact *host = find_difference(examination, "host");
	const struct capture_fact *kernel = find_difference(examination, "kernel");
	const char *first = examination->side[DIFF_BEFORE]->provenance.boot_id;
	const char *second = examination->side[DIFF_AFTER]->provenance.boot_id;
	struct buffer *text = &examination->text;

	if (examination->other_host) {
		buffer_append_format(text,
				     "other host, %s in before and %s in after: differences between the "
				     "hosts count as changes",
				     host->value[DIFF_BEFORE], host->value[DIFF_AFTER]);
		if (!examination->has_windows)
			append_uptimes(examination);
		finish_row(examination, COMPARABILITY_WARNING, "other-host");
	} else if (first != NULL && second != NULL && !examination->same_boot && examination->has_windows) {
		add_row(examination, COMPARABILITY_NOTE, "other-boot",
			"other boot: the host was started again between the two windows");
	} else if (first != NULL && second != NULL && !examination->same_boot) {
		add_row(examination, COMPARABILITY_WARNING, "other-boot",
			"other boot: the counters started again from zero, so this "
			"compares two lifetimes, not growth");
	}
	if (kernel != NULL)
		add_row(examination, COMPARABILITY_WARNING, "other-kernel",
			"other kernel, %s in before and %s in after: a counter may count "
			"something else, or be in one of them only",
			kernel->value[DIFF_BEFORE], kernel->value[DIFF_AFTER]);
}

/* The facts of the host, except its name and kernel. */
static void examine_host_facts(struct examination *examination)
{
	struct buffer *text = &examination->text;
	bool several = false;

	for (size_t i = 0; i < examination->facts->count; i++) {
		const struct capture_fact *fact = &examination->facts->items[i];

		if ((fact->flags & CAPTURE_FACT_HOST) == 0 || !fact->differs ||
		    fact->value[DIFF_BEFORE] == NULL || fact->value[DIFF_AFTER] == NULL ||
		    strcmp(fact->name, "host") == 0 || strcmp(fact->name, "kernel") == 0)
			continue;
		if (text->length == 0) {
			buffer_append_text(text, examination->other_host ? "the hosts are not alike: "
									 : "the host has changed: ");
		} else {
			buffer_append_text(text, ", ");
			several = true;
		}
		buffer_append_text(text, fact->name);
	}
	if (text->length == 0)
		return;
	add_row(examination, COMPARABILITY_NOTE, "host-context", "%s", several ? " differ" : " differs");
}

/* One side knows nothing of the sched_ext scheduler of the other: none ran, or it was not read.
 */
static void examine_lone_scheduler(struct examination *examination, enum diff_side there)
{
	const struct snapshot *other = examination->side[1 - there];
	const char *name = examination->side[there]->task_fields.owner->name;

	if (!examination->known[1 - there])
		return; /* other readers keep nothing of it, which is said as a whole */
	if (other->sched_ext.present && !snapshot_sched_ext_runs(other))
		add_row(examination, COMPARABILITY_WARNING, "other-scheduler",
			"sched_ext scheduler %s in %s and none in %s: threads were scheduled by "
			"other rules, and its fields have no change",
			name, diff_side_names[there], diff_side_names[1 - there]);
	else
		add_row(examination, COMPARABILITY_WARNING, "missing-scheduler",
			"what sched_ext scheduler %s keeps for threads was read in %s only: its "
			"fields have no change",
			name, diff_side_names[there]);
}

static void examine_schedulers(struct examination *examination)
{
	const struct task_field_owner *before = examination->side[DIFF_BEFORE]->task_fields.owner;
	const struct task_field_owner *after = examination->side[DIFF_AFTER]->task_fields.owner;

	if (before == NULL && after == NULL)
		return;
	if (before == NULL || after == NULL)
		examine_lone_scheduler(examination, before != NULL ? DIFF_BEFORE : DIFF_AFTER);
	else if (strcmp(before->name, after->name) != 0)
		add_row(examination, COMPARABILITY_WARNING, "other-scheduler",
			"other sched_ext scheduler, %s in before and %s in after: a field of one "
			"name may mean something else",
			before->name, after->name);
	else if (!task_field_owner_has_same_type(before, after))
		add_row(examination, COMPARABILITY_WARNING, "other-scheduler-types",
			"sched_ext scheduler %s keeps something else for threads in before and in "
			"after: a field of one name may mean something else",
			after->name);
	else if (examination->same_boot && !task_field_owner_is_same_run(before, after))
		add_row(examination, COMPARABILITY_WARNING, "other-scheduler-run",
			"sched_ext scheduler %s was started again in between: its counters began "
			"again from zero",
			after->name);
}

/* The values that cannot be compared when a feature is on in one capture only. */
static const struct {
	enum feature feature;
	const char *lost;
} feature_losses[] = {
	{FEATURE_TASKSTATS, "delays and highest memory use have"},
	{FEATURE_DELAYS, "delays have"},
	{FEATURE_IRQ_DELAY, "interrupt delays have"},
	{FEATURE_XACCT, "highest memory use has"},
	{FEATURE_SCHED_INFO, "run-queue waits have"},
	{FEATURE_SCHEDSTATS, "wakeups, waits and sleeps of the scheduler have"},
	{FEATURE_IO_ACCOUNTING, "reads and writes have"},
	{FEATURE_OTHERS_IO, "reads and writes of other users' processes have"},
	{FEATURE_OTHERS_MEMORY, "memory by kind of other users' processes has"},
	{FEATURE_PRESSURE, "pressure has"},
	{FEATURE_CGROUP2, "cgroup records have"},
	{FEATURE_PID_NAMESPACE, "what is asked by thread id (delays, affinity) has"},
	{FEATURE_PROCESS_MEMORY, "allocations have"},
};

/* The sources whose absence a feature explains: they need it, or come with one that does. */
static source_set sources_lost_with(enum feature feature)
{
	source_set lost = 0;

	for (size_t i = 0; i < SOURCE_COUNT; i++) {
		const struct source_entry *entry = &sources[i],
					  *whole = &sources[source_whole((enum source)i)];
		const bool by_id = (entry->flags & SOURCE_BY_ID) != 0;

		if (entry->needs == feature || whole->needs == feature ||
		    (by_id && (feature == FEATURE_PID_NAMESPACE || entry->rights == feature)))
			lost |= source_bit((enum source)i);
	}
	return lost;
}

static void add_lost_feature(struct examination *examination, enum feature feature, size_t off,
			     const char *lost)
{
	const struct snapshot *snapshot = examination->side[off];
	const struct feature_result *result = &snapshot->provenance.features[feature];

	buffer_append_format(&examination->text, "%s: off in %s", features[feature].words,
			     diff_side_names[off]);
	if (result->reason != REASON_READ)
		buffer_append_format(&examination->text, " (%s)", reason_words(result->reason));
	add_row(examination, COMPARABILITY_WARNING, "missing-feature", ", so %s no change", lost);
}

/* Features that were on in one capture and off in the other; returns the sources that this explains. */
static source_set examine_features(struct examination *examination)
{
	source_set explained = 0;

	for (size_t i = 0; i < ARRAY_COUNT(feature_losses); i++) {
		const enum feature feature = feature_losses[i].feature;

		for (size_t off = 0; off < DIFF_SIDE_COUNT; off++) {
			const struct feature_result *there = examination->side[1 - off]->provenance.features;
			const struct feature_result *here = examination->side[off]->provenance.features;

			if (here[feature].state != FEATURE_STATE_OFF ||
			    (there[feature].state != FEATURE_STATE_ON &&
			     there[feature].state != FEATURE_STATE_PARTIAL))
				continue;
			explained |= sources_lost_with(feature);
			if (feature_cause(here, feature) == feature)
				add_lost_feature(examination, feature, off, feature_losses[i].lost);
		}
	}
	return explained;
}

/* Sources that no thread of one capture was read from, with the reason. */
static void examine_sources(struct examination *examination, source_set explained)
{
	for (size_t i = 0; i < SOURCE_COUNT; i++) {
		const reason_id missed[DIFF_SIDE_COUNT] = {examination->side[DIFF_BEFORE]->default_reason[i],
							   examination->side[DIFF_AFTER]->default_reason[i]};
		const enum source part_of = sources[i].part_of;
		size_t missing = missed[DIFF_BEFORE] != REASON_READ ? DIFF_BEFORE : DIFF_AFTER;

		/* what threads wait for is of a moment: no change is counted from it */
		if (i == SOURCE_WAIT || (explained & source_bit((enum source)i)) != 0 ||
		    !examination->known[DIFF_BEFORE] || !examination->known[DIFF_AFTER] ||
		    (missed[DIFF_BEFORE] == REASON_READ) == (missed[DIFF_AFTER] == REASON_READ))
			continue;
		if (part_of != SOURCE_NONE &&
		    examination->side[missing]->default_reason[part_of] != REASON_READ)
			continue;
		/* a round of the live screen reads only what is shown: nothing is wrong with the host */
		add_row(examination,
			missed[missing] == REASON_NOT_READ ? COMPARABILITY_NOTE : COMPARABILITY_WARNING,
			"missing-source", "%s was not read in %s (%s): %s have no change", sources[i].name,
			diff_side_names[missing], reason_words(missed[missing]), sources[i].description);
	}
}

/* Files that say nothing else still have the flags of the format. */
static void examine_flags(struct examination *examination)
{
	static const struct {
		unsigned int flag;
		const char *lost;
	} flags[] = {
		{THREAD_TASKSTATS_MEASURED, "delays and highest memory use"},
		{THREAD_CPU_DELAY_ACTIVE, "waits for a CPU by taskstats"},
		{THREAD_DELAY_BLOCK_ACTIVE, "delays"},
		{THREAD_XACCT_ACTIVE, "highest memory use"},
		{THREAD_JEMALLOC_MEASURED, "allocations"},
	};
	unsigned int any[DIFF_SIDE_COUNT] = {0, 0};

	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++) {
		for (size_t i = 0; i < examination->side[side]->thread_count; i++)
			any[side] |= examination->side[side]->thread_flags[i];
		if (examination->side[side]->thread_count == 0)
			return;
	}
	for (size_t i = 0; i < ARRAY_COUNT(flags); i++) {
		size_t missing = (any[DIFF_BEFORE] & flags[i].flag) == 0 ? DIFF_BEFORE : DIFF_AFTER;

		if ((any[DIFF_BEFORE] & flags[i].flag) == (any[DIFF_AFTER] & flags[i].flag))
			continue;
		add_row(examination, COMPARABILITY_WARNING, "not-measured",
			"no thread of %s had its %s measured: they have no change", diff_side_names[missing],
			flags[i].lost);
		if (flags[i].flag == THREAD_TASKSTATS_MEASURED)
			return; /* the other flags but the last are its parts */
	}
}

/* Capabilities that let a capture read more, each with one that gives as much (capabilities(7)). */
static const struct {
	const char *name, *instead;
} reading_capabilities[] = {
	{"net_admin", NULL},
	{"sys_ptrace", NULL},
	{"dac_read_search", "dac_override"},
};

static bool has_capability(const struct provenance *provenance, const char *name)
{
	for (size_t i = 0; name != NULL && i < provenance->capability_count; i++) {
		if (strcmp(provenance->capabilities[i], name) == 0)
			return true;
	}
	return false;
}

static bool may_read_by(const struct provenance *provenance, size_t capability)
{
	return has_capability(provenance, reading_capabilities[capability].name) ||
	       has_capability(provenance, reading_capabilities[capability].instead);
}

static void examine_rights(struct examination *examination)
{
	struct buffer *text = &examination->text;

	if (find_difference(examination, "user") != NULL)
		add_row(examination, COMPARABILITY_WARNING, "other-user",
			"other user, %s before and %s after: what only one of them may read has "
			"no change",
			find_difference(examination, "user")->value[DIFF_BEFORE],
			find_difference(examination, "user")->value[DIFF_AFTER]);
	for (size_t lacking = 0; lacking < DIFF_SIDE_COUNT; lacking++) {
		const struct provenance *here = &examination->side[lacking]->provenance;
		const struct provenance *there = &examination->side[1 - lacking]->provenance;
		size_t count = 0;

		if (!here->present || !there->present)
			continue;
		for (size_t i = 0; i < ARRAY_COUNT(reading_capabilities); i++) {
			if (may_read_by(here, i) || !may_read_by(there, i))
				continue;
			if (count++ == 0)
				buffer_append_format(text, "%s was captured without ",
						     diff_side_names[lacking]);
			else
				buffer_append_text(text, ", ");
			buffer_append_text(text, reading_capabilities[i].name);
		}
		if (count == 0)
			continue;
		add_row(examination, COMPARABILITY_WARNING, "other-capabilities",
			": what it allows reading has no change");
	}
}

/*
 * Numbers of namespaces mean something within one boot only, except those that every boot starts with
 * (linux/proc_ns.h, PROC_*_INIT_INO; 0 for a namespace without such a number).
 */
static const struct {
	enum namespace_kind kind;
	uint64_t initial;
	const char *consequence;
} namespace_rows[] = {
	{NAMESPACE_PID, 0xeffffffc, "other processes are visible, and thread ids mean other threads"},
	{NAMESPACE_USER, 0xeffffffd, "capabilities allow less in one of them"},
	{NAMESPACE_MNT, 0, "other mounts of /proc, /sys and cgroups may have been read"},
	{NAMESPACE_CGROUP, 0xeffffffb, "cgroup paths begin elsewhere and may match no group"},
	{NAMESPACE_TIME, 0xeffffffa, "start times are relative to another moment"},
};

static void examine_namespaces(struct examination *examination)
{
	for (size_t i = 0; i < ARRAY_COUNT(namespace_rows); i++) {
		const enum namespace_kind kind = namespace_rows[i].kind;
		const uint64_t first = examination->side[DIFF_BEFORE]->provenance.namespaces[kind];
		const uint64_t second = examination->side[DIFF_AFTER]->provenance.namespaces[kind];
		const uint64_t initial = namespace_rows[i].initial;

		if (first == 0 || second == 0 || first == second)
			continue;
		if (!examination->same_boot && (initial == 0 || (first != initial && second != initial)))
			continue;
		add_row(examination, COMPARABILITY_WARNING, "other-namespace", "other %s namespace: %s",
			namespace_names[kind], namespace_rows[i].consequence);
	}
}

static void examine_scope(struct examination *examination)
{
	const struct capture_fact *scope = find_difference(examination, "scope");

	if (scope != NULL)
		add_row(examination, COMPARABILITY_WARNING, "other-scope",
			"other scope (-p), %s in before and %s in after: what one left out "
			"looks gone or new",
			scope->value[DIFF_BEFORE], scope->value[DIFF_AFTER]);
	for (size_t i = 0; i < ROOT_COUNT; i++) {
		const char *first = examination->side[DIFF_BEFORE]->provenance.roots[i];
		const char *second = examination->side[DIFF_AFTER]->provenance.roots[i];

		if (first == NULL || second == NULL || strcmp(first, second) == 0)
			continue;
		add_row(examination, i == ROOT_CGROUP ? COMPARABILITY_WARNING : COMPARABILITY_NOTE,
			"other-root", "other %s root, %s in before and %s in after%s", root_names[i], first,
			second,
			i == ROOT_CGROUP ? ": cgroup paths begin elsewhere and may match no group" : "");
	}
}

static void examine_format(struct examination *examination)
{
	const struct capture_fact *program = find_difference(examination, "program");

	if (!examination->known[DIFF_BEFORE] && !examination->known[DIFF_AFTER])
		add_row(examination, COMPARABILITY_NOTE, "no-provenance",
			"neither file records the boot, privileges and scope of its "
			"capture: only flags say what was measured");
	else if (examination->known[DIFF_BEFORE] != examination->known[DIFF_AFTER])
		add_row(examination, COMPARABILITY_WARNING, "no-provenance",
			"%s was written by another program: only its flags say what was "
			"measured, and a zero in it may be a value that was not read",
			diff_side_names[examination->known[DIFF_BEFORE] ? DIFF_AFTER : DIFF_BEFORE]);
	else if (program != NULL)
		add_row(examination, COMPARABILITY_NOTE, "other-program",
			"written by %s and by %s: they may read the kernel in different ways",
			program->value[DIFF_BEFORE], program->value[DIFF_AFTER]);
}

/* Generations of the format: what one lacked reads as zero or is not there. */
static void examine_generations(struct examination *examination)
{
	const char *notes[DIFF_SIDE_COUNT] = {examination->side[DIFF_BEFORE]->format_notes,
					      examination->side[DIFF_AFTER]->format_notes};

	if (notes[DIFF_BEFORE] != NULL && notes[DIFF_AFTER] != NULL &&
	    strcmp(notes[DIFF_BEFORE], notes[DIFF_AFTER]) == 0)
		return;
	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++) {
		if (notes[side] == NULL)
			continue;
		add_row(examination, COMPARABILITY_WARNING, "other-generation",
			"other generation of the format, %s: %s", diff_side_names[side], notes[side]);
	}
}

/* Adds the rows of two captures, or of the last runs of two sets. */
static void examine(const struct snapshot *before, const struct snapshot *after, bool of_sets,
		    struct comparability *result)
{
	struct capture_facts *facts = capture_facts_create(before, after);
	struct examination examination = {
		.result = result,
		.side = {before, after},
		.facts = facts,
		.same_boot = comparability_same_boot(before, after),
		.of_sets = of_sets,
		.other_host = comparability_other_host(before, after),
		.has_windows = before->window != NULL && after->window != NULL,
		.known = {before->provenance.present, after->provenance.present},
	};

	examine_time(&examination);
	examine_threads(&examination);
	examine_host(&examination);
	examine_schedulers(&examination);
	if (examination.known[DIFF_BEFORE] && examination.known[DIFF_AFTER])
		examine_sources(&examination, examine_features(&examination));
	else
		examine_flags(&examination);
	examine_rights(&examination);
	examine_namespaces(&examination);
	examine_scope(&examination);
	examine_format(&examination);
	examine_generations(&examination);
	examine_host_facts(&examination);
	buffer_release(&examination.text);
	capture_facts_release(facts);
}

struct comparability *comparability_create(const struct snapshot *before, const struct snapshot *after)
{
	struct comparability *result = memory_allocate_zero(1, sizeof(*result));

	examine(before, after, false, result);
	return result;
}

/* --- sets of runs --- */

enum {
	LENGTHS_MOST = 3 /* windows of one set are at most so many times as long as each other */
};

/* The length of the window of a capture, ns; 0 for a single reading. */
static uint64_t window_length(const struct snapshot *snapshot)
{
	return snapshot->window != NULL
		       ? snapshot->provenance.boottime_ns - snapshot->window->from->provenance.boottime_ns
		       : 0;
}

static void append_length(uint64_t length, struct buffer *text)
{
	if (length != 0)
		humanize_duration(text, (double)length);
	else
		buffer_append_text(text, "none");
}

/* Names the facts in which a run is not like the first of its set, with both values. */
static void examine_run(const struct comparability_set *set, size_t run, struct comparability *result)
{
	struct capture_facts *facts = capture_facts_create(set->runs[0], set->runs[run]);
	const uint64_t first = window_length(set->runs[0]), own = window_length(set->runs[run]);
	struct buffer text = {0};
	size_t begin;

	buffer_append_format(&text, "%s is not like %s, the first run of its set", set->names[run],
			     set->names[0]);
	begin = text.length;
	for (size_t i = 0; i < facts->count; i++) {
		const struct capture_fact *fact = &facts->items[i];

		if ((fact->flags & (CAPTURE_FACT_HOST | CAPTURE_FACT_SETTING)) == 0 || !fact->differs ||
		    fact->value[0] == NULL || fact->value[1] == NULL)
			continue;
		buffer_append_format(&text, "%s %s %s, not %s", text.length == begin ? ":" : ",", fact->name,
				     fact->value[1], fact->value[0]);
	}
	/* or only one has a window */
	if ((first > own ? first : own) / LENGTHS_MOST > (first > own ? own : first)) {
		buffer_append_text(&text, text.length == begin ? ": window " : ", window ");
		append_length(own, &text);
		buffer_append_text(&text, ", not ");
		append_length(first, &text);
	}
	if (text.length != begin)
		comparability_add(result, COMPARABILITY_WARNING, "other-run", text.data);
	buffer_release(&text);
	capture_facts_release(facts);
}

/* Says if an earlier run of the same set, or one of the set before, is the same capture as a run. */
static void examine_copy(const struct comparability_set sets[DIFF_SIDE_COUNT], size_t side, size_t run,
			 struct comparability *result)
{
	const struct snapshot *own = sets[side].runs[run];

	for (size_t other = 0; other <= side; other++) {
		const struct comparability_set *set = &sets[other];
		const size_t count = other == side ? run : set->count;
		struct buffer text = {0};
		size_t k = 0;

		while (k < count && set->runs[k] != own && !are_one_capture(set->runs[k], own))
			k++;
		if (k == count)
			continue;
		buffer_append_format(&text,
				     "%s and %s are the same capture: its numbers count twice, and runs seem "
				     "to differ less than they do",
				     set->names[k], sets[side].names[run]);
		comparability_add(result, COMPARABILITY_WARNING, "same-run", text.data);
		buffer_release(&text);
		return;
	}
}

struct comparability *comparability_create_of_sets(const struct comparability_set sets[DIFF_SIDE_COUNT])
{
	const struct comparability_set *before = &sets[DIFF_BEFORE], *after = &sets[DIFF_AFTER];
	struct comparability *result = memory_allocate_zero(1, sizeof(*result));

	for (size_t side = 0; side < DIFF_SIDE_COUNT; side++) {
		for (size_t run = 0; run < sets[side].count; run++) {
			examine_copy(sets, side, run, result);
			examine_run(&sets[side], run, result);
		}
	}
	if (before->count != 0)
		examine(before->runs[before->count - 1], after->runs[after->count - 1], true, result);
	return result;
}

bool comparability_has(const struct comparability *comparability, const char *id)
{
	for (size_t i = 0; i < comparability->count; i++) {
		if (strcmp(comparability->rows[i].id, id) == 0)
			return true;
	}
	return false;
}

void comparability_release(struct comparability *comparability)
{
	if (comparability == NULL)
		return;
	free(comparability->rows);
	arena_release(&comparability->arena);
	free(comparability);
}
