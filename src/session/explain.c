/* SPDX-License-Identifier: GPL-2.0-only */
#include "explain.h"

#include "base/number.h"
#include "span/span.h"
#include "table/screen_format.h"

void explain_metric(const struct snapshot *snapshot, enum metric metric, struct buffer *lines)
{
	const struct metric_entry *entry = &metrics[metric];
	enum source source = snapshot->metric_source[metric];
	const char *where = source == entry->equivalent_source ? entry->equivalent_key : entry->key;
	enum source file;

	buffer_append_format(lines, "%s: %s", entry->name, entry->description);
	if (source == SOURCE_NONE) {
		buffer_append_char(lines, '\n');
		return;
	}
	file = source_whole(source);
	if (sources[file].file[0] != '\0')
		buffer_append_format(lines, "\n  from /proc/PID/task/TID/%s", sources[file].file);
	else
		buffer_append_format(lines, "\n  from %s", sources[file].name);
	if (where[0] != '\0')
		buffer_append_format(lines, " (%s)", where);
	if (entry->config_gates != NULL)
		buffer_append_format(lines, ", kernel options %s", entry->config_gates);
	buffer_append_char(lines, '\n');
}

const char *explain_unit(enum unit unit)
{
	static const char *const words[UNIT_TOTAL] = {
		[UNIT_NS] = " ns",
		[UNIT_US] = " us",
		[UNIT_BYTES] = " bytes",
		[UNIT_TICKS] = " ticks of 10 ms",
		[UNIT_PERCENT] = " percent",
		[UNIT_COUNT_PER_S] = " per s",
		[UNIT_BYTES_PER_S] = " bytes per s",
		[UNIT_NS_PER_S] = " ns per s",
		[UNIT_CPUS] = " CPUs",
	};

	return words[unit] != NULL ? words[unit] : "";
}

uint16_t explain_state(const struct snapshot *snapshot, size_t thread, enum metric metric)
{
	reason_id reason;
	enum value_state state = snapshot_value_state(snapshot, thread, metric, false, &reason);

	return state == VALUE_ABSENT ? SPAN_ABSENT : reason;
}

void explain_missing(const struct snapshot *snapshot, const uint64_t by_state[SPAN_ABSENT + 1],
		     const char *absent, struct buffer *lines)
{
	char text[28];

	for (int reason = REASON_READ + 1; reason < SPAN_ABSENT; reason++) {
		if (by_state[reason] != 0)
			buffer_append_format(lines, "  %s unavailable: %s\n",
					     number_group_digits(by_state[reason], text),
					     snapshot_reason_words(snapshot, (reason_id)reason));
	}
	if (by_state[SPAN_ABSENT] != 0)
		buffer_append_format(lines, "  %s to which %s\n",
				     number_group_digits(by_state[SPAN_ABSENT], text), absent);
}

static const char *wait_words(uint64_t state)
{
	switch (state) {
	case 'R':
		return "waits for a CPU";
	case 'D':
		return "in uninterruptible sleep";
	case 'S':
	case 'I':
		return "asleep";
	case 'T':
	case 't':
		return "stopped";
	default:
		return NULL;
	}
}

void explain_wait(const struct snapshot *snapshot, size_t thread, struct buffer *text)
{
	const bool exact = snapshot->waiting_ns != NULL;
	const uint64_t *ages = exact ? snapshot->waiting_ns : snapshot->stuck_ns;
	const uint64_t state = snapshot_value(snapshot, thread, METRIC_STATE);
	const uint64_t age = ages != NULL ? ages[thread] : 0;
	const char *words = wait_words(state);

	if (words == NULL || explain_state(snapshot, thread, METRIC_STATE) != REASON_READ)
		return;
	if (state == 'R' && age == 0) {
		buffer_append_text(text, exact ? "running" : "running or waits for a CPU");
		return;
	}
	buffer_append_text(text, words);
	if (age == 0)
		return;
	buffer_append_text(text, exact ? " for " : " for at least ");
	screen_format_duration(text, (double)age);
}
