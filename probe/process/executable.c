/* SPDX-License-Identifier: GPL-2.0-only */
#include "executable.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

int executable_identify(int process_directory, struct executable *ret_executable)
{
	struct statx status;

	if (statx(process_directory, "exe", AT_STATX_DONT_SYNC, STATX_BASIC_STATS, &status) < 0)
		return -errno;
	*ret_executable = (struct executable){
		.device = makedev(status.stx_dev_major, status.stx_dev_minor),
		.inode = status.stx_ino,
		.size = status.stx_size,
		.change_seconds = status.stx_ctime.tv_sec,
		.change_nanoseconds = status.stx_ctime.tv_nsec,
	};
	return 0;
}
