/* SPDX-License-Identifier: GPL-2.0-only */
#include "bpf_object.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/release.h"
#include "base/remedy.h"
#include "base/rights.h"
#include "task_record.h"

enum {
	MESSAGE_SIZE = 256,
	SMALL_FILE = 4096,
	/* The programs read thread_info.cpu and task_struct.stats, which are there from here on. */
	OLDEST_MAJOR = 5,
	OLDEST_MINOR = 16,
	KERNEL_ENOTSUPP = 524, /* include/linux/errno.h: internal to the kernel, but bpf(2) returns it */
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

/* --- loading --- */

/* The first line that told of a failure since this thread opened its last object. */
static _Thread_local char first_message[MESSAGE_SIZE];

static int keep_message(enum libbpf_print_level level, const char *format, va_list arguments)
{
	char *end;

	if (level != LIBBPF_WARN || first_message[0] != '\0')
		return 0;
	vsnprintf(first_message, sizeof(first_message), format, arguments);
	end = strchr(first_message, '\n');
	if (end != NULL)
		*end = '\0';
	return 0;
}

void bpf_object_listen(void)
{
	first_message[0] = '\0';
	libbpf_set_print(keep_message);
}

bool bpf_is_locked_down(void)
{
	struct buffer text = {0};
	const bool locked = file_read(AT_FDCWD, "/sys/kernel/security/lockdown", &text, SMALL_FILE) == 0 &&
			    text.length != 0 && strstr(text.data, "[confidentiality]") != NULL;

	buffer_release(&text);
	return locked;
}

enum reason bpf_reason(int result)
{
	/* the verifier does not know a helper that lockdown disables */
	if ((result == -EPERM || result == -EINVAL) && bpf_is_locked_down())
		return REASON_NOT_PERMITTED;
	switch (result) {
	case -EINVAL:
	case -ENOENT:
	case -ESRCH: /* the kernel lacks a function or type */
	case -E2BIG: /* too complex for the verifier, or attributes from a newer kernel */
	case -EOPNOTSUPP:
	case -ENOSYS:
	case -KERNEL_ENOTSUPP:
		return REASON_NOT_IN_KERNEL;
	default:
		return reason_of_errno(result);
	}
}

/* Adds the ids of the scope to `map` as keys. Returns 0 or a negative errno. */
static int fill_scope(const struct bpf_map *map, struct bpf_scope scope)
{
	const uint64_t one = 1; /* as many bytes of it as a value has */

	for (size_t i = 0; i < scope.count; i++) {
		if (bpf_map_update_elem(bpf_map__fd(map), &scope.ids[i], &one, BPF_ANY) != 0)
			return -errno;
	}
	return 0;
}

/* Whether the programs' variables are there: libbpf loads without them where its test of the kernel failed.
 */
static bool has_variables(const struct bpf_object_skeleton *skeleton)
{
	const char *map = (const char *)skeleton->maps;

	for (int i = 0; i < skeleton->map_cnt; i++, map += skeleton->map_skel_sz) {
		void *const *variables = ((const struct bpf_map_skeleton *)(const void *)map)->mmaped;

		if (variables != NULL && *variables == NULL)
			return false;
	}
	return true;
}

/*
 * Some programs can do without a kernel function that older kernels lack; no module has it either. libbpf
 * looks for it in the modules, once per object. That takes CAP_SYS_ADMIN (bpf_btf_get_next_id()), and before
 * version 1.3 libbpf refuses the whole object without it (load_module_btfs() of libbpf.c). So the one look is
 * spent here, before the object is loaded, on a name that is not found.
 */
static void skip_modules(const struct bpf_object_skeleton *skeleton)
{
	struct bpf_program *program = bpf_object__next_program(*skeleton->obj, NULL);
	uint32_t id;

	if (bpf_btf_get_next_id(0, &id) < 0 && errno == EPERM)
		(void)bpf_program__set_attach_target(program, 0, "a function that no kernel has");
	first_message[0] = '\0';
}

struct feature_result bpf_refused(struct arena *arena, int result, const char *what)
{
	const enum reason reason = bpf_reason(result);
	struct feature_result refused;

	if (reason == REASON_NOT_PERMITTED && bpf_is_locked_down())
		return feature_off(reason, "the kernel is locked down (kernel_lockdown(7))", NULL);
	refused = BPF_OFF(arena, reason, "the kernel refused %s: %s%s%s", what, strerror(-result),
			  first_message[0] != '\0' ? "; " : "", first_message);
	/* seccomp profiles of container runtimes may refuse bpf(2) despite the capabilities */
	if (reason == REASON_NOT_PERMITTED && prctl(PR_GET_SECCOMP, 0, 0, 0, 0) == SECCOMP_MODE_FILTER)
		refused.remedy = "a seccomp profile that allows bpf(2), or --security-opt seccomp=unconfined";
	return refused;
}

struct feature_result bpf_object_load(struct bpf_object_skeleton *skeleton, int opened, struct bpf_map *map,
				      struct bpf_scope scope, struct arena *arena)
{
	int result = opened;
	struct utsname kernel;

	if (result == 0 && scope.count != 0)
		result = bpf_map__set_max_entries(map, (uint32_t)scope.count);
	if (result == 0) {
		skip_modules(skeleton);
		result = bpf_object__load_skeleton(skeleton);
	}
	if (result == 0 && !has_variables(skeleton))
		return feature_off(REASON_UNREADABLE, "the kernel refused the program's variables", NULL);
	if (result == 0) {
		result = fill_scope(map, scope);
		return result == 0 ? feature_on() : bpf_refused(arena, result, "the ids of processes");
	}
	if (result != -EPERM && bpf_reason(result) != REASON_UNREADABLE && uname(&kernel) == 0 &&
	    release_is_older(kernel.release, OLDEST_MAJOR, OLDEST_MINOR))
		return BPF_OFF(arena, REASON_NOT_IN_KERNEL, "needs Linux %d.%d; this is %s", OLDEST_MAJOR,
			       OLDEST_MINOR, kernel.release);
	return bpf_refused(arena, result, "the program");
}

bool bpf_array_map(struct bpf_array *array, const struct bpf_map *map, int protection)
{
	const size_t stride = bpf_map__value_size(map), size = bpf_map__max_entries(map) * stride;
	void *start = mmap(NULL, size, protection, MAP_SHARED, bpf_map__fd(map), 0);

	if (start == MAP_FAILED)
		return false;
	*array = (struct bpf_array){start, size, stride};
	return true;
}

void bpf_array_unmap(struct bpf_array *array)
{
	if (array->start != NULL)
		munmap(array->start, array->size);
	*array = (struct bpf_array){0};
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
