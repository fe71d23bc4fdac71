/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_METRIC_H
#define CTOP_METRIC_H

#include <stdbool.h>
#include <stddef.h>

#include "source.h"

/* The 87 metrics; the table is metrics.def. Order is registry order. */
enum metric {
#define METRIC(id, ...) METRIC_##id,
#include "metrics.def"
#undef METRIC
	METRIC_COUNT,
	METRIC_NONE = METRIC_COUNT,
};

/* The behaviour of a number in time, which decides how a delta is computed. */
enum metric_kind {
	METRIC_KIND_COUNTER,  /* only grows: deltas and rates make sense */
	METRIC_KIND_PEAK,     /* largest value of a lifetime */
	METRIC_KIND_GAUGE,    /* present value */
	METRIC_KIND_ORDINAL,  /* present value on a scale: a range in a group */
	METRIC_KIND_CATEGORY, /* one of a few words */
	METRIC_KIND_SET,      /* CPU set */
};

/* The rule that makes the value of a group from its threads (grouping rules of the file format). */
enum metric_reduction {
	METRIC_REDUCTION_SUM,
	METRIC_REDUCTION_MAXIMUM,
	METRIC_REDUCTION_RANGE,
	METRIC_REDUCTION_MODE,
	METRIC_REDUCTION_AFFINITY,
};

/* The scale on which reports print a value (steps in cell_format.c). */
enum ladder {
	LADDER_NONE,
	LADDER_UNITLESS, /* counts, K M G by 1000 */
	LADDER_NS,       /* nanoseconds */
	LADDER_US,       /* microseconds */
	LADDER_BYTES,    /* by 1024 */
	LADDER_TICKS,    /* USER_HZ clock ticks, 100 per second */
};

/* The encoding of the value in the uint64_t of a snapshot column. */
enum metric_encoding {
	METRIC_ENCODING_U64,
	METRIC_ENCODING_U32,
	METRIC_ENCODING_I32,       /* sign-extended: (int64_t)column */
	METRIC_ENCODING_STRING,    /* id in snapshot.strings */
	METRIC_ENCODING_CHARACTER, /* Unicode scalar value */
	METRIC_ENCODING_BOOLEAN,
	METRIC_ENCODING_CPU_SET, /* id in snapshot.cpu_sets */
};

enum metric_type {
	METRIC_TYPE_COUNT,
	METRIC_TYPE_NS,
	METRIC_TYPE_TICKS,
	METRIC_TYPE_BYTES,
	METRIC_TYPE_PEAK_NS,
	METRIC_TYPE_PEAK_BYTES,
	METRIC_TYPE_GAUGE_NS,
	METRIC_TYPE_GAUGE_COUNT,
	METRIC_TYPE_ORDINAL_I32,
	METRIC_TYPE_ORDINAL_U32,
	METRIC_TYPE_CATEGORY,
	METRIC_TYPE_CHARACTER,
	METRIC_TYPE_BOOLEAN,
	METRIC_TYPE_AFFINITY,
	METRIC_TYPE_TOTAL,
};

struct metric_type_entry {
	const char *name;        /* "peak-ns" */
	const char *aggregation; /* "MaxPeak" */
	enum metric_kind kind;
	enum metric_reduction reduction;
	enum ladder ladder;
	enum metric_encoding encoding;
};

/* Scheduler class whose threads keep a value, a tag in reports. */
enum metric_tag {
	METRIC_TAG_NONE,
	METRIC_TAG_CFS_ONLY,
	METRIC_TAG_NON_EXT,
	METRIC_TAG_FAIR_POLICY,
	METRIC_TAG_COUNT,
};

