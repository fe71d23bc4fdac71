/* SPDX-License-Identifier: GPL-2.0-only */
#include "procfs.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/number.h"

/* --- files of `key: value` lines: status, io, sched --- */

enum {
	KEY_SLOTS = 128, /* a power of two, at least twice the keys of any one file */
	FRACTION_DIGITS = 6,
	/*
	 * Fewest dashes that make the kernel's rule: a user's thread name has at most 15 bytes
	 * (TASK_COMM_LEN), so a forged rule of 16 is not possible. The kernel prints 67.
	 */
	RULE_DASHES_MIN = 16,
};

/* The keys of one file of `key: value` lines and the metrics they fill: a hash table from metrics.def. */

struct key {
	const char *text; /* NULL in a free slot */
	uint8_t length;
	uint8_t metric;
	uint8_t form;   /* enum metric_form */
	uint8_t source; /* enum source that gets read with it */
};

struct keys {
	struct key slots[KEY_SLOTS];
};

static size_t hash_key(struct text key)
{
	size_t first = (unsigned char)key.data[0], last = (unsigned char)key.data[key.length - 1];
	size_t middle = (unsigned char)key.data[key.length / 2];

	return (first * 7 + middle * 31 + last * 3 + key.length * 13) & (KEY_SLOTS - 1);
}

/* The entry of exactly that key, or NULL. */
static const struct key *find_in(const struct keys *keys, struct text key)
{
	size_t slot;

	if (key.length == 0)
		return NULL;
	for (slot = hash_key(key); keys->slots[slot].text != NULL; slot = (slot + 1) & (KEY_SLOTS - 1)) {
		if (keys->slots[slot].length == key.length &&
		    memcmp(keys->slots[slot].text, key.data, key.length) == 0)
			return &keys->slots[slot];
	}
	return NULL;
}

static void add(struct keys *keys, enum metric metric, const char *text, enum source source)
{
	struct text key = {text, strlen(text)};
	size_t slot = hash_key(key);

	while (keys->slots[slot].text != NULL)
		slot = (slot + 1) & (KEY_SLOTS - 1);
	keys->slots[slot] = (struct key){
		.text = text,
		.length = (uint8_t)key.length,
		.metric = (uint8_t)metric,
		.form = (uint8_t)metrics[metric].form,
		.source = (uint8_t)source,
	};
}

/* Adds every metric that `source` defines or may fill instead. */
static void add_keys(struct keys *keys, enum source source)
{
	for (size_t i = 0; i < METRIC_COUNT; i++) {
		if (metrics[i].source == source)
			add(keys, (enum metric)i, metrics[i].key, source);
		else if (metrics[i].equivalent_source == source)
			add(keys, (enum metric)i, metrics[i].equivalent_key, source);
	}
}

enum outcome {
	OUTCOME_VALUE,
	OUTCOME_BAD,
	OUTCOME_NEGATIVE,
};

/*
 * Milliseconds, a dot and six digits of nanoseconds, as SPLIT_NS() of kernel/sched/debug.c prints them; a
 * value between -1 ms and 0 has its sign on the fraction. Without a dot it is nanoseconds.
 */
static enum outcome parse_dotted(struct text text, uint64_t *ret_value)
{
	const char *dot = text.length != 0 ? memchr(text.data, '.', text.length) : NULL;
	struct text whole = text, fraction = {NULL, 0}, sign;
	uint64_t milliseconds, nanoseconds = 0;
	char digits[FRACTION_DIGITS];
	size_t count;

	if (dot != NULL) {
		whole.length = (size_t)(dot - text.data);
		fraction = (struct text){dot + 1, text.length - whole.length - 1};
	}
	whole = text_trim(whole);
	sign = text_trim(fraction);
	if ((whole.length != 0 && whole.data[0] == '-') || (sign.length != 0 && sign.data[0] == '-'))
		return OUTCOME_NEGATIVE;
	if (dot == NULL)
		return number_parse_u64(whole.data, whole.length, ret_value) ? OUTCOME_VALUE : OUTCOME_BAD;
	if (!number_parse_u64(whole.data, whole.length, &milliseconds))
		return OUTCOME_BAD;
	memset(digits, '0', sizeof(digits));
	count = fraction.length < FRACTION_DIGITS ? fraction.length : FRACTION_DIGITS;
	if (count != 0)
		memcpy(digits, fraction.data, count);
	if (!number_parse_u64(digits, sizeof(digits), &nanoseconds))
		return OUTCOME_BAD;
	if (__builtin_mul_overflow(milliseconds, (uint64_t)NS_PER_MS, ret_value) ||
	    __builtin_add_overflow(*ret_value, nanoseconds, ret_value))
		return OUTCOME_BAD;
	return OUTCOME_VALUE;
}

