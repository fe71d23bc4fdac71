/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_SQLITE_READER_H
#define CTOP_SQLITE_READER_H

#include <sqlite3.h>
#include <stdbool.h>

/*
 * How SQLite reads a file that somebody else owns, and may write at this moment: a VFS
 * (sqlite.org/vfs.html) that never writes, locks or maps anything.
 *
 * SQLite maps the `-shm` file, and whoever may write it can truncate it, which ends every reader with SIGBUS.
 * So the index of the write-ahead log lies in memory of our own and is built from the log, as after a crash.
 * Nobody else knows that we read: the writer may move frames from the log to the file meanwhile. It does so
 * only with transactions that are in the log, so a reader whose last transaction is still the last one in the
 * log has seen one consistent state; sqlite_reader_is_current() says whether it is, after each step.
 */

/* The name of the VFS for sqlite3_open_v2(); NULL: SQLite has no VFS at all. */
const char *sqlite_reader_vfs(void);

/* Whether nothing was written since the connection's present transaction, or the last one, began to read. */
bool sqlite_reader_is_current(sqlite3 *connection);

#endif
