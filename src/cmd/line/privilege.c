/* SPDX-License-Identifier: GPL-2.0-only */
#include "privilege.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/reader.h"
#include "base/rights.h"

/* The first opens no file, so it may be effective for a tree that the user names. */
static const cap_value_t capture_capabilities[] = {CAP_NET_ADMIN, CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH};

/* What loading BPF programs takes besides; dropped for good when a capture has been opened. */
static const cap_value_t loading_capabilities[] = {CAP_BPF, CAP_PERFMON};

/* All that reading needs of root. */
static const cap_value_t root_capabilities[] = {CAP_NET_ADMIN, CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH,
						CAP_DAC_OVERRIDE};

/* What finding a sched_ext scheduler takes besides those: the kernel tells ids of BPF objects to nobody else.
 */
static const cap_value_t finding_capabilities[] = {CAP_SYS_ADMIN, CAP_BPF, CAP_PERFMON};

enum {
	CAPABILITIES_OWN_ROOTS = sizeof(capture_capabilities) / sizeof(capture_capabilities[0]),
	CAPABILITIES_NAMED_ROOTS = 1,
};

/* Makes those of the named capabilities effective that are permitted. */
static int add_effective(cap_t state, const cap_value_t *wanted, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		cap_flag_value_t permitted = CAP_CLEAR;

		if (cap_get_flag(state, wanted[i], CAP_PERMITTED, &permitted) < 0 || permitted != CAP_SET)
			continue;
		if (cap_set_flag(state, CAP_EFFECTIVE, 1, &wanted[i], CAP_SET) < 0)
			return -errno;
	}
	return 0;
}

/* Sets the effective set to the named permitted capabilities (none when `count` is 0), and to those for
 * loading. */
static int set_effective(const cap_value_t *wanted, size_t count, bool loading)
{
	cap_t state = cap_get_proc();
	int result = 0;

	if (state == NULL)
		return -errno;
	if (cap_clear_flag(state, CAP_EFFECTIVE) < 0)
		result = -errno;
	if (result == 0)
		result = add_effective(state, wanted, count);
	if (result == 0 && loading)
		result = add_effective(state, loading_capabilities, ARRAY_COUNT(loading_capabilities));
	if (result == 0 && cap_set_proc(state) < 0)
		result = -errno;
	cap_free(state);
	return result;
}

/* Root's own rights, all of them. */
static void restore_effective(void)
{
	cap_t state = cap_get_proc();

	if (state == NULL)
		return;
	for (cap_value_t i = 0; i <= cap_max_bits(); i++)
		(void)add_effective(state, &i, 1);
	(void)cap_set_proc(state);
	cap_free(state);
}

/* This thread loads nothing any more; it holds none of these effectively. */
static void drop_loading(void)
{
	cap_t state = cap_get_proc();

	if (state == NULL)
		return;
	if (cap_set_flag(state, CAP_EFFECTIVE, ARRAY_COUNT(loading_capabilities), loading_capabilities,
			 CAP_CLEAR) == 0 &&
	    cap_set_flag(state, CAP_PERMITTED, ARRAY_COUNT(loading_capabilities), loading_capabilities,
			 CAP_CLEAR) == 0)
		(void)cap_set_proc(state);
	cap_free(state);
}

static bool names_terminal_file(const char *variable)
{
	static const char *const names[] = {
		"TERMINFO=", "TERMINFO_DIRS=", "TERMCAP=", "TERMPATH=", "NCURSES_"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strncmp(variable, names[i], strlen(names[i])) == 0)
			return true;
	}
	return false;
}

/* Names a directory of the user as it would be with HOME. */
static void keep_directory(const char *variable, const char *home, const char *name)
{
	const char *value = getenv(variable);
	char *path;

	if (home == NULL || home[0] == '\0' || (value != NULL && value[0] != '\0'))
		return;
	path = memory_format("%s/%s", home, name);
	setenv(variable, path, 1);
	free(path);
}

/*
 * A program with more rights than its user (getauxval(3), AT_SECURE) lets him bring no descriptions of
 * terminals along: ncurses parses them. It looks into ~/.terminfo too; of the home directory only the cache,
 * the configuration and the history are used here.
 */
static void forget_terminal_files(void)
{
	const char *home = getenv("HOME");
	size_t kept = 0;

	if (getauxval(AT_SECURE) == 0)
		return;
	/* unsetenv(3) misses entries without "=", which execve(2) passes on unchanged */
	for (size_t i = 0; environ != NULL && environ[i] != NULL; i++) {
		if (!names_terminal_file(environ[i]))
			environ[kept++] = environ[i];
	}
	if (environ != NULL)
		environ[kept] = NULL;
	keep_directory("XDG_CACHE_HOME", home, ".cache");
	keep_directory("XDG_CONFIG_HOME", home, ".config");
	keep_directory("XDG_STATE_HOME", home, ".local/state");
	unsetenv("HOME");
}

