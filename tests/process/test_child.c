/* SPDX-License-Identifier: GPL-2.0-only */
/* What a forked process keeps of the one that forked it. */
#include "tests/cmocka_include.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/child_internal.h"

/* This process is from now on one of a kernel without close_range(2). */
static bool forget_close_range(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_close_range, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = {.len = sizeof(filter) / sizeof(filter[0]), .filter = filter};

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/* Forks a copy that isolates itself and keeps what is written to. Returns how many descriptors it has but 0,
 * 1, 2. */
static int count_kept(bool is_old)
{
	const pid_t parent = getpid();
	int status, count = 0;
	pid_t child;

	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		int kept = dup(STDERR_FILENO);

		if (is_old && !forget_close_range())
			_exit(UINT8_MAX);
		child_isolate(parent, &kept, 1);
		for (int i = STDERR_FILENO + 1; i < 1000; i++)
			count += fcntl(i, F_GETFD) >= 0;
		_exit(count);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void test_descriptors(void **state)
{
	int opened[200];

	(void)state;
	for (size_t i = 0; i < sizeof(opened) / sizeof(opened[0]); i++) {
		opened[i] = dup(STDERR_FILENO);
		assert_true(opened[i] >= 0);
	}
	assert_int_equal(count_kept(false), 1);
	assert_int_equal(count_kept(true), 1);
	for (size_t i = 0; i < sizeof(opened) / sizeof(opened[0]); i++)
		close(opened[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_descriptors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
