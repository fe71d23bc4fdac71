/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_SCX_PROGRAM_H
#define CTOP_SCX_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/bpf.h>

#include "base/arena.h"
#include "capture/bpf/bpf_object.h"
#include "metric/feature.h"
#include "scx_storage.h"

/*
 * The BPF programs that read contexts, put together instruction by instruction for the maps and types that
 * were found: no compiler is needed, and the kernel checks little (Documentation/bpf/standardization/
 * instruction-set.rst of the kernel).
 */

/* The head of one task's record; the bytes of its context follow. Ids are those of the initial pid
 * namespace. */
struct scx_record {
	uint32_t tid, tgid;
	uint64_t start_boottime_ns; /* start_boottime of struct task_struct */
	/*
	 * For contexts in an arena: the element's id according to the task storage and according to the
	 * element, before and after the context was copied; id_after differs where the task has another
	 * storage by then, or none. All four are 0 for contexts in task storage itself, which nobody else
	 * can have.
	 */
	uint64_t id, element_id, id_after, element_id_after;
};

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

enum {
	/* seq_write() of fs/seq_file.c never fills its buffer, and records are multiples of 8 bytes */
	SCX_RECORD_SIZE_MAX = BPF_ITERATOR_READ_SIZE - 8,
	SCX_CHUNK_SIZE = 512, /* that one run of the program for arenas reads */
	SCX_INSTRUCTIONS_MAX = 2048,
};

struct scx_code {
	struct bpf_insn instructions[SCX_INSTRUCTIONS_MAX];
	size_t count;
};

/* The size of a record with its context, bytes. */
size_t scx_record_size(uint32_t context_size);

/* Puts together the program that writes a record of each task by way of `room`, a map of one such record.
 * Pure. */
void scx_program_assemble(const struct scx_kernel *kernel, const struct scx_storage *storage, int room,
			  struct scx_code *ret_code);

/*
 * The same for one that copies SCX_CHUNK_SIZE bytes of an arena to `room`, from the address that is its
 * context. Pure.
 */
void scx_program_assemble_chunk(int arena, int room, struct scx_code *ret_code);

/* Loaded; descriptors, or -1. */
struct scx_program {
	int room, program, link;
	void *mapped; /* the room of chunks, or NULL */
};

/* Loads the program and attaches it to the iterator over all tasks. The result's words are owned by `arena`.
 */
struct feature_result scx_program_load(const struct scx_kernel *kernel, const struct scx_storage *storage,
				       struct arena *arena, struct scx_program *ret_program);

/* Loads what reads chunks of an arena. Returns 0 or a negative errno. */
int scx_program_load_chunk(int arena, struct scx_program *ret_program);

/* Copies up to SCX_CHUNK_SIZE bytes at an address of the arena. What has no page reads as zero. Returns 0 or
 * a negative errno. */
int scx_program_read_chunk(const struct scx_program *program, uint64_t address, void *bytes, size_t size);

void scx_program_close(struct scx_program *program);

/* The last line of a verifier's log that is not statistics, or "". Pure. */
const char *scx_program_find_words(char *log);

#endif
