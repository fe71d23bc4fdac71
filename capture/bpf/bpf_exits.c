/* SPDX-License-Identifier: GPL-2.0-only */
#include "bpf_exits.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/memory.h"
#include "bpf_object.h"
#include "exits.skel.h"

enum {
	KEYS_IDLE = 1024,   /* so many are worth reading no more, ... */
	IDLE_READINGS = 30, /* ... if nothing was added to them in so many readings */
	BATCH = 256,
};

/* A key with its sum at the last reading. */
struct known_sum {
	struct bpf_exit_group last;
	uint64_t reading; /* number of the reading at which it had grown last */
};

struct batch {
	void *keys, *values;
	size_t capacity;
};

struct bpf_exits {
	struct exits *object;
	/* Whether the next reading has to walk the map of sums, or those of tasks: a list lacks something. */
	bool walk_sums, walk_tasks;
	/* The tasks that the last reading found in the maps, then those listed since: to be looked up. */
	struct exit_identity tasks[EXIT_LISTED_MAX];
	size_t task_count;
	struct known_sum *known;
	size_t known_count, known_capacity;
	struct hash_map index; /* hash of a key: its place in `known` */
	uint64_t reading;
	bool draining;            /* the map that the programs do not add to has to be emptied */
	uint64_t drained;         /* number of the reading at which that was done last */
	int waiter, waiter_entry; /* a map of maps, and its entry: see drain() */
	struct bpf_exit_group *groups;
	size_t group_count, group_capacity;
	struct bpf_exit_item *items;
	size_t item_count, item_capacity;
	struct batch batch;
};

static struct exits *load_object(struct bpf_scope scope, struct arena *arena,
				 struct feature_result *ret_result)
{
	struct exits *object;

	bpf_object_listen();
	object = exits__open();
	if (object == NULL) {
		*ret_result = bpf_object_load(NULL, -errno, NULL, scope, arena);
		return NULL;
	}
	object->rodata->scoped = scope.count != 0;
	object->rodata->old_hierarchy = bpf_find_old_hierarchy();
	*ret_result = bpf_object_load(object->skeleton, 0, object->maps.scope, scope, arena);
	return object;
}

static bool make_waiter(struct bpf_exits *exits)
{
	LIBBPF_OPTS(bpf_map_create_opts, options);

	exits->waiter_entry = bpf_map_create(BPF_MAP_TYPE_ARRAY, "ctop_entry", sizeof(uint32_t),
					     sizeof(uint32_t), 1, NULL);
	if (exits->waiter_entry < 0)
		return false;
	options.inner_map_fd = (__u32)exits->waiter_entry;
	exits->waiter = bpf_map_create(BPF_MAP_TYPE_ARRAY_OF_MAPS, "ctop_waiter", sizeof(uint32_t),
				       sizeof(uint32_t), 1, &options);
	return exits->waiter >= 0;
}

struct bpf_exits *bpf_exits_open(const uint32_t *scope, size_t scope_count, struct arena *arena,
				 struct feature_result *ret_result)
{
	struct bpf_exits *exits;

	*ret_result = bpf_check(arena);
	if (ret_result->state != FEATURE_STATE_ON)
		return NULL;
	exits = memory_allocate_zero(1, sizeof(*exits));
	exits->waiter = exits->waiter_entry = -1;
	exits->object = load_object((struct bpf_scope){scope, scope_count}, arena, ret_result);
	if (ret_result->state == FEATURE_STATE_ON &&
	    (!make_waiter(exits) || exits__attach(exits->object) != 0))
		*ret_result = bpf_refused(arena, -errno, "to call a program at the end of tasks");
	if (ret_result->state == FEATURE_STATE_ON)
		return exits;
	bpf_exits_close(exits);
	return NULL;
}

