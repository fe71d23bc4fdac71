/* SPDX-License-Identifier: GPL-2.0-only */
#include "sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/rights.h"

#define MEBIBYTE ((rlim_t)1 << 20)

/* A sanitizer with shadow memory. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZER 1
#endif
#endif
#ifndef SANITIZER
#define SANITIZER 0
#endif

enum {
	/* Files are mapped as a whole, and the debug data of a browser has several GiB. */
	ADDRESS_SPACE_MEBIBYTES = 64 << 10,
};

/*
 * Drops every capability, also those that a real uid of 0 brings, from all sets (capabilities(7)), and sets
 * no_new_privs, which an exec would need to get them back.
 */
static int drop_capabilities(void)
{
	/* Needs CAP_SETPCAP; without it the sets below and no_new_privs suffice. */
	for (int i = 0; prctl(PR_CAPBSET_READ, i, 0, 0, 0) >= 0; i++)
		prctl(PR_CAPBSET_DROP, i, 0, 0, 0);
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -errno;
	return rights_give_up();
}

/* Calls that may be made with any arguments. */
static const int allowed_calls[] = {
	/* the handed files */
	SCMP_SYS(read),
	SCMP_SYS(pread64),
	SCMP_SYS(lseek),
	SCMP_SYS(fstat),
	SCMP_SYS(close),
	/* memory */
	SCMP_SYS(munmap),
	SCMP_SYS(brk),
	SCMP_SYS(mremap),
	SCMP_SYS(madvise),
	/* the socket */
	SCMP_SYS(recvmsg),
	SCMP_SYS(sendmsg),
	/* what the C library does besides: locks, time, random seeds of its allocator, the end */
	SCMP_SYS(futex),
	SCMP_SYS(clock_gettime),
	SCMP_SYS(getrandom),
	SCMP_SYS(sysinfo), /* qsort(3) of glibc asks for the size of memory */
	SCMP_SYS(getpid),
	SCMP_SYS(gettid),
	SCMP_SYS(rt_sigprocmask),
	SCMP_SYS(rt_sigreturn),
	SCMP_SYS(restart_syscall),
	SCMP_SYS(exit),
	SCMP_SYS(exit_group),
#if SANITIZER
	SCMP_SYS(sigaltstack),
	SCMP_SYS(sched_yield),
#endif
};

/* Calls that fail: libdw looks for further files by itself, and goes on when there are none. */
static const int refused_calls[] = {
	SCMP_SYS(open),   SCMP_SYS(openat),    SCMP_SYS(readlink), SCMP_SYS(readlinkat),
	SCMP_SYS(access), SCMP_SYS(faccessat), SCMP_SYS(stat),     SCMP_SYS(lstat),
};

/* Calls allowed for one value of (argument & mask). */
struct limited_call {
	int number;
	unsigned int argument;
	uint64_t mask, value;
};

static const struct limited_call limited_calls[] = {
	{SCMP_SYS(mmap), 2, PROT_EXEC, 0},
	{SCMP_SYS(mprotect), 2, PROT_EXEC, 0},
	/* fstat(3) of glibc 2.33 to 2.38 */
	{SCMP_SYS(newfstatat), 3, UINT32_MAX, AT_EMPTY_PATH},
	/* libelf asks whether its descriptor is one */
	{SCMP_SYS(fcntl), 1, UINT32_MAX, F_GETFL},
	{SCMP_SYS(fcntl), 1, UINT32_MAX, F_GETFD},
	/* what a library says before it aborts, to /dev/null */
	{SCMP_SYS(write), 0, UINT32_MAX, STDERR_FILENO},
	{SCMP_SYS(writev), 0, UINT32_MAX, STDERR_FILENO},
};

/* Adds a rule; a call that this machine does not have (open(2) on aarch64) needs none. */
static int add_rule(scmp_filter_ctx context, uint32_t action, int number, unsigned int comparison_count,
		    const struct scmp_arg_cmp *comparisons)
{
	const int result = seccomp_rule_add_array(context, action, number, comparison_count, comparisons);

	return result == -EDOM ? 0 : result;
}

