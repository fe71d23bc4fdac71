/* SPDX-License-Identifier: GPL-2.0-only */
#include "snapshot_example.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zstd.h>

#include "base/file.h"
#include "base/memory.h"
#include "cmocka_include.h"
#include "snapshot_compare.h"
#include "store/emit.h"

const char example_record[] =
	"{\"tid\":1234,\"tgid\":1200,\"pcomm\":\"server\",\"comm\":\"worker-3\","
	"\"cgroup\":\"/app.slice/"
	"server.service\",\"start_time_clock_ticks\":90210,\"policy\":\"SCHED_OTHER\","
	"\"nice\":-5,\"cpu_affinity\":[0,1,2,3],\"processor\":2,\"state\":\"S\",\"ext_enabled\":false,"
	"\"run_time_ns\":11,\"wait_time_ns\":22,\"timeslices\":33,\"voluntary_csw\":44,\"nonvoluntary_csw\":"
	"55,"
	"\"nr_wakeups\":66,\"nr_wakeups_local\":77,\"nr_wakeups_remote\":88,\"nr_wakeups_sync\":99,"
	"\"nr_wakeups_migrate\":110,\"nr_wakeups_affine\":121,\"nr_wakeups_affine_attempts\":132,"
	"\"nr_migrations\":143,\"nr_forced_migrations\":154,\"nr_failed_migrations_affine\":165,"
	"\"nr_failed_migrations_running\":176,\"nr_failed_migrations_hot\":187,\"wait_sum\":198,"
	"\"wait_count\":209,\"wait_max\":220,\"voluntary_sleep_ns\":231,\"sleep_max\":242,\"block_sum\":253,"
	"\"block_max\":264,\"iowait_sum\":275,\"iowait_count\":286,\"exec_max\":297,\"slice_max\":308,"
	"\"allocated_bytes\":319,\"deallocated_bytes\":330,\"minflt\":341,\"majflt\":352,"
	"\"utime_clock_ticks\":363,\"stime_clock_ticks\":374,\"priority\":15,\"rt_priority\":0,"
	"\"core_forceidle_sum\":385,\"fair_slice_ns\":396,\"nr_threads\":0,\"smaps_rollup_kib\":{},"
	"\"rchar\":407,\"wchar\":418,\"syscr\":429,\"syscw\":440,\"read_bytes\":451,\"write_bytes\":462,"
	"\"cancelled_write_bytes\":473,\"cpu_delay_count\":484,\"cpu_delay_total_ns\":495,"
	"\"cpu_delay_max_ns\":506,\"cpu_delay_min_ns\":517,\"blkio_delay_count\":528,"
	"\"blkio_delay_total_ns\":539,\"blkio_delay_max_ns\":550,\"blkio_delay_min_ns\":561,"
	"\"swapin_delay_count\":572,\"swapin_delay_total_ns\":583,\"swapin_delay_max_ns\":594,"
	"\"swapin_delay_min_ns\":605,\"freepages_delay_count\":616,\"freepages_delay_total_ns\":627,"
	"\"freepages_delay_max_ns\":638,\"freepages_delay_min_ns\":649,\"thrashing_delay_count\":660,"
	"\"thrashing_delay_total_ns\":671,\"thrashing_delay_max_ns\":682,\"thrashing_delay_min_ns\":693,"
	"\"compact_delay_count\":704,\"compact_delay_total_ns\":715,\"compact_delay_max_ns\":726,"
	"\"compact_delay_min_ns\":737,\"wpcopy_delay_count\":748,\"wpcopy_delay_total_ns\":759,"
	"\"wpcopy_delay_max_ns\":770,\"wpcopy_delay_min_ns\":781,\"irq_delay_count\":792,"
	"\"irq_delay_total_ns\":803,\"irq_delay_max_ns\":814,\"irq_delay_min_ns\":825,"
	"\"hiwater_rss_bytes\":836,\"hiwater_vm_bytes\":847,\"taskstats_measured\":true,"
	"\"cpu_delay_active\":true,\"delay_block_active\":true,\"xacct_active\":true,"
	"\"jemalloc_measured\":true}";

