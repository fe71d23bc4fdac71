/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_BPF_FILE_CLASS_H
#define CTOP_BPF_FILE_CLASS_H

#include <linux/types.h>

#include "metric/wait_class.h"

/* The class of a wait for a file, for the programs that follow descriptors and for the decoder of calls. */

enum {
	FORMAT_MASK = 0170000, /* S_IFMT of include/uapi/linux/stat.h */
	FORMAT_SOCKET = 0140000,
	FORMAT_PIPE = 0010000,
	FORMAT_CHARACTER = 0020000,
	FORMAT_BLOCK = 0060000,
	MAGIC_ANONYMOUS = 0x09041934, /* ANON_INODE_FS_MAGIC of include/uapi/linux/magic.h */
	MAGIC_PIDFD = 0x50494446,     /* PID_FS_MAGIC, since Linux 6.9 */
	DEVICE_MINOR_BITS = 20,       /* MINORBITS of include/linux/kdev_t.h */
	DEVICE_TTY = 4,               /* majors of include/uapi/linux/major.h */
	DEVICE_TTYAUX = 5,
	DEVICE_PTS_FIRST = 136, /* UNIX98_PTY_SLAVE_MAJOR */
	DEVICE_PTS_LAST = 143,
};

/* The first bytes of names of anonymous inodes, little-endian: "[eventpoll]", "[io_uring]", "[pidfd]" with
 * NUL. */
#define NAME_EVENTPOLL 0x6f70746e6576655bULL
#define NAME_IO_URING  0x6e6972755f6f695bULL
#define NAME_PIDFD     0x005d64666469705bULL

static inline _Bool file_is_pts(__u32 device)
{
	return device >> DEVICE_MINOR_BITS >= DEVICE_PTS_FIRST &&
	       device >> DEVICE_MINOR_BITS <= DEVICE_PTS_LAST;
}

/*
 * Returns the enum wait_class of a file. `magic` is its superblock's magic number, `mode` its mode, `device`
 * the device number of a device file as the kernel encodes it, and `name` the first 8 bytes of its name.
 * Anonymous inodes are known by name, because the format in their mode depends on the kernel.
 */
static inline __u32 file_class(__u64 magic, __u32 mode, __u32 device, __u64 name)
{
	if (magic == MAGIC_ANONYMOUS)
		return name == NAME_EVENTPOLL  ? WAIT_CLASS_POLL
		       : name == NAME_IO_URING ? WAIT_CLASS_IO_URING
		       : name == NAME_PIDFD    ? WAIT_CLASS_CHILD
					       : WAIT_CLASS_EVENTS;
	if (magic == MAGIC_PIDFD)
		return WAIT_CLASS_CHILD;
	switch (mode & FORMAT_MASK) {
	case FORMAT_SOCKET:
		return WAIT_CLASS_SOCKET;
	case FORMAT_PIPE:
		return WAIT_CLASS_PIPE;
	case FORMAT_CHARACTER:
		return device >> DEVICE_MINOR_BITS == DEVICE_TTY ||
				       device >> DEVICE_MINOR_BITS == DEVICE_TTYAUX || file_is_pts(device)
			       ? WAIT_CLASS_TTY
			       : WAIT_CLASS_FILE;
	default:
		return WAIT_CLASS_FILE;
	}
}

#endif
