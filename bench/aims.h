/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_BENCH_AIMS_H
#define CTOP_BENCH_AIMS_H

#include <stdint.h>

#include "run.h"

/*
 * Measures every aim of a round `options->runs` times, one time in a short form, and prints a table: medians
 * beside the aims. Loads have at most `most_threads` threads. Needs root and cgroup v2; without them the
 * function prints why and returns.
 */
void aims_measure(const struct bench_options *options, uint32_t most_threads);

#endif
