/* SPDX-License-Identifier: GPL-2.0-only */
#include "bpf_latency.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "bpf_object.h"
#include "latency.skel.h"

enum {
	/* with more of them used, those without waits or threads are taken back: reading them takes time */
	KEPT_SLOTS = 3072,
	KEPT_SHARES = 3072,
	KEPT_PAIRS = BLAME_PAIRS / 4 * 3,
	IDLE_READINGS = 30, /* after so many readings without one */
	IDLE_SHARE_READINGS =
		4,         /* the same of shares: most of those that are idle are of processes that ended */
	FIRST_VERSION = 1, /* of the slot of those that have none */
	PROGRAM_COUNT = 6,
	READ_ATTEMPTS = 100, /* some 10 us */
	PROMPT_NS = 20000,
};

/* The last readings of a counter: all shards together. */
struct seen {
	uint32_t buckets[LATENCY_RECORD_KINDS][LATENCY_RECORD_BUCKETS];
	uint64_t sum[LATENCY_RECORD_KINDS];
	uint64_t longest[LATENCY_RECORD_KINDS]; /* of a wait whose count was not seen yet; 0: of none */
	uint32_t idle;                          /* readings without a new wait */
	bool is_leaving;                        /* no thread takes it any more; free with the next reading */
};

/* Waits of a share that were read just now. */
struct read_share {
	struct bpf_waits waits;
	uint32_t next; /* another one of the slot, as in `first_share` */
};

/* The last reading of a pair. */
struct seen_pair {
	uint64_t time, waits, wakes;
	uint32_t idle;
	bool is_leaving;
};

struct bpf_latency {
	struct latency *object;
	struct bpf_link *all_tasks, *present_tasks;
	struct bpf_link *links[PROGRAM_COUNT];
	bool is_on;
	uint32_t shard_count;
	struct bpf_array slot_array, share_array, count_array, pair_array;
	struct latency_slot *slots; /* in slot_array */
	struct share_state *shares;
	struct latency_counts *counts;
	struct blame_pair *pairs;
	struct seen *seen; /* by counter */
	struct read_share *read_shares;
	size_t read_share_count, read_share_capacity;
	uint32_t *first_share; /* by slot: index in `read_shares` and 1, 0 for none */
	struct seen_pair *seen_pairs;
	struct bpf_blame *blames; /* of this reading */
	size_t blame_count, blame_capacity;
	bool *is_blamed;   /* slots of these */
	size_t used_count; /* of slots, when last read */
	size_t used_share_count, used_pair_count;
	struct latency_cost *costs; /* a place for each possible CPU */
	struct latency_cost cost;   /* as read before, all CPUs together */
};

static int possible_cpus(void)
{
	int count = libbpf_num_possible_cpus();

	return count > 0 ? count : 1;
}

static struct feature_result load_object(struct bpf_latency *latency, struct bpf_scope scope,
					 const struct latency_calls *calls, bool with_files,
					 struct arena *arena)
{
	struct latency *object;

	bpf_object_listen();
	object = latency->object = latency__open();
	if (object == NULL)
		return bpf_object_load(NULL, -errno, NULL, scope, arena);
	object->rodata->with_files = with_files;
	memcpy((void *)&object->rodata->calls, calls, sizeof(*calls));
	while (latency->shard_count < LATENCY_SHARDS_MAX && (int)latency->shard_count < possible_cpus())
		latency->shard_count *= 2;
	object->rodata->shard_mask = latency->shard_count - 1;
	object->rodata->scoped = scope.count != 0;
	object->rodata->old_hierarchy = bpf_find_old_hierarchy();
	object->rodata->own_process = scope.count == 0 ? (uint32_t)getpid() : 0;
	bpf_map__set_max_entries(object->maps.counts,
				 latency_record_counts(LATENCY_COUNTERS, latency->shard_count));
	return bpf_object_load(object->skeleton, 0, object->maps.scope, scope, arena);
}

static void unmap_arrays(struct bpf_latency *latency)
{
	bpf_array_unmap(&latency->slot_array);
	bpf_array_unmap(&latency->share_array);
	bpf_array_unmap(&latency->count_array);
	bpf_array_unmap(&latency->pair_array);
}

