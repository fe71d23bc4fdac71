/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_TEST_SESSION_FIXTURE_H
#define CTOP_TEST_SESSION_FIXTURE_H

/* clang-format off: cmocka.h needs these before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */

#include "base/memory.h"
#include "session/session.h"

#define MS(n) ((uint64_t)(n)*1000000)

/* Snapshots built in memory, as a capture would hand them over. */

/* A snapshot of a capture that began `seconds` after boot. All sources count as read at that time. */
struct snapshot *fixture_snapshot(double seconds);

/* Adds a thread that started `start_seconds` after boot; its process name is that of `process`. Returns its
 * index. */
size_t fixture_thread(struct snapshot *snapshot, uint32_t tgid, uint32_t tid, const char *process,
		      const char *name, double start_seconds);

/* Puts a thread into a cgroup. */
void fixture_cgroup(struct snapshot *snapshot, size_t thread, const char *path);

/* Sets a metric of a thread. */
void fixture_set(struct snapshot *snapshot, size_t thread, enum metric metric, uint64_t value);

/* Sets a category of text, the policy. */
void fixture_set_text(struct snapshot *snapshot, size_t thread, enum metric metric, const char *text);

/* A session of two rounds, 2 s apart, that `fill` makes (round 0 and 1). */
struct session *fixture_two_rounds(void (*fill)(struct snapshot *snapshot, int round));

/* A view of all groups; release it only where it was narrowed or got a filter. */
struct view fixture_view(enum tab tab, enum window_mode mode, enum axis axis);

/* The table of a view, or of all processes on a tab. It is the fixture's, until seven others were made. */
struct table *fixture_table_of(struct session *session, const struct view *view);
struct table *fixture_table(struct session *session, enum tab tab, enum window_mode mode);

/* The index of a column in a table; fails the test when it is not there. */
size_t fixture_column(const struct table *table, enum column column);

/* The row with that label; fails the test when it is not there. */
const struct table_row *fixture_row(const struct table *table, const char *label);

/* Whether there is a row with that label. */
bool fixture_has_row(const struct table *table, const char *label);

/* The cell of a row and column. */
const struct cell *fixture_cell(const struct table *table, const char *label, enum column column);

/* Fails the test unless a cell is unavailable for a reason. */
void fixture_expect_missing(const struct table *table, const char *label, enum column column,
			    reason_id reason);

/* A cell as the screen shows it, in static storage. */
const char *fixture_shown(const struct table *table, const char *label, enum column column);

/* Fails the test unless a cell of the table of all processes is shown so. */
void fixture_expect(struct session *session, enum tab tab, enum window_mode mode, const char *label,
		    enum column column, const char *shown);

/* Fails the test unless what is told of a cell of a view has this text. */
void fixture_expect_told(struct session *session, const struct view *view, const char *label,
			 enum column column, const char *text);

#endif
