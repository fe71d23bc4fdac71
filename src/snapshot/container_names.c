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
	uint32_t next;   /* item with the same key in the index; NO_NAME for none */
};

/* A directory of cgroups. */
struct directory {
	uint64_t set_ns; /* CLOCK_MONOTONIC; 0 if unknown */
	bool is_users;   /* a user owns it; otherwise root owns it and its parents */
};

enum {
	NO_NAME = UINT32_MAX,
};

/* A container may be given another name, and its name to another one. */
#define NAME_HOLDS_NS (300 * NS_PER_S)

static struct {
	pthread_mutex_t lock;
	struct container_name *items;
	size_t count, capacity;
	struct hash_map index; /* of items, by key_of() */
	uint64_t uses;
	/* Directories, by path id. */
	struct string_pool paths;
	struct directory *directories;
	size_t directory_count, directory_capacity;
	/* Ids shown so far; `of_digits` maps first digits to the id shown short. */
	struct string_pool ids;
	struct hash_map of_digits;
} names = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* --- paths --- */

static bool is_hexadecimal(char character)
{
	return (character >= '0' && character <= '9') || (character >= 'a' && character <= 'f');
}

static unsigned int hexadecimal(char digit)
{
	return (unsigned int)(digit <= '9' ? digit - '0' : digit - 'a' + 10);
}

static const char scope[] = ".scope", service[] = ".service";

/* Part of a path: one component or several. */
struct part {
	const char *text;
	size_t length;
};

/* Cuts the next component off the rest of a path. Returns false at the end. */
static bool next_component(struct part *rest, struct part *ret_component)
{
	const char *end;

	while (rest->length != 0 && rest->text[0] == '/') {
		rest->text++;
		rest->length--;
	}
	if (rest->length == 0)
		return false;
	end = memchr(rest->text, '/', rest->length);
	*ret_component = (struct part){rest->text, end != NULL ? (size_t)(end - rest->text) : rest->length};
	rest->text += ret_component->length;
	rest->length -= ret_component->length;
	return true;
}

static bool equals(struct part part, const char *text)
{
	return part.length == strlen(text) && memcmp(part.text, text, part.length) == 0;
}

/* Cuts a prefix off a part that is longer than the prefix. Returns false if it has no such prefix. */
static bool take_beginning(struct part *part, const char *beginning)
{
	const size_t length = strlen(beginning);

	if (part->length <= length || memcmp(part->text, beginning, length) != 0)
		return false;
	part->text += length;
	part->length -= length;
	return true;
}

/* Cuts off a suffix in the same way. */
static bool take_ending(struct part *part, const char *ending)
{
	const size_t length = strlen(ending);

	if (part->length <= length || memcmp(part->text + part->length - length, ending, length) != 0)
		return false;
	part->length -= length;
	return true;
}

/*
 * Returns the id at the end of a component, before any `.scope`. `conmon-ID` has no id: it is the cgroup of
 * the program that monitors a container from outside (Podman, CRI-O).
 */
static const char *id_of_component(struct part component)
{
	const char *id;

	take_ending(&component, scope);
	if (component.length < CONTAINER_ID_LENGTH)
		return NULL;
	id = component.text + component.length - CONTAINER_ID_LENGTH;
	for (size_t i = 0; i < CONTAINER_ID_LENGTH; i++) {
		if (!is_hexadecimal(id[i]))
			return NULL;
	}
	component.length -= CONTAINER_ID_LENGTH;
	if (component.length != 0 && id[-1] != '-' && id[-1] != ':')
		return NULL;
	return equals(component, "conmon-") || take_ending(&component, "-conmon-") ? NULL : id;
}

const char *container_find_id(const char *path, size_t length)
{
	struct part rest = {path, length}, component;
	const char *id = NULL;

	while (id == NULL && next_component(&rest, &component))
		id = id_of_component(component);
	return id;
}

/* Returns the first digits of an id as a number. */
static uint64_t digits_of(const char *id)
{
	uint64_t digits = 0;

	for (size_t i = 0; i < CONTAINER_SHORT_ID_LENGTH; i++)
		digits = digits << 4 | hexadecimal(id[i]);
	return digits;
}

/* Returns how many digits distinguish an id from ids shown before. Called with the lock. */
static size_t shown_digits(const char *id)
{
	uint32_t known, own;

	if (names.ids.count > CONTAINER_NAMES_MAX) {
		string_pool_release(&names.ids);
		hash_map_clear(&names.of_digits);
	}
	own = string_pool_intern(&names.ids, id, CONTAINER_ID_LENGTH);
	if (!hash_map_get(&names.of_digits, digits_of(id), &known)) {
		hash_map_set(&names.of_digits, digits_of(id), own);
		known = own;
	}
	return known == own ? CONTAINER_SHORT_ID_LENGTH : CONTAINER_ID_LENGTH;
}

