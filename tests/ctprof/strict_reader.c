/* SPDX-License-Identifier: GPL-2.0-only */
#include "strict_reader.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <yajl/yajl_tree.h>
#include <zstd.h>

#include "base/memory.h"
#include "base/unicode.h"
#include "cmocka_include.h"

/*
 * "name:type", in written order. Types: u64 u32 u16 i32 bool text char cpus map (of u64) texts (map of
 * strings);
 * '?' behind a type allows null and a missing member, '-' only a missing one; a name in braces is an object.
 */
static const char thread_members[] =
	"tid:u32 tgid:u32 pcomm:text comm:text cgroup:text start_time_clock_ticks:u64 policy:text nice:i32 "
	"cpu_affinity:cpus processor:i32 state:char- ext_enabled:bool run_time_ns:u64 wait_time_ns:u64 "
	"timeslices:u64 voluntary_csw:u64 nonvoluntary_csw:u64 nr_wakeups:u64 nr_wakeups_local:u64 "
	"nr_wakeups_remote:u64 nr_wakeups_sync:u64 nr_wakeups_migrate:u64 nr_wakeups_affine:u64 "
	"nr_wakeups_affine_attempts:u64 nr_migrations:u64 nr_forced_migrations:u64 "
	"nr_failed_migrations_affine:u64 nr_failed_migrations_running:u64 nr_failed_migrations_hot:u64 "
	"wait_sum:u64 wait_count:u64 wait_max:u64 voluntary_sleep_ns:u64 sleep_max:u64 block_sum:u64 "
	"block_max:u64 iowait_sum:u64 iowait_count:u64 exec_max:u64 slice_max:u64 allocated_bytes:u64 "
	"deallocated_bytes:u64 minflt:u64 majflt:u64 utime_clock_ticks:u64 stime_clock_ticks:u64 "
	"priority:i32 "
	"rt_priority:u32 core_forceidle_sum:u64 fair_slice_ns:u64 nr_threads:u64 smaps_rollup_kib:map "
	"rchar:u64 "
	"wchar:u64 syscr:u64 syscw:u64 read_bytes:u64 write_bytes:u64 cancelled_write_bytes:u64 "
	"cpu_delay_count:u64 cpu_delay_total_ns:u64 cpu_delay_max_ns:u64 cpu_delay_min_ns:u64 "
	"blkio_delay_count:u64 blkio_delay_total_ns:u64 blkio_delay_max_ns:u64 blkio_delay_min_ns:u64 "
	"swapin_delay_count:u64 swapin_delay_total_ns:u64 swapin_delay_max_ns:u64 swapin_delay_min_ns:u64 "
	"freepages_delay_count:u64 freepages_delay_total_ns:u64 freepages_delay_max_ns:u64 "
	"freepages_delay_min_ns:u64 thrashing_delay_count:u64 thrashing_delay_total_ns:u64 "
	"thrashing_delay_max_ns:u64 thrashing_delay_min_ns:u64 compact_delay_count:u64 "
	"compact_delay_total_ns:u64 compact_delay_max_ns:u64 compact_delay_min_ns:u64 wpcopy_delay_count:u64 "
	"wpcopy_delay_total_ns:u64 wpcopy_delay_max_ns:u64 wpcopy_delay_min_ns:u64 irq_delay_count:u64 "
	"irq_delay_total_ns:u64 irq_delay_max_ns:u64 irq_delay_min_ns:u64 hiwater_rss_bytes:u64 "
	"hiwater_vm_bytes:u64 taskstats_measured:bool cpu_delay_active:bool delay_block_active:bool "
	"xacct_active:bool jemalloc_measured:bool";

/* Objects by their names; what stands behind {name} in another list. */
static const struct {
	const char *name;
	const char *members;
} objects[] = {
	{"snapshot", "captured_at_unix_ns:u64 host:{host}? threads:threads cgroup_stats:cgroups "
		     "probe_summary:{probe_summary}? parse_summary:{parse_summary}? "
		     "taskstats_summary:{taskstats_summary}? psi:{psi} sched_ext:{sched_ext}?"},
	{"thread", thread_members},
	{"cgroup", "cpu:{cgroup_cpu} memory:{cgroup_memory} pids:{cgroup_pids} psi:{psi}"},
	{"cgroup_cpu",
	 "usage_usec:u64 nr_throttled:u64 throttled_usec:u64 max_quota_us:u64? max_period_us:u64 "
	 "weight:u64? weight_nice:i32?"},
	{"cgroup_memory", "current:u64 max:u64? high:u64? low:u64? min:u64? stat:map events:map"},
	{"cgroup_pids", "current:u64? max:u64?"},
	{"psi", "cpu:{resource} memory:{resource} io:{resource} irq:{resource}"},
	{"resource", "some:{half} full:{half}"},
	{"half", "avg10:u16 avg60:u16 avg300:u16 total_usec:u64"},
	{"sched_ext", "state:text switch_all:u64 nr_rejected:u64 hotplug_seq:u64 enable_seq:u64"},
	{"probe_summary", "tgids_walked:u64 jemalloc_detected:u64 probed_ok:u64 failed:u64 "
			  "dominant_failure:text? privilege_dominant:bool"},
	{"parse_summary",
	 "tids_walked:u64 read_failures:u64 read_failures_by_file:map "
	 "dominant_read_failure:text? kernel_config_dominant:bool negative_dotted_values:u64"},
	{"taskstats_summary", "ok_count:u64 eperm_count:u64 esrch_count:u64 other_err_count:u64"},
	{"host",
	 "cpu_model:text? cpu_vendor:text? total_memory_kib:u64? hugepages_total:u64? "
	 "hugepages_free:u64? hugepages_size_kib:u64? thp_enabled:text? thp_defrag:text? "
	 "sched_tunables:texts? online_cpus:u64? numa_nodes:u64? cpufreq_governor:governors? "
	 "kernel_name:text? kernel_release:text? arch:text? kernel_cmdline:text? task_delayacct:text? "
	 "config_task_xacct:text? heap_state:{heap_state}?"},
	{"heap_state",
	 "active_bytes:u64? allocated_bytes:u64? resident_bytes:u64? mapped_bytes:u64? narenas:u64?"},
};

