/* SPDX-License-Identifier: GPL-2.0-only */
#include "rights.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

static int store(const struct rights *rights)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct halves[_LINUX_CAPABILITY_U32S_3];

	for (int i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
		halves[i].effective = (uint32_t)(rights->effective >> 32 * i);
		halves[i].permitted = (uint32_t)(rights->permitted >> 32 * i);
		halves[i].inheritable = (uint32_t)(rights->inheritable >> 32 * i);
	}
	return syscall(SYS_capset, &header, halves) < 0 ? -errno : 0;
}

int rights_read(struct rights *ret_rights)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct halves[_LINUX_CAPABILITY_U32S_3];

	if (syscall(SYS_capget, &header, halves) < 0)
		return -errno;
	*ret_rights = (struct rights){
		.effective = halves[0].effective | (uint64_t)halves[1].effective << 32,
		.permitted = halves[0].permitted | (uint64_t)halves[1].permitted << 32,
		.inheritable = halves[0].inheritable | (uint64_t)halves[1].inheritable << 32,
	};
	return 0;
}

int rights_lower(struct rights *ret_before)
{
	const int result = rights_read(ret_before);

	return result < 0 || getuid() == 0 ? result : rights_use(0);
}

void rights_restore(const struct rights *before)
{
	/* what is permitted can always be made effective */
	(void)store(before);
}

int rights_use(uint64_t wanted)
{
	struct rights rights;
	const int result = rights_read(&rights);

	if (result < 0)
		return result;
	rights.effective = rights.permitted & wanted;
	return store(&rights);
}

void rights_limit(uint64_t kept, uint64_t wanted)
{
	struct rights rights;

	if (rights_read(&rights) < 0)
		return;
	rights.permitted &= kept;
	rights.inheritable = 0;
	rights.effective = rights.permitted & wanted;
	rights_restore(&rights);
}

uint64_t rights_effective(void)
{
	struct rights rights;

	return rights_read(&rights) < 0 ? 0 : rights.effective;
}

bool rights_include(int capability)
{
	return (rights_effective() & RIGHTS_BIT(capability)) != 0;
}

int rights_give_up(void)
{
	const struct rights none = {0};

	return store(&none);
}