/*
 * Maps the arrays when measuring begins for the first time: the kernel counts all pages of a mapped array as
 * memory of this process (remap_vmalloc_range() of mm/vmalloc.c), 21 MiB for something that most screens
 * never measure. Returns 0 or a negative errno.
 */
static int map_arrays(struct bpf_latency *latency)
{
	const struct latency *object = latency->object;
	int result;

	if (latency->slots != NULL)
		return 0;
	if (!bpf_array_map(&latency->slot_array, object->maps.slots, PROT_READ | PROT_WRITE) ||
	    !bpf_array_map(&latency->share_array, object->maps.shares, PROT_READ | PROT_WRITE) ||
	    !bpf_array_map(&latency->count_array, object->maps.counts, PROT_READ | PROT_WRITE) ||
	    !bpf_array_map(&latency->pair_array, object->maps.pairs, PROT_READ | PROT_WRITE)) {
		result = -errno;
		unmap_arrays(latency);
		return result;
	}
	latency->slots = latency->slot_array.start;
	latency->shares = latency->share_array.start;
	latency->counts = latency->count_array.start;
	latency->pairs = latency->pair_array.start;
	latency->seen = memory_allocate_zero(LATENCY_COUNTERS, sizeof(*latency->seen));
	latency->first_share = memory_allocate_zero(LATENCY_SLOTS, sizeof(*latency->first_share));
	latency->seen_pairs = memory_allocate_zero(BLAME_PAIRS_ALL, sizeof(*latency->seen_pairs));
	latency->is_blamed = memory_allocate_zero(LATENCY_SLOTS, sizeof(*latency->is_blamed));
	latency->costs = memory_allocate_zero((size_t)possible_cpus(), sizeof(*latency->costs));
	latency->slots[LATENCY_SLOT_OTHER].used = 1;
	latency->slots[LATENCY_SLOT_OTHER].version = FIRST_VERSION;
	object->bss->fresh_slot = LATENCY_SLOT_OTHER + 1;
	object->bss->fresh_share = LATENCY_SHARE_NONE + 1;
	object->bss->fresh_pair = 1; /* 0: none */
	for (uint32_t i = 0; i < LATENCY_SLOTS; i++)
		latency->pairs[BLAME_PAIRS + i].names = (struct blame_names){i, LATENCY_SLOT_OTHER};
	return 0;
}

/* Attaches one of the iterators over tasks. Returns NULL and the reason if the kernel refuses. */
static struct bpf_link *attach_iterator(const struct bpf_program *program, struct arena *arena,
					struct feature_result *ret_result)
{
	struct bpf_link *link = bpf_program__attach_iter(program, NULL);

	if (link == NULL)
		*ret_result = bpf_refused(arena, -errno, "an iterator over tasks");
	return link;
}

struct bpf_latency *bpf_latency_open(const uint32_t *scope, size_t scope_count,
				     const struct latency_calls *calls, struct arena *arena,
				     struct feature_result *ret_result)
{
	struct bpf_latency *latency;

	*ret_result = bpf_check(arena);
	if (ret_result->state != FEATURE_STATE_ON)
		return NULL;
	latency = memory_allocate_zero(1, sizeof(*latency));
	latency->shard_count = 1;
	*ret_result = load_object(latency, (struct bpf_scope){scope, scope_count}, calls, true, arena);
	if (ret_result->state != FEATURE_STATE_ON) {
		/* before Linux 6.2 a locked down kernel refuses to follow a descriptor */
		latency__destroy(latency->object);
		*ret_result = load_object(latency, (struct bpf_scope){scope, scope_count}, calls, false,
					  arena);
	}
	if (ret_result->state == FEATURE_STATE_ON)
		latency->all_tasks = attach_iterator(latency->object->progs.make_room_for_all, arena,
						     ret_result);
	if (ret_result->state == FEATURE_STATE_ON)
		latency->present_tasks = attach_iterator(latency->object->progs.count_present, arena,
							 ret_result);
	if (ret_result->state == FEATURE_STATE_ON)
		return latency;
	bpf_latency_close(latency);
	return NULL;
}

