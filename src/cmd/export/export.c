/* SPDX-License-Identifier: GPL-2.0-only */
#include "export.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "snapshot/snapshot.h"
#include "window/blame.h"
#include "window/column.h"

struct export_facts {
	struct snapshot *now; /* a reference; NULL before the first round */
	uint64_t interval_ns;
	struct tally tallies[SOURCE_COUNT];
};

/* The pairs of groups of an axis, of which the one kept the other waiting for a CPU; zero: none. */
struct pairs {
	struct export_group_row *rows;
	struct export_number *numbers;
	size_t count;
	struct blame *blame; /* these two own the names */
	struct snapshot *sums;
};

static const struct export_family_choice families_of_pairs = {
	.items = {EXPORT_FAMILY_DELAYED}, .columns = {COLUMN_RUNQ}, .count = 1, .first = {0, 1}};

struct export_round {
	struct table *tables[AXIS_COUNT];
	struct session_classes *classes[AXIS_COUNT]; /* session_count_classes() of these */
	struct pairs pairs[AXIS_COUNT];
	struct export_facts facts;
};

struct export
{
	struct export_options options;
	source_set sources; /* that are read */
	/* By their order in the options: groups, and pairs of them. */
	struct export_groups *groups[AXIS_COUNT], *pairs[AXIS_COUNT];
	uint64_t rounds;
	struct export_facts facts;
};

/* --- options --- */

bool export_has_axis(enum axis axis)
{
	return axis != AXIS_PID && axis != AXIS_ALL && axis != AXIS_WAIT;
}

static int refuse_axis(const char *name, struct error *error)
{
	struct buffer words = {0};
	const enum axis axis = axis_find(name);
	int result;

	for (size_t i = 0; i < AXIS_COUNT; i++) {
		if (export_has_axis((enum axis)i))
			buffer_append_format(&words, "%s%s", words.length != 0 ? ", " : "", axes[i].word);
	}
	if (axis != AXIS_COUNT)
		result = error_set(
			error, -EINVAL,
			"cannot export by %s: it would make new series without end; use some of %s",
			axes[axis].word, words.data);
	else
		result = error_set(error, -EINVAL,
				   "there is no axis '%s'; use some of %s, with commas between", name,
				   words.data);
	buffer_release(&words);
	return result;
}

int export_parse_axes(const char *text, struct export_options *options, struct error *error)
{
	options->axis_count = 0;
	do {
		const size_t length = strcspn(text, ",");
		char *name = memory_duplicate_bytes(text, length);
		const enum axis axis = axis_find(name);
		int result = axis == AXIS_COUNT || !export_has_axis(axis) ? refuse_axis(name, error) : 0;

		for (size_t i = 0; result == 0 && i < options->axis_count; i++) {
			if (options->axes[i] == axis)
				result = error_set(error, -EINVAL, "axis %s is given twice", name);
		}
		free(name);
		if (result < 0)
			return result;
		options->axes[options->axis_count++] = axis;
		text += length;
	} while (*text++ == ',');
	return 0;
}

int export_check_filter(const struct filter *filter, bool latency, struct error *error)
{
	if (filter == NULL)
		return 0;
	if (latency)
		return error_set(
			error, -EINVAL,
			"who delays whom is known by names, for all of the host: leave out --latency "
			"or the filter");
	if (!filter_chooses_rows(filter) && !filter_is_of_living(filter) && !filter_reads_commands(filter))
		return 0;
	return error_set(
		error, -EINVAL,
		"a filter by numbers, texts, states, command lines, users or thread ids makes counters miss "
		"what ended or did not match; filter by process, thread, cgroup, container or pid, as in "
		"'cgroup = /system*' or 'process = nginx', or choose in the query");
}

/* The view of the table with the numbers of an axis. */
static struct view view_of(const struct export *export, enum axis axis)
{
	struct view view;

	view_initialise(&view);
	view.grouping = export->options.view.grouping;
	view.grouping.axis = axis;
	view.filter = export->options.view.filter;
	view.hide_self = true;
	view.hide_kernel_threads = export->options.view.hide_kernel_threads;
	view.mode = WINDOW_MODE_INTERVAL;
	view.sort_by_name = true;
	view.hide_gone = true;
	view.cells_on_demand = true; /* the session keeps the rows */
	view.columns = export->options.families.columns;
	view.column_count = export->options.families.count;
	return view;
}

struct export *export_create(const struct export_options *options)
{
	struct export *export = memory_allocate_zero(1, sizeof(*export));
	bool cgroup_records, smaps;

