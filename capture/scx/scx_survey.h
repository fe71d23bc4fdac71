/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_SCX_SURVEY_H
#define CTOP_SCX_SURVEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "scx_reader.h"

/*
 * Surveys a scheduler once, for `ctop scx`: the maps of its programs, and all contexts of its allocator,
 * including those of dead tasks.
 */

struct scx_survey_map {
	uint32_t id;      /* of bpf(2) */
	const char *kind; /* "task_storage", "arena", "array" … */
	const char *name; /* at most 15 bytes, as the kernel has it */
	uint32_t value_size;
};

/* A zeroed one is empty. */
struct scx_survey {
	struct arena arena; /* owns everything */
	struct scx_survey_map *maps;
	size_t map_count;
	bool is_walked; /* what follows is there */
	struct sdt_walk walk;
	size_t dead; /* elements that no living task has */
};

/*
 * Surveys a scheduler, with the rights that scx_reader_open() takes. `choice` may be NULL. Returns 0, or a
 * negative errno with a sentence where its contexts could not be walked: -ENOTSUP where they are in no arena;
 * the maps are there all the same. Free with scx_survey_release() in any case.
 */
int scx_survey_take(const struct scx_run *run, const struct context_choice *choice, bool walk,
		    struct scx_survey *ret_survey, struct error *error);

/*
 * The same of the one that runs under this name and was loaded at that time, as a snapshot of just before
 * says, with the rights that scx_reader_discover() takes too. -ESTALE where another one runs by now.
 */
int scx_survey_find(const struct task_field_owner *scheduler, const struct context_choice *choice, bool walk,
		    struct scx_survey *ret_survey, struct error *error);
void scx_survey_release(struct scx_survey *survey);

#endif
