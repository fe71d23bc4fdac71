/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_PRIVILEGE_H
#define CTOP_PRIVILEGE_H

#include "base/error.h"
#include "capture/capture.h"

/*
 * File capabilities (`setcap …=ep`) must not let users read or write files through ctop that they could not
 * without it: the effective set is empty wherever a file that the user names is opened, and holds only what
 * capturing needs while capturing. Capability sets belong to a thread (capabilities(7), "Per-thread
 * capability sets").
 */

/*
 * To be called first, before any thread: forgets terminal descriptions of the environment
 * where the kernel gives the program more rights than its user has, and empties the effective set of this
 * thread (and so of those it creates) unless the real user is root, whose own rights are meant to count.
 * Returns 0 or a negative errno with a sentence.
 */
int privilege_initialise(struct error *error);

/*
 * Makes effective in this thread what capturing needs and the permitted set holds: CAP_NET_ADMIN (taskstats),
 * CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH (files of other users' processes), CAP_BPF and CAP_PERFMON (loading
 * programs). Where the user names one of the roots (NULL: not named) only the first: links in such a tree may
 * lead to any file. Root keeps everything. Failure leaves the thread as it was; the features then say what is
 * missing.
 */
void privilege_raise(const char *const roots[static ROOT_COUNT]);

/* Undoes privilege_raise() and privilege_open_capture() in this thread. */
void privilege_lower(void);

/*
 * Gives up all capabilities of this thread for good, root's too, and the way to get others by executing a
 * file (PR_SET_NO_NEW_PRIVS). For a thread that talks to others while another one captures. Threads that were
 * started before keep theirs.
 */
void privilege_renounce(void);

/*
 * capture_open() with the rights it may have: roots that the user names are opened with the user's own
 * rights, everything else with those of privilege_raise(). On success this thread has what reading needs
 * until privilege_lower(), but not CAP_BPF and CAP_PERFMON, which it never gets again but for
 * privilege_load_latency() where the options leave that for later; root has no more than that either until
 * then, but for as long as the capture looks for a sched_ext scheduler. On failure the rights are lowered.
 */
int privilege_open_capture(const struct capture_options *options, struct capture **ret_capture,
			   struct error *error);

/*
 * A reader for a capture of these roots (base/reader.h), with the rights that the capture has. NULL without a
 * supervisor: then the capture reads everything itself. End it with reader_release().
 */
struct reader *privilege_open_reader(const char *const roots[static ROOT_COUNT]);

/*
 * capture_load_latency() with the rights that it takes, for a capture that was opened with `options`; the
 * rights are then those that privilege_open_capture() leaves where nothing is left for later.
 */
void privilege_load_latency(const struct capture_options *options, struct capture *capture);

#endif
