/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_PROBE_RESOLVER_H
#define CTOP_PROBE_RESOLVER_H

#include <stdbool.h>
#include <stdint.h>

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

/* One executable being resolved. */
struct resolve_job {
	int socket; /* readable when resolve_job_poll() has something to do; -1 when the job is done */
	uint64_t deadline_ns;  /* CLOCK_MONOTONIC, when it is given up as worker-panic: poll then even without
				  data */
	uint32_t object_count; /* libraries of its process */
	bool hangs_at_executable;     /* the tag is file-system-hangs, for the executable itself */
	struct resolution resolution; /* once done: checked (sane offsets, known object number) */
};

/*
 * Starts resolving. Files are opened with the rights that this thread has now. `process_directory` is the
 * open directory of the process below a proc root, `map` its memory map (copied as needed), `executable_path`
 * the text of its exe link. Does not wait. Never NULL: if no child can be started, the job is done at once,
 * with a tag.
 */
struct resolve_job *resolver_submit(int process_directory, const char *executable_path,
				    const struct process_map *map);

/* Takes what the processes of the job have sent, without waiting for more. Returns whether it is done. */
bool resolve_job_poll(struct resolve_job *job);

/* Ends the job and its processes. NULL is allowed. */
void resolve_job_release(struct resolve_job *job);

#endif
