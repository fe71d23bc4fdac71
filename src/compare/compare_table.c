/* SPDX-License-Identifier: GPL-2.0-only */
/* The table of a comparison and its cells. */
#include "compare_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum {
	ROWS_MAX = 100000, /* of a table: nobody scrolls further, so that no more are kept */
	METRIC_CELLS_NARROW = 12,
	METRIC_CELLS = 20,
	METRIC_CELLS_WIDE = 28,
	NARROW_WIDTH = 72, /* of the screen, cells */
	WIDE_WIDTH = 100,
};

const struct compare_column_entry compare_columns[COMPARE_COLUMN_COUNT] = {
	[COMPARE_COLUMN_THREADS] =
		{"threads", "THREADS", false, 7,
		 "Threads of the group, before>after if their number changed. Sorted by how "
		 "many more or fewer there are."},
	[COMPARE_COLUMN_METRIC] = {"metric", "METRIC", true, METRIC_CELLS_NARROW,
				   "What changed; i says what it counts."},
	[COMPARE_COLUMN_BEFORE] = {"before", "BEFORE", false, 7, "What it was."},
	[COMPARE_COLUMN_AFTER] = {"after", "AFTER", false, 7, "What it is."},
	[COMPARE_COLUMN_CHANGE] = {"change", "CHANGE", false, 8,
				   "By how much it rose or fell. Sorted by its share in all changes of this "
				   "metric, so that seconds and bytes can be compared."},
	[COMPARE_COLUMN_PERCENT] = {"percent", "%", false, 7, "The change relative to what it was."},
};

/* What a table shows: a column that would say the same in every row is left out. */
static size_t shown_columns(const struct view *view, enum compare_column columns[COMPARE_COLUMN_COUNT])
{
	enum column wanted[COLUMN_TOTAL];
	size_t metric_count = compare_metrics(view, wanted), count = 0;

	for (enum compare_column column = 0; column < COMPARE_COLUMN_COUNT; column++) {
		if (column == COMPARE_COLUMN_THREADS && view->level == VIEW_LEVEL_THREADS)
			continue;
		if (column == COMPARE_COLUMN_METRIC && metric_count == 1)
			continue;
		columns[count++] = column;
	}
	return count;
}

static struct table *create(const struct view *view)
{
	enum compare_column columns[COMPARE_COLUMN_COUNT];
	size_t count = shown_columns(view, columns);
	struct table *table = table_create(NULL, count);

	for (size_t i = 0; i < count; i++) {
		const struct compare_column_entry *entry = &compare_columns[columns[i]];

		table->columns[i] = (struct table_column){
			.name = entry->name,
			.title = entry->title,
			.left = entry->left,
			.width = entry->width,
			.column = COMPARE_COLUMN_ID(columns[i]),
			.stays = columns[i] == COMPARE_COLUMN_METRIC,
		};
		if (columns[i] == COMPARE_COLUMN_METRIC)
			table->columns[i].widest = view->width == 0 || view->width >= WIDE_WIDTH
							   ? METRIC_CELLS_WIDE
						   : view->width >= NARROW_WIDTH ? METRIC_CELLS
										 : METRIC_CELLS_NARROW;
		if (!view->sort_by_name && columns[i] == view->compare_sort)
			table->sort_column = i;
	}
	return table;
}

/* Names are shared by the rows of a subject: each is copied once. */
struct name_cache {
	struct compare_label *labels;
	struct buffer subject_key, key;
};

