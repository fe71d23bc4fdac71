/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_USER_NAMES_H
#define CTOP_USER_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/error.h"
#include "base/reader.h"

/*
 * Names of users, as this host knows them: from passwd(5), and what is missing there from the services of
 * nsswitch.conf(5). Those may take long or hang (a directory server that is gone), so a reader
 * (base/reader.h) asks them and is given up after a while; callers wait only if they say for how long. Names
 * are known to all rooms, until the program ends.
 */

/* The id of a user that is not known (snapshot.uid). */
#define USER_UNKNOWN UINT32_MAX

/* A report waits this long for names before it is printed: longer than the services are given. */
#define USER_NAMES_PATIENCE_NS UINT64_C(4000000000)

/*
 * The name of a user, NULL while it is not known, and of one that has none: then its number is to be shown.
 * Asked for the first time it is looked up by a thread of this file, and there a little later. Never blocks;
 * safe from any thread. The name is foreign text and stays valid until the program ends.
 */
const char *user_name(uint32_t uid);

/*
 * Whether names of this host are those of a snapshot's users: it was made on a host of that name (NULL: not
 * known). Elsewhere a number may be somebody else's.
 */
bool user_names_hold(const char *hostname);

/* Appends the name, or the number of who has none (yet), or "(unknown)" for USER_UNKNOWN. Never blocks. */
void user_name_append(struct buffer *buffer, uint32_t uid);

/* Another number than before when names have become known since. Safe from any thread. */
unsigned int user_names_generation(void);

/*
 * Waits until all that user_name() was asked for is answered, at most `patience_ns`: before something is
 * printed that cannot be corrected later. Returns whether it is.
 */
bool user_names_wait(uint64_t patience_ns);

/*
 * The id of a user by name, or by number. At most `patience_ns` are spent on it; it runs in the thread that
 * calls and starts none. Returns 0, or a negative errno with a sentence: -ENOENT with the nearest name,
 * -ETIMEDOUT where the services do not answer.
 */
int user_find(const char *name, uint64_t patience_ns, uint32_t *ret_uid, struct error *error);

/*
 * A reader_work: has the services answer about users, in lines as passwd(5) has them. The argument is their
 * numbers or names, each with its NUL.
 */
int user_names_ask_services(int directory, const void *argument, size_t size, struct buffer *lines);

/*
 * For tests, and before anything else is asked: reads another file than /etc/passwd (NULL: none) and has
 * another function asked than user_names_ask_services() (NULL: none). Forgets what was known. The text must
 * stay valid.
 */
void user_names_set_sources(const char *passwd, reader_work *service);

#endif