static void append_id(const char *id, struct buffer *buffer)
{
	size_t length;

	pthread_mutex_lock(&names.lock);
	length = shown_digits(id);
	pthread_mutex_unlock(&names.lock);
	buffer_append(buffer, id, length);
}

/* A container that runs a whole system with its own units. */
struct system_container {
	struct part name;   /* as in the path, with escapes such as \x2d */
	struct part inside; /* the rest of the path */
};

static bool is_unit(struct part component)
{
	return take_ending(&component, scope) || take_ending(&component, service);
}

/* Finds the last component that is a service or scope unit (systemd.unit(5)). */
static bool find_unit(struct part rest, struct part *ret_unit)
{
	struct part component;
	bool found = false;

	while (next_component(&rest, &component)) {
		if (!is_unit(component))
			continue;
		*ret_unit = component;
		found = true;
	}
	return found;
}

/* Whether a component begins an LXC container: `lxc.payload.NAME`, or `lxc/NAME` before version 4. */
static bool is_of_lxc(struct part component, struct part *rest, struct part *ret_name)
{
	*ret_name = component;
	if (take_beginning(ret_name, "lxc.payload."))
		return true;
	return (equals(component, "lxc") || equals(component, "lxc.payload")) &&
	       next_component(rest, ret_name);
}

/*
 * Whether a component begins a machine of systemd-nspawn(1), which runs the system in `payload` and itself in
 * `supervisor`. Virtual machines have no such cgroups.
 */
static bool is_of_nspawn(struct part component, struct part *rest, struct part *ret_name)
{
	struct part below = *rest, child;

	*ret_name = component;
	if (!(take_beginning(ret_name, "machine-") && take_ending(ret_name, scope))) {
		*ret_name = component;
		if (!(take_beginning(ret_name, "systemd-nspawn@") && take_ending(ret_name, service)))
			return false;
	}
	if (!next_component(&below, &child) || !equals(child, "payload"))
		return false;
	*rest = below;
	return true;
}

/* Finds the outermost system container of a path, in the components before any id. */
static bool find_system(struct part rest, struct system_container *ret_system)
{
	struct part component;

	while (next_component(&rest, &component) && id_of_component(component) == NULL) {
		if (!is_of_lxc(component, &rest, &ret_system->name) &&
		    !is_of_nspawn(component, &rest, &ret_system->name))
			continue;
		ret_system->inside = rest;
		return true;
	}
	return false;
}

/* Appends a name, undoing systemd's escapes of printable characters (systemd-escape(1)). */
static void append_unescaped(struct part name, struct buffer *buffer)
{
	for (size_t i = 0; i < name.length; i++) {
		unsigned int code = 0;

		if (name.length - i >= 4 && name.text[i] == '\\' && name.text[i + 1] == 'x' &&
		    is_hexadecimal(name.text[i + 2]) && is_hexadecimal(name.text[i + 3]))
			code = hexadecimal(name.text[i + 2]) << 4 | hexadecimal(name.text[i + 3]);
		if (code > ' ' && code < 0x7f && code != '/') {
			buffer_append_char(buffer, (char)code);
			i += 3;
		} else {
			buffer_append_char(buffer, name.text[i]);
		}
	}
}

/* Appends the name of a system container, and the container or unit inside it that the path names. */
static void append_system(const struct system_container *system, struct buffer *buffer)
{
	const char *id = container_find_id(system->inside.text, system->inside.length);
	struct part unit = {0};

	append_unescaped(system->name, buffer);
	if (id == NULL && !find_unit(system->inside, &unit))
		return;
	buffer_append_char(buffer, '/');
	if (id != NULL)
		append_id(id, buffer);
	else
		buffer_append(buffer, unit.text, unit.length);
}

/* Appends the unit in a path, or its last component if it has none. */
static void append_unit(const char *path, size_t length, struct buffer *buffer)
{
	struct part rest = {path, length}, component, last = {"/", 1};

	if (!find_unit(rest, &last)) {
		while (next_component(&rest, &component))
			last = component;
	}
	buffer_append(buffer, last.text, last.length);
}

/* --- names, with the lock --- */

/* Items with equal keys, which an attacker can provoke, form a list. */
static uint64_t key_of(const char *id)
{
	return hash_bytes(id, CONTAINER_ID_LENGTH);
}

static struct container_name *find(const char *id)
{
	uint32_t index;
	bool found = hash_map_get(&names.index, key_of(id), &index);