	export->options = *options;
	for (size_t i = 0; i < options->axis_count; i++) {
		struct export_groups_options of = {
			.axis = options->axes[i],
			.limit = options->limit,
			.keep_ns = options->keep_ns,
			.families = &export->options.families,
		};

		export->groups[i] = export_groups_create(&of);
		of.pairs = true;
		of.families = &families_of_pairs;
		export->pairs[i] = export_groups_create(&of);
	}
	export_needs(export, &export->sources, &cgroup_records, &smaps);
	return export;
}

void export_release(struct export *export)
{
	if (export == NULL)
		return;
	for (size_t i = 0; i < export->options.axis_count; i++) {
		export_groups_release(export->groups[i]);
		export_groups_release(export->pairs[i]);
	}
	snapshot_release(export->facts.now);
	free(export);
}

void export_needs(const struct export *export, source_set *ret_sources, bool *ret_cgroup_records,
		  bool *ret_smaps)
{
	const struct view view = view_of(export, export->options.axes[0]);

	view_needs(&view, ret_sources, ret_cgroup_records, ret_smaps);
}

/* --- rounds --- */

/*
 * The exported name of a group is its key, which is the same on all hosts and at all times, while a screen
 * may show a pattern as the one name it stands for. The key of a made-up name has its mark.
 */
static struct name_text name_of_key(const char *key, size_t length)
{
	const char *invisible = grouping_invisible_name(key, length);

	return invisible != NULL ? name_text_of(invisible) : (struct name_text){key, length};
}

static struct name_text name_of_group(const struct blame *blame, uint32_t group)
{
	size_t length;
	const char *key = grouping_key(blame->groups, group, &length);

	return name_of_key(key, length);
}

static void add_pair(struct pairs *pairs, const struct latency_delay *entry, uint64_t interval_ns)
{
	struct export_group_row *row = &pairs->rows[pairs->count];
	struct export_number *number = &pairs->numbers[pairs->count];

	*number = (struct export_number){true, entry->time_ns};
	*row = (struct export_group_row){
		.threads = 1, .weight = (double)entry->time_ns / (double)interval_ns, .numbers = number};
	row->name = name_of_group(pairs->blame, entry->victim);
	if (entry->culprit != BLAME_NOBODY) {
		row->culprit = name_of_group(pairs->blame, entry->culprit);
	} else {
		const char *cause = blame_cause_labels[entry->cause];

		row->culprit = (struct name_text){cause, strlen(cause) + 1};
	}
	pairs->count++;
}

/*
 * Finds the pairs of a round of the view's axis: none where latency was not measured, where names do not tell
 * the groups of the axis, and where the view has a filter, since delays are known by names alone.
 */
static struct pairs find_pairs(const struct view *view, const struct snapshot *round, uint64_t interval_ns)
{
	struct pairs pairs = {.count = 0};

	if (round->latency.span_ns == 0 || round->latency.is_whole || view->filter != NULL)
		return pairs;
	pairs.sums = snapshot_create();
	free(latency_sums_add(pairs.sums, round));
	pairs.blame = blame_create(&view->grouping, pairs.sums, &pairs.sums->latency, NULL, BLAME_DELAYED_BY);
	if (pairs.blame == NULL)
		return pairs;
	pairs.rows = memory_allocate((pairs.blame->count + 1) * sizeof(*pairs.rows));
	pairs.numbers = memory_allocate((pairs.blame->count + 1) * sizeof(*pairs.numbers));
	for (size_t i = 0; i < pairs.blame->count; i++)
		add_pair(&pairs, &pairs.blame->entries[i], interval_ns);
	return pairs;
}

static void release_pairs(struct pairs *pairs)
{
	blame_release(pairs->blame);
	snapshot_release(pairs->sums);
	free(pairs->rows);
	free(pairs->numbers);
}

static void gather_facts(const struct export *export, const struct session *session,
			 struct export_facts *facts)
{
	/* only the number of references changes: a finished snapshot does not */
	facts->now = snapshot_reference((struct snapshot *)(uintptr_t)session_now(session));
	facts->interval_ns = session_interval_ns(session);
	for (size_t i = 0; i < SOURCE_COUNT; i++) {
		if ((export->sources & source_bit((enum source)i)) != 0)
			snapshot_tally(facts->now, (enum source)i, &facts->tallies[i]);
	}
}

struct export_round *export_round_create(const struct export *export, struct session *session)
{
	struct export_round *round;

