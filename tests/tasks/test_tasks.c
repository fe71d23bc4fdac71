/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What people open ctop for, asked of real programs: at 80x24, each answered within five keys. How long the
 * answer took is printed, from the first key on; only that it comes is tested.
 */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../cmocka_include.h"
#include "../needs.h"
#include "../measure.h"
#include "../system/harness.h"
#include "../ui/pty_screen.h"
#include "../wait.h"

enum {
	KEYS_MAX = 5,
	PROGRAMS_MAX = 8,
	NOBODY = 65534,
};

/* --- programs --- */

static pid_t programs[PROGRAMS_MAX];
static size_t program_count;

static char *format(char text[static 512], const char *words, ...)
{
	va_list arguments;

	va_start(arguments, words);
	vsnprintf(text, 512, words, arguments);
	va_end(arguments);
	return text;
}

/* In the child: it ends with the test, and says nothing. */
static void become_program(unsigned int user)
{
	const int null = open("/dev/null", O_RDWR);

	setrlimit(RLIMIT_CORE, &(struct rlimit){0});
	prctl(PR_SET_PDEATHSIG, SIGQUIT);
	setpgid(0, 0);
	for (int i = 0; i < 3; i++)
		dup2(null, i);
	if (user != 0 && (setgid(user) != 0 || setuid(user) != 0))
		_exit(126);
}

/* Starts a command of the shell, which is to exec(): its process id. */
static pid_t start(unsigned int user, const char *command)
{
	const pid_t child = fork();

	assert_true(child >= 0);
	if (child == 0) {
		become_program(user);
		execl("/bin/sh", "sh", "-c", command, (char *)NULL);
		_exit(127);
	}
	setpgid(child, child);
	assert_true(program_count < PROGRAMS_MAX);
	programs[program_count++] = child;
	return child;
}

static int end_programs(void **state)
{
	(void)state;
	while (program_count != 0) {
		const pid_t child = programs[--program_count];

		/* at which PostgreSQL ends its own; SIGKILL would leave them */
		kill(child, SIGQUIT);
		wait_until(waitpid(child, NULL, WNOHANG) != 0);
		kill(-child, SIGKILL);
	}
	return 0;
}

static bool runs_well(const char *command)
{
	return system(command) == 0;
}

static void need(const char *program)
{
	char command[512];

	if (!runs_well(format(command, "command -v %s >/dev/null 2>&1", program)))
		skip_test("%s", format(command, "there is no %s here", program));
}

/* A copy of the shell of that name, which is what the process is called. */
static const char *shell_named(const char *name)
{
	char command[512];
	const char *path = scratch_path(name);

	assert_true(runs_well(format(command, "cp /bin/sh '%s'", path)));
	return path;
}

/* --- tasks --- */

static struct timespec begun;
static size_t keys_pressed;

/* The screen at 80x24, with numbers; `filter` as on the command line, NULL for none. */
static void start_filtered(struct pty_screen *pty, const char *filter)
{
	const char *const arguments[] = {CTOP_PROGRAM,         "-d",   "0.5", "--no-config",
					 filter ? "-f" : NULL, filter, NULL};

	pty_start(pty, &(struct pty_options){.rows = 24, .columns = 80}, arguments);
	pty_wait_text(pty, "every 0.5s  rate");
	pty_wait_text(pty, " threads in ");
	clock_gettime(CLOCK_MONOTONIC, &begun);
	keys_pressed = 0;
}

static void start_ctop(struct pty_screen *pty)
{
	start_filtered(pty, NULL);
}

static void press(struct pty_screen *pty, const char *keys)
{
	keys_pressed += strlen(keys);
	pty_type(pty, keys);
}

static void finish(struct pty_screen *pty, const char *task)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	print_message("%s: %zu keys, %.1f s\n", task, keys_pressed,
		      (double)(now.tv_sec - begun.tv_sec) + (double)(now.tv_nsec - begun.tv_nsec) / 1e9);
	assert_true(keys_pressed <= KEYS_MAX);
	pty_quit(pty);
}

