/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_SERVER_H
#define CTOP_SERVER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "exporter.h"

/*
 * HTTP on a socket that listens, for GET and HEAD of `/metrics` and `/`, by libmicrohttpd. All of it is done
 * in the thread that calls. There are at most SERVER_CONNECTIONS_MAX connections; a new one takes the place
 * of the one that has been silent for longest, so that clients that hold connections, send their requests
 * byte by byte or do not read keep nobody out, and an answer that is being read is not cut. With
 * SERVER_PAGES_MAX pages being sent, further requests get the newest of them. A request and its answer take
 * at most SERVER_PATIENCE_NS together.
 */
struct server;

enum {
	SERVER_CONNECTIONS_MAX = 64,
	SERVER_PAGES_MAX = 16,
};
#define SERVER_PATIENCE_NS (UINT64_C(15) * 1000000000)

/* Whether ctop was built with libmicrohttpd. */
extern const bool server_is_built;

/*
 * Serves the pages of an exporter on a socket that listens, not blocking, and stays the caller's. Without
 * `any_host`, only requests for an address, `localhost` or the name of this host are answered: a page of the
 * web whose own name leads to this socket (DNS rebinding) has that name in Host. Returns 0 or a negative
 * errno with a sentence.
 */
int server_start(int listener, bool any_host, struct exporter *exporter, struct server **ret_server,
		 struct error *error);
void server_stop(struct server *server);

/* Readable when server_serve() has something to do. */
int server_descriptor(const struct server *server);

/* Does what can be done at once. Returns when it is to be called again at the latest (CLOCK_MONOTONIC ns,
 * UINT64_MAX for never). */
uint64_t server_serve(struct server *server);

#endif
