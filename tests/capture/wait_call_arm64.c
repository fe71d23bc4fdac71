/* SPDX-License-Identifier: GPL-2.0-only */
#if __SIZEOF_LONG__ == 8
/* arch/arm64/include/uapi/asm/unistd.h */
#define __ARCH_WANT_RENAMEAT
#define __ARCH_WANT_NEW_STAT
#define __ARCH_WANT_SYS_CLONE3
#include <asm-generic/unistd.h>
#endif

#define NUMBERS wait_call_numbers_arm64
#include "wait_call_numbers.h"
