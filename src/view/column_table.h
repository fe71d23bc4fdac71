/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_COLUMN_TABLE_H
#define CTOP_COLUMN_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/clock.h"
#include "column.h"
#include "view.h"

/*
 * How a cell is made of a column's inputs. Each thread's value is computed first, then the threads are
 * summed.
 */
enum column_operation {
	COLUMN_OPERATION_THREADS,          /* number of threads */
	COLUMN_OPERATION_SUM,              /* of counters */
	COLUMN_OPERATION_SUM_WITH_LARGEST, /* of all but the last two, and the larger of these, which overlap
					    */
	COLUMN_OPERATION_LOST,             /* the same; sorted with what stuck threads lost */
	COLUMN_OPERATION_QUOTIENT,         /* first / second, of counters */
	COLUMN_OPERATION_SHARE,            /* first / (first + second), of counters */
	COLUMN_OPERATION_DIFFERENCE,       /* first - second, as they are now */
	COLUMN_OPERATION_NET,              /* first - second, of counters over the span */
	COLUMN_OPERATION_LIFETIME,         /* sum of counters over the life of the threads, in every mode */
	COLUMN_OPERATION_PRESENT,          /* the present value of what is no counter, reduced by its kind */
	COLUMN_OPERATION_STUCK,            /* threads that are stuck, or how long one is */
	COLUMN_OPERATION_WAITING,          /* the longest present wait */
	COLUMN_OPERATION_LONG,             /* threads whose present wait is a long one */
	COLUMN_OPERATION_AGE,              /* of the oldest thread */
	COLUMN_OPERATION_BAR,              /* shares of the time of all threads */
	COLUMN_OPERATION_SMAPS,            /* inputs: enum smaps_key */
	COLUMN_OPERATION_RESIDENT,         /* resident memory of processes, by their leaders */
	COLUMN_OPERATION_GROWTH,           /* of it over the span */
	COLUMN_OPERATION_CGROUP,           /* inputs: enum cgroup_field */
	COLUMN_OPERATION_HEAP,             /* inputs: enum heap_field */
	COLUMN_OPERATION_LATENCY,          /* inputs: enum latency_kind, enum latency_field */
	COLUMN_OPERATION_LIVES,            /* inputs: enum life_event */
	COLUMN_OPERATION_TASK_FIELD, /* inputs: number of a field of schedulers, enum task_field_reduction */
	COLUMN_OPERATION_IDENTITY,   /* inputs: enum identity */
	COLUMN_OPERATION_COUNT,
};

/* What is true of all columns of an operation. */
enum column_trait {
	COLUMN_OF_METRICS = 1 << 0,     /* inputs are metrics */
	COLUMN_OF_WAITS = 1 << 1,       /* made of present waits */
	COLUMN_OF_GROUPS = 1 << 2,      /* of several threads by what it counts */
	COLUMN_COUNTS_THREADS = 1 << 3, /* a count is one of threads */
	COLUMN_RATES = 1 << 4,          /* amounts are shown per second in VIEW_MODE_RATE */
	COLUMN_IS_PRESENT = 1 << 5,     /* the same in every mode */
	COLUMN_OVERLAPS = 1 << 6,       /* of the last two inputs only the larger one counts */
	COLUMN_NEEDS_ALL = 1 << 7,      /* there is no value where an input is missing */
};

struct column_operation_entry {
	unsigned int traits; /* enum column_trait */
	const char *joint;   /* what stands between the inputs where the formula is shown, else NULL */
	source_set sources;  /* that it needs beside those of its metrics */
};

extern const struct column_operation_entry column_operations[COLUMN_OPERATION_COUNT];

/* Lines of smaps_rollup that have a column. */
enum smaps_key {
	SMAPS_KEY_RSS,
	SMAPS_KEY_PSS,
	SMAPS_KEY_SWAP,
	SMAPS_KEY_COUNT,
};

