/* SPDX-License-Identifier: GPL-2.0-only */
#include "list.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/humanize.h"
#include "base/memory.h"
#include "table/screen_format.h"
#include "window/column.h"

#include "spark.h"
#include "ui/terminal/draw.h"

enum {
	LINES_ANNOUNCING = 8, /* a list of so many lines uses one to say how many rows are not in sight */
};

void list_reset(struct list *list)
{
	free(list->key);
	free(list->widths);
	*list = (struct list){0};
}

void list_reset_columns(struct list *list)
{
	list->mark = list->first = 0;
	list->width_count = SIZE_MAX;
}

static size_t row_count(const struct list *list)
{
	return list->table != NULL ? list->table->row_count : 0;
}

const struct table_row *list_row(const struct list *list)
{
	return list->selected < row_count(list) ? &list->table->rows[list->selected] : NULL;
}

size_t list_column(const struct list *list)
{
	return list->mark == 0 ? SIZE_MAX : list->mark - 1;
}

/* The cursor belongs to the row it stands on. */
static void bind_cursor(struct list *list)
{
	const struct table_row *row = list_row(list);

	free(list->key);
	list->key = NULL;
	list->key_length = 0;
	if (row != NULL) {
		list->key = memory_duplicate_bytes(row->key, row->key_length);
		list->key_length = row->key_length;
	}
}

size_t list_find(const struct list *list, const char *key, size_t key_length)
{
	for (size_t i = 0; i < row_count(list); i++) {
		const struct table_row *row = &list->table->rows[i];

		if (row->key_length == key_length && memcmp(row->key, key, key_length) == 0)
			return i;
	}
	return SIZE_MAX;
}

static void select_row(struct list *list, size_t row)
{
	size_t count = row_count(list);

	list->selected = count == 0 ? 0 : row < count ? row : count - 1;
	bind_cursor(list);
}

static void set_widths(struct list *list, size_t count)
{
	list->widths = memory_resize(list->widths, count + 1, sizeof(*list->widths));
	for (size_t i = 0; i < count; i++)
		list->widths[i] = (struct list_width){.column = list->table->columns[i].column,
						      .need.cells = list->table->columns[i].fill_order == 0
									    ? list->table->columns[i].width
									    : 0};
	list->width_count = count;
	list->name = (struct list_need){0};
}

/* Whether the widths are those of the table's columns. */
static bool has_widths_of(const struct list *list, const struct table *table)
{
	if (list->widths == NULL || list->width_count != table->column_count)
		return false;
	for (size_t i = 0; i < table->column_count; i++) {
		if (list->widths[i].column != table->columns[i].column)
			return false;
	}
	return true;
}

/* The mark stays with its column where columns come and go; without it the name is marked. */
static void follow_mark(struct list *list, const struct table *table)
{
	const size_t column = list->mark - 1;
	size_t found = 0;

	/* columns of a page are numbers by their place alone */
	if (list->mark == 0 || column >= list->width_count || list->widths[column].column == UINT32_MAX)
		return;
	while (found < table->column_count && table->columns[found].column != list->widths[column].column)
		found++;
	list->mark = found < table->column_count ? found + 1 : 0;
}

void list_set_table(struct list *list, const struct table *table)
{
	size_t found = SIZE_MAX;

	list->table = table;
	list->is_new = true;
	if (table == NULL)
		return;
	if (!has_widths_of(list, table)) {
		follow_mark(list, table);
		set_widths(list, table->column_count);
	}
	if (list->mark > table->column_count)
		list->mark = table->column_count;
	if (list->first >= table->column_count)
		list->first = 0;
	if (list->key != NULL)
		found = list_find(list, list->key, list->key_length);
	/*
	 * A row that goes down out of sight goes without the cursor, which stays where it is: larger rows are
	 * not pushed out of sight for it. One that was never moved goes back to the top.
	 */
	if (found != SIZE_MAX && list->page != 0 && found >= list->top + list->page)
		found = list->moved ? SIZE_MAX : 0;
	select_row(list, found != SIZE_MAX ? found : list->selected);
}

void list_show_top(struct list *list)
{
	list->top = 0;
	list->moved = false;
	select_row(list, 0);
}

