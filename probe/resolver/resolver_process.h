/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_RESOLVER_PROCESS_H
#define CTOP_RESOLVER_PROCESS_H

#include <stdint.h>
#include <sys/types.h>

#include "probe/dwarf/resolve.h"
#include "resolver.h"
#include "resolver_message.h"
#include "sandbox.h"

/* The processes of the resolver, each as a function that it runs (resolver.h). */

/* What a child does: resolve(), or something worse in tests. */
typedef void resolver_work(const struct resolve_source *source, struct resolution *ret_resolution);

/* resolver_start() for any work; a job is given up after `patience_ns`. */
int resolver_start_work(resolver_work *work, uint64_t patience_ns, struct resolver **ret_resolver,
			struct error *error);

/* What the processes that fork others pass on. */
struct resolver_task {
	scmp_filter_ctx filter;
	resolver_work *work;
};

/*
 * The resolver: runs until the other end of `control` is closed or the supervisor, which forked it, ends;
 * never returns.
 */
_Noreturn void resolver_parent_run(int control, pid_t supervisor, const struct resolver_task *task);

/*
 * Runs in a child: enters the sandbox, does the work and sends its result over `files`, over which it asks
 * for files, too; or to `job` when nobody answers there any more. Returns the exit status of the process.
 */
int resolver_child_run(int files, int job, uint32_t object_count, const struct resolver_task *task);

/*
 * The supervisor: forks the resolver, again when it was killed, and an opener for each job, until the other
 * end of `control` is closed or `program`, which forked it, ends; never returns.
 */
_Noreturn void resolver_supervisor_run(int control, pid_t program, const struct resolver_task *task);

/*
 * The opener of a job: opens what the child asks for over `files` and hands its result on to `job`. Its
 * descriptors are those of a struct resolver_order. Returns the exit status of the process.
 */
int resolver_opener_run(int files, const int *descriptors, const struct resolver_order *order);

/* Has the kernel end this process when its parent does, which must be `parent`. */
void resolver_bind(pid_t parent);

#endif
