/* SPDX-License-Identifier: GPL-2.0-only */
#include "descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

int descriptors_keep(int *kept, size_t count)
{
	const int first = STDERR_FILENO + 1, end = first + (int)count;
	int null;

	/* first to numbers above those that they get, so that none is overwritten */
	for (size_t i = 0; i < count; i++) {
		kept[i] = fcntl(kept[i], F_DUPFD_CLOEXEC, end);
		if (kept[i] < 0)
			return -errno;
	}
	for (size_t i = 0; i < count; i++) {
		kept[i] = dup3(kept[i], first + (int)i, O_CLOEXEC);
		if (kept[i] < 0)
			return -errno;
	}
	closefrom(end);
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	/* a chroot without /dev: 0, 1 and 2 must be in use all the same, by anything that goes nowhere */
	if (null < 0)
		null = memfd_create("null", MFD_CLOEXEC);
	for (int i = STDIN_FILENO; i < first; i++) {
		if (dup2(null, i) < 0)
			return -errno;
	}
	if (null >= end)
		close(null);
	return 0;
}
