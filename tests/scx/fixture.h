/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_TEST_SCX_FIXTURE_H
#define CTOP_TEST_SCX_FIXTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "context.h"

/*
 * Contexts of threads as sched_ext schedulers keep them, on a kernel that need not have sched_ext: an object
 * of BPF programs and maps (context.bpf.c) whose programs run when they are called here. Needs CAP_SYS_ADMIN,
 * and Linux 6.9 for arenas.
 */

enum fixture_layout {
	FIXTURE_DIRECT, /* the storage is the context */
	FIXTURE_BEFORE, /* the id stands before it, in an arena */
	FIXTURE_AFTER,  /* the id stands after it */
	FIXTURE_RUSTY,  /* before it, under other names */
	FIXTURE_LAYOUTS
};

/* Fails the test with the sentence in `error` where a call has failed. */
#define assert_done(call)                                                                                    \
	do {                                                                                                 \
		if ((call) < 0)                                                                              \
			fail_msg("%s", error.text);                                                          \
	} while (0)

struct fixture_options {
	uint32_t root_children; /* nodes below the root that fill side by side, at most CONTEXT_SPREAD_MAX; 0
				   is 1 */
	bool free_at_exit;      /* a thread that ends leaves its context; else its slot stays in use */
	bool keep_ids;          /* freed slots keep id and context, as in some released allocators, and the
				   storage goes first; not in FIXTURE_DIRECT */
};

/* Their ids for bpf(2); 0 for those that the layout lacks. */
struct fixture_ids {
	uint32_t program; /* one of the object's */
	uint32_t btf;     /* the types of all its programs */
	uint32_t storage; /* map of what the threads have */
	uint32_t arena;
	uint32_t data; /* map of the variables, the allocators among them */
};

struct fixture_context {
	union sdt_id id;         /* as the thread's storage has it */
	union sdt_id element_id; /* as the element has it */
	uint64_t element;        /* where the storage points to; 0 in FIXTURE_DIRECT */
	struct task_ctx context;
};

struct fixture;

/* As the tests and the command line of scheduler_like name it. */
const char *fixture_layout_name(enum fixture_layout layout);

/* False with the reason where no contexts can be made, so that tests of them are skipped. */
bool fixture_works(struct error *error);

/*
 * Loads programs and maps. The arena is mapped into the process, as schedulers have it. Returns 0, or a
 * negative errno with a sentence. fixture_close() ends it.
 */
int fixture_open(struct fixture **ret_fixture, enum fixture_layout layout,
		 const struct fixture_options *options, struct error *error);

/* Ends all programs and maps but those that somebody else holds; NULL is accepted. */
void fixture_close(struct fixture *fixture);

enum fixture_layout fixture_layout(const struct fixture *fixture);
const struct fixture_ids *fixture_ids(const struct fixture *fixture);

/* The ids of all maps that its programs use; `*ret_count` of them. */
uint32_t *fixture_maps(struct fixture *fixture, size_t *ret_count);

/* The name of the map of storages, as schedulers call it. */
const char *fixture_storage_name(const struct fixture *fixture);

/*
 * All that follow return 0, or a negative errno with a sentence that names the thread: -ESRCH (none), -EEXIST
 * (has a context), -ENOENT (has none), -ENOMEM.
 */

/* Gives a thread a context, takes it away. */
int fixture_give(struct fixture *fixture, pid_t tid, struct error *error);
int fixture_take(struct fixture *fixture, pid_t tid, struct error *error);

/* As when a thread has run: adds to its run time, and follows its nice value. */
int fixture_run(struct fixture *fixture, pid_t tid, uint64_t nanoseconds, struct error *error);

/* A thread's context, read by a program of the object. */
int fixture_look(struct fixture *fixture, pid_t tid, struct fixture_context *ret_context,
		 struct error *error);

/* Lets a thread's storage point to `address`, which the owner of an arena would not do. Not in
 * FIXTURE_DIRECT. */
int fixture_point(struct fixture *fixture, pid_t tid, uint64_t address, struct error *error);

/* Lets all slots that were freed be used again; FIXTURE_AFTER keeps the last 64 back. */
int fixture_settle(struct fixture *fixture, struct error *error);

/* --- the arena, which FIXTURE_DIRECT lacks --- */

/*
 * The number of pages of the arena: those that the kernel has mapped for it. The map itself accounts for
 * none, neither in fdinfo nor otherwise (arena_map_mem_usage() in kernel/bpf/arena.c).
 */
int fixture_pages(struct fixture *fixture, uint32_t *ret_pages, struct error *error);

/* Whether it has the page at `address`. */
int fixture_has_page(struct fixture *fixture, uint64_t address, bool *ret_has, struct error *error);

/* An address of it, in a page that was never used. */
uint64_t fixture_unused_address(const struct fixture *fixture);

/* Its address in its owner, and its resident part there (smaps), in KiB. */
uint64_t fixture_arena_address(const struct fixture *fixture);
int fixture_resident(const struct fixture *fixture, uint64_t *ret_kib, struct error *error);

/* --- threads to give contexts to --- */

struct fixture_threads {
	pid_t *tids;
	size_t count;
	struct fixture_crowd *crowd;
};

/* Starts threads of this process that sleep; returns when all have their numbers. fixture_threads_end() ends
 * them; the kernel has none of them when it returns. */
int fixture_threads_start(struct fixture_threads *threads, size_t count, struct error *error);
void fixture_threads_end(struct fixture_threads *threads);

/* A fixture, and threads of this process that each have a context of it. */
struct fixture_scene {
	struct fixture *fixture;
	struct fixture_threads threads;
};

/* Returns 0, or a negative errno with a sentence; then nothing is left of it. */
int fixture_scene_begin(struct fixture_scene *scene, enum fixture_layout layout, size_t threads,
			const struct fixture_options *options, struct error *error);
void fixture_scene_end(struct fixture_scene *scene);

/*
 * Another thread takes contexts of two of `tids` at a time and gives each the other's slot, as fast as it
 * can, until fixture_churn_end(), which returns how many slots changed hands.
 */
struct fixture_churn;
struct fixture_churn *fixture_churn_start(struct fixture *fixture, const pid_t *tids, size_t count);
uint64_t fixture_churn_end(struct fixture_churn *churn);

#endif
