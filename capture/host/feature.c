/* SPDX-License-Identifier: GPL-2.0-only */
#include "feature.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/release.h"
#include "base/remedy.h"
#include "base/rights.h"
#include "capture/procfs/text_scan.h"

static const char delayacct_path[] = "sys/kernel/task_delayacct";
static const char schedstats_path[] = "sys/kernel/sched_schedstats";
static const char yama_path[] = "sys/kernel/yama/ptrace_scope";

enum {
	CONFIG_SIZE_MAX = 16 << 20,
	CHUNK_SIZE = 64 << 10,
	GZIP_WINDOW = 15 + 16, /* the largest window, gzip header required (zlib.h, inflateInit2) */
};

/* Unpacks the first gzip member of `packed` behind `buffer`. */
static int inflate_member(const struct buffer *packed, struct buffer *buffer)
{
	z_stream stream = {
		.next_in = (Bytef *)packed->data,
		.avail_in = (uInt)packed->length,
	};
	int result;

	if (inflateInit2(&stream, GZIP_WINDOW) != Z_OK)
		return -ENOMEM;
	do {
		buffer_reserve(buffer, CHUNK_SIZE);
		stream.next_out = (Bytef *)buffer->data + buffer->length;
		stream.avail_out = CHUNK_SIZE;
		result = inflate(&stream, Z_NO_FLUSH);
		buffer->length += CHUNK_SIZE - stream.avail_out;
		buffer->data[buffer->length] = '\0';
	} while (result == Z_OK && buffer->length <= CONFIG_SIZE_MAX);
	inflateEnd(&stream);
	return result == Z_STREAM_END ? 0 : -EBADMSG;
}

int kernel_config_read(const struct roots *roots, struct buffer *buffer)
{
	struct buffer packed = {0};
	int result = roots_read(roots, ROOT_PROC, "config.gz", &packed);

	buffer_clear(buffer);
	if (result == 0)
		result = packed.length != 0 ? inflate_member(&packed, buffer) : -EBADMSG;
	if (result == 0 && !unicode_is_valid(buffer->data, buffer->length))
		result = -EBADMSG;
	if (result < 0)
		buffer_clear(buffer);
	buffer_release(&packed);
	return result;
}

enum kernel_option kernel_config_find(const char *text, size_t length, const char *option)
{
	struct text rest = {text, length}, line;
	enum kernel_option found = KERNEL_OPTION_UNKNOWN;
	char on[64], off[64];

	snprintf(on, sizeof(on), "%s=y", option);
	snprintf(off, sizeof(off), "# %s is not set", option);
	while (text_next_line(&rest, &line)) {
		line = text_trim(line);
		if (text_equals(line, on))
			return KERNEL_OPTION_ON;
		if (text_equals(line, off))
			found = KERNEL_OPTION_OFF;
	}
	return found;
}

struct checker {
	struct feature_checks *checks;
	struct arena *arena; /* owns the texts of results */
	const struct roots *roots;
	struct buffer config; /* of the kernel, empty when it does not carry it */
	struct buffer text;
};

static struct feature_result partial(enum reason reason, const char *detail, const char *remedy)
{
	return (struct feature_result){FEATURE_STATE_PARTIAL, (reason_id)reason, detail, remedy};
}

static struct feature_result missing(const char *detail)
{
	return feature_off(REASON_NOT_IN_KERNEL, detail, NULL);
}

/*
 * Returns off because finding or reading `file` below a root failed with the negative errno value `result`.
 * `absent` is the sentence for a file that this kernel does not have; otherwise a mount option hides the
 * file, or the call failed.
 */
static struct feature_result lacking(const struct checker *checker, enum root_kind root, int result,
				     const char *file, const char *absent)
{
	struct arena *arena = checker->arena;
	const enum reason reason = roots_reason(checker->roots, root, result);

	if (reason == REASON_NOT_IN_KERNEL)
		return missing(absent);
	if (result == -ENOENT && root == ROOT_PROC)
		return feature_off(
			reason,
			arena_format(arena, "%s is mounted with %s, which hides %s",
				     checker->roots->path[root], checker->roots->hides_files, file),
			remedy_is_confined() ? NULL
					     : "mount -t proc proc DIRECTORY, and --proc-root DIRECTORY");
	if (result == -ENOENT)
		return feature_off(reason, "no sysfs is mounted on /sys",
				   remedy_is_confined() ? NULL : "mount -t sysfs sysfs /sys");
	return feature_off(reason, arena_format(arena, "%s: %s", file, strerror(-result)), NULL);
}

