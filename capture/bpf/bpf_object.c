/* SPDX-License-Identifier: GPL-2.0-only */
#include "bpf_object.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/capability.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/file.h"
#include "bpf_kernel.h"

enum {
	MESSAGE_SIZE = 256,
	SMALL_FILE = 4096,
	/* The programs read thread_info.cpu and task_struct.stats, which are there from here on. */
	OLDEST_MAJOR = 5,
	OLDEST_MINOR = 16,
};

#define INITIAL_TIME_NAMESPACE 0xeffffffaU /* PROC_TIME_INIT_INO of include/linux/proc_ns.h */

/* The first line that told of a failure since this thread opened its last object. */
static _Thread_local char first_message[MESSAGE_SIZE];

static const char types_path[] = "/sys/kernel/btf/vmlinux";

static struct feature_result off(enum reason reason, const char *detail, const char *remedy)
{
	return (struct feature_result){FEATURE_STATE_OFF, reason, detail, remedy};
}

static bool is_effective(cap_t state, cap_value_t capability)
{
	cap_flag_value_t value = CAP_CLEAR;

	return cap_get_flag(state, capability, CAP_EFFECTIVE, &value) == 0 && value == CAP_SET;
}

static bool has_capabilities(void)
{
	cap_t state = cap_get_proc();
	bool result = state != NULL && is_effective(state, CAP_BPF) && is_effective(state, CAP_PERFMON);

	cap_free(state);
	return result;
}

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

struct feature_result bpf_check(void)
{
	if (access(types_path, R_OK) != 0)
		return off(REASON_NOT_IN_KERNEL,
			   "no /sys/kernel/btf/vmlinux (CONFIG_DEBUG_INFO_BTF), or /sys is not mounted",
			   NULL);
	if (!in_initial_user_namespace())
		return off(REASON_NOT_PERMITTED,
			   "needs the initial user namespace; run ctop outside of the container", NULL);
	if (!in_initial_time_namespace())
		return off(REASON_OTHER_NAMESPACE,
			   "needs the initial time namespace; run ctop outside of the container", NULL);
	if (lends_rights())
		return off(
			REASON_NOT_PERMITTED,
			"not with rights that the program has and its user has not, by file capabilities or "
			"another way: they would show every user the memory addresses and I/O of all; run "
			"ctop as root",
			NULL);
	if (!has_capabilities())
		return off(
			REASON_NOT_PERMITTED,
			"needs CAP_BPF and CAP_PERFMON; run ctop as root, since file capabilities (setcap) "
			"are not enough",
			NULL);
	return (struct feature_result){.state = FEATURE_STATE_ON, .reason = REASON_READ};
}

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

/* Lockdown refuses programs in its strictest mode: security/lockdown, kernel_lockdown(7). */
static bool is_locked_down(void)
{
	struct buffer text = {0};
	bool locked = file_read(AT_FDCWD, "/sys/kernel/security/lockdown", &text, SMALL_FILE) == 0 &&
		      text.length != 0 && strstr(text.data, "[none]") == NULL;

	buffer_release(&text);
	return locked;
}

struct feature_result bpf_object_load_checked(struct bpf_object_skeleton *skeleton, int opened,
					      struct arena *arena)
{
	int result = opened == 0 ? bpf_object__load_skeleton(skeleton) : opened;
	struct utsname kernel;
	const char *words;

	if (result == 0)
		return (struct feature_result){.state = FEATURE_STATE_ON, .reason = REASON_READ};
	if (result == -EPERM && is_locked_down())
		return off(REASON_NOT_PERMITTED, "the kernel is locked down (kernel_lockdown(7))", NULL);
	if (result != -EPERM && uname(&kernel) == 0 &&
	    bpf_kernel_is_older(kernel.release, OLDEST_MAJOR, OLDEST_MINOR))
		return off(REASON_NOT_IN_KERNEL,
			   arena_format(arena, "needs Linux %d.%d; this is %s", OLDEST_MAJOR, OLDEST_MINOR,
					kernel.release),
			   NULL);
	words = arena_format(arena, "the kernel refused the program: %s%s%s", strerror(-result),
			     first_message[0] != '\0' ? "; " : "", first_message);
	return off(result == -EPERM || result == -EACCES ? REASON_NOT_PERMITTED : REASON_NOT_IN_KERNEL, words,
		   NULL);
}
