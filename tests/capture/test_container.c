/* SPDX-License-Identifier: GPL-2.0-only */
/* Names of containers, from state files as the runtimes write them and as somebody who means harm may. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/cgroup.h"
#include "tests/cmocka_include.h"
#include "tests/needs.h"

#include "capture/host/container.h"
#include "snapshot/container_names.h"

#define ID     "3f4e0b6a9d1c2e5f708192a3b4c5d6e7f8091a2b3c4d5e6f708192a3b4c5d6e7"
#define OTHER  "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define UNLIKE "abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789"
#define LIKE   "abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456780"
#define DOCKER "var/lib/docker/containers/" ID
#define CRI    "run/containerd/io.containerd.runtime.v2.task/k8s.io/" ID
#define CRIO   "var/lib/containers/storage/overlay-containers/" ID "/userdata"
#define PODMAN "var/lib/containers/storage/overlay-containers"

static char root[] = "/tmp/ctop-containers-XXXXXX";
static int root_descriptor = -1;

static void write_file(const char *directory, const char *name, const char *text)
{
	char command[512], path[512];
	FILE *file;

	snprintf(command, sizeof(command), "mkdir -p %s/%s", root, directory);
	assert_int_equal(system(command), 0);
	snprintf(path, sizeof(path), "%s/%s/%s", root, directory, name);
	file = fopen(path, "we");
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static void remove_all(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s/*", root);
	assert_int_equal(system(command), 0);
}

static void expect_name(const char *id, const char *name)
{
	struct buffer answer = {0};

	assert_int_equal(container_look_up(root_descriptor, id, strlen(id), &answer), 0);
	buffer_append_char(&answer, '\0');
	assert_string_equal(answer.data, name);
	buffer_release(&answer);
	remove_all();
}

static void test_runtimes(void **state)
{
	(void)state;
	write_file(
		DOCKER, "config.v2.json",
		"{\"StreamConfig\":{},\"State\":{\"Running\":true},\"ID\":\"" ID "\",\"Config\":{\"Labels\":{"
		"\"com.docker.compose.service\":\"web\"}},\"Name\":\"/shop-web-1\",\"Driver\":\"overlay2\"}");
	expect_name(ID, "shop-web-1");
	write_file(DOCKER, "config.v2.json",
		   "{\"Config\":{\"Labels\":{\"io.kubernetes.container.name\":\"app\",\"io.kubernetes.pod."
		   "name\":"
		   "\"cart-0\",\"io.kubernetes.pod.namespace\":\"shop\"}},\"Name\":\"/"
		   "k8s_app_cart-0_shop_1_0\"}");
	expect_name(ID, "shop/cart-0/app");
	/* labels of its image */
	write_file(DOCKER, "config.v2.json",
		   "{\"Config\":{\"Labels\":{\"io.kubernetes.container.name\":\"etcd\",\"io.kubernetes.pod."
		   "name\":\"etcd-0\",\"io.kubernetes.pod.namespace\":\"kube-system\"}},\"Name\":\"/x\"}");
	expect_name(ID, "x");
	write_file(CRI, "config.json",
		   "{\"ociVersion\":\"1.1.0\",\"process\":{\"args\":[\"x\"]},\"annotations\":{"
		   "\"io.kubernetes.cri.container-name\":\"app\",\"io.kubernetes.cri.container-type\":"
		   "\"container\","
		   "\"io.kubernetes.cri.sandbox-name\":\"cart-7d9f8c6b5-x2x9z\","
		   "\"io.kubernetes.cri.sandbox-namespace\":\"shop\"}}");
	expect_name(ID, "shop/cart-7d9f8c6b5-x2x9z/app");
	write_file(CRI, "config.json",
		   "{\"annotations\":{\"io.kubernetes.cri.container-type\":\"sandbox\","
		   "\"io.kubernetes.cri.sandbox-name\":\"cart-1\",\"io.kubernetes.cri.sandbox-namespace\":"
		   "\"shop\"}}");
	expect_name(ID, "shop/cart-1/pause");
	write_file(CRIO, "config.json",
		   "{\"annotations\":{\"io.kubernetes.container.name\":\"db\",\"io.kubernetes.pod.name\":"
		   "\"db-0\","
		   "\"io.kubernetes.pod.namespace\":\"shop\"}}");
	expect_name(ID, "shop/db-0/db");
	write_file(PODMAN, "containers.json",
		   "[{\"id\":\"" OTHER "\",\"names\":[\"other\"],\"image\":\"1\"},{\"id\":\"" ID
		   "\",\"names\":[\"cache\",\"second\"],\"layer\":\"2\"}]");
	expect_name(ID, "cache");
	write_file(PODMAN, "volatile-containers.json", "[{\"names\":[\"job\"],\"id\":\"" ID "\"}]");
	expect_name(ID, "job");
	write_file("run/containers/storage/vfs-containers", "volatile-containers.json",
		   "[{\"names\":[\"transient\"],\"id\":\"" ID "\"}]");
	expect_name(ID, "transient");
	expect_name(ID, "");
	expect_name("not an id", "");
}

