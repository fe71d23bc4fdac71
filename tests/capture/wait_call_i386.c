/* SPDX-License-Identifier: GPL-2.0-only */
#if defined(__x86_64__) || defined(__i386__)
#include <asm/unistd_32.h>
#endif

#define NUMBERS wait_call_numbers_i386
#include "wait_call_numbers.h"
