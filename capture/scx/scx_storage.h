/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_SCX_STORAGE_H
#define CTOP_SCX_STORAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "capture/bpf/bpf_object.h"
#include "metric/feature.h"
#include "scx_discovery.h"
#include "scx_types.h"
#include "sdt_walk.h"

/*
 * From the maps of a scheduler to where its contexts are: in task storage itself, or in an arena to which the
 * task storage points.
 */
struct scx_storage {
	int map;   /* descriptor of the task storage */
	int arena; /* of the arena, -1 where the contexts are in the task storage */
	/* For contexts in an arena, offsets in bytes: */
	uint32_t id;         /* in the value of the task storage: id of the element, 64 bits */
	uint32_t pointer;    /* there: to the element */
	uint32_t element_id; /* from where the pointer points: the element's own id */
	uint32_t context;    /* from there too */
	uint32_t size;       /* of a context */
	struct btf *btf;     /* types of the scheduler's programs */
	struct sdt_layout layout;
	struct scx_types_choice choice; /* of the type of a context, in `btf` */
	const char *allocator_name;     /* in `btf` */
	uint8_t *allocator;             /* as it was when this was made, layout.allocator_size bytes */
};

/* A member of the value of a task storage that points to contexts elsewhere. */
struct scx_storage_value {
	uint32_t id, pointer; /* offsets */
};

/*
 * Ranks a task storage by its name and that of its value's type, the largest being best for contexts:
 * the user's choice; the names that allocators give it; a name or type that begins with "task_ctx" or
 * "task_data"; any other. The larger value decides between equals. Pure.
 */
unsigned int scx_storage_rank(const char *map, const char *type, const struct context_choice *choice);

/*
 * Whether values of this type hold an id and a pointer instead of a context: a member of type `sdt_id` (or
 * "tid" of 64 bits) and a pointer or 64 bits, "data". Pure.
 */
bool scx_storage_points(const struct btf *btf, uint32_t type, struct scx_storage_value *ret_value);

/*
 * Opens the task storage and what goes with it, with CAP_SYS_ADMIN and CAP_BPF. The result is on, or tells
 * why not in words that `arena` owns; then nothing is open. `choice` may be NULL. To be ended with
 * scx_storage_close().
 */
struct feature_result scx_storage_open(const struct scx_run *run, const struct context_choice *choice,
				       struct arena *arena, struct scx_storage *ret_storage);
void scx_storage_close(struct scx_storage *storage);

/* Describes the scheduler and its contexts; one reference. */
struct task_field_owner *scx_storage_describe(const struct scx_storage *storage, const struct scx_run *run);

#endif