bool list_scroll(struct list *list, int rows)
{
	const size_t top = list->top, last = row_count(list) > list->page ? row_count(list) - list->page : 0;
	const size_t distance = (size_t)abs(rows);

	if (rows < 0)
		list->top -= list->top < distance ? list->top : distance;
	else
		list->top = list->top + distance < last ? list->top + distance : last;
	if (list->top == 1)
		list->top = rows < 0 ? 0 : 2;
	if (list->top == top)
		return false;
	/* the cursor stays in sight */
	if (list->selected < list->top)
		select_row(list, list->top);
	else if (list->page != 0 && list->selected >= list->top + list->page)
		select_row(list, list->top + list->page - 1);
	list->moved = true;
	return true;
}

/* Rows that are in sight from list->top on in `lines` lines, some of which say what is not where `announced`.
 */
static size_t page_at_top(const struct list *list, size_t lines, bool announced)
{
	const size_t page = lines - (list->top != 0);

	if (!announced)
		return lines;
	return list->top + page >= row_count(list) ? row_count(list) - list->top : page - 1;
}

/* Makes the row of the cursor be in sight in so many lines below the titles; sets list->page and
 * list->others. */
static void place_window(struct list *list, size_t lines)
{
	const size_t count = row_count(list);
	const bool announced = lines >= LINES_ANNOUNCING && count > lines;
	const size_t last_top = count > lines ? count - lines + announced : 0;

	if (list->selected < list->top)
		list->top = list->selected;
	if (list->top > last_top)
		list->top = last_top;
	/* a line that says of one row that it is not there could as well hold it */
	if (announced && list->top == 1)
		list->top = list->selected < lines - 1 ? 0 : 2;
	list->page = page_at_top(list, lines, announced);
	while (list->page != 0 && list->selected >= list->top + list->page) {
		list->top = list->selected - list->page + 1;
		if (announced && list->top < 2)
			list->top = 2;
		if (list->top > last_top)
			list->top = last_top;
		list->page = page_at_top(list, lines, announced);
	}
	list->others = (struct list_others){
		.above = list->top,
		.below = count - list->top > list->page ? count - list->top - list->page : 0,
		.announced = announced,
	};
}

void list_select(struct list *list, const char *key, size_t key_length)
{
	size_t found = list_find(list, key, key_length);

	if (found == SIZE_MAX)
		return;
	list->moved = found != 0;
	select_row(list, found);
}

void list_note_place(const struct list *list, struct list_place *place)
{
	list_release_place(place);
	if (list->key != NULL)
		place->key = memory_duplicate_bytes(list->key, list->key_length);
	place->key_length = list->key_length;
	place->top = list->top;
}

void list_return(struct list *list, const struct list_place *place)
{
	list->top = place->top;
	if (place->key != NULL)
		list_select(list, place->key, place->key_length);
}

void list_release_place(struct list_place *place)
{
	free(place->key);
	*place = (struct list_place){0};
}

void list_select_row(struct list *list, size_t row)
{
	select_row(list, row);
	list->moved = true;
}

/* The column whose title is at a cell of the row of titles. */
static size_t title_at(const struct list *list, int x)
{
	for (size_t i = 0; i < list->width_count && i < list->table->column_count; i++) {
		/* with the blank before it */
		if (list->widths[i].drawn != 0 && x >= list->widths[i].x - 1 &&
		    x < list->widths[i].x + list->widths[i].drawn)
			return i;
	}
	return SIZE_MAX;
}

enum list_part list_part_at(const struct list *list, int y, int x, size_t *ret_index)
{
	const int row = y - list->first_row;

	if (list->table == NULL)
		return LIST_PART_NONE;
	if (y == list->titles_row) {
		*ret_index = title_at(list, x);
		/* between two titles there is nothing */
		return *ret_index != SIZE_MAX || x < list->name_end ? LIST_PART_TITLE : LIST_PART_NONE;
	}
	if (row >= 0 && (size_t)row < list->page && list->top + (size_t)row < row_count(list)) {
		*ret_index = list->top + (size_t)row;
		return LIST_PART_ROW;
	}
	if (list->others.announced && list->others.above != 0 && y == list->titles_row + 1)
		return LIST_PART_ABOVE;
	return list->others.announced && list->others.below != 0 && row >= 0 && (size_t)row == list->page
		       ? LIST_PART_BELOW
		       : LIST_PART_NONE;
}

