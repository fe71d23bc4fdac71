/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_COMMAND_H
#define CTOP_COMMAND_H

/* Runs the command that the arguments name; returns the exit status of the process. */
int command_run(int argc, char **argv);

#endif
