/* SPDX-License-Identifier: GPL-2.0-only */
#include "member.h"

#include <string.h>

#include "member_table.h"

const char *const member_name_words[MEMBER_NAME_WORDS] = {"pcomm", "comm", "cgroup"};

_Static_assert(sizeof(struct triple) == MEMBER_NAME_WORDS * sizeof(uint32_t),
	       "three names follow each other");

/* Words and sets have no value that could stand for them when they are missing; of a state that is `~`. */
#define METRIC_FLAGS(type)                                                                                   \
	((type) == METRIC_TYPE_CATEGORY || (type) == METRIC_TYPE_AFFINITY ? MEMBER_REQUIRED                  \
	 : (type) == METRIC_TYPE_CHARACTER                                ? 0                                \
									  : MEMBER_DEFAULTED)
#define METRIC_LARGEST(type)                                                                                 \
	((type) <= METRIC_TYPE_GAUGE_COUNT   ? UINT64_MAX                                                    \
	 : (type) == METRIC_TYPE_ORDINAL_U32 ? UINT32_MAX                                                    \
	 : (type) == METRIC_TYPE_ORDINAL_I32 ? INT32_MAX                                                     \
					     : 0)
#define THREAD(text, type, flag, field) MEMBER(thread_record, text, type, flag, field)
#define THREAD_FLAG(text, flag, number)                                                                      \
	{                                                                                                    \
		NAME(text), .type = MEMBER_FLAG, .flags = (flag), FIELD(thread_record, flags),               \
			    .bit = (number)                                                                  \
	}

/* Made-up names among the three that begin at this field. */
#define OWN_NAMES(type_name, field)                                                                          \
	{                                                                                                    \
		NAME("own"), MEMBER_OMITTED | MEMBER_UNCODED, MEMBER_OWN_NAMES, FIELD(type_name, field)      \
	}

static const struct member thread_knowledge_members[] = {
	THREAD_FLAG("kernel", MEMBER_OMITTED, THREAD_KERNEL),
	THREAD_FLAG("forked", MEMBER_OMITTED, THREAD_FORKED),
	OWN_NAMES(thread_record, names),
	THREAD("uid", UID, MEMBER_OMITTED, uid),
	THREAD("missing", THREAD_MISSING, MEMBER_OMITTED, index),
	THREAD("age_ns", AGES, MEMBER_OMITTED, index),
	THREAD("waiting_ns", U64, MEMBER_OMITTED, waiting_ns),
	THREAD_FLAG("waiting_at_least", MEMBER_OMITTED, THREAD_WAIT_AT_LEAST),
	THREAD("stuck_ns", U64, MEMBER_OMITTED, stuck_ns),
	THREAD("wait_class", WAIT_CLASS, MEMBER_OMITTED, wait_class),
	THREAD("wait_object", NAME, MEMBER_OMITTED, wait_object),
	THREAD("rss", OPTIONAL_U64, MEMBER_OMITTED, resident),
	THREAD("layout", TEXT, MEMBER_OMITTED, layout),
	THREAD(TASK_FIELD_SOURCE, TASK_FIELD_VALUES, MEMBER_OMITTED, index),
};

static const struct object thread_knowledge_object = OBJECT(thread_knowledge_members);

/* In written order; the positions of the metrics among them stand in their own table. The first element is
 * for those that no file holds. */
