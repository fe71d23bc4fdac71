/* SPDX-License-Identifier: GPL-2.0-only */
#include "latency_text.h"

#include <math.h>

#include "base/humanize.h"

enum {
	BAR_WIDTH = 36,
	TIME_WIDTH = 6,
};

static const double shares[] = {0.5, 0.9, 0.99, 0.999};
static const char *const share_names[] = {"p50", "p90", "p99", "p99.9"};

static void append_border(uint64_t time_ns, struct buffer *lines)
{
	struct buffer text = {0};

	humanize_compact(&text, (double)time_ns, HUMANIZE_TIME, true);
	buffer_append_format(lines, "%*s", TIME_WIDTH, text.data);
	buffer_release(&text);
}

static void append_summary(const struct latency_histogram *histogram, uint64_t count, struct buffer *lines)
{
	humanize_counted(lines, count, "wait");
	buffer_append_text(lines, ", mean ");
	humanize_duration(lines, (double)histogram->sum_ns / (double)count);
	buffer_append_text(lines, ", longest ");
	humanize_duration(lines, (double)histogram->max_ns);
	for (size_t i = 0; i < sizeof(shares) / sizeof(shares[0]); i++) {
		buffer_append_format(lines, "%s%s ", i == 0 ? "\n" : ", ", share_names[i]);
		humanize_duration(lines, latency_percentile(histogram, shares[i], 0));
	}
	buffer_append_char(lines, '\n');
}

static void append_bucket(const struct latency_histogram *histogram, size_t bucket, uint64_t count,
			  uint64_t largest, struct buffer *lines)
{
	const uint64_t here = histogram->buckets[bucket];
	/* even one wait has a visible bar */
	int length = (int)ceil((double)here * (double)BAR_WIDTH / (double)largest);
	char digits[28];

	append_border(latency_bucket_start(bucket), lines);
	buffer_append_text(lines, " to ");
	if (bucket == LATENCY_BUCKETS - 1)
		buffer_append_format(lines, "%*s", TIME_WIDTH, "more");
	else
		append_border(latency_bucket_end(bucket), lines);
	buffer_append_text(lines, " |");
	for (int i = 0; i < BAR_WIDTH; i++)
		buffer_append_char(lines, i < length ? '#' : ' ');
	buffer_append_format(lines, "|%12s %5.1f%%\n", humanize_digits(here, digits),
			     (double)here * 100 / (double)count);
}

void latency_append_text(const struct latency_histogram *histogram, struct buffer *lines)
{
	const uint64_t count = latency_count(histogram);
	size_t first = LATENCY_BUCKETS, last = 0;
	uint64_t largest = 0;

	if (count == 0) {
		buffer_append_text(lines, "none\n");
		return;
	}
	for (size_t i = 0; i < LATENCY_BUCKETS; i++) {
		if (histogram->buckets[i] == 0)
			continue;
		first = i < first ? i : first;
		last = i;
		if (histogram->buckets[i] > largest)
			largest = histogram->buckets[i];
	}
	append_summary(histogram, count, lines);
	for (size_t i = first; i <= last; i++)
		append_bucket(histogram, i, count, largest, lines);
}
