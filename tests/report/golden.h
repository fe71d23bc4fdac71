/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_TESTS_GOLDEN_H
#define CTOP_TESTS_GOLDEN_H

#include "base/buffer.h"

/*
 * Fails the test unless `drawn` is what the file `name` of the golden directory holds. With WRITE_GOLDEN in
 * the environment the file is written instead: look at what changed before you commit it.
 */
void golden_compare(const char *name, const struct buffer *drawn);

#endif
