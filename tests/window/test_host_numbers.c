/* SPDX-License-Identifier: GPL-2.0-only */
/* What each CPU, disk and network did between two rounds. */
#include "tests/cmocka_include.h"

#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/memory.h"
#include "window/host_numbers.h"

static struct snapshot *before, *now;

static int set_up(void **state)
{
	(void)state;
	before = snapshot_create();
	now = snapshot_create();
	before->provenance.devices.read_at_ns = 10 * NS_PER_S;
	now->provenance.devices.read_at_ns = 12 * NS_PER_S;
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	snapshot_release(before);
	snapshot_release(now);
	return 0;
}

/* CPU 1 is offline, 3 came, 4 went; of 5 the time spent idle went backwards. */
static void test_cpus(void **state)
{
	static struct cpu_ticks first[] = {{0, 100, 200}, {2, 50, 60}, {4, 1, 2}, {5, 40, 100}};
	static struct cpu_ticks then[] = {{0, 175, 300}, {2, 50, 160}, {3, 5, 9}, {5, 39, 200}};
	double *shares;
	size_t count;

	(void)state;
	before->provenance.devices.cpus = first;
	before->provenance.devices.cpu_count = ARRAY_COUNT(first);
	assert_null(host_cpu_shares(now, before, &count));
	now->provenance.devices.cpus = then;
	now->provenance.devices.cpu_count = ARRAY_COUNT(then);
	now->provenance.devices.cpu_end = 7;
	assert_null(host_cpu_shares(now, NULL, &count));
	assert_null(host_cpu_shares(NULL, before, &count));
	shares = host_cpu_shares(now, before, &count);
	assert_int_equal(count, 7);
	assert_true(fabs(shares[0] - 0.25) < 1e-9);
	assert_true(isnan(shares[1]));
	assert_true(shares[2] == 1);
	assert_true(isnan(shares[3]));
	assert_true(isnan(shares[4]));
	assert_true(shares[5] == 1);
	assert_true(isnan(shares[6]));
	free(shares);
}

/* A CPU that was offline between two rounds restarts its idle count. */
static void test_cpu_that_was_away(void **state)
{
	static struct cpu_ticks first[] = {{0, 100, 200}, {1, 100, 200}};
	static struct cpu_ticks then[] = {{0, 200, 404}, {1, 2600, 2700}};
	double *shares;
	size_t count;

	(void)state;
	before->provenance.cpu_ticks_at_ns = 10 * NS_PER_S;
	now->provenance.cpu_ticks_at_ns = 12 * NS_PER_S;
	before->provenance.devices.cpus = first;
	now->provenance.devices.cpus = then;
	before->provenance.devices.cpu_count = now->provenance.devices.cpu_count = 2;
	shares = host_cpu_shares(now, before, &count);
	assert_int_equal(count, 2);
	assert_true(fabs(shares[0] - 104.0 / 204) < 1e-9);
	assert_true(isnan(shares[1]));
	free(shares);
}

static void expect_busy(const char *expected)
{
	struct buffer text = {0};

	host_append_busy(now, before, &text);
	assert_string_equal(text.data != NULL ? text.data : "", expected);
	buffer_release(&text);
}

/* Sets ticks `seconds` after the first round: 190 of 200 per second busy, and `idle` idle ticks. */
static void set_ticks(struct snapshot *snapshot, uint64_t seconds, uint64_t idle)
{
	struct provenance *provenance = &snapshot->provenance;

	provenance->cpu_ticks_known = true;
	provenance->cpu_ticks_at_ns = (10 + seconds) * NS_PER_S;
	provenance->cpu_ticks[0] = 1000 + 190 * seconds;
	provenance->cpu_ticks[3] = idle;
}

