/* SPDX-License-Identifier: GPL-2.0-only */
#include "listener.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/number.h"

static const char unix_prefix[] = "unix:";

enum {
	BACKLOG = 64
};

static int refuse(const char *where, struct error *error)
{
	return error_set(error, -EINVAL,
			 "cannot listen on '%s'; say ADDRESS:PORT, as in " LISTENER_DEFAULT
			 " or [::1]:12867, or unix:PATH",
			 where);
}

/* --- in the file system --- */

/* Whether somebody listens on a socket there: 0 for nobody, 1, or a negative errno. */
static int ask(const struct sockaddr_un *address)
{
	const int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int result = 1;

	if (descriptor < 0)
		return -errno;
	if (connect(descriptor, (const struct sockaddr *)address, sizeof(*address)) < 0 && errno != EAGAIN)
		result = errno == ECONNREFUSED ? 0 : -errno;
	close(descriptor);
	return result;
}

/* Removes a socket that was left behind, and nothing else. */
static int clear_path(const struct sockaddr_un *address, struct error *error)
{
	const char *path = address->sun_path;
	struct stat status;
	int result;

	if (lstat(path, &status) < 0)
		return errno == ENOENT
			       ? 0
			       : error_set(error, -errno, "cannot listen on %s: %s", path, strerror(errno));
	if (!S_ISSOCK(status.st_mode))
		return error_set(error, -EEXIST,
				 "cannot listen on %s: it is there and no socket; choose another path", path);
	result = ask(address);
	if (result == 1)
		return error_set(
			error, -EADDRINUSE,
			"cannot listen on %s: somebody listens there (ss -xlp says who); choose another path",
			path);
	if (result == 0 && unlink(path) < 0)
		result = -errno;
	return result == 0 || result == -ENOENT
		       ? 0
		       : error_set(error, result,
				   "cannot listen on %s: the socket there cannot be replaced: %s", path,
				   strerror(-result));
}

/* Removes the socket of a listener, unless another one has taken its place. */
static void remove_path(const struct listener *listener)
{
	struct stat status;

	if (listener->path != NULL && lstat(listener->path, &status) == 0 &&
	    status.st_dev == listener->device && status.st_ino == listener->inode)
		unlink(listener->path);
}

/* The one that is removed when the process ends for lack of memory. */
static const struct listener *kept_listener;

static void remove_kept_path(void)
{
	remove_path(kept_listener);
}

static int open_path(const char *path, struct listener *listener, struct error *error)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct stat status;
	mode_t mask;
	int result;

	if (path[0] == '\0' || strlen(path) >= sizeof(address.sun_path))
		return error_set(error, -EINVAL,
				 "cannot listen on unix:%s: a path there has 1 to %zu bytes (unix(7))", path,
				 sizeof(address.sun_path) - 1);
	memcpy(address.sun_path, path, strlen(path) + 1);
	if (clear_path(&address, error) < 0)
		return -EADDRINUSE;
	listener->descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (listener->descriptor < 0)
		return error_set(error, -errno, "cannot open a socket: %s", strerror(errno));
	listener->path = memory_duplicate(path);
	kept_listener = listener;
	memory_set_failure_handler(remove_kept_path);
	mask = umask(0117);
	result = bind(listener->descriptor, (const struct sockaddr *)&address, sizeof(address)) < 0 ? -errno
												    : 0;
	umask(mask);
	if (result == 0 && lstat(path, &status) < 0) {
		result = -errno;
		unlink(path);
	} else if (result == 0) {
		listener->device = status.st_dev;
		listener->inode = status.st_ino;
	}
	if (result == 0 && listen(listener->descriptor, BACKLOG) < 0)
		result = -errno;
	if (result < 0)
		return error_set(error, result, "cannot listen on %s: %s%s", path, strerror(-result),
				 result == -ENOENT ? "; make its directory first" : "");
	listener->words = memory_format("unix:%s", path);
	return 0;
}

/* --- in the network --- */

static bool is_loopback(const struct sockaddr *address)
{
	const struct in6_addr *six;

	if (address->sa_family == AF_INET)
		return (ntohl(((const struct sockaddr_in *)(const void *)address)->sin_addr.s_addr) >> 24) ==
		       127;
	six = &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr;
	/* [::ffff:127.0.0.1] maps an IPv4 address (RFC 4291, 2.5.5.2) */
	return IN6_IS_ADDR_LOOPBACK(six) || (IN6_IS_ADDR_V4MAPPED(six) && six->s6_addr[12] == 127);
}

