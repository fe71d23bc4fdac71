/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_RESOLVER_PRIVATE_H
#define CTOP_RESOLVER_PRIVATE_H

#include "resolver.h"
#include "resolver_parent.h"

/* resolver_start() for any work; a job is given up after `patience_ns`. */
int resolver_start_work(resolver_work *work, uint64_t patience_ns, struct resolver **ret_resolver,
			struct error *error);

/* Process id of the resolver, 0 while there is none. */
pid_t resolver_parent_id(struct resolver *resolver);

#endif
