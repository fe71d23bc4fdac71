/* SPDX-License-Identifier: GPL-2.0-only */
#include "blame_text.h"

enum {
	CULPRITS_SHOWN = 24,
};

static const struct {
	const char *name, *meaning;
} causes[LATENCY_CAUSE_COUNT] = {
#define LATENCY_CAUSE(id, name, meaning) [LATENCY_CAUSE_##id] = {name, meaning},
#include "snapshot/latency_cause.def"
#undef LATENCY_CAUSE
};

const char *blame_cause_meaning(enum latency_cause cause)
{
	return causes[cause].meaning;
}

double blame_per_s(const struct blame *blame, uint64_t size)
{
	const double unit = blame->relation == BLAME_DELAYED_BY ? 1e3 : 1e9;

	return blame->span_ns != 0 ? (double)size * unit / (double)blame->span_ns : 0;
}

const char *blame_unit(const struct blame *blame)
{
	return blame->relation == BLAME_DELAYED_BY ? "ms/s" : "wakes/s";
}

void blame_append_culprit(const struct blame *blame, const struct latency_delay *entry, struct buffer *text)
{
	size_t length;
	const char *label = blame_culprit_label(blame, entry, &length);

	for (size_t i = 0; i < length; i++)
		buffer_append_char(text, label[i] != '\0' ? label[i] : ' ');
}

void blame_append_text(const struct blame *blame, uint32_t victim, struct buffer *lines)
{
	const uint64_t whole = blame->whole[victim];
	bool has_cause[LATENCY_CAUSE_COUNT] = {false};
	bool has_itself = false;
	size_t count;
	const struct latency_delay *entries = blame_of(blame, victim, &count);

	for (size_t i = 0; i < count; i++) {
		has_cause[entries[i].cause] = true;
		has_itself |= entries[i].culprit == victim;
		if (i >= CULPRITS_SHOWN)
			continue;
		buffer_append_format(lines, "%10.1f %s %5.1f%%  ",
				     blame_per_s(blame, blame_size(blame, &entries[i])), blame_unit(blame),
				     (double)blame_size(blame, &entries[i]) * 100 / (double)whole);
		blame_append_culprit(blame, &entries[i], lines);
		buffer_append_char(lines, '\n');
	}
	if (count > CULPRITS_SHOWN)
		buffer_append_format(lines, "and %zu more\n", count - CULPRITS_SHOWN);
	if (has_itself)
		buffer_append_text(lines, "itself: threads of this row ran\n");
	for (size_t cause = 0; cause < LATENCY_CAUSE_COUNT; cause++) {
		if (has_cause[cause] && cause != LATENCY_CAUSE_THREADS)
			buffer_append_format(lines, "(%s): %s\n", causes[cause].name, causes[cause].meaning);
	}
}
