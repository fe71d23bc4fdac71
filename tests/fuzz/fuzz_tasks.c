/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Records of tasks from the kernel: those of a pass, those that BPF programs keep of ended tasks, over
 * three rounds, and the same by taskstats. The first byte chooses. The programs' maps are the input: the
 * functions of capture/bpf/bpf_exits.h are replaced here.
 */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "capture/bpf/bpf_exits.h"
#include "capture/bpf/task_decode.h"
#include "capture/ended_records.h"
#include "capture/round_internal.h"
#include "snapshot/ended_set.h"

enum {
	THREADS = 12, /* of each snapshot, in processes of three */
	ROUNDS = 3,
	ENTRIES_MAX = 32,
	IDS = 16, /* of tasks that end, so that they meet those of the snapshots */
	RECORD_BYTES = 600,
	ESCAPED_COMM_SIZE = 4 * TASK_COMM_SIZE, /* each byte as an escape: \xff */
	BASE_NS = 1000000000,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* --- the input --- */

struct input {
	const uint8_t *data;
	size_t size;
};

static void require(bool holds)
{
	if (!holds)
		abort();
}

/* Takes bytes off the input, zeros where it ends. */
static void take(struct input *input, void *bytes, size_t size)
{
	const size_t length = size < input->size ? size : input->size;

	memset(bytes, 0, size);
	if (length != 0)
		memcpy(bytes, input->data, length);
	input->data += length;
	input->size -= length;
}

static uint8_t take_byte(struct input *input)
{
	uint8_t byte;

	take(input, &byte, 1);
	return byte;
}

/* --- snapshots to end in --- */

/* One of three moments, a second apart; some threads of one are not in the next. */
static struct snapshot *make_snapshot(unsigned int round)
{
	struct snapshot *snapshot = snapshot_create();
	const uint32_t process = string_pool_intern(&snapshot->strings, "process", 7);
	const uint32_t name = string_pool_intern(&snapshot->strings, "worker-1", 8);
	const uint32_t cgroup = string_pool_intern(&snapshot->strings, "/a", 2);

	snapshot->provenance.present = true;
	snapshot->provenance.boottime_ns = BASE_NS + round * NS_PER_S;
	for (uint32_t i = 0; i < THREADS; i++) {
		size_t row;

		if (i % (ROUNDS + 1) == round)
			continue;
		row = snapshot_add_thread(snapshot, i / 3 * 3 + 1, i + 1);
		snapshot->triple[row] = snapshot_intern_triple(snapshot,
							       (struct triple){process, name, cgroup});
		snapshot->start_time[row] = i % 4;
		snapshot_column(snapshot, METRIC_RUN_TIME_NS)[row] = i;
	}
	snapshot_finish(snapshot);
	return snapshot;
}

/* Once made they stay: a round adds nothing to them but what ended. */
static struct snapshot *snapshot_of(unsigned int round)
{
	static struct snapshot *snapshots[ROUNDS];