static void detach(struct bpf_latency *latency)
{
	for (size_t i = 0; i < PROGRAM_COUNT; i++) {
		bpf_link__destroy(latency->links[i]);
		latency->links[i] = NULL;
	}
	latency->is_on = false;
}

void bpf_latency_close(struct bpf_latency *latency)
{
	if (latency == NULL)
		return;
	detach(latency);
	bpf_link__destroy(latency->all_tasks);
	bpf_link__destroy(latency->present_tasks);
	unmap_arrays(latency);
	latency__destroy(latency->object);
	free(latency->seen);
	free(latency->read_shares);
	free(latency->first_share);
	free(latency->seen_pairs);
	free(latency->blames);
	free(latency->is_blamed);
	free(latency->costs);
	free(latency);
}

/* --- switching --- */

/* Runs a program for each thread. */
static int visit_all(const struct bpf_link *link)
{
	int descriptor = bpf_iter_create(bpf_link__fd(link));
	char text[8];
	ssize_t count;

	if (descriptor < 0)
		return -errno;
	do {
		count = read(descriptor, text, sizeof(text));
	} while (count > 0 || (count < 0 && (errno == EAGAIN || errno == EINTR)));
	count = count < 0 ? -errno : 0;
	close(descriptor);
	return (int)count;
}

/* Begins a reading: counts what goes on up to now. Returns 0 or a negative errno. */
static int count_present(struct bpf_latency *latency)
{
	struct latency__bss *bss = latency->object->bss;
	bool is_prompt = false;

	/* events between the two would count beyond the reading: once more if that took long */
	for (int attempt = 0; attempt < READ_ATTEMPTS && !is_prompt; attempt++) {
		__atomic_store_n(&bss->read_at, clock_ns(CLOCK_MONOTONIC), __ATOMIC_RELEASE);
		__atomic_store_n(&bss->is_reading, 1, __ATOMIC_RELEASE);
		is_prompt = clock_ns(CLOCK_MONOTONIC) - bss->read_at < PROMPT_NS;
	}
	bss->is_full = latency->used_count > LATENCY_SLOTS / 4 * 3;
	return visit_all(latency->present_tasks);
}

static int attach(struct bpf_latency *latency, size_t index, const struct bpf_program *program)
{
	latency->links[index] = bpf_program__attach(program);
	return latency->links[index] != NULL ? 0 : -errno;
}

static int attach_all(struct bpf_latency *latency)
{
	struct latency *object = latency->object;
	int result;

	object->bss->since = clock_ns(CLOCK_MONOTONIC);
	result = attach(latency, 0, object->progs.make_room);
	if (result == 0)
		result = visit_all(latency->all_tasks);
	if (result == 0)
		result = attach(latency, 1, object->progs.count_wakeup);
	if (result == 0)
		result = attach(latency, 2, object->progs.count_new);
	if (result == 0)
		result = attach(latency, 3, object->progs.settle_move);
	if (result == 0)
		result = attach(latency, 4, object->progs.note_waking);
	return result == 0 ? attach(latency, 5, object->progs.count_switch) : result;
}

/* --- reading --- */

/* Adds up the buckets of all shards since they were last read. Returns the highest with waits, -1: none. */
static int read_buckets(const struct latency_counts *shards, uint32_t shard_count, size_t kind,
			const uint32_t seen[LATENCY_RECORD_BUCKETS], uint64_t buckets[LATENCY_RECORD_BUCKETS])
{
	int highest = -1;

	for (int i = 0; i < LATENCY_RECORD_BUCKETS; i++) {
		uint32_t count = 0;

		for (uint32_t shard = 0; shard < shard_count; shard++)
			count += __atomic_load_n(&shards[shard].buckets[kind][i], __ATOMIC_ACQUIRE);
		buckets[i] = count - seen[i];
		if (buckets[i] != 0)
			highest = i;
	}
	return highest;
}

