/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "tests/cmocka_include.h"

#include "base/memory.h"
#include "capture/procfs/text_scan.h"
#include "capture/host/cgroup.h"
#include "capture/host/devices.h"
#include "base/clock.h"
#include "capture/host/host.h"
#include "trees.h"

static struct snapshot *snapshot;
static struct tree tree;

static int set_up(void **state)
{
	(void)state;
	snapshot = snapshot_create();
	tree_make(&tree);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	snapshot_release(snapshot);
	tree_remove(&tree);
	return 0;
}

/* The snapshot anew, with one thread in each of these cgroups. */
static void make_cgroups(const char *const paths[], size_t count)
{
	snapshot_release(snapshot);
	snapshot = snapshot_create();
	for (size_t i = 0; i < count; i++) {
		struct triple triple = {0, 0,
					string_pool_intern(&snapshot->strings, paths[i], strlen(paths[i]))};
		size_t thread = snapshot_add_thread(snapshot, (uint32_t)i + 1, (uint32_t)i + 1);

		snapshot->triple[thread] = snapshot_intern_triple(snapshot, triple);
	}
}

static const struct cgroup_record *record_of(const char *path)
{
	for (size_t i = 0; i < snapshot->cgroup_count; i++) {
		if (strcmp(snapshot_text(snapshot, snapshot->cgroups[i].path), path) == 0)
			return &snapshot->cgroups[i];
	}
	fail_msg("no record of %s", path);
	return NULL;
}

