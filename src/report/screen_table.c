/* SPDX-License-Identifier: GPL-2.0-only */
#include "screen_table.h"

#include "base/humanize.h"
#include "window/column.h"
#include "window/host_numbers.h"

/* The states (bits of enum cell_state) of a row's numbers about what its threads did. */
static unsigned int row_states(const struct table *table, const struct table_row *row)
{
	unsigned int states = 0;

	for (size_t i = table->name_count; i < table->column_count; i++) {
		if (table->columns[i].column != COLUMN_THR && !table->columns[i].left)
			states |= 1U << row->cells[i].state;
	}
	return states;
}

/* Marks the rows that the columns do not apply to, or all if none has a value; returns their number. */
static size_t mark_empty(struct table *table)
{
	unsigned int all = 0;
	size_t count = 0;

	for (size_t i = 0; i < table->row_count; i++)
		all |= row_states(table, &table->rows[i]);
	for (size_t i = 0; i < table->row_count; i++) {
		const unsigned int known = row_states(table, &table->rows[i]) &
					   (1U << CELL_VALUE | 1U << CELL_UNAVAILABLE);

		table->rows[i].empty = known == 0 || (all & 1U << CELL_VALUE) == 0;
		count += table->rows[i].empty;
	}
	return count;
}

/* Whether unfinished waits for a CPU count up to now, or when they end. */
static const char *waits_word(const struct snapshot *now, const struct table *table)
{
	for (size_t i = table->name_count; i < table->column_count; i++) {
		if (column_counts_waits((enum column)table->columns[i].column))
			return now->waiting_ns != NULL ? "under-way" : "ended";
	}
	return NULL;
}

/* Appends the line above the titles: the file, the time, the counts and the span. */
static void append_heading(const struct snapshot *now, const struct screen_subject *subject,
			   const struct view *view, const struct table *table, const char *waits,
			   struct buffer *line)
{
	const bool is_of_groups = view->level == VIEW_LEVEL_GROUPS;
	const size_t left_out = table->row_total - table->row_count;
	const char *file = subject->file;
	char clock[HUMANIZE_TIME_SIZE], digits[28];

	if (file != NULL)
		buffer_append_format(line, "%s  ", file);
	buffer_append_format(line, "%s  ", humanize_time(clock, now->captured_at_unix_ns, file != NULL));
	humanize_counted(line, is_of_groups ? table->threads : table->row_total, "thread");
	if (now->provenance.hidden_threads != 0)
		buffer_append_format(line, " (at least %s more hidden from BPF)",
				     humanize_digits(now->provenance.hidden_threads, digits));
	if (is_of_groups) {
		buffer_append_text(line, ", ");
		humanize_counted(line, table->row_total + table->row_idle, "group");
		buffer_append_format(line, " by %s", axes[view->grouping.axis].word);
	}
	if (left_out != 0) {
		buffer_append_text(line, ", of which ");
		humanize_counted(line, left_out, "row");
		buffer_append_text(line, " left out (--limit)");
	}
	buffer_append_format(line, "  %s", window_mode_names[view->mode]);
	if (subject->interval_ns != 0 && (file != NULL || view->mode <= WINDOW_MODE_INTERVAL) &&
	    view->mode != WINDOW_MODE_TOTAL) {
		buffer_append_text(line, " over ");
		humanize_compact(line, (double)subject->interval_ns, HUMANIZE_TIME, true);
	}
	if (file != NULL && subject->interval_ns == 0 && !subject->of_hosts)
		buffer_append_text(line, " (one reading; with ctop capture --for 10 there are rates)");
	if (waits != NULL)
		buffer_append_text(line, now->waiting_ns != NULL ? "  includes unfinished waits"
								 : "  finished waits only");
	if (subject->missing != NULL)
		buffer_append_format(line, "  %s", subject->missing);
}

/* Appends a line about rows that are not printed: " 38 idle groups (--all prints them)". */
static void append_left_out(size_t count, const char *word, const char *rest, struct buffer *lines)
{
	if (count == 0)
		return;
	buffer_append_char(lines, ' ');
	humanize_counted(lines, count, word);
	buffer_append_format(lines, "%s (--all prints %s)\n", rest, count == 1 ? "it" : "them");
}

void screen_table_print(struct report *report, const struct screen_subject *subject, const struct view *view,
			struct table *table)
{
	const bool is_text = report->format == REPORT_FORMAT_TEXT;
	struct report_round round = {
		.interval_ns = subject->interval_ns,
		.mode = window_mode_names[view->mode],
		.waits = subject->of_hosts ? NULL : waits_word(report->snapshot, table),
	};
	struct buffer host = {0}, heading = {0}, footing = {0};

	if (is_text && !subject->of_hosts)
		host_append_line(report->snapshot, subject->previous, &host);
	if (is_text)
		append_heading(report->snapshot, subject, view, table, round.waits, &heading);
	/* columns that the user has chosen have all rows */
	if (is_text && view->fold_idle && view->columns == NULL)
		append_left_out(mark_empty(table), view->level == VIEW_LEVEL_GROUPS ? "group" : "thread",
				" without numbers here", &footing);
	append_left_out(table->row_idle, "idle group", "", &footing);
	round.host = host.data;
	round.heading = heading.data;
	round.footing = footing.data;
	/* all rounds have one header */
	table->continues = report->table_count != 0 &&
			   (report->format == REPORT_FORMAT_TSV || report->format == REPORT_FORMAT_CSV);
	report->round = &round;
	report_table(report, table);
	report->round = NULL;
	buffer_release(&host);
	buffer_release(&heading);
	buffer_release(&footing);
}
