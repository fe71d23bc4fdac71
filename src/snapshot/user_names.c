/* SPDX-License-Identifier: GPL-2.0-only */
#include "user_names.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/memory.h"
#include "metric/nearest.h"

enum {
	PASSWD_BYTES_MAX = 64 << 20,
	ASKED_AT_ONCE = 64, /* users in one call of getent */
	NAME_BYTES_MAX = 256,
};

/* What the services have to answer a call of getent; after one that did not, how long they are let alone. */
#define SERVICE_PATIENCE_NS (3 * NS_PER_S)
#define SERVICE_REST_NS     (60 * NS_PER_S)

/* What is known of a user. */
struct user {
	uint32_t uid;
	bool answered;
	char *name; /* NULL for none */
};

static struct {
	pthread_mutex_t lock;
	pthread_cond_t asked, answered; /* by the monotonic clock */
	bool started;                   /* the thread that looks names up */
	struct user *users;
	size_t count, capacity;
	struct hash_map index; /* of users, by id */
	size_t waiting;        /* of them, that are not answered */
	unsigned int generation;
	const char *passwd, *program;
} names = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.passwd = "/etc/passwd",
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

/* What is done with each line. */
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

/* Reads the file; an empty text where there is none. */
static void read_passwd(struct buffer *text)
{
	if (names.passwd == NULL || file_read(AT_FDCWD, names.passwd, text, PASSWD_BYTES_MAX) < 0)
		buffer_clear(text);
}

/* --- getent(1) --- */

static const char *find_program(void)
{
	static const char *const paths[] = {"/usr/bin/getent", "/bin/getent"};

	if (names.program != NULL)
		return names.program;
	for (size_t i = 0; i < ARRAY_COUNT(paths); i++) {
		if (access(paths[i], X_OK) == 0)
			return paths[i];
	}
	return NULL;
}

static int start_program(char *const *arguments, int output, pid_t *ret_pid)
{
	/* nothing of the caller's environment: it may have more rights than its user */
	static char path[] = "PATH=/usr/bin:/bin:/usr/sbin:/sbin", locale[] = "LC_ALL=C";
	static char *const environment[] = {path, locale, NULL};
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t none, all;
	int result;

	sigemptyset(&none);
	sigfillset(&all);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
	posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setflags(&attributes,
				 POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setsigdefault(&attributes, &all);
	/* a group of its own: Ctrl-C is for the screen */
	posix_spawnattr_setpgroup(&attributes, 0);
	result = posix_spawn(ret_pid, arguments[0], &actions, &attributes, arguments, environment);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attributes);
	return -result;
}

/* Reads until the end of the output. Returns 0, -ETIMEDOUT or another negative errno. */
static int read_output(int descriptor, uint64_t deadline_ns, struct buffer *text)
{
	for (;;) {
		const uint64_t now = clock_ns(CLOCK_MONOTONIC);
		struct pollfd end = {.fd = descriptor, .events = POLLIN};
		ssize_t count;

		if (now >= deadline_ns)
			return -ETIMEDOUT;
		if (poll(&end, 1, (int)((deadline_ns - now) / NS_PER_MS) + 1) <= 0)
			continue;
		buffer_reserve(text, 4096);
		count = read(descriptor, text->data + text->length, text->capacity - text->length - 1);
		if (count < 0 && errno == EINTR)
			continue;
		if (count <= 0)
			return count < 0 ? -errno : 0;
		text->length += (size_t)count;
		text->data[text->length] = '\0';
		if (text->length > PASSWD_BYTES_MAX)
			return -EFBIG;
	}
}

/* Asks for users by `keys`, numbers or names; what is not known is left out. Returns 0 or a negative errno.
 */
static int ask_services(char *const *keys, size_t count, uint64_t patience_ns, struct buffer *text)
{
	const uint64_t deadline_ns = clock_ns(CLOCK_MONOTONIC) + patience_ns;
	static char database[] = "passwd", end_of_options[] = "--";
	char *arguments[ASKED_AT_ONCE + 4] = {(char *)(uintptr_t)find_program(), database, end_of_options};
	struct child child;
	int ends[2], result;
	pid_t pid;

	if (arguments[0] == NULL)
		return -ENOENT;
	for (size_t i = 0; i < count; i++)
		arguments[3 + i] = keys[i];
	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	result = start_program(arguments, ends[1], &pid);
	close(ends[1]);
	if (result == 0) {
		child = child_adopt(pid);
		result = read_output(ends[0], deadline_ns, text);
		child_kill(&child);
		/* one that hangs in the kernel is not waited for */
		while (result != -ETIMEDOUT || clock_ns(CLOCK_MONOTONIC) < deadline_ns + NS_PER_S) {
			if (child_reap(&child, NULL))
				break;
			poll(NULL, 0, 1);
		}
		child_forget(&child);
	}
	close(ends[0]);
	return result;
}

/* --- looking up --- */

