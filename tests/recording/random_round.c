/* SPDX-License-Identifier: GPL-2.0-only */
#include "random_round.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "snapshot/ended_set.h"

enum {
	ROWS_MAX = 300,
	NAMES_MAX = 40, /* distinct texts: some are shared */
	CGROUPS_MAX = 12,
	KEYS_MAX = 8,
	EXCEPTIONS_MAX = 3,
	CONTEXT_SIZE_MAX = 60,
	UNKNOWN_REASONS = 3,
};

/* A thread. */
struct row {
	uint64_t number; /* of this thread alone */
	uint32_t tgid, tid, uid;
	uint8_t flags;
	uint64_t start_time;
	unsigned int names[3];
	uint64_t values[METRIC_COUNT];
	reason_id reasons[SOURCE_COUNT];
	uint64_t read_at[SOURCE_COUNT];
	uint64_t stuck_ns, waiting_ns;
	uint8_t wait_class;
	unsigned int wait_object; /* as names are */
	struct metric_exception exceptions[EXCEPTIONS_MAX];
	size_t exception_count;
	uint8_t context[CONTEXT_SIZE_MAX];
	unsigned int context_state; /* 0: has one, else why not */
	uint64_t rss;
	uint64_t smaps[KEYS_MAX];
	size_t smaps_count;
};

struct random_host {
	uint64_t seed;
	struct row rows[ROWS_MAX], before[ROWS_MAX];
	size_t row_count, before_count;
	uint64_t next_number, next_tid;
	uint64_t time_ns, last_serial;
	bool has_columns[METRIC_COUNT], has_reasons[SOURCE_COUNT], has_times[SOURCE_COUNT];
	reason_id default_reasons[SOURCE_COUNT];
	bool has_waiting, has_stuck, has_classes, has_unknown_reasons;
	struct snapshot *last; /* a reference to the last round, whose names go on; NULL where they do not */
	bool keeps_names;
	struct task_field_owner *scheduler;
	size_t facts_size;
};

/* xorshift64* */
static uint64_t random_u64(struct random_host *host)
{
	host->seed ^= host->seed >> 12;
	host->seed ^= host->seed << 25;
	host->seed ^= host->seed >> 27;
	return host->seed * 0x2545f4914f6cdd1d;
}

uint64_t random_below(struct random_host *host, uint64_t end)
{
	return end != 0 ? (random_u64(host) >> 11) % end : 0;
}

static bool one_in(struct random_host *host, unsigned int count)
{
	return random_below(host, count) == 0;
}

/* Any number: mostly small ones, now and then the largest. */
static uint64_t random_number(struct random_host *host)
{
	if (one_in(host, 50))
		return UINT64_MAX - random_below(host, 2);
	return random_u64(host) >> (random_below(host, 64));
}

static const char *random_text(struct random_host *host, struct snapshot *snapshot)
{
	if (one_in(host, 3))
		return NULL;
	return arena_format(&snapshot->arena, "text %u",
			    (unsigned int)random_below(host, one_in(host, 5) ? 100 : 2));
}

static reason_id random_reason(struct random_host *host)
{
	const uint64_t reason = random_below(host, REASON_COUNT +
							   (host->has_unknown_reasons ? UNKNOWN_REASONS : 0));
	char name[16];

	if (reason < REASON_COUNT)
		return (reason_id)reason;
	return reason_intern(name, (size_t)snprintf(name, sizeof(name), "unknown-%u", (unsigned int)reason));
}

/* --- threads --- */

static uint64_t random_value(struct random_host *host, enum metric metric, uint64_t before)
{
	switch (metric_type(metric)->encoding) {
	case METRIC_ENCODING_STRING:
		return random_below(host, NAMES_MAX);
	case METRIC_ENCODING_CPU_SET:
		return random_below(host, 5);
	case METRIC_ENCODING_CHARACTER:
		return (uint64_t) "RSDTZI"[random_below(host, 6)];
	case METRIC_ENCODING_BOOLEAN:
		return random_below(host, 2);
	case METRIC_ENCODING_U32:
		return (uint32_t)random_number(host);
	case METRIC_ENCODING_I32:
		return (uint64_t)(int64_t)(int32_t)random_number(host);
	default:
		return one_in(host, 4) ? random_number(host) : before + random_below(host, 100000);
	}
}

