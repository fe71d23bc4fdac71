/* SPDX-License-Identifier: GPL-2.0-only */
#include "wait_samples.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static void add_class(struct wait_sample *sample, uint8_t class)
{
	if (sample->count < WAIT_SAMPLES_MAX) {
		sample->classes[sample->count++] = class;
		return;
	}
	sample->classes[sample->oldest] = class;
	sample->oldest = (uint8_t)((sample->oldest + 1) % WAIT_SAMPLES_MAX);
}

static bool is_uniform(const struct wait_sample *sample)
{
	return sample->count == WAIT_SAMPLES_MAX &&
	       memcmp(sample->classes, sample->classes + 1, WAIT_SAMPLES_MAX - 1) == 0;
}

/* The samples of a thread that had one class at all readings before. */
static struct wait_sample begin_sample(const struct wait_samples *samples, uint8_t class)
{
	struct wait_sample sample = {0};

	while (sample.count < samples->readings && sample.count < WAIT_SAMPLES_MAX)
		add_class(&sample, class);
	return sample;
}

void wait_samples_add(struct wait_samples *samples, const struct snapshot *before, const struct snapshot *now,
		      const uint32_t before_of[])
{
	struct wait_samples next = {.readings = samples->readings + 1};
	size_t at = 0;

	if (before->wait_class == NULL || now->wait_class == NULL) {
		wait_samples_release(samples);
		return;
	}
	if (samples->readings == 0) {
		samples->readings = 1; /* `before` */
		next.readings = 2;
	}
	for (uint32_t i = 0; i < now->thread_count; i++) {
		const uint32_t other = before_of[i];
		const uint8_t class = now->wait_class[i];
		struct wait_sample sample;

		if (other >= before->thread_count) {
			sample = (struct wait_sample){0};
		} else {
			/* threads of both are in the same order */
			while (at < samples->count && samples->threads[at].thread < other)
				at++;
			if (at < samples->count && samples->threads[at].thread == other)
				sample = samples->threads[at];
			else if (before->wait_class[other] != class)
				sample = begin_sample(samples, before->wait_class[other]);
			else
				continue;
		}
		add_class(&sample, class);
		sample.thread = i;
		if (!is_uniform(&sample))
			*MEMORY_APPEND(next.threads, next.count, next.capacity) = sample;
	}
	free(samples->threads);
	*samples = next;
}

static const struct wait_sample *find_sample(const struct wait_samples *samples, uint32_t thread)
{
	size_t low = 0, high = samples->count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (samples->threads[middle].thread < thread)
			low = middle + 1;
		else
			high = middle;
	}
	return low < samples->count && samples->threads[low].thread == thread ? &samples->threads[low] : NULL;
}

static bool is_off_queue(uint8_t class)
{
	return class < WAIT_CLASS_COUNT && class != WAIT_CLASS_UNKNOWN && class != WAIT_CLASS_CPU &&
	       class != WAIT_CLASS_RUN_QUEUE && class != WAIT_CLASS_THROTTLED;
}

void wait_samples_divide(const struct wait_samples *samples, const struct snapshot *now, uint32_t thread,
			 double shares[WAIT_CLASS_COUNT])
{
	const struct wait_sample *sample = find_sample(samples, thread);
	const uint8_t *classes = sample != NULL ? sample->classes : &now->wait_class[thread];
	const size_t count = sample != NULL ? sample->count : 1;
	size_t counted = 0;

	for (size_t i = 0; i < count; i++)
		counted += is_off_queue(classes[i]);
	for (size_t i = 0; i < count; i++) {
		if (is_off_queue(classes[i]))
			shares[classes[i]] += 1.0 / (double)counted;
	}
}

void wait_samples_release(struct wait_samples *samples)
{
	free(samples->threads);
	*samples = (struct wait_samples){0};
}
