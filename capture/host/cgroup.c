/* SPDX-License-Identifier: GPL-2.0-only */
#include "cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/number.h"
#include "capture/procfs/procfs.h"
#include "host.h"
#include "capture/procfs/text_scan.h"

enum {
	FILE_SIZE_MAX = 1 << 20,
	DEFAULT_PERIOD_US = 100000,
};

struct walk {
	const struct roots *roots;
	struct snapshot *snapshot;
	const uint32_t *limits_of; /* for cgroup_read_limits(); NULL: all of every cgroup is read */
	struct buffer controllers; /* cgroup.controllers of the hierarchy's visible root */
	bool controllers_known;
	struct buffer kernel_controllers; /* PROC/cgroups */
	struct buffer own_controllers;    /* cgroup.controllers of the current cgroup */
	struct buffer text;
};

/* Parses one file into a record; false when the text makes no sense. */
typedef bool parse_file(struct walk *walk, struct cgroup_record *record, size_t offset);

struct cgroup_file_entry {
	parse_file *parse;
	size_t offset;
	const char *controller; /* that creates the file; NULL for the core's */
};

static struct text trimmed(const struct walk *walk)
{
	return text_trim(text_of(&walk->text));
}

static bool parse_cpu_stat(struct walk *walk, struct cgroup_record *record, size_t offset)
{
	const struct {
		const char *key;
		uint64_t *value;
	} keys[] = {
		{"usage_usec", &record->usage_usec},
		{"nr_throttled", &record->nr_throttled},
		{"throttled_usec", &record->throttled_usec},
	};
	struct text rest = text_of(&walk->text), line, key, value;
	bool has_throttling = false;

	(void)offset;
	while (text_next_line(&rest, &line)) {
		if (!text_next_word(&line, &key) || !text_next_word(&line, &value))
			continue;
		for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
			if (!text_equals(key, keys[i].key))
				continue;
			if (!number_parse_u64(value.data, value.length, keys[i].value))
				*keys[i].value = 0;
			has_throttling |= keys[i].value != &record->usage_usec;
		}
	}
	/* a cgroup without the controller is not throttled; where v2 has none at all, v1 may do it */
	if (!has_throttling && walk->controllers_known && !text_has_word(text_of(&walk->controllers), "cpu"))
		record->missing[CGROUP_FILE_CPU_THROTTLING] = (reason_id)roots_controller_reason(
			walk->roots, text_of(&walk->kernel_controllers), "cpu");
	return walk->text.length != 0;
}

static bool parse_cpu_max(struct walk *walk, struct cgroup_record *record, size_t offset)
{
	struct text rest = text_of(&walk->text), quota = {NULL, 0}, period = {NULL, 0};
	bool good;

	(void)offset;
	good = text_next_word(&rest, &quota);
	record->max_quota_us.present = good && number_parse_u64(quota.data, quota.length,
								&record->max_quota_us.value);
	if (!text_next_word(&rest, &period) ||
	    !number_parse_u64(period.data, period.length, &record->max_period_us))
		record->max_period_us = DEFAULT_PERIOD_US;
	return good && (record->max_quota_us.present || text_equals(quota, "max"));
}

static bool parse_u64(struct walk *walk, struct cgroup_record *record, size_t offset)
{
	struct text text = trimmed(walk);

	return number_parse_u64(text.data, text.length, (uint64_t *)((char *)record + offset));
}

static bool parse_i32(struct walk *walk, struct cgroup_record *record, size_t offset)
{
	struct optional_i32 *value = (struct optional_i32 *)((char *)record + offset);
	struct text text = trimmed(walk);

	value->present = number_parse_i32(text.data, text.length, &value->value);
	return value->present;
}

/* A limit: `max` means none. */
static bool parse_limit(struct walk *walk, struct cgroup_record *record, size_t offset)
{
	struct optional_u64 *value = (struct optional_u64 *)((char *)record + offset);
	struct text text = trimmed(walk);

	value->present = number_parse_u64(text.data, text.length, &value->value);
	return value->present || text_equals(text, "max");
}

