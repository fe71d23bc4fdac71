/* SPDX-License-Identifier: GPL-2.0-only */
/* `ctop export`: what it serves, and what clients and hosts do that are not kind. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../cmocka_include.h"
#include "../needs.h"
#include "../wait.h"
#include "base/clock.h"
#include "scrape.h"

#define NOBODY 65534

/* Memory that the process may take, in bytes, for itself and for each thread of the host; a sanitizer keeps
 * what was freed. */
#define RESIDENT_MAX       64e6
#define RESIDENT_OF_THREAD 4096
#if defined(__SANITIZE_ADDRESS__)
#define RESIDENT_MAX_SANITIZED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define RESIDENT_MAX_SANITIZED
#endif
#endif
#ifdef RESIDENT_MAX_SANITIZED
#undef RESIDENT_MAX
#define RESIDENT_MAX 1e9
#endif

static const char first_group[] = "ctop_group_threads{axis=\"process\"";

/* That what clients sent takes no memory. */
static void assert_is_small(const char *page)
{
	assert_true(page_value(page, "process_resident_memory_bytes") <
		    RESIDENT_MAX + RESIDENT_OF_THREAD * page_value(page, "ctop_threads"));
}

static char *ask(int connection, const char *request)
{
	char *answer = exporter_ask(connection, request, strncmp(request, "HEAD", 4) != 0);

	assert_non_null(answer);
	return answer;
}

static void assert_answer(int connection, const char *request, const char *status, const char *has)
{
	char *answer = ask(connection, request);

	if (strncmp(answer, status, strlen(status)) != 0 || strstr(answer, has) == NULL)
		fail_msg("%s: %.2000s", request, answer);
	free(answer);
}

static void test_answers(void **state)
{
	struct exporter exporter;
	char *page, *answer;
	int connection;

	(void)state;
	exporter_begin(&exporter, NULL, (const char *[]){"--listen", "127.0.0.1:0", "-d", "0.2", NULL});
	page = exporter_scrape_for(&exporter, first_group);
	assert_true(page_value(page, "ctop_round_stale") == 0);
	assert_true(page_value(page, "process_resident_memory_bytes") > 1e6);
	assert_true(page_value(page, "process_start_time_seconds") > 1e9);
	assert_true(page_value(page, "process_open_fds") > 3);
	assert_null(strstr(page, "# EOF"));
	free(page);
	page = exporter_scrape(&exporter, true);
	assert_string_equal(page + strlen(page) - 6, "# EOF\n");
	assert_non_null(strstr(page, "\n# UNIT ctop_group_run_seconds seconds\n"));
	free(page);

	/* all on one connection */
	connection = exporter_connect(&exporter);
	assert_answer(connection, "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n", "HTTP/1.1 200 ",
		      "Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n");
	assert_answer(connection,
		      "GET /metrics HTTP/1.1\r\nHost: localhost\r\nAccept: "
		      "application/openmetrics-text;version=1.0.0,"
		      "text/plain;version=0.0.4;q=0.5\r\n\r\n",
		      "HTTP/1.1 200 ",
		      "Content-Type: application/openmetrics-text; version=1.0.0; charset=utf-8\r\n");
	answer = ask(connection, "HEAD /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n");
	assert_string_equal(answer + strlen(answer) - 4, "\r\n\r\n");
	free(answer);
	assert_answer(connection, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", "HTTP/1.1 200 ",
		      "href=\"/metrics\"");
	assert_answer(connection, "GET /metrics/x HTTP/1.1\r\nHost: localhost\r\n\r\n", "HTTP/1.1 404 ",
		      "/metrics");
	assert_answer(connection, "GET /metrics?collect=a HTTP/1.1\r\nHost: localhost\r\n\r\n",
		      "HTTP/1.1 200 ", "ctop_");
	/* absolute targets, as clients send them to proxies, and a folded field */
	assert_answer(connection, "GET http://localhost:12867/metrics HTTP/1.1\r\nHost: localhost\r\n\r\n",
		      "HTTP/1.1 200 ", "ctop_");
	assert_answer(connection, "GET HTTP://127.0.0.1/metrics?a HTTP/1.1\r\nHost: localhost\r\n\r\n",
		      "HTTP/1.1 200 ", "ctop_");
	assert_answer(connection, "GET http://localhost HTTP/1.1\r\nHost: localhost\r\n\r\n", "HTTP/1.1 200 ",
		      "href=\"/metrics\"");
	assert_answer(connection,
		      "GET /metrics HTTP/1.1\r\nHost: localhost\r\nAccept: application/json\r\n"
		      "Accept: application/openmetrics-text;version=1.0.0\r\n\r\n",
		      "HTTP/1.1 200 ", "Content-Type: application/openmetrics-text;");
	close(connection);
	connection = exporter_connect(&exporter);
	assert_answer(connection, "POST /metrics HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nabc",
		      "HTTP/1.1 405 ", "Allow: GET, HEAD\r\n");
	close(connection);
	connection = exporter_connect(&exporter);
	assert_answer(connection, "DELETE / HTTP/1.1\r\nHost: localhost\r\n\r\n", "HTTP/1.1 405 ",
		      "Allow: GET, HEAD\r\n");
	close(connection);
	page = exporter_scrape(&exporter, false);
	assert_true(page_value(page, "ctop_http_requests_total{code=\"404\"}") == 1);
	assert_true(page_value(page, "ctop_http_requests_total{code=\"405\"}") == 2);
	free(page);
	exporter_end(&exporter);
}

