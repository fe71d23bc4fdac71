/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <stdlib.h>

#include "base/memory.h"
#include "history.h"
#include "history_internal.h"

/* Marks may lie in the file of the day after. */
#define DAY_NS (86400 * UINT64_C(1000000000))

/* The number that a statement gives. It must have a condition: SQLite counts all rows of a table in one step,
 * however long that takes. */
static uint64_t count_of(struct history_entry *entry, const char *text)
{
	int64_t count = 0;

	if (database_number(&entry->file.database, text, &count, NULL) < 0)
		return HISTORY_COUNT_UNKNOWN;
	return count > 0 ? (uint64_t)count : 0;
}

const struct history_day *history_days(struct history *history, size_t *ret_count)
{
	history_refresh(history, NULL);
	free(history->days);
	history->days = memory_allocate_zero(history->entry_count + 1, sizeof(*history->days));
	for (size_t i = 0; i < history->entry_count; i++) {
		struct history_entry *entry = &history->entries[i];
		struct history_day *day = &history->days[i];
		struct day_file_row row;

		day->day = entry->day;
		day->bytes = entry->bytes;
		history_files_name(entry->day, day->name);
		if (history_open_entry(history, entry, NULL) < 0) {
			day->unreadable = entry->status != -ENODATA;
			continue;
		}
		if (history_seek(history, entry, DAY_FILE_AT_OR_AFTER, 0, &row, NULL) > 0)
			day->first_unix_ns = row.round.unix_ns;
		if (history_seek(history, entry, DAY_FILE_AT_OR_BEFORE, INT64_MAX, &row, NULL) > 0)
			day->last_unix_ns = row.round.unix_ns;
		if (day_file_count(&entry->file, 0, INT64_MAX, &day->rounds, NULL) < 0)
			day->rounds = HISTORY_COUNT_UNKNOWN;
		day->gaps = count_of(entry, "SELECT count(*) FROM rounds WHERE flags & 1");
		day->marks = count_of(entry, "SELECT count(*) FROM marks WHERE id > 0");
	}
	*ret_count = history->entry_count;
	return history->days;
}

void history_marks_release(struct history_marks *marks)
{
	free(marks->items);
	arena_release(&marks->arena);
	*marks = (struct history_marks){0};
}

static int compare_marks(const void *left, const void *right)
{
	const struct history_mark *a = left, *b = right;

	return (a->unix_ns > b->unix_ns) - (a->unix_ns < b->unix_ns);
}

int history_marks_read(struct history *history, uint64_t from_unix_ns, uint64_t to_unix_ns,
		       struct history_marks *ret_marks, struct error *error)
{
	const int result = history_refresh(history, error);

	*ret_marks = (struct history_marks){0};
	for (size_t i = 0; result == 0 && i < history->entry_count; i++) {
		struct history_entry *entry = &history->entries[i];

		if (history_files_end(entry->day) + DAY_NS < from_unix_ns ||
		    (history_files_begin(entry->day) > DAY_NS &&
		     history_files_begin(entry->day) - DAY_NS > to_unix_ns))
			continue;
		/* of what is damaged the other functions tell */
		if (history_open_entry(history, entry, NULL) == 0)
			day_file_marks(&entry->file, from_unix_ns, to_unix_ns, ret_marks, NULL);
	}
	if (ret_marks->count != 0)
		qsort(ret_marks->items, ret_marks->count, sizeof(*ret_marks->items), compare_marks);
	return result;
}

int history_next_mark(struct history *history, uint64_t unix_ns, bool before, struct history_marks *ret_marks,
		      struct error *error)
{
	/* a file may hold marks of another day, so that all of them are looked at */
	const int result = history_marks_read(history, before ? 0 : unix_ns + 1,
					      !before       ? UINT64_MAX
					      : unix_ns > 0 ? unix_ns - 1
							    : 0,
					      ret_marks, error);

	if (result < 0)
		return result;
	if (ret_marks->count == 0)
		return error_set(error, -ENOENT, "there is no %s mark", before ? "earlier" : "later");
	if (before)
		ret_marks->items[0] = ret_marks->items[ret_marks->count - 1];
	ret_marks->count = 1;
	return 0;
}