static void change_row(struct random_host *host, struct row *row)
{
	for (size_t i = 0; i < METRIC_COUNT; i++) {
		if (i != METRIC_THREAD_COUNT && one_in(host, 4))
			row->values[i] = random_value(host, (enum metric)i, row->values[i]);
	}
	if (one_in(host, 5))
		row->uid = (uint32_t)random_number(host);
	if (one_in(host, 5))
		row->flags = (uint8_t)random_u64(host);
	if (one_in(host, 5))
		row->names[random_below(host, 3)] = (unsigned int)random_below(host, NAMES_MAX);
	for (size_t i = 0; i < SOURCE_COUNT; i++) {
		if (one_in(host, 8))
			row->reasons[i] = random_reason(host);
	}
	row->exception_count = random_below(host, 4) == 0 ? random_below(host, EXCEPTIONS_MAX + 1) : 0;
	for (size_t i = 0; i < row->exception_count; i++)
		row->exceptions[i] = (struct metric_exception){
			.metric = (uint16_t)(1 + i * 20 + random_below(host, 20)),
			.reason = random_reason(host),
		};
	row->context[random_below(host, CONTEXT_SIZE_MAX)] = (uint8_t)random_u64(host);
	row->context_state = one_in(host, 4) ? (unsigned int)random_below(host, 4) : 0;
	row->rss = random_below(host, 3) == 0 ? random_number(host) : row->rss + 4096;
	row->smaps_count = one_in(host, 3) ? random_below(host, KEYS_MAX + 1) : row->smaps_count;
	row->smaps[random_below(host, KEYS_MAX)] = random_number(host);
}

static void change_wait(struct random_host *host, struct row *row)
{
	if (one_in(host, 2))
		row->wait_class = (uint8_t)random_below(host, WAIT_CLASS_COUNT);
	if (one_in(host, 2))
		row->wait_object = (unsigned int)random_below(host, NAMES_MAX);
}

/* Times go on by themselves, and what a thread waits for may become another thing. */
static void pass_time(struct random_host *host, struct row *row, uint64_t elapsed_ns)
{
	for (size_t i = 0; i < SOURCE_COUNT; i++) {
		if (!one_in(host, 4))
			row->read_at[i] = host->time_ns + random_below(host, 3) * 1000;
	}
	row->waiting_ns = one_in(host, 10) ? random_number(host) : row->waiting_ns + elapsed_ns;
	row->stuck_ns = one_in(host, 10) ? random_number(host) : 0;
	if (one_in(host, 20))
		row->stuck_ns = row->waiting_ns;
	if (one_in(host, 10))
		change_wait(host, row);
}

static struct row new_row(struct random_host *host)
{
	struct row row = {.number = ++host->next_number,
			  .tid = (uint32_t)(host->next_tid += 1 + random_below(host, 3))};

	row.tgid = one_in(host, 2) || host->row_count == 0
			   ? row.tid
			   : host->rows[random_below(host, host->row_count)].tgid;
	row.start_time = random_number(host);
	for (size_t i = 0; i < 3; i++)
		row.names[i] = (unsigned int)random_below(host, NAMES_MAX);
	change_row(host, &row);
	change_wait(host, &row);
	return row;
}

static int compare_rows(const void *a, const void *b)
{
	const struct row *left = a, *right = b;

	if (left->tgid != right->tgid)
		return left->tgid < right->tgid ? -1 : 1;
	return left->tid < right->tid ? -1 : left->tid > right->tid;
}

/* Threads end, start and move. */
static void move_rows(struct random_host *host)
{
	const bool is_still = one_in(host, 6), storm = one_in(host, 8);
	const uint64_t elapsed_ns = 1 + random_below(host, UINT64_C(10000000000));
	size_t kept = 0;

	host->time_ns += elapsed_ns;
	for (size_t i = 0; i < host->row_count; i++) {
		if (!is_still && one_in(host, storm ? 2 : 20))
			continue;
		host->rows[kept] = host->rows[i];
		if (!is_still && one_in(host, 4))
			change_row(host, &host->rows[kept]);
		pass_time(host, &host->rows[kept], elapsed_ns);
		kept++;
	}
	host->row_count = kept;
	for (uint64_t more = is_still ? 0 : random_below(host, storm ? 150 : 10); more > 0; more--) {
		if (host->row_count < ROWS_MAX) {
			host->rows[host->row_count] = new_row(host);
			host->row_count++;
		}
	}
	qsort(host->rows, host->row_count, sizeof(host->rows[0]), compare_rows);
}