static void assert_status(const struct exporter *exporter, const char *host, const char *status)
{
	const int connection = exporter_connect(exporter);
	char request[300];

	snprintf(request, sizeof(request), "GET /metrics HTTP/1.%d\r\n%s%s\r\n", host[0] != '\0', host,
		 host[0] != '\0' ? "\r\n" : "");
	assert_answer(connection, request, status, "\r\n\r\n");
	close(connection);
}

/* A page of the web whose name leads here is not answered: its name is in Host. Addresses lead nowhere else.
 */
static void test_hosts(void **state)
{
	static const char *const own[] = {"",
					  "Host: localhost",
					  "Host: LocalHost:12867",
					  "Host: 127.0.0.1",
					  "Host: 10.1.2.3:12867",
					  "Host: [::1]:12867",
					  "Host: [fe80::1]"};
	static const char *const foreign[] = {"Host: evil.example",
					      "Host: evil.example:12867",
					      "Host: localhost.evil.example",
					      "Host: localhost:12867.evil.example",
					      "Host: 127.0.0.1.evil.example",
					      "Host: 127.1",
					      "Host: [::1].evil.example",
					      "Host: [evil.example]",
					      "Host: [::1",
					      "Host: localhost\r\nHost: evil.example",
					      "Host: :12867"};
	const char *path = scratch_path("hosts.sock");
	struct exporter exporter;
	char host[256] = "Host: ", where[256];
	int connection;
	char *page;

	(void)state;
	assert_int_equal(gethostname(host + 6, sizeof(host) - 7), 0);
	exporter_begin(&exporter, NULL,
		       (const char *[]){"--listen", "127.0.0.1:0", "-d", "0.2", "--public", NULL});
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		assert_status(&exporter, own[i], "HTTP/1.1 200 ");
	assert_status(&exporter, host, "HTTP/1.1 200 ");
	for (size_t i = 0; i < sizeof(foreign) / sizeof(foreign[0]); i++)
		assert_status(&exporter, foreign[i], "HTTP/1.1 403 ");
	page = exporter_scrape(&exporter, false);
	assert_true(page_value(page, "ctop_http_requests_total{code=\"403\"}") ==
		    sizeof(foreign) / sizeof(foreign[0]));
	free(page);
	connection = exporter_connect(&exporter);
	/* the host in the target overrides the Host field */
	assert_answer(connection,
		      "GET http://evil.example/metrics HTTP/1.1\r\nHost: localhost\r\n"
		      "Connection: close\r\n\r\n",
		      "HTTP/1.1 403 ", "\r\n\r\n");
	close(connection);
	exporter_end(&exporter);
	/* other hosts know this one by names that it does not know: only where that is wanted */
	exporter_begin(&exporter, NULL, (const char *[]){"--listen", ":0", "-d", "0.2", NULL});
	assert_status(&exporter, foreign[0], "HTTP/1.1 403 ");
	exporter_end(&exporter);
	exporter_begin(&exporter, NULL, (const char *[]){"--listen", ":0", "-d", "0.2", "--public", NULL});
	assert_status(&exporter, foreign[0], "HTTP/1.1 200 ");
	exporter_end(&exporter);
	/* no page of the web reaches a socket in the file system, and proxies send what names they like */
	snprintf(where, sizeof(where), "unix:%s", path);
	exporter_begin(&exporter, NULL, (const char *[]){"--listen", where, "-d", "0.2", NULL});
	assert_status(&exporter, foreign[0], "HTTP/1.1 200 ");
	exporter_end(&exporter);
}

/* Two that scrape see the same counters, whoever asks more often. */
static void test_two_scrapers(void **state)
{
	struct exporter exporter;
	char *page, *again;

	(void)state;
	exporter_begin(&exporter, NULL, (const char *[]){"--listen", "127.0.0.1:0", "-d", "3600", NULL});
	page = exporter_scrape_for(&exporter, first_group);
	for (size_t i = 0; i < 20; i++) {
		again = exporter_scrape(&exporter, false);
		assert_int_equal(strncmp(page, again, (size_t)(strstr(page, "# HELP ctop_build") - page)), 0);
		free(again);
	}
	free(page);
	exporter_end(&exporter);
}

/* --- clients --- */

enum {
	THREADS_MAX = 64,
	FLOOD = 300
};

