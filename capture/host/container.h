/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_CONTAINER_H
#define CTOP_CONTAINER_H

#include "base/reader.h"
#include "capture/procfs/root.h"
#include "snapshot/snapshot.h"

/*
 * Names of containers, from the state files of the runtimes: Docker's config.v2.json; the OCI configuration
 * of containerd and CRI-O, with the annotations of Kubernetes and nerdctl; and the lists of
 * containers/storage for Podman, with any driver. Docker's daemon.json and storage.conf give the directories.
 * Root owns these files, but the runtimes write user input into them: do not trust their content.
 */

/*
 * Looks up the containers of a snapshot's cgroups whose names are still unknown (snapshot/container_names.h),
 * a bounded number per call, and adds all known names to the snapshot. `reader` does the lookups; NULL does
 * them in this process. A cgroup below a directory that root does not own gets no name.
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