/* A protection: `max` means everything. */
static bool parse_floor(struct walk *walk, struct cgroup_record *record, size_t offset)
{
	struct optional_u64 *value = (struct optional_u64 *)((char *)record + offset);
	bool good = parse_limit(walk, record, offset);

	if (good && !value->present)
		*value = (struct optional_u64){UINT64_MAX, true};
	return good;
}

static bool parse_key_values(struct walk *walk, struct cgroup_record *record, size_t offset)
{
	procfs_parse_keys(walk->text.data, walk->text.length, PROCFS_KEYS_FLAT, &walk->snapshot->strings,
			  &walk->snapshot->arena, (struct key_values *)((char *)record + offset));
	return walk->text.length != 0;
}

/* Adds the number behind `key` if the word begins with it; false for a key without a number. */
static bool add_bytes(struct text word, const char *key, uint64_t *sum)
{
	const size_t length = strlen(key);
	uint64_t value;

	if (word.length < length || memcmp(word.data, key, length) != 0)
		return true;
	if (!number_parse_u64(word.data + length, word.length - length, &value))
		return false;
	*sum = number_add_saturating(*sum, value);
	return true;
}

/* "8:16 rbytes=1459200 wbytes=0 rios=192 …", a line for each device (cgroup-v2.rst, io.stat). */
static bool parse_io_stat(struct walk *walk, struct cgroup_record *record, size_t offset)
{
	struct text rest = text_of(&walk->text), line, word;
	uint64_t read = 0, written = 0;

	(void)offset;
	while (text_next_line(&rest, &line)) {
		if (!text_next_word(&line, &word))
			continue;
		while (text_next_word(&line, &word)) {
			if (!add_bytes(word, "rbytes=", &read) || !add_bytes(word, "wbytes=", &written))
				return false;
		}
	}
	record->io_read = (struct optional_u64){.value = read, .present = true};
	record->io_written = (struct optional_u64){.value = written, .present = true};
	return true;
}

static bool parse_pressure(struct walk *walk, struct cgroup_record *record, size_t offset)
{
	size_t resource = offset;

	return pressure_parse(walk->text.data, walk->text.length, &record->pressure.resource[resource].some,
			      &record->pressure.resource[resource].full);
}

#define AT(name) offsetof(struct cgroup_record, name)
static const struct cgroup_file_entry files[CGROUP_FILE_COUNT] = {
	[CGROUP_FILE_CPU_STAT] = {parse_cpu_stat, 0, NULL},
	[CGROUP_FILE_CPU_MAX] = {parse_cpu_max, 0, "cpu"},
	[CGROUP_FILE_CPU_WEIGHT] = {parse_limit, AT(weight), "cpu"},
	[CGROUP_FILE_CPU_WEIGHT_NICE] = {parse_i32, AT(weight_nice), "cpu"},
	[CGROUP_FILE_MEMORY_CURRENT] = {parse_u64, AT(memory_current), "memory"},
	[CGROUP_FILE_MEMORY_MAX] = {parse_limit, AT(memory_max), "memory"},
	[CGROUP_FILE_MEMORY_HIGH] = {parse_limit, AT(memory_high), "memory"},
	[CGROUP_FILE_MEMORY_LOW] = {parse_floor, AT(memory_low), "memory"},
	[CGROUP_FILE_MEMORY_MIN] = {parse_floor, AT(memory_min), "memory"},
	[CGROUP_FILE_MEMORY_STAT] = {parse_key_values, AT(memory_stat), "memory"},
	[CGROUP_FILE_MEMORY_EVENTS] = {parse_key_values, AT(memory_events), "memory"},
	[CGROUP_FILE_PIDS_CURRENT] = {parse_limit, AT(pids_current), "pids"},
	[CGROUP_FILE_PIDS_MAX] = {parse_limit, AT(pids_max), "pids"},
	[CGROUP_FILE_CPU_PRESSURE] = {parse_pressure, PRESSURE_CPU, NULL},
	[CGROUP_FILE_MEMORY_PRESSURE] = {parse_pressure, PRESSURE_MEMORY, NULL},
	[CGROUP_FILE_IO_PRESSURE] = {parse_pressure, PRESSURE_IO, NULL},
	[CGROUP_FILE_IRQ_PRESSURE] = {parse_pressure, PRESSURE_IRQ, NULL},
	[CGROUP_FILE_IO_STAT] = {parse_io_stat, 0, "io"},
	[CGROUP_FILE_CPU_THROTTLING] = {NULL, 0, "cpu"}, /* cpu.stat has it */
};
#undef AT

