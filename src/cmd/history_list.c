/* SPDX-License-Identifier: GPL-2.0-only */
#include "history_list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/clock.h"
#include "base/memory.h"
#include "session/when.h"
#include "table/cell_format.h"

/* Times of which nothing was recorded. Gaps of a kind that is told apart have a word. */
struct gap {
	uint32_t day; /* of the round behind it */
	uint64_t from_ns, to_ns;
	const char *why;
};

/* What walking over all rounds has found. */
struct findings {
	struct gap *gaps;
	size_t gap_count, gap_capacity;
	struct history_round *boots; /* the first round of each start of a host */
	size_t boot_count, boot_capacity;
};

static struct cell time_cell(struct table *table, uint64_t unix_ns)
{
	char text[WHEN_TEXT_SIZE];

	if (unix_ns == 0)
		return (struct cell){.state = CELL_ABSENT};
	when_format(text, unix_ns);
	return cell_of_text(arena_duplicate(&table->arena, text, strlen(text)));
}

static struct cell text_cell(struct table *table, const char *text)
{
	if (text == NULL || text[0] == '\0')
		return (struct cell){.state = CELL_ABSENT};
	return cell_of_text(arena_duplicate(&table->arena, text, strlen(text)));
}

static struct cell count_cell(uint64_t count)
{
	if (count == HISTORY_COUNT_UNKNOWN)
		return (struct cell){.state = CELL_ABSENT};
	return (struct cell){
		.state = CELL_VALUE, .form = CELL_FORM_INTEGER, .unit = UNIT_COUNT, .value.integer = count};
}

/* A number of bytes, as text where people read it. */
static struct cell bytes_cell(struct table *table, uint64_t bytes)
{
	struct cell cell = {
		.state = CELL_VALUE, .form = CELL_FORM_INTEGER, .unit = UNIT_BYTES, .value.integer = bytes};
	struct buffer text = {0};

	cell_format_value(&text, bytes, LADDER_BYTES);
	cell.text = arena_duplicate(&table->arena, text.data, text.length);
	buffer_release(&text);
	return cell;
}

/* A length of time in whole seconds. */
static struct cell length_cell(struct table *table, uint64_t ns)
{
	const uint64_t seconds = (ns + NS_PER_S / 2) / NS_PER_S;
	struct cell cell = {
		.state = CELL_VALUE, .form = CELL_FORM_INTEGER, .unit = UNIT_NS, .value.integer = ns};

	if (seconds < 120)
		cell.text = arena_format(&table->arena, "%llus", (unsigned long long)seconds);
	else if (seconds < 2 * 3600)
		cell.text = arena_format(&table->arena, "%llum%02llus", (unsigned long long)(seconds / 60),
					 (unsigned long long)(seconds % 60));
	else if (seconds < 48 * 3600)
		cell.text = arena_format(&table->arena, "%lluh%02llum", (unsigned long long)(seconds / 3600),
					 (unsigned long long)(seconds / 60 % 60));
	else
		cell.text = arena_format(&table->arena, "%llud%02lluh", (unsigned long long)(seconds / 86400),
					 (unsigned long long)(seconds / 3600 % 24));
	return cell;
}

static void draw(struct report *report, struct table *table)
{
	if (table->row_count != 0)
		report_table(report, table);
	table_release(table);
}

/* --- days --- */

enum {
	DAY_NAME,
	DAY_FIRST,
	DAY_LAST,
	DAY_ROUNDS,
	DAY_SIZE,
	DAY_GAPS,
	DAY_MARKS,
	DAY_COUNT
};

static const struct table_column day_columns[DAY_COUNT] = {
	[DAY_NAME] = {.name = "file", .title = "file", .left = true},
	[DAY_FIRST] = {.name = "first", .title = "first", .left = true},
	[DAY_LAST] = {.name = "last", .title = "last", .left = true},
	[DAY_ROUNDS] = {.name = "rounds", .title = "rounds"},
	[DAY_SIZE] = {.name = "size_bytes", .title = "size"},
	[DAY_GAPS] = {.name = "gaps", .title = "gaps"},
	[DAY_MARKS] = {.name = "marks", .title = "marks"},
};

