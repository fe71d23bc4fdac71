/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_CMOCKA_INCLUDE_H
#define CTOP_CMOCKA_INCLUDE_H

/* cmocka.h wants these before it (its own documentation) and does not include them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#endif
