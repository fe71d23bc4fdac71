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
	const char *path; /* NULL for stdout, also where "-" was named */
	bool kept;        /* all text stays in the buffer, for the caller */
	int status;       /* first negative errno of a write; later writes are dropped */
};

/*
 * Opens stdout for NULL or "-", else the file `path`; a file that exists is replaced only with `replace`
 * (else -EEXIST), and keeps its permissions. Returns 0, or a negative errno with a sentence.
 */
int output_open(struct output *output, const char *path, bool replace, struct error *error);

/* Whether an output that is open goes to a terminal. */
bool output_is_terminal(const struct output *output);

/* Writes the buffer out when it is large; keeps the first error for output_close(). */
void output_flush(struct output *output);

/*
 * Writes what is left and moves the file to its final name. Returns 0, or the negative errno of the first
 * failed write with a sentence; nothing is left of the file then.
 */
int output_close(struct output *output, struct error *error);

/*
 * Reports what some file systems tell only at close(2), as that the disk is full; stdout itself stays open.
 * Returns 0, or a negative errno with a sentence. output_close() does this.
 */
int output_check_stdout(struct error *error);

/* Gives up: removes the half-written file. */
void output_abandon(struct output *output);

/* Closes the output; returns COMMAND_DONE, or prints the sentence and returns COMMAND_FAILED. */
int output_end(struct output *output);

#endif
