/* SPDX-License-Identifier: GPL-2.0-only */
/* Numbers about ctop itself. */
#include "export_internal.h"

#include <string.h>

enum health {
#define EXPORT_HEALTH(id, ...) HEALTH_##id,
#include "export_health.def"
#undef EXPORT_HEALTH
	HEALTH_COUNT,
};

struct health_entry {
	enum exposition_kind kind;
	const char *name;
	enum unit unit;
	const char *help;
};

static const struct health_entry health_entries[HEALTH_COUNT] = {
#define EXPORT_HEALTH(id, kind, name, unit, help)                                                            \
	[HEALTH_##id] = {EXPOSITION_##kind, name, UNIT_##unit, help},
#include "export_health.def"
#undef EXPORT_HEALTH
};

const unsigned int export_statuses[EXPORT_STATUS_COUNT] = {200, 404, 405};

/* A number that is being written. */
struct writing {
	const struct export *export;
	const struct export_health *health;
	struct exposition *exposition;
	struct buffer labels;
};

static void begin(const struct writing *writing, enum health which)
{
	const struct health_entry *entry = &health_entries[which];

	exposition_begin(writing->exposition, entry->kind, entry->name, entry->unit, entry->help);
}

static void add(const struct writing *writing, uint64_t value)
{
	exposition_add(writing->exposition, writing->labels.data, writing->labels.length, value);
}

static void write_one(struct writing *writing, enum health which, uint64_t value)
{
	buffer_clear(&writing->labels);
	begin(writing, which);
	add(writing, value);
}

/* Replaces the labels by one. */
static void set_label(struct writing *writing, const char *name, const char *value)
{
	buffer_clear(&writing->labels);
	exposition_append_label(&writing->labels, name, value, strlen(value));
}

static void write_build(struct writing *writing)
{
	begin(writing, HEALTH_BUILD);
	set_label(writing, "version", CTOP_VERSION);
	add(writing, 1);
}

static void write_rounds(struct writing *writing)
{
	const struct export_health *health = writing->health;
	const struct export_facts *facts = &writing->export->facts;

	write_one(writing, HEALTH_ROUNDS, health->rounds);
	write_one(writing, HEALTH_ROUND_FAILURES, health->failed_rounds);
	write_one(writing, HEALTH_CAPTURE_CPU, health->capture_cpu_ns);
	write_one(writing, HEALTH_ROUND_STALE, health->stale);
	if (writing->export->rounds == 0)
		return;
	write_one(writing, HEALTH_ROUND_TIMESTAMP, facts->unix_ns);
	write_one(writing, HEALTH_ROUND_AGE,
		  health->now_boottime_ns > facts->boottime_ns ? health->now_boottime_ns - facts->boottime_ns
							       : 0);
	write_one(writing, HEALTH_ROUND_INTERVAL, facts->interval_ns);
	write_one(writing, HEALTH_ROUND_DURATION, facts->duration_ns);
	write_one(writing, HEALTH_THREADS, facts->threads);
}

static void write_missed(struct writing *writing, enum source source)
{
	const struct export_facts *facts = &writing->export->facts;

	for (size_t reason = 0; reason <= UINT8_MAX; reason++) {
		const uint64_t missed = facts->tallies[source].missed[reason];
		const char *name = facts->reason_names[reason];

		if (missed == 0)
			continue;
		set_label(writing, "source", sources[source].name);
		exposition_append_label(&writing->labels, "reason", name, strlen(name));
		add(writing, missed);
	}
}

/* Writes about the sources that are read at all. */
static void write_sources(struct writing *writing)
{
	begin(writing, HEALTH_SOURCE_READ);
	for (size_t i = 0; i < SOURCE_COUNT; i++) {
		if ((writing->export->sources & source_bit((enum source)i)) == 0)
			continue;
		set_label(writing, "source", sources[i].name);
		add(writing, writing->export->facts.tallies[i].read);
	}
	begin(writing, HEALTH_SOURCE_MISSED);
	for (size_t i = 0; i < SOURCE_COUNT; i++)
		write_missed(writing, (enum source)i);
}

/* Leaves out features that were not checked. */
static void write_features(struct writing *writing)
{
	begin(writing, HEALTH_FEATURE);
	for (size_t i = 0; i < FEATURE_COUNT; i++) {
		const enum feature_state state = writing->export->facts.features[i];

		if (state == FEATURE_STATE_UNKNOWN)
			continue;
		set_label(writing, "feature", features[i].name);
		add(writing, state == FEATURE_STATE_ON);
	}
}

static void write_taskstats(struct writing *writing)
{
	const struct taskstats_summary *taskstats = &writing->export->facts.taskstats;
	const struct {
		const char *result;
		uint64_t count;
	} results[] = {
		{"ok", taskstats->ok_count},
		{"eperm", taskstats->eperm_count},
		{"esrch", taskstats->esrch_count},
		{"other", taskstats->other_err_count},
	};

	if (!taskstats->present)
		return;
	begin(writing, HEALTH_TASKSTATS);
	for (size_t i = 0; i < sizeof(results) / sizeof(results[0]); i++) {
		set_label(writing, "result", results[i].result);
		add(writing, results[i].count);
	}
}

/* A number of each axis. */
static void write_axes(struct writing *writing, enum health which)
{
	const struct export *export = writing->export;

	begin(writing, which);
	for (size_t i = 0; i < export->options.axis_count; i++) {
		const struct export_groups_state state = export_groups_state(export->groups[i]);

		buffer_clear(&writing->labels);
		buffer_append_text(&writing->labels, export_groups_axis_label(export->groups[i]));
		add(writing, which == HEALTH_GROUPS          ? state.groups
			     : which == HEALTH_GROUPS_FOLDED ? state.folded
			     : which == HEALTH_GROUPS_LIMIT  ? export->options.limit
							     : state.dropped);
	}
}

static void write_server(struct writing *writing)
{
	const struct export_health *health = writing->health;

	begin(writing, HEALTH_HTTP_REQUESTS);
	for (size_t i = 0; i < EXPORT_STATUS_COUNT; i++) {
		buffer_clear(&writing->labels);
		buffer_append_format(&writing->labels, "code=\"%u\"", export_statuses[i]);
		add(writing, health->requests[i]);
	}
	begin(writing, HEALTH_HTTP_CLOSED);
	set_label(writing, "reason", "slow");
	add(writing, health->closed_slow);
	set_label(writing, "reason", "crowded");
	add(writing, health->closed_crowded);
}

static void write_process(struct writing *writing)
{
	static const char prefix[] = "ctop_";
	const struct export_health *health = writing->health;
	const uint64_t values[] = {health->cpu_ns,        health->resident_bytes, health->virtual_bytes,
				   health->start_unix_ns, health->open_fds,       health->max_fds};

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		const struct health_entry *entry = &health_entries[HEALTH_PROCESS_CPU + i];
		struct buffer name = {0};

		buffer_append_format(&name, "%s%s", health->own_names ? prefix : "", entry->name);
		buffer_clear(&writing->labels);
		exposition_begin(writing->exposition, entry->kind, name.data, entry->unit, entry->help);
		add(writing, values[i]);
		buffer_release(&name);
	}
}

void export_write_health(const struct export *export, const struct export_health *health,
			 struct exposition *exposition)
{
	struct writing writing = {.export = export, .health = health, .exposition = exposition};

	write_build(&writing);
	write_rounds(&writing);
	if (export->rounds != 0) {
		write_sources(&writing);
		write_features(&writing);
		write_taskstats(&writing);
		for (enum health which = HEALTH_GROUPS; which <= HEALTH_SERIES_DROPPED; which++)
			write_axes(&writing, which);
		write_one(&writing, HEALTH_WRITE_DURATION, health->write_ns);
	}
	if (health->serves)
		write_server(&writing);
	if (health->writes_file)
		write_one(&writing, HEALTH_TEXTFILE_FAILURES, health->file_failures);
	if (health->has_process)
		write_process(&writing);
	buffer_release(&writing.labels);
}