	if (snapshots[round] == NULL)
		snapshots[round] = make_snapshot(round);
	return snapshots[round];
}

static void look_at_names(const struct ended_set *set, uint32_t triple)
{
	const struct triple *names;

	require(triple < set->names->triple_count);
	names = &set->names->triples[triple];
	require(strlen(snapshot_text(set->names, names->pcomm)) <= ESCAPED_COMM_SIZE);
	require(strlen(snapshot_text(set->names, names->comm)) <= ESCAPED_COMM_SIZE);
	require(snapshot_text(set->names, names->cgroup)[0] != '\0');
}

static void look_at(const struct ended_set *set)
{
	for (size_t i = 0; i < set->group_count; i++)
		look_at_names(set, set->groups[i].triple);
	for (size_t i = 0; i < set->thread_count; i++)
		look_at_names(set, set->threads[i].triple);
}

/* --- by BPF --- */

static struct input *maps;
static struct bpf_exit_group groups[ENTRIES_MAX];
static struct bpf_exit_item items[ENTRIES_MAX];

struct bpf_exits *bpf_exits_open(const uint32_t *scope, size_t scope_count, struct arena *arena,
				 struct feature_result *ret_result)
{
	(void)scope, (void)scope_count, (void)arena;
	*ret_result = feature_on();
	return (void *)groups;
}

void bpf_exits_close(struct bpf_exits *exits)
{
	(void)exits;
}

void bpf_exits_set_known(struct bpf_exits *exits, uint64_t boottime_ns)
{
	(void)exits, (void)boottime_ns;
}

uint32_t bpf_exits_kernel(const struct bpf_exits *exits)
{
	(void)exits;
	return TASK_KERNEL_KNOWN | (uint32_t)take_byte(maps) << 2;
}

uint64_t bpf_exits_lost(const struct bpf_exits *exits)
{
	(void)exits;
	return take_byte(maps);
}

int bpf_exits_read_groups(struct bpf_exits *exits, const struct bpf_exit_group **ret_groups,
			  size_t *ret_count)
{
	const uint8_t count = take_byte(maps);

	(void)exits;
	*ret_count = count % ENTRIES_MAX % 8;
	for (size_t i = 0; i < *ret_count; i++)
		take(maps, &groups[i], sizeof(groups[i]));
	*ret_groups = groups;
	return count < ENTRIES_MAX * 7 ? 0 : -EIO;
}

/* Ids and starts are small, so that tasks meet rows and one another. */
static void take_item(struct bpf_exit_item *item)
{
	take(maps, &item->identity, sizeof(item->identity));
	take(maps, &item->thread, sizeof(item->thread));
	item->thread.tgid %= IDS;
	item->thread.tid %= IDS;
	item->identity.task %= IDS;
	item->identity.start_boottime %= BASE_NS * UINT64_C(4);
}

int bpf_exits_list(struct bpf_exits *exits, const struct bpf_exit_item **ret_items, size_t *ret_count)
{
	const uint8_t count = take_byte(maps);

	(void)exits;
	*ret_count = count % ENTRIES_MAX % 8;
	for (size_t i = 0; i < *ret_count; i++)
		take_item(&items[i]);
	*ret_items = items;
	return count < ENTRIES_MAX * 7 ? 0 : -EIO;
}

bool bpf_exits_take(struct bpf_exits *exits, const struct exit_identity *identity,
		    struct exit_thread *ret_thread)
{
	(void)exits, (void)identity;
	take(maps, ret_thread, sizeof(*ret_thread));
	return (take_byte(maps) & 3) != 0;
}

static void read_exits(struct input *input)
{
	static struct thread_state states[ROUNDS][THREADS];
	const uint8_t flags = take_byte(input);
	struct capture capture = {.roots = {.initial_pid_namespace = true}};
	struct feature_result result = {.state = FEATURE_STATE_ON};

	maps = input;
	capture.checks.task_delayacct = (enum task_delayacct)(flags & 1);
	capture.checks.results[FEATURE_OTHERS_IO].state = FEATURE_STATE_ON;
	/* with passes the addresses of tasks are known */
	capture.passes.tasks = (flags & 2) != 0 ? (void *)groups : NULL;
	capture.ended = ended_watch_open(&capture.roots, NULL, 0, &capture.arena, &result);
	for (unsigned int i = 0; i < ROUNDS; i++) {
		struct round round = {.capture = &capture, .snapshot = snapshot_of(i), .states = states[i]};

		for (size_t row = 0; row < THREADS; row++)
			states[i][row].seen.task = row % 5;
		ended_watch_begin(capture.ended);
		ended_watch_read(&round);
		if (round.snapshot->ended != NULL)
			look_at(round.snapshot->ended);
		ended_set_release(round.snapshot->ended);
		round.snapshot->ended = NULL;
		capture.previous = round.snapshot;
		capture.states = round.states;
	}
	ended_watch_close(capture.ended);
	arena_release(&capture.arena);
}

/* --- by taskstats --- */

static void read_records(struct input *input)
{
	struct ended_records *records = ended_records_create(NULL, 0);
	struct feature_checks checks = {.task_delayacct = TASK_DELAYACCT_ON};

	for (unsigned int round = 0; round < ROUNDS; round++) {
		struct ended_record_span span = {.from_ns = BASE_NS + round * (NS_PER_S - 1)};
		struct ended_set *set = ended_set_create();

		span.to_ns = span.from_ns + take_byte(input);
		for (uint8_t i = take_byte(input) % 8; i > 0; i--) {
			const uint32_t tid = take_byte(input) % IDS;
			const uint16_t version = take_byte(input) % 20;
			unsigned char stats[RECORD_BYTES];
			struct taskstats_layout layout;

			take(input, stats, sizeof(stats));
			taskstats_layout_resolve(&layout, version, sizeof(stats) - take_byte(input));
			ended_records_add(records, &span, tid, stats, &layout);
		}
		if ((take_byte(input) & 1) != 0)
			ended_records_lose(records, 1);
		ended_records_read(records, snapshot_of(round), round != 0 ? snapshot_of(round - 1) : NULL,
				   &checks, set);
		require(ended_records_waiting(records) <= ROUNDS * IDS);
		look_at(set);
		ended_set_release(set);
	}
	ended_records_release(records);
}

/* --- tasks that live --- */

static void decode(struct input *input)
{
	static struct snapshot *snapshot;
	static struct task_whole tasks[ENTRIES_MAX];
	const uint8_t flags = take_byte(input);
	struct bpf_pass pass = {
		.count = take_byte(input) % ENTRIES_MAX,
		.records = (const unsigned char *)&tasks[0].record,
		.delays = (flags & 1) != 0 ? (const unsigned char *)&tasks[0].delays : NULL,
		.statistics = (flags & 2) != 0 ? (const unsigned char *)&tasks[0].statistics : NULL,
		.record_stride = sizeof(tasks[0]),
		.delays_stride = sizeof(tasks[0]),
		.statistics_stride = sizeof(tasks[0]),
	};
	struct task_sleep before;
	size_t count;
	uint32_t *order;

	take(input, &pass.kernel, sizeof(pass.kernel));
	take(input, &pass.clock_ns, sizeof(pass.clock_ns));
	take(input, &before, sizeof(before));
	for (size_t i = 0; i < pass.count; i++) {
		take(input, &tasks[i], sizeof(tasks[i]));
		if ((flags & 4) != 0) {
			tasks[i].record.tgid %= IDS;
			tasks[i].record.tid %= IDS;
		}
	}
	if (snapshot == NULL) {
		snapshot = snapshot_create();
		snapshot_add_thread(snapshot, 1, 1);
	}
	order = bpf_pass_order(&pass, &count);
	require(count <= pass.count);
	for (size_t i = 0; i < count; i++) {
		const struct task_parts parts = task_parts_of(&pass, order[i]);
		struct task_wait wait;

		require(order[i] < pass.count);
		if (i != 0) {
			const struct task_record *last = bpf_pass_record(&pass, order[i - 1]);

			require(last->tgid < parts.record->tgid ||
				(last->tgid == parts.record->tgid && last->tid < parts.record->tid));
		}
		task_decode(snapshot, 0, &parts, (flags & 8) != 0, (struct task_times){before.ns, flags});
		require(strchr("RSDTtXZPIF", task_state_letter(parts.record)) != NULL);
		wait = task_wait_of(parts.record, pass.clock_ns, task_sleeps(parts.record) ? &before : NULL);
		require(pass.clock_ns != 0 || wait.ns == 0);
		task_fingerprint(&parts);
	}
	free(order);
	for (size_t i = 0; i < METRIC_COUNT; i++)
		require(!task_kernel_has(pass.kernel, (enum metric)i) || task_decodes((enum metric)i));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = {data + 1, size - 1};

	if (size == 0)
		return 0;
	switch (data[0] % 3) {
	case 0:
		read_exits(&input);
		break;
	case 1:
		read_records(&input);
		break;
	default:
		decode(&input);
		break;
	}
	return 0;
}
