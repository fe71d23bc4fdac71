/* SPDX-License-Identifier: GPL-2.0-only */
#include "round_internal.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/rights.h"
#include "capture/host/cgroup.h"
#include "capture/host/container.h"
#include "capture/host/host.h"

static const enum metric irq_metrics[] = {METRIC_IRQ_DELAY_COUNT, METRIC_IRQ_DELAY_TOTAL_NS,
					  METRIC_IRQ_DELAY_MAX_NS, METRIC_IRQ_DELAY_MIN_NS};

#define HOST_FACTS_NS (60 * NS_PER_S)

/* Records leave half of the time to smaps_rollup: a single one may take longer than all records. */
static bool records_over_budget(void *context)
{
	const struct round *round = context;
	uint64_t budget_ns = round->smaps ? round->expensive_budget_ns / 2 : round->expensive_budget_ns;

	return round_is_cancelled(round) ||
	       capture_cpu_ns(round->capture) - round->expensive_start_ns > budget_ns;
}

static void copy_features(struct round *round)
{
	struct provenance *provenance = &round->snapshot->provenance;

	for (size_t i = 0; i < FEATURE_COUNT; i++)
		provenance->features[i] = feature_copy(&round->snapshot->arena,
						       &round->capture->checks.results[i]);
}

static void copy_scope(struct round *round)
{
	const struct capture *capture = round->capture;
	struct snapshot *snapshot = round->snapshot;

	if (capture->scope_count == 0)
		return;
	snapshot->provenance.scope = arena_allocate(&snapshot->arena,
						    capture->scope_count * sizeof(*capture->scope));
	memcpy(snapshot->provenance.scope, capture->scope, capture->scope_count * sizeof(*capture->scope));
	snapshot->provenance.scope_count = capture->scope_count;
}

/* Gives a snapshot that shares a host what is known of the origin of both; the host owns the texts. */
static void share_origin(struct snapshot *snapshot, const struct snapshot *host)
{
	const struct provenance *from = &host->provenance;
	struct provenance *to = &snapshot->provenance;

	to->present = from->present;
	to->program = from->program;
	to->boot_id = from->boot_id;
	to->uid = from->uid;
	to->capabilities = from->capabilities;
	to->capability_count = from->capability_count;
	memcpy(to->namespaces, from->namespaces, sizeof(to->namespaces));
	memcpy(to->roots, from->roots, sizeof(to->roots));
}

/*
 * Gives the round the facts of the host and of ctop, read again once they are older than HOST_FACTS_NS or
 * this thread has other rights. Files that stay open between rounds are found by their paths again as often:
 * something may be mounted over them.
 */
static void take_host_facts(struct round *round)
{
	struct capture *capture = round->capture;
	const uint64_t now_ns = clock_ns(CLOCK_BOOTTIME), rights = rights_effective();

	if (round->full || capture->host == NULL || rights != capture->host_rights ||
	    now_ns - capture->host_read_ns >= HOST_FACTS_NS) {
		roots_keep_files(&capture->roots);
		snapshot_release(capture->host);
		capture->host = snapshot_create();
		host_read(&capture->roots, &capture->checks, capture->host);
		host_read_provenance(&capture->roots, capture->host);
		snapshot_finish(capture->host);
		capture->host_read_ns = now_ns;
		capture->host_rights = rights;
	}
	snapshot_share_host(round->snapshot, capture->host);
	share_origin(round->snapshot, capture->host);
	host_tell_switches(&capture->checks, &round->snapshot->host);
}

static void read_host(struct round *round)
{
	const struct roots *roots = &round->capture->roots;
	struct snapshot *snapshot = round->snapshot;

	copy_features(round);
	copy_scope(round);
	sched_ext_read(roots, snapshot);
	/* A saved tree tells nothing of the host it came from but what is in it. */
	if (round->capture->roots.is_procfs)
		take_host_facts(round);
	else
		host_read_provenance(roots, snapshot);
	host_read_load(roots, snapshot);
	/* the files of this host's runtimes are about its own cgroups */
	if (roots->own_namespace && !roots->redirected)
		containers_read(roots, round->capture->reader, snapshot);
}

/*
 * Threads that started at this tick or later have their delays counted: from when on the switch was always
 * seen at 1, or from the start of the oldest thread that has a count, since a thread without a record never
 * gets one. What started before the switch was last seen off proves nothing about its neighbours.
 */