#define LIST(name) "[{\"id\":\"" ID "\",\"names\":[\"" name "\"]}]"

/* Podman's state for each driver and configuration, and Docker's for each data root. */
static void test_places(void **state)
{
	static const char *const drivers[] = {"overlay", "vfs", "btrfs", "zfs", "aufs"};
	char directory[128];

	(void)state;
	for (size_t i = 0; i < sizeof(drivers) / sizeof(drivers[0]); i++) {
		snprintf(directory, sizeof(directory), "var/lib/containers/storage/%s-containers",
			 drivers[i]);
		write_file(directory, "containers.json", LIST("cache"));
		expect_name(ID, "cache");
	}
	write_file(
		"etc/containers", "storage.conf",
		"# graphroot = \"/wrong\"\n[engine]\ngraphroot = \"/wrong\"\n[storage]\ndriver = \"btrfs\"\n"
		"  graphroot=\"/data/pods\" # \"here\"\n");
	write_file("usr/share/containers", "storage.conf", "[storage]\ngraphroot = \"/other\"\n");
	write_file("wrong/vfs-containers", "containers.json", LIST("wrong"));
	write_file("other/vfs-containers", "containers.json", LIST("other"));
	write_file("data/pods/btrfs-containers", "containers.json", LIST("here"));
	expect_name(ID, "here");
	write_file("usr/share/containers", "storage.conf", "[storage]\nrunroot = '/srv/run'\n");
	write_file("srv/run/vfs-containers/" ID "/userdata", "config.json",
		   "{\"annotations\":{\"io.kubernetes.container.name\":\"db\","
		   "\"io.kubernetes.pod.name\":\"db-0\"}}");
	expect_name(ID, "db-0/db");
	/* default directories if the configuration names none or a relative path */
	write_file("etc/containers", "storage.conf", "[storage]\ngraphroot = relative\ngraphroot\n");
	write_file(PODMAN, "containers.json", LIST("usual"));
	expect_name(ID, "usual");
	write_file("etc/docker", "daemon.json", "{\"debug\":true,\"data-root\":\"/data/docker\"}");
	write_file("data/docker/containers/" ID, "config.v2.json", "{\"Name\":\"/moved\"}");
	expect_name(ID, "moved");
	write_file("etc/docker", "daemon.json", "{\"data-root\":\"/gone\"}");
	write_file(DOCKER, "config.v2.json", "{\"Name\":\"/stays\"}");
	expect_name(ID, "stays");
}

/* A name is complete or absent: two cut names could be equal. */
static void test_long_names(void **state)
{
	char text[3 * CONTAINER_NAME_MAX], name[CONTAINER_NAME_MAX + 1];

	(void)state;
	memset(name, 'n', sizeof(name));
	name[CONTAINER_NAME_MAX - 1] = '\0';
	snprintf(text, sizeof(text), "{\"Name\":\"/%s\"}", name);
	write_file(DOCKER, "config.v2.json", text);
	expect_name(ID, name);
	snprintf(text, sizeof(text), "{\"Name\":\"/%sm\"}", name);
	write_file(DOCKER, "config.v2.json", text);
	expect_name(ID, "");
	/* the same for a name of several parts */
	name[CONTAINER_NAME_MAX / 2] = '\0';
	snprintf(text, sizeof(text),
		 "{\"annotations\":{\"io.kubernetes.cri.sandbox-name\":\"%s\","
		 "\"io.kubernetes.cri.sandbox-namespace\":\"%s\"}}",
		 name, name);
	write_file(CRI, "config.json", text);
	expect_name(ID, "");
}

