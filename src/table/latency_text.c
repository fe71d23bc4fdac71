/* SPDX-License-Identifier: GPL-2.0-only */
#include "latency_text.h"

#include <math.h>

#include "base/number.h"
#include "screen_format.h"

enum {
	BAR_WIDTH = 36,
	TIME_WIDTH = 6,
};

static const double shares[] = {0.5, 0.9, 0.99, 0.999};
static const char *const share_names[] = {"p50", "p90", "p99", "p99.9"};

static void append_time(double time_ns, int width, struct buffer *lines)
{
	struct buffer text = {0};

	screen_format_duration(&text, time_ns);
	buffer_append_format(lines, "%*s", width, text.data);
	buffer_release(&text);
}

static void append_summary(const struct latency_histogram *histogram, uint64_t count, struct buffer *lines)
{
	char digits[28];

	buffer_append_format(lines, "%s waits, mean ", number_group_digits(count, digits));
	append_time((double)histogram->sum_ns / (double)count, 0, lines);
	buffer_append_text(lines, ", longest ");
	append_time((double)histogram->max_ns, 0, lines);
	for (size_t i = 0; i < sizeof(shares) / sizeof(shares[0]); i++) {
		buffer_append_format(lines, "%s%s ", i == 0 ? "\n" : ", ", share_names[i]);
		append_time(latency_percentile(histogram, shares[i], 0), 0, lines);
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

	append_time((double)latency_bucket_start(bucket), TIME_WIDTH, lines);
	buffer_append_text(lines, " to ");
	if (bucket == LATENCY_BUCKETS - 1)
		buffer_append_format(lines, "%*s", TIME_WIDTH, "more");
	else
		append_time((double)latency_bucket_end(bucket), TIME_WIDTH, lines);
	buffer_append_text(lines, " |");
	for (int i = 0; i < BAR_WIDTH; i++)
		buffer_append_char(lines, i < length ? '#' : ' ');
	buffer_append_format(lines, "|%12s %5.1f%%\n", number_group_digits(here, digits),
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