static void test_centi(void **state)
{
	static const struct {
		const char *text;
		uint64_t value;
	} cases[] = {
		{"0.00", 0},     {"1.5", 150},      {"1.501", 150},    {"3.", 300},    {"42", 4200},
		{"18.59", 1859}, {"100.99", 10099}, {"1.x", 100},      {"x.5", 0},     {"", 0},
		{".5", 0},       {"-1.5", 0},       {"4294967296", 0}, {"+1.25", 125},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(text_hundredths((struct text){cases[i].text, strlen(cases[i].text)}),
				 cases[i].value);
}

static void test_pressure_rows(void **state)
{
	static const char text[] = "some avg10=18.59 avg60=655.36 avg300=1.5 total=123456 extra=1 word\n"
				   "other avg10=9.00\n full\xc2\xa0"
				   "avg10=1.00 total=x avg60=42\n";
	struct pressure_half some, full;

	(void)state;
	assert_true(pressure_parse(text, strlen(text), &some, &full));
	assert_int_equal(some.avg10, 1859);
	assert_int_equal(some.avg60, 65535);
	assert_int_equal(some.avg300, 150);
	assert_int_equal(some.total_usec, 123456);
	assert_int_equal(full.avg10, 100);
	assert_int_equal(full.avg60, 4200);
	assert_int_equal(full.total_usec, 0);
	assert_false(pressure_parse("", 0, &some, &full));
	assert_false(pressure_parse("nothing\n", 8, &some, &full));
	assert_int_equal(some.avg10, 0);
}

static void test_host_pressure(void **state)
{
	(void)state;
	tree_text(&tree, "proc/pressure/cpu", "some avg10=1.00 avg60=0.00 avg300=0.00 total=5\n");
	tree_text(&tree, "proc/pressure/memory", "nonsense\n");
	tree_open(&tree);
	pressure_read(&tree.roots, REASON_READ, snapshot);
	assert_int_equal(snapshot->pressure.resource[PRESSURE_CPU].some.total_usec, 5);
	assert_int_equal(snapshot->pressure_missing[PRESSURE_CPU], REASON_READ);
	assert_int_equal(snapshot->pressure_missing[PRESSURE_MEMORY], REASON_BAD_VALUE);
	assert_int_equal(snapshot->pressure_missing[PRESSURE_IRQ], REASON_NOT_IN_KERNEL);
	pressure_read(&tree.roots, REASON_SWITCHED_OFF, snapshot);
	assert_int_equal(snapshot->pressure_missing[PRESSURE_CPU], REASON_SWITCHED_OFF);
}

static void test_cgroup_members(void **state)
{
	static const char *const paths[] = {"/a", "/a",  "/bad",  "/gone (deleted)", "",
					    "/",  "//a", "/../x", "/idle",           "/off"};
	const uint64_t made_ns = clock_ns(CLOCK_REALTIME);
	const struct cgroup_record *record;

	(void)state;
	make_cgroups(paths, sizeof(paths) / sizeof(paths[0]));
	tree_text(&tree, "cgroup/cgroup.controllers", "cpu io memory pids\n");
	tree_text(&tree, "cgroup/cpu.stat", "usage_usec 1\n");
	tree_text(&tree, "cgroup/a/cgroup.controllers", "cpu io pids\n");
	tree_text(&tree, "cgroup/a/cpu.stat",
		  "usage_usec 10\nuser_usec 3\nnr_throttled 2 7\nthrottled_usec 5\nthrottled_usec "
		  "x\nusage_usec 11\n");
	tree_text(&tree, "cgroup/a/cpu.max", "50000 x\n");
	tree_text(&tree, "cgroup/a/cpu.weight", "100\n");
	tree_text(&tree, "cgroup/a/cpu.weight.nice", "-3\n");
	tree_text(&tree, "cgroup/a/pids.current", "4\n");
	tree_text(&tree, "cgroup/a/pids.max", "max\n");
	tree_text(&tree, "cgroup/a/io.pressure", "some avg10=1.00 total=7\nfull avg10=2.00 total=8\n");
	tree_text(&tree, "cgroup/bad/cgroup.controllers", "cpu memory\n");
	/* a device that only has a cost, one that has been written to, and keys of later kernels */
	tree_text(&tree, "cgroup/a/io.stat",
		  "7:0\n8:16 rbytes=1459200 wbytes=314773504 rios=192 wios=353 dbytes=7 dios=1 cost.usage=9\n"
		  "259:0 rbytes=800 wbytes=96 rios=1 wios=1 dbytes=0 dios=0\n");
	tree_text(&tree, "cgroup/off/cgroup.controllers", "cpu\n");
	tree_text(&tree, "cgroup/idle/cgroup.controllers", "io\n");
	tree_text(&tree, "cgroup/idle/io.stat", "");
	tree_text(&tree, "cgroup/bad/io.stat", "8:16 rbytes=x wbytes=1\n");
	tree_text(&tree, "cgroup/bad/cpu.max", "\n");
	tree_text(&tree, "cgroup/bad/memory.current", "-1\n");
	tree_text(&tree, "cgroup/bad/memory.max", "oops\n");
	tree_text(&tree, "cgroup/bad/memory.low", "max\n");
	tree_text(&tree, "cgroup/bad/memory.min", "0\n");
	tree_text(&tree, "cgroup/bad/memory.events", "low 1\nhigh 2 3\nbad_negative -5\nlow x\nlow 4\n");
	tree_open(&tree);
	pressure_read(&tree.roots, REASON_NOT_IN_KERNEL, snapshot);
	snapshot->pressure_missing[PRESSURE_MEMORY] = REASON_READ;
	cgroup_read_records(&tree.roots, NULL, NULL, snapshot);
	assert_int_equal(snapshot->cgroup_count, 8); /* one for a path, none for the empty one */

	record = record_of("/a");
	assert_true(record->id.present);
	assert_true(record->there_since.present);
	assert_in_range(record->there_since.value, made_ns - NS_PER_S, clock_ns(CLOCK_REALTIME));
	assert_int_equal(record->usage_usec, 11);
	assert_int_equal(record->nr_throttled, 2);
	assert_int_equal(record->throttled_usec, 0);
	assert_true(record->max_quota_us.present);
	assert_int_equal(record->max_quota_us.value, 50000);
	assert_int_equal(record->max_period_us, 100000);
	assert_int_equal(record->weight.value, 100);
	assert_int_equal(record->weight_nice.value, -3);
	assert_int_equal(record->pids_current.value, 4);
	assert_false(record->pids_max.present);
	assert_int_equal(record->missing[CGROUP_FILE_PIDS_MAX], REASON_READ);
	assert_int_equal(record->missing[CGROUP_FILE_MEMORY_CURRENT], REASON_SWITCHED_OFF);
	assert_int_equal(record->pressure.resource[PRESSURE_IO].full.total_usec, 8);
	assert_int_equal(record->missing[CGROUP_FILE_IO_PRESSURE], REASON_READ);
	assert_int_equal(record->missing[CGROUP_FILE_MEMORY_PRESSURE], REASON_SWITCHED_OFF);
	assert_int_equal(record->missing[CGROUP_FILE_CPU_PRESSURE], REASON_NOT_IN_KERNEL);

	assert_int_equal(record->missing[CGROUP_FILE_IO_STAT], REASON_READ);
	assert_true(record->io_read.present && record->io_written.present);
	assert_int_equal(record->io_read.value, 1460000);
	assert_int_equal(record->io_written.value, 314773600);

	/* nothing read or written is a reading, no controller is none */
	record = record_of("/idle");
	assert_int_equal(record->missing[CGROUP_FILE_IO_STAT], REASON_READ);
	assert_true(record->io_read.present && record->io_read.value == 0);
	record = record_of("/off");
	assert_int_equal(record->missing[CGROUP_FILE_IO_STAT], REASON_SWITCHED_OFF);
	assert_false(record->io_read.present);

	record = record_of("/bad");
	assert_int_equal(record->missing[CGROUP_FILE_IO_STAT], REASON_BAD_VALUE);
	assert_false(record->io_read.present);
	assert_int_equal(record->missing[CGROUP_FILE_CPU_MAX], REASON_BAD_VALUE);
	assert_false(record->max_quota_us.present);
	assert_int_equal(record->max_period_us, 100000);
	assert_int_equal(record->missing[CGROUP_FILE_MEMORY_CURRENT], REASON_BAD_VALUE);
	assert_int_equal(record->missing[CGROUP_FILE_MEMORY_MAX], REASON_BAD_VALUE);
	assert_false(record->memory_max.present);
	assert_true(record->memory_low.present);
	assert_true(record->memory_low.value == UINT64_MAX);
	assert_true(record->memory_min.present);
	assert_int_equal(record->memory_min.value, 0);
	assert_int_equal(record->memory_events.count, 2);
	assert_int_equal(record->memory_events.items[0].value, 4);
	assert_int_equal(record->memory_events.items[1].value, 2);
	assert_int_equal(record->missing[CGROUP_FILE_PIDS_MAX], REASON_SWITCHED_OFF);

	record = record_of("/");
	assert_int_equal(record->usage_usec, 1);
	assert_int_equal(record->missing[CGROUP_FILE_MEMORY_CURRENT], REASON_NOT_IN_KERNEL);
	assert_int_equal(record_of("//a")->usage_usec, 11);
	assert_int_equal(record_of("/../x")->missing[0], REASON_OTHER_NAMESPACE);
	assert_int_equal(record_of("/gone (deleted)")->missing[0], REASON_UNREADABLE);
}

static void test_throttling_counted_by_v1(void **state)
{
	static const struct {
		const char *controllers, *text;
		enum reason reason;
	} cases[] = {
		{"", "usage_usec 1\n", REASON_NOT_IN_KERNEL},
		{"cpuset io\n", "usage_usec 1\n", REASON_NOT_IN_KERNEL},
		{"cpu io\n", "usage_usec 1\n", REASON_READ},
		{"cpu io\n", "usage_usec 1\nnr_throttled 0\nthrottled_usec 0\n", REASON_READ},
		{"", "", REASON_BAD_VALUE},
	};
	static const char *const paths[] = {"/a"};

	(void)state;
	tree_open(&tree);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		make_cgroups(paths, 1);
		tree_text(&tree, "cgroup/cgroup.controllers", cases[i].controllers);
		tree_text(&tree, "cgroup/a/cpu.stat", cases[i].text);
		cgroup_read_records(&tree.roots, NULL, NULL, snapshot);
		assert_int_equal(record_of("/a")->missing[CGROUP_FILE_CPU_THROTTLING], cases[i].reason);
	}
}

