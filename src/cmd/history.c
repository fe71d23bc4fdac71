/* SPDX-License-Identifier: GPL-2.0-only */
/* `ctop history`: what a history has: days, gaps, starts of the host, marks, damage. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/memory.h"
#include "base/unicode.h"
#include "cmd/line/history_place.h"
#include "cmd/line/output.h"
#include "cmd/line/report_options.h"
#include "commands.h"
#include "metric/quantity.h"
#include "metric/unit.h"
#include "report/report.h"
#include "session/when.h"
#include "store/history.h"
#include "store/history_files.h"

/* A time without records, with its cause in words. */
struct gap {
	uint32_t day; /* of the round behind it */
	uint64_t from_ns, to_ns;
	const char *why;
};

/* The results of a walk over all rounds. */
struct findings {
	struct gap *gaps;
	size_t gap_count, gap_capacity;
	struct history_round *boots; /* the first round of each start of a host */
	size_t boot_count, boot_capacity;
};

static const struct cell absent = {.state = CELL_ABSENT}, empty = {.state = CELL_EMPTY};

static struct cell time_cell(struct table *table, uint64_t unix_ns)
{
	char text[WHEN_TEXT_SIZE];

	if (unix_ns == 0)
		return absent;
	when_format(text, unix_ns);
	return cell_of_text(arena_duplicate(&table->arena, text, strlen(text)));
}

static struct cell text_cell(struct table *table, const char *text)
{
	if (text == NULL || text[0] == '\0')
		return absent;
	return cell_of_text(arena_duplicate(&table->arena, text, strlen(text)));
}

static struct cell count_cell(uint64_t count)
{
	if (count == HISTORY_COUNT_UNKNOWN)
		return (struct cell){.state = CELL_UNAVAILABLE, .reason = REASON_UNREADABLE};
	return cell_of_integer(count, UNIT_COUNT);
}

/* A number in the unit of a ladder, which people read as sentences have it. */
static struct cell amount_cell(struct table *table, uint64_t amount, enum ladder ladder)
{
	struct cell cell = cell_of_integer(amount, unit_of_ladder(ladder));
	struct buffer text = {0};

	quantity_append((double)amount, ladder, &text);
	cell.text = arena_duplicate(&table->arena, text.data, text.length);
	buffer_release(&text);
	return cell;
}

static void draw(struct report *report, struct table *table)
{
	if (table->row_count != 0)
		report_table(report, table);
	table_release(table);
}

/* --- gaps and starts --- */

static const char *gap_words(const struct history *history, const struct history_round *before,
			     const struct history_round *after)
{
	if (!history_is_one_start(history, before, after))
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
	struct history_round first;
	size_t count;
	int result = history_first(history, &first, error);

	if (result == -ENODATA)
		return 0;
	if (result == 0)
		result = history_range(history, 0, UINT64_MAX, &rounds, &count, error);
	if (result < 0)
		return result;
	for (size_t i = 0; i < count; i++) {
		const struct history_round *round = &rounds[i];

		if (is_new_boot(findings, round))
			*MEMORY_APPEND(findings->boots, findings->boot_count,
				       findings->boot_capacity) = *round;
		if (i != 0 && round->after_gap)
			add_gap(findings, &before, round, gap_words(history, &before, round));
		else if (i != 0 && !history_is_next(&before, round))
			add_gap(findings, &before, round, "rounds are missing");
		else if (i != 0 && round->suspended_ns != 0)
			add_gap(findings, &before, round, "the host slept");
		else if (i != 0 && round->clock_jumped)
			add_gap(findings, &before, round,
				round->clock_jump_ns < 0 ? "the clock was set back"
							 : "the clock was set forward");
		before = *round;
	}
	free(rounds);
	return 0;
}

/* --- the tables --- */

static void draw_days(struct history *history, const struct findings *findings, struct report *report)
{
	static const struct table_column columns[] = {
		{.name = "file", .title = "file", .left = true},
		{.name = "first", .title = "first", .left = true},
		{.name = "last", .title = "last", .left = true},
		{.name = "rounds", .title = "rounds"},
		{.name = "size_bytes", .title = "size"},
		{.name = "gaps", .title = "gaps"},
		{.name = "marks", .title = "marks"},
	};
	struct table *table = table_create_with("days", columns, ARRAY_COUNT(columns));
	size_t count;
	const struct history_day *days = history_days(history, &count);

	for (size_t i = 0; i < count; i++) {
		struct cell *cell = table_add_row(table)->cells;
		const bool readable = !days[i].unreadable;
		uint64_t gaps = 0;

		for (size_t gap = 0; gap < findings->gap_count; gap++)
			gaps += findings->gaps[gap].day == days[i].day;
		*cell++ = text_cell(table, days[i].name);
		*cell++ = readable ? time_cell(table, days[i].first_unix_ns) : cell_of_text("cannot be read");
		*cell++ = readable ? time_cell(table, days[i].last_unix_ns) : empty;
		*cell++ = readable ? count_cell(days[i].rounds) : empty;
		*cell++ = amount_cell(table, days[i].bytes, LADDER_BYTES);
		*cell++ = readable ? count_cell(days[i].gaps != HISTORY_COUNT_UNKNOWN ? gaps
										      : HISTORY_COUNT_UNKNOWN)
				   : empty;
		*cell++ = readable ? count_cell(days[i].marks) : empty;
	}
	draw(report, table);
}

