/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_NOTIFY_H
#define CTOP_NOTIFY_H

#include <stdint.h>

/*
 * Tells the service manager that started this service how it is: datagrams of lines to the socket that
 * $NOTIFY_SOCKET names, a protocol that its documentation calls stable (sd_notify(3), "Notes"). Nothing where
 * there is none.
 */

/*
 * Sends lines, such as "READY=1\nSTATUS=recording". Returns 0, also without a manager, or a negative errno,
 * which harms nothing that the service itself does.
 */
int notify_send(const char *lines);

/*
 * The interval in which the manager expects "WATCHDOG=1" of this process, in ns (sd_watchdog_enabled(3):
 * $WATCHDOG_USEC, unless $WATCHDOG_PID is another process); 0: it does not.
 */
uint64_t notify_watchdog_ns(void);

#endif