	while (found && memcmp(names.items[index].id, id, CONTAINER_ID_LENGTH) != 0) {
		index = names.items[index].next;
		found = index != NO_NAME;
	}
	if (!found)
		return NULL;
	names.items[index].used = ++names.uses;
	return &names.items[index];
}

static void add_to_index(uint32_t index)
{
	struct container_name *item = &names.items[index];

	if (!hash_map_get(&names.index, key_of(item->id), &item->next))
		item->next = NO_NAME;
	hash_map_set(&names.index, key_of(item->id), index);
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
		add_to_index((uint32_t)i);
}

static void set(const char *id, const char *name)
{
	struct container_name *item = find(id);
	/* names that are too long are not cut: two of them could become equal */
	const size_t length = strnlen(name, CONTAINER_NAME_MAX) < CONTAINER_NAME_MAX ? strlen(name) : 0;

	if (item == NULL) {
		if (names.count == CONTAINER_NAMES_MAX)
			forget();
		item = MEMORY_APPEND(names.items, names.count, names.capacity);
		memcpy(item->id, id, CONTAINER_ID_LENGTH);
		item->name = NULL;
		item->used = ++names.uses;
		add_to_index((uint32_t)(names.count - 1));
	} else if (length != 0) {
		free(item->name);
		item->name = NULL;
	}
	item->set_ns = clock_ns(CLOCK_MONOTONIC);
	if (item->name == NULL) /* keep the name that a runtime no longer reports */
		item->name = memory_duplicate_bytes(name, length);
}

/* --- owners of directories, with the lock --- */

/* Returns the entry of a directory, or NULL if it is unknown. */
static struct directory *find_directory(const char *path, size_t length)
{
	const uint32_t id = string_pool_find(&names.paths, path, length);

	return id < names.directory_count ? &names.directories[id] : NULL;
}

static void set_directory(const char *path, size_t length, bool is_users)
{
	uint32_t id;

	if (names.paths.count > CONTAINER_NAMES_MAX) {
		string_pool_release(&names.paths);
		names.directory_count = 0;
	}
	id = string_pool_intern(&names.paths, path, length);
	while (names.directory_count <= id)
		*MEMORY_APPEND(names.directories, names.directory_count,
			       names.directory_capacity) = (struct directory){0};
	names.directories[id] = (struct directory){clock_ns(CLOCK_MONOTONIC), is_users};
	/* a parent may have been owned by a user before */
	for (size_t i = 1; i < length && !is_users; i++) {
		struct directory *above = path[i] == '/' ? find_directory(path, i) : NULL;

		if (above != NULL)
			above->is_users = false;
	}
}

/* Returns the length of the path to the parent of the id's cgroup. */
static size_t parent_length(const char *path, const char *id)
{
	while (id > path && id[-1] != '/')
		id--;
	return id > path ? (size_t)(id - path) - 1 : 0;
}

/*
 * Returns the path length of the outermost user-owned directory above an id, or 0 if none is known. If the
 * parent was never checked, every path below a cgroup that systemd gives to a user (user@.service(5)) counts
 * as user-owned.
 */
static size_t find_users(const char *path, const char *id)
{
	static const char manager[] = "/user@";
	const size_t parent = parent_length(path, id);
	const char *found = memmem(path, parent, manager, sizeof(manager) - 1);

	for (size_t i = 1; i <= parent; i++) {
		const struct directory *directory = i == parent || path[i] == '/' ? find_directory(path, i)
										  : NULL;

		if (directory != NULL && directory->is_users)
			return i;
	}
	if (find_directory(path, parent) != NULL)
		return 0;
	return found != NULL && memmem(found, (size_t)(path + parent - found), ".service", 8) != NULL ? parent
												      : 0;
}

/* --- for others --- */

const char *container_find_own_id(const char *path, size_t length)
{
	struct system_container system;

	return find_system((struct part){path, length}, &system) ? NULL : container_find_id(path, length);
}

bool container_has(const char *path, size_t length)
{
	struct system_container system;

	return container_find_id(path, length) != NULL || find_system((struct part){path, length}, &system);
}

void container_names_set(const char *id, const char *name)
{
	pthread_mutex_lock(&names.lock);
	set(id, name);
	pthread_mutex_unlock(&names.lock);
}

static bool is_fresh(uint64_t set_ns)
{
	return clock_ns(CLOCK_MONOTONIC) - set_ns < NAME_HOLDS_NS;
}

bool container_names_know(const char *id)
{
	const struct container_name *item;
	bool known;

	pthread_mutex_lock(&names.lock);
	item = find(id);
	known = item != NULL && is_fresh(item->set_ns);
	pthread_mutex_unlock(&names.lock);
	return known;
}

