/* SPDX-License-Identifier: GPL-2.0-only */
#include "thread_pointer.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "probe/process/tls.h"

enum {
	/* Both in nptl/descr.h and sysdeps/x86_64/nptl/tls.h of glibc. */
	TID_BELOW_HEAD = 16,
	SELF_OFFSET = 16,   /* tcbhead_t.self of x86_64 */
	SCAN_SIZE = 4096,   /* bytes below a head that are searched for a thread control block */
	TCB_ALIGNMENT = 16, /* the least that any version asks for */
};

int thread_pointer_robust_head(uint32_t tid, uint64_t *ret_head)
{
	void *head = NULL;
	size_t size;

	if (syscall(SYS_get_robust_list, (long)tid, &head, &size) < 0)
		return -errno;
	*ret_head = (uint64_t)(uintptr_t)head;
	return 0;
}

/* Searches `size` bytes at `address`, from the end, for a thread control block. */
static bool find_control_block(const char *bytes, uint64_t address, size_t size, uint64_t *ret_block)
{
	for (size_t at = (size - SELF_OFFSET - sizeof(uint64_t)) & ~(size_t)(TCB_ALIGNMENT - 1);;
	     at -= TCB_ALIGNMENT) {
		uint64_t first, self;

		memcpy(&first, bytes + at, sizeof(first));
		memcpy(&self, bytes + at + SELF_OFFSET, sizeof(self));
		if (first == address + at && self == first) {
			*ret_block = first;
			return true;
		}
		if (at < TCB_ALIGNMENT)
			return false;
	}
}

void thread_pointer_calibrate(struct attachment *attachment, pid_t pid, uint64_t head,
			      struct transfer_way *way)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	const uint64_t low = (head - SCAN_SIZE) & ~(uint64_t)(TCB_ALIGNMENT - 1);
	char bytes[SCAN_SIZE + TCB_ALIGNMENT];
	/* the pages below may not be there */
	const uint64_t starts[] = {low, head & ~(page - 1)};

	if (attachment->robust_known || attachment->c_library.kind == C_LIBRARY_MUSL ||
	    tls_native_variant() != TLS_VARIANT_2 || head < SCAN_SIZE)
		return;
	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++) {
		const size_t size = (size_t)(head - starts[i]);
		uint64_t block;

		if (size < SELF_OFFSET + sizeof(uint64_t) || size > sizeof(bytes) ||
		    transfer_read(pid, starts[i], bytes, size, way) < 0)
			continue;
		if (!find_control_block(bytes, starts[i], size, &block))
			continue;
		attachment_set_robust_distance(attachment, head - block);
		return;
	}
}

void thread_pointer_add_proof(struct transfer *transfer, uint64_t head, uint64_t thread_pointer,
			      uint32_t own_number, struct thread_pointer_proof *ret_proof)
{
	const uint64_t tid_end = head - TID_BELOW_HEAD + sizeof(uint32_t);
	const uint64_t start = tls_native_variant() == TLS_VARIANT_2 ? thread_pointer + SELF_OFFSET
								     : tid_end - sizeof(uint32_t);

	*ret_proof = (struct thread_pointer_proof){
		.piece = transfer_add(transfer, start, tid_end - start),
		.size = tid_end - start,
		.thread_pointer = thread_pointer,
		.own_number = own_number,
	};
}

bool thread_pointer_is_proved(const struct transfer *transfer, const struct thread_pointer_proof *proof,
			      const char *bytes)
{
	uint32_t tid;
	uint64_t self;

	if (!transfer->read[proof->piece])
		return false;
	memcpy(&tid, bytes + proof->size - sizeof(tid), sizeof(tid));
	if (tid != proof->own_number)
		return false;
	if (tls_native_variant() != TLS_VARIANT_2)
		return true;
	memcpy(&self, bytes, sizeof(self));
	return self == proof->thread_pointer;
}
