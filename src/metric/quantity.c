/* SPDX-License-Identifier: GPL-2.0-only */
#include "quantity.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/humanize.h"
#include "base/memory.h"

enum kind {
	KIND_NONE,
	KIND_COUNT,
	KIND_TIME,
	KIND_BYTES,
};

static const struct {
	enum kind kind;
	double base; /* ns, for times */
} ladders[] = {
	[LADDER_NONE] = {KIND_NONE, 1},   [LADDER_UNITLESS] = {KIND_COUNT, 1},
	[LADDER_NS] = {KIND_TIME, 1},     [LADDER_US] = {KIND_TIME, NS_PER_US},
	[LADDER_BYTES] = {KIND_BYTES, 1}, [LADDER_TICKS] = {KIND_TIME, NS_PER_TICK},
};

static const struct {
	const char *name;
	enum kind kind;
	double factor;
} units[] = {
	{"ns", KIND_TIME, 1},        {"us", KIND_TIME, 1e3},
	{"µs", KIND_TIME, 1e3},      {"ms", KIND_TIME, 1e6},
	{"s", KIND_TIME, 1e9},       {"m", KIND_TIME, 60e9},
	{"min", KIND_TIME, 60e9},    {"h", KIND_TIME, 3600e9},
	{"d", KIND_TIME, 86400e9},   {"ticks", KIND_TIME, NS_PER_TICK},
	{"k", KIND_COUNT, 1e3},      {"K", KIND_COUNT, 1e3},
	{"M", KIND_COUNT, 1e6},      {"G", KIND_COUNT, 1e9},
	{"T", KIND_COUNT, 1e12},     {"B", KIND_BYTES, 1},
	{"K", KIND_BYTES, 0x1p10},   {"k", KIND_BYTES, 0x1p10},
	{"KiB", KIND_BYTES, 0x1p10}, {"M", KIND_BYTES, 0x1p20},
	{"MiB", KIND_BYTES, 0x1p20}, {"G", KIND_BYTES, 0x1p30},
	{"GiB", KIND_BYTES, 0x1p30}, {"T", KIND_BYTES, 0x1p40},
	{"TiB", KIND_BYTES, 0x1p40},
};

enum {
	UNIT_COUNT = sizeof(units) / sizeof(units[0])
};

size_t quantity_parse_number(const char *text, size_t length, double *ret_number)
{
	size_t i = length != 0 && (text[0] == '+' || text[0] == '-') ? 1 : 0;
	bool has_digit = false, has_point = false;
	char *copy;

	for (; i < length; i++) {
		if (text[i] >= '0' && text[i] <= '9')
			has_digit = true;
		else if (text[i] == '.' && !has_point)
			has_point = true;
		else
			break;
	}
	if (!has_digit)
		return 0;
	copy = memory_duplicate_bytes(text, i);
	*ret_number = strtod(copy, NULL);
	free(copy);
	return i;
}

/* Ticks are a unit only of what the kernel counts in ticks. */
static bool fits(enum ladder ladder, size_t unit)
{
	return units[unit].kind == ladders[ladder].kind &&
	       (ladder == LADDER_TICKS || strcmp(units[unit].name, "ticks") != 0);
}

bool quantity_find_unit(enum ladder ladder, const char *unit, size_t length, double *ret_factor)
{
	*ret_factor = 1;
	if (length == 0)
		return true;
	for (size_t i = 0; i < UNIT_COUNT; i++) {
		if (!fits(ladder, i) || strlen(units[i].name) != length ||
		    memcmp(units[i].name, unit, length) != 0)
			continue;
		*ret_factor = units[i].factor / ladders[ladder].base;
		return true;
	}
	return false;
}

void quantity_append(double amount, enum ladder ladder, struct buffer *buffer)
{
	if (amount == 0)
		buffer_append_char(buffer, '0');
	else if (ladders[ladder].kind == KIND_TIME)
		humanize_duration(buffer, amount * ladders[ladder].base);
	else if (ladders[ladder].kind == KIND_BYTES)
		humanize_bytes(buffer, amount);
	else
		humanize_amount(buffer, amount);
}

void quantity_append_units(enum ladder ladder, struct buffer *buffer)
{
	for (size_t i = 0; i < UNIT_COUNT; i++) {
		if (fits(ladder, i))
			buffer_append_format(buffer, "%s, ", units[i].name);
	}
}
