/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_OUTPUT_H
#define CTOP_OUTPUT_H

#include <stdbool.h>

#include "base/buffer.h"
#include "base/error.h"
#include "base/file.h"

/*
 * The output of a command: stdout, or a file that appears complete or not at all. Text in `buffer` goes out
 * with output_flush() and output_close(). A zeroed struct is stdout.
 */
struct output {
	struct buffer buffer;
	struct file_replacement file;
	const char *path; /* NULL for stdout */
	int status;       /* first negative errno of a write; later writes are dropped */
};

/*
 * Opens stdout, or the file `path`; a file that exists is replaced only with `replace` (else -EEXIST).
 * Returns 0, or a negative errno with a sentence.
 */
int output_open(struct output *output, const char *path, bool replace, struct error *error);

/* Writes the buffer out when it is large; keeps the first error for output_close(). */
void output_flush(struct output *output);

/*
 * Writes what is left and moves the file to its final name. Returns 0, or the negative errno of the first
 * failed write with a sentence; nothing is left of the file then. A reader that closed the pipe gives -EPIPE.
 */
int output_close(struct output *output, struct error *error);

/* Gives up: removes the half-written file. */
void output_abandon(struct output *output);

/*
 * The exit status of a command after output_close() failed: COMMAND_FAILED, with the sentence printed unless
 * the reader just went away (`ctop show FILE | head`).
 */
int output_failed(const struct output *output, const struct error *error);

/* Closes the output; returns COMMAND_DONE, or output_failed(). */
int output_end(struct output *output);

#endif
