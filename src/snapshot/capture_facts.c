/* SPDX-License-Identifier: GPL-2.0-only */
#include "capture_facts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/humanize.h"
#include "base/memory.h"
#include "base/order.h"
#include "base/string_pool.h"

static void append_kib(struct buffer *buffer, struct optional_u64 kib)
{
	if (kib.present)
		humanize_bytes(buffer, (double)kib.value * 1024);
}

static void append_text(struct buffer *buffer, const char *text)
{
	if (text != NULL)
		buffer_append_text(buffer, text);
}

/* " (why)" */
static void append_reason(struct buffer *buffer, reason_id reason)
{
	if (reason != REASON_READ)
		buffer_append_format(buffer, " (%s)", reason_words(reason));
}

static void append_kernel(const struct snapshot *snapshot, struct buffer *buffer)
{
	append_text(buffer, snapshot->host.kernel_name);
	if (snapshot->host.kernel_name != NULL && snapshot->host.kernel_release != NULL)
		buffer_append_char(buffer, ' ');
	append_text(buffer, snapshot->host.kernel_release);
}

static void append_scheduler(const struct snapshot *snapshot, struct buffer *buffer)
{
	if (snapshot->task_fields.owner != NULL)
		append_text(buffer, snapshot->task_fields.owner->name);
}

static void append_time(const struct snapshot *snapshot, struct buffer *buffer)
{
	humanize_utc(buffer, snapshot->captured_at_unix_ns);
}

/* What could not be read: the features that are off or partial, but for those that are part of one that is
 * off. */
static void append_missing(const struct snapshot *snapshot, struct buffer *buffer)
{
	const struct feature_result *results = snapshot->provenance.features;
	const char *separator = "";

	for (size_t i = 0; i < FEATURE_COUNT; i++) {
		const enum feature feature = (enum feature)i;
		const bool partial = results[i].state == FEATURE_STATE_PARTIAL;

		if ((results[i].state != FEATURE_STATE_OFF && !partial) ||
		    feature_cause(results, feature) != feature)
			continue;
		buffer_append_format(buffer, "%s%s%s", separator, features[i].words,
				     partial ? ": partial" : "");
		append_reason(buffer, results[i].reason);
		separator = ", ";
	}
	if (buffer->length == 0 && snapshot->provenance.present)
		buffer_append_text(buffer, "nothing");
}

static void append_processes(const struct snapshot *snapshot, struct buffer *buffer)
{
	struct hash_map seen = {0};

	for (size_t i = 0; i < snapshot->thread_count; i++)
		hash_map_set(&seen, snapshot->tgid[i], 0);
	humanize_count(buffer, seen.count);
	hash_map_release(&seen);
}

static void append_user(const struct snapshot *snapshot, struct buffer *buffer)
{
	if (snapshot->provenance.uid.present)
		buffer_append_format(buffer, "uid %" PRIu64, snapshot->provenance.uid.value);
}

static void append_capabilities(const struct snapshot *snapshot, struct buffer *buffer)
{
	const struct provenance *provenance = &snapshot->provenance;

	if (!provenance->present)
		return;
	for (size_t i = 0; i < provenance->capability_count; i++) {
		buffer_append_text(buffer, i != 0 ? " " : "");
		buffer_append_text(buffer, provenance->capabilities[i]);
	}
	if (provenance->capability_count == 0)
		buffer_append_text(buffer, "none");
}

static void append_scope(const struct snapshot *snapshot, struct buffer *buffer)
{
	const struct provenance *provenance = &snapshot->provenance;

	if (!provenance->present)
		return;
	if (provenance->scope_count == 0)
		buffer_append_text(buffer, "all processes");
	else
		buffer_append_text(buffer, provenance->scope_count == 1 ? "process" : "processes");
	for (size_t i = 0; i < provenance->scope_count; i++) {
		buffer_append_char(buffer, ' ');
		buffer_append_u64(buffer, provenance->scope[i]);
	}
}

static void append_ended(const struct snapshot *snapshot, struct buffer *buffer)
{
	if (snapshot->provenance.present)
		humanize_count(buffer, snapshot->provenance.ended);
}

