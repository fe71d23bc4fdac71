/* SPDX-License-Identifier: GPL-2.0-only */
#include "bpf_check.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/auxv.h>
#include <sys/capability.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/file.h"

enum {
	SMALL_FILE = 4096
};

#define INITIAL_TIME_NAMESPACE 0xeffffffaU /* PROC_TIME_INIT_INO of include/linux/proc_ns.h */

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