/* Which columns there are, and what holds for all threads. */
static void choose_columns(struct random_host *host)
{
	for (size_t i = 0; i < METRIC_COUNT; i++)
		host->has_columns[i] = i != METRIC_THREAD_COUNT && !one_in(host, 6);
	for (size_t i = 0; i < SOURCE_COUNT; i++) {
		host->has_reasons[i] = one_in(host, 2);
		host->has_times[i] = one_in(host, 2);
		host->default_reasons[i] = random_reason(host);
	}
	host->has_waiting = one_in(host, 2);
	host->has_stuck = one_in(host, 2);
	host->has_classes = one_in(host, 2);
}

/* --- into a snapshot --- */

static uint32_t intern_name(struct snapshot *snapshot, unsigned int number)
{
	char text[64];

	if (number == 0)
		return 0;
	return string_pool_intern(&snapshot->strings, text,
				  (size_t)snprintf(text, sizeof(text), "name of %u", number));
}

static uint32_t intern_cpus(struct snapshot *snapshot, uint64_t number)
{
	const uint32_t cpus[] = {0, 1, 5, 6, UINT32_MAX};

	return cpu_set_intern(&snapshot->cpu_sets, cpus, number);
}

static uint64_t value_of(struct snapshot *snapshot, const struct row *row, enum metric metric)
{
	switch (metric_type(metric)->encoding) {
	case METRIC_ENCODING_STRING:
		return intern_name(snapshot, (unsigned int)row->values[metric]);
	case METRIC_ENCODING_CPU_SET:
		return intern_cpus(snapshot, row->values[metric]);
	default:
		return row->values[metric];
	}
}

static void store_row(struct random_host *host, struct snapshot *snapshot, const struct row *row)
{
	const size_t thread = snapshot_add_thread(snapshot, row->tgid, row->tid);

	snapshot->uid[thread] = row->uid;
	snapshot->thread_flags[thread] = row->flags;
	snapshot->start_time[thread] = row->start_time;
	snapshot->triple[thread] = snapshot_intern_triple(
		snapshot,
		(struct triple){intern_name(snapshot, row->names[0]), intern_name(snapshot, row->names[1]),
				intern_name(snapshot, row->names[2])});
	for (size_t i = 0; i < METRIC_COUNT; i++) {
		if (host->has_columns[i])
			snapshot_column(snapshot, (enum metric)i)[thread] = value_of(snapshot, row,
										     (enum metric)i);
	}
	for (size_t i = 0; i < SOURCE_COUNT; i++) {
		if (host->has_reasons[i])
			snapshot_source_reasons(snapshot, (enum source)i)[thread] = row->reasons[i];
		if (host->has_times[i])
			snapshot_read_times(snapshot, (enum source)i)[thread] = row->read_at[i];
	}
	for (size_t i = 0; i < row->exception_count; i++)
		snapshot_add_exception(snapshot, thread, (enum metric)row->exceptions[i].metric,
				       row->exceptions[i].reason);
	if (host->has_stuck)
		snapshot->stuck_ns[thread] = row->stuck_ns;
	if (host->has_waiting)
		snapshot->waiting_ns[thread] = row->waiting_ns;
	if (host->has_classes) {
		snapshot->wait_class[thread] = row->wait_class;
		snapshot->wait_object[thread] = intern_name(snapshot, row->wait_object);
	}
	if (row->tid == row->tgid)
		snapshot_add_resident(snapshot, thread, row->rss, row->read_at[0]);
	if (row->tid == row->tgid && row->smaps_count != 0) {
		struct smaps_record *record = snapshot_add_smaps(snapshot, thread);

		record->kib.items = arena_allocate_zero(&snapshot->arena, row->smaps_count,
							sizeof(*record->kib.items));
		record->kib.count = (uint32_t)row->smaps_count;
		for (size_t i = 0; i < row->smaps_count; i++)
			record->kib.items[i] = (struct key_value){
				intern_name(snapshot, 1000 + (unsigned int)i), row->smaps[i]};
	}
}

