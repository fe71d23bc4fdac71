/* SPDX-License-Identifier: GPL-2.0-only */
#include "resolution_cache.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/string_pool.h"

/* When a failure that may pass is looked at again. */
#define RETRY_NS (60 * NS_PER_S)
/*
 * … until a resolver that failed is tried again: it may take all of its time once more. Debug data may be
 * installed, and the host may have more CPU time.
 */
#define RESOLVER_RETRY_NS (600 * NS_PER_S)

enum {
	UNHELD_MAX = 1024,      /* outcomes kept without a process */
	CLEAN_MAX = 256 * 1024, /* files remembered to hold no jemalloc */
	POLL_MS_MAX = 60 * 1000,
	CPUS_UNKNOWN = 4,    /* CPUs assumed if the count is unknown */
	RETRY_DOUBLINGS = 6, /* the retry pause grows up to 64 minutes */
};

struct resolution_entry {
	enum resolution_state state;
	uint32_t holders;
	char *key; /* owned: the executable's part, one of each library, then the state of each */
	size_t key_length;
	struct resolution result; /* of RESOLUTION_DONE */
	uint64_t retry_ns; /* CLOCK_MONOTONIC: when a failure that may pass is looked at again; 0: never */
	unsigned int tries;
	unsigned int hangs;           /* successive tries without an answer from a file system */
	struct mapped_object library; /* with jemalloc in it, by path, device and inode; path owned or NULL */
	/* while RESOLUTION_WAITING: */
	int directory; /* owned */
	char *path;    /* owned */
	struct process_map map;
	struct resolve_job *job; /* NULL until its turn */
};

/* A file system that did not answer: until then no executable on it is opened. */
struct silent_device {
	uint64_t device;
	uint64_t until_ns;  /* CLOCK_MONOTONIC */
	unsigned int tries; /* successive tries without an answer */
};

struct resolution_cache {
	struct resolution_entry **entries;
	size_t count, capacity;
	struct string_pool clean; /* parts of keys: files without jemalloc */
	struct pollfd *polls;
	size_t polls_capacity;
	struct silent_device *silent;
	size_t silent_count, silent_capacity;
};

struct resolution_cache *resolution_cache_create(void)
{
	return memory_allocate_zero(1, sizeof(struct resolution_cache));
}

/* Releases what only an entry that waits needs. */
static void end_waiting(struct resolution_entry *entry, enum resolution_state state)
{
	resolve_job_release(entry->job);
	entry->job = NULL;
	process_map_release(&entry->map);
	free(entry->path);
	entry->path = NULL;
	if (entry->directory >= 0)
		close(entry->directory);
	entry->directory = -1;
	entry->state = state;
}

static void release_entry(struct resolution_entry *entry)
{
	end_waiting(entry, RESOLUTION_VOID);
	free(entry->library.path);
	free(entry->key);
	free(entry);
}

void resolution_cache_release(struct resolution_cache *cache)
{
	if (cache == NULL)
		return;
	for (size_t i = 0; i < cache->count; i++)
		release_entry(cache->entries[i]);
	free(cache->entries);
	free(cache->polls);
	free(cache->silent);
	string_pool_release(&cache->clean);
	free(cache);
}

static void append_object(struct buffer *key, const struct mapped_object *object)
{
	buffer_append(key, &object->device, sizeof(object->device));
	buffer_append(key, &object->inode, sizeof(object->inode));
	buffer_append(key, object->path, strlen(object->path) + 1);
}

static int compare_objects(const void *a, const void *b)
{
	const struct mapped_object *const *left = a, *const *right = b;

	if ((*left)->device != (*right)->device)
		return (*left)->device < (*right)->device ? -1 : 1;
	if ((*left)->inode != (*right)->inode)
		return (*left)->inode < (*right)->inode ? -1 : 1;
	return strcmp((*left)->path, (*right)->path);
}

