/* SPDX-License-Identifier: GPL-2.0-only */
#include "procfs.h"

#include <pthread.h>

#include "base/number.h"
#include "procfs_keys.h"

/*
 * Fewest dashes that make the kernel's rule: a user's thread name has at most 15 bytes (TASK_COMM_LEN), so a
 * forged rule of 16 is not possible. The kernel prints 67.
 */
enum {
	RULE_DASHES_MIN = 16
};

static struct procfs_keys keys[SOURCE_COUNT]; /* of the sources that are files of `key: value` lines */
static pthread_once_t keys_once = PTHREAD_ONCE_INIT;

static void make_keys(void)
{
	for (size_t i = 0; i < SOURCE_COUNT; i++) {
		enum source file = source_whole((enum source)i);

		if (sources[file].file[0] != '\0' && file != SOURCE_STAT && file != SOURCE_SCHEDSTAT)
			procfs_keys_add(&keys[file], (enum source)i);
	}
}

/* In `sched` most keys have a prefix, as in se.statistics.wait_sum; ext.enabled counts only as a whole. */
static const struct procfs_key *find_key(enum source source, struct text key)
{
	const struct procfs_key *entry = procfs_keys_find(&keys[source], key);
	const char *dot;

	if (entry != NULL || source != SOURCE_SCHED)
		return entry;
	dot = key.length != 0 ? memrchr(key.data, '.', key.length) : NULL;
	if (dot == NULL)
		return NULL;
	return procfs_keys_find(&keys[source],
				(struct text){dot + 1, (size_t)(key.data + key.length - dot - 1)});
}

static bool is_rule(struct text line)
{
	if (line.length < RULE_DASHES_MIN)
		return false;
	for (size_t i = 0; i < line.length; i++) {
		if (line.data[i] != '-')
			return false;
	}
	return true;
}

/* Takes off everything up to and with the kernel's rule. False when there is none. */
static bool skip_rule(struct text *rest)
{
	struct text line;

	while (text_next_line(rest, &line)) {
		if (is_rule(line))
			return true;
	}
	return false;
}

/* The kernel's sleep sum holds the uninterruptible part too: taken out, and only when both are known. */
static void finish_voluntary_sleep(struct thread_reading *reading)
{
	uint64_t sleep, block;

	if (!metric_set_has(&reading->present, METRIC_VOLUNTARY_SLEEP_NS))
		return;
	if (metric_set_has(&reading->present, METRIC_BLOCK_SUM)) {
		sleep = reading->value[METRIC_VOLUNTARY_SLEEP_NS];
		block = reading->value[METRIC_BLOCK_SUM];
		reading->value[METRIC_VOLUNTARY_SLEEP_NS] = sleep > block ? sleep - block : 0;
	} else if (metric_set_has(&reading->bad, METRIC_BLOCK_SUM)) {
		thread_reading_set_bad(reading, METRIC_VOLUNTARY_SLEEP_NS);
	} else {
		metric_set_remove(&reading->present, METRIC_VOLUNTARY_SLEEP_NS);
	}
}

/* The first of the four ids of the line Uid: real, effective, saved, file system. */
static void read_uid(struct thread_reading *reading, struct text value)
{
	struct text word;

	if (text_next_word(&value, &word) && number_parse_u32(word.data, word.length, &reading->uid))
		reading->uid_known = true;
}

static void read_cpu_list(struct thread_reading *reading, struct string_pool *cpu_sets, enum metric metric,
			  struct text value)
{
	uint32_t id;

	if (cpu_sets == NULL)
		return;
	if (cpu_set_parse(cpu_sets, value.data, value.length, &id))
		thread_reading_set(reading, metric, id);
	else
		thread_reading_set_bad(reading, metric);
}

bool procfs_parse_lines(struct thread_reading *reading, enum source source, struct string_pool *cpu_sets,
			const char *text, size_t length)
{
	struct text rest = {text, length}, line, key, value;
	bool any = source == SOURCE_SCHED;

	pthread_once(&keys_once, make_keys);
	if (source == SOURCE_SCHED && !skip_rule(&rest))
		return false;
	while (text_next_line(&rest, &line)) {
		const struct procfs_key *entry;

		if (!text_split(line, ':', &key, &value))
			continue;
		if (source == SOURCE_STATUS && text_equals(key, "Uid"))
			read_uid(reading, value);
		entry = find_key(source, key);
		any |= entry != NULL || source == SOURCE_STATUS;
		if (entry == NULL)
			continue;
		reading->read |= source_bit((enum source)entry->source);
		if (entry->form == METRIC_FORM_CPU_LIST)
			read_cpu_list(reading, cpu_sets, (enum metric)entry->metric, value);
		else if (metrics[entry->metric].family != METRIC_FAMILY_LEADER ||
			 reading->tgid == reading->tid)
			procfs_read_value(reading, entry, value);
	}
	if (any)
		reading->read |= source_bit(source);
	if (source == SOURCE_SCHED)
		finish_voluntary_sleep(reading);
	return any;
}

bool procfs_parse_cgroup(const char *text, size_t length, struct text *ret_path)
{
	static const char unified[] = "0::"; /* hierarchy 0 without controllers: cgroups(7) */
	const size_t prefix = sizeof(unified) - 1;
	struct text rest = {text, length}, line;

	while (text_next_line(&rest, &line)) {
		if (!text_starts_with(line, unified))
			continue;
		*ret_path = text_trim((struct text){line.data + prefix, line.length - prefix});
		if (ret_path->length != 0)
			return true;
	}
	*ret_path = (struct text){"", 0};
	return false;
}

bool procfs_parse_comm(const char *text, size_t length, struct text *ret_name)
{
	*ret_name = text_trim((struct text){text, length});
	return ret_name->length != 0;
}
