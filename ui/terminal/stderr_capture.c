/* SPDX-License-Identifier: GPL-2.0-only */
#include "stderr_capture.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"

enum {
	KEPT_BYTES_MAX = 16 << 10
};

/* Makes the descriptor the standard error too; both errors of dup2(2) pass. */
static void replace_standard_error(int descriptor)
{
	while (dup2(descriptor, STDERR_FILENO) < 0 && (errno == EINTR || errno == EBUSY))
		;
}

void stderr_capture_open(struct stderr_capture *capture)
{
	int ends[2];

	memset(capture, 0, sizeof(*capture));
	capture->reader = capture->standard_error = -1;
	capture->standard_error = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	if (capture->standard_error < 0)
		return;
	/* not blocking: of what a library writes, only as much as the pipe holds is kept */
	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0) {
		close(capture->standard_error);
		capture->standard_error = -1;
		return;
	}
	replace_standard_error(ends[1]);
	close(ends[1]);
	capture->reader = ends[0];
}

static void keep(struct stderr_capture *capture, const char *bytes, size_t length)
{
	struct buffer *kept = &capture->kept;

	buffer_append(kept, bytes, length);
	if (kept->length > KEPT_BYTES_MAX) {
		size_t excess = kept->length - KEPT_BYTES_MAX;

		memmove(kept->data, kept->data + excess, KEPT_BYTES_MAX + 1);
		kept->length = KEPT_BYTES_MAX;
	}
}

static size_t last_line_start(const char *text, size_t *length)
{
	size_t start;

	while (*length != 0 && (text[*length - 1] == '\n' || text[*length - 1] == '\r'))
		(*length)--;
	start = *length;
	while (start != 0 && text[start - 1] != '\n')
		start--;
	return start;
}

bool stderr_capture_take(struct stderr_capture *capture, struct buffer *ret_line)
{
	char bytes[4096];
	ssize_t length;
	bool any = false;

	if (capture->reader < 0)
		return false;
	while ((length = read(capture->reader, bytes, sizeof(bytes))) > 0) {
		keep(capture, bytes, (size_t)length);
		any = true;
	}
	if (any && ret_line != NULL) {
		size_t end = capture->kept.length;
		size_t start = last_line_start(capture->kept.data, &end);

		buffer_append(ret_line, capture->kept.data + start, end - start);
	}
	return any;
}

void stderr_capture_close(struct stderr_capture *capture)
{
	if (capture->reader < 0)
		return;
	replace_standard_error(capture->standard_error);
	stderr_capture_take(capture, NULL);
	file_write_all(STDERR_FILENO, capture->kept.data, capture->kept.length);
	buffer_release(&capture->kept);
	close(capture->reader);
	close(capture->standard_error);
	capture->reader = capture->standard_error = -1;
}