/* What a still row is to be equal in; times go on. */
static bool is_same(const struct random_host *host, const struct row *a, const struct row *b)
{
	struct row left = *a, right = *b;

	(void)host;
	memcpy(left.read_at, right.read_at, sizeof(left.read_at));
	left.stuck_ns = right.stuck_ns;
	left.waiting_ns = right.waiting_ns;
	left.wait_class = right.wait_class;
	left.wait_object = right.wait_object;
	return memcmp(&left, &right, sizeof(left)) == 0;
}

static void carry(struct random_host *host, struct snapshot *snapshot, bool columns_are_same)
{
	snapshot->carried_serial = host->last_serial;
	snapshot->carried_row = memory_allocate((snapshot->thread_count + 1) * sizeof(uint32_t));
	snapshot->moved_known = columns_are_same && !one_in(host, 3);
	if (snapshot->moved_known)
		snapshot->moved = memory_allocate((snapshot->thread_count + 1) * sizeof(uint32_t));
	for (size_t i = 0, old = 0; i < host->row_count; i++) {
		snapshot->carried_row[i] = UINT32_MAX;
		while (old < host->before_count && compare_rows(&host->before[old], &host->rows[i]) < 0)
			old++;
		if (old < host->before_count && host->before[old].number == host->rows[i].number)
			snapshot->carried_row[i] = (uint32_t)old;
		if (snapshot->moved_known && (snapshot->carried_row[i] == UINT32_MAX || one_in(host, 30) ||
					      !is_same(host, &host->before[old], &host->rows[i])))
			snapshot->moved[snapshot->moved_count++] = (uint32_t)i;
	}
}

/* --- what is of no thread --- */

static struct key_values random_key_values(struct random_host *host, struct snapshot *snapshot)
{
	const size_t count = random_below(host, KEYS_MAX);
	struct key_value *items = arena_allocate_zero(&snapshot->arena, count, sizeof(*items));

	for (size_t i = 0; i < count; i++)
		items[i] = (struct key_value){
			intern_name(snapshot, 100 + (unsigned int)random_below(host, 10)),
			random_number(host)};
	return (struct key_values){items, (uint32_t)count};
}

static struct optional_u64 random_optional(struct random_host *host)
{
	return (struct optional_u64){random_number(host), one_in(host, 2)};
}

static void fill_pressure(struct random_host *host, struct pressure *pressure)
{
	for (size_t i = 0; i < PRESSURE_RESOURCE_COUNT; i++) {
		pressure->resource[i].some = (struct pressure_half){
			(uint16_t)random_u64(host), (uint16_t)random_below(host, 3), 7, random_number(host)};
		pressure->resource[i].full = (struct pressure_half){
			0, (uint16_t)random_u64(host), (uint16_t)random_below(host, 2), random_number(host)};
	}
}

static void fill_cgroups(struct random_host *host, struct snapshot *snapshot)
{
	for (unsigned int i = 0; i < CGROUPS_MAX; i++) {
		struct cgroup_record *record;

		if (one_in(host, 3))
			continue;
		record = snapshot_add_cgroup(snapshot, intern_name(snapshot, 200 + i));
		for (size_t field = 0; field < CGROUP_RECORD_FIELD_COUNT; field++) {
			void *place = (char *)record + cgroup_record_fields[field].offset;

			switch (cgroup_record_fields[field].type) {
			case CGROUP_TYPE_U64:
				*(uint64_t *)place = random_number(host);
				break;
			case CGROUP_TYPE_OPTIONAL_U64:
				*(struct optional_u64 *)place = random_optional(host);
				break;
			case CGROUP_TYPE_OPTIONAL_I32:
				*(struct optional_i32 *)place = (struct optional_i32){
					(int32_t)random_number(host), one_in(host, 2)};
				break;
			case CGROUP_TYPE_KEY_VALUES:
				*(struct key_values *)place = random_key_values(host, snapshot);
				break;
			}
		}
		fill_pressure(host, &record->pressure);
		record->id = random_optional(host);
		record->there_since = random_optional(host);
		record->read_at = random_optional(host);
		for (size_t file = 0; file < CGROUP_FILE_COUNT; file++)
			record->missing[file] = one_in(host, 4) ? random_reason(host) : REASON_READ;
	}
}

