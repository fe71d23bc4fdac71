/* SPDX-License-Identifier: GPL-2.0-only */
#include "frozen.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"

enum {
	GONE_MAX = 1000,
};

#define NOWHERE UINT32_MAX

/* A row of the order: what is shown of it when it is gone. */
struct frozen_row {
	char *key, *label; /* owned */
	size_t key_length, label_length;
	uint32_t tid, tgid;
	uint32_t place; /* in the table being put in order, NOWHERE when it is gone */
};

/* Rows of a table by the hash of their keys. */
struct row_index {
	struct hash_map first; /* by hash: the first row of the chain */
	uint32_t *next;        /* by row */
	bool *taken;
};

static void release_row(struct frozen_row *row)
{
	free(row->key);
	free(row->label);
}

void frozen_release(struct frozen *frozen)
{
	for (size_t i = 0; i < frozen->count; i++)
		release_row(&frozen->rows[i]);
	free(frozen->rows);
	*frozen = (struct frozen){0};
}

static void index_rows(struct row_index *index, const struct table *table)
{
	index->next = memory_allocate((table->row_count + 1) * sizeof(*index->next));
	index->taken = memory_allocate_zero(table->row_count + 1, sizeof(*index->taken));
	for (size_t i = table->row_count; i-- > 0;) {
		const uint32_t hash = hash_bytes(table->rows[i].key, table->rows[i].key_length);

		index->next[i] = NOWHERE;
		(void)hash_map_get(&index->first, hash, &index->next[i]);
		hash_map_set(&index->first, hash, (uint32_t)i);
	}
}

static uint32_t find_row(const struct row_index *index, const struct table *table,
			 const struct frozen_row *wanted)
{
	uint32_t row = NOWHERE;

	(void)hash_map_get(&index->first, hash_bytes(wanted->key, wanted->key_length), &row);
	while (row != NOWHERE && (index->taken[row] || table->rows[row].key_length != wanted->key_length ||
				  memcmp(table->rows[row].key, wanted->key, wanted->key_length) != 0))
		row = index->next[row];
	return row;
}

static void add_row(struct frozen *frozen, const struct table_row *row, uint32_t place)
{
	*MEMORY_APPEND(frozen->rows, frozen->count, frozen->capacity) = (struct frozen_row){
		.key = memory_duplicate_bytes(row->key, row->key_length),
		.key_length = row->key_length,
		.label = memory_duplicate_bytes(row->label, row->label_length),
		.label_length = row->label_length,
		.tid = row->tid,
		.tgid = row->tgid,
		.place = place,
	};
}

/* Forgets the rows that have been gone longest in the order, beyond those that stay. */
static void forget_gone(struct frozen *frozen)
{
	size_t gone = 0, kept = 0;

	for (size_t i = 0; i < frozen->count; i++)
		gone += frozen->rows[i].place == NOWHERE;
	for (size_t i = 0; i < frozen->count; i++) {
		if (frozen->rows[i].place == NOWHERE && gone > GONE_MAX) {
			release_row(&frozen->rows[i]);
			gone--;
		} else {
			frozen->rows[kept++] = frozen->rows[i];
		}
	}
	frozen->count = kept;
}

static struct table_row gone_row(struct table *table, const struct frozen_row *frozen, bool mark_gone)
{
	struct table_row row = {
		.key = arena_duplicate(&table->arena, frozen->key, frozen->key_length),
		.key_length = frozen->key_length,
		.label = arena_duplicate(&table->arena, frozen->label, frozen->label_length),
		.label_length = frozen->label_length,
		.tid = frozen->tid,
		.tgid = frozen->tgid,
		.thread = UINT32_MAX,
		.mark = mark_gone ? ROW_MARK_GONE : ROW_MARK_ABSENT,
	};

	table_add_cells(table, &row);
	return row;
}

void frozen_apply(struct frozen *frozen, struct table *table, bool mark_gone)
{
	const bool is_new = frozen->count == 0;
	struct row_index index = {0};
	struct table_row *rows;
	size_t gone = 0;

	index_rows(&index, table);
	for (size_t i = 0; i < frozen->count; i++) {
		frozen->rows[i].place = find_row(&index, table, &frozen->rows[i]);
		if (frozen->rows[i].place != NOWHERE)
			index.taken[frozen->rows[i].place] = true;
	}
	for (size_t i = 0; i < table->row_count; i++) {
		/* one that does nothing is hidden unless it has a place; of one that is gone nothing is new
		 */
		if (!index.taken[i] && table->rows[i].idle)
			table->row_idle++;
		else if (!index.taken[i] && (is_new || table->rows[i].mark != ROW_MARK_GONE))
			add_row(frozen, &table->rows[i], (uint32_t)i);
	}
	forget_gone(frozen);
	rows = memory_allocate((frozen->count + 1) * sizeof(*rows));
	table->row_gone = 0;
	for (size_t i = 0; i < frozen->count; i++) {
		const uint32_t place = frozen->rows[i].place;

		rows[i] = place != NOWHERE ? table->rows[place]
					   : gone_row(table, &frozen->rows[i], mark_gone);
		gone += place == NOWHERE || rows[i].mark == ROW_MARK_GONE;
	}
	free(table->rows);
	table->rows = rows;
	table->row_count = table->row_capacity = table->row_total = frozen->count;
	table->row_gone = gone;
	hash_map_release(&index.first);
	free(index.next);
	free(index.taken);
}
