/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_COLUMN_H
#define CTOP_COLUMN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"
#include "metric/metric.h"
#include "metric/source.h"
#include "metric/task_field.h"
#include "metric/unit.h"
#include "metric/wait_class.h"
#include "window_mode.h"

/*
 * The screen's columns; the table is columns.def. Behind COLUMN_COUNT, which means none, stand the metrics
 * and derived metrics as columns (the All tab), then the fields that sched_ext schedulers keep for each task
 * (the tab of task fields): see column_of_metric(), column_of_derived() and column_of_task_field(). What a
 * column of a field is follows what was found out of the field last; columns belong to one thread, that which
 * draws.
 */
enum column {
#define COLUMN(id, ...) COLUMN_##id,
#include "columns.def"
#undef COLUMN
	COLUMN_COUNT,
	COLUMN_METRICS,                                 /* column of the first metric */
	COLUMN_DERIVED = COLUMN_METRICS + METRIC_COUNT, /* column of the first derived metric */
	COLUMN_TASK_FIELDS = COLUMN_DERIVED +
			     (int)DERIVED_COUNT,                /* column of the first field of schedulers */
	COLUMN_TOTAL = COLUMN_TASK_FIELDS + (int)TASK_FIELD_MAX /* one behind the last of all */
};

/* Some of the columns; a zeroed one has none. */
struct column_set {
	uint64_t bits[(COLUMN_TOTAL + 63) / 64];
};

static inline void column_set_add(struct column_set *set, enum column column)
{
	set->bits[column / 64] |= UINT64_C(1) << (column % 64);
}

static inline bool column_set_has(const struct column_set *set, enum column column)
{
	return (set->bits[column / 64] >> (column % 64) & 1) != 0;
}

/* The column of a metric (the All tab, `--columns`, `--sort-by`, filters). */
enum column column_of_metric(enum metric metric);

/* The column of the time in a class: of CPU and run queue those of metrics. */
enum column column_of_wait_class(enum wait_class class);

/* The column of a derived metric. */
enum column column_of_derived(enum derived derived);

/* The column of a field, by a number of task_field_intern(). */
enum column column_of_task_field(uint16_t field);

/* Whether a column is that of a field of schedulers. */
static inline bool column_is_task_field(enum column column)
{
	return column >= COLUMN_TASK_FIELDS && column < COLUMN_TOTAL;
}

/* Title in a mode: "RUNQ%" as rate, "RUNQ" as an amount. Static storage. */
const char *column_title(enum column column, enum window_mode mode);

/* Name in options and, before the unit, in TSV, CSV and JSON: "run_queue". Static storage. */
const char *column_name(enum column column);

/* One sentence (what it counts, caveats), for help and `i`. */
const char *column_description(enum column column);

/* Sources one column needs. */
source_set column_sources(enum column column);

/* The way from a column's inputs to its cells; the table is column_operation.def. */
enum column_operation {
#define OPERATION(id, ...) COLUMN_OPERATION_##id,
#include "column_operation.def"
#undef OPERATION
	COLUMN_OPERATION_COUNT,
};

/* Properties that all columns of an operation share. */
enum column_trait {
	COLUMN_OF_METRICS = 1 << 0,     /* inputs are metrics */
	COLUMN_OF_WAITS = 1 << 1,       /* made of present waits */
	COLUMN_OF_GROUPS = 1 << 2,      /* counts something that several threads share */
	COLUMN_COUNTS_THREADS = 1 << 3, /* a count is one of threads */
	COLUMN_RATES = 1 << 4,          /* amounts are shown per second in WINDOW_MODE_RATE */
	COLUMN_IS_PRESENT = 1 << 5,     /* the same in every mode */
	COLUMN_OVERLAPS = 1 << 6,       /* of the last two inputs only the larger one counts */
	COLUMN_NEEDS_ALL = 1 << 7,      /* no value if an input is missing */
	COLUMN_OF_RECORDS = 1 << 8,     /* of the memory of processes, of cgroups */
	COLUMN_OF_LIVES = 1 << 9,       /* of all that counters have counted, also before the span */
	COLUMN_ADDS_UP = 1 << 10,       /* the sum over its members, 0 of a row without any */
	COLUMN_IS_SIGNED = 1 << 11,     /* may be below 0 */
};

struct column_operation_entry {
	unsigned int traits; /* enum column_trait */
	const char *joint;   /* what stands between the inputs where the formula is shown, else NULL */
	enum source source;  /* that it needs beside those of its metrics, or SOURCE_NONE */
};

extern const struct column_operation_entry column_operations[COLUMN_OPERATION_COUNT];

/* Lines of smaps_rollup that have a column. */
enum smaps_key {
	SMAPS_KEY_RSS,
	SMAPS_KEY_PSS,
	SMAPS_KEY_SWAP,
	SMAPS_KEY_COUNT,
};

