/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_BENCH_GENERATE_H
#define CTOP_BENCH_GENERATE_H

#include "snapshot/snapshot.h"

/*
 * A snapshot with every column filled, the same at each start of the program, in processes of PROCESS_THREADS
 * (run.h): threads in pools, as hosts have them, or with `distinct` one group per thread. It also has facts
 * of the host; the caller finishes and releases it.
 */
struct snapshot *snapshot_generate(size_t threads, bool distinct);

#endif
