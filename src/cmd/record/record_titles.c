/* SPDX-License-Identifier: GPL-2.0-only */
#include "record_titles.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/memory.h"
#include "capture/lookup_thread.h"
#include "session/origin.h"
#include "snapshot/lookup.h"
#include "snapshot/thread_match.h"
#include "window/reduce.h"

enum {
	CHOSEN_EACH = 20,             /* busiest processes, and stuck processes */
	CHOSEN_MAX = 2 * CHOSEN_EACH, /* processes of a round */
	TITLE_MAX = 128,              /* bytes, except with RECORD_TITLES_ALL */
};

/* How long a round waits for all answers together. */
#define ANSWERS_WAIT_NS (250 * NS_PER_MS)

struct record_titles {
	bool all;
	struct lookup_thread *lookups;
	struct lookup_cache texts;
	struct snapshot *before; /* a reference to the last round; NULL before the first */
};

/* A process whose title is read for a round. */
struct chosen {
	struct lookup_request request;
	bool is_awaited; /* asked for, and not answered yet */
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
	return 0;
}

void record_titles_end(struct record_titles *titles)
{
	if (titles == NULL)
		return;
	lookup_thread_stop(titles->lookups);
	lookup_cache_release(&titles->texts);
	snapshot_release(titles->before);
	free(titles);
}

/* --- which processes --- */

/* Makes a row for each process of a round that is not a kernel thread. Returns the process id of each row;
 * the caller frees the array. */
static uint32_t *collect_processes(const struct snapshot *round, struct shown *shown)
{
	uint32_t *pids = memory_allocate((round->thread_count + 1) * sizeof(*pids));
	struct hash_map row_of = {0};

	*shown = (struct shown){.now = round};
	shown_reserve(shown, round->thread_count, round->thread_count);
	for (uint32_t i = 0; i < round->thread_count; i++) {
		uint32_t row = (uint32_t)shown->row_count - 1;

		if ((round->thread_flags[i] & THREAD_KERNEL) != 0)
			continue;
		/* the threads of a process follow each other */
		if ((shown->row_count == 0 || pids[row] != round->tgid[i]) &&
		    !hash_map_get(&row_of, round->tgid[i], &row)) {
			row = (uint32_t)shown->row_count;
			hash_map_set(&row_of, round->tgid[i], row);
			pids[shown->row_count++] = round->tgid[i];
		}
		shown_add(shown, i, row);
	}
	hash_map_release(&row_of);
	return pids;
}

/* Adds the values of a column to `numbers`, by row. Unknown and negative values count as 0. */
static void add_column(const struct window *window, const struct shown *shown, enum column column,
		       double numbers[])
{
	struct column_values values;

	reduce_column(window, shown, column, &values);
	for (size_t row = 0; row < shown->row_count; row++) {
		struct value value;
		double number;

		reduce_value(shown, &values, row, &value);
		if (value_number(&value, &number) && number > 0)
			numbers[row] += number;
	}
	column_values_release(&values);
}

static void choose_process(struct choice *choice, const struct snapshot *round, uint32_t pid)
{
	const uint32_t leader = snapshot_find_row(round, pid, pid);
	struct lookup_request request = {.kind = LOOKUP_COMMAND, .tgid = pid, .tid = pid};

	if (leader == SNAPSHOT_NO_ROW)
		return;
	for (size_t i = 0; i < choice->count; i++) {
		if (choice->items[i].request.tgid == pid)
			return;
	}
	request.start_time = round->start_time[leader];
	choice->items[choice->count++] = (struct chosen){.request = request};
}

/* Chooses at most CHOSEN_EACH processes: those with the largest `numbers`, which must be above 0. */
static void choose_most(struct choice *choice, const struct snapshot *round, const uint32_t pids[],
			const double numbers[], size_t process_count)
{
	size_t most[CHOSEN_EACH], count = 0;

	for (size_t i = 0; i < process_count; i++) {
		size_t place;

		if (numbers[i] <= 0 || (count == CHOSEN_EACH && numbers[i] <= numbers[most[count - 1]]))
			continue;
		place = count < CHOSEN_EACH ? count++ : count - 1;
		for (; place != 0 && numbers[most[place - 1]] < numbers[i]; place--)
			most[place] = most[place - 1];
		most[place] = i;
	}
	for (size_t i = 0; i < count; i++)
		choose_process(choice, round, pids[most[i]]);
}

/* Returns the origin for counting `round` from the round before, and keeps `round` for the next call. */
static struct origin follow(struct record_titles *titles, struct snapshot *round)
{
	struct snapshot *before = titles->before;
	struct origin origin = {0};
	bool *seen;

	titles->before = snapshot_reference(round);
	if (before == NULL)
		return origin;
	seen = memory_allocate_zero(before->thread_count + 1, sizeof(*seen));
	origin_take(&origin, before, thread_match(round, before, seen, NULL));
	origin.still = origin_find_still(round, before, origin.from_of);
	free(seen);
	return origin;
}

/* Uses no session, which would also group, name and sort all processes in every round. */
static struct choice choose_processes(struct record_titles *titles, struct snapshot *round)
{
	struct origin origin = follow(titles, round);
	const struct window window = origin_window(&origin, round, WINDOW_MODE_RATE);
	struct choice choice = {.count = 0};
	struct shown shown;
	uint32_t *pids = collect_processes(round, &shown);
	double *busy = memory_allocate_zero(shown.row_count + 1, sizeof(*busy));
	double *stuck = memory_allocate_zero(shown.row_count + 1, sizeof(*stuck));

	if (window.still != NULL)
		shown_gather_still(&shown, window.still);
	add_column(&window, &shown, COLUMN_CPU, busy);
	add_column(&window, &shown, COLUMN_LOST, busy);
	add_column(&window, &shown, COLUMN_STUCK, stuck);
	choose_most(&choice, round, pids, busy, shown.row_count);
	choose_most(&choice, round, pids, stuck, shown.row_count);
	free(stuck);
	free(busy);
	free(pids);
	shown_release(&shown);
	origin_release(&origin);
	return choice;
}

/* --- reading --- */

/* Titles change and are read again for each round; other command lines hardly ever change. */
static bool is_due(const struct lookup_entry *entry, uint64_t now_ns)
{
	return (entry->answered && entry->is_title) || lookup_is_due(entry, now_ns);
}

/* Asks for the command lines that are due. Returns how many answers to wait for. */
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

/* Caches an answer. Returns whether `choice` awaited it: a late answer may belong to an earlier round. */
static bool take_answer(struct record_titles *titles, struct choice *choice,
			const struct lookup_answer *answer)
{
	(void)lookup_cache_take(&titles->texts, answer);
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

/* Returns the length of a text after cutting it to `limit` bytes, without splitting a UTF-8 character. */
static size_t cut_length(const char *text, size_t limit)
{
	size_t length = strnlen(text, limit + 1);

	if (length <= limit)
		return length;
	for (length = limit; length != 0 && (text[length] & 0xc0) == 0x80;)
		length--;
	return length;
}

/* Returns the title to record for a process, NULL for none. The caller frees it. */
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
