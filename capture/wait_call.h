/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_WAIT_CALL_H
#define CTOP_WAIT_CALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/bpf/futex_record.h"
#include "metric/wait_class.h"

/* From the system call that a thread sleeps in, and the file behind its descriptor, to what it waits for. */

enum {
	WAIT_CALL_ARGUMENTS = 3,
	WAIT_CALL_LIMIT = 512, /* no ABI has a call with a number from here on; a power of two */
	WAIT_CALL_NONE = -1,   /* the number of a thread that entered the kernel by an exception */
	WAIT_OBJECT_SIZE = 64, /* of the text of an object, with its NUL */
};

/* Follows the address of a futex if the expected value is that of a locked mutex. */
#define WAIT_OBJECT_LOCK " lock"

/* A system call, as its registers have it. */
struct wait_call {
	int32_t number; /* WAIT_CALL_NONE: it is an exception */
	bool is_compat; /* by the 32-bit ABI of the architecture */
	uint64_t arguments[WAIT_CALL_ARGUMENTS];
};

/* A file that a thread waits for. */
struct wait_file {
	uint32_t mode;   /* st_mode; of no meaning with ANON_INODE_FS_MAGIC */
	uint64_t magic;  /* s_magic of its superblock: include/uapi/linux/magic.h */
	uint32_t device; /* of a device file, as the kernel encodes it (major << 20 | minor); else 0 */
	uint64_t inode;
	char name[32]; /* last component, cut, NUL-terminated; "" if unknown */
	/* Of a socket. */
	uint16_t family;                  /* AF_…, 0 if unknown */
	uint16_t local_port, remote_port; /* in host byte order; 0: none */
	uint8_t remote_address[16];       /* IPv4 in the first four bytes */
	uint32_t peer;                    /* process at the other end of a unix socket, 0 if unknown */
};

/*
 * Returns the class of a system call by its number (wait_call.def); WAIT_CLASS_UNKNOWN if the class depends
 * on the file of the first argument. Calls outside the table are WAIT_CLASS_OTHER; on an architecture whose
 * numbers are not in the table, all calls are WAIT_CLASS_UNKNOWN.
 */
enum wait_class wait_call_class(const struct wait_call *call);

/* The name of a call as in asm/unistd.h, and the number of its arguments; NULL for one that is in no table.
 */
const char *wait_call_name(const struct wait_call *call, unsigned int *ret_arguments);

/* Whether the first argument of a call is a descriptor whose file says more: a class, or an object. */
bool wait_call_has_descriptor(bool is_compat, int32_t number);

/* How calls wait at a futex, by their numbers. */
void wait_call_list_futexes(struct futex_calls *ret_calls);

/* Whether a call is poll(2), whose descriptors are in an array that the first argument points to. */
bool wait_call_polls(const struct wait_call *call);

/* Whether a call is restart_syscall(2), which goes on with the wait before it. */
bool wait_call_resumes(const struct wait_call *call);

/*
 * Follows a thread from call to call. A thread resumes a timed wait after SIGCONT with restart_syscall(2),
 * and the arguments of the first call still are in its registers: such a call gets the number `*last` of the
 * one before, if that may have been resumed; otherwise it counts as WAIT_CLASS_TIMER. Any other call is noted
 * in
 * `*last`.
 */
void wait_call_resume(struct wait_call *call, int16_t *last);

/*
 * Describes the file of a link in /proc/PID/fd by the link's text (`length` bytes), without ports and peer.
 * Returns false if the text is a path: then the mode and device have to be asked for, and are 0.
 */
bool wait_file_from_link(const char *link, size_t length, struct wait_file *ret_file);

/* The class of a wait for a file, by its kind. */
enum wait_class wait_file_class(const struct wait_file *file);

/*
 * Writes the text of the object of a wait, "" for none:
 *
 * futex          address, with " lock" after it if the expected value is that of a locked mutex
 * socket         service port (the lower one), with the remote host unless that is loopback or the port is
 *                local; peer of a unix socket
 * tty            "pts/3", or the name of its file
 * events         kind of the descriptor, such as "eventfd"
 * file, file lock, message queue   name of the file
 *
 * `file` is the file of the first argument, or NULL if there is none or it is unknown. `peer_name` is the
 * name of the process file->peer, or NULL. The text may have any bytes but NUL. Returns its length in bytes.
 */
size_t wait_call_object(enum wait_class class, const struct wait_call *call, const struct wait_file *file,
			const char *peer_name, char text[static WAIT_OBJECT_SIZE]);

#endif
