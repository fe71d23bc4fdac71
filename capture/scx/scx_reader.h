/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_SCX_READER_H
#define CTOP_SCX_READER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"
#include "metric/feature.h"
#include "scx_program.h"
#include "scx_storage.h"
#include "snapshot/task_fields.h"

/*
 * The contexts that a sched_ext scheduler keeps for tasks, read in one pass over all tasks by a BPF program
 * that is assembled for its maps (docs/reference/scx.md). No memory of the scheduler is mapped or read in
 * another way: that would allocate pages in its arena. A reader holds the scheduler's maps and so its memory;
 * it is to be closed as soon as the scheduler has gone.
 */
struct scx_reader {
	struct task_field_owner *scheduler; /* and the type of its contexts; the reader's reference */
	struct scx_storage storage;
	struct scx_program program;
	unsigned char *bytes; /* of a reading */
	size_t bytes_size;
};

/* One pass; valid until the next one. */
struct scx_reading {
	const unsigned char *records;
	size_t count;
	size_t stride; /* bytes from one record to the next, a multiple of 8 */
};

/*
 * Finds the scheduler that runs, by its name of /sys/kernel/sched_ext/root/ops, and fills `ret_run` but for
 * enable_seq; `name` stays the caller's, who frees ret_run->maps in any case.
 * Takes CAP_SYS_ADMIN, CAP_BPF and CAP_PERFMON. `*ret_result` is on, or tells why not in words that `arena`
 * owns; it is unknown where the scheduler was not found, as just before it is there in full. Returns whether
 * it is on.
 */
bool scx_reader_discover(const char *name, struct arena *arena, struct scx_run *ret_run,
			 struct feature_result *ret_result);

/*
 * Finds the contexts and loads the program, with the same rights, which are not needed afterwards. `choice`
 * may be NULL. `*ret_result` is on, or tells why not and what would help, in words that `arena` owns. Returns
 * the reader, to be ended with scx_reader_close(), or NULL.
 */
struct scx_reader *scx_reader_open(const struct scx_run *run, const struct context_choice *choice,
				   struct arena *arena, struct feature_result *ret_result);
void scx_reader_close(struct scx_reader *reader);

/* Reads the contexts of all tasks; those without one give nothing. `cancel` may be NULL. Returns 0 or a
 * negative errno (-ECANCELED). */
int scx_reader_read(struct scx_reader *reader, const atomic_bool *cancel, struct scx_reading *ret_reading);

static inline const struct scx_record *scx_reading_record(const struct scx_reading *reading, size_t index)
{
	return (const void *)(reading->records + index * reading->stride);
}

/*
 * Walks all contexts of the allocator, of tasks that live and others, through reads of a BPF program, and
 * makes their texts. Takes CAP_BPF and CAP_PERFMON. Returns 0, or a negative errno with a sentence: -ENOTSUP
 * where contexts are in no arena. The walk has texts of the reader, and is given up with sdt_walk_release()
 * before it.
 */
int scx_reader_walk(struct scx_reader *reader, struct sdt_walk *ret_walk, struct error *error);

#endif
