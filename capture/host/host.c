/* SPDX-License-Identifier: GPL-2.0-only */
#include "host.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/capability.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/number.h"
#include "base/order.h"
#include "base/rights.h"
#include "capture/procfs/text_scan.h"
#include "devices.h"

enum {
	TUNABLE_SIZE_MAX = 64 << 10,
	CAPABILITIES_MAX = 64, /* that capget(2) can tell */
};

struct host_reader {
	const struct roots *roots;
	struct snapshot *snapshot;
	struct buffer text;
};

/* A whole file, trimmed, owned by the snapshot; NULL when it cannot be read or is empty. */
static const char *read_string(struct host_reader *reader, enum root_kind root, const char *path)
{
	const struct text text = roots_read_text(reader->roots, root, path, &reader->text);
	struct buffer escaped = {0};
	const char *copy;

	if (text.length == 0)
		return NULL;
	unicode_append_escaped(&escaped, text.data, text.length);
	copy = arena_duplicate(&reader->snapshot->arena, escaped.data, escaped.length);
	buffer_release(&escaped);
	return copy;
}

/* Model and vendor from the first block of cpuinfo, that of the first processor. */
static void read_cpuinfo(struct host_reader *reader, struct host *host)
{
	const struct {
		const char *key;
		const char **value;
	} keys[] = {{"model name", &host->cpu_model}, {"vendor_id", &host->cpu_vendor}};
	struct text rest, line, key, value;

	if (roots_read(reader->roots, ROOT_PROC, "cpuinfo", &reader->text) < 0)
		return;
	rest = text_of(&reader->text);
	while (text_next_line(&rest, &line) && text_trim(line).length != 0) {
		if (!text_split(line, ':', &key, &value))
			continue;
		value = text_trim(value);
		for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
			if (value.length != 0 && text_equals(key, keys[i].key))
				*keys[i].value = arena_duplicate(&reader->snapshot->arena, value.data,
								 value.length);
		}
	}
}

struct meminfo_key {
	const char *key;
	struct optional_u64 *value;
};

/* `Key: 123 kB`; a repeated key keeps its last good value. */
static void read_meminfo(struct host_reader *reader, const struct meminfo_key keys[], size_t count)
{
	struct text rest, line, key, value, word;
	uint64_t number;

	if (roots_read(reader->roots, ROOT_PROC, "meminfo", &reader->text) < 0)
		return;
	rest = text_of(&reader->text);
	while (text_next_line(&rest, &line)) {
		if (!text_split(line, ':', &key, &value) || !text_next_unicode_word(&value, &word) ||
		    !number_parse_u64(word.data, word.length, &number))
			continue;
		for (size_t i = 0; i < count; i++) {
			if (text_equals(key, keys[i].key))
				*keys[i].value = (struct optional_u64){number, true};
		}
	}
}

static void add_pair(struct snapshot *snapshot, struct text_pairs *pairs, struct text key, struct text value)
{
	/* doubled whenever the count is a power of two; the arena keeps the outgrown lists */
	if ((pairs->count & (pairs->count - 1)) == 0) {
		size_t capacity = pairs->count != 0 ? pairs->count * 2 : 1;
		struct text_pair *items = arena_allocate_zero(&snapshot->arena, capacity, sizeof(*items));

		if (pairs->count != 0)
			memcpy(items, pairs->items, pairs->count * sizeof(*items));
		pairs->items = items;
	}
	pairs->items[pairs->count++] = (struct text_pair){
		arena_duplicate(&snapshot->arena, key.data, key.length),
		arena_duplicate(&snapshot->arena, value.data, value.length),
	};
}

/* The regular files kernel.sched_*, without what is empty. */
static void read_sched_tunables(struct host_reader *reader, struct text_pairs *pairs)
{
	static const char prefix[] = "sched_";
	DIR *directory = file_open_directory(reader->roots->descriptor[ROOT_PROC], "sys/kernel");
	struct dirent *entry;

	if (directory == NULL)
		return;
	pairs->present = true;
	while ((entry = readdir(directory)) != NULL) {
		struct text name = {entry->d_name, strlen(entry->d_name)}, value;
		struct stat status;

		if (!text_starts_with(name, prefix) ||
		    fstatat(dirfd(directory), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) < 0 ||
		    !S_ISREG(status.st_mode) ||
		    file_read(dirfd(directory), entry->d_name, &reader->text, TUNABLE_SIZE_MAX) < 0)
			continue;
		value = text_trim(text_of(&reader->text));
		if (value.length != 0)
			add_pair(reader->snapshot, pairs, name, value);
	}
	closedir(directory);
	if (pairs->count != 0)
		qsort(pairs->items, pairs->count, sizeof(*pairs->items), order_by_text);
}

