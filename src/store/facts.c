/* SPDX-License-Identifier: GPL-2.0-only */
/* What is of the whole host, by tables. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "fields.h"

/* A member of struct snapshot, a list of them; `brief` where an interval has it too. */
#define FACTS(type, member, brief)                                                                           \
	{                                                                                                    \
		offsetof(struct snapshot, member), FIELD_##type, 0, 1, 0, brief, 0, 0                        \
	}
#define FACT(type, member) FACTS(type, member, false)

/* The same of arrays, some of which are by words. */
#define FACT_WORDS(type, member, end, count, stride, brief, by)                                              \
	{                                                                                                    \
		offsetof(struct snapshot, member), FIELD_##type, end, count, (uint32_t)(stride), brief, by,  \
			0                                                                                    \
	}
#define FACT_ARRAY(type, member, count, stride) FACT_WORDS(type, member, 0, count, stride, false, 0)

enum {
	BY_METRIC = VOCABULARY_METRIC + 1,
	BY_SOURCE = VOCABULARY_SOURCE + 1,
	BY_FEATURE = VOCABULARY_FEATURE + 1,
};

static const struct field snapshot_facts[] = {
	FACTS(U64, captured_at_unix_ns, true),
	FACTS(BOOL, provenance.present, true),
	FACTS(U64, provenance.boottime_ns, true),
	FACTS(U64, provenance.duration_ns, true),
	FACT(TEXT, provenance.program),
	FACT(TEXT, provenance.boot_id),
	FACT(OPTIONAL_U64, provenance.uid),
	FACT_ARRAY(U64, provenance.namespaces, NAMESPACE_COUNT, sizeof(uint64_t)),
	FACT_ARRAY(TEXT, provenance.roots, ROOT_COUNT, sizeof(char *)),
	FACT_WORDS(BELOW, provenance.features[0].state, FEATURE_STATE_OFF + 1, FEATURE_COUNT,
		   sizeof(struct feature_result), true, BY_FEATURE),
	FACT_WORDS(ENUM_REASON, provenance.features[0].reason, 0, FEATURE_COUNT,
		   sizeof(struct feature_result), true, BY_FEATURE),
	FACT_WORDS(TEXT, provenance.features[0].detail, 0, FEATURE_COUNT, sizeof(struct feature_result),
		   false, BY_FEATURE),
	FACT_WORDS(TEXT, provenance.features[0].remedy, 0, FEATURE_COUNT, sizeof(struct feature_result),
		   false, BY_FEATURE),
	FACT(U64, provenance.ended),
	FACT(TEXT, provenance.hostname),
	FACTS(BOOL, provenance.cpu_ticks_known, true),
	FACT_WORDS(U64, provenance.cpu_ticks, 0, CPU_TICK_KINDS, sizeof(uint64_t), true, 0),
	FACTS(U64, provenance.cpu_ticks_at_ns, true),
	FACT(OPTIONAL_U64, provenance.procs_running),
	FACT(OPTIONAL_U64, provenance.procs_blocked),
	FACT(OPTIONAL_U64, provenance.mem_available_kib),
	FACTS(OPTIONAL_U64, provenance.forks, true),
	FACT(BOOL, provenance.load_known),
	FACT_ARRAY(U64, provenance.load_centi, 3, sizeof(uint64_t)),
	FACT_WORDS(REASON, default_reason, 0, SOURCE_COUNT, sizeof(reason_id), true, BY_SOURCE),
	FACT_WORDS(REASON, metric_reason, 0, METRIC_COUNT, sizeof(reason_id), true, BY_METRIC),
	FACT_WORDS(SOURCE, metric_source, 0, METRIC_COUNT, sizeof(enum source), true, BY_METRIC),
	FACTS(REASON, resident_missing, true),
	FACT_ARRAY(REASON, pressure_missing, PRESSURE_RESOURCE_COUNT, sizeof(reason_id)),
	/* the averages lie together: three, padding, the total */
	FACT_ARRAY(U16, pressure.resource[0].some.avg10, PRESSURE_RESOURCE_COUNT * 2,
		   sizeof(struct pressure_half)),
	FACT_ARRAY(U16, pressure.resource[0].some.avg60, PRESSURE_RESOURCE_COUNT * 2,
		   sizeof(struct pressure_half)),
	FACT_ARRAY(U16, pressure.resource[0].some.avg300, PRESSURE_RESOURCE_COUNT * 2,
		   sizeof(struct pressure_half)),
	FACT_ARRAY(U64, pressure.resource[0].some.total_usec, PRESSURE_RESOURCE_COUNT * 2,
		   sizeof(struct pressure_half)),
	FACT(BOOL, sched_ext.present),
	FACT(TEXT, sched_ext.state),
	FACT(U64, sched_ext.switch_all),
	FACT(U64, sched_ext.nr_rejected),
	FACT(U64, sched_ext.hotplug_seq),
	FACT(U64, sched_ext.enable_seq),
	FACT(BOOL, host.present),
	FACT(TEXT, host.cpu_model),
	FACT(TEXT, host.cpu_vendor),
	FACT(OPTIONAL_U64, host.total_memory_kib),
	FACT(OPTIONAL_U64, host.hugepages_total),
	FACT(OPTIONAL_U64, host.hugepages_free),
	FACT(OPTIONAL_U64, host.hugepages_size_kib),
	FACT(TEXT, host.thp_enabled),
	FACT(TEXT, host.thp_defrag),
	FACT(BOOL, host.sched_tunables.present),
	FACT(OPTIONAL_U64, host.online_cpus),
	FACT(OPTIONAL_U64, host.numa_nodes),
	FACT(BOOL, host.cpufreq_governor.present),
	FACT(TEXT, host.kernel_name),
	FACT(TEXT, host.kernel_release),
	FACT(TEXT, host.arch),
	FACT(TEXT, host.kernel_cmdline),
	FACT(TEXT, host.task_delayacct),
	FACT(TEXT, host.config_task_xacct),
	FACT(BOOL, host.heap_state.present),
	FACT(OPTIONAL_U64, host.heap_state.active_bytes),
	FACT(OPTIONAL_U64, host.heap_state.allocated_bytes),
	FACT(OPTIONAL_U64, host.heap_state.resident_bytes),
	FACT(OPTIONAL_U64, host.heap_state.mapped_bytes),
	FACT(OPTIONAL_U64, host.heap_state.narenas),
	FACT(BOOL, probe_summary.present),
	FACT(U64, probe_summary.tgids_walked),
	FACT(U64, probe_summary.jemalloc_detected),
	FACT(U64, probe_summary.probed_ok),
	FACT(U64, probe_summary.failed),
	FACT(TEXT, probe_summary.dominant_failure),
	FACT(BOOL, probe_summary.privilege_dominant),
	FACT(BOOL, probe_summary.stopped_known),
	FACT(U64, probe_summary.stopped),
	FACT(BOOL, parse_summary.present),
	FACT(U64, parse_summary.tids_walked),
	FACT(U64, parse_summary.read_failures),
	FACT_ARRAY(U64, parse_summary.read_failures_by_file, PARSE_FILE_COUNT, sizeof(uint64_t)),
	FACT(TEXT, parse_summary.dominant_read_failure),
	FACT(BOOL, parse_summary.kernel_config_dominant),
	FACT(U64, parse_summary.negative_dotted_values),
	FACT(BOOL, taskstats_summary.present),
	FACT(U64, taskstats_summary.ok_count),
	FACT(U64, taskstats_summary.eperm_count),
	FACT(U64, taskstats_summary.esrch_count),
	FACT(U64, taskstats_summary.other_err_count),
	FACT(TEXT, format_notes),
	FACT(U64, task_fields.read_at_ns),
	FACT(U64, task_fields.mismatched),
	FACT(BOOL, task_fields.only_numbers),
};

