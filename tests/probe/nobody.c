/* SPDX-License-Identifier: GPL-2.0-only */
#include "nobody.h"

#include <grp.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "tests/needs.h"

#include "base/rights.h"

void nobody_need_capabilities(void)
{
	need_to_become_nobody();
	need_capability(CAP_SYS_PTRACE, "leave it to another user");
	need_capability(CAP_DAC_READ_SEARCH, "leave it to another user");
}

void nobody_become_with_capabilities(void)
{
	const uint64_t capabilities = RIGHTS_BIT(CAP_DAC_READ_SEARCH) | RIGHTS_BIT(CAP_SYS_PTRACE);
	const struct rights rights = {.effective = capabilities, .permitted = capabilities};

	if (prctl(PR_SET_KEEPCAPS, 1) < 0 || setgroups(0, NULL) < 0 || setgid(65534) < 0 || setuid(65534) < 0)
		_exit(2);
	rights_restore(&rights);
	if (!rights_include(CAP_SYS_PTRACE))
		_exit(2);
}