	if (session_interval_ns(session) == 0)
		return NULL;
	round = memory_allocate_zero(1, sizeof(*round));
	for (size_t i = 0; i < export->options.axis_count; i++) {
		const struct view view = view_of(export, export->options.axes[i]);
		struct table *table = session_table(session, &view);

		session_table_fill(session, &view, table, 0, table->row_count);
		round->classes[i] = session_count_classes(session, table);
		round->tables[i] = table;
		round->pairs[i] = find_pairs(&view, session_now(session), session_interval_ns(session));
	}
	gather_facts(export, session, &round->facts);
	return round;
}

void export_round_release(struct export_round *round)
{
	if (round == NULL)
		return;
	for (size_t i = 0; i < AXIS_COUNT; i++) {
		table_release(round->tables[i]);
		free(round->classes[i]);
		release_pairs(&round->pairs[i]);
	}
	snapshot_release(round->facts.now);
	free(round);
}

static struct export_number number_of(const struct cell *cell)
{
	const bool known = cell->state == CELL_VALUE && cell->form == CELL_FORM_INTEGER;

	return (struct export_number){known, known ? cell->value.integer : 0};
}

/* Users have their names. */
static void set_name(enum axis axis, const struct table_row *row, struct export_group_row *group)
{
	const bool by_label = (axis == AXIS_USER && !row->is_own) || row->key_length == 0;

	group->name = by_label ? name_of_key(row->label, row->label_length)
			       : name_of_key(row->key, row->key_length);
}

/* Where no time tells who does most: by the shares of each counter, since their units differ. */
static void weigh_by_shares(const struct export_family_choice *families, struct export_group_row rows[],
			    size_t count)
{
	for (size_t family = 0; family < families->count; family++) {
		double total = 0;

		if (export_families[families->items[family]].kind != EXPOSITION_COUNTER ||
		    export_families[families->items[family]].by_class)
			continue;
		for (size_t i = 0; i < count; i++)
			total += (double)rows[i].numbers[families->first[family]].value;
		for (size_t i = 0; i < count && total > 0; i++)
			rows[i].weight += (double)rows[i].numbers[families->first[family]].value / total;
	}
}

/* Numbers by class: a counter of the time, or a gauge of the threads. A class without any has none. */
static void set_by_class(const struct session_classes *classes, enum exposition_kind kind,
			 struct export_number numbers[])
{
	const uint64_t *counts = kind == EXPOSITION_COUNTER ? classes->time_ns : classes->threads;

	for (size_t i = 0; i < WAIT_CLASS_COUNT; i++)
		numbers[i] = (struct export_number){counts[i] != 0, counts[i]};
}

static void add_table(struct export *export, size_t axis, const struct export_round *round)
{
	const struct export_family_choice *families = &export->options.families;
	const struct table *table = round->tables[axis];
	const struct export_facts *facts = &round->facts;
	const size_t number_count = export_family_numbers(families);
	struct export_group_row *rows = memory_allocate_zero(table->row_count + 1, sizeof(*rows));
	struct export_number *numbers = memory_allocate_zero(table->row_count * number_count + 1,
							     sizeof(*numbers));
	bool has_times = false;

	for (size_t i = 0; i < table->row_count; i++) {
		struct export_number *own = &numbers[i * number_count];

		rows[i].threads = table->rows[i].threads;
		rows[i].numbers = own;
		set_name(export->options.axes[axis], &table->rows[i], &rows[i]);
		for (size_t family = 0; family < families->count; family++) {
			const struct export_family_entry *entry = &export_families[families->items[family]];
			struct export_number *number = &own[families->first[family]];

			if (entry->by_class) {
				if (round->classes[axis] != NULL)
					set_by_class(&round->classes[axis][i], entry->kind, number);
				continue;
			}
			*number = number_of(&table->rows[i].cells[family]);
			if (families->items[family] == EXPORT_FAMILY_RSS)
				rows[i].size = number->value;
			if (column_entry(entry->column)->unit == UNIT_NS &&
			    entry->kind == EXPOSITION_COUNTER) {
				rows[i].weight += (double)number->value / (double)facts->interval_ns;
				has_times = true;
			}
		}
	}
	if (!has_times)
		weigh_by_shares(families, rows, table->row_count);
	export_groups_add(export->groups[axis], facts->now->provenance.boottime_ns, rows, table->row_count);
	free(rows);
	free(numbers);
}

void export_add(struct export *export, const struct export_round *round)
{
	for (size_t i = 0; i < export->options.axis_count; i++) {
		add_table(export, i, round);
		export_groups_add(export->pairs[i], round->facts.now->provenance.boottime_ns,
				  round->pairs[i].rows, round->pairs[i].count);
	}
	snapshot_release(export->facts.now);
	export->facts = round->facts;
	snapshot_reference(export->facts.now);
	export->rounds++;
}