static void append_load(const struct snapshot *snapshot, struct buffer *buffer)
{
	if (!snapshot->provenance.load_known)
		return;
	for (size_t i = 0; i < ARRAY_COUNT(snapshot->provenance.load_centi); i++) {
		buffer_append_text(buffer, i != 0 ? " " : "");
		buffer_append_u64(buffer, snapshot->provenance.load_centi[i] / 100);
		buffer_append_format(buffer, ".%02u",
				     (unsigned int)(snapshot->provenance.load_centi[i] % 100));
	}
}

/* Governors with the number of their CPUs, in the order of their first CPU. */
static void append_governors(const struct snapshot *snapshot, struct buffer *buffer)
{
	const struct text_pairs *pairs = &snapshot->host.cpufreq_governor;
	size_t *cpus = memory_allocate_zero(pairs->count + 1, sizeof(*cpus));
	struct string_pool governors = {0};
	const char *separator = "";

	for (size_t i = 0; i < pairs->count; i++)
		cpus[string_pool_intern(&governors, pairs->items[i].value, strlen(pairs->items[i].value))]++;
	for (uint32_t i = 0; i < governors.count; i++) {
		if (cpus[i] == 0)
			continue;
		buffer_append_format(buffer, "%s%s on %zu CPU%s", separator, string_pool_text(&governors, i),
				     cpus[i], cpus[i] == 1 ? "" : "s");
		separator = ", ";
	}
	string_pool_release(&governors);
	free(cpus);
}

static void append_huge_pages(const struct snapshot *snapshot, struct buffer *buffer)
{
	if (!snapshot->host.hugepages_total.present)
		return;
	humanize_count(buffer, snapshot->host.hugepages_total.value);
	if (snapshot->host.hugepages_size_kib.present)
		buffer_append_text(buffer, " of ");
	append_kib(buffer, snapshot->host.hugepages_size_kib);
}

enum fact_kind {
	FACT_TEXT,     /* const char *, NULL when not known */
	FACT_COUNT,    /* size_t */
	FACT_OPTIONAL, /* struct optional_u64 */
	FACT_KIB,      /* the same, KiB */
	FACT_SPAN,     /* uint64_t, ns; 0 when not known */
	FACT_OTHER,    /* what `append` makes */
};

struct fact_entry {
	const char *name;
	unsigned int flags;
	enum fact_kind kind;
	size_t offset;                                                          /* in struct snapshot */
	void (*append)(const struct snapshot *snapshot, struct buffer *buffer); /* nothing: not known */
};

#define FIELD(kind, field) FACT_##kind, .offset = offsetof(struct snapshot, field)

static const struct fact_entry capture_entries[] = {
	{"host", CAPTURE_FACT_MAIN | CAPTURE_FACT_HOST, FIELD(TEXT, provenance.hostname)},
	{"kernel", CAPTURE_FACT_MAIN | CAPTURE_FACT_HOST, FACT_OTHER, .append = append_kernel},
	{"captured", CAPTURE_FACT_MAIN, FACT_OTHER, .append = append_time},
	{"sched_ext scheduler", CAPTURE_FACT_SETTING, FACT_OTHER, .append = append_scheduler},
	{"threads", CAPTURE_FACT_MAIN, FIELD(COUNT, thread_count)},
	{"processes", 0, FACT_OTHER, .append = append_processes},
	{"cgroup records", 0, FIELD(COUNT, cgroup_count)},
	{"scope", CAPTURE_FACT_MAIN | CAPTURE_FACT_SETTING, FACT_OTHER, .append = append_scope},
	{"user", CAPTURE_FACT_MAIN | CAPTURE_FACT_SETTING, FACT_OTHER, .append = append_user},
	{"capabilities", CAPTURE_FACT_MAIN | CAPTURE_FACT_SETTING, FACT_OTHER, .append = append_capabilities},
	{"program", CAPTURE_FACT_MAIN | CAPTURE_FACT_SETTING, FIELD(TEXT, provenance.program)},
	{"not readable", CAPTURE_FACT_MAIN | CAPTURE_FACT_SETTING, FACT_OTHER, .append = append_missing},
	{"boot", 0, FIELD(TEXT, provenance.boot_id)},
	{"up for", 0, FIELD(SPAN, provenance.boottime_ns)},
	{"read in", 0, FIELD(SPAN, provenance.duration_ns)},
	{"ended while being read", 0, FACT_OTHER, .append = append_ended},
	{"load average", 0, FACT_OTHER, .append = append_load},
	{"memory available", 0, FIELD(KIB, provenance.mem_available_kib)},
};