_Static_assert(sizeof(((struct pressure *)NULL)->resource) ==
		       PRESSURE_RESOURCE_COUNT * 2 * sizeof(struct pressure_half),
	       "halves of pressure lie one behind the other");

/* --- lists --- */

static const struct field text_fields[] = {{0, FIELD_TEXT, 0, 1, 0, true, 0, 0}};
static const struct field number_fields[] = {{0, FIELD_U32, 0, 1, 0, true, 0, 0}};
static const struct field pair_fields[] = {
	FIELD(TEXT, struct text_pair, key),
	FIELD(TEXT, struct text_pair, value),
};
static const struct field heap_fields[] = {
	FIELD(U32, struct heap_process, tgid),     FIELD(TEXT, struct heap_process, layout),
	FIELD(TEXT, struct heap_process, version), FIELD(TEXT, struct heap_process, tag),
	FIELD(TEXT, struct heap_process, text),
};
static const struct field event_fields[] = {
	FIELD(TEXT, struct task_field_event, name),
	FIELD(U64, struct task_field_event, value),
};

/* A list in the arena of a snapshot: pointer and count. */
struct list {
	size_t items, count; /* offsets in struct snapshot */
	size_t size;         /* of an item */
	const struct field *fields;
	size_t field_count;
};

#define LIST(items_member, count_member, fields)                                                             \
	{                                                                                                    \
		offsetof(struct snapshot, items_member), offsetof(struct snapshot, count_member),            \
			sizeof(*((struct snapshot *)NULL)->items_member), fields, ARRAY_COUNT(fields)        \
	}

