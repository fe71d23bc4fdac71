/* SPDX-License-Identifier: GPL-2.0-only */
#include "user_names.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/order.h"
#include "base/reader.h"
#include "base/rights.h"
#include "base/unicode.h"
#include "base/worker.h"
#include "metric/nearest.h"

enum {
	PASSWD_BYTES_MAX = 64 << 20,
	ASKED_AT_ONCE = 64, /* users in one call of the services */
	NAME_BYTES_MAX = 256,
	ENTRY_BYTES_FIRST = 1024, /* of an entry of passwd(5), in which pointers lead into it */
	ENTRY_BYTES_MAX = 1 << 20,
	THE_SERVICES = -1, /* stands for them where a call of a reader is about a process */
};

/* The services have this long for a call. After one that took longer they are left alone for a while. */
#define SERVICE_PATIENCE_NS (3 * NS_PER_S)
#define SERVICE_REST_NS     (60 * NS_PER_S)
/* A user is asked for again after this: services come late, and a number may be given to another user. */
#define ANSWER_HOLDS_NS (300 * NS_PER_S)

struct user {
	uint32_t uid;
	bool answered;
	char *name;           /* NULL for none */
	uint64_t answered_ns; /* CLOCK_MONOTONIC */
};

static struct {
	pthread_mutex_t lock;
	pthread_cond_t asked, answered;
	bool started; /* the thread that looks names up */
	struct user *users;
	size_t count, capacity;
	struct hash_map index; /* of users, by id */
	char **former;         /* names that were replaced: somebody may still have one */
	size_t former_count, former_capacity;
	size_t waiting; /* of them, that are not answered */
	unsigned int generation;
	const char *passwd;
	reader_work *service; /* user_names_ask_services(), or NULL */
} names = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.passwd = "/etc/passwd",
	.service = user_names_ask_services,
};

/* --- passwd(5) --- */

/* A line: "NAME:x:UID:…". `name` is not terminated. Returns false where it is none. */
static bool parse_line(const char *line, size_t length, size_t *ret_name_length, uint32_t *ret_uid)
{
	const char *end = line + length, *colon = memchr(line, ':', length), *number;
	uint64_t uid = 0;

	if (colon == NULL || colon == line || colon - line > NAME_BYTES_MAX || line[0] == '#')
		return false;
	number = memchr(colon + 1, ':', (size_t)(end - colon - 1));
	if (number == NULL || ++number == end || !isdigit((unsigned char)*number))
		return false;
	for (; number < end && isdigit((unsigned char)*number); number++) {
		uid = uid * 10 + (uint64_t)(*number - '0');
		if (uid >= USER_UNKNOWN)
			return false;
	}
	if (number == end || *number != ':')
		return false;
	*ret_name_length = (size_t)(colon - line);
	*ret_uid = (uint32_t)uid;
	return true;
}

typedef void line_taker(void *context, uint32_t uid, const char *name, size_t length);

static void take_lines(const struct buffer *text, line_taker *take, void *context)
{
	const char *line = text->data, *const end = text->length != 0 ? line + text->length : line;

	while (line != NULL && line < end) {
		const char *newline = memchr(line, '\n', (size_t)(end - line));
		const size_t length = (size_t)((newline != NULL ? newline : end) - line);
		size_t name_length;
		uint32_t uid;

		if (parse_line(line, length, &name_length, &uid))
			take(context, uid, line, name_length);
		line = newline != NULL ? newline + 1 : NULL;
	}
}

/* Reads the file; an empty text without one. */
static void read_passwd(struct buffer *text)
{
	if (names.passwd == NULL || file_read(AT_FDCWD, names.passwd, text, PASSWD_BYTES_MAX) < 0)
		buffer_clear(text);
}

/* --- the services --- */

/* Appends a line as passwd(5) has it, unless the name would make another one of it. */
static void append_line(struct buffer *lines, const struct passwd *entry)
{
	if (strpbrk(entry->pw_name, ":\n") != NULL)
		return;
	buffer_append_text(lines, entry->pw_name);
	buffer_append_text(lines, ":x:");
	buffer_append_u64(lines, entry->pw_uid);
	buffer_append_text(lines, ":\n");
}

static bool parse_number(const char *text, uint32_t *ret_uid)
{
	return number_parse_u32(text, strlen(text), ret_uid) && *ret_uid != USER_UNKNOWN;
}

/* Appends a user by number, or else by name. */
static void append_user(struct buffer *lines, const char *key)
{
	struct passwd entry, *found = NULL;
	size_t size = ENTRY_BYTES_FIRST;
	char *text = NULL;
	uint32_t uid;
	int result;

	do {
		text = memory_resize(text, size, 1);
		result = parse_number(key, &uid) ? getpwuid_r(uid, &entry, text, size, &found)
						 : getpwnam_r(key, &entry, text, size, &found);
		size *= 2;
	} while (result == ERANGE && size <= ENTRY_BYTES_MAX);
	if (result == 0 && found != NULL)
		append_line(lines, found);
	free(text);
}

