/* SPDX-License-Identifier: GPL-2.0-only */
#include "fixture.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/bpf.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"
#include "tests/wait.h"

enum {
	MAP_TYPE_ARENA = 33, /* BPF_MAP_TYPE_ARENA of newer headers */
	PAGE = 4096,         /* of an arena, where its address is counted */
	ARENAS = 8192,       /* addresses for them, one after the other */
	ARENA_START = 1 << 24,
	MESSAGE_SIZE = 512,
	THREAD_STACK = 64 << 10,
	SMAPS_SIZE = 64 << 20,
	SETTLE_LIMIT = 1 << 20,
	MAPS_MAX = 16,
};

#define INITIAL_PID_NAMESPACE 0xeffffffcU /* PROC_PID_INIT_INO of include/linux/proc_ns.h */
#define ARENA_SPACING         (UINT64_C(1) << 32)
#define ARENA_BASE            (UINT64_C(17) << 40) /* in the way of nobody, not of a sanitizer either */

enum program {
	PROGRAM_GIVE,
	PROGRAM_TAKE,
	PROGRAM_LOOK,
	PROGRAM_RUN,
	PROGRAM_POINT,
	PROGRAM_PREPARE,
	PROGRAM_PAGES,
	PROGRAM_SETTLE,
	PROGRAMS
};

static const char *const program_names[PROGRAMS] = {
	[PROGRAM_GIVE] = "context_give",   [PROGRAM_TAKE] = "context_take",
	[PROGRAM_LOOK] = "context_look",   [PROGRAM_RUN] = "context_run",
	[PROGRAM_POINT] = "context_point", [PROGRAM_PREPARE] = "context_prepare",
	[PROGRAM_PAGES] = "context_pages", [PROGRAM_SETTLE] = "context_settle",
};

/* The objects. */
static const unsigned char direct_bytes[] __attribute__((aligned(8))) = {
#include "context_direct.h"
};
static const unsigned char before_bytes[] __attribute__((aligned(8))) = {
#include "context_before.h"
};
static const unsigned char after_bytes[] __attribute__((aligned(8))) = {
#include "context_after.h"
};
static const unsigned char rusty_bytes[] __attribute__((aligned(8))) = {
#include "context_rusty.h"
};

static const struct layout {
	const char *name, *storage;
	const unsigned char *bytes;
	size_t size;
} layouts[FIXTURE_LAYOUTS] = {
	[FIXTURE_DIRECT] = {"direct", "task_contexts", direct_bytes, sizeof(direct_bytes)},
	[FIXTURE_BEFORE] = {"before", "scx_task_map", before_bytes, sizeof(before_bytes)},
	[FIXTURE_AFTER] = {"after", "scx_task_map", after_bytes, sizeof(after_bytes)},
	[FIXTURE_RUSTY] = {"rusty", "sdt_task_map", rusty_bytes, sizeof(rusty_bytes)},
};

struct fixture {
	enum fixture_layout layout;
	struct bpf_object *object;
	struct bpf_link *exit_link;
	int programs[PROGRAMS]; /* descriptors, -1 for what the layout has not */
	struct fixture_ids ids;
	uint32_t maps[MAPS_MAX];
	size_t map_count;
	uint64_t arena_address;
	uint32_t arena_pages;
	void *mapping; /* NULL: none */
};

/* --- opening --- */

/* The first line in which libbpf told this thread of a failure. */
static _Thread_local char first_message[MESSAGE_SIZE];

static int keep_message(enum libbpf_print_level level, const char *format, va_list arguments)
{
	char *end;

	if (level != LIBBPF_WARN || first_message[0] != '\0')
		return 0;
	vsnprintf(first_message, sizeof(first_message), format, arguments);
	end = strrchr(first_message, '\n');
	if (end != NULL)
		*end = '\0';
	return 0;
}

const char *fixture_layout_name(enum fixture_layout layout)
{
	return layouts[layout].name;
}

