/* SPDX-License-Identifier: GPL-2.0-only */
#include "lookups.h"

#include <poll.h>
#include <string.h>

#include "base/clock.h"
#include "cmd/line/command.h"
#include "table/column_list.h"
#include "table/value_cell.h"
#include "window/column.h"

/* Beyond the time that an answer takes at most, for processes that have to be scheduled. */
#define SLACK_NS (400 * NS_PER_MS)

struct lookup_thread *lookups_start(const char *proc_root)
{
	struct lookup_thread *lookups = NULL;
	struct error error;

	if (lookup_thread_start(proc_root, &lookups, &error) < 0)
		command_note("no command lines: %s", error.text);
	return lookups;
}

bool lookups_are_shown(const struct view *view)
{
	return view_shows(view, COLUMN_COMMAND) || view_shows(view, COLUMN_WCHAN);
}

/* Waits for the answer to a request; answers that come for others are kept too. */
static void wait_for(struct lookup_thread *lookups, struct lookup_cache *cache,
		     const struct lookup_request *request)
{
	const uint64_t deadline_ns = clock_ns(CLOCK_MONOTONIC) + LOOKUP_DEADLINE_NS + SLACK_NS;
	struct lookup_answer answer;

	for (;;) {
		const uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
		struct pollfd wait = {.fd = lookup_thread_descriptor(lookups), .events = POLLIN};

		while (lookup_thread_receive(lookups, &answer)) {
			lookup_cache_take(cache, &answer);
			if (memcmp(&answer.request, request, sizeof(*request)) == 0)
				return;
		}
		if (now_ns >= deadline_ns)
			return;
		poll(&wait, 1, (int)((deadline_ns - now_ns) / NS_PER_MS) + 1);
	}
}

static void fill_cell(struct lookup_thread *lookups, struct lookup_cache *cache, struct table *table,
		      const struct table_row *row, enum column column, struct cell *cell)
{
	const bool of_thread = column == COLUMN_WCHAN;
	const struct lookup_request request = {
		.kind = of_thread ? LOOKUP_SLEEP : LOOKUP_COMMAND,
		.tgid = row->process,
		.tid = of_thread ? row->tid : row->process,
		.start_time = of_thread ? row->start_time : row->process_start,
	};
	const uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	struct lookup_entry *entry;

	if (request.tgid == 0 || request.tid == 0)
		return;
	entry = lookup_cache_entry(cache, &request, now_ns);
	if (lookups != NULL && lookup_is_due(entry, now_ns) && lookup_thread_ask(lookups, &request)) {
		entry->asked_ns = now_ns;
		wait_for(lookups, cache, &request);
		entry = lookup_cache_entry(cache, &request, now_ns);
	}
	value_set_looked_up(entry, &table->arena, cell);
}

void lookups_fill(struct lookup_thread *lookups, struct lookup_cache *cache, struct table *table)
{
	for (size_t i = 0; i < table->column_count; i++) {
		const enum column column = (enum column)table->columns[i].column;

		if (column >= COLUMN_COUNT || !column_is_looked_up(column))
			continue;
		for (size_t row = 0; row < table->row_count; row++) {
			struct cell *cell = &table->rows[row].cells[i];

			if (cell->state == CELL_UNAVAILABLE)
				fill_cell(lookups, cache, table, &table->rows[row], column, cell);
		}
	}
}
