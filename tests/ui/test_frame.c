/* SPDX-License-Identifier: GPL-2.0-only */
/* What a frame sends: writes and bytes, and changes that lead to the same picture as a whole frame. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vterm.h>

#include "base/memory.h"
#include "tests/cmocka_include.h"
#include "tests/wait.h"

#include "fake_program.h"

static const char still[] = "postgres-{N} 182.4,worker-{N} 141,nginx 12.1,batch-{N} 9.9,kworker 0.8,solo 0.4";

/* Whether the program waits. The kernel counts a write after it woke whoever reads what was written. */
static bool is_asleep(const struct pty_screen *pty)
{
	char path[64], text[512] = "";
	const char *name_end;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", pty->child);
	file = fopen(path, "re");
	if (file != NULL) {
		(void)!fgets(text, sizeof(text), file);
		fclose(file);
	}
	name_end = strrchr(text, ')');
	return name_end != NULL && strncmp(name_end, ") S", 3) == 0;
}

/* write(2) calls of the program so far, or -1 if this kernel does not count them. */
static long long count_writes(struct pty_screen *pty)
{
	char path[64], line[128];
	long long count = -1;
	FILE *file;

	pty_sync(pty);
	await("the program waits", is_asleep(pty));
	snprintf(path, sizeof(path), "/proc/%d/io", pty->child);
	file = fopen(path, "re");
	while (file != NULL && count < 0 && fgets(line, sizeof(line), file) != NULL) {
		if (sscanf(line, "syscw: %lld", &count) != 1)
			count = -1;
	}
	if (file != NULL)
		fclose(file);
	return count;
}

static void need_counts(struct pty_screen *pty)
{
	if (count_writes(pty) >= 0)
		return;
	pty_release(pty);
	print_message("SKIP: this kernel does not count the writes of a process\n");
	skip();
}

struct cost {
	long long writes;
	uint64_t bytes;
};

/* The writes and bytes of the frames that a round leads to, or a key if that is not NULL. */
static struct cost measure(struct pty_screen *pty, const char *rows, const char *key)
{
	const long long writes = count_writes(pty);
	const uint64_t bytes = pty->bytes;
	struct cost cost;

	if (key != NULL)
		pty_type(pty, key);
	else
		fake_round(pty, rows);
	/* one write more is the answer to pty_sync() */
	cost.writes = count_writes(pty) - writes - 1;
	cost.bytes = pty->bytes - bytes;
	print_message("%s: writes %lld, bytes %llu\n", key != NULL ? "a key" : rows, cost.writes,
		      (unsigned long long)cost.bytes);
	return cost;
}

/* A round in which nothing happened moves the clock; one in which all did is one write as well. */
static void test_frame_is_one_write(void **state)
{
	struct pty_screen pty;
	struct cost cost;

	(void)state;
	fake_start_with_rows(&pty, NULL);
	need_counts(&pty);
	fake_round(&pty, still);
	cost = measure(&pty, still, NULL);
	assert_int_equal(cost.writes, 1);
	assert_in_range(cost.bytes, 1, 1000);
	/* a key that leads nowhere: a frame without a change */
	cost = measure(&pty, NULL, "\033[A");
	assert_int_equal(cost.writes, 0);
	assert_int_equal(cost.bytes, 0);
	cost = measure(&pty, NULL, "\033[B");
	assert_int_equal(cost.writes, 1);
	cost = measure(&pty, "batch-{N} 250,solo 77.7,nginx 31.4,worker-{N} 2.7,postgres-{N} 1.8", NULL);
	assert_int_equal(cost.writes, 1);
	assert_true(pty_find(&pty, "77.7", NULL) > 0);
	pty_quit(&pty);
}

/* A whole frame of a large screen may take a few writes. */
static void test_whole_frame(void **state)
{
	const struct pty_options large = {.rows = 200, .columns = 500};
	struct pty_screen pty;
	struct cost cost;

	(void)state;
	fake_start_with_rows(&pty, &large);
	need_counts(&pty);
	cost = measure(&pty, NULL, "\014");
	assert_in_range(cost.writes, 1, 4);
	assert_true(cost.bytes > 500);
	pty_quit(&pty);
}

/* Frames are updates only after the terminal has answered that it has these. */
static void test_updates(void **state)
{
	static const struct {
		const char *answer;
		bool has_them;
	} cases[] = {
		{NULL, false},
		{"\033[?2026;0$y", false},
		{"\033[?2026;4$y", false},
		{"\033[?2026;1$y", true},
		{"\033[?2026;2$y", true},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		struct pty_screen pty;

		fake_start_with_rows(&pty, NULL);
		if (cases[i].answer != NULL)
			pty_type(&pty, cases[i].answer);
		pty_sync(&pty);
		assert_int_equal(pty.updates, 0);
		fake_round(&pty, "postgres-{N} 99.9");
		pty_wait_text(&pty, "99.9");
		assert_int_equal(pty.updates, cases[i].has_them);
		assert_false(pty.is_updating);
		/* a frame without a change sends no mark either */
		pty_type(&pty, "\033[A");
		pty_sync(&pty);
		assert_int_equal(pty.updates, cases[i].has_them);
		pty_quit(&pty);
	}
}