/* Whether a row has both texts, the first before the second: a condition. */
struct row_texts {
	const char *first, *second;
};

static bool has_row(struct pty_screen *pty, const void *context)
{
	const struct row_texts *texts = context;

	for (int row = 0; row < pty->rows; row++) {
		const char *first = strstr(pty_row(pty, row), texts->first);

		if (first != NULL && strstr(first, texts->second) != NULL)
			return true;
	}
	return false;
}

static void wait_row(struct pty_screen *pty, const char *first, const char *second)
{
	pty_wait(pty, has_row, &(struct row_texts){first, second}, second);
}

/* Three threads want one CPU. */
static void start_hogs(void)
{
	const char *hog = shell_named("hog"), *victim = shell_named("victim");
	char command[512];

	for (int i = 0; i < 2; i++)
		start(0, format(command, "exec taskset -c 0 %s -c 'while :; do :; done'", hog));
	start(0, format(command, "exec taskset -c 0 nice -n 5 %s -c 'while :; do :; done'", victim));
}

static void test_who_waits_for_a_cpu(void **state)
{
	struct pty_screen pty;

	(void)state;
	start_hogs();
	start_ctop(&pty);
	pty_wait_text(&pty, " hog ");
	pty_wait_text(&pty, "waits for a CPU: ");
	finish(&pty, "who waits for a CPU");
}

/* Condition for pty_wait(): the cursor is in a row other than `*context`. */
static bool has_moved(struct pty_screen *pty, const void *context)
{
	const int row = pty_selected_row(pty);

	return row >= 0 && row != *(const int *)context;
}

/*
 * Moves the cursor to the row with `name`. On a busy host other rows wait more and come first; their order
 * stays the same while the cursor moves. pty_type() does not count these keys, because on a quiet host the
 * row is the first one and needs none.
 */
static void select_row(struct pty_screen *pty, const char *name)
{
	int row = -1, wanted;

	pty_wait_text(pty, name);
	press(pty, "f");
	pty_wait_text(pty, "order kept (f)");
	do {
		pty_wait(pty, has_moved, &row, "the cursor is in another row");
		pty_drain(pty, 100); /* let the rest of the frame arrive */
		row = pty_selected_row(pty);
		wanted = pty_find(pty, name, NULL);
		if (row != wanted)
			pty_type(pty, row < wanted ? "j" : "k");
	} while (row != wanted);
}

static void test_who_takes_my_cpu(void **state)
{
	struct pty_screen pty;

	(void)state;
	need_feature("latency");
	/* the loads of tests that measure would fill the list */
	measure_waits_alone();
	start_hogs();
	start_filtered(&pty, "vict");
	press(&pty, "l");
	pty_wait_text(&pty, "DELAYED BY");
	/* the page opens on the row under the cursor, which on a busy host is ctop's own */
	select_row(&pty, " victim ");
	press(&pty, "w");
	wait_row(&pty, "victim", "hog");
	finish(&pty, "who takes my CPU");
	measure_waits_beside_others();
}

static void test_who_is_stuck(void **state)
{
	struct worker worker;
	struct pty_screen pty;

	(void)state;
	test_worker_start(&worker, (const char *[]){"--process", "vforker", "vfork=parent", NULL});
	worker_go(&worker, false);
	start_ctop(&pty);
	press(&pty, "L");
	pty_wait_text(&pty, "WAITED%v");
	select_row(&pty, " vforker ");
	pty_wait_text(&pty, " in D ");
	finish(&pty, "who is stuck, and in what");
	worker_end(&worker);
}

static void test_who_allocates(void **state)
{
	const char *socket = scratch_path("redis");
	char command[512];
	struct pty_screen pty;

	(void)state;
	need("redis-server");
	need("redis-benchmark");
	start(0, format(command, "exec redis-server --port 0 --unixsocket %s --save ''", socket));
	await("redis to listen", access(socket, F_OK) == 0);
	start(0, format(command, "exec redis-benchmark -s %s -t set -n 100000000 -r 100000 -d 500", socket));
	start_ctop(&pty);
	press(&pty, "8");
	pty_wait_text(&pty, "ALLOC/sv");
	pty_wait_text(&pty, " redis-server ");
	finish(&pty, "who allocates memory");
}

