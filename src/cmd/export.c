/* SPDX-License-Identifier: GPL-2.0-only */
/* `ctop export`: groups of threads for Prometheus. */
#include <errno.h>
#include <mntent.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "cmd/export/exporter.h"
#include "cmd/export/listener.h"
#include "cmd/export/server.h"
#include "cmd/line/privilege.h"
#include "cmd/line/reading_options.h"
#include "cmd/line/signals.h"
#include "commands.h"
#include "table/view.h"

struct command_options {
	const char *listen;
	const char *textfile;
	bool is_public;
	double interval; /* seconds */
	uint64_t rounds;
	const char *group_by;
	uint64_t limit;
	double keep; /* minutes */
	const char *columns;
	const char *filter;
	bool keep_thread_names, keep_cgroup_names;
	struct option_texts flatten;
	struct option_numbers scope;
	bool latency;
	struct backend_options backend;
	struct root_options roots;
};

static void set_defaults(void *untyped)
{
	struct command_options *options = untyped;

	options->interval = 5;
	options->group_by = "process,cgroup";
	options->limit = EXPORT_LIMIT_DEFAULT;
	options->keep = (double)(EXPORT_KEEP_DEFAULT_NS / (60 * NS_PER_S));
}

static void list_axes(struct buffer *buffer)
{
	for (size_t i = 0; i < AXIS_COUNT; i++) {
		if (export_has_axis((enum axis)i))
			buffer_append_format(buffer, "%s\n", axes[i].word);
	}
}

static const struct option option_list[] = {
	{OPTION('l', "listen", "WHERE", struct command_options, listen),
	 .description = "ADDRESS:PORT, the address as a number ([::1] in brackets; none: all of this host), "
			"or unix:PATH; default " LISTENER_DEFAULT},
	{OPTION('\0', "textfile", "FILE", struct command_options, textfile),
	 .description = "write each round to this file for the textfile collector of node_exporter, and do "
			"not listen unless --listen says so too"},
	{OPTION('\0', "public", NULL, struct command_options, is_public),
	 .description = "let all who can connect, or read the file, see what /proc shows only to a process's "
			"owner (I/O, PSS, waits), and what hidepid hides; where others can reach it, answer "
			"under any "
			"name of this host. Without it only a unix:PATH socket without --textfile has that"},
	{OPTION('d', "interval", "TIME", struct command_options, interval), .unit = "s", .minimum = 0.1,
	 .maximum = 3600, .description = "time between two rounds, independent of scrapes; default 5"},
	{OPTION('n', NULL, "N", struct command_options, rounds), .minimum = 1, .maximum = 1e15,
	 .description = "end after this many rounds"},
	{OPTION('g', "group-by", "AXES", struct command_options, group_by), .list = list_axes,
	 .description =
		 "groupings to export: process, cgroup, container, thread, thread-exact, user, host, with "
		 "commas between; default process,cgroup"},
	{OPTION('\0', "limit", "N", struct command_options, limit), .minimum = 0, .maximum = 10000,
	 .description = "groups of an axis that have series of their own, those that do most; the others are "
			"(other) together; default 200"},
	{OPTION('\0', "keep", "TIME", struct command_options, keep), .unit = "min", .minimum = 1,
	 .maximum = 10080,
	 .description = "how long a group keeps its series after its last thread has ended; default 60"},
	{OPTION('\0', "columns", "LIST", struct command_options, columns),
	 .description = "export these columns of the screen and no others, with commas between; +NAME adds "
			"to the default"},
	{OPTION('f', "filter", "FILTER", struct command_options, filter),
	 .description = "count only threads that match, as in 'cgroup = /system*'"},
	{OPTION('\0', "cgroup-flatten", "GLOB", struct command_options, flatten),
	 .description = "cgroups whose whole path matches are one group ('/system.slice/*' is all below it); "
			"may be repeated, the first match counts"},
	{OPTION('\0', "no-thread-normalize", NULL, struct command_options, keep_thread_names),
	 .description = "keep process and thread names as they are"},
	{OPTION('\0', "no-cg-normalize", NULL, struct command_options, keep_cgroup_names),
	 .description = "keep cgroup paths as they are"},
	{OPTION('p', "pid", "PID", struct command_options, scope), .minimum = 1, .maximum = 2147483647,
	 .description = "read only these processes: 1,2; may be repeated"},
	{OPTION('\0', "latency", NULL, struct command_options, latency),
	 .description =
		 "measure too who runs while groups wait for a CPU: ctop_delayed_seconds_total, of at most "
		 "--limit pairs of an axis (by BPF, as root; about 0.11 us of CPU time for each wakeup and "
		 "each switch of the host); not with --filter"},
};

