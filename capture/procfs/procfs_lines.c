/* SPDX-License-Identifier: GPL-2.0-only */
#include "procfs.h"

#include <pthread.h>

#include "base/number.h"
#include "key_values.h"
#include "procfs_keys.h"

static struct procfs_keys keys[SOURCE_COUNT]; /* of the sources that are files of `key: value` lines */
static pthread_once_t keys_once = PTHREAD_ONCE_INIT;

static void make_keys(void)
{
	for (size_t i = 0; i < SOURCE_COUNT; i++) {
		if (sources[i].file[0] != '\0' && i != SOURCE_STAT && i != SOURCE_SCHEDSTAT)
			procfs_keys_add(&keys[i], (enum source)i);
	}
}

/* The first of the four ids of the line Uid: real, effective, saved, file system. */
static void read_uid(struct thread_reading *reading, struct text value)
{
	struct text word;

	if (text_next_word(&value, &word) && number_parse_u32(word.data, word.length, &reading->uid))
		reading->uid_known = true;
}

static void read_cpu_list(struct thread_reading *reading, struct cpu_set_pool *cpu_sets, enum metric metric,
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

bool procfs_parse_lines(struct thread_reading *reading, enum source source, struct cpu_set_pool *cpu_sets,
			const char *text, size_t length)
{
	struct text rest = {text, length}, line, key, value;
	bool any = false;

	pthread_once(&keys_once, make_keys);
	while (text_next_line(&rest, &line)) {
		const struct procfs_key *entry;

		if (!text_split(line, ':', &key, &value))
			continue;
		if (source == SOURCE_STATUS && text_equals(key, "Uid"))
			read_uid(reading, value);
		entry = procfs_keys_find(&keys[source], key);
		any |= entry != NULL || source == SOURCE_STATUS;
		if (entry == NULL)
			continue;
		if (entry->form == METRIC_FORM_CPU_LIST)
			read_cpu_list(reading, cpu_sets, (enum metric)entry->metric, value);
		else if (metrics[entry->metric].family != METRIC_FAMILY_LEADER ||
			 reading->tgid == reading->tid)
			procfs_read_value(reading, entry, value);
	}
	if (any)
		reading->read |= source_bit(source);
	return any;
}

bool procfs_parse_cgroup(const char *text, size_t length, const char **ret_path, size_t *ret_length)
{
	static const char unified[] = "0::"; /* hierarchy 0 without controllers: cgroups(7) */
	struct text rest = {text, length}, line;

	while (text_next_line(&rest, &line)) {
		struct text path;

		if (!text_starts_with(line, unified))
			continue;
		path = text_trim(
			(struct text){line.data + sizeof(unified) - 1, line.length - (sizeof(unified) - 1)});
		if (path.length == 0)
			continue;
		*ret_path = path.data;
		*ret_length = path.length;
		return true;
	}
	*ret_path = text;
	*ret_length = 0;
	return false;
}

bool procfs_parse_comm(const char *text, size_t length, const char **ret_name, size_t *ret_length)
{
	struct text name = text_trim((struct text){text, length});

	*ret_name = name.data;
	*ret_length = name.length;
	return name.length != 0;
}

bool procfs_parse_smaps_rollup(const char *text, size_t length, struct string_pool *strings,
			       struct arena *arena, struct key_values *ret_kib)
{
	key_values_parse(text, length, KEY_VALUES_COLON, strings, arena, ret_kib);
	return ret_kib->count != 0;
}