static bool may_administer(void)
{
	cap_flag_value_t value = CAP_CLEAR;
	cap_t state = cap_get_proc();
	bool may = state != NULL && cap_get_flag(state, CAP_SYS_ADMIN, CAP_EFFECTIVE, &value) == 0 &&
		   value == CAP_SET;

	cap_free(state);
	return may;
}

bool fixture_works(struct error *error)
{
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_MMAPABLE);
	struct stat status;
	int map;

	if (!may_administer()) {
		error_set(error, -EPERM,
			  "contexts of threads are made with CAP_SYS_ADMIN; run the test as root");
		return false;
	}
	if (stat("/proc/self/ns/pid", &status) != 0 || status.st_ino != INITIAL_PID_NAMESPACE) {
		error_set(error, -EPERM, "threads are named by the initial namespace of process ids");
		return false;
	}
	if (access("/sys/kernel/btf/vmlinux", R_OK) != 0) {
		error_set(error, -ENOENT, "no /sys/kernel/btf/vmlinux (CONFIG_DEBUG_INFO_BTF)");
		return false;
	}
	map = bpf_map_create((enum bpf_map_type)MAP_TYPE_ARENA, "probe", 0, 0, 1, &options);
	if (map < 0) {
		error_set(error, map, "this kernel has no BPF arenas (Linux 6.9): %s", strerror(-map));
		return false;
	}
	close(map);
	return true;
}

/* An address for one more arena, which the lower half of a pointer does not give away. */
static uint64_t next_address(void)
{
	static atomic_uint count;

	return ARENA_BASE + (atomic_fetch_add(&count, 1) % ARENAS) * ARENA_SPACING + ARENA_START;
}

static uint32_t map_id(const struct fixture *fixture, const char *name)
{
	struct bpf_map_info info = {0};
	uint32_t size = sizeof(info);
	int map = bpf_object__find_map_fd_by_name(fixture->object, name);

	return map >= 0 && bpf_obj_get_info_by_fd(map, &info, &size) == 0 ? info.id : 0;
}

/* Finds all maps; that of the variables has the object's name before that of the section. */
static void find_maps(struct fixture *fixture)
{
	const struct bpf_map *map;

	bpf_object__for_each_map(map, fixture->object)
	{
		const char *name = bpf_map__name(map), *end = strstr(name, ".bss");
		uint32_t id = map_id(fixture, name);

		if (id != 0 && fixture->map_count < MAPS_MAX)
			fixture->maps[fixture->map_count++] = id;
		if (end != NULL && strcmp(end, ".bss") == 0)
			fixture->ids.data = id;
	}
}

static int find_all(struct fixture *fixture, struct error *error)
{
	struct bpf_prog_info info = {0};
	uint32_t size = sizeof(info);

	for (enum program program = 0; program < PROGRAMS; program++) {
		struct bpf_program *found = bpf_object__find_program_by_name(fixture->object,
									     program_names[program]);

		fixture->programs[program] = found == NULL ? -1 : bpf_program__fd(found);
	}
	if (bpf_obj_get_info_by_fd(fixture->programs[PROGRAM_GIVE], &info, &size) != 0)
		return error_set(error, -errno, "the program that was loaded tells nothing of itself: %s",
				 strerror(errno));
	fixture->ids.program = info.id;
	fixture->ids.btf = info.btf_id;
	find_maps(fixture);
	fixture->ids.storage = map_id(fixture, layouts[fixture->layout].storage);
	if (fixture->ids.btf == 0 || fixture->ids.storage == 0)
		return error_set(error, -ENOENT, "layout %s: no types or no map '%s' after loading",
				 fixture_layout_name(fixture->layout), layouts[fixture->layout].storage);
	if (fixture->layout == FIXTURE_DIRECT)
		return 0;
	fixture->ids.arena = map_id(fixture, "arena");
	if (fixture->ids.arena == 0 || fixture->ids.data == 0)
		return error_set(error, -ENOENT, "layout %s: no arena or no variables after loading",
				 fixture_layout_name(fixture->layout));
	return 0;
}