static enum outcome parse_value(enum metric_form form, struct text text, uint64_t *ret_value)
{
	uint32_t scalar;

	switch (form) {
	case METRIC_FORM_DOTTED:
		return parse_dotted(text, ret_value);
	case METRIC_FORM_CHARACTER:
		if (text.length == 0 || unicode_decode(text.data, text.length, &scalar) == 0)
			return OUTCOME_BAD;
		*ret_value = scalar;
		return OUTCOME_VALUE;
	default:
		break;
	}
	if (!number_parse_u64(text.data, text.length, ret_value))
		return OUTCOME_BAD;
	if (form == METRIC_FORM_BOOLEAN)
		*ret_value = *ret_value != 0;
	else if (form == METRIC_FORM_KIBIBYTES)
		*ret_value = number_multiply_saturating(*ret_value, 1024);
	return OUTCOME_VALUE;
}

/* Parses a value by the form of its key into the reading. CPU lists are the caller's. */
static void read_value(struct thread_reading *reading, const struct key *key, struct text value)
{
	uint64_t number;
	enum outcome outcome = parse_value((enum metric_form)key->form, text_trim(value), &number);

	if (outcome == OUTCOME_VALUE) {
		thread_reading_set(reading, (enum metric)key->metric, number);
		return;
	}
	thread_reading_set_bad(reading, (enum metric)key->metric);
	if (outcome == OUTCOME_NEGATIVE)
		reading->negative_values++;
}

static struct keys keys[SOURCE_COUNT]; /* of the sources that are files of `key: value` lines */

static void make_tables(void);
static pthread_once_t tables_once = PTHREAD_ONCE_INIT;

static void make_keys(void)
{
	for (size_t i = 0; i < SOURCE_COUNT; i++) {
		enum source file = source_whole((enum source)i);

		if (sources[file].file[0] != '\0' && file != SOURCE_STAT && file != SOURCE_SCHEDSTAT)
			add_keys(&keys[file], (enum source)i);
	}
}

/* In `sched` most keys have a prefix, as in se.statistics.wait_sum; ext.enabled counts only as a whole. */
static const struct key *find_key(enum source source, struct text key)
{
	const struct key *entry = find_in(&keys[source], key);
	const char *dot;

	if (entry != NULL || source != SOURCE_SCHED)
		return entry;
	dot = key.length != 0 ? memrchr(key.data, '.', key.length) : NULL;
	if (dot == NULL)
		return NULL;
	return find_in(&keys[source], (struct text){dot + 1, (size_t)(key.data + key.length - dot - 1)});
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

/* Takes off everything up to and with the kernel's rule. False without a rule. */
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

	pthread_once(&tables_once, make_tables);
	if (source == SOURCE_SCHED && !skip_rule(&rest))
		return false;
	while (text_next_line(&rest, &line)) {
		const struct key *entry;

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
			read_value(reading, entry, value);
	}
	if (any)
		reading->read |= source_bit(source);
	if (source == SOURCE_SCHED)
		finish_voluntary_sleep(reading);
	return any;
}

/* --- stat and schedstat --- */

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

/* The way to read a field. */
struct stat_slot {
	bool used;
	bool leader_only;
	uint8_t encoding; /* enum metric_encoding */
	uint8_t metric;   /* METRIC_COUNT: tells who the thread is, or of its process */
};

static struct stat_slot stat_slots[STAT_FIELDS_MAX];
static unsigned int stat_last_field;
static enum metric schedstat_metrics[SCHEDSTAT_FIELDS];

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
	make_keys();
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