/* The ids of a list such as 0-3,8; false when an item is bad or an id comes twice. */
static bool parse_ids(struct text list, struct string_pool *pool, uint32_t *ret_id)
{
	size_t count = 0;
	const char *next = list.data, *end = list.data + list.length;

	if (!cpu_set_parse(pool, list.data, list.length, ret_id))
		return false;
	while (next < end) {
		const char *comma = memchr(next, ',', (size_t)(end - next));
		struct text item = {next, (size_t)((comma != NULL ? comma : end) - next)};
		uint32_t id;

		next += item.length + (comma != NULL);
		if (cpu_set_parse(pool, item.data, item.length, &id))
			count += cpu_set_count(pool, id);
	}
	return count == cpu_set_count(pool, *ret_id);
}

static bool read_ids(struct host_reader *reader, const char *path, struct string_pool *pool, uint32_t *ret_id)
{
	struct text list = roots_read_text(reader->roots, ROOT_SYS, path, &reader->text);

	return list.length != 0 && parse_ids(list, pool, ret_id);
}

static void read_governors(struct host_reader *reader, const struct string_pool *pool, uint32_t cpus,
			   struct text_pairs *pairs)
{
	for (size_t i = 0; i < cpu_set_count(pool, cpus); i++) {
		char path[96], key[16];
		struct text value;

		snprintf(key, sizeof(key), "%u", (unsigned int)cpu_set_cpus(pool, cpus)[i]);
		snprintf(path, sizeof(path), "devices/system/cpu/cpu%s/cpufreq/scaling_governor", key);
		value = roots_read_text(reader->roots, ROOT_SYS, path, &reader->text);
		if (value.length != 0)
			add_pair(reader->snapshot, pairs, (struct text){key, strlen(key)}, value);
	}
	pairs->present = pairs->count != 0;
}

/* Online CPUs, NUMA nodes (those that exist; 1 where the kernel tells none) and governors. */
static void read_topology(struct host_reader *reader, struct host *host)
{
	struct string_pool pool = {0};
	uint32_t cpus, nodes;

	if (read_ids(reader, "devices/system/cpu/online", &pool, &cpus)) {
		bool known = read_ids(reader, "devices/system/node/online", &pool, &nodes);

		host->online_cpus = (struct optional_u64){cpu_set_count(&pool, cpus), true};
		host->numa_nodes = (struct optional_u64){known ? cpu_set_count(&pool, nodes) : 1, true};
		read_governors(reader, &pool, cpus, &host->cpufreq_governor);
	}
	string_pool_release(&pool);
}

/* The kernel of this host, by uname(2). */
static bool read_kernel_names(const struct roots *roots, struct snapshot *snapshot)
{
	struct host *host = &snapshot->host;
	struct utsname name;

	if (!roots->is_procfs || uname(&name) != 0)
		return false;
	host->kernel_name = arena_duplicate(&snapshot->arena, name.sysname, strlen(name.sysname));
	host->kernel_release = arena_duplicate(&snapshot->arena, name.release, strlen(name.release));
	host->arch = arena_duplicate(&snapshot->arena, name.machine, strlen(name.machine));
	return true;
}

/* From the files for a saved host. */
static void read_kernel(struct host_reader *reader, struct host *host)
{
	host->kernel_cmdline = read_string(reader, ROOT_PROC, "cmdline");
	if (read_kernel_names(reader->roots, reader->snapshot))
		return;
	host->kernel_name = read_string(reader, ROOT_PROC, "sys/kernel/ostype");
	host->kernel_release = read_string(reader, ROOT_PROC, "sys/kernel/osrelease");
	host->arch = read_string(reader, ROOT_PROC, "sys/kernel/arch");
}