/* Takes the longest of all shards away. */
static uint64_t take_longest(struct latency_counts *shards, uint32_t shard_count, size_t kind)
{
	uint64_t longest = 0;

	for (uint32_t shard = 0; shard < shard_count; shard++) {
		uint64_t own = 0;

		if (__atomic_load_n(&shards[shard].longest[kind], __ATOMIC_RELAXED) != 0)
			own = __atomic_exchange_n(&shards[shard].longest[kind], 0, __ATOMIC_ACQ_REL);
		if (own > longest)
			longest = own;
	}
	return longest;
}

/*
 * Bounds the longest wait, which is in the highest bucket: a longer one is kept until its count is
 * seen. A shorter one is left where a reading came between that wait and its count, while a longer one stood
 * for it.
 */
static uint64_t bound_longest(uint64_t longest, int highest, uint64_t *kept)
{
	const uint64_t start = highest > 0 ? UINT64_C(1) << highest : 0;

	*kept = 0;
	if (highest < 0 || (int)latency_record_bucket(longest) > highest) {
		*kept = longest;
		return highest < 0 ? 0 : (UINT64_C(2) << highest) - 1;
	}
	return longest > start ? longest : start;
}

/* Reads the new waits of a kind. False without any. */
static bool read_kind(struct latency_counts *shards, uint32_t shard_count, size_t kind, struct seen *seen,
		      struct bpf_waits *waits)
{
	uint64_t longest = seen->longest[kind], sum = 0;
	int highest = -1;

	/* a wait that is counted at this moment has its time already, and its count in a moment */
	for (int attempt = 0; attempt < READ_ATTEMPTS; attempt++) {
		uint64_t more;

		highest = read_buckets(shards, shard_count, kind, seen->buckets[kind], waits->buckets[kind]);
		more = take_longest(shards, shard_count, kind);
		longest = more > longest ? more : longest;
		if (longest == 0 || (int)latency_record_bucket(longest) <= highest)
			break;
	}
	waits->longest[kind] = bound_longest(longest, highest, &seen->longest[kind]);
	for (size_t i = 0; i < LATENCY_RECORD_BUCKETS; i++)
		seen->buckets[kind][i] += (uint32_t)waits->buckets[kind][i];
	for (uint32_t shard = 0; shard < shard_count; shard++)
		sum += __atomic_load_n(&shards[shard].sum[kind], __ATOMIC_RELAXED);
	waits->sum[kind] = sum - seen->sum[kind];
	seen->sum[kind] = sum;
	return highest >= 0;
}

/* Takes the times of a counter away. False without any. */
static bool take_times(struct latency_counts *shards, uint32_t shard_count, uint64_t time[WAIT_CLASS_COUNT])
{
	bool found = false;

	memset(time, 0, WAIT_CLASS_COUNT * sizeof(*time));
	for (uint32_t shard = 0; shard < shard_count; shard++) {
		for (size_t class = 0; class < WAIT_CLASS_COUNT; class ++) {
			if (__atomic_load_n(&shards[shard].time[class], __ATOMIC_RELAXED) == 0)
				continue;
			time[class] += __atomic_exchange_n(&shards[shard].time[class], 0, __ATOMIC_RELAXED);
			found = true;
		}
	}
	return found;
}

/* Reads the new waits of a counter, and its times. False without any. */
static bool read_counts(struct bpf_latency *latency, uint32_t counter, struct bpf_waits *waits)
{
	struct latency_counts *shards =
		&latency->counts[latency_record_counts(counter, latency->shard_count)];
	const uint32_t shard_count = counter < LATENCY_SHARDED ? latency->shard_count : 1;
	bool found = take_times(shards, shard_count, waits->time);

	for (size_t kind = 0; kind < LATENCY_RECORD_KINDS; kind++)
		found |= read_kind(shards, shard_count, kind, &latency->seen[counter], waits);
	return found;
}

/* Gives a number that no program takes any more to the free ones. False: once more with the next reading. */
static bool give_back(const struct bpf_map *free_numbers, uint32_t number, uint32_t *used)
{
	/* the program sets it when it takes the number */
	__atomic_store_n(used, 0, __ATOMIC_RELEASE);
	if (bpf_map_update_elem(bpf_map__fd(free_numbers), NULL, &number, BPF_ANY) == 0)
		return true;
	__atomic_store_n(used, 1, __ATOMIC_RELEASE);
	return false;
}

