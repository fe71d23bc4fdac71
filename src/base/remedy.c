/* SPDX-License-Identifier: GPL-2.0-only */
#include "remedy.h"

#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "buffer.h"
#include "rights.h"

/* PROC_PID_INIT_INO and PROC_USER_INIT_INO of include/linux/proc_ns.h */
#define INITIAL_PID_NAMESPACE  0xeffffffcU
#define INITIAL_USER_NAMESPACE 0xeffffffdU

/* The capabilities that ctop uses. */
static const struct capability {
	const char *name; /* without CAP_, as container runtimes spell it */
	int bit;
	bool in_file; /* ctop can get it from file capabilities */
} capabilities_used[] = {
	{"NET_ADMIN", CAP_NET_ADMIN, true},
	{"SYS_PTRACE", CAP_SYS_PTRACE, true},
	{"DAC_READ_SEARCH", CAP_DAC_READ_SEARCH, true},
	{"BPF", CAP_BPF, false},
	{"PERFMON", CAP_PERFMON, false},
	{"SYS_ADMIN", CAP_SYS_ADMIN, false},
};

enum {
	USED_COUNT = sizeof(capabilities_used) / sizeof(capabilities_used[0])
};

static bool is_set(uint64_t set, const struct capability *capability)
{
	return (set >> capability->bit & 1) != 0;
}

/* Returns the capabilities of `set` outside the bounding set: no program that this process executes can get
 * them. */
static uint64_t out_of_bounds(uint64_t set)
{
	for (size_t i = 0; i < USED_COUNT; i++) {
		if (prctl(PR_CAPBSET_READ, capabilities_used[i].bit, 0, 0, 0) != 0)
			set &= ~RIGHTS_BIT(capabilities_used[i].bit);
	}
	return set;
}

/* Whether this process is outside the initial namespace. Kernels without such namespaces lack the file. */
static bool is_in_namespace(const char *path, ino_t initial)
{
	struct stat status;

	return stat(path, &status) == 0 && status.st_ino != initial;
}

bool remedy_is_confined(void)
{
	return prctl(PR_CAPBSET_READ, CAP_SYS_ADMIN, 0, 0, 0) == 0 ||
	       is_in_namespace("/proc/self/ns/pid", INITIAL_PID_NAMESPACE) ||
	       is_in_namespace("/proc/self/ns/user", INITIAL_USER_NAMESPACE);
}

/* Appends container runtime options, each after a blank: " --pid=host --cap-add=BPF". */
static void append_options(struct buffer *text, uint64_t lacking, bool host_pids)
{
	if (host_pids)
		buffer_append_text(text, " --pid=host");
	for (size_t i = 0; i < USED_COUNT; i++) {
		if (is_set(lacking, &capabilities_used[i]))
			buffer_append_format(text, " --cap-add=%s", capabilities_used[i].name);
	}
}

/* Appends "CAP_BPF and CAP_PERFMON". */
static void append_names(struct buffer *text, uint64_t lacking)
{
	const char *before = "";

	for (size_t i = 0; i < USED_COUNT; i++) {
		if (!is_set(lacking, &capabilities_used[i]))
			continue;
		lacking &= ~RIGHTS_BIT(capabilities_used[i].bit);
		buffer_append_format(text, "%sCAP_%s", before, capabilities_used[i].name);
		before = (lacking & (lacking - 1)) != 0 ? ", " : " and ";
	}
}

/* Appends advice for root, who gains nothing from another user or from file capabilities. */
static void append_for_root(struct buffer *text, uint64_t lacking, bool host_pids)
{
	buffer_append_text(text, "start ctop");
	if (lacking != 0) {
		buffer_append_text(text, " with ");
		append_names(text, lacking);
		buffer_append_text(text, ", which this root lacks");
	}
	if (host_pids)
		buffer_append_format(text, "%s in the host's pid namespace", lacking != 0 ? "," : "");
	if (!remedy_is_confined())
		return;
	buffer_append_text(text, " (its container:");
	append_options(text, lacking, host_pids);
	buffer_append_char(text, ')');
}

/* Appends the path, quoted as one shell word. */
static void append_quoted(struct buffer *text, const char *path)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+";

	if (path[strspn(path, plain)] == '\0') {
		buffer_append_text(text, path);
		return;
	}
	buffer_append_char(text, '\'');
	for (const char *next = path; *next != '\0'; next++) {
		if (*next == '\'')
			buffer_append_text(text, "'\\''");
		else
			buffer_append_char(text, *next);
	}
	buffer_append_char(text, '\'');
}

/* Appends "setcap cap_net_admin,cap_sys_ptrace,cap_dac_read_search=ep /usr/bin/ctop", with all capabilities
 * that ctop can get from its file. */
static void append_setcap(struct buffer *text)
{
	char path[4096];
	const ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);

	path[length > 0 ? length : 0] = '\0';
	buffer_append_text(text, "setcap cap_net_admin,cap_sys_ptrace,cap_dac_read_search=ep ");
	append_quoted(text, length > 0 ? path : "ctop");
}

static void append_for_user(struct buffer *text, uint64_t lacking, bool host_pids)
{
	uint64_t file = 0, needed = lacking;

	for (size_t i = 0; i < USED_COUNT; i++) {
		if (capabilities_used[i].in_file)
			file |= RIGHTS_BIT(capabilities_used[i].bit);
	}
	/* execve(2) refuses a file whose capabilities are outside the bounding set */
	if ((lacking & ~file) == 0)
		needed = lacking != 0 ? file : 0;
	needed = out_of_bounds(needed);
	if (needed != 0 || host_pids) {
		buffer_append_text(text, "start the container with");
		append_options(text, needed, host_pids);
		buffer_append_text(text, lacking != 0 ? "; " : "");
	}
	if ((lacking & ~file) != 0)
		buffer_append_text(text, "run ctop as root");
	else if (lacking != 0)
		append_setcap(text);
}

const char *remedy_for_rights(struct arena *arena, uint64_t capabilities, bool host_pids)
{
	const uint64_t lacking = capabilities & ~rights_effective();
	struct buffer text = {0};
	const char *remedy;

	if (lacking == 0 && !host_pids)
		return NULL;
	if (getuid() == 0)
		append_for_root(&text, lacking, host_pids);
	else
		append_for_user(&text, lacking, host_pids);
	remedy = arena_duplicate(arena, text.data, text.length);
	buffer_release(&text);
	return remedy;
}

const char *remedy_on_host(struct arena *arena, const char *command)
{
	return arena_format(arena, "%s%s", remedy_is_confined() ? "on the host: " : "", command);
}

const char *remedy_at_boot(struct arena *arena, const char *parameter)
{
	return remedy_is_confined() ? NULL : arena_format(arena, "%s on the kernel command line", parameter);
}
