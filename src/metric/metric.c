/* SPDX-License-Identifier: GPL-2.0-only */
#include "metric.h"

#include "name.h"
#include "task_field.h"

#define TYPE(id, name, aggregation, kind, reduction, ladder, encoding)                                       \
	[METRIC_TYPE_##id] = {                                                                               \
		name,                                                                                        \
		aggregation,                                                                                 \
		METRIC_KIND_##kind,                                                                          \
		METRIC_REDUCTION_##reduction,                                                                \
		LADDER_##ladder,                                                                             \
		METRIC_ENCODING_##encoding,                                                                  \
	}

const struct metric_type_entry metric_types[METRIC_TYPE_TOTAL] = {
	TYPE(COUNT, "count", "SumCount", COUNTER, SUM, UNITLESS, U64),
	TYPE(NS, "ns", "SumNs", COUNTER, SUM, NS, U64),
	TYPE(TICKS, "ticks", "SumTicks", COUNTER, SUM, TICKS, U64),
	TYPE(BYTES, "bytes", "SumBytes", COUNTER, SUM, BYTES, U64),
	TYPE(PEAK_NS, "peak-ns", "MaxPeak", PEAK, MAXIMUM, NS, U64),
	TYPE(PEAK_BYTES, "peak-bytes", "MaxPeakBytes", PEAK, MAXIMUM, BYTES, U64),
	TYPE(GAUGE_NS, "gauge-ns", "MaxGaugeNs", GAUGE, MAXIMUM, NS, U64),
	TYPE(GAUGE_COUNT, "gauge-count", "MaxGaugeCount", GAUGE, MAXIMUM, UNITLESS, U64),
	TYPE(ORDINAL_I32, "ordinal-i32", "RangeI32", ORDINAL, RANGE, NONE, I32),
	TYPE(ORDINAL_U32, "ordinal-u32", "RangeU32", ORDINAL, RANGE, NONE, U32),
	TYPE(CATEGORY, "categorical", "Mode", CATEGORY, MODE, NONE, STRING),
	TYPE(CHARACTER, "char", "ModeChar", CATEGORY, MODE, NONE, CHARACTER),
	TYPE(BOOLEAN, "bool", "ModeBool", CATEGORY, MODE, NONE, BOOLEAN),
	TYPE(AFFINITY, "affinity", "Affinity", SET, AFFINITY, NONE, CPU_SET),
};

const struct metric_entry metrics[METRIC_COUNT] = {
#define METRIC(id, name, position, type, tag, gates, section, family, source, key, form, equivalent,         \
	       equivalent_key, title, description)                                                           \
	[METRIC_##id] = {                                                                                    \
		name,                                                                                        \
		METRIC_TYPE_##type,                                                                          \
		METRIC_TAG_##tag,                                                                            \
		gates,                                                                                       \
		SECTION_##section,                                                                           \
		METRIC_FAMILY_##family,                                                                      \
		SOURCE_##source,                                                                             \
		key,                                                                                         \
		METRIC_FORM_##form,                                                                          \
		SOURCE_##equivalent,                                                                         \
		equivalent_key,                                                                              \
		title,                                                                                       \
		description,                                                                                 \
	},
#include "metrics.def"
#undef METRIC
};

const char *const metric_tag_names[METRIC_TAG_COUNT] = {
	[METRIC_TAG_NONE] = "",
	[METRIC_TAG_CFS_ONLY] = "cfs-only",
	[METRIC_TAG_NON_EXT] = "non-ext",
	[METRIC_TAG_FAIR_POLICY] = "fair-policy",
};

const struct section_entry sections[SECTION_COUNT] = {
	[SECTION_PRIMARY] = {"primary", false},
	[SECTION_TASKSTATS_DELAY] = {"taskstats-delay", false},
	[SECTION_DERIVED] = {"derived", false},
	[SECTION_CGROUP_STATS] = {"cgroup-stats", true},
	[SECTION_CGROUP_LIMITS] = {"cgroup-limits", true},
	[SECTION_MEMORY_STAT] = {"memory-stat", true},
	[SECTION_MEMORY_EVENTS] = {"memory-events", true},
	[SECTION_PRESSURE] = {"pressure", true},
	[SECTION_HOST_PRESSURE] = {"host-pressure", false},
	[SECTION_SMAPS_ROLLUP] = {"smaps-rollup", false},
	[SECTION_SCHED_EXT] = {"sched-ext", false},
	[SECTION_LATENCY] = {"latency", false},
	[SECTION_BLAME] = {"blame", false},
	[SECTION_TASK_FIELDS] = {TASK_FIELD_SOURCE, false},
	[SECTION_CGROUP_IO] = {"cgroup-io", true},
	[SECTION_TIME] = {"time", false},
};

#define UNWRAP(...) __VA_ARGS__

const struct derived_entry derived_metrics[DERIVED_COUNT] = {
#define DERIVED(id, name, operation, inputs, ladder, is_ratio, section, title, formula, description)         \
	[DERIVED_##id] = {                                                                                   \
		name,                                                                                        \
		{UNWRAP inputs},                                                                             \
		sizeof((enum metric[]){UNWRAP inputs}) / sizeof(enum metric),                                \
		LADDER_##ladder,                                                                             \
		is_ratio,                                                                                    \
		SECTION_##section,                                                                           \
		title,                                                                                       \
		formula,                                                                                     \
		description,                                                                                 \
	},
#include "derived.def"
#undef DERIVED
};

enum metric metric_find(const char *name, size_t length)
{
	return (enum metric)name_find(metrics, METRIC_COUNT, sizeof(metrics[0]), name, length);
}

enum derived derived_find(const char *name, size_t length)
{
	return (enum derived)name_find(derived_metrics, DERIVED_COUNT, sizeof(derived_metrics[0]), name,
				       length);
}
