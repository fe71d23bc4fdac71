/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_KERNEL_CONFIG_H
#define CTOP_KERNEL_CONFIG_H

#include "base/buffer.h"
#include "capture/procfs/root.h"

enum kernel_option {
	KERNEL_OPTION_UNKNOWN,
	KERNEL_OPTION_OFF,
	KERNEL_OPTION_ON,
};

/*
 * The kernel's configuration, PROC/config.gz unpacked (CONFIG_IKCONFIG_PROC; the first gzip member), into
 * `buffer`. Returns 0, or a negative errno: -ENOENT where the kernel does not carry it, -EBADMSG for a
 * damaged or cut stream or text that is not UTF-8. The buffer is empty on failure.
 */
int kernel_config_read(const struct roots *roots, struct buffer *buffer);

/* Whether such a text has `option`=y (wherever it stands), says that it is not set, or neither. */
enum kernel_option kernel_config_find(const char *text, size_t length, const char *option);

#endif