static char *complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

static char *complain(const char *format, ...)
{
	va_list arguments;
	char *text;

	va_start(arguments, format);
	if (vasprintf(&text, format, arguments) < 0)
		abort();
	va_end(arguments);
	return text;
}

/* "PATH WORDS" with one more step before the path; frees `inner`. */
static char *complain_inside(const char *step, char *inner)
{
	char *outer = complain("%s%s%s", step, inner[0] == '.' || inner[0] == '[' ? "" : " ", inner);

	free(inner);
	return outer;
}

static char *check_object(yajl_val value, const char *name);

/* An integer as text, without a fraction or exponent, between bounds given as decimal texts. */
static bool is_integer(yajl_val value, const char *smallest, const char *largest)
{
	const char *text, *bound;
	bool negative;

	if (!YAJL_IS_NUMBER(value))
		return false;
	text = value->u.number.r;
	negative = text[0] == '-';
	bound = negative ? smallest : largest;
	if (negative && bound[0] != '-')
		return false;
	text += negative;
	bound += negative;
	if (text[strspn(text, "0123456789")] != '\0')
		return false;
	return strlen(text) < strlen(bound) || (strlen(text) == strlen(bound) && strcmp(text, bound) <= 0);
}

static bool is_scalar_type(yajl_val value, const char *type)
{
	uint32_t scalar;

	if (strcmp(type, "u64") == 0)
		return is_integer(value, "0", "18446744073709551615");
	if (strcmp(type, "u32") == 0)
		return is_integer(value, "0", "4294967295");
	if (strcmp(type, "u16") == 0)
		return is_integer(value, "0", "65535");
	if (strcmp(type, "i32") == 0)
		return is_integer(value, "-2147483648", "2147483647");
	if (strcmp(type, "bool") == 0)
		return YAJL_IS_TRUE(value) || YAJL_IS_FALSE(value);
	if (strcmp(type, "text") == 0)
		return YAJL_IS_STRING(value);
	if (strcmp(type, "char") == 0)
		return YAJL_IS_STRING(value) && value->u.string[0] != '\0' &&
		       unicode_decode(value->u.string, strlen(value->u.string), &scalar) ==
			       strlen(value->u.string);
	return false;
}

static char *check_elements(yajl_val value, const char *type)
{
	for (size_t i = 0; i < value->u.array.len; i++) {
		char *wrong = NULL;

		if (strcmp(type, "thread") == 0)
			wrong = check_object(value->u.array.values[i], type);
		else if (!is_scalar_type(value->u.array.values[i], type))
			wrong = complain("is no %s", type);
		if (wrong != NULL) {
			char step[32];

			snprintf(step, sizeof(step), "[%zu]", i);
			return complain_inside(step, wrong);
		}
	}
	return NULL;
}

static bool is_ascending(const char *left, const char *right, bool numbered)
{
	return numbered ? atoi(left) < atoi(right) : strcmp(left, right) < 0;
}

static char *check_map(yajl_val value, const char *type, bool numbered)
{
	for (size_t i = 0; i < value->u.object.len; i++) {
		const char *key = value->u.object.keys[i];
		char *wrong = NULL;

		if (i != 0 && !is_ascending(value->u.object.keys[i - 1], key, numbered))
			wrong = complain("stands behind a larger key");
		else if (strcmp(type, "cgroup") == 0)
			wrong = check_object(value->u.object.values[i], type);
		else if (!is_scalar_type(value->u.object.values[i], type))
			wrong = complain("is no %s", type);
		if (wrong != NULL) {
			char step[128];

			snprintf(step, sizeof(step), "[\"%.100s\"]", key);
			return complain_inside(step, wrong);
		}
	}
	return NULL;
}

/* The types that are arrays and maps, with the type of their elements. */
static const struct {
	const char *type;
	bool is_array;
	const char *element;
	bool numbered;
} containers[] = {
	{"cpus", true, "u32", false},       {"threads", true, "thread", false},
	{"map", false, "u64", false},       {"texts", false, "text", false},
	{"governors", false, "text", true}, {"cgroups", false, "cgroup", false},
};

