/* SPDX-License-Identifier: GPL-2.0-only */
#include "server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"

const bool server_is_built = true;

/*
 * libmicrohttpd takes connections in, bounds their memory and closes idle ones. It does not evict: at its
 * limit it takes no more in, so that others could keep everybody out, and its timeout begins again with each
 * byte. So connections are counted and timed here.
 */
enum {
	/* more than are kept, so that new ones are taken in while the others end */
	ACCEPTED_MAX = 2 * SERVER_CONNECTIONS_MAX,
	/* of a request: its header has to fit, which Prometheus makes 400 bytes long */
	MEMORY_MAX = 16 << 10,
	/* for which a connection without a request is kept */
	IDLE_SECONDS = 150,
	/* of a page, which are handed over at once */
	BLOCK_BYTES = 64 << 10,
};

/* The event that a connection waits for. */
enum phase {
	PHASE_NONE,    /* it is closed, and its place free */
	PHASE_REQUEST, /* the first, or the rest of it */
	PHASE_IDLE,    /* another one, after an answer */
	PHASE_ANSWER,  /* its reader, while an answer is sent */
	PHASE_CLOSED,  /* ctop has shut it down */
};

struct connection {
	int descriptor;
	enum phase phase;
	uint64_t since_ns; /* CLOCK_MONOTONIC; of an answer when its request began, where that is known */
	uint64_t heard_ns; /* when that began, or its reader took something last */
};

/* A page that is being sent over one or more connections. */
struct page {
	struct server *server;
	struct buffer text;
	enum exposition_format format;
	size_t users;
};

/* A page on its way over a connection. */
struct answer {
	struct page *page;
	struct connection *connection; /* NULL where its place is not known */
};

struct server {
	struct exporter *exporter;
	bool any_host;
	struct MHD_Daemon *daemon;
	int descriptor; /* epoll */
	struct connection connections[ACCEPTED_MAX];
	size_t pages;
	struct page *newest[EXPOSITION_FORMAT_COUNT]; /* of those that are being sent, or NULL; not owned */
	struct export_health health;                  /* what is counted here */
};

static const char start_page[] =
	"<!DOCTYPE html>\n"
	"<html lang=\"en\"><head><meta charset=\"utf-8\"><title>ctop export</title></head>\n"
	"<body><h1>ctop export</h1>\n"
	"<p>Groups of threads of this host, for Prometheus: <a href=\"/metrics\">/metrics</a></p>\n"
	"</body></html>\n";

/* --- connections --- */

static void change_phase(struct connection *connection, enum phase phase)
{
	if (connection->phase == PHASE_CLOSED)
		return;
	connection->heard_ns = clock_ns(CLOCK_MONOTONIC);
	if (connection->phase != PHASE_REQUEST || phase != PHASE_ANSWER)
		connection->since_ns = connection->heard_ns;
	connection->phase = phase;
}

/* libmicrohttpd sees the end of it and closes it. */
static void close_early(struct connection *connection, uint64_t *counter)
{
	shutdown(connection->descriptor, SHUT_RDWR);
	change_phase(connection, PHASE_CLOSED);
	++*counter;
}

/* After each connection that came: closes the one that has been silent for longest where there is one too
 * many.
 */
static void make_room(struct server *server)
{
	struct connection *oldest = NULL;
	size_t count = 0;

	for (size_t i = 0; i < ACCEPTED_MAX; i++) {
		struct connection *connection = &server->connections[i];

		if (connection->phase == PHASE_NONE || connection->phase == PHASE_CLOSED)
			continue;
		count++;
		if (oldest == NULL || connection->heard_ns < oldest->heard_ns)
			oldest = connection;
	}
	if (count > SERVER_CONNECTIONS_MAX)
		close_early(oldest, &server->health.closed_crowded);
}

