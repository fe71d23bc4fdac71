/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_BPF_KERNEL_H
#define CTOP_BPF_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

/* What texts of the kernel tell those who load programs. Pure. */

/*
 * The words of 64 bits of a CPU mask that can hold a CPU of this host, by its CPUs that may ever be there
 * ("0-3" or "0,4-7": /sys/devices/system/cpu/possible, Documentation/admin-guide/cputopology.rst). At least
 * 1, which is also what a text that makes no sense gives.
 */
uint32_t bpf_kernel_mask_words(const char *possible);

/*
 * Whether a release ("5.15.0-91-generic", uname(2)) is older than a version. False for what is no release.
 */
bool bpf_kernel_is_older(const char *release, unsigned int major, unsigned int minor);

#endif
