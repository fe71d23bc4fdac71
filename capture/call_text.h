/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_CALL_TEXT_H
#define CTOP_CALL_TEXT_H

#include "base/buffer.h"
#include "capture/procfs/procfs.h"
#include "capture/procfs/text_scan.h"

enum {
	CALL_TEXT_MAPS_MAX = 8 * 1024 * 1024, /* bytes of a `maps` that are worth reading */
};

/*
 * Appends the system call that a thread sleeps in, as strace(1) writes it, and in further lines what it waits
 * for: the mapping of a futex, or the files that an epoll watches. `task` is the thread's directory in /proc.
 * The kernel may hold up the reading of its `maps`. All text is printable UTF-8.
 */
void call_text_append(struct buffer *text, const struct procfs_syscall *call, int task);

/*
 * Appends, if the call waits for a pipe or a TCP socket of this host, the link of its descriptor and in a
 * second line the processes at the other end: "from 4711 gzip", "to" or "with". `proc` is the directory of
 * all processes, which are searched for up to 0.1 s; the text says if that or the rights did not suffice.
 */
void call_text_append_peer(struct buffer *text, const struct procfs_syscall *call, int task, int proc);

/*
 * Appends a line for each of `count` addresses, which ascend: the short name of its mapping in `maps`, the
 * text of such a file in /proc. "[heap]", "libjvm.so .data", "anonymous"; empty for an address without one.
 */
void call_text_append_mappings(struct buffer *lines, struct text maps, const uint64_t addresses[],
			       size_t count);

#endif
