/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_LIVING_THREAD_H
#define CTOP_LIVING_THREAD_H

#include <stdint.h>

/*
 * The thread to read for facts that all threads of a process share: memory, executable, root, command line.
 * Normally this is the leader. A leader that ended while other threads run is a zombie without memory and
 * root (exit_mm() and exit_fs() in kernel/exit.c): procfs shows none of these facts under its id, and
 * process_vm_readv(2) returns ESRCH.
 */

/*
 * Returns the id of this thread of process `tgid`, whose task directory is open as `tasks`. Returns `tgid` if
 * no other thread has memory (kernel threads, zombies) or statm cannot be read (saved trees).
 */
uint32_t living_thread_find(int tasks, uint32_t tgid);

/*
 * Opens this thread's directory /proc/TID, which has all files of a process, given the open directory of
 * process `tgid`. Returns a descriptor that the caller closes, with the thread's id in `*ret_tid`, or a
 * negative errno.
 */
int living_thread_open(int process_directory, uint32_t tgid, uint32_t *ret_tid);

#endif