void bpf_exits_close(struct bpf_exits *exits)
{
	if (exits == NULL)
		return;
	exits__destroy(exits->object);
	if (exits->waiter >= 0)
		close(exits->waiter);
	if (exits->waiter_entry >= 0)
		close(exits->waiter_entry);
	hash_map_release(&exits->index);
	free(exits->known);
	free(exits->groups);
	free(exits->items);
	free(exits->batch.keys);
	free(exits->batch.values);
	free(exits);
}

void bpf_exits_set_known(struct bpf_exits *exits, uint64_t boottime_ns)
{
	__atomic_store_n(&exits->object->bss->known_before, boottime_ns, __ATOMIC_SEQ_CST);
}

uint32_t bpf_exits_kernel(const struct bpf_exits *exits)
{
	return exits->object->bss->exit_kernel;
}

uint64_t bpf_exits_lost(const struct bpf_exits *exits)
{
	return exits->object->bss->lost;
}

typedef void entry_function(struct bpf_exits *exits, const void *key, const void *value);

/* Grows the room for a batch where the entries of one slot of the kernel's table do not fit. */
static void make_room(struct batch *batch, const struct bpf_map *map, size_t entries)
{
	batch->capacity = entries;
	batch->keys = memory_resize(batch->keys, entries, bpf_map__key_size(map));
	batch->values = memory_resize(batch->values, entries, bpf_map__value_size(map));
}

/* Goes through a map, many entries at a time, and takes them out with `take`. Returns 0 or a negative errno.
 */
static int read_map(struct bpf_exits *exits, const struct bpf_map *map, uint64_t flags, bool take,
		    entry_function *add)
{
	int (*read_batch)(int, void *, void *, void *, void *, __u32 *,
			  const struct bpf_map_batch_opts *) = take ? bpf_map_lookup_and_delete_batch
								    : bpf_map_lookup_batch;
	LIBBPF_OPTS(bpf_map_batch_opts, options, .elem_flags = flags);
	uint32_t position = 0;
	bool first = true;

	make_room(&exits->batch, map, BATCH);
	for (;;) {
		struct batch *batch = &exits->batch;
		uint32_t count = (uint32_t)batch->capacity;
		const char *key, *value;
		int result = read_batch(bpf_map__fd(map), first ? NULL : &position, &position, batch->keys,
					batch->values, &count, &options);

		if (result == -ENOSPC) {
			make_room(batch, map, batch->capacity * 2);
			continue;
		}
		if (result != 0 && result != -ENOENT)
			return result;
		key = batch->keys;
		value = batch->values;
		for (uint32_t i = 0; i < count; i++) {
			add(exits, key, value);
			key += bpf_map__key_size(map);
			value += bpf_map__value_size(map);
		}
		if (result == -ENOENT)
			return 0;
		first = false;
	}
}

/* --- lists of the programs --- */

/* Notes where a list ends for this reading: a storm goes on. Sets `*walk` if an entry found no room. */
static uint64_t note_end(struct exit_list *list, bool *walk)
{
	*walk |= __atomic_exchange_n(&list->overflowed, 0, __ATOMIC_SEQ_CST) != 0;
	return __atomic_load_n(&list->end, __ATOMIC_SEQ_CST);
}

/* Returns the place of the first entry to the programs, after the reader has copied and cleared it. */
static void drop_first(struct exit_list *list)
{
	__atomic_store_n(&list->begin, list->begin + 1, __ATOMIC_RELEASE);
}

/* Takes the key of a sum that has grown. False at `end`, or if the next entry is incomplete. */
static bool take_sum(struct exits__bss *shared, uint64_t end, struct exit_key *ret_key)
{
	struct exit_list *list = &shared->sum_list;
	struct exit_touched *entry = &shared->touched_sums[list->begin % EXIT_LISTED_MAX];

	if (list->begin == end || __atomic_load_n(&entry->is_complete, __ATOMIC_ACQUIRE) == 0)
		return false;
	*ret_key = entry->key;
	entry->is_complete = 0;
	drop_first(list);
	return true;
}