/* Closes those that took too long for a request or an answer; returns when the next one will have. */
static uint64_t close_slow(struct server *server)
{
	const uint64_t now = clock_ns(CLOCK_MONOTONIC);
	uint64_t soonest = UINT64_MAX;

	for (size_t i = 0; i < ACCEPTED_MAX; i++) {
		struct connection *connection = &server->connections[i];
		const uint64_t until = connection->since_ns + SERVER_PATIENCE_NS;

		if (connection->phase != PHASE_REQUEST && connection->phase != PHASE_ANSWER)
			continue;
		if (until <= now)
			close_early(connection, &server->health.closed_slow);
		else if (until < soonest)
			soonest = until;
	}
	return soonest;
}

static void note_connection(void *context, struct MHD_Connection *own, void **socket_context,
			    enum MHD_ConnectionNotificationCode code)
{
	struct server *server = context;
	struct connection *connection = *socket_context;
	const union MHD_ConnectionInfo *info;

	if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
		if (connection == NULL)
			return;
		connection->phase = PHASE_NONE;
		*socket_context = NULL;
		return;
	}
	info = MHD_get_connection_info(own, MHD_CONNECTION_INFO_CONNECTION_FD);
	if (info == NULL)
		return;
	for (size_t i = 0; i < ACCEPTED_MAX && connection == NULL; i++) {
		if (server->connections[i].phase == PHASE_NONE)
			connection = &server->connections[i];
	}
	/* libmicrohttpd takes in no more than there are */
	if (connection == NULL)
		return;
	connection->descriptor = info->connect_fd;
	*socket_context = connection;
	change_phase(connection, PHASE_REQUEST);
	make_room(server);
}

static struct connection *connection_of(struct MHD_Connection *own)
{
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(own,
								       MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return info != NULL ? info->socket_context : NULL;
}

static void note_completion(void *context, struct MHD_Connection *own, void **request,
			    enum MHD_RequestTerminationCode code)
{
	struct connection *connection = connection_of(own);

	(void)context;
	(void)request;
	(void)code;
	if (connection != NULL)
		change_phase(connection, PHASE_IDLE);
}

/* --- answers --- */

static enum MHD_Result answer(struct server *server, struct MHD_Connection *own, enum export_status status,
			      const char *type, struct MHD_Response *response)
{
	struct connection *connection = connection_of(own);
	enum MHD_Result result;

	if (response == NULL)
		return MHD_NO;
	MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
	MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
	if (status == EXPORT_STATUS_405)
		MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
	result = MHD_queue_response(own, export_statuses[status], response);
	MHD_destroy_response(response);
	server->health.requests[status]++;
	if (connection != NULL)
		change_phase(connection, PHASE_ANSWER);
	return result;
}

static enum MHD_Result answer_text(struct server *server, struct MHD_Connection *own,
				   enum export_status status, const char *type, const char *text)
{
	return answer(server, own, status, type,
		      MHD_create_response_from_buffer(strlen(text), (void *)(uintptr_t)text,
						      MHD_RESPMEM_PERSISTENT));
}

/* The page for another request. Memory for pages is bounded: many readers that are slow share one. */
static struct page *take_page(struct server *server, enum exposition_format format)
{
	struct export_health health = server->health;
	struct page *page = server->newest[format];

	if (page == NULL || server->pages < SERVER_PAGES_MAX) {
		page = memory_allocate_zero(1, sizeof(*page));
		page->server = server;
		page->format = format;
		health.serves = true;
		exporter_write(server->exporter, format, &health, &page->text);
		server->newest[format] = page;
		server->pages++;
	}
	page->users++;
	return page;
}

static void give_back(struct page *page)
{
	if (--page->users != 0)
		return;
	if (page->server->newest[page->format] == page)
		page->server->newest[page->format] = NULL;
	page->server->pages--;
	buffer_release(&page->text);
	free(page);
}

/* Hands a part of a page over: its reader has taken what was before it. */
static ssize_t read_page(void *context, uint64_t position, char *bytes, size_t size)
{
	const struct answer *sent = context;
	const size_t left = sent->page->text.length - (size_t)position;

	if (sent->connection != NULL)
		sent->connection->heard_ns = clock_ns(CLOCK_MONOTONIC);
	if (left == 0)
		return MHD_CONTENT_READER_END_OF_STREAM;
	size = size < left ? size : left;
	memcpy(bytes, sent->page->text.data + position, size);
	return (ssize_t)size;
}

static void end_answer(void *context)
{
	struct answer *sent = context;

	give_back(sent->page);
	free(sent);
}

/* All lines of one header field of a request. */
struct field_lines {
	const char *name;
	struct buffer value; /* values of all lines as one list */
	size_t count;
};

static enum MHD_Result add_line(void *context, enum MHD_ValueKind kind, const char *name, const char *value)
{
	struct field_lines *lines = context;