static const char window_facts[] =
	"\"ctop\":{\"version\":1,\"boottime_ns\":9000000000,\"waits\":\"under-way\","
	"\"window\":{\"captured_at_unix_ns\":4000000000,\"boottime_ns\":4000000000,"
	"\"missing\":{\"delays\":\"switched-off\"},\"waits\":\"under-way\","
	"\"host\":{\"cpu_ticks\":[1,2,3,4,5,6,7,8],\"procs_running\":2,\"load_centi\":[1,2,3],"
	"\"cpu_ticks_boottime_ns\":4000000000,\"forks\":77},\"psi\":" EXAMPLE_PSI ","
	"\"born\":[1],\"unknown\":[],\"rss\":[0,4096],"
	"\"threads\":[{\"thread\":0,\"missing\":{\"io\":\"not-permitted\"},"
	"\"elapsed_ns\":{\"schedstat\":4999999000},\"waiting_ns\":0,\"run_time_ns\":200,"
	"\"timeslices\":4}],\"cgroup_stats\":{\"/a\":" EXAMPLE_CGROUP "},"
	"\"latency\":{\"span_ns\":5000000000,\"events\":3,\"groups\":[{\"pcomm\":\"web\","
	"\"comm\":\"io\",\"cgroup\":\"/a\",\"run_queue\":{\"buckets\":[0,2],\"sum_ns\":5,"
	"\"max_ns\":3}}]},\"ended\":{\"told\":true,\"incomplete\":true,\"groups\":[{"
	"\"pcomm\":\"cc1\",\"comm\":\"cc1\",\"cgroup\":\"/\",\"threads\":4,\"processes\":3,"
	"\"born\":2,\"started\":2,\"started_by\":\"make\",\"counted\":{\"run_time_ns\":60},\"at_least\":{"
	"\"minflt\":7},"
	"\"missed\":{\"read_bytes\":\"ended\"}}]},"
	"\"part_names\":[{\"pcomm\":\"web\",\"comm\":\"io\",\"cgroup\":\"/a\"}],"
	"\"parts\":[{\"length_ns\":2000000000,\"names\":[0],\"metrics\":[\"run_time_ns\",\"minflt\"],"
	"\"amounts\":[400,5]},{\"length_ns\":3000000000}]}}";

char *example_replace(const char *text, const char *old, const char *new)
{
	const char *found = strstr(text, old);

	if (found == NULL)
		fail_msg("no %s in the example", old);
	return memory_format("%.*s%s%s", (int)(found - text), text, new, found + strlen(old));
}

char *example_with_record(const char *record)
{
	return example_replace(EXAMPLE_SNAPSHOT("HERE", ""), "HERE", record);
}

int example_file(const void *bytes, size_t length)
{
	int descriptor = memfd_create("example", MFD_CLOEXEC);

	assert_true(descriptor >= 0);
	assert_int_equal(file_write_all(descriptor, bytes, length), 0);
	assert_int_equal(lseek(descriptor, 0, SEEK_SET), 0);
	return descriptor;
}

int example_compressed(const char *json, size_t length)
{
	size_t bound = ZSTD_compressBound(length);
	char *bytes = memory_allocate(bound);
	size_t compressed = ZSTD_compress(bytes, bound, json, length, 1);
	int descriptor;

	assert_false(ZSTD_isError(compressed));
	descriptor = example_file(bytes, compressed);
	free(bytes);
	return descriptor;
}

int example_read(const char *json, size_t length, struct snapshot **ret_snapshot, struct error *error)
{
	int descriptor = example_compressed(json, length);
	int result = ctprof_read_descriptor(descriptor, "example", CTPROF_DEFAULT_LIMIT, ret_snapshot, error);

	close(descriptor);
	return result;
}

struct snapshot *example_accept(const char *json, const char *notes)
{
	struct snapshot *snapshot = NULL;
	struct error error = {""};

	example_read(json, strlen(json), &snapshot, &error);
	assert_string_equal(error.text, "");
	if (notes != NULL)
		assert_string_equal(snapshot->format_notes != NULL ? snapshot->format_notes : "", notes);
	return snapshot;
}

void example_refuse(const char *json, const char *words)
{
	struct snapshot *snapshot = NULL;
	struct error error = {""};

	assert_true(example_read(json, strlen(json), &snapshot, &error) < 0);
	if (strstr(error.text, words) == NULL)
		fail_msg("%s is not in: %s", words, error.text);
}

