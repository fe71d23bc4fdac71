/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The numbers of an ABI, as its header has them: defines the array NUMBERS, parallel to wait_call.def.
 * Include it after that header, which defines __NR_name; a name that it lacks stays a word.
 */
#define TEXT(token)     #token
#define TEXT_OF(number) TEXT(number)

extern const char *const NUMBERS[];

const char *const NUMBERS[] = {
#define WAIT_CALL(name, ...) TEXT_OF(__NR_##name),
#include "capture/wait_call.def"
#undef WAIT_CALL
};
