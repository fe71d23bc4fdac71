/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_TEST_SCX_READING_H
#define CTOP_TEST_SCX_READING_H

#include <string.h>

#include "capture/scx/scx_reader.h"
#include "tests/cmocka_include.h"

/* Looking into a reading of contexts. */

/* The record of a thread, or NULL; fails when it has two. */
static inline const struct scx_record *find_record(const struct scx_reading *reading, pid_t tid)
{
	const struct scx_record *found = NULL;

	for (size_t i = 0; i < reading->count; i++) {
		const struct scx_record *record = scx_reading_record(reading, i);

		if (record->tid != (uint32_t)tid)
			continue;
		assert_null(found);
		found = record;
	}
	return found;
}

static inline const struct task_field_member *find_member(const struct task_field_owner *scheduler,
							  const char *name)
{
	for (size_t i = 0; i < scheduler->member_count; i++) {
		if (strcmp(scheduler->members[i].name, name) == 0)
			return &scheduler->members[i];
	}
	fail_msg("contexts of %s have no %s", scheduler->name, name);
	return NULL;
}

/* A member of a record's context that is a number. */
static inline uint64_t read_member(const struct task_field_owner *scheduler, const struct scx_record *record,
				   const char *name)
{
	return task_field_read(find_member(scheduler, name), scx_record_context(record), 0);
}

#endif