	(void)kind;
	if (strcasecmp(name, lines->name) != 0)
		return MHD_YES;
	if (lines->count++ != 0)
		buffer_append_char(&lines->value, ',');
	buffer_append_text(&lines->value, value != NULL ? value : "");
	return MHD_YES;
}

/* Collects the lines of a header field. The caller releases `value`. */
static struct field_lines find_lines(struct MHD_Connection *own, const char *name)
{
	struct field_lines lines = {.name = name};

	MHD_get_connection_values(own, MHD_HEADER_KIND, add_line, &lines);
	return lines;
}

static enum MHD_Result answer_metrics(struct server *server, struct MHD_Connection *own)
{
	struct field_lines accept = find_lines(own, MHD_HTTP_HEADER_ACCEPT);
	const enum exposition_format format = exposition_negotiate(accept.value.data);
	struct answer *sent = memory_allocate(sizeof(*sent));
	struct MHD_Response *response;

	buffer_release(&accept.value);
	sent->page = take_page(server, format);
	sent->connection = connection_of(own);
	response = MHD_create_response_from_callback(sent->page->text.length, BLOCK_BYTES, read_page, sent,
						     end_answer);
	if (response == NULL)
		end_answer(sent);
	return answer(server, own, EXPORT_STATUS_200, exposition_content_types[format], response);
}

/* Whether a host is written as an address: a number, that of IPv6 in brackets. */
static bool is_address(char *host)
{
	struct in6_addr address;
	const size_t length = strlen(host);

	if (host[0] != '[')
		return inet_pton(AF_INET, host, &address) == 1;
	if (host[length - 1] != ']')
		return false;
	host[length - 1] = '\0';
	return inet_pton(AF_INET6, host + 1, &address) == 1;
}

/* Returns the length of "http://" at the start of a target in absolute form (RFC 9112, 3.2.2), else 0. */
static size_t scheme_length(const char *target)
{
	static const char scheme[] = "http://";

	return strncasecmp(target, scheme, strlen(scheme)) == 0 ? strlen(scheme) : 0;
}

/* Returns the path of a target in absolute or origin form. */
static const char *path_of(const char *target)
{
	const char *authority = target + scheme_length(target);

	if (authority == target)
		return target;
	authority += strcspn(authority, "/");
	return *authority != '\0' ? authority : "/";
}

/* Whether an authority such as "localhost:12867" (`whole` bytes) names this host. */
static bool is_own_authority(const char *value, size_t whole)
{
	char name[HOST_NAME_MAX + 1] = "", *host;
	size_t length = whole;
	bool is_own;

	while (length != 0 && value[length - 1] >= '0' && value[length - 1] <= '9')
		length--;
	/* without a port all of it is the host */
	length = length != 0 && value[length - 1] == ':' ? length - 1 : whole;
	host = memory_duplicate_bytes(value, length);
	gethostname(name, sizeof(name));
	is_own = length != 0 &&
		 (strcasecmp(host, "localhost") == 0 || strcasecmp(host, name) == 0 || is_address(host));
	free(host);
	return is_own;
}

/*
 * Whether a request is for this host. The host in a target in absolute form overrides Host (RFC 9112, 3.2.2).
 * HTTP/1.0 requests, which no browser sends, may lack Host and are accepted. Two lines of Host are an error
 * (3.2) and name no host.
 */
static bool is_for_own_host(struct MHD_Connection *own, const char *target)
{
	const char *authority = target + scheme_length(target);
	struct field_lines host;
	bool is_own;

	if (authority != target)
		return is_own_authority(authority, strcspn(authority, "/"));
	host = find_lines(own, MHD_HTTP_HEADER_HOST);
	is_own = host.count == 0 || is_own_authority(host.value.data, host.value.length);
	buffer_release(&host.value);
	return is_own;
}

/*
 * Called once with the header of a request (`*request` is NULL), and for a request without a body, as GET and
 * HEAD are, once more to be answered. A body is read and ignored.
 */
static enum MHD_Result handle(void *context, struct MHD_Connection *own, const char *target,
			      const char *method, const char *version, const char *data, size_t *data_length,
			      void **request)
{
	const char *path = path_of(target);
	struct server *server = context;

	(void)version;
	(void)data;
	if (*request == NULL && !server->any_host && !is_for_own_host(own, target))
		return answer_text(server, own, EXPORT_STATUS_403, "text/plain; charset=utf-8",
				   "this Host is refused: ask for the address, localhost or the name of the "
				   "host (ctop(1), EXPORT)\n");
	if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
		return *request != NULL ? MHD_NO
					: answer_text(server, own, EXPORT_STATUS_405,
						      "text/plain; charset=utf-8", "only GET and HEAD\n");
	if (*request == NULL) {
		*request = server;
		return MHD_YES;
	}
	if (*data_length != 0) {
		*data_length = 0;
		return MHD_YES;
	}
	if (strcmp(path, "/metrics") == 0)
		return answer_metrics(server, own);
	if (strcmp(path, "/") == 0)
		return answer_text(server, own, EXPORT_STATUS_200, "text/html; charset=utf-8", start_page);
	return answer_text(server, own, EXPORT_STATUS_404, "text/plain; charset=utf-8",
			   "there is /metrics and nothing else\n");
}

/* --- the server --- */

int server_start(int listener, bool any_host, struct exporter *exporter, struct server **ret_server,
		 struct error *error)
{
	struct server *server = memory_allocate_zero(1, sizeof(*server));
	const union MHD_DaemonInfo *info;