static char *check_value(yajl_val value, const char *type)
{
	for (size_t i = 0; i < sizeof(containers) / sizeof(containers[0]); i++) {
		if (strcmp(containers[i].type, type) != 0)
			continue;
		if (containers[i].is_array)
			return YAJL_IS_ARRAY(value) ? check_elements(value, containers[i].element)
						    : complain("is no array");
		return YAJL_IS_OBJECT(value) ? check_map(value, containers[i].element, containers[i].numbered)
					     : complain("is no object");
	}
	if (type[0] == '{') {
		char name[32];

		snprintf(name, sizeof(name), "%.*s", (int)strlen(type) - 2, type + 1);
		return check_object(value, name);
	}
	return is_scalar_type(value, type) ? NULL : complain("is no %s", type);
}

/* One entry of a list against the object; `*position` is where the next member must stand or later. */
static char *check_member(yajl_val object, const char *name, char *type, size_t *position)
{
	char suffix = type[strlen(type) - 1];
	bool nullable = suffix == '?', optional = nullable || suffix == '-';
	size_t found = SIZE_MAX;
	char step[64], *wrong;

	if (optional)
		type[strlen(type) - 1] = '\0';
	for (size_t i = 0; i < object->u.object.len; i++) {
		if (strcmp(object->u.object.keys[i], name) != 0)
			continue;
		if (found != SIZE_MAX)
			return complain(".%s stands there twice", name);
		found = i;
	}
	if (found == SIZE_MAX)
		return optional ? NULL : complain(".%s is missing", name);
	if (found < *position)
		return complain(".%s is out of order", name);
	*position = found;
	if (nullable && YAJL_IS_NULL(object->u.object.values[found]))
		return NULL;
	wrong = check_value(object->u.object.values[found], type);
	snprintf(step, sizeof(step), ".%s", name);
	return wrong != NULL ? complain_inside(step, wrong) : NULL;
}

static char *check_object(yajl_val value, const char *name)
{
	size_t position = 0;
	char *list = NULL, *next, *entry, *wrong = NULL;

	if (!YAJL_IS_OBJECT(value))
		return complain("is no object");
	for (size_t i = 0; i < sizeof(objects) / sizeof(objects[0]); i++) {
		if (strcmp(objects[i].name, name) == 0)
			list = strdup(objects[i].members);
	}
	next = list;
	while (wrong == NULL && (entry = strsep(&next, " ")) != NULL) {
		char *colon = strchr(entry, ':');

		*colon = '\0';
		wrong = check_member(value, entry, colon + 1, &position);
	}
	free(list);
	return wrong;
}

char *strict_check(const char *json, size_t length)
{
	char *text = memory_duplicate_bytes(json, length);
	char words[256];
	yajl_val tree;
	char *wrong;

	if (!unicode_is_valid(json, length) || strlen(text) != length)
		wrong = complain("is not UTF-8");
	else if ((tree = yajl_tree_parse(text, words, sizeof(words))) == NULL)
		wrong = complain("does not parse: %s", words);
	else {
		wrong = check_object(tree, "snapshot");
		yajl_tree_free(tree);
	}
	free(text);
	return wrong;
}

void strict_decompress(int descriptor, struct buffer *ret_json)
{
	static char input[1 << 16], output[1 << 16];
	ZSTD_DStream *stream = ZSTD_createDStream();
	size_t left = 1;
	ssize_t count;

	assert_int_equal(lseek(descriptor, 0, SEEK_SET), 0);
	while ((count = read(descriptor, input, sizeof(input))) > 0) {
		ZSTD_inBuffer in = {input, (size_t)count, 0};
		bool full = true;

		while (in.pos < in.size || full) {
			ZSTD_outBuffer out = {output, sizeof(output), 0};

			left = ZSTD_decompressStream(stream, &out, &in);
			assert_false(ZSTD_isError(left));
			buffer_append(ret_json, output, out.pos);
			full = out.pos == out.size && left != 0;
		}
	}
	assert_int_equal(left, 0);
	ZSTD_freeDStream(stream);
}

/* The end of the value that begins at `text`: behind its string, or behind its last bracket. */
static const char *skip_value(const char *text)
{
	int depth = 0;

	do {
		if (*text == '"') {
			for (text++; *text != '"'; text++)
				text += *text == '\\';
		} else {
			depth += (*text == '{' || *text == '[') - (*text == '}' || *text == ']');
		}
		text++;
	} while (depth != 0);
	return text;
}

/* A member's comma stands before it, since `ctop` is never the first one. */
void strict_remove_extras(const char *json, size_t length, struct buffer *ret_json)
{
	static const char extra[] = ",\"ctop\":";
	const char *end = json + length;

	while (json < end) {
		const char *found = memmem(json, (size_t)(end - json), extra, sizeof(extra) - 1);

		buffer_append(ret_json, json, (size_t)((found != NULL ? found : end) - json));
		json = found != NULL ? skip_value(found + sizeof(extra) - 1) : end;
	}
}
