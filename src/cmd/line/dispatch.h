/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_DISPATCH_H
#define CTOP_DISPATCH_H

#include "command.h"

/* Runs the command that the arguments name; returns the exit status of the process. */
int dispatch_run(command_table commands, int argc, char **argv);

#endif
