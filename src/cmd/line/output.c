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
	struct error reason;
	int result;

	*output = (struct output){.path = path != NULL && strcmp(path, "-") != 0 ? path : NULL};
	if (output->path == NULL)
		return 0;
	result = file_replacement_open(&output->file, path, 0666, replace, &reason);
	if (result < 0)
		return error_set(error, result, "%s%s", reason.text,
				 result == -EINVAL && replace ? ", or - for standard output" : "");
	if (replace)
		result = file_replacement_keep_access(&output->file);
	if (result < 0)
		file_replacement_abandon(&output->file);
	return result < 0 ? error_set(error, result, "cannot write %s: %s", path, strerror(-result)) : 0;
}

bool output_is_terminal(const struct output *output)
{
	return output->path == NULL && isatty(STDOUT_FILENO) == 1;
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

static int fail_stdout(int result, struct error *error)
{
	return error_set(error, result, "cannot write to standard output: %s", strerror(-result));
}

int output_check_stdout(struct error *error)
{
	const int duplicate = dup(STDOUT_FILENO);

	return duplicate < 0 || close(duplicate) < 0 ? fail_stdout(-errno, error) : 0;
}

int output_close(struct output *output, struct error *error)
{
	if (output->kept)
		return 0;
	write_out(output);
	buffer_release(&output->buffer);
	if (output->path == NULL)
		return output->status < 0 ? fail_stdout(output->status, error) : output_check_stdout(error);
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
