/* SPDX-License-Identifier: GPL-2.0-only */
/* Files that the screen asks for: only the last request has a result. */
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cmocka_include.h"

#include "cmd/live/file_loader.h"
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_last_request),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