/* Calls a program. */
static int call(const struct fixture *fixture, enum program program, struct context_request *request)
{
	LIBBPF_OPTS(bpf_test_run_opts, options, .ctx_in = request, .ctx_size_in = sizeof(*request));
	int result = bpf_prog_test_run_opts(fixture->programs[program], &options);

	return result != 0 ? result : (int)options.retval;
}

static int map_arena(struct fixture *fixture, struct error *error)
{
	int map = bpf_object__find_map_fd_by_name(fixture->object, "arena");
	void *mapping = mmap((void *)(uintptr_t)fixture->arena_address, (size_t)fixture->arena_pages * PAGE,
			     PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE, map, 0);

	if (mapping == MAP_FAILED && errno == EEXIST)
		return 0; /* libbpf has mapped it, from version 1.5 on, and unmaps it */
	if (mapping == MAP_FAILED)
		return error_set(error, -errno, "mapping the arena at 0x%" PRIx64 ": %s",
				 fixture->arena_address, strerror(errno));
	fixture->mapping = mapping;
	return 0;
}

static int prepare(struct fixture *fixture, const struct fixture_options *options, struct error *error)
{
	struct context_request request = {.value = options->root_children == 0 ? 1 : options->root_children,
					  .count = options->keep_ids};
	const struct bpf_program *at_exit = bpf_object__find_program_by_name(fixture->object, "context_exit");
	int result = find_all(fixture, error);

	if (result < 0)
		return result;
	if (fixture->layout != FIXTURE_DIRECT) {
		result = map_arena(fixture, error);
		if (result < 0)
			return result;
		result = call(fixture, PROGRAM_PREPARE, &request);
		if (result < 0)
			return error_set(error, result, "layout %s: the allocators cannot be made: %s",
					 fixture_layout_name(fixture->layout), strerror(-result));
	}
	if (options->free_at_exit) {
		fixture->exit_link = bpf_program__attach(at_exit);
		if (fixture->exit_link == NULL)
			return error_set(error, -errno, "attaching to the end of threads: %s",
					 strerror(errno));
	}
	return 0;
}

static int load(struct fixture *fixture, struct error *error)
{
	LIBBPF_OPTS(bpf_object_open_opts, options, .object_name = "context");
	struct bpf_map *arena;
	int result;

	fixture->object = bpf_object__open_mem(layouts[fixture->layout].bytes, layouts[fixture->layout].size,
					       &options);
	if (fixture->object == NULL)
		return error_set(error, -errno, "layout %s: the object cannot be opened: %s",
				 fixture_layout_name(fixture->layout), first_message);
	arena = bpf_object__find_map_by_name(fixture->object, "arena");
	if (arena != NULL) {
		fixture->arena_address = next_address();
		fixture->arena_pages = bpf_map__max_entries(arena);
		bpf_map__set_map_extra(arena, fixture->arena_address);
	}
	result = bpf_object__load(fixture->object);
	if (result < 0)
		return error_set(error, result, "layout %s: the kernel refuses the programs: %s",
				 fixture_layout_name(fixture->layout), first_message);
	return 0;
}

int fixture_open(struct fixture **ret_fixture, enum fixture_layout layout,
		 const struct fixture_options *options, struct error *error)
{
	struct fixture *fixture = memory_allocate_zero(1, sizeof(*fixture));
	libbpf_print_fn_t before;
	int result;

	fixture->layout = layout;
	first_message[0] = '\0';
	before = libbpf_set_print(keep_message);
	result = load(fixture, error);
	libbpf_set_print(before);
	if (result == 0)
		result = prepare(fixture, options, error);
	if (result < 0) {
		fixture_close(fixture);
		return result;
	}
	*ret_fixture = fixture;
	return 0;
}