static struct text_pairs random_pairs(struct random_host *host, struct snapshot *snapshot)
{
	struct text_pairs pairs = {.present = one_in(host, 2), .count = random_below(host, 4)};

	pairs.items = arena_allocate_zero(&snapshot->arena, pairs.count, sizeof(*pairs.items));
	for (size_t i = 0; i < pairs.count; i++)
		pairs.items[i] = (struct text_pair){"key", arena_format(&snapshot->arena, "value %u",
									(unsigned int)random_below(host, 3))};
	return pairs;
}

/* All that lies in the snapshot as it is. */
static void fill_facts(struct random_host *host, struct snapshot *snapshot)
{
#define NUMBER(field)   snapshot->field = random_number(host)
#define BOOLEAN(field)  snapshot->field = one_in(host, 2)
#define TEXT(field)     snapshot->field = random_text(host, snapshot)
#define OPTIONAL(field) snapshot->field = random_optional(host)
#define NUMBERS(field, count)                                                                                \
	for (size_t i = 0; i < (count); i++)                                                                 \
	snapshot->field[i] = random_number(host)
#include "facts.def"
	snapshot->host.sched_tunables = random_pairs(host, snapshot);
	snapshot->host.cpufreq_governor = random_pairs(host, snapshot);
	snapshot->probe_summary.stopped_known = one_in(host, 2);
	snapshot->probe_summary.stopped = random_number(host);
	snapshot->format_notes = random_text(host, snapshot);
	fill_pressure(host, &snapshot->pressure);
	for (size_t i = 0; i < PRESSURE_RESOURCE_COUNT; i++)
		snapshot->pressure_missing[i] = random_reason(host);
}

static void fill_tallies(struct random_host *host, struct snapshot *snapshot)
{
	struct tally *tallies = arena_allocate_zero(&snapshot->arena, SOURCE_COUNT, sizeof(*tallies));

	for (size_t i = 0; i < SOURCE_COUNT; i++) {
		tallies[i].read = random_number(host);
		tallies[i].missed[random_reason(host)] = random_number(host);
	}
	snapshot->provenance.tallies = tallies;
}

static void fill_lists(struct random_host *host, struct snapshot *snapshot)
{
	struct provenance *provenance = &snapshot->provenance;

	provenance->capability_count = random_below(host, 4);
	provenance->capabilities = arena_allocate_zero(&snapshot->arena, provenance->capability_count,
						       sizeof(*provenance->capabilities));
	for (size_t i = 0; i < provenance->capability_count; i++)
		provenance->capabilities[i] = arena_format(&snapshot->arena, "capability_%zu", i);
	provenance->scope_count = random_below(host, 3);
	provenance->scope = arena_allocate_zero(&snapshot->arena, provenance->scope_count, sizeof(uint32_t));
	for (size_t i = 0; i < provenance->scope_count; i++)
		provenance->scope[i] = (uint32_t)random_number(host);
	provenance->heap_count = random_below(host, 5);
	provenance->heap = arena_allocate_zero(&snapshot->arena, provenance->heap_count,
					       sizeof(*provenance->heap));
	for (size_t i = 0; i < provenance->heap_count; i++)
		provenance->heap[i] = (struct heap_process){
			(uint32_t)random_number(host), random_text(host, snapshot),
			random_text(host, snapshot), random_text(host, snapshot),
			random_text(host, snapshot)};
	if (one_in(host, 2))
		fill_tallies(host, snapshot);
}

/* Some processes keep a title from round to round, some change it, some have one now and then. */
static void fill_titles(struct random_host *host, struct snapshot *snapshot)
{
	struct process_title titles[8];
	size_t count = 0;

	for (uint32_t tgid = 1; tgid <= ARRAY_COUNT(titles) && !one_in(host, 8); tgid++) {
		if (!one_in(host, 3))
			titles[count++] = (struct process_title){
				one_in(host, 50) ? UINT32_MAX - tgid : 10 * tgid,
				arena_format(&snapshot->arena, "server: \xc3\xa4 %u",
					     (unsigned int)random_below(host, one_in(host, 3) ? 100 : 1))};
	}
	snapshot_set_titles(snapshot, titles, count);
}