uint64_t export_round_count(const struct export *export)
{
	return export->rounds;
}

/* Writes a family of groups, or of pairs of them, by its place in their choice; nothing without samples. */
static void write_family(const struct export *export, struct export_groups *const of[AXIS_COUNT],
			 const struct export_family_choice *families, size_t family,
			 struct exposition *exposition)
{
	bool has_samples = false;

	for (size_t axis = 0; axis < export->options.axis_count; axis++)
		has_samples = has_samples || export_groups_have(of[axis], family);
	if (!has_samples)
		return;
	export_family_begin(exposition, families->items[family]);
	for (size_t axis = 0; axis < export->options.axis_count; axis++)
		export_groups_write(of[axis], family, exposition);
}

void export_write_groups(const struct export *export, struct exposition *exposition)
{
	const struct export_family_choice *families = &export->options.families;

	for (size_t family = 0; family < families->count; family++)
		write_family(export, export->groups, families, family, exposition);
	write_family(export, export->pairs, &families_of_pairs, 0, exposition);
}

/* --- numbers about ctop itself --- */

enum health {
#define EXPORT_HEALTH(id, ...) HEALTH_##id,
#include "export_health.def"
#undef EXPORT_HEALTH
	HEALTH_COUNT,
};

struct health_entry {
	enum exposition_kind kind;
	const char *name;
	enum unit unit;
	const char *help;
};