/* Takes a task that was put into a map. False at `end`, or if the next entry is incomplete. */
static bool take_task(struct exits__bss *shared, uint64_t end, struct exit_identity *ret_identity)
{
	struct exit_list *list = &shared->task_list;
	struct exit_identity *entry = &shared->noted_tasks[list->begin % EXIT_LISTED_MAX];
	const uint64_t start = __atomic_load_n(&entry->start_boottime, __ATOMIC_ACQUIRE);
	const uint64_t task = __atomic_load_n(&entry->task, __ATOMIC_ACQUIRE);
	const uint64_t exec_id = __atomic_load_n(&entry->self_exec_id, __ATOMIC_ACQUIRE);

	if (list->begin == end || start == 0 || task == 0 || exec_id == 0)
		return false;
	*ret_identity = (struct exit_identity){start, task, ~exec_id};
	*entry = (struct exit_identity){0};
	drop_first(list);
	return true;
}

/* --- sums --- */

static bool is_of(const struct known_sum *known, const struct exit_key *key)
{
	return memcmp(&known->last.key, key, sizeof(*key)) == 0;
}

/* The sum of a key at the last reading; one of nothing, added, where it was not there. */
static struct known_sum *find_known(struct bpf_exits *exits, const struct exit_key *key)
{
	uint64_t hash = hash_bytes(key, sizeof(*key));
	struct known_sum *known;
	uint32_t place;

	/* keys with the same hash stand one after the other */
	for (; hash_map_get(&exits->index, hash, &place); hash += UINT64_C(1) << 32) {
		if (is_of(&exits->known[place], key))
			return &exits->known[place];
	}
	hash_map_set(&exits->index, hash, (uint32_t)exits->known_count);
	known = MEMORY_APPEND(exits->known, exits->known_count, exits->known_capacity);
	*known = (struct known_sum){.last = {.key = *key}};
	return known;
}

/* The votes go on from reading to reading: of another time is who had them before, and lost some. */
static uint64_t votes_since(const struct exit_sum *now, const struct exit_sum *before)
{
	if (memcmp(now->parent, before->parent, sizeof(now->parent)) != 0)
		return now->parent_votes;
	return now->parent_votes > before->parent_votes ? now->parent_votes - before->parent_votes : 0;
}

static struct exit_sum difference(const struct exit_sum *now, const struct exit_sum *before)
{
	struct exit_sum result = {
		.threads = now->threads - before->threads,
		.processes = now->processes - before->processes,
		.delayed = now->delayed - before->delayed,
		.parent_votes = votes_since(now, before),
	};

	memcpy(result.parent, now->parent, sizeof(result.parent));
	for (size_t i = 0; i < EXIT_AMOUNTS; i++)
		result.amounts[i] = now->amounts[i] - before->amounts[i];
	return result;
}

static void add_sum(struct bpf_exits *exits, const void *key, const void *value)
{
	const struct exit_sum *sum = value;
	struct known_sum *known = find_known(exits, key);

	if (known->last.sum.threads == sum->threads)
		return;
	*MEMORY_APPEND(exits->groups, exits->group_count, exits->group_capacity) = (struct bpf_exit_group){
		known->last.key, difference(sum, &known->last.sum)};
	known->last.sum = *sum;
	known->reading = exits->reading;
}

/* Whether the map holds too many keys that nobody adds to any more, or has too little room left. */
static bool is_drain_due(const struct bpf_exits *exits)
{
	size_t idle = 0;

	if (exits->known_count > EXIT_KEYS_MAX / 2)
		return true;
	if (exits->known_count < KEYS_IDLE || exits->reading < exits->drained + IDLE_READINGS)
		return false;
	for (size_t i = 0; i < exits->known_count; i++)
		idle += exits->known[i].reading + IDLE_READINGS <= exits->reading;
	return idle >= KEYS_IDLE;
}

