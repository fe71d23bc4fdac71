/* SPDX-License-Identifier: GPL-2.0-only */
/* The room where ctop was built without BPF: nothing opens, so nothing is called with what was opened. */
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include "bpf_exits.h"
#include "bpf_futex.h"
#include "bpf_latency.h"
#include "bpf_tasks.h"

#include <errno.h>

static struct feature_result not_built(void)
{
	return feature_off(REASON_NOT_BUILT, "built without BPF; that needs libbpf, clang and bpftool", NULL);
}

struct bpf_tasks *bpf_tasks_open(const uint32_t *scope, size_t scope_count, size_t task_count,
				 uint32_t usual_parts, const struct task_call_set *by_file,
				 struct arena *arena, struct feature_result *ret_result)
{
	*ret_result = not_built();
	return NULL;
}

void bpf_tasks_close(struct bpf_tasks *tasks)
{
}

int bpf_tasks_read(struct bpf_tasks *tasks, uint32_t parts, bool full, const atomic_bool *cancel,
		   struct bpf_pass *ret_pass)
{
	return -ENOSYS;
}

struct bpf_latency *bpf_latency_open(const uint32_t *scope, size_t scope_count, struct arena *arena,
				     struct feature_result *ret_result)
{
	*ret_result = not_built();
	return NULL;
}

void bpf_latency_close(struct bpf_latency *latency)
{
}

int bpf_latency_switch(struct bpf_latency *latency, bool on)
{
	return -ENOSYS;
}

void bpf_latency_read(struct bpf_latency *latency, const struct bpf_latency_taker *taker,
		      struct bpf_latency_cost *ret_cost)
{
}

struct bpf_futex *bpf_futex_open(uint32_t process, const struct futex_calls *calls, struct arena *arena,
				 struct feature_result *ret_result)
{
	*ret_result = not_built();
	return NULL;
}

void bpf_futex_close(struct bpf_futex *futex)
{
}

int bpf_futex_read(struct bpf_futex *futex, struct bpf_futex_reading *ret_reading)
{
	return -ENOSYS;
}

struct bpf_exits *bpf_exits_open(const uint32_t *scope, size_t scope_count, struct arena *arena,
				 struct feature_result *ret_result)
{
	*ret_result = not_built();
	return NULL;
}

void bpf_exits_close(struct bpf_exits *exits)
{
}

void bpf_exits_set_known(struct bpf_exits *exits, uint64_t boottime_ns)
{
}

int bpf_exits_read_groups(struct bpf_exits *exits, const struct bpf_exit_group **ret_groups,
			  size_t *ret_count)
{
	return -ENOSYS;
}

int bpf_exits_list(struct bpf_exits *exits, const struct bpf_exit_item **ret_items, size_t *ret_count)
{
	return -ENOSYS;
}

bool bpf_exits_take(struct bpf_exits *exits, const struct exit_identity *identity,
		    struct exit_thread *ret_thread)
{
	return false;
}

uint32_t bpf_exits_kernel(const struct bpf_exits *exits)
{
	return 0;
}

uint64_t bpf_exits_lost(const struct bpf_exits *exits)
{
	return 0;
}