void list_move(struct list *list, enum action action)
{
	/* one row stays in sight */
	size_t page = list->page > 1 ? list->page - 1 : 1;

	if (action == ACTION_PAGE_UP || action == ACTION_PAGE_DOWN || action == ACTION_HALF_UP ||
	    action == ACTION_HALF_DOWN)
		list->top = key_moved_row(action, list->top, row_count(list), page);
	select_row(list, key_moved_row(action, list->selected, row_count(list), page));
	list->moved = action != ACTION_FIRST && action != ACTION_FIRST_OF_PAGE;
}

bool list_mark_left(struct list *list)
{
	if (list->mark == 0)
		return false;
	list->mark--;
	if (list->mark == 0)
		list->first = 0;
	else if (list->mark - 1 < list->first)
		list->first = list->mark - 1;
	return true;
}

void list_mark_end(struct list *list, bool last)
{
	list->mark = last && list->table != NULL ? list->table->column_count : 0;
	if (!last)
		list->first = 0;
}

void list_mark_right(struct list *list)
{
	if (list->table != NULL && list->mark < list->table->column_count)
		list->mark++;
}

void list_mark_column(struct list *list, size_t column)
{
	if (list->table != NULL && column < list->table->column_count)
		list->mark = column + 1;
}

/* --- drawing --- */

enum {
	NAME_CELLS_MIN = 12,
	TEXT_CELLS_MIN = 8,
	NAME_CELLS_STEP = 4,   /* names widen by steps, so that one longer name moves the columns rarely */
	NAME_CELLS_FIRST = 24, /* that names get before texts that say who a row is get what they want */
	LIST_FILLERS_MAX = 9,  /* columns that take what numbers leave */
	TABLES_UNTIL_NARROWER = 4, /* that need less before a text gets less */
	COURSE_CELLS_MIN = 8,
	COURSE_CELLS_WANTED = 20,
	COURSE_SHARE = 2, /* of the cells that are left, this part for the course beside texts */
	TID_CELLS = 8,    /* seven digits (PID_MAX_LIMIT, include/linux/threads.h) and a blank */
};

/* The places of the parts of a list in one frame. */
struct layout {
	struct list *list;
	const struct list_style *style;
	int name_x, name_width;
	int course_x, course_cells; /* of the course of the column sorted by; 0 cells: it is not shown */
	struct buffer text;         /* of the cell being drawn */
};

/* Numbers that have a style of their own from a value on. */
static const struct {
	enum column column;
	enum unit unit;
	double from;
	enum style style;
} highlights[] = {
	{COLUMN_STUCK, UNIT_COUNT, 1, STYLE_ALARM},   {COLUMN_STUCK, UNIT_NS, 1, STYLE_ALARM},
	{COLUMN_LONG, UNIT_COUNT, 1, STYLE_ALARM},    {COLUMN_OOM, UNIT_COUNT, 1, STYLE_ALARM},
	{COLUMN_LOST, UNIT_PERCENT, 20, STYLE_WAIT},  {COLUMN_RUNQ, UNIT_PERCENT, 20, STYLE_WAIT},
	{COLUMN_BLKIO, UNIT_PERCENT, 20, STYLE_WAIT}, {COLUMN_MWAIT, UNIT_PERCENT, 20, STYLE_WAIT},
	{COLUMN_IRQ, UNIT_PERCENT, 20, STYLE_WAIT},   {COLUMN_THROT, UNIT_PERCENT, 20, STYLE_WAIT},
};

static const struct {
	const char *sign;
	enum style style;
} row_marks[] = {
	[ROW_MARK_NONE] = {" ", STYLE_NORMAL}, [ROW_MARK_NEW] = {"+", STYLE_NEW},
	[ROW_MARK_GONE] = {"x", STYLE_GONE},   [ROW_MARK_MOVER] = {"^", STYLE_MOVER},
	[ROW_MARK_LEFT] = {"x", STYLE_ALARM},  [ROW_MARK_RESTARTED] = {"!", STYLE_ALARM},
	[ROW_MARK_ABSENT] = {" ", STYLE_GONE},
};

static void format_cell(struct layout *layout, size_t column, const struct cell *cell, int width)
{
	buffer_clear(&layout->text);
	buffer_append_text(&layout->text, "");
	if (cell->state == CELL_VALUE && cell->form == CELL_FORM_BAR)
		screen_format_bar(&layout->text, cell, width);
	else
		screen_format_cell_in(&layout->text, &layout->list->table->columns[column], cell,
				      draw_marks());
}