/* To be called with the lock. */
static void answer(struct user *user, const char *name, size_t length)
{
	if (user->answered)
		return;
	user->answered = true;
	user->name = name != NULL ? memory_duplicate_bytes(name, length) : NULL;
	names.waiting--;
	if (name != NULL)
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

/* Those of them that still have none, as texts for ask_services(); the caller frees them. */
static size_t make_keys(const uint32_t *uids, size_t count, char *keys[ASKED_AT_ONCE])
{
	size_t key_count = 0;
	uint32_t index;

	pthread_mutex_lock(&names.lock);
	for (size_t i = 0; i < count; i++) {
		if (hash_map_get(&names.index, uids[i], &index) && !names.users[index].answered)
			keys[key_count++] = memory_format("%u", uids[i]);
	}
	pthread_mutex_unlock(&names.lock);
	return key_count;
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

/* Looks up all that is waiting. `*rest_until_ns` is until when the services are let alone. */
static void look_up(uint64_t *rest_until_ns)
{
	struct buffer text = {0};
	char *keys[ASKED_AT_ONCE];
	uint32_t uids[ASKED_AT_ONCE];
	size_t count, key_count;

	while ((count = find_waiting(uids)) != 0) {
		read_passwd(&text);
		take_answers(&text);
		key_count = make_keys(uids, count, keys);
		buffer_clear(&text);
		if (key_count != 0 && clock_ns(CLOCK_MONOTONIC) >= *rest_until_ns &&
		    ask_services(keys, key_count, SERVICE_PATIENCE_NS, &text) == -ETIMEDOUT)
			*rest_until_ns = clock_ns(CLOCK_MONOTONIC) + SERVICE_REST_NS;
		take_answers(&text);
		give_up(uids, count);
		for (size_t i = 0; i < key_count; i++)
			free(keys[i]);
	}
	buffer_release(&text);
}

static void *run(void *context)
{
	uint64_t rest_until_ns = 0;

	(void)context;
	for (;;) {
		pthread_mutex_lock(&names.lock);
		while (names.waiting == 0) {
			pthread_cond_broadcast(&names.answered);
			pthread_cond_wait(&names.asked, &names.lock);
		}
		pthread_mutex_unlock(&names.lock);
		look_up(&rest_until_ns);
	}
	return NULL;
}

/* To be called with the lock. Without a thread there are numbers only. */
static void start(void)
{
	pthread_condattr_t monotonic;
	sigset_t all, before;
	pthread_t thread;

	names.started = true;
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&names.answered, &monotonic);
	pthread_cond_init(&names.asked, NULL);
	pthread_condattr_destroy(&monotonic);
	/* signals are for the others */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	if (pthread_create(&thread, NULL, run, NULL) == 0)
		pthread_detach(thread);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

const char *user_name(uint32_t uid)
{
	const char *name = NULL;
	uint32_t index;

	if (uid == USER_UNKNOWN)
		return NULL;
	pthread_mutex_lock(&names.lock);
	if (hash_map_get(&names.index, uid, &index)) {
		name = names.users[index].name;
	} else {
		hash_map_set(&names.index, uid, (uint32_t)names.count);
		*MEMORY_APPEND(names.users, names.count, names.capacity) = (struct user){.uid = uid};
		if (names.waiting++ == 0) {
			if (!names.started)
				start();
			pthread_cond_signal(&names.asked);
		}
	}
	pthread_mutex_unlock(&names.lock);
	return name;
}

bool user_names_hold(const char *hostname)
{
	struct utsname host;

	return hostname != NULL && uname(&host) == 0 && strcmp(hostname, host.nodename) == 0;
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

static bool parse_number(const char *text, uint32_t *ret_uid)
{
	char *end;
	unsigned long long number;

	if (!isdigit((unsigned char)*text))
		return false;
	errno = 0;
	number = strtoull(text, &end, 10);
	if (errno != 0 || *end != '\0' || number >= USER_UNKNOWN)
		return false;
	*ret_uid = (uint32_t)number;
	return true;
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
	char *keys[] = {(char *)(uintptr_t)name};
	int result = 0;

	read_passwd(&text);
	take_lines(&text, take_match, &search);
	/* a user may be called by a number: its name counts first */
	if (!search.found)
		search.found = parse_number(name, &search.uid);
	if (!search.found && *name != '\0' && strlen(name) <= NAME_BYTES_MAX) {
		buffer_clear(&text);
		result = ask_services(keys, 1, patience_ns, &text);
		take_lines(&text, take_match, &search);
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

void user_names_set_sources(const char *passwd, const char *program)
{
	pthread_mutex_lock(&names.lock);
	names.passwd = passwd;
	names.program = program;
	for (size_t i = 0; i < names.count; i++)
		free(names.users[i].name);
	names.count = names.waiting = 0;
	hash_map_clear(&names.index);
	pthread_mutex_unlock(&names.lock);
}