static const struct health_entry health_entries[HEALTH_COUNT] = {
#define EXPORT_HEALTH(id, kind, name, unit, help)                                                            \
	[HEALTH_##id] = {EXPOSITION_##kind, name, UNIT_##unit, help},
#include "export_health.def"
#undef EXPORT_HEALTH
};

const unsigned int export_statuses[EXPORT_STATUS_COUNT] = {200, 403, 404, 405};

struct writing {
	const struct export *export;
	const struct export_health *health;
	struct exposition *exposition;
	struct buffer labels;
};

static void begin(const struct writing *writing, enum health which)
{
	const struct health_entry *entry = &health_entries[which];

	exposition_begin(writing->exposition, entry->kind, entry->name, entry->unit, entry->help);
}

static void add(const struct writing *writing, uint64_t value)
{
	exposition_add(writing->exposition, writing->labels.data, writing->labels.length, value);
}

static void write_one(struct writing *writing, enum health which, uint64_t value)
{
	buffer_clear(&writing->labels);
	begin(writing, which);
	add(writing, value);
}

/* Replaces the labels by one. */
static void set_label(struct writing *writing, const char *name, const char *value)
{
	buffer_clear(&writing->labels);
	exposition_append_label(&writing->labels, name, value, strlen(value));
}

static void write_build(struct writing *writing)
{
	begin(writing, HEALTH_BUILD);
	set_label(writing, "version", CTOP_VERSION);
	add(writing, 1);
}

static void write_rounds(struct writing *writing)
{
	const struct export_health *health = writing->health;
	const struct snapshot *now = writing->export->facts.now;

	write_one(writing, HEALTH_ROUNDS, health->rounds);
	write_one(writing, HEALTH_ROUND_FAILURES, health->failed_rounds);
	write_one(writing, HEALTH_CAPTURE_CPU, health->capture_cpu_ns);
	write_one(writing, HEALTH_ROUND_STALE, health->stale);
	if (now == NULL)
		return;
	write_one(writing, HEALTH_ROUND_TIMESTAMP, now->captured_at_unix_ns);
	write_one(writing, HEALTH_ROUND_AGE,
		  health->now_boottime_ns > now->provenance.boottime_ns
			  ? health->now_boottime_ns - now->provenance.boottime_ns
			  : 0);
	write_one(writing, HEALTH_ROUND_INTERVAL, writing->export->facts.interval_ns);
	write_one(writing, HEALTH_ROUND_DURATION, now->provenance.duration_ns);
	write_one(writing, HEALTH_THREADS, now->thread_count);
}

static void write_missed(struct writing *writing, enum source source)
{
	const struct export_facts *facts = &writing->export->facts;

	for (size_t reason = 0; reason <= UINT8_MAX; reason++) {
		const uint64_t missed = facts->tallies[source].missed[reason];
		const char *name;

		if (missed == 0)
			continue;
		name = reason_name(reason);
		set_label(writing, "source", sources[source].name);
		exposition_append_label(&writing->labels, "reason", name, strlen(name));
		add(writing, missed);
	}
}

static void write_sources(struct writing *writing)
{
	begin(writing, HEALTH_SOURCE_READ);
	for (size_t i = 0; i < SOURCE_COUNT; i++) {
		if ((writing->export->sources & source_bit((enum source)i)) == 0)
			continue;
		set_label(writing, "source", sources[i].name);
		add(writing, writing->export->facts.tallies[i].read);
	}
	begin(writing, HEALTH_SOURCE_MISSED);
	for (size_t i = 0; i < SOURCE_COUNT; i++)
		write_missed(writing, (enum source)i);
}

/* Leaves out features that were not checked. */
static void write_features(struct writing *writing)
{
	begin(writing, HEALTH_FEATURE);
	for (size_t i = 0; i < FEATURE_COUNT; i++) {
		const enum feature_state state = writing->export->facts.now->provenance.features[i].state;

		if (state == FEATURE_STATE_UNKNOWN)
			continue;
		set_label(writing, "feature", features[i].name);
		add(writing, state == FEATURE_STATE_ON);
	}
}

static void write_taskstats(struct writing *writing)
{
	const struct taskstats_summary *taskstats = &writing->export->facts.now->taskstats_summary;
	const struct {
		const char *result;
		uint64_t count;
	} results[] = {
		{"ok", taskstats->ok_count},
		{"eperm", taskstats->eperm_count},
		{"esrch", taskstats->esrch_count},
		{"other", taskstats->other_err_count},
	};

	if (!taskstats->present)
		return;
	begin(writing, HEALTH_TASKSTATS);
	for (size_t i = 0; i < ARRAY_COUNT(results); i++) {
		set_label(writing, "result", results[i].result);
		add(writing, results[i].count);
	}
}

/* A number of each axis. */
static void write_axes(struct writing *writing, enum health which)
{
	const struct export *export = writing->export;

	begin(writing, which);
	for (size_t i = 0; i < export->options.axis_count; i++) {
		const struct export_groups_state state = export_groups_state(export->groups[i]);

		buffer_clear(&writing->labels);
		buffer_append_text(&writing->labels, export_groups_axis_label(export->groups[i]));
		add(writing, which == HEALTH_GROUPS          ? state.groups
			     : which == HEALTH_GROUPS_FOLDED ? state.folded
			     : which == HEALTH_GROUPS_LIMIT  ? export->options.limit
							     : state.dropped);
	}
}

static void write_server(struct writing *writing)
{
	const struct export_health *health = writing->health;

	begin(writing, HEALTH_HTTP_REQUESTS);
	for (size_t i = 0; i < EXPORT_STATUS_COUNT; i++) {
		buffer_clear(&writing->labels);
		buffer_append_format(&writing->labels, "code=\"%u\"", export_statuses[i]);
		add(writing, health->requests[i]);
	}
	begin(writing, HEALTH_HTTP_CLOSED);
	set_label(writing, "reason", "slow");
	add(writing, health->closed_slow);
	set_label(writing, "reason", "crowded");
	add(writing, health->closed_crowded);
}

static void write_process(struct writing *writing)
{
	static const char prefix[] = "ctop_";
	const struct export_health *health = writing->health;
	const uint64_t values[] = {health->cpu_ns,        health->resident_bytes, health->virtual_bytes,
				   health->start_unix_ns, health->open_fds,       health->max_fds};

	for (size_t i = 0; i < ARRAY_COUNT(values); i++) {
		const struct health_entry *entry = &health_entries[HEALTH_PROCESS_CPU + i];
		struct buffer name = {0};

		buffer_append_format(&name, "%s%s", health->own_names ? prefix : "", entry->name);
		buffer_clear(&writing->labels);
		exposition_begin(writing->exposition, entry->kind, name.data, entry->unit, entry->help);
		add(writing, values[i]);
		buffer_release(&name);
	}
}

void export_write_health(const struct export *export, const struct export_health *health,
			 struct exposition *exposition)
{
	struct writing writing = {.export = export, .health = health, .exposition = exposition};

	write_build(&writing);
	write_rounds(&writing);
	if (export->facts.now != NULL) {
		write_sources(&writing);
		write_features(&writing);
		write_taskstats(&writing);
		for (enum health which = HEALTH_GROUPS; which <= HEALTH_SERIES_DROPPED; which++) {
			if (which != HEALTH_GROUPS_LIMIT || export->options.limit != EXPORT_LIMIT_NONE)
				write_axes(&writing, which);
		}
		write_one(&writing, HEALTH_WRITE_DURATION, health->write_ns);
	}
	if (health->serves)
		write_server(&writing);
	if (health->writes_file)
		write_one(&writing, HEALTH_TEXTFILE_FAILURES, health->file_failures);
	if (health->has_process)
		write_process(&writing);
	buffer_release(&writing.labels);
}
