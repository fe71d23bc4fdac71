/* SPDX-License-Identifier: GPL-2.0-only */
#include "snapshot_file.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>
#include <zstd.h>

#include "base/json_reader.h"
#include "run.h"

enum {
	STEP_BYTES = 64 * 1024,
};

uint32_t intern(struct snapshot *snapshot, const char *format, ...)
{
	char text[128];
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	return string_pool_intern(&snapshot->strings, text, (size_t)length);
}

static uint64_t random_number(void)
{
	static uint64_t state = 88172645463325252u;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static uint64_t generate_value(enum metric metric, const struct generation *wanted, uint64_t policy,
			       uint64_t cpus)
{
	switch (metric_type(metric)->encoding) {
	case METRIC_ENCODING_STRING:
		return policy;
	case METRIC_ENCODING_CPU_SET:
		return cpus;
	case METRIC_ENCODING_CHARACTER:
		return 'S';
	case METRIC_ENCODING_U64:
		return random_number() % wanted->share == 0 ? random_number() % wanted->limit : 0;
	default:
		return 0;
	}
}

struct snapshot *snapshot_generate(const struct generation *wanted)
{
	static const uint32_t cpus[] = {0, 1, 2, 3, 4, 5, 6, 7};
	struct snapshot *snapshot = snapshot_create();
	uint64_t set = cpu_set_intern(&snapshot->cpu_sets, cpus, sizeof(cpus) / sizeof(cpus[0]));
	uint64_t policy = intern(snapshot, "SCHED_OTHER");

	snapshot_reserve(snapshot, wanted->threads);
	for (size_t i = 0; i < wanted->threads; i++) {
		size_t leader = i / PROCESS_THREADS * PROCESS_THREADS;
		size_t row = snapshot_add_thread(snapshot, (uint32_t)leader + 1, (uint32_t)i + 1);

		snapshot->triple[row] = snapshot_intern_triple(snapshot,
							       wanted->name(snapshot, wanted->kind, i));
		for (size_t j = METRIC_THREAD_COUNT + 1; j < METRIC_COUNT; j++)
			snapshot_column(snapshot, (enum metric)j)[row] = generate_value((enum metric)j,
											wanted, policy, set);
	}
	return snapshot;
}

struct unpacking {
	int file;
	ZSTD_DStream *stream;
	ZSTD_inBuffer input;
	bool full; /* the decoder may hold more */
	char input_bytes[STEP_BYTES], output[STEP_BYTES];
};

/* The next step of decompressed text. */
static ssize_t unpack(void *unpacking_pointer, const char **ret_text)
{
	struct unpacking *unpacking = unpacking_pointer;
	ZSTD_outBuffer output = {unpacking->output, STEP_BYTES, 0};
	size_t left;

	while (output.pos == 0) {
		if (unpacking->input.pos == unpacking->input.size && !unpacking->full) {
			ssize_t length = read(unpacking->file, unpacking->input_bytes, STEP_BYTES);

			if (length <= 0)
				return length;
			unpacking->input = (ZSTD_inBuffer){unpacking->input_bytes, (size_t)length, 0};
		}
		left = ZSTD_decompressStream(unpacking->stream, &output, &unpacking->input);
		if (ZSTD_isError(left))
			fail("the file does not decompress");
		unpacking->full = output.pos == output.size && left != 0;
	}
	*ret_text = unpacking->output;
	return (ssize_t)output.pos;
}

void unpack_file(int file, bool check)
{
	static struct unpacking unpacking;
	struct json_reader reader;
	const char *text;

	unpacking.file = file;
	unpacking.stream = ZSTD_createDStream();
	unpacking.input = (ZSTD_inBuffer){0};
	unpacking.full = false;
	if (check) {
		json_reader_begin(&reader, "", 0, unpack, &unpacking);
		if (json_reader_skip(&reader) < 0 || json_reader_finish(&reader) < 0)
			fail("the file is no JSON");
		json_reader_release(&reader);
	} else {
		while (unpack(&unpacking, &text) > 0)
			;
	}
	ZSTD_freeDStream(unpacking.stream);
}
