/* SPDX-License-Identifier: GPL-2.0-only */
#include "container_names.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/order.h"

struct container_name {
	char id[CONTAINER_ID_LENGTH];
	char *name;      /* owned */
	uint64_t used;   /* `uses` when it was used last */
	uint64_t set_ns; /* CLOCK_MONOTONIC */
};

/* A container may be given another name, and its name to another one. */
#define NAME_HOLDS_NS (300 * NS_PER_S)

static struct {
	pthread_mutex_t lock;
	struct container_name *items;
	size_t count, capacity;
	struct hash_map index; /* of items, by key_of() */
	uint64_t uses;
} names = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* --- paths --- */

static bool is_hexadecimal(char character)
{
	return (character >= '0' && character <= '9') || (character >= 'a' && character <= 'f');
}

/* The id that a component ends with, before `.scope` if that is there. */
static const char *id_of_component(const char *component, size_t length)
{
	static const char scope[] = ".scope";
	const size_t scope_length = sizeof(scope) - 1;
	const char *id;

	if (length > scope_length && memcmp(component + length - scope_length, scope, scope_length) == 0)
		length -= scope_length;
	if (length < CONTAINER_ID_LENGTH)
		return NULL;
	id = component + length - CONTAINER_ID_LENGTH;
	for (size_t i = 0; i < CONTAINER_ID_LENGTH; i++) {
		if (!is_hexadecimal(id[i]))
			return NULL;
	}
	return id == component || id[-1] == '-' || id[-1] == ':' ? id : NULL;
}

/* The component that ends at `end`: its beginning, behind a slash. */
static const char *begin_of_component(const char *path, const char *end)
{
	while (end > path && end[-1] != '/')
		end--;
	return end;
}

const char *container_find_id(const char *path, size_t length)
{
	const char *end = path + length;

	while (end > path) {
		const char *begin = begin_of_component(path, end);
		const char *id = id_of_component(begin, (size_t)(end - begin));

		if (id != NULL)
			return id;
		end = begin > path ? begin - 1 : path;
	}
	return NULL;
}

static bool ends_with(const char *text, size_t length, const char *ending)
{
	const size_t ending_length = strlen(ending);

	return length > ending_length && memcmp(text + length - ending_length, ending, ending_length) == 0;
}

/* Appends the last component that is a unit which has processes (systemd.unit(5)), else the last one. */
static void append_unit(const char *path, size_t length, struct buffer *buffer)
{
	const char *end = path + length, *last, *const last_end = end;

	last = begin_of_component(path, end);
	while (end > path) {
		const char *begin = begin_of_component(path, end);
		const size_t component = (size_t)(end - begin);

		if (ends_with(begin, component, ".service") || ends_with(begin, component, ".scope")) {
			buffer_append(buffer, begin, component);
			return;
		}
		end = begin > path ? begin - 1 : path;
	}
	if (last == last_end)
		buffer_append_char(buffer, '/');
	else
		buffer_append(buffer, last, (size_t)(last_end - last));
}

/* --- names, with the lock --- */

/* The first 16 digits: ids are random numbers. Of two that were made to share them, the later one is found.
 */
static uint64_t key_of(const char *id)
{
	uint64_t key = 0;

	for (size_t i = 0; i < 2 * sizeof(key); i++)
		key = key << 4 | (uint64_t)(id[i] <= '9' ? id[i] - '0' : id[i] - 'a' + 10);
	return key;
}

static struct container_name *find(const char *id)
{
	uint32_t index;

	if (!hash_map_get(&names.index, key_of(id), &index) ||
	    memcmp(names.items[index].id, id, CONTAINER_ID_LENGTH) != 0)
		return NULL;
	names.items[index].used = ++names.uses;
	return &names.items[index];
}

static int compare_uses(const void *left, const void *right)
{
	const struct container_name *a = left, *b = right;

	return (a->used < b->used) - (a->used > b->used);
}

/* Forgets the half that was not used for longest. */
static void forget(void)
{
	qsort(names.items, names.count, sizeof(*names.items), compare_uses);
	while (names.count > CONTAINER_NAMES_MAX / 2)
		free(names.items[--names.count].name);
	hash_map_clear(&names.index);
	for (size_t i = 0; i < names.count; i++)
		hash_map_set(&names.index, key_of(names.items[i].id), (uint32_t)i);
}

