/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_BPF_ITERATOR_H
#define CTOP_BPF_ITERATOR_H

#include <stdatomic.h>
#include <stddef.h>
#include <sys/types.h>

enum {
	/* what an iterator returns at most: PAGE_SIZE << 3, bpf_seq_read() of kernel/bpf/bpf_iter.c */
	BPF_ITERATOR_READ_SIZE = 32 * 1024,
};

/*
 * Reads all that the file of an iterator hands over into `*bytes` (of `*capacity` bytes, grown as needed; the
 * caller owns it). `cancel` (may be NULL) is checked between reads. Returns the length or a negative errno;
 * -ECANCELED.
 */
ssize_t bpf_iterator_read(int descriptor, const atomic_bool *cancel, unsigned char **bytes, size_t *capacity);

#endif
