/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_SCREEN_H
#define CTOP_SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/error.h"
#include "compare/compare.h"
#include "session/session.h"
#include "session/when.h"
#include "table/tab.h"
#include "table/view.h"
#include "window/column.h"

#include "ui.h"
#include "ui/page/graph.h"
#include "ui/terminal/draw.h"
#include "ui/terminal/keys.h"
#include "ui/terminal/terminal.h"
#include "ui/widget/chooser.h"
#include "ui/widget/frozen.h"
#include "ui/widget/list.h"
#include "ui/widget/menu.h"
#include "ui/widget/pager.h"
#include "ui/widget/prompt.h"

/* The inside of the screen: what the files of this folder share; others see ui.h only. */

enum {
	SCREEN_WIDTH_MIN = 40,
	SCREEN_HEIGHT_MIN = 8,
};

struct ui;

/* The page that covers the list of rows. */
enum overlay {
	OVERLAY_NONE,
	OVERLAY_HELP,
	OVERLAY_EVIDENCE,
	OVERLAY_EXPLAIN,
	OVERLAY_CHOOSER,
	OVERLAY_USERS,
};

/* The topics of prompts: each has a history of its own. */
enum prompt_topic {
	PROMPT_TOPIC_NONE, /* without one */
	PROMPT_TOPIC_FILTER,
	PROMPT_TOPIC_SEARCH,
	PROMPT_TOPIC_FILE,
	PROMPT_TOPIC_TIME,
	PROMPT_TOPIC_COUNT,
};

/* The use of an open prompt. */
struct prompt_use {
	const char *label;
	const char *example; /* shown while nothing is typed */
	enum prompt_topic topic;
	/* Takes the text and returns true, which closes the prompt; shows why not, if it is not valid. */
	bool (*accept)(struct ui *ui, const char *text);
	/* Told of each change of the text; NULL where nobody waits for it. */
	void (*changed)(struct ui *ui, const char *text);
	/* Undoes what followed the text; `before` is what it was at first. NULL: nothing does. */
	void (*cancelled)(struct ui *ui, const char *before);
};

/*
 * The content of the list: a session, or a comparison with its newest round. What each of them does in a way
 * of its own is in `ui->content`; what only one of them has depends on `ui->comparison`.
 */
struct content {
	struct table *(*make_table)(struct ui *ui);
	void (*fill)(void *ui, size_t first, size_t count); /* cells of rows of ui->table, for a list */
	struct table *(*make_metrics)(struct ui *ui);       /* of ui->page_row; NULL: it is gone */
	void (*explain)(struct ui *ui, const struct table_row *row, size_t column, struct buffer *lines);
	/* Ids of the columns that rows can be sorted by, besides the name; returns how many. */
	size_t (*sort_columns)(const struct view *view, unsigned int columns[COLUMN_TOTAL]);
	int (*draw_header)(struct ui *ui, int lines); /* at most so many; returns how many it takes */
	void (*draw_note)(struct ui *ui, int y);      /* on the row under the cursor */
	void (*make_evidence)(struct ui *ui);         /* into ui->pager, once there is a round */
	const char *(*why_empty)(const struct ui *ui);
	void (*change_mode)(struct ui *ui);
	struct ui_report (*subject)(const struct ui *ui); /* of a report, all borrowed */
};

extern const struct content content_of_session, content_of_comparison;

/* The places of the tabs in the last frame. */
struct tab_bar {
	int y;
	size_t count;
	struct {
		enum tab tab;
		int x, end; /* cells: the first of it, and the first behind it */
	} places[TAB_TOTAL];
};

/* Threads of a round that the header counts. */
struct header_counts {
	uint64_t serial;                   /* of the snapshot; 0: nothing yet */
	uint64_t stuck, blocked, io_uring; /* the last: that wait for an io_uring */
};

/* The rows before a tab changed them. */
struct axis_left {
	bool present;
	enum axis axis;
	enum view_level level;
};

/* The parts around the rows. */
enum screen_frame {
	SCREEN_FRAME_WHOLE,
	SCREEN_FRAME_HINTS, /* no header */
	SCREEN_FRAME_ROWS,  /* neither header nor hints */
	SCREEN_FRAME_COUNT,
};

/* Why the row under the cursor is slow, kept until the table or the cursor moves. */
struct slow_note {
	char *key; /* of the row, owned; NULL: none was asked for */
	size_t key_length;
	struct session_slow why;
};