/* Says where it listens, with the port that it got. */
static void describe(struct listener *listener)
{
	struct sockaddr_storage address;
	socklen_t length = sizeof(address);
	char host[INET6_ADDRSTRLEN] = "", port[8] = "";

	if (getsockname(listener->descriptor, (struct sockaddr *)&address, &length) == 0)
		getnameinfo((struct sockaddr *)&address, length, host, sizeof(host), port, sizeof(port),
			    NI_NUMERICHOST | NI_NUMERICSERV);
	listener->is_open = !is_loopback((struct sockaddr *)&address);
	listener->words = memory_format(
		strchr(host, ':') != NULL ? "http://[%s]:%s/metrics" : "http://%s:%s/metrics", host, port);
}

static int explain(const char *where, const char *port, int result, struct error *error)
{
	switch (result) {
	case -EADDRINUSE:
		return error_set(
			error, result,
			"cannot listen on %s: the port is in use (ss -ltnp 'sport = :%s' says by whom); "
			"choose another with --listen",
			where, port);
	case -EACCES:
		return error_set(error, result,
				 "cannot listen on %s: not permitted; ports from 1024 on are free for all",
				 where);
	case -EADDRNOTAVAIL:
		return error_set(error, result,
				 "cannot listen on %s: no interface of this host has that address (ip addr)",
				 where);
	default:
		return error_set(error, result, "cannot listen on %s: %s", where, strerror(-result));
	}
}

static int bind_to(const struct addrinfo *address, struct listener *listener)
{
	const int on = 1, off = 0;
	int result;

	listener->descriptor = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (listener->descriptor < 0)
		return -errno;
	/* connections of an earlier ctop may linger (TIME_WAIT, tcp(7)); another listener is still refused */
	setsockopt(listener->descriptor, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (address->ai_family == AF_INET6)
		setsockopt(listener->descriptor, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
	if (bind(listener->descriptor, address->ai_addr, address->ai_addrlen) < 0 ||
	    listen(listener->descriptor, BACKLOG) < 0) {
		result = -errno;
		close(listener->descriptor);
		listener->descriptor = -1;
		return result;
	}
	return 0;
}

/* `host` is a number, or empty for all addresses of both protocols. */
static int open_address(const char *where, const char *host, const char *port, struct listener *listener,
			struct error *error)
{
	const struct addrinfo hints = {.ai_flags = AI_PASSIVE | AI_NUMERICHOST | AI_NUMERICSERV,
				       .ai_socktype = SOCK_STREAM};
	struct addrinfo *addresses;
	int result;

	if (host[0] == '\0')
		host = "::";
	if (getaddrinfo(host, port, &hints, &addresses) != 0)
		return error_set(error, -EINVAL,
				 "cannot listen on '%s': '%s' is no address; write it as a number, as "
				 "in " LISTENER_DEFAULT,
				 where, host);
	result = bind_to(addresses, listener);
	freeaddrinfo(addresses);
	/* a host without IPv6 */
	if (result == -EAFNOSUPPORT && strcmp(host, "::") == 0 &&
	    getaddrinfo("0.0.0.0", port, &hints, &addresses) == 0) {
		result = bind_to(addresses, listener);
		freeaddrinfo(addresses);
	}
	if (result < 0)
		return explain(where, port, result, error);
	describe(listener);
	return 0;
}

static int open_network(const char *where, struct listener *listener, struct error *error)
{
	const char *colon = strrchr(where, ':');
	uint32_t port;
	bool in_brackets;
	char *host;
	size_t length;
	int result;

	if (colon == NULL || !number_parse_u32(colon + 1, strlen(colon + 1), &port) || port > 65535 ||
	    colon[1] == '+')
		return refuse(where, error);
	length = (size_t)(colon - where);
	in_brackets = where[0] == '[' && length >= 2 && where[length - 1] == ']';
	host = memory_duplicate_bytes(where + in_brackets, length - 2 * (size_t)in_brackets);
	if (!in_brackets && strpbrk(host, "[:]") != NULL)
		result = refuse(where, error); /* where would the port begin? */
	else if (strcmp(host, "localhost") == 0)
		result = open_address(where, "127.0.0.1", colon + 1, listener, error);
	else
		result = open_address(where, host, colon + 1, listener, error);
	free(host);
	return result;
}

bool listener_has_owner(const char *where)
{
	return strncmp(where, unix_prefix, strlen(unix_prefix)) == 0;
}

int listener_open(const char *where, struct listener *ret_listener, struct error *error)
{
	int result;

	*ret_listener = (struct listener){.descriptor = -1};
	result = listener_has_owner(where) ? open_path(where + strlen(unix_prefix), ret_listener, error)
					   : open_network(where, ret_listener, error);
	if (result < 0)
		listener_close(ret_listener);
	return result;
}

void listener_close(struct listener *listener)
{
	if (listener->path != NULL)
		memory_set_failure_handler(NULL);
	remove_path(listener);
	if (listener->descriptor >= 0)
		close(listener->descriptor);
	free(listener->words);
	free(listener->path);
	*listener = (struct listener){.descriptor = -1};
}
