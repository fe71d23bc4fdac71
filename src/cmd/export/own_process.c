/* SPDX-License-Identifier: GPL-2.0-only */
#include "own_process.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"

enum {
	STAT_LIMIT = 4096,
	/* fields of stat behind the name in parentheses, where state is field 3 (proc_pid_stat(5)) */
	FIELD_STATE = 3,
	FIELD_START = 22,
	FIELD_VIRTUAL = 23,
	FIELD_RESIDENT = 24,
};

/* The number in a field; `text` begins at that of the state. */
static uint64_t field(const char *text, int number)
{
	for (int i = FIELD_STATE; i < number; i++) {
		text = strchr(text, ' ');
		if (text == NULL)
			return 0;
		text++;
	}
	return strtoull(text, NULL, 10);
}

static uint64_t count_descriptors(void)
{
	DIR *directory = file_open_directory(AT_FDCWD, "/proc/self/fd");
	uint64_t count = 0;

	if (directory == NULL)
		return 0;
	while (readdir(directory) != NULL)
		count++;
	closedir(directory);
	return count > 3 ? count - 3 : 0; /* "." and "..", and the one of the directory itself */
}

void own_process_read(struct export_health *health)
{
	struct buffer stat = {0};
	struct rlimit limit;
	const char *end;
	uint64_t start_ns, boot_unix_ns;

	health->has_process = file_read(AT_FDCWD, "/proc/self/stat", &stat, STAT_LIMIT) == 0;
	end = health->has_process ? strrchr(stat.data, ')') : NULL;
	health->has_process = end != NULL && getrlimit(RLIMIT_NOFILE, &limit) == 0;
	if (health->has_process) {
		end += 2;
		start_ns = field(end, FIELD_START) * NS_PER_TICK;
		boot_unix_ns = clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_BOOTTIME);
		health->cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
		health->virtual_bytes = field(end, FIELD_VIRTUAL);
		health->resident_bytes = field(end, FIELD_RESIDENT) * (uint64_t)sysconf(_SC_PAGESIZE);
		health->start_unix_ns = boot_unix_ns + start_ns;
		health->open_fds = count_descriptors();
		health->max_fds = limit.rlim_cur;
	}
	buffer_release(&stat);
}
