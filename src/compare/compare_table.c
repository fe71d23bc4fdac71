/* SPDX-License-Identifier: GPL-2.0-only */
/* The table of a comparison and its cells. */
#include "compare_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum {
	ROWS_MAX = 100000, /* of a table: what nobody scrolls through need not be kept in memory */
	METRIC_CELLS_NARROW = 12,
	METRIC_CELLS = 20,
	METRIC_CELLS_WIDE = 28,
	NARROW_WIDTH = 72, /* of the screen, cells */
	WIDE_WIDTH = 100,
};

const struct pair_column_entry pair_columns[PAIR_COLUMN_COUNT] = {
	[PAIR_COLUMN_THREADS] = {"threads", "THREADS", false, 7,
				 "Threads of the group, before>after if their number changed. Sorted by how "
				 "many more or fewer there are."},
	[PAIR_COLUMN_METRIC] = {"metric", "METRIC", true, METRIC_CELLS_NARROW,
				"What changed; i says what it counts."},
	[PAIR_COLUMN_BEFORE] = {"before", "BEFORE", false, 7, "What it was."},
	[PAIR_COLUMN_AFTER] = {"after", "AFTER", false, 7, "What it is."},
	[PAIR_COLUMN_CHANGE] = {"change", "CHANGE", false, 8,
				"By how much it rose or fell. Sorted by its share in all changes of this "
				"metric, so that seconds and bytes can be compared."},
	[PAIR_COLUMN_PERCENT] = {"percent", "%", false, 7, "The change relative to what it was."},
};

/* What a table shows: a column that would say the same in every row is left out. */
static size_t shown_columns(const struct view *view, enum pair_column columns[PAIR_COLUMN_COUNT])
{
	enum column wanted[PAIR_METRICS_MAX];
	size_t metric_count = session_pair_metrics(view, wanted), count = 0;

	for (enum pair_column column = 0; column < PAIR_COLUMN_COUNT; column++) {
		if (column == PAIR_COLUMN_THREADS && view->level == VIEW_LEVEL_THREADS)
			continue;
		if (column == PAIR_COLUMN_METRIC && metric_count == 1)
			continue;
		columns[count++] = column;
	}
	return count;
}

static struct table *create(const struct view *view)
{
	enum pair_column columns[PAIR_COLUMN_COUNT];
	size_t count = shown_columns(view, columns);
	struct table *table = table_create(NULL, count);

	for (size_t i = 0; i < count; i++) {
		const struct pair_column_entry *entry = &pair_columns[columns[i]];

		table->columns[i] = (struct table_column){
			.name = entry->name,
			.title = entry->title,
			.left = entry->left,
			.width = entry->width,
			/* ids of their own, behind those of columns.def */
			.column = COLUMN_TOTAL + (unsigned int)columns[i],
			.stays = columns[i] == PAIR_COLUMN_METRIC,
		};
		if (columns[i] == PAIR_COLUMN_METRIC)
			table->columns[i].widest = view->width == 0 || view->width >= WIDE_WIDTH
							   ? METRIC_CELLS_WIDE
						   : view->width >= NARROW_WIDTH ? METRIC_CELLS
										 : METRIC_CELLS_NARROW;
		if (!view->sort_by_name && columns[i] == view->pair_sort)
			table->sort_column = i;
	}
	return table;
}

static uint32_t thread_side(const struct pair_thread *thread, enum diff_side *ret_side)
{
	*ret_side = thread->index[DIFF_AFTER] != PAIR_NONE ? DIFF_AFTER : DIFF_BEFORE;
	return thread->index[*ret_side];
}

static void set_thread(const struct pair_subjects *subjects, size_t subject, struct table_row *row)
{
	const struct snapshot *snapshot;
	enum diff_side side;
	uint32_t thread;

	if (subjects->join != NULL)
		return;
	thread = thread_side(&subjects->threads[subject], &side);
	snapshot = pair_snapshot(subjects->session, side);
	row->tid = snapshot->tid[thread];
	row->tgid = snapshot->tgid[thread];
}

/* Names are shared by the rows of a subject: each is copied once. */
struct name_cache {
	struct pair_label *labels;
	struct buffer subject_key, key;
};

