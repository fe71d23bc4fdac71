/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Command lines, and where threads sleep: asked for when a row is drawn, and drawn when they have come. The
 * screen never waits for them.
 */
#include "screen.h"

#include <linux/capability.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/remedy.h"
#include "base/rights.h"
#include "base/string_pool.h"
#include "base/unicode.h"
#include "table/column_list.h"
#include "table/value_cell.h"
#include "window/column.h"

enum {
	SLEEPERS_MAX = 64,   /* threads of a row that are looked at */
	COMMANDS_MAX = 2048, /* processes whose command lines are read to look for something in them */
};

bool screen_lookup_is_possible(const struct ui *ui)
{
	/* of the past nothing can be looked up any more */
	return ui_offers(ui->host, UI_REQUEST_LOOKUP) && !ui->past.open;
}

const struct lookup_entry *screen_lookup_of(struct ui *ui, const struct table_row *row, enum lookup_kind kind)
{
	const uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	const bool of_thread = kind != LOOKUP_COMMAND;
	const struct lookup_request request = {
		.kind = kind,
		.tgid = row->process,
		.tid = of_thread ? row->tid : row->process,
		.start_time = of_thread ? row->start_time : row->process_start,
	};
	struct lookup_entry *entry;

	if (!screen_lookup_is_possible(ui) || request.tgid == 0 || request.tid == 0)
		return NULL;
	entry = lookup_cache_entry(&ui->lookups, &request, now_ns);
	if (lookup_is_due(entry, now_ns) &&
	    ui_request(ui->host, &(struct ui_request){.kind = UI_REQUEST_LOOKUP, .lookup = request}))
		entry->asked_ns = now_ns;
	return entry;
}

const char *screen_lookup_command(struct ui *ui, const struct table_row *row)
{
	const struct snapshot *now = session_now(ui->session);
	const char *title = now != NULL ? snapshot_find_title(now, row->process) : NULL;
	const struct lookup_entry *entry;

	if (title != NULL)
		return title;
	entry = screen_lookup_of(ui, row, LOOKUP_COMMAND);
	return entry != NULL ? entry->text : NULL;
}

void screen_lookup_read_commands(struct ui *ui)
{
	const struct snapshot *now = session_now(ui->session);
	size_t count = 0;

	if (now == NULL || ui->comparison != NULL)
		return;
	for (size_t i = 0; i < now->thread_count && count < COMMANDS_MAX; i++) {
		const struct table_row row = {.process = now->tgid[i], .process_start = now->start_time[i]};

		if (now->tid[i] != now->tgid[i])
			continue;
		screen_lookup_of(ui, &row, LOOKUP_COMMAND);
		count++;
	}
}

bool screen_lookup_row_has(const struct ui *ui, const struct table_row *row, const char *text)
{
	const struct lookup_request request = {.kind = LOOKUP_COMMAND,
					       .tgid = row->process,
					       .tid = row->process,
					       .start_time = row->process_start};
	const struct lookup_entry *entry = lookup_cache_find(&ui->lookups, &request);
	const struct snapshot *now = session_now(ui->session);
	const char *title = now != NULL ? snapshot_find_title(now, row->process) : NULL;

	if (unicode_contains(row->label, row->label_length, text) ||
	    (title != NULL && unicode_contains(title, strlen(title), text)))
		return true;
	return row->process != 0 && entry != NULL && entry->text != NULL &&
	       unicode_contains(entry->text, strlen(entry->text), text);
}

static void fill_cell(struct ui *ui, const struct table_row *row, enum column column, struct cell *cell)
{
	const struct lookup_entry *entry = screen_lookup_of(
		ui, row, column == COLUMN_WCHAN ? LOOKUP_SLEEP : LOOKUP_COMMAND);

	/* of several processes the cell says how many */
	if (entry != NULL)
		value_set_looked_up(entry, &ui->table->arena, cell);
}

void screen_lookup_fill(struct ui *ui, size_t first, size_t count)
{
	struct table *table = ui->table;
	const size_t end = count < table->row_count - first ? first + count : table->row_count;

	for (size_t i = 0; i < table->column_count; i++) {
		const enum column column = (enum column)table->columns[i].column;

		if (column >= COLUMN_COUNT || !column_is_looked_up(column))
			continue;
		for (size_t row = first; row < end; row++) {
			if (!table_row_is_gone(&table->rows[row]))
				fill_cell(ui, &table->rows[row], column, &table->rows[row].cells[i]);
		}
	}
}

