/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_EXPORT_H
#define CTOP_EXPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "export_family.h"
#include "export_groups.h"
#include "report/exposition.h"
#include "session/session.h"

/*
 * Rounds of a session as series for Prometheus: counters of groups that never fall, and numbers about ctop
 * itself. Pure: it reads no clock, no file and no socket.
 */
struct export;

struct export_options {
	enum axis axes[AXIS_COUNT];
	size_t axis_count;
	size_t limit;     /* series of an axis, see export_groups.h */
	uint64_t keep_ns; /* likewise */
	struct view view; /* whose threads: grouping options and filter; the axis and all else are not looked
			   * at. What it owns stays the caller's and outlives the export */
	struct export_family_choice families;
};

/* The defaults of limit and keep_ns. */
enum {
	EXPORT_LIMIT_DEFAULT = 200
};
#define EXPORT_KEEP_DEFAULT_NS (UINT64_C(3600) * 1000000000)
/* The limit of which no health number tells. */
#define EXPORT_LIMIT_NONE SIZE_MAX

/* Whether groups by an axis are fit labels: by process id or by all there would be ever new ones. */
bool export_has_axis(enum axis axis);

/*
 * Reads the axes "process,cgroup" of an option into the options. Returns 0, or -EINVAL with a sentence: an
 * axis is no name of one, stands there twice, or has groups that are no fit labels (pid, all).
 */
int export_parse_axes(const char *text, struct export_options *options, struct error *error);

/*
 * Refuses a filter (NULL: none) that chooses rows by what they do or have at the moment, or by what is known
 * of living threads alone: counters would miss what they did in other rounds, or before they ended. With
 * `latency` it refuses every one. Returns 0 or -EINVAL with a sentence.
 */
int export_check_filter(const struct filter *filter, bool latency, struct error *error);

struct export *export_create(const struct export_options *options);
void export_release(struct export *export);

/* The sources that a round has to have read, as view_needs() tells them. */
void export_needs(const struct export *export, source_set *ret_sources, bool *ret_cgroup_records,
		  bool *ret_smaps);

/*
 * Makes the numbers that the newest round of a session adds. To be made in the thread that the session
 * belongs to, once for each round from the second on (NULL before); the export is not changed. The caller
 * releases it.
 */
struct export_round *export_round_create(const struct export *export, struct session *session);
void export_round_release(struct export_round *round);

/* Adds it. */
void export_add(struct export *export, const struct export_round *round);

/* Rounds added so far. */
uint64_t export_round_count(const struct export *export);

/* Writes the series of groups. */
void export_write_groups(const struct export *export, struct exposition *exposition);

/* Statuses of answers. */
enum export_status {
	EXPORT_STATUS_200,
	EXPORT_STATUS_403,
	EXPORT_STATUS_404,
	EXPORT_STATUS_405,
	EXPORT_STATUS_COUNT,
};

extern const unsigned int export_statuses[EXPORT_STATUS_COUNT]; /* 200, 403, 404, 405 */

/* Numbers about ctop that the export does not know. */
struct export_health {
	uint64_t now_boottime_ns;       /* CLOCK_BOOTTIME */
	uint64_t rounds, failed_rounds; /* taken, with those that added nothing; and not taken */
	uint64_t capture_cpu_ns;
	bool stale;        /* groups were left out since the newest round is too old */
	uint64_t write_ns; /* how long writing the groups took */
	bool serves;       /* the next two are known */
	uint64_t requests[EXPORT_STATUS_COUNT];
	uint64_t closed_slow, closed_crowded;
	bool writes_file; /* the next is known */
	uint64_t file_failures;
	/* About the process; `own_names` where the names that all exporters use would clash with another's.
	 */
	bool has_process, own_names;
	uint64_t cpu_ns, resident_bytes, virtual_bytes, start_unix_ns, open_fds, max_fds;
};

/* Writes the numbers about ctop. */
void export_write_health(const struct export *export, const struct export_health *health,
			 struct exposition *exposition);

#endif