char *example_quoted(const char *text)
{
	char *copy = memory_duplicate(text);

	for (char *c = copy; *c != '\0'; c++)
		*c = *c == '\'' ? '"' : *c;
	return copy;
}

static char *numbered_record(int number, const char *extra)
{
	char *ids = memory_format("\"tid\":%d,\"tgid\":1", number);
	char *ctop = memory_format("\"jemalloc_measured\":true,\"ctop\":{%s}}", extra);
	char *numbered = example_replace(example_record, "\"tid\":1234,\"tgid\":1200", ids);
	char *complete = example_replace(numbered, "\"jemalloc_measured\":true}", ctop);
	char *record = example_replace(complete, "\"state\":\"S\"",
				       number == 1 ? "\"state\":\"S\"" : "\"state\":\"R\"");

	free(ids);
	free(ctop);
	free(numbered);
	free(complete);
	return record;
}

char *example_two_threads(const char *top, const char *first, const char *second, bool before)
{
	char *records[] = {numbered_record(1, first), numbered_record(2, second)};
	char *ctop = memory_format("\"ctop\":{%s},", top);
	char *text = memory_format(
		"{\"captured_at_unix_ns\":1,%s\"threads\":[%s,%s],\"cgroup_stats\":{\"/a\":%s},"
		"%s\"psi\":%s}",
		before ? ctop : "", records[0], records[1], EXAMPLE_CGROUP, before ? "" : ctop, EXAMPLE_PSI);
	char *result = example_quoted(text);

	free(records[0]);
	free(records[1]);
	free(ctop);
	free(text);
	return result;
}

struct snapshot *example_accept_two_threads(const char *top, const char *first, const char *second,
					    const char *notes)
{
	struct snapshot *snapshots[2];

	for (size_t i = 0; i < 2; i++) {
		char *json = example_two_threads(top, first, second, i == 0);

		snapshots[i] = example_accept(json, notes);
		free(json);
	}
	assert_snapshots_equal(snapshots[0], snapshots[1]);
	snapshot_release(snapshots[0]);
	return snapshots[1];
}

static int append(void *buffer, const char *text, size_t length)
{
	buffer_append(buffer, text, length);
	return 0;
}

void example_emit(const struct snapshot *snapshot, struct buffer *ret_json)
{
	assert_int_equal(emit_snapshot(snapshot, snapshot->window, append, ret_json), 0);
}

int example_written(const struct snapshot *snapshot)
{
	int descriptor = example_file("", 0);
	struct error error = {""};

	ctprof_write_descriptor(snapshot, snapshot->window, descriptor, NULL, &error);
	assert_string_equal(error.text, "");
	assert_int_equal(lseek(descriptor, 0, SEEK_SET), 0);
	return descriptor;
}

static uint32_t intern(struct snapshot *snapshot, const char *text)
{
	return string_pool_intern(&snapshot->strings, text, strlen(text));
}

static struct key_values key_values(struct snapshot *snapshot, const char *const *keys, uint32_t count)
{
	struct key_values values = {arena_allocate(&snapshot->arena, count * sizeof(struct key_value)),
				    count};

	for (uint32_t i = 0; i < count; i++)
		values.items[i] = (struct key_value){intern(snapshot, keys[i]), UINT64_MAX - i};
	return values;
}

/* A value that the metric's type can hold and that no other metric of the thread has. */
static uint64_t example_value(struct snapshot *snapshot, enum metric metric, uint32_t thread)
{
	static const uint32_t cpus[][3] = {{0, 1, 2}, {7, 3, 3}};
	static const char *const policies[] = {"SCHED_OTHER", "SCHED_UNKNOWN(9)"};

	switch (metric_type(metric)->encoding) {
	case METRIC_ENCODING_U64:
		return thread % 2 == 0 ? UINT64_MAX - (uint64_t)metric : 100 * thread + (uint64_t)metric;
	case METRIC_ENCODING_U32:
		return thread % 2 == 0 ? UINT32_MAX : (uint64_t)metric;
	case METRIC_ENCODING_I32:
		return (uint64_t)(int64_t)(thread % 2 == 0 ? INT32_MIN : INT32_MAX - (int)metric);
	case METRIC_ENCODING_STRING:
		return intern(snapshot, policies[thread % 2]);
	case METRIC_ENCODING_CHARACTER:
		return thread % 2 == 0 ? 'R' : '~';
	case METRIC_ENCODING_BOOLEAN:
		return thread % 2;
	case METRIC_ENCODING_CPU_SET:
		return thread == 3 ? 0 : cpu_set_intern(&snapshot->cpu_sets, cpus[thread % 2], 3);
	}
	return 0;
}