int user_names_ask_services(int directory, const void *argument, size_t size, struct buffer *lines)
{
	const char *key = argument, *const end = key + size;

	(void)directory;
	for (; key < end; key += strlen(key) + 1)
		append_user(lines, key);
	return 0;
}

/* The services are foreign code. */
static struct reader *open_services(uint64_t patience_ns)
{
	return reader_create(&(struct reader_options){
		.patience_ns = patience_ns, .pause_ns = SERVICE_REST_NS, .is_foreign = true});
}

/* Asks for users by `keys`, numbers or names, each with its NUL; whoever is not known is left out. */
static int ask_services(struct reader *services, const struct buffer *keys, struct buffer *lines)
{
	buffer_clear(lines);
	if (names.service == NULL || keys->length == 0)
		return 0;
	return reader_call(services, THE_SERVICES, names.service, -1, keys->data, keys->length, lines);
}

/* --- looking up --- */

/* To be called with the lock. */
static void answer(struct user *user, const char *name, size_t length)
{
	if (user->answered)
		return;
	user->answered = true;
	user->answered_ns = clock_ns(CLOCK_MONOTONIC);
	names.waiting--;
	if (name == NULL ||
	    (user->name != NULL && strlen(user->name) == length && memcmp(user->name, name, length) == 0))
		return;
	if (user->name != NULL)
		*MEMORY_APPEND(names.former, names.former_count, names.former_capacity) = user->name;
	user->name = memory_duplicate_bytes(name, length);
	names.generation++;
}

static void take_answer(void *context, uint32_t uid, const char *name, size_t length)
{
	uint32_t index;

	(void)context;
	if (hash_map_get(&names.index, uid, &index))
		answer(&names.users[index], name, length);
}

static void take_answers(const struct buffer *text)
{
	pthread_mutex_lock(&names.lock);
	take_lines(text, take_answer, NULL);
	pthread_mutex_unlock(&names.lock);
}

/* Users without an answer. */
static size_t find_waiting(uint32_t uids[ASKED_AT_ONCE])
{
	size_t count = 0;

	pthread_mutex_lock(&names.lock);
	for (size_t i = names.count; i-- > 0 && count < ASKED_AT_ONCE && names.waiting != 0;) {
		if (!names.users[i].answered)
			uids[count++] = names.users[i].uid;
	}
	pthread_mutex_unlock(&names.lock);
	return count;
}

/* Those of them that still have none, as keys for ask_services(). */
static void make_keys(const uint32_t *uids, size_t count, struct buffer *keys)
{
	uint32_t index;

	buffer_clear(keys);
	pthread_mutex_lock(&names.lock);
	for (size_t i = 0; i < count; i++) {
		if (!hash_map_get(&names.index, uids[i], &index) || names.users[index].answered)
			continue;
		buffer_append_u64(keys, uids[i]);
		buffer_append_char(keys, '\0');
	}
	pthread_mutex_unlock(&names.lock);
}

/* Those have none: the services say so, or did not answer. */
static void give_up(const uint32_t *uids, size_t count)
{
	uint32_t index;

	pthread_mutex_lock(&names.lock);
	for (size_t i = 0; i < count; i++) {
		if (hash_map_get(&names.index, uids[i], &index))
			answer(&names.users[index], NULL, 0);
	}
	pthread_mutex_unlock(&names.lock);
}

static void look_up(struct reader *services)
{
	struct buffer text = {0}, keys = {0};
	uint32_t uids[ASKED_AT_ONCE];
	size_t count;

	while ((count = find_waiting(uids)) != 0) {
		read_passwd(&text);
		take_answers(&text);
		make_keys(uids, count, &keys);
		(void)ask_services(services, &keys, &text);
		take_answers(&text);
		give_up(uids, count);
	}
	buffer_release(&text);
	buffer_release(&keys);
}

static void *run(void *context)
{
	struct reader *services;

	(void)context;
	/* whoever asked for the first name may have had rights that this thread would keep */
	(void)rights_give_up();
	services = open_services(SERVICE_PATIENCE_NS);
	for (;;) {
		pthread_mutex_lock(&names.lock);
		while (names.waiting == 0) {
			pthread_cond_broadcast(&names.answered);
			pthread_cond_wait(&names.asked, &names.lock);
		}
		pthread_mutex_unlock(&names.lock);
		look_up(services);
	}
	return NULL;
}

/* To be called with the lock. Without a thread there are numbers only. */
static void start(void)
{
	names.started = true;
	worker_initialise_condition(&names.asked);
	worker_initialise_condition(&names.answered);
	(void)worker_start(NULL, run, NULL);
}

/* One more user is waiting. To be called with the lock. */
static void ask(void)
{
	if (names.waiting++ != 0)
		return;
	if (!names.started)
		start();
	pthread_cond_signal(&names.asked);
}