/*
 * Empties the map that the programs no longer add to, once none is left that began when they did: an update
 * of a map of maps returns one grace period of RCU later (maybe_wait_bpf_programs() of
 * kernel/bpf/syscall.c). So whatever was added counts. Returns 0 or a negative errno; then it is still to be
 * done, and until then nothing can be read.
 */
static int drain(struct bpf_exits *exits)
{
	const struct bpf_map *full = exits->object->bss->to_other != 0 ? exits->object->maps.sums
								       : exits->object->maps.other_sums;
	const uint32_t place = 0;
	int result = bpf_map_update_elem(exits->waiter, &place, &exits->waiter_entry, BPF_ANY);

	if (result == 0)
		result = read_map(exits, full, BPF_F_LOCK, true, add_sum);
	if (result < 0)
		return result;
	exits->draining = false;
	exits->drained = exits->reading;
	free(exits->known);
	exits->known = NULL;
	exits->known_count = exits->known_capacity = 0;
	hash_map_release(&exits->index);
	return 0;
}

/* Reads a sum that was listed. If it is not there, drain() has read it. */
static int read_sum(struct bpf_exits *exits, const struct bpf_map *map, const struct exit_key *key)
{
	struct exit_sum sum;
	int result = bpf_map_lookup_elem_flags(bpf_map__fd(map), key, &sum, BPF_F_LOCK);

	if (result == 0)
		add_sum(exits, key, &sum);
	return result == -ENOENT ? 0 : result;
}

/* Reads the sums that have grown. The order of the steps is that of mark_listed() of exits.bpf.c. */
static int read_touched(struct bpf_exits *exits, const struct bpf_map *map)
{
	struct exits__bss *shared = exits->object->bss;
	const uint64_t end = note_end(&shared->sum_list, &exits->walk_sums);
	struct exit_key key;
	int result = 0;

	__atomic_store_n(&shared->readings, (uint32_t)exits->reading, __ATOMIC_SEQ_CST);
	while (result == 0 && take_sum(shared, end, &key)) {
		if (!exits->walk_sums)
			result = read_sum(exits, map, &key);
	}
	exits->walk_sums |= shared->sum_list.begin != end || result < 0;
	if (result < 0 || !exits->walk_sums)
		return result;
	result = read_map(exits, map, BPF_F_LOCK, false, add_sum);
	exits->walk_sums = result < 0;
	return result;
}

static int read_sums(struct bpf_exits *exits)
{
	struct exits__bss *shared = exits->object->bss;
	int result = exits->draining ? drain(exits) : 0;

	if (result == 0)
		result = read_touched(exits, shared->to_other != 0 ? exits->object->maps.other_sums
								   : exits->object->maps.sums);
	if (result < 0 || !is_drain_due(exits))
		return result;
	__atomic_store_n(&shared->to_other, !shared->to_other, __ATOMIC_SEQ_CST);
	exits->draining = true;
	return drain(exits);
}

static int compare_groups(const void *a, const void *b)
{
	const struct bpf_exit_group *first = a, *second = b;

	if (first->sum.threads != second->sum.threads)
		return first->sum.threads < second->sum.threads ? 1 : -1;
	return memcmp(&first->key, &second->key, sizeof(first->key));
}

int bpf_exits_read_groups(struct bpf_exits *exits, const struct bpf_exit_group **ret_groups,
			  size_t *ret_count)
{
	int result;

	exits->groups = memory_empty(exits->groups, &exits->group_count, &exits->group_capacity,
				     sizeof(*exits->groups));
	exits->reading++;
	result = read_sums(exits);
	if (exits->group_count != 0)
		qsort(exits->groups, exits->group_count, sizeof(*exits->groups), compare_groups);
	*ret_groups = exits->groups;
	*ret_count = exits->group_count;
	return result;
}

/* --- tasks --- */

static void add_item(struct bpf_exits *exits, const void *key, const void *value)
{
	struct bpf_exit_item *item = MEMORY_APPEND(exits->items, exits->item_count, exits->item_capacity);

	memcpy(&item->identity, key, sizeof(item->identity));
	memcpy(&item->thread, value, sizeof(item->thread));
}

