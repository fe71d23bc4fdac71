/* SPDX-License-Identifier: GPL-2.0-only */
#include "rights.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

static int store(const struct rights *rights)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};

	return syscall(SYS_capset, &header, rights->sets) < 0 ? -errno : 0;
}

int rights_read(struct rights *ret_rights)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};

	return syscall(SYS_capget, &header, ret_rights->sets) < 0 ? -errno : 0;
}

int rights_lower(struct rights *ret_before)
{
	struct rights lowered;
	const int result = rights_read(ret_before);

	if (result < 0)
		return result;
	if (getuid() == 0)
		return 0;
	lowered = *ret_before;
	for (int i = 0; i < _LINUX_CAPABILITY_U32S_3; i++)
		lowered.sets[i].effective = 0;
	return store(&lowered);
}

void rights_restore(const struct rights *before)
{
	/* what is permitted can always be made effective */
	(void)store(before);
}

void rights_limit(uint32_t kept, uint32_t wanted)
{
	struct rights rights;

	if (rights_read(&rights) < 0)
		return;
	for (int i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
		rights.sets[i].permitted &= i == 0 ? kept : 0;
		rights.sets[i].inheritable = 0;
		rights.sets[i].effective = i == 0 ? rights.sets[i].permitted & wanted : 0;
	}
	rights_restore(&rights);
}

uint64_t rights_effective(void)
{
	struct rights rights;

	if (rights_read(&rights) < 0)
		return 0;
	return rights.sets[0].effective | (uint64_t)rights.sets[1].effective << 32;
}

bool rights_include(int capability)
{
	return (rights_effective() >> capability & 1) != 0;
}

int rights_give_up(void)
{
	const struct rights none = {0};

	return store(&none);
}