static size_t count_open(const int connections[], size_t count)
{
	size_t open = 0;

	for (size_t i = 0; i < count; i++) {
		struct pollfd wait = {.fd = connections[i], .events = POLLIN};
		char byte;

		open += connections[i] >= 0 && (poll(&wait, 1, 0) == 0 ||
						recv(connections[i], &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0);
	}
	return open;
}

/* Connections that say nothing, or half of something, keep nobody out. */
static void test_flood(void **state)
{
	static const char half[] = "GET /metrics HTTP/1.1\r\nHost: localhost\r\n";
	struct exporter exporter;
	int connections[FLOOD];
	double before;
	char *page;

	(void)state;
	exporter_begin(&exporter, NULL, (const char *[]){"--listen", "127.0.0.1:0", "-d", "0.5", NULL});
	page = exporter_scrape_for(&exporter, first_group);
	/* with procfs, one descriptor per process of the host */
	before = page_value(page, "process_open_fds");
	free(page);
	for (size_t i = 0; i < FLOOD; i++) {
		connections[i] = exporter_connect(&exporter);
		assert_true(connections[i] >= 0);
		if (i % 2 == 0)
			(void)!send(connections[i], half, strlen(half), MSG_NOSIGNAL);
	}
	for (size_t i = 0; i < 10; i++) {
		page = exporter_scrape(&exporter, false);
		assert_non_null(page);
		if (i == 9) {
			assert_true(
				page_value(page, "ctop_http_closed_connections_total{reason=\"crowded\"}") >=
				FLOOD - 64);
			assert_true(page_value(page, "process_open_fds") < before + 64 + 150);
		}
		free(page);
	}
	assert_true(count_open(connections, FLOOD) <= 64);
	for (size_t i = 0; i < FLOOD; i++)
		close(connections[i]);
	exporter_end(&exporter);
}

/* A request that never ends is ended. */
static void test_slow(void **state)
{
	const uint64_t begun_ns = clock_ns(CLOCK_MONOTONIC);
	struct exporter exporter;
	uint64_t took_ns;
	char *page;
	int writer;

	(void)state;
	exporter_begin(&exporter, NULL, (const char *[]){"--listen", "127.0.0.1:0", "-d", "0.5", NULL});
	writer = exporter_connect(&exporter);
	for (took_ns = 0; took_ns < 60 * NS_PER_S; took_ns = clock_ns(CLOCK_MONOTONIC) - begun_ns) {
		struct pollfd wait = {.fd = writer, .events = POLLIN};

		if (send(writer, "G", 1, MSG_NOSIGNAL) < 0 || poll(&wait, 1, 250) != 0)
			break;
	}
	assert_true(took_ns > 10 * NS_PER_S && took_ns < 60 * NS_PER_S);
	page = exporter_scrape(&exporter, false);
	assert_true(page_value(page, "ctop_http_closed_connections_total{reason=\"slow\"}") >= 1);
	free(page);
	close(writer);
	exporter_end(&exporter);
}

enum {
	READERS = 40
};

static bool are_answered(const struct exporter *exporter, unsigned int requests)
{
	char *page = exporter_scrape(exporter, false);
	bool result;

	assert_non_null(page);
	result = page_value(page, "ctop_http_requests_total{code=\"200\"}") >= requests;
	free(page);
	return result;
}

/* Many that ask for large pages and read them late keep nobody out, and each gets all of its page. */
static void test_late_readers(void **state)
{
	static const char request[] = "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n";
	const char *path = scratch_path("late.sock");
	struct exporter exporter;
	struct helper load;
	int readers[READERS];
	char where[256];

	(void)state;
	helper_start(&load, (const char *[]){LOAD_PROGRAM, "1", "500", NULL}, 0);
	helper_expect(&load, "ready");
	/* larger than what a socket in the file system holds: 208 KiB (net.core.wmem_default) */
	snprintf(where, sizeof(where), "unix:%s", path);
	exporter_begin(&exporter, NULL,
		       (const char *[]){"--listen", where, "-d", "3600", "-g", "thread-exact", "--limit",
					"10000", NULL});
	free(exporter_scrape_for(&exporter, "ctop_group_threads{axis=\"thread-exact\""));
	for (size_t i = 0; i < READERS; i++) {
		readers[i] = exporter_connect(&exporter);
		assert_true(send(readers[i], request, strlen(request), MSG_NOSIGNAL) > 0);
	}
	await("all are answered", are_answered(&exporter, READERS));
	for (size_t i = 0; i < READERS; i++) {
		char *answer = exporter_ask(readers[i], "", true);

		if (answer == NULL)
			fail_msg("the answer to reader %zu is cut", i);
		assert_true(strlen(answer) > 300000);
		free(answer);
		close(readers[i]);
	}
	exporter_end(&exporter);
	helper_end(&load);
}

/* Requests that are none, and headers without end. */
static void test_nonsense(void **state)
{
	static const char *const requests[] = {
		"\r\n\r\n\r\n",
		"GET\r\n\r\n",
		"GET /none HTTP/9.9\r\n\r\n",
		"GET /metrics HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
		"GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nHost: [::1]\r\n\r\nfffffffffffffffff\r\n",
	};
	static const char hello[] = "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03";
	int connections[sizeof(requests) / sizeof(requests[0])], connection;
	struct exporter exporter;
	char line[4096];
	char *page;

	(void)state;
	exporter_begin(&exporter, NULL, (const char *[]){"--listen", "127.0.0.1:0", "-d", "0.5", NULL});
	for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++)
		connections[i] = exporter_send(&exporter, requests[i], strlen(requests[i]));
	for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++)
		exporter_expect_refused(connections[i], requests[i]);
	exporter_expect_refused(exporter_send(&exporter, hello, sizeof(hello) - 1), "the hello of TLS");
	connection = exporter_connect(&exporter);
	memset(line, 'x', sizeof(line));
	memcpy(line, "GET /metrics HTTP/1.1\r\nX: ", 26);
	for (size_t i = 0; i < 64 && send(connection, line, sizeof(line), MSG_NOSIGNAL) > 0; i++)
		memset(line, 'x', sizeof(line));
	exporter_expect_refused(connection, "a header of 256 KiB");
	page = exporter_scrape_for(&exporter, first_group);
	assert_is_small(page);
	free(page);
	exporter_end(&exporter);
}

/* --- places --- */

static void refused(const char *const *arguments, int status, const char *words)
{
	const char *whole[32] = {"export"};
	struct run run;

	for (size_t i = 0; arguments[i] != NULL; i++)
		whole[i + 1] = arguments[i];
	run_ctop(&run, NULL, whole);
	run_expect(&run, status);
	if (strstr(run.errors, words) == NULL)
		fail_msg("not '%s' in: %s", words, run.errors);
	run_release(&run);
}