/* Tasks that have executed fewer programs come first. */
static int compare_items(const void *a, const void *b)
{
	const struct bpf_exit_item *first = a, *second = b;

	if (first->identity.self_exec_id != second->identity.self_exec_id)
		return first->identity.self_exec_id < second->identity.self_exec_id ? -1 : 1;
	return memcmp(&first->identity, &second->identity, sizeof(first->identity));
}

/* Sorts the items and drops doubles: a task may be listed just after a walk of the maps has found it. */
static void sort_items(struct bpf_exits *exits)
{
	size_t kept = 0;

	if (exits->item_count != 0)
		qsort(exits->items, exits->item_count, sizeof(*exits->items), compare_items);
	for (size_t i = 0; i < exits->item_count; i++) {
		if (kept != 0 && compare_items(&exits->items[i], &exits->items[kept - 1]) == 0)
			continue;
		if (kept != i)
			exits->items[kept] = exits->items[i];
		kept++;
	}
	exits->item_count = kept;
}

/* Keeps a task to be looked up. If there are too many, the maps are walked instead. */
static void keep_task(struct bpf_exits *exits, const struct exit_identity *identity)
{
	if (exits->task_count < EXIT_LISTED_MAX)
		exits->tasks[exits->task_count++] = *identity;
	else
		exits->walk_tasks = true;
}

static int read_task_maps(struct bpf_exits *exits)
{
	int result = read_map(exits, exits->object->maps.ending, 0, false, add_item);

	return result == 0 ? read_map(exits, exits->object->maps.threads, 0, false, add_item) : result;
}

/* Adds a task if the map has it. Returns 0, -ENOENT, or another negative errno. */
static int look_up(struct bpf_exits *exits, const struct bpf_map *map, const struct exit_identity *identity)
{
	struct exit_thread thread;
	int result = bpf_map_lookup_elem(bpf_map__fd(map), identity, &thread);

	if (result == 0)
		add_item(exits, identity, &thread);
	return result;
}

/* Looks up the tasks that may be in the maps. Programs delete them, but never move one to the other map. */
static int look_up_tasks(struct bpf_exits *exits)
{
	for (size_t i = 0; i < exits->task_count; i++) {
		int result = look_up(exits, exits->object->maps.ending, &exits->tasks[i]);

		if (result == -ENOENT)
			result = look_up(exits, exits->object->maps.threads, &exits->tasks[i]);
		if (result != 0 && result != -ENOENT)
			return result;
	}
	return 0;
}

int bpf_exits_list(struct bpf_exits *exits, const struct bpf_exit_item **ret_items, size_t *ret_count)
{
	struct exits__bss *shared = exits->object->bss;
	const uint64_t end = note_end(&shared->task_list, &exits->walk_tasks);
	struct exit_identity identity;
	int result;

	exits->items = memory_empty(exits->items, &exits->item_count, &exits->item_capacity,
				    sizeof(*exits->items));
	while (take_task(shared, end, &identity))
		keep_task(exits, &identity);
	exits->walk_tasks |= shared->task_list.begin != end;
	result = exits->walk_tasks ? read_task_maps(exits) : look_up_tasks(exits);
	sort_items(exits);
	exits->task_count = 0;
	exits->walk_tasks = result < 0;
	for (size_t i = 0; i < exits->item_count; i++)
		keep_task(exits, &exits->items[i].identity);
	*ret_items = exits->items;
	*ret_count = exits->item_count;
	return result;
}

bool bpf_exits_take(struct bpf_exits *exits, const struct exit_identity *identity,
		    struct exit_thread *ret_thread)
{
	return bpf_map_lookup_and_delete_elem(bpf_map__fd(exits->object->maps.ending), identity,
					      ret_thread) == 0 ||
	       bpf_map_lookup_and_delete_elem(bpf_map__fd(exits->object->maps.threads), identity,
					      ret_thread) == 0;
}