/* What a person sees of a cell. */
struct sight {
	uint32_t characters[VTERM_MAX_CHARS_PER_CELL];
	int width, reverse, bold, underline, foreground, background;
};

static struct sight *look(struct pty_screen *pty)
{
	struct sight *sights = calloc((size_t)pty->rows * (size_t)pty->columns, sizeof(*sights));

	assert_non_null(sights);
	for (int i = 0; i < pty->rows * pty->columns; i++) {
		const VTermPos place = {.row = i / pty->columns, .col = i % pty->columns};
		VTermScreenCell cell;

		memset(&cell, 0, sizeof(cell));
		vterm_screen_get_cell(pty->screen, place, &cell);
		for (size_t j = 0; j < VTERM_MAX_CHARS_PER_CELL && cell.chars[j] != 0; j++)
			sights[i].characters[j] = cell.chars[j];
		/* an erased cell */
		if (cell.chars[0] == 0)
			sights[i].characters[0] = ' ';
		/* the second cell of a wide character shows nothing of its own */
		if (cell.chars[0] == (uint32_t)-1)
			continue;
		sights[i].width = cell.width;
		sights[i].reverse = cell.attrs.reverse;
		sights[i].bold = cell.attrs.bold;
		sights[i].underline = cell.attrs.underline;
		sights[i].foreground = pty_foreground(pty, place.row, place.col);
		sights[i].background = pty_background(pty, place.row, place.col);
	}
	return sights;
}

/* Fails unless a whole frame shows what the changes led to. */
static void expect_same_whole(struct pty_screen *pty, const char *after)
{
	struct sight *changed, *whole;
	uint64_t bytes;

	pty_sync(pty);
	changed = look(pty);
	bytes = pty->bytes;
	pty_command(pty, "repaint");
	pty_sync(pty);
	assert_true(pty->bytes - bytes > 200);
	whole = look(pty);
	for (int i = 0; i < pty->rows * pty->columns; i++) {
		if (memcmp(&changed[i], &whole[i], sizeof(*whole)) != 0) {
			pty_print(pty);
			fail_msg("after %s row %d column %d is not as in a whole frame", after,
				 i / pty->columns, i % pty->columns);
		}
	}
	free(changed);
	free(whole);
}

/* Rows come, go and change places, with wide and combined characters where others had narrow ones. */
static void test_changes_are_whole(void **state)
{
	static const char *const names[] = {"nginx",
					    "postgres-{N}",
					    "日本語",
					    "aa日本語スレッド",
					    "e\u0301galite\u0301",
					    "x\u0301\u0302\u0303\u0304\u0305\u0306\u0307",
					    "naïve",
					    "a-name-of-a-thread-that-is-longer-than-others"};
	static const char *const keys[] = {"j", "k", "G", "\t", "i", "\177", "?", "\177", "#", "%", "\033[C"};
	static const struct pty_options sizes[] = {{.rows = 24, .columns = 80},
						   {.rows = 12, .columns = 41},
						   {.rows = 36, .columns = 120, .term = "screen-256color"},
						   {.rows = 24, .columns = 80, .term = "vt220"}};
	const unsigned int steps = ADDRESS_SANITIZER ? 40 : 80;

	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(sizes); i++) {
		unsigned int seed = 12;
		struct pty_screen pty;

		fake_start(&pty, &sizes[i], NULL);
		for (unsigned int step = 0; step < steps; step++) {
			const char *key = keys[(size_t)rand_r(&seed) % ARRAY_COUNT(keys)];
			char command[128];

			for (size_t j = 0; j < ARRAY_COUNT(names); j++) {
				if (rand_r(&seed) % 3 == 0)
					continue;
				snprintf(command, sizeof(command), "row . 2 %d.%d %s", rand_r(&seed) % 300,
					 rand_r(&seed) % 10, names[j]);
				pty_command(&pty, command);
			}
			pty_command(&pty, "round");
			expect_same_whole(&pty, "a round");
			pty_type(&pty, key);
			expect_same_whole(&pty, key);
		}
		pty_release(&pty);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_frame_is_one_write),
		cmocka_unit_test(test_whole_frame),
		cmocka_unit_test(test_updates),
		cmocka_unit_test(test_changes_are_whole),
	};

	pty_need();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
