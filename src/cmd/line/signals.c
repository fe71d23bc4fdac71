/* SPDX-License-Identifier: GPL-2.0-only */
#include "signals.h"

#include <errno.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/memory.h"
#include "command.h"

int signals_catch(struct signals *signals, struct error *error)
{
	static const int ending[] = {SIGINT, SIGTERM, SIGHUP};
	sigset_t caught;

	sigemptyset(&caught);
	for (size_t i = 0; i < ARRAY_COUNT(ending); i++) {
		struct sigaction action;

		if (sigaction(ending[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN)
			sigaddset(&caught, ending[i]);
	}
	sigprocmask(SIG_BLOCK, &caught, &signals->former_mask);
	signals->descriptor = signalfd(-1, &caught, SFD_CLOEXEC | SFD_NONBLOCK);
	if (signals->descriptor < 0) {
		const int result = -errno;

		sigprocmask(SIG_SETMASK, &signals->former_mask, NULL);
		return error_set(error, result, "cannot wait for signals: %s", strerror(-result));
	}
	sigaction(SIGPIPE, &(struct sigaction){.sa_handler = SIG_IGN}, &signals->former_pipe_action);
	return 0;
}

int signals_take(const struct signals *signals)
{
	struct signalfd_siginfo info;
	int first = 0;

	while (read(signals->descriptor, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		if (first == 0)
			first = (int)info.ssi_signo;
	}
	return first;
}

void signals_restore(struct signals *signals)
{
	if (signals->descriptor < 0)
		return;
	close(signals->descriptor);
	signals->descriptor = -1;
	sigaction(SIGPIPE, &signals->former_pipe_action, NULL);
	sigprocmask(SIG_SETMASK, &signals->former_mask, NULL);
}

int signals_end(int result, const struct error *error)
{
	if (result > 0) {
		signal(result, SIG_DFL);
		raise(result);
	}
	return result < 0 ? command_failed(error) : COMMAND_DONE;
}
