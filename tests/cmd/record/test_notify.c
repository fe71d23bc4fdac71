/* SPDX-License-Identifier: GPL-2.0-only */
/* What is told to a service manager: by a name in a file system, by an abstract one, to nobody. */
#include "tests/cmocka_include.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "cmd/record/notify.h"

/* A socket that hears; `name` as in NOTIFY_SOCKET. */
static int listen_at(const char *name)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	const size_t length = strlen(name);
	int descriptor = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	memcpy(address.sun_path, name, length);
	if (name[0] == '@')
		address.sun_path[0] = '\0';
	assert_true(descriptor >= 0);
	assert_int_equal(bind(descriptor, (const struct sockaddr *)&address,
			      (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length)),
			 0);
	return descriptor;
}

static void assert_hears(const char *name)
{
	const int descriptor = listen_at(name);
	char heard[64];
	ssize_t length;

	setenv("NOTIFY_SOCKET", name, 1);
	assert_int_equal(notify_send("READY=1\nSTATUS=it is"), 0);
	length = recv(descriptor, heard, sizeof(heard), MSG_DONTWAIT);
	assert_int_equal(length, strlen("READY=1\nSTATUS=it is"));
	assert_memory_equal(heard, "READY=1\nSTATUS=it is", (size_t)length);
	close(descriptor);
	assert_int_equal(notify_send("STOPPING=1"), -ECONNREFUSED);
}

static void test_sockets(void **state)
{
	char directory[] = "/tmp/ctop-notify-XXXXXX", name[100], longest[200];

	(void)state;
	unsetenv("NOTIFY_SOCKET");
	assert_int_equal(notify_send("READY=1"), 0);
	setenv("NOTIFY_SOCKET", "relative", 1);
	assert_int_equal(notify_send("READY=1"), -EAFNOSUPPORT);
	memset(longest, '/', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	setenv("NOTIFY_SOCKET", longest, 1);
	assert_int_equal(notify_send("READY=1"), -ENAMETOOLONG);
	assert_non_null(mkdtemp(directory));
	snprintf(name, sizeof(name), "%s/socket", directory);
	assert_hears(name);
	unlink(name);
	rmdir(directory);
	snprintf(name, sizeof(name), "@ctop-notify-%d", (int)getpid());
	assert_hears(name);
}

static void test_watchdog(void **state)
{
	char number[32];

	(void)state;
	unsetenv("WATCHDOG_USEC");
	unsetenv("WATCHDOG_PID");
	assert_int_equal(notify_watchdog_ns(), 0);
	setenv("WATCHDOG_USEC", "1500000", 1);
	assert_int_equal(notify_watchdog_ns(), 1500000000);
	snprintf(number, sizeof(number), "%d", (int)getpid());
	setenv("WATCHDOG_PID", number, 1);
	assert_int_equal(notify_watchdog_ns(), 1500000000);
	setenv("WATCHDOG_PID", "1", 1);
	assert_int_equal(notify_watchdog_ns(), 0);
	unsetenv("WATCHDOG_PID");
	setenv("WATCHDOG_USEC", "soon", 1);
	assert_int_equal(notify_watchdog_ns(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sockets),
		cmocka_unit_test(test_watchdog),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