static void add_row(struct table *table, const struct compare_subjects *subjects,
		    const struct compare_row *own, struct name_cache *names)
{
	struct table_row *row = table_add_bare_row(table);
	struct compare_label *label = &names->labels[own->subject];
	const char *key;
	size_t length;

	if (label->text == NULL) {
		*label = compare_subject_label(subjects, own->subject);
		label->text = arena_duplicate(&table->arena, label->text, label->length);
	}
	row->label = label->text;
	row->label_length = label->length;
	key = compare_subject_key(subjects, own->subject, &names->subject_key, &length);
	buffer_clear(&names->key);
	row->key_name = (uint32_t)strlen(column_name((enum column)own->metric)) + 1;
	compare_append_key((enum column)own->metric, key, length, &names->key);
	row->key = arena_duplicate(&table->arena, names->key.data, names->key.length);
	row->key_length = names->key.length;
	row->threads = compare_subject_threads(subjects, own->subject, DIFF_AFTER);
	row->mark = compare_subject_mark(subjects, own->subject);
	row->subject = own->subject;
	row->metric = own->metric;
	if (subjects->join == NULL) {
		uint32_t thread;
		const struct snapshot *snapshot = compare_subject_thread(subjects, own->subject, &thread);

		row->tid = snapshot->tid[thread];
		row->tgid = snapshot->tgid[thread];
	}
}

struct table *compare_table(struct comparison *comparison, const struct view *view)
{
	struct compare_subjects *subjects = &comparison->shown;
	struct table *table = create(view);
	struct name_cache names = {0};
	struct compare_row *rows;
	size_t count, total, limit = ROWS_MAX;

	if (comparison->sides[DIFF_AFTER] == NULL)
		return table;
	compare_subjects_release(subjects);
	compare_subjects_collect(comparison, view, subjects);
	if (view->limit != 0 && view->limit < limit)
		limit = view->limit;
	rows = compare_rows_make(subjects, view, limit, &count, &total);
	names.labels = memory_allocate_zero(subjects->count + 1, sizeof(*names.labels));
	for (size_t i = 0; i < count; i++)
		add_row(table, subjects, &rows[i], &names);
	table->row_total = total;
	free(rows);
	free(names.labels);
	buffer_release(&names.subject_key);
	buffer_release(&names.key);
	if (!view->cells_on_demand)
		compare_table_fill(comparison, table, 0, table->row_count);
	return table;
}

/* --- cells --- */

static struct cell threads_cell(const struct compare_subjects *subjects, size_t subject, struct arena *arena)
{
	uint32_t before = compare_subject_threads(subjects, subject, DIFF_BEFORE);
	uint32_t after = compare_subject_threads(subjects, subject, DIFF_AFTER);

	return cell_of_text(before == after ? arena_format(arena, "%u", after)
					    : arena_format(arena, "%u>%u", before, after));
}

static void fill_row(const struct compare_subjects *subjects, struct table *table, struct table_row *row)
{
	enum column metric = (enum column)row->metric;
	struct diff_value value = compare_value(subjects, row->subject, metric);

	table_add_cells(table, row);
	for (size_t i = 0; i < table->column_count; i++) {
		struct cell *cell = &row->cells[i];

		switch ((enum compare_column)(table->columns[i].column - COLUMN_TOTAL)) {
		case COMPARE_COLUMN_THREADS:
			*cell = threads_cell(subjects, row->subject, &table->arena);
			break;
		case COMPARE_COLUMN_METRIC:
			*cell = cell_of_text(column_name(metric));
			break;
		case COMPARE_COLUMN_BEFORE:
			compare_side_cell(subjects, row->subject, metric, &value, DIFF_BEFORE, &table->arena,
					  cell);
			break;
		case COMPARE_COLUMN_AFTER:
			compare_side_cell(subjects, row->subject, metric, &value, DIFF_AFTER, &table->arena,
					  cell);
			break;
		case COMPARE_COLUMN_CHANGE:
			compare_change_cell(&value, metric, &table->arena, cell);
			break;
		default:
			compare_percent_cell(&value, row->mark, &table->arena, cell);
		}
	}
}

void compare_table_fill(struct comparison *comparison, struct table *table, size_t first, size_t count)
{
	for (size_t i = first; i < table->row_count && i - first < count; i++) {
		if (table->rows[i].cells == NULL)
			fill_row(&comparison->shown, table, &table->rows[i]);
	}
}