static void draw_gaps(const struct findings *findings, struct report *report)
{
	static const struct table_column columns[] = {
		{.name = "from", .title = "from", .left = true},
		{.name = "to", .title = "to", .left = true},
		{.name = "length_ns", .title = "length"},
		{.name = "why", .title = "why", .left = true},
	};
	struct table *table = table_create_with("gaps", columns, ARRAY_COUNT(columns));

	for (size_t i = 0; i < findings->gap_count; i++) {
		const struct gap *gap = &findings->gaps[i];
		struct cell *cell = table_add_row(table)->cells;

		*cell++ = time_cell(table, gap->from_ns);
		*cell++ = time_cell(table, gap->to_ns);
		*cell++ = gap->to_ns >= gap->from_ns
				  ? amount_cell(table, gap->to_ns - gap->from_ns, LADDER_NS)
				  : absent;
		*cell++ = cell_of_text(gap->why);
	}
	draw(report, table);
}

static void draw_boots(struct history *history, const struct findings *findings, struct report *report)
{
	static const struct table_column columns[] = {
		{.name = "first", .title = "first", .left = true},
		{.name = "boot_id", .title = "boot", .left = true},
		{.name = "host", .title = "host", .left = true, .foreign = true},
		{.name = "kernel", .title = "kernel", .left = true, .foreign = true},
		{.name = "architecture", .title = "architecture", .left = true},
		{.name = "program", .title = "recorded by", .left = true},
	};
	static const enum history_boot_text shown[] = {HISTORY_BOOT_ID, HISTORY_BOOT_HOST,
						       HISTORY_BOOT_KERNEL, HISTORY_BOOT_ARCHITECTURE,
						       HISTORY_BOOT_PROGRAM};
	struct table *table = table_create_with("starts of the host", columns, ARRAY_COUNT(columns));

	for (size_t i = 0; i < findings->boot_count; i++) {
		const struct history_boot *boot = history_boot(history, &findings->boots[i]);
		struct cell *cell = table_add_row(table)->cells;

		*cell++ = time_cell(table, findings->boots[i].unix_ns);
		for (size_t text = 0; text < ARRAY_COUNT(shown); text++)
			*cell++ = text_cell(table, boot->texts[shown[text]]);
	}
	draw(report, table);
}

static int draw_marks(struct history *history, struct report *report, struct error *error)
{
	static const struct table_column columns[] = {
		{.name = "time", .title = "time", .left = true},
		{.name = "kind", .title = "kind", .left = true},
		{.name = "text", .title = "what", .left = true, .foreign = true},
		{.name = "snapshot", .title = "snapshot", .left = true, .foreign = true},
	};
	struct table *table = table_create_with("marks", columns, ARRAY_COUNT(columns));
	struct history_marks marks = {0};
	int result = history_marks_read(history, 0, UINT64_MAX, &marks, error);

	for (size_t i = 0; result == 0 && i < marks.count; i++) {
		const struct history_mark *mark = &marks.items[i];
		struct cell *cell = table_add_row(table)->cells;

		*cell++ = time_cell(table, mark->unix_ns);
		*cell++ = text_cell(table, mark->kind);
		*cell++ = text_cell(table, mark->text);
		*cell++ = text_cell(table, mark->path);
	}
	history_marks_release(&marks);
	draw(report, table);
	return result;
}

static void draw_damage(struct history *history, bool check, struct report *report)
{
	static const struct table_column columns[] = {
		{.name = "file", .title = "file", .left = true},
		{.name = "from", .title = "from", .left = true},
		{.name = "to", .title = "to", .left = true},
		{.name = "rounds", .title = "rounds"},
		{.name = "why", .title = "why", .left = true},
	};
	struct table *table = table_create_with("damage", columns, ARRAY_COUNT(columns));
	size_t count;
	const struct history_hole *holes = history_damage(history, check, &count);

	for (size_t i = 0; i < count; i++) {
		struct cell *cell = table_add_row(table)->cells;

		*cell++ = text_cell(table, holes[i].name);
		*cell++ = time_cell(table, holes[i].from_unix_ns);
		*cell++ = time_cell(table, holes[i].to_unix_ns);
		*cell++ = holes[i].rounds != 0 ? count_cell(holes[i].rounds) : absent;
		*cell++ = text_cell(table, holes[i].why);
	}
	draw(report, table);
}