/* Why a file that the kernel could print is not there. */
static enum reason absence(const struct walk *walk, const struct cgroup_file_entry *entry)
{
	if (entry->parse == parse_pressure) {
		enum reason host = (enum reason)walk->snapshot->pressure_missing[entry->offset];

		/* the host has it: cgroup.pressure of this cgroup is 0 */
		return host != REASON_READ ? host : REASON_SWITCHED_OFF;
	}
	if (entry->controller != NULL && !text_has_word(text_of(&walk->own_controllers), entry->controller) &&
	    text_has_word(text_of(&walk->controllers), entry->controller))
		return REASON_SWITCHED_OFF;
	/* the root cgroup has no limit files, whatever its controllers */
	if (entry->controller != NULL && !text_has_word(text_of(&walk->controllers), entry->controller))
		return roots_controller_reason(walk->roots, text_of(&walk->kernel_controllers),
					       entry->controller);
	return REASON_NOT_IN_KERNEL;
}

static void read_files(struct walk *walk, int directory, struct cgroup_record *record)
{
	if (file_read(directory, "cgroup.controllers", &walk->own_controllers, FILE_SIZE_MAX) < 0)
		buffer_clear(&walk->own_controllers);
	record->read_at = (struct optional_u64){.value = clock_ns(CLOCK_BOOTTIME), .present = true};
	for (size_t i = 0; i < CGROUP_FILE_COUNT; i++) {
		enum reason reason = REASON_READ;
		int result;

		if (files[i].parse == NULL)
			continue;
		if (walk->limits_of != NULL && i != CGROUP_FILE_CPU_STAT && i != CGROUP_FILE_CPU_MAX) {
			record->missing[i] = REASON_NOT_READ;
			continue;
		}
		result = file_read(directory, cgroup_file_names[i], &walk->text, FILE_SIZE_MAX);
		if (result == -ENOENT)
			reason = absence(walk, &files[i]);
		else if (result < 0)
			reason = reason_of_errno(result);
		else if (!files[i].parse(walk, record, files[i].offset))
			reason = REASON_BAD_VALUE;
		record->missing[i] = (reason_id)reason;
	}
	if (record->missing[CGROUP_FILE_CPU_STAT] != REASON_READ)
		record->missing[CGROUP_FILE_CPU_THROTTLING] = record->missing[CGROUP_FILE_CPU_STAT];
}

/*
 * Notes which cgroup it is, and since when it is known to be there. No inode number is used again: its upper
 * half counts how often the lower one came round (__kernfs_new_node() of fs/kernfs/dir.c). The kernel keeps
 * no time of its making. It sets the times of the directory when somebody looks it up first
 * (kernfs_init_inode() of fs/kernfs/inode.c), before a thread can be moved there; some of them change later.
 */
static void note_directory(int directory, struct cgroup_record *record)
{
	struct stat status;
	uint64_t earliest;

	if (fstat(directory, &status) != 0)
		return;
	earliest = clock_timespec_ns(status.st_ctim);
	if (clock_timespec_ns(status.st_mtim) < earliest)
		earliest = clock_timespec_ns(status.st_mtim);
	if (clock_timespec_ns(status.st_atim) < earliest)
		earliest = clock_timespec_ns(status.st_atim);
	record->id = (struct optional_u64){.value = status.st_ino, .present = true};
	record->there_since = (struct optional_u64){.value = earliest, .present = true};
}