static const struct fact_entry host_entries[] = {
	{"architecture", CAPTURE_FACT_HOST, FIELD(TEXT, host.arch)},
	{"CPU model", CAPTURE_FACT_HOST, FIELD(TEXT, host.cpu_model)},
	{"CPU vendor", CAPTURE_FACT_HOST, FIELD(TEXT, host.cpu_vendor)},
	{"CPUs online", CAPTURE_FACT_HOST, FIELD(OPTIONAL, host.online_cpus)},
	{"CPU governor", CAPTURE_FACT_HOST, FACT_OTHER, .append = append_governors},
	{"NUMA nodes", CAPTURE_FACT_HOST, FIELD(OPTIONAL, host.numa_nodes)},
	{"memory", CAPTURE_FACT_HOST, FIELD(KIB, host.total_memory_kib)},
	{"huge pages", CAPTURE_FACT_HOST, FACT_OTHER, .append = append_huge_pages},
	{"transparent huge pages", CAPTURE_FACT_HOST, FIELD(TEXT, host.thp_enabled)},
	{"huge page defragmentation", CAPTURE_FACT_HOST, FIELD(TEXT, host.thp_defrag)},
	{"task_delayacct", CAPTURE_FACT_HOST, FIELD(TEXT, host.task_delayacct)},
	{"CONFIG_TASK_XACCT", CAPTURE_FACT_HOST, FIELD(TEXT, host.config_task_xacct)},
	{"sched_ext", CAPTURE_FACT_HOST, FIELD(TEXT, sched_ext.state)},
	{"kernel command line", CAPTURE_FACT_HOST, FIELD(TEXT, host.kernel_cmdline)},
};

static void append_entry(const struct fact_entry *entry, const struct snapshot *snapshot,
			 struct buffer *buffer)
{
	const void *field = (const char *)snapshot + entry->offset;
	const struct optional_u64 *optional = field;

	switch (entry->kind) {
	case FACT_TEXT:
		append_text(buffer, *(const char *const *)field);
		break;
	case FACT_COUNT:
		humanize_count(buffer, *(const size_t *)field);
		break;
	case FACT_OPTIONAL:
		if (optional->present)
			humanize_count(buffer, optional->value);
		break;
	case FACT_KIB:
		append_kib(buffer, *optional);
		break;
	case FACT_SPAN:
		if (*(const uint64_t *)field != 0)
			humanize_duration(buffer, (double)*(const uint64_t *)field);
		break;
	case FACT_OTHER:
		entry->append(snapshot, buffer);
		break;
	}
}

struct building {
	struct capture_facts *facts;
	const struct snapshot *snapshots[CAPTURE_FACTS_SIDES];
	struct buffer texts[CAPTURE_FACTS_SIDES]; /* of the fact that is being made */
};

/* Adds a fact that at least one side knows; the buffers are emptied. */
static void add_fact(struct building *building, const char *name, unsigned int flags)
{
	struct capture_facts *facts = building->facts;
	struct buffer *texts = building->texts;
	struct capture_fact *fact;

	if (texts[0].length == 0 && texts[1].length == 0)
		return;
	fact = MEMORY_APPEND(facts->items, facts->count, facts->capacity);
	*fact = (struct capture_fact){.name = name, .flags = flags};
	for (size_t side = 0; side < facts->sides; side++) {
		if (texts[side].length != 0)
			fact->value[side] = arena_duplicate(&facts->arena, texts[side].data,
							    texts[side].length);
		buffer_clear(&texts[side]);
	}
	fact->differs = facts->sides == CAPTURE_FACTS_SIDES &&
			(fact->value[0] == NULL || fact->value[1] == NULL ||
			 strcmp(fact->value[0], fact->value[1]) != 0);
}

