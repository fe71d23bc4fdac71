/* SPDX-License-Identifier: GPL-2.0-only */
/* The keys of groups that names do not tell. */
#include "thread_keys.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/buffer.h"
#include "base/hash.h"
#include "base/memory.h"
#include "snapshot/user_names.h"

struct process {
	uint32_t tgid;
	uint32_t thread; /* its leader, or the first of its threads */
	bool has_leader;
	uint64_t start_time;
	uint32_t key;
};

static uint32_t intern_thread_key(struct string_pool *keys, const struct buffer *key,
				  struct thread_axis_groups *groups, struct thread_axis_group group)
{
	const uint32_t id = string_pool_intern(keys, key->data, key->length);

	groups->items = memory_grow(groups->items, &groups->capacity, (size_t)id + 1, sizeof(*groups->items));
	while (groups->count <= id)
		groups->items[groups->count++] = (struct thread_axis_group){0};
	groups->items[id] = group;
	return id;
}

/* Takes a thread into account as the one that names its process. */
static void consider(struct process *process, const struct snapshot *snapshot, uint32_t thread)
{
	const bool is_leader = snapshot->tid[thread] == snapshot->tgid[thread];
	const uint64_t start_time = snapshot->start_time[thread];

	if (process->has_leader || (!is_leader && start_time >= process->start_time))
		return;
	process->thread = thread;
	process->has_leader = is_leader;
	process->start_time = start_time;
}

/* The index in the list of processes of each thread goes into `process_of`; returns the list. */
static struct process *find_processes(const struct snapshot *snapshot, uint32_t *process_of,
				      size_t *ret_count)
{
	struct process *processes = NULL;
	struct hash_map index = {0}; /* of processes, by id */
	size_t count = 0, capacity = 0;
	uint32_t last = 0;

	for (uint32_t i = 0; i < snapshot->thread_count; i++) {
		const uint32_t tgid = snapshot->tgid[i];

		/* threads of a process mostly follow each other */
		if ((count == 0 || processes[last].tgid != tgid) && !hash_map_get(&index, tgid, &last)) {
			last = (uint32_t)count;
			hash_map_set(&index, tgid, last);
			*MEMORY_APPEND(processes, count, capacity) = (struct process){
				.tgid = tgid, .thread = i, .start_time = UINT64_MAX};
		}
		consider(&processes[last], snapshot, i);
		process_of[i] = last;
	}
	hash_map_release(&index);
	*ret_count = count;
	return processes;
}

static void find_process_keys(const struct snapshot *snapshot, struct string_pool *keys,
			      struct thread_axis_groups *groups, uint32_t *key_of_thread)
{
	const uint32_t self_name = snapshot_self_name(snapshot);
	struct buffer key = {0};
	size_t count;
	struct process *processes = find_processes(snapshot, key_of_thread, &count);

	for (size_t i = 0; i < count; i++) {
		struct process *process = &processes[i];
		struct thread_axis_group group = {process->tgid, snapshot, snapshot->triple[process->thread]};

		buffer_clear(&key);
		if (snapshot->triples[group.triple].pcomm == self_name) {
			buffer_append(&key, name_self.text, name_self.length);
			group = (struct thread_axis_group){0};
		} else {
			buffer_append_u64(&key, process->tgid);
			buffer_append_char(&key, ':');
			buffer_append_u64(&key, process->start_time);
		}
		process->key = intern_thread_key(keys, &key, groups, group);
	}
	for (size_t i = 0; i < snapshot->thread_count; i++)
		key_of_thread[i] = processes[key_of_thread[i]].key;
	buffer_release(&key);
	free(processes);
}

static void find_user_keys(const struct snapshot *snapshot, struct string_pool *keys,
			   struct thread_axis_groups *groups, uint32_t *key_of_thread)
{
	struct hash_map key_of_user = {0};
	struct buffer key = {0};
	uint32_t last_uid = 0, last_key = UINT32_MAX;

	for (size_t i = 0; i < snapshot->thread_count; i++) {
		const uint32_t uid = snapshot->uid[i];

		if ((last_key == UINT32_MAX || uid != last_uid) &&
		    !hash_map_get(&key_of_user, uid, &last_key)) {
			buffer_clear(&key);
			if (uid == USER_UNKNOWN)
				buffer_append_char(&key, '?');
			else
				buffer_append_u64(&key, uid);
			last_key = intern_thread_key(keys, &key, groups,
						     (struct thread_axis_group){.number = uid});
			hash_map_set(&key_of_user, uid, last_key);
		}
		last_uid = uid;
		key_of_thread[i] = last_key;
	}
	hash_map_release(&key_of_user);
	buffer_release(&key);
}

/*
 * Writes the key of what a thread waits for. An address names a futex of its process only: workers that were
 * forked have theirs at the same addresses.
 */
static void write_wait(const struct snapshot *snapshot, size_t thread, struct buffer *key)
{
	const enum wait_class class = snapshot->wait_class[thread];
	const uint32_t object = snapshot->wait_object[thread];

	buffer_clear(key);
	buffer_append_text(key, class != WAIT_CLASS_UNKNOWN ? wait_classes[class].name : "(unknown)");
	if (object == 0)
		return;
	buffer_append_char(key, ' ');
	buffer_append(key, snapshot_text(snapshot, object), string_pool_length(&snapshot->strings, object));
	if (class == WAIT_CLASS_FUTEX)
		buffer_append_format(key, " of %" PRIu32, snapshot->tgid[thread]);
}

static bool waits_alike(const struct snapshot *snapshot, size_t thread, size_t other)
{
	return snapshot->wait_class[thread] == snapshot->wait_class[other] &&
	       snapshot->wait_object[thread] == snapshot->wait_object[other] &&
	       snapshot->tgid[thread] == snapshot->tgid[other];
}

static void find_wait_keys(const struct snapshot *snapshot, struct string_pool *keys,
			   struct thread_axis_groups *groups, uint32_t *key_of_thread)
{
	struct buffer key = {0};

	for (size_t i = 0; i < snapshot->thread_count; i++) {
		/* threads of a pool mostly follow each other */
		if (i != 0 && (snapshot->wait_class == NULL || waits_alike(snapshot, i, i - 1))) {
			key_of_thread[i] = key_of_thread[i - 1];
			continue;
		}
		if (snapshot->wait_class != NULL)
			write_wait(snapshot, i, &key);
		else
			buffer_append_text(&key, "(unknown)");
		key_of_thread[i] = intern_thread_key(keys, &key, groups, (struct thread_axis_group){0});
	}
	buffer_release(&key);
}

void thread_keys_find(enum axis axis, const struct snapshot *snapshot, struct string_pool *keys,
		      struct thread_axis_groups *groups, uint32_t *key_of_thread)
{
	if (axis == AXIS_PID)
		find_process_keys(snapshot, keys, groups, key_of_thread);
	else if (axis == AXIS_WAIT)
		find_wait_keys(snapshot, keys, groups, key_of_thread);
	else
		find_user_keys(snapshot, keys, groups, key_of_thread);
}