/* What is no state file, or leads elsewhere, takes no time and gives no name. */
static void test_harm(void **state)
{
	char command[512];
	struct buffer deep = {0};

	(void)state;
	write_file(DOCKER, "other", "{\"Name\":\"/stolen\"}");
	snprintf(command, sizeof(command), "ln -s other %s/" DOCKER "/config.v2.json", root);
	assert_int_equal(system(command), 0);
	expect_name(ID, "");
	write_file(DOCKER, "other", "");
	snprintf(command, sizeof(command), "mkfifo %s/" DOCKER "/config.v2.json", root);
	assert_int_equal(system(command), 0);
	expect_name(ID, "");
	write_file("elsewhere", "config.v2.json", "{\"Name\":\"/stolen\"}");
	snprintf(command, sizeof(command),
		 "mkdir -p %s/var/lib/docker/containers && ln -s %s/elsewhere %s/" DOCKER, root, root, root);
	assert_int_equal(system(command), 0);
	expect_name(ID, "");
	/* a sparse file of 1 GB */
	write_file(DOCKER, "config.v2.json", "{\"Name\":\"/large\"}");
	snprintf(command, sizeof(command), "truncate -s 1G %s/" DOCKER "/config.v2.json", root);
	assert_int_equal(system(command), 0);
	expect_name(ID, "");
	buffer_append_text(&deep, "{\"Config\":");
	for (int i = 0; i < 100000; i++)
		buffer_append_text(&deep, "{\"Labels\":");
	write_file(DOCKER, "config.v2.json", deep.data);
	buffer_release(&deep);
	expect_name(ID, "");
	write_file(DOCKER, "config.v2.json", "{\"Name\":{\"a\":1},\"Config\":\"none\",\"annotations\":[1]}");
	expect_name(ID, "");
	write_file(DOCKER, "config.v2.json", "{\"Name\":\"/cut");
	expect_name(ID, "");
	/* what a name may have in it is for those who show it */
	write_file(DOCKER, "config.v2.json", "{\"Name\":\"/a\\u001b[31mb\\u202ec\"}");
	expect_name(ID, "a\033[31mb\342\200\256c");
}

static void expect_id(const char *path, const char *id)
{
	const char *found = container_find_id(path, strlen(path));

	if (id == NULL) {
		assert_null(found);
		return;
	}
	assert_non_null(found);
	assert_memory_equal(found, id, CONTAINER_ID_LENGTH);
}

static void test_paths(void **state)
{
	(void)state;
	expect_id("/system.slice/docker-" ID ".scope", ID);
	expect_id("/docker/" ID, ID);
	expect_id("/docker/" ID "/init", ID);
	expect_id(
		"/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1b2c.slice/cri-containerd-" ID
		".scope",
		ID);
	expect_id("/kubepods/besteffort/pod1b2c/" ID, ID);
	expect_id("/machine.slice/libpod-" ID ".scope/container", ID);
	expect_id("/system.slice/containerd.service/kubepods-pod1.slice:cri-containerd:" ID, ID);
	expect_id("/system.slice/web.service/libpod-payload-" ID, ID);
	/* a nested container belongs to the outer one */
	expect_id("/docker/" OTHER "/docker/" ID, OTHER);
	/* the monitor of a container is not in the container */
	expect_id("/machine.slice/libpod-conmon-" ID ".scope", NULL);
	expect_id("/system.slice/crio-conmon-" ID ".scope", NULL);
	expect_id("/libpod_parent/conmon-" ID, NULL);
	expect_id("/machine.slice/libpod-myconmon-" ID ".scope", ID);
	expect_id("/docker/" OTHER "/libpod-conmon-" ID ".scope", OTHER);
	expect_id("/system.slice/docker.service", NULL);
	expect_id("/" ID "0", NULL);
	expect_id("/docker/0123456789abcdef", NULL);
	expect_id("", NULL);
}

static void expect_label(const char *path, const char *label)
{
	struct buffer name = {0};

	container_append_name(path, strlen(path), &name);
	buffer_append_char(&name, '\0');
	assert_string_equal(name.data, label);
	buffer_release(&name);
}

