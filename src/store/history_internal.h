/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_HISTORY_INTERNAL_H
#define CTOP_HISTORY_INTERNAL_H

#include "base/hash.h"
#include "day_file.h"
#include "history.h"
#include "history_files.h"

/* What the files of the reader share, for no one else. */

enum {
	HISTORY_CACHE = 20, /* decoded rounds that are kept */
	/* The same in threads: what a round takes goes with them. */
	HISTORY_CACHE_THREADS = 200000,
	HISTORY_CACHE_LEAST = 4,
	HISTORY_OPEN_MAX = 64,    /* files at a time */
	HISTORY_BOOTS_MAX = 1024, /* later ones are not known */
	HISTORY_GAPS_MAX = 1024,  /* a file with more of them is given up */
};

/* A file of a day. */
struct history_entry {
	uint32_t day;
	uint64_t bytes;
	struct day_file file;
	int status; /* why it cannot be read; 0: it can, or was not needed so far */
	const char *why;
	bool is_empty; /* it had nothing at all when it was opened */
};

/* Rounds that cannot be read, by id: from the first to before the last. */
struct history_gap {
	uint32_t day;
	int64_t from, to;
	uint64_t rounds;
	const char *why;
};

/* A decoded round. */
struct history_cached {
	struct snapshot *snapshot; /* a reference; NULL: none */
	uint32_t day;
	int64_t id;
	uint64_t used; /* clock of its last use */
};

struct history {
	char *directory;
	struct history_entry *entries; /* ascending by day */
	size_t entry_count, entry_capacity;
	size_t open_count;
	struct history_boot *boots;
	size_t boot_count, boot_capacity;
	struct hash_map boot_of;  /* day and the file's id: index in `boots` */
	struct history_gap *gaps; /* ascending by day and id, apart */
	size_t gap_count, gap_capacity;
	struct history_cached cache[HISTORY_CACHE];
	uint64_t cache_clock;
	struct history_day *days;   /* of history_days() */
	struct history_hole *holes; /* of history_damage() */
	struct arena texts;         /* of boots and of what is wrong */
};

/* --- history.c --- */

/* Lists the directory again: new files are there, removed ones are not. */
int history_refresh(struct history *history, struct error *error);

/* The file of a number, open; NULL with an error where it cannot be read or is gone. */
struct history_entry *history_entry_of(struct history *history, uint32_t day, int *ret_result,
				       struct error *error);

/* Opens a file unless it is open: 0, or why it cannot be read, which then is a hole. */
int history_open_entry(struct history *history, struct history_entry *entry, struct error *error);

/* As day_file_seek(), past what is damaged. */
int history_seek(struct history *history, struct history_entry *entry, enum day_file_statement which,
		 int64_t id, struct day_file_row *ret_row, struct error *error);

/* --- history_damage.c --- */

/* Notes that the rounds from one on to before another are damaged. */
void history_note_gap(struct history *history, const struct history_gap *gap);

/* The hole that a round is in, or NULL. */
const struct history_gap *history_gap_at(const struct history *history, uint32_t day, int64_t id);

/* Whether some round of a file is damaged. */
bool history_has_gap(const struct history *history, uint32_t day);

/*
 * Notes that a round cannot be decoded: with it all that is told from it. Returns the id of the next round
 * that can be.
 */
void history_note_damaged(struct history *history, struct history_entry *entry, int64_t id, const char *why);

#endif