static void add_threads(struct snapshot *snapshot)
{
	static const char *const names[] = {"plain", "quo\"te\\ \n\t\x01", "f\u00fcnf \U0001f600", ""};
	static const char *const smaps[] = {"Pss", "Rss"};

	for (uint32_t i = 0; i < 4; i++) {
		size_t thread = snapshot_add_thread(snapshot, 10 + i / 2 * 2, 10 + i);

		snapshot->triple[thread] = snapshot_intern_triple(
			snapshot, (struct triple){intern(snapshot, names[i]), intern(snapshot, names[3 - i]),
						  intern(snapshot, i < 2 ? "/a" : "/b/c")});
		snapshot->thread_flags[thread] =
			(uint8_t)((i & 1 ? THREAD_TASKSTATS_MEASURED | THREAD_XACCT_ACTIVE : 0) |
				  (i & 2 ? THREAD_CPU_DELAY_ACTIVE | THREAD_JEMALLOC_MEASURED : 0) |
				  (i == 3 ? THREAD_DELAY_BLOCK_ACTIVE : 0));
		snapshot->start_time[thread] = 1000 + i;
		for (size_t j = METRIC_THREAD_COUNT + 1; j < METRIC_COUNT; j++)
			snapshot_column(snapshot, (enum metric)j)[thread] = example_value(snapshot,
											  (enum metric)j, i);
	}
	snapshot_add_smaps(snapshot, 0)->kib = key_values(snapshot, smaps, 2);
	snapshot_add_smaps(snapshot, 2)->kib = key_values(snapshot, smaps, 1);
}

static void fill_pressure(struct pressure *pressure)
{
	for (uint16_t i = 0; i < PRESSURE_RESOURCE_COUNT; i++) {
		pressure->resource[i].some = (struct pressure_half){i, 10099, 7, 1000u + i};
		pressure->resource[i].full = (struct pressure_half){UINT16_MAX, i, 8, UINT64_MAX};
	}
}

static void add_cgroups(struct snapshot *snapshot)
{
	static const char *const keys[] = {"anon", "file", "pgfault"};
	struct cgroup_record *record = snapshot_add_cgroup(snapshot, intern(snapshot, "/b/c"));

	record->usage_usec = 1;
	record->nr_throttled = 2;
	record->throttled_usec = 3;
	record->max_quota_us = (struct optional_u64){4, true};
	record->max_period_us = 5;
	record->weight = (struct optional_u64){6, true};
	record->weight_nice = (struct optional_i32){-20, true};
	record->memory_current = 7;
	record->memory_max = (struct optional_u64){8, true};
	record->memory_high = (struct optional_u64){9, true};
	record->memory_low = (struct optional_u64){UINT64_MAX, true};
	record->memory_min = (struct optional_u64){0, true};
	record->memory_stat = key_values(snapshot, keys, 3);
	record->memory_events = key_values(snapshot, keys, 1);
	record->pids_current = (struct optional_u64){10, true};
	record->pids_max = (struct optional_u64){11, true};
	fill_pressure(&record->pressure);
	snapshot_add_cgroup(snapshot, intern(snapshot, "/a"));
}

static struct text_pairs text_pairs(struct snapshot *snapshot, const char *const *texts, size_t count)
{
	struct text_pairs pairs = {true, arena_allocate(&snapshot->arena, count * sizeof(struct text_pair)),
				   count};

	for (size_t i = 0; i < count; i++)
		pairs.items[i] = (struct text_pair){texts[2 * i], texts[2 * i + 1]};
	return pairs;
}

