/* SPDX-License-Identifier: GPL-2.0-only */
#include "member.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

#define NAME(text)              .name = (text), .prefix = ",\"" text "\":", .length = sizeof(text) + 3
#define FIELD(type_name, field) .offset = offsetof(struct type_name, field)
#define OBJECT(table)                                                                                        \
	{                                                                                                    \
		.members = (table), .count = COUNT_OF(table), .present = SIZE_MAX                            \
	}
#define OPTIONAL_OBJECT(table, type_name, field)                                                             \
	{                                                                                                    \
		.members = (table), .count = COUNT_OF(table), .present = offsetof(struct type_name, field)   \
	}

/* Words and sets have no value that could stand for them when they are missing; of a state that is `~`. */
#define METRIC_FLAGS(type)                                                                                   \
	((type) == METRIC_TYPE_CATEGORY || (type) == METRIC_TYPE_AFFINITY ? MEMBER_REQUIRED                  \
	 : (type) == METRIC_TYPE_CHARACTER                                ? 0                                \
									  : MEMBER_DEFAULTED)
#define THREAD(text, member_type, flag, field)                                                               \
	{                                                                                                    \
		NAME(text), .type = MEMBER_##member_type, .flags = (flag), FIELD(thread_record, field)       \
	}
#define THREAD_FLAG(text, flag, number)                                                                      \
	{                                                                                                    \
		NAME(text), .type = MEMBER_FLAG, .flags = (flag), FIELD(thread_record, flags),               \
			    .bit = (number)                                                                  \
	}

static const struct member thread_knowledge_members[] = {
	THREAD_FLAG("kernel", MEMBER_OMITTED, THREAD_KERNEL),
	THREAD("uid", UID, MEMBER_OMITTED, uid),
	THREAD("missing", THREAD_MISSING, MEMBER_OMITTED, index),
	THREAD("age_ns", AGES, MEMBER_OMITTED, index),
	THREAD("layout", TEXT, MEMBER_OMITTED, layout),
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
	.members = thread_members + 1, .count = COUNT_OF(thread_members) - 1, .present = SIZE_MAX};

static const struct member pressure_half_members[] = {
	{NAME("avg10"), MEMBER_DEFAULTED, MEMBER_U16, FIELD(pressure_half, avg10)},
	{NAME("avg60"), MEMBER_DEFAULTED, MEMBER_U16, FIELD(pressure_half, avg60)},
	{NAME("avg300"), MEMBER_DEFAULTED, MEMBER_U16, FIELD(pressure_half, avg300)},
	{NAME("total_usec"), MEMBER_DEFAULTED, MEMBER_U64, FIELD(pressure_half, total_usec)},
};

static const struct object pressure_half_object = OBJECT(pressure_half_members);

/* Offsets in struct pressure, whose resources are all of one shape. */
static const struct member pressure_resource_members[] = {
	{NAME("some"), MEMBER_REQUIRED, MEMBER_OBJECT, FIELD(pressure, resource[0].some),
	 .object = &pressure_half_object},
	{NAME("full"), MEMBER_REQUIRED, MEMBER_OBJECT, FIELD(pressure, resource[0].full),
	 .object = &pressure_half_object},
};

static const struct object pressure_resource_object = OBJECT(pressure_resource_members);

