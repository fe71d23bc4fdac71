/* SPDX-License-Identifier: GPL-2.0-only */
#include "bpf_iterator.h"

#include <errno.h>
#include <unistd.h>

#include "base/memory.h"

ssize_t bpf_iterator_read(int descriptor, const atomic_bool *cancel, unsigned char **bytes, size_t *capacity)
{
	size_t length = 0;

	for (;;) {
		ssize_t count;

		if (cancel != NULL && atomic_load_explicit(cancel, memory_order_relaxed))
			return -ECANCELED;
		*bytes = memory_grow(*bytes, capacity, length + BPF_ITERATOR_READ_SIZE, 1);
		count = read(descriptor, *bytes + length, BPF_ITERATOR_READ_SIZE);
		if (count == 0)
			return (ssize_t)length;
		/* so many tasks at a time are looked at without one that is handed over: bpf_seq_read() */
		if (count < 0 && errno != EAGAIN && errno != EINTR)
			return -errno;
		if (count > 0)
			length += (size_t)count;
	}
}