/* The flags of a thread in the file that mark the metric as measured. */
enum metric_family {
	METRIC_FAMILY_ALWAYS,
	METRIC_FAMILY_LEADER, /* always; a value of the process, stored only for its leader */
	/* Always, except for kernel threads: the kernel adds their idle sleep (TASK_IDLE) to blocked time in
	 * __update_stats_enqueue_sleeper() of kernel/sched/stats.c. */
	METRIC_FAMILY_USER,
	METRIC_FAMILY_CPU_DELAY,   /* taskstats_measured and cpu_delay_active */
	METRIC_FAMILY_BLOCK_DELAY, /* taskstats_measured and delay_block_active */
	METRIC_FAMILY_XACCT,       /* taskstats_measured and xacct_active */
	METRIC_FAMILY_JEMALLOC,    /* jemalloc_measured */
};

/* The form of the text in the kernel's file. */
enum metric_form {
	METRIC_FORM_DECIMAL,
	METRIC_FORM_DOTTED,    /* milliseconds, dot, six digits of nanoseconds; without a dot nanoseconds */
	METRIC_FORM_BOOLEAN,   /* number, non-zero is true */
	METRIC_FORM_CHARACTER, /* the first character */
	METRIC_FORM_CPU_LIST,
	METRIC_FORM_KIBIBYTES, /* times 1024 */
};

/* Report sections, in the order in which `--sections` lists them. */
enum section {
	SECTION_PRIMARY,
	SECTION_TASKSTATS_DELAY,
	SECTION_DERIVED,
	SECTION_CGROUP_STATS,
	SECTION_CGROUP_LIMITS,
	SECTION_MEMORY_STAT,
	SECTION_MEMORY_EVENTS,
	SECTION_PRESSURE,
	SECTION_HOST_PRESSURE,
	SECTION_SMAPS_ROLLUP,
	SECTION_SCHED_EXT,
	SECTION_LATENCY, /* not in ktstr, like those below */
	SECTION_BLAME,
	SECTION_TASK_FIELDS,
	SECTION_CGROUP_IO,
	SECTION_TIME,
	SECTION_COUNT,
};

struct section_entry {
	const char *name;
	bool needs_cgroup_axis;
};

struct metric_entry {
	const char *name;
	enum metric_type type;
	enum metric_tag tag;
	const char *config_gates; /* without CONFIG_, blank between; NULL for none */
	enum section section;
	enum metric_family family;
	enum source source;
	const char *key; /* field number, key or member in the source */
	enum metric_form form;
	enum source equivalent_source; /* or SOURCE_NONE */
	const char *equivalent_key;
	const char *title;
	const char *description;
};

extern const struct metric_entry metrics[METRIC_COUNT];
extern const struct metric_type_entry metric_types[METRIC_TYPE_TOTAL];
extern const char *const metric_tag_names[METRIC_TAG_COUNT]; /* "" for none, else "cfs-only" … */
extern const struct section_entry sections[SECTION_COUNT];

/* The type row of a metric. */
static inline const struct metric_type_entry *metric_type(enum metric metric)
{
	return &metric_types[metrics[metric].type];
}

/* Whether a counter is of waits for a CPU: sched_info.run_delay of the kernel, charged when a wait ends. */
static inline bool metric_is_run_queue_wait(enum metric metric)
{
	return metric == METRIC_WAIT_TIME_NS || metric == METRIC_CPU_DELAY_TOTAL_NS;
}

/* The metric of that name (`length` bytes), or METRIC_NONE. Exact and case-sensitive. */
enum metric metric_find(const char *name, size_t length);

/* The 17 metrics computed from others; the table is derived.def. */
enum derived {
#define DERIVED(id, ...) DERIVED_##id,
#include "derived.def"
#undef DERIVED
	DERIVED_COUNT,
	DERIVED_NONE = DERIVED_COUNT,
};

enum {
	DERIVED_INPUTS_MAX = 8
};

struct derived_entry {
	const char *name;
	enum metric inputs[DERIVED_INPUTS_MAX];
	size_t input_count;
	enum ladder ladder;
	bool is_ratio;
	enum section section;
	const char *title;
	const char *formula;
	const char *description;
};

extern const struct derived_entry derived_metrics[DERIVED_COUNT];

/* The derived metric of that name, or DERIVED_NONE. */
enum derived derived_find(const char *name, size_t length);

#endif
