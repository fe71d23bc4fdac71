/* SPDX-License-Identifier: GPL-2.0-only */
#include "bpf_tasks.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"
#include "bpf_object.h"
#include "snapshot/cpu_set.h"
#include "task_decode.h"
#include "tasks.skel.h"

enum {
	PARTS_TASKS_MAX = 65536, /* up to so many have room for parts that are wanted now and then */
	SPARE_TASKS = 1024,
	SMALL_FILE = 4096,
	WORD_BITS = 64,
	ITERATIONS_MAX = 5,            /* that ended before their time */
	PLACE_PARTS = 3,               /* of the map of places: two passes in turn, and free slots */
	FREE_SLOTS = 2,                /* the last of these parts */
	EXT_STATE_BEFORE_7_3 = 3 << 8, /* SCX_TASK_STATE_MASK and SCX_TASK_ENABLED were the same */
};

/* How records get into mapped memory. */
enum storing {
	STORING_BY_WALK, /* in runs of a program */
	STORING_BY_SIFT, /* by a program that an iterator runs */
	STORING_NOT,     /* not at all: an iterator hands records over */
};

/* What is read of system calls. */
enum reading_calls {
	CALLS_NONE,
	CALLS_BARE, /* numbers and arguments: bpf_task_pt_regs(), from Linux 5.15 on */
	CALLS_WITH_FILES,
};

/* The programs, and parts of them, that a kernel may refuse without costing the others. */
struct extras {
	enum storing storing;
	enum reading_calls calls;
	bool clock; /* of the scheduler */
	bool sums;  /* per-CPU RSS counters, read with bpf_probe_read_kernel(), which lockdown disables */
};

struct bpf_tasks {
	struct tasks *object;
	struct extras loaded;
	struct bpf_link *link;   /* to the iterator that hands records over */
	struct bpf_link *sifter; /* to the iterator that stores them; NULL for none */
	bool link_is_narrow;     /* both iterate over the one process that is read, not over all tasks */
	struct bpf_scope scope;
	const struct task_call_set *by_file; /* while the programs are loaded; NULL: calls are not wanted */
	struct string_pool cpu_sets;
	uint32_t cpus;        /* those that may ever be there, a set of `cpu_sets`; empty: not known */
	size_t last_count;    /* tasks of the last pass */
	size_t expected;      /* for which the iterator takes memory */
	unsigned char *bytes; /* of the iterator */
	size_t bytes_size;
	uint32_t *order; /* of the last pass */
	size_t row_count;

	/* The last pass that was stored. */
	struct bpf_array records, delays, statistics, calls, places;
	uint32_t room;         /* number of slots */
	uint32_t part;         /* part of `places` that holds the pass: 0 or 1 */
	uint32_t place_count;  /* places of the pass */
	uint32_t free_count;   /* slots that no task has, listed in the part FREE_SLOTS */
	uint32_t stored_parts; /* TASK_PART_… of the pass */
	uint64_t stored_ns;    /* CLOCK_BOOTTIME at the beginning of the pass */
	bool is_stored;        /* no pass came after it */
};

/* Takes the CPUs that may ever be there. By their list, since there may be gaps between their numbers. */
static void note_cpus(struct bpf_tasks *tasks)
{
	struct buffer possible = {0};

	if (file_read(AT_FDCWD, "/sys/devices/system/cpu/possible", &possible, SMALL_FILE) != 0 ||
	    !cpu_set_parse(&tasks->cpu_sets, possible.data, possible.length, &tasks->cpus))
		tasks->cpus = 0;
	buffer_release(&possible);
}

/* Words of a CPU mask that can hold a CPU of this host. */
static uint32_t mask_words(const struct bpf_tasks *tasks)
{
	const size_t count = cpu_set_count(&tasks->cpu_sets, tasks->cpus);

	return count != 0 ? cpu_set_cpus(&tasks->cpu_sets, tasks->cpus)[count - 1] / WORD_BITS + 1 : 1;
}

