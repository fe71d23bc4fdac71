/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The parsers of /proc/PID/task/TID: names in these files are a stranger's bytes. The first byte chooses one.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "capture/procfs/procfs.h"
#include "capture/wait_call.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

static void parse_lists(const char *text, size_t length)
{
	struct string_pool strings = {0};
	struct arena arena = {0};
	struct key_values kib = {0};

	require(procfs_parse_keys(text, length, PROCFS_KEYS_COLON, &strings, &arena, &kib) ==
		(kib.count > 0));
	for (uint32_t i = 0; i < kib.count; i++)
		require(string_pool_text(&strings, kib.items[i].key) != NULL);
	arena_release(&arena);
	string_pool_release(&strings);
}

static void parse_status(struct thread_reading *reading, const char *text, size_t length)
{
	struct string_pool sets = {0};

	procfs_parse_lines(reading, SOURCE_STATUS, &sets, text, length);
	string_pool_release(&sets);
}

static void parse_word(const char *text, size_t length, bool cgroup)
{
	struct text word = text_trim((struct text){text, length}), rest = {text, length}, controllers;

	if (!cgroup || procfs_parse_cgroup(text, length, &word))
		require(word.data >= text && word.length <= length &&
			word.data + word.length <= text + length);
	while (cgroup && procfs_next_cgroup(&rest, &controllers, &word))
		require(controllers.data >= text && word.data >= controllers.data + controllers.length &&
			word.data + word.length <= text + length);
}

static void parse_call(const char *text, size_t length)
{
	struct procfs_syscall call;
	struct wait_file file;
	char object[WAIT_OBJECT_SIZE];

	if (procfs_parse_syscall(text, length, &call))
		require(!call.is_running || call.number == 0);
	wait_file_from_link(text, length, &file);
	require(memchr(file.name, '\0', sizeof(file.name)) != NULL);
	require(wait_call_object(wait_file_class(&file), &(struct wait_call){0}, &file, NULL, object) <=
		strlen(file.name));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct thread_reading reading;
	const char *text = (const char *)data + 1;

	if (size == 0)
		return 0;
	thread_reading_begin(&reading, 1, 1);
	switch (data[0] % 8) {
	case 0:
		procfs_parse_stat(&reading, text, size - 1);
		require(reading.name_length <= THREAD_NAME_SIZE);
		break;
	case 1:
		procfs_parse_schedstat(&reading, text, size - 1);
		parse_call(text, size - 1);
		break;
	case 2:
		parse_status(&reading, text, size - 1);
		break;
	case 3:
		procfs_parse_lines(&reading, SOURCE_IO, NULL, text, size - 1);
		break;
	case 4:
		procfs_parse_lines(&reading, SOURCE_SCHED, NULL, text, size - 1);
		break;
	case 5:
		parse_word(text, size - 1, true);
		break;
	case 6:
		parse_word(text, size - 1, false);
		break;
	default:
		parse_lists(text, size - 1);
		break;
	}
	for (size_t metric = 0; metric < METRIC_COUNT; metric++)
		require(!metric_set_has(&reading.present, (enum metric)metric) ||
			!metric_set_has(&reading.bad, (enum metric)metric));
	return 0;
}
