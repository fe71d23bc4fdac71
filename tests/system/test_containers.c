/* SPDX-License-Identifier: GPL-2.0-only */
/* Containers by the names that their runtimes keep, in real cgroups; the state files are made up. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../cmocka_include.h"
#include "../needs.h"
#include "../wait.h"
#include "harness.h"

#define BARE_ID "ba2e00000000000000000000000000000000000000000000000000000000cccc"

enum {
	ALIKE = 65, /* cgroups of a user, with ids that begin like root's: more than one round looks up */
	USER = 12345,
};

/* Cgroup directories, parents first, and the process in each; NULL for none. */
static const struct {
	const char *cgroup, *process;
} containers[] = {
	{"docker-" DOCKER_ID ".scope", "boxed-web"},
	{POD_ID, "boxed-cart"},
	{"docker-" BARE_ID ".scope", "boxed-bare"},
	{"docker-" BARE_ID ".scope/docker-" DOCKER_ID ".scope", "boxed-inner"},
	{"libpod-conmon-" DOCKER_ID ".scope", "boxed-conmon"},
	{"lxc.payload.lx", NULL},
	{"lxc.payload.lx/nginx.service", "boxed-lxc"},
	{"machine-nsp\\x2da.scope", NULL},
	{"machine-nsp\\x2da.scope/payload", NULL},
	{"machine-nsp\\x2da.scope/payload/nginx.service", "boxed-nspawn"},
	{"nginx.service", "boxed-nginx"},
};

enum {
	CONTAINERS = sizeof(containers) / sizeof(containers[0]),
	OLD = 4, /* v1 cgroups */
	CGROUPS = ALIKE + 2 + CONTAINERS + OLD,
};

/* Created cgroups and started processes. */
static char parent[320];
static char *made[CGROUPS];
static pid_t children[CGROUPS];
static size_t count;

static void *sleep_for_good(void *unused)
{
	(void)unused;
	while (pause() < 0)
		;
	return NULL;
}

/* Sleeps until SIGUSR1, which ends the leader and leaves another thread. */
static void idle(void)
{
	sigset_t signals;
	pthread_t thread;
	int signal;

	sigemptyset(&signals);
	sigaddset(&signals, SIGUSR1);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	sigwait(&signals, &signal);
	if (pthread_create(&thread, NULL, sleep_for_good, NULL) == 0)
		syscall(SYS_exit, 0);
	_exit(1);
}

static bool make(const char *directory, const char *process)
{
	char path[512];
	pid_t child;
	FILE *file;

	assert_true(count < CGROUPS);
	if (mkdir(directory, 0755) != 0)
		return false;
	made[count++] = strdup(directory);
	if (process == NULL)
		return true;
	child = fork();
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		prctl(PR_SET_NAME, process);
		idle();
	}
	children[count - 1] = child;
	snprintf(path, sizeof(path), "%s/cgroup.procs", directory);
	file = fopen(path, "we");
	assert_non_null(file);
	fprintf(file, "%d\n", (int)child);
	assert_int_equal(fclose(file), 0);
	return true;
}

/* Makes a user's cgroup that contains the id of root's container and ids with the same beginning. */
static void make_thieves(void)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/given", parent);
	assert_true(make(path, NULL));
	assert_int_equal(chown(path, USER, USER), 0);
	for (unsigned int i = 0; i < ALIKE; i++) {
		snprintf(path, sizeof(path), "%s/given/%.16s%048u", parent, DOCKER_ID, i);
		assert_true(make(path, "boxed-alike"));
	}
	snprintf(path, sizeof(path), "%s/given/docker-%s.scope", parent, DOCKER_ID);
	assert_true(make(path, "boxed-thief"));
}

static int start_all(void **state)
{
	char mounted[256], path[512];

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
	make_thieves();
	for (size_t i = 0; i < CONTAINERS; i++) {
		snprintf(path, sizeof(path), "%s/%s", parent, containers[i].cgroup);
		assert_true(make(path, containers[i].process));
	}
	return 0;
}

static void end(size_t index)
{
	if (children[index] > 0) {
		kill(children[index], SIGKILL);
		waitpid(children[index], NULL, 0);
	}
	await("the cgroup to be empty", rmdir(made[index]) == 0);
	free(made[index]);
}

static int end_all(void **state)
{
	(void)state;
	if (count == 0)
		return 0;
	while (count != 0)
		end(--count);
	await("the cgroup to be empty", rmdir(parent) == 0);
	return 0;
}

static void need_containers(void)
{
	if (count == 0)
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
	expect_output((const char *[]){"-b", "-n", "1", "-d", "0.3", "-g", "container", "--columns", "thr",
				       "--format", "tsv", "--limit", "0", NULL},
		      (const char *[]){"\tshop-web-1\t1", "\tshop/cart-0/app\t1", "\tba2e00000000\t2", NULL},
		      NULL);
	expect_output((const char *[]){"-b", "-n", "1", "-d", "0.3", "-g", "thread-exact", "-c",
				       "shop/cart-0", "--columns", "container", "--format", "tsv", "--limit",
				       "0", NULL},
		      (const char *[]){"\tboxed-cart\tshop/cart-0/app", NULL}, "boxed-web");
	expect_output((const char *[]){"-b", "-n", "1", "-d", "0.3", "--filter", "container = shop-web-1",
				       "--columns", "thr", "--format", "tsv", "--limit", "0", NULL},
		      (const char *[]){"\tboxed-web\t1", NULL}, "boxed-cart");
	/* no two are one */
	expect_output(
		(const char *[]){"-b", "-n", "1", "-d", "0.3", "-g", "cgroup", "--columns", "thr", "--format",
				 "tsv", "--limit", "0", NULL},
		(const char *[]){"/docker-d0c0e2000000.scope\t1", "/docker-ba2e00000000.scope\t1", NULL},
		"docker-{H}");
}