static const char *lacking_rights(const struct checker *checker, uint64_t capabilities)
{
	return remedy_for_rights(checker->arena, capabilities, false);
}

/* `command` as a remedy on the host; for a saved tree unchanged, since its host may be within reach. */
static const char *switch_remedy(const struct checker *checker, const char *command)
{
	return checker->roots->is_procfs ? remedy_on_host(checker->arena, command) : command;
}

static enum kernel_option option_state(const struct checker *checker, const char *option)
{
	return kernel_config_find(checker->config.data, checker->config.length, option);
}

static struct feature_result check_passes(struct checker *checker)
{
	if (checker->checks->passes.state == FEATURE_STATE_UNKNOWN)
		return feature_off(REASON_NOT_READ, NULL, NULL);
	return checker->checks->passes;
}

/* A pass brings what taskstats would, if only for some processes. */
static bool reads_by_passes(const struct checker *checker)
{
	const enum feature_state state = checker->checks->passes.state;

	return state == FEATURE_STATE_ON || state == FEATURE_STATE_PARTIAL;
}

static struct feature_result check_taskstats(struct checker *checker)
{
	if (reads_by_passes(checker)) {
		struct feature_result result = feature_on();

		result.detail = "the same numbers come by BPF";
		return result;
	}
	switch (checker->checks->taskstats_result) {
	case 0:
		return feature_on();
	case -EXDEV:
		return feature_off(REASON_OTHER_NAMESPACE,
				   "the proc root belongs to another pid namespace, or is a saved tree",
				   NULL);
	case -ENOENT:
		return missing("the kernel has no TASKSTATS family (CONFIG_TASKSTATS)");
	case -EPERM:
		if (!checker->checks->initial_user_namespace)
			return feature_off(
				REASON_NOT_PERMITTED,
				"needs CAP_NET_ADMIN in the initial user namespace; run ctop outside of the "
				"container",
				NULL);
		return feature_off(REASON_NOT_PERMITTED, "needs CAP_NET_ADMIN",
				   lacking_rights(checker, RIGHTS_BIT(CAP_NET_ADMIN)));
	default:
		return feature_off(REASON_UNREADABLE, "the kernel did not answer the query", NULL);
	}
}

/* A feature that comes in taskstats messages goes with them. */
static struct feature_result check_messages(struct checker *checker)
{
	struct feature_result result = check_taskstats(checker);

	if (result.state != FEATURE_STATE_ON)
		result.detail = "comes in taskstats messages";
	return result;
}

static struct feature_result check_delays(struct checker *checker)
{
	struct feature_result result;

	if (checker->checks->task_delayacct == TASK_DELAYACCT_CONFIG_OFF ||
	    checker->checks->task_delayacct == TASK_DELAYACCT_UNKNOWN)
		return lacking(checker, ROOT_PROC, checker->checks->delayacct_result, "kernel.task_delayacct",
			       "no kernel.task_delayacct (CONFIG_TASK_DELAY_ACCT)");
	if (checker->checks->task_delayacct == TASK_DELAYACCT_RUNTIME_OFF)
		return feature_off(
			REASON_SWITCHED_OFF,
			remedy_is_confined()
				? "kernel.task_delayacct is 0; delays are counted for threads started after "
				  "it is 1"
				: "kernel.task_delayacct is 0; delays are counted for threads started after "
				  "it is 1, or for all with delayacct on the kernel command line",
			switch_remedy(checker, "sysctl kernel.task_delayacct=1"));
	result = check_messages(checker);
	if (result.state == FEATURE_STATE_ON && checker->checks->delayacct_on_since_ns != 0)
		result.detail = "threads that started before it was switched on have none";
	return result;
}