static void add_host(struct snapshot *snapshot)
{
	static const char *const tunables[] = {"sched_a", "1", "sched_b", "2 3"};
	static const char *const governors[] = {"0", "powersave", "9", "schedutil", "10", "performance"};

	snapshot->host = (struct host){
		.present = true,
		.cpu_model = "Model \"X\"",
		.cpu_vendor = "Vendor",
		.total_memory_kib = {1, true},
		.hugepages_total = {0, true},
		.hugepages_free = {2, true},
		.hugepages_size_kib = {2048, true},
		.thp_enabled = "always [madvise] never",
		.thp_defrag = "[always]",
		.sched_tunables = text_pairs(snapshot, tunables, 2),
		.online_cpus = {64, true},
		.numa_nodes = {2, true},
		.cpufreq_governor = text_pairs(snapshot, governors, 3),
		.kernel_name = "Linux",
		.kernel_release = "6.18.0",
		.arch = "x86_64",
		.kernel_cmdline = "quiet delayacct",
		.task_delayacct = "on",
		.config_task_xacct = "unknown",
		.heap_state = {true, {1, true}, {2, true}, {3, true}, {4, true}, {5, true}},
	};
}

struct snapshot *example_snapshot(void)
{
	struct snapshot *snapshot = snapshot_create();

	snapshot->captured_at_unix_ns = 1700000000123456789u;
	add_threads(snapshot);
	add_cgroups(snapshot);
	add_host(snapshot);
	fill_pressure(&snapshot->pressure);
	snapshot->sched_ext = (struct sched_ext){true, "enabled", 1, 2, 3, 4};
	snapshot->probe_summary = (struct probe_summary){true, 1,     2, 3, 4, "jemalloc-not-found",
							 true, false, 0};
	snapshot->parse_summary = (struct parse_summary){
		true, 9, 4, {[PARSE_FILE_IO] = 3, [PARSE_FILE_STAT] = 1}, "io", true, 7};
	snapshot->taskstats_summary = (struct taskstats_summary){true, 5, 6, 7, 8};
	snapshot_finish(snapshot);
	return snapshot;
}

static void add_states(struct snapshot *snapshot)
{
	static const char unknown[] = "moon-phase";
	reason_id moon = reason_intern(unknown, sizeof(unknown) - 1);

	/*
	 * one source that nobody has, one that most lack, one that one lacks, each with a thread that differs
	 */
	snapshot->default_reason[SOURCE_SMAPS_ROLLUP] = REASON_OVER_BUDGET;
	memcpy(snapshot_source_reasons(snapshot, SOURCE_IO),
	       (reason_id[]){REASON_NOT_PERMITTED, REASON_NOT_PERMITTED, REASON_READ, moon}, 4);
	snapshot_source_reasons(snapshot, SOURCE_SCHED)[2] = REASON_ENDED;
	snapshot->default_reason[SOURCE_SCHEDSTATS] = REASON_SWITCHED_OFF;
	snapshot->metric_reason[METRIC_IRQ_DELAY_COUNT] = REASON_NOT_IN_KERNEL;
	snapshot->metric_source[METRIC_RUN_TIME_NS] = SOURCE_TASKSTATS;
	snapshot_add_exception(snapshot, 3, METRIC_WAIT_SUM, REASON_BAD_VALUE);
	snapshot_add_exception(snapshot, 0, METRIC_RCHAR, REASON_READ);
	snapshot_add_exception(snapshot, 0, METRIC_IRQ_DELAY_COUNT, REASON_READ);
	snapshot->pressure_missing[PRESSURE_IRQ] = REASON_NOT_IN_KERNEL;
	snapshot->cgroups[0].missing[CGROUP_FILE_MEMORY_CURRENT] = REASON_NOT_IN_KERNEL;
	snapshot->cgroups[0].missing[CGROUP_FILE_IRQ_PRESSURE] = moon;
	snapshot->cgroups[0].io_read = (struct optional_u64){0, true};
	snapshot->cgroups[0].io_written = (struct optional_u64){1ULL << 60, true};
	snapshot->cgroups[0].id = (struct optional_u64){1ULL << 33, true};
	snapshot->cgroups[0].there_since = (struct optional_u64){7, true};
	snapshot->cgroups[0].read_at = (struct optional_u64){8, true};
	snapshot_read_times(snapshot, SOURCE_SCHED)[1] = 1000;
	snapshot_read_times(snapshot, SOURCE_DELAYS)[3] = 1;
	snapshot->waiting_ns = memory_allocate_zero(snapshot->thread_capacity, sizeof(uint64_t));
	snapshot->waiting_ns[0] = 4200000001;
	snapshot->waiting_ns[3] = UINT64_MAX;
	snapshot_make_wait_columns(snapshot);
	snapshot->wait_class[0] = WAIT_CLASS_KERNEL_IDLE;
	snapshot->wait_class[2] = WAIT_CLASS_SOCKET;
	snapshot->wait_object[2] = intern(snapshot, ":5432 \"db\"");
	snapshot->wait_class[3] = WAIT_CLASS_FUTEX;
	snapshot->wait_object[3] = intern(snapshot, "0x7f3a12c0 lock");
	snapshot_source_reasons(snapshot, SOURCE_WAIT)[1] = REASON_NOT_PERMITTED;
	snapshot->thread_flags[0] |= THREAD_KERNEL;
	snapshot->thread_flags[3] |= THREAD_WAIT_AT_LEAST | THREAD_FORKED;
	snapshot->uid[1] = 1000;
	snapshot->uid[2] = 0;
}