/* A user's cgroup gets no container name; units of the host and of two system containers have three rows. */
static void test_whose(void **state)
{
	(void)state;
	need_containers();
	expect_output((const char *[]){"-b", "-n", "1", "-d", "0.3", "-g", "thread-exact", "--filter",
				       "process = boxed-*", "--columns", "container", "--format", "tsv",
				       "--limit", "0", NULL},
		      (const char *[]){"\tboxed-web\tshop-web-1", "\tboxed-thief\td0c0e2000000",
				       "\tboxed-alike\t65 containers", "\tboxed-inner\tba2e00000000",
				       "\tboxed-conmon\tlibpod-conmon-" DOCKER_ID ".scope",
				       "\tboxed-lxc\tlx/nginx.service", "\tboxed-nspawn\tnsp-a/nginx.service",
				       "\tboxed-nginx\tnginx.service", NULL},
		      NULL);
	expect_output((const char *[]){"-b", "-n", "1", "-d", "0.3", "--filter", "container = shop-web-1",
				       "--columns", "thr", "--format", "tsv", "--limit", "0", NULL},
		      (const char *[]){"\tboxed-web\t1", NULL}, "boxed-thief");
}

/* Docker on v1 controllers: the v2 cgroup does not show the container. */
static void test_old_hierarchies(void **state)
{
	static const char *const hierarchies[] = {"/sys/fs/cgroup/pids", "/sys/fs/cgroup/memory"};
	static const char *const backends[] = {"auto", "procfs"};
	const size_t before = count;
	char ended[32], link[8];
	pid_t child = 0;

	(void)state;
	need_containers();
	for (size_t i = 0; i < 2; i++) {
		char path[512], number[16];

		snprintf(path, sizeof(path), "%s/ctop-docker-%d", hierarchies[i], (int)getpid());
		if (access(hierarchies[i], W_OK) != 0 || !make(path, NULL))
			skip_test("no controllers of cgroup v1 here that can be written");
		snprintf(path, sizeof(path), "%s/ctop-docker-%d/%s", hierarchies[i], (int)getpid(),
			 DOCKER_ID);
		assert_true(make(path, i == 0 ? "boxed-old" : NULL));
		child = i == 0 ? children[count - 1] : child;
		snprintf(number, sizeof(number), "%d", (int)child);
		snprintf(path, sizeof(path), "%s/cgroup.procs", made[count - 1]);
		write_file(path, number, strlen(number));
	}
	for (size_t i = 0; i < 2; i++) {
		expect_output((const char *[]){"-b", "-n", "1", "-d", "0.3", "--backend", backends[i],
					       "--filter", "container = shop-web-1", "--columns", "thr",
					       "--format", "tsv", "--limit", "0", NULL},
			      (const char *[]){"\tboxed-old\t1", "\tboxed-web\t1", NULL}, NULL);
		expect_output((const char *[]){"-b", "-n", "1", "-d", "0.3", "--backend", backends[i], "-c",
					       DOCKER_ID, "--columns", "cgroup", "--format", "tsv", "--limit",
					       "0", NULL},
			      (const char *[]){"\tboxed-old\t/ctop-docker-", NULL}, NULL);
	}
	/* procfs shows an ended leader in the v1 root: proc_cgroup_show() of kernel/cgroup/cgroup.c */
	kill(child, SIGUSR1);
	snprintf(ended, sizeof(ended), "/proc/%d/exe", (int)child);
	await("the leader has ended", readlink(ended, link, sizeof(link)) < 0);
	for (size_t i = 0; i < 2; i++)
		expect_output((const char *[]){"-b", "-n", "1", "-d", "0.3", "--backend", backends[i],
					       "--filter", "container = shop-web-1", "--columns", "thr",
					       "--format", "tsv", "--limit", "0", NULL},
			      (const char *[]){"\tboxed-old\t2", NULL}, NULL);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	children[before + 1] = 0;
	while (count > before)
		end(--count);
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
	expect_output((const char *[]){"-b", "-n", "1", "-d", "0.3", "-g", "thread-exact", "--filter",
				       "process = boxed-*", "--columns", "container", "--format", "tsv",
				       "--limit", "0", NULL},
		      (const char *[]){"\tboxed-web\td0c0e2000000", NULL}, "shop-web-1");
	expect_output((const char *[]){"show", path, "-g", "container", "--columns", "group,threads",
				       "--format", "tsv", "--limit", "0", NULL},
		      (const char *[]){"shop-web-1\t1", "shop/cart-0/app\t1", "ba2e00000000\t2", NULL}, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_live),
		cmocka_unit_test(test_whose),
		cmocka_unit_test(test_old_hierarchies),
		cmocka_unit_test(test_in_file),
	};

	return cmocka_run_group_tests(tests, start_all, end_all);
}