static void add_entries(struct building *building, const struct fact_entry *entries, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		for (size_t side = 0; side < building->facts->sides; side++)
			append_entry(&entries[i], building->snapshots[side], &building->texts[side]);
		add_fact(building, entries[i].name, entries[i].flags);
	}
}

static void add_features(struct building *building)
{
	for (size_t i = 0; i < FEATURE_COUNT; i++) {
		for (size_t side = 0; side < building->facts->sides; side++) {
			const struct snapshot *snapshot = building->snapshots[side];
			const struct feature_result *result = &snapshot->provenance.features[i];

			if (result->state == FEATURE_STATE_UNKNOWN)
				continue;
			buffer_append_text(&building->texts[side], feature_state_names[result->state]);
			append_reason(&building->texts[side], result->reason);
		}
		add_fact(building, features[i].words, 0);
	}
}

static void add_namespaces(struct building *building)
{
	for (size_t i = 0; i < NAMESPACE_COUNT; i++) {
		for (size_t side = 0; side < building->facts->sides; side++) {
			uint64_t number = building->snapshots[side]->provenance.namespaces[i];

			if (number != 0)
				buffer_append_u64(&building->texts[side], number);
		}
		add_fact(building, arena_format(&building->facts->arena, "%s namespace", namespace_names[i]),
			 0);
	}
}

static void add_roots(struct building *building)
{
	for (size_t i = 0; i < ROOT_COUNT; i++) {
		for (size_t side = 0; side < building->facts->sides; side++)
			append_text(&building->texts[side], building->snapshots[side]->provenance.roots[i]);
		add_fact(building, arena_format(&building->facts->arena, "%s root", root_names[i]), 0);
	}
}

static const char *find_pair(const struct text_pairs *pairs, const char *key)
{
	const struct text_pair *found = NULL;

	if (pairs->count != 0)
		found = bsearch(&key, pairs->items, pairs->count, sizeof(*pairs->items), order_by_text);
	return found != NULL ? found->value : NULL;
}

/* The scheduler's tunables of the first side, then those that only the second has. */
static void add_tunables(struct building *building)
{
	for (size_t side = 0; side < building->facts->sides; side++) {
		const struct text_pairs *pairs = &building->snapshots[side]->host.sched_tunables;

		for (size_t i = 0; i < pairs->count; i++) {
			const char *key = pairs->items[i].key;

			if (side != 0 && find_pair(&building->snapshots[0]->host.sched_tunables, key) != NULL)
				continue;
			for (size_t other = side; other < building->facts->sides; other++)
				append_text(&building->texts[other],
					    find_pair(&building->snapshots[other]->host.sched_tunables, key));
			add_fact(building, arena_format(&building->facts->arena, "tunable %s", key),
				 CAPTURE_FACT_HOST);
		}
	}
}

struct capture_facts *capture_facts_create(const struct snapshot *before, const struct snapshot *after)
{
	struct building building = {
		.facts = memory_allocate_zero(1, sizeof(*building.facts)),
		.snapshots = {before, after},
	};

	building.facts->sides = after != NULL ? 2 : 1;
	add_entries(&building, capture_entries, ARRAY_COUNT(capture_entries));
	add_features(&building);
	add_namespaces(&building);
	add_roots(&building);
	add_entries(&building, host_entries, ARRAY_COUNT(host_entries));
	add_tunables(&building);
	buffer_release(&building.texts[0]);
	buffer_release(&building.texts[1]);
	return building.facts;
}

void capture_facts_release(struct capture_facts *facts)
{
	if (facts == NULL)
		return;
	free(facts->items);
	arena_release(&facts->arena);
	free(facts);
}

const struct capture_fact *capture_facts_find(const struct capture_facts *facts, const char *name)
{
	for (size_t i = 0; i < facts->count; i++) {
		if (strcmp(facts->items[i].name, name) == 0)
			return &facts->items[i];
	}
	return NULL;
}
