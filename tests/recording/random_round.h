/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_RANDOM_ROUND_H
#define CTOP_RANDOM_ROUND_H

#include "snapshot/snapshot.h"

/*
 * Rounds of a host that there never was, with everything that a snapshot can hold: what it holds is chosen at
 * random, and from one round to the next some of it changes. The same seed gives the same rounds; those of an
 * even one go on with the names of the round before.
 */
struct random_host;

struct random_host *random_host_create(uint64_t seed);
void random_host_release(struct random_host *host);

/* The next round, finished. It says how its threads stand to those of the one before, if that is so chosen.
 */
struct snapshot *random_host_next(struct random_host *host);

/* A number below `end`. */
uint64_t random_below(struct random_host *host, uint64_t end);

#endif