static const struct list lists[] = {
	LIST(provenance.capabilities, provenance.capability_count, text_fields),
	LIST(provenance.scope, provenance.scope_count, number_fields),
	LIST(provenance.heap, provenance.heap_count, heap_fields),
	LIST(host.sched_tunables.items, host.sched_tunables.count, pair_fields),
	LIST(host.cpufreq_governor.items, host.cpufreq_governor.count, pair_fields),
	LIST(task_fields.events, task_fields.event_count, event_fields),
};

static void *list_items(const struct snapshot *snapshot, const struct list *list)
{
	void *items;

	memcpy(&items, (const char *)snapshot + list->items, sizeof(items));
	return items;
}

static size_t list_count(const struct snapshot *snapshot, const struct list *list)
{
	size_t count;

	memcpy(&count, (const char *)snapshot + list->count, sizeof(count));
	return count;
}

/* The number of items, which mostly is what it was. */
static size_t code_count(struct round *round, size_t count, size_t expected)
{
	struct coder *coder = &round->coder;

	if (!coder_bit(coder, &round->streams[STREAM_FACTS], count != expected))
		return expected;
	return coder_count(coder, &round->streams[STREAM_COUNT], count);
}

static void code_list(struct round *round, const struct list *list)
{
	struct snapshot *now = round->now;
	const size_t old_count = round->against != NULL ? list_count(round->against, list) : 0;
	const char *old = round->against != NULL ? list_items(round->against, list) : NULL;
	const size_t count = code_count(round, list_count(now, list), old_count);
	char *items = list_items(now, list);

	if (round->coder.decoding && count != 0) {
		items = arena_allocate_zero(&now->arena, count, list->size);
		memcpy((char *)now + list->items, &items, sizeof(items));
		memcpy((char *)now + list->count, &count, sizeof(count));
	}
	for (size_t i = 0; i < count && !round->coder.failed; i++)
		fields_code(round, list->fields, list->field_count, STREAM_FACTS, items + i * list->size,
			    i < old_count ? old + i * list->size : NULL, true);
}

/* Those that the version knew which recorded the round. */
static void name_unknown_reasons(struct round *round)
{
	const struct vocabulary *words = round->words;

	for (size_t i = 0; i < words->count[VOCABULARY_REASON]; i++) {
		const char *word = words->words[VOCABULARY_REASON][i];

		if (words->own[VOCABULARY_REASON][i] >= REASON_COUNT)
			round->now->unknown_reasons[words->own[VOCABULARY_REASON][i] - REASON_COUNT] =
				arena_duplicate(&round->now->arena, word, strlen(word));
	}
}

