/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_RESOLVER_PARENT_H
#define CTOP_RESOLVER_PARENT_H

#include <stdint.h>
#include <sys/types.h>

#include "probe/dwarf/resolve.h"
#include "sandbox.h"

/* What a child does: resolve(), or something worse in tests. */
typedef void resolver_work(const struct resolve_source *source, struct resolution *ret_resolution);

/*
 * Runs in the forked parent until the other end of `control` is closed or the process `program`, which forked
 * it, ends; never returns.
 */
_Noreturn void resolver_parent_run(int control, pid_t program, const struct sandbox_filter *filter,
				   resolver_work *work);

/*
 * Runs in a child: enters the sandbox, does the work and sends its result over `socket`. Returns the exit
 * status of the process.
 */
int resolver_child_run(int socket, uint32_t object_count, const struct sandbox_filter *filter,
		       resolver_work *work);

#endif
