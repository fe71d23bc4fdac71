/* SPDX-License-Identifier: GPL-2.0-only */
#include "lookup.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"

/*
 * A program that is replaced (execve(2)) keeps its number: what is shown is read again after this. The search
 * for the other end of a file is expensive, too.
 */
#define COMMAND_AGE_NS (10 * NS_PER_S)
/* The place where a thread sleeps is asked for in each round, but not more often than this. */
#define SLEEP_AGE_NS (400 * NS_PER_MS)
/* A request that was not answered, since the reader was busy, is made again. */
#define ANSWER_AGE_NS (2 * NS_PER_S)
/* An entry that nobody looked at for so long is forgotten when room is needed. */
#define UNUSED_AGE_NS (10 * NS_PER_S)

enum {
	ENTRIES_MAX = 4096
};

static uint64_t key_of(const struct lookup_request *request)
{
	const uint64_t task = (uint64_t)request->kind << 62 ^ (uint64_t)request->tgid << 31 ^ request->tid;

	return hash_u64(task ^ hash_u64(request->start_time));
}

static bool is_same(const struct lookup_request *a, const struct lookup_request *b)
{
	return a->kind == b->kind && a->tgid == b->tgid && a->tid == b->tid && a->start_time == b->start_time;
}

/* Forgets what was not used lately; all, if that is nothing. */
static void make_room(struct lookup_cache *cache, uint64_t now_ns)
{
	size_t kept = 0;

	for (size_t i = 0; i < cache->count; i++) {
		if (now_ns - cache->entries[i].used_ns < UNUSED_AGE_NS)
			kept++;
	}
	if (kept == cache->count)
		now_ns = UINT64_MAX;
	kept = 0;
	hash_map_clear(&cache->index);
	for (size_t i = 0; i < cache->count; i++) {
		if (now_ns - cache->entries[i].used_ns >= UNUSED_AGE_NS) {
			free(cache->entries[i].text);
			continue;
		}
		cache->entries[kept] = cache->entries[i];
		hash_map_set(&cache->index, key_of(&cache->entries[kept].request), (uint32_t)kept);
		kept++;
	}
	cache->count = kept;
}

/* The entry of a request, or NULL. */
static struct lookup_entry *find(const struct lookup_cache *cache, const struct lookup_request *request)
{
	uint32_t index;

	if (!hash_map_get(&cache->index, key_of(request), &index) ||
	    !is_same(&cache->entries[index].request, request))
		return NULL;
	return &cache->entries[index];
}

const struct lookup_entry *lookup_cache_find(const struct lookup_cache *cache,
					     const struct lookup_request *request)
{
	return find(cache, request);
}

struct lookup_entry *lookup_cache_entry(struct lookup_cache *cache, const struct lookup_request *request,
					uint64_t now_ns)
{
	struct lookup_entry *entry = find(cache, request);

	if (entry == NULL) {
		if (cache->count == ENTRIES_MAX)
			make_room(cache, now_ns);
		hash_map_set(&cache->index, key_of(request), (uint32_t)cache->count);
		entry = MEMORY_APPEND(cache->entries, cache->count, cache->capacity);
		*entry = (struct lookup_entry){.request = *request};
	}
	entry->used_ns = now_ns;
	return entry;
}

bool lookup_is_due(const struct lookup_entry *entry, uint64_t now_ns)
{
	const uint64_t age_ns = now_ns - entry->asked_ns;

	if (entry->asked_ns == 0)
		return true;
	if (!entry->answered)
		return age_ns >= ANSWER_AGE_NS;
	if (entry->reason == REASON_NOT_READ)
		return age_ns >= LOOKUP_PATIENCE_NS;
	return age_ns >= (entry->request.kind == LOOKUP_COMMAND || entry->request.kind == LOOKUP_PEER
				  ? COMMAND_AGE_NS
				  : SLEEP_AGE_NS);
}

/* Whether an entry holds an answer. */
static bool has_answer(const struct lookup_entry *entry, const struct lookup_answer *answer)
{
	if (!entry->answered || entry->reason != answer->reason ||
	    entry->detail_reason != answer->detail_reason || entry->is_title != answer->is_title)
		return false;
	return entry->text == NULL || (strlen(entry->text) == answer->length &&
				       memcmp(entry->text, answer->text, answer->length) == 0);
}

bool lookup_cache_take(struct lookup_cache *cache, const struct lookup_answer *answer)
{
	struct lookup_entry *entry = find(cache, &answer->request);

	if (entry == NULL || has_answer(entry, answer))
		return false;
	free(entry->text);
	entry->text = answer->reason == REASON_READ ? memory_duplicate_bytes(answer->text, answer->length)
						    : NULL;
	entry->reason = answer->reason;
	entry->detail_reason = answer->detail_reason;
	entry->is_title = answer->is_title;
	entry->answered = true;
	return true;
}

void lookup_cache_release(struct lookup_cache *cache)
{
	for (size_t i = 0; i < cache->count; i++)
		free(cache->entries[i].text);
	free(cache->entries);
	hash_map_release(&cache->index);
	*cache = (struct lookup_cache){0};
}
