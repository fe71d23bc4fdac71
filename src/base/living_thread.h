/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_LIVING_THREAD_H
#define CTOP_LIVING_THREAD_H

#include <stdint.h>

/*
 * The thread that is asked for what the threads of a process share: memory, executable, root, command line.
 * That is the leader. If it has ended while others run, it is a zombie that has given all of it up
 * (exit_mm() and exit_fs() in kernel/exit.c): procfs then shows nothing under the number of the process, and
 * process_vm_readv(2) says ESRCH.
 */

/*
 * Id of that thread by the open task directory of process `tgid`; `tgid` itself where no other thread has
 * memory (kernel threads, zombies) or statm cannot be read (saved trees).
 */
uint32_t living_thread_find(int tasks, uint32_t tgid);

/*
 * Opens the directory of that thread, with all files that a process has, by the open directory of process
 * `tgid`. Returns a descriptor that the caller closes, with the thread's id in `*ret_tid`, or a negative
 * errno.
 */
int living_thread_open(int process_directory, uint32_t tgid, uint32_t *ret_tid);

#endif
