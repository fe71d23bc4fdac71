/* SPDX-License-Identifier: GPL-2.0-only */
#include "debug_candidate.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define DEBUG_DIRECTORY "/usr/lib/debug"

#if defined(__x86_64__)
#define MULTIARCH_NAME "x86_64-linux-gnu"
#elif defined(__aarch64__)
#define MULTIARCH_NAME "aarch64-linux-gnu"
#endif

bool debug_link_is_safe(const char *name, size_t length)
{
	if (length == 0 || memchr(name, '/', length) != NULL || memchr(name, '\0', length) != NULL)
		return false;
	return !(name[0] == '.' && (length == 1 || (length == 2 && name[1] == '.')));
}

bool debug_build_id_is_safe(const char *hexadecimal, size_t length)
{
	if (length == 0 || length % 2 != 0)
		return false;
	for (size_t i = 0; i < length; i++) {
		const char digit = hexadecimal[i];

		if (!((digit >= '0' && digit <= '9') || (digit >= 'a' && digit <= 'f')))
			return false;
	}
	return true;
}

static void add(struct debug_candidates *candidates, char *path)
{
	candidates->paths[candidates->count++] = path;
}

/* Length of `path` without the slashes at its end. */
static size_t trimmed_length(const char *path, size_t length)
{
	while (length > 0 && path[length - 1] == '/')
		length--;
	return length;
}

/*
 * The directory that holds `path`, ending in a slash unless it is empty (a bare name); NULL when the path has
 * no parent ("/", ""). Owned by the caller.
 */
static char *parent_directory(const char *path)
{
	size_t length = trimmed_length(path, strlen(path));

	if (length == 0)
		return NULL;
	while (length > 0 && path[length - 1] != '/')
		length--;
	if (length == 0)
		return memory_duplicate("");
	return memory_format("%.*s/", (int)trimmed_length(path, length), path);
}

void debug_candidates_find(const char *object_path, const char *debuglink, const char *build_id,
			   struct debug_candidates *ret_candidates)
{
	char *directory;

	*ret_candidates = (struct debug_candidates){0};
	if (build_id != NULL && debug_build_id_is_safe(build_id, strlen(build_id)))
		add(ret_candidates,
		    memory_format(DEBUG_DIRECTORY "/.build-id/%.2s/%s.debug", build_id, build_id + 2));
	if (debuglink == NULL || !debug_link_is_safe(debuglink, strlen(debuglink)))
		return;
	directory = parent_directory(object_path);
	if (directory == NULL)
		return;
	add(ret_candidates, memory_format("%s%s", directory, debuglink));
	add(ret_candidates, memory_format("%s.debug/%s", directory, debuglink));
	if (directory[0] == '/')
		add(ret_candidates, memory_format(DEBUG_DIRECTORY "%s%s", directory, debuglink));
	free(directory);
}

void debug_candidates_find_alternate(const char *name, struct debug_candidates *ret_candidates)
{
	*ret_candidates = (struct debug_candidates){0};
	if (!debug_link_is_safe(name, strlen(name)))
		return;
	add(ret_candidates, memory_format(DEBUG_DIRECTORY "/.dwz/%s", name));
	add(ret_candidates, memory_format(DEBUG_DIRECTORY "/.dwz/" MULTIARCH_NAME "/%s", name));
}