/* The rows whose course of before was asked for last. */
struct asked_courses {
	struct buffer of;     /* view and column */
	uint64_t number;      /* of the request */
	size_t top;           /* the first row in sight when it was looked for rows without a course */
	uint64_t asked_at_ns; /* CLOCK_MONOTONIC */
};

/* The page of all metrics of a row. */
struct metrics_page {
	char *name; /* owned */
	size_t name_length;
	struct table_row task;   /* of a thread: its numbers alone, for lookups; process 0 else */
	struct buffer waits_for; /* of a thread, as session_find_slow() says it */
	int sleep_lines;         /* most lines that said where the thread sleeps */
	bool is_gone;            /* the row is not there any more */
	bool is_unfolded;        /* also those that are not available, on every such page */
};

/* The page of who delays whom, or wakes whom. */
struct blame_page {
	enum blame_relation relation;
	enum session_pairs order;
	reason_id missing; /* why there are no pairs */
	double named;      /* where there are any: session_blame_named() */
};

/* While the filter is typed. */
struct filtering {
	bool is_due;      /* what is typed is not shown yet */
	uint64_t due_ns;  /* when it will be, CLOCK_MONOTONIC */
	uint64_t cost_ns; /* how long it took to show the last one */
};

/* Looking back: a moment that has been is on the screen. */
struct past {
	bool open;
	struct session *own;  /* of moments, on a live screen; NULL until one was there */
	struct session *live; /* that of the rounds, while a moment is shown instead; NULL: there is none */
	uint64_t unix_ns;     /* of the moment shown */
	char name[WHEN_TEXT_SIZE]; /* its time */
	uint64_t newest_unix_ns;   /* of the newest there is; 0: not known */
	uint64_t base_unix_ns;     /* of the base; 0: the round before */
	bool is_newest;
	char *note;           /* what is to be known of the moment, owned; NULL: nothing */
	bool is_waiting;      /* for a moment that was asked for */
	bool took_base;       /* numbers of now count from a base that came meanwhile */
	uint64_t asked, left; /* number of the last request, and of the last before now was gone back to */
	bool plays;
	uint64_t due_ns;               /* when the next one is to be asked for, CLOCK_MONOTONIC */
	struct ui_strip strip;         /* what was before and after; no cells: nothing yet */
	uint64_t strip_number;         /* of the last request */
	uint64_t strip_newest_unix_ns; /* what the newest was then */
	struct buffer strip_of;        /* what it was for */
	char *strip_title, *strip_name;
	enum unit strip_unit;
};

/* The menu of users, all of them first. */
struct user_menu {
	struct session_user *users; /* owned */
	size_t count;
	struct menu menu; /* line 0 is all users */
	bool has_names;   /* the users are of this host */
};

/* The page of a tab's columns: the chosen ones in their order, below them all others. */
struct setup {
	enum tab tab;
	bool threads; /* for rows that are single threads */
	enum column columns[COLUMN_TOTAL];
	size_t count, chosen; /* the first `chosen` of them are those of the tab */
	enum column sort;     /* on entry; COLUMN_COUNT for the tab's built-in one */
	struct menu menu;
};

struct ui {
	struct session *session; /* on the screen */
	struct past past;
	struct snapshot *host_facts;   /* what the header shows before the first round; NULL: not known yet */
	struct comparison *comparison; /* owned; NULL while content is content_of_session */
	const struct content *content;
	const struct ui_host *host;
	const struct ui_options *options;
	struct ui_settings settings;

	struct view view;
	struct axis_left axis_left; /* for the tab Cgroup */
	struct {
		enum tab tab;
		const enum column *items; /* not owned; NULL for none */
		size_t count;
	} columns_given;  /* --columns: they are those of the tab that was first on the screen */
	bool all_columns; /* the columns that the width leaves out were asked for with Right */
	struct table *table;
	struct list list;
	struct tab_bar tab_bar;
	struct slow_note slow;
	struct asked_courses courses;
	struct lookup_cache lookups;
	struct session_identity identity; /* of the groups that the view was narrowed to; else all zero */
	char *search;                     /* what names are searched for, NULL for nothing */

	bool keeps_order;
	struct frozen frozen;        /* the order that is kept */
	size_t tops[VIEW_STEPS_MAX]; /* of the lists that the view's steps were opened in: first row shown */

