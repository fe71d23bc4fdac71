/* SPDX-License-Identifier: GPL-2.0-only */
#include "export_family.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "metric/metric.h"
#include "metric/source.h"
#include "metric/wait_class.h"
#include "table/column_name.h"
#include "window/column.h"

#define KIND_COUNTER          EXPOSITION_COUNTER, false, false
#define KIND_GAUGE            EXPOSITION_GAUGE, false, false
#define KIND_LARGEST          EXPOSITION_GAUGE, true, false
#define KIND_GAUGE_BY_CLASS   EXPOSITION_GAUGE, false, true
#define KIND_COUNTER_BY_CLASS EXPOSITION_COUNTER, false, true

const struct export_family_entry export_families[EXPORT_FAMILY_COUNT + 1] = {
#define EXPORT_FAMILY(column, kind, name, by_default)                                                        \
	[EXPORT_FAMILY_##column] = {COLUMN_##column, KIND_##kind, "ctop_group_" name, by_default},
#include "export_family.def"
#undef EXPORT_FAMILY
	[EXPORT_FAMILY_DELAYED] = {COLUMN_RUNQ, KIND_COUNTER, "ctop_delayed", false},
};

static int refuse(enum column column, struct error *error)
{
	struct buffer titles = {0};
	int result;

	for (size_t i = 0; i < EXPORT_FAMILY_COUNT; i++)
		buffer_append_format(&titles, "%s%s", i != 0 ? ", " : "",
				     column_title(export_families[i].column, WINDOW_MODE_INTERVAL));
	result = error_set(error, -EINVAL, "%s is not exported; columns that are: %s",
			   column_title(column, WINDOW_MODE_INTERVAL), titles.data);
	buffer_release(&titles);
	return result;
}

/* Whether the kernel refuses what it is made of to all but the owner of a process: io and smaps_rollup
 * (proc_pid_io(5)), which tell as much as how long a password is. */
static bool is_private(enum export_family family)
{
	const source_set set = column_sources(export_families[family].column);

	for (size_t i = 0; i < SOURCE_COUNT; i++) {
		if ((set & source_bit((enum source)i)) != 0 && sources[i].rights != FEATURE_NONE)
			return true;
	}
	return false;
}

static int choose_one(const char *name, bool for_all, bool chosen[], struct error *error)
{
	const enum column column = column_find(name);

	if (column == COLUMN_COUNT)
		return column_refuse(name, error);
	for (size_t i = 0; i < EXPORT_FAMILY_COUNT; i++) {
		if (export_families[i].column != column)
			continue;
		if (for_all && is_private((enum export_family)i))
			return error_set(
				error, -EINVAL,
				"%s is for the owner of a process alone, and all users of this host can "
				"read what is exported; --listen unix:PATH without --textfile has it, or "
				"--public",
				column_title(column, WINDOW_MODE_INTERVAL));
		chosen[i] = true;
		return 0;
	}
	return refuse(column, error);
}

int export_family_choose(const char *list, bool for_all, struct export_family_choice *ret_choice,
			 struct error *error)
{
	bool chosen[EXPORT_FAMILY_COUNT] = {false};
	const bool adds = list == NULL || *list == '+';
	int result = 0;

	for (size_t i = 0; i < EXPORT_FAMILY_COUNT; i++)
		chosen[i] = adds && export_families[i].by_default &&
			    !(for_all && is_private((enum export_family)i));
	while (list != NULL && *list != '\0' && result == 0) {
		const size_t length = strcspn(list, ",");
		char *name = memory_duplicate_bytes(list + (*list == '+'), length - (*list == '+'));

		result = choose_one(name, for_all, chosen, error);
		free(name);
		list += length;
		list += *list == ',';
	}
	if (result < 0)
		return result;
	ret_choice->count = ret_choice->first[0] = 0;
	for (size_t i = 0; i < EXPORT_FAMILY_COUNT; i++) {
		size_t *first = &ret_choice->first[ret_choice->count];

		if (!chosen[i])
			continue;
		first[1] = first[0] + (export_families[i].by_class ? WAIT_CLASS_COUNT : 1);
		ret_choice->items[ret_choice->count] = (enum export_family)i;
		ret_choice->columns[ret_choice->count++] = export_families[i].column;
	}
	return 0;
}

char *export_family_name(enum export_family family)
{
	const struct export_family_entry *entry = &export_families[family];
	struct buffer name = {0};

	exposition_append_name(&name, entry->kind, entry->name, column_entry(entry->column)->unit);
	return buffer_steal(&name);
}

/*
 * As the catalogue says where the column is of one metric, else the first sentence of the column's
 * description, up to a semicolon: what comes behind is about the screen.
 */
char *export_family_help(enum export_family family)
{
	const struct column_entry *entry = column_entry(export_families[family].column);
	const char *text = entry->description, *end;

	if (family == EXPORT_FAMILY_DELAYED)
		return memory_duplicate(
			"Time that the group victim waited for a CPU while the group culprit ran.");
	if (family == EXPORT_FAMILY_WAITS_FOR)
		return memory_duplicate("Threads by what they wait for now; those of class cpu run.");
	if (export_families[family].by_class)
		return memory_duplicate(
			"Time of the threads by what they did and waited for, with --latency.");
	if (entry->operation == COLUMN_OPERATION_SUM && entry->input_count == 1)
		return memory_duplicate(metrics[entry->inputs[0]].description);
	end = text + strcspn(text, ";");
	for (const char *stop = text; stop < end; stop++) {
		if (stop[0] == '.' && (stop[1] == ' ' || stop[1] == '\0'))
			end = stop;
	}
	return memory_format("%.*s.", (int)(end - text), text);
}

void export_family_begin(struct exposition *exposition, enum export_family family)
{
	const struct export_family_entry *entry = &export_families[family];
	char *help = export_family_help(family);

	exposition_begin(exposition, entry->kind, entry->name, column_entry(entry->column)->unit, help);
	free(help);
}
