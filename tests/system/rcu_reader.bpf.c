// SPDX-License-Identifier: GPL-2.0-only
/*
 * A reader of RCU that takes its time: one run of it, by bpf(2) BPF_PROG_TEST_RUN, is one read-side critical
 * section that lasts until a given moment. Until then the kernel frees no task that ends.
 */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

enum {
	ITERATIONS_MAX = 1 << 23, /* BPF_MAX_LOOPS of include/linux/bpf.h */
};

__u64 until_ns; /* CLOCK_MONOTONIC */

static long is_over(__u32 index, void *context)
{
	(void)index;
	(void)context;
	return bpf_ktime_get_ns() >= until_ns;
}

static long go_on(__u32 index, void *context)
{
	(void)index;
	bpf_loop(ITERATIONS_MAX, is_over, context, 0);
	return bpf_ktime_get_ns() >= until_ns;
}

SEC("raw_tp")
int stay(void *context)
{
	(void)context;
	bpf_loop(ITERATIONS_MAX, go_on, NULL, 0);
	return 0;
}

const char program_license[] SEC("license") = "GPL";
