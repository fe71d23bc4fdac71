/* SPDX-License-Identifier: GPL-2.0-only */
#include "task_field.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/arena.h"
#include "nearest.h"

const char *const task_field_kind_names[TASK_FIELD_KIND_COUNT] = {
	[TASK_FIELD_KIND_UNSIGNED] = "unsigned", [TASK_FIELD_KIND_SIGNED] = "signed",
	[TASK_FIELD_KIND_BOOLEAN] = "bool",      [TASK_FIELD_KIND_ENUM] = "enum",
	[TASK_FIELD_KIND_POINTER] = "pointer",   [TASK_FIELD_KIND_ARRAY] = "array",
	[TASK_FIELD_KIND_OTHER] = "other",
};

const char *const task_field_reduction_names[TASK_FIELD_REDUCTION_TOTAL] = {
	[TASK_FIELD_REDUCTION_COUNTER] = "counter", [TASK_FIELD_REDUCTION_SUM] = "sum",
	[TASK_FIELD_REDUCTION_MEAN] = "mean",       [TASK_FIELD_REDUCTION_MAXIMUM] = "max",
	[TASK_FIELD_REDUCTION_COUNT] = "count",     [TASK_FIELD_REDUCTION_AGE] = "age",
};

const char *const task_field_reduction_words[TASK_FIELD_REDUCTION_TOTAL] = {
	[TASK_FIELD_REDUCTION_COUNTER] = "What the threads added, together.",
	[TASK_FIELD_REDUCTION_SUM] = "The sum of what the threads have now.",
	[TASK_FIELD_REDUCTION_MEAN] = "The mean of what the threads have now.",
	[TASK_FIELD_REDUCTION_MAXIMUM] = "The largest that a thread has now.",
	[TASK_FIELD_REDUCTION_COUNT] =
		("The commonest value, * if not all threads have it; of a bool, in how many "
		 "threads it is set."),
	[TASK_FIELD_REDUCTION_AGE] = "How long ago the oldest time stamp of the threads is.",
};

const char *const task_field_units[LADDER_TICKS + 1] = {
	[LADDER_NONE] = "none", [LADDER_UNITLESS] = "count", [LADDER_NS] = "ns",
	[LADDER_US] = "us",     [LADDER_BYTES] = "bytes",    [LADDER_TICKS] = "ticks",
};

enum {
	TITLE_MAX = 12,
	CHOICES_MAX = 64,
};

