/* SPDX-License-Identifier: GPL-2.0-only */
/* Containers by the names that their runtimes keep, in real cgroups; the state files are made up. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../cmocka_include.h"
#include "../needs.h"
#include "../wait.h"
#include "harness.h"

#define BARE_ID "ba2e00000000000000000000000000000000000000000000000000000000cccc"

enum {
	CONTAINERS = 3,
};

static const struct {
	const char *cgroup, *process;
} containers[CONTAINERS] = {
	{"docker-" DOCKER_ID ".scope", "boxed-web"},
	{POD_ID, "boxed-cart"},
	{"docker-" BARE_ID ".scope", "boxed-bare"},
};

static char parent[320];
static pid_t children[CONTAINERS];

static pid_t start_in(const char *cgroup, const char *process)
{
	char path[512];
	pid_t child;
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", parent, cgroup);
	if (mkdir(path, 0755) != 0)
		return -1;
	child = fork();
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		prctl(PR_SET_NAME, process);
		for (;;)
			pause();
	}
	snprintf(path, sizeof(path), "%s/%s/cgroup.procs", parent, cgroup);
	file = fopen(path, "we");
	assert_non_null(file);
	fprintf(file, "%d\n", (int)child);
	assert_int_equal(fclose(file), 0);
	return child;
}

static int start_all(void **state)
{
	char mounted[256];

	(void)state;
	if (!find_cgroup2(mounted))
		return 0;
	snprintf(parent, sizeof(parent), "%s/ctop-containers-%d", mounted, (int)getpid());
	if (mkdir(parent, 0755) != 0)
		return 0;
	if (!write_container_states()) {
		rmdir(parent);
		return 0;
	}
	for (size_t i = 0; i < CONTAINERS; i++)
		children[i] = start_in(containers[i].cgroup, containers[i].process);
	return 0;
}

static int end_all(void **state)
{
	char path[512];

	(void)state;
	for (size_t i = 0; i < CONTAINERS; i++) {
		if (children[i] <= 0)
			continue;
		kill(children[i], SIGKILL);
		waitpid(children[i], NULL, 0);
		snprintf(path, sizeof(path), "%s/%s", parent, containers[i].cgroup);
		await("the cgroup to be empty", rmdir(path) == 0);
	}
	return parent[0] != '\0' && children[0] > 0 ? rmdir(parent) : 0;
}

static void need_containers(void)
{
	if (children[0] <= 0)
		skip_test("needs CAP_SYS_ADMIN to mount, and a cgroup (v2) that can be written");
}

/* Runs ctop and expects, or does not expect, a text in what it prints. */
static void expect_output(const char *const *arguments, const char *const *wanted, const char *unwanted)
{
	struct run run;

	run_ctop_well(&run, arguments);
	for (; *wanted != NULL; wanted++) {
		if (strstr(run.output, *wanted) == NULL)
			fail_msg("no '%s' in:\n%s", *wanted, run.output);
	}
	if (unwanted != NULL && strstr(run.output, unwanted) != NULL)
		fail_msg("'%s' in:\n%s", unwanted, run.output);
	run_release(&run);
}

static void test_live(void **state)
{
	(void)state;
	need_containers();
	expect_output((const char *[]){"-b", "-n", "1", "-g", "container", "--columns", "thr", "--format",
				       "tsv", "--limit", "0", NULL},
		      (const char *[]){"\tshop-web-1\t1", "\tshop/cart-0/app\t1", "\tba2e00000000\t1", NULL},
		      NULL);
	expect_output((const char *[]){"-b", "-n", "1", "-g", "thread-exact", "-c", "shop/cart-0",
				       "--columns", "container", "--format", "tsv", "--limit", "0", NULL},
		      (const char *[]){"\tboxed-cart\tshop/cart-0/app", NULL}, "boxed-web");
	expect_output((const char *[]){"-b", "-n", "1", "--filter", "container = shop-web-1", "--columns",
				       "thr", "--format", "tsv", "--limit", "0", NULL},
		      (const char *[]){"\tboxed-web\t1", NULL}, "boxed-cart");
	/* no two are one */
	expect_output(
		(const char *[]){"-b", "-n", "1", "-g", "cgroup", "--columns", "thr", "--format", "tsv",
				 "--limit", "0", NULL},
		(const char *[]){"/docker-d0c0e2000000.scope\t1", "/docker-ba2e00000000.scope\t1", NULL},
		"{H}");
}

/* A file keeps the names for hosts that do not know these containers. */
static void test_in_file(void **state)
{
	const char *path = scratch_path("containers.ctprof.zst");
	struct run run;

	(void)state;
	need_containers();
	run_ctop_well(&run, (const char *[]){"capture", "-o", path, NULL});
	run_release(&run);
	assert_int_equal(umount("/run"), 0);
	assert_int_equal(umount("/var/lib"), 0);
	expect_output((const char *[]){"-b", "-n", "1", "-g", "container", "--columns", "thr", "--format",
				       "tsv", "--limit", "0", NULL},
		      (const char *[]){"\td0c0e2000000\t1", NULL}, "shop-web-1");
	expect_output((const char *[]){"show", path, "-g", "container", "--columns", "group,threads",
				       "--format", "tsv", "--limit", "0", NULL},
		      (const char *[]){"shop-web-1", "shop/cart-0/app", "ba2e00000000", NULL}, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_live),
		cmocka_unit_test(test_in_file),
	};

	return cmocka_run_group_tests(tests, start_all, end_all);
}
