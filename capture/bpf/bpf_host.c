/* SPDX-License-Identifier: GPL-2.0-only */
#include "bpf_host.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/remedy.h"
#include "base/rights.h"
#include "capture/bpf/task_record.h"

enum {
	SMALL_FILE = 4096
};

#define INITIAL_TIME_NAMESPACE 0xeffffffaU /* PROC_TIME_INIT_INO of include/linux/proc_ns.h */

static const char types_path[] = "/sys/kernel/btf/vmlinux";

/* The initial user namespace maps all ids to themselves: user_namespaces(7). */
static bool in_initial_user_namespace(void)
{
	struct buffer text = {0};
	unsigned int inside, outside, count;
	bool initial = file_read(AT_FDCWD, "/proc/self/uid_map", &text, SMALL_FILE) < 0 ||
		       sscanf(text.data, "%u %u %u", &inside, &outside, &count) != 3 ||
		       (inside == 0 && outside == 0 && count == UINT32_MAX);

	buffer_release(&text);
	return initial;
}

/*
 * The kernel tells programs of times since boot, which a time namespace shifts for us (time_namespaces(7)). A
 * kernel without such namespaces has no such file.
 */
static bool in_initial_time_namespace(void)
{
	struct stat status;

	return stat("/proc/self/ns/time", &status) != 0 || status.st_ino == INITIAL_TIME_NAMESPACE;
}

/*
 * With more rights than its user has by himself (getauxval(3), AT_SECURE), a program shows him what he could
 * not see without it. Root sees all of it anyway, and has it set where a security module changes the domain
 * of his program.
 */
static bool lends_rights(void)
{
	return getauxval(AT_SECURE) != 0 && getuid() != 0;
}

/*
 * Whether libbpf can read the kernel's types (BTF). btf__load_vmlinux_btf() tests for the file with
 * faccessat(3), which uses faccessat2(2); sandboxes older than that call may refuse it.
 */
static struct feature_result check_types(struct arena *arena)
{
	struct statfs status;
	const int found = faccessat(AT_FDCWD, types_path, R_OK, AT_EACCESS) == 0 ? 0 : -errno;

	if (found == 0)
		return feature_on();
	if (found == -ENOENT && statfs("/sys", &status) == 0 && status.f_type == SYSFS_MAGIC)
		return feature_off(REASON_NOT_IN_KERNEL, "no /sys/kernel/btf/vmlinux (CONFIG_DEBUG_INFO_BTF)",
				   NULL);
	if (found == -ENOENT)
		return feature_off(REASON_UNREADABLE, "no sysfs is mounted on /sys",
				   "mount -t sysfs sysfs /sys");
	if (found == -EPERM)
		return feature_off(REASON_NOT_PERMITTED,
				   "a sandbox (seccomp) refuses faccessat2(2), which libbpf uses to find "
				   "the kernel's types",
				   "a container runtime and libseccomp that know this call, or "
				   "--security-opt seccomp=unconfined");
	return BPF_OFF(arena, reason_of_errno(found), "/sys/kernel/btf/vmlinux: %s", strerror(-found));
}

struct feature_result bpf_check(struct arena *arena)
{
	static const uint64_t needed = RIGHTS_BIT(CAP_BPF) | RIGHTS_BIT(CAP_PERFMON);
	const struct feature_result types = check_types(arena);

	if (types.state != FEATURE_STATE_ON)
		return types;
	if (!in_initial_user_namespace())
		return feature_off(REASON_NOT_PERMITTED,
				   "needs the initial user namespace; run ctop outside of the container",
				   NULL);
	if (!in_initial_time_namespace())
		return feature_off(REASON_OTHER_NAMESPACE,
				   "needs the initial time namespace; run ctop outside of the container",
				   NULL);
	if (lends_rights())
		return feature_off(
			REASON_NOT_PERMITTED,
			"not with rights that the program has and its user lacks (file capabilities or the "
			"like): they would show every user the memory addresses and I/O of all",
			"run ctop as root");
	if ((rights_effective() & needed) != needed)
		return feature_off(REASON_NOT_PERMITTED, "needs CAP_BPF and CAP_PERFMON",
				   remedy_for_rights(arena, needed, false));
	return feature_on();
}

uint32_t bpf_find_old_hierarchy(void)
{
	static const struct {
		const char *controller;
		uint32_t hierarchy;
	} known[] = {{"pids", OLD_HIERARCHY_PIDS}, {"memory", OLD_HIERARCHY_MEMORY}};
	struct buffer text = {0};
	uint32_t found = OLD_HIERARCHY_NONE;

	/* cgroups(7): hierarchy 0 means that the controller is on cgroup v2 or disabled */
	if (file_read(AT_FDCWD, "/proc/cgroups", &text, SMALL_FILE) == 0) {
		for (size_t i = 0; i < ARRAY_COUNT(known) && found == OLD_HIERARCHY_NONE; i++) {
			const char *line = strstr(text.data, known[i].controller);
			unsigned int hierarchy;

			if (line != NULL && line > text.data && line[-1] == '\n' &&
			    sscanf(line + strlen(known[i].controller), "\t%u", &hierarchy) == 1 &&
			    hierarchy != 0)
				found = known[i].hierarchy;
		}
	}
	buffer_release(&text);
	return found;
}

ssize_t bpf_iterator_read(int descriptor, const atomic_bool *cancel, unsigned char **bytes, size_t *capacity)
{
	size_t length = 0;

	for (;;) {
		ssize_t count;

		if (cancel != NULL && atomic_load_explicit(cancel, memory_order_relaxed))
			return -ECANCELED;
		*bytes = memory_grow(*bytes, capacity, length + BPF_ITERATOR_READ_SIZE, 1);
		count = read(descriptor, *bytes + length, BPF_ITERATOR_READ_SIZE);
		if (count == 0)
			return (ssize_t)length;
		/* so many tasks at a time are looked at without one that is handed over: bpf_seq_read() */
		if (count < 0 && errno != EAGAIN && errno != EINTR)
			return -errno;
		if (count > 0)
			length += (size_t)count;
	}
}
