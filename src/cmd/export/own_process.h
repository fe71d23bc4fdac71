/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_OWN_PROCESS_H
#define CTOP_OWN_PROCESS_H

#include "export.h"

/* Fills in what /proc/self and the kernel tell of this process: CPU time, memory, descriptors, its start.
 * What cannot be read leaves has_process false. */
void own_process_read(struct export_health *health);

#endif
