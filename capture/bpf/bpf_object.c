/* SPDX-License-Identifier: GPL-2.0-only */
#include "bpf_object.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/utsname.h>

#include "base/buffer.h"
#include "base/file.h"
#include "base/release.h"

enum {
	MESSAGE_SIZE = 256,
	SMALL_FILE = 4096,
	/* The programs read thread_info.cpu and task_struct.stats, which are there from here on. */
	OLDEST_MAJOR = 5,
	OLDEST_MINOR = 16,
};

/* The first line that told of a failure since this thread opened its last object. */
static _Thread_local char first_message[MESSAGE_SIZE];

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

/*
 * Whether lockdown is in its strictest mode, which alone refuses programs that read the kernel's memory:
 * LOCKDOWN_BPF_READ_KERNEL of include/linux/security.h. A helper that it takes away is unknown to the
 * verifier, so that the error is EPERM or EINVAL.
 */
static bool is_locked_down(void)
{
	struct buffer text = {0};
	bool locked = file_read(AT_FDCWD, "/sys/kernel/security/lockdown", &text, SMALL_FILE) == 0 &&
		      text.length != 0 && strstr(text.data, "[confidentiality]") != NULL;

	buffer_release(&text);
	return locked;
}

/* Adds the ids to a map with such keys. False when the kernel refuses. */
static bool fill_scope(const struct bpf_map *map, struct bpf_scope scope)
{
	const uint64_t one = 1; /* as many bytes of it as a value has */

	for (size_t i = 0; i < scope.count; i++) {
		if (bpf_map_update_elem(bpf_map__fd(map), &scope.ids[i], &one, BPF_ANY) != 0)
			return false;
	}
	return true;
}

/* Whether the programs' variables are there: libbpf loads without them where its test of the kernel failed.
 */
static bool has_variables(const struct bpf_object_skeleton *skeleton)
{
	const char *map = (const char *)skeleton->maps;

	for (int i = 0; i < skeleton->map_cnt; i++, map += skeleton->map_skel_sz) {
		void *const *variables = ((const struct bpf_map_skeleton *)(const void *)map)->mmaped;

		if (variables != NULL && *variables == NULL)
			return false;
	}
	return true;
}

/*
 * Some programs can do without a kernel function that older kernels lack; no module has it either. libbpf
 * looks for it in the modules, once per object. That takes CAP_SYS_ADMIN (bpf_btf_get_next_id()), and before
 * version 1.3 libbpf refuses the whole object without it (load_module_btfs() of libbpf.c). So the one look is
 * spent here, before the object is loaded, on a name that is not found.
 */
static void skip_modules(const struct bpf_object_skeleton *skeleton)
{
	struct bpf_program *program = bpf_object__next_program(*skeleton->obj, NULL);
	uint32_t id;

	if (bpf_btf_get_next_id(0, &id) < 0 && errno == EPERM)
		(void)bpf_program__set_attach_target(program, 0, "a function that no kernel has");
	first_message[0] = '\0';
}

struct feature_result bpf_object_load(struct bpf_object_skeleton *skeleton, int opened, struct bpf_map *map,
				      struct bpf_scope scope, struct arena *arena)
{
	int result = opened;
	struct utsname kernel;

	if (result == 0 && scope.count != 0)
		result = bpf_map__set_max_entries(map, (uint32_t)scope.count);
	if (result == 0) {
		skip_modules(skeleton);
		result = bpf_object__load_skeleton(skeleton);
	}
	if (result == 0 && !has_variables(skeleton))
		return feature_off(REASON_NOT_IN_KERNEL, "the kernel refused the program's variables", NULL);
	if (result == 0)
		return fill_scope(map, scope) ? feature_on()
					      : feature_off(REASON_NOT_IN_KERNEL,
							    "the kernel refused the ids of processes", NULL);
	if ((result == -EPERM || result == -EINVAL) && is_locked_down())
		return feature_off(REASON_NOT_PERMITTED, "the kernel is locked down (kernel_lockdown(7))",
				   NULL);
	if (result != -EPERM && uname(&kernel) == 0 &&
	    release_is_older(kernel.release, OLDEST_MAJOR, OLDEST_MINOR))
		return BPF_OFF(arena, REASON_NOT_IN_KERNEL, "needs Linux %d.%d; this is %s", OLDEST_MAJOR,
			       OLDEST_MINOR, kernel.release);
	return BPF_OFF(arena,
		       result == -EPERM || result == -EACCES ? REASON_NOT_PERMITTED : REASON_NOT_IN_KERNEL,
		       "the kernel refused the program: %s%s%s", strerror(-result),
		       first_message[0] != '\0' ? "; " : "", first_message);
}

bool bpf_array_map(struct bpf_array *array, const struct bpf_map *map, int protection)
{
	const size_t stride = bpf_map__value_size(map), size = bpf_map__max_entries(map) * stride;
	void *start = mmap(NULL, size, protection, MAP_SHARED, bpf_map__fd(map), 0);

	if (start == MAP_FAILED)
		return false;
	*array = (struct bpf_array){start, size, stride};
	return true;
}

void bpf_array_unmap(struct bpf_array *array)
{
	if (array->start != NULL)
		munmap(array->start, array->size);
	*array = (struct bpf_array){0};
}