/* Idle time jumps when a CPU goes or comes: the kernel counts it differently for online CPUs. */
static void test_changed_cpus(void **state)
{
	static struct cpu_ticks two[] = {{0, 100, 200}, {1, 100, 200}}, other[] = {{0, 100, 200}, {2, 1, 2}};
	struct provenance *to = &now->provenance, *from = &before->provenance;

	(void)state;
	set_ticks(before, 0, 500);
	set_ticks(now, 2, 520);
	expect_busy("cpu 95%");
	before->host.online_cpus = now->host.online_cpus = (struct optional_u64){2, true};
	expect_busy("cpu 95% of 2");
	/* the largest rounding error, then one tick more */
	set_ticks(now, 2, 524);
	expect_busy("cpu 94% of 2");
	set_ticks(now, 2, 525);
	expect_busy("cpu unknown (more ticks than time)");
	/* a jump that a long window would hide, and one backwards */
	set_ticks(now, 2, 501);
	now->host.online_cpus.value = 1;
	expect_busy("cpu unknown (CPU hotplug)");
	now->host.online_cpus.value = 2;
	set_ticks(now, 2, 499);
	expect_busy("cpu unknown (CPU hotplug)");
	/* one CPU went and another came */
	set_ticks(now, 2, 520);
	from->devices.cpus = two;
	to->devices.cpus = other;
	from->devices.cpu_count = to->devices.cpu_count = 2;
	expect_busy("cpu unknown (CPU hotplug)");
	to->devices.cpus = two;
	expect_busy("cpu 95% of 2");
	/* the beginning of a window has only the CPU list */
	before->host.online_cpus.present = false;
	before->host.online_cpus.value = 0;
	to->devices.cpu_count = 1;
	now->host.online_cpus.value = 1;
	expect_busy("cpu unknown (CPU hotplug)");
	/* ticks that were not read give no reason here */
	from->cpu_ticks_known = false;
	expect_busy("");
}

static void set_disks(struct snapshot *snapshot, struct device disks[], size_t count)
{
	snapshot->provenance.devices.disks = disks;
	snapshot->provenance.devices.disk_count = count;
}

/* The longest busy, not the one with the most bytes; what was replaced and what is new has no rate. */
static void test_disks(void **state)
{
	static struct device first[] = {
		{"sda", 500, 1000, 1000}, {"sdb", UINT32_MAX - 99, 0, 0}, {"sdc", 0, 9, 9}};
	static struct device then[] = {{"sdd", 9000, 1 << 30, 0},
				       {"sda", 900, 1000 + (64 << 20), 1000},
				       {"sdb", 900, 4096, 8192},
				       {"sdc", 9000, 8, 9}};
	struct host_device_rate rate;

	(void)state;
	set_disks(before, first, ARRAY_COUNT(first));
	assert_false(host_busiest_disk(now, before, &rate));
	set_disks(now, then, ARRAY_COUNT(then));
	assert_false(host_busiest_disk(now, NULL, &rate));
	assert_true(host_busiest_disk(now, before, &rate));
	assert_string_equal(rate.name, "sdb");
	/* 1,000 ms of 2 s, over the end of a number of 32 bits */
	assert_true(fabs(rate.busy - 0.5) < 1e-9);
	assert_true(rate.read_per_s == 2048);
	assert_true(rate.write_per_s == 4096);
	before->provenance.devices.read_at_ns = 0;
	assert_false(host_busiest_disk(now, before, &rate));
}

/* Without any traffic the one that is used. */
static void test_networks(void **state)
{
	static struct device first[] = {{"idle0", 0, 0, 0}, {"eth0", 0, 1000, 2000}, {"eth1", 0, 10, 20}};
	static struct device then[] = {{"idle0", 0, 0, 0}, {"eth0", 0, 1000, 2000}, {"eth1", 0, 10, 620}};
	struct host_device_rate rate;

	(void)state;
	before->provenance.devices.networks = now->provenance.devices.networks = first;
	before->provenance.devices.network_count = now->provenance.devices.network_count = 3;
	assert_true(host_busiest_network(now, before, &rate));
	assert_string_equal(rate.name, "eth0");
	now->provenance.devices.networks = then;
	assert_true(host_busiest_network(now, before, &rate));
	assert_string_equal(rate.name, "eth1");
	assert_true(rate.read_per_s == 0);
	assert_true(rate.write_per_s == 300);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_cpus, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_cpu_that_was_away, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_changed_cpus, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_disks, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_networks, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