/* The low bits of an enumerator's value in an enum of the kernel; false without that name. */
static bool find_enumerator(const struct btf *types, const char *enumeration, const char *name,
			    uint32_t *ret_value)
{
	const int id = btf__find_by_name(types, enumeration);
	const struct btf_type *type = id > 0 ? btf__type_by_id(types, (uint32_t)id) : NULL;

	for (uint32_t i = 0; type != NULL && btf_is_any_enum(type) && i < btf_vlen(type); i++) {
		const bool is_wide = btf_is_enum64(type);
		const uint32_t words = is_wide ? btf_enum64(type)[i].name_off : btf_enum(type)[i].name_off;

		if (strcmp(btf__name_by_offset(types, words), name) != 0)
			continue;
		*ret_value = is_wide ? btf_enum64(type)[i].val_lo32 : (uint32_t)btf_enum(type)[i].val;
		return true;
	}
	return false;
}

/*
 * Finds the bits of scx.flags for tasks that sched_ext schedules: include/linux/sched/ext.h, where Linux 7.3
 * gave the states other numbers and one bit more. Not by a relocation of the object: for a type that a kernel
 * without sched_ext lacks libbpf searches all modules, which takes CAP_SYS_ADMIN.
 */
static void find_ext_states(uint32_t *ret_mask, uint32_t *ret_enabled)
{
	struct btf *types = access("/sys/kernel/sched_ext", F_OK) == 0 ? btf__load_vmlinux_btf() : NULL;

	if (types == NULL || !find_enumerator(types, "scx_ent_flags", "SCX_TASK_STATE_MASK", ret_mask) ||
	    !find_enumerator(types, "scx_ent_flags", "SCX_TASK_ENABLED", ret_enabled))
		*ret_mask = *ret_enabled = EXT_STATE_BEFORE_7_3;
	btf__free(types);
}

/* --- loading --- */

/* From Linux 6.1 on an iterator can go through the threads of one process alone; before, that is refused. */
static struct bpf_link *attach_iterator(struct bpf_tasks *tasks, const struct bpf_program *program)
{
	union bpf_iter_link_info process = {0};
	LIBBPF_OPTS(bpf_iter_attach_opts, options, .link_info = &process, .link_info_len = sizeof(process));
	struct bpf_link *link = NULL;

	if (tasks->scope.count == 1) {
		process.task.pid = tasks->scope.ids[0];
		link = bpf_program__attach_iter(program, &options);
		tasks->link_is_narrow = link != NULL;
	}
	return link != NULL ? link : bpf_program__attach_iter(program, NULL);
}

static struct task_place *places_of(const struct bpf_tasks *tasks, uint32_t part)
{
	return (struct task_place *)tasks->places.start + (size_t)part * tasks->room;
}

/* Lists the slots that no task of the last pass has. */
static void list_free_slots(struct bpf_tasks *tasks)
{
	const struct task_place *places = places_of(tasks, tasks->part);
	struct task_place *free_slots = places_of(tasks, FREE_SLOTS);
	bool *is_taken = memory_allocate_zero(tasks->room, sizeof(*is_taken));

	for (uint32_t i = 0; i < tasks->place_count; i++)
		is_taken[places[i].slot] = true;
	tasks->free_count = 0;
	for (uint32_t slot = 0; slot < tasks->room; slot++) {
		if (!is_taken[slot])
			free_slots[tasks->free_count++].slot = slot;
	}
	free(is_taken);
}

/* Forgets all records. */
static void forget_places(struct bpf_tasks *tasks)
{
	tasks->place_count = 0;
	tasks->is_stored = false;
	list_free_slots(tasks);
}

static bool map_records(struct bpf_tasks *tasks)
{
	const struct tasks *object = tasks->object;

	if (!bpf_array_map(&tasks->records, object->maps.records, PROT_READ) ||
	    !bpf_array_map(&tasks->places, object->maps.task_places, PROT_READ | PROT_WRITE))
		return false;
	forget_places(tasks);
	return true;
}

/*
 * Room for a part is taken from the start to the end. Where it is not asked for all the time, and much, there
 * is none: then the iterator reads it, into memory of ours.
 */