static void test_port_in_use(void **state)
{
	struct exporter exporter;

	(void)state;
	exporter_begin(&exporter, NULL, (const char *[]){"--listen", "127.0.0.1:0", NULL});
	refused((const char *[]){"--listen", exporter.where, NULL}, 1, "the port is in use (ss -ltnp");
	exporter_end(&exporter);
	refused((const char *[]){"--listen", "192.0.2.1:0", NULL}, 1,
		"no interface of this host has that address");
	refused((const char *[]){"--listen", "127.0.0.1", NULL}, 2, "say ADDRESS:PORT");
	refused((const char *[]){"--listen", "127.0.0.1:70000", NULL}, 2, "say ADDRESS:PORT");
	refused((const char *[]){"--listen", "[::1", NULL}, 2, "'[::1'; say ADDRESS:PORT");
	refused((const char *[]){"--listen", "::1:9000", NULL}, 2, "say ADDRESS:PORT");
	refused((const char *[]){"--listen", "some.host:9000", NULL}, 2, "'some.host' is no address");
	refused((const char *[]){"-g", "pid", NULL}, 2, "new series without end");
	refused((const char *[]){"--columns", "CPUX", NULL}, 2, "CPUX");
	/* counters would miss what is done while one of these leaves it out */
	refused((const char *[]){"-f", "CPU% > 1", NULL}, 2, "a filter by numbers");
	refused((const char *[]){"-f", "state = R", NULL}, 2, "a filter by numbers, texts, states");
	refused((const char *[]){"-f", "command = *java*", NULL}, 2, "states, command lines");
	/* nor is it known of threads that ended */
	refused((const char *[]){"-f", "user = root", NULL}, 2, "users or thread ids");
	refused((const char *[]){"-f", "tid = 1", NULL}, 2, "users or thread ids");
	refused((const char *[]){"-f", "worker-7", NULL}, 2,
		"as in 'cgroup = /system*' or 'process = nginx'");
}

static bool warns_of_others(const struct exporter *exporter)
{
	char text[4096];
	const ssize_t length = pread(exporter->running.errors, text, sizeof(text) - 1, 0);

	text[length > 0 ? length : 0] = '\0';
	return strstr(text, "others can reach this address") != NULL;
}

static void test_six(void **state)
{
	struct exporter exporter;
	const int probe = socket(AF_INET6, SOCK_STREAM, 0);

	(void)state;
	close(probe);
	if (probe < 0 || access("/proc/net/if_inet6", R_OK) < 0)
		skip_test("no IPv6 here");
	exporter_begin(&exporter, NULL, (const char *[]){"--listen", "[::1]:0", "-d", "0.2", NULL});
	assert_int_equal(strncmp(exporter.where, "[::1]:", 6), 0);
	free(exporter_scrape_for(&exporter, first_group));
	exporter_end(&exporter);
	/* an IPv4 address in IPv6 form is just as local */
	exporter_begin(&exporter, NULL,
		       (const char *[]){"--listen", "[::ffff:127.0.0.1]:0", "-d", "0.2", "--public", NULL});
	assert_status(&exporter, "Host: localhost", "HTTP/1.1 200 ");
	assert_status(&exporter, "Host: evil.example", "HTTP/1.1 403 ");
	assert_false(warns_of_others(&exporter));
	exporter_end(&exporter);
}

/* Serving on all addresses, it warns. */
static void test_open(void **state)
{
	struct exporter exporter;

	(void)state;
	exporter_begin(&exporter, NULL, (const char *[]){"--listen", ":0", "-d", "0.2", NULL});
	free(exporter_scrape_for(&exporter, "ctop_rounds_total"));
	assert_true(warns_of_others(&exporter));
	exporter_end(&exporter);
}

static void test_unix(void **state)
{
	const char *path = scratch_path("export.sock"), *file = scratch_path("file");
	char where[256], no_socket[256], long_path[256] = "unix:/";
	struct exporter exporter;
	struct stat status;
	struct run run;

	(void)state;
	snprintf(where, sizeof(where), "unix:%s", path);
	exporter_begin(&exporter, NULL, (const char *[]){"--listen", where, "-d", "0.2", NULL});
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_mode & 0777, 0660);
	free(exporter_scrape_for(&exporter, first_group));
	refused((const char *[]){"--listen", where, NULL}, 1, "somebody listens there");
	free(exporter_scrape_for(&exporter, first_group));
	/* what is left behind by one that was killed is replaced */
	kill(exporter.running.child, SIGKILL);
	run_finish(&exporter.running, &run, &(struct run_options){0});
	run_release(&run);
	assert_int_equal(stat(path, &status), 0);
	exporter_begin(&exporter, NULL, (const char *[]){"--listen", where, "-d", "0.2", NULL});
	free(exporter_scrape_for(&exporter, first_group));
	exporter_end(&exporter);
	assert_int_equal(stat(path, &status), -1);
	/* what is no socket stays */
	write_file(file, "x", 1);
	snprintf(no_socket, sizeof(no_socket), "unix:%s", file);
	refused((const char *[]){"--listen", no_socket, NULL}, 1, "it is there and no socket");
	assert_int_equal(stat(file, &status), 0);
	assert_int_equal(status.st_size, 1);
	memset(long_path + 6, 'x', 200);
	refused((const char *[]){"--listen", long_path, NULL}, 2, "1 to 107 bytes");
	refused((const char *[]){"--listen", "unix:/proc/nothing/x", NULL}, 1, "make its directory first");
}

/* --- those who may read it --- */