void host_tell_switches(const struct feature_checks *checks, struct host *host)
{
	static const char *const delayacct_names[] = {
		[TASK_DELAYACCT_UNKNOWN] = "config_off", /* the format has no value for unknown */
		[TASK_DELAYACCT_CONFIG_OFF] = "config_off",
		[TASK_DELAYACCT_RUNTIME_OFF] = "runtime_off",
		[TASK_DELAYACCT_ON] = "on",
	};
	static const char *const option_names[] = {
		[KERNEL_OPTION_UNKNOWN] = "unknown",
		[KERNEL_OPTION_OFF] = "off",
		[KERNEL_OPTION_ON] = "on",
	};

	host->task_delayacct = delayacct_names[checks->task_delayacct];
	host->config_task_xacct = option_names[checks->task_xacct];
}

void host_read(const struct roots *roots, const struct feature_checks *checks, struct snapshot *snapshot)
{
	struct host_reader reader = {.roots = roots, .snapshot = snapshot};
	struct host *host = &snapshot->host;
	const struct meminfo_key keys[] = {
		{"MemTotal", &host->total_memory_kib},
		{"HugePages_Total", &host->hugepages_total},
		{"HugePages_Free", &host->hugepages_free},
		{"Hugepagesize", &host->hugepages_size_kib},
	};

	*host = (struct host){.present = true};
	read_cpuinfo(&reader, host);
	read_meminfo(&reader, keys, sizeof(keys) / sizeof(keys[0]));
	host->thp_enabled = read_string(&reader, ROOT_SYS, "kernel/mm/transparent_hugepage/enabled");
	host->thp_defrag = read_string(&reader, ROOT_SYS, "kernel/mm/transparent_hugepage/defrag");
	read_sched_tunables(&reader, &host->sched_tunables);
	read_topology(&reader, host);
	read_kernel(&reader, host);
	host_tell_switches(checks, host);
	buffer_release(&reader.text);
}

/* Names without "cap_", in the order of their numbers. */
static void read_capabilities(struct snapshot *snapshot)
{
	struct provenance *provenance = &snapshot->provenance;
	const uint64_t effective = rights_effective();

	provenance->capabilities = arena_allocate_zero(&snapshot->arena, CAPABILITIES_MAX,
						       sizeof(*provenance->capabilities));
	for (cap_value_t i = 0; i < CAPABILITIES_MAX; i++) {
		char *name = (effective >> i & 1) != 0 ? cap_to_name(i) : NULL;

		if (name != NULL && strncmp(name, "cap_", 4) == 0)
			provenance->capabilities[provenance->capability_count++] = arena_duplicate(
				&snapshot->arena, name + 4, strlen(name + 4));
		cap_free(name);
	}
}

static void read_namespaces(const struct roots *roots, struct provenance *provenance)
{
	for (size_t i = 0; i < NAMESPACE_COUNT; i++) {
		char path[32];
		struct stat status;

		snprintf(path, sizeof(path), "self/ns/%s", namespace_names[i]);
		if (roots->is_procfs && fstatat(roots->descriptor[ROOT_PROC], path, &status, 0) == 0)
			provenance->namespaces[i] = status.st_ino;
	}
}

void host_read_provenance(const struct roots *roots, struct snapshot *snapshot)
{
	struct provenance *provenance = &snapshot->provenance;
	struct host_reader reader = {.roots = roots, .snapshot = snapshot};

	provenance->present = true;
	provenance->program = "ctop " CTOP_VERSION;
	provenance->boot_id = read_string(&reader, ROOT_PROC, "sys/kernel/random/boot_id");
	provenance->uid = (struct optional_u64){getuid(), true};
	read_capabilities(snapshot);
	read_namespaces(roots, provenance);
	for (size_t i = 0; i < ROOT_COUNT; i++) {
		if (roots->path[i] != NULL)
			provenance->roots[i] = arena_duplicate(&snapshot->arena, roots->path[i],
							       strlen(roots->path[i]));
	}
	buffer_release(&reader.text);
}