static const struct option_table own_table = {"Export", option_list, ARRAY_COUNT(option_list)};

static const struct option_table_use tables[] = {
	{&own_table, 0},
	{&backend_option_table, offsetof(struct command_options, backend)},
	{&root_option_table, offsetof(struct command_options, roots)},
};

struct running {
	const struct command_options *options;
	struct exporter *exporter;
	struct listener listener;
	struct server *server; /* NULL: nothing listens */
	struct signals signals;
};

/* Serves until all rounds are there (0) or a signal ends it (its number), or returns a negative errno with a
 * sentence. */
static int serve(const struct running *running, struct error *error)
{
	struct pollfd waits[] = {
		{.fd = running->signals.descriptor, .events = POLLIN},
		{.fd = exporter_done_descriptor(running->exporter), .events = POLLIN},
		{.fd = running->server != NULL ? server_descriptor(running->server) : -1, .events = POLLIN},
	};

	while (true) {
		const uint64_t next = running->server != NULL ? server_serve(running->server) : UINT64_MAX;
		const uint64_t now = clock_ns(CLOCK_MONOTONIC);
		const struct timespec left = clock_timespec(next > now ? next - now : 0);
		int signal;

		if (ppoll(waits, ARRAY_COUNT(waits), next != UINT64_MAX ? &left : NULL, NULL) < 0) {
			if (errno == EINTR)
				continue;
			return error_set(error, -errno, "cannot wait for requests: %s", strerror(errno));
		}
		signal = (waits[0].revents & POLLIN) != 0 ? signals_take(&running->signals) : 0;
		if (signal != 0)
			return signal;
		if ((waits[1].revents & POLLIN) != 0)
			return 0;
	}
}

/* Says where it listens, and what that means when others can reach it. */
static void note_listener(const struct listener *listener, bool for_all)
{
	command_note("serving %s%s", listener->words,
		     !for_all                 ? ""
		     : listener->path != NULL ? ", without I/O, as the file has none: all users may read that"
					      : ", without I/O: all users of this host may read it");
	if (listener->is_open)
		command_note(
			"others can reach this address and read names of processes and cgroups: let only a "
			"reverse proxy with TLS and a password do so (ctop(1), EXPORT)");
}

static bool listens(const struct command_options *options)
{
	return options->listen != NULL || options->textfile == NULL;
}

/* Whether all users of this host can read what is exported, and nobody has said that they may read all of it:
 * the file has mode 0644, for node_exporter. */
static bool is_for_all(const struct command_options *options)
{
	return !options->is_public &&
	       (options->textfile != NULL || options->listen == NULL || !listener_has_owner(options->listen));
}

/* Whether procfs hides the processes of others (hidepid in proc(5)). */
static bool hides_processes(const char *proc)
{
	FILE *mounts = setmntent("/proc/self/mounts", "re");
	char *place = realpath(proc, NULL);
	const struct mntent *mount;
	bool hides = false;

	if (mounts == NULL || place == NULL) {
		free(place);
		if (mounts != NULL)
			endmntent(mounts);
		return false;
	}
	/* of mounts at one place, the last */
	while ((mount = getmntent(mounts)) != NULL) {
		if (strcmp(mount->mnt_dir, place) == 0)
			hides = hasmntopt(mount, "hidepid") != NULL;
	}
	endmntent(mounts);
	free(place);
	return hides;
}

static int check_hidden(const struct command_options *options, struct error *error)
{
	const char *proc = options->roots.roots[ROOT_PROC] != NULL ? options->roots.roots[ROOT_PROC]
								   : "/proc";

	if (!is_for_all(options) || !hides_processes(proc))
		return 0;
	return error_set(
		error, -EPERM,
		"%s is mounted with hidepid=, and all users of this host could read what it hides; listen "
		"on unix:PATH, or say --public",
		proc);
}

static int make_export(const struct command_options *options, struct export_options *export,
		       struct error *error)
{
	int result = export_parse_axes(options->group_by, export, error);

	export->limit = options->limit;
	export->keep_ns = (uint64_t)(options->keep * 60) * NS_PER_S;
	export->view.grouping = (struct grouping_options){
		.keep_thread_names = options->keep_thread_names,
		.keep_cgroup_names = options->keep_cgroup_names,
		.flatten = options->flatten.items,
		.flatten_count = options->flatten.count,
	};
	if (result == 0 && options->filter != NULL) {
		export->view.filter = filter_parse(options->filter, error);
		result = export->view.filter == NULL
				 ? -EINVAL
				 : export_check_filter(export->view.filter, options->latency, error);
	}
	return result < 0 ? result
			  : export_family_choose(options->columns, is_for_all(options), &export->families,
						 error);
}

