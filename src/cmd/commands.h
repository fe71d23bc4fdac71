/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_COMMANDS_H
#define CTOP_COMMANDS_H

#include "cmd/line/command.h"

/* In the order of `ctop help`. */
extern const struct command *const commands[];

extern const struct command capture_command;
extern const struct command diff_command;
extern const struct command doctor_command;
extern const struct command dump_command;
extern const struct command export_command;
extern const struct command history_command;
extern const struct command metrics_command;
extern const struct command probe_command;
extern const struct command record_command;
extern const struct command replay_command;
extern const struct command scx_command;
extern const struct command show_command;
extern const struct command live_command;

#endif