static struct device *fill_device_list(struct random_host *host, struct snapshot *snapshot, size_t *ret_count)
{
	struct device *devices;

	*ret_count = random_below(host, 4);
	devices = arena_allocate_zero(&snapshot->arena, *ret_count, sizeof(*devices));
	for (size_t i = 0; i < *ret_count; i++)
		devices[i] = (struct device){
			arena_format(&snapshot->arena, "disk%u", (unsigned int)random_below(host, 3)),
			random_number(host), random_number(host), random_number(host)};
	return devices;
}

static void fill_devices(struct random_host *host, struct snapshot *snapshot)
{
	struct devices *devices = &snapshot->provenance.devices;

	if (one_in(host, 4))
		return;
	devices->read_at_ns = 1 + random_number(host) / 2;
	devices->cpu_end = (uint32_t)random_below(host, DEVICES_CPUS_MAX);
	devices->cpu_count = random_below(host, 5);
	devices->cpus = arena_allocate_zero(&snapshot->arena, devices->cpu_count, sizeof(*devices->cpus));
	for (size_t i = 0; i < devices->cpu_count; i++)
		devices->cpus[i] = (struct cpu_ticks){(uint32_t)random_below(host, DEVICES_CPUS_MAX),
						      random_number(host), random_number(host)};
	devices->disks = fill_device_list(host, snapshot, &devices->disk_count);
	devices->networks = fill_device_list(host, snapshot, &devices->network_count);
}

static void fill_provenance(struct random_host *host, struct snapshot *snapshot)
{
	struct provenance *provenance = &snapshot->provenance;

	provenance->present = !one_in(host, 10);
	provenance->boottime_ns = host->time_ns;
	for (size_t i = 0; i < ROOT_COUNT; i++)
		provenance->roots[i] = random_text(host, snapshot);
	for (size_t i = 0; i < FEATURE_COUNT; i++)
		provenance->features[i] = (struct feature_result){
			(enum feature_state)random_below(host, FEATURE_STATE_OFF + 1), random_reason(host),
			random_text(host, snapshot), random_text(host, snapshot)};
	fill_lists(host, snapshot);
	fill_titles(host, snapshot);
	fill_devices(host, snapshot);
}

static void fill_histogram(struct random_host *host, struct latency_histogram *histogram)
{
	for (size_t i = 0; i < LATENCY_BUCKETS; i++)
		histogram->buckets[i] = one_in(host, 4) ? random_number(host) : 0;
	histogram->sum_ns = random_number(host);
	histogram->max_ns = random_number(host);
}

static void fill_waits(struct random_host *host, struct latency_waits *waits)
{
	for (size_t kind = 0; kind < LATENCY_KIND_COUNT; kind++)
		fill_histogram(host, &waits->of[kind]);
}

static void fill_latency(struct random_host *host, struct snapshot *snapshot)
{
	struct latency *latency = &snapshot->latency;

	if (!latency->present) {
		*latency = (struct latency){0};
		return;
	}
	latency->is_whole = one_in(host, 2);
	for (uint64_t count = random_below(host, 10); count > 0; count--) {
		struct latency_record *record = latency_add_record(
			snapshot, intern_name(snapshot, (unsigned int)random_below(host, 60)),
			intern_name(snapshot, (unsigned int)random_below(host, 60)),
			intern_name(snapshot, 3));

		record->is_kernel = one_in(host, 2);
		if (one_in(host, 2))
			fill_waits(host, latency_own_waits(latency, latency->count - 1));
	}
	for (uint64_t count = latency->count != 0 ? random_below(host, 12) : 0; count > 0; count--) {
		struct latency_share *share = MEMORY_APPEND(latency->shares, latency->share_count,
							    latency->share_capacity);

		*share = (struct latency_share){
			.record = (uint32_t)random_below(host, latency->count),
			.pid = (uint32_t)random_below(host, 5),
		};
		fill_waits(host, &share->waits);
	}
	for (uint64_t count = latency->count != 0 ? random_below(host, 30) : 0; count > 0; count--) {
		const struct latency_time time = {
			.record = (uint32_t)random_below(host, latency->count),
			.pid = one_in(host, 3) ? LATENCY_PROCESS_UNKNOWN : (uint32_t)random_below(host, 5),
			.class = (uint8_t)(1 + random_below(host, WAIT_CLASS_COUNT - 1)),
			.time_ns = 1 + random_number(host) / 2,
		};

		latency_add_time(latency, &time);
	}
	for (uint64_t count = latency->count != 0 ? random_below(host, 20) : 0; count > 0; count--) {
		struct latency_delay *delay = MEMORY_APPEND(latency->delays, latency->delay_count,
							    latency->delay_capacity);

		*delay = (struct latency_delay){
			.victim = (uint32_t)random_below(host, latency->count),
			.culprit = (uint32_t)random_below(host, latency->count),
			.cause = (enum latency_cause)random_below(host, LATENCY_CAUSE_COUNT),
			.time_ns = random_number(host),
			.wakes = random_number(host),
			.waits = random_number(host),
		};
	}
}

