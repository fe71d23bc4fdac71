/* SPDX-License-Identifier: GPL-2.0-only */
/* An executable that is its own debug file, package and library: all that the resolver parses. */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "probe/dwarf/resolve.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int open_file(void *context, uint32_t object, enum resolve_file file, const char *name,
		     uint32_t ordinal)
{
	const int *descriptor = context;

	(void)object;
	(void)file;
	(void)name;
	return ordinal == 0 ? fcntl(*descriptor, F_DUPFD_CLOEXEC, 0) : -ENOENT;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int descriptor = memfd_create("elf", MFD_CLOEXEC);
	const struct resolve_source source = {&descriptor, 1, open_file};
	struct resolution resolution;

	if (descriptor < 0 || write(descriptor, data, size) != (ssize_t)size)
		abort();
	resolve(&source, &resolution);
	if (memchr(resolution.text, '\0', sizeof(resolution.text)) == NULL)
		abort();
	if (resolution.tag == HEAP_TAG_NONE && resolution.layout.allocated >= resolution.layout.deallocated)
		abort();
	close(descriptor);
	return 0;
}
