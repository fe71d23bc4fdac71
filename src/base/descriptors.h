/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_DESCRIPTORS_H
#define CTOP_DESCRIPTORS_H

#include <stddef.h>

/*
 * Closes every descriptor of this process but the `count` in `kept` and puts /dev/null on 0, 1 and 2, so that
 * nothing that is printed can get into those. The kept ones become 3, 4 and so on, as `kept` then says.
 * Nobody who reads what this program writes has to wait for a forked copy that hangs. Allocates nothing.
 * Returns 0 or a negative errno.
 */
int descriptors_keep(int *kept, size_t count);

#endif