static void add_lists(struct snapshot *snapshot)
{
	static const struct process_title titles[] = {{12, "web: worker"}, {10, "db: shop \"UPDATE\""}};
	struct provenance *provenance = &snapshot->provenance;

	provenance->capability_count = 2;
	provenance->capabilities = arena_allocate_zero(&snapshot->arena, 2, sizeof(char *));
	provenance->capabilities[0] = "net_admin";
	provenance->capabilities[1] = "sys_ptrace";
	provenance->scope_count = 2;
	provenance->scope = arena_allocate_zero(&snapshot->arena, 2, sizeof(uint32_t));
	provenance->scope[0] = 10;
	provenance->scope[1] = 12;
	provenance->tallies = arena_allocate_zero(&snapshot->arena, SOURCE_COUNT, sizeof(struct tally));
	provenance->tallies[SOURCE_IO].read = 1;
	provenance->tallies[SOURCE_IO].missed[REASON_NOT_PERMITTED] = 2;
	provenance->tallies[SOURCE_IO].missed[REASON_ENDED] = 1;
	provenance->tallies[SOURCE_JEMALLOC].missed[REASON_NEEDS_STOP] = 9;
	provenance->heap_count = 2;
	provenance->heap = arena_allocate_zero(&snapshot->arena, 2, sizeof(struct heap_process));
	provenance->heap[0] = (struct heap_process){.tgid = 12, .layout = "known-build", .version = "5.3.0"};
	provenance->heap[1] = (struct heap_process){.tgid = 10, .tag = "dwarf-parse-failure", .text = "no"};
	snapshot_set_titles(snapshot, titles, ARRAY_COUNT(titles));
}

/* A CPU that is offline, a disk and a network. */
static void add_devices(struct snapshot *snapshot)
{
	static struct cpu_ticks cpus[] = {{0, 5, 10}, {2, UINT64_MAX, UINT64_MAX}};
	static struct device disks[] = {{"sd\"a", 1, 2, UINT64_MAX}};
	static struct device networks[] = {{"eth0", 0, 3, 4}};

	snapshot->provenance.devices = (struct devices){
		.read_at_ns = 7,
		.cpu_end = 3,
		.cpus = cpus,
		.cpu_count = ARRAY_COUNT(cpus),
		.disks = disks,
		.disk_count = ARRAY_COUNT(disks),
		.networks = networks,
		.network_count = ARRAY_COUNT(networks),
	};
}

