/* SPDX-License-Identifier: GPL-2.0-only */
#include "metric.h"

#include <string.h>

const struct metric_type_entry metric_types[METRIC_TYPE_TOTAL] = {
	[METRIC_TYPE_COUNT] = {"count", "SumCount", METRIC_KIND_COUNTER, METRIC_REDUCTION_SUM,
			       LADDER_UNITLESS, METRIC_ENCODING_U64},
	[METRIC_TYPE_NS] = {"ns", "SumNs", METRIC_KIND_COUNTER, METRIC_REDUCTION_SUM, LADDER_NS,
			    METRIC_ENCODING_U64},
	[METRIC_TYPE_TICKS] = {"ticks", "SumTicks", METRIC_KIND_COUNTER, METRIC_REDUCTION_SUM, LADDER_TICKS,
			       METRIC_ENCODING_U64},
	[METRIC_TYPE_BYTES] = {"bytes", "SumBytes", METRIC_KIND_COUNTER, METRIC_REDUCTION_SUM, LADDER_BYTES,
			       METRIC_ENCODING_U64},
	[METRIC_TYPE_PEAK_NS] = {"peak-ns", "MaxPeak", METRIC_KIND_PEAK, METRIC_REDUCTION_MAXIMUM, LADDER_NS,
				 METRIC_ENCODING_U64},
	[METRIC_TYPE_PEAK_BYTES] = {"peak-bytes", "MaxPeakBytes", METRIC_KIND_PEAK, METRIC_REDUCTION_MAXIMUM,
				    LADDER_BYTES, METRIC_ENCODING_U64},
	[METRIC_TYPE_GAUGE_NS] = {"gauge-ns", "MaxGaugeNs", METRIC_KIND_GAUGE, METRIC_REDUCTION_MAXIMUM,
				  LADDER_NS, METRIC_ENCODING_U64},
	[METRIC_TYPE_GAUGE_COUNT] = {"gauge-count", "MaxGaugeCount", METRIC_KIND_GAUGE,
				     METRIC_REDUCTION_MAXIMUM, LADDER_UNITLESS, METRIC_ENCODING_U64},
	[METRIC_TYPE_ORDINAL_I32] = {"ordinal-i32", "RangeI32", METRIC_KIND_ORDINAL, METRIC_REDUCTION_RANGE,
				     LADDER_NONE, METRIC_ENCODING_I32},
	[METRIC_TYPE_ORDINAL_U32] = {"ordinal-u32", "RangeU32", METRIC_KIND_ORDINAL, METRIC_REDUCTION_RANGE,
				     LADDER_NONE, METRIC_ENCODING_U32},
	[METRIC_TYPE_CATEGORY] = {"categorical", "Mode", METRIC_KIND_CATEGORY, METRIC_REDUCTION_MODE,
				  LADDER_NONE, METRIC_ENCODING_STRING},
	[METRIC_TYPE_CHARACTER] = {"char", "ModeChar", METRIC_KIND_CATEGORY, METRIC_REDUCTION_MODE,
				   LADDER_NONE, METRIC_ENCODING_CHARACTER},
	[METRIC_TYPE_BOOLEAN] = {"bool", "ModeBool", METRIC_KIND_CATEGORY, METRIC_REDUCTION_MODE, LADDER_NONE,
				 METRIC_ENCODING_BOOLEAN},
	[METRIC_TYPE_AFFINITY] = {"affinity", "Affinity", METRIC_KIND_SET, METRIC_REDUCTION_AFFINITY,
				  LADDER_NONE, METRIC_ENCODING_CPU_SET},
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
};

#define UNWRAP(...) __VA_ARGS__

const struct derived_entry derived_metrics[DERIVED_COUNT] = {
#define DERIVED(id, name, operation, inputs, ladder, is_ratio, section, title, formula, description)         \
	[DERIVED_##id] = {                                                                                   \
		name,                                                                                        \
		DERIVED_##operation,                                                                         \
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
	for (size_t i = 0; i < METRIC_COUNT; i++) {
		if (strlen(metrics[i].name) == length && memcmp(metrics[i].name, name, length) == 0)
			return (enum metric)i;
	}
	return METRIC_NONE;
}

enum derived derived_find(const char *name, size_t length)
{
	for (size_t i = 0; i < DERIVED_COUNT; i++) {
		if (strlen(derived_metrics[i].name) == length &&
		    memcmp(derived_metrics[i].name, name, length) == 0)
			return (enum derived)i;
	}
	return DERIVED_NONE;
}

static bool quotient(double numerator, double denominator, double *ret_value)
{
	if (denominator == 0.0)
		return false;
	*ret_value = numerator / denominator;
	return true;
}

static bool sum_with_largest(const double inputs[], size_t count, double *ret_value)
{
	double sum = 0.0;

	for (size_t i = 0; i + 2 < count; i++)
		sum += inputs[i];
	*ret_value = sum + (inputs[count - 2] > inputs[count - 1] ? inputs[count - 2] : inputs[count - 1]);
	return true;
}

bool derived_compute(enum derived derived, const double inputs[], double *ret_value)
{
	const struct derived_entry *entry = &derived_metrics[derived];

	switch (entry->operation) {
	case DERIVED_QUOTIENT:
		return quotient(inputs[0], inputs[1], ret_value);
	case DERIVED_SHARE:
		return quotient(inputs[0], inputs[0] + inputs[1], ret_value);
	case DERIVED_DIFFERENCE:
		*ret_value = inputs[0] - inputs[1];
		return true;
	case DERIVED_SUM_WITH_LARGEST:
		return sum_with_largest(inputs, entry->input_count, ret_value);
	}
	return false;
}
