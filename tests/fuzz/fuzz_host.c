/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The parsers of files that belong to no thread: pressure, flat keyed cgroup files, mountinfo, cgroup paths,
 * the kernel's configuration, CPUs, disks and networks. The first byte chooses one.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "capture/procfs/text_scan.h"
#include "capture/host/cgroup.h"
#include "capture/host/devices.h"
#include "capture/host/feature.h"
#include "capture/procfs/procfs.h"
#include "capture/host/host.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

static void parse_key_values(const char *text, size_t length)
{
	struct string_pool strings = {0};
	struct arena arena = {0};
	struct key_values values;

	procfs_parse_keys(text, length, PROCFS_KEYS_FLAT, &strings, &arena, &values);
	for (uint32_t i = 0; i < values.count; i++) {
		for (uint32_t j = 0; j < i; j++)
			require(values.items[i].key != values.items[j].key);
	}
	arena_release(&arena);
	string_pool_release(&strings);
}

static void parse_mounts(const char *text, size_t length)
{
	struct buffer mount_point = {0}, mount_root = {0};
	struct text rest = {text, length};

	while (root_next_cgroup(&rest, NULL, &mount_point, &mount_root))
		require(rest.data + rest.length == text + length && mount_point.length <= length);
	buffer_release(&mount_point);
	buffer_release(&mount_root);
}

/* The text before the first newline is the mount's root, what follows the path. */
static void place_path(const char *text, size_t length)
{
	const char *end = length != 0 ? memchr(text, '\n', length) : NULL, *rest;
	size_t rest_length;
	char *mount_root;

	if (end == NULL)
		return;
	mount_root = strndup(text, (size_t)(end - text));
	require(mount_root != NULL);
	if (cgroup_path_below_mount(end + 1, length - (size_t)(end + 1 - text), mount_root, &rest,
				    &rest_length))
		require(rest + rest_length == text + length &&
			(rest_length == 0 || rest[0] == '/' || mount_root[0] == '\0' ||
			 strspn(mount_root, "/") == strlen(mount_root)));
	free(mount_root);
}

static void parse_devices(void (*parse)(const char *text, size_t length, struct arena *arena,
					struct devices *ret_devices),
			  const char *text, size_t length)
{
	struct devices devices = {0};
	struct arena arena = {0};

	parse(text, length, &arena, &devices);
	require(devices.cpu_count <= DEVICES_CPUS_MAX && devices.disk_count <= DEVICES_MAX &&
		devices.network_count <= DEVICES_MAX);
	for (size_t i = 1; i < devices.cpu_count; i++)
		require(devices.cpus[i].number > devices.cpus[i - 1].number);
	arena_release(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data + 1;
	struct pressure_half some, full;

	if (size == 0)
		return 0;
	switch (data[0] % 9) {
	case 0:
		pressure_parse(text, size - 1, &some, &full);
		break;
	case 1:
		parse_key_values(text, size - 1);
		break;
	case 2:
		parse_mounts(text, size - 1);
		break;
	case 3:
		place_path(text, size - 1);
		break;
	case 4:
		kernel_config_find(text, size - 1, "CONFIG_TASK_XACCT");
		break;
	case 5:
		require(text_hundredths((struct text){text, size - 1}) <= (uint64_t)UINT32_MAX * 100 + 99);
		break;
	case 6:
		parse_devices(devices_parse_cpus, text, size - 1);
		break;
	case 7:
		parse_devices(devices_parse_disks, text, size - 1);
		break;
	case 8:
		parse_devices(devices_parse_networks, text, size - 1);
		break;
	}
	return 0;
}