/* Cuts a text that was formatted and does not fit, so that its beginning and its number stay. */
static void narrow_cell(struct layout *layout, const struct cell *cell, int width)
{
	if (cell->state != CELL_VALUE || cell->head == 0 ||
	    draw_width(layout->text.data, layout->text.length) <= width)
		return;
	buffer_clear(&layout->text);
	screen_format_narrow(&layout->text, cell, draw_marks(), width);
}

static const char *sort_mark(const struct layout *layout)
{
	return layout->style->ascending ? "^" : "v";
}

/* The title of a column with the mark of the order beside it. */
static void format_title(struct layout *layout, size_t column)
{
	const struct table *table = layout->list->table;

	buffer_clear(&layout->text);
	screen_format_title(&layout->text, &table->columns[column], draw_marks());
	if (table->sort_column == column)
		buffer_append_text(&layout->text, sort_mark(layout));
}

/* Notes what the rows in sight need. */
static void note_need(const struct list *list, struct list_need *need, int cells)
{
	if (cells >= need->cells) {
		*need = (struct list_need){.cells = cells};
		return;
	}
	need->recent = cells > need->recent ? cells : need->recent;
	if (list->is_new && ++need->tables == TABLES_UNTIL_NARROWER)
		*need = (struct list_need){.cells = need->recent};
}

static void measure_columns(struct layout *layout, size_t first_row, size_t end_row)
{
	struct list *list = layout->list;
	const struct table *table = list->table;

	for (size_t i = 0; i < table->column_count; i++) {
		struct list_need *need = &list->widths[i].need;
		int widest;

		format_title(layout, i);
		widest = draw_width(layout->text.data, layout->text.length);

		for (size_t row = first_row; row < end_row; row++) {
			int cells;

			format_cell(layout, i, &table->rows[row].cells[i], need->cells);
			cells = draw_width(layout->text.data, layout->text.length);
			if (table->columns[i].widest != 0 && cells > table->columns[i].widest)
				cells = table->columns[i].widest;
			widest = cells > widest ? cells : widest;
		}
		/* numbers stay where they are */
		if (table->columns[i].fill_order != 0 || widest > need->cells)
			note_need(list, need, widest);
	}
}

static void measure_names(struct layout *layout, size_t first_row, size_t end_row)
{
	struct list *list = layout->list;
	int widest = draw_width(layout->style->name_title, strlen(layout->style->name_title)) + 1;

	/* from the first frame, so that scrolling moves no column */
	if (layout->style->name_cells > widest)
		widest = layout->style->name_cells;
	for (size_t row = first_row; row < end_row; row++) {
		const struct table_row *entry = &list->table->rows[row];
		int cells = draw_width(entry->label, entry->label_length);

		widest = cells > widest ? cells : widest;
	}
	note_need(list, &list->name, (widest + NAME_CELLS_STEP - 1) / NAME_CELLS_STEP * NAME_CELLS_STEP);
}

/* Columns that are shown at any width: threads, and the one that the rows are sorted by. */
static bool is_kept(const struct table *table, size_t column)
{
	return table->columns[column].stays || column == table->sort_column;
}

/* Cells that a column takes at first: one that takes what numbers leave begins with its least. */
static int cells_at_first(const struct list *list, size_t column)
{
	const struct table_column *described = &list->table->columns[column];

	return described->fill_order != 0 && described->width < list->widths[column].need.cells
		       ? described->width
		       : list->widths[column].need.cells;
}

/* Shows a column in so many cells; returns how many it takes with the blank before it. */
static int show(struct layout *layout, size_t column, int cells)
{
	layout->list->widths[column].drawn = cells;
	return cells + 1;
}

/*
 * Chooses the columns that fit in `room` cells, but for those that take what is left; returns the cells they
 * take.
 */
static int choose_columns(struct layout *layout, int room)
{
	const struct list *list = layout->list;
	const struct table *table = list->table;
	int used = 0;

	for (size_t i = 0; i < table->column_count; i++) {
		list->widths[i].drawn = 0;
		if (is_kept(table, i))
			used += show(layout, i, cells_at_first(list, i));
	}
	for (size_t i = list->first; i < table->column_count; i++) {
		if (is_kept(table, i) || table->columns[i].fill_order != 0)
			continue;
		if (used + list->widths[i].need.cells + 1 > room)
			break;
		used += show(layout, i, list->widths[i].need.cells);
	}
	return used;
}

