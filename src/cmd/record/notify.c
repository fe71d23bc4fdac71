/* SPDX-License-Identifier: GPL-2.0-only */
#include "notify.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/number.h"

int notify_send(const char *lines)
{
	const char *path = getenv("NOTIFY_SOCKET");
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	const size_t length = path != NULL ? strlen(path) : 0;
	ssize_t sent;
	int socket_fd, result;

	if (length == 0)
		return 0;
	if ((path[0] != '/' && path[0] != '@') || length < 2)
		return -EAFNOSUPPORT;
	if (length >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	memcpy(address.sun_path, path, length);
	/* a name that is in no file system (unix(7), "abstract") */
	if (path[0] == '@')
		address.sun_path[0] = '\0';
	socket_fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (socket_fd < 0)
		return -errno;
	do {
		sent = sendto(socket_fd, lines, strlen(lines), MSG_NOSIGNAL,
			      (const struct sockaddr *)&address,
			      (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length));
	} while (sent < 0 && errno == EINTR);
	result = sent < 0 ? -errno : 0;
	close(socket_fd);
	return result;
}

static uint64_t number_of_environment(const char *name)
{
	const char *text = getenv(name);
	uint64_t number;

	return text != NULL && number_parse_u64(text, strlen(text), &number) ? number : 0;
}

uint64_t notify_watchdog_ns(void)
{
	const uint64_t process = number_of_environment("WATCHDOG_PID");

	if (process != 0 && process != (uint64_t)getpid())
		return 0;
	return number_multiply_saturating(number_of_environment("WATCHDOG_USEC"), NS_PER_US);
}
