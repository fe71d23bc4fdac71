/* SPDX-License-Identifier: GPL-2.0-only */
#include "privilege.h"

#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/reader.h"
#include "base/rights.h"

/* CAP_NET_ADMIN opens no file, so it may be effective for a tree that the user names. */
#define NAMED_ROOT_RIGHTS RIGHTS_BIT(CAP_NET_ADMIN)
#define CAPTURE_RIGHTS    (NAMED_ROOT_RIGHTS | RIGHTS_BIT(CAP_SYS_PTRACE) | RIGHTS_BIT(CAP_DAC_READ_SEARCH))

/* Loading BPF programs takes these, too; they are dropped for good when a capture has been opened. */
#define LOADING_RIGHTS (RIGHTS_BIT(CAP_BPF) | RIGHTS_BIT(CAP_PERFMON))

/* All that reading needs of root. */
#define ROOT_RIGHTS (CAPTURE_RIGHTS | RIGHTS_BIT(CAP_DAC_OVERRIDE))

/* Finding a sched_ext scheduler takes these, too: the kernel tells ids of BPF objects to nobody else. */
#define FINDING_RIGHTS (RIGHTS_BIT(CAP_SYS_ADMIN) | LOADING_RIGHTS)

#define ALL_RIGHTS UINT64_MAX

/* This thread loads nothing any more. */
static void drop_loading(void)
{
	rights_limit(~LOADING_RIGHTS, rights_effective());
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
	result = rights_use(0);
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

static uint64_t capture_rights(const char *const roots[static ROOT_COUNT])
{
	return has_named_root(roots) ? NAMED_ROOT_RIGHTS : CAPTURE_RIGHTS;
}

void privilege_raise(const char *const roots[static ROOT_COUNT])
{
	if (getuid() == 0)
		return;
	/* without them less can be read, with the reason in the snapshot */
	(void)rights_use(capture_rights(roots) | (has_named_root(roots) ? 0 : LOADING_RIGHTS));
}

void privilege_lower(void)
{
	(void)rights_use(getuid() == 0 ? ALL_RIGHTS : 0);
}

/*
 * Keeps the capabilities for reading, and with `loading` for BPF. Root without CAP_SYS_PTRACE, as in a
 * container, keeps all of them: the kernel then lets it read only processes whose permitted set is within its
 * own effective set (cap_ptrace_access_check() in security/commoncap.c).
 */
static void keep_reading(const struct capture_options *options, bool loading)
{
	const uint64_t also = loading ? LOADING_RIGHTS : 0;
	struct rights rights;

	if (getuid() != 0)
		(void)rights_use(capture_rights(options->roots) | also);
	else if (rights_read(&rights) == 0 && (rights.permitted & RIGHTS_BIT(CAP_SYS_PTRACE)) != 0)
		(void)rights_use(ROOT_RIGHTS | also);
	else
		(void)rights_use(ALL_RIGHTS);
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
	struct rights before;
	const bool is_raised = getuid() == 0 && rights_read(&before) == 0 &&
			       rights_use(before.effective | FINDING_RIGHTS) == 0;

	call(argument);
	if (is_raised)
		rights_restore(&before);
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
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	(void)rights_give_up();
}