static void test_names(void **state)
{
	static const char inner[] = "/lxc.payload.web/docker/" ID;

	(void)state;
	expect_label("/docker/" ID, "3f4e0b6a9d1c");
	assert_false(container_names_know(ID));
	container_names_set(ID, "");
	assert_true(container_names_know(ID));
	expect_label("/docker/" ID, "3f4e0b6a9d1c");
	container_names_set(ID, "shop/cart-0/app");
	expect_label("/docker/" ID "/init", "shop/cart-0/app");
	/* a cgroup that a user may make */
	expect_label("/user.slice/user-1000.slice/user@1000.service/app.slice/" ID, "3f4e0b6a9d1c");
	expect_label("/system.slice/nginx.service", "nginx.service");
	expect_label("/user.slice/user-1000.slice/user@1000.service/app.slice/editor.service",
		     "editor.service");
	expect_label("/system.slice/postgresql.service/workers", "postgresql.service");
	expect_label("/user.slice/user-1000.slice/session-3.scope", "session-3.scope");
	/* a system container has units, too */
	expect_label("/lxc.payload.web/system.slice", "web");
	expect_label("/lxc.payload.web/system.slice/nginx.service", "web/nginx.service");
	expect_label("/lxc/web/init.scope", "web/init.scope");
	expect_label("/lxc.payload/web.a/system.slice/nginx.service/worker", "web.a/nginx.service");
	expect_label("/lxc.monitor.web", "lxc.monitor.web");
	expect_label("/machine.slice/machine-a\\x2db.scope/payload/system.slice/nginx.service",
		     "a-b/nginx.service");
	expect_label("/machine.slice/systemd-nspawn@web.service/payload", "web");
	expect_label("/machine.slice/machine-a\\x2fb\\x01.scope/payload", "a\\x2fb\\x01");
	expect_label("/machine.slice/machine-web.scope/supervisor", "machine-web.scope");
	expect_label("/machine.slice/machine-qemu\\x2d3\\x2dweb.scope/libvirt/vcpu0",
		     "machine-qemu\\x2d3\\x2dweb.scope");
	expect_label("/machine.slice/libpod-conmon-" ID ".scope", "libpod-conmon-" ID ".scope");
	/* container ids inside a system container are not this host's */
	expect_label("/lxc.payload.web/system.slice/docker-" ID ".scope", "web/3f4e0b6a9d1c");
	assert_null(container_find_own_id(inner, strlen(inner)));
	assert_true(container_has(inner, strlen(inner)));
	assert_false(container_has("/system.slice/nginx.service", 27));
	expect_label("/batch", "batch");
	expect_label("/", "/");
	expect_label("", "/");
}

/* Finds each of several ids with the same beginning. */
static void test_alike(void **state)
{
	char id[CONTAINER_ID_LENGTH + 1], name[32], path[128];

	(void)state;
	for (int turn = 0; turn < 2; turn++) {
		for (unsigned int i = 0; i < 65; i++) {
			snprintf(id, sizeof(id), "%.16s%048u", OTHER, i);
			snprintf(name, sizeof(name), "alike-%u", i);
			snprintf(path, sizeof(path), "/docker/%s", id);
			if (turn == 0)
				container_names_set(id, name);
			assert_true(container_names_know(id));
			expect_label(path, name);
		}
	}
	/* an unnamed container is shortened only if its short id is unique */
	for (int turn = 0; turn < 2; turn++) {
		expect_label("/docker/" UNLIKE, "abcdef012345");
		expect_label("/docker/" LIKE, LIKE);
	}
}

static void set_directory(const char *path, bool is_users)
{
	container_directory_set(path, strlen(path), is_users);
}

static enum container_owner owner_of(const char *path)
{
	return container_owner(path, container_find_id(path, strlen(path)));
}

