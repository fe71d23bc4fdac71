/* SPDX-License-Identifier: GPL-2.0-only */
#include "transfer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* A request to the reader. */
struct order {
	pid_t pid;
	size_t count, size; /* of the pieces; all bytes */
	struct iovec pieces[TRANSFER_MAX];
};

_Static_assert(sizeof(struct order) <= READER_ARGUMENT_MAX, "a transfer fits an argument");

void transfer_way_release(struct transfer_way *way)
{
	buffer_release(&way->answer);
}

/* A reader_work: answers with what process_vm_readv(2) has read. */
static int read_order(int directory, const void *argument, size_t size, struct buffer *answer)
{
	const struct order *order = argument;
	struct iovec local;
	ssize_t length;

	(void)directory;
	(void)size;
	buffer_reserve(answer, order->size);
	local = (struct iovec){.iov_base = answer->data, .iov_len = order->size};
	do {
		length = process_vm_readv(order->pid, &local, 1, order->pieces, order->count, 0);
	} while (length < 0 && errno == EINTR);
	if (length < 0)
		return -errno;
	answer->length = (size_t)length;
	return 0;
}

/*
 * Reads as process_vm_readv(2) does, which cannot be killed while it waits for an address space
 * (mm/process_vm_access.c); this can (__access_remote_vm() in mm/memory.c).
 */
static ssize_t read_memory_file(pid_t pid, const struct iovec *pieces, size_t count, char *buffer)
{
	char path[32];
	ssize_t done = 0, length = 0;
	int memory;

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	memory = open(path, O_RDONLY | O_CLOEXEC);
	if (memory < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	for (size_t i = 0; i < count; i++) {
		do {
			length = pread(memory, buffer + done, pieces[i].iov_len,
				       (off_t)(uintptr_t)pieces[i].iov_base);
		} while (length < 0 && errno == EINTR);
		done += length > 0 ? length : 0;
		if (length < 0 || (size_t)length < pieces[i].iov_len)
			break;
	}
	close(memory);
	if (done != 0)
		return done;
	return length == 0 ? -ESRCH : -EFAULT; /* it has no address space any more */
}

static ssize_t read_here(const struct transfer_way *way, pid_t pid, const struct iovec *pieces, size_t count,
			 void *buffer, size_t size)
{
	const struct iovec local = {.iov_base = buffer, .iov_len = size};
	ssize_t length = -EACCES;

	if (way->killable)
		length = read_memory_file(pid, pieces, count, buffer);
	/* the file belongs to its user, whom not every privilege overrides */
	if (length != -EACCES)
		return length;
	do {
		length = process_vm_readv(pid, &local, 1, pieces, count, 0);
	} while (length < 0 && errno == EINTR);
	return length < 0 ? -errno : length;
}

/* Reads pieces into the `size` bytes at `buffer`: what it returns, or a negative errno. */
static ssize_t read_pieces(struct transfer_way *way, pid_t pid, const struct iovec *pieces, size_t count,
			   void *buffer, size_t size)
{
	struct order order;
	ssize_t length;
	int r;

	way->calls++;
	if (way->reader == NULL)
		return read_here(way, pid, pieces, count, buffer, size);
	order.pid = pid;
	order.count = count;
	order.size = size;
	memcpy(order.pieces, pieces, count * sizeof(*pieces));
	r = reader_call(way->reader, pid, read_order, -1, &order,
			offsetof(struct order, pieces) + count * sizeof(*pieces), &way->answer);
	if (r < 0)
		return r;
	length = (ssize_t)(way->answer.length < size ? way->answer.length : size);
	if (length != 0)
		memcpy(buffer, way->answer.data, (size_t)length);
	return length;
}

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
 * At a page that is not mapped the kernel returns all bytes before it (mm/process_vm_access.c, measured on
 * 6.18), the mapped beginning of the bad piece included, although the manual speaks of whole pieces; EFAULT
 * without any. So the piece in which the result ends is the bad one: we go on behind
 * it.
 */
int transfer_run(struct transfer *transfer, pid_t pid, void *buffer, struct transfer_way *way)
{
	char *position = buffer;
	size_t remaining = 0, next = 0;

	for (size_t i = 0; i < transfer->count; i++)
		remaining += transfer->pieces[i].iov_len;
	while (next < transfer->count) {
		const ssize_t length = read_pieces(way, pid, &transfer->pieces[next], transfer->count - next,
						   position, remaining);
		size_t end;

		if (length < 0 && length != -EFAULT)
			return (int)length;
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

int transfer_read(pid_t pid, uint64_t address, void *buffer, size_t size, struct transfer_way *way)
{
	const struct iovec piece = {.iov_base = (void *)(uintptr_t)address, .iov_len = size};
	const ssize_t length = read_pieces(way, pid, &piece, 1, buffer, size);

	if (length < 0)
		return (int)length;
	return (size_t)length == size ? 0 : -EFAULT;
}

int transfer_call(struct transfer_way *way, pid_t pid, reader_work *work, const void *argument, size_t size,
		  void *result, size_t result_size)
{
	const int r = reader_call(way->reader, pid, work, -1, argument, size, &way->answer);

	if (r == 0 && way->answer.length != result_size)
		return -EIO;
	if (r == 0)
		memcpy(result, way->answer.data, result_size);
	return r;
}