int privilege_initialise(struct error *error)
{
	int result;

	forget_terminal_files();
	if (getuid() == 0)
		return 0;
	result = set_effective(NULL, 0, false);
	if (result < 0)
		return error_set(error, result, "cannot lower the capabilities of this process: %s",
				 strerror(-result));
	return 0;
}

static bool has_named_root(const char *const roots[static ROOT_COUNT])
{
	for (size_t i = 0; i < ROOT_COUNT; i++) {
		if (roots[i] != NULL)
			return true;
	}
	return false;
}

static size_t capability_count(const char *const roots[static ROOT_COUNT])
{
	return has_named_root(roots) ? CAPABILITIES_NAMED_ROOTS : CAPABILITIES_OWN_ROOTS;
}

void privilege_raise(const char *const roots[static ROOT_COUNT])
{
	if (getuid() == 0)
		return;
	/* without them less can be read, with the reason in the snapshot */
	(void)set_effective(capture_capabilities, capability_count(roots), !has_named_root(roots));
}

void privilege_lower(void)
{
	if (getuid() == 0)
		restore_effective();
	else
		(void)set_effective(NULL, 0, false);
}

static bool is_permitted(int capability)
{
	struct rights rights;

	return rights_read(&rights) == 0 && (rights.sets[0].permitted & RIGHTS_BIT(capability)) != 0;
}

/*
 * Keeps the capabilities for reading, and with `loading` for BPF. Root without CAP_SYS_PTRACE, as in a
 * container, keeps all of them: the kernel then lets it read only processes whose permitted set is within its
 * own effective set (cap_ptrace_access_check() in security/commoncap.c).
 */
static void keep_reading(const struct capture_options *options, bool loading)
{
	if (getuid() != 0)
		(void)set_effective(capture_capabilities, capability_count(options->roots), loading);
	else if (is_permitted(CAP_SYS_PTRACE))
		(void)set_effective(root_capabilities, ARRAY_COUNT(root_capabilities), loading);
	else
		restore_effective();
}

struct reader *privilege_open_reader(const char *const roots[static ROOT_COUNT])
{
	/* links in a tree that the user names may lead anywhere: nothing there is read with rights of ctop's
	 */
	const struct reader_options options = {
		.rights = has_named_root(roots)
				  ? 0
				  : RIGHTS_BIT(CAP_SYS_PTRACE) | RIGHTS_BIT(CAP_DAC_READ_SEARCH),
	};

	return reader_create(&options);
}

/*
 * Calls `call` with what finding a sched_ext scheduler and loading the reader of its contexts takes, and
 * takes that back: only where the real user is root, since a scheduler can begin to run at any time and all
 * others have given these rights up by then.
 */
static void find_scheduler(void (*call)(void *argument), void *argument)
{
	cap_t before = getuid() == 0 ? cap_get_proc() : NULL;
	cap_t raised = before != NULL ? cap_dup(before) : NULL;

	if (raised != NULL &&
	    add_effective(raised, finding_capabilities, ARRAY_COUNT(finding_capabilities)) == 0)
		(void)cap_set_proc(raised);
	call(argument);
	if (raised != NULL)
		(void)cap_set_proc(before);
	cap_free(raised);
	cap_free(before);
}

int privilege_open_capture(const struct capture_options *options, struct capture **ret_capture,
			   struct error *error)
{
	struct capture_options own = *options;
	int result;

	own.scheduler_rights = find_scheduler;
	if (!has_named_root(options->roots))
		privilege_raise(options->roots);
	result = capture_open(&own, ret_capture, error);
	if (result < 0) {
		privilege_lower();
		return result;
	}
	keep_reading(options, false);
	if (getuid() != 0 && !options->latency_later)
		drop_loading();
	return 0;
}

void privilege_load_latency(const struct capture_options *options, struct capture *capture)
{
	/* where the user names a root, nothing is loaded with rights that he lacks */
	keep_reading(options, getuid() == 0 || !has_named_root(options->roots));
	capture_load_latency(capture);
	keep_reading(options, false);
	if (getuid() != 0)
		drop_loading();
}

void privilege_renounce(void)
{
	cap_t state = cap_init(); /* of nothing */

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (state == NULL)
		return;
	(void)cap_set_proc(state);
	cap_free(state);
}
