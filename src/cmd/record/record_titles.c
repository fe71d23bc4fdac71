/* SPDX-License-Identifier: GPL-2.0-only */
#include "record_titles.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "capture/lookup_thread.h"
#include "session/session.h"
#include "snapshot/lookup.h"
#include "table/view.h"

enum {
	CHOSEN_EACH = 20,             /* processes that are busiest, and as many that are stuck */
	CHOSEN_MAX = 2 * CHOSEN_EACH, /* in all */
	TITLE_MAX = 128,              /* bytes, unless all is recorded */
};

/* All processes of a round together have so long to answer. */
#define ANSWERS_WAIT_NS (250 * NS_PER_MS)

static const enum column choosing_columns[] = {COLUMN_CPU, COLUMN_LOST, COLUMN_STUCK};

/* Places in these. */
enum {
	BY_CPU,
	BY_WAITS,
	BY_STUCK,
};

struct record_titles {
	bool all;
	struct lookup_thread *lookups;
	struct lookup_cache texts;
	struct session *session; /* of the rounds */
};

/* A process whose title a round gets. */
struct chosen {
	struct lookup_request request;
	bool is_awaited; /* its answer has not come yet */
};

struct choice {
	struct chosen items[CHOSEN_MAX];
	size_t count;
};

int record_titles_start(enum record_titles_choice choice, const char *proc_root,
			struct record_titles **ret_titles, struct error *error)
{
	struct lookup_thread *lookups;
	int result;

	*ret_titles = NULL;
	if (choice == RECORD_TITLES_NONE)
		return 0;
	result = lookup_thread_start(proc_root, &lookups, error);
	if (result < 0)
		return result;
	*ret_titles = memory_allocate_zero(1, sizeof(**ret_titles));
	(*ret_titles)->all = choice == RECORD_TITLES_ALL;
	(*ret_titles)->lookups = lookups;
	(*ret_titles)->session = session_create();
	return 0;
}

void record_titles_end(struct record_titles *titles)
{
	if (titles == NULL)
		return;
	lookup_thread_stop(titles->lookups);
	lookup_cache_release(&titles->texts);
	session_release(titles->session);
	free(titles);
}

/* --- which processes --- */

/* A number that is not known does not make a process busy. */
static double known_number(const struct table_row *row, size_t column)
{
	const double number = cell_number(&row->cells[column]);

	return number > 0 ? number : 0;
}

static double how_busy(const struct table_row *row)
{
	return known_number(row, BY_CPU) + known_number(row, BY_WAITS);
}

static double how_stuck(const struct table_row *row)
{
	return known_number(row, BY_STUCK);
}

static void choose_process(struct choice *choice, const struct table_row *row)
{
	const struct lookup_request request = {.kind = LOOKUP_COMMAND,
					       .tgid = row->process,
					       .tid = row->process,
					       .start_time = row->process_start};

	for (size_t i = 0; i < choice->count; i++) {
		if (choice->items[i].request.tgid == request.tgid)
			return;
	}
	choice->items[choice->count++] = (struct chosen){.request = request};
}

/* Chooses the processes with the largest numbers above 0. */
static void choose_most(struct choice *choice, const struct table *table,
			double (*number_of)(const struct table_row *row))
{
	const struct table_row *most[CHOSEN_EACH];
	size_t count = 0;

	for (size_t i = 0; i < table->row_count; i++) {
		const struct table_row *row = &table->rows[i];
		const double number = number_of(row);
		size_t place;

		if (row->process == 0 || number <= 0 ||
		    (count == CHOSEN_EACH && number <= number_of(most[count - 1])))
			continue;
		place = count < CHOSEN_EACH ? count++ : count - 1;
		for (; place != 0 && number_of(most[place - 1]) < number; place--)
			most[place] = most[place - 1];
		most[place] = row;
	}
	for (size_t i = 0; i < count; i++)
		choose_process(choice, most[i]);
}

static struct choice choose_processes(struct record_titles *titles, struct snapshot *round)
{
	struct choice choice = {.count = 0};
	struct table *table;
	struct view view;