#define RESOURCE(text, id)                                                                                   \
	{                                                                                                    \
		NAME(text), MEMBER_REQUIRED, MEMBER_OBJECT, FIELD(pressure, resource[PRESSURE_##id]),        \
			.object = &pressure_resource_object                                                  \
	}

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
	{NAME(text), CGROUP_FLAGS_##type, MEMBER_##type, FIELD(cgroup_record, field)},
#include "snapshot/cgroup_field.def"
#undef CGROUP_FIELD
};

#define CGROUP_OBJECT(first, behind)                                                                         \
	{                                                                                                    \
		.members = cgroup_fields + (first), .count = (behind) - (first), .present = SIZE_MAX         \
	}

static const struct member cgroup_knowledge_members[] = {
	{NAME("missing"), MEMBER_OMITTED, MEMBER_NAMED_REASONS, FIELD(cgroup_record, missing),
	 .names = cgroup_member_names, .count = CGROUP_MEMBER_COUNT},
};

static const struct object cgroup_cpu_object = CGROUP_OBJECT(0, CGROUP_RECORD_MEMORY_CURRENT);
static const struct object cgroup_memory_object = CGROUP_OBJECT(CGROUP_RECORD_MEMORY_CURRENT,
								CGROUP_RECORD_PIDS_CURRENT);
static const struct object cgroup_pids_object = CGROUP_OBJECT(CGROUP_RECORD_PIDS_CURRENT,
							      CGROUP_RECORD_FIELD_COUNT);
static const struct object cgroup_knowledge_object = OBJECT(cgroup_knowledge_members);

/* The nested objects lie in the record itself. */
static const struct member cgroup_members[] = {
	{NAME("cpu"), MEMBER_REQUIRED, MEMBER_OBJECT, .object = &cgroup_cpu_object},
	{NAME("memory"), MEMBER_REQUIRED, MEMBER_OBJECT, .object = &cgroup_memory_object},
	{NAME("pids"), MEMBER_REQUIRED, MEMBER_OBJECT, .object = &cgroup_pids_object},
	{NAME("psi"), MEMBER_REQUIRED, MEMBER_OBJECT, FIELD(cgroup_record, pressure),
	 .object = &pressure_object},
	{NAME("ctop"), MEMBER_OMITTED, MEMBER_OBJECT, .object = &cgroup_knowledge_object},
	{NAME("cpu_usage_usec"), MEMBER_OLDER, MEMBER_U64, FIELD(cgroup_record, usage_usec)},
	{NAME("nr_throttled"), MEMBER_OLDER, MEMBER_U64, FIELD(cgroup_record, nr_throttled)},
	{NAME("throttled_usec"), MEMBER_OLDER, MEMBER_U64, FIELD(cgroup_record, throttled_usec)},
	{NAME("memory_current"), MEMBER_OLDER, MEMBER_U64, FIELD(cgroup_record, memory_current)},
};

const struct object cgroup_object = {
	.members = cgroup_members,
	.count = COUNT_OF(cgroup_members),
	.present = SIZE_MAX,
	.has_older_form = true,
};

#define HOST(text, member_type, field)                                                                       \
	{                                                                                                    \
		NAME(text), .flags = MEMBER_OMITTED, .type = MEMBER_##member_type, FIELD(host, field)        \
	}

/* Offsets in struct host. */
static const struct member heap_state_members[] = {
	HOST("active_bytes", OPTIONAL_U64, heap_state.active_bytes),
	HOST("allocated_bytes", OPTIONAL_U64, heap_state.allocated_bytes),
	HOST("resident_bytes", OPTIONAL_U64, heap_state.resident_bytes),
	HOST("mapped_bytes", OPTIONAL_U64, heap_state.mapped_bytes),
	HOST("narenas", OPTIONAL_U64, heap_state.narenas),
};

static const struct object heap_state_object = OPTIONAL_OBJECT(heap_state_members, host, heap_state.present);

static const struct member host_members[] = {
	HOST("cpu_model", TEXT, cpu_model),
	HOST("cpu_vendor", TEXT, cpu_vendor),
	HOST("total_memory_kib", OPTIONAL_U64, total_memory_kib),
	HOST("hugepages_total", OPTIONAL_U64, hugepages_total),
	HOST("hugepages_free", OPTIONAL_U64, hugepages_free),
	HOST("hugepages_size_kib", OPTIONAL_U64, hugepages_size_kib),
	HOST("thp_enabled", TEXT, thp_enabled),
	HOST("thp_defrag", TEXT, thp_defrag),
	HOST("sched_tunables", TEXT_PAIRS, sched_tunables),
	HOST("online_cpus", OPTIONAL_U64, online_cpus),
	HOST("numa_nodes", OPTIONAL_U64, numa_nodes),
	HOST("cpufreq_governor", NUMBERED_PAIRS, cpufreq_governor),
	HOST("kernel_name", TEXT, kernel_name),
	HOST("kernel_release", TEXT, kernel_release),
	HOST("arch", TEXT, arch),
	HOST("kernel_cmdline", TEXT, kernel_cmdline),
	HOST("task_delayacct", TEXT, task_delayacct),
	HOST("config_task_xacct", TEXT, config_task_xacct),
	{NAME("heap_state"), MEMBER_OMITTED, MEMBER_OBJECT, .object = &heap_state_object},
	{NAME("total_memory_kb"), MEMBER_OLDER, MEMBER_OPTIONAL_U64, FIELD(host, total_memory_kib)},
	{NAME("hugepages_size_kb"), MEMBER_OLDER, MEMBER_OPTIONAL_U64, FIELD(host, hugepages_size_kib)},
};

static const struct object host_object = OPTIONAL_OBJECT(host_members, host, present);

static const struct member probe_summary_members[] = {
	{NAME("tgids_walked"), MEMBER_DEFAULTED, MEMBER_U64, FIELD(probe_summary, tgids_walked)},
	{NAME("jemalloc_detected"), MEMBER_DEFAULTED, MEMBER_U64, FIELD(probe_summary, jemalloc_detected)},
	{NAME("probed_ok"), MEMBER_DEFAULTED, MEMBER_U64, FIELD(probe_summary, probed_ok)},
	{NAME("failed"), MEMBER_DEFAULTED, MEMBER_U64, FIELD(probe_summary, failed)},
	{NAME("dominant_failure"), MEMBER_NULLABLE, MEMBER_TEXT, FIELD(probe_summary, dominant_failure)},
	{NAME("privilege_dominant"), MEMBER_DEFAULTED, MEMBER_BOOLEAN,
	 FIELD(probe_summary, privilege_dominant)},
};

static const struct member parse_summary_members[] = {
	{NAME("tids_walked"), MEMBER_DEFAULTED, MEMBER_U64, FIELD(parse_summary, tids_walked)},
	{NAME("read_failures"), MEMBER_DEFAULTED, MEMBER_U64, FIELD(parse_summary, read_failures)},
	{NAME("read_failures_by_file"), MEMBER_DEFAULTED, MEMBER_NAMED_NUMBERS,
	 FIELD(parse_summary, read_failures_by_file), .names = parse_file_names, .count = PARSE_FILE_COUNT},
	{NAME("dominant_read_failure"), MEMBER_NULLABLE, MEMBER_TEXT,
	 FIELD(parse_summary, dominant_read_failure)},
	{NAME("kernel_config_dominant"), MEMBER_DEFAULTED, MEMBER_BOOLEAN,
	 FIELD(parse_summary, kernel_config_dominant)},
	{NAME("negative_dotted_values"), MEMBER_DEFAULTED, MEMBER_U64,
	 FIELD(parse_summary, negative_dotted_values)},
};

static const struct member taskstats_summary_members[] = {
	{NAME("ok_count"), MEMBER_DEFAULTED, MEMBER_U64, FIELD(taskstats_summary, ok_count)},
	{NAME("eperm_count"), MEMBER_DEFAULTED, MEMBER_U64, FIELD(taskstats_summary, eperm_count)},
	{NAME("esrch_count"), MEMBER_DEFAULTED, MEMBER_U64, FIELD(taskstats_summary, esrch_count)},
	{NAME("other_err_count"), MEMBER_DEFAULTED, MEMBER_U64, FIELD(taskstats_summary, other_err_count)},
};

static const struct member sched_ext_members[] = {
	{NAME("state"), MEMBER_REQUIRED, MEMBER_TEXT, FIELD(sched_ext, state)},
	{NAME("switch_all"), MEMBER_DEFAULTED, MEMBER_U64, FIELD(sched_ext, switch_all)},
	{NAME("nr_rejected"), MEMBER_DEFAULTED, MEMBER_U64, FIELD(sched_ext, nr_rejected)},
	{NAME("hotplug_seq"), MEMBER_DEFAULTED, MEMBER_U64, FIELD(sched_ext, hotplug_seq)},
	{NAME("enable_seq"), MEMBER_DEFAULTED, MEMBER_U64, FIELD(sched_ext, enable_seq)},
};

static const struct object probe_summary_object = OPTIONAL_OBJECT(probe_summary_members, probe_summary,
								  present);
static const struct object parse_summary_object = OPTIONAL_OBJECT(parse_summary_members, parse_summary,
								  present);
static const struct object taskstats_summary_object = OPTIONAL_OBJECT(taskstats_summary_members,
								      taskstats_summary, present);
static const struct object sched_ext_object = OPTIONAL_OBJECT(sched_ext_members, sched_ext, present);

static const struct member feature_members[] = {
	{NAME("state"), 0, MEMBER_FEATURE_STATE, FIELD(feature_result, state)},
	{NAME("reason"), MEMBER_OMITTED, MEMBER_FEATURE_REASON, FIELD(feature_result, reason)},
	{NAME("detail"), MEMBER_OMITTED, MEMBER_TEXT, FIELD(feature_result, detail)},
	{NAME("remedy"), MEMBER_OMITTED, MEMBER_TEXT, FIELD(feature_result, remedy)},
};

const struct object feature_object = OBJECT(feature_members);

static const struct member tally_members[] = {
	{NAME("read"), 0, MEMBER_U64, FIELD(tally, read)},
	{NAME("missed"), MEMBER_OMITTED, MEMBER_MISSED, FIELD(tally, missed)},
};

const struct object tally_object = OBJECT(tally_members);

static const struct member heap_members[] = {
	{NAME("tgid"), 0, MEMBER_U32, FIELD(heap_process, tgid)},
	{NAME("layout"), MEMBER_OMITTED, MEMBER_TEXT, FIELD(heap_process, layout)},
	{NAME("version"), MEMBER_OMITTED, MEMBER_TEXT, FIELD(heap_process, version)},
	{NAME("tag"), MEMBER_OMITTED, MEMBER_TEXT, FIELD(heap_process, tag)},
	{NAME("text"), MEMBER_OMITTED, MEMBER_TEXT, FIELD(heap_process, text)},
};

const struct object heap_object = OBJECT(heap_members);

#define PROVENANCE(text, member_type, field)                                                                 \
	{                                                                                                    \
		NAME(text), .flags = MEMBER_OMITTED, .type = MEMBER_##member_type, FIELD(provenance, field)  \
	}

/* Offsets in struct provenance. */
static const struct member provenance_host_members[] = {
	PROVENANCE("hostname", TEXT, hostname),
	{NAME("cpu_ticks"), MEMBER_OMITTED, MEMBER_NUMBERS, FIELD(provenance, cpu_ticks),
	 .known = offsetof(struct provenance, cpu_ticks_known), .count = CPU_TICK_KINDS},
	PROVENANCE("procs_running", OPTIONAL_U64, procs_running),
	PROVENANCE("procs_blocked", OPTIONAL_U64, procs_blocked),
	{NAME("load_centi"), MEMBER_OMITTED, MEMBER_NUMBERS, FIELD(provenance, load_centi),
	 .known = offsetof(struct provenance, load_known), .count = 3},
	PROVENANCE("mem_available_kib", OPTIONAL_U64, mem_available_kib),
};

static const struct object provenance_host_object = OBJECT(provenance_host_members);

static const struct member provenance_members[] = {
	{NAME("version"), .type = MEMBER_VERSION},
	PROVENANCE("program", TEXT, program),
	PROVENANCE("boot_id", TEXT, boot_id),
	PROVENANCE("boottime_ns", U64, boottime_ns),
	PROVENANCE("duration_ns", U64, duration_ns),
	PROVENANCE("uid", OPTIONAL_U64, uid),
	PROVENANCE("capabilities", CAPABILITIES, capabilities),
	{NAME("namespaces"), MEMBER_OMITTED, MEMBER_NAMED_NUMBERS, FIELD(provenance, namespaces),
	 .names = namespace_names, .count = NAMESPACE_COUNT},
	{NAME("roots"), MEMBER_OMITTED, MEMBER_NAMED_TEXTS, FIELD(provenance, roots), .names = root_names,
	 .count = ROOT_COUNT},
	PROVENANCE("scope", SCOPE, scope),
	PROVENANCE("features", FEATURES, features),
	PROVENANCE("sources", SOURCES, present),
	PROVENANCE("missing", MISSING, present),
	PROVENANCE("tallies", TALLIES, tallies),
	PROVENANCE("ended", U64, ended),
	PROVENANCE("heap", HEAP, heap),
	{NAME("host"), MEMBER_OMITTED, MEMBER_OBJECT, .object = &provenance_host_object},
};

static const struct object provenance_object = OPTIONAL_OBJECT(provenance_members, provenance, present);

static const struct member snapshot_members[] = {
	{NAME("captured_at_unix_ns"), MEMBER_REQUIRED, MEMBER_U64, FIELD(snapshot, captured_at_unix_ns)},
	{NAME("ctop"), MEMBER_OMITTED, MEMBER_OBJECT, FIELD(snapshot, provenance),
	 .object = &provenance_object},
	{NAME("host"), MEMBER_NULLABLE, MEMBER_OBJECT, FIELD(snapshot, host), .object = &host_object},
	{NAME("threads"), MEMBER_REQUIRED, MEMBER_THREADS},
	{NAME("cgroup_stats"), MEMBER_REQUIRED, MEMBER_CGROUPS},
	{NAME("probe_summary"), MEMBER_NULLABLE, MEMBER_OBJECT, FIELD(snapshot, probe_summary),
	 .object = &probe_summary_object},
	{NAME("parse_summary"), MEMBER_NULLABLE, MEMBER_OBJECT, FIELD(snapshot, parse_summary),
	 .object = &parse_summary_object},
	{NAME("taskstats_summary"), MEMBER_NULLABLE, MEMBER_OBJECT, FIELD(snapshot, taskstats_summary),
	 .object = &taskstats_summary_object},
	{NAME("psi"), MEMBER_REQUIRED, MEMBER_OBJECT, FIELD(snapshot, pressure), .object = &pressure_object},
	{NAME("sched_ext"), MEMBER_NULLABLE, MEMBER_OBJECT, FIELD(snapshot, sched_ext),
	 .object = &sched_ext_object},
};

const struct object snapshot_object = OBJECT(snapshot_members);