static void draw_days(struct history *history, const struct findings *findings, struct report *report)
{
	struct table *table = table_create_with("days", day_columns, DAY_COUNT);
	const struct history_day *days;
	size_t count;

	days = history_days(history, &count);
	for (size_t i = 0; i < count; i++) {
		struct cell *cells = table_add_row(table)->cells;
		uint64_t gaps = 0;

		for (size_t gap = 0; gap < findings->gap_count; gap++)
			gaps += findings->gaps[gap].day == days[i].day;
		cells[DAY_NAME] = text_cell(table, days[i].name);
		cells[DAY_SIZE] = bytes_cell(table, days[i].bytes);
		if (days[i].unreadable) {
			cells[DAY_FIRST] = cell_of_text("cannot be read");
			continue;
		}
		cells[DAY_FIRST] = time_cell(table, days[i].first_unix_ns);
		cells[DAY_LAST] = time_cell(table, days[i].last_unix_ns);
		cells[DAY_ROUNDS] = count_cell(days[i].rounds);
		cells[DAY_GAPS] = count_cell(days[i].gaps != HISTORY_COUNT_UNKNOWN ? gaps : days[i].gaps);
		cells[DAY_MARKS] = count_cell(days[i].marks);
	}
	draw(report, table);
}

/* --- gaps and starts --- */

static const char *gap_words(const struct history_round *before, const struct history_round *after)
{
	if (after->boot != before->boot)
		return "the host was started again";
	if (after->after_pause)
		return "recording paused";
	return "not recorded";
}

static void add_gap(struct findings *findings, const struct history_round *before,
		    const struct history_round *after, const char *why)
{
	*MEMORY_APPEND(findings->gaps, findings->gap_count, findings->gap_capacity) = (struct gap){
		after->day, before->unix_ns, after->unix_ns, why};
}

static bool is_new_boot(const struct findings *findings, const struct history_round *round)
{
	for (size_t i = 0; i < findings->boot_count; i++) {
		if (findings->boots[i].boot == round->boot)
			return false;
	}
	return true;
}

static int walk(struct history *history, struct findings *findings, struct error *error)
{
	struct history_round *rounds, before = {0};
	struct history_round first, last;
	size_t count;
	int result = history_first(history, &first, error);

	if (result == 0)
		result = history_last(history, &last, error);
	if (result == -ENODATA)
		return 0;
	if (result == 0)
		result = history_range(history, 0, UINT64_MAX, SIZE_MAX, &rounds, &count, error);
	if (result < 0)
		return result;
	for (size_t i = 0; i < count; i++) {
		const struct history_round *round = &rounds[i];

		if (is_new_boot(findings, round))
			*MEMORY_APPEND(findings->boots, findings->boot_count,
				       findings->boot_capacity) = *round;
		if (i != 0 && round->after_gap)
			add_gap(findings, &before, round, gap_words(&before, round));
		else if (i != 0 && round->suspended_ns != 0)
			add_gap(findings, &before, round, "the host slept");
		else if (i != 0 && round->clock_jumped)
			add_gap(findings, &before, round,
				round->clock_jump_ns < 0 ? "the clock was put back"
							 : "the clock was put forward");
		before = *round;
	}
	free(rounds);
	return 0;
}

enum {
	GAP_FROM,
	GAP_TO,
	GAP_LENGTH,
	GAP_WHY,
	GAP_COUNT
};

static const struct table_column gap_columns[GAP_COUNT] = {
	[GAP_FROM] = {.name = "from", .title = "from", .left = true},
	[GAP_TO] = {.name = "to", .title = "to", .left = true},
	[GAP_LENGTH] = {.name = "length_ns", .title = "length"},
	[GAP_WHY] = {.name = "why", .title = "why", .left = true},
};

static void draw_gaps(const struct findings *findings, struct report *report)
{
	struct table *table = table_create_with("gaps", gap_columns, GAP_COUNT);

	for (size_t i = 0; i < findings->gap_count; i++) {
		const struct gap *gap = &findings->gaps[i];
		struct cell *cells = table_add_row(table)->cells;

		cells[GAP_FROM] = time_cell(table, gap->from_ns);
		cells[GAP_TO] = time_cell(table, gap->to_ns);
		cells[GAP_LENGTH] = gap->to_ns >= gap->from_ns ? length_cell(table, gap->to_ns - gap->from_ns)
							       : (struct cell){.state = CELL_ABSENT};
		cells[GAP_WHY] = cell_of_text(gap->why);
	}
	draw(report, table);
}

enum {
	BOOT_FIRST,
	BOOT_ID,
	BOOT_HOST,
	BOOT_KERNEL,
	BOOT_ARCHITECTURE,
	BOOT_PROGRAM,
	BOOT_COUNT
};

