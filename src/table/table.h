/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_TABLE_H
#define CTOP_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "metric/metric.h"
#include "metric/reason.h"
#include "metric/unit.h"
#include "window/value.h"

/*
 * Rows of typed cells: what every output (screen, text, TSV, CSV, JSON) draws and nothing else. Built by the
 * model, immutable once built.
 */

enum cell_state {
	CELL_EMPTY, /* nothing belongs here */
	CELL_VALUE,
	CELL_ABSENT,      /* `-` */
	CELL_UNAVAILABLE, /* `·`, with a reason */
};

enum cell_form {
	CELL_FORM_TEXT,    /* `text` is all */
	CELL_FORM_INTEGER, /* unsigned */
	CELL_FORM_REAL,
	CELL_FORM_RANGE, /* low..high */
	CELL_FORM_BAR,   /* shares of a whole: value.shares */
};

/* Whether the change of a cell of two windows is real. */
enum cell_verdict {
	CELL_VERDICT_NONE, /* one window, or nothing to judge by */
	CELL_VERDICT_NO,
	CELL_VERDICT_NOT_TESTED, /* large enough, but there is nothing to test it by */
	CELL_VERDICT_BURST,      /* a few parts of a window hold most of it */
	CELL_VERDICT_REAL,
	CELL_VERDICT_COUNT,
};

/* How a number is written. The screen needs no more of it than signs and percent signs. */
enum cell_style {
	CELL_STYLE_DIGITS,  /* all digits */
	CELL_STYLE_VALUE,   /* in the ladder of its unit */
	CELL_STYLE_DERIVED, /* the same with decimals in the first unit */
	CELL_STYLE_CHANGE,  /* with a sign, and without decimals in the first unit where it is whole */
	CELL_STYLE_DERIVED_CHANGE,
	CELL_STYLE_CHANGE_PER_SECOND,
	CELL_STYLE_PERCENT,
	CELL_STYLE_PERCENT_WHOLE,
	CELL_STYLE_PERCENT_EXACT, /* with two decimals */
	CELL_STYLE_PERCENT_CHANGE,
	CELL_STYLE_PERCENT_EXACT_CHANGE,
	CELL_STYLE_CHANCE, /* a probability */
	/* of cells with both sides; CELL_STYLE_DIGITS: an arrow between them */
	CELL_STYLE_SIDES_ONCE,   /* one of them where both read alike */
	CELL_STYLE_SIDES_CLOSE,  /* the same without blanks around the arrow */
	CELL_STYLE_SIDES_CHANGE, /* and the change behind them */
	CELL_STYLE_COUNT,
};

/* Whether numbers of a style are changes, which have a sign. */
extern const bool cell_style_is_change[CELL_STYLE_COUNT];

/* "real", "burst", "no", "not tested"; "" for none. */
extern const char *const cell_verdict_names[CELL_VERDICT_COUNT];

struct cell {
	enum cell_state state;
	enum cell_form form;
	enum unit unit;
	enum cell_style style;
	bool partial;   /* some members are unavailable: `≥` */
	bool rose;      /* a peak that rose inside the span: `+` */
	bool sampled;   /* from samples: `~`, without decimals */
	bool unanimous; /* of a category or set: all members agree */
	bool several;   /* a text with a number, which value.integer holds: "4 pids" */
	bool counted;   /* a text that ends in a number of threads, to be shown after `×`: "poll ×4" */
	uint16_t head;  /* of a text that leaves out or cuts what follows: bytes that stay, else 0 */
	reason_id reason;
	union {
		uint64_t integer;
		double real;
		struct {
			int64_t low, high;
		} range;
		float shares[TIME_PART_COUNT]; /* 0 … 1, in the order of table_bar_names */
	} value;
	/*
	 * Cells of before and after, in the table's arena, of a cell that shows both; else NULL. The cell
	 * itself has no number then. A limit that is not set is a side with the text "max".
	 */
	const struct cell *sides;
	enum cell_verdict verdict; /* of their change */
	const char *text; /* printed form, owned by the table's arena; NULL: the formatter makes it */
	double sort;      /* larger sorts first when descending; NAN: last in either direction */
};

struct table_column {
	const char *name;  /* of TSV, CSV and JSON: "wait_time_ns", "wait_percent" */
	const char *title; /* of the screen: "RUNQ%" */
	enum unit unit;
	bool left;      /* texts line up on the left */
	bool measured;  /* cells have a state and may have a unit of their own */
	bool sides;     /* cells have both sides of a comparison, which are two columns for programs */
	int width;      /* cells on the screen without the blank between, from the title and the unit */
	int widest;     /* of a column that is not to grow beyond it; 0 for no bound */
	bool stays;     /* on a screen too narrow for others */
	int fill_order; /* of texts that take the width that numbers leave: 1 for the first of them, else 0 */
	int wanted;     /* of such a text: what it gets before others get more than their least, else 0 */
	bool foreign;   /* texts of the host, in which no sign means anything */
	bool at_least;  /* every number lacks the same members: `≥` stands once, in the title */
	bool cut_middle;     /* texts that do not fit lose their middle rather than their end */
	unsigned int column; /* id in columns.def where it comes from there, else UINT_MAX */
	double whole;        /* what the numbers of all rows come to where they have shares of it, else 0 */
};

