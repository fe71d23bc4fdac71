/* SPDX-License-Identifier: GPL-2.0-only */
#include "links.h"

#include <dirent.h>
#include <linux/bpf.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	LINKS_MAX = 1024
};

struct links {
	uint32_t ids[LINKS_MAX];
	bool held[LINKS_MAX];
	size_t count;
};

static void list_links(struct links *links)
{
	union bpf_attr attributes;

	memset(&attributes, 0, sizeof(attributes));
	while (links->count < LINKS_MAX &&
	       syscall(SYS_bpf, BPF_LINK_GET_NEXT_ID, &attributes, sizeof(attributes)) == 0) {
		links->ids[links->count++] = attributes.next_id;
		attributes.start_id = attributes.next_id;
	}
}

/* Marks the link that a line of a file below fdinfo names. */
static void note_holder(struct links *links, const char *path)
{
	FILE *file = fopen(path, "re");
	char line[256];
	unsigned int id;

	while (file != NULL && fgets(line, sizeof(line), file) != NULL)
		if (sscanf(line, "link_id: %u", &id) == 1)
			for (size_t i = 0; i < links->count; i++)
				links->held[i] = links->held[i] || links->ids[i] == id;
	if (file != NULL)
		fclose(file);
}

static void note_holders(struct links *links, const char *process)
{
	struct dirent *entry;
	char path[600];
	DIR *files;

	snprintf(path, sizeof(path), "/proc/%s/fdinfo", process);
	files = opendir(path);
	while (files != NULL && (entry = readdir(files)) != NULL) {
		snprintf(path, sizeof(path), "/proc/%.20s/fdinfo/%s", process, entry->d_name);
		if (entry->d_name[0] != '.')
			note_holder(links, path);
	}
	if (files != NULL)
		closedir(files);
}

size_t links_without_holder(void)
{
	struct links *links = calloc(1, sizeof(*links));
	DIR *processes = opendir("/proc");
	struct dirent *entry;
	size_t count = 0;

	list_links(links);
	while (links->count != 0 && processes != NULL && (entry = readdir(processes)) != NULL)
		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9')
			note_holders(links, entry->d_name);
	for (size_t i = 0; i < links->count; i++)
		count += links->held[i] ? 0 : 1;
	if (processes != NULL)
		closedir(processes);
	free(links);
	return count;
}