void fixture_close(struct fixture *fixture)
{
	if (fixture == NULL)
		return;
	if (fixture->mapping != NULL)
		munmap(fixture->mapping, (size_t)fixture->arena_pages * PAGE);
	bpf_link__destroy(fixture->exit_link);
	bpf_object__close(fixture->object);
	free(fixture);
}

enum fixture_layout fixture_layout(const struct fixture *fixture)
{
	return fixture->layout;
}

const struct fixture_ids *fixture_ids(const struct fixture *fixture)
{
	return &fixture->ids;
}

uint32_t *fixture_maps(struct fixture *fixture, size_t *ret_count)
{
	*ret_count = fixture->map_count;
	return fixture->maps;
}

const char *fixture_storage_name(const struct fixture *fixture)
{
	return layouts[fixture->layout].storage;
}

/* --- contexts --- */

/* Calls a program for a thread. `what` would have been done. */
static int call_for(const struct fixture *fixture, enum program program, struct context_request *request,
		    const char *what, struct error *error)
{
	int result = fixture->programs[program] < 0 ? -EOPNOTSUPP : call(fixture, program, request);
	const char *why = result == -ESRCH    ? "no such thread"
			  : result == -EEXIST ? "it has one"
			  : result == -ENOENT ? "it has none"
					      : strerror(-result);

	if (result >= 0)
		return 0;
	return error_set(error, result, "layout %s, thread %" PRIu32 ": its context cannot be %s: %s",
			 fixture_layout_name(fixture->layout), request->tid, what, why);
}

int fixture_give(struct fixture *fixture, pid_t tid, struct error *error)
{
	struct context_request request = {.tid = (uint32_t)tid};
	int result = call_for(fixture, PROGRAM_GIVE, &request, "made", error);

	/* the kernel has some storages in stock, and others soon (kernel/bpf/memalloc.c) */
	wait_until(result != -ENOMEM ||
		   (result = call_for(fixture, PROGRAM_GIVE, &request, "made", error)) != -ENOMEM);
	return result;
}

int fixture_take(struct fixture *fixture, pid_t tid, struct error *error)
{
	struct context_request request = {.tid = (uint32_t)tid};

	return call_for(fixture, PROGRAM_TAKE, &request, "freed", error);
}

int fixture_run(struct fixture *fixture, pid_t tid, uint64_t nanoseconds, struct error *error)
{
	struct context_request request = {.tid = (uint32_t)tid, .value = nanoseconds};

	return call_for(fixture, PROGRAM_RUN, &request, "changed", error);
}

int fixture_look(struct fixture *fixture, pid_t tid, struct fixture_context *ret_context, struct error *error)
{
	struct context_request request = {.tid = (uint32_t)tid};
	int result = call_for(fixture, PROGRAM_LOOK, &request, "read", error);

	if (result < 0)
		return result;
	ret_context->id = request.id;
	ret_context->element_id = request.element_id;
	ret_context->element = request.element;
	memcpy(&ret_context->context, &request.context, sizeof(ret_context->context));
	return 0;
}

int fixture_point(struct fixture *fixture, pid_t tid, uint64_t address, struct error *error)
{
	struct context_request request = {.tid = (uint32_t)tid, .value = address};

	return call_for(fixture, PROGRAM_POINT, &request, "pointed to", error);
}

int fixture_settle(struct fixture *fixture, struct error *error)
{
	struct context_request request = {0};
	int result;

	if (fixture->layout == FIXTURE_DIRECT)
		return 0;
	for (size_t i = 0; i < SETTLE_LIMIT; i++) {
		result = call(fixture, PROGRAM_SETTLE, &request);
		if (result < 0)
			return error_set(error, result, "layout %s: freed slots cannot be settled: %s",
					 fixture_layout_name(fixture->layout), strerror(-result));
		if (request.count == 0)
			return 0;
	}
	return error_set(error, -ETIME, "layout %s: freed slots never settle",
			 fixture_layout_name(fixture->layout));
}

/* --- the arena --- */

