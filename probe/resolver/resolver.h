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
 * Untrusted executables are resolved in processes of their own, which may crash or hang. A supervisor is
 * forked before any thread or terminal exists. It forks the resolver, which gives up every right (no new
 * privileges, no capabilities) and forks a child for each executable. The child also locks itself in (seccomp
 * filter, limits) and then runs resolve(). It holds no descriptors but sockets and asks for files. A process
 * that the supervisor forks for each executable, the opener, checks and opens them, since opening a file
 * hangs for as long as its file system does.
 *
 * Whatever happens in there, a crash, a loop or a malformed answer, comes back as the tag worker-panic; a
 * file system that does not answer as file-system-hangs; the end of the resolver itself, which is forked
 * again up to three times a minute, as resolver-ended.
 */
struct resolver;

/*
 * Forks the supervisor. To be called while the program has one thread, before ncurses. Returns 0 or a
 * negative errno with a sentence. All its processes end when this one does.
 */
int resolver_start(struct resolver **ret_resolver, struct error *error);

/* Ends the supervisor and all below it. NULL is allowed. */
void resolver_stop(struct resolver *resolver);

/* Whether a process is the supervisor or the resolver. */
bool resolver_owns(const struct resolver *resolver, pid_t process);

/* To be called now and then: takes note of a new resolver, and collects a supervisor that was killed. */
void resolver_tend(struct resolver *resolver);

/* One executable being resolved. */
struct resolve_job;

/*
 * Starts resolving. Files are opened with the rights that this thread has now. `process_directory` is the
 * open directory of the process below a proc root, `map` its memory map (copied as needed), `executable_path`
 * the text of its exe link. Does not wait. Never NULL: if no child can be started, the job is done at once,
 * with a tag.
 */
struct resolve_job *resolver_submit(struct resolver *resolver, int process_directory,
				    const char *executable_path, const struct process_map *map);

/*
 * Answers what the child has asked and takes its result, without waiting for more. Returns true when the job
 * is done; `*ret_resolution` is then filled and checked (sane offsets, known object number).
 */
bool resolve_job_poll(struct resolve_job *job, struct resolution *ret_resolution);

/* Of a job with the tag file-system-hangs: whether that of the executable does, and not that of a library. */
bool resolve_job_hangs_at_executable(const struct resolve_job *job);

/* Readable when resolve_job_poll() has something to do; -1 when the job is done. */
int resolve_job_descriptor(const struct resolve_job *job);

/* CLOCK_MONOTONIC ns at which the job is given up as worker-panic: poll then even without data. */
uint64_t resolve_job_deadline_ns(const struct resolve_job *job);

/* Ends the job, its child too when it still runs. NULL is allowed. */
void resolve_job_release(struct resolve_job *job);

#endif
