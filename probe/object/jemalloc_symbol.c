/* SPDX-License-Identifier: GPL-2.0-only */
#include "jemalloc_symbol.h"

#include <ctype.h>
#include <elf.h>
#include <string.h>

#define VARIABLE_NAME "tsd_tls"

enum {
	VARIABLE_NAME_LENGTH = sizeof(VARIABLE_NAME) - 1,
	/* Longer names are not looked at: a table of names without ends must not be read once per symbol. */
	NAME_LENGTH_MAX = 256,
	COMMIT_DIGITS = 40,
};

/* The length of the prefix before "tsd_tls", or -1 when the name does not qualify. */
static ssize_t prefix_length(const char *name)
{
	const size_t length = strnlen(name, NAME_LENGTH_MAX + 1);
	size_t prefix;

	if (length < VARIABLE_NAME_LENGTH || length > NAME_LENGTH_MAX)
		return -1;
	prefix = length - VARIABLE_NAME_LENGTH;
	if (memcmp(name + prefix, VARIABLE_NAME, VARIABLE_NAME_LENGTH) != 0)
		return -1;
	return prefix == 0 || (prefix >= 2 && name[prefix - 1] == '_') ? (ssize_t)prefix : -1;
}

static bool is_about_thread_data(const char *name)
{
	return strncmp(name, "tsd_", 4) == 0 || strncmp(name, "malloc_tsd_", 11) == 0;
}

/* Functions with the prefix of the variable: those about thread data, filled up with any others. */
static void find_functions(const struct elf_object *object, const struct elf_symbols *table,
			   const char *prefix, size_t length, struct jemalloc_symbols *symbols)
{
	uint64_t others[JEMALLOC_FUNCTION_MAX];
	size_t other_count = 0;

	for (size_t i = 0; i < table->count && symbols->function_count < JEMALLOC_FUNCTION_MAX; i++) {
		struct elf_symbol symbol;

		if (!elf_symbols_get(object, table, i, &symbol) || symbol.type != STT_FUNC ||
		    symbol.section == SHN_UNDEF || strncmp(symbol.name, prefix, length) != 0)
			continue;
		if (is_about_thread_data(symbol.name + length))
			symbols->functions[symbols->function_count++] = symbol.value;
		else if (length > 0 && other_count < JEMALLOC_FUNCTION_MAX)
			others[other_count++] = symbol.value;
	}
	for (size_t i = 0; i < other_count && symbols->function_count < JEMALLOC_FUNCTION_MAX; i++)
		symbols->functions[symbols->function_count++] = others[i];
}

static bool find_in_table(const struct elf_object *object, const struct elf_symbols *table,
			  struct jemalloc_symbols *symbols)
{
	/* most objects are done with here */
	if (table->count == 0 ||
	    memmem(table->strings.data, table->strings.size, VARIABLE_NAME, VARIABLE_NAME_LENGTH + 1) == NULL)
		return false;
	for (size_t i = 0; i < table->count; i++) {
		struct elf_symbol symbol;
		ssize_t prefix;

		if (!elf_symbols_get(object, table, i, &symbol) || symbol.section == SHN_UNDEF)
			continue;
		prefix = prefix_length(symbol.name);
		if (prefix < 0)
			continue;
		symbols->value = symbol.value;
		symbols->size = symbol.size;
		find_functions(object, table, symbol.name, (size_t)prefix, symbols);
		return true;
	}
	return false;
}

bool jemalloc_symbols_find(const struct elf_object *object, struct jemalloc_symbols *ret_symbols)
{
	*ret_symbols = (struct jemalloc_symbols){0};
	return find_in_table(object, &object->symtab, ret_symbols) ||
	       find_in_table(object, &object->dynsym, ret_symbols);
}

bool jemalloc_is_exported(const struct elf_object *object)
{
	static const char name[] = "mallctl";
	const struct elf_symbols *table = &object->dynsym;

	if (table->count == 0 || memmem(table->strings.data, table->strings.size, name, sizeof(name)) == NULL)
		return false;
	for (size_t i = 0; i < table->count; i++) {
		struct elf_symbol symbol;
		size_t length;

		if (!elf_symbols_get(object, table, i, &symbol) || symbol.section == SHN_UNDEF ||
		    symbol.type != STT_FUNC)
			continue;
		length = strnlen(symbol.name, NAME_LENGTH_MAX);
		if (length >= sizeof(name) - 1 &&
		    strcmp(symbol.name + length - (sizeof(name) - 1), name) == 0)
			return true;
	}
	return false;
}

/* Bytes of `text` up to `end` that are decimal digits, and how many. */
static size_t count_digits(const unsigned char *start, const unsigned char *end)
{
	size_t count = 0;

	while (start + count < end && isdigit(start[count]))
		count++;
	return count;
}

/* "5.3.0-0", from `start` to `end`: the parts of the version before the commit. */
static bool version_is_sane(const unsigned char *start, const unsigned char *end)
{
	static const char separators[] = "..-";

	for (size_t part = 0;; part++) {
		const size_t digits = count_digits(start, end);

		if (digits == 0 || digits > 6)
			return false;
		start += digits;
		if (part == sizeof(separators) - 1)
			return start == end;
		if (start >= end || *start != (unsigned char)separators[part])
			return false;
		start++;
	}
}

/* Puts the version that ends at `dash` ("-g" and the commit follow) into `version`; "-0" is left away. */
static bool version_before(struct byte_range text, const unsigned char *dash,
			   char version[static LAYOUT_VERSION_SIZE])
{
	const unsigned char *start = dash;
	size_t length;

	while (start > text.data && (isdigit(start[-1]) || start[-1] == '.' || start[-1] == '-') &&
	       dash - start < LAYOUT_VERSION_SIZE)
		start--;
	length = (size_t)(dash - start);
	if (length >= LAYOUT_VERSION_SIZE || (start > text.data && start[-1] != '\0') ||
	    !version_is_sane(start, dash))
		return false;
	if (memcmp(dash - 2, "-0", 2) == 0)
		length -= 2;
	memcpy(version, start, length);
	version[length] = '\0';
	return true;
}

/* "-g", the 40 digits of the commit, NUL. Copies inside other programs (redis) have the commit "0". */
static bool commit_follows(const unsigned char *dash, const unsigned char *end)
{
	const unsigned char *at = dash + 2;

	while (at < end && at - dash < 2 + COMMIT_DIGITS && isxdigit(*at))
		at++;
	return at < end && *at == '\0' &&
	       (at - dash == 2 + COMMIT_DIGITS || (at - dash == 3 && dash[2] == '0'));
}

bool jemalloc_version(const struct elf_object *object, char ret_version[static LAYOUT_VERSION_SIZE])
{
	const struct byte_range text = object->sections[ELF_SECTION_RODATA].content;
	const unsigned char *end, *at = text.data;
	bool found = false;

	if (text.size == 0)
		return false;
	end = text.data + text.size;
	while ((at = memmem(at, (size_t)(end - at), "-g", 2)) != NULL) {
		char version[LAYOUT_VERSION_SIZE];

		if (commit_follows(at, end) && version_before(text, at, version)) {
			if (found && strcmp(version, ret_version) != 0)
				return false;
			memcpy(ret_version, version, sizeof(version));
			found = true;
		}
		at += 2;
	}
	return found;
}