static const char io_series[] = "ctop_group_write_call_bytes_total{axis=\"process\"";

static void assert_page_has(const char *page, const char *words, bool has)
{
	if ((strstr(page, words) != NULL) != has)
		fail_msg("%s %s: %.2000s", has ? "lacks" : "has", words, page);
}

/* Starts it, waits for groups, and looks for numbers about I/O. */
static void assert_tells_io(const char *where, const char *option, bool tells)
{
	const char *arguments[] = {"--listen", where, "-d", "0.2", "--columns", "+RSS", option, NULL};
	struct exporter exporter;
	char *page;

	exporter_begin(&exporter, NULL, arguments);
	page = exporter_scrape_for(&exporter, tells ? io_series : first_group);
	assert_page_has(page, "ctop_group_write_call", tells);
	assert_page_has(page, "ctop_group_storage_read", tells);
	assert_page_has(page, "ctop_group_waiting_threads", tells);
	assert_page_has(page, "ctop_group_run_seconds_total{", true);
	assert_page_has(page, "ctop_group_resident_bytes{", true);
	free(page);
	exporter_end(&exporter);
}

/* /proc tells a process's I/O and its memory in detail to its owner alone: where all may read, so does ctop.
 */
static void test_private(void **state)
{
	const char *path = scratch_path("private.sock"), *file = scratch_path("private.prom");
	char where[256], *page;
	struct run run;

	(void)state;
	snprintf(where, sizeof(where), "unix:%s", path);
	assert_tells_io(where, NULL, true);
	assert_tells_io("127.0.0.1:0", NULL, false);
	assert_tells_io("127.0.0.1:0", "--public", true);
	refused((const char *[]){"--columns", "+PSS", "--listen", "127.0.0.1:0", NULL}, 2,
		"PSS is for the owner of a process");
	refused((const char *[]){"--columns", "CPU%,READ/s", "--listen", "127.0.0.1:0", NULL}, 2, "--public");
	run_ctop_well(&run, (const char *[]){"export", "--textfile", file, "-n", "2", "-d", "0.2", NULL});
	run_release(&run);
	page = read_file(file, NULL);
	assert_page_has(page, "ctop_group_write_call", false);
	assert_page_has(page, first_group, true);
	free(page);
	run_ctop_well(&run, (const char *[]){"export", "--textfile", file, "-n", "2", "-d", "0.2", "--public",
					     NULL});
	run_release(&run);
	page = read_file(file, NULL);
	assert_page_has(page, io_series, true);
	free(page);
}

/* Runs `ctop export` with arguments where /proc hides the processes of others, for half a second if it runs.
 */
static void run_hidden(struct run *run, const char *arguments)
{
	char script[1024];

	snprintf(script, sizeof(script),
		 "mount -t proc -o hidepid=invisible proc /proc && exec '%s' export %s -n 1 -d 0.1",
		 CTOP_PROGRAM, arguments);
	run_program(run, &(struct run_options){0},
		    (const char *[]){"/usr/bin/unshare", "--mount", "sh", "-c", script, NULL});
}

static void test_hidden_processes(void **state)
{
	char arguments[300];
	struct run run;

	(void)state;
	run_hidden(&run, "--listen 127.0.0.1:0");
	if (strstr(run.errors, "mount:") != NULL || strstr(run.errors, "unshare:") != NULL)
		skip_test("needs CAP_SYS_ADMIN to mount procfs");
	run_expect(&run, 1);
	assert_non_null(strstr(run.errors, "hidepid="));
	run_release(&run);
	snprintf(arguments, sizeof(arguments), "--textfile %s", scratch_path("hidden.prom"));
	run_hidden(&run, arguments);
	run_expect(&run, 1);
	run_release(&run);
	run_hidden(&run, "--listen 127.0.0.1:0 --public");
	run_expect(&run, 0);
	run_release(&run);
	snprintf(arguments, sizeof(arguments), "--listen unix:%s", scratch_path("hidden.sock"));
	run_hidden(&run, arguments);
	run_expect(&run, 0);
	run_release(&run);
}

/* Nothing can be waited for with fewer descriptors than ppoll(2) is asked about: it ends, and says why. */
static void test_no_waiting(void **state)
{
	const struct rlimit few = {2, 2};
	struct exporter exporter;
	struct run run;

	(void)state;
	exporter_begin(&exporter, NULL, (const char *[]){"--listen", "127.0.0.1:0", "-d", "0.2", NULL});
	assert_int_equal(prlimit(exporter.running.child, RLIMIT_NOFILE, &few, NULL), 0);
	/* wakes it */
	close(exporter_connect(&exporter));
	run_finish(&exporter.running, &run, &(struct run_options){0});
	run_expect(&run, 1);
	assert_non_null(strstr(run.errors, "cannot wait for requests: Invalid argument"));
	run_release(&run);
}

/* A capture that cannot be opened ends it with a sentence, and leaves no socket behind. */
static void test_no_capture(void **state)
{
	const char *path = scratch_path("none.sock"), *empty = scratch_path("empty");
	char where[256];
	struct stat status;

	(void)state;
	snprintf(where, sizeof(where), "unix:%s", path);
	assert_int_equal(mkdir(empty, 0755), 0);
	refused((const char *[]){"--listen", where, "--proc-root", empty, NULL}, 1, empty);
	assert_int_equal(stat(path, &status), -1);
}

