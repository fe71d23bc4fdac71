/* SPDX-License-Identifier: GPL-2.0-only */
#include "output.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "command.h"

enum {
	FLUSH_BYTES = 1 << 16
};

int output_open(struct output *output, const char *path, bool replace, struct error *error)
{
	*output = (struct output){.path = path};
	return path != NULL ? file_replacement_open(&output->file, path, 0666, replace, error) : 0;
}

static void write_out(struct output *output)
{
	int descriptor = output->path != NULL ? output->file.descriptor : STDOUT_FILENO;

	if (output->status == 0 && output->buffer.length != 0)
		output->status = file_write_all(descriptor, output->buffer.data, output->buffer.length);
	buffer_clear(&output->buffer);
}

void output_flush(struct output *output)
{
	if (output->buffer.length >= FLUSH_BYTES && !output->kept)
		write_out(output);
}

/* Some file systems report a full disk only at close(2); closing a duplicate leaves stdout itself open. */
static void check_stdout(struct output *output)
{
	int duplicate;

	if (output->status < 0)
		return;
	duplicate = dup(STDOUT_FILENO);
	if (duplicate < 0 || close(duplicate) < 0)
		output->status = -errno;
}

int output_close(struct output *output, struct error *error)
{
	if (output->kept)
		return 0;
	write_out(output);
	buffer_release(&output->buffer);
	if (output->path == NULL) {
		check_stdout(output);
		if (output->status < 0)
			error_set(error, output->status, "cannot write to standard output: %s",
				  strerror(-output->status));
		return output->status;
	}
	if (output->status < 0) {
		file_replacement_abandon(&output->file);
		return error_set(error, output->status, "cannot write %s: %s", output->path,
				 strerror(-output->status));
	}
	return file_replacement_commit(&output->file, error);
}

void output_abandon(struct output *output)
{
	buffer_release(&output->buffer);
	if (output->path != NULL)
		file_replacement_abandon(&output->file);
}

int output_end(struct output *output)
{
	struct error error;

	return output_close(output, &error) < 0 ? command_failed(&error) : COMMAND_DONE;
}
