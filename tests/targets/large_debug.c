/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Makes the debug data of a program large: `large_debug DIRECTORY MEGABYTES` puts that many MiB of other
 * units in front of those in DIRECTORY/info (the contents of .debug_info), with their abbreviations, names
 * and address ranges in DIRECTORY/abbrev, str and aranges. All of it is valid DWARF 5, 32-bit, little-endian:
 * units of about 256 KiB with structures, members, subprograms and variables, as a large C++ or Rust program
 * has them. The units that were there move, so their address ranges are changed; nothing else of what gcc
 * writes refers to them from outside.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	UNIT_SIZE = 256 * 1024,
	NAMES = 1000000, /* some 40 MiB of .debug_str */
	MEMBERS = 8,
	VARIABLES = 4,
	TEXT_SIZE = 4096, /* that a unit claims */
};

#define TEXT_START UINT64_C(0x700000000000)

/* dwarf5 standard, 7.5: the numbers of tags, attributes and forms used here */
static const unsigned char abbreviations[] = {
	1, 0x11, 1, 0x25, 0x0e, 0x13, 0x05, 0x03, 0x0e, 0x11, 0x01, 0x12, 0x07, 0, 0, /* compile_unit */
	2, 0x24, 0, 0x0b, 0x0b, 0x3e, 0x0b, 0x03, 0x0e, 0,    0,                      /* base_type */
	3, 0x13, 1, 0x03, 0x0e, 0x0b, 0x05, 0x3a, 0x0b, 0x3b, 0x05, 0,    0,          /* structure_type */
	4, 0x0d, 0, 0x03, 0x0e, 0x49, 0x13, 0x38, 0x0b, 0,    0,                      /* member */
	5, 0x2e, 1, 0x03, 0x0e, 0x49, 0x13, 0x11, 0x01, 0x12, 0x07, 0,    0,          /* subprogram */
	6, 0x34, 0, 0x03, 0x0e, 0x49, 0x13, 0x02, 0x18, 0,    0,                      /* variable */
	0,
};

struct bytes {
	unsigned char *data;
	size_t length, capacity;
};

_Noreturn static void fail(const char *what)
{
	fprintf(stderr, "large_debug: %s: %s\n", what, strerror(errno));
	exit(EXIT_FAILURE);
}

static void append(struct bytes *bytes, const void *data, size_t length)
{
	if (bytes->length + length > bytes->capacity) {
		bytes->capacity = 2 * (bytes->length + length);
		bytes->data = realloc(bytes->data, bytes->capacity);
		if (bytes->data == NULL)
			fail("memory");
	}
	memcpy(bytes->data + bytes->length, data, length);
	bytes->length += length;
}

static void append_number(struct bytes *bytes, uint64_t value, size_t size)
{
	append(bytes, &value, size);
}

static void set_word(struct bytes *bytes, size_t offset, size_t value)
{
	uint32_t word = (uint32_t)value;

	memcpy(bytes->data + offset, &word, sizeof(word));
}

static const char *path_of(const char *directory, const char *name)
{
	static char path[4096];

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	return path;
}

static void load(struct bytes *bytes, const char *directory, const char *name)
{
	FILE *file = fopen(path_of(directory, name), "r");
	char block[65536];
	size_t length;

	if (file == NULL)
		fail(path_of(directory, name));
	while ((length = fread(block, 1, sizeof(block), file)) > 0)
		append(bytes, block, length);
	fclose(file);
}

static void save(const struct bytes *bytes, FILE *file, const char *name)
{
	if (fwrite(bytes->data, 1, bytes->length, file) != bytes->length)
		fail(name);
}

static FILE *create(const char *directory, const char *name)
{
	FILE *file = fopen(path_of(directory, name), "w");

	if (file == NULL)
		fail(path_of(directory, name));
	return file;
}

/* A name each, spread over the string section; `names` holds their offsets. */
static uint32_t any_name(const uint32_t *names)
{
	static uint64_t state = 1;

	state = state * 6364136223846793005u + 1442695040888963407u;
	return names[(state >> 33) % NAMES];
}

static void append_function(struct bytes *unit, const uint32_t *names, uint32_t type, uint64_t address)
{
	append_number(unit, 5, 1);
	append_number(unit, any_name(names), 4);
	append_number(unit, type, 4);
	append_number(unit, address, 8);
	append_number(unit, 16, 8);
	for (unsigned int i = 0; i < VARIABLES; i++) {
		append_number(unit, 6, 1);
		append_number(unit, any_name(names), 4);
		append_number(unit, type, 4);
		append_number(unit, 2, 1); /* exprloc of two bytes: DW_OP_fbreg -16 - 4i */
		append_number(unit, 0x91, 1);
		append_number(unit, 0x70 - 4 * i, 1);
	}
	append_number(unit, 0, 1);
}