static void parse_cpu_ticks(struct text line, struct provenance *provenance)
{
	struct text word;

	for (size_t i = 0; i < CPU_TICK_KINDS; i++) {
		if (!text_next_word(&line, &word) ||
		    !number_parse_u64(word.data, word.length, &provenance->cpu_ticks[i]))
			return;
	}
	provenance->cpu_ticks_known = true;
	provenance->cpu_ticks_at_ns = clock_ns(CLOCK_BOOTTIME);
}

static void parse_stat(struct text rest, struct provenance *provenance)
{
	struct text line, word;

	while (text_next_line(&rest, &line)) {
		struct optional_u64 *number = NULL;

		if (!text_next_word(&line, &word))
			continue;
		if (text_equals(word, "cpu"))
			parse_cpu_ticks(line, provenance);
		else if (text_equals(word, "procs_running"))
			number = &provenance->procs_running;
		else if (text_equals(word, "procs_blocked"))
			number = &provenance->procs_blocked;
		else if (text_equals(word, "processes"))
			number = &provenance->forks;
		if (number != NULL && text_next_word(&line, &word))
			number->present = number_parse_u64(word.data, word.length, &number->value);
	}
}

static void parse_loadavg(struct text rest, struct provenance *provenance)
{
	struct text word;

	for (size_t i = 0; i < sizeof(provenance->load_centi) / sizeof(provenance->load_centi[0]); i++) {
		if (!text_next_word(&rest, &word))
			return;
		provenance->load_centi[i] = text_hundredths(word);
	}
	provenance->load_known = true;
}

bool host_count_threads(const struct roots *roots, struct buffer *buffer, uint64_t *ret_runnable,
			uint64_t *ret_all)
{
	struct text rest = roots_read_text(roots, ROOT_PROC, "loadavg", buffer), word = {NULL, 0}, running,
		    all;

	for (size_t i = 0; i < 4; i++) {
		if (!text_next_word(&rest, &word))
			return false;
	}
	return text_split(word, '/', &running, &all) &&
	       number_parse_u64(running.data, running.length, ret_runnable) &&
	       number_parse_u64(all.data, all.length, ret_all);
}

bool host_count_starts(const struct roots *roots, struct buffer *buffer, uint64_t *ret_starts)
{
	struct provenance found = {0};

	parse_stat(roots_read_text(roots, ROOT_PROC, "stat", buffer), &found);
	*ret_starts = found.forks.value;
	return found.forks.present;
}

void host_read_ticks(const struct roots *roots, struct snapshot *snapshot)
{
	struct buffer text = {0};

	if (roots_read(roots, ROOT_PROC, "stat", &text) == 0) {
		parse_stat(text_of(&text), &snapshot->provenance);
		devices_parse_cpus(text.data, text.length, &snapshot->arena, &snapshot->provenance.devices);
	}
	buffer_release(&text);
}

/* One above the highest of some CPUs, in ascending order. */
static uint32_t cpu_end(const struct string_pool *pool, uint32_t cpus)
{
	const uint32_t highest = cpu_set_cpus(pool, cpus)[cpu_set_count(pool, cpus) - 1];

	return highest < DEVICES_CPUS_MAX ? highest + 1 : 0;
}

void host_read_load(const struct roots *roots, struct snapshot *snapshot)
{
	struct host_reader reader = {.roots = roots, .snapshot = snapshot};
	struct provenance *provenance = &snapshot->provenance;
	const struct meminfo_key keys[] = {
		{"MemAvailable", &provenance->mem_available_kib},
		{"MemTotal", &snapshot->host.total_memory_kib},
	};
	struct string_pool pool = {0};
	uint32_t cpus;

	provenance->hostname = read_string(&reader, ROOT_PROC, "sys/kernel/hostname");
	if (roots_read(roots, ROOT_PROC, "loadavg", &reader.text) == 0)
		parse_loadavg(text_of(&reader.text), provenance);
	read_meminfo(&reader, keys, sizeof(keys) / sizeof(keys[0]));
	if (read_ids(&reader, "devices/system/cpu/online", &pool, &cpus))
		snapshot->host.online_cpus = (struct optional_u64){cpu_set_count(&pool, cpus), true};
	if (read_ids(&reader, "devices/system/cpu/present", &pool, &cpus) && cpu_set_count(&pool, cpus) != 0)
		provenance->devices.cpu_end = cpu_end(&pool, cpus);
	devices_read(roots, snapshot);
	if (snapshot->host.kernel_release == NULL)
		(void)read_kernel_names(roots, snapshot);
	string_pool_release(&pool);
	buffer_release(&reader.text);
}

