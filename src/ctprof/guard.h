/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_GUARD_H
#define CTOP_GUARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Checks JSON text in pieces for what the parser lets through: bytes that are no UTF-8 (RFC 3629) and escapes
 * that name half of a surrogate pair. It needs no tokens: outside strings neither a byte above 0x7f nor a
 * backslash is legal JSON anyway. A zeroed struct is at the start of a text.
 */
struct json_guard {
	struct {
		unsigned int missing; /* continuation bytes that must follow */
		uint8_t low, high;    /* bounds of the next one */
	} sequence;
	struct {
		unsigned int
			stage; /* 0: outside an escape, 1: behind the backslash, 2 … 5: hexadecimal digits */
		uint32_t value;
		bool needs_low; /* a high surrogate stands before: the low one must follow */
	} escape;
};

/*
 * Checks the next piece of text. Returns `length`, or how many of its bytes stand before the damage, and then
 * `*ret_damage` says what it is.
 */
size_t json_guard_check(struct json_guard *guard, const char *text, size_t length, const char **ret_damage);

#endif
