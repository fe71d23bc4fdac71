/* SPDX-License-Identifier: GPL-2.0-only */
#include "backend_options.h"

#include "base/memory.h"
#include "capture/capture.h"

static const char *const names[] = {
	[CAPTURE_BACKEND_AUTOMATIC] = "auto",
	[CAPTURE_BACKEND_BPF] = "bpf",
	[CAPTURE_BACKEND_PROCFS] = "procfs",
	NULL,
};

static const struct option list[] = {
	{OPTION('\0', "backend", "BACKEND", struct backend_options, backend), .choices = names,
	 .in_file = true,
	 .description = "read all threads in one pass (bpf; as root), or each from its files (procfs); "
			"default auto: bpf where it works, which `ctop doctor` tells"},
	{OPTION('\0', "scx-type", "NAME", struct backend_options, fields.type),
	 .description = "the struct or typedef that is the context of a thread, where the sched_ext "
			"scheduler has several that may be; default by its name"},
	{OPTION('\0', "scx-map", "NAME", struct backend_options, fields.map),
	 .description = "the task storage of the sched_ext scheduler in which contexts are, where it has "
			"several; default by its name"},
};

const struct option_table backend_option_table = {"Reading", list, ARRAY_COUNT(list)};
