/* SPDX-License-Identifier: GPL-2.0-only */
#include "cmd/command.h"

int main(int argc, char **argv)
{
	return command_run(argc, argv);
}
