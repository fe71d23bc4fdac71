/* SPDX-License-Identifier: GPL-2.0-only */
#include "bpf_object.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/file.h"
#include "bpf_kernel.h"

enum {
	MESSAGE_SIZE = 256,
	SMALL_FILE = 4096,
	/* The programs read thread_info.cpu and task_struct.stats, which are there from here on. */
	OLDEST_MAJOR = 5,
	OLDEST_MINOR = 16,
};

/* The first line that told of a failure since this thread opened its last object. */
static _Thread_local char first_message[MESSAGE_SIZE];

static struct feature_result off(enum reason reason, const char *detail, const char *remedy)
{
	return (struct feature_result){FEATURE_STATE_OFF, reason, detail, remedy};
}

static int keep_message(enum libbpf_print_level level, const char *format, va_list arguments)
{
	char *end;

	if (level != LIBBPF_WARN || first_message[0] != '\0')
		return 0;
	vsnprintf(first_message, sizeof(first_message), format, arguments);
	end = strchr(first_message, '\n');
	if (end != NULL)
		*end = '\0';
	return 0;
}

void bpf_object_listen(void)
{
	first_message[0] = '\0';
	libbpf_set_print(keep_message);
}

/* Lockdown refuses programs in its strictest mode: security/lockdown, kernel_lockdown(7). */
static bool is_locked_down(void)
{
	struct buffer text = {0};
	bool locked = file_read(AT_FDCWD, "/sys/kernel/security/lockdown", &text, SMALL_FILE) == 0 &&
		      text.length != 0 && strstr(text.data, "[none]") == NULL;

	buffer_release(&text);
	return locked;
}

struct feature_result bpf_object_load_checked(struct bpf_object_skeleton *skeleton, int opened,
					      struct arena *arena)
{
	int result = opened == 0 ? bpf_object__load_skeleton(skeleton) : opened;
	struct utsname kernel;
	const char *words;

	if (result == 0)
		return (struct feature_result){.state = FEATURE_STATE_ON, .reason = REASON_READ};
	if (result == -EPERM && is_locked_down())
		return off(REASON_NOT_PERMITTED, "the kernel is locked down (kernel_lockdown(7))", NULL);
	if (result != -EPERM && uname(&kernel) == 0 &&
	    bpf_kernel_is_older(kernel.release, OLDEST_MAJOR, OLDEST_MINOR))
		return off(REASON_NOT_IN_KERNEL,
			   arena_format(arena, "needs Linux %d.%d; this is %s", OLDEST_MAJOR, OLDEST_MINOR,
					kernel.release),
			   NULL);
	words = arena_format(arena, "the kernel refused the program: %s%s%s", strerror(-result),
			     first_message[0] != '\0' ? "; " : "", first_message);
	return off(result == -EPERM || result == -EACCES ? REASON_NOT_PERMITTED : REASON_NOT_IN_KERNEL, words,
		   NULL);
}
