/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_OWN_PROCESS_H
#define CTOP_OWN_PROCESS_H

#include "export.h"

/* Fills in the numbers of this process from /proc/self: CPU time, memory, descriptors, its start.
 * When something cannot be read, has_process stays false. */
void own_process_read(struct export_health *health);

#endif
