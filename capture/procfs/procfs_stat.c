/* SPDX-License-Identifier: GPL-2.0-only */
#include "procfs.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/number.h"
#include "text_scan.h"

/* Fields of stat as proc_pid_stat(5) numbers them: 1 pid, 2 name, 3 state … */
enum {
	STAT_FIRST_FIELD = 3, /* behind the name */
	STAT_FIELDS_MAX = 64,
	STAT_FLAGS = 9,
	STAT_START_TIME = 22,
	STAT_VIRTUAL_SIZE = 23,
	STAT_RESIDENT = 24,
	SCHEDSTAT_FIELDS = 3,
	DIGITS_SAFE = 19, /* any number of that many digits fits an uint64_t */
};

/* How a field is read. */
struct stat_slot {
	bool used;
	bool leader_only;
	uint8_t encoding; /* enum metric_encoding */
	uint8_t metric;   /* METRIC_COUNT: tells who the thread is, or of its process */
};

static struct stat_slot stat_slots[STAT_FIELDS_MAX];
static unsigned int stat_last_field;
static enum metric schedstat_metrics[SCHEDSTAT_FIELDS];
static pthread_once_t tables_once = PTHREAD_ONCE_INIT;

static void use_field(unsigned int field, struct stat_slot slot)
{
	stat_slots[field] = slot;
	if (field > stat_last_field)
		stat_last_field = field;
}

static void make_tables(void)
{
	const struct stat_slot identity = {
		.used = true, .encoding = METRIC_ENCODING_U64, .metric = METRIC_COUNT};

	for (size_t i = 0; i < METRIC_COUNT; i++) {
		const struct metric_entry *entry = &metrics[i];
		const char *key = entry->source == SOURCE_STAT ? entry->key : entry->equivalent_key;

		if (entry->source == SOURCE_STAT || entry->equivalent_source == SOURCE_STAT)
			use_field(
				(unsigned int)strtoul(key, NULL, 10),
				(struct stat_slot){.used = true,
						   .leader_only = entry->family == METRIC_FAMILY_LEADER,
						   .encoding = (uint8_t)metric_type((enum metric)i)->encoding,
						   .metric = (uint8_t)i});
		if (entry->source == SOURCE_SCHEDSTAT)
			schedstat_metrics[strtoul(entry->key, NULL, 10) - 1] = (enum metric)i;
	}
	use_field(STAT_FLAGS, identity);
	use_field(STAT_START_TIME, identity);
	use_field(STAT_VIRTUAL_SIZE, identity);
	use_field(STAT_RESIDENT, identity);
}

static void set_field(struct thread_reading *reading, unsigned int field, struct stat_slot slot,
		      uint64_t value)
{
	if (field == STAT_FLAGS) {
		reading->flags = value;
	} else if (field == STAT_START_TIME) {
		reading->start_time = value;
		reading->start_time_known = true;
	} else if (field == STAT_VIRTUAL_SIZE) {
		reading->has_memory = value != 0;
	} else if (field == STAT_RESIDENT) {
		reading->resident_known = true;
		reading->resident_pages = value;
	} else if (!slot.leader_only || reading->tgid == reading->tid) {
		thread_reading_set(reading, (enum metric)slot.metric, value);
	}
}

/* A field that is more than a few digits: signs, letters, the largest numbers. */
static void read_odd_field(struct thread_reading *reading, unsigned int field, struct stat_slot slot,
			   struct text word)
{
	uint32_t scalar;
	uint64_t number;
	int32_t signed_number;
	bool good = false;

	switch ((enum metric_encoding)slot.encoding) {
	case METRIC_ENCODING_U64:
	case METRIC_ENCODING_BOOLEAN:
		good = number_parse_u64(word.data, word.length, &number);
		break;
	case METRIC_ENCODING_U32:
		good = number_parse_u64(word.data, word.length, &number) && number <= UINT32_MAX;
		break;
	case METRIC_ENCODING_I32:
	case METRIC_ENCODING_STRING: /* the policy's number */
		good = number_parse_i32(word.data, word.length, &signed_number);
		number = good ? (uint64_t)(int64_t)signed_number : 0;
		break;
	case METRIC_ENCODING_CHARACTER:
		good = unicode_decode(word.data, word.length, &scalar) != 0;
		number = good ? scalar : 0;
		break;
	case METRIC_ENCODING_CPU_SET:
		return;
	}
	if (good)
		set_field(reading, field, slot, number);
	else if (slot.metric != METRIC_COUNT && (!slot.leader_only || reading->tgid == reading->tid))
		thread_reading_set_bad(reading, (enum metric)slot.metric);
}