static struct feature_result check_irq_delay(struct checker *checker)
{
	const int found = roots_find(checker->roots, ROOT_PROC, "pressure/irq");

	if (found < 0)
		return lacking(checker, ROOT_PROC, found, "/proc/pressure/irq",
			       "no /proc/pressure/irq (CONFIG_IRQ_TIME_ACCOUNTING)");
	return check_delays(checker);
}

static struct feature_result check_xacct(struct checker *checker)
{
	if (checker->checks->task_xacct == KERNEL_OPTION_OFF)
		return missing("the kernel is built without CONFIG_TASK_XACCT");
	return check_messages(checker);
}

/*
 * Whether processes have the file, checked for ctop itself or, in another procfs, for the first process:
 * listing later ones costs a walk over all threads before them. Returns 0 or a negative errno.
 */
static int find_of_processes(const struct checker *checker, const char *file)
{
	DIR *directory;
	struct dirent *entry;
	int result = -ENOENT;

	if (checker->roots->own_namespace) {
		char path[64];

		snprintf(path, sizeof(path), "self/task/%d/%s", (int)getpid(), file);
		return roots_find(checker->roots, ROOT_PROC, path);
	}
	directory = file_open_directory(checker->roots->descriptor[ROOT_PROC], ".");
	if (directory == NULL)
		return -errno;
	while (result != 0 && (entry = readdir(directory)) != NULL) {
		char path[64];
		uint32_t pid;

		if (!number_parse_u32(entry->d_name, strlen(entry->d_name), &pid))
			continue;
		snprintf(path, sizeof(path), "%u/task/%u/%s", pid, pid, file);
		result = roots_find(checker->roots, ROOT_PROC, path);
	}
	closedir(directory);
	return result;
}

/* Checks a feature that is a file of each process. A mount that shows the process never hides the file. */
static struct feature_result check_file_of_processes(const struct checker *checker, const char *file,
						     const char *absent)
{
	const int found = find_of_processes(checker, file);

	if (found == 0)
		return feature_on();
	if (found == -ENOENT)
		return missing(absent);
	return lacking(checker, ROOT_PROC, found, file, absent);
}

static struct feature_result check_sched_info(struct checker *checker)
{
	return check_file_of_processes(checker, "schedstat", "no /proc/PID/schedstat (CONFIG_SCHED_INFO)");
}

static struct feature_result check_schedstats(struct checker *checker)
{
	const int result = roots_read(checker->roots, ROOT_PROC, schedstats_path, &checker->text);

	if (result < 0)
		return lacking(checker, ROOT_PROC, result, "kernel.sched_schedstats",
			       "no kernel.sched_schedstats (CONFIG_SCHEDSTATS)");
	if (text_equals(text_trim(text_of(&checker->text)), "0"))
		return feature_off(REASON_SWITCHED_OFF, "kernel.sched_schedstats is 0",
				   switch_remedy(checker, "sysctl kernel.sched_schedstats=1"));
	return feature_on();
}

static struct feature_result check_io_accounting(struct checker *checker)
{
	return check_file_of_processes(checker, "io", "no /proc/PID/io (CONFIG_TASK_IO_ACCOUNTING)");
}

/* Access to other users' processes by a capability set that must be held as a whole. */
static struct feature_result check_access(const struct checker *checker, uint64_t needed, const char *detail)
{
	if (!checker->roots->is_procfs)
		return feature_on(); /* a saved tree is read by its file permissions */
	if ((checker->checks->capabilities & needed) != needed)
		return partial(REASON_NOT_PERMITTED, detail, lacking_rights(checker, needed));
	if (!checker->checks->initial_user_namespace)
		return partial(REASON_NOT_PERMITTED, "only processes of our user namespace", NULL);
	return feature_on();
}

static struct feature_result check_others_memory(struct checker *checker)
{
	return check_access(checker, RIGHTS_BIT(CAP_SYS_PTRACE),
			    "only our own processes; needs CAP_SYS_PTRACE");
}