/* Whether a number that is not negative is in the range of the field. */
static bool fits(struct stat_slot slot, uint64_t value)
{
	switch ((enum metric_encoding)slot.encoding) {
	case METRIC_ENCODING_U64:
	case METRIC_ENCODING_BOOLEAN:
		return true;
	case METRIC_ENCODING_U32:
		return value <= UINT32_MAX;
	case METRIC_ENCODING_I32:
	case METRIC_ENCODING_STRING: /* the policy's number */
		return value <= INT32_MAX;
	default:
		return false;
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
	case METRIC_ENCODING_U32:
		good = number_parse_u64(word.data, word.length, &number) && fits(slot, number);
		break;
	case METRIC_ENCODING_I32:
	case METRIC_ENCODING_STRING:
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
	name = text_trim_name((struct text){open + 1, (size_t)(close - open - 1)});
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

/* --- the others --- */

bool procfs_next_cgroup(struct text *rest, struct text *ret_controllers, struct text *ret_path)
{
	struct text line, id;

	while (text_next_line(rest, &line)) {
		if (!text_split(line, ':', &id, &line) || !text_split(line, ':', ret_controllers, &line))
			continue;
		*ret_path = text_trim(line);
		if (ret_controllers->length != 0 && ret_path->length != 0)
			return true;
	}
	return false;
}

/* A number as %#llx prints it, or 0x0. */
static bool parse_hexadecimal(struct text word, uint64_t *ret_value)
{
	uint64_t value = 0;

	if (word.length < 3 || word.length > 2 + 16 || word.data[0] != '0' || word.data[1] != 'x')
		return false;
	for (size_t i = 2; i < word.length; i++) {
		const char digit = word.data[i];

		if (digit >= '0' && digit <= '9')
			value = value << 4 | (uint64_t)(digit - '0');
		else if (digit >= 'a' && digit <= 'f')
			value = value << 4 | (uint64_t)(digit - 'a' + 10);
		else
			return false;
	}
	*ret_value = value;
	return true;
}

bool procfs_parse_syscall(const char *text, size_t length, struct procfs_syscall *ret_call)
{
	struct text rest = {text, length}, word;
	struct procfs_syscall call = {0};
	uint64_t values[8]; /* arguments, stack, instruction */
	size_t count = 0;

	if (!text_next_word(&rest, &word))
		return false;
	if (text_equals(word, "running")) {
		*ret_call = (struct procfs_syscall){.is_running = true};
		return true;
	}
	if (!number_parse_i32(word.data, word.length, &call.number))
		return false;
	while (count < 8 && text_next_word(&rest, &word)) {
		if (!parse_hexadecimal(word, &values[count++]))
			return false;
	}
	if (count != (call.number < 0 ? 2 : 8))
		return false;
	memcpy(call.arguments, values, (count - 2) * sizeof(values[0]));
	call.stack = values[count - 2];
	call.instruction = values[count - 1];
	*ret_call = call;
	return true;
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

/* The key and the word that should be a number; false when the line has another shape. */
static bool split_line(struct text line, enum procfs_keys_form form, struct text *ret_key,
		       struct text *ret_word)
{
	struct text value;

	if (form == PROCFS_KEYS_FLAT)
		return text_next_word(&line, ret_key) && text_next_word(&line, ret_word);
	if (!text_split(line, ':', ret_key, &value))
		return false;
	for (size_t i = 0; i < ret_key->length; i++) {
		if (ret_key->data[i] == '-' || text_is_blank(ret_key->data[i]))
			return false;
	}
	return text_next_word(&value, ret_word);
}

static size_t count_lines(struct text rest)
{
	struct text line;
	size_t count = 0;

	while (text_next_line(&rest, &line))
		count++;
	return count;
}

bool procfs_parse_keys(const char *text, size_t length, enum procfs_keys_form form,
		       struct string_pool *strings, struct arena *arena, struct key_values *ret_values)
{
	struct text rest = {text, length}, line, key, word;
	size_t most = count_lines(rest);
	uint32_t i;

	*ret_values = (struct key_values){NULL, 0};
	if (most == 0)
		return false;
	ret_values->items = arena_allocate_zero(arena, most, sizeof(*ret_values->items));
	while (text_next_line(&rest, &line)) {
		struct key_value item;

		if (!split_line(line, form, &key, &word) ||
		    !number_parse_u64(word.data, word.length, &item.value))
			continue;
		item.key = string_pool_intern(strings, key.data, key.length);
		for (i = 0; i < ret_values->count && ret_values->items[i].key != item.key; i++)
			;
		ret_values->items[i] = item;
		if (i == ret_values->count)
			ret_values->count++;
	}
	return ret_values->count != 0;
}