/* A controller that is bound to v1 or not delegated is switched off, not missing in the kernel. */
static void test_controllers_of_v1(void **state)
{
	static const char *const paths[] = {"/a"};
	const struct cgroup_record *record;

	(void)state;
	tree_text(&tree, "proc/cgroups",
		  "#subsys_name\thierarchy\tnum_cgroups\tenabled\ncpu\t3\t101\t1\nblkio\t5\t7\t1\n");
	tree_text(&tree, "cgroup/cgroup.controllers", "");
	tree_text(&tree, "cgroup/a/cpu.stat", "usage_usec 1\n");
	tree_open(&tree);
	make_cgroups(paths, 1);
	cgroup_read_records(&tree.roots, NULL, NULL, snapshot);
	record = record_of("/a");
	assert_int_equal(record->missing[CGROUP_FILE_CPU_THROTTLING], REASON_SWITCHED_OFF);
	assert_int_equal(record->missing[CGROUP_FILE_CPU_MAX], REASON_SWITCHED_OFF);
	assert_int_equal(record->missing[CGROUP_FILE_IO_STAT], REASON_SWITCHED_OFF);
	assert_int_equal(record->missing[CGROUP_FILE_MEMORY_CURRENT], REASON_NOT_IN_KERNEL);
}

static void test_cpu_max(void **state)
{
	static const struct {
		const char *text;
		bool limited;
		uint64_t quota, period;
	} cases[] = {
		{"max 100000", false, 0, 100000}, {"50000 100000", true, 50000, 100000},
		{"50000", true, 50000, 100000},   {"", false, 0, 100000},
		{"50000 x", true, 50000, 100000}, {"max 5000", false, 0, 5000},
	};
	static const char *const paths[] = {"/a"};

	(void)state;
	tree_open(&tree);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct cgroup_record *record;

		make_cgroups(paths, 1);
		tree_text(&tree, "cgroup/a/cpu.max", cases[i].text);
		cgroup_read_records(&tree.roots, NULL, NULL, snapshot);
		record = record_of("/a");
		assert_int_equal(record->max_quota_us.present, cases[i].limited);
		if (cases[i].limited)
			assert_int_equal(record->max_quota_us.value, cases[i].quota);
		assert_int_equal(record->max_period_us, cases[i].period);
	}
}

static bool over_after_one(void *context)
{
	unsigned int *asked = context;

	return (*asked)++ != 0;
}

static void test_cgroup_budget(void **state)
{
	static const char *const paths[] = {"/a", "/b", "/c"};
	unsigned int asked = 0;

	(void)state;
	make_cgroups(paths, 3);
	tree_text(&tree, "cgroup/a/cpu.stat", "usage_usec 1\n");
	tree_text(&tree, "cgroup/b/cpu.stat", "usage_usec 1\n");
	tree_open(&tree);
	cgroup_read_records(&tree.roots, over_after_one, &asked, snapshot);
	assert_int_equal(record_of("/a")->missing[CGROUP_FILE_CPU_STAT], REASON_READ);
	assert_int_equal(record_of("/b")->missing[CGROUP_FILE_CPU_STAT], REASON_OVER_BUDGET);
	assert_int_equal(record_of("/c")->missing[CGROUP_FILE_CPU_STAT], REASON_OVER_BUDGET);
	assert_int_equal(asked, 2);
}

