/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * refuse ERROR CALL[:FIRST]... -- COMMAND...: runs the command in a sandbox where these system calls fail
 * with ERROR (EPERM, EMFILE); with :FIRST, only calls with that number as first argument fail.
 */
#include <errno.h>
#include <seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int add_call(scmp_filter_ctx filter, uint32_t action, char *call)
{
	char *first = strchr(call, ':');
	int number;

	if (first != NULL)
		*first++ = '\0';
	number = seccomp_syscall_resolve_name(call);
	if (number == __NR_SCMP_ERROR)
		return -EINVAL;
	if (first == NULL)
		return seccomp_rule_add(filter, action, number, 0);
	return seccomp_rule_add(filter, action, number, 1, SCMP_A0(SCMP_CMP_EQ, strtoul(first, NULL, 10), 0));
}

int main(int argc, char **argv)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
	int result = filter != NULL && argc > 2 ? 0 : -EINVAL, next = 2;
	uint32_t action = 0;

	if (result == 0)
		action = SCMP_ACT_ERRNO(strcmp(argv[1], "EMFILE") == 0 ? EMFILE : EPERM);
	while (result == 0 && next < argc && strcmp(argv[next], "--") != 0)
		result = add_call(filter, action, argv[next++]);
	if (result == 0)
		result = next + 1 < argc ? seccomp_load(filter) : -EINVAL;
	if (result == 0) {
		execvp(argv[next + 1], argv + next + 1);
		result = -errno;
	}
	fprintf(stderr, "refuse: %s\n", strerror(-result));
	return 125;
}
