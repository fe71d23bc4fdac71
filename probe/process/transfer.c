/* SPDX-License-Identifier: GPL-2.0-only */
#include "transfer.h"

#include <errno.h>

void transfer_clear(struct transfer *transfer)
{
	transfer->count = 0;
}

size_t transfer_add(struct transfer *transfer, uint64_t address, size_t size)
{
	transfer->pieces[transfer->count] = (struct iovec){
		.iov_base = (void *)(uintptr_t)address,
		.iov_len = size,
	};
	transfer->read[transfer->count] = false;
	return transfer->count++;
}

/* Marks the pieces that `length` bytes from piece `first` on fill; returns the number of the next one. */
static size_t mark_read(struct transfer *transfer, size_t first, size_t length)
{
	size_t next = first;

	while (next < transfer->count && length >= transfer->pieces[next].iov_len) {
		length -= transfer->pieces[next].iov_len;
		transfer->read[next++] = true;
	}
	return next;
}

/*
 * What the kernel does at a page that is not there (mm/process_vm_access.c, measured on 6.18): it returns
 * what came before it, the mapped beginning of the bad piece included, whatever the manual says of whole
 * pieces; EFAULT when that is nothing. So the piece in which the result ends is the bad one: we go on behind
 * it.
 */
int transfer_run(struct transfer *transfer, pid_t pid, void *buffer, uint64_t *calls)
{
	char *position = buffer;
	size_t remaining = 0, next = 0;

	for (size_t i = 0; i < transfer->count; i++)
		remaining += transfer->pieces[i].iov_len;
	while (next < transfer->count) {
		const struct iovec local = {.iov_base = position, .iov_len = remaining};
		const ssize_t length = process_vm_readv(pid, &local, 1, &transfer->pieces[next],
							transfer->count - next, 0);
		size_t end;

		++*calls;
		if (length < 0 && errno == EINTR)
			continue;
		if (length < 0 && errno != EFAULT)
			return -errno;
		end = mark_read(transfer, next, length > 0 ? (size_t)length : 0);
		if (end < transfer->count)
			end++;
		for (; next < end; next++) {
			position += transfer->pieces[next].iov_len;
			remaining -= transfer->pieces[next].iov_len;
		}
	}
	return 0;
}

int transfer_read(pid_t pid, uint64_t address, void *buffer, size_t size, uint64_t *calls)
{
	const struct iovec local = {.iov_base = buffer, .iov_len = size};
	const struct iovec remote = {.iov_base = (void *)(uintptr_t)address, .iov_len = size};
	const ssize_t length = process_vm_readv(pid, &local, 1, &remote, 1, 0);

	++*calls;
	if (length < 0)
		return -errno;
	return (size_t)length == size ? 0 : -EFAULT;
}
