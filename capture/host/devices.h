/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_HOST_DEVICES_H
#define CTOP_HOST_DEVICES_H

#include "base/arena.h"
#include "capture/procfs/root.h"
#include "snapshot/snapshot.h"

/* Reads /proc/diskstats and /proc/net/dev into snapshot->provenance.devices. What cannot be read is absent.
 */
void devices_read(const struct roots *roots, struct snapshot *snapshot);

/* The lines `cpuN` of /proc/stat (proc_stat(5)); lines that make no sense are left out. `arena` owns what
 * is found, as below. */
void devices_parse_cpus(const char *text, size_t length, struct arena *arena, struct devices *ret_devices);

/*
 * The whole disks of /proc/diskstats (Documentation/admin-guide/iostats.rst): no partitions, loop devices,
 * RAM disks or devices of the device mapper, all of which are other disks' parts or none.
 */
void devices_parse_disks(const char *text, size_t length, struct arena *arena, struct devices *ret_devices);

/* The interfaces of /proc/net/dev (proc_pid_net(5)) but `lo`. */
void devices_parse_networks(const char *text, size_t length, struct arena *arena,
			    struct devices *ret_devices);

#endif