/*
 * Takes a slot back in two readings: first no thread finds it any more, and then, when all that were about to
 * count a wait in it have done so, it is free. Where the kernel refuses it, which it may at any time before
 * Linux 5.19 (see take() of capture.c), the slot stays with its names.
 */
static void take_back(struct bpf_latency *latency, uint32_t index)
{
	struct latency_slot *slot = &latency->slots[index];
	struct seen *seen = &latency->seen[LATENCY_SHARES + index];

	if (index == LATENCY_SLOT_OTHER)
		return;
	if (seen->is_leaving) {
		seen->idle = 0;
		memset(seen->longest, 0, sizeof(seen->longest));
		seen->is_leaving = !give_back(latency->object->maps.free_slots, index, &slot->used);
	} else if (++seen->idle >= IDLE_READINGS && latency->used_count > KEPT_SLOTS &&
		   bpf_map_delete_elem(bpf_map__fd(latency->object->maps.slot_of_names), &slot->names) == 0) {
		seen->is_leaving = true;
		__atomic_add_fetch(&slot->version, 1, __ATOMIC_RELEASE);
	}
}

/* Takes a share without new waits back as take_back() does a slot, or when its slot is. */
static void take_share_back(struct bpf_latency *latency, uint32_t index)
{
	struct share_state *share = &latency->shares[index];
	struct seen *seen = &latency->seen[index];
	const bool is_idle = ++seen->idle >= IDLE_SHARE_READINGS && latency->used_share_count > KEPT_SHARES;

	if (seen->is_leaving) {
		seen->idle = 0;
		memset(seen->longest, 0, sizeof(seen->longest));
		seen->is_leaving = !give_back(latency->object->maps.free_shares, index, &share->used);
	} else if ((is_idle || latency->slots[share->names.slot].version != share->names.version) &&
		   bpf_map_delete_elem(bpf_map__fd(latency->object->maps.share_of_names), &share->names) ==
			   0) {
		seen->is_leaving = true;
		__atomic_store_n(&share->names.tgid, 0, __ATOMIC_RELEASE);
	}
}

/* Whether a slot still has the names that a pair is about. */
static bool is_there(const struct bpf_latency *latency, uint32_t slot)
{
	return slot >= LATENCY_SLOTS ||
	       (!latency->seen[LATENCY_SHARES + slot].is_leaving && latency->slots[slot].used != 0);
}

/* Takes a pair without new waits back as take_back() does a slot, or when one of its slots is. */
static void take_pair_back(struct bpf_latency *latency, uint32_t index)
{
	struct blame_pair *pair = &latency->pairs[index];
	struct seen_pair *seen = &latency->seen_pairs[index];
	const bool is_idle = ++seen->idle >= IDLE_READINGS && latency->used_pair_count > KEPT_PAIRS;

	if (seen->is_leaving) {
		seen->idle = 0;
		seen->is_leaving = !give_back(latency->object->maps.free_pairs, index, &pair->used);
	} else if (is_idle || !is_there(latency, pair->names.victim) ||
		   !is_there(latency, pair->names.culprit)) {
		seen->is_leaving = bpf_map_delete_elem(bpf_map__fd(latency->object->maps.pair_of_names),
						       &pair->names) == 0;
	}
}

static void blame_slot(struct bpf_latency *latency, uint32_t slot)
{
	if (slot < LATENCY_SLOTS)
		latency->is_blamed[slot] = true;
}