/* Only some cgroups, and of these only what says whether they are held back. */
static void test_cgroup_limits(void **state)
{
	static const char *const paths[] = {"/a", "/b", "/gone"};
	uint32_t cgroups[CGROUP_LIMITS_MAX] = {0, UINT32_MAX};
	const struct cgroup_record *record;

	(void)state;
	make_cgroups(paths, 3);
	tree_text(&tree, "cgroup/cgroup.controllers", "cpu pids\n");
	tree_text(&tree, "cgroup/a/cpu.stat", "usage_usec 1\nnr_throttled 2\nthrottled_usec 5\n");
	tree_text(&tree, "cgroup/a/cpu.max", "50000 100000\n");
	tree_text(&tree, "cgroup/a/pids.current", "4\n");
	tree_text(&tree, "cgroup/b/cpu.stat", "usage_usec 1\n");
	tree_open(&tree);
	cgroups[2] = string_pool_intern(&snapshot->strings, "/gone", strlen("/gone"));
	cgroups[3] = string_pool_intern(&snapshot->strings, "/a", strlen("/a"));
	cgroup_read_limits(&tree.roots, cgroups, snapshot);
	assert_int_equal(snapshot->cgroup_count, 2);
	record = record_of("/a");
	assert_int_equal(record->throttled_usec, 5);
	assert_int_equal(record->max_quota_us.value, 50000);
	assert_int_equal(record->missing[CGROUP_FILE_CPU_THROTTLING], REASON_READ);
	assert_int_equal(record->missing[CGROUP_FILE_PIDS_CURRENT], REASON_NOT_READ);
	assert_false(record->pids_current.present);
	assert_int_equal(record_of("/gone")->missing[CGROUP_FILE_CPU_THROTTLING], REASON_UNREADABLE);
}

