/* SPDX-License-Identifier: GPL-2.0-only */
/* The metric tables are whole and agree with the lists of the file format (tests/data/spec). */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "metric/metric.h"
#include "cmocka_include.h"

enum {
	CELLS_MAX = 16
};

static const char *const ladder_names[] = {
	[LADDER_NONE] = "None", [LADDER_UNITLESS] = "Unitless", [LADDER_NS] = "Ns",
	[LADDER_US] = "Us",     [LADDER_BYTES] = "Bytes",       [LADDER_TICKS] = "Ticks",
};

static const char *const family_words[] = {
	[METRIC_FAMILY_ALWAYS] = "always",
	[METRIC_FAMILY_LEADER] = "always",
	[METRIC_FAMILY_USER] = "always",
	[METRIC_FAMILY_CPU_DELAY] = "taskstats_measured && cpu_delay_active",
	[METRIC_FAMILY_BLOCK_DELAY] = "taskstats_measured && delay_block_active",
	[METRIC_FAMILY_XACCT] = "taskstats_measured && xacct_active",
	[METRIC_FAMILY_JEMALLOC] = "jemalloc_measured",
};

/* A list of the format: lines of cells with a tab between, the first line names the cells. */
struct list {
	FILE *file;
	char *line;
	size_t size;
	char *cells[CELLS_MAX];
};

static void list_open(struct list *list, const char *name)
{
	char path[4096];

	*list = (struct list){0};
	snprintf(path, sizeof(path), "%s/%s", TEST_DATA, name);
	list->file = fopen(path, "re");
	if (list->file == NULL)
		fail_msg("cannot open %s", path);
	assert_true(getline(&list->line, &list->size, list->file) > 0);
}

/* Reads the next line into cells; false at the end. */
static bool list_next(struct list *list, size_t cell_count)
{
	size_t cells = 0;
	char *rest;

	if (getline(&list->line, &list->size, list->file) < 0)
		return false;
	list->line[strcspn(list->line, "\n")] = '\0';
	rest = list->line;
	while (rest != NULL && cells < CELLS_MAX)
		list->cells[cells++] = strsep(&rest, "\t");
	assert_int_equal(cells, cell_count);
	return true;
}

static void list_close(struct list *list)
{
	free(list->line);
	fclose(list->file);
}

/* "-" in the lists means none. */
static void assert_cell(const char *cell, const char *ours)
{
	assert_string_equal(strcmp(cell, "-") == 0 ? "" : cell, ours != NULL ? ours : "");
}

static void test_metrics_agree_with_the_format(void **state)
{
	struct list list;
	size_t metric = 0;

	(void)state;
	list_open(&list, "metrics.tsv");
	for (; list_next(&list, 12); metric++) {
		const struct metric_entry *entry = &metrics[metric];
		const struct metric_type_entry *type = metric_type((enum metric)metric);
		char gates[128];

		assert_true(metric < METRIC_COUNT);
		assert_int_equal(strtoul(list.cells[0], NULL, 10), metric + 1);
		assert_string_equal(list.cells[1], entry->name);
		if (metric != METRIC_THREAD_COUNT)
			assert_string_equal(list.cells[2], entry->name);
		assert_string_equal(list.cells[3], type->name);
		assert_string_equal(list.cells[4], type->aggregation);
		assert_string_equal(list.cells[5], ladder_names[type->ladder]);
		assert_cell(list.cells[6], metric_tag_names[entry->tag]);
		snprintf(gates, sizeof(gates), "%s", entry->config_gates != NULL ? entry->config_gates : "");
		for (char *at = gates; *at != '\0'; at++) {
			if (*at == ' ')
				*at = ',';
		}
		assert_cell(list.cells[7], gates);
		assert_string_equal(list.cells[8], sections[entry->section].name);
		assert_string_equal(list.cells[10], family_words[entry->family]);
		assert_string_equal(list.cells[11], entry->description);
	}
	assert_int_equal(metric, METRIC_COUNT);
	list_close(&list);
}