/* Reads what a pair has had since the last reading. False: nothing. */
static bool read_pair(struct bpf_latency *latency, uint32_t index)
{
	const struct blame_pair *pair = &latency->pairs[index];
	struct seen_pair *seen = &latency->seen_pairs[index];
	const uint64_t time = __atomic_load_n(&pair->time, __ATOMIC_RELAXED);
	const uint64_t waits = __atomic_load_n(&pair->waits, __ATOMIC_RELAXED);
	const uint64_t wakes = __atomic_load_n(&pair->wakes, __ATOMIC_RELAXED);

	if (time == seen->time && wakes == seen->wakes)
		return false;
	*MEMORY_APPEND(latency->blames, latency->blame_count, latency->blame_capacity) = (struct bpf_blame){
		pair->names.victim, pair->names.culprit, time - seen->time, waits - seen->waits,
		wakes - seen->wakes};
	blame_slot(latency, pair->names.victim);
	blame_slot(latency, pair->names.culprit);
	seen->time = time;
	seen->waits = waits;
	seen->wakes = wakes;
	seen->idle = 0;
	return true;
}

static void read_pairs(struct bpf_latency *latency)
{
	const uint32_t fresh_pair = __atomic_load_n(&latency->object->bss->fresh_pair, __ATOMIC_ACQUIRE);
	const uint32_t fresh_slot = __atomic_load_n(&latency->object->bss->fresh_slot, __ATOMIC_ACQUIRE);
	size_t used = 0;

	latency->blame_count = 0;
	memset(latency->is_blamed, 0, LATENCY_SLOTS * sizeof(*latency->is_blamed));
	for (uint32_t i = 1; i < fresh_pair && i < BLAME_PAIRS; i++) {
		if (__atomic_load_n(&latency->pairs[i].used, __ATOMIC_ACQUIRE) == 0)
			continue;
		used++;
		if (!read_pair(latency, i))
			take_pair_back(latency, i);
	}
	for (uint32_t i = 0; i < fresh_slot && i < LATENCY_SLOTS; i++)
		read_pair(latency, BLAME_PAIRS + i);
	latency->used_pair_count = used;
}

static void read_shares(struct bpf_latency *latency)
{
	const uint32_t fresh = __atomic_load_n(&latency->object->bss->fresh_share, __ATOMIC_ACQUIRE);
	size_t used = 0;

	latency->read_share_count = 0;
	memset(latency->first_share, 0, LATENCY_SLOTS * sizeof(*latency->first_share));
	for (uint32_t i = LATENCY_SHARE_NONE + 1; i < fresh && i < LATENCY_SHARES; i++) {
		struct share_state *share = &latency->shares[i];
		struct bpf_waits waits = {0};
		uint32_t *first;

		if (__atomic_load_n(&share->used, __ATOMIC_ACQUIRE) == 0)
			continue;
		used++;
		if (!read_counts(latency, i, &waits)) {
			take_share_back(latency, i);
			continue;
		}
		latency->seen[i].idle = 0;
		waits.slot = share->names.slot;
		waits.tgid = share->names.tgid;
		first = &latency->first_share[waits.slot];
		*MEMORY_APPEND(latency->read_shares, latency->read_share_count,
			       latency->read_share_capacity) = (struct read_share){waits, *first};
		*first = (uint32_t)latency->read_share_count;
	}
	latency->used_share_count = used;
}

static void merge_waits(struct bpf_waits *waits, const struct bpf_waits *more)
{
	for (size_t kind = 0; kind < LATENCY_RECORD_KINDS; kind++) {
		for (size_t i = 0; i < LATENCY_RECORD_BUCKETS; i++)
			waits->buckets[kind][i] += more->buckets[kind][i];
		waits->sum[kind] += more->sum[kind];
		if (more->longest[kind] > waits->longest[kind])
			waits->longest[kind] = more->longest[kind];
	}
	for (size_t class = 0; class < WAIT_CLASS_COUNT; class ++)
		waits->time[class] += more->time[class];
}

/* Hands over the waits of a slot, which has `waits` without a share. */
static void hand_over(struct bpf_latency *latency, const struct bpf_latency_taker *taker,
		      struct bpf_waits *waits)
{
	const uint32_t first = latency->first_share[waits->slot];

	for (uint32_t i = first; i != 0; i = latency->read_shares[i - 1].next)
		merge_waits(waits, &latency->read_shares[i - 1].waits);
	taker->waits(taker->context, waits);
	for (uint32_t i = first; taker->share != NULL && i != 0; i = latency->read_shares[i - 1].next) {
		struct bpf_waits *share = &latency->read_shares[i - 1].waits;

		share->names = waits->names;
		/* one that is leaving has forgotten its process */
		if (share->tgid != 0)
			taker->share(taker->context, share);
	}
}