const char *user_name(uint32_t uid)
{
	const char *name = NULL;
	struct user *user;
	uint32_t index;

	if (uid == USER_UNKNOWN)
		return NULL;
	pthread_mutex_lock(&names.lock);
	if (hash_map_get(&names.index, uid, &index)) {
		user = &names.users[index];
		name = user->name;
		if (user->answered && clock_ns(CLOCK_MONOTONIC) - user->answered_ns > ANSWER_HOLDS_NS) {
			user->answered = false;
			ask();
		}
	} else {
		hash_map_set(&names.index, uid, (uint32_t)names.count);
		*MEMORY_APPEND(names.users, names.count, names.capacity) = (struct user){.uid = uid};
		ask();
	}
	pthread_mutex_unlock(&names.lock);
	return name;
}

bool user_names_hold(const char *hostname)
{
	struct buffer own = {0};
	struct utsname host;
	bool is_own;

	if (hostname == NULL || uname(&host) < 0)
		return false;
	unicode_append_escaped(&own, host.nodename, strlen(host.nodename));
	is_own = order_bytes(hostname, strlen(hostname), own.data, own.length) == 0;
	buffer_release(&own);
	return is_own;
}

void user_name_append(struct buffer *buffer, uint32_t uid)
{
	const char *name = user_name(uid);

	if (name != NULL)
		buffer_append_text(buffer, name);
	else if (uid != USER_UNKNOWN)
		buffer_append_u64(buffer, uid);
	else
		buffer_append_text(buffer, "(unknown)");
}

unsigned int user_names_generation(void)
{
	unsigned int generation;

	pthread_mutex_lock(&names.lock);
	generation = names.generation;
	pthread_mutex_unlock(&names.lock);
	return generation;
}

bool user_names_wait(uint64_t patience_ns)
{
	const struct timespec deadline = clock_timespec(clock_ns(CLOCK_MONOTONIC) + patience_ns);
	int result = 0;
	bool done;

	pthread_mutex_lock(&names.lock);
	while (names.waiting != 0 && result == 0)
		result = pthread_cond_timedwait(&names.answered, &names.lock, &deadline);
	done = names.waiting == 0;
	pthread_mutex_unlock(&names.lock);
	return done;
}

/* --- by name --- */

/* A user looked for by name, and the names that there are. */
struct search {
	const char *name;
	bool found;
	uint32_t uid;
	char **others; /* owned */
	size_t count, capacity;
};

static void take_match(void *context, uint32_t uid, const char *name, size_t length)
{
	struct search *search = context;

	if (strlen(search->name) == length && memcmp(search->name, name, length) == 0 && !search->found) {
		search->found = true;
		search->uid = uid;
	}
	*MEMORY_APPEND(search->others, search->count, search->capacity) = memory_duplicate_bytes(name,
												 length);
}

static int refuse(const struct search *search, int reason, struct error *error)
{
	const char *nearest = nearest_name(search->name, (const char *const *)search->others, search->count);

	if (reason == -ETIMEDOUT)
		return error_set(error, -ETIMEDOUT,
				 "the user services of this host do not answer for '%s'; give the number of "
				 "the user instead",
				 search->name);
	if (nearest == NULL)
		return error_set(error, -ENOENT, "there is no user '%s' on this host; a number is taken too",
				 search->name);
	return error_set(error, -ENOENT, "there is no user '%s', did you mean '%s'? a number is taken too",
			 search->name, nearest);
}

int user_find(const char *name, uint64_t patience_ns, uint32_t *ret_uid, struct error *error)
{
	struct search search = {.name = name};
	struct buffer text = {0};
	int result = 0;

	read_passwd(&text);
	take_lines(&text, take_match, &search);
	/* a user may be called by a number: its name counts first */
	if (!search.found)
		search.found = parse_number(name, &search.uid);
	if (!search.found && *name != '\0' && strlen(name) <= NAME_BYTES_MAX) {
		struct reader *services = open_services(patience_ns);
		struct buffer keys = {0};

		buffer_append(&keys, name, strlen(name) + 1);
		result = ask_services(services, &keys, &text);
		take_lines(&text, take_match, &search);
		buffer_release(&keys);
		reader_release(services);
	}
	if (search.found)
		*ret_uid = search.uid;
	result = search.found ? 0 : refuse(&search, result, error);
	for (size_t i = 0; i < search.count; i++)
		free(search.others[i]);
	free(search.others);
	buffer_release(&text);
	return result;
}

void user_names_set_sources(const char *passwd, reader_work *service)
{
	pthread_mutex_lock(&names.lock);
	names.passwd = passwd;
	names.service = service;
	for (size_t i = 0; i < names.count; i++)
		free(names.users[i].name);
	while (names.former_count != 0)
		free(names.former[--names.former_count]);
	names.count = names.waiting = 0;
	hash_map_clear(&names.index);
	pthread_mutex_unlock(&names.lock);
}
