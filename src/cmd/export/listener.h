/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_LISTENER_H
#define CTOP_LISTENER_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"

/* A socket that listens: `ADDR:PORT` (ADDR a number, [IPv6] in brackets, localhost, or empty for all) or
 * `unix:PATH`. */
struct listener {
	int descriptor; /* -1: none */
	char *words;    /* where it listens: "http://127.0.0.1:12867/metrics", "unix:/run/ctop/export.sock" */
	bool is_open;   /* others than this host can reach it */
	/* A socket in the file system, which is removed with the listener: */
	char *path;
	dev_t device;
	ino_t inode;
};

/* Whether that is a place in the file system, where the owner says who may connect; in the network all users
 * of the host may. */
bool listener_has_owner(const char *where);

/* The default address of `ctop export`. */
#define LISTENER_DEFAULT "127.0.0.1:12867"

/*
 * Opens it, not blocking. A socket that is left in the file system and that nobody listens on is replaced;
 * a socket in use, or any other file, is not. Sockets in the file system have mode 0660.
 * Port 0 is a free one. Returns 0, or a negative errno with a sentence that says what would help: -EINVAL
 * where it is no such place at all.
 */
int listener_open(const char *where, struct listener *ret_listener, struct error *error);

/* Closes it, and removes what it made in the file system, if that is still there. */
void listener_close(struct listener *listener);

#endif