/* Libraries are placed by chance, so the order of a map means nothing. */
static void append_key(struct buffer *key, const struct executable *executable, const struct process_map *map)
{
	const struct mapped_object **objects = memory_allocate_zero(map->count + 1, sizeof(*objects));

	for (size_t i = 0; i < map->count; i++)
		objects[i] = &map->objects[i];
	qsort(objects, map->count, sizeof(*objects), compare_objects);
	buffer_append(key, executable, sizeof(*executable));
	for (size_t i = 0; i < map->count; i++)
		append_object(key, objects[i]);
	for (size_t i = 0; i < map->count; i++)
		buffer_append(key, &objects[i]->state, sizeof(objects[i]->state));
	free(objects);
}

static bool is_unknown(const char *state)
{
	static const struct file_state unknown;

	return memcmp(state, &unknown, sizeof(unknown)) == 0;
}

/*
 * Does the outcome for the key of `entry` hold for `key`, which is of so many libraries? Of one that was
 * replaced while it is mapped nothing is known, and nothing more can be found than before.
 */
static bool entry_matches(const struct resolution_entry *entry, const struct buffer *key,
			  size_t library_count)
{
	size_t at = key->length - library_count * sizeof(struct file_state);

	if (entry->state == RESOLUTION_VOID)
		return false;
	if (entry->state == RESOLUTION_DONE && entry->result.tag == HEAP_TAG_NONE &&
	    entry->result.layout.object == LAYOUT_EXECUTABLE)
		return memcmp(entry->key, key->data, sizeof(struct executable)) == 0;
	if (entry->key_length != key->length || memcmp(entry->key, key->data, at) != 0)
		return false;
	for (; at < key->length; at += sizeof(struct file_state)) {
		if (!is_unknown(key->data + at) &&
		    memcmp(entry->key + at, key->data + at, sizeof(struct file_state)) != 0)
			return false;
	}
	return true;
}

static struct resolution_entry *add_entry(struct resolution_cache *cache, struct buffer *key)
{
	struct resolution_entry *entry = memory_allocate_zero(1, sizeof(*entry));

	entry->directory = -1;
	entry->key_length = key->length;
	entry->key = buffer_steal(key);
	*MEMORY_APPEND(cache->entries, cache->count, cache->capacity) = entry;
	return entry;
}

/* The part of a library among those that are remembered to be clean. */
static void set_clean_part(struct buffer *part, const struct mapped_object *object,
			   const struct file_state *state)
{
	buffer_clear(part);
	append_object(part, object);
	buffer_append(part, state, sizeof(*state));
}

static bool is_clean(const struct resolution_cache *cache, const void *bytes, size_t length)
{
	return string_pool_find(&cache->clean, bytes, length) != UINT32_MAX;
}

static bool all_clean(const struct resolution_cache *cache, const struct executable *executable,
		      const struct process_map *map)
{
	struct buffer key = {0};
	bool clean = is_clean(cache, executable, sizeof(*executable));

	for (size_t i = 0; clean && i < map->count; i++) {
		set_clean_part(&key, &map->objects[i], &map->objects[i].state);
		clean = is_clean(cache, key.data, key.length);
	}
	buffer_release(&key);
	return clean;
}

/* No jemalloc was found in anything that the entry's process maps, also for whoever knows no state of it. */
static void remember_clean(struct resolution_cache *cache, const struct resolution_entry *entry)
{
	static const struct file_state unknown;
	struct buffer key = {0};

	if (cache->clean.count > CLEAN_MAX) {
		string_pool_release(&cache->clean);
		cache->clean = (struct string_pool){0};
	}
	string_pool_intern(&cache->clean, entry->key, sizeof(struct executable));
	for (size_t i = 0; i < entry->map.count; i++) {
		set_clean_part(&key, &entry->map.objects[i], &entry->map.objects[i].state);
		string_pool_intern(&cache->clean, key.data, key.length);
		set_clean_part(&key, &entry->map.objects[i], &unknown);
		string_pool_intern(&cache->clean, key.data, key.length);
	}
	buffer_release(&key);
}

/* The note on the device of an entry's executable, or NULL. */
static struct silent_device *find_silent(struct resolution_cache *cache, const struct resolution_entry *entry)
{
	struct executable executable;

