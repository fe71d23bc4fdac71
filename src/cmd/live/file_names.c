/* SPDX-License-Identifier: GPL-2.0-only */
#include "file_names.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"

/* The rest of a larger directory is ignored. */
#define ENTRIES_MAX 100000

struct names {
	char **items; /* owned, with a slash behind directories */
	size_t count, capacity;
};

/* Follows links. */
static bool is_directory(DIR *directory, const struct dirent *entry)
{
	struct stat status;

	if (entry->d_type != DT_UNKNOWN && entry->d_type != DT_LNK)
		return entry->d_type == DT_DIR;
	return fstatat(dirfd(directory), entry->d_name, &status, 0) == 0 && S_ISDIR(status.st_mode);
}

/* Other names fit neither into lines nor on the screen. */
static bool is_printable(const char *name)
{
	for (; *name != '\0'; name++) {
		if ((unsigned char)*name < ' ' || *name == 0x7f)
			return false;
	}
	return true;
}

static void find_names(const char *path, const char *begin, struct names *names)
{
	DIR *directory = opendir(path);
	const size_t length = strlen(begin);
	const struct dirent *entry;

	if (directory == NULL)
		return;
	for (size_t i = 0; i < ENTRIES_MAX && (entry = readdir(directory)) != NULL; i++) {
		const char *name = entry->d_name;

		if (strncmp(name, begin, length) != 0 || strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
		    (name[0] == '.' && begin[0] != '.') || !is_printable(name))
			continue;
		*MEMORY_APPEND(names->items, names->count, names->capacity) = memory_format(
			"%s%s", name, is_directory(directory, entry) ? "/" : "");
	}
	closedir(directory);
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The length of the common beginning of all names, in bytes: whole characters of UTF-8. */
static size_t common_length(const struct names *names)
{
	const char *first = names->items[0], *last = names->items[names->count - 1];
	size_t length = 0;

	/* the names are sorted, so the first and the last differ most */
	while (first[length] != '\0' && first[length] == last[length])
		length++;
	while (length > 0 && ((unsigned char)first[length] & 0xc0) == 0x80)
		length--;
	return length;
}

void file_names_complete(const char *text, struct buffer *lines)
{
	const char *slash = strrchr(text, '/'), *begin = slash != NULL ? slash + 1 : text;
	char *path = slash != NULL ? memory_duplicate_bytes(text, (size_t)(begin - text))
				   : memory_duplicate(".");
	struct names names = {0};

	find_names(path, begin, &names);
	if (names.count != 0)
		qsort(names.items, names.count, sizeof(*names.items), compare);
	buffer_append_format(lines, "%s\n%.*s", text, (int)(begin - text), text);
	if (names.count != 0)
		buffer_append(lines, names.items[0], common_length(&names));
	else
		buffer_append_text(lines, begin);
	buffer_append_char(lines, '\n');
	for (size_t i = 0; i < names.count; i++) {
		if (names.count > 1 && i < FILE_NAMES_LISTED)
			buffer_append_format(lines, "%s\n", names.items[i]);
		free(names.items[i]);
	}
	free(names.items);
	free(path);
}
