/* SPDX-License-Identifier: GPL-2.0-only */
#include "commands.h"

const struct command *const commands[] = {
	&live_command,   &capture_command, &show_command,   &diff_command,   &record_command,
	&replay_command, &history_command, &dump_command,   &export_command, &probe_command,
	&scx_command,    &metrics_command, &doctor_command, &help_command,   NULL,
};