static void add_row(struct table *table, const struct pair_subjects *subjects, const struct pair_row *own,
		    struct name_cache *names)
{
	struct table_row *row = table_add_bare_row(table);
	struct pair_label *label = &names->labels[own->subject];
	const char *key;
	size_t length;

	if (label->text == NULL) {
		*label = pair_subject_label(subjects, own->subject);
		label->text = arena_duplicate(&table->arena, label->text, label->length);
	}
	row->label = label->text;
	row->label_length = label->length;
	key = pair_subject_key(subjects, own->subject, &names->subject_key, &length);
	buffer_clear(&names->key);
	session_pair_append_key((enum column)own->metric, key, length, &names->key);
	row->key = arena_duplicate(&table->arena, names->key.data, names->key.length);
	row->key_length = names->key.length;
	row->threads = pair_subject_threads(subjects, own->subject, DIFF_AFTER);
	row->mark = pair_subject_mark(subjects, own->subject);
	row->subject = own->subject;
	row->metric = own->metric;
	set_thread(subjects, own->subject, row);
}

struct table *pair_table(struct session *session, const struct view *view)
{
	struct pair_subjects *subjects = &session->pair->shown;
	struct table *table = create(view);
	struct name_cache names = {0};
	struct pair_row *rows;
	size_t count, total, limit = ROWS_MAX;

	if (session->now == NULL)
		return table;
	pair_subjects_release(subjects);
	pair_subjects_collect(session, view, subjects);
	if (view->limit != 0 && view->limit < limit)
		limit = view->limit;
	rows = pair_rows_make(subjects, view, limit, &count, &total);
	names.labels = memory_allocate_zero(subjects->count + 1, sizeof(*names.labels));
	for (size_t i = 0; i < count; i++)
		add_row(table, subjects, &rows[i], &names);
	table->row_total = total;
	free(rows);
	free(names.labels);
	buffer_release(&names.subject_key);
	buffer_release(&names.key);
	if (!view->cells_on_demand)
		pair_table_fill(session, view, table, 0, table->row_count);
	return table;
}

/* --- cells --- */

static void set_text(const char *text, struct cell *cell)
{
	*cell = (struct cell){.state = CELL_VALUE, .form = CELL_FORM_TEXT, .text = text, .sort = NAN};
}

static void set_threads(const struct pair_subjects *subjects, size_t subject, struct arena *arena,
			struct cell *cell)
{
	uint32_t before = pair_subject_threads(subjects, subject, DIFF_BEFORE);
	uint32_t after = pair_subject_threads(subjects, subject, DIFF_AFTER);

	set_text(before == after ? arena_format(arena, "%u", after)
				 : arena_format(arena, "%u>%u", before, after),
		 cell);
}

static void fill_row(const struct pair_subjects *subjects, struct table *table, struct table_row *row)
{
	enum column metric = (enum column)row->metric;
	struct diff_value value = pair_value(subjects, row->subject, metric);

	table_add_cells(table, row);
	for (size_t i = 0; i < table->column_count; i++) {
		struct cell *cell = &row->cells[i];

		switch ((enum pair_column)(table->columns[i].column - COLUMN_TOTAL)) {
		case PAIR_COLUMN_THREADS:
			set_threads(subjects, row->subject, &table->arena, cell);
			break;
		case PAIR_COLUMN_METRIC:
			set_text(column_name(metric), cell);
			break;
		case PAIR_COLUMN_BEFORE:
			pair_side_cell(subjects, row->subject, metric, &value, DIFF_BEFORE, &table->arena,
				       cell);
			break;
		case PAIR_COLUMN_AFTER:
			pair_side_cell(subjects, row->subject, metric, &value, DIFF_AFTER, &table->arena,
				       cell);
			break;
		case PAIR_COLUMN_CHANGE:
			pair_change_cell(&value, metric, &table->arena, cell);
			break;
		default:
			pair_percent_cell(&value, row->mark, &table->arena, cell);
		}
	}
}

void pair_table_fill(struct session *session, const struct view *view, struct table *table, size_t first,
		     size_t end)
{
	(void)view;
	for (size_t i = first; i < end; i++) {
		if (table->rows[i].cells == NULL)
			fill_row(&session->pair->shown, table, &table->rows[i]);
	}
}
