/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * refuse_bpf COMMAND...: runs it where bpf(2) loads programs but neither runs them nor makes iterators, as
 * before Linux 5.19 for who has dropped CAP_BPF where kernel.unprivileged_bpf_disabled is set.
 */
#include <errno.h>
#include <linux/bpf.h>
#include <seccomp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	static const unsigned int refused[] = {BPF_PROG_TEST_RUN, BPF_ITER_CREATE};
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
	int result = filter != NULL && argc > 1 ? 0 : -EINVAL;

	for (size_t i = 0; result == 0 && i < sizeof(refused) / sizeof(refused[0]); i++)
		result = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(bpf), 1,
					  SCMP_A0(SCMP_CMP_EQ, refused[i], 0));
	if (result == 0)
		result = seccomp_load(filter);
	if (result == 0) {
		execvp(argv[1], argv + 1);
		result = -errno;
	}
	fprintf(stderr, "refuse_bpf: %s\n", strerror(-result));
	return 125;
}
