/* SPDX-License-Identifier: GPL-2.0-only */
/* Files that the screen asks for: only the last request has a result. */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/cmocka_include.h"

#include "cmd/live/file_loader.h"
#include "cmd/live/file_names.h"
#include "snapshot/snapshot.h"

enum {
	PATIENCE_MS = 60000
};

static void wait_readable(const struct ui_host *host)
{
	struct pollfd wait = {.fd = host->file_fd, .events = POLLIN};

	assert_int_equal(poll(&wait, 1, PATIENCE_MS), 1);
}

/* The next result; there must be one. */
static struct ui_event receive(const struct ui_host *host)
{
	struct ui_event event = {0};

	do {
		wait_readable(host);
	} while (!host->receive_file(host->file_context, &event));
	return event;
}

static void assert_fails(const struct ui_host *host, const char *name)
{
	struct ui_event event = receive(host);

	assert_true(event.is_error);
	assert_null(event.snapshot);
	assert_non_null(strstr(event.message, name));
	free(event.message);
	assert_false(host->receive_file(host->file_context, &event));
}

static void test_last_request(void **state)
{
	struct ui_host host = {0};
	struct file_loader *loader;
	struct error error;

	(void)state;
	assert_int_equal(file_loader_create(&loader, &error), 0);
	file_loader_offer(loader, &host);
	host.request_file(host.file_context, "no-such-file");
	assert_fails(&host, "no-such-file");
	/* the result of the first is there before the second is asked for, but nobody has taken it */
	host.request_file(host.file_context, "first-file");
	wait_readable(&host);
	host.request_file(host.file_context, "second-file");
	assert_fails(&host, "second-file");
	/* what nobody takes is freed */
	host.request_file(host.file_context, "third-file");
	wait_readable(&host);
	file_loader_release(loader);
}

static void assert_completes(const char *text, const char *expected)
{
	struct buffer lines = {0};

	file_names_complete(text, &lines);
	assert_string_equal(lines.data, expected);
	buffer_release(&lines);
}

static void touch(const char *path)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fclose(file);
}

static void test_names(void **state)
{
	char directory[] = "/tmp/ctop-names-XXXXXX", before[256];
	struct ui_host host = {0};
	struct file_loader *loader;
	struct ui_event event;
	struct error error;

	(void)state;
	assert_non_null(mkdtemp(directory));
	assert_non_null(getcwd(before, sizeof(before)));
	assert_int_equal(chdir(directory), 0);
	assert_int_equal(mkdir("captures", 0700), 0);
	assert_int_equal(symlink("captures", "link"), 0);
	touch("ctop-a.ctprof.zst");
	touch("ctop-b.ctprof.zst");
	touch("käse");
	touch("köche");
	touch(".hidden");
	touch("new\nline");
	touch("captures/one");
	assert_completes("ct", "ct\nctop-\nctop-a.ctprof.zst\nctop-b.ctprof.zst\n");
	assert_completes("ctop-a", "ctop-a\nctop-a.ctprof.zst\n");
	assert_completes("cap", "cap\ncaptures/\n");
	assert_completes("li", "li\nlink/\n");
	assert_completes("captures/", "captures/\ncaptures/one\n");
	assert_completes("./captures/o", "./captures/o\n./captures/one\n");
	assert_completes("none", "none\nnone\n");
	assert_completes("none/x", "none/x\nnone/x\n");
	assert_completes(".h", ".h\n.hidden\n");
	assert_completes("n", "n\nn\n"); /* a name with a newline is none */
	/* no half of a character */
	assert_completes("k", "k\nk\nkäse\nköche\n");
	assert_completes("", "\n\ncaptures/\nctop-a.ctprof.zst\nctop-b.ctprof.zst\nkäse\nköche\nlink/\n");
	assert_int_equal(file_loader_create(&loader, &error), 0);
	file_loader_offer(loader, &host);
	host.request_names(host.file_context, "cap");
	event = receive(&host);
	assert_int_equal(event.kind, UI_EVENT_NAMES);
	assert_string_equal(event.message, "cap\ncaptures/\n");
	free(event.message);
	file_loader_release(loader);
	unlink("captures/one");
	rmdir("captures");
	unlink("link");
	unlink("ctop-a.ctprof.zst");
	unlink("ctop-b.ctprof.zst");
	unlink("käse");
	unlink("köche");
	unlink(".hidden");
	unlink("new\nline");
	assert_int_equal(chdir(before), 0);
	assert_int_equal(rmdir(directory), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_last_request),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
