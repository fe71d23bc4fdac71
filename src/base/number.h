/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_NUMBER_H
#define CTOP_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Strict decimal parsing of exactly `length` bytes: an optional leading '+' (or '-' for the signed form),
 * then one or more digits, nothing else. Returns false for anything else or a value out of range and leaves
 * `*ret_value` alone.
 */
bool number_parse_u64(const char *text, size_t length, uint64_t *ret_value);
bool number_parse_u32(const char *text, size_t length, uint32_t *ret_value);
bool number_parse_i32(const char *text, size_t length, int32_t *ret_value);

/* Sum and product that stop at UINT64_MAX. */
static inline uint64_t number_add_saturating(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

static inline uint64_t number_multiply_saturating(uint64_t a, uint64_t b)
{
	uint64_t product;

	return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

/* `after` less `before`: a double may hold the difference of two numbers that it does not hold. */
static inline double number_difference(uint64_t before, uint64_t after)
{
	return after >= before ? (double)(after - before) : -(double)(before - after);
}

static inline uint64_t number_larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

enum {
	NUMBER_DIGITS_MAX = 20 /* of a uint64_t */
};

/* Writes the decimal digits of `value` to `text`, without a NUL, and returns how many they are. */
size_t number_write_u64(uint64_t value, char text[static NUMBER_DIGITS_MAX]);

#endif