/* Numbers of cgroup records that have a column; the table is in reduce_cgroup.c. */
enum cgroup_field {
	CGROUP_FIELD_USAGE,
	CGROUP_FIELD_CPU_LIMIT,
	CGROUP_FIELD_THROTTLED,
	CGROUP_FIELD_THROTTLE_COUNT,
	CGROUP_FIELD_MEMORY_CURRENT,
	CGROUP_FIELD_MEMORY_MAX,
	CGROUP_FIELD_PIDS,
	CGROUP_FIELD_OOM_KILLS,
	CGROUP_FIELD_WEIGHT,
	CGROUP_FIELD_MEMORY_HIGH,
	CGROUP_FIELD_PRESSURE_CPU,
	CGROUP_FIELD_PRESSURE_MEMORY,
	CGROUP_FIELD_PRESSURE_IO,
	CGROUP_FIELD_READ_BYTES,
	CGROUP_FIELD_WRITTEN_BYTES,
	CGROUP_FIELD_COUNT,
};

/* What the allocator probe knows about the processes of a row; reduce_heap.c. */
enum heap_field {
	HEAP_FIELD_PROCESSES,
	HEAP_FIELD_THREADS,
	HEAP_FIELD_LIVE,
	HEAP_FIELD_LAYOUT,
};

/* What a column tells of how long waits took. */
enum latency_field {
	LATENCY_FIELD_COUNT,
	LATENCY_FIELD_P50,
	LATENCY_FIELD_P99,
	LATENCY_FIELD_MAX,
};

/* Texts that say who a thread is; reduce_identity.c. */
enum identity {
	IDENTITY_PID,
	IDENTITY_PROCESS,
	IDENTITY_USER,
	IDENTITY_CGROUP,
	IDENTITY_COMMAND, /* these two are looked up for what is shown */
	IDENTITY_SLEEP,
};

/* What is counted of lives. */
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
enum unit column_unit(enum column column, enum view_mode mode, bool by_thread);

/* Unit of a rate of what amounts to a unit. */
enum unit column_rate_unit(enum unit unit);

/*
 * Columns of reports and comparisons: metrics, derived metrics and fields, each as it is stored, and numbers
 * of records. The number of threads is one of them, for which column_of_metric() has THR.
 */
static inline enum column column_of_stored(enum metric metric)
{
	return (enum column)(COLUMN_METRICS + (int)metric);
}

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

/* Whether it is a ratio, which has no change in percent. */
bool column_is_ratio(enum column column);

/* The ladder and the unit of its values as stored; clock ticks remain such. */
enum ladder column_report_ladder(enum column column);
enum unit column_report_unit(enum column column);

/* Whether one column may stand for the other in a table: the same title or the same formula. */
bool column_stands_for(enum column column, enum column other);

/* Cells that a column takes on the screen: the same in all modes. */
int column_width(enum column column);

/* Whether its cells are words that line up on the left. */
bool column_is_text(enum column column);

/* Whether the screen shows which part of all rows, or of a thread's time, the number of a row is. */
bool column_has_shares(enum column column);

/* The ladder of the amounts of a column. */
enum ladder column_ladder(enum column column);

/* The unit of the amounts of a field of schedulers: UNIT_NONE for words and numbers that stand for something.
 */
enum unit column_unit_of_task_field(struct task_field_facts facts, enum task_field_kind kind);

/* Whether it is a text that says who a thread is. */
bool column_is_identity(enum column column);

/* Whether it is one of those that are looked up for what is shown: rows cannot be sorted by it. */
bool column_is_looked_up(enum column column);

/*
 * The order in which columns of texts take the width that numbers leave, 1 for the first; 0 for a column of a
 * width of its own. Their width is the least that they are shown with.
 */
int column_fill_order(enum column column);

/* Whether the inputs of a column are metrics. */
bool column_has_metrics(enum column column);

/* Whether the amounts of a column count waits for a CPU, as far as they have gone where that is known. */
bool column_counts_waits(enum column column);

#endif