/* The last column, if it is one of texts, is cut to the cells that are left rather than left out. */
static int stretch_last_text(struct layout *layout, int room, int used)
{
	struct list *list = layout->list;
	const struct table *table = list->table;
	size_t last = table->column_count - 1;

	if (table->column_count == 0 || list->widths[last].drawn != 0 || !table->columns[last].left ||
	    table->columns[last].fill_order != 0 || room - used <= TEXT_CELLS_MIN)
		return used;
	show(layout, last,
	     room - used - 1 < list->widths[last].need.cells ? room - used - 1
							     : list->widths[last].need.cells);
	return room;
}

/* The column that takes what numbers leave as the `order`-th; SIZE_MAX for none. */
static size_t find_filler(const struct list *list, int order)
{
	for (size_t i = 0; i < list->table->column_count; i++) {
		if (list->table->columns[i].fill_order == order)
			return i;
	}
	return SIZE_MAX;
}

/* Something that can use more cells than it has. */
struct claimant {
	int *cells;
	int wanted;
};

/* Gives each in turn what it wants; returns what is left. */
static int satisfy(const struct claimant claimants[], size_t count, int spare)
{
	for (size_t i = 0; i < count; i++) {
		int more = claimants[i].wanted - *claimants[i].cells;

		if (more > spare)
			more = spare;
		if (more <= 0)
			continue;
		*claimants[i].cells += more;
		spare -= more;
	}
	return spare;
}

/* Whether there is a course to show: of numbers that the rows are sorted by, but for process ids. */
static bool has_course(const struct layout *layout)
{
	const struct table *table = layout->list->table;

	return layout->style->course != NULL && table->sort_column != SIZE_MAX &&
	       !table->columns[table->sort_column].left && !table->columns[table->sort_column].foreign;
}

/* Lets the course of a number have a part of the cells that are left; returns the others. */
static int claim_course(struct layout *layout, int spare)
{
	int cells = spare / COURSE_SHARE - 1;

	if (!has_course(layout) || layout->course_cells != 0 || spare < COURSE_CELLS_MIN + 1)
		return spare;
	if (cells < COURSE_CELLS_MIN)
		cells = COURSE_CELLS_MIN;
	layout->course_cells = cells < COURSE_CELLS_WANTED ? cells : COURSE_CELLS_WANTED;
	return spare - layout->course_cells - 1;
}

/* What names get first: half of the cells, so that a few long ones do not displace all other texts. */
static int first_claim_of_names(const struct layout *layout, int spare)
{
	const struct table *table = layout->list->table;
	int cells = layout->name_width + spare / 2;

	for (size_t i = 0; i < table->column_count; i++) {
		const int beside = layout->name_width + spare - cells_at_first(layout->list, i) - 1;

		if (table->columns[i].wanted == 0)
			continue;
		if (cells > NAME_CELLS_FIRST)
			cells = NAME_CELLS_FIRST;
		/* the text is to stand there at all */
		if (cells > beside && beside >= layout->name_width)
			cells = beside;
	}
	return cells < layout->list->name.cells ? cells : layout->list->name.cells;
}

/*
 * Distributes the cells that the numbers leave: names get what they need, as far as the texts behind the
 * numbers still have their least, or what they want before others. Then these get more, those that had what
 * they wanted at last, and the last column what nobody needs. The course of the number that is sorted by
 * comes behind the first text, and before what texts need beyond that. Whatever else is to have cells of
 * these claims them here.
 */
static void distribute(struct layout *layout, int spare)
{
	struct list *list = layout->list;
	const size_t column_count = list->table->column_count;
	struct claimant claimants[1 + LIST_FILLERS_MAX], late[LIST_FILLERS_MAX];
	size_t count = 0, late_count = 0;

	claimants[count++] = (struct claimant){&layout->name_width, first_claim_of_names(layout, spare)};
	spare = satisfy(claimants, count, spare);
	for (int order = 1; order <= LIST_FILLERS_MAX; order++) {
		const size_t column = find_filler(list, order);
		int wanted, *drawn;

		if (column == SIZE_MAX)
			continue;
		drawn = &list->widths[column].drawn;
		if (*drawn == 0) {
			if (column < list->first || cells_at_first(list, column) + 1 > spare)
				continue;
			spare -= show(layout, column, cells_at_first(list, column));
		}
		wanted = list->table->columns[column].wanted;
		if (wanted == 0) {
			claimants[count++] = (struct claimant){drawn, list->widths[column].need.cells};
		} else {
			late[late_count++] = (struct claimant){drawn, list->widths[column].need.cells};
			if (wanted > late[late_count - 1].wanted)
				wanted = late[late_count - 1].wanted;
			spare = satisfy(&(struct claimant){drawn, wanted}, 1, spare);
		}
		spare = claim_course(layout, spare);
	}
	spare = claim_course(layout, spare);
	claimants[0].wanted = list->name.cells;
	spare = satisfy(claimants, count, spare);
	spare = satisfy(late, late_count, spare);
	if (column_count != 0 && list->widths[column_count - 1].drawn != 0 &&
	    list->table->columns[column_count - 1].fill_order != 0)
		list->widths[column_count - 1].drawn += spare;
}

