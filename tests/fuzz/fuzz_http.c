/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Requests to the exporter, over a socket: src/cmd/export/server.c with libmicrohttpd behind it. The first
 * byte says in how many pieces they come, and whether the client is gone before it is answered. What comes
 * back must be a status that there is, and the next client must be answered.
 */
#include <poll.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "cmd/export/server.h"

enum {
	LEAVES_EARLY = 1 << 7,
	PIECES = 3,
	PAGE_BYTES = 3000,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct sockaddr_un address;
static socklen_t address_size;
static struct server *server;

/* Stands for exporter.c: what pages hold is no matter of requests. */
void exporter_write(struct exporter *exporter, enum exposition_format format, struct export_health *health,
		    struct buffer *page)
{
	(void)exporter;
	if (format >= EXPOSITION_FORMAT_COUNT || !health->serves)
		abort();
	buffer_reserve(page, PAGE_BYTES);
	memset(page->data + page->length, 'x', PAGE_BYTES);
	page->length += PAGE_BYTES;
}

static void begin(void)
{
	const int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	struct error error;

	/* a name in the abstract namespace, which needs no file */
	address.sun_family = AF_UNIX;
	address_size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
				   (size_t)snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1,
						    "ctop-fuzz-%d", getpid()));
	if (listener < 0 || bind(listener, (struct sockaddr *)&address, address_size) < 0 ||
	    listen(listener, 16) < 0 || server_start(listener, false, NULL, &server, &error) < 0)
		abort();
}

static int reach(void)
{
	const int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (descriptor < 0 || connect(descriptor, (struct sockaddr *)&address, address_size) < 0)
		abort();
	return descriptor;
}

/* Lets the server work until there is nothing to be done any more. */
static void serve(void)
{
	struct pollfd ready = {.fd = server_descriptor(server), .events = POLLIN};

	do
		server_serve(server);
	while (poll(&ready, 1, 0) > 0);
}

/* Reads what has come; the first line must be that of an answer. */
static bool take_answer(int descriptor)
{
	static char text[2 * PAGE_BYTES];
	const ssize_t length = recv(descriptor, text, sizeof(text) - 1, 0);
	unsigned int status;

	if (length <= 0)
		return false;
	text[length] = '\0';
	if (sscanf(text, "HTTP/1.%*1[01] %3u ", &status) != 1 || status < 100 || status > 505)
		abort();
	while (recv(descriptor, text, sizeof(text), 0) > 0)
		serve();
	return status == 200;
}

static void send_pieces(int descriptor, const char *text, size_t size, size_t pieces)
{
	const size_t length = size / pieces + 1;

	for (size_t offset = 0; offset < size; offset += length) {
		const size_t left = size - offset;

		/* the server may have closed it already */
		if (send(descriptor, text + offset, left < length ? left : length, MSG_NOSIGNAL) < 0)
			return;
		serve();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char good[] = "GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
	int descriptor;

	if (size == 0)
		return 0;
	if (server == NULL)
		begin();
	descriptor = reach();
	send_pieces(descriptor, (const char *)data + 1, size - 1, 1 + data[0] % PIECES);
	if ((data[0] & LEAVES_EARLY) == 0) {
		shutdown(descriptor, SHUT_WR);
		serve();
		take_answer(descriptor);
	}
	close(descriptor);
	serve();
	descriptor = reach();
	send_pieces(descriptor, good, sizeof(good) - 1, 1);
	if (!take_answer(descriptor))
		abort();
	close(descriptor);
	serve();
	return 0;
}
