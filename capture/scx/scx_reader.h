/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_SCX_READER_H
#define CTOP_SCX_READER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/error.h"
#include "metric/feature.h"
#include "snapshot/task_fields.h"

/*
 * The contexts that a sched_ext scheduler keeps for tasks, read in one pass over all tasks by a BPF program
 * that is assembled for its maps (docs/scx.md). No memory of the scheduler is mapped or read in another way:
 * that would allocate pages in its arena. A reader holds the scheduler's maps and so its memory; it is to be
 * closed as soon as the scheduler has gone.
 */
struct scx_reader;

/* A scheduler that runs: where its contexts are is found out from its maps. */
struct scx_run {
	const char *name;      /* that it gave its operations (/sys/kernel/sched_ext/root/ops) */
	uint64_t enable_seq;   /* /sys/kernel/sched_ext/enable_seq */
	uint64_t loaded_at_ns; /* CLOCK_BOOTTIME, 0 when unknown */
	const uint32_t *maps;  /* ids of all maps that its programs use */
	size_t map_count;
};

/* What the user chooses where a rule would choose; NULL for what he leaves to it. */
struct scx_choice {
	const char *type; /* name of the contexts' struct or typedef */
	const char *map;  /* name of the task storage, as the kernel has it: at most 15 bytes */
};

/* What was read of one task that has a context; the bytes of that follow. Ids are those of the initial pid
 * namespace. */
struct scx_record {
	uint32_t tid, tgid;
	uint64_t start_boottime_ns; /* start_boottime of struct task_struct */
	/*
	 * Of contexts in an arena: by which element the task storage says that it has, and which the element
	 * is, both before the context was copied and after it; id_after is another where the task has another
	 * storage by then, or none. All four are 0 for contexts in task storage itself, which are of nobody
	 * else.
	 */
	uint64_t id, element_id, id_after, element_id_after;
};

/* One pass; valid until the next one. */
struct scx_reading {
	const unsigned char *records;
	size_t count;
	size_t stride; /* bytes from one record to the next, a multiple of 8 */
};

/*
 * The scheduler that runs, by /sys/kernel/sched_ext/root/ops, with what its programs tell: allocates
 * `*ret_maps`, which the caller frees, and fills `ret_run` but for enable_seq; `name` stays the caller's.
 * Takes CAP_SYS_ADMIN, CAP_BPF and CAP_PERFMON. `*ret_result` is on, or tells why not in words that `arena`
 * owns; it is unknown where the scheduler was not found, as just before it is there in full. Returns whether
 * it is on.
 */
bool scx_reader_discover(const char *name, struct arena *arena, struct scx_run *ret_run, uint32_t **ret_maps,
			 struct feature_result *ret_result);

/*
 * Finds the contexts and loads the program, with the same rights, which are not needed afterwards. `choice`
 * may be NULL. `*ret_result` is on, or tells why not and what would help, in words that `arena` owns. Returns
 * the reader, to be ended with scx_reader_close(), or NULL.
 */
struct scx_reader *scx_reader_open(const struct scx_run *run, const struct scx_choice *choice,
				   struct arena *arena, struct feature_result *ret_result);
void scx_reader_close(struct scx_reader *reader);

/* The scheduler and the type of its contexts; the reader's reference. */
struct task_field_owner *scx_reader_scheduler(const struct scx_reader *reader);

/* Reads the contexts of all tasks; those without one give nothing. `cancel` may be NULL. Returns 0 or a
 * negative errno (-ECANCELED). */
int scx_reader_read(struct scx_reader *reader, const atomic_bool *cancel, struct scx_reading *ret_reading);

static inline const struct scx_record *scx_reading_record(const struct scx_reading *reading, size_t index)
{
	return (const void *)(reading->records + index * reading->stride);
}

static inline const uint8_t *scx_record_context(const struct scx_record *record)
{
	return (const uint8_t *)(record + 1);
}

/* Whether the context was the task's own from before it was copied until after it. */
static inline bool scx_record_is_own(const struct scx_record *record)
{
	return record->id == record->element_id && record->id == record->id_after &&
	       record->id == record->element_id_after;
}

/*
 * Appends all contexts of the allocator, of tasks that live and others, as text, found by walking its tree
 * (sdt_walk.h) through reads of a BPF program, and rendered by their type. Takes CAP_BPF and CAP_PERFMON.
 * Returns 0, or a negative errno with a sentence: -ENOTSUP where contexts are in no arena.
 */
int scx_reader_walk(struct scx_reader *reader, struct buffer *text, struct error *error);

struct btf;
struct sdt_walk;

/* The same as elements, to be given up with sdt_walk_release() while the reader is open. */
int scx_reader_walk_elements(struct scx_reader *reader, struct sdt_walk *ret_walk, struct error *error);

/* The types of the scheduler; the reader's. */
const struct btf *scx_reader_types(const struct scx_reader *reader);

#endif
