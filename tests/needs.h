/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_TEST_NEEDS_H
#define CTOP_TEST_NEEDS_H

/*
 * Requirements of tests on the machine. A test asks for the capability, call or mount it uses, never for
 * root: root in a container has few or no capabilities. A test without its requirement is skipped and names
 * it.
 */

#include <grp.h>
#include <linux/capability.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmocka_include.h"

/* Prints "SKIP: " and the reason, and skips the rest of the test. */
__attribute__((format(printf, 1, 2))) _Noreturn static inline void skip_test(const char *format, ...)
{
	va_list arguments;

	print_message("SKIP: ");
	va_start(arguments, format);
	vprint_message(format, arguments);
	va_end(arguments);
	print_message("\n");
	skip();
	abort(); /* not reached: skip() leaves the test */
}

/* Whether a capability (CAP_...) is effective in this thread. */
static inline bool has_capability(int capability)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3];

	return syscall(SYS_capget, &header, sets) == 0 &&
	       (sets[CAP_TO_INDEX(capability)].effective & CAP_TO_MASK(capability)) != 0;
}

#define need_capability(capability, purpose)                                                                 \
	do {                                                                                                 \
		if (!has_capability(capability))                                                             \
			skip_test("needs " #capability " to %s", purpose);                                   \
	} while (0)

/* Whether this process may become user and group 65534 without other groups. A child tries it. */
static inline bool can_become_nobody(void)
{
	const pid_t child = fork();
	int status;

	if (child == 0)
		_exit(setgroups(0, NULL) == 0 && setgid(65534) == 0 && setuid(65534) == 0 ? 0 : 1);
	return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

static inline void need_to_become_nobody(void)
{
	if (!can_become_nobody())
		skip_test("needs CAP_SETUID and CAP_SETGID to become another user");
}

#endif
