/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_TESTS_FAULTS_LINKS_H
#define CTOP_TESTS_FAULTS_LINKS_H

#include <stddef.h>

/* The BPF links of this host that no descriptor of any process refers to; 0 where they cannot be listed. */
size_t links_without_holder(void);

#endif
