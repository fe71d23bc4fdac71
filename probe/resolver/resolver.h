/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_PROBE_RESOLVER_H
#define CTOP_PROBE_RESOLVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "probe/object/layout.h"
#include "probe/process/process_map.h"

/*
 * The resolver: a parent process forked before any thread or terminal exists; for each executable it forks a
 * child that gives up every right (no new privileges, no capabilities, seccomp filter, limits) and then runs
 * resolve(). The child holds no descriptor but a socket to us; it asks for files, we check and open them.
 * Whatever happens in there, a crash, a hang or a malformed answer, comes back as the tag worker-panic.
 */
struct resolver;

/*
 * Forks the parent. To be called while the program has one thread, before ncurses. Returns 0 or a negative
 * errno with a sentence. The parent ends when this process does.
 */
int resolver_start(struct resolver **ret_resolver, struct error *error);

/* Ends the parent and its children. NULL is allowed. */
void resolver_stop(struct resolver *resolver);

/* Process id of the parent. */
pid_t resolver_parent_id(const struct resolver *resolver);

/* One executable being resolved. */
struct resolve_job;

/*
 * Starts resolving. `process_directory` is the open directory of the process below a proc root, `map` its
 * memory map (copied as needed), `executable_path` the text of its exe link. Does not wait. Never NULL: if no
 * child can be started, the job is done at once, with a tag.
 */
struct resolve_job *resolver_submit(struct resolver *resolver, int process_directory,
				    const char *executable_path, const struct process_map *map);

/*
 * Answers what the child has asked and takes its result, without waiting for more. Returns true when the job
 * is done; `*ret_resolution` is then filled and checked (sane offsets, known object number).
 */
bool resolve_job_poll(struct resolve_job *job, struct resolution *ret_resolution);

/* Readable when resolve_job_poll() has something to do; -1 when the job is done. */
int resolve_job_descriptor(const struct resolve_job *job);

/* CLOCK_MONOTONIC ns at which the job is given up as worker-panic (poll then even without data); 0 when done.
 */
uint64_t resolve_job_deadline_ns(const struct resolve_job *job);

/* Ends the job, its child too when it still runs. NULL is allowed. */
void resolve_job_release(struct resolve_job *job);

/*
 * How many jobs may run at once so that resolving uses only idle CPUs: the whole number of CPUs that `load`
 * (runnable threads, mean of a minute) leaves free, at least 1 and at most one more than half of `cpus`.
 */
unsigned int resolver_headroom(unsigned int cpus, double load);

/* The first word of /proc/loadavg; 0 when it is malformed. Expects LC_NUMERIC to be "C". */
double resolver_parse_load(const char *text);

/* resolver_headroom() of this host now. */
unsigned int resolver_headroom_now(void);

#endif
