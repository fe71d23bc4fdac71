/* SPDX-License-Identifier: GPL-2.0-only */
#include "signals.h"

#include <errno.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/memory.h"
#include "command.h"

/* Makes the descriptor, or lets the one that is there stand for the signals of `set`: signalfd(2). */
static int open_descriptor(struct signals *signals, const sigset_t *set, struct error *error)
{
	const int descriptor = signalfd(signals->descriptor, set, SFD_CLOEXEC | SFD_NONBLOCK);

	if (descriptor < 0)
		return error_set(error, -errno, "cannot wait for signals: %s%s", strerror(errno),
				 errno == EMFILE ? "; raise the limit of open files (ulimit -n)" : "");
	signals->descriptor = descriptor;
	return 0;
}

int signals_reserve(struct signals *signals, struct error *error)
{
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_BLOCK, NULL, &signals->former_mask);
	sigaction(SIGPIPE, NULL, &signals->former_pipe_action);
	return open_descriptor(signals, &none, error);
}

int signals_catch(struct signals *signals, struct error *error)
{
	static const int ending[] = {SIGINT, SIGTERM, SIGHUP};
	sigset_t caught;
	int result;

	sigemptyset(&caught);
	for (size_t i = 0; i < ARRAY_COUNT(ending); i++) {
		struct sigaction action;

		if (sigaction(ending[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN)
			sigaddset(&caught, ending[i]);
	}
	sigprocmask(SIG_BLOCK, &caught, &signals->former_mask);
	result = open_descriptor(signals, &caught, error);
	if (result < 0) {
		sigprocmask(SIG_SETMASK, &signals->former_mask, NULL);
		return result;
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
