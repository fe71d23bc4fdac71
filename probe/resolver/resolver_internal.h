/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_RESOLVER_INTERNAL_H
#define CTOP_RESOLVER_INTERNAL_H

#include <stdint.h>

#include "probe/dwarf/resolve.h"
#include "resolver.h"

/* The work of a child: resolve(), or something worse in tests. */
typedef void resolver_work(const struct resolve_source *source, struct resolution *ret_resolution);

/* resolver_submit() for any work; the job is given up after `patience_ns`. */
struct resolve_job *resolver_submit_for(resolver_work *work, uint64_t patience_ns, int process_directory,
					const char *executable_path, const struct process_map *map);

#endif