	memcpy(&executable, entry->key, sizeof(executable));
	for (size_t i = 0; i < cache->silent_count; i++) {
		if (cache->silent[i].device == executable.device)
			return &cache->silent[i];
	}
	return NULL;
}

uint64_t resolution_pause_ns(unsigned int hangs)
{
	return RETRY_NS << (hangs > RETRY_DOUBLINGS ? RETRY_DOUBLINGS : hangs - 1);
}

/* Notes that opening the executable of an entry hung. */
static void note_silence(struct resolution_cache *cache, struct resolution_entry *entry)
{
	struct silent_device *silent = find_silent(cache, entry);

	if (silent == NULL) {
		silent = MEMORY_APPEND(cache->silent, cache->silent_count, cache->silent_capacity);
		memcpy(&silent->device, entry->key + offsetof(struct executable, device),
		       sizeof(silent->device));
		silent->tries = 0;
	}
	silent->until_ns = clock_ns(CLOCK_MONOTONIC) + resolution_pause_ns(++silent->tries);
	entry->retry_ns = silent->until_ns;
}

static void note_answer(struct resolution_cache *cache, const struct resolution_entry *entry)
{
	struct silent_device *silent = find_silent(cache, entry);

	if (silent != NULL)
		*silent = cache->silent[--cache->silent_count];
}

/* Ends an entry whose executable would not be opened either. Returns whether it did. */
static bool fail_if_silent(struct resolution_cache *cache, struct resolution_entry *entry)
{
	const struct silent_device *silent = find_silent(cache, entry);

	if (silent == NULL || clock_ns(CLOCK_MONOTONIC) >= silent->until_ns)
		return false;
	entry->result = (struct resolution){
		.tag = HEAP_TAG_FILE_SYSTEM_HANGS,
		.text = "another executable there could not be opened in time",
	};
	entry->retry_ns = silent->until_ns;
	end_waiting(entry, RESOLUTION_DONE);
	return true;
}

/* Begins to resolve it with this process. Returns false when no descriptor is left to begin with. */
static bool begin_waiting(struct resolution_entry *entry, int process_directory, const char *executable_path,
			  const struct process_map *map)
{
	const int directory = fcntl(process_directory, F_DUPFD_CLOEXEC, 0);

	if (directory < 0)
		return false;
	entry->state = RESOLUTION_WAITING;
	entry->retry_ns = 0;
	entry->directory = directory;
	entry->path = memory_duplicate(executable_path);
	process_map_copy(map, &entry->map);
	return true;
}

bool resolution_entry_is_due(const struct resolution_entry *entry)
{
	return entry->retry_ns != 0 && clock_ns(CLOCK_MONOTONIC) >= entry->retry_ns;
}

struct resolution_entry *resolution_cache_find(struct resolution_cache *cache, int process_directory,
					       const char *executable_path,
					       const struct executable *executable,
					       const struct process_map *map, bool *ret_known)
{
	struct resolution_entry *entry = NULL;
	struct buffer key = {0};
	bool begins;

	append_key(&key, executable, map);
	/* the newest first: a library without a known state is most likely that one */
	for (size_t i = cache->count; entry == NULL && i-- > 0;)
		if (entry_matches(cache->entries[i], &key, map->count))
			entry = cache->entries[i];
	begins = entry == NULL || resolution_entry_is_due(entry);
	*ret_known = !begins;
	if (entry == NULL) {
		entry = add_entry(cache, &key);
		entry->state = RESOLUTION_VOID;
		if (all_clean(cache, executable, map)) {
			entry->state = RESOLUTION_DONE;
			entry->result.tag = HEAP_TAG_JEMALLOC_NOT_FOUND;
			*ret_known = true;
			begins = false;
		}
	}
	buffer_release(&key);
	if (begins && !fail_if_silent(cache, entry) &&
	    !begin_waiting(entry, process_directory, executable_path, map))
		return NULL;
	entry->holders++;
	return entry;
}

void resolution_cache_leave(struct resolution_entry *entry)
{
	entry->holders--;
}

enum resolution_state resolution_entry_state(const struct resolution_entry *entry)
{
	return entry->state;
}