static void append_structure(struct bytes *unit, const uint32_t *names, uint32_t type)
{
	append_number(unit, 3, 1);
	append_number(unit, any_name(names), 4);
	append_number(unit, 4 * MEMBERS, 2);
	append_number(unit, 1, 1);
	append_number(unit, unit->length % 5000, 2);
	for (unsigned int i = 0; i < MEMBERS; i++) {
		append_number(unit, 4, 1);
		append_number(unit, any_name(names), 4);
		append_number(unit, type, 4);
		append_number(unit, 4 * i, 1);
	}
	append_number(unit, 0, 1);
}

static void make_unit(struct bytes *unit, const uint32_t *names, size_t abbreviation_offset, uint64_t address)
{
	uint32_t type;

	unit->length = 0;
	append_number(unit, 0, 4); /* the length, below */
	append_number(unit, 5, 2);
	append_number(unit, 1, 1); /* DW_UT_compile */
	append_number(unit, 8, 1);
	append_number(unit, abbreviation_offset, 4);
	append_number(unit, 1, 1);
	append_number(unit, any_name(names), 4);
	append_number(unit, 0x1c, 2); /* DW_LANG_Rust */
	append_number(unit, any_name(names), 4);
	append_number(unit, address, 8);
	append_number(unit, TEXT_SIZE, 8);
	type = (uint32_t)unit->length;
	append_number(unit, 2, 1);
	append_number(unit, 4, 1);
	append_number(unit, 5, 1); /* DW_ATE_signed */
	append_number(unit, any_name(names), 4);
	while (unit->length < UNIT_SIZE) {
		append_structure(unit, names, type);
		append_function(unit, names, type, address + unit->length % (TEXT_SIZE - 16));
	}
	append_number(unit, 0, 1);
	set_word(unit, 0, unit->length - 4);
}

/* One set of .debug_aranges: a header padded to 16 bytes, one range, the end. */
static void append_range(struct bytes *ranges, size_t unit_offset, uint64_t address)
{
	append_number(ranges, 44, 4); /* bytes that follow */
	append_number(ranges, 2, 2);
	append_number(ranges, unit_offset, 4);
	append_number(ranges, 8, 1);
	append_number(ranges, 0, 1);
	append_number(ranges, 0, 4);
	append_number(ranges, address, 8);
	append_number(ranges, TEXT_SIZE, 8);
	append_number(ranges, 0, 8);
	append_number(ranges, 0, 8);
}

/* The sets that were there: their units lie `distance` further on. */
static void move_ranges(struct bytes *ranges, size_t distance)
{
	for (size_t offset = 0; offset + 12 <= ranges->length;) {
		uint32_t length, unit;

		memcpy(&length, ranges->data + offset, sizeof(length));
		memcpy(&unit, ranges->data + offset + 6, sizeof(unit));
		set_word(ranges, offset + 6, unit + distance);
		offset += 4 + (size_t)length;
	}
}

static uint32_t *make_names(struct bytes *strings)
{
	uint32_t *names = malloc(NAMES * sizeof(*names));
	char name[96];

	if (names == NULL)
		fail("memory");
	for (uint32_t i = 0; i < NAMES; i++) {
		names[i] = (uint32_t)strings->length;
		append(strings, name,
		       (size_t)snprintf(name, sizeof(name), "_ZN4core%u5cache7segment%x10lookup_fn17h%08xE",
					i % 977, i * 31, i * 2654435761u) +
			       1);
	}
	return names;
}

int main(int argc, char **argv)
{
	struct bytes info = {0}, abbrev = {0}, strings = {0}, ranges = {0}, new_ranges = {0}, unit = {0};
	size_t wanted, written = 0, abbreviation_offset, count = 0;
	uint32_t *names;
	FILE *file;

	if (argc != 3) {
		fprintf(stderr, "usage: large_debug DIRECTORY MEGABYTES\n");
		return 2;
	}
	wanted = strtoul(argv[2], NULL, 10) << 20;
	load(&info, argv[1], "info");
	load(&abbrev, argv[1], "abbrev");
	load(&strings, argv[1], "str");
	load(&ranges, argv[1], "aranges");
	abbreviation_offset = abbrev.length;
	append(&abbrev, abbreviations, sizeof(abbreviations));
	names = make_names(&strings);

	file = create(argv[1], "info");
	for (; written < wanted; count++) {
		uint64_t address = TEXT_START + count * TEXT_SIZE;

		make_unit(&unit, names, abbreviation_offset, address);
		append_range(&new_ranges, written, address);
		save(&unit, file, "info");
		written += unit.length;
	}
	save(&info, file, "info");
	fclose(file);
	move_ranges(&ranges, written);
	append(&new_ranges, ranges.data, ranges.length);

	file = create(argv[1], "aranges");
	save(&new_ranges, file, "aranges");
	fclose(file);
	file = create(argv[1], "abbrev");
	save(&abbrev, file, "abbrev");
	fclose(file);
	file = create(argv[1], "str");
	save(&strings, file, "str");
	fclose(file);
	printf("%zu units, %zu MiB\n", count, written >> 20);
	return 0;
}