/* A user's threads that waited for a CPU, and kernel threads that were in D. */
static void add_latency(struct snapshot *snapshot)
{
	const uint32_t first = string_pool_intern(&snapshot->strings, "pool", 4),
		       second = string_pool_intern(&snapshot->strings, "kworker/0:1", 11);
	struct latency *latency = &snapshot->latency;
	struct latency_histogram *histogram;

	latency->present = latency->is_whole = true;
	latency->span_ns = 10000;
	latency->events = 7;
	latency->cost_ns = 900;
	latency_add_record(snapshot, first, second, first);
	histogram = &latency_own_waits(latency, 0)->of[LATENCY_RUN_QUEUE];
	*histogram = (struct latency_histogram){.sum_ns = 12, .max_ns = 9};
	histogram->buckets[1] = 1;
	histogram->buckets[3] = 1;
	latency_add_record(snapshot, second, second, first)->is_kernel = true;
	histogram = &latency_own_waits(latency, 1)->of[LATENCY_BLOCKED];
	*histogram = (struct latency_histogram){.sum_ns = UINT64_MAX, .max_ns = UINT64_MAX};
	histogram->buckets[LATENCY_BUCKETS - 1] = UINT64_MAX;
	*MEMORY_APPEND(latency->shares, latency->share_count,
		       latency->share_capacity) = (struct latency_share){.pid = 12};
	latency->shares[0].waits.of[LATENCY_RUN_QUEUE] = (struct latency_histogram){.sum_ns = 3, .max_ns = 3};
	latency->shares[0].waits.of[LATENCY_RUN_QUEUE].buckets[1] = 1;
	latency_add_time(latency, &(struct latency_time){0, 12, WAIT_CLASS_RUN_QUEUE, 3});
	latency_add_time(latency,
			 &(struct latency_time){0, LATENCY_PROCESS_UNKNOWN, WAIT_CLASS_RUN_QUEUE, 9});
	latency_add_time(latency, &(struct latency_time){0, 0, WAIT_CLASS_FUTEX, UINT64_MAX});
	*MEMORY_APPEND(latency->delays, latency->delay_count,
		       latency->delay_capacity) = (struct latency_delay){
		.culprit = 1, .time_ns = 8, .waits = 2, .wakes = 3};
	*MEMORY_APPEND(latency->delays, latency->delay_count,
		       latency->delay_capacity) = (struct latency_delay){
		.cause = LATENCY_CAUSE_WAKEUP, .time_ns = UINT64_MAX, .waits = UINT64_MAX};
}

/* A member of every kind; the enum has a negative value, and numbers have as many bits as there are. */
static struct task_field_owner *example_scheduler(void)
{
	static const struct task_field_enumerator states[] = {{"IDLE", 0}, {"LO\"ST", -1}};
	static const struct task_field_member members[] = {
		{"sum_runtime", "u64", TASK_FIELD_KIND_UNSIGNED, 0, 64, 1, false, NULL, 0, 0, {0}, false},
		{"inner.nice", "s16", TASK_FIELD_KIND_SIGNED, 64, 16, 1, true, NULL, 0, 0, {0}, false},
		{"greedy", "bool", TASK_FIELD_KIND_BOOLEAN, 80, 8, 1, false, NULL, 0, 0, {0}, false},
		{"bits", "u32", TASK_FIELD_KIND_UNSIGNED, 88, 3, 1, false, NULL, 0, 0, {0}, false},
		{"state", "enum state", TASK_FIELD_KIND_ENUM, 96, 32, 1, true, states, 2, 0, {0}, false},
		{"mask",
		 "struct bpf_cpumask *",
		 TASK_FIELD_KIND_POINTER,
		 128,
		 64,
		 1,
		 false,
		 NULL,
		 0,
		 0,
		 {0},
		 false},
		{"load", "s16[3]", TASK_FIELD_KIND_ARRAY, 192, 16, 3, true, NULL, 0, 0, {0}, false},
		{"odd", "union", TASK_FIELD_KIND_OTHER, 256, 32, 1, false, NULL, 0, 0, {0}, false},
		{"last_run_at", "u64", TASK_FIELD_KIND_UNSIGNED, 320, 64, 1, false, NULL, 0, 0, {0}, false},
	};
	struct task_field_owner *scheduler = task_field_owner_create(TASK_FIELD_SOURCE, "rusty_1.1.4_x86_64",
								     "task_ctx", "task_data",
								     "arena, id before the context", 48);

	scheduler->enable_seq = 4;
	scheduler->loaded_at_ns = 4100;
	for (size_t i = 0; i < ARRAY_COUNT(members); i++)
		assert_true(task_field_owner_add_member(scheduler, &members[i]));
	return scheduler;
}