/* Keys of `sched` count from their last dot: some kernels print "se." before them. */
static const char *last_segment(const char *key)
{
	const char *dot = strrchr(key, '.');

	return dot != NULL ? dot + 1 : key;
}

/* The place a list names ("stat field 41", "taskstats cpu_delay_max", "io rchar") is the one we read. */
static void test_places_agree_with_the_format(void **state)
{
	struct list list;
	size_t compared = 0;

	(void)state;
	list_open(&list, "metrics.tsv");
	for (size_t metric = 0; list_next(&list, 12); metric++) {
		const struct metric_entry *entry = &metrics[metric];
		char file[32], word[64], number[16];

		if (sscanf(list.cells[9], "%31s field %15s", file, number) == 2) {
			assert_string_equal(entry->key, number);
		} else if (sscanf(list.cells[9], "%31s %63[^ ,]", file, word) == 2 &&
			   (strcmp(file, "taskstats") == 0 || strcmp(file, "io") == 0 ||
			    strcmp(file, "status") == 0 || strcmp(file, "sched") == 0)) {
			assert_string_equal(last_segment(entry->key), last_segment(word));
		} else {
			continue;
		}
		if (strcmp(file, "sched") == 0)
			assert_true(entry->source == SOURCE_SCHED || entry->source == SOURCE_SCHEDSTATS);
		else if (strcmp(file, "taskstats") != 0)
			assert_string_equal(file, sources[entry->source].name);
		compared++;
	}
	assert_true(compared > 80);
	list_close(&list);
}

static void test_derived_agree_with_the_format(void **state)
{
	struct list list;
	size_t derived = 0;

	(void)state;
	list_open(&list, "derived.tsv");
	for (; list_next(&list, 9); derived++) {
		const struct derived_entry *entry = &derived_metrics[derived];

		assert_true(derived < DERIVED_COUNT);
		assert_string_equal(list.cells[1], entry->name);
		assert_string_equal(list.cells[2], entry->formula);
		assert_string_equal(list.cells[3], ladder_names[entry->ladder]);
		assert_string_equal(list.cells[4], entry->is_ratio ? "yes" : "no");
		assert_string_equal(list.cells[5], sections[entry->section].name);
		assert_string_equal(list.cells[8], entry->description);
		for (size_t input = 0; input < entry->input_count; input++)
			assert_non_null(strstr(entry->formula, metrics[entry->inputs[input]].name));
	}
	assert_int_equal(derived, DERIVED_COUNT);
	list_close(&list);
}

static void test_tables_are_whole(void **state)
{
	(void)state;
	for (size_t metric = 0; metric < METRIC_COUNT; metric++) {
		const struct metric_entry *entry = &metrics[metric];
		size_t length = strlen(entry->name);

		assert_true(length > 0 && entry->title[0] != '\0' && entry->description[0] != '\0');
		assert_int_equal(metric_find(entry->name, length), metric);
		assert_int_equal(metric_find(entry->name, length - 1), METRIC_NONE);
		assert_true((entry->source == SOURCE_NONE) == (metric == METRIC_THREAD_COUNT));
		assert_true((entry->equivalent_source == SOURCE_NONE) == (entry->equivalent_key[0] == '\0'));
		for (size_t other = 0; other < metric; other++)
			assert_string_not_equal(entry->title, metrics[other].title);
	}
	for (size_t derived = 0; derived < DERIVED_COUNT; derived++) {
		const struct derived_entry *entry = &derived_metrics[derived];

		assert_true(entry->input_count >= 2 && entry->input_count <= DERIVED_INPUTS_MAX);
		assert_int_equal(derived_find(entry->name, strlen(entry->name)), derived);
		assert_int_equal(metric_find(entry->name, strlen(entry->name)), METRIC_NONE);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_metrics_agree_with_the_format),
		cmocka_unit_test(test_places_agree_with_the_format),
		cmocka_unit_test(test_derived_agree_with_the_format),
		cmocka_unit_test(test_tables_are_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