static void fill_amounts(struct random_host *host, struct ended_amounts *amounts)
{
	amounts->delayed = random_number(host);
	for (size_t i = 0; i < ENDED_METRICS; i++)
		amounts->of[i] = one_in(host, 2) ? random_number(host) : 0;
}

static uint32_t ended_name(struct random_host *host, struct ended_set *set)
{
	static const char *const names[] = {"", "a", "b", "c"};

	return ended_set_triple(set, name_text_of(names[random_below(host, 4)]),
				name_text_of(names[random_below(host, 4)]),
				name_text_of(names[random_below(host, 4)]));
}

static void fill_ended(struct random_host *host, struct snapshot *snapshot)
{
	struct ended_set *set;

	if (one_in(host, 3))
		return;
	set = snapshot->ended = ended_set_create();
	for (uint64_t count = random_below(host, 8); count > 0; count--) {
		struct ended_group *group = ended_set_group(set, ended_name(host, set), one_in(host, 2));

		group->threads = random_number(host);
		group->processes = random_number(host);
		group->unknown = random_number(host);
		if (one_in(host, 2))
			group->started_by = (struct started_by){
				(uint32_t)random_below(host, set->names->strings.count),
				1 + random_below(host, 9)};
		fill_amounts(host, &group->amounts);
	}
	for (uint64_t count = random_below(host, 8); count > 0; count--) {
		struct ended_thread *thread = ended_set_add_thread(set, ended_name(host, set),
								   one_in(host, 2));

		thread->tgid = (uint32_t)random_number(host);
		thread->tid = (uint32_t)random_number(host);
		thread->start_time = random_number(host);
		fill_amounts(host, &thread->amounts);
	}
	for (size_t i = 0; i < ENDED_METRICS; i++)
		set->reasons[i] = random_reason(host);
	set->lower_bound = one_in(host, 2);
	set->lost = random_number(host);
	set->unread = one_in(host, 2);
}

/* --- what a scheduler keeps --- */

static void change_scheduler(struct random_host *host)
{
	static const struct task_field_enumerator enumerators[] = {{"ON", 1}, {"OFF", -1}};
	const uint32_t size = (uint32_t)(1 + random_below(host, CONTEXT_SIZE_MAX));
	const struct task_field_member members[] = {
		{.name = "all", .type = "u8", .kind = TASK_FIELD_KIND_UNSIGNED, .bit_size = 8, .count = 1},
		{.name = "state",
		 .type = "enum state",
		 .kind = TASK_FIELD_KIND_ENUM,
		 .bit_offset = 3,
		 .bit_size = 5,
		 .count = 1,
		 .is_signed = true,
		 .enumerators = enumerators,
		 .enumerator_count = ARRAY_COUNT(enumerators)},
		{.name = "list",
		 .type = "u16[3]",
		 .kind = TASK_FIELD_KIND_ARRAY,
		 .bit_offset = 8,
		 .bit_size = 16,
		 .count = 3},
	};

	task_field_owner_release(host->scheduler);
	host->scheduler = NULL;
	if (one_in(host, 3))
		return;
	host->scheduler = task_field_owner_create(TASK_FIELD_SOURCE, "test_1.0", "task_ctx", "map",
						  "task storage", size);
	host->scheduler->enable_seq = random_below(host, 3);
	host->scheduler->loaded_at_ns = random_number(host);
	for (size_t i = 0; i < ARRAY_COUNT(members); i++)
		task_field_owner_add_member(host->scheduler, &members[i]);
}

