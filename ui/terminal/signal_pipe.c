/* SPDX-License-Identifier: GPL-2.0-only */
#include "signal_pipe.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "crash_guard.h"

static const int piped_signals[] = {SIGWINCH, SIGTSTP, SIGCONT, SIGHUP, SIGINT, SIGTERM, SIGQUIT};

enum {
	PIPED_SIGNAL_COUNT = sizeof(piped_signals) / sizeof(piped_signals[0])
};

static int ends[2] = {-1, -1};
static atomic_int pending_deadly;
static struct sigaction former_actions[PIPED_SIGNAL_COUNT], former_pipe_action;

static bool is_deadly(int signal_number)
{
	return signal_number == SIGHUP || signal_number == SIGINT || signal_number == SIGTERM ||
	       signal_number == SIGQUIT;
}

static void handle_signal(int signal_number)
{
	int saved_errno = errno;
	unsigned char byte = (unsigned char)signal_number;
	ssize_t written;

	if (is_deadly(signal_number) && atomic_exchange(&pending_deadly, signal_number) != 0) {
		crash_guard_restore();
		signal(signal_number, SIG_DFL);
		raise(signal_number);
	}
	/* a full pipe wakes the loop already, and a deadly signal is in pending_deadly */
	written = write(ends[1], &byte, 1);
	(void)written;
	errno = saved_errno;
}

int signal_pipe_open(struct error *error)
{
	struct sigaction action = {.sa_handler = handle_signal};
	const struct sigaction ignore = {.sa_handler = SIG_IGN};

	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
		return error_set(error, -errno, "cannot create a pipe for signals: %s", strerror(errno));
	atomic_store(&pending_deadly, 0);
	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < PIPED_SIGNAL_COUNT; i++) {
		/* a deadly signal must interrupt a system call that waits for the foreground */
		action.sa_flags = is_deadly(piped_signals[i]) ? 0 : SA_RESTART;
		sigaction(piped_signals[i], &action, &former_actions[i]);
		/* a deadly signal that was ignored stays so: nohup(1) */
		if (former_actions[i].sa_handler == SIG_IGN && is_deadly(piped_signals[i]))
			sigaction(piped_signals[i], &former_actions[i], NULL);
	}
	/* a write without a reader fails with EPIPE instead */
	sigaction(SIGPIPE, &ignore, &former_pipe_action);
	return ends[0];
}

int signal_pipe_deadly(void)
{
	return atomic_load(&pending_deadly);
}

struct signal_news signal_pipe_take(void)
{
	struct signal_news news = {0};
	unsigned char bytes[256];
	ssize_t length;

	while ((length = read(ends[0], bytes, sizeof(bytes))) > 0) {
		for (ssize_t i = 0; i < length; i++) {
			news.resized |= bytes[i] == SIGWINCH;
			/* of a stop and what ends it the later one counts */
			if (bytes[i] == SIGTSTP || bytes[i] == SIGCONT) {
				news.suspend = bytes[i] == SIGTSTP;
				news.continued = bytes[i] == SIGCONT;
			}
		}
	}
	news.deadly = signal_pipe_deadly();
	return news;
}

void signal_pipe_stop_process(void)
{
	struct sigaction action, handled;

	memset(&action, 0, sizeof(action));
	action.sa_handler = SIG_IGN;
	sigaction(SIGTSTP, &action, &handled);
	/* first the other processes of the job (a script, helpers); this one ignores it … */
	kill(0, SIGTSTP);
	/* … and then stops by a signal of its own, which is delivered before raise() returns */
	action.sa_handler = SIG_DFL;
	sigaction(SIGTSTP, &action, NULL);
	raise(SIGTSTP);
	sigaction(SIGTSTP, &handled, NULL);
}

void signal_pipe_close(void)
{
	if (ends[0] < 0)
		return;
	for (size_t i = 0; i < PIPED_SIGNAL_COUNT; i++)
		sigaction(piped_signals[i], &former_actions[i], NULL);
	sigaction(SIGPIPE, &former_pipe_action, NULL);
	close(ends[0]);
	close(ends[1]);
	ends[0] = ends[1] = -1;
}