static bool size_part(struct bpf_map *map, size_t room, bool usual)
{
	return bpf_map__set_max_entries(map, usual || room <= PARTS_TASKS_MAX ? (uint32_t)room : 1) == 0;
}

/* Says how much room there is; what is not loaded needs none. */
static bool size_records(const struct tasks *object, size_t room, uint32_t usual_parts)
{
	return bpf_map__set_max_entries(object->maps.records, (uint32_t)room) == 0 &&
	       bpf_map__set_max_entries(object->maps.task_places, PLACE_PARTS * (uint32_t)room) == 0 &&
	       size_part(object->maps.delays, room, (usual_parts & TASK_PART_DELAYS) != 0) &&
	       size_part(object->maps.statistics, room, (usual_parts & TASK_PART_STATISTICS) != 0) &&
	       bpf_map__set_max_entries(object->maps.calls,
					(usual_parts & TASK_PART_CALL) != 0 ? (uint32_t)room : 1) == 0;
}

/* Says which programs are to be loaded. Returns 0 or a negative errno. */
static int prepare(struct bpf_tasks *tasks, struct extras extras, size_t room, uint32_t usual_parts)
{
	const struct tasks *object = tasks->object;
	const bool scoped = tasks->scope.count != 0;
	uint32_t ext_mask, ext_enabled;

	find_ext_states(&ext_mask, &ext_enabled);
	object->rodata->ext_state_mask = ext_mask;
	object->rodata->ext_state_enabled = ext_enabled;
	object->rodata->mask_words = mask_words(tasks);
	if (extras.sums)
		object->rodata->cpu_count = (uint32_t)cpu_set_count(&tasks->cpu_sets, tasks->cpus);
	object->rodata->scoped = scoped;
	object->rodata->old_hierarchy = bpf_find_old_hierarchy();
	object->rodata->with_calls = extras.calls != CALLS_NONE;
	object->rodata->with_files = extras.calls == CALLS_WITH_FILES;
	if (tasks->by_file != NULL)
		memcpy((void *)&object->rodata->by_file, tasks->by_file, sizeof(*tasks->by_file));
	if (extras.calls == CALLS_NONE)
		usual_parts &= ~(uint32_t)TASK_PART_CALL;
	bpf_program__set_autoload(object->progs.find_cpu, extras.sums);
	bpf_program__set_autoload(object->progs.walk_tasks, extras.storing == STORING_BY_WALK && !scoped);
	bpf_program__set_autoload(object->progs.walk_process, extras.storing == STORING_BY_WALK && scoped);
	bpf_program__set_autoload(object->progs.sift_task, extras.storing == STORING_BY_SIFT);
	bpf_program__set_autoload(object->progs.read_clock, extras.clock);
	tasks->room = (uint32_t)room;
	return extras.storing == STORING_NOT || size_records(object, room, usual_parts) ? 0 : -EINVAL;
}

static void unload(struct bpf_tasks *tasks)
{
	bpf_array_unmap(&tasks->records);
	bpf_array_unmap(&tasks->delays);
	bpf_array_unmap(&tasks->statistics);
	bpf_array_unmap(&tasks->calls);
	bpf_array_unmap(&tasks->places);
	bpf_link__destroy(tasks->link);
	bpf_link__destroy(tasks->sifter);
	tasks->link = tasks->sifter = NULL;
	tasks->link_is_narrow = false;
	tasks__destroy(tasks->object);
	tasks->object = NULL;
	tasks->loaded = (struct extras){0};
}

static int run_program(const struct bpf_program *program)
{
	LIBBPF_OPTS(bpf_test_run_opts, options);

	return bpf_prog_test_run_opts(bpf_program__fd(program), &options);
}

/* Finds where the variables of each CPU are; where the kernel does not tell, they are not added up. */
static void locate_cpus(struct bpf_tasks *tasks)
{
	const uint32_t *cpus = cpu_set_cpus(&tasks->cpu_sets, tasks->cpus);
	const size_t count = cpu_set_count(&tasks->cpu_sets, tasks->cpus);

	for (size_t i = 0; i < count; i++) {
		tasks->object->bss->cpu = cpus[i];
		if (run_program(tasks->object->progs.find_cpu) != 0)
			return;
	}
}