/* Reads the new waits of each slot, and hands over those of slots that have any or are blamed. */
static void read_slots(struct bpf_latency *latency, const struct bpf_latency_taker *taker)
{
	const uint32_t fresh = __atomic_load_n(&latency->object->bss->fresh_slot, __ATOMIC_ACQUIRE);
	size_t used = 0;

	for (uint32_t i = 0; i < fresh && i < LATENCY_SLOTS; i++) {
		struct latency_slot *slot = &latency->slots[i];
		struct bpf_waits waits;

		if (__atomic_load_n(&slot->used, __ATOMIC_ACQUIRE) == 0)
			continue;
		used++;
		if (!read_counts(latency, LATENCY_SHARES + i, &waits) && latency->first_share[i] == 0 &&
		    !latency->is_blamed[i]) {
			take_back(latency, i);
			continue;
		}
		latency->seen[LATENCY_SHARES + i].idle = 0;
		waits.slot = i;
		waits.names = i != LATENCY_SLOT_OTHER ? &slot->names : NULL;
		waits.tgid = slot->tgid;
		waits.tid = slot->tid;
		if (taker != NULL)
			hand_over(latency, taker, &waits);
	}
	latency->used_count = used;
}

static struct latency_cost read_costs(struct bpf_latency *latency)
{
	struct latency_cost all = {0};
	const uint32_t zero = 0;

	if (bpf_map_lookup_elem(bpf_map__fd(latency->object->maps.costs), &zero, latency->costs) != 0)
		return latency->cost;
	for (int i = 0; i < possible_cpus(); i++) {
		all.events += latency->costs[i].events;
		all.samples += latency->costs[i].samples;
		all.sampled += latency->costs[i].sampled;
		all.unseen += latency->costs[i].unseen;
	}
	return all;
}

/* Hands over what was counted since the reading before, to nobody where `taker` is NULL. */
static void end_reading(struct bpf_latency *latency, const struct bpf_latency_taker *taker)
{
	read_pairs(latency);
	read_shares(latency);
	read_slots(latency, taker);
	__atomic_store_n(&latency->object->bss->is_reading, 0, __ATOMIC_RELEASE);
	for (size_t i = 0; i < latency->blame_count && taker != NULL && taker->blame != NULL; i++)
		taker->blame(taker->context, &latency->blames[i]);
	/* threads that found no slot look for one again */
	__atomic_add_fetch(&latency->slots[LATENCY_SLOT_OTHER].version, 1, __ATOMIC_RELEASE);
}

int bpf_latency_switch(struct bpf_latency *latency, bool on)
{
	int result;

	if (on == latency->is_on)
		return 0;
	if (!on) {
		detach(latency);
		return 0;
	}
	result = map_arrays(latency);
	if (result < 0)
		return result;
	result = attach_all(latency);
	if (result == 0)
		result = count_present(latency);
	/* what was counted before it was switched off, or since then until now */
	end_reading(latency, NULL);
	latency->cost = read_costs(latency);
	if (result < 0)
		detach(latency);
	else
		latency->is_on = true;
	return result;
}

void bpf_latency_read(struct bpf_latency *latency, const struct bpf_latency_taker *taker,
		      struct bpf_latency_cost *ret_cost)
{
	const struct latency_cost before = latency->cost;
	const uint64_t read_at = latency->object->bss->read_at;
	uint64_t samples;

	if (latency->is_on)
		count_present(latency);
	ret_cost->span_ns = latency->object->bss->read_at - read_at;
	end_reading(latency, taker);
	latency->cost = read_costs(latency);
	samples = latency->cost.samples - before.samples;
	ret_cost->events = latency->cost.events - before.events;
	ret_cost->unseen = latency->cost.unseen - before.unseen;
	ret_cost->time_ns = samples != 0 ? (uint64_t)((double)(latency->cost.sampled - before.sampled) /
						      (double)samples * (double)ret_cost->events)
					 : 0;
}