/* --- pressure --- */

static uint16_t parse_average(struct text value)
{
	uint64_t centi = text_hundredths(value);

	return centi > UINT16_MAX ? UINT16_MAX : (uint16_t)centi;
}

static void set_member(struct pressure_half *half, struct text key, struct text value)
{
	if (text_equals(key, "avg10"))
		half->avg10 = parse_average(value);
	else if (text_equals(key, "avg60"))
		half->avg60 = parse_average(value);
	else if (text_equals(key, "avg300"))
		half->avg300 = parse_average(value);
	else if (text_equals(key, "total") && !number_parse_u64(value.data, value.length, &half->total_usec))
		half->total_usec = 0;
}

bool pressure_parse(const char *text, size_t length, struct pressure_half *ret_some,
		    struct pressure_half *ret_full)
{
	struct text rest = {text, length}, line, word, key, value;
	bool any = false;

	*ret_some = (struct pressure_half){0};
	*ret_full = (struct pressure_half){0};
	while (text_next_line(&rest, &line)) {
		struct pressure_half *half = NULL;

		if (!text_next_unicode_word(&line, &word))
			continue;
		if (text_equals(word, "some"))
			half = ret_some;
		else if (text_equals(word, "full"))
			half = ret_full;
		if (half == NULL)
			continue;
		any = true;
		while (text_next_unicode_word(&line, &word)) {
			if (text_split(word, '=', &key, &value))
				set_member(half, key, value);
		}
	}
	return any;
}

void pressure_read(const struct roots *roots, enum reason unavailable, struct snapshot *snapshot)
{
	struct buffer buffer = {0};
	char path[32];

	for (size_t i = 0; i < PRESSURE_RESOURCE_COUNT; i++) {
		struct pressure_half *some = &snapshot->pressure.resource[i].some;
		struct pressure_half *full = &snapshot->pressure.resource[i].full;
		enum reason reason = unavailable;
		int result;

		if (unavailable == REASON_READ) {
			snprintf(path, sizeof(path), "pressure/%s", pressure_resource_names[i]);
			result = roots_read(roots, ROOT_PROC, path, &buffer);
			if (result < 0)
				reason = roots_reason(roots, ROOT_PROC, result);
			else if (!pressure_parse(buffer.data, buffer.length, some, full))
				reason = REASON_BAD_VALUE;
		}
		snapshot->pressure_missing[i] = (reason_id)reason;
	}
	buffer_release(&buffer);
}

/* --- sched_ext --- */

static uint64_t read_sys_number(const struct roots *roots, const char *path, struct buffer *buffer)
{
	struct text text = roots_read_text(roots, ROOT_SYS, path, buffer);
	uint64_t number;

	return number_parse_u64(text.data, text.length, &number) ? number : 0;
}

void sched_ext_read(const struct roots *roots, struct snapshot *snapshot)
{
	struct sched_ext *sched_ext = &snapshot->sched_ext;
	struct buffer buffer = {0};
	struct text state;
	int found;

	*sched_ext = (struct sched_ext){0};
	found = roots_find(roots, ROOT_SYS, "kernel/sched_ext/.");
	if (found == -ENOENT || found == -ENOTDIR)
		return;
	sched_ext->present = true;
	state = roots_read_text(roots, ROOT_SYS, "kernel/sched_ext/state", &buffer);
	sched_ext->state = arena_duplicate(&snapshot->arena, state.data, state.length);
	sched_ext->switch_all = read_sys_number(roots, "kernel/sched_ext/switch_all", &buffer);
	sched_ext->nr_rejected = read_sys_number(roots, "kernel/sched_ext/nr_rejected", &buffer);
	sched_ext->hotplug_seq = read_sys_number(roots, "kernel/sched_ext/hotplug_seq", &buffer);
	sched_ext->enable_seq = read_sys_number(roots, "kernel/sched_ext/enable_seq", &buffer);
	buffer_release(&buffer);
}