static struct feature_result load(struct bpf_tasks *tasks, struct extras extras, size_t room,
				  uint32_t usual_parts, struct arena *arena)
{
	struct feature_result loaded;

	bpf_object_listen();
	tasks->object = tasks__open();
	if (tasks->object == NULL)
		return bpf_object_load(NULL, -errno, NULL, tasks->scope, arena);
	loaded = bpf_object_load(tasks->object->skeleton, prepare(tasks, extras, room, usual_parts),
				 tasks->object->maps.scope, tasks->scope, arena);
	if (loaded.state != FEATURE_STATE_ON)
		return loaded;
	tasks->loaded = extras;
	if (extras.sums)
		locate_cpus(tasks);
	tasks->link = attach_iterator(tasks, tasks->object->progs.dump_task);
	if (tasks->link != NULL && extras.storing == STORING_BY_SIFT)
		tasks->sifter = attach_iterator(tasks, tasks->object->progs.sift_task);
	if (tasks->link == NULL || (extras.storing == STORING_BY_SIFT && tasks->sifter == NULL) ||
	    (extras.storing != STORING_NOT && !map_records(tasks)))
		return bpf_refused(arena, -errno, "an iterator over tasks, or to map an array");
	return loaded;
}

/* Leaves out programs that the kernel refuses; without those that store, the iterator does it all. */
static struct feature_result load_what_works(struct bpf_tasks *tasks, size_t task_count, uint32_t usual_parts,
					     struct arena *arena)
{
	static const struct extras others[] = {
		{.calls = CALLS_WITH_FILES, .clock = true, .sums = true},
		{.calls = CALLS_BARE, .clock = true, .sums = true},
		{.clock = true, .sums = true},
		{.sums = true},
		{.calls = CALLS_WITH_FILES, .clock = true},
		{.calls = CALLS_BARE, .clock = true},
		{.clock = true},
		{.sums = false},
	};
	const bool without_sums = bpf_is_locked_down();
	const size_t room = task_count + task_count / 4 + SPARE_TASKS;
	struct feature_result result = {0};

	for (size_t i = 0; i < ARRAY_COUNT(others) * (STORING_NOT + 1); i++) {
		struct extras extras = others[i / (STORING_NOT + 1)];

		if ((extras.sums && without_sums) || (extras.calls != CALLS_NONE && tasks->by_file == NULL))
			continue;
		extras.storing = (enum storing)(i % (STORING_NOT + 1));
		result = load(tasks, extras, room, usual_parts, arena);
		if (result.state == FEATURE_STATE_ON)
			break;
		unload(tasks);
	}
	return result;
}

struct bpf_tasks *bpf_tasks_open(const uint32_t *scope, size_t scope_count, size_t task_count,
				 uint32_t usual_parts, const struct task_call_set *by_file,
				 struct arena *arena, struct feature_result *ret_result)
{
	struct bpf_tasks *tasks;

	*ret_result = bpf_check(arena);
	if (ret_result->state != FEATURE_STATE_ON)
		return NULL;
	tasks = memory_allocate_zero(1, sizeof(*tasks));
	tasks->expected = task_count + SPARE_TASKS;
	tasks->scope = (struct bpf_scope){scope, scope_count};
	tasks->by_file = by_file;
	note_cpus(tasks);
	*ret_result = load_what_works(tasks, task_count, usual_parts, arena);
	tasks->by_file = NULL;
	if (ret_result->state == FEATURE_STATE_ON)
		return tasks;
	bpf_tasks_close(tasks);
	return NULL;
}

void bpf_tasks_close(struct bpf_tasks *tasks)
{
	if (tasks == NULL)
		return;
	unload(tasks);
	string_pool_release(&tasks->cpu_sets);
	free(tasks->bytes);
	free(tasks->order);
	free(tasks);
}

/* --- reading --- */