static uint64_t first_counted_tick(const struct round *round)
{
	const struct capture *capture = round->capture;
	const struct snapshot *snapshot = round->snapshot;
	uint64_t since_ns = capture->checks.delayacct_on_since_ns;
	uint64_t proof = capture->delays_off_ns / NS_PER_TICK;
	uint64_t first = since_ns == 0 ? 0 : since_ns / NS_PER_TICK + 1;

	for (size_t row = 0; row < snapshot->thread_count; row++) {
		uint64_t start = snapshot->start_time[row];

		if ((round->states[row].flags & ROW_DELAYED) != 0 && start > proof && start < first)
			first = start;
	}
	return first;
}

/* When a delay of zero is real (docs/dev/live-round.md). What was counted stays, also with the switch off. */
static void explain_delays(struct round *round)
{
	const struct capture *capture = round->capture;
	struct snapshot *snapshot = round->snapshot;
	enum task_delayacct state = capture->checks.task_delayacct;
	const bool by_pass = capture->passes.tasks != NULL; /* which sees the threads that have a record */
	uint64_t first;
	reason_id *reason;

	if (capture->taskstats == NULL && !by_pass)
		return;
	if (by_pass && snapshot->default_reason[SOURCE_DELAYS] == REASON_NOT_READ)
		return;
	if (!feature_knows_delays(&capture->checks)) {
		/* a query that failed has made a column, which says of the others that they were read */
		round_set_source(snapshot, SOURCE_DELAYS, feature_delays_reason(&capture->checks));
		return;
	}
	first = state == TASK_DELAYACCT_ON && !by_pass ? first_counted_tick(round) : UINT64_MAX;
	reason = snapshot_source_reasons(snapshot, SOURCE_DELAYS);
	for (size_t row = 0; row < snapshot->thread_count; row++) {
		if ((snapshot->thread_flags[row] & THREAD_TASKSTATS_MEASURED) == 0)
			continue;
		if ((round->states[row].flags & ROW_DELAYED) != 0 || snapshot->start_time[row] >= first)
			reason[row] = REASON_READ;
		else
			reason[row] = state == TASK_DELAYACCT_ON ? REASON_OFF_AT_FORK : REASON_SWITCHED_OFF;
	}
}

/* An address space without a highest size was never accounted; a zombie has none any more. */
static void explain_hiwater(struct round *round)
{
	struct snapshot *snapshot = round->snapshot;
	const uint64_t *size = snapshot->values[METRIC_HIWATER_RSS_BYTES];
	enum reason absent = round->capture->checks.results[FEATURE_XACCT].reason;
	reason_id *reason;

	if (round->capture->taskstats == NULL && round->capture->passes.tasks == NULL)
		return;
	reason = snapshot_source_reasons(snapshot, SOURCE_HIWATER);
	for (size_t row = 0; row < snapshot->thread_count; row++) {
		uint8_t flags = snapshot->thread_flags[row];

		if ((flags & THREAD_TASKSTATS_MEASURED) == 0)
			continue;
		reason[row] = REASON_READ;
		if ((flags & THREAD_KERNEL) != 0 || (size != NULL && size[row] != 0))
			continue;
		if (absent != REASON_READ)
			reason[row] = (reason_id)absent;
		else
			reason[row] = round->states[row].state == 'Z' ? REASON_ENDED : REASON_UNREADABLE;
	}
}

/* Metrics that this kernel does not have although it has their source. */
static void explain_metrics(struct round *round)
{
	const struct capture *capture = round->capture;
	struct snapshot *snapshot = round->snapshot;
	const struct taskstats_layout *layout = capture->taskstats != NULL
							? taskstats_layout(capture->taskstats)
							: NULL;
	const bool without_delays = !feature_knows_delays(&capture->checks);

	for (size_t i = 0; i < METRIC_COUNT; i++) {
		enum source source = capture->metric_source[i];
		enum taskstats_member member = capture->member[i];
		bool missing = false;

		if (source == SOURCE_NONE || source == SOURCE_JEMALLOC)
			continue;
		if (member != TASKSTATS_MEMBER_NONE)
			missing = (layout != NULL && layout->size != 0 && !taskstats_has(layout, member)) ||
				  (metrics[i].family == METRIC_FAMILY_CPU_DELAY && without_delays);
		else
			missing = snapshot->provenance.tallies[source].read != 0 &&
				  !metric_set_has(&capture->seen, (enum metric)i);
		if (missing && snapshot->metric_reason[i] == REASON_READ)
			snapshot->metric_reason[i] =
				(reason_id)(metrics[i].family == METRIC_FAMILY_CPU_DELAY && without_delays
						    ? feature_delays_reason(&capture->checks)
						    : REASON_NOT_IN_KERNEL);
	}
	if (capture->checks.results[FEATURE_IRQ_DELAY].reason == REASON_READ)
		return;
	for (size_t i = 0; i < sizeof(irq_metrics) / sizeof(irq_metrics[0]); i++)
		snapshot->metric_reason[irq_metrics[i]] =
			(reason_id)capture->checks.results[FEATURE_IRQ_DELAY].reason;
}