/* `ctop -b` prints a whole page each round, whose counters go on. */
static void test_batch(void **state)
{
	struct run run;
	const char *second, *series = "ctop_round_timestamp_seconds";

	(void)state;
	run_ctop_well(&run, (const char *[]){"-b", "-n", "2", "-d", "0.2", "--format", "openmetrics", NULL});
	second = strstr(run.output, "# EOF\n");
	assert_non_null(second);
	second += 6;
	assert_non_null(strstr(run.output, first_group));
	assert_non_null(strstr(second, first_group));
	assert_string_equal(run.output + run.output_length - 6, "# EOF\n");
	assert_true(page_value(second, series) > page_value(run.output, series));
	assert_true(page_value(second, "ctop_rounds_total") == 3);
	run_release(&run);
	run_ctop(&run, NULL, (const char *[]){"-b", "-n", "1", "--format", "openmetrics", "-g", "pid", NULL});
	run_expect(&run, 2);
	run_release(&run);
	run_ctop(&run, NULL,
		 (const char *[]){"-b", "-n", "1", "--format", "openmetrics", "-f", "CPU% > 1", NULL});
	run_expect(&run, 2);
	run_release(&run);
}

/* --- names --- */

/* A child of that name that sleeps. */
static pid_t start_sleeper(const char *name)
{
	const pid_t child = fork();

	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		prctl(PR_SET_NAME, name);
		while (true)
			pause();
	}
	return child;
}

static void test_labels(void **state)
{
	const pid_t children[] = {start_sleeper("q\"b\\c"),     start_sleeper("new\nline"),
				  start_sleeper("bad\xff\xc3"), start_sleeper("esc\033[31m"),
				  start_sleeper("ctop (self)"), start_sleeper("(other)")};
	struct exporter exporter;
	char *page;

	(void)state;
	exporter_begin(&exporter, NULL,
		       (const char *[]){"--listen", "127.0.0.1:0", "-d", "0.2", "--limit", "5000", NULL});
	free(exporter_scrape_for(&exporter, first_group));
	page = exporter_scrape(&exporter, true);
	assert_non_null(strstr(page, "\nctop_group_threads{axis=\"process\",group=\"q\\\"b\\\\c\"} 1\n"));
	assert_non_null(strstr(page, "\nctop_group_threads{axis=\"process\",group=\"new\\nline\"} 1\n"));
	assert_non_null(
		strstr(page, "\nctop_group_threads{axis=\"process\",group=\"bad\\\\xff\\\\xc3\"} 1\n"));
	/* processes named like ctop's own rows are ordinary groups */
	assert_non_null(strstr(page, "\nctop_group_threads{axis=\"process\",group=\"ctop (self)\"} 1\n"));
	assert_non_null(strstr(
		page, "\nctop_group_threads{axis=\"process\",group=\"(other)\",literal=\"group\"} 1\n"));
	assert_non_null(
		strstr(page, "\nctop_group_threads{axis=\"process\",group=\"esc\xef\xbf\xbd[{N}m\"} 1\n"));
	free(page);
	exporter_end(&exporter);
	for (size_t i = 0; i < sizeof(children) / sizeof(children[0]); i++) {
		kill(children[i], SIGKILL);
		waitpid(children[i], NULL, 0);
	}
}

/* --- the file --- */

/* Counts in `times` that it is another file than in `before`, which becomes that one; it must be whole. */
static bool is_replaced(const char *path, struct stat *before, unsigned int *times)
{
	size_t length;
	char *text = read_file(path, &length);
	struct stat now;
	bool result;

	assert_non_null(text);
	assert_non_null(strstr(text, first_group));
	assert_non_null(strstr(text, "\nctop_process_max_fds "));
	assert_null(strstr(text, "\nprocess_"));
	assert_int_equal(text[length - 1], '\n');
	free(text);
	assert_int_equal(stat(path, &now), 0);
	result = now.st_ino != before->st_ino || now.st_mtim.tv_sec != before->st_mtim.tv_sec ||
		 now.st_mtim.tv_nsec != before->st_mtim.tv_nsec;
	*times += result;
	*before = now;
	return result;
}

/* Whether the newest page says that a file could not be written. */
static bool has_failures(const struct exporter *exporter)
{
	char *page = exporter_scrape(exporter, false);
	const bool result = page != NULL && page_value(page, "ctop_textfile_failures_total") >= 1;

	free(page);
	return result;
}

static void test_textfile(void **state)
{
	const char *directory = scratch_path("collector"), *path = scratch_path("collector/ctop.prom");
	const char *moved = scratch_path("moved"), *link = scratch_path("link.prom");
	const char *const arguments[] = {"--listen", "127.0.0.1:0", "--textfile", link, "-d", "0.2", NULL};
	unsigned int replaced = 0;
	struct exporter exporter;
	struct stat status;

	(void)state;
	assert_int_equal(mkdir(directory, 0755), 0);
	assert_int_equal(symlink("collector/ctop.prom", link), 0);
	exporter_begin(&exporter, NULL, arguments);
	free(exporter_scrape_for(&exporter, first_group));
	await("the file is there", stat(path, &status) == 0);
	assert_int_equal(status.st_mode & 0777, 0644);
	/* whole at any time, however often it is replaced meanwhile */
	await("the file is replaced three times", is_replaced(path, &status, &replaced) && replaced == 3);
	/* its directory goes and comes back */
	assert_int_equal(rename(directory, moved), 0);
	await("it says that it could not write", has_failures(&exporter));
	assert_int_equal(rename(moved, directory), 0);
	unlink(path);
	await("the file is written again", stat(path, &status) == 0);
	exporter_end(&exporter);
	/* what it said is not so any more; the file stays where its thread gets no CPU for two seconds */
	for (int i = 0; i < 2 && stat(path, &status) == 0; i++) {
		exporter_begin(&exporter, NULL, arguments);
		free(exporter_scrape_for(&exporter, first_group));
		exporter_end(&exporter);
	}
	assert_int_equal(stat(path, &status), -1);
	assert_int_equal(lstat(link, &status), 0);
}