static void set(const char *id, const char *name)
{
	struct container_name *item = find(id);

	if (item == NULL) {
		if (names.count == CONTAINER_NAMES_MAX)
			forget();
		hash_map_set(&names.index, key_of(id), (uint32_t)names.count);
		item = MEMORY_APPEND(names.items, names.count, names.capacity);
		memcpy(item->id, id, CONTAINER_ID_LENGTH);
		item->name = NULL;
		item->used = ++names.uses;
	} else if (name[0] != '\0') {
		free(item->name);
	}
	item->set_ns = clock_ns(CLOCK_MONOTONIC);
	if (item->name != NULL && name[0] == '\0') /* who cannot see it any more still knows it */
		return;
	item->name = memory_duplicate_bytes(name, strnlen(name, CONTAINER_NAME_MAX));
}

/* --- for others --- */

void container_names_set(const char *id, const char *name)
{
	pthread_mutex_lock(&names.lock);
	set(id, name);
	pthread_mutex_unlock(&names.lock);
}

bool container_names_know(const char *id)
{
	const struct container_name *item;
	bool known;

	pthread_mutex_lock(&names.lock);
	item = find(id);
	known = item != NULL && clock_ns(CLOCK_MONOTONIC) - item->set_ns < NAME_HOLDS_NS;
	pthread_mutex_unlock(&names.lock);
	return known;
}

void container_names_take(const struct snapshot *snapshot)
{
	const struct text_pairs *pairs = &snapshot->provenance.containers;

	pthread_mutex_lock(&names.lock);
	for (size_t i = 0; i < pairs->count; i++) {
		const struct text_pair *pair = &pairs->items[i];
		const struct container_name *known;

		if (strlen(pair->key) != CONTAINER_ID_LENGTH ||
		    container_find_id(pair->key, CONTAINER_ID_LENGTH) == NULL)
			continue;
		known = find(pair->key);
		if (known == NULL || known->name[0] == '\0')
			set(pair->key, pair->value);
	}
	pthread_mutex_unlock(&names.lock);
}

void container_names_give(struct snapshot *snapshot)
{
	struct text_pairs *pairs = &snapshot->provenance.containers;
	struct string_pool ids = {0};

	for (size_t i = 0; i < snapshot->triple_count; i++) {
		const uint32_t path = snapshot->triples[i].cgroup;
		const char *id;

		/* threads of a cgroup mostly follow one another */
		if (i != 0 && path == snapshot->triples[i - 1].cgroup)
			continue;
		id = container_find_id(string_pool_text(&snapshot->strings, path),
				       string_pool_length(&snapshot->strings, path));
		if (id != NULL)
			string_pool_intern(&ids, id, CONTAINER_ID_LENGTH);
	}
	*pairs = (struct text_pairs){
		.items = arena_allocate_zero(&snapshot->arena, ids.count + 1, sizeof(*pairs->items))};
	pthread_mutex_lock(&names.lock);
	for (uint32_t i = 1; i < ids.count; i++) {
		const char *id = string_pool_text(&ids, i);
		const struct container_name *known = find(id);

		if (known != NULL && known->name[0] != '\0')
			pairs->items[pairs->count++] = (struct text_pair){
				arena_duplicate(&snapshot->arena, id, CONTAINER_ID_LENGTH),
				arena_duplicate(&snapshot->arena, known->name, strlen(known->name))};
	}
	pthread_mutex_unlock(&names.lock);
	string_pool_release(&ids);
	pairs->present = pairs->count != 0;
	qsort(pairs->items, pairs->count, sizeof(*pairs->items), order_by_text);
}

/*
 * Whether a path to an id is that of a cgroup which a user may make (user@.service(5)), who may take the id
 * of a container of somebody else. Containers of users have no state where that of the host's is.
 */
static bool is_delegated(const char *path, const char *id)
{
	static const char manager[] = "/user@";
	const char *found = memmem(path, (size_t)(id - path), manager, sizeof(manager) - 1);

	return found != NULL && memmem(found, (size_t)(id - found), ".service/", 9) != NULL;
}

void container_append_name(const char *path, size_t length, struct buffer *buffer)
{
	const char *id = container_find_id(path, length);
	const struct container_name *known;

	if (id == NULL) {
		append_unit(path, length, buffer);
		return;
	}
	pthread_mutex_lock(&names.lock);
	known = is_delegated(path, id) ? NULL : find(id);
	if (known != NULL && known->name[0] != '\0')
		buffer_append_text(buffer, known->name);
	else
		buffer_append(buffer, id, CONTAINER_SHORT_ID_LENGTH);
	pthread_mutex_unlock(&names.lock);
}