/* Facts that the allocator probe has about the processes of a row; kind_heap.c. */
enum heap_field {
	HEAP_FIELD_PROCESSES,
	HEAP_FIELD_THREADS,
	HEAP_FIELD_LIVE,
	HEAP_FIELD_LAYOUT,
};

/* The numbers of a histogram of waits that have a column. */
enum latency_field {
	LATENCY_FIELD_COUNT,
	LATENCY_FIELD_P50,
	LATENCY_FIELD_P90,
	LATENCY_FIELD_P99,
	LATENCY_FIELD_MAX,
};

/* Texts that say who a thread is; kind_identity.c. */
enum identity {
	IDENTITY_PID,
	IDENTITY_PROCESS,
	IDENTITY_USER,
	IDENTITY_CGROUP,
	IDENTITY_CONTAINER,
	IDENTITY_COMMAND, /* these two are looked up for visible rows */
	IDENTITY_SLEEP,
};

/* The events in lives that are counted. */
enum life_event {
	LIFE_BEGAN,
	LIFE_ENDED,
};

enum {
	COLUMN_INPUTS_MAX = 9
};

/* From when on a present wait for a CPU or in D is a long one; the description of LONG names it. */
#define COLUMN_LONG_WAIT_NS NS_PER_S

struct column_entry {
	const char *name;
	const char *rate_title, *amount_title;
	enum column_operation operation;
	enum unit unit; /* of an amount */
	int width;      /* 0: by the rule */
	int inputs[COLUMN_INPUTS_MAX];
	size_t input_count;
	const char *description;
};

/*
 * The row of a column of any kind; `column` is below COLUMN_TOTAL and not COLUMN_COUNT, and if it is of a
 * field, one that has a name.
 */
const struct column_entry *column_entry(enum column column);

/* Whether its operation has a trait. */
static inline bool column_has(const struct column_entry *entry, enum column_trait trait)
{
	return (column_operations[entry->operation].traits & (unsigned int)trait) != 0;
}

/* Unit of a column's values in a mode, in rows that are groups or threads. */
enum unit column_unit(enum column column, enum window_mode mode, bool by_thread);

/* Whether they have another unit as rates than as amounts. */
static inline bool column_has_rate(enum column column)
{
	return column_unit(column, WINDOW_MODE_RATE, false) != column_entry(column)->unit;
}

/*
 * Columns of reports and comparisons: metrics, derived metrics and fields, each as it is stored, and numbers
 * of records. The number of threads is one of them, for which column_of_metric() has THR.
 */
static inline enum column column_of_stored(enum metric metric)
{
	return (enum column)(COLUMN_METRICS + (int)metric);
}

/* The metric that a column shows, as stored, where it shows one; else the column itself. */
enum column column_stored_form(enum column column);

static inline bool column_is_metric(enum column column)
{
	return column >= COLUMN_METRICS && column < COLUMN_DERIVED;
}

static inline bool column_is_derived(enum column column)
{
	return column >= COLUMN_DERIVED && column < COLUMN_TASK_FIELDS;
}

/* The metric and the derived metric of such a column. */
static inline enum metric column_metric(enum column column)
{
	return (enum metric)(column - COLUMN_METRICS);
}

static inline enum derived column_derived(enum column column)
{
	return (enum derived)(column - COLUMN_DERIVED);
}

/* Whether it is one of records: of the memory of processes, of cgroups. */
bool column_is_record(enum column column);

/* Whether it is a counter of threads. */
bool column_is_counter(enum column column);

/* Whether it is a counter of threads, or a sum of such: so much a second where rates are compared. */
bool column_grows(enum column column);

/*
 * Whether a row without members has 0: where values are what the members have or did together, not ratios,
 * means, percentiles, peaks or settings.
 */
bool column_adds_up(enum column column);

/* Whether a value that lacks some members is a lower bound: a sum or a maximum of numbers that are never
 * negative. */
bool column_has_lower_bounds(enum column column);

/* Whether values may be below 0. */
bool column_may_be_negative(enum column column);

/* Whether it is a ratio, which has no change in percent. */
bool column_is_ratio(enum column column);

/* The ladder and the unit of its values as stored; clock ticks remain such. */
enum ladder column_report_ladder(enum column column);
enum unit column_report_unit(enum column column);

/* The ladder of the amounts of a column. */
enum ladder column_ladder(enum column column);

/* The unit of the amounts of a field of schedulers: UNIT_NONE for words and codes. */
enum unit column_unit_of_task_field(struct task_field_facts facts, enum task_field_kind kind);

/* Whether it is an identity of threads. */
bool column_is_identity(enum column column);

/* Whether its texts have names of the host in them. */
bool column_is_name(enum column column);

/* Whether the inputs of a column are metrics. */
bool column_has_metrics(enum column column);

/* Whether the amounts of a column include waits for a CPU, unfinished ones up to now where that is known. */
bool column_counts_waits(enum column column);

#endif
