/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_TESTS_UI_FAKE_SESSION_H
#define CTOP_TESTS_UI_FAKE_SESSION_H

#include "session/session.h"

/*
 * A session whose tables are what a test wrote: fake_session.c defines the functions of session.h that make
 * tables and explain their numbers. Rounds and what is said of them are those of a session.
 */

/* A row of the next round. The label may hold any byte. */
void fake_session_add_row(enum row_mark mark, uint32_t threads, double cpu, const char *label,
			  size_t label_length);

/* The rows added since the last round are those of the newest one, which must be added next. */
void fake_session_take_rows(struct session *session);

/* Switches a feature off, or on again, in snapshots to come, by its name; aborts when there is none. */
void fake_session_switch(const char *feature, bool off);

/* So many threads start and end between two snapshots to come; so many are stuck in D, or wait for an
 * io_uring, in each. */
void fake_session_fork(uint64_t per_round);
void fake_session_stick(uint64_t threads, uint64_t at_rings);

/* Snapshots to come have so many CPUs, of which the second is offline, a disk and a network; 0: none. */
void fake_session_devices(uint32_t cpus);

/* Waits are measured in snapshots to come: so many events of the scheduler, 0 where that is not known, at a
 * cost of 2 % of a CPU. */
void fake_session_measure_latency(uint64_t events);

/* In each snapshot to come, for which waits are measured, `culprit` ("-" for an idle CPU) delays a group so
 * long. */
void fake_session_delay(const char *victim, const char *culprit, uint64_t milliseconds);

/* Making a table takes so long from now on, by the clock of driven.h. */
void fake_session_slow_down(uint64_t milliseconds);

/* A snapshot with the header's facts: host "fakehost", 8 CPUs, load, pressure, a feature that is off. */
struct snapshot *fake_session_snapshot(uint64_t round);

/* A moment of a round, which is taken over. */
struct session_moment *fake_session_moment(struct snapshot *now);

#endif