/* The last column shown that takes no cells that others leave: the course stands behind it. */
static size_t last_number(const struct layout *layout)
{
	const struct list *list = layout->list;

	for (size_t i = list->table->column_count; i-- > 0;) {
		if (list->widths[i].drawn != 0 && list->table->columns[i].fill_order == 0)
			return i;
	}
	return SIZE_MAX;
}

static void place_columns(struct layout *layout, int x)
{
	const struct list *list = layout->list;
	const size_t last = last_number(layout);

	for (size_t i = 0; i < list->table->column_count; i++) {
		if (list->widths[i].drawn == 0)
			continue;
		list->widths[i].x = x + 1;
		x += list->widths[i].drawn + 1;
		if (i == last && layout->course_cells != 0) {
			layout->course_x = x + 1;
			x += layout->course_cells + 1;
		}
	}
}

/*
 * Places the columns: the name keeps at least 12 cells; the first column (if it counts threads) and the sort
 * column are always shown, the others from list->first on as far as they fit, and texts in what is left.
 * Widens list->widths by what the rows on the screen need.
 */
static void place(struct layout *layout, size_t end_row)
{
	const struct list_style *style = layout->style;
	struct list *list = layout->list;
	int room, used;

	measure_columns(layout, list->top, end_row);
	measure_names(layout, list->top, end_row);
	list->is_new = false;
	layout->name_x = 1 + (style->thread_ids ? TID_CELLS : 0);
	layout->name_width = style->name_cells != 0 ? style->name_cells : NAME_CELLS_MIN;
	room = style->width - layout->name_x - layout->name_width;
	used = choose_columns(layout, room);
	while (list->mark != 0 && list->widths[list->mark - 1].drawn == 0 && list->first < list->mark - 1 &&
	       list->table->columns[list->mark - 1].fill_order == 0) {
		list->first++;
		used = choose_columns(layout, room);
	}
	used = stretch_last_text(layout, room, used);
	if (used > room)
		layout->name_width += room - used;
	if (layout->name_width > list->name.cells)
		layout->name_width = list->name.cells;
	if (layout->name_width < 1)
		layout->name_width = 1;
	distribute(layout, style->width - layout->name_x - layout->name_width - used);
	list->name_cells = layout->name_width;
	list->name_end = layout->name_x + layout->name_width;
	place_columns(layout, layout->name_x + layout->name_width);
}

static enum style title_style(const struct layout *layout, size_t mark, bool sorted)
{
	if (layout->list->mark == mark && mark != 0)
		return STYLE_TITLE_MARKED;
	return sorted ? STYLE_TITLE_SORTED : STYLE_TITLE;
}

/* The text, in its column. */
static void draw_column(const struct layout *layout, int y, size_t column, enum style style)
{
	const struct table_column *described = &layout->list->table->columns[column];
	int x = layout->list->widths[column].x, width = layout->list->widths[column].drawn;

	if (described->left && described->cut_middle)
		draw_middle(y, x, width, style, layout->text.data, layout->text.length);
	else if (described->left)
		draw_text(y, x, width, style, layout->text.data, layout->text.length);
	else
		draw_right(y, x, width, style, layout->text.data);
}

/* The title of the course, with its length where there is room: "TREND 40s". */
static void draw_course_title(struct layout *layout)
{
	static const char name[] = "TREND";
	const struct list_style *style = layout->style;
	const double seconds = round((double)style->course_round_ns * layout->course_cells /
				     (double)NS_PER_S);

	buffer_clear(&layout->text);
	buffer_append_format(&layout->text, "%s ", name);
	humanize_compact_truncated(&layout->text, seconds * NS_PER_S, HUMANIZE_TIME);
	draw_text(style->y, layout->course_x, layout->course_cells, STYLE_TITLE, layout->text.data,
		  layout->text.length <= (size_t)layout->course_cells ? layout->text.length : strlen(name));
}

