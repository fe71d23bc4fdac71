/* SPDX-License-Identifier: GPL-2.0-only */
#include "export_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "snapshot/snapshot.h"
#include "window/column.h"

struct export_round {
	struct table *tables[AXIS_COUNT];
	struct export_facts facts;
};

/* --- options --- */

bool export_has_axis(enum axis axis)
{
	return axis != AXIS_PID && axis != AXIS_ALL;
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
			"groups by %s are no labels of series, there would be ever new ones; use some of %s",
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
				result = error_set(error, -EINVAL, "the axis %s stands there twice", name);
		}
		free(name);
		if (result < 0)
			return result;
		options->axes[options->axis_count++] = axis;
		text += length;
	} while (*text++ == ',');
	return 0;
}

int export_check_filter(const struct filter *filter, struct error *error)
{
	if (!filter_compares(filter))
		return 0;
	return error_set(
		error, -EINVAL,
		"a filter by a column would let counters miss what rows did that it left out; filter by what "
		"threads are, as in 'cgroup = /system*', or choose in the query");
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
	view.columns = export->options.families.columns;
	view.column_count = export->options.families.count;
	return view;
}

struct export *export_create(const struct export_options *options)
{
	struct export *export = memory_allocate_zero(1, sizeof(*export));
	bool cgroup_records, smaps;

	export->options = *options;
	for (size_t i = 0; i < options->axis_count; i++)
		export->groups[i] = export_groups_create(&(struct export_groups_options){
			.axis = options->axes[i],
			.limit = options->limit,
			.keep_ns = options->keep_ns,
			.families = &export->options.families,
		});
	export_needs(export, &export->sources, &cgroup_records, &smaps);
	return export;
}

static void release_facts(struct export_facts *facts)
{
	for (size_t i = 0; i <= UINT8_MAX; i++)
		free(facts->reason_names[i]);
}

void export_release(struct export *export)
{
	if (export == NULL)
		return;
	for (size_t i = 0; i < export->options.axis_count; i++)
		export_groups_release(export->groups[i]);
	release_facts(&export->facts);
	free(export);
}

void export_needs(const struct export *export, source_set *ret_sources, bool *ret_cgroup_records,
		  bool *ret_smaps)
{
	const struct view view = view_of(export, export->options.axes[0]);

	view_needs(&view, ret_sources, ret_cgroup_records, ret_smaps);
}

/* --- rounds --- */

static void gather_facts(const struct export *export, const struct session *session,
			 struct export_facts *facts)
{
	const struct snapshot *now = session_now(session);

	facts->unix_ns = now->captured_at_unix_ns;
	facts->boottime_ns = now->provenance.boottime_ns;
	facts->duration_ns = now->provenance.duration_ns;
	facts->interval_ns = session_interval_ns(session);
	facts->threads = now->thread_count;
	facts->taskstats = now->taskstats_summary;
	for (size_t i = 0; i < FEATURE_COUNT; i++)
		facts->features[i] = now->provenance.features[i].state;
	for (size_t i = 0; i < SOURCE_COUNT; i++) {
		if ((export->sources & source_bit((enum source)i)) == 0)
			continue;
		snapshot_tally(now, (enum source)i, &facts->tallies[i]);
		for (size_t reason = 0; reason <= UINT8_MAX; reason++) {
			if (facts->tallies[i].missed[reason] != 0 && facts->reason_names[reason] == NULL)
				facts->reason_names[reason] = memory_duplicate(
					snapshot_reason_name(now, (reason_id)reason));
		}
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

		round->tables[i] = session_table(session, &view);
	}
	gather_facts(export, session, &round->facts);
	return round;
}

void export_round_release(struct export_round *round)
{
	if (round == NULL)
		return;
	for (size_t i = 0; i < AXIS_COUNT; i++)
		table_release(round->tables[i]);
	release_facts(&round->facts);
	free(round);
}

static struct export_number number_of(const struct cell *cell)
{
	const bool known = cell->state == CELL_VALUE && cell->form == CELL_FORM_INTEGER;

	return (struct export_number){known, known ? cell->value.integer : 0};
}

/*
 * What a group is called: by its key, which says the same on all hosts and at all times, where what a screen
 * shows of a pattern may be the one name that it stands for just then. Users are known by their names.
 */
static void set_name(enum axis axis, const struct table_row *row, struct export_group_row *group)
{
	const bool by_label = axis == AXIS_USER || row->key_length == 0;
	const char *invisible;

	group->name = by_label ? row->label : row->key;
	group->name_length = by_label ? row->label_length : row->key_length;
	invisible = grouping_invisible_name(group->name, group->name_length);
	if (invisible != NULL) {
		group->name = invisible;
		group->name_length = strlen(invisible);
	}
}

static void add_table(struct export *export, size_t axis, const struct export_facts *facts,
		      const struct table *table)
{
	const struct export_family_choice *families = &export->options.families;
	struct export_group_row *rows = memory_allocate_zero(table->row_count + 1, sizeof(*rows));
	struct export_number *numbers = memory_allocate_zero(table->row_count * families->count + 1,
							     sizeof(*numbers));

	for (size_t i = 0; i < table->row_count; i++) {
		struct export_number *own = &numbers[i * families->count];

		rows[i].threads = table->rows[i].threads;
		rows[i].numbers = own;
		set_name(export->options.axes[axis], &table->rows[i], &rows[i]);
		for (size_t family = 0; family < families->count; family++) {
			own[family] = number_of(&table->rows[i].cells[family]);
			if (families->items[family] == EXPORT_FAMILY_RSS)
				rows[i].size = own[family].value;
			if (column_entry(families->columns[family])->unit == UNIT_NS &&
			    export_families[families->items[family]].kind == EXPOSITION_COUNTER)
				rows[i].weight += (double)own[family].value / (double)facts->interval_ns;
		}
	}
	export_groups_add(export->groups[axis], facts->boottime_ns, rows, table->row_count);
	free(rows);
	free(numbers);
}

void export_add(struct export *export, const struct export_round *round)
{
	for (size_t i = 0; i < export->options.axis_count; i++)
		add_table(export, i, &round->facts, round->tables[i]);
	release_facts(&export->facts);
	export->facts = round->facts;
	for (size_t i = 0; i <= UINT8_MAX; i++) {
		if (round->facts.reason_names[i] != NULL)
			export->facts.reason_names[i] = memory_duplicate(round->facts.reason_names[i]);
	}
	export->rounds++;
}

uint64_t export_round_count(const struct export *export)
{
	return export->rounds;
}

static bool has_samples(const struct export *export, size_t family)
{
	for (size_t axis = 0; axis < export->options.axis_count; axis++) {
		if (export_groups_have(export->groups[axis], family))
			return true;
	}
	return false;
}

void export_write_groups(const struct export *export, struct exposition *exposition)
{
	const struct export_family_choice *families = &export->options.families;

	for (size_t family = 0; family < families->count; family++) {
		if (!has_samples(export, family))
			continue;
		export_family_begin(exposition, families->items[family]);
		for (size_t axis = 0; axis < export->options.axis_count; axis++)
			export_groups_write(export->groups[axis], family, exposition);
	}
}
