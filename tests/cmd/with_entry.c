/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * with_entry ENTRY COMMAND...: runs the command with ENTRY added to its environment unchanged. Shells and
 * env(1) only pass on entries with a "=".
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	char **entries;
	size_t count = 0;

	if (argc < 3)
		return 125;
	while (environ[count] != NULL)
		count++;
	entries = calloc(count + 2, sizeof(*entries));
	if (entries == NULL)
		return 125;
	memcpy(entries, environ, count * sizeof(*entries));
	entries[count] = argv[1];
	execvpe(argv[2], argv + 2, entries);
	fprintf(stderr, "with_entry: %s: %s\n", argv[2], strerror(errno));
	return 125;
}