	server->exporter = exporter;
	server->any_host = any_host;
	server->daemon = MHD_start_daemon(
		MHD_USE_EPOLL, 0, NULL, NULL, handle, server, MHD_OPTION_LISTEN_SOCKET, listener,
		MHD_OPTION_CONNECTION_LIMIT, (unsigned int)ACCEPTED_MAX, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
		(size_t)MEMORY_MAX, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned int)IDLE_SECONDS,
		MHD_OPTION_NOTIFY_CONNECTION, note_connection, server, MHD_OPTION_NOTIFY_COMPLETED,
		note_completion, server, MHD_OPTION_END);
	info = server->daemon != NULL ? MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_EPOLL_FD) : NULL;
	if (info == NULL) {
		if (server->daemon != NULL)
			MHD_stop_daemon(server->daemon);
		free(server);
		return error_set(error, -EIO, "libmicrohttpd %s cannot serve on the socket",
				 MHD_get_version());
	}
	server->descriptor = info->epoll_fd;
	*ret_server = server;
	return 0;
}

void server_stop(struct server *server)
{
	int descriptor;

	if (server == NULL)
		return;
	/* the socket stays the caller's: MHD_stop_daemon() would close it */
	descriptor = MHD_quiesce_daemon(server->daemon);
	(void)descriptor;
	MHD_stop_daemon(server->daemon);
	free(server);
}

int server_descriptor(const struct server *server)
{
	return server->descriptor;
}

uint64_t server_serve(struct server *server)
{
	unsigned long long timeout_ms;
	uint64_t next;

	MHD_run(server->daemon);
	next = close_slow(server);
	if (MHD_get_timeout(server->daemon, &timeout_ms) == MHD_YES) {
		const uint64_t until = clock_ns(CLOCK_MONOTONIC) + timeout_ms * NS_PER_MS;

		next = until < next ? until : next;
	}
	return next;
}