/*
 * Reads the scheduler's clock: it is behind CLOCK_MONOTONIC by the difference that the program sees just
 * after its caller has slept. The shortest sleep does.
 */
static uint64_t read_clock(const struct bpf_tasks *tasks)
{
	const struct timespec moment = {.tv_nsec = 1};
	const struct tasks__bss *seen = tasks->object->bss;

	if (!tasks->loaded.clock)
		return 0;
	nanosleep(&moment, NULL);
	if (run_program(tasks->object->progs.read_clock) != 0 || seen->queue_clock == 0)
		return 0;
	return seen->queue_clock + (clock_ns(CLOCK_MONOTONIC) - seen->monotonic_clock);
}

static const struct task_record *record_in(const struct bpf_tasks *tasks, uint32_t slot)
{
	return (const void *)((const unsigned char *)tasks->records.start + slot * tasks->records.stride);
}

/* The record of a task that the pass under way has met. */
static const struct task_record *met_record(const struct bpf_tasks *tasks, uint32_t index)
{
	return record_in(tasks, places_of(tasks, 1 - tasks->part)[index].slot);
}

/* Goes on behind the process that was stored before the one that is lost, or begins anew. */
static void step_back(const struct bpf_tasks *tasks)
{
	struct tasks__bss *state = tasks->object->bss;
	const bool is_begun = state->process_begin != state->task_count;
	const uint32_t lost = is_begun ? met_record(tasks, state->process_begin)->tgid : 0;

	state->leader_task = 0;
	state->process_is_done = 1;
	while (state->leader_task == 0 && state->process_begin != 0) {
		const struct task_record *record = met_record(tasks, --state->process_begin);

		if (record->tid != record->tgid || record->tgid == lost)
			continue;
		state->leader_task = record->task;
		state->leader_start = record->start_boottime;
	}
	if (state->leader_task == 0)
		state->before = 0;
}

/*
 * Stores the tasks of one process, or of all (0), run by run: between two of them other threads get the CPU.
 * Returns 0, -ENOSPC when not all fit, or another negative errno.
 */
static int walk(const struct bpf_tasks *tasks, uint32_t process, const atomic_bool *cancel)
{
	const struct bpf_program *program = process != 0 ? tasks->object->progs.walk_process
							 : tasks->object->progs.walk_tasks;
	struct tasks__bss *state = tasks->object->bss;

	state->process = process;
	state->process_begin = state->task_count;
	state->process_before = state->before;
	state->leader_task = 0;
	state->process_is_done = 0;
	do {
		if (cancel != NULL && atomic_load_explicit(cancel, memory_order_relaxed))
			return -ECANCELED;
		if (run_program(program) != 0)
			return -errno;
		state->process_is_done = 0;
		if (state->outcome == WALK_LOST)
			step_back(tasks);
	} while (state->outcome == WALK_UNFINISHED || state->outcome == WALK_LOST);
	return state->outcome == WALK_DONE ? 0 : -ENOSPC;
}

/* The same, for all processes that are read. */
static int walk_all(const struct bpf_tasks *tasks, const atomic_bool *cancel)
{
	int result = 0;

	if (tasks->scope.count == 0)
		return walk(tasks, 0, cancel);
	for (size_t i = 0; i < tasks->scope.count && result == 0; i++)
		result = walk(tasks, tasks->scope.ids[i], cancel);
	return result;
}

/* Reads all that the iterator hands over into tasks->bytes; returns its length, or a negative errno. */
static ssize_t read_iterator(struct bpf_tasks *tasks, int descriptor, size_t stride,
			     const atomic_bool *cancel)
{
	const size_t expected = tasks->expected * stride + BPF_ITERATOR_READ_SIZE;

	/* not by doubling, which would take up to twice the memory */
	if (tasks->bytes_size < expected) {
		free(tasks->bytes);
		tasks->bytes = memory_allocate(expected);
		tasks->bytes_size = expected;
	}
	return bpf_iterator_read(descriptor, cancel, &tasks->bytes, &tasks->bytes_size);
}

