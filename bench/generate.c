/* SPDX-License-Identifier: GPL-2.0-only */
#include "generate.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/memory.h"
#include "run.h"

__attribute__((format(printf, 2, 3))) static uint32_t intern(struct snapshot *snapshot, const char *format,
							     ...)
{
	char text[128];
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	return string_pool_intern(&snapshot->strings, text, (size_t)length);
}

/* A word of letters for a number, which no pattern takes for a digit. */
static const char *word(size_t number, char text[static 16])
{
	size_t length = 0;

	do {
		text[length++] = (char)('g' + number % 20);
		number /= 20;
	} while (number != 0);
	text[length] = '\0';
	return text;
}

static struct triple name_thread(struct snapshot *snapshot, bool distinct, size_t thread)
{
	const size_t process = thread / PROCESS_THREADS;
	char process_word[16], thread_word[16];

	word(distinct ? process : process % 20, process_word);
	word(distinct ? thread : thread % 4, thread_word);
	return (struct triple){intern(snapshot, "%s", process_word),
			       intern(snapshot, "%s-%zu", thread_word, thread),
			       intern(snapshot, "/system.slice/%s-%zu.service", process_word, process)};
}

static uint64_t random_number(void)
{
	static uint64_t state = 88172645463325252u;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

struct snapshot *snapshot_generate(size_t threads, bool distinct)
{
	static const uint32_t cpus[] = {0, 1, 2, 3, 4, 5, 6, 7};
	struct snapshot *snapshot = snapshot_create();
	const uint64_t set = cpu_set_intern(&snapshot->cpu_sets, cpus, sizeof(cpus) / sizeof(cpus[0]));
	const uint64_t policy = string_pool_intern(&snapshot->strings, "SCHED_OTHER", 11);
	const uint64_t of_encoding[] = {
		[METRIC_ENCODING_STRING] = policy,
		[METRIC_ENCODING_CPU_SET] = set,
		[METRIC_ENCODING_CHARACTER] = 'S',
	};

	snapshot->provenance.present = true;
	snapshot->provenance.boottime_ns = 100000 * NS_PER_S;
	for (size_t i = 0; i < METRIC_COUNT; i++)
		snapshot->metric_source[i] = metrics[i].source;
	snapshot_reserve(snapshot, threads);
	for (size_t i = 0; i < threads; i++) {
		const size_t leader = i / PROCESS_THREADS * PROCESS_THREADS;
		const size_t row = snapshot_add_thread(snapshot, (uint32_t)leader + 1, (uint32_t)i + 1);

		snapshot->triple[row] = snapshot_intern_triple(snapshot, name_thread(snapshot, distinct, i));
		snapshot->start_time[row] = i + 1;
		for (size_t j = METRIC_THREAD_COUNT + 1; j < METRIC_COUNT; j++) {
			const enum metric_encoding encoding = metric_type((enum metric)j)->encoding;
			uint64_t value = encoding < ARRAY_COUNT(of_encoding) ? of_encoding[encoding] : 0;

			/* a fifth of the counters is random, the others are 0 as nearly all are */
			if (encoding == METRIC_ENCODING_U64 && random_number() % 5 == 0)
				value = random_number() % 1000000000;
			snapshot_column(snapshot, (enum metric)j)[row] = value;
		}
	}
	return snapshot;
}