static const struct member thread_members[] = {
#define METRIC(id, text, position, metric_type, ...)                                                         \
	[position] = {                                                                                       \
		NAME(text),                                                                                  \
		.type = METRIC_TYPE_##metric_type == METRIC_TYPE_AFFINITY ? MEMBER_CPU_SET : MEMBER_VALUE,   \
		.flags = METRIC_FLAGS(METRIC_TYPE_##metric_type),                                            \
		.metric = METRIC_##id,                                                                       \
		.largest = METRIC_LARGEST(METRIC_TYPE_##metric_type),                                        \
		FIELD(thread_record, values[METRIC_##id]),                                                   \
	},
#include "metric/metrics.def"
#undef METRIC
	[1] = THREAD("tid", U32, MEMBER_REQUIRED, tid),
	[2] = THREAD("tgid", U32, MEMBER_REQUIRED, tgid),
	[3] = THREAD("pcomm", NAME, MEMBER_REQUIRED, names.pcomm),
	[4] = THREAD("comm", NAME, MEMBER_REQUIRED, names.comm),
	[5] = THREAD("cgroup", NAME, MEMBER_REQUIRED, names.cgroup),
	[6] = THREAD("start_time_clock_ticks", U64, MEMBER_DEFAULTED, start_time),
	[52] = THREAD("smaps_rollup_kib", KEY_VALUES, MEMBER_DEFAULTED, smaps),
	[94] = THREAD_FLAG("taskstats_measured", MEMBER_DEFAULTED, THREAD_TASKSTATS_MEASURED),
	[95] = THREAD_FLAG("cpu_delay_active", MEMBER_DEFAULTED, THREAD_CPU_DELAY_ACTIVE),
	[96] = THREAD_FLAG("delay_block_active", MEMBER_DEFAULTED, THREAD_DELAY_BLOCK_ACTIVE),
	[97] = THREAD_FLAG("xacct_active", MEMBER_DEFAULTED, THREAD_XACCT_ACTIVE),
	[98] = THREAD_FLAG("jemalloc_measured", MEMBER_DEFAULTED, THREAD_JEMALLOC_MEASURED),
	[99] = {NAME("ctop"), .type = MEMBER_OBJECT, .flags = MEMBER_OMITTED,
		.object = &thread_knowledge_object},
	[100] = THREAD("smaps_rollup_kb", KEY_VALUES, MEMBER_OLDER, smaps),
};

const struct object thread_object = {
	.members = thread_members + 1, .count = ARRAY_COUNT(thread_members) - 1, .present = SIZE_MAX};

/* A thread at the beginning of a window: values that are counted from. Metrics have the positions above. */
static const struct member window_thread_members[] = {
#define METRIC(id, text, position, metric_type, ...)                                                         \
	[position] = {NAME(text),                                                                            \
		      .type = MEMBER_VALUE,                                                                  \
		      .flags = MEMBER_OMITTED,                                                               \
		      .metric = METRIC_##id,                                                                 \
		      .largest = METRIC_LARGEST(METRIC_TYPE_##metric_type),                                  \
		      FIELD(thread_record, values[METRIC_##id])},
#include "metric/metrics.def"
#undef METRIC
	[1] = THREAD("thread", U32, MEMBER_REQUIRED, of),
	[2] = THREAD("missing", THREAD_MISSING, MEMBER_OMITTED, index),
	[3] = THREAD("elapsed_ns", ELAPSED, MEMBER_OMITTED, index),
	[4] = THREAD("waiting_ns", U64, MEMBER_OMITTED, waiting_ns),
	[5] = THREAD_FLAG("waiting_at_least", MEMBER_OMITTED, THREAD_WAIT_AT_LEAST),
	[6] = THREAD(TASK_FIELD_SOURCE, TASK_FIELD_VALUES, MEMBER_OMITTED, index),
	[52] = THREAD_FLAG("kernel", MEMBER_OMITTED, THREAD_KERNEL),
	[94] = THREAD_FLAG("taskstats_measured", MEMBER_OMITTED, THREAD_TASKSTATS_MEASURED),
	[95] = THREAD_FLAG("cpu_delay_active", MEMBER_OMITTED, THREAD_CPU_DELAY_ACTIVE),
	[96] = THREAD_FLAG("delay_block_active", MEMBER_OMITTED, THREAD_DELAY_BLOCK_ACTIVE),
	[97] = THREAD_FLAG("xacct_active", MEMBER_OMITTED, THREAD_XACCT_ACTIVE),
	[98] = THREAD_FLAG("jemalloc_measured", MEMBER_OMITTED, THREAD_JEMALLOC_MEASURED),
	[99] = THREAD("stuck_ns", U64, MEMBER_OMITTED, stuck_ns),
};

const struct object window_thread_object = {
	.members = window_thread_members + 1,
	.count = ARRAY_COUNT(window_thread_members) - 1,
	.present = SIZE_MAX,
};

#define ENDED(text, type, flag, field) MEMBER(ended_member, text, type, flag, field)

static const struct member ended_record_members[] = {
	ENDED("pcomm", NAME, MEMBER_REQUIRED, names.pcomm),
	ENDED("comm", NAME, MEMBER_REQUIRED, names.comm),
	ENDED("cgroup", NAME, MEMBER_REQUIRED, names.cgroup),
	OWN_NAMES(ended_member, names),
	ENDED("threads", U64, MEMBER_OMITTED, record.threads),
	ENDED("processes", U64, MEMBER_OMITTED, record.processes),
	ENDED("born", U64, MEMBER_OMITTED, record.born),
	ENDED("kernel", BOOLEAN, MEMBER_OMITTED, record.kernel),
	ENDED("tgid", U32, 0, record.tgid),
	ENDED("start_time_clock_ticks", U64, MEMBER_OMITTED, record.earliest_start),
	ENDED("started", U64, MEMBER_OMITTED, record.started_by.processes),
	ENDED("started_by", NAME, MEMBER_OMITTED, record.started_by.name),
	ENDED("untold", BOOLEAN, MEMBER_OMITTED, record.untold),
	ENDED("estimate", BOOLEAN, MEMBER_OMITTED, is_estimate),
	ENDED("counted", ENDED_COUNTED, MEMBER_OMITTED, record),
	ENDED("at_least", ENDED_AT_LEAST, MEMBER_OMITTED, record),
	ENDED("missed", ENDED_MISSED, MEMBER_OMITTED, record),
};

const struct object ended_record_object = OBJECT(ended_record_members);

static const struct member ended_members[] = {
	MEMBER(ended, "told", BOOLEAN, MEMBER_OMITTED, told),
	MEMBER(ended, "incomplete", BOOLEAN, MEMBER_OMITTED, incomplete),
	{NAME("groups"), MEMBER_OMITTED, MEMBER_ENDED_RECORDS},
};

static const struct object ended_object = OBJECT(ended_members);

static const struct member part_name_members[] = {
	SAME(triple, NAME, MEMBER_REQUIRED, pcomm),
	SAME(triple, NAME, MEMBER_REQUIRED, comm),
	SAME(triple, NAME, MEMBER_REQUIRED, cgroup),
	OWN_NAMES(triple, pcomm),
};

const struct object part_name_object = OBJECT(part_name_members);

static const struct member part_members[] = {
	SAME(window_part, U64, MEMBER_REQUIRED, length_ns),
	{NAME("names"), MEMBER_OMITTED, MEMBER_PART_INDICES},
	{NAME("metrics"), MEMBER_OMITTED, MEMBER_PART_METRICS},
	{NAME("amounts"), MEMBER_OMITTED, MEMBER_PART_AMOUNTS},
};

const struct object part_object = OBJECT(part_members);

static const struct member pressure_half_members[] = {
	SAME(pressure_half, U16, MEMBER_DEFAULTED, avg10),
	SAME(pressure_half, U16, MEMBER_DEFAULTED, avg60),
	SAME(pressure_half, U16, MEMBER_DEFAULTED, avg300),
	SAME(pressure_half, U64, MEMBER_DEFAULTED, total_usec),
};

static const struct object pressure_half_object = OBJECT(pressure_half_members);

/* Offsets in struct pressure, whose resources are all of one shape. */
static const struct member pressure_resource_members[] = {
	NESTED(pressure, "some", MEMBER_REQUIRED, resource[0].some, pressure_half_object),
	NESTED(pressure, "full", MEMBER_REQUIRED, resource[0].full, pressure_half_object),
};

static const struct object pressure_resource_object = OBJECT(pressure_resource_members);

#define RESOURCE(text, id)                                                                                   \
	NESTED(pressure, text, MEMBER_REQUIRED, resource[PRESSURE_##id], pressure_resource_object)

static const struct member pressure_members[] = {
	RESOURCE("cpu", CPU),
	RESOURCE("memory", MEMORY),
	RESOURCE("io", IO),
	RESOURCE("irq", IRQ),
};

static const struct object pressure_object = OBJECT(pressure_members);

/* A number that older files lack is 0, what may be absent is null, and lists must be there. */
#define CGROUP_FLAGS_U64          MEMBER_DEFAULTED
#define CGROUP_FLAGS_OPTIONAL_U64 MEMBER_NULLABLE
#define CGROUP_FLAGS_OPTIONAL_I32 MEMBER_NULLABLE
#define CGROUP_FLAGS_KEY_VALUES   MEMBER_REQUIRED

/* By enum cgroup_record_field; the objects below take their parts. */
static const struct member cgroup_fields[CGROUP_RECORD_FIELD_COUNT] = {
#define CGROUP_FIELD(id, field, type, text, ...)                                                             \
	MEMBER(cgroup_record, text, type, CGROUP_FLAGS_##type, field),
#include "snapshot/cgroup_field.def"
#undef CGROUP_FIELD
};

#define CGROUP_OBJECT(first, behind)                                                                         \
	{                                                                                                    \
		.members = cgroup_fields + (first), .count = (behind) - (first), .present = SIZE_MAX         \
	}

static const struct member cgroup_knowledge_members[] = {
	{NAME("missing"), MEMBER_OMITTED, MEMBER_NAMED_REASONS, FIELD(cgroup_record, missing),
	 .names = cgroup_file_names, .count = CGROUP_FILE_COUNT},
	MEMBER(cgroup_record, "io_read_bytes", OPTIONAL_U64, MEMBER_OMITTED, io_read),
	MEMBER(cgroup_record, "io_written_bytes", OPTIONAL_U64, MEMBER_OMITTED, io_written),
	SAME(cgroup_record, OPTIONAL_U64, MEMBER_OMITTED, id),
	MEMBER(cgroup_record, "there_since_unix_ns", OPTIONAL_U64, MEMBER_OMITTED, there_since),
	MEMBER(cgroup_record, "read_at_boottime_ns", OPTIONAL_U64, MEMBER_OMITTED, read_at),
};

static const struct object cgroup_cpu_object = CGROUP_OBJECT(0, CGROUP_RECORD_MEMORY_CURRENT);
static const struct object cgroup_memory_object = CGROUP_OBJECT(CGROUP_RECORD_MEMORY_CURRENT,
								CGROUP_RECORD_PIDS_CURRENT);
static const struct object cgroup_pids_object = CGROUP_OBJECT(CGROUP_RECORD_PIDS_CURRENT,
							      CGROUP_RECORD_IO_READ);
static const struct object cgroup_knowledge_object = OBJECT(cgroup_knowledge_members);

/* The nested objects lie in the record itself. */
static const struct member cgroup_members[] = {
	{NAME("cpu"), MEMBER_REQUIRED, MEMBER_OBJECT, .object = &cgroup_cpu_object},
	{NAME("memory"), MEMBER_REQUIRED, MEMBER_OBJECT, .object = &cgroup_memory_object},
	{NAME("pids"), MEMBER_REQUIRED, MEMBER_OBJECT, .object = &cgroup_pids_object},
	NESTED(cgroup_record, "psi", MEMBER_REQUIRED, pressure, pressure_object),
	{NAME("ctop"), MEMBER_OMITTED, MEMBER_OBJECT, .object = &cgroup_knowledge_object},
	MEMBER(cgroup_record, "cpu_usage_usec", U64, MEMBER_OLDER, usage_usec),
	SAME(cgroup_record, U64, MEMBER_OLDER, nr_throttled),
	SAME(cgroup_record, U64, MEMBER_OLDER, throttled_usec),
	SAME(cgroup_record, U64, MEMBER_OLDER, memory_current),
};

const struct object cgroup_object = {
	.members = cgroup_members,
	.count = ARRAY_COUNT(cgroup_members),
	.present = SIZE_MAX,
	.has_older_form = true,
};

#define HOST(type, field) SAME(host, type, MEMBER_OMITTED, field)

/* Offsets in struct host. */
static const struct member heap_state_members[] = {
	MEMBER(host, "active_bytes", OPTIONAL_U64, MEMBER_OMITTED, heap_state.active_bytes),
	MEMBER(host, "allocated_bytes", OPTIONAL_U64, MEMBER_OMITTED, heap_state.allocated_bytes),
	MEMBER(host, "resident_bytes", OPTIONAL_U64, MEMBER_OMITTED, heap_state.resident_bytes),
	MEMBER(host, "mapped_bytes", OPTIONAL_U64, MEMBER_OMITTED, heap_state.mapped_bytes),
	MEMBER(host, "narenas", OPTIONAL_U64, MEMBER_OMITTED, heap_state.narenas),
};

static const struct object heap_state_object = OPTIONAL_OBJECT(heap_state_members, host, heap_state.present);

static const struct member host_members[] = {
	HOST(TEXT, cpu_model),
	HOST(TEXT, cpu_vendor),
	HOST(OPTIONAL_U64, total_memory_kib),
	HOST(OPTIONAL_U64, hugepages_total),
	HOST(OPTIONAL_U64, hugepages_free),
	HOST(OPTIONAL_U64, hugepages_size_kib),
	HOST(TEXT, thp_enabled),
	HOST(TEXT, thp_defrag),
	HOST(TEXT_PAIRS, sched_tunables),
	HOST(OPTIONAL_U64, online_cpus),
	HOST(OPTIONAL_U64, numa_nodes),
	HOST(NUMBERED_PAIRS, cpufreq_governor),
	HOST(TEXT, kernel_name),
	HOST(TEXT, kernel_release),
	HOST(TEXT, arch),
	HOST(TEXT, kernel_cmdline),
	HOST(TEXT, task_delayacct),
	HOST(TEXT, config_task_xacct),
	{NAME("heap_state"), MEMBER_OMITTED, MEMBER_OBJECT, .object = &heap_state_object},
	MEMBER(host, "total_memory_kb", OPTIONAL_U64, MEMBER_OLDER, total_memory_kib),
	MEMBER(host, "hugepages_size_kb", OPTIONAL_U64, MEMBER_OLDER, hugepages_size_kib),
};

static const struct object host_object = OPTIONAL_OBJECT(host_members, host, present);

static const struct member probe_summary_members[] = {
	SAME(probe_summary, U64, MEMBER_DEFAULTED, tgids_walked),
	SAME(probe_summary, U64, MEMBER_DEFAULTED, jemalloc_detected),
	SAME(probe_summary, U64, MEMBER_DEFAULTED, probed_ok),
	SAME(probe_summary, U64, MEMBER_DEFAULTED, failed),
	SAME(probe_summary, TEXT, MEMBER_NULLABLE, dominant_failure),
	SAME(probe_summary, BOOLEAN, MEMBER_DEFAULTED, privilege_dominant),
	SAME(probe_summary, BOOLEAN, MEMBER_UNWRITTEN, stopped_known),
	SAME(probe_summary, U64, MEMBER_UNWRITTEN, stopped),
};

static const struct member parse_summary_members[] = {
	SAME(parse_summary, U64, MEMBER_DEFAULTED, tids_walked),
	SAME(parse_summary, U64, MEMBER_DEFAULTED, read_failures),
	{NAME("read_failures_by_file"), MEMBER_DEFAULTED, MEMBER_NAMED_NUMBERS,
	 FIELD(parse_summary, read_failures_by_file), .names = parse_file_names, .count = PARSE_FILE_COUNT},
	SAME(parse_summary, TEXT, MEMBER_NULLABLE, dominant_read_failure),
	SAME(parse_summary, BOOLEAN, MEMBER_DEFAULTED, kernel_config_dominant),
	SAME(parse_summary, U64, MEMBER_DEFAULTED, negative_dotted_values),
};

static const struct member taskstats_summary_members[] = {
	SAME(taskstats_summary, U64, MEMBER_DEFAULTED, ok_count),
	SAME(taskstats_summary, U64, MEMBER_DEFAULTED, eperm_count),
	SAME(taskstats_summary, U64, MEMBER_DEFAULTED, esrch_count),
	SAME(taskstats_summary, U64, MEMBER_DEFAULTED, other_err_count),
};

static const struct member sched_ext_members[] = {
	SAME(sched_ext, TEXT, MEMBER_REQUIRED, state),
	SAME(sched_ext, U64, MEMBER_DEFAULTED, switch_all),
	SAME(sched_ext, U64, MEMBER_DEFAULTED, nr_rejected),
	SAME(sched_ext, U64, MEMBER_DEFAULTED, hotplug_seq),
	SAME(sched_ext, U64, MEMBER_DEFAULTED, enable_seq),
};

static const struct object probe_summary_object = OPTIONAL_OBJECT(probe_summary_members, probe_summary,
								  present);
static const struct object parse_summary_object = OPTIONAL_OBJECT(parse_summary_members, parse_summary,
								  present);
static const struct object taskstats_summary_object = OPTIONAL_OBJECT(taskstats_summary_members,
								      taskstats_summary, present);
static const struct object sched_ext_object = OPTIONAL_OBJECT(sched_ext_members, sched_ext, present);

static const struct member feature_members[] = {
	SAME(feature_result, FEATURE_STATE, MEMBER_BRIEF, state),
	SAME(feature_result, FEATURE_REASON, MEMBER_OMITTED | MEMBER_BRIEF, reason),
	SAME(feature_result, TEXT, MEMBER_OMITTED, detail),
	SAME(feature_result, TEXT, MEMBER_OMITTED, remedy),
};

const struct object feature_object = LIST_OBJECT(feature_members, feature_result);

static const struct member tally_members[] = {
	SAME(tally, U64, 0, read),
	SAME(tally, MISSED, MEMBER_OMITTED, missed),
};

const struct object tally_object = OBJECT(tally_members);

/* A list, and its elements: objects, or values without a name. */
#define LIST(type_name, text, flag, field, count_field, of)                                                  \
	{                                                                                                    \
		NAME(text), (flag), MEMBER_LIST, FIELD(type_name, field),                                    \
			.known = offsetof(struct type_name, count_field), .object = &(of)                    \
	}
#define VALUES(type_name, field)                                                                             \
	{                                                                                                    \
		.members = (field), .count = 1, .present = SIZE_MAX, .size = sizeof(type_name)               \
	}

static const struct member text_value = {.type = MEMBER_TEXT};
static const struct member u32_value = {.type = MEMBER_U32, .largest = UINT32_MAX};
static const struct object text_list = VALUES(const char *, &text_value);
static const struct object u32_list = VALUES(uint32_t, &u32_value);

static const struct member text_pair_members[] = {
	SAME(text_pair, TEXT, 0, key),
	SAME(text_pair, TEXT, 0, value),
};

const struct object text_pair_object = LIST_OBJECT(text_pair_members, text_pair);

static const struct member heap_members[] = {
	SAME(heap_process, U32, 0, tgid),
	SAME(heap_process, TEXT, MEMBER_OMITTED, layout),
	SAME(heap_process, TEXT, MEMBER_OMITTED, version),
	SAME(heap_process, TEXT, MEMBER_OMITTED, tag),
	SAME(heap_process, TEXT, MEMBER_OMITTED, text),
};

static const struct object heap_object = LIST_OBJECT(heap_members, heap_process);

static const struct member title_members[] = {
	SAME(process_title, U32, 0, tgid),
	SAME(process_title, TEXT, 0, text),
};

static const struct object title_object = LIST_OBJECT(title_members, process_title);

static const struct member latency_histogram_members[] = {
	SAME(latency_histogram, U64, MEMBER_OMITTED, sum_ns),
	SAME(latency_histogram, U64, MEMBER_OMITTED, max_ns),
	{NAME("buckets"), MEMBER_OMITTED, MEMBER_BUCKETS, FIELD(latency_histogram, buckets),
	 .count = LATENCY_BUCKETS},
};

static const struct object latency_histogram_object = OBJECT(latency_histogram_members);

static const struct member latency_group_members[] = {
	MEMBER(latency_group, "pcomm", NAME, 0, names.pcomm),
	MEMBER(latency_group, "comm", NAME, 0, names.comm),
	MEMBER(latency_group, "cgroup", NAME, 0, names.cgroup),
	OWN_NAMES(latency_group, names),
	MEMBER(latency_group, "kernel", BOOLEAN, MEMBER_OMITTED, is_kernel),
	NESTED(latency_group, "run_queue", MEMBER_OMITTED, waits.of[LATENCY_RUN_QUEUE],
	       latency_histogram_object),
	NESTED(latency_group, "blocked", MEMBER_OMITTED, waits.of[LATENCY_BLOCKED], latency_histogram_object),
};

const struct object latency_group_object = LIST_OBJECT(latency_group_members, latency_group);

struct latency_group latency_group_of(const struct latency *latency, size_t index)
{
	const struct latency_record *record = &latency->records[index];

	return (struct latency_group){
		.names = {record->pcomm, record->comm, record->cgroup},
		.is_kernel = record->is_kernel,
		.waits = *latency_waits_of(latency, index),
	};
}

void latency_add_group(struct snapshot *snapshot, const struct latency_group *group)
{
	const struct triple *names = &group->names;

	latency_add_record(snapshot, names->pcomm, names->comm, names->cgroup)->is_kernel = group->is_kernel;
	latency_add_waits(&snapshot->latency, snapshot->latency.count - 1, &group->waits);
}

static const struct member latency_share_members[] = {
	MEMBER(latency_share, "group", U32, 0, record),
	SAME(latency_share, U32, MEMBER_OMITTED, pid),
	NESTED(latency_share, "run_queue", MEMBER_OMITTED, waits.of[LATENCY_RUN_QUEUE],
	       latency_histogram_object),
	NESTED(latency_share, "blocked", MEMBER_OMITTED, waits.of[LATENCY_BLOCKED], latency_histogram_object),
};

const struct object latency_share_object = LIST_OBJECT(latency_share_members, latency_share);

static const struct member latency_delay_members[] = {
	SAME(latency_delay, U32, 0, victim),
	SAME(latency_delay, LATENCY_CAUSE, MEMBER_OMITTED, cause),
	SAME(latency_delay, U32, MEMBER_OMITTED, culprit),
	SAME(latency_delay, U64, 0, time_ns),
	SAME(latency_delay, U64, 0, waits),
	SAME(latency_delay, U64, MEMBER_OMITTED, wakes),
};

const struct object latency_delay_object = LIST_OBJECT(latency_delay_members, latency_delay);

static const struct member latency_time_members[] = {
	MEMBER(latency_time, "group", U32, 0, record),
	SAME(latency_time, U32, MEMBER_OMITTED, pid),
	SAME(latency_time, WAIT_CLASS, 0, class),
	SAME(latency_time, U64, 0, time_ns),
};

static const struct object latency_time_object = LIST_OBJECT(latency_time_members, latency_time);

static const struct member latency_members[] = {
	SAME(latency, U64, MEMBER_OMITTED, span_ns),
	SAME(latency, U64, MEMBER_OMITTED, events),
	SAME(latency, U64, MEMBER_OMITTED, cost_ns),
	{NAME("groups"), MEMBER_UNCODED, MEMBER_LATENCY_GROUPS, FIELD(latency, records),
	 .known = offsetof(struct latency, count), .object = &latency_group_object},
	{NAME("processes"), MEMBER_UNCODED | MEMBER_OMITTED, MEMBER_LATENCY_SHARES, FIELD(latency, shares),
	 .known = offsetof(struct latency, share_count), .object = &latency_share_object},
	{NAME("delays"), MEMBER_UNCODED | MEMBER_OMITTED, MEMBER_LATENCY_DELAYS, FIELD(latency, delays),
	 .known = offsetof(struct latency, delay_count), .object = &latency_delay_object},
	{NAME("times"), MEMBER_UNCODED | MEMBER_OMITTED, MEMBER_LATENCY_TIMES, FIELD(latency, times),
	 .known = offsetof(struct latency, time_count), .object = &latency_time_object},
	SAME(latency, BOOLEAN, MEMBER_UNWRITTEN, is_whole),
};

const struct object latency_object = OPTIONAL_OBJECT(latency_members, latency, present);

static const struct member enumerator_members[] = {
	SAME(task_field_enumerator, TEXT, 0, name),
	SAME(task_field_enumerator, U64, 0, value),
};

static const struct object enumerator_object = LIST_OBJECT(enumerator_members, task_field_enumerator);

static const struct member task_field_member_members[] = {
	MEMBER(task_field_member_record, "name", TEXT, 0, member.name),
	MEMBER(task_field_member_record, "type", TEXT, 0, member.type),
	MEMBER(task_field_member_record, "kind", TASK_FIELD_KIND, 0, member.kind),
	MEMBER(task_field_member_record, "bit_offset", U32, 0, member.bit_offset),
	MEMBER(task_field_member_record, "bit_size", U32, 0, member.bit_size),
	MEMBER(task_field_member_record, "count", OPTIONAL_U64, MEMBER_OMITTED, count),
	MEMBER(task_field_member_record, "signed", BOOLEAN, MEMBER_OMITTED, member.is_signed),
	SAME(task_field_member_record, TEXT, MEMBER_OMITTED, reduction),
	SAME(task_field_member_record, TEXT, MEMBER_OMITTED, unit),
	{NAME("values"), MEMBER_OMITTED, MEMBER_TASK_FIELD_ENUMERATORS,
	 FIELD(task_field_member_record, member.enumerators),
	 .known = offsetof(struct task_field_member_record, member.enumerator_count),
	 .object = &enumerator_object},
};

const struct object task_field_member_object = OBJECT(task_field_member_members);

static const struct member task_fields_members[] = {
	SAME(task_fields_record, TEXT, MEMBER_OMITTED, source),
	SAME(task_fields_record, TEXT, 0, scheduler),
	SAME(task_fields_record, U64, MEMBER_OMITTED, enable_seq),
	MEMBER(task_fields_record, "loaded_boottime_ns", U64, MEMBER_OMITTED, loaded_at_ns),
	MEMBER(task_fields_record, "read_monotonic_ns", U64, MEMBER_OMITTED | MEMBER_UNCODED, read_at_ns),
	SAME(task_fields_record, TEXT, 0, type),
	SAME(task_fields_record, TEXT, 0, storage),
	SAME(task_fields_record, TEXT, 0, layout),
	SAME(task_fields_record, U32, 0, size),
	SAME(task_fields_record, U64, MEMBER_OMITTED | MEMBER_UNCODED, mismatched),
	{NAME("events"), MEMBER_OMITTED | MEMBER_UNCODED, MEMBER_TASK_FIELD_EVENTS},
	{NAME("members"), MEMBER_OMITTED | MEMBER_UNCODED, MEMBER_TASK_FIELD_MEMBERS},
};

const struct object task_fields_object = OPTIONAL_OBJECT(task_fields_members, task_fields_record, present);

static const struct member cpu_members[] = {
	MEMBER(cpu_ticks, "cpu", U32, 0, number),
	SAME(cpu_ticks, U64, 0, idle),
	SAME(cpu_ticks, U64, 0, all),
};

static const struct object cpu_object = LIST_OBJECT(cpu_members, cpu_ticks);

static const struct member disk_members[] = {
	SAME(device, TEXT, 0, name),
	SAME(device, U64, 0, busy_ms),
	SAME(device, U64, 0, read_bytes),
	SAME(device, U64, 0, write_bytes),
};

static const struct object disk_object = LIST_OBJECT(disk_members, device);

static const struct member network_members[] = {
	SAME(device, TEXT, 0, name),
	MEMBER(device, "received_bytes", U64, 0, read_bytes),
	MEMBER(device, "sent_bytes", U64, 0, write_bytes),
};

static const struct object network_object = LIST_OBJECT(network_members, device);

#define PROVENANCE(text, type, field) MEMBER(provenance, text, type, MEMBER_OMITTED, field)

/* Offsets in struct provenance. */
static const struct member provenance_host_members[] = {
	PROVENANCE("hostname", TEXT, hostname),
	{NAME("cpu_ticks"), MEMBER_OMITTED | MEMBER_BRIEF, MEMBER_NUMBERS, FIELD(provenance, cpu_ticks),
	 .known = offsetof(struct provenance, cpu_ticks_known), .count = CPU_TICK_KINDS},
	PROVENANCE("procs_running", OPTIONAL_U64, procs_running),
	PROVENANCE("procs_blocked", OPTIONAL_U64, procs_blocked),
	{NAME("load_centi"), MEMBER_OMITTED, MEMBER_NUMBERS, FIELD(provenance, load_centi),
	 .known = offsetof(struct provenance, load_known), .count = 3},
	PROVENANCE("mem_available_kib", OPTIONAL_U64, mem_available_kib),
	MEMBER(provenance, "cpu_ticks_boottime_ns", U64, MEMBER_OMITTED | MEMBER_BRIEF, cpu_ticks_at_ns),
	MEMBER(provenance, "forks", OPTIONAL_U64, MEMBER_OMITTED | MEMBER_BRIEF, forks),
	MEMBER(provenance, "cpu_end", U32, MEMBER_OMITTED | MEMBER_UNCODED, devices.cpu_end),
	LIST(provenance, "cpus", MEMBER_OMITTED | MEMBER_UNCODED, devices.cpus, devices.cpu_count,
	     cpu_object),
	LIST(provenance, "disks", MEMBER_OMITTED | MEMBER_UNCODED, devices.disks, devices.disk_count,
	     disk_object),
	LIST(provenance, "networks", MEMBER_OMITTED | MEMBER_UNCODED, devices.networks, devices.network_count,
	     network_object),
	MEMBER(provenance, "devices_boottime_ns", U64, MEMBER_OMITTED | MEMBER_UNCODED, devices.read_at_ns),
};

static const struct object provenance_host_object = OBJECT(provenance_host_members);

#define WINDOW(text, type)                                                                                   \
	{                                                                                                    \
		NAME(text), MEMBER_OMITTED, MEMBER_##type                                                    \
	}

/* The beginning of a window. */
static const struct member window_members[] = {
	SAME(snapshot, U64, MEMBER_REQUIRED, captured_at_unix_ns),
	MEMBER(snapshot, "boottime_ns", U64, MEMBER_REQUIRED, provenance.boottime_ns),
	MEMBER(snapshot, "note", TEXT, MEMBER_OMITTED, window_note),
	WINDOW("sources", SOURCES),
	WINDOW("missing", MISSING),
	WINDOW("waits", WAITS),
	{NAME(TASK_FIELD_SOURCE), MEMBER_OMITTED, MEMBER_TASK_FIELDS, .object = &task_fields_object},
	NESTED(snapshot, "host", MEMBER_OMITTED, provenance, provenance_host_object),
	NESTED(snapshot, "psi", MEMBER_OMITTED, pressure, pressure_object),
	WINDOW("born", WINDOW_BORN),
	WINDOW("unknown", WINDOW_UNKNOWN),
	WINDOW("rss", WINDOW_RESIDENT),
	WINDOW("threads", WINDOW_THREADS),
	WINDOW("cgroup_stats", CGROUPS),
	{NAME("latency"), MEMBER_OMITTED, MEMBER_LATENCY, FIELD(snapshot, latency),
	 .object = &latency_object},
	{NAME("ended"), MEMBER_OMITTED, MEMBER_WINDOW_ENDED, .object = &ended_object},
	WINDOW("part_names", PART_NAMES),
	WINDOW("parts", PARTS),
};

static const struct object window_object = OBJECT(window_members);

static const struct member provenance_members[] = {
	{NAME("version"), .flags = MEMBER_UNCODED, .type = MEMBER_VERSION},
	PROVENANCE("program", TEXT, program),
	PROVENANCE("boot_id", TEXT, boot_id),
	MEMBER(provenance, "boottime_ns", U64, MEMBER_OMITTED | MEMBER_BRIEF, boottime_ns),
	MEMBER(provenance, "duration_ns", U64, MEMBER_OMITTED | MEMBER_BRIEF, duration_ns),
	PROVENANCE("uid", OPTIONAL_U64, uid),
	LIST(provenance, "capabilities", MEMBER_OMITTED, capabilities, capability_count, text_list),
	{NAME("namespaces"), MEMBER_OMITTED, MEMBER_NAMED_NUMBERS, FIELD(provenance, namespaces),
	 .names = namespace_names, .count = NAMESPACE_COUNT},
	{NAME("roots"), MEMBER_OMITTED, MEMBER_NAMED_TEXTS, FIELD(provenance, roots), .names = root_names,
	 .count = ROOT_COUNT},
	LIST(provenance, "scope", MEMBER_OMITTED, scope, scope_count, u32_list),
	{NAME("features"), MEMBER_OMITTED | MEMBER_BRIEF, MEMBER_FEATURES, FIELD(provenance, features),
	 .object = &feature_object},
	{NAME("sources"), MEMBER_OMITTED | MEMBER_UNCODED, MEMBER_SOURCES},
	{NAME("missing"), MEMBER_OMITTED | MEMBER_UNCODED, MEMBER_MISSING},
	PROVENANCE("tallies", TALLIES, tallies),
	PROVENANCE("ended", U64, ended),
	PROVENANCE("hidden_threads", U64, hidden_threads),
	PROVENANCE("rss_error", U64, resident_error),
	{NAME("waits"), MEMBER_OMITTED | MEMBER_UNCODED, MEMBER_WAITS},
	{NAME("wait_classes"), MEMBER_OMITTED | MEMBER_UNCODED, MEMBER_WAIT_CLASSES},
	LIST(provenance, "heap", MEMBER_OMITTED, heap, heap_count, heap_object),
	PROVENANCE("containers", TEXT_PAIRS, containers),
	LIST(provenance, "titles", MEMBER_OMITTED | MEMBER_UNCODED, titles, title_count, title_object),
	{NAME("window"), MEMBER_OMITTED | MEMBER_UNCODED, MEMBER_WINDOW, .object = &window_object},
	/* it lies behind the struct, in that of the snapshot */
	{NAME("latency"), MEMBER_OMITTED | MEMBER_UNCODED, MEMBER_LATENCY,
	 .offset = offsetof(struct snapshot, latency) - offsetof(struct snapshot, provenance),
	 .object = &latency_object},
	{NAME(TASK_FIELD_SOURCE), MEMBER_OMITTED | MEMBER_UNCODED, MEMBER_TASK_FIELDS,
	 .object = &task_fields_object},
	{NAME("host"), MEMBER_OMITTED | MEMBER_BRIEF, MEMBER_OBJECT, .object = &provenance_host_object},
};

static const struct object provenance_object = OPTIONAL_OBJECT(provenance_members, provenance, present);

static const struct member event_members[] = {
	SAME(task_field_event, TEXT, 0, name),
	SAME(task_field_event, U64, 0, value),
};

static const struct object event_object = LIST_OBJECT(event_members, task_field_event);

/* The content of `sources` and `missing` of a file, as arrays. */
#define STATES(field, kind, words, number)                                                                   \
	{                                                                                                    \
		NAME(#field), MEMBER_UNWRITTEN | MEMBER_BRIEF, MEMBER_ELEMENTS, FIELD(snapshot, field),      \
			.element = MEMBER_##kind, .by = (words), .count = (number)                           \
	}

static const struct member snapshot_members[] = {
	SAME(snapshot, U64, MEMBER_REQUIRED | MEMBER_BRIEF, captured_at_unix_ns),
	NESTED(snapshot, "ctop", MEMBER_OMITTED | MEMBER_BRIEF, provenance, provenance_object),
	NESTED(snapshot, "host", MEMBER_NULLABLE, host, host_object),
	{NAME("threads"), MEMBER_REQUIRED | MEMBER_UNCODED, MEMBER_THREADS},
	{NAME("cgroup_stats"), MEMBER_REQUIRED | MEMBER_UNCODED, MEMBER_CGROUPS},
	NESTED(snapshot, "probe_summary", MEMBER_NULLABLE, probe_summary, probe_summary_object),
	NESTED(snapshot, "parse_summary", MEMBER_NULLABLE, parse_summary, parse_summary_object),
	NESTED(snapshot, "taskstats_summary", MEMBER_NULLABLE, taskstats_summary, taskstats_summary_object),
	NESTED(snapshot, "psi", MEMBER_REQUIRED, pressure, pressure_object),
	NESTED(snapshot, "sched_ext", MEMBER_NULLABLE, sched_ext, sched_ext_object),
	STATES(default_reason, REASON, VOCABULARY_SOURCE + 1, SOURCE_COUNT),
	STATES(metric_reason, REASON, VOCABULARY_METRIC + 1, METRIC_COUNT),
	STATES(metric_source, METRIC_SOURCE, VOCABULARY_METRIC + 1, METRIC_COUNT),
	STATES(pressure_missing, REASON, 0, PRESSURE_RESOURCE_COUNT),
	SAME(snapshot, REASON, MEMBER_UNWRITTEN | MEMBER_BRIEF, resident_missing),
	SAME(snapshot, TEXT, MEMBER_UNWRITTEN, format_notes),
	SAME(snapshot, U64, MEMBER_UNWRITTEN, task_fields.read_at_ns),
	SAME(snapshot, U64, MEMBER_UNWRITTEN, task_fields.mismatched),
	SAME(snapshot, BOOLEAN, MEMBER_UNWRITTEN, task_fields.only_numbers),
	LIST(snapshot, "events", MEMBER_UNWRITTEN, task_fields.events, task_fields.event_count, event_object),
};

const struct object snapshot_object = OBJECT(snapshot_members);

const char *member_slot_name(size_t slot)
{
	return slot == ENDED_SLOT_OVERLAP    ? "swapin_or_thrashing_delay_total_ns"
	       : slot == ENDED_SLOT_RESIDENT ? "rss"
					     : metrics[slot].name;
}

size_t member_slot_find(const char *name, size_t length)
{
	for (size_t slot = ENDED_SLOT_OVERLAP; slot < ENDED_SLOTS; slot++) {
		if (strlen(member_slot_name(slot)) == length &&
		    memcmp(member_slot_name(slot), name, length) == 0)
			return slot;
	}
	return metric_find(name, length) != METRIC_NONE ? (size_t)metric_find(name, length) : ENDED_SLOTS;
}