	/* the page in place of the list */
	unsigned int page; /* PLACE_METRICS, PLACE_BLAME, PLACE_SETUP or PLACE_GRAPH; PLACE_LIST: none */
	struct list_place page_row; /* the row that it is about; no key: none */
	struct table *page_table;   /* of metrics or pairs, as last made; NULL: no pairs */
	struct list page_list;      /* shows it */
	struct metrics_page metrics;
	struct blame_page blame;
	struct setup setup;
	struct graph graph; /* the page of a number over time */

	enum overlay overlay;
	struct pager pager;
	char *explain_title;
	struct user_menu users;
	const struct chooser_use *choosing; /* the use of the chooser that was open last */
	struct chooser chooser;

	const struct prompt_use *prompting; /* NULL when no prompt is open */
	struct prompt prompt;
	char *prompt_before;            /* its text at first, owned */
	struct list_place prompt_place; /* of the cursor in ui->list at that time */
	struct prompt_history histories[PROMPT_TOPIC_COUNT];
	struct filtering filtering;

	struct buffer message;
	enum style message_style;
	bool message_pending; /* it stays until what it announces is done */

	enum action action; /* being done, and the key that asked for it */
	int key;

	/* the comparison */
	char *before_name;       /* of the file that before is, NULL for none yet */
	char *loading;           /* the file asked for, NULL for none */
	bool is_loading;         /* it has not been read yet */
	struct ui_event arrived; /* with the snapshot to compare with, NULL for none */
	uint64_t other_number;   /* of the last request for something to compare with */
	char *saved;             /* the file that was saved last, NULL for none */
	char *unwritten;         /* the report that was not written last, NULL for none */
	struct snapshot *held;  /* a round that came while paused, to be added before the next one, or NULL */
	struct view plain_view; /* what leaving the comparison goes back to */

	char *scheduler;       /* of sched_ext, that ran as of the last round: its name; NULL for none */
	bool awaits_scheduler; /* the screen says that it is gone, and waits for another one */

	struct header_counts counts;
	enum screen_frame frame;
	bool shows_devices; /* each CPU and the busiest disk and network, in the header */
	bool suspend;
	bool quit;
	char *failure; /* why there will be no round, NULL for none */
};

/* A rectangle of the screen, in cells. */
struct area {
	int y, height, width;
};

/* Each of the files below calls only files above it, and others through `ui->content`. */

/* --- screen_bottom.c: the last lines --- */

/* The place where keys go at present, a PLACE_ bit. */
unsigned int screen_place(const struct ui *ui);

/* The list that has the cursor where there is no text over it: the main one, or that of a page. */
struct list *screen_rows(struct ui *ui);

/* Opens a page in place of the list, about the row under the cursor; closes it, if one is open. */
void screen_open_page(struct ui *ui, unsigned int page);
void screen_close_page(struct ui *ui);

/* Whether there is a report of what is shown: of a file, or of a comparison. */
bool screen_has_report(const struct ui *ui);

/* Whether what is shown goes on, and its course is kept. */
bool screen_has_courses(const struct ui *ui);