static struct feature_result check_others_io(struct checker *checker)
{
	if ((checker->checks->capabilities & RIGHTS_BIT(CAP_DAC_OVERRIDE)) != 0 || reads_by_passes(checker))
		return check_others_memory(checker);
	return check_access(checker, RIGHTS_BIT(CAP_SYS_PTRACE) | RIGHTS_BIT(CAP_DAC_READ_SEARCH),
			    "only our own processes; needs CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH");
}

static struct feature_result check_pressure(struct checker *checker)
{
	const char *const remedy = remedy_at_boot(checker->arena, "psi=1");
	enum kernel_option option;
	const int result = roots_read(checker->roots, ROOT_PROC, "pressure/cpu", &checker->text);
	bool is_absent;

	if (result == 0)
		return feature_on();
	option = option_state(checker, "CONFIG_PSI");
	is_absent = roots_reason(checker->roots, ROOT_PROC, result) == REASON_NOT_IN_KERNEL;
	if (result == -EOPNOTSUPP || (is_absent && option == KERNEL_OPTION_ON))
		return feature_off(REASON_SWITCHED_OFF, "pressure stall information is switched off at boot",
				   remedy);
	if (is_absent && option == KERNEL_OPTION_UNKNOWN && checker->roots->is_procfs)
		return feature_off(REASON_NOT_IN_KERNEL,
				   "no /proc/pressure (CONFIG_PSI, or switched off at boot)", remedy);
	return lacking(checker, ROOT_PROC, result, "/proc/pressure", "no /proc/pressure (CONFIG_PSI)");
}

/* How to mount the hierarchy that the kernel's cgroup paths refer to. */
static const char *cgroup_mount_remedy(void)
{
	return remedy_is_confined()
		       ? "start the container with --cgroupns=host -v /sys/fs/cgroup:/sys/fs/cgroup:ro"
		       : "mount -t cgroup2 none DIRECTORY, and --cgroup-root DIRECTORY";
}

/* Names the controllers that a hierarchy lacks, with the reason for the first one. */
static struct feature_result lacks_controllers(const struct checker *checker, const char *const lacking[],
					       size_t count)
{
	struct buffer names = {0}, kernel = {0};
	struct feature_result result;

	(void)roots_read(checker->roots, ROOT_PROC, "cgroups", &kernel);
	for (size_t i = 0; i < count; i++)
		buffer_append_format(&names, " %s", lacking[i]);
	result = partial(roots_controller_reason(checker->roots, text_of(&kernel), lacking[0]),
			 arena_format(checker->arena, "%s lacks%s (bound to cgroup v1, or disabled)",
				      checker->roots->path[ROOT_CGROUP], names.data),
			 remedy_at_boot(checker->arena, "systemd.unified_cgroup_hierarchy=1"));
	buffer_release(&names);
	buffer_release(&kernel);
	return result;
}

static struct feature_result check_cgroup2(struct checker *checker)
{
	static const char *const needed[] = {"cpu", "memory", "pids"};
	const char *lacks[ARRAY_COUNT(needed)];
	size_t lacking_count = 0;
	struct arena *arena = checker->arena;
	const char *path = checker->roots->path[ROOT_CGROUP];
	struct text controllers;

	if (checker->roots->cgroup_reason == REASON_OTHER_NAMESPACE)
		return feature_off(REASON_OTHER_NAMESPACE, "name it with --cgroup-root", NULL);
	if (checker->roots->cgroup_reason == REASON_NOT_IN_KERNEL ||
	    checker->roots->cgroup_reason == REASON_SWITCHED_OFF)
		return feature_off(checker->roots->cgroup_reason, "no cgroup2 file system is mounted",
				   remedy_is_confined() ? cgroup_mount_remedy()
							: remedy_at_boot(arena, "systemd.unified_cgroup_"
										"hierarchy=1"));
	if (checker->roots->cgroup_reason != REASON_READ)
		return feature_off(checker->roots->cgroup_reason,
				   "where a cgroup2 file system is mounted it cannot be opened",
				   cgroup_mount_remedy());
	if (strncmp(checker->roots->cgroup_mount_root, "/..", 3) == 0)
		return partial(REASON_OTHER_NAMESPACE,
			       arena_format(arena,
					    "%s was mounted outside of ctop's cgroup namespace: ctop cannot "
					    "tell its own cgroups in it",
					    path),
			       cgroup_mount_remedy());
	if (strcmp(checker->roots->cgroup_mount_root, "/") != 0)
		return partial(REASON_OTHER_NAMESPACE,
			       arena_format(arena, "%s shows only cgroups below %s", path,
					    checker->roots->cgroup_mount_root),
			       NULL);
	if (roots_read(checker->roots, ROOT_CGROUP, "cgroup.controllers", &checker->text) < 0)
		return feature_off(REASON_UNREADABLE,
				   arena_format(arena, "%s/cgroup.controllers cannot be read", path), NULL);
	controllers = text_of(&checker->text);
	for (size_t i = 0; i < ARRAY_COUNT(needed); i++) {
		if (!text_has_word(controllers, needed[i]))
			lacks[lacking_count++] = needed[i];
	}
	return lacking_count != 0 ? lacks_controllers(checker, lacks, lacking_count) : feature_on();
}