void round_code_unknown_reasons(struct round *round)
{
	struct coder *coder = &round->coder;
	struct snapshot *now = round->now;
	const struct snapshot *against = round->against;
	/* what the other version knows comes first, when decoding */
	const size_t first = coder->decoding ? round->words->unknown_reason_count : 0;
	const size_t old_count = against != NULL && against->unknown_reason_count > first
					 ? against->unknown_reason_count - first
					 : 0;
	const size_t count = code_count(round, now->unknown_reason_count, old_count);

	if (first + count > UINT8_MAX + 1 - REASON_COUNT) {
		coder_fail(coder);
		return;
	}
	if (coder->decoding && first + count != 0) {
		now->unknown_reasons = memory_allocate_zero(first + count, sizeof(*now->unknown_reasons));
		now->unknown_reason_count = first + count;
		name_unknown_reasons(round);
	}
	for (size_t i = first; i < first + count; i++) {
		fields_code(round, text_fields, ARRAY_COUNT(text_fields), STREAM_FACTS,
			    &now->unknown_reasons[i],
			    i < first + old_count ? &against->unknown_reasons[i] : NULL, true);
		/* a name is never missing */
		if (coder->decoding && now->unknown_reasons[i] == NULL) {
			now->unknown_reasons[i] = "";
			coder_fail(coder);
		}
	}
}

/* --- tallies --- */

/* The count of a reason, in the numbers of the recording. */
static uint64_t *missed_for(const struct round *round, const struct tally *tally, uint64_t number)
{
	const uint64_t reason = vocabulary_take_reason(round->words, number);

	return reason <= UINT8_MAX ? (uint64_t *)(uintptr_t)&tally->missed[reason] : NULL;
}

static void code_tally(struct round *round, struct tally *tally, const struct tally *old)
{
	struct coder *coder = &round->coder;
	struct coder_stream *stream = &round->streams[STREAM_FACTS];
	const uint64_t read = coder_residual(coder, stream, tally->read, old->read);
	const bool differs = coder_bit(
		coder, stream,
		!coder->decoding && memcmp(tally->missed, old->missed, sizeof(tally->missed)) != 0);

	if (coder->decoding) {
		*tally = *old;
		tally->read = read;
	}
	for (size_t i = 0; differs && i <= UINT8_MAX; i++) {
		uint64_t *missed = missed_for(round, tally, i);
		const uint64_t *expected = missed_for(round, old, i);
		const uint64_t number = coder_residual(coder, &round->streams[STREAM_COUNT],
						       missed != NULL ? *missed : 0,
						       expected != NULL ? *expected : 0);

		if (coder->decoding && missed != NULL)
			*missed = number;
	}
}

static void code_tallies(struct round *round)
{
	static const struct tally nothing;
	const struct vocabulary *words = round->words;
	struct snapshot *now = round->now;
	const struct tally *old = round->against != NULL ? round->against->provenance.tallies : NULL;
	const bool present = coder_bit(&round->coder, &round->streams[STREAM_FACTS],
				       now->provenance.tallies != NULL);

	if (!present)
		return;
	if (round->coder.decoding)
		now->provenance.tallies = arena_allocate_zero(&now->arena, SOURCE_COUNT,
							      sizeof(*now->provenance.tallies));
	for (size_t i = 0; i < words->count[VOCABULARY_SOURCE]; i++) {
		const uint16_t own = words->own[VOCABULARY_SOURCE][i];
		struct tally unknown = {0};

		code_tally(round, own != VOCABULARY_NONE ? &now->provenance.tallies[own] : &unknown,
			   old != NULL && own != VOCABULARY_NONE ? &old[own] : &nothing);
	}
}

void round_code_facts(struct round *round)
{
	fields_code(round, snapshot_facts, ARRAY_COUNT(snapshot_facts), STREAM_FACTS, round->now,
		    round->against, true);
	if (round->is_brief)
		return;
	for (size_t i = 0; i < ARRAY_COUNT(lists); i++)
		code_list(round, &lists[i]);
	code_tallies(round);
}
