/* SPDX-License-Identifier: GPL-2.0-only */
/* The part of session_pair.h that the screen calls, of a session that never compares. */
#include <string.h>

#include "compare/compare.h"

const struct pair_column_entry pair_columns[PAIR_COLUMN_COUNT];

void session_compare(struct session *session, struct snapshot *before)
{
	(void)session;
	snapshot_release(before);
}

bool session_is_pair(const struct session *session)
{
	(void)session;
	return false;
}

void session_swap(struct session *session)
{
	(void)session;
}

bool session_is_swapped(const struct session *session)
{
	(void)session;
	return false;
}

const struct snapshot *session_side(const struct session *session, enum diff_side side)
{
	(void)session;
	(void)side;
	return NULL;
}

enum pair_boot session_pair_boot(const struct session *session)
{
	(void)session;
	return PAIR_BOOT_UNKNOWN;
}

const struct comparability *session_pair_comparability(struct session *session)
{
	(void)session;
	return NULL;
}

uint64_t session_pair_distance_ns(const struct session *session)
{
	(void)session;
	return 0;
}

bool session_pair_threads(struct session *session, struct pair_threads *ret_threads)
{
	(void)session;
	(void)ret_threads;
	return false;
}

void session_pair_needs(const struct view *view, source_set *ret_sources, bool *ret_cgroup_records,
			bool *ret_smaps)
{
	(void)view;
	*ret_sources = 0;
	*ret_cgroup_records = *ret_smaps = false;
}

const char *session_row_subject(const struct session *session, const struct table_row *row,
				size_t *ret_length)
{
	(void)session;
	*ret_length = row->key_length;
	return row->key;
}

void session_pair_append_key(enum column metric, const char *subject, size_t subject_length,
			     struct buffer *buffer)
{
	(void)metric;
	buffer_append(buffer, subject, subject_length);
}

void session_pair_append_note(struct session *session, const struct view *view, const struct table_row *row,
			      struct buffer *buffer)
{
	(void)session;
	(void)view;
	(void)row;
	(void)buffer;
}

struct table *session_evidence_of(const struct snapshot *snapshot)
{
	(void)snapshot;
	return NULL;
}

void session_evidence_lines_of(const struct snapshot *snapshot, struct buffer *ret_lines)
{
	(void)snapshot;
	(void)ret_lines;
}

bool session_pair_by_threads(struct session *session)
{
	(void)session;
	return false;
}

int session_pair_set_by_threads(struct session *session, bool by_threads, struct error *error)
{
	(void)session;
	(void)by_threads;
	(void)error;
	return 0;
}