static struct feature_result check_sched_ext(struct checker *checker)
{
	const int found = roots_find(checker->roots, ROOT_SYS, "kernel/sched_ext");

	return found == 0 ? feature_on()
			  : lacking(checker, ROOT_SYS, found, "/sys/kernel/sched_ext",
				    "no /sys/kernel/sched_ext (CONFIG_SCHED_CLASS_EXT)");
}

static struct feature_result check_pid_namespace(struct checker *checker)
{
	if (checker->roots->own_namespace)
		return feature_on();
	if (!checker->roots->is_procfs)
		return feature_off(REASON_OTHER_NAMESPACE, "the proc root is a saved tree", NULL);
	return feature_off(REASON_OTHER_NAMESPACE,
			   "the proc root belongs to another pid namespace; run ctop in that one", NULL);
}

static struct feature_result check_all_processes(struct checker *checker)
{
	int found;

	if (!checker->roots->is_procfs)
		return feature_on();
	/* every pid namespace has a process 1 */
	found = roots_read(checker->roots, ROOT_PROC, "1/stat", &checker->text);
	if (found < 0 && checker->roots->hides_processes != NULL)
		return partial(REASON_NOT_PERMITTED,
			       arena_format(checker->arena, "%s is mounted with %s",
					    checker->roots->path[ROOT_PROC], checker->roots->hides_processes),
			       lacking_rights(checker, RIGHTS_BIT(CAP_SYS_PTRACE)));
	if (found < 0)
		return partial(reason_of_errno(found),
			       arena_format(checker->arena, "process 1: %s", strerror(-found)),
			       lacking_rights(checker, RIGHTS_BIT(CAP_SYS_PTRACE)));
	if (checker->roots->own_namespace && !checker->roots->initial_pid_namespace)
		return partial(REASON_OTHER_NAMESPACE, "only the processes of this container",
			       remedy_for_rights(checker->arena, 0, true));
	return feature_on();
}

/* Yama: Documentation/admin-guide/LSM/Yama.rst. */
static struct feature_result check_process_memory(struct checker *checker)
{
	struct text scope = roots_read_text(checker->roots, ROOT_PROC, yama_path, &checker->text);

	if (!checker->roots->own_namespace)
		return feature_off(REASON_OTHER_NAMESPACE, "calls by process id do not reach these processes",
				   NULL);
	if (text_equals(scope, "3"))
		return feature_off(REASON_SWITCHED_OFF, "kernel.yama.ptrace_scope is 3, until the next boot",
				   NULL);
	if ((checker->checks->capabilities & RIGHTS_BIT(CAP_SYS_PTRACE)) != 0)
		return checker->checks->initial_user_namespace
			       ? feature_on()
			       : partial(REASON_NOT_PERMITTED, "only processes of our user namespace", NULL);
	if (text_equals(scope, "1") || text_equals(scope, "2"))
		return feature_off(
			REASON_NOT_PERMITTED,
			"needs CAP_SYS_PTRACE; kernel.yama.ptrace_scope=0 would allow your own processes",
			lacking_rights(checker, RIGHTS_BIT(CAP_SYS_PTRACE)));
	return partial(REASON_NOT_PERMITTED, "only our own processes; needs CAP_SYS_PTRACE",
		       lacking_rights(checker, RIGHTS_BIT(CAP_SYS_PTRACE)));
}