static void release_bytes(struct bpf_tasks *tasks)
{
	free(tasks->bytes);
	tasks->bytes = NULL;
	tasks->bytes_size = 0;
}

static int iterate_once(struct bpf_tasks *tasks, uint32_t parts, const atomic_bool *cancel,
			struct bpf_pass *pass)
{
	size_t delays = (parts & TASK_PART_DELAYS) != 0 ? sizeof(struct task_delays) : 0;
	size_t statistics = (parts & TASK_PART_STATISTICS) != 0 ? sizeof(struct task_statistics) : 0;
	size_t calls = (parts & TASK_PART_CALL) != 0 ? sizeof(struct task_call) : 0;
	size_t stride = sizeof(struct task_record) + delays + statistics + calls;
	const uint64_t begin_ns = clock_ns(CLOCK_BOOTTIME);
	int descriptor;
	ssize_t length;

	tasks->object->bss->parts = parts;
	descriptor = bpf_iter_create(bpf_link__fd(tasks->link));
	if (descriptor < 0)
		return -errno;
	length = read_iterator(tasks, descriptor, stride, cancel);
	close(descriptor);
	if (length < 0)
		return (int)length;
	*pass = (struct bpf_pass){
		.count = (size_t)length / stride,
		.begin_ns = begin_ns,
		.kernel = tasks->object->bss->task_kernel,
		.records = tasks->bytes,
		.record_stride = stride,
		.delays_stride = stride,
		.statistics_stride = stride,
		.calls_stride = stride,
		.is_whole = true,
	};
	if (delays != 0)
		pass->delays = tasks->bytes + sizeof(struct task_record);
	if (statistics != 0)
		pass->statistics = tasks->bytes + sizeof(struct task_record) + delays;
	if (calls != 0)
		pass->calls = tasks->bytes + stride - calls;
	return (size_t)length % stride == 0 ? 0 : -EIO;
}

/*
 * Through one process the kernel finds its way by the number of the thread at which it is. If that one ends
 * just then, so does the way (task_group_seq_get_next() of kernel/bpf/task_iter.c), and more threads are left
 * than were met.
 */
static bool is_cut_short(const struct bpf_tasks *tasks, size_t met)
{
	return tasks->link_is_narrow && met != 0 && tasks->object->bss->process_threads > met;
}

/* Reads all records from the iterator that hands them over. */
static int iterate(struct bpf_tasks *tasks, uint32_t parts, const atomic_bool *cancel, struct bpf_pass *pass)
{
	int result = iterate_once(tasks, parts, cancel, pass);

	for (int i = 1; result == 0 && is_cut_short(tasks, pass->count) && i < ITERATIONS_MAX; i++)
		result = iterate_once(tasks, parts, cancel, pass);
	if (result < 0)
		return result;
	free(tasks->order);
	tasks->order = bpf_pass_order(pass, &tasks->row_count);
	return 0;
}

/* --- storing --- */

/* A new task gets its start time first and is listed later, within this time. */
#define LISTED_WITHIN_NS NS_PER_S

/* Tells the programs where the places of the last pass are, and where to put those of the next. */
static void begin_pass(const struct bpf_tasks *tasks)
{
	struct tasks__bss *state = tasks->object->bss;

	state->outcome = WALK_DONE;
	state->task_count = state->before = state->free_taken = 0;
	state->before_begin = tasks->part * tasks->room;
	state->before_count = tasks->place_count;
	state->now_begin = (1 - tasks->part) * tasks->room;
	state->free_begin = FREE_SLOTS * tasks->room;
	state->free_count = tasks->free_count;
	state->known_since = tasks->stored_ns > LISTED_WITHIN_NS ? tasks->stored_ns - LISTED_WITHIN_NS : 0;
	state->by_number = tasks->loaded.storing == STORING_BY_SIFT && !tasks->link_is_narrow;
}

