/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <stddef.h>

#include "history.h"
#include "history_writer.h"

/* Without SQLite nothing can be opened, so only the functions that open one are ever called. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

static int refuse(struct error *error)
{
	return error_set(error, -ENOTSUP,
			 "this ctop was built without SQLite and has no history; build it with libsqlite3");
}

int history_open(const char *directory, struct history **ret_history, struct error *error)
{
	return refuse(error);
}

void history_close(struct history *history)
{
}

const char *history_directory(const struct history *history)
{
	return "";
}

int history_first(struct history *history, struct history_round *ret_round, struct error *error)
{
	return refuse(error);
}

int history_last(struct history *history, struct history_round *ret_round, struct error *error)
{
	return refuse(error);
}

int history_find(struct history *history, uint64_t unix_ns, enum history_side side,
		 struct history_round *ret_round, struct error *error)
{
	return refuse(error);
}

int history_step(struct history *history, const struct history_round *from, int64_t rounds,
		 struct history_round *ret_round, struct error *error)
{
	return refuse(error);
}

bool history_adjoins(const struct history *history, const struct history_round *before,
		     const struct history_round *after)
{
	return true;
}

int history_range(struct history *history, uint64_t from_unix_ns, uint64_t to_unix_ns, size_t limit,
		  struct history_round **ret_rounds, size_t *ret_count, struct error *error)
{
	return refuse(error);
}

const struct history_boot *history_boot(const struct history *history, const struct history_round *round)
{
	static const struct history_boot unknown = {"", "", "", "", ""};

	return &unknown;
}

int history_read(struct history *history, const struct history_round *round, struct snapshot **ret_snapshot,
		 struct error *error)
{
	return refuse(error);
}

int history_read_gone(struct history *history, const struct history_round *round, struct snapshot **ret_gone,
		      double *ret_left_ns, struct error *error)
{
	return refuse(error);
}

const struct history_day *history_days(struct history *history, size_t *ret_count)
{
	*ret_count = 0;
	return NULL;
}

int history_marks_read(struct history *history, uint64_t from_unix_ns, uint64_t to_unix_ns,
		       struct history_marks *ret_marks, struct error *error)
{
	*ret_marks = (struct history_marks){0};
	return refuse(error);
}

void history_marks_release(struct history_marks *marks)
{
	*marks = (struct history_marks){0};
}

int history_next_mark(struct history *history, uint64_t unix_ns, bool before, struct history_marks *ret_marks,
		      struct error *error)
{
	*ret_marks = (struct history_marks){0};
	return refuse(error);
}

const struct history_hole *history_damage(struct history *history, bool search, size_t *ret_count)
{
	*ret_count = 0;
	return NULL;
}

int history_writer_open(const struct history_writer_options *options, struct history_writer **ret_writer,
			struct error *error)
{
	return refuse(error);
}

int history_writer_add(struct history_writer *writer, struct snapshot *round, struct error *error)
{
	return refuse(error);
}

int history_writer_mark(struct history_writer *writer, const struct history_mark *mark, struct error *error)
{
	return refuse(error);
}

const struct history_writer_state *history_writer_state(const struct history_writer *writer)
{
	static const struct history_writer_state none;

	return &none;
}

const char *history_writer_take_notice(struct history_writer *writer)
{
	return NULL;
}

void history_writer_close(struct history_writer *writer)
{
}
