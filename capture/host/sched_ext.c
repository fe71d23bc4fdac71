/* SPDX-License-Identifier: GPL-2.0-only */
#include "sched_ext.h"

#include <errno.h>
#include <unistd.h>

#include "base/number.h"

static uint64_t read_number(const struct roots *roots, const char *path, struct buffer *buffer)
{
	struct text text = roots_read_text(roots, ROOT_SYS, path, buffer);
	uint64_t number;

	return number_parse_u64(text.data, text.length, &number) ? number : 0;
}

void sched_ext_read(const struct roots *roots, struct snapshot *snapshot)
{
	struct sched_ext *sched_ext = &snapshot->sched_ext;
	struct buffer buffer = {0};
	struct text state;

	*sched_ext = (struct sched_ext){0};
	if (roots->descriptor[ROOT_SYS] < 0)
		return;
	if (faccessat(roots->descriptor[ROOT_SYS], "kernel/sched_ext/.", F_OK, 0) < 0 &&
	    (errno == ENOENT || errno == ENOTDIR))
		return;
	sched_ext->present = true;
	state = roots_read_text(roots, ROOT_SYS, "kernel/sched_ext/state", &buffer);
	sched_ext->state = arena_duplicate(&snapshot->arena, state.data, state.length);
	sched_ext->switch_all = read_number(roots, "kernel/sched_ext/switch_all", &buffer);
	sched_ext->nr_rejected = read_number(roots, "kernel/sched_ext/nr_rejected", &buffer);
	sched_ext->hotplug_seq = read_number(roots, "kernel/sched_ext/hotplug_seq", &buffer);
	sched_ext->enable_seq = read_number(roots, "kernel/sched_ext/enable_seq", &buffer);
	buffer_release(&buffer);
}