static int sift_once(struct bpf_tasks *tasks, const atomic_bool *cancel)
{
	int descriptor;
	ssize_t length;

	begin_pass(tasks);
	descriptor = bpf_iter_create(bpf_link__fd(tasks->sifter));
	if (descriptor < 0)
		return -errno;
	length = bpf_iterator_read(descriptor, cancel, &tasks->bytes, &tasks->bytes_size);
	close(descriptor);
	if (length < 0)
		return (int)length;
	return tasks->object->bss->outcome == WALK_DONE ? 0 : -ENOSPC;
}

/* Runs the programs that store tasks. Returns 0, -ENOSPC or another negative errno. */
static int store(struct bpf_tasks *tasks, bool full, const atomic_bool *cancel)
{
	int result;

	tasks->object->bss->is_full = full;
	if (tasks->loaded.storing == STORING_BY_WALK) {
		begin_pass(tasks);
		return walk_all(tasks, cancel);
	}
	result = sift_once(tasks, cancel);
	for (int i = 1;
	     result == 0 && is_cut_short(tasks, tasks->object->bss->task_count) && i < ITERATIONS_MAX; i++)
		result = sift_once(tasks, cancel);
	return result;
}

/* Whether the pass met the tasks of the last one, each once and in the same order. */
static bool met_the_same(const struct bpf_tasks *tasks, uint32_t count)
{
	const struct task_place *last = places_of(tasks, tasks->part);
	const struct task_place *now = places_of(tasks, 1 - tasks->part);

	if (!tasks->is_stored || count != tasks->place_count)
		return false;
	for (uint32_t i = 0; i < count; i++) {
		if (now[i].slot != last[i].slot || now[i].mark == TASK_NEW)
			return false;
	}
	return true;
}

/*
 * Drops the places of tasks that were met again later. A task that took its leader's number over in between
 * was marked as new only the first time, so every task that moved counts as new.
 */
static void drop_repeated(const struct bpf_tasks *tasks, struct bpf_pass *pass)
{
	struct task_place *places = places_of(tasks, 1 - tasks->part);
	uint32_t *index = memory_allocate((pass->count + 1) * sizeof(*index));
	uint32_t kept = 0;

	memset(index, 0xff, pass->count * sizeof(*index));
	for (size_t row = 0; row < tasks->row_count; row++)
		index[tasks->order[row]] = 0;
	for (size_t i = 0; i < pass->count; i++) {
		if (index[i] == UINT32_MAX)
			continue;
		index[i] = kept;
		places[kept] = places[i];
		if (places[kept].mark == TASK_MOVED)
			places[kept].mark = TASK_NEW;
		kept++;
	}
	for (size_t row = 0; row < tasks->row_count; row++)
		tasks->order[row] = index[tasks->order[row]];
	pass->count = kept;
	free(index);
}

/* Makes the rows of a pass, which becomes the last one. */
static void settle(struct bpf_tasks *tasks, struct bpf_pass *pass)
{
	pass->same_rows = met_the_same(tasks, (uint32_t)pass->count);
	if (!pass->same_rows) {
		free(tasks->order);
		tasks->order = bpf_pass_order(pass, &tasks->row_count);
		if (tasks->row_count != pass->count)
			drop_repeated(tasks, pass);
	}
	tasks->part = 1 - tasks->part;
	tasks->place_count = (uint32_t)pass->count;
	tasks->is_stored = true;
	if (!pass->same_rows)
		list_free_slots(tasks);
}

/* Describes what is stored now. */
static struct bpf_pass describe(const struct bpf_tasks *tasks, uint32_t parts, bool is_whole)
{
	const struct tasks__bss *state = tasks->object->bss;
	struct bpf_pass pass = {
		.count = state->task_count,
		.kernel = state->task_kernel,
		.records = tasks->records.start,
		.record_stride = tasks->records.stride,
		.delays_stride = tasks->delays.stride,
		.statistics_stride = tasks->statistics.stride,
		.calls_stride = tasks->calls.stride,
		.places = places_of(tasks, 1 - tasks->part),
		.is_whole = is_whole,
		.by_runs = tasks->loaded.storing == STORING_BY_WALK,
	};