static const struct known_field {
	const char *scheduler, *pattern;
	struct task_field_facts facts;
} known_fields[] = {
#define TASK_FIELD(schedulers, field, reduction, ladder)                                                     \
	{schedulers, field, {TASK_FIELD_REDUCTION_##reduction, LADDER_##ladder}},
#include "task_field.def"
#undef TASK_FIELD
};

static const struct known_column {
	const char *scheduler, *pattern;
} known_columns[] = {
#define TASK_FIELD_COLUMN(scheduler, field) {scheduler, field},
#include "task_field_column.def"
#undef TASK_FIELD_COLUMN
};

/* All names that were ever met. Those below `count` do not change, so they are read without the lock. */
static struct {
	pthread_mutex_t lock;
	atomic_size_t count;
	struct arena arena; /* kept until the program ends */
	struct task_field fields[TASK_FIELD_MAX];
	atomic_uint described[TASK_FIELD_MAX]; /* a packed struct task_field_facts and kind, 0: nobody has met
						  it */
} registry = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct {
	char name[TASK_FIELD_NAME_MAX + 1];
	enum task_field_reduction reduction;
} choices[CHOICES_MAX];
static size_t choice_count;

/* --- names --- */

static const char *last_part(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot != NULL && dot[1] != '\0' ? dot + 1 : name;
}

static bool is_title_used(const char *title)
{
	for (size_t i = 0; i < atomic_load_explicit(&registry.count, memory_order_relaxed); i++) {
		if (strcmp(registry.fields[i].title, title) == 0)
			return true;
	}
	return false;
}

/*
 * The last part of the name in capitals; cut in the middle, since the ends of names tell more. Where another
 * field has that title, with a number behind it.
 */
static const char *make_title(const char *name)
{
	char part[TITLE_MAX + 1] = {0}, title[TITLE_MAX + 1];
	const char *last = last_part(name);
	const size_t length = strlen(last);

	for (size_t i = 0; last[i] != '\0' && i < TITLE_MAX; i++)
		part[i] = last[length > TITLE_MAX && i > TITLE_MAX / 2 ? length - TITLE_MAX + i : i];
	if (length > TITLE_MAX)
		part[TITLE_MAX / 2] = '~';
	for (size_t i = 0; part[i] != '\0'; i++)
		part[i] = (char)toupper((unsigned char)part[i]);
	memcpy(title, part, sizeof(title));
	for (unsigned int number = 2; is_title_used(title); number++) {
		const int digits = number < 10 ? 1 : number < 100 ? 2 : 3;

		(void)snprintf(title, sizeof(title), "%.*s~%u", TITLE_MAX - 1 - digits, part, number % 1000);
	}
	return arena_duplicate(&registry.arena, title, strlen(title));
}

static uint16_t find(const char *column, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (strcmp(registry.fields[i].column, column) == 0)
			return (uint16_t)i;
	}
	return TASK_FIELD_NONE;
}

bool task_field_is_name(const char *name, size_t length)
{
	static const char valid[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.";

	return length != 0 && length <= TASK_FIELD_NAME_MAX && strspn(name, valid) >= length &&
	       name[0] != '.' && name[length - 1] != '.';
}

uint16_t task_field_intern(const char *column)
{
	const char *dot = strchr(column, '.');
	uint16_t field = find(column, task_field_count());
	size_t count;

	if (field != TASK_FIELD_NONE || dot == NULL || dot == column || dot[1] == '\0' ||
	    strlen(dot + 1) > TASK_FIELD_NAME_MAX)
		return field;
	pthread_mutex_lock(&registry.lock);
	count = atomic_load_explicit(&registry.count, memory_order_relaxed);
	field = find(column, count);
	if (field == TASK_FIELD_NONE && count < TASK_FIELD_MAX) {
		const char *copy = arena_duplicate(&registry.arena, column, strlen(column));
		const char *title = make_title(dot + 1);

		field = (uint16_t)count;
		registry.fields[field] = (struct task_field){
			.name = strchr(copy, '.') + 1,
			.title = title,
			.column = copy,
			.percent_title = arena_format(&registry.arena, "%s%%", title),
			.rate_title = arena_format(&registry.arena, "%s/s", title),
		};
		/* readers that see the new count see the field, too */
		atomic_store_explicit(&registry.count, count + 1, memory_order_release);
	}
	pthread_mutex_unlock(&registry.lock);
	return field;
}

const struct task_field *task_field(uint16_t field)
{
	return &registry.fields[field];
}

size_t task_field_count(void)
{
	return atomic_load_explicit(&registry.count, memory_order_acquire);
}

static bool is_called(const char *own, const char *name, size_t length, bool *ret_exactly)
{
	if (strncasecmp(own, name, length) != 0 || own[length] != '\0')
		return false;
	*ret_exactly = strncmp(own, name, length) == 0;
	return true;
}

uint16_t task_field_find(const char *name, size_t length)
{
	uint16_t found = TASK_FIELD_NONE;
	size_t similar = 0;

	for (size_t i = 0; i < task_field_count(); i++) {
		bool exactly = false;

		if (!is_called(registry.fields[i].column, name, length, &exactly) &&
		    !is_called(registry.fields[i].name, name, length, &exactly))
			continue;
		if (exactly)
			return (uint16_t)i;
		found = (uint16_t)i;
		similar++;
	}
	return similar == 1 ? found : TASK_FIELD_NONE;
}

/* --- facts --- */

static bool fits(const char *pattern, const char *name)
{
	return fnmatch(pattern, name, 0) == 0 || fnmatch(pattern, last_part(name), 0) == 0;
}

static bool is_scheduler(const char *pattern, const char *scheduler)
{
	return strcmp(pattern, "*") == 0 || (scheduler != NULL && strcmp(pattern, scheduler) == 0);
}

/* Whether a reduction makes sense for the kind: words have a count only. */
static bool suits(enum task_field_reduction reduction, enum task_field_kind kind)
{
	return (kind != TASK_FIELD_KIND_BOOLEAN && kind != TASK_FIELD_KIND_ENUM) ||
	       reduction == TASK_FIELD_REDUCTION_COUNT;
}

struct task_field_facts task_field_facts_of(const char *scheduler, const char *name,
					    enum task_field_kind kind, enum task_field_choice *ret_choice)
{
	const bool is_word = kind == TASK_FIELD_KIND_BOOLEAN || kind == TASK_FIELD_KIND_ENUM;
	struct task_field_facts facts = {is_word ? TASK_FIELD_REDUCTION_COUNT : TASK_FIELD_REDUCTION_MEAN,
					 LADDER_UNITLESS};

	*ret_choice = TASK_FIELD_CHOICE_DEFAULT;
	for (size_t i = 0; !is_word && i < sizeof(known_fields) / sizeof(known_fields[0]); i++) {
		if (is_scheduler(known_fields[i].scheduler, scheduler) &&
		    fits(known_fields[i].pattern, name)) {
			facts = known_fields[i].facts;
			*ret_choice = TASK_FIELD_CHOICE_TABLE;
			break;
		}
	}
	for (size_t i = 0; i < choice_count; i++) {
		if (strcmp(choices[i].name, name) != 0 || !suits(choices[i].reduction, kind))
			continue;
		*ret_choice = TASK_FIELD_CHOICE_USER;
		facts.reduction = choices[i].reduction;
		if (facts.reduction == TASK_FIELD_REDUCTION_AGE)
			facts.ladder = LADDER_NS;
		else if (facts.reduction == TASK_FIELD_REDUCTION_COUNT)
			facts.ladder = LADDER_UNITLESS;
	}
	return facts;
}

/* One word, so that who reads it never has half of it. */
static unsigned int pack(struct task_field_facts facts, enum task_field_kind kind)
{
	return 1U << 24 | (unsigned int)kind << 16 | (unsigned int)facts.ladder << 8 |
	       (unsigned int)facts.reduction;
}

void task_field_describe(uint16_t field, struct task_field_facts facts, enum task_field_kind kind)
{
	atomic_store_explicit(&registry.described[field], pack(facts, kind), memory_order_relaxed);
}

struct task_field_facts task_field_described(uint16_t field, enum task_field_kind *ret_kind)
{
	const unsigned int packed = atomic_load_explicit(&registry.described[field], memory_order_relaxed);
	enum task_field_choice choice;

	*ret_kind = (enum task_field_kind)(packed >> 16 & 0xff);
	if (packed == 0)
		return task_field_facts_of(NULL, registry.fields[field].name, TASK_FIELD_KIND_UNSIGNED,
					   &choice);
	return (struct task_field_facts){(enum task_field_reduction)(packed & 0xff),
					 (enum ladder)(packed >> 8 & 0xff)};
}

/* One "FIELD=HOW" of `length` bytes. */
static int choose(const char *choice, size_t length, struct error *error)
{
	static const char prefix[] = TASK_FIELD_SOURCE ".";
	const char *equals, *whole = choice;
	char how[16] = {0};
	size_t name_length, reduction = 0, whole_length = length;

	/* as columns are called */
	if (length > strlen(prefix) && strncmp(choice, prefix, strlen(prefix)) == 0) {
		choice += strlen(prefix);
		length -= strlen(prefix);
	}
	equals = memchr(choice, '=', length);
	name_length = equals != NULL ? (size_t)(equals - choice) : 0;
	if (name_length == 0 || name_length > TASK_FIELD_NAME_MAX)
		return error_set(error, -EINVAL,
				 "'%.*s' is no choice for a field of a scheduler: write FIELD=HOW, as in "
				 "sum_runtime=mean",
				 (int)whole_length, whole);
	if (choice_count == CHOICES_MAX)
		return error_set(error, -EINVAL, "more than %d fields were chosen for", CHOICES_MAX);
	if (length - name_length - 1 < sizeof(how))
		memcpy(how, equals + 1, length - name_length - 1);
	while (reduction < TASK_FIELD_REDUCTION_TOTAL &&
	       strcmp(task_field_reduction_names[reduction], how) != 0)
		reduction++;
	if (reduction == TASK_FIELD_REDUCTION_TOTAL)
		return nearest_refuse(error, "reduction", how, task_field_reduction_names,
				      TASK_FIELD_REDUCTION_TOTAL);
	memcpy(choices[choice_count].name, choice, name_length);
	choices[choice_count].name[name_length] = '\0';
	choices[choice_count++].reduction = (enum task_field_reduction)reduction;
	return 0;
}

int task_field_choose(const char *all, struct error *error)
{
	int result = 0;

	for (size_t length; result == 0; all += length + 1) {
		length = strcspn(all, ",");
		result = choose(all, length, error);
		if (all[length] == '\0')
			break;
	}
	return result;
}

size_t task_field_owner_word(const char *operations)
{
	for (const char *c = operations; *c != '\0'; c++) {
		if (c[0] == '_' && isdigit((unsigned char)c[1]) && c != operations)
			return (size_t)(c - operations);
	}
	return strlen(operations);
}

size_t task_field_place(const char *scheduler, const char *name)
{
	for (size_t i = 0; i < sizeof(known_columns) / sizeof(known_columns[0]); i++) {
		if (is_scheduler(known_columns[i].scheduler, scheduler) &&
		    fits(known_columns[i].pattern, name))
			return i;
	}
	return SIZE_MAX;
}