static int count_pages(struct fixture *fixture, uint64_t address, uint32_t *pages, struct error *error)
{
	struct context_request request = {.value = address, .count = *pages};
	int result = fixture->programs[PROGRAM_PAGES] < 0 ? -EOPNOTSUPP
							  : call(fixture, PROGRAM_PAGES, &request);

	if (result < 0)
		return error_set(error, result, "layout %s: the pages of the arena cannot be counted: %s",
				 fixture_layout_name(fixture->layout), strerror(-result));
	*pages = request.count;
	return 0;
}

int fixture_pages(struct fixture *fixture, uint32_t *ret_pages, struct error *error)
{
	uint32_t pages = fixture->arena_pages;
	int result = count_pages(fixture, fixture->arena_address, &pages, error);

	if (result == 0)
		*ret_pages = pages;
	return result;
}

int fixture_has_page(struct fixture *fixture, uint64_t address, bool *ret_has, struct error *error)
{
	uint32_t pages = 1;
	int result = count_pages(fixture, address & ~(uint64_t)(PAGE - 1), &pages, error);

	if (result == 0)
		*ret_has = pages == 1;
	return result;
}

uint64_t fixture_unused_address(const struct fixture *fixture)
{
	/* the kernel takes the lowest pages first */
	return fixture->arena_address + (uint64_t)(fixture->arena_pages - 2) * PAGE;
}

uint64_t fixture_arena_address(const struct fixture *fixture)
{
	return fixture->arena_address;
}

int fixture_resident(const struct fixture *fixture, uint64_t *ret_kib, struct error *error)
{
	uint64_t end = fixture->arena_address + (uint64_t)fixture->arena_pages * PAGE;
	struct buffer text = {0};
	char range[64];
	const char *line, *resident;
	int result = file_read(AT_FDCWD, "/proc/self/smaps", &text, SMAPS_SIZE);

	snprintf(range, sizeof(range), "%" PRIx64 "-%" PRIx64 " ", fixture->arena_address, end);
	line = result < 0 || text.length == 0 ? NULL : strstr(text.data, range);
	resident = line == NULL ? NULL : strstr(line, "\nRss:");
	if (resident == NULL || sscanf(resident, "\nRss: %" SCNu64, ret_kib) != 1)
		result = error_set(error, result < 0 ? result : -ENOENT,
				   "no mapping of the arena %sin /proc/self/smaps", range);
	buffer_release(&text);
	return result;
}

/* --- threads --- */

struct fixture_crowd {
	pthread_t *threads;
	size_t started;
	pid_t *tids;
	atomic_size_t ready;
	pthread_mutex_t lock;
	pthread_cond_t ended_changed;
	bool ended;
};

static void *stand(void *argument)
{
	struct fixture_crowd *crowd = argument;

	crowd->tids[atomic_fetch_add(&crowd->ready, 1)] = (pid_t)syscall(SYS_gettid);
	pthread_mutex_lock(&crowd->lock);
	while (!crowd->ended)
		pthread_cond_wait(&crowd->ended_changed, &crowd->lock);
	pthread_mutex_unlock(&crowd->lock);
	return NULL;
}

/*
 * Until the kernel has taken the thread off its lists: pthread_join(3) returns before, when do_exit() of
 * kernel/exit.c has given the memory back (mm_release()); release_task() comes last.
 */
static void wait_until_gone(pid_t tid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/task/%d", (int)tid);
	wait_until(access(path, F_OK) != 0);
}

void fixture_threads_end(struct fixture_threads *threads)
{
	struct fixture_crowd *crowd = threads->crowd;

	if (crowd == NULL)
		return;
	pthread_mutex_lock(&crowd->lock);
	crowd->ended = true;
	pthread_cond_broadcast(&crowd->ended_changed);
	pthread_mutex_unlock(&crowd->lock);
	for (size_t i = 0; i < crowd->started; i++)
		pthread_join(crowd->threads[i], NULL);
	for (size_t i = 0; i < crowd->started; i++)
		wait_until_gone(crowd->tids[i]);
	pthread_mutex_destroy(&crowd->lock);
	pthread_cond_destroy(&crowd->ended_changed);
	free(crowd->threads);
	free(crowd->tids);
	free(crowd);
	*threads = (struct fixture_threads){0};
}