/* -EINVAL: what --listen says is no place to listen at. */
static int open_listener(struct running *running, struct error *error)
{
	const struct command_options *options = running->options;
	const int result = check_hidden(options, error);

	if (result < 0 || !listens(options))
		return result;
	return server_is_built ? listener_open(options->listen != NULL ? options->listen : LISTENER_DEFAULT,
					       &running->listener, error)
			       : server_start(-1, false, NULL, &running->server, error);
}

/* Opens the other output, then the capture, so that an error of either is reported at once. */
static int start(struct running *running, const struct exporter_options *exporter, struct error *error)
{
	const struct command_options *options = running->options;
	int result = signals_catch(&running->signals, error);

	if (result == 0)
		result = exporter_start(exporter, &running->exporter, error);
	if (result < 0)
		return result;
	privilege_renounce();
	if (options->textfile != NULL)
		result = exporter_start_file(running->exporter, options->textfile, error);
	if (result == 0 && listens(options)) {
		const struct listener *listener = &running->listener;
		const bool any_host = listener->path != NULL || (listener->is_open && options->is_public);

		result = server_start(listener->descriptor, any_host, running->exporter, &running->server,
				      error);
	}
	if (result == 0 && listens(options))
		note_listener(&running->listener, is_for_all(options));
	return result;
}

/* Ends what runs; false where a thread hangs and was left behind. A file that is kept and lacks the last
 * round is a failure. */
static bool stop(struct running *running, bool keeps_file, int *status)
{
	bool is_failing = false;
	bool ended = true;

	server_stop(running->server);
	listener_close(&running->listener);
	if (running->exporter != NULL)
		ended = exporter_stop(running->exporter, keeps_file, &is_failing);
	if (is_failing && keeps_file)
		*status = COMMAND_FAILED;
	return ended;
}

static int export_run(void *untyped, char **operands, int operand_count)
{
	const struct command_options *options = untyped;
	struct exporter_options exporter = {
		.capture = reading_options_capture(&options->scope, &options->backend, &options->roots),
		.interval_ns = (uint64_t)(options->interval * (double)NS_PER_S),
		.rounds = options->rounds,
	};
	struct running running = {
		.options = options, .listener = {.descriptor = -1}, .signals.descriptor = -1};
	int status = COMMAND_DONE, result;
	struct error error;
	bool is_misused, is_done, ended;

	(void)operands;
	(void)operand_count;
	view_initialise(&exporter.export.view);
	if (make_export(options, &exporter.export, &error) < 0) {
		view_release(&exporter.export.view);
		return command_misused(&export_command, &error);
	}
	exporter.capture.latency = options->latency;
	result = open_listener(&running, &error);
	is_misused = result == -EINVAL;
	if (result == 0)
		result = start(&running, &exporter, &error);
	if (result == 0)
		result = serve(&running, &error);
	is_done = result == 0;
	if (result < 0) {
		status = is_misused ? command_misused(&export_command, &error) : command_failed(&error);
	} else if (is_done && exporter_failure(running.exporter) != NULL) {
		command_note("%s", exporter_failure(running.exporter));
		status = COMMAND_FAILED;
	}
	ended = stop(&running, is_done, &status);
	/* a thread that did not end in time still uses the view */
	if (ended)
		view_release(&exporter.export.view);
	signals_restore(&running.signals);
	if (result > 0 && result != SIGTERM)
		status = signals_end(result, &error);
	if (!ended)
		_exit(status);
	return status;
}

const struct command export_command = {
	.name = "export",
	.summary = "serve groups of threads to Prometheus or node_exporter",
	.purpose = COMMAND_SERVES,
	.usage = "[OPTION]...",
	.details = "Rounds are taken at an interval of their own, and each scrape is answered from the "
		   "newest one. Counters begin with 0 when ctop starts and never fall when threads end. All "
		   "users "
		   "of the host may connect to its addresses, the loopback address too, and read names of "
		   "processes and cgroups: what /proc tells only a process's owner is left out there. "
		   "A socket at unix:PATH has all of it, for its group. ctop leaves TLS and passwords to a "
		   "reverse proxy.",
	.tables = tables,
	.table_count = ARRAY_COUNT(tables),
	.options_size = sizeof(struct command_options),
	.set_defaults = set_defaults,
	.run = export_run,
};
