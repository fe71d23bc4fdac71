/* SPDX-License-Identifier: GPL-2.0-only */
#include "day_sync.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/worker.h"

static void *run_sync(void *argument)
{
	struct day_sync *sync = argument;

	sync->result = fdatasync(sync->descriptor) < 0 ? -errno : 0;
	close(sync->descriptor);
	/* makes a new file's name durable; ignored if it fails, since not every file system supports it */
	if (sync->directory >= 0) {
		fsync(sync->directory);
		close(sync->directory);
	}
	return NULL;
}

void day_sync_begin(struct day_sync *sync, int descriptor, const char *directory)
{
	sync->descriptor = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
	sync->directory = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	sync->is_running = worker_start(&sync->thread, run_sync, sync) == 0;
	/* if no thread could be started, sync in this one */
	if (!sync->is_running)
		run_sync(sync);
}

int day_sync_end(struct day_sync *sync, uint64_t deadline_ns)
{
	int result;

	if (sync->is_running && !worker_join(sync->thread, deadline_ns))
		return -EINPROGRESS;
	sync->is_running = false;
	result = sync->result;
	sync->result = 0;
	return result;
}
