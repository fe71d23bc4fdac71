/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_MOMENT_LOADER_H
#define CTOP_MOMENT_LOADER_H

#include "base/error.h"
#include "session/timeline.h"
#include "ui/ui.h"

/*
 * Makes the moments that the screen asks for, in a thread of its own, so that no key waits for a disk. What
 * is asked for while one is being made is put together: whoever holds a key down gets as far, and sees fewer
 * moments.
 */
struct moment_loader;

struct moment_loader_options {
	struct timeline timeline; /* used by the loader alone from now on */
	const char *save_directory;
};

/* Returns 0 and a loader, or a negative errno with a sentence. */
int moment_loader_create(const struct moment_loader_options *options, struct moment_loader **ret_loader,
			 struct error *error);

/*
 * Makes a moment at once, before the screen is there: the one to begin with. Returns 0, or a negative errno
 * with a sentence. To be called before anything else is asked for.
 */
int moment_loader_begin(struct moment_loader *loader, const struct ui_look *look,
			struct ui_moment *ret_moment, struct error *error);

/*
 * Ends the thread. Returns false when it hangs, in a file system that does not answer: then the loader and
 * the timeline are left behind, and the process has to end without exit(3).
 */
bool moment_loader_stop(struct moment_loader *loader);

/* Gives `host` the members by which the screen asks for moments, valid until moment_loader_stop(). */
void moment_loader_offer(struct moment_loader *loader, struct ui_host *host);

/* The same for saving what is shown, where there is no live capture that does it. */
void moment_loader_offer_saving(struct moment_loader *loader, struct ui_host *host);

#endif