void container_directory_set(const char *path, size_t length, bool is_users)
{
	pthread_mutex_lock(&names.lock);
	set_directory(path, length, is_users);
	pthread_mutex_unlock(&names.lock);
}

enum container_owner container_owner(const char *path, const char *id)
{
	const size_t parent = parent_length(path, id);
	const struct directory *directory;
	enum container_owner owner = CONTAINER_OWNER_UNKNOWN;
	size_t users;

	pthread_mutex_lock(&names.lock);
	users = find_users(path, id);
	directory = find_directory(path, users != 0 ? users : parent);
	if (directory != NULL && is_fresh(directory->set_ns))
		owner = users != 0 ? CONTAINER_OWNER_USER : CONTAINER_OWNER_ROOT;
	pthread_mutex_unlock(&names.lock);
	return owner;
}

void container_names_take(const struct snapshot *snapshot)
{
	const struct text_pairs *pairs = &snapshot->provenance.containers;

	pthread_mutex_lock(&names.lock);
	for (size_t i = 0; i < pairs->count; i++) {
		const struct text_pair *pair = &pairs->items[i];
		const struct container_name *known;

		if (pair->key[0] == '/' && pair->value[0] == '\0')
			set_directory(pair->key, strlen(pair->key), true);
		if (strlen(pair->key) != CONTAINER_ID_LENGTH ||
		    container_find_id(pair->key, CONTAINER_ID_LENGTH) == NULL)
			continue;
		known = find(pair->key);
		if (known == NULL || known->name[0] == '\0')
			set(pair->key, pair->value);
	}
	pthread_mutex_unlock(&names.lock);
}

/* Notes the id of a path in `ids`, or in `users` the user-owned directory that makes the id untrusted. */
static void note_path(const char *path, size_t length, struct string_pool *ids, struct string_pool *users)
{
	const char *id = container_find_own_id(path, length);
	size_t of_user;

	if (id == NULL)
		return;
	of_user = find_users(path, id);
	if (of_user == 0)
		string_pool_intern(ids, id, CONTAINER_ID_LENGTH);
	else if (find_directory(path, of_user) != NULL)
		string_pool_intern(users, path, of_user);
}

void container_names_give(struct snapshot *snapshot)
{
	struct text_pairs *pairs = &snapshot->provenance.containers;
	struct string_pool ids = {0}, users = {0};

	pthread_mutex_lock(&names.lock);
	for (size_t i = 0; i < snapshot->triple_count; i++) {
		const uint32_t path = snapshot->triples[i].cgroup;

		/* threads of a cgroup mostly follow one another */
		if (i == 0 || path != snapshot->triples[i - 1].cgroup)
			note_path(string_pool_text(&snapshot->strings, path),
				  string_pool_length(&snapshot->strings, path), &ids, &users);
	}
	*pairs = (struct text_pairs){.items = arena_allocate_zero(&snapshot->arena,
								  ids.count + users.count + 1,
								  sizeof(*pairs->items))};
	for (uint32_t i = 1; i < ids.count; i++) {
		const char *id = string_pool_text(&ids, i);
		const struct container_name *known = find(id);

		if (known != NULL && known->name[0] != '\0')
			pairs->items[pairs->count++] = (struct text_pair){
				arena_duplicate(&snapshot->arena, id, CONTAINER_ID_LENGTH),
				arena_duplicate(&snapshot->arena, known->name, strlen(known->name))};
	}
	pthread_mutex_unlock(&names.lock);
	for (uint32_t i = 1; i < users.count; i++)
		pairs->items[pairs->count++] = (struct text_pair){
			arena_duplicate(&snapshot->arena, string_pool_text(&users, i),
					string_pool_length(&users, i)),
			""};
	string_pool_release(&ids);
	string_pool_release(&users);
	pairs->present = pairs->count != 0;
	qsort(pairs->items, pairs->count, sizeof(*pairs->items), order_by_text);
}

void container_append_name(const char *path, size_t length, struct buffer *buffer)
{
	const char *id = container_find_id(path, length);
	const struct container_name *known;
	struct system_container system;

	if (find_system((struct part){path, length}, &system)) {
		append_system(&system, buffer);
		return;
	}
	if (id == NULL) {
		append_unit(path, length, buffer);
		return;
	}
	pthread_mutex_lock(&names.lock);
	known = find_users(path, id) != 0 ? NULL : find(id);
	if (known != NULL && known->name[0] != '\0')
		buffer_append_text(buffer, known->name);
	else
		buffer_append(buffer, id, shown_digits(id));
	pthread_mutex_unlock(&names.lock);
}
