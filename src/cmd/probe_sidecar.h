/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_SIDECAR_H
#define CTOP_SIDECAR_H

#include <stddef.h>

#include "base/error.h"

/*
 * Appends what was probed to a test result: a JSON object whose "metrics" array gets one more element,
 *
 *	{"payload_index": N,
 *	 "metrics": [{"name": …, "value": …, "unit": …, "polarity": …}, …],
 *	 "exit_code": …}
 *
 * with a metric for every number of the document `json`, named by its dotted path. Everything else in the
 * file stays as it is, byte for byte. A lock file beside it (flock(2) on PATH.lock) keeps two runs apart;
 * the file is replaced as a whole. Where `path` is a symbolic link, all of this is about its target.
 *
 * `stop_flag` non-zero ends the wait for the lock. Returns 0 or a negative errno with a sentence; the file is
 * then as it was.
 */
int sidecar_append(const char *path, const char *json, size_t json_length, int exit_code,
		   const volatile int *stop_flag, struct error *error);

#endif