/* Shows a sentence until the next key. */
void screen_message(struct ui *ui, enum style style, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Lets the user type a text that begins as `text`. */
void screen_open_prompt(struct ui *ui, const struct prompt_use *use, const char *text);

/* The number of lines. */
int screen_bottom_lines(const struct ui *ui);

/* Draws prompt, message and hints; returns the cell of the prompt's cursor. */
int screen_bottom_draw(struct ui *ui);

/* Whether there is room for nothing but that sentence. */
bool screen_is_too_small(void);

/* --- screen_lookup.c: texts that are looked up for what is shown --- */

/* Whether this screen can look anything up. */
bool screen_lookup_is_possible(const struct ui *ui);

/* Puts what is known into the cells of rows of ui->table that are about to be drawn, and asks for the rest.
 */
void screen_lookup_fill(struct ui *ui, size_t first, size_t count);

/* Asks for the command lines of all processes, of 2048 at most, because something is looked for in them. */
void screen_lookup_read_commands(struct ui *ui);

/* Whether the name of a row, or the command line of its process where it was read, has a text, in whatever
 * case. */
bool screen_lookup_row_has(const struct ui *ui, const struct table_row *row, const char *text);

/*
 * The command line of the process that all of a row are of, or where a thread sleeps: what is known at
 * present, and asks for it where that is too old. NULL: there is no such thing. Valid until the next call.
 */
const struct lookup_entry *screen_lookup_of(struct ui *ui, const struct table_row *row,
					    enum lookup_kind kind);

/* Returns the recorded title of the row's process, else its command line as screen_lookup_of() finds it; NULL
 * if neither is known. Valid until the next lookup or the next round. */
const char *screen_lookup_command(struct ui *ui, const struct table_row *row);

/* Appends to an explanation what is looked up of a row: of STUCK and WAITING where a thread sleeps. */
void screen_lookup_explain(struct ui *ui, const struct table_row *row, enum column column,
			   struct buffer *lines);

/* Appends where in the kernel a thread sleeps, in one line; nothing while it is not known. */
void screen_lookup_append_sleep(struct ui *ui, const struct table_row *row, struct buffer *line);

/* The same of the system call that it sleeps in, as strace(1) writes it, and what that waits for. */
void screen_lookup_append_call(struct ui *ui, const struct table_row *row, struct buffer *line);

/*
 * The same of the processes at the other end of the pipe or socket in its call, whose text is in `call`:
 * "  from 4711 gzip".
 */
void screen_lookup_append_peer(struct ui *ui, const struct table_row *row, const struct buffer *call,
			       struct buffer *line);

/* --- screen_list.c: groups and threads --- */

/* Makes the table again: the view or the session changed. */
void screen_list_refresh(struct ui *ui);

/* The column that rows are sorted by, NULL where it is no number. */
const struct table_column *screen_list_sorted_number(const struct ui *ui);

/* Asks for the course of other rows, or in another column, from the rounds that are kept; takes a part of it.
 */
void screen_list_follow(struct ui *ui);
void screen_list_take_courses(struct ui *ui, const struct ui_courses *courses);

/* Draws tabs, path and rows; returns the row of the cursor. */
int screen_list_draw(struct ui *ui, struct area area);

/* Says that a row is gone; false where it is not. */
bool screen_list_refuse_gone(struct ui *ui, const struct table_row *row);

/* Whether a tab is on the bar: the current one always is. */
bool screen_list_has_tab(const struct ui *ui, enum tab tab);

/* The tab at a cell of the last frame, TAB_COUNT for none. */
enum tab screen_list_tab_at(const struct ui *ui, int y, int x);

/* The title of the first column for the view: "PROCESS". Static storage. */
const char *screen_list_name_title(const struct view *view);

/* --- screen_metrics.c: all metrics of one row --- */

void screen_metrics_open(struct ui *ui);
void screen_metrics_refresh(struct ui *ui);

/* Shows the rows of which nothing is known, or folds them into one again. */
void screen_metrics_fold(struct ui *ui);

/* The key of that one. */
#define METRICS_FOLDED "\nfolded"

int screen_metrics_draw(struct ui *ui, struct area area);

/* --- screen_blame.c: who delays whom, and who wakes whom --- */

void screen_blame_open(struct ui *ui);
void screen_blame_choose(struct ui *ui);   /* opens the victim in the list */
void screen_blame_relation(struct ui *ui); /* delays, or wakeups */
void screen_blame_order(struct ui *ui);    /* sorts by the next number */

/* After a round, or in another mode. */
void screen_blame_refresh(struct ui *ui);
int screen_blame_draw(struct ui *ui, struct area area);

/* --- screen_graph.c: a number over time --- */

/* Opens the page of the marked number, or of the one that the rows are sorted by; says why where it cannot.
 */
void screen_graph_open(struct ui *ui);

/* After a round. */
void screen_graph_refresh(struct ui *ui);

/* --- navigate.c: changes of the view --- */

/* Takes over what the options say of the view, once it is there. */
void navigate_begin(struct ui *ui);

/* Other rows: the cursor has no row to stay on. */
void navigate_change_rows(struct ui *ui);

/* Other numbers or some other rows: the cursor stays on its row. */
void navigate_change_cells(struct ui *ui);

/* Narrows the list to the row under the cursor; of a thread shows all metrics. */
void navigate_open(struct ui *ui);

/* Returns false when there is nothing to go back to. */
bool navigate_back(struct ui *ui);

/* All metrics of the row under the cursor. */
void navigate_metrics(struct ui *ui);

/* The axes that rows can be grouped by, in order; returns how many. */
size_t navigate_axes(const struct ui *ui, enum axis order[AXIS_COUNT]);

/* Groups by an axis, or with AXIS_COUNT shows every thread. */
void navigate_axis(struct ui *ui, enum axis axis);

void navigate_names(struct ui *ui);
void navigate_tab(struct ui *ui); /* by ui->action and ui->key */
void navigate_to_tab(struct ui *ui, enum tab tab);
void navigate_kernel_threads(struct ui *ui);
void navigate_freeze(struct ui *ui);
void navigate_idle(struct ui *ui);

/*
 * After a round: the tab of task fields shows those of the scheduler that runs now, or goes with it. Returns
 * whether the rows are sorted by something else now.
 */
bool navigate_follow_scheduler(struct ui *ui);
void navigate_right(struct ui *ui);

/*
 * After the first round: says that the order or the filter of the command line cannot be read here, and sorts
 * as the tab does instead.
 */
void navigate_check_options(struct ui *ui);

/*
 * Sorts by a column of the table, by its id, or by the name where that is COLUMN_COUNT. A column that cannot
 * be read here is refused with what would help, and the order stays.
 */
void navigate_sort(struct ui *ui, unsigned int column);
void navigate_sort_neighbour(struct ui *ui); /* by ui->action */
void navigate_reverse(struct ui *ui);

/* Says why a filter cannot be applied here; false where it can. */
bool navigate_refuse_filter(struct ui *ui, const struct filter *filter);

/* Hands the settings to the host, with the sources that the view needs. */
void navigate_tell_host(struct ui *ui);

/* Has cpu.max and throttling of a cgroup read from the next round on, by its id in the newest one; 0: of
 * none. */
void navigate_read_limits(struct ui *ui, uint32_t cgroup);

/* --- screen_filter.c: the filter, while it is typed --- */

void screen_filter_open(struct ui *ui);

/* Filters by a text. Returns false, and shows why, when it is not valid. */
bool screen_filter_set(struct ui *ui, const char *text);

/* In how many milliseconds what is typed is to be shown, by screen_filter_apply(); -1: there is nothing new.
 */
int screen_filter_wait_ms(const struct ui *ui);

/* Shows the rows of what is typed, if its time has come. */
void screen_filter_apply(struct ui *ui);

/* --- screen_search.c: names that are searched for --- */

/* Asks what to search for, and goes to the match while it is typed. */
void screen_search_open(struct ui *ui);

/* Goes to the next row that matches, or the one before, while there is a search. */
void screen_search_next(struct ui *ui, bool back);

/* Ends the search; returns whether there was one. */
bool screen_search_end(struct ui *ui);

/* --- screen_chooser.c: menus that typing narrows --- */

/* What a column of a table is, by its id; NULL of one that is in no table of columns. */
const char *screen_chooser_description(unsigned int column);

void screen_chooser_open_columns(struct ui *ui); /* to sort by */
void screen_chooser_open_axes(struct ui *ui);    /* to group by */
void screen_chooser_open_palette(struct ui *ui); /* keys, tabs, axes and columns by words */
void screen_chooser_type(struct ui *ui);         /* takes ui->key */
void screen_chooser_close(struct ui *ui);        /* Backspace takes a character back first */

/* Does what the marked line stands for; without one it says why. Returns the action that is to be done for
 * it, or ACTION_NONE. */
enum action screen_chooser_choose(struct ui *ui);

int screen_chooser_draw(struct ui *ui, struct area area);

/* --- screen_users.c: the menu of users --- */

void screen_users_open(struct ui *ui);
void screen_users_choose(struct ui *ui);

/* Draws it at the bottom of an area; returns the row of the choice. */
int screen_users_draw(struct ui *ui, struct area area);

/* Counts the users again while the menu is open: after a round. */
void screen_users_refresh(struct ui *ui);

/* --- screen_setup.c: the columns of the tab --- */

void screen_setup_open(struct ui *ui);
void screen_setup_change(struct ui *ui); /* by ui->action */
void screen_setup_apply(struct ui *ui);
void screen_setup_find(struct ui *ui);
void screen_setup_new(struct ui *ui);
void screen_setup_write(struct ui *ui);
int screen_setup_draw(struct ui *ui, struct area area);

/* --- screen_help.c --- */

/* Adds the help to ui->pager. */
void screen_help_make(struct ui *ui);

/* --- screen_pages.c: texts --- */

/* Opens a page that is not a menu. */
void screen_pages_open(struct ui *ui, enum overlay page);

/* Makes the text of the open page again after a round or a change of size. */
void screen_pages_refresh(struct ui *ui);

/* Asks for a text to search the page for; goes to the next match, or the one before, by ui->action. */
void screen_pages_search(struct ui *ui);
void screen_pages_search_next(struct ui *ui);

/* Draws the open page; an explanation does not cover the row of the cursor. */
void screen_pages_draw(struct ui *ui, struct area area, int cursor_row);

/* --- screen_header.c --- */

/* Whether the numbers on the screen are of rounds that it takes: not of a file or a moment that has been. */
bool screen_is_of_now(const struct ui *ui);

/* The name of what the screen shows: its file, the time of its moment, or "now". */
const char *screen_name(const struct ui *ui);

/* Draws up to `lines` of the header lines of a session from row 0 (three, on the tab of task fields four);
 * returns how many. */
int screen_header_draw(struct ui *ui, int lines);

/* Whether there is room for the lines of CPUs and devices below the other lines of the header. */
bool screen_header_has_room(int lines);

/* How many lines the header may have. */
int screen_header_lines(void);

/* --- screen_session.c: content_of_session --- */

/* --- screen_comparison.c: two snapshots side by side, content_of_comparison --- */

/* Begins with the comparison that the options ask for. */
void screen_comparison_begin(struct ui *ui);

/*
 * Parses a time that the user typed. Lengths count back from the moment shown; a time of day is the last one
 * before now. Returns 0, or -EINVAL with a sentence.
 */
int screen_parse_time(const struct ui *ui, const char *text, uint64_t *ret_unix_ns, struct error *error);

/* Hands the newest round over as after. */
void screen_comparison_take_round(struct ui *ui);

/* Ends the comparison, if there is one, and shows after alone. */
void screen_comparison_leave(struct ui *ui);

/* Asks for a file to compare with; in a comparison: leaves it. */
void screen_comparison_toggle(struct ui *ui);

/*
 * Takes over a UI_EVENT_FILE with the snapshot to compare with, or, if that is NULL, shows its message, which
 * says why. What answers another than the last request is dropped.
 */
void screen_comparison_take_file(struct ui *ui, struct ui_event *event);

/* Goes to the comparison with what arrived, once nothing is being typed or chosen. */
void screen_comparison_follow(struct ui *ui);

/* A file that could not be compared with is not offered again. */
void screen_comparison_forget_failed(struct ui *ui);

void screen_comparison_swap(struct ui *ui);
void screen_comparison_equal(struct ui *ui);

void screen_comparison_release(struct ui *ui);

/* --- screen.c: the frame --- */

/* Draws one frame. */
void screen_draw(struct ui *ui);

/* --- look.c: moments that have been, see struct past --- */

/* Begins with the moment that the options have. */
void look_begin(struct ui *ui);

/* Takes a moment over that the host has made, or what has come of it; of `moment` the rest is the caller's.
 */
void look_take(struct ui *ui, struct ui_moment *moment);
void look_take_strip(struct ui *ui, const struct ui_strip *strip);

/* After another round, or moment, is in the session: all that is shown follows. A cursor that was not moved
 * goes to the first row where they are sorted by something else now. */
void look_refresh(struct ui *ui);

/* Asks for another moment, by ui->action. */
void look_step(struct ui *ui);

/* Asks which time to go to. */
void look_ask(struct ui *ui);

/* To the next mark, or the one before. */
void look_at_mark(struct ui *ui, bool before);

/* The moment shown becomes the base. */
void look_set_base(struct ui *ui);

/* Goes on from moment to moment, or stops; how fast, by ui->action. */
void look_play(struct ui *ui);
void look_change_speed(struct ui *ui);

/* In how many milliseconds look_play_on() has something to do, -1 for never. */
int look_wait_ms(const struct ui *ui);
void look_play_on(struct ui *ui);

/* Asks for what was before and after the moment, when another row or column, or another time, is shown. */
void look_follow(struct ui *ui);

/* Goes back to the rounds of a live screen, where it has some. */
void look_leave(struct ui *ui);

void look_release(struct ui *ui);

/* --- actions.c: keys and the mouse --- */

/* Does what a key asks for at the place where keys go at present; refuses one that has no use there. */
void actions_handle_key(struct ui *ui, int key);

/* Types a character of pasted text into the open prompt or chooser. Elsewhere it is ignored. */
void actions_handle_pasted(struct ui *ui, int character);

/* Does what the user did with the mouse, as far as that has a use where keys go at present. */
void actions_handle_pointer(struct ui *ui, struct pointer pointer);

/* Takes the answer to a request to complete what is in the prompt: the lines of UI_EVENT_NAMES. */
void actions_take_names(struct ui *ui, const char *lines);

/* Takes UI_EVENT_REPORT. */
void actions_take_report(struct ui *ui, struct ui_event *event);

#endif