/* Whoever sends a signal learns that it ended by it (SIGTERM: test_textfile), with nothing left behind. */
static void test_signal(void **state)
{
	const char *path = scratch_path("signal.sock");
	char where[256];
	struct exporter exporter;
	struct stat status;
	struct run run;

	(void)state;
	snprintf(where, sizeof(where), "unix:%s", path);
	exporter_begin(&exporter, NULL, (const char *[]){"--listen", where, "-d", "0.2", NULL});
	kill(exporter.running.child, SIGINT);
	run_finish(&exporter.running, &run, &(struct run_options){0});
	assert_int_equal(run.signal, SIGINT);
	assert_int_equal(stat(path, &status), -1);
	run_release(&run);
}

static void test_textfile_alone(void **state)
{
	const char *path = scratch_path("alone.prom"), *loop = scratch_path("loop.prom");
	char command[1024];
	struct stat status;
	struct run run;

	(void)state;
	run_ctop_well(&run, (const char *[]){"export", "--textfile", path, "-n", "2", "-d", "0.2", NULL});
	assert_string_equal(run.errors, "");
	run_release(&run);
	assert_int_equal(stat(path, &status), 0);
	refused((const char *[]){"--textfile", "/proc/nothing/x.prom", NULL}, 1,
		"directory /proc/nothing: No such file");
	refused((const char *[]){"--textfile", "/dev/null", NULL}, 1, "not a regular file");
	refused((const char *[]){"--textfile", "", "-n", "1", NULL}, 1, "cannot write '': it names no file");
	assert_int_equal(symlink("loop.prom", loop), 0);
	refused((const char *[]){"--textfile", loop, "-n", "1", NULL}, 1, "Too many levels");
	/* a last write that fails is a failure, after which nothing is tried again */
	snprintf(command, sizeof(command), "ulimit -f 1; exec '%s' export --textfile '%s' -n 1 -d 0.2",
		 CTOP_PROGRAM, path);
	run_program(&run, NULL, (const char *[]){"/bin/sh", "-c", command, NULL});
	run_expect(&run, 1);
	assert_non_null(strstr(run.errors, "alone.prom: File too large\n"));
	run_release(&run);
}

/* Whoever starts it, node_exporter may read the page. */
static void test_textfile_mode(void **state)
{
	const char *path = scratch_path("masked.prom");
	const mode_t before = umask(077);
	struct stat status;
	struct run run;

	(void)state;
	run_ctop(&run, NULL, (const char *[]){"export", "--textfile", path, "-n", "2", "-d", "0.2", NULL});
	umask(before);
	run_expect(&run, 0);
	run_release(&run);
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_mode & 0777, 0644);
}

static void test_textfile_unwritable(void **state)
{
	const char *directory = scratch_path("closed"), *path = scratch_path("closed/x.prom");
	const struct run_options options = {.user = NOBODY};
	struct run run;

	(void)state;
	need_to_become_nobody();
	assert_int_equal(mkdir(directory, 0755), 0);
	run_ctop(&run, &options, (const char *[]){"export", "--textfile", path, NULL});
	run_expect(&run, 1);
	assert_non_null(strstr(run.errors, "Permission denied"));
	run_release(&run);
}

/* --- the threads --- */

static uint64_t effective_capabilities(pid_t process, pid_t thread)
{
	char path[64], *text;
	uint64_t result;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/status", process, thread);
	text = read_file(path, NULL);
	assert_non_null(text);
	result = strtoull(strstr(text, "\nCapEff:") + 8, NULL, 16);
	free(text);
	return result;
}

/* Its threads, in the order in which they were started; returns how many. */
static size_t list_threads(pid_t process, pid_t threads[THREADS_MAX])
{
	char path[64];
	DIR *directory;
	struct dirent *entry;
	size_t count = 0;

	snprintf(path, sizeof(path), "/proc/%d/task", process);
	directory = opendir(path);
	assert_non_null(directory);
	while ((entry = readdir(directory)) != NULL && count < THREADS_MAX) {
		const pid_t thread = (pid_t)strtol(entry->d_name, NULL, 10);

		if (thread > 0)
			threads[count++] = thread;
	}
	closedir(directory);
	return count;
}

/* The thread that captures: the first beside the main thread. */
static pid_t find_capture(pid_t process)
{
	pid_t threads[THREADS_MAX];

	assert_true(list_threads(process, threads) > 1);
	return threads[1];
}

/* The number of its threads that have rights. */
static size_t count_capable(pid_t process)
{
	pid_t threads[THREADS_MAX];
	const size_t count = list_threads(process, threads);
	size_t capable = 0;

	for (size_t i = 0; i < count; i++)
		capable += effective_capabilities(process, threads[i]) != 0;
	return capable;
}

/* The thread that looks names of users up is started by the one that captures, and does not keep its rights.
 */
static void test_names_without_rights(void **state)
{
	struct exporter exporter;

	(void)state;
	need_capability(CAP_DAC_OVERRIDE, "see which thread keeps it");
	exporter_begin(&exporter, NULL,
		       (const char *[]){"--listen", "127.0.0.1:0", "-g", "user", "-d", "0.2", NULL});
	free(exporter_scrape_for(&exporter, "ctop_group_threads{axis=\"user\""));
	await("only the thread that captures has rights", count_capable(exporter.running.child) == 1);
	exporter_end(&exporter);
}

