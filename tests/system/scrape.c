/* SPDX-License-Identifier: GPL-2.0-only */
#include "scrape.h"

#include <arpa/inet.h>
#include <errno.h>
#include <math.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "../cmocka_include.h"
#include "../wait.h"

enum {
	ANSWER_SECONDS = 20,
};

/* Its output so far, in a static buffer. */
static const char *errors_of(const struct running *running)
{
	static char text[8192];
	ssize_t length = pread(running->errors, text, sizeof(text) - 1, 0);

	text[length > 0 ? length : 0] = '\0';
	return text;
}

/* The address in its output, once that line is whole. */
static const char *find_serving(const struct running *running)
{
	const char *found = strstr(errors_of(running), "serving ");

	return found != NULL && strchr(found, '\n') != NULL ? found + strlen("serving ") : NULL;
}

void exporter_begin(struct exporter *exporter, const struct run_options *options,
		    const char *const *arguments)
{
	static const struct run_options ordinary;
	const char *whole[64] = {CTOP_PROGRAM, "export"};
	const char *found = NULL;
	int scanned;

	for (size_t i = 0; arguments[i] != NULL && i < 60; i++)
		whole[i + 2] = arguments[i];
	run_start(&exporter->running, options != NULL ? options : &ordinary, whole);
	if (!wait_until((found = find_serving(&exporter->running)) != NULL))
		fail_msg("ctop export does not serve: %s", errors_of(&exporter->running));
	scanned = strncmp(found, "http://", 7) == 0 ? sscanf(found, "http://%150[^/]/", exporter->where)
						    : sscanf(found, "%150[^\n]", exporter->where);
	assert_int_equal(scanned, 1);
}

void exporter_end(struct exporter *exporter)
{
	static const struct run_options ordinary;
	struct run run;

	kill(exporter->running.child, SIGTERM);
	run_finish(&exporter->running, &run, &ordinary);
	run_expect(&run, 0);
	run_release(&run);
}

static int connect_unix(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	const int connection = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	if (connect(connection, (struct sockaddr *)&address, sizeof(address)) == 0)
		return connection;
	close(connection);
	return -1;
}

static int connect_network(const char *where)
{
	const unsigned long port = strtoul(strrchr(where, ':') + 1, NULL, 10);
	struct sockaddr_in6 six = {
		.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port), .sin6_addr = in6addr_loopback};
	struct sockaddr_in four = {.sin_family = AF_INET,
				   .sin_port = htons((uint16_t)port),
				   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	const bool is_six = where[0] == '[' && strncmp(where, "[::ffff:", 8) != 0;
	const int connection = socket(is_six ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (connect(connection, is_six ? (struct sockaddr *)&six : (struct sockaddr *)&four,
		    is_six ? sizeof(six) : sizeof(four)) == 0)
		return connection;
	close(connection);
	return -1;
}

int exporter_connect(const struct exporter *exporter)
{
	const struct timeval patience = {.tv_sec = ANSWER_SECONDS};
	const int connection = strncmp(exporter->where, "unix:", 5) == 0 ? connect_unix(exporter->where + 5)
									 : connect_network(exporter->where);

	if (connection >= 0)
		setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	return connection;
}

/* Length of the header of an answer with its empty line; 0 while it is not whole. */
static size_t header_length(const char *text)
{
	const char *end = strstr(text, "\r\n\r\n");

	return end != NULL ? (size_t)(end - text) + 4 : 0;
}

char *exporter_ask(int connection, const char *request, bool has_body)
{
	size_t capacity = 1 << 16, length = 0, wanted = SIZE_MAX;
	char *text = malloc(capacity);

	text[0] = '\0';
	if (send(connection, request, strlen(request), MSG_NOSIGNAL) < 0) {
		free(text);
		return NULL;
	}
	while (length < wanted) {
		const size_t header = wanted == SIZE_MAX ? header_length(text) : 0;
		const char *size = header != 0 ? strcasestr(text, "\r\nContent-Length: ") : NULL;
		ssize_t count;

		if (size != NULL) {
			wanted = header + (has_body ? strtoul(size + 18, NULL, 10) : 0);
			continue;
		}
		if (capacity - length < 2)
			text = realloc(text, capacity *= 2);
		count = recv(connection, text + length, capacity - length - 1, 0);
		if (count <= 0) {
			free(text);
			return NULL;
		}
		length += (size_t)count;
		text[length] = '\0';
	}
	return text;
}

char *exporter_scrape(const struct exporter *exporter, bool openmetrics)
{
	const int connection = exporter_connect(exporter);
	char *answer = NULL, *body = NULL, request[256];

	snprintf(request, sizeof(request),
		 "GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n%s\r\n",
		 openmetrics ? "Accept: application/openmetrics-text; version=1.0.0\r\n" : "");
	if (connection >= 0)
		answer = exporter_ask(connection, request, true);
	if (answer != NULL && strncmp(answer, "HTTP/1.1 200 ", 13) == 0)
		body = strdup(answer + header_length(answer));
	free(answer);
	close(connection);
	return body;
}

static bool scrape_again(const struct exporter *exporter, const char *search, char **page)
{
	free(*page);
	*page = exporter_scrape(exporter, false);
	return *page != NULL && strstr(*page, search) != NULL;
}

char *exporter_scrape_for(const struct exporter *exporter, const char *line)
{
	char search[512], *page = NULL;

	snprintf(search, sizeof(search), "\n%s", line);
	if (!wait_until(scrape_again(exporter, search, &page)))
		fail_msg("no line %s in: %s", line, page != NULL ? page : "no page");
	return page;
}

double page_value(const char *page, const char *series)
{
	char search[512];
	const char *found;

	snprintf(search, sizeof(search), "\n%s ", series);
	found = strstr(page, search);
	return found != NULL ? strtod(found + strlen(search), NULL) : NAN;
}

void exporter_expect_refused(int connection, const char *what)
{
	char answer[4096] = "";
	ssize_t count = recv(connection, answer, strlen("HTTP/1.1 400"), MSG_WAITALL);

	if (count > 0 && strncmp(answer, "HTTP/1.1 4", 10) != 0 && strncmp(answer, "HTTP/1.1 5", 10) != 0)
		fail_msg("%s is answered: %s", what, answer);
	while (count > 0)
		count = recv(connection, answer, sizeof(answer), 0);
	/* it is reset where something was not read */
	if (count < 0 && errno != ECONNRESET)
		fail_msg("%s: %s", what, strerror(errno));
	close(connection);
}

int exporter_send(const struct exporter *exporter, const char *bytes, size_t length)
{
	const int connection = exporter_connect(exporter);

	assert_int_equal(send(connection, bytes, length, MSG_NOSIGNAL), length);
	shutdown(connection, SHUT_WR);
	return connection;
}