/* A column that says the same everywhere becomes the default. */
static void collapse(struct snapshot *snapshot, enum source source)
{
	reason_id *column = snapshot->source_reason[source];

	if (column == NULL || snapshot->thread_count == 0)
		return;
	if (memcmp(column, column + 1, snapshot->thread_count - 1) != 0)
		return;
	round_set_source(snapshot, source, (enum reason)column[0]);
}

static void tally(struct round *round)
{
	struct snapshot *snapshot = round->snapshot;

	snapshot->provenance.tallies = arena_allocate_zero(&snapshot->arena, SOURCE_COUNT,
							   sizeof(*snapshot->provenance.tallies));
	for (size_t i = 0; i < SOURCE_COUNT; i++) {
		collapse(snapshot, (enum source)i);
		if ((round->capture->replaced & source_bit((enum source)i)) == 0)
			snapshot_tally(snapshot, (enum source)i, &snapshot->provenance.tallies[i]);
	}
	snapshot->provenance.ended = round->ended;
}

/* The format's summary of failed reads: the commonest file, the alphabetically earlier one of equals. */
static void summarize_parsing(struct round *round)
{
	struct parse_summary *summary = &round->snapshot->parse_summary;
	uint64_t configurable;
	uint64_t most = 0;

	summary->present = true;
	summary->tids_walked = round->listed;
	summary->negative_dotted_values = round->negative_values;
	for (size_t i = 0; i < PARSE_FILE_COUNT; i++) {
		summary->read_failures_by_file[i] = round->failures[i];
		summary->read_failures += round->failures[i];
		if (round->failures[i] > most) {
			most = round->failures[i];
			summary->dominant_read_failure = parse_file_names[i];
		}
	}
	configurable = round->failures[PARSE_FILE_SCHEDSTAT] + round->failures[PARSE_FILE_IO];
	summary->kernel_config_dominant = summary->read_failures > 0 &&
					  configurable * 2 >= summary->read_failures;
}

static void summarize_taskstats(struct round *round)
{
	struct taskstats_summary *summary = &round->snapshot->taskstats_summary;

	summary->present = true;
	/* The refusal is the same for every thread, so none was asked for. */
	if (round->capture->taskstats == NULL && round->capture->taskstats_reason == REASON_NOT_PERMITTED)
		summary->eperm_count = round->listed;
}

void round_read_host_counters(struct round *round)
{
	const struct roots *roots = &round->capture->roots;

	host_read_ticks(roots, round->snapshot);
	pressure_read(roots, round->capture->checks.results[FEATURE_PRESSURE].reason, round->snapshot);
}

static void read_expensive_sources(struct round *round)
{
	round->expensive_start_ns = capture_cpu_ns(round->capture);
	if (round->cgroup_records)
		cgroup_read_records(&round->capture->roots, records_over_budget, round, round->snapshot);
	else if (round->limits_of != NULL && round->limits_of[0] != 0)
		cgroup_read_limits(&round->capture->roots, round->limits_of, round->snapshot);
	if (round->smaps)
		round_read_smaps(round);
}

void round_finish(struct round *round)
{
	struct snapshot *snapshot = round->snapshot;

	explain_delays(round);
	explain_hiwater(round);
	read_host(round);
	read_expensive_sources(round);
	if (round->capture->passes.tasks == NULL || round->capture->passes.tells_resident)
		round_store_resident(round);
	else
		snapshot->resident_missing = REASON_NOT_IN_KERNEL;
	heap_summarize(round);
	tally(round);
	explain_metrics(round);
	memcpy(snapshot->metric_source, round->capture->metric_source, sizeof(snapshot->metric_source));
	if (!round->capture->roots.is_procfs) {
		snapshot->taskstats_summary = (struct taskstats_summary){0};
	} else {
		summarize_parsing(round);
		summarize_taskstats(round);
	}
	if ((round->needed & source_bit(SOURCE_STAT)) == 0 && round->capture->passes.tasks == NULL) {
		free(snapshot->stuck_ns);
		snapshot->stuck_ns = NULL;
	}
	snapshot_finish(snapshot);
	snapshot->provenance.duration_ns = clock_ns(CLOCK_BOOTTIME) - snapshot->provenance.boottime_ns;
}