int fixture_threads_start(struct fixture_threads *threads, size_t count, struct error *error)
{
	struct fixture_crowd *crowd = memory_allocate_zero(1, sizeof(*crowd));
	pthread_attr_t attributes;
	int result = 0;

	crowd->threads = memory_allocate_zero(count, sizeof(*crowd->threads));
	crowd->tids = memory_allocate_zero(count, sizeof(*crowd->tids));
	pthread_mutex_init(&crowd->lock, NULL);
	pthread_cond_init(&crowd->ended_changed, NULL);
	*threads = (struct fixture_threads){crowd->tids, count, crowd};
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, THREAD_STACK);
	while (result == 0 && crowd->started < count) {
		result = pthread_create(&crowd->threads[crowd->started], &attributes, stand, crowd);
		crowd->started += result == 0;
	}
	pthread_attr_destroy(&attributes);
	if (result == 0 && !wait_until(atomic_load(&crowd->ready) == count))
		result = ETIME;
	if (result != 0) {
		error_set(error, -result, "%zu of %zu threads started: %s", crowd->started, count,
			  strerror(result));
		fixture_threads_end(threads);
	}
	return -result;
}

int fixture_scene_begin(struct fixture_scene *scene, enum fixture_layout layout, size_t threads,
			const struct fixture_options *options, struct error *error)
{
	int result;

	*scene = (struct fixture_scene){0};
	result = fixture_open(&scene->fixture, layout, options, error);
	if (result == 0)
		result = fixture_threads_start(&scene->threads, threads, error);
	for (size_t i = 0; result == 0 && i < threads; i++)
		result = fixture_give(scene->fixture, scene->threads.tids[i], error);
	if (result < 0)
		fixture_scene_end(scene);
	return result;
}

void fixture_scene_end(struct fixture_scene *scene)
{
	fixture_threads_end(&scene->threads);
	fixture_close(scene->fixture);
}

/* --- churn --- */

struct fixture_churn {
	struct fixture *fixture;
	const pid_t *tids;
	size_t count;
	pthread_t thread;
	atomic_bool ended;
	uint64_t changes;
};

/* Both leave their slots, then the second takes the lowest: with two neighbours, that of the first. */
static uint64_t swap(struct fixture *fixture, pid_t one, pid_t other)
{
	if (fixture_take(fixture, one, NULL) < 0 || fixture_take(fixture, other, NULL) < 0)
		return 0;
	return (uint64_t)(fixture_give(fixture, other, NULL) == 0) +
	       (uint64_t)(fixture_give(fixture, one, NULL) == 0);
}

static void *churn(void *argument)
{
	struct fixture_churn *churn = argument;
	uint64_t random = 88172645463325252U;

	while (!atomic_load(&churn->ended)) {
		size_t one, other;

		/* xorshift: any order will do, the same in each run */
		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		one = random % churn->count;
		other = (random >> 32) % churn->count;
		if (one != other)
			churn->changes += swap(churn->fixture, churn->tids[one], churn->tids[other]);
	}
	return NULL;
}

struct fixture_churn *fixture_churn_start(struct fixture *fixture, const pid_t *tids, size_t count)
{
	struct fixture_churn *started = memory_allocate_zero(1, sizeof(*started));

	started->fixture = fixture;
	started->tids = tids;
	started->count = count;
	if (pthread_create(&started->thread, NULL, churn, started) != 0) {
		free(started);
		return NULL;
	}
	return started;
}

uint64_t fixture_churn_end(struct fixture_churn *churn)
{
	uint64_t changes;

	atomic_store(&churn->ended, true);
	pthread_join(churn->thread, NULL);
	changes = churn->changes;
	free(churn);
	return changes;
}
