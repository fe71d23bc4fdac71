/* SPDX-License-Identifier: GPL-2.0-only */
#include "sched_ext.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/file.h"
#include "base/number.h"
#include "capture/procfs/text_scan.h"

enum {
	FILE_SIZE_MAX = 4096
};

static struct text read_member(int directory, const char *name, struct buffer *buffer)
{
	if (file_read(directory, name, buffer, FILE_SIZE_MAX) < 0)
		return (struct text){"", 0};
	return text_trim((struct text){buffer->data, buffer->length});
}

static uint64_t read_number(int directory, const char *name, struct buffer *buffer)
{
	struct text text = read_member(directory, name, buffer);
	uint64_t number;

	return number_parse_u64(text.data, text.length, &number) ? number : 0;
}

void sched_ext_read(const struct roots *roots, struct snapshot *snapshot)
{
	struct sched_ext *sched_ext = &snapshot->sched_ext;
	struct buffer buffer = {0};
	struct text state;
	int directory = -1;

	*sched_ext = (struct sched_ext){0};
	if (roots->descriptor[ROOT_SYS] < 0)
		return;
	directory = openat(roots->descriptor[ROOT_SYS], "kernel/sched_ext",
			   O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (directory < 0 && (errno == ENOENT || errno == ENOTDIR))
		return;
	sched_ext->present = true;
	sched_ext->state = "";
	if (directory < 0)
		return;
	state = read_member(directory, "state", &buffer);
	sched_ext->state = arena_duplicate(&snapshot->arena, state.data, state.length);
	sched_ext->switch_all = read_number(directory, "switch_all", &buffer);
	sched_ext->nr_rejected = read_number(directory, "nr_rejected", &buffer);
	sched_ext->hotplug_seq = read_number(directory, "hotplug_seq", &buffer);
	sched_ext->enable_seq = read_number(directory, "enable_seq", &buffer);
	buffer_release(&buffer);
	close(directory);
}
