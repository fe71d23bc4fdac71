/* SPDX-License-Identifier: GPL-2.0-only */
#include "export_delays.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "window/blame.h"

static const char name[] = "ctop_delayed";

const char export_delays_help[] = "Time that the group victim waited for a CPU while the group culprit ran.";

const struct export_family_choice export_delays_families = {
	.items = {EXPORT_FAMILY_RUNQ}, .columns = {COLUMN_RUNQ}, .count = 1};

/* What a group is called: by its key, which says the same on all hosts and at all times. */
static struct name_text name_of(const struct blame *blame, uint32_t group)
{
	size_t length;
	const char *key = grouping_key(blame->groups, group, &length);
	const char *invisible = grouping_invisible_name(key, length);

	return invisible != NULL ? name_text_of(invisible) : (struct name_text){key, length};
}

static void add_pair(struct export_delays *delays, const struct latency_delay *entry, uint64_t interval_ns)
{
	struct export_group_row *row = &delays->rows[delays->count];
	struct export_number *number = &delays->numbers[delays->count];

	*number = (struct export_number){true, entry->time_ns};
	*row = (struct export_group_row){
		.threads = 1, .weight = (double)entry->time_ns / (double)interval_ns, .numbers = number};
	row->name = name_of(delays->blame, entry->victim);
	if (entry->culprit != BLAME_NOBODY) {
		row->culprit = name_of(delays->blame, entry->culprit);
	} else {
		const char *cause = blame_cause_labels[entry->cause];

		row->culprit = (struct name_text){cause, strlen(cause) + 1};
	}
	delays->count++;
}

void export_delays_find(const struct view *view, const struct snapshot *round, uint64_t interval_ns,
			struct export_delays *delays)
{
	*delays = (struct export_delays){0};
	if (round->latency.span_ns == 0 || round->latency.is_whole || view->filter != NULL)
		return;
	delays->sums = snapshot_create();
	free(latency_sums_add(delays->sums, round));
	delays->blame = blame_create(&view->grouping, delays->sums, &delays->sums->latency, NULL,
				     BLAME_DELAYED_BY);
	if (delays->blame == NULL)
		return;
	delays->rows = memory_allocate((delays->blame->count + 1) * sizeof(*delays->rows));
	delays->numbers = memory_allocate((delays->blame->count + 1) * sizeof(*delays->numbers));
	for (size_t i = 0; i < delays->blame->count; i++)
		add_pair(delays, &delays->blame->entries[i], interval_ns);
}

void export_delays_release(struct export_delays *delays)
{
	blame_release(delays->blame);
	snapshot_release(delays->sums);
	free(delays->rows);
	free(delays->numbers);
	*delays = (struct export_delays){0};
}

char *export_delays_name(void)
{
	struct buffer buffer = {0};

	exposition_append_name(&buffer, EXPOSITION_COUNTER, name, UNIT_NS);
	return buffer_steal(&buffer);
}

void export_delays_begin(struct exposition *exposition)
{
	exposition_begin(exposition, EXPOSITION_COUNTER, name, UNIT_NS, export_delays_help);
}
