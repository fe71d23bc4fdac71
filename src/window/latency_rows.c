/* SPDX-License-Identifier: GPL-2.0-only */
#include "latency_rows.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/memory.h"

enum {
	ANY_RECORD = UINT32_MAX
};

/* Threads of one process and, unless it is ANY_RECORD, of the names of one record. */
struct kin {
	uint32_t row;           /* of the first that has one; UINT32_MAX: none has */
	bool hidden, elsewhere; /* some have none, and another one */
};

struct latency_rows {
	struct latency_rows_options options;
	struct hash_map kin_of; /* index in `kin` by record and process */
	struct kin *kin;
	size_t kin_count, kin_capacity;
	struct latency_row_record *records;
	size_t record_count, record_capacity;
};

static uint64_t key_of(uint32_t record, uint32_t pid)
{
	return (uint64_t)record << 32 | pid;
}

static void add_thread(struct latency_rows *rows, uint32_t record, uint32_t pid, uint32_t row)
{
	const uint64_t key = key_of(record, pid);
	struct kin *kin;
	uint32_t index;

	if (!hash_map_get(&rows->kin_of, key, &index)) {
		index = (uint32_t)rows->kin_count;
		hash_map_set(&rows->kin_of, key, index);
		*MEMORY_APPEND(rows->kin, rows->kin_count,
			       rows->kin_capacity) = (struct kin){.row = UINT32_MAX};
	}
	kin = &rows->kin[index];
	if (row == UINT32_MAX)
		kin->hidden = true;
	if (row == UINT32_MAX || row == kin->row)
		return;
	kin->elsewhere = kin->row != UINT32_MAX;
	if (!kin->elsewhere)
		kin->row = row;
	if (record != ANY_RECORD)
		*MEMORY_APPEND(rows->records, rows->record_count,
			       rows->record_capacity) = (struct latency_row_record){row, record};
}

static int order_records(const void *left, const void *right)
{
	const struct latency_row_record *a = left, *b = right;

	return a->row != b->row ? (a->row > b->row) - (a->row < b->row)
				: (a->record > b->record) - (a->record < b->record);
}

static void join_records(struct latency_rows *rows)
{
	size_t count = 0;

	if (rows->record_count != 0)
		qsort(rows->records, rows->record_count, sizeof(*rows->records), order_records);
	for (size_t i = 0; i < rows->record_count; i++) {
		if (count == 0 || order_records(&rows->records[count - 1], &rows->records[i]) != 0)
			rows->records[count++] = rows->records[i];
	}
	rows->record_count = count;
}

struct latency_rows *latency_rows_create(const struct latency_rows_options *options)
{
	struct latency_rows *rows = memory_allocate_zero(1, sizeof(*rows));
	const struct snapshot *now = options->now;

	rows->options = *options;
	for (size_t i = 0; i < now->thread_count; i++) {
		const uint32_t record = options->record_of_triple[now->triple[i]];

		if (record != UINT32_MAX)
			add_thread(rows, record, now->tgid[i], options->row_of_thread[i]);
		add_thread(rows, ANY_RECORD, now->tgid[i], options->row_of_thread[i]);
	}
	join_records(rows);
	return rows;
}

void latency_rows_release(struct latency_rows *rows)
{
	if (rows == NULL)
		return;
	hash_map_release(&rows->kin_of);
	free(rows->kin);
	free(rows->records);
	free(rows->options.row_of_record);
	free(rows->options.gone);
	free(rows);
}

uint32_t latency_rows_find(const struct latency_rows *rows, uint32_t record, uint32_t pid, bool *ret_unsure)
{
	const uint32_t row = rows->options.row_of_record[record];
	const struct kin *kin;
	uint32_t index;

	*ret_unsure = false;
	if (hash_map_get(&rows->kin_of, key_of(record, pid), &index)) {
		kin = &rows->kin[index];
		*ret_unsure = kin->hidden || kin->elsewhere;
		return kin->row;
	}
	if (row == UINT32_MAX)
		return UINT32_MAX;
	if (!hash_map_get(&rows->kin_of, key_of(ANY_RECORD, pid), &index)) {
		if (rows->options.gone != NULL && !rows->options.gone[record])
			return UINT32_MAX;
		return rows->options.by_thread ? rows->options.ended_row : row;
	}
	/* of threads that have ended, or have another name now, in a process that is there */
	kin = &rows->kin[index];
	*ret_unsure = kin->hidden;
	return kin->row == UINT32_MAX || rows->options.by_thread ? kin->row : row;
}

const struct latency_row_record *latency_rows_records(const struct latency_rows *rows, size_t *ret_count)
{
	*ret_count = rows->record_count;
	return rows->records;
}
