/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_MESSAGE_H
#define CTOP_MESSAGE_H

#include <stddef.h>
#include <sys/types.h>

/*
 * Bytes and descriptors over the sockets between the processes of this program (unix(7)). Both functions
 * allocate nothing and make no call but sendmsg(2) or recvmsg(2), and close(2).
 */

enum {
	MESSAGE_DESCRIPTORS_MAX = 4,
};

struct message {
	void *bytes;
	size_t size;
	void *more; /* a second piece, behind the first */
	size_t more_size;
	int *descriptors;
	size_t descriptor_count; /* at most MESSAGE_DESCRIPTORS_MAX */
};

/*
 * Sends all of it, over a stream in as many calls as that takes. With MSG_DONTWAIT in `flags` it never waits.
 * Returns 0 or a negative errno.
 */
int message_send(int socket, const struct message *message, int flags);

/*
 * Takes what one call gives. Returns its size, 0 at the end, or a negative errno. The descriptors that came
 * along (close-on-exec) are in `descriptors` if there are as many as asked for; otherwise all are closed, and
 * -1 stands there.
 */
ssize_t message_receive(int socket, struct message *message, int flags);

#endif