/* Whoever loads what measures it knows. */
static struct feature_result check_by_loading(struct checker *checker)
{
	(void)checker;
	return (struct feature_result){.state = FEATURE_STATE_UNKNOWN};
}

static struct feature_result (*const feature_functions[FEATURE_COUNT])(struct checker *) = {
	[FEATURE_PASSES] = check_passes,
	[FEATURE_TASKSTATS] = check_taskstats,
	[FEATURE_DELAYS] = check_delays,
	[FEATURE_IRQ_DELAY] = check_irq_delay,
	[FEATURE_XACCT] = check_xacct,
	[FEATURE_SCHED_INFO] = check_sched_info,
	[FEATURE_SCHEDSTATS] = check_schedstats,
	[FEATURE_IO_ACCOUNTING] = check_io_accounting,
	[FEATURE_OTHERS_IO] = check_others_io,
	[FEATURE_OTHERS_MEMORY] = check_others_memory,
	[FEATURE_PRESSURE] = check_pressure,
	[FEATURE_CGROUP2] = check_cgroup2,
	[FEATURE_SCHED_EXT] = check_sched_ext,
	[FEATURE_TASK_FIELDS] = check_by_loading,
	[FEATURE_PID_NAMESPACE] = check_pid_namespace,
	[FEATURE_ALL_PROCESSES] = check_all_processes,
	[FEATURE_PROCESS_MEMORY] = check_process_memory,
	[FEATURE_LATENCY] = check_by_loading,
	[FEATURE_EXITS] = check_by_loading,
};

static const char *duplicate(struct arena *arena, const char *text)
{
	return text != NULL ? arena_duplicate(arena, text, strlen(text)) : NULL;
}

struct feature_result feature_of_other_pids(const struct roots *roots, struct arena *arena)
{
	if (!roots->is_procfs)
		return feature_off(REASON_OTHER_NAMESPACE, "the proc root is a saved tree", NULL);
	if (!roots->own_namespace)
		return feature_off(REASON_OTHER_NAMESPACE, "needs the procfs of the initial pid namespace",
				   NULL);
	return feature_off(REASON_OTHER_NAMESPACE, "needs the initial pid namespace",
			   remedy_for_rights(arena, RIGHTS_BIT(CAP_BPF) | RIGHTS_BIT(CAP_PERFMON), true));
}

struct feature_result feature_copy(struct arena *arena, const struct feature_result *result)
{
	return (struct feature_result){result->state, result->reason, duplicate(arena, result->detail),
				       duplicate(arena, result->remedy)};
}

/* The initial user namespace maps all ids to themselves: user_namespaces(7). */
static bool in_initial_user_namespace(const struct roots *roots, struct buffer *buffer)
{
	static const char *const whole[] = {"0", "0", "4294967295"};
	struct text rest = roots_read_text(roots, ROOT_PROC, "self/uid_map", buffer), word;

	if (rest.length == 0)
		return true;
	for (size_t i = 0; i < sizeof(whole) / sizeof(whole[0]); i++) {
		if (!text_next_word(&rest, &word) || !text_equals(word, whole[i]))
			return false;
	}
	return true;
}

/*
 * Before Linux 5.14 there is no switch: delays are counted from the start of the host unless `nodelayacct`
 * stands on the command line, by a kernel that has the functions for it (kernel/delayacct.c).
 */
static bool counts_delays_without_switch(const struct roots *roots, struct buffer *buffer)
{
	return roots_read_text(roots, ROOT_PROC, "sys/kernel/osrelease", buffer).length != 0 &&
	       release_is_older(buffer->data, 5, 14) &&
	       !text_has_word(roots_read_text(roots, ROOT_PROC, "cmdline", buffer), "nodelayacct") &&
	       roots_read_text(roots, ROOT_PROC, "kallsyms", buffer).length != 0 &&
	       strstr(buffer->data, " __delayacct_tsk_init\n") != NULL;
}

