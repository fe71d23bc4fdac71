/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_HOSTS_MOMENT_H
#define CTOP_HOSTS_MOMENT_H

#include "history_moment.h"
#include "report_options.h"
#include "store/history_files.h"

enum {
	HOSTS_MOMENTS_MAX = 2, /* those of a comparison */
	HOSTS_ZONE_SIZE = 32,
};

/*
 * Moments or ranges of all histories of a directory, named as those of one history: DIR@03:12. A time means
 * the same moment for all hosts: it is one of this process's time zone.
 */
struct hosts_moment {
	char *directory;
	struct history_hosts hosts;
	const char *const *names;   /* as the user wrote them; not owned */
	size_t count;               /* of the names */
	size_t when_at;             /* index in the names of the '@' before the time */
	uint64_t now_unix_ns;       /* what -1h is counted from */
	uint64_t unix_ns;           /* the last moment, or the end of the last range */
	char zone[HOSTS_ZONE_SIZE]; /* of that time: "CET" */
};

/*
 * Finds the histories that names stand for; the names outlive the result. Returns 1, or 0 if the first name
 * is not of a directory of histories, or -EINVAL with a sentence. The caller releases the result in any case.
 */
int hosts_moment_find(const char *const names[], size_t count, struct hosts_moment *ret_moment,
		      struct error *error);
void hosts_moment_release(struct hosts_moment *moment);

/* Gets what was read of a host, a file for each name; the files are released afterwards. */
typedef void hosts_moment_visit(void *context, const char *host, const struct history_moment files[]);

/*
 * Reads the moments of each host, two with their parts, a few hosts at the same time, and hands them over in
 * the order of their names. Notes on stderr name what is left out: entries without a history, and hosts of
 * which nothing can be read at that time. Returns 0, or a negative errno with a sentence: -ENODATA no host is
 * left, -EINVAL the output of the options is a file of one of the histories.
 */
int hosts_moment_read(const struct hosts_moment *moment, const struct report_options *options,
		      hosts_moment_visit *visit, void *context, struct error *error);

#endif