/* Appends the functions behind the first line of a text, the innermost first. */
static void append_frames(const char *text, struct buffer *lines)
{
	const char *next = strchr(text, '\n');

	while (next != NULL) {
		const size_t length = strcspn(next + 1, "\n");

		buffer_append_text(lines, "  ");
		buffer_append(lines, next + 1, length);
		buffer_append_char(lines, '\n');
		next = strchr(next + 1, '\n');
	}
}

/* Appends how to get these capabilities: " (run as root)". */
static void append_remedy(uint64_t capabilities, struct buffer *lines)
{
	struct arena arena = {0};
	const char *remedy = getuid() == 0 ? remedy_for_rights(&arena, capabilities, false) : "run as root";

	if (remedy != NULL)
		buffer_append_format(lines, " (%s)", remedy);
	arena_release(&arena);
}

static void append_sleep(const struct lookup_entry *entry, struct buffer *lines)
{
	const char *text = entry->text;

	if (text == NULL && entry->answered && entry->reason == REASON_NOT_PERMITTED) {
		/* proc_pid_wchan() of fs/proc/base.c asks ptrace_may_access() */
		buffer_append_text(lines, "Cannot read where in the kernel it sleeps: threads of other "
					  "users need CAP_SYS_PTRACE");
		append_remedy(RIGHTS_BIT(CAP_SYS_PTRACE), lines);
		buffer_append_text(lines, ".\n");
		return;
	}
	if (text == NULL) {
		buffer_append_format(lines, "In the kernel: %s.\n",
				     entry->answered ? reason_words(entry->reason) : "being looked up");
		return;
	}
	if (*text == '\0') {
		buffer_append_text(lines, "In the kernel: it runs, or is about to.\n");
		return;
	}
	buffer_append_text(lines, "In the kernel it sleeps in ");
	buffer_append(lines, text, strcspn(text, "\n"));
	buffer_append_char(lines, '\n');
	if (entry->detail_reason == REASON_NOT_PERMITTED) {
		buffer_append_text(lines, "  the call chain needs CAP_SYS_ADMIN and CAP_SYS_PTRACE");
		append_remedy(RIGHTS_BIT(CAP_SYS_ADMIN) | RIGHTS_BIT(CAP_SYS_PTRACE), lines);
		buffer_append_char(lines, '\n');
	} else if (entry->detail_reason != REASON_READ) {
		buffer_append_format(lines, "  call chain: %s\n", reason_words(entry->detail_reason));
	}
	append_frames(text, lines);
}

/* The functions in which threads of a row sleep, and how many do in each. */
struct places {
	struct string_pool names;
	size_t threads[SLEEPERS_MAX + 1]; /* by id of the name; that of no name is 0 */
	size_t known;
};

static const struct lookup_entry *lookup_of_sleeper(struct ui *ui, const struct session_sleeper *sleeper)
{
	const struct table_row row = {
		.process = sleeper->tgid, .tid = sleeper->tid, .start_time = sleeper->start_time};

	return screen_lookup_of(ui, &row, LOOKUP_SLEEP);
}

/* Counts the functions that are known by now; asks for the others. */
static void find_places(struct ui *ui, const struct session_sleeper sleepers[], size_t count,
			struct places *places)
{
	*places = (struct places){0};
	for (size_t i = 0; i < count; i++) {
		const struct lookup_entry *entry = lookup_of_sleeper(ui, &sleepers[i]);
		const char *text = entry != NULL ? entry->text : NULL;
		const size_t length = text != NULL ? strcspn(text, "\n") : 0;

		if (length == 0)
			continue;
		places->known++;
		/* another lookup may take the text away */
		places->threads[string_pool_intern(&places->names, text, length)]++;
	}
}

static void append_most(struct places *places, struct buffer *lines)
{
	uint32_t most = 0;

	for (uint32_t id = 1; id < places->names.count; id++)
		most = places->threads[id] > places->threads[most] ? id : most;
	buffer_append_format(lines, "  %3zu  %s\n", places->threads[most],
			     string_pool_text(&places->names, most));
	places->threads[most] = 0;
}