static void read_task_delayacct(struct feature_checks *checks, const struct roots *roots, bool first,
				struct buffer *buffer)
{
	const int result = roots_read(roots, ROOT_PROC, delayacct_path, buffer);
	const struct text text = result == 0 ? text_trim(text_of(buffer)) : (struct text){"", 0};
	uint64_t after = clock_ns(CLOCK_BOOTTIME); /* a thread that starts from now on is counted */

	if (text.length != 0) {
		checks->task_delayacct = text_equals(text, "1") ? TASK_DELAYACCT_ON
								: TASK_DELAYACCT_RUNTIME_OFF;
	} else if (first) {
		checks->delayacct_result = result;
		checks->task_delayacct = roots_reason(roots, ROOT_PROC, result) == REASON_NOT_IN_KERNEL
						 ? TASK_DELAYACCT_CONFIG_OFF
						 : TASK_DELAYACCT_UNKNOWN;
		if (counts_delays_without_switch(roots, buffer))
			checks->task_delayacct = TASK_DELAYACCT_ON;
	}
	if (checks->task_delayacct != TASK_DELAYACCT_ON)
		checks->delayacct_on_since_ns = UINT64_MAX;
	else if (first && (text.length == 0 ||
			   text_has_word(roots_read_text(roots, ROOT_PROC, "cmdline", buffer), "delayacct")))
		checks->delayacct_on_since_ns = 0;
	else if (first || checks->delayacct_on_since_ns == UINT64_MAX)
		checks->delayacct_on_since_ns = after;
}

void feature_check_all(struct feature_checks *checks, const struct roots *roots, int taskstats_result,
		       const struct feature_result *passes)
{
	struct checker checker = {.checks = checks, .arena = &checks->arena, .roots = roots};

	feature_release(checks);
	if (kernel_config_read(roots, &checker.config) < 0)
		buffer_clear(&checker.config);
	checks->taskstats_result = taskstats_result;
	if (passes != NULL)
		checks->passes = *passes;
	checks->capabilities = rights_effective();
	checks->initial_user_namespace = in_initial_user_namespace(roots, &checker.text);
	checks->task_xacct = option_state(&checker, "CONFIG_TASK_XACCT");
	read_task_delayacct(checks, roots, true, &checker.text);
	for (size_t i = 0; i < FEATURE_COUNT; i++)
		checks->results[i] = feature_functions[i](&checker);
	buffer_release(&checker.config);
	buffer_release(&checker.text);
}

/* Appends what the files of the switches say, or why they cannot be read. */
static void read_switches(const struct roots *roots, struct buffer *text, struct buffer *switches)
{
	static const char *const paths[] = {delayacct_path, schedstats_path, yama_path};

	for (size_t i = 0; i < ARRAY_COUNT(paths); i++) {
		const int result = roots_read(roots, ROOT_PROC, paths[i], text);

		buffer_append_format(switches, "%d ", result);
		if (result == 0)
			buffer_append(switches, text->data, text->length);
	}
}

void feature_recheck_switches(struct feature_checks *checks, const struct roots *roots)
{
	static const enum feature switched[] = {FEATURE_DELAYS, FEATURE_IRQ_DELAY, FEATURE_SCHEDSTATS,
						FEATURE_PROCESS_MEMORY};
	struct checker checker = {.checks = checks, .arena = &checks->switched_arena, .roots = roots};
	struct buffer switches = {0};

	read_switches(roots, &checker.text, &switches);
	if (checks->switches.length == switches.length &&
	    memcmp(checks->switches.data, switches.data, switches.length) == 0) {
		buffer_release(&switches);
		buffer_release(&checker.text);
		return;
	}
	buffer_release(&checks->switches);
	checks->switches = switches;
	arena_release(&checks->switched_arena);
	read_task_delayacct(checks, roots, false, &checker.text);
	for (size_t i = 0; i < sizeof(switched) / sizeof(switched[0]); i++)
		checks->results[switched[i]] = feature_functions[switched[i]](&checker);
	buffer_release(&checker.text);
}

void feature_release(struct feature_checks *checks)
{
	arena_release(&checks->arena);
	arena_release(&checks->switched_arena);
	buffer_release(&checks->switches);
	*checks = (struct feature_checks){0};
}