static void start_writer(char command[static 512])
{
	/* one process: of many short ones an ordinary user is told nothing */
	start(0, format(command, "exec dd if=/dev/zero of=%s bs=4K oflag=dsync status=none",
			scratch_path("written")));
}

static void test_who_writes(void **state)
{
	char command[512];
	struct pty_screen pty;

	(void)state;
	start_writer(command);
	start_ctop(&pty);
	press(&pty, "6");
	pty_wait_text(&pty, "RW/sv");
	pty_wait_text(&pty, " dd ");
	finish(&pty, "who writes to the disk");
}

static void test_how_busy_is_the_disk(void **state)
{
	char command[512];
	struct pty_screen pty;

	(void)state;
	if (!runs_well("grep -qE ' (sd|vd|xvd|nvme)' /proc/diskstats"))
		skip_test("this host has no disk");
	start_writer(command);
	start_ctop(&pty);
	press(&pty, "%");
	wait_row(&pty, "disk ", "% ");
	finish(&pty, "how busy is the disk");
}

/* The directory of the newest PostgreSQL's programs. */
static const char *find_postgres(void)
{
	static char path[256];
	glob_t found = {0};

	if (glob("/usr/lib/postgresql/*/bin", 0, NULL, &found) == 0)
		snprintf(path, sizeof(path), "%s", found.gl_pathv[found.gl_pathc - 1]);
	globfree(&found);
	return path[0] != '\0' ? path : NULL;
}

static void run_query(const char *bin, const char *directory, const char *query)
{
	char command[512];

	start(NOBODY, format(command, "exec %s/psql -X -h %s -d postgres -c \"%s\"", bin, directory, query));
}

static void test_which_backend(void **state)
{
	const char *bin = find_postgres(), *directory = scratch_path("postgres");
	char command[512];
	struct pty_screen pty;

	(void)state;
	if (bin == NULL)
		skip_test("there is no PostgreSQL here");
	need_to_become_nobody(); /* it does not run as root */
	assert_true(runs_well(format(command, "install -d -o %d -m 700 %s", NOBODY, directory)));
	assert_true(runs_well(format(command,
				     "setpriv --reuid=%d --regid=%d --clear-groups %s/initdb -N -A trust "
				     "-U nobody -D %s/data >/dev/null",
				     NOBODY, NOBODY, bin, directory)));
	start(NOBODY, format(command, "exec %s/postgres -D %s/data -k %s -c listen_addresses='' -c fsync=off",
			     bin, directory, directory));
	/* its socket is there before it takes clients */
	format(command, "%s/pg_isready -q -h %s", bin, directory);
	await("PostgreSQL to be ready", runs_well(command));
	run_query(bin, directory, "SELECT pg_sleep(600)");
	run_query(bin, directory, "DO 'BEGIN LOOP END LOOP; END'");
	start_ctop(&pty);
	press(&pty, "gpi\r");
	/* before it the user and the database, where there is room */
	pty_wait_text(&pty, " [local] DO");
	finish(&pty, "which backend of PostgreSQL works, and on what");
}

/* Asks nginx for its page again and again. */
static void ask_forever(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	for (;;) {
		static const char request[] = "GET / HTTP/1.0\r\n\r\n";
		const int socket_fd = socket(AF_UNIX, SOCK_STREAM, 0);
		char answer[4096];

		if (connect(socket_fd, (struct sockaddr *)&address, sizeof(address)) == 0 &&
		    write(socket_fd, request, sizeof(request) - 1) > 0) {
			while (read(socket_fd, answer, sizeof(answer)) > 0)
				;
		}
		close(socket_fd);
	}
}

static void start_client(const char *path)
{
	const pid_t child = fork();

	assert_true(child >= 0);
	if (child == 0) {
		become_program(0);
		ask_forever(path);
	}
	setpgid(child, child);
	programs[program_count++] = child;
}