	session_add_round(titles->session, snapshot_reference(round));
	session_set_base(titles->session);
	view_initialise(&view);
	view.grouping.axis = AXIS_PID;
	view.columns = choosing_columns;
	view.column_count = ARRAY_COUNT(choosing_columns);
	view.hide_kernel_threads = true;
	view.hide_gone = true;
	table = session_table(titles->session, &view);
	choose_most(&choice, table, how_busy);
	choose_most(&choice, table, how_stuck);
	table_release(table);
	view_release(&view);
	return choice;
}

/* --- reading --- */

/* Titles change, so they are read for each round; other command lines hardly do. */
static bool is_due(const struct lookup_entry *entry, uint64_t now_ns)
{
	return (entry->answered && entry->is_title) || lookup_is_due(entry, now_ns);
}

/* Asks for the texts that are due. Returns how many answers are awaited. */
static size_t ask(struct record_titles *titles, struct choice *choice)
{
	const uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	size_t awaited = 0;

	for (size_t i = 0; i < choice->count; i++) {
		struct chosen *chosen = &choice->items[i];
		struct lookup_entry *entry = lookup_cache_entry(&titles->texts, &chosen->request, now_ns);

		if (!is_due(entry, now_ns) || !lookup_thread_ask(titles->lookups, &chosen->request))
			continue;
		entry->asked_ns = now_ns;
		chosen->is_awaited = true;
		awaited++;
	}
	return awaited;
}

/* Notes an answer. Returns whether it was awaited: it may be a late one for an earlier round. */
static bool take_answer(struct record_titles *titles, struct choice *choice,
			const struct lookup_answer *answer)
{
	lookup_cache_take(&titles->texts, answer);
	for (size_t i = 0; i < choice->count; i++) {
		struct chosen *chosen = &choice->items[i];

		if (chosen->is_awaited && chosen->request.tgid == answer->request.tgid &&
		    chosen->request.start_time == answer->request.start_time) {
			chosen->is_awaited = false;
			return true;
		}
	}
	return false;
}

static void wait_for_answers(struct record_titles *titles, struct choice *choice, size_t awaited)
{
	const uint64_t deadline_ns = clock_ns(CLOCK_MONOTONIC) + ANSWERS_WAIT_NS;
	struct lookup_answer answer;

	while (awaited != 0) {
		const uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
		struct pollfd wait = {.fd = lookup_thread_descriptor(titles->lookups), .events = POLLIN};

		while (lookup_thread_receive(titles->lookups, &answer))
			awaited -= take_answer(titles, choice, &answer);
		if (awaited == 0 || now_ns >= deadline_ns)
			return;
		(void)poll(&wait, 1, (int)((deadline_ns - now_ns) / NS_PER_MS) + 1);
	}
}

/* --- the round --- */

/* The length of a text cut to `limit` bytes, not within a character. */
static size_t cut_length(const char *text, size_t limit)
{
	size_t length = strnlen(text, limit + 1);

	if (length <= limit)
		return length;
	for (length = limit; length != 0 && (text[length] & 0xc0) == 0x80;)
		length--;
	return length;
}

/* The title of a process that has answered, owned by the caller; NULL for none. */
static char *make_title(const struct record_titles *titles, const struct chosen *chosen)
{
	const struct lookup_entry *entry = lookup_cache_find(&titles->texts, &chosen->request);

	if (chosen->is_awaited || entry == NULL || entry->text == NULL || entry->text[0] == '\0' ||
	    !(entry->is_title || titles->all))
		return NULL;
	return memory_duplicate_bytes(entry->text,
				      cut_length(entry->text, titles->all ? LOOKUP_TEXT_MAX : TITLE_MAX));
}

void record_titles_add(struct record_titles *titles, struct snapshot *round)
{
	struct process_title found[CHOSEN_MAX];
	struct choice choice;
	size_t count = 0;

	if (titles == NULL)
		return;
	choice = choose_processes(titles, round);
	wait_for_answers(titles, &choice, ask(titles, &choice));
	for (size_t i = 0; i < choice.count; i++) {
		char *text = make_title(titles, &choice.items[i]);

		if (text != NULL)
			found[count++] = (struct process_title){choice.items[i].request.tgid, text};
	}
	snapshot_set_titles(round, found, count);
	for (size_t i = 0; i < count; i++)
		free((char *)(uintptr_t)found[i].text);
}
