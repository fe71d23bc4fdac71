/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_ATTACH_H
#define CTOP_ATTACH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/heap_tag.h"
#include "probe/object/layout.h"
#include "probe/process/process_map.h"
#include "probe/process/transfer.h"

enum {
	ATTACHMENT_RANDOM_SIZE = 16, /* bytes at AT_RANDOM */
	ATTACHMENT_ROBUST_MIN = 48,  /* bytes from thread pointer to robust list head on x86_64 */
	ATTACHMENT_ROBUST_MAX = 4096,
};

/* The way to the counters of one process's threads. Plain data but for one descriptor. */
struct attachment {
	pid_t tgid;
	bool in_dtv;             /* storage is found through each thread's DTV, else at `distance` */
	uint64_t distance;       /* of the TLS image from the thread pointer, modulo 2^64 */
	uint64_t module;         /* index in the DTV */
	uint64_t symbol, offset; /* of the TLS symbol in the image, of the first counter in the symbol */
	uint32_t span; /* bytes from the first counter to the end of the second; at most LAYOUT_SPAN_MAX */
	struct c_library c_library;
	/* Thread pointer = robust list head - robust_distance, modulo 2^64; once it is known. */
	bool robust_known;
	uint64_t robust_distance;
	/*
	 * The 16 random bytes that exec puts into a new address space (getauxval(3), AT_RANDOM). Read along
	 * with everything else, they prove that it came from the address space that we attached to.
	 */
	uint64_t random_address;
	unsigned char random[ATTACHMENT_RANDOM_SIZE];
	/* The process's directory if its threads have other numbers in their pid namespace, else -1. */
	int directory;
};

/*
 * Finds where the threads of process `tgid` keep the counters that `resolution` describes, through its living
 * thread `tid` (base/living_thread.h). `process_directory` is the open directory of that thread below a proc
 * root, `map` the memory map (for jemalloc in a library). Returns 0, or a negative errno with a sentence and
 * the tag; -EAGAIN while the dynamic linker is at work. On success, end with attachment_release().
 */
int attachment_open(struct attachment *attachment, pid_t tgid, pid_t tid, int process_directory,
		    const struct resolution *resolution, const struct process_map *map,
		    struct transfer_way *way, enum heap_tag *ret_tag, struct error *error);

/* The tag of a process that could not be read completely; `otherwise` for reasons without a tag. */
enum heap_tag attachment_failure_tag(int negative_errno, enum heap_tag otherwise);

/* Sets the distance between robust list head and thread pointer if it can be one in struct pthread. */
void attachment_set_robust_distance(struct attachment *attachment, uint64_t distance);

/* Closes the descriptor. */
void attachment_release(struct attachment *attachment);

/*
 * The address of the first counter of the thread whose pointer is `thread_pointer`. Reads memory only for
 * storage in a DTV; `pid` is a thread of the process. Returns 0; -ENODATA when the thread has no storage yet,
 * so it has allocated nothing; -EOVERFLOW when it lies nowhere; or -EFAULT, -EPERM, -ESRCH, -ETIMEDOUT.
 */
int attachment_counter_address(const struct attachment *attachment, pid_t pid, uint64_t thread_pointer,
			       uint64_t *ret_address, struct transfer_way *way);

/* Does the process have a thread of that number? Sends nothing (signal 0). */
bool attachment_has_thread(const struct attachment *attachment, uint32_t tid);

/*
 * Whether a thread is a worker of io_uring: it runs in the kernel alone, so it allocates nothing, and has the
 * thread pointer of the thread that made it (copy_thread() of arch/x86/kernel/process.c).
 */
bool attachment_is_worker(const struct attachment *attachment, uint32_t tid);

/* The counters in the attachment's `span` bytes read from the first on. */
void attachment_take_counters(const struct attachment *attachment, const char *bytes, uint64_t *ret_allocated,
			      uint64_t *ret_deallocated);

/*
 * The number of a thread in its own pid namespace, the last in the line NSpid of its status file `path`, and
 * the number of namespaces in which it has one. Returns 0 or a negative errno (-ENODATA without such a line).
 */
int attachment_read_own_number(int directory, const char *path, uint32_t *ret_number, size_t *ret_namespaces);

#endif