/* Marks before a row on the screen. */
enum row_mark {
	ROW_MARK_NONE,
	ROW_MARK_NEW,
	ROW_MARK_GONE,
	ROW_MARK_MOVER,
	ROW_MARK_LEFT,      /* of a comparison: in before only */
	ROW_MARK_RESTARTED, /* on both sides, but none of its threads is the same */
	ROW_MARK_ABSENT, /* in an order that is kept, without numbers: it is gone or does not match the filter
			  */
};

struct table_row {
	const char *key; /* identity across rounds: the group key's bytes, or "tid:start" of a thread */
	size_t key_length;
	const char *label; /* the name as read, not sanitised; NUL separated parts on AXIS_ALL */
	size_t label_length;
	uint32_t tid;     /* of a thread row, else 0 */
	uint32_t tgid;    /* of a thread row, and of one that is a process (AXIS_PID), else 0 */
	uint32_t thread;  /* index in the newest snapshot of a thread row, else UINT32_MAX */
	uint32_t threads; /* members in the newest snapshot */
	/* The process that all members are of, 0 for several, and when it started; of a thread when it did:
	 * USER_HZ ticks since boot. Not in files and comparisons. */
	uint32_t process;
	uint64_t process_start, start_time;
	double harm; /* harm of the row's worst change in a comparison; -INFINITY without a change */
	enum row_mark mark;
	bool is_own;       /* ctop made its name up, such as `(ended)`: see struct name_text */
	bool broke_rule;   /* whether its group broke a rule of a comparison */
	bool idle;         /* it did nothing in the span: of a view that hides such rows and keeps an order */
	bool empty;        /* text draws no line for it: no column of the table applies to the row */
	uint32_t subject;  /* for functions of the sessions and comparisons that made the table alone */
	uint32_t key_name; /* of a row of session_blame_table(): index in `key` of the victim's name */
	struct cell
		*cells; /* column_count of them; NULL while they are not made (see session_table_fill()) */
};

/* Whether a row has no numbers, since what it is of is not there any more. */
static inline bool table_row_is_gone(const struct table_row *row)
{
	return row->mark == ROW_MARK_GONE || row->mark == ROW_MARK_ABSENT;
}

struct table {
	struct arena arena;
	const char *section; /* "primary", "pressure cpu" … in reports; NULL on the screen */
	const char *heading; /* above it where it is not the section's name, else NULL */
	struct table_column *columns;
	size_t column_count;
	size_t name_count; /* number of leading columns that name the row, see enum view_naming */
	struct table_row *rows;
	size_t row_count;
	size_t row_capacity;
	bool continues;     /* its rows follow those of the table handed over before it */
	bool more;          /* rows of it follow in the next table */
	size_t rows_before; /* that tables before it have held when it continues them */
	size_t row_total;   /* rows before `limit` cut them */
	size_t row_folded;  /* beside these, which did not change measurably between two windows */
	size_t row_unknown; /* of those, such as have a value on one side, and none on the other for a reason
			     */
	size_t row_gone;    /* of these rows, such as are gone */
	size_t row_idle;    /* rows beside these that did nothing in the span, and are hidden for that */
	uint64_t threads;   /* of all these rows */
	/* processes beside these that may have jemalloc: it is being found out, or nobody may look */
	size_t jemalloc_resolving, jemalloc_unknown;
	size_t sort_column; /* index into columns, SIZE_MAX when sorted by name */
};

extern const char *const table_bar_names[TIME_PART_COUNT]; /* "run" …, in files */

/*
 * An empty table with room for `column_count` zeroed columns, sorted by name; the caller owns it. `section`
 * is kept as it is: static, or in the table's own arena. A column of no column table sets `column` to
 * UINT_MAX.
 */
struct table *table_create(const char *section, size_t column_count);

/* The same with columns that belong to no column table: `column` of those given is left out. */
struct table *table_create_with(const char *section, const struct table_column columns[],
				size_t column_count);

/* Appends a row of CELL_EMPTY cells (`thread` UINT32_MAX) and counts it in row_total; the row is valid until
 * the next call, its cells as long as the table. */
struct table_row *table_add_row(struct table *table);

/* Appends a row without cells, which table_add_cells() adds: for rows that may never be shown. */
struct table_row *table_add_bare_row(struct table *table);
void table_add_cells(struct table *table, struct table_row *row);

/* The same as table_add_row(), with texts of the caller's that outlive the table as key and label. */
struct table_row *table_add_named_row(struct table *table, const char *key, const char *label);

/* A cell that shows a text of the caller's, which outlives the table. */
struct cell cell_of_text(const char *text);

/* Cells that show a number, in CELL_STYLE_DIGITS. */
struct cell cell_of_integer(uint64_t number, enum unit unit);
struct cell cell_of_real(double number, enum unit unit);

/* A cell that shows a number in a style. */
struct cell cell_in_style(double number, enum unit unit, enum cell_style style);

/* Gives a cell in some state a whole number, in CELL_STYLE_VALUE. */
void cell_set_value(struct cell *cell, uint64_t number);

/* A cell in the state of a value, still without a number; `reason` counts where it is unavailable. */
struct cell cell_of_state(enum value_state state, reason_id reason, enum unit unit);

/*
 * A cell that shows the change between the sides of a cell in CELL_STYLE_SIDES_CHANGE: unavailable where a
 * side is not whole. CELL_EMPTY where a side is absent, and for other cells.
 */
struct cell cell_of_change(const struct cell *cell);

/* The number of a cell, NAN where it has none. */
double cell_number(const struct cell *cell);

/* Frees the table; NULL is allowed. */
void table_release(struct table *table);

#endif
