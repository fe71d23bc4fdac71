/* SPDX-License-Identifier: GPL-2.0-only */
#include "devices.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/number.h"
#include "capture/procfs/text_scan.h"

enum {
	SECTOR_BYTES = 512, /* of diskstats, whatever the disk has */
	CPU_KINDS = 8, /* user nice system idle iowait irq softirq steal; guest times are in user and nice */
	CPU_IDLE = 3,
	CPU_IOWAIT = 4,
	NAME_MAX_BYTES = 64, /* of a device; the kernel's are at most 32 */
	/* behind major, minor and name */
	DISK_SECTORS_READ = 2,
	DISK_SECTORS_WRITTEN = 6,
	DISK_BUSY_MS = 9,
	DISK_FIELDS,
	NETWORK_RECEIVED = 0,
	NETWORK_SENT = 8,
	NETWORK_FIELDS,
};

/* Lists that grow, then go to the arena. */
struct device_list {
	struct device *items;
	size_t count, capacity;
};

static bool parse_numbers(struct text line, uint64_t numbers[], size_t count)
{
	struct text word;

	for (size_t i = 0; i < count; i++) {
		if (!text_next_word(&line, &word) || !number_parse_u64(word.data, word.length, &numbers[i]))
			return false;
	}
	return true;
}

static void *keep(struct arena *arena, void *items, size_t size)
{
	void *kept = size != 0 ? arena_allocate(arena, size) : NULL;

	if (kept != NULL)
		memcpy(kept, items, size);
	free(items);
	return kept;
}

/* --- CPUs --- */

static bool parse_cpu(struct text word, struct text line, struct cpu_ticks *ret_cpu)
{
	static const char prefix[] = "cpu";
	uint64_t numbers[CPU_KINDS], number;

	if (!text_starts_with(word, prefix) || word.length == strlen(prefix) ||
	    !number_parse_u64(word.data + strlen(prefix), word.length - strlen(prefix), &number) ||
	    number >= DEVICES_CPUS_MAX || !parse_numbers(line, numbers, CPU_KINDS))
		return false;
	*ret_cpu = (struct cpu_ticks){.number = (uint32_t)number};
	for (size_t i = 0; i < CPU_KINDS; i++)
		ret_cpu->all = number_add_saturating(ret_cpu->all, numbers[i]);
	ret_cpu->idle = number_add_saturating(numbers[CPU_IDLE], numbers[CPU_IOWAIT]);
	return true;
}

void devices_parse_cpus(const char *text, size_t length, struct arena *arena, struct devices *ret_devices)
{
	struct text rest = {text, length}, line, word;
	struct cpu_ticks *cpus = NULL, cpu;
	size_t count = 0, capacity = 0;

	while (text_next_line(&rest, &line)) {
		if (!text_next_word(&line, &word) || !parse_cpu(word, line, &cpu) ||
		    (count != 0 && cpu.number <= cpus[count - 1].number))
			continue;
		*MEMORY_APPEND(cpus, count, capacity) = cpu;
	}
	ret_devices->cpu_count = count;
	ret_devices->cpus = keep(arena, cpus, count * sizeof(*cpus));
}

/* --- disks and networks --- */

static void add_device(struct device_list *list, struct arena *arena, struct text name, uint64_t busy_ms,
		       uint64_t read_bytes, uint64_t write_bytes)
{
	struct buffer escaped = {0};

	if (list->count == DEVICES_MAX || name.length == 0 || name.length > NAME_MAX_BYTES ||
	    memchr(name.data, '\0', name.length) != NULL)
		return;
	unicode_append_escaped(&escaped, name.data, name.length);
	*MEMORY_APPEND(list->items, list->count, list->capacity) = (struct device){
		arena_duplicate(arena, escaped.data, escaped.length), busy_ms, read_bytes, write_bytes};
	buffer_release(&escaped);
}

/*
 * Whether a name is that of a partition of a disk, which stands before it: `sda1` of `sda`, and after a digit
 * with a p, `nvme0n1p1` of `nvme0n1` (disk_name() of block/genhd.c).
 */
static bool is_partition(struct text name, const char *disk)
{
	const size_t length = strlen(disk);
	size_t i = length;

	if (name.length <= length || memcmp(name.data, disk, length) != 0)
		return false;
	if (disk[length - 1] >= '0' && disk[length - 1] <= '9' && name.data[i++] != 'p')
		return false;
	if (i == name.length)
		return false;
	while (i < name.length && name.data[i] >= '0' && name.data[i] <= '9')
		i++;
	return i == name.length;
}

/* The partitions of a disk follow it. */
static bool is_whole_disk(struct text name, const struct device_list *disks)
{
	static const char *const others[] = {"loop", "ram", "zram", "dm-"};

	for (size_t i = 0; i < ARRAY_COUNT(others); i++) {
		if (text_starts_with(name, others[i]))
			return false;
	}
	return disks->count == 0 || !is_partition(name, disks->items[disks->count - 1].name);
}

static uint64_t bytes_of(uint64_t sectors)
{
	return sectors <= UINT64_MAX / SECTOR_BYTES ? sectors * SECTOR_BYTES : UINT64_MAX;
}

void devices_parse_disks(const char *text, size_t length, struct arena *arena, struct devices *ret_devices)
{
	struct text rest = {text, length}, line, word, name;
	struct device_list disks = {0};
	uint64_t numbers[DISK_FIELDS];

	while (text_next_line(&rest, &line)) {
		if (!text_next_word(&line, &word) || !text_next_word(&line, &word) ||
		    !text_next_word(&line, &name) || !is_whole_disk(name, &disks) ||
		    !parse_numbers(line, numbers, DISK_FIELDS))
			continue;
		add_device(&disks, arena, name, numbers[DISK_BUSY_MS], bytes_of(numbers[DISK_SECTORS_READ]),
			   bytes_of(numbers[DISK_SECTORS_WRITTEN]));
	}
	ret_devices->disk_count = disks.count;
	ret_devices->disks = keep(arena, disks.items, disks.count * sizeof(*disks.items));
}

void devices_parse_networks(const char *text, size_t length, struct arena *arena, struct devices *ret_devices)
{
	struct text rest = {text, length}, line, name, values;
	struct device_list networks = {0};
	uint64_t numbers[NETWORK_FIELDS];

	while (text_next_line(&rest, &line)) {
		if (!text_split(line, ':', &name, &values) || !parse_numbers(values, numbers, NETWORK_FIELDS))
			continue;
		name = text_trim(name);
		if (!text_equals(name, "lo"))
			add_device(&networks, arena, name, 0, numbers[NETWORK_RECEIVED],
				   numbers[NETWORK_SENT]);
	}
	ret_devices->network_count = networks.count;
	ret_devices->networks = keep(arena, networks.items, networks.count * sizeof(*networks.items));
}

void devices_read(const struct roots *roots, struct snapshot *snapshot)
{
	struct devices *devices = &snapshot->provenance.devices;
	struct buffer text = {0};

	if (roots_read(roots, ROOT_PROC, "diskstats", &text) == 0)
		devices_parse_disks(text.data, text.length, &snapshot->arena, devices);
	if (roots_read(roots, ROOT_PROC, "net/dev", &text) == 0)
		devices_parse_networks(text.data, text.length, &snapshot->arena, devices);
	devices->read_at_ns = clock_ns(CLOCK_BOOTTIME);
	buffer_release(&text);
}
