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

const struct history_boot *history_boot(const struct history *history, const struct history_round *round)
{
	static const struct history_boot unknown = {{"", "", "", "", ""}};

	return &unknown;
}

bool history_is_one_start(const struct history *history, const struct history_round *a,
			  const struct history_round *b)
{
	return a->boot == b->boot;
}

const struct history_day *history_days(struct history *history, size_t *ret_count)
{
	*ret_count = 0;
	return NULL;
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