/* Draws all tables; with `check` every round is read. Returns 0 or a negative errno with a sentence. */
static int draw_all(struct history *history, bool check, struct report *report, struct error *error)
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

/* --- many hosts --- */

/* Adds the row of a host; if the host has no rounds, its last cell says why. */
static void add_host(const char *directory, const char *host, bool check, struct table *table)
{
	char *path = history_files_path(directory, host);
	struct cell *cell = table_add_row(table)->cells;
	struct history_round first, last;
	struct history *history = NULL;
	struct error error;
	size_t holes;

	*cell++ = text_cell(table, host);
	if (history_open(path, &history, &error) < 0 || history_first(history, &first, &error) < 0 ||
	    history_last(history, &last, &error) < 0) {
		cell[3] = text_cell(table, error.text);
	} else {
		(void)history_damage(history, check, &holes);
		*cell++ = time_cell(table, first.unix_ns);
		*cell++ = time_cell(table, last.unix_ns);
		*cell = count_cell(holes);
	}
	history_close(history);
	free(path);
}

static void draw_hosts(const char *directory, const struct history_hosts *hosts, bool check,
		       struct report *report)
{
	static const struct table_column columns[] = {
		{.name = "host", .title = "host", .left = true, .foreign = true},
		{.name = "first", .title = "first", .left = true},
		{.name = "last", .title = "last", .left = true},
		{.name = "damaged", .title = "damaged"},
		{.name = "why", .title = "why", .left = true, .foreign = true},
	};
	struct table *table = table_create_with("hosts", columns, ARRAY_COUNT(columns));

	for (size_t i = 0; i < hosts->count; i++)
		add_host(directory, hosts->entries[i]->d_name, check, table);
	draw(report, table);
}

/* --- the command --- */

struct history_command_options {
	int format; /* enum report_format */
	bool check, csv_safe;
};

static const struct option own_options[] = {
	{OPTION('\0', "check", NULL, struct history_command_options, check),
	 .description =
		 "read every round, to find all that is damaged; takes a second for a day of a large host"},
	{OPTION('\0', "format", "FORMAT", struct history_command_options, format),
	 .choices = table_format_names, .description = "text (default), tsv, csv or json"},
	{OPTION('\0', "csv-safe", NULL, struct history_command_options, csv_safe),
	 .description = "in csv, put a ' before texts that a spreadsheet would take for formulas"},
};

static const struct option_table own_table = {"Options", own_options, ARRAY_COUNT(own_options)};

static const struct option_table_use tables[] = {
	{&own_table, 0},
	{&history_option_table, 0},
};

/* Draws the history of a directory, or a row for each history in it. */
static int draw_directory(const char *directory, bool check, struct report *report, struct error *error)
{
	struct history_hosts hosts;
	struct history *history = NULL;
	const bool has_hosts = history_hosts_list(directory, &hosts);
	int result = has_hosts ? 0 : history_place_open(directory, &history, error);

	if (result == 0) {
		report_begin(report, &(struct report_subject){.command = "history"});
		if (has_hosts)
			draw_hosts(directory, &hosts, check, report);
		else
			result = draw_all(history, check, report, error);
		report_end(report);
	}
	history_close(history);
	history_hosts_release(&hosts);
	return result;
}

static int history_run(void *untyped, char **operands, int operand_count)
{
	const struct history_command_options *options = untyped;
	struct output output = {0};
	struct report report = {
		.format = (enum report_format)options->format,
		.out = &output.buffer,
		.csv_safe = options->csv_safe,
		.ascii = !unicode_in_locale(),
	};
	struct error error;

	if (draw_directory(operand_count != 0 ? operands[0] : history_place(), options->check, &report,
			   &error) < 0) {
		output_abandon(&output);
		buffer_release(&output.buffer);
		return command_failed(&error);
	}
	return output_end(&output);
}

const struct command history_command = {
	.name = "history",
	.summary = "list what was recorded: days, gaps, boots, marks, damage",
	.purpose = COMMAND_KEEPS,
	.usage = "[DIR] [OPTION]...",
	.details = "Times are local. A gap is a time in which nothing was recorded, between two rounds of "
		   "the same recording or of two. A directory of histories has a row for each of them.",
	.tables = tables,
	.table_count = ARRAY_COUNT(tables),
	.options_size = sizeof(struct history_command_options),
	.maximum_operands = 1,
	.run = history_run,
};
