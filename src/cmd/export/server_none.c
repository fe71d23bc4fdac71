/* SPDX-License-Identifier: GPL-2.0-only */
/* The server of a build without libmicrohttpd: it cannot listen. */
#include "server.h"

#include <errno.h>
#include <stddef.h>

const bool server_is_built = false;

int server_start(int listener, bool any_host, struct exporter *exporter, struct server **ret_server,
		 struct error *error)
{
	(void)listener;
	(void)any_host;
	(void)exporter;
	*ret_server = NULL;
	return error_set(error, -ENOTSUP,
			 "this ctop was built without libmicrohttpd and cannot listen; --textfile works");
}

void server_stop(struct server *server)
{
	(void)server;
}

int server_descriptor(const struct server *server)
{
	(void)server;
	return -1;
}

uint64_t server_serve(struct server *server)
{
	(void)server;
	return UINT64_MAX;
}