static void set_missing(struct cgroup_record *record, enum reason reason)
{
	for (size_t i = 0; i < CGROUP_FILE_COUNT; i++)
		record->missing[i] = (reason_id)reason;
}

/* Whether `path` starts with whole components `prefix`, which ends without a slash. */
static bool starts_with_components(struct text path, struct text prefix)
{
	return path.length >= prefix.length &&
	       (prefix.length == 0 || memcmp(path.data, prefix.data, prefix.length) == 0) &&
	       (path.length == prefix.length || path.data[prefix.length] == '/');
}

bool cgroup_path_below_mount(const char *path, size_t length, const char *mount_root, const char **ret_rest,
			     size_t *ret_length)
{
	struct text prefix = {mount_root, strlen(mount_root)};

	while (prefix.length != 0 && prefix.data[prefix.length - 1] == '/')
		prefix.length--;
	if (!starts_with_components((struct text){path, length}, prefix))
		return false;
	*ret_rest = path + prefix.length;
	*ret_length = length - prefix.length;
	return true;
}

/* Appends a path and decodes the escapes of its non-ASCII bytes. */
static void append_bytes(struct buffer *bytes, const char *path, size_t length)
{
	unsigned char byte;

	while (length != 0) {
		const size_t used = unicode_decode_escape(path, length, &byte);
		const size_t step = used != 0 && byte >= 0x80 ? used : 1;

		buffer_append_char(bytes, step != 1 ? (char)byte : *path);
		path += step;
		length -= step;
	}
}

static int open_below(int mount, const char *mount_root, const char *path, size_t length, int flags)
{
	struct buffer bytes = {0};
	const char *below;
	size_t below_length;
	int directory;

	if (mount < 0)
		return -EBADF;
	if (!cgroup_path_below_mount(path, length, mount_root, &below, &below_length))
		return -EXDEV;
	directory = root_open_beneath(mount, below, below_length, flags);
	if (directory != -ENOENT)
		return directory;
	append_bytes(&bytes, below, below_length);
	if (bytes.length != below_length)
		directory = root_open_beneath(mount, bytes.data, bytes.length, flags);
	buffer_release(&bytes);
	return directory;
}

int cgroup_open(const struct roots *roots, const char *path, size_t length, int flags)
{
	return open_below(roots->descriptor[ROOT_CGROUP], roots->cgroup_mount_root, path, length, flags);
}

int cgroup_open_v1(const struct roots *roots, enum cgroup_v1 hierarchy, const char *path, size_t length,
		   int flags)
{
	return open_below(roots->v1[hierarchy].descriptor, roots->v1[hierarchy].mount_root, path, length,
			  flags);
}

/* Reads a file of a cgroup and closes `directory`. Returns false if the directory or the file is missing. */
static bool read_file_of(int directory, const char *name, struct buffer *text)
{
	const bool read = directory >= 0 && file_read(directory, name, text, FILE_SIZE_MAX) == 0;

	if (directory >= 0)
		close(directory);
	return read;
}

bool cgroup_is_frozen(const struct roots *roots, const char *path, size_t length)
{
	struct buffer text = {0};
	struct text rest, line, key, value;
	bool frozen = false;

	if (length > 1 &&
	    read_file_of(cgroup_open(roots, path, length, O_PATH | O_DIRECTORY), "cgroup.events", &text)) {
		rest = text_of(&text);
		while (!frozen && text_next_line(&rest, &line))
			frozen = text_next_word(&line, &key) && text_equals(key, "frozen") &&
				 text_next_word(&line, &value) && text_equals(value, "1");
	}
	buffer_release(&text);
	return frozen;
}

bool cgroup_freezer_is_frozen(const struct roots *roots, const char *path)
{
	struct buffer text = {0};
	const int directory = cgroup_open_v1(roots, CGROUP_V1_FREEZER, path, strlen(path),
					     O_PATH | O_DIRECTORY);
	const bool frozen = read_file_of(directory, "freezer.state", &text) &&
			    text_equals(text_trim(text_of(&text)), "FROZEN");

	buffer_release(&text);
	return frozen;
}