static void draw_titles(struct layout *layout)
{
	const struct list_style *style = layout->style;
	const struct table *table = layout->list->table;
	bool by_name = table->sort_column == SIZE_MAX && !style->unsorted;

	draw_fill(style->y, 0, style->width, STYLE_TITLE);
	if (style->thread_ids)
		draw_string(style->y, 1, TID_CELLS - 1, STYLE_TITLE, "TID");
	buffer_clear(&layout->text);
	buffer_append_format(&layout->text, "%s%s", style->name_title, by_name ? sort_mark(layout) : "");
	draw_text(style->y, layout->name_x, layout->name_width, title_style(layout, 0, by_name),
		  layout->text.data, layout->text.length);
	for (size_t i = 0; i < table->column_count; i++) {
		bool sorted = i == table->sort_column;

		if (layout->list->widths[i].drawn == 0)
			continue;
		format_title(layout, i);
		draw_column(layout, style->y, i, title_style(layout, i + 1, sorted));
	}
	if (layout->course_cells != 0)
		draw_course_title(layout);
}

/* The style of a change between two cells; a side without the row counts as zero. */
static enum style change_style(const struct cell sides[2])
{
	double numbers[2];

	for (size_t i = 0; i < 2; i++)
		numbers[i] = sides[i].state == CELL_ABSENT ? 0 : cell_number(&sides[i]);
	return numbers[0] < numbers[1] ? STYLE_ROSE : numbers[0] > numbers[1] ? STYLE_FELL : STYLE_NORMAL;
}

static enum style cell_style(const struct layout *layout, size_t column, const struct cell *cell)
{
	if (cell->state != CELL_VALUE || strcmp(layout->text.data, "0") == 0)
		return STYLE_DIM;
	if (layout->list->table->columns[column].foreign)
		return cell->unanimous ? STYLE_NORMAL : STYLE_DIM;
	for (size_t i = 0; i < ARRAY_COUNT(highlights); i++) {
		if (highlights[i].column == layout->list->table->columns[column].column &&
		    highlights[i].unit == cell->unit && cell_number(cell) >= highlights[i].from)
			return highlights[i].style;
	}
	if (cell->verdict == CELL_VERDICT_NO)
		return STYLE_DIM;
	if (cell->sides != NULL)
		return change_style(cell->sides);
	/* a change begins with its sign */
	if (cell->form == CELL_FORM_TEXT && *layout->text.data == '+')
		return STYLE_ROSE;
	if (cell->form == CELL_FORM_TEXT && *layout->text.data == '-')
		return STYLE_FELL;
	return STYLE_NORMAL;
}

static void draw_name(struct layout *layout, int y, const struct table_row *row, enum style style)
{
	draw_middle(y, layout->name_x, layout->name_width, style, row->label, row->label_length);
}

/* Each stretch of equal signs in its own style. */
static void draw_bar(const struct layout *layout, int y, int x)
{
	const char *text = layout->text.data;

	while (*text != '\0') {
		const char *sign = memchr(screen_bar_signs, *text, TIME_PART_COUNT);
		enum style style = sign != NULL ? (enum style)(STYLE_BAR_RUN + (sign - screen_bar_signs))
						: STYLE_NORMAL;
		size_t length = 1;

		while (text[length] == *text)
			length++;
		x += draw_text(y, x, (int)length, style, text, length);
		text += length;
	}
}

/* Lays the share of a row under a number that is drawn. */
static void draw_share(const struct layout *layout, int y, size_t column, const struct cell *cell,
		       enum style style)
{
	const int width = layout->list->widths[column].drawn;
	const double whole = layout->list->table->columns[column].whole;
	const double share = whole > 0 ? cell_number(cell) / whole : 0;

	if (share > 0 && draw_has_shade())
		draw_shade(y, layout->list->widths[column].x, share < 1 ? (int)(share * width + 0.5) : width,
			   style);
}

static void draw_cell(struct layout *layout, int y, const struct table_row *row, size_t column, bool selected)
{
	const struct list *list = layout->list;
	enum style style;

	format_cell(layout, column, &row->cells[column], list->widths[column].drawn);
	narrow_cell(layout, &row->cells[column], list->widths[column].drawn);
	style = cell_style(layout, column, &row->cells[column]);
	if (table_row_is_gone(row))
		style = STYLE_GONE;
	if (selected)
		style = list->mark == column + 1 ? STYLE_MARKED : STYLE_SELECTED;
	if (row->cells[column].state == CELL_VALUE && row->cells[column].form == CELL_FORM_BAR && !selected)
		draw_bar(layout, y, list->widths[column].x);
	else
		draw_column(layout, y, column, style);
	if (!selected && !table_row_is_gone(row))
		draw_share(layout, y, column, &row->cells[column], style);
}

