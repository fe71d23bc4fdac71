/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_CMOCKA_INCLUDE_H
#define CTOP_CMOCKA_INCLUDE_H

/* cmocka.h wants these before it (its own documentation) and does not include them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Whether a test is built with ASan. It takes ten times as long then, and repeats less. */
#if defined(__SANITIZE_ADDRESS__)
#define ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ADDRESS_SANITIZER 1
#endif
#endif
#ifndef ADDRESS_SANITIZER
#define ADDRESS_SANITIZER 0
#endif

#endif
