/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The cost of reading the contexts that a sched_ext scheduler keeps for threads, made by the tests' own
 * object (tests/scx), in each layout: CPU time per 1,000 contexts, against a task iterator that does nothing
 * in the same run, in turn with it. Needs root.
 */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <unistd.h>

#include "capture/scx/scx_reader.h"
#include "fixture.h"
#include "run.h"

static const char usage[] =
	"Usage: bench-scx [--runs N] [--threads N] [--short]\n"
	"\n"
	"Medians of N runs (default 25) over N threads (default 10,000) with a context each.\n";

enum {
	THREADS = 10000,
	RUNS = 25,
	EXIT_SKIPPED = 77,
};

/* The link of a program that is called for every task and does nothing. */
static int open_empty_iterator(void)
{
	const struct bpf_insn instructions[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	struct btf *types = btf__load_vmlinux_btf();
	int type = types == NULL ? -1 : btf__find_by_name_kind(types, "bpf_iter_task", BTF_KIND_FUNC);
	LIBBPF_OPTS(bpf_prog_load_opts, options, .expected_attach_type = BPF_TRACE_ITER,
		    .attach_btf_id = (uint32_t)type);
	int program = bpf_prog_load(BPF_PROG_TYPE_TRACING, "bench_empty", "GPL", instructions,
				    sizeof(instructions) / sizeof(instructions[0]), &options);
	int link = program < 0 ? -1 : bpf_link_create(program, 0, BPF_TRACE_ITER, NULL);

	btf__free(types);
	if (link < 0)
		fail_call("the empty iterator");
	close(program);
	return link;
}

/* Microseconds of CPU of one pass. */
static double pass_empty(int link)
{
	double before = clock_us(CLOCK_THREAD_CPUTIME_ID);
	int file = bpf_iter_create(link);
	char byte;

	if (file < 0 || read(file, &byte, 1) != 0)
		fail_call("a pass of the empty iterator");
	close(file);
	return clock_us(CLOCK_THREAD_CPUTIME_ID) - before;
}

static double pass_reading(struct scx_reader *reader, struct scx_reading *reading)
{
	double before = clock_us(CLOCK_THREAD_CPUTIME_ID);

	if (scx_reader_read(reader, NULL, reading) != 0)
		fail("a pass of the reader failed");
	return clock_us(CLOCK_THREAD_CPUTIME_ID) - before;
}

static struct scx_reader *open_reader(struct fixture *fixture, struct arena *arena)
{
	struct scx_run run = {.name = "bench"};
	struct feature_result result;
	struct scx_reader *reader;

	run.maps = fixture_maps(fixture, &run.map_count);
	reader = scx_reader_open(&run, NULL, arena, &result);
	if (reader == NULL)
		fail(result.detail);
	return reader;
}

/* us per pass of so many contexts: us per context, and so ms per 1,000. */
static void measure(enum fixture_layout layout, const struct fixture_threads *threads, int empty, size_t runs)
{
	double floor[RUNS_MAX], full[RUNS_MAX];
	const double count = (double)threads->count;
	struct scx_reading reading;
	struct fixture *fixture;
	struct scx_reader *reader;
	struct arena arena = {0};
	struct error error;

	if (fixture_open(&fixture, layout, &(struct fixture_options){0}, &error) < 0)
		fail(error.text);
	for (size_t i = 0; i < threads->count; i++) {
		if (fixture_give(fixture, threads->tids[i], &error) < 0)
			fail(error.text);
	}
	reader = open_reader(fixture, &arena);
	pass_reading(reader, &reading); /* its buffer grows */
	for (size_t i = 0; i < runs; i++) {
		floor[i] = pass_empty(empty);
		full[i] = pass_reading(reader, &reading);
		if (reading.count != threads->count)
			fail("not all contexts were read");
	}
	printf("%-8s %5u bytes: %.2f ms of CPU per 1,000 contexts (aim 1.2), %.2f by an iterator that does "
	       "nothing, "
	       "%.2f times\n",
	       fixture_layout_name(layout), reader->scheduler->size, median(full, runs) / count,
	       median(floor, runs) / count, median(full, runs) / median(floor, runs));
	scx_reader_close(reader);
	fixture_close(fixture);
	arena_release(&arena);
}

int main(int argc, char **argv)
{
	struct bench_options options = {.threads = THREADS, .runs = RUNS};
	struct fixture_threads threads;
	struct error error;
	int empty;

	bench_options_parse(&options, usage, argc, argv);
	if (!fixture_works(&error)) {
		printf("not measured: %s\n", error.text);
		return EXIT_SKIPPED;
	}
	if (fixture_threads_start(&threads, options.threads, &error) < 0)
		fail(error.text);
	empty = open_empty_iterator();
	for (enum fixture_layout layout = 0; layout < FIXTURE_LAYOUTS; layout++)
		measure(layout, &threads, empty, options.runs);
	close(empty);
	fixture_threads_end(&threads);
	return 0;
}
