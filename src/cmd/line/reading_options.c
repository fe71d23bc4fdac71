/* SPDX-License-Identifier: GPL-2.0-only */
#include "reading_options.h"

#include <string.h>

#include "base/memory.h"

static const char *const names[] = {
	[CAPTURE_BACKEND_AUTOMATIC] = "auto",
	[CAPTURE_BACKEND_BPF] = "bpf",
	[CAPTURE_BACKEND_PROCFS] = "procfs",
	NULL,
};

static const struct option backend_options_list[] = {
	{OPTION('\0', "backend", "BACKEND", struct backend_options, backend), .choices = names,
	 .in_file = true, .about = OPTION_ABOUT_HOST,
	 .description = "read all threads in one pass (bpf; as root), or each from its files (procfs); "
			"default auto: bpf where it works, which `ctop doctor` tells"},
	{OPTION('\0', "scx-type", "NAME", struct backend_options, fields.type), .about = OPTION_ABOUT_HOST,
	 .description =
		 "type of the scheduler's per-thread context, if several fit; default: chosen by name"},
	{OPTION('\0', "scx-map", "NAME", struct backend_options, fields.map), .about = OPTION_ABOUT_HOST,
	 .description = "the task storage of the sched_ext scheduler in which contexts are, where it has "
			"several; default by its name"},
};

const struct option_table backend_option_table = {"Reading", backend_options_list,
						  ARRAY_COUNT(backend_options_list)};

static const struct option root_options_list[] = {
	{OPTION('\0', "proc-root", "DIR", struct root_options, roots[ROOT_PROC]), .about = OPTION_ABOUT_HOST,
	 .description = "read this instead of /proc: a saved tree, or the host's from inside a container"},
	{OPTION('\0', "sys-root", "DIR", struct root_options, roots[ROOT_SYS]), .about = OPTION_ABOUT_HOST,
	 .description = "read this instead of /sys"},
	{OPTION('\0', "cgroup-root", "DIR", struct root_options, roots[ROOT_CGROUP]),
	 .about = OPTION_ABOUT_HOST,
	 .description = "read this instead of the cgroup2 mount found in /proc/self/mountinfo"},
};

const struct option_table root_option_table = {"Roots", root_options_list, ARRAY_COUNT(root_options_list)};

static const struct option heap_options_list[] = {
	{OPTION('\0', "no-heap", NULL, struct heap_options, no_heap), .in_file = true,
	 .about = OPTION_ABOUT_HOST,
	 .description = "do not read what jemalloc programs allocate (nothing is stopped to read it)"},
	{OPTION('\0', "allow-stop", NULL, struct heap_options, allow_stop), .about = OPTION_ABOUT_HOST,
	 .description = "stop a thread for up to 250 ms where its allocation counters cannot be found "
			"otherwise (as with musl)"},
};

const struct option_table heap_option_table = {"Allocation counters", heap_options_list,
					       ARRAY_COUNT(heap_options_list)};

struct capture_options reading_options_capture(const struct option_numbers *scope,
					       const struct backend_options *backend,
					       const struct root_options *roots)
{
	struct capture_options capture = {
		.scope = scope->items,
		.scope_count = scope->count,
		.backend = (enum capture_backend)backend->backend,
		.fields = backend->fields,
	};

	memcpy(capture.roots, roots->roots, sizeof(capture.roots));
	return capture;
}
