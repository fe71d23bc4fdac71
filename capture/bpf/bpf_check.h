/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_BPF_CHECK_H
#define CTOP_BPF_CHECK_H

#include "metric/feature.h"

/*
 * Whether the calling thread may load programs: the kernel tells its types (BTF), and CAP_BPF and CAP_PERFMON
 * are effective (capabilities(7)) in the initial user and time namespaces. Where the program has rights that
 * its user has not, no program is loaded, because an iterator over tasks shows everybody what only
 * CAP_SYS_PTRACE should. On, or off with the reason; its texts are static.
 */
struct feature_result bpf_check(void);

#endif