static int fill_filter(scmp_filter_ctx context)
{
	int result = seccomp_attr_set(context, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);

	for (size_t i = 0; result == 0 && i < sizeof(allowed_calls) / sizeof(allowed_calls[0]); i++)
		result = add_rule(context, SCMP_ACT_ALLOW, allowed_calls[i], 0, NULL);
	for (size_t i = 0; result == 0 && i < sizeof(refused_calls) / sizeof(refused_calls[0]); i++)
		result = add_rule(context, SCMP_ACT_ERRNO(EACCES), refused_calls[i], 0, NULL);
	/* stat(2) and lstat(2) where there is no such call: realpath(3) of glibc before 2.33 on aarch64 */
	if (result == 0) {
		const struct scmp_arg_cmp by_path = SCMP_CMP(3, SCMP_CMP_MASKED_EQ, AT_EMPTY_PATH, 0);

		result = add_rule(context, SCMP_ACT_ERRNO(EACCES), SCMP_SYS(newfstatat), 1, &by_path);
	}
	for (size_t i = 0; result == 0 && i < sizeof(limited_calls) / sizeof(limited_calls[0]); i++) {
		const struct limited_call *call = &limited_calls[i];
		const struct scmp_arg_cmp comparison = SCMP_CMP(call->argument, SCMP_CMP_MASKED_EQ,
								call->mask, call->value);

		result = add_rule(context, SCMP_ACT_ALLOW, call->number, 1, &comparison);
	}
	return result;
}

static const struct {
	unsigned int resource; /* of setrlimit(2) */
	rlim_t soft, hard;
} limits[] = {
	{RLIMIT_CPU, SANDBOX_CPU_SECONDS, SANDBOX_CPU_SECONDS + 1},
#if !SANITIZER /* whose shadow memory is larger than any limit */
	{RLIMIT_DATA, SANDBOX_DATA_MEBIBYTES *MEBIBYTE, SANDBOX_DATA_MEBIBYTES *MEBIBYTE},
	{RLIMIT_AS, ADDRESS_SPACE_MEBIBYTES *MEBIBYTE, ADDRESS_SPACE_MEBIBYTES *MEBIBYTE},
#endif
	{RLIMIT_CORE, 0, 0},
	{RLIMIT_FSIZE, 0, 0},
	{RLIMIT_NPROC, 0, 0},
	{RLIMIT_MEMLOCK, 0, 0},
	{RLIMIT_NOFILE, SANDBOX_DESCRIPTORS, SANDBOX_DESCRIPTORS},
};

static int set_limits(void)
{
	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		const struct rlimit value = {.rlim_cur = limits[i].soft, .rlim_max = limits[i].hard};
		struct rlimit now;

		if (getrlimit(limits[i].resource, &now) == 0 && now.rlim_max < limits[i].hard)
			continue; /* stricter already */
		if (setrlimit(limits[i].resource, &value) < 0)
			return -errno;
	}
	return 0;
}

/* abort(3) is for a failed assertion of a library, which says so. */
static int allow_abort(scmp_filter_ctx filter)
{
	return seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(tgkill), 1,
				SCMP_CMP(0, SCMP_CMP_EQ, (scmp_datum_t)getpid(), 0));
}

static int load_filter(void)
{
	scmp_filter_ctx filter;
	int result;

	errno = 0;
	filter = seccomp_init(SCMP_ACT_KILL_PROCESS);
	/* libseccomp probes the kernel's features, and a sandbox may refuse that */
	if (filter == NULL)
		return errno != 0 ? -errno : -ENOMEM;
	result = fill_filter(filter);
	if (result == 0)
		result = allow_abort(filter);
	/* it is never released: whoever enters has few calls left */
	return result < 0 ? result : seccomp_load(filter);
}

int sandbox_enter(void)
{
	int result = drop_capabilities();

	if (result == 0 && prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		result = -errno;
	if (result == 0)
		result = set_limits();
	return result < 0 ? result : load_filter();
}
