/* SPDX-License-Identifier: GPL-2.0-only */
#include "statm.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

enum {
	TEXT_SIZE = 256, /* of seven numbers */
};

int statm_read(int directory, const char *path, struct statm *ret_statm)
{
	const int descriptor = openat(directory, path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	char text[TEXT_SIZE];
	ssize_t length;
	int result;

	if (descriptor < 0)
		return -errno;
	length = read(descriptor, text, sizeof(text) - 1);
	result = length < 0 ? -errno : 0;
	close(descriptor);
	if (result < 0)
		return result;
	text[length] = '\0';
	return sscanf(text, "%" SCNu64 " %" SCNu64 " %*u %" SCNu64, &ret_statm->size, &ret_statm->resident,
		      &ret_statm->text) == 3
		       ? 0
		       : -EINVAL;
}