unsigned int resolution_entry_tries(const struct resolution_entry *entry)
{
	return entry->tries;
}

void resolution_entry_result(const struct resolution_entry *entry, const struct process_map *map,
			     struct resolution *ret_resolution)
{
	const struct mapped_object *library = &entry->library;
	uint32_t object = 0;

	*ret_resolution = entry->result;
	if (library->path == NULL)
		return;
	while (object < map->count) {
		const struct mapped_object *candidate = &map->objects[object];

		if (compare_objects(&candidate, &library) == 0)
			break;
		object++;
	}
	ret_resolution->layout.object = object;
}

/* Is the executable of the process that the entry was begun with still the same? */
static bool is_still_there(const struct resolution_entry *entry)
{
	struct executable now;

	return executable_identify(entry->directory, &now) == 0 && memcmp(&now, entry->key, sizeof(now)) == 0;
}

/* Names a library that is called after jemalloc where nothing was found, but not all could be opened. */
static void suspect_unopened(struct resolution_entry *entry)
{
	for (size_t i = 0; i < entry->map.count; i++) {
		const char *path = entry->map.objects[i].path;
		const char *slash = strrchr(path, '/');

		if (strstr(slash != NULL ? slash : path, "jemalloc") == NULL)
			continue;
		entry->result.tag = HEAP_TAG_JEMALLOC_IN_DSO;
		snprintf(entry->result.text, sizeof(entry->result.text),
			 "not all libraries can be opened, maybe %.100s: restart the program if it was "
			 "replaced",
			 slash != NULL ? slash + 1 : path);
		return;
	}
}

/* An outcome from a process that was gone before the end says nothing about its executable. */
static void take_result(struct resolution_cache *cache, struct resolution_entry *entry)
{
	const enum heap_tag tag = entry->result.tag;

	if (!is_still_there(entry)) {
		end_waiting(entry, RESOLUTION_VOID);
		return;
	}
	entry->hangs = tag == HEAP_TAG_FILE_SYSTEM_HANGS ? entry->hangs + 1 : 0;
	if (tag == HEAP_TAG_FILE_SYSTEM_HANGS && entry->job->hangs_at_executable)
		note_silence(cache, entry);
	else if (tag == HEAP_TAG_FILE_SYSTEM_HANGS)
		entry->retry_ns = clock_ns(CLOCK_MONOTONIC) + resolution_pause_ns(entry->hangs);
	else
		note_answer(cache, entry);
	if (heap_tag_is_of_worker(tag) || tag == HEAP_TAG_DWARF_PARSE_FAILURE ||
	    tag == HEAP_TAG_JEMALLOC_IN_DSO ||
	    (tag == HEAP_TAG_JEMALLOC_NOT_FOUND && entry->result.is_incomplete))
		entry->retry_ns = clock_ns(CLOCK_MONOTONIC) + RESOLVER_RETRY_NS;
	else if (tag == HEAP_TAG_JEMALLOC_NOT_FOUND)
		remember_clean(cache, entry);
	if (tag == HEAP_TAG_JEMALLOC_NOT_FOUND && entry->result.is_incomplete)
		suspect_unopened(entry);
	if (tag == HEAP_TAG_NONE && entry->result.layout.object < entry->map.count) {
		entry->library = entry->map.objects[entry->result.layout.object];
		entry->library.path = memory_duplicate(entry->library.path);
	}
	end_waiting(entry, RESOLUTION_DONE);
}

/* After a silence one executable is tried, and the others wait for what becomes of it. */
static void start_job(struct resolution_cache *cache, struct resolution_entry *entry)
{
	struct silent_device *silent = find_silent(cache, entry);

	if (silent != NULL)
		silent->until_ns = clock_ns(CLOCK_MONOTONIC) + resolution_pause_ns(silent->tries);
	entry->job = resolver_submit(entry->directory, entry->path, &entry->map);
}

unsigned int resolution_headroom(unsigned int cpus, double load)
{
	const unsigned int bound = cpus / 2 + 1;
	const double free_cpus = (double)cpus - load;

	if (free_cpus < 1)
		return 1;
	return free_cpus < (double)bound ? (unsigned int)free_cpus : bound;
}