static void test_which_worker(void **state)
{
	const char *configuration = scratch_path("nginx.conf"), *socket = scratch_path("nginx");
	char command[512], text[2048];
	struct pty_screen pty;

	(void)state;
	if (access("/usr/sbin/nginx", X_OK) != 0)
		skip_test("there is no nginx here");
	/* nginx makes these directories, by default where root alone may */
	snprintf(text, sizeof(text),
		 "daemon off; user root; worker_processes 2; pid %1$s.pid; error_log /dev/null; events {}\n"
		 "http { access_log off; client_body_temp_path %1$s.body; proxy_temp_path %1$s.proxy;\n"
		 "fastcgi_temp_path %1$s.fastcgi; uwsgi_temp_path %1$s.uwsgi; scgi_temp_path %1$s.scgi;\n"
		 "server { listen unix:%2$s; location / { return 200 'well'; } } }\n",
		 configuration, socket);
	write_file(configuration, text, strlen(text));
	start(0, format(command, "exec /usr/sbin/nginx -c %s", configuration));
	await("nginx to listen", access(socket, F_OK) == 0);
	start_client(socket);
	start_ctop(&pty);
	press(&pty, "gpi\r");
	pty_wait_text(&pty, "nginx: worker process");
	finish(&pty, "which worker of nginx works");
}

/* What ctop did not show before is new since then. */
static void test_what_began(void **state)
{
	char command[512];
	struct pty_screen pty;

	(void)state;
	start_ctop(&pty);
	press(&pty, "b");
	start(0, format(command, "exec %s -c 'while :; do :; done'", shell_named("lately")));
	pty_wait_text(&pty, " lately ");
	finish(&pty, "who used the CPU since then");
}

/* --- containers --- */

static char parent[320];

static void start_in(const char *cgroup)
{
	char command[512], path[512];

	assert_int_equal(mkdir(format(path, "%s/%s", parent, cgroup), 0755), 0);
	start(0, format(command, "echo $$ >%s/cgroup.procs && exec sh -c 'while :; do :; done'", path));
}

static int end_containers(void **state)
{
	char path[512];

	end_programs(state);
	if (parent[0] == '\0')
		return 0;
	await("the cgroup of Docker to be empty",
	      rmdir(format(path, "%s/docker-" DOCKER_ID ".scope", parent)) == 0);
	await("the cgroup of the pod to be empty", rmdir(format(path, "%s/" POD_ID, parent)) == 0);
	return rmdir(parent);
}

static void test_which_container(void **state)
{
	char mounted[256];
	struct pty_screen pty;

	(void)state;
	if (!find_cgroup2(mounted))
		skip_test("no cgroup (v2) here");
	if (!write_container_states())
		skip_test("needs CAP_SYS_ADMIN to mount");
	snprintf(parent, sizeof(parent), "%s/ctop-tasks-%d", mounted, (int)getpid());
	if (mkdir(parent, 0755) != 0) {
		parent[0] = '\0';
		skip_test("no cgroup can be made here");
	}
	start_in("docker-" DOCKER_ID ".scope");
	start_in(POD_ID);
	start_ctop(&pty);
	press(&pty, "gco\r");
	pty_wait_text(&pty, "shop-web-1");
	pty_wait_text(&pty, "shop/cart-0/app");
	finish(&pty, "which container uses the CPU");
}

#define TASK(test) cmocka_unit_test_teardown(test, end_programs)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TASK(test_who_waits_for_a_cpu),
		TASK(test_who_takes_my_cpu),
		TASK(test_who_is_stuck),
		TASK(test_who_allocates),
		TASK(test_who_writes),
		TASK(test_how_busy_is_the_disk),
		TASK(test_which_backend),
		TASK(test_which_worker),
		TASK(test_what_began),
		cmocka_unit_test_teardown(test_which_container,
					  end_containers), /* others see no /run after it */
	};

	pty_need();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
