/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_PROBE_RESOLVER_H
#define CTOP_PROBE_RESOLVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "probe/object/layout.h"
#include "probe/process/process_map.h"

/*
 * Untrusted executables are resolved in processes of their own, which may crash or hang; the supervisor
 * (base/supervisor.h) forks two for each executable. The child gives every right up (no new privileges, no
 * capabilities), locks itself in (seccomp filter, limits) and then runs resolve(). It holds no descriptors
 * but sockets and asks for files. The opener checks and opens them, since opening a file hangs for as long as
 * its file system does.
 *
 * Whatever happens in there, a crash, a loop or a malformed answer, comes back as the tag worker-panic; a
 * file system that does not answer as file-system-hangs; the end of the supervisor as resolver-ended.
 */
struct resolver;

/* Starts nothing yet. End it with resolver_release(). */
struct resolver *resolver_create(void);

/* Releases what has no jobs any more. NULL is allowed. */
void resolver_release(struct resolver *resolver);

/* One executable being resolved. */
struct resolve_job;

/*
 * Starts resolving. Files are opened with the rights that this thread has now. `process_directory` is the
 * open directory of the process below a proc root, `map` its memory map (copied as needed), `executable_path`
 * the text of its exe link. Does not wait. Never NULL: if no child can be started, the job is done at once,
 * with a tag.
 */
struct resolve_job *resolver_submit(const struct resolver *resolver, int process_directory,
				    const char *executable_path, const struct process_map *map);

/*
 * Answers what the child has asked and takes its result, without waiting for more. Returns true when the job
 * is done; `*ret_resolution` is then filled and checked (sane offsets, known object number).
 */
bool resolve_job_poll(struct resolve_job *job, struct resolution *ret_resolution);

/* Whether a job with the tag file-system-hangs has it for the executable, and not for a library. */
bool resolve_job_hangs_at_executable(const struct resolve_job *job);

/* Readable when resolve_job_poll() has something to do; -1 when the job is done. */
int resolve_job_descriptor(const struct resolve_job *job);

/* CLOCK_MONOTONIC ns at which the job is given up as worker-panic: poll then even without data. */
uint64_t resolve_job_deadline_ns(const struct resolve_job *job);

/* Ends the job and its processes. NULL is allowed. */
void resolve_job_release(struct resolve_job *job);

#endif