static unsigned int headroom_now(void)
{
	unsigned int cpus = CPUS_UNKNOWN;
	double load = 0;
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set) == 0)
		cpus = (unsigned int)CPU_COUNT(&set);
	(void)!getloadavg(&load, 1);
	return resolution_headroom(cpus, load);
}

/* The next to be resolved, of those that were tried least often; NULL for none. */
static struct resolution_entry *find_next(struct resolution_cache *cache)
{
	struct resolution_entry *next = NULL;

	for (size_t i = 0; i < cache->count; i++) {
		struct resolution_entry *entry = cache->entries[i];

		if (entry->state == RESOLUTION_WAITING && entry->job == NULL &&
		    (next == NULL || entry->tries < next->tries) && !fail_if_silent(cache, entry))
			next = entry;
	}
	return next;
}

static void start_waiting(struct resolution_cache *cache)
{
	struct resolution_entry *next;
	size_t running = 0, waiting = 0, allowed;

	for (size_t i = 0; i < cache->count; i++) {
		running += cache->entries[i]->job != NULL;
		waiting += cache->entries[i]->state == RESOLUTION_WAITING;
	}
	if (waiting == running)
		return;
	allowed = headroom_now();
	for (; running < allowed && (next = find_next(cache)) != NULL; running++) {
		next->tries++;
		start_job(cache, next);
	}
}

/* Takes the answers without waiting, and starts the next; returns the number that still wait. */
static size_t serve_once(struct resolution_cache *cache)
{
	size_t waiting = 0;
	bool ended = true;

	/* each one that ends makes room for another, which may end at once */
	while (ended) {
		ended = false;
		waiting = 0;
		start_waiting(cache);
		for (size_t i = 0; i < cache->count; i++)
			waiting += cache->entries[i]->state == RESOLUTION_WAITING;
		for (size_t i = 0; i < cache->count; i++) {
			struct resolution_entry *entry = cache->entries[i];

			if (entry->job == NULL || !resolve_job_poll(entry->job))
				continue;
			entry->result = entry->job->resolution;
			take_result(cache, entry);
			ended = true;
		}
	}
	return waiting;
}

/* Waits for news of any job, the deadline of one, or `deadline_ns`. */
static void wait_for_jobs(struct resolution_cache *cache, uint64_t now, uint64_t deadline_ns)
{
	uint64_t until = deadline_ns;
	size_t count = 0;
	uint64_t milliseconds;

	for (size_t i = 0; i < cache->count; i++) {
		const struct resolve_job *job = cache->entries[i]->job;

		if (job == NULL)
			continue;
		*MEMORY_APPEND(cache->polls, count,
			       cache->polls_capacity) = (struct pollfd){.fd = job->socket, .events = POLLIN};
		if (job->deadline_ns < until)
			until = job->deadline_ns;
	}
	milliseconds = until > now ? (until - now + NS_PER_MS - 1) / NS_PER_MS : 0;
	poll(cache->polls, count, (int)(milliseconds < POLL_MS_MAX ? milliseconds : POLL_MS_MAX));
}

size_t resolution_cache_serve(struct resolution_cache *cache, uint64_t deadline_ns)
{
	size_t waiting = serve_once(cache);

	while (waiting > 0 && deadline_ns != 0) {
		const uint64_t now = clock_ns(CLOCK_MONOTONIC);

		if (now >= deadline_ns)
			break;
		wait_for_jobs(cache, now, deadline_ns);
		waiting = serve_once(cache);
	}
	return waiting;
}

void resolution_cache_trim(struct resolution_cache *cache)
{
	const bool crowded = cache->count > UNHELD_MAX;
	size_t kept = 0;

	for (size_t i = 0; i < cache->count; i++) {
		struct resolution_entry *entry = cache->entries[i];

		if (entry->holders == 0 &&
		    (entry->state == RESOLUTION_VOID || (crowded && entry->state == RESOLUTION_DONE)))
			release_entry(entry);
		else
			cache->entries[kept++] = entry;
	}
	cache->count = kept;
}
