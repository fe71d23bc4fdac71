/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <unistd.h>

#include "base/memory.h"
#include "cmd/commands.h"
#include "cmd/line/dispatch.h"
#include "cmd/line/privilege.h"

/*
 * A standard descriptor that the parent has closed must not be given to the next file opened: output would go
 * into it. Opened the wrong way round, each use of it still fails as it would have.
 */
static void occupy_standard_descriptors(void)
{
	for (int descriptor = STDIN_FILENO; descriptor <= STDERR_FILENO; descriptor++) {
		if (fcntl(descriptor, F_GETFD) >= 0 || errno != EBADF)
			continue;
		if (open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY) != descriptor)
			_exit(COMMAND_FAILED);
	}
}

int main(int argc, char **argv)
{
	struct error error;

	memory_expect(0);
	occupy_standard_descriptors();
	/* past RLIMIT_FSIZE a write fails with EFBIG, as on a full disk, instead of leaving half a file */
	signal(SIGXFSZ, SIG_IGN);
	if (privilege_initialise(&error) < 0)
		return command_failed(&error);
	/* Characters as the user's terminal has them, numbers always with a dot. */
	setlocale(LC_CTYPE, "");
	return dispatch_run(commands, argc, argv);
}