static void fill_scx(struct random_host *host, struct snapshot *snapshot)
{
	struct task_fields *scx = &snapshot->task_fields;

	scx->event_count = random_below(host, 3);
	scx->events = arena_allocate_zero(&snapshot->arena, scx->event_count, sizeof(*scx->events));
	for (size_t i = 0; i < scx->event_count; i++)
		scx->events[i] = (struct task_field_event){"SCX_EV", random_number(host)};
	scx->only_numbers = one_in(host, 2);
	if (host->scheduler == NULL)
		return;
	if (one_in(host, 4)) {
		scx->owner = task_field_owner_reference(host->scheduler);
		return;
	}
	task_fields_begin(scx, task_field_owner_reference(host->scheduler),
			  random_below(host, 5) == 0 ? host->row_count / 2 : host->row_count);
	for (size_t i = 0; i < scx->context_of_count; i++) {
		if (host->rows[i].context_state == 0)
			memcpy(task_fields_add_context(scx, i), host->rows[i].context, host->scheduler->size);
		else
			scx->context_of[i] = UINT32_MAX - host->rows[i].context_state + 1;
	}
}

/* --- rounds --- */

struct random_host *random_host_create(uint64_t seed)
{
	struct random_host *host = memory_allocate_zero(1, sizeof(*host));

	host->seed = seed * 2 + 1;
	host->keeps_names = seed % 2 == 0;
	host->time_ns = 1000000000;
	host->has_unknown_reasons = one_in(host, 2);
	choose_columns(host);
	return host;
}

void random_host_release(struct random_host *host)
{
	task_field_owner_release(host->scheduler);
	snapshot_release(host->last);
	free(host);
}

struct snapshot *random_host_next(struct random_host *host)
{
	struct snapshot *snapshot = snapshot_create();
	const bool new_columns = one_in(host, 5);

	if (host->keeps_names)
		snapshot_begin_names(snapshot, one_in(host, 6) ? NULL : host->last);
	memcpy(host->before, host->rows, sizeof(host->before));
	host->before_count = host->row_count;
	move_rows(host);
	if (new_columns)
		choose_columns(host);
	if (one_in(host, 5))
		change_scheduler(host);
	fill_facts(host, snapshot);
	fill_provenance(host, snapshot);
	memcpy(snapshot->default_reason, host->default_reasons, sizeof(snapshot->default_reason));
	/* names come in another order now and then */
	for (unsigned int first = (unsigned int)random_below(host, 10), i = 0; one_in(host, 3) && i < 10; i++)
		intern_name(snapshot, (first * i) % NAMES_MAX);
	if (host->row_count != 0 && one_in(host, 2))
		snapshot_reserve(snapshot, host->row_count);
	snapshot_reserve(snapshot, host->row_count + 1);
	if (host->has_stuck)
		snapshot->stuck_ns = memory_allocate_zero(snapshot->thread_capacity + 1, sizeof(uint64_t));
	if (host->has_waiting)
		snapshot->waiting_ns = memory_allocate_zero(snapshot->thread_capacity + 1, sizeof(uint64_t));
	if (host->has_classes)
		snapshot_make_wait_columns(snapshot);
	for (size_t i = 0; i < host->row_count; i++)
		store_row(host, snapshot, &host->rows[i]);
	for (size_t i = 0; i < METRIC_COUNT; i++) {
		snapshot->metric_reason[i] = one_in(host, 10) ? random_reason(host) : REASON_READ;
		snapshot->metric_source[i] = (enum source)random_below(host, SOURCE_COUNT + 1);
	}
	snapshot->resident_missing = random_reason(host);
	fill_cgroups(host, snapshot);
	fill_latency(host, snapshot);
	fill_ended(host, snapshot);
	fill_scx(host, snapshot);
	snapshot_finish(snapshot);
	if (host->last_serial != 0 && !one_in(host, 4))
		carry(host, snapshot, !new_columns);
	host->last_serial = snapshot->serial;
	if (host->keeps_names) {
		snapshot_release(host->last);
		host->last = snapshot_reference(snapshot);
	}
	return snapshot;
}