static const struct table_column boot_columns[BOOT_COUNT] = {
	[BOOT_FIRST] = {.name = "first", .title = "first", .left = true},
	[BOOT_ID] = {.name = "boot_id", .title = "boot", .left = true},
	[BOOT_HOST] = {.name = "host", .title = "host", .left = true, .foreign = true},
	[BOOT_KERNEL] = {.name = "kernel", .title = "kernel", .left = true, .foreign = true},
	[BOOT_ARCHITECTURE] = {.name = "architecture", .title = "architecture", .left = true},
	[BOOT_PROGRAM] = {.name = "program", .title = "recorded by", .left = true},
};

static void draw_boots(struct history *history, const struct findings *findings, struct report *report)
{
	struct table *table = table_create_with("starts of the host", boot_columns, BOOT_COUNT);

	for (size_t i = 0; i < findings->boot_count; i++) {
		const struct history_boot *boot = history_boot(history, &findings->boots[i]);
		struct cell *cells = table_add_row(table)->cells;

		cells[BOOT_FIRST] = time_cell(table, findings->boots[i].unix_ns);
		cells[BOOT_ID] = text_cell(table, boot->boot_id);
		cells[BOOT_HOST] = text_cell(table, boot->host);
		cells[BOOT_KERNEL] = text_cell(table, boot->kernel);
		cells[BOOT_ARCHITECTURE] = text_cell(table, boot->architecture);
		cells[BOOT_PROGRAM] = text_cell(table, boot->program);
	}
	draw(report, table);
}

/* --- marks and damage --- */

enum {
	MARK_TIME,
	MARK_KIND,
	MARK_TEXT,
	MARK_PATH,
	MARK_COUNT
};

static const struct table_column mark_columns[MARK_COUNT] = {
	[MARK_TIME] = {.name = "time", .title = "time", .left = true},
	[MARK_KIND] = {.name = "kind", .title = "kind", .left = true},
	[MARK_TEXT] = {.name = "text", .title = "what", .left = true, .foreign = true},
	[MARK_PATH] = {.name = "snapshot", .title = "snapshot", .left = true, .foreign = true},
};

static int draw_marks(struct history *history, struct report *report, struct error *error)
{
	struct table *table = table_create_with("marks", mark_columns, MARK_COUNT);
	struct history_marks marks = {0};
	int result = history_marks_read(history, 0, UINT64_MAX, &marks, error);

	for (size_t i = 0; result == 0 && i < marks.count; i++) {
		const struct history_mark *mark = &marks.items[i];
		struct cell *cells = table_add_row(table)->cells;

		cells[MARK_TIME] = time_cell(table, mark->unix_ns);
		cells[MARK_KIND] = text_cell(table, mark->kind);
		cells[MARK_TEXT] = text_cell(table, mark->text);
		cells[MARK_PATH] = text_cell(table, mark->path);
	}
	history_marks_release(&marks);
	draw(report, table);
	return result;
}

enum {
	HOLE_FILE,
	HOLE_FROM,
	HOLE_TO,
	HOLE_ROUNDS,
	HOLE_WHY,
	HOLE_COUNT
};

static const struct table_column hole_columns[HOLE_COUNT] = {
	[HOLE_FILE] = {.name = "file", .title = "file", .left = true},
	[HOLE_FROM] = {.name = "from", .title = "from", .left = true},
	[HOLE_TO] = {.name = "to", .title = "to", .left = true},
	[HOLE_ROUNDS] = {.name = "rounds", .title = "rounds"},
	[HOLE_WHY] = {.name = "why", .title = "why", .left = true},
};

static void draw_damage(struct history *history, bool check, struct report *report)
{
	struct table *table = table_create_with("damage", hole_columns, HOLE_COUNT);
	const struct history_hole *holes;
	size_t count;

	holes = history_damage(history, check, &count);
	for (size_t i = 0; i < count; i++) {
		struct cell *cells = table_add_row(table)->cells;

		cells[HOLE_FILE] = text_cell(table, holes[i].name);
		cells[HOLE_FROM] = time_cell(table, holes[i].from_unix_ns);
		cells[HOLE_TO] = time_cell(table, holes[i].to_unix_ns);
		cells[HOLE_ROUNDS] = holes[i].rounds != 0 ? count_cell(holes[i].rounds)
							  : (struct cell){.state = CELL_ABSENT};
		cells[HOLE_WHY] = text_cell(table, holes[i].why);
	}
	draw(report, table);
}

int history_list_draw(struct history *history, bool check, struct report *report, struct error *error)
{
	struct findings findings = {0};
	int result;

	result = walk(history, &findings, error);
	draw_days(history, &findings, report);
	draw_gaps(&findings, report);
	draw_boots(history, &findings, report);
	free(findings.gaps);
	free(findings.boots);
	if (result == 0)
		result = draw_marks(history, report, error);
	draw_damage(history, check, report);
	return result;
}