static void read_record(struct walk *walk, struct cgroup_record *record)
{
	const struct string_pool *strings = &walk->snapshot->strings;
	int directory;

	if (walk->roots->cgroup_reason != REASON_READ) {
		set_missing(record, walk->roots->cgroup_reason);
		return;
	}
	directory = cgroup_open(walk->roots, string_pool_text(strings, record->path),
				string_pool_length(strings, record->path), O_RDONLY | O_DIRECTORY);
	if (directory >= 0) {
		note_directory(directory, record);
		read_files(walk, directory, record);
		close(directory);
	} else {
		/* a v1 cgroup, or a removed one: the kernel appends " (deleted)" to its path */
		set_missing(record,
			    directory == -ENOENT && walk->controllers_known && walk->controllers.length == 0
				    ? REASON_SWITCHED_OFF
				    : reason_of_errno(directory));
	}
}

static bool is_wanted(const struct walk *walk, uint32_t path)
{
	for (size_t i = 0; walk->limits_of != NULL && i < CGROUP_LIMITS_MAX; i++) {
		if (walk->limits_of[i] == path)
			return true;
	}
	return walk->limits_of == NULL;
}

static void read_cgroups(const struct roots *roots, const uint32_t *limits_of,
			 cgroup_over_budget *over_budget, void *context, struct snapshot *snapshot)
{
	struct walk walk = {.roots = roots, .snapshot = snapshot, .limits_of = limits_of};
	size_t string_count = snapshot->strings.count;
	bool *seen, over = false;

	if (string_count == 0)
		return;
	seen = memory_allocate_zero(string_count, sizeof(*seen));
	walk.controllers_known = roots_read(roots, ROOT_CGROUP, "cgroup.controllers", &walk.controllers) >= 0;
	if (!walk.controllers_known)
		buffer_clear(&walk.controllers);
	if (roots_read(roots, ROOT_PROC, "cgroups", &walk.kernel_controllers) < 0)
		buffer_clear(&walk.kernel_controllers);
	for (size_t i = 0; i < snapshot->thread_count; i++) {
		uint32_t path = snapshot->triples[snapshot->triple[i]].cgroup;
		struct cgroup_record *record;

		if (path == 0 || seen[path])
			continue;
		seen[path] = true;
		if (!is_wanted(&walk, path))
			continue;
		over = over || (over_budget != NULL && over_budget(context));
		record = snapshot_add_cgroup(snapshot, path);
		if (over)
			set_missing(record, REASON_OVER_BUDGET);
		else
			read_record(&walk, record);
	}
	buffer_release(&walk.controllers);
	buffer_release(&walk.own_controllers);
	buffer_release(&walk.kernel_controllers);
	buffer_release(&walk.text);
	free(seen);
}

void cgroup_read_records(const struct roots *roots, cgroup_over_budget *over_budget, void *context,
			 struct snapshot *snapshot)
{
	read_cgroups(roots, NULL, over_budget, context, snapshot);
}

void cgroup_read_limits(const struct roots *roots, const uint32_t cgroups[static CGROUP_LIMITS_MAX],
			struct snapshot *snapshot)
{
	read_cgroups(roots, cgroups, NULL, NULL, snapshot);
}

const char *cgroup_paths_find(const struct cgroup_paths *known, uint64_t id)
{
	uint32_t path;

	return hash_map_get(&known->of, id, &path) ? string_pool_text(&known->paths, path) : NULL;
}

const char *cgroup_paths_add(struct cgroup_paths *known, uint64_t id, const char *path, size_t length)
{
	if (known->of.count >= CGROUP_PATHS_MAX)
		cgroup_paths_release(known);
	hash_map_set(&known->of, id, snapshot_intern_name(&known->paths, path, length));
	return cgroup_paths_find(known, id);
}

void cgroup_paths_release(struct cgroup_paths *known)
{
	string_pool_release(&known->paths);
	hash_map_release(&known->of);
}