/* Two threads have contexts, one has none, and what was read for one is of another. */
static void add_contexts(struct snapshot *snapshot)
{
	static const uint64_t numbers[2][9] = {
		{UINT64_MAX, (uint64_t)-5, 1, 7, (uint64_t)-1, (uint64_t)-32768, 0, 32767, 4900},
		{0, 19, 0, 0, 0, 1, 2, 3, 0},
	};
	static const size_t threads[2] = {2, 0};
	struct task_fields *scx = &snapshot->task_fields;

	task_fields_begin(scx, example_scheduler(), snapshot->thread_count);
	for (size_t i = 0; i < ARRAY_COUNT(threads); i++) {
		uint8_t *context = task_fields_add_context(scx, threads[i]);
		size_t next = 0;

		for (size_t j = 0; j < scx->owner->member_count; j++) {
			const struct task_field_member *member = &scx->owner->members[j];

			for (size_t element = 0; element < task_field_elements(member); element++)
				task_field_write(member, context, element, numbers[i][next++]);
		}
	}
	scx->context_of[3] = TASK_FIELDS_OTHER_TASK;
	scx->read_at_ns = 5001;
	scx->mismatched = 1;
	scx->event_count = 2;
	scx->events = arena_allocate_zero(&snapshot->arena, 2, sizeof(*scx->events));
	scx->events[0] = (struct task_field_event){"SCX_EV_SELECT_CPU_FALLBACK", 0};
	scx->events[1] = (struct task_field_event){"SCX_EV_DISPATCH_LOCAL_DSQ_OFFLINE", UINT64_MAX};
}

void example_add_knowledge(struct snapshot *snapshot)
{
	struct provenance *provenance = &snapshot->provenance;

	provenance->present = true;
	provenance->program = "ctop 0.1.0";
	provenance->boot_id = "4e2f";
	provenance->boottime_ns = 5000;
	provenance->duration_ns = 70;
	provenance->uid = (struct optional_u64){0, true};
	for (size_t i = 0; i < NAMESPACE_COUNT; i++)
		provenance->namespaces[i] = 4026531836u + i;
	provenance->roots[ROOT_PROC] = "/proc";
	provenance->roots[ROOT_SYS] = "/sys";
	provenance->roots[ROOT_CGROUP] = "/sys/fs/cgroup/unified";
	provenance->features[FEATURE_TASKSTATS].state = FEATURE_STATE_ON;
	provenance->features[FEATURE_DELAYS] = (struct feature_result){FEATURE_STATE_OFF, REASON_SWITCHED_OFF,
								       "task_delayacct reads 0",
								       "sysctl kernel.task_delayacct=1"};
	provenance->features[FEATURE_OTHERS_IO] = (struct feature_result){FEATURE_STATE_PARTIAL,
									  REASON_NOT_PERMITTED, NULL, NULL};
	provenance->ended = 3;
	provenance->hidden_threads = 13;
	provenance->resident_error = 786432;
	provenance->hostname = "host";
	for (size_t i = 0; i < CPU_TICK_KINDS; i++)
		provenance->cpu_ticks[i] = i;
	provenance->cpu_ticks_known = true;
	provenance->procs_running = (struct optional_u64){5, true};
	provenance->procs_blocked = (struct optional_u64){0, true};
	provenance->mem_available_kib = (struct optional_u64){6, true};
	provenance->load_centi[0] = 320;
	provenance->load_known = true;
	add_devices(snapshot);
	add_lists(snapshot);
	add_states(snapshot);
	add_latency(snapshot);
	add_contexts(snapshot);
	snapshot_finish(snapshot);
}

char *example_window(void)
{
	char *threads[3], *first, *text;

	for (int i = 0; i < 3; i++) {
		char *ids = memory_format("\"tid\":%d,\"tgid\":10", 10 + i);

		threads[i] = example_replace(example_record, "\"tid\":1234,\"tgid\":1200", ids);
		free(ids);
	}
	first = example_replace(threads[0], "\"jemalloc_measured\":true}",
				"\"jemalloc_measured\":true,\"ctop\":{\"rss\":8192}}");
	text = memory_format("{\"captured_at_unix_ns\":9000000000,\"threads\":[%s,%s,%s],"
			     "\"cgroup_stats\":{\"/a\":" EXAMPLE_CGROUP "},\"psi\":" EXAMPLE_PSI ",%s}",
			     first, threads[1], threads[2], window_facts);
	free(first);
	for (int i = 0; i < 3; i++)
		free(threads[i]);
	return text;
}
