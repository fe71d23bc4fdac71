/* SPDX-License-Identifier: GPL-2.0-only */
#include "explain.h"

#include <inttypes.h>
#include <string.h>

#include "base/humanize.h"
#include "window/window.h"

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

void explain_missing(const uint64_t by_state[STATE_ABSENT + 1], const char *absent, struct buffer *lines)
{
	char text[28];

	for (size_t reason = REASON_READ + 1; reason < STATE_ABSENT; reason++) {
		if (by_state[reason] != 0)
			buffer_append_format(lines, "  %s unavailable: %s\n",
					     humanize_digits(by_state[reason], text), reason_words(reason));
	}
	if (by_state[STATE_ABSENT] != 0)
		buffer_append_format(lines, "  %s to which %s\n",
				     humanize_digits(by_state[STATE_ABSENT], text), absent);
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
	case SNAPSHOT_STATE_FROZEN:
		return "frozen by its cgroup";
	default:
		return NULL;
	}
}

void explain_wait(const struct snapshot *snapshot, size_t thread, struct buffer *text)
{
	const bool known = snapshot->waiting_ns != NULL;
	const bool at_least = !known || (snapshot->thread_flags[thread] & THREAD_WAIT_AT_LEAST) != 0;
	const uint64_t *ages = known ? snapshot->waiting_ns : snapshot->stuck_ns;
	const uint64_t state = snapshot_value(snapshot, thread, METRIC_STATE);
	const uint64_t age = ages != NULL ? ages[thread] : 0;
	const char *words = wait_words(state);

	if (words == NULL || snapshot_value_state(snapshot, thread, METRIC_STATE) != REASON_READ)
		return;
	if (state == 'R' && age == 0) {
		buffer_append_text(text, known ? "running" : "running or waits for a CPU");
		return;
	}
	buffer_append_text(text, words);
	/* the age of a thread that was frozen asleep includes its sleep */
	if (age == 0 || state == SNAPSHOT_STATE_FROZEN)
		return;
	buffer_append_text(text, at_least ? " for at least " : " for ");
	humanize_duration(text, (double)age);
}

/* --- what schedulers keep for tasks --- */

enum {
	ELEMENTS_SHOWN = 16,
	BYTES_SHOWN = 32,
};

static void append_elements(const struct task_field_member *member, const uint8_t *context,
			    struct buffer *text)
{
	for (uint32_t i = 0; i < member->count && i < ELEMENTS_SHOWN; i++) {
		buffer_append_text(text, i != 0 ? ", " : "");
		task_field_append(member, task_field_read(member, context, i), text);
	}
	if (member->count > ELEMENTS_SHOWN)
		buffer_append_format(text, " and %u more", member->count - ELEMENTS_SHOWN);
}

static void append_address(const struct task_field_member *member, const uint8_t *context,
			   struct buffer *text)
{
	uint64_t address = 0;

	/* pointers of BPF have the width of its registers */
	if (member->bit_size != 64 || member->bit_offset % 8 != 0) {
		buffer_append_text(text, "pointer");
		return;
	}
	memcpy(&address, context + member->bit_offset / 8, sizeof(address));
	if (address == 0)
		buffer_append_text(text, "NULL");
	else
		buffer_append_format(text, "pointer 0x%" PRIx64, address);
}

static void append_bytes(const struct task_field_owner *scheduler, const struct task_field_member *member,
			 const uint8_t *context, struct buffer *text)
{
	const uint64_t first = member->bit_offset / 8;
	const uint64_t bits = member->bit_offset % 8 + (uint64_t)member->bit_size * member->count;
	const uint64_t count = (bits + 7) / 8;

	if (first + count > scheduler->size)
		return;
	for (uint64_t i = 0; i < count && i < BYTES_SHOWN; i++)
		buffer_append_format(text, "%s%02x", i != 0 ? " " : "", context[first + i]);
	if (count > BYTES_SHOWN)
		buffer_append_format(text, " and %" PRIu64 " more", count - BYTES_SHOWN);
}

void explain_member_value(const struct task_field_owner *scheduler, const struct task_field_member *member,
			  const uint8_t *context, struct buffer *text)
{
	switch (member->kind) {
	case TASK_FIELD_KIND_ARRAY:
		append_elements(member, context, text);
		return;
	case TASK_FIELD_KIND_POINTER:
		append_address(member, context, text);
		return;
	case TASK_FIELD_KIND_OTHER:
	case TASK_FIELD_KIND_COUNT:
		append_bytes(scheduler, member, context, text);
		return;
	default:
		task_field_append(member, task_field_read(member, context, 0), text);
		return;
	}
}

static const char *choice_words(enum task_field_choice choice, enum task_field_kind kind)
{
	if (choice == TASK_FIELD_CHOICE_USER)
		return "as you chose";
	if (choice == TASK_FIELD_CHOICE_TABLE)
		return "as the table of known names says";
	return kind == TASK_FIELD_KIND_BOOLEAN || kind == TASK_FIELD_KIND_ENUM
		       ? "as words are"
		       : "as nothing is known of the name";
}

void explain_member(const struct task_field_owner *scheduler, const struct task_field_member *member,
		    struct buffer *lines)
{
	enum task_field_choice choice;

	buffer_append_format(lines, "%s: %s at byte %u", member->name, member->type, member->bit_offset / 8);
	if (member->bit_offset % 8 != 0 || member->bit_size % 8 != 0)
		buffer_append_format(lines, ", bit %u, %u bit%s wide", member->bit_offset % 8,
				     member->bit_size, member->bit_size == 1 ? "" : "s");
	buffer_append_format(lines, " of %s (%u bytes), which the scheduler %s keeps for each task\n",
			     scheduler->type, scheduler->size, scheduler->name);
	buffer_append_format(lines, "  found in the map %s: %s\n", scheduler->storage, scheduler->layout);
	if (member->field == TASK_FIELD_NONE)
		return;
	(void)task_field_facts_of(scheduler->family, member->name, member->kind, &choice);
	buffer_append_format(lines, "  groups: %s, %s\n", task_field_reduction_names[member->facts.reduction],
			     choice_words(choice, member->kind));
}
