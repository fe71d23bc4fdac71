/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_CONTAINER_H
#define CTOP_CONTAINER_H

#include "base/reader.h"
#include "capture/procfs/root.h"
#include "snapshot/snapshot.h"

/*
 * Names of containers, from the files in which the runtimes keep their own state: Docker's config.v2.json,
 * the OCI configuration of containerd and CRI-O with the annotations of Kubernetes and nerdctl, and the list
 * of containers/storage for Podman, whatever its driver. Docker's daemon.json and storage.conf are asked
 * where these are. They are files of root, written by programs that handle what users send: their content is
 * foreign.
 */

/*
 * Looks up the containers in the cgroups of a snapshot whose names are not known yet
 * (snapshot/container_names.h), a bounded number at a time, and gives the snapshot the names of all. `reader`
 * has each looked up, or NULL. A cgroup below one that is not root's has no name.
 */
void containers_read(const struct roots *roots, struct reader *reader, struct snapshot *snapshot);

/*
 * A reader_work: looks for a container, the id at `argument`, below the directory of the host's root (-1: /).
 * Answers with its name; with nothing where no runtime has it, or not in a form that is known.
 */
int container_look_up(int directory, const void *argument, size_t size, struct buffer *answer);

/*
 * Appends the name of a container by its own state file, or by the list of containers/storage (then with its
 * id); nothing where there is none, or the text is damaged before it.
 */
void container_name_in_state(const struct buffer *text, struct buffer *name);
void container_name_in_list(const struct buffer *text, const char *id, struct buffer *name);

#endif
