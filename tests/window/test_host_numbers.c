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
		cmocka_unit_test_setup_teardown(test_disks, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_networks, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