/* Says where the threads of a group sleep. */
static void append_places(struct ui *ui, const struct table_row *row, struct buffer *lines)
{
	struct session_sleeper sleepers[SLEEPERS_MAX];
	struct places places;
	size_t all;
	const size_t count = session_find_sleepers(ui->session, &ui->view, row->key, row->key_length,
						   sleepers, SLEEPERS_MAX, &all);
	const struct lookup_entry *first;

	find_places(ui, sleepers, count, &places);
	first = count != 0 ? lookup_of_sleeper(ui, &sleepers[0]) : NULL;
	if (first != NULL && places.known == 0 && first->answered)
		append_sleep(first, lines);
	else if (first != NULL)
		buffer_append_format(
			lines,
			"In D, or asleep for 0.5 s or longer: %zu threads. Where in the kernel, of %zu:\n",
			all, places.known);
	for (uint32_t i = 1; i < places.names.count; i++)
		append_most(&places, lines);
	string_pool_release(&places.names);
}

/* Appends the lines of a text, with `separator` between them. */
static void append_joined(const char *text, const char *separator, struct buffer *lines)
{
	for (const char *next = text; *next != '\0';) {
		const size_t length = strcspn(next, "\n");

		if (next != text)
			buffer_append_text(lines, separator);
		buffer_append(lines, next, length);
		next += length + (next[length] == '\n');
	}
}

void screen_lookup_explain(struct ui *ui, const struct table_row *row, enum column column,
			   struct buffer *lines)
{
	const struct lookup_entry *entry;
	const char *command;

	if (column == COLUMN_COMMAND) {
		command = screen_lookup_command(ui, row);
		entry = screen_lookup_of(ui, row, LOOKUP_COMMAND);
		if (command != NULL)
			buffer_append_format(lines, "%u: %s\n", row->process, command);
		else if (entry != NULL && entry->answered)
			buffer_append_format(lines, "Unavailable: %s.\n",
					     entry->reason == REASON_NOT_READ
						     ? "the process did not answer in time"
						     : reason_words(entry->reason));
		return;
	}
	if (column != COLUMN_WCHAN && column != COLUMN_STUCK && column != COLUMN_WAITING &&
	    (column != COLUMN_WAITS_FOR || row->tid == 0))
		return;
	entry = screen_lookup_of(ui, row, LOOKUP_SLEEP);
	if (entry != NULL)
		append_sleep(entry, lines);
	else if (row->tid == 0)
		append_places(ui, row, lines);
	entry = screen_lookup_of(ui, row, LOOKUP_CALL);
	if (entry != NULL && entry->text != NULL && *entry->text != '\0') {
		buffer_append_text(lines, "System call: ");
		append_joined(entry->text, "\n  ", lines);
		screen_lookup_append_peer(ui, row, lines, lines);
		buffer_append_char(lines, '\n');
	}
}

void screen_lookup_append_sleep(struct ui *ui, const struct table_row *row, struct buffer *line)
{
	const struct lookup_entry *entry = screen_lookup_of(ui, row, LOOKUP_SLEEP);
	const char *text = entry != NULL ? entry->text : NULL;
	const char *frames = text != NULL ? strchr(text, '\n') : NULL;

	if (text == NULL && entry != NULL && entry->answered && entry->reason == REASON_NOT_PERMITTED)
		buffer_append_text(line, "in the kernel: not permitted  (needs root)");
	if (text == NULL || *text == '\0')
		return;
	buffer_append_text(line, "in the kernel: ");
	if (frames == NULL) {
		buffer_append_text(line, text);
		if (entry->detail_reason == REASON_NOT_PERMITTED)
			buffer_append_text(line, "  (the call chain needs root)");
		return;
	}
	for (const char *next = frames + 1; *next != '\0';) {
		const size_t length = strcspn(next, "\n");

		if (next != frames + 1)
			buffer_append_text(line, " < ");
		buffer_append(line, next, length);
		next += length + (next[length] == '\n');
	}
}

void screen_lookup_append_call(struct ui *ui, const struct table_row *row, struct buffer *line)
{
	const struct lookup_entry *entry = screen_lookup_of(ui, row, LOOKUP_CALL);

	if (entry == NULL || entry->text == NULL || *entry->text == '\0')
		return;
	buffer_append_text(line, "system call: ");
	append_joined(entry->text, "  ", line);
}

void screen_lookup_append_peer(struct ui *ui, const struct table_row *row, const struct buffer *call,
			       struct buffer *line)
{
	const struct lookup_entry *entry = screen_lookup_of(ui, row, LOOKUP_PEER);
	const char *peer = entry != NULL && entry->text != NULL ? strchr(entry->text, '\n') : NULL;

	/* the thread may be in another call by now, and its peer is asked for less often */
	if (peer != NULL && call->length != 0 &&
	    memmem(call->data, call->length, entry->text, (size_t)(peer - entry->text)) != NULL)
		buffer_append_format(line, "  %s", peer + 1);
}
