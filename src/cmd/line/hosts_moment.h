/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_HOSTS_MOMENT_H
#define CTOP_HOSTS_MOMENT_H

#include "history_moment.h"
#include "report_options.h"
#include "store/history_files.h"

enum {
	HOSTS_MOMENTS_MAX = 2, /* a comparison has two */
	HOSTS_ZONE_SIZE = 32,
};

/*
 * Moments or ranges in all histories of a directory, written as for one history: DIR@03:12. Times are in this
 * process's time zone, so a time is the same moment for all hosts.
 */
struct hosts_moment {
	char *directory;
	struct history_hosts hosts;
	const char *const *names;   /* as the user wrote them; not owned */
	size_t count;               /* number of `names` */
	size_t when_at;             /* index of the '@' before the time in each of `names` */
	uint64_t now_unix_ns;       /* the moment that -1h counts back from */
	uint64_t unix_ns;           /* the last moment, or the end of the last range */
	char zone[HOSTS_ZONE_SIZE]; /* abbreviated time zone at `unix_ns`: "CET" */
};

/*
 * Finds the directory of histories to which `names` refer. The names must outlive the result. Returns 1,
 * or 0 if the first name does not belong to a directory of histories, or -EINVAL with a sentence. The caller
 * releases the result in any case.
 */
int hosts_moment_find(const char *const names[], size_t count, struct hosts_moment *ret_moment,
		      struct error *error);
void hosts_moment_release(struct hosts_moment *moment);

/* Receives what was read from a host, one file for each name. The files are released after the call. */
typedef void hosts_moment_visit(void *context, const char *host, const struct history_moment files[]);

/*
 * Reads the moments of each host, and calls `visit` for each in the order of the hosts' names. A few hosts
 * are read at the same time; two moments are read with their parts. A note on stderr names each host that is
 * left out, and why. Returns 0, or a negative errno with a
 * sentence: -ENODATA if no host is left, -EINVAL if the output of `options` is a file of one of the
 * histories.
 */
int hosts_moment_read(const struct hosts_moment *moment, const struct report_options *options,
		      hosts_moment_visit *visit, void *context, struct error *error);

#endif