	if ((parts & TASK_PART_DELAYS) != 0)
		pass.delays = tasks->delays.start;
	if ((parts & TASK_PART_STATISTICS) != 0)
		pass.statistics = tasks->statistics.start;
	if ((parts & TASK_PART_CALL) != 0)
		pass.calls = tasks->calls.start;
	return pass;
}

/*
 * Reads a pass into the slots. If the slots run out because too many tasks counted as new, all records are
 * forgotten and the pass begins again. Returns 0, -ENOSPC if that does not help, or another negative errno.
 */
static int read_stored(struct bpf_tasks *tasks, uint32_t parts, bool full, const atomic_bool *cancel,
		       struct bpf_pass *pass)
{
	const uint64_t begin_ns = clock_ns(CLOCK_BOOTTIME);
	bool is_whole = !tasks->is_stored || parts != tasks->stored_parts;
	int result;

	tasks->object->bss->parts = parts;
	result = store(tasks, full || is_whole, cancel);
	if (result == -ENOSPC && tasks->place_count != 0) {
		forget_places(tasks);
		is_whole = true;
		result = store(tasks, true, cancel);
	}
	if (result == 0) {
		*pass = describe(tasks, parts, is_whole);
		pass->begin_ns = begin_ns;
		settle(tasks, pass);
		tasks->stored_parts = parts;
		tasks->stored_ns = begin_ns;
	}
	return result;
}

/*
 * Maps the room for a part when the part is first wanted: all pages of a mapped array count as memory of this
 * process (remap_vmalloc_range() of mm/vmalloc.c). False when the kernel refuses.
 */
static bool map_part(struct bpf_array *room, const struct bpf_map *map, bool is_wanted)
{
	return !is_wanted || room->start != NULL || bpf_array_map(room, map, PROT_READ);
}

static bool map_parts(struct bpf_tasks *tasks, uint32_t parts)
{
	const struct tasks *object = tasks->object;

	return map_part(&tasks->delays, object->maps.delays, (parts & TASK_PART_DELAYS) != 0) &&
	       map_part(&tasks->statistics, object->maps.statistics, (parts & TASK_PART_STATISTICS) != 0) &&
	       map_part(&tasks->calls, object->maps.calls, (parts & TASK_PART_CALL) != 0);
}

static bool has_room(const struct bpf_array *room, size_t count)
{
	return count <= room->size / room->stride;
}

/* Whether as many tasks as in the last pass fit: a pass that runs out of room is for nothing. */
static bool has_room_to_store(const struct bpf_tasks *tasks, uint32_t parts)
{
	return has_room(&tasks->records, tasks->last_count) &&
	       ((parts & TASK_PART_DELAYS) == 0 || has_room(&tasks->delays, tasks->last_count)) &&
	       ((parts & TASK_PART_STATISTICS) == 0 || has_room(&tasks->statistics, tasks->last_count)) &&
	       ((parts & TASK_PART_CALL) == 0 || has_room(&tasks->calls, tasks->last_count));
}

int bpf_tasks_read(struct bpf_tasks *tasks, uint32_t parts, bool full, const atomic_bool *cancel,
		   struct bpf_pass *ret_pass)
{
	int result = -ENOSPC;

	if (tasks->loaded.calls == CALLS_NONE)
		parts &= ~(uint32_t)TASK_PART_CALL;
	tasks->object->bss->pass++;
	if (tasks->loaded.storing != STORING_NOT && map_parts(tasks, parts) &&
	    has_room_to_store(tasks, parts))
		result = read_stored(tasks, parts, full, cancel, ret_pass);
	if (result == 0) {
		release_bytes(tasks);
	} else {
		tasks->is_stored = false;
		if (result != -ECANCELED)
			result = iterate(tasks, parts, cancel, ret_pass);
	}
	if (result < 0)
		return result;
	ret_pass->order = tasks->order;
	ret_pass->row_count = tasks->row_count;
	tasks->last_count = ret_pass->count;
	tasks->expected = ret_pass->count + SPARE_TASKS;
	ret_pass->clock_ns = read_clock(tasks);
	ret_pass->has_files = tasks->loaded.calls == CALLS_WITH_FILES;
	return 0;
}