/* An id below a user's directory gets no name, at any depth, until root owns the directory. */
static void test_owners(void **state)
{
	static const char path[] = "/system.slice/build.service/jobs/docker-" ID ".scope";

	(void)state;
	container_names_set(ID, "payroll");
	assert_int_equal(owner_of(path), CONTAINER_OWNER_UNKNOWN);
	expect_label(path, "payroll");
	set_directory("/system.slice/build.service", true);
	assert_int_equal(owner_of(path), CONTAINER_OWNER_USER);
	expect_label(path, "3f4e0b6a9d1c");
	expect_label("/system.slice/build.service/" ID, "3f4e0b6a9d1c");
	expect_label("/system.slice/builder.service/" ID, "payroll");
	expect_label("/system.slice/docker-" ID ".scope", "payroll");
	/* then all above it are root's */
	set_directory("/system.slice/build.service/jobs", false);
	assert_int_equal(owner_of(path), CONTAINER_OWNER_ROOT);
	expect_label(path, "payroll");
	/* root has a user manager, too */
	expect_label("/user.slice/user-0.slice/user@0.service/" ID, "3f4e0b6a9d1c");
	set_directory("/user.slice/user-0.slice/user@0.service", false);
	expect_label("/user.slice/user-0.slice/user@0.service/" ID, "payroll");
	/* an id at the top level */
	assert_int_equal(owner_of("/" ID), CONTAINER_OWNER_UNKNOWN);
	set_directory("", false);
	assert_int_equal(owner_of("/" ID), CONTAINER_OWNER_ROOT);
	expect_label("/" ID, "payroll");
}

/* Makes a user's or root's cgroup in a v1 hierarchy, and below it a cgroup named by an id. */
static void make_delegated(const char *hierarchy, const char *name, uid_t user)
{
	char path[256], below[384];

	snprintf(path, sizeof(path), "/sys/fs/cgroup/%s%s", hierarchy, name);
	snprintf(below, sizeof(below), "%s/" ID, path);
	if (test_cgroup_make(path) != 0)
		skip_test("cannot make a cgroup in a hierarchy of cgroup v1");
	assert_int_equal(chown(path, user, user), 0);
	assert_int_equal(test_cgroup_make(below), 0);
}

static void remove_delegated(const char *hierarchy, const char *name)
{
	char path[512];

	snprintf(path, sizeof(path), "/sys/fs/cgroup/%s%s/" ID, hierarchy, name);
	test_cgroup_remove(path);
	*strrchr(path, '/') = '\0';
	test_cgroup_remove(path);
}

/* A directory that a user owns in one v1 hierarchy counts as the user's, even if root owns it in another. */
static void test_owner_by_hierarchy(void **state)
{
	const char *const paths[ROOT_COUNT] = {NULL};
	struct snapshot *snapshot;
	char name[64], path[256];
	struct roots roots;
	uint32_t cgroup;

	(void)state;
	snprintf(name, sizeof(name), "/ctop-test-owners-%d", (int)getpid());
	snprintf(path, sizeof(path), "%s/" ID, name);
	make_delegated("pids", name, 0);
	make_delegated("systemd", name, 65534);
	snapshot = snapshot_create();
	assert_int_equal(roots_open(&roots, paths, NULL), 0);
	cgroup = snapshot_intern_name(&snapshot->strings, path, strlen(path));
	snapshot_intern_triple(snapshot, (struct triple){.cgroup = cgroup});
	containers_read(&roots, NULL, snapshot);
	remove_delegated("pids", name);
	remove_delegated("systemd", name);
	assert_int_equal(owner_of(path), CONTAINER_OWNER_USER);
	roots_close(&roots);
	snapshot_release(snapshot);
}

/* However many there were, those in use stay, and no more are kept than there is room for. */
static void test_forgets(void **state)
{
	char id[CONTAINER_ID_LENGTH + 1];

	(void)state;
	container_names_set(ID, "kept");
	for (unsigned int i = 0; i < 3 * CONTAINER_NAMES_MAX; i++) {
		snprintf(id, sizeof(id), "%016x%048x", i * 2654435761u, i);
		container_names_set(id, "passing");
		if (i % 1000 == 0)
			expect_label("/docker/" ID, "kept");
	}
	expect_label("/docker/" ID, "kept");
	snprintf(id, sizeof(id), "%016x%048x", 0u, 0u);
	assert_false(container_names_know(id));
}

static int make_root(void **state)
{
	(void)state;
	if (mkdtemp(root) == NULL)
		return -1;
	root_descriptor = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return root_descriptor >= 0 ? 0 : -1;
}

static int remove_root(void **state)
{
	(void)state;
	remove_all();
	close(root_descriptor);
	return rmdir(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_runtimes),
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_long_names),
		cmocka_unit_test(test_harm),
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_alike),
		cmocka_unit_test(test_owners),
		cmocka_unit_test(test_owner_by_hierarchy),
		cmocka_unit_test(test_forgets),
	};

	return cmocka_run_group_tests(tests, make_root, remove_root);
}
