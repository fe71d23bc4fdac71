/* SPDX-License-Identifier: GPL-2.0-only */
#include "procfs.h"

#include <pthread.h>

#include "procfs_keys.h"

/*
 * Fewest dashes that make the kernel's rule: a user's thread name has at most 15 bytes (TASK_COMM_LEN), so a
 * forged rule of 16 is not possible. The kernel prints 67.
 */
enum {
	RULE_DASHES_MIN = 16
};

static struct procfs_keys sched_keys;
static pthread_once_t sched_keys_once = PTHREAD_ONCE_INIT;

static void make_keys(void)
{
	procfs_keys_add(&sched_keys, SOURCE_SCHED);
	procfs_keys_add(&sched_keys, SOURCE_SCHEDSTATS);
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

static const struct procfs_key *find_key(struct text key)
{
	const char *dot = key.length != 0 ? memrchr(key.data, '.', key.length) : NULL;
	const struct procfs_key *entry;

	if (dot != NULL) {
		/* a key with a dot of its own counts only as a whole: ext.enabled */
		entry = procfs_keys_find(&sched_keys, key);
		if (entry != NULL)
			return entry;
		key.length -= (size_t)(dot + 1 - key.data);
		key.data = dot + 1;
	}
	return procfs_keys_find(&sched_keys, key);
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

bool procfs_parse_sched(struct thread_reading *reading, const char *text, size_t length)
{
	struct text rest = {text, length}, line, key, value;
	bool found_rule = false;

	pthread_once(&sched_keys_once, make_keys);
	while (!found_rule && text_next_line(&rest, &line))
		found_rule = is_rule(line);
	if (!found_rule)
		return false;
	reading->read |= source_bit(SOURCE_SCHED);
	while (text_next_line(&rest, &line)) {
		const struct procfs_key *entry;

		if (!text_split(line, ':', &key, &value))
			continue;
		entry = find_key(key);
		if (entry == NULL)
			continue;
		reading->read |= source_bit((enum source)entry->source);
		procfs_read_value(reading, entry, value);
	}
	finish_voluntary_sleep(reading);
	return true;
}