static void draw_course(const struct layout *layout, int y, const struct table_row *row, bool selected)
{
	const struct list_style *style = layout->style;
	double values[SPARK_CELLS_MAX];
	const size_t count = style->course(style->context, row, values, (size_t)layout->course_cells);

	spark_draw(y, layout->course_x, layout->course_cells,
		   selected                 ? STYLE_SELECTED
		   : table_row_is_gone(row) ? STYLE_GONE
					    : STYLE_GRAPH,
		   1, values, count);
}

static void draw_row(struct layout *layout, int y, size_t index)
{
	const struct list *list = layout->list;
	const struct table_row *row = &list->table->rows[index];
	bool selected = index == list->selected;
	const bool matches = layout->style->matches != NULL &&
			     layout->style->matches(layout->style->context, row);
	enum style name_style = selected                 ? STYLE_SELECTED
				: table_row_is_gone(row) ? STYLE_GONE
				: matches                ? STYLE_KEY
							 : STYLE_NORMAL;

	if (selected)
		draw_fill(y, 0, layout->style->width, STYLE_SELECTED);
	draw_string(y, 0, 1, selected ? STYLE_SELECTED : row_marks[row->mark].style,
		    row_marks[row->mark].sign);
	if (layout->style->thread_ids) {
		buffer_clear(&layout->text);
		buffer_append_u64(&layout->text, row->tid);
		draw_string(y, 1, TID_CELLS - 1, name_style, layout->text.data);
	}
	draw_name(layout, y, row, name_style);
	for (size_t i = 0; i < list->table->column_count; i++) {
		/* of a row that is gone only values are shown */
		if (list->widths[i].drawn != 0 &&
		    (!table_row_is_gone(row) || row->cells[i].state == CELL_VALUE))
			draw_cell(layout, y, row, i, selected);
	}
	if (layout->course_cells != 0)
		draw_course(layout, y, row, selected);
}

bool list_shows_whole(const struct list *list, size_t column, const char *text, size_t length)
{
	return column < list->width_count && draw_width(text, length) <= list->widths[column].drawn;
}

/* Says how many rows are out of sight, and the note where it is the last line. */
static void draw_others(struct layout *layout, int y, size_t above, size_t below, const char *note)
{
	buffer_clear(&layout->text);
	draw_append_others(&layout->text, above, below);
	if (note != NULL)
		buffer_append_format(&layout->text, "%s%s", layout->text.length != 0 ? ", " : "", note);
	draw_text(y, 1, layout->style->width - 1, STYLE_STRONG, layout->text.data, layout->text.length);
}

int list_draw(struct list *list, const struct list_style *style)
{
	struct layout layout = {.list = list, .style = style};
	size_t end_row;

	if (list->table == NULL || style->height < 1)
		return style->y;
	place_window(list, (size_t)(style->height - 1));
	/* a line for the note, where no other one says what is below */
	if (style->note != NULL && style->height > 2 && row_count(list) == (size_t)(style->height - 1))
		place_window(list, (size_t)(style->height - 2));
	list->titles_row = style->y;
	list->first_row = style->y + 1 + (list->others.announced && list->others.above != 0);
	end_row = list->top + list->page < list->table->row_count ? list->top + list->page
								  : list->table->row_count;
	if (style->fill != NULL)
		style->fill(style->context, list->top, list->page);
	place(&layout, end_row);
	draw_titles(&layout);
	if (list->others.announced) {
		draw_others(&layout, style->y + 1, list->others.above, 0, NULL);
		draw_others(&layout, style->y + style->height - 1, 0, list->others.below, style->note);
	} else if (style->note != NULL &&
		   list->first_row + (int)(end_row - list->top) < style->y + style->height) {
		draw_others(&layout, list->first_row + (int)(end_row - list->top), 0, 0, style->note);
	}
	for (size_t row = list->top; row < end_row; row++)
		draw_row(&layout, list->first_row + (int)(row - list->top), row);
	buffer_release(&layout.text);
	return list->first_row + (int)(list->selected - list->top);
}