/* Whether a number of plain digits is in the range of the field. */
static bool fits(struct stat_slot slot, uint64_t value)
{
	switch ((enum metric_encoding)slot.encoding) {
	case METRIC_ENCODING_U64:
	case METRIC_ENCODING_BOOLEAN:
		return true;
	case METRIC_ENCODING_U32:
		return value <= UINT32_MAX;
	case METRIC_ENCODING_I32:
	case METRIC_ENCODING_STRING:
		return value <= INT32_MAX;
	default:
		return false;
	}
}

static void read_fields(struct thread_reading *reading, const char *next, const char *end)
{
	unsigned int field;

	for (field = STAT_FIRST_FIELD; field <= stat_last_field; field++) {
		struct stat_slot slot = stat_slots[field];
		uint64_t value = 0;
		const char *start;

		while (next < end && text_is_separator(*next))
			next++;
		if (next == end)
			return;
		start = next;
		if (slot.used) {
			for (; next < end && (unsigned char)(*next - '0') <= 9; next++)
				value = value * 10 + (unsigned char)(*next - '0');
			if (next != start && next - start <= DIGITS_SAFE &&
			    (next == end || text_is_separator(*next)) && fits(slot, value)) {
				set_field(reading, field, slot, value);
				continue;
			}
		}
		while (next < end && ((unsigned char)*next > ' ' || !text_is_separator(*next)))
			next++;
		if (slot.used)
			read_odd_field(reading, field, slot, (struct text){start, (size_t)(next - start)});
	}
}

bool procfs_parse_stat(struct thread_reading *reading, const char *text, size_t length)
{
	const char *open = length != 0 ? memchr(text, '(', length) : NULL;
	const char *close = length != 0 ? memrchr(text, ')', length) : NULL;
	struct text name;

	pthread_once(&tables_once, make_tables);
	if (open == NULL || close == NULL || close < open)
		return false;
	name = text_trim((struct text){open + 1, (size_t)(close - open - 1)});
	if (name.length > THREAD_NAME_SIZE)
		name.length = THREAD_NAME_SIZE;
	memcpy(reading->name, name.data, name.length);
	reading->name_length = (uint8_t)name.length;
	reading->read |= source_bit(SOURCE_STAT);
	read_fields(reading, close + 1, text + length);
	return true;
}

bool procfs_parse_schedstat(struct thread_reading *reading, const char *text, size_t length)
{
	struct text rest = {text, length}, line, word;
	bool any = false;

	pthread_once(&tables_once, make_tables);
	if (!text_next_line(&rest, &line))
		return false;
	for (size_t i = 0; i < SCHEDSTAT_FIELDS && text_next_word(&line, &word); i++) {
		uint64_t number;

		if (number_parse_u64(word.data, word.length, &number))
			thread_reading_set(reading, schedstat_metrics[i], number);
		else
			thread_reading_set_bad(reading, schedstat_metrics[i]);
		any = true;
	}
	if (any)
		reading->read |= source_bit(SOURCE_SCHEDSTAT);
	return any;
}

const char *procfs_policy_name(int64_t policy, char text[static PROCFS_POLICY_NAME_SIZE])
{
	static const char *const names[] = {
		[0] = "SCHED_OTHER", [1] = "SCHED_FIFO",     [2] = "SCHED_RR",  [3] = "SCHED_BATCH",
		[5] = "SCHED_IDLE",  [6] = "SCHED_DEADLINE", [7] = "SCHED_EXT",
	};

	if (policy >= 0 && policy < (int64_t)(sizeof(names) / sizeof(names[0])) && names[policy] != NULL)
		return names[policy];
	snprintf(text, PROCFS_POLICY_NAME_SIZE, "SCHED_UNKNOWN(%lld)", (long long)policy);
	return text;
}