/* A process of ctop's own that somebody kills is collected within a round, not when the next one is wanted.
 */
static void test_supervisor_killed(void **state)
{
	struct exporter exporter;
	char path[64], *children;
	pid_t supervisor;

	(void)state;
	exporter_begin(&exporter, NULL, (const char *[]){"--listen", "127.0.0.1:0", "-d", "0.2", NULL});
	free(exporter_scrape_for(&exporter, first_group));
	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", exporter.running.child,
		 exporter.running.child);
	children = read_file(path, NULL);
	supervisor = children != NULL ? (pid_t)strtol(children, NULL, 10) : 0;
	free(children);
	if (supervisor > 0) {
		kill(supervisor, SIGKILL);
		await("it is collected", kill(supervisor, 0) < 0);
	}
	exporter_end(&exporter);
	if (supervisor <= 0)
		skip_test("no CONFIG_PROC_CHILDREN here");
}

static bool read_again(const char *path, const char *words, char **text)
{
	free(*text);
	*text = read_file(path, NULL);
	return *text != NULL && strstr(*text, words) != NULL;
}

/* The file once it has these words. */
static char *read_file_for(const char *path, const char *words)
{
	char *text = NULL;

	await(words, read_again(path, words, &text));
	return text;
}

/* The thread that serves holds no rights; and a capture that hangs leaves the page there, without groups. */
static void test_capture_hangs(void **state)
{
	const char *path = scratch_path("hangs.prom");
	struct exporter exporter;
	pid_t capture;
	char *page;

	(void)state;
	exporter_begin(&exporter, NULL,
		       (const char *[]){"--listen", "127.0.0.1:0", "--textfile", path, "-d", "0.2", NULL});
	free(exporter_scrape_for(&exporter, first_group));
	free(read_file_for(path, first_group));
	capture = find_capture(exporter.running.child);
	if (has_capability(CAP_DAC_OVERRIDE)) {
		assert_int_equal(effective_capabilities(exporter.running.child, exporter.running.child), 0);
		assert_int_not_equal(effective_capabilities(exporter.running.child, capture), 0);
	}
	if (ptrace(PTRACE_SEIZE, capture, NULL, NULL) < 0 ||
	    ptrace(PTRACE_INTERRUPT, capture, NULL, NULL) < 0) {
		exporter_end(&exporter);
		skip_test("no right to stop a thread of a child");
	}
	assert_int_equal(waitpid(capture, NULL, __WALL), capture);
	page = exporter_scrape(&exporter, false);
	assert_non_null(page);
	free(page);
	page = exporter_scrape_for(&exporter, "ctop_round_stale 1\n");
	assert_null(strstr(page, "ctop_group_threads"));
	assert_true(page_value(page, "ctop_round_age_seconds") > 10);
	free(page);
	/* and so does the file */
	page = read_file_for(path, "\nctop_round_stale 1\n");
	assert_null(strstr(page, "ctop_group_threads"));
	free(page);
	assert_int_equal(ptrace(PTRACE_DETACH, capture, NULL, NULL), 0);
	page = exporter_scrape_for(&exporter, first_group);
	assert_true(page_value(page, "ctop_round_stale") == 0);
	free(page);
	free(read_file_for(path, first_group));
	exporter_end(&exporter);
}

/* A round that ends while a scrape waits for it is not too old, by whichever clock. */
static void test_rounds_between(void **state)
{
	struct exporter exporter;
	int connection, scrapes = 0;
	uint64_t until;

	(void)state;
	exporter_begin(&exporter, NULL, (const char *[]){"--listen", "127.0.0.1:0", "-d", "0.1", NULL});
	free(exporter_scrape_for(&exporter, first_group));
	connection = exporter_connect(&exporter);
	until = clock_ns(CLOCK_MONOTONIC) + 6 * NS_PER_S;
	for (; clock_ns(CLOCK_MONOTONIC) < until; scrapes++)
		assert_answer(connection, "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n", "HTTP/1.1 200",
			      "\nctop_round_stale 0\n");
	print_message("%d scrapes\n", scrapes);
	close(connection);
	exporter_end(&exporter);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_answers),
		cmocka_unit_test(test_hosts),
		cmocka_unit_test(test_two_scrapers),
		cmocka_unit_test(test_private),
		cmocka_unit_test(test_hidden_processes),
		cmocka_unit_test(test_no_waiting),
		cmocka_unit_test(test_flood),
		cmocka_unit_test(test_slow),
		cmocka_unit_test(test_late_readers),
		cmocka_unit_test(test_nonsense),
		cmocka_unit_test(test_port_in_use),
		cmocka_unit_test(test_six),
		cmocka_unit_test(test_open),
		cmocka_unit_test(test_unix),
		cmocka_unit_test(test_no_capture),
		cmocka_unit_test(test_batch),
		cmocka_unit_test(test_labels),
		cmocka_unit_test(test_textfile),
		cmocka_unit_test(test_signal),
		cmocka_unit_test(test_textfile_alone),
		cmocka_unit_test(test_textfile_mode),
		cmocka_unit_test(test_names_without_rights),
		cmocka_unit_test(test_textfile_unwritable),
		cmocka_unit_test(test_rounds_between),
		cmocka_unit_test(test_capture_hangs),
		cmocka_unit_test(test_supervisor_killed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