/* `text` as a gzip member, `cut` bytes short. */
static void write_gzip(const char *text, size_t cut, const char *behind)
{
	unsigned char packed[4096];
	z_stream stream = {.next_in = (Bytef *)text, .avail_in = (uInt)strlen(text)};
	size_t length;

	stream.next_out = packed;
	stream.avail_out = sizeof(packed) - 512;
	assert_int_equal(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
	assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
	length = stream.total_out - cut;
	deflateEnd(&stream);
	memcpy(packed + length, behind, strlen(behind));
	tree_write(&tree, "proc/config.gz", packed, length + strlen(behind));
}

static void test_kernel_config(void **state)
{
	static const char text[] =
		"# CONFIG_TASK_XACCT is not set\n CONFIG_TASK_XACCT=y \n# CONFIG_PSI is not set\n"
		"CONFIG_PSI_X=y\nCONFIG_M=m\n#CONFIG_N is not set\n";
	struct buffer buffer = {0};

	(void)state;
	tree_open(&tree);
	assert_int_equal(kernel_config_read(&tree.roots, &buffer), -ENOENT);
	write_gzip(text, 0, "trailing bytes");
	assert_int_equal(kernel_config_read(&tree.roots, &buffer), 0);
	assert_int_equal(buffer.length, strlen(text));
	assert_int_equal(kernel_config_find(buffer.data, buffer.length, "CONFIG_TASK_XACCT"),
			 KERNEL_OPTION_ON);
	assert_int_equal(kernel_config_find(buffer.data, buffer.length, "CONFIG_PSI"), KERNEL_OPTION_OFF);
	assert_int_equal(kernel_config_find(buffer.data, buffer.length, "CONFIG_M"), KERNEL_OPTION_UNKNOWN);
	assert_int_equal(kernel_config_find(buffer.data, buffer.length, "CONFIG_N"), KERNEL_OPTION_UNKNOWN);
	write_gzip(text, 10, "");
	assert_int_equal(kernel_config_read(&tree.roots, &buffer), -EBADMSG);
	assert_int_equal(buffer.length, 0);
	write_gzip("CONFIG_PSI=y\n\xff\n", 0, "");
	assert_int_equal(kernel_config_read(&tree.roots, &buffer), -EBADMSG);
	tree_text(&tree, "proc/config.gz", "CONFIG_PSI=y\n");
	assert_int_equal(kernel_config_read(&tree.roots, &buffer), -EBADMSG);
	tree_text(&tree, "proc/config.gz", "");
	assert_int_equal(kernel_config_read(&tree.roots, &buffer), -EBADMSG);
	buffer_release(&buffer);
}

static void test_sched_ext(void **state)
{
	(void)state;
	tree_open(&tree);
	sched_ext_read(&tree.roots, snapshot);
	assert_false(snapshot->sched_ext.present);
	tree_text(&tree, "sys/kernel/sched_ext/state", " enabled\n");
	tree_text(&tree, "sys/kernel/sched_ext/nr_rejected", "3\n");
	tree_text(&tree, "sys/kernel/sched_ext/enable_seq", "x\n");
	sched_ext_read(&tree.roots, snapshot);
	assert_true(snapshot->sched_ext.present);
	assert_string_equal(snapshot->sched_ext.state, "enabled");
	assert_int_equal(snapshot->sched_ext.nr_rejected, 3);
	assert_int_equal(snapshot->sched_ext.enable_seq, 0);
	assert_int_equal(snapshot->sched_ext.switch_all, 0);
}

static void test_host(void **state)
{
	const struct host *host = &snapshot->host;
	struct feature_checks checks = {0};
	char *link;

	(void)state;
	tree_text(&tree, "proc/cpuinfo",
		  "vendor_id : AuthenticAMD\nmodel name\t:  A CPU \nmodel name :\n \nvendor_id : second\n");
	tree_text(&tree, "proc/meminfo",
		  "MemTotal:  100 kB\nMemTotal: x kB\nMemAvailable: 60 kB\n"
		  "HugePages_Total:\t0\nHugepagesize:\xc2\xa0"
		  "2048 kB\n");
	tree_text(&tree, "proc/cmdline", "quiet delayacct\n");
	tree_text(&tree, "proc/sys/kernel/ostype", "Linux\n");
	tree_text(&tree, "proc/sys/kernel/osrelease", "7.2.12\n");
	tree_text(&tree, "proc/sys/kernel/task_delayacct", "1\n");
	tree_text(&tree, "proc/sys/kernel/sched_b", "2\n");
	tree_text(&tree, "proc/sys/kernel/sched_a", " 1 \n");
	tree_text(&tree, "proc/sys/kernel/sched_empty", "\n");
	tree_text(&tree, "proc/sys/kernel/sched_dir/x", "1\n");
	tree_text(&tree, "proc/sys/kernel/other", "1\n");
	link = memory_format("%s/proc/sys/kernel/sched_link", tree.path);
	assert_int_equal(symlink("sched_a", link), 0);
	free(link);
	tree_text(&tree, "sys/devices/system/cpu/online", "0-1,10\n");
	tree_text(&tree, "sys/devices/system/node/online", "0,2\n");
	tree_text(&tree, "sys/devices/system/cpu/cpu10/cpufreq/scaling_governor", "powersave\n");
	tree_text(&tree, "sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "performance\n");
	tree_text(&tree, "sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
	write_gzip("# CONFIG_TASK_XACCT is not set\n", 0, "");
	tree_open(&tree);
	feature_check_all(&checks, &tree.roots, -EXDEV, NULL);
	host_read(&tree.roots, &checks, snapshot);
	assert_string_equal(host->cpu_vendor, "AuthenticAMD");
	assert_string_equal(host->cpu_model, "A CPU");
	assert_int_equal(host->total_memory_kib.value, 100);
	assert_true(host->hugepages_total.present);
	assert_false(host->hugepages_free.present);
	assert_int_equal(host->hugepages_size_kib.value, 2048);
	assert_string_equal(host->thp_enabled, "always [madvise] never");
	assert_null(host->thp_defrag);
	assert_int_equal(host->sched_tunables.count, 2);
	assert_string_equal(host->sched_tunables.items[0].key, "sched_a");
	assert_string_equal(host->sched_tunables.items[0].value, "1");
	assert_string_equal(host->sched_tunables.items[1].key, "sched_b");
	assert_int_equal(host->online_cpus.value, 3);
	assert_int_equal(host->numa_nodes.value, 2);
	assert_int_equal(host->cpufreq_governor.count, 2);
	assert_string_equal(host->cpufreq_governor.items[0].key, "1");
	assert_string_equal(host->cpufreq_governor.items[1].value, "powersave");
	assert_string_equal(host->kernel_release, "7.2.12");
	assert_null(host->arch);
	assert_string_equal(host->kernel_cmdline, "quiet delayacct");
	assert_string_equal(host->task_delayacct, "on");
	assert_string_equal(host->config_task_xacct, "off");
	assert_false(host->heap_state.present);

	/* a repeated id makes the topology absent */
	tree_text(&tree, "sys/devices/system/cpu/online", "0-1,1\n");
	tree_text(&tree, "proc/sys/kernel/task_delayacct", "0\n");
	feature_recheck_switches(&checks, &tree.roots);
	host_read(&tree.roots, &checks, snapshot);
	assert_false(host->online_cpus.present);
	assert_false(host->numa_nodes.present);
	assert_false(host->cpufreq_governor.present);
	assert_string_equal(host->task_delayacct, "runtime_off");
	feature_release(&checks);
}

/* Results are made again when the text of a switch is another one, and only then. */
static void test_switches(void **state)
{
	struct feature_checks checks = {0};
	const struct feature_result *statistics = &checks.results[FEATURE_SCHEDSTATS];

	(void)state;
	tree_text(&tree, "proc/sys/kernel/task_delayacct", "1\n");
	tree_text(&tree, "proc/sys/kernel/sched_schedstats", "1\n");
	tree_open(&tree);
	feature_check_all(&checks, &tree.roots, 0, NULL);
	feature_recheck_switches(&checks, &tree.roots);
	checks.results[FEATURE_SCHEDSTATS].detail = "as before";
	feature_recheck_switches(&checks, &tree.roots);
	assert_string_equal(statistics->detail, "as before");
	tree_text(&tree, "proc/sys/kernel/sched_schedstats", "0\n");
	feature_recheck_switches(&checks, &tree.roots);
	assert_string_equal(statistics->detail, "kernel.sched_schedstats is 0");
	assert_int_equal(statistics->reason, REASON_SWITCHED_OFF);
	assert_int_equal(checks.task_delayacct, TASK_DELAYACCT_ON);
	tree_text(&tree, "proc/sys/kernel/task_delayacct", "0\n");
	feature_recheck_switches(&checks, &tree.roots);
	assert_int_equal(checks.task_delayacct, TASK_DELAYACCT_RUNTIME_OFF);
	assert_true(checks.delayacct_on_since_ns == UINT64_MAX);
	tree_text(&tree, "proc/sys/kernel/task_delayacct", "1\n");
	feature_recheck_switches(&checks, &tree.roots);
	assert_int_equal(checks.results[FEATURE_DELAYS].state, FEATURE_STATE_ON);
	assert_true(checks.delayacct_on_since_ns != 0 && checks.delayacct_on_since_ns != UINT64_MAX);
	feature_release(&checks);
}

/* Kernels without the switch count delays unless the command line says not to, or they cannot. */
static void test_delays_without_switch(void **state)
{
	static const struct {
		const char *release, *symbols, *command_line;
		enum task_delayacct expected;
	} cases[] = {
		{"5.10.0-32-amd64\n", "0 T __delayacct_tsk_init\n", "quiet\n", TASK_DELAYACCT_ON},
		{"4.18.0-553.el8\n", "0 T __delayacct_tsk_init\n", "\n", TASK_DELAYACCT_ON},
		{"5.10.0\n", "0 T __delayacct_tsk_init\n", "quiet nodelayacct\n", TASK_DELAYACCT_CONFIG_OFF},
		{"5.10.0\n", "0 T some_delayacct_tsk_init\n", "quiet\n", TASK_DELAYACCT_CONFIG_OFF},
		{"5.10.0\n", "", "quiet\n", TASK_DELAYACCT_CONFIG_OFF},
		{"5.14.0\n", "0 T __delayacct_tsk_init\n", "quiet\n", TASK_DELAYACCT_CONFIG_OFF},
		{"", "0 T __delayacct_tsk_init\n", "quiet\n", TASK_DELAYACCT_CONFIG_OFF},
	};

	(void)state;
	tree_text(&tree, "sys/x", "");
	tree_open(&tree);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct feature_checks checks = {0};

		tree_text(&tree, "proc/sys/kernel/osrelease", cases[i].release);
		tree_text(&tree, "proc/kallsyms", cases[i].symbols);
		tree_text(&tree, "proc/cmdline", cases[i].command_line);
		feature_check_all(&checks, &tree.roots, 0, NULL);
		for (int round = 0; round < 2; round++) {
			assert_int_equal(checks.task_delayacct, cases[i].expected);
			assert_int_equal(checks.delayacct_on_since_ns,
					 cases[i].expected == TASK_DELAYACCT_ON ? 0 : UINT64_MAX);
			assert_int_equal(checks.results[FEATURE_DELAYS].state,
					 cases[i].expected == TASK_DELAYACCT_ON ? FEATURE_STATE_ON
										: FEATURE_STATE_OFF);
			feature_recheck_switches(&checks, &tree.roots);
		}
		feature_release(&checks);
	}
}

static void test_load(void **state)
{
	const struct provenance *provenance = &snapshot->provenance;
	uint64_t before;

	(void)state;
	tree_text(&tree, "proc/stat",
		  "cpu  1 2 3 4 5 6 7 8 9 10\ncpu0 1 1 1 1 1 1 1 1\nintr 5 1\n"
		  "processes 77\nprocs_running 5\nprocs_blocked x\n");
	tree_text(&tree, "proc/loadavg", "3.20 2.90 700.75 1/100 12\n");
	tree_text(&tree, "proc/meminfo", "MemAvailable: 60 kB\n");
	tree_open(&tree);
	before = clock_ns(CLOCK_BOOTTIME);
	host_read_ticks(&tree.roots, snapshot);
	host_read_load(&tree.roots, snapshot);
	assert_true(provenance->cpu_ticks_known);
	assert_true(provenance->cpu_ticks_at_ns >= before &&
		    provenance->cpu_ticks_at_ns <= clock_ns(CLOCK_BOOTTIME));
	assert_int_equal(provenance->cpu_ticks[0], 1);
	assert_int_equal(provenance->cpu_ticks[7], 8);
	assert_true(provenance->procs_running.present);
	assert_int_equal(provenance->procs_running.value, 5);
	assert_false(provenance->procs_blocked.present);
	assert_int_equal(provenance->forks.value, 77);
	assert_true(provenance->load_known);
	assert_int_equal(provenance->load_centi[0], 320);
	assert_int_equal(provenance->load_centi[2], 70075);
	assert_int_equal(provenance->mem_available_kib.value, 60);
}

/* --- CPUs, disks and networks --- */

static const struct device *find_device(const struct device devices[], size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++) {
		if (strcmp(devices[i].name, name) == 0)
			return &devices[i];
	}
	return NULL;
}

/* Whole disks alone, whatever partitions are called; CPU 1 is offline. */
static void test_devices(void **state)
{
	const struct devices *devices = &snapshot->provenance.devices;

	(void)state;
	tree_text(&tree, "proc/stat",
		  "cpu  1 2 3 4 5 6 7 8 9 10\ncpu0 1 2 3 4 5 6 7 8 9 10\ncpu2 1 1 1 1 1 1 1 1\n"
		  "cpu3 1 1 1\ncpu2 9 9 9 9 9 9 9 9\ncpux 1 1 1 1 1 1 1 1\ncpu99999 1 1 1 1 1 1 1 1\n"
		  "procs_running 5\n");
	tree_text(&tree, "proc/diskstats",
		  "   7       0 loop0 1 1 9 1 1 1 9 1 0 9 1\n"
		  "   1       0 ram0 1 1 9 1 1 1 9 1 0 9 1\n"
		  "   8       0 sda 1 0 10 1 1 0 20 1 0 30 1 0 0 0 0 0 0\n"
		  "   8       1 sda1 1 0 10 1 1 0 20 1 0 30 1\n"
		  "   8      16 sdaa 1 0 1 1 1 0 2 1 0 3 1\n"
		  " 259       0 nvme0n1 1 0 40 1 1 0 50 1 0 60 1\n"
		  " 259       1 nvme0n1p1 1 0 40 1 1 0 50 1 0 60 1\n"
		  " 259       2 nvme0n12 1 0 1 1 1 0 2 1 0 3 1\n"
		  " 253       0 dm-0 1 0 10 1 1 0 20 1 0 30 1\n"
		  "   9       1 md1 1 0 x 1 1 0 20 1 0 30 1\n"
		  "   9       2 short 1 0 1\n\n");
	tree_text(&tree, "proc/net/dev",
		  "Inter-|   Receive          |  Transmit\n"
		  " face |bytes    packets errs|bytes\n"
		  "    lo: 9 1 0 0 0 0 0 0 9 1 0 0 0 0 0 0\n"
		  "  eth0:70 1 0 0 0 0 0 0 80 1 0 0 0 0 0 0\n"
		  " wlan0: 1 2 3\n");
	tree_text(&tree, "sys/devices/system/cpu/present", "0-3\n");
	tree_open(&tree);
	host_read_ticks(&tree.roots, snapshot);
	host_read_load(&tree.roots, snapshot);
	assert_int_equal(devices->cpu_end, 4);
	assert_int_equal(devices->cpu_count, 2);
	assert_int_equal(devices->cpus[0].idle, 9);
	assert_int_equal(devices->cpus[0].all, 36);
	assert_int_equal(devices->cpus[1].number, 2);
	assert_int_equal(devices->disk_count, 4);
	assert_int_equal(find_device(devices->disks, 4, "sda")->busy_ms, 30);
	assert_int_equal(find_device(devices->disks, 4, "sda")->read_bytes, 10 * 512);
	assert_int_equal(find_device(devices->disks, 4, "sda")->write_bytes, 20 * 512);
	assert_non_null(find_device(devices->disks, 4, "sdaa"));
	assert_non_null(find_device(devices->disks, 4, "nvme0n1"));
	assert_non_null(find_device(devices->disks, 4, "nvme0n12"));
	assert_int_equal(devices->network_count, 1);
	assert_int_equal(find_device(devices->networks, 1, "eth0")->read_bytes, 70);
	assert_int_equal(find_device(devices->networks, 1, "eth0")->write_bytes, 80);
	assert_true(devices->read_at_ns != 0);
}

/* Devices without end do not take memory without end. */
static void test_devices_are_bounded(void **state)
{
	struct devices devices = {0};
	struct buffer text = {0};

	(void)state;
	for (int i = 0; i < DEVICES_MAX + 10; i++)
		buffer_append_format(&text, "8 0 sd%c%dx 1 0 10 1 1 0 20 1 0 30 1\n", 'a' + i % 26, i);
	devices_parse_disks(text.data, text.length, &snapshot->arena, &devices);
	assert_int_equal(devices.disk_count, DEVICES_MAX);
	/* a name that begins with a NUL is none */
	buffer_clear(&text);
	buffer_append(&text, "8 0 \0sda 1 0 10 1 1 0 20 1 0 30 1\n", 34);
	devices_parse_disks(text.data, text.length, &snapshot->arena, &devices);
	assert_int_equal(devices.disk_count, 0);
	buffer_release(&text);
}

/* Those of this host are there; and none without files. */
static void test_devices_of_this_host(void **state)
{
	const char *const paths[ROOT_COUNT] = {0};
	struct roots roots;

	(void)state;
	tree_open(&tree);
	host_read_load(&tree.roots, snapshot);
	assert_int_equal(snapshot->provenance.devices.disk_count, 0);
	assert_int_equal(snapshot->provenance.devices.network_count, 0);
	assert_int_equal(roots_open(&roots, paths, NULL), 0);
	host_read_ticks(&roots, snapshot);
	host_read_load(&roots, snapshot);
	roots_close(&roots);
	assert_int_equal(snapshot->provenance.devices.cpu_count, sysconf(_SC_NPROCESSORS_ONLN));
	assert_true(snapshot->provenance.devices.cpu_end >= snapshot->provenance.devices.cpu_count);
}

/* Every round needs the host's size and nothing more, and host.present stays false. */
static void test_size(void **state)
{
	(void)state;
	tree_text(&tree, "proc/meminfo", "MemTotal:  100 kB\nHugePages_Total: 1\n");
	tree_text(&tree, "sys/devices/system/cpu/online", "0-1,10\n");
	tree_open(&tree);
	host_read_load(&tree.roots, snapshot);
	assert_int_equal(snapshot->host.total_memory_kib.value, 100);
	assert_int_equal(snapshot->host.online_cpus.value, 3);
	assert_false(snapshot->host.hugepages_total.present);
	assert_false(snapshot->host.present);
}

static void test_provenance_of_this_host(void **state)
{
	const char *paths[ROOT_COUNT] = {NULL};
	const struct provenance *provenance = &snapshot->provenance;
	struct error error = {""};
	struct roots roots;
	char target[PATH_MAX], expected[64];
	ssize_t length;

	(void)state;
	assert_int_equal(roots_open(&roots, paths, &error), 0);
	host_read_provenance(&roots, snapshot);
	assert_true(provenance->present);
	assert_int_equal(provenance->uid.value, getuid());
	assert_int_equal(strlen(provenance->boot_id), 36);
	assert_string_equal(provenance->roots[ROOT_PROC], "/proc");
	length = readlink("/proc/self/ns/pid", target, sizeof(target) - 1);
	assert_true(length > 0);
	target[length] = '\0';
	snprintf(expected, sizeof(expected), "pid:[%llu]",
		 (unsigned long long)provenance->namespaces[NAMESPACE_PID]);
	assert_string_equal(target, expected);
	roots_close(&roots);
}

/* One record of each saved host, and what it tells about itself. */
static void test_saved_hosts(void **state)
{
	static const struct {
		uint64_t usage_usec, stat_entries, events;
		bool sched_ext;
	} expected[SAVED_HOST_COUNT] = {
		{377092, 47, 6, false},
		{187487, 60, 6, false},
		{222194, 65, 6, true},
		{188420, 71, 7, true},
	};
	static const char *const paths_of_threads[] = {"/app.slice/web-1.service", "/"};

	(void)state;
	for (size_t i = 0; i < SAVED_HOST_COUNT; i++) {
		char *directory = saved_host_unpack(saved_host_names[i]);
		char *roots_directory = memory_format("%s/tree", directory);
		struct feature_checks checks = {0};
		struct roots roots;
		const struct cgroup_record *record;

		make_cgroups(paths_of_threads, 2);
		tree_open_roots(roots_directory, &roots);
		feature_check_all(&checks, &roots, 0, NULL);
		assert_int_equal(checks.results[FEATURE_DELAYS].state, FEATURE_STATE_ON);
		assert_int_equal(checks.results[FEATURE_SCHEDSTATS].state, FEATURE_STATE_ON);
		assert_int_equal(checks.results[FEATURE_SCHED_INFO].state, FEATURE_STATE_ON);
		assert_int_equal(checks.results[FEATURE_IO_ACCOUNTING].state, FEATURE_STATE_ON);
		assert_int_equal(checks.results[FEATURE_PRESSURE].state, FEATURE_STATE_ON);
		assert_int_equal(checks.results[FEATURE_IRQ_DELAY].reason, REASON_NOT_IN_KERNEL);
		assert_int_equal(checks.results[FEATURE_PID_NAMESPACE].reason, REASON_OTHER_NAMESPACE);
		assert_int_equal(checks.delayacct_on_since_ns, 0);
		host_read(&roots, &checks, snapshot);
		assert_int_equal(snapshot->host.online_cpus.value, 2);
		assert_int_equal(snapshot->host.numa_nodes.value, 1);
		assert_string_equal(snapshot->host.task_delayacct, "on");
		assert_string_equal(snapshot->host.config_task_xacct, "unknown");
		assert_string_equal(snapshot->host.cpu_model, "QEMU TCG CPU version 2.5+");
		pressure_read(&roots, REASON_READ, snapshot);
		sched_ext_read(&roots, snapshot);
		assert_int_equal(snapshot->sched_ext.present, expected[i].sched_ext);
		cgroup_read_records(&roots, NULL, NULL, snapshot);
		record = record_of("/app.slice/web-1.service");
		assert_int_equal(record->usage_usec, expected[i].usage_usec);
		assert_int_equal(record->memory_stat.count, expected[i].stat_entries);
		assert_int_equal(record->memory_events.count, expected[i].events);
		assert_int_equal(record->max_quota_us.value, 50000);
		assert_int_equal(record->weight.value, 200);
		assert_int_equal(record->weight_nice.value, -3);
		assert_int_equal(record->memory_max.value, 67108864);
		assert_true(record->memory_low.value == UINT64_MAX);
		assert_int_equal(record->pids_current.value, 20);
		assert_int_equal(record->pids_max.value, 64);
		assert_true(record->pressure.resource[PRESSURE_CPU].full.total_usec > 0);
		record = record_of("/");
		assert_true(record->usage_usec > 0);
		assert_int_equal(record->missing[CGROUP_FILE_MEMORY_CURRENT], REASON_NOT_IN_KERNEL);
		feature_release(&checks);
		roots_close(&roots);
		saved_host_remove(directory);
		free(roots_directory);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_centi, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_pressure_rows, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_host_pressure, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_cgroup_members, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_throttling_counted_by_v1, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_controllers_of_v1, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_cpu_max, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_cgroup_budget, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_cgroup_limits, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_kernel_config, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_sched_ext, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_host, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_switches, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_delays_without_switch, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_load, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_devices, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_devices_are_bounded, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_devices_of_this_host, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_size, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_provenance_of_this_host, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_saved_hosts, set_up, tear_down),
	};

	if (!saved_host_can_unpack()) {
		printf("SKIP: tar or zstd is missing\n");
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
