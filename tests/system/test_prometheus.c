/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * `ctop export` under Prometheus: it scrapes two of them, in both formats; rates agree with what a
 * load says of itself; rules and the dashboard find what they ask for. `--long`: at the intervals that people
 * use, over a longer time.
 */
#include <arpa/inet.h>
#include <dirent.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../cmocka_include.h"
#include "../needs.h"
#include "../measure.h"
#include "../wait.h"
#include "base/clock.h"
#include "scrape.h"

enum {
	STEADY_PERCENT = 30,
	LOG_PERIOD_US = 5000,
	LOG_MAX = 60000, /* for five minutes */
	STEADY_PAUSE_US = 5000,
	SHORT_PERIOD_US = 200000,
	SHORT_RUN_US = 40000,
};

/* The scrape interval of Prometheus, and the time over which rates are compared, in seconds. */
static const char *scrape_interval = "200ms";
static unsigned int window_s = 6;

/* --- programs --- */

/* The path of a program, or NULL. */
static const char *find_program(const char *name)
{
	static char path[4][256];
	static size_t next;
	static const char *const places[] = {"/usr/bin", "/usr/local/bin", "/bin"};
	char *found = path[next++ % 4];

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		snprintf(found, sizeof(path[0]), "%s/%s", places[i], name);
		if (access(found, X_OK) == 0)
			return found;
	}
	return NULL;
}

static const char *need_program(const char *name)
{
	const char *path = find_program(name);
	char reason[128];

	snprintf(reason, sizeof(reason), "%s is not installed", name);
	if (path == NULL)
		skip_test("%s", reason);
	return path;
}

static void expect_success(const struct run_options *options, const char *const *arguments)
{
	struct run run;

	run_program(&run, options, arguments);
	run_expect(&run, 0);
	run_release(&run);
}

static void test_rules(void **state)
{
	const char *promtool = need_program("promtool");

	(void)state;
	expect_success(&(struct run_options){0},
		       (const char *[]){promtool, "check", "rules",
					DATA_DIRECTORY "/prometheus/ctop.rules.yml", NULL});
	expect_success(&(struct run_options){0},
		       (const char *[]){promtool, "test", "rules",
					DATA_DIRECTORY "/prometheus/ctop.rules.test.yml", NULL});
}

/* The file written for node_exporter. */
static void test_file(void **state)
{
	const char *promtool = need_program("promtool"), *path = scratch_path("ctop.prom");
	struct run run;

	(void)state;
	run_ctop_well(&run, (const char *[]){"export", "--textfile", path, "-n", "2", "-d", "0.2", NULL});
	run_release(&run);
	run_program(&run, &(struct run_options){.input = path},
		    (const char *[]){promtool, "check", "metrics", NULL});
	run_expect(&run, 0);
	assert_string_equal(run.errors, "");
	assert_string_equal(run.output, "");
	run_release(&run);
}

/* --- a load that knows what it used --- */

/* The CPU time of all its threads at a time, those that ended too. */
struct usage {
	uint64_t cpu_ns, at_unix_ns;
};

/* The load's own count, in memory that it shares. */
struct usage_log {
	atomic_size_t count;
	struct usage entries[LOG_MAX]; /* LOG_PERIOD_US apart */
};

struct load {
	pid_t child;
	struct usage_log *log;
};

/* Uses CPU time until this thread has had so much of it. */
static void burn_until(uint64_t cpu_ns)
{
	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < cpu_ns)
		;
}

/* A constant share, on a busy host too: it makes up for what it could not have. */
static void *run_steady(void *argument)
{
	const uint64_t begun_ns = clock_ns(CLOCK_MONOTONIC);

	(void)argument;
	while (true) {
		burn_until((clock_ns(CLOCK_MONOTONIC) - begun_ns) * STEADY_PERCENT / 100);
		usleep(STEADY_PAUSE_US);
	}
	return NULL;
}

static void *run_short(void *argument)
{
	(void)argument;
	burn_until(SHORT_RUN_US * NS_PER_US);
	return NULL;
}

/* Starts threads that end again, so many in each time. */
static void *run_starter(void *argument)
{
	const uint64_t begun_ns = clock_ns(CLOCK_MONOTONIC);

	(void)argument;
	for (uint64_t started = 0;;) {
		pthread_t thread;

		if (started * SHORT_PERIOD_US * NS_PER_US <= clock_ns(CLOCK_MONOTONIC) - begun_ns &&
		    pthread_create(&thread, NULL, run_short, NULL) == 0) {
			pthread_detach(thread);
			started++;
		}
		usleep(STEADY_PAUSE_US);
	}
	return NULL;
}

static _Noreturn void run_load(struct usage_log *log, bool with_short)
{
	pthread_t thread;
	size_t count = 0;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "ctop-burn");
	pthread_create(&thread, NULL, run_steady, NULL);
	if (with_short)
		pthread_create(&thread, NULL, run_starter, NULL);
	while (true) {
		struct rusage usage;
		struct usage told = {.at_unix_ns = clock_ns(CLOCK_REALTIME)};

		getrusage(RUSAGE_SELF, &usage);
		told.cpu_ns = (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * NS_PER_S +
			      (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * NS_PER_US;
		if (count < LOG_MAX)
			log->entries[count++] = told;
		atomic_store(&log->count, count);
		usleep(LOG_PERIOD_US);
	}
}

static void load_begin(struct load *load, bool with_short)
{
	load->log = mmap(NULL, sizeof(*load->log), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(load->log, MAP_FAILED);
	load->child = fork();
	assert_true(load->child >= 0);
	if (load->child == 0)
		run_load(load->log, with_short);
}

static void load_end(struct load *load)
{
	kill(load->child, SIGKILL);
	waitpid(load->child, NULL, 0);
	munmap(load->log, sizeof(*load->log));
}

/* The CPU time that it had used by a time that it has logged, in seconds. */
static double usage_at(const struct load *load, double unix_s)
{
	const struct usage *log = load->log->entries;
	const size_t count = atomic_load(&load->log->count);

	for (size_t i = 1; i < count; i++) {
		const double before_s = (double)log[i - 1].at_unix_ns / 1e9,
			     after_s = (double)log[i].at_unix_ns / 1e9;
		const double before = (double)log[i - 1].cpu_ns / 1e9, after = (double)log[i].cpu_ns / 1e9;

		if (before_s <= unix_s && unix_s <= after_s)
			return before + (after - before) * (unix_s - before_s) / (after_s - before_s);
	}
	fail_msg("the load says nothing of %f", unix_s);
	return NAN;
}

/* --- Prometheus --- */

struct prometheus {
	struct running running;
	char url[64];
	const char *promtool;
};

/* Whether the process has a socket of that inode. */
static bool has_socket(pid_t process, const char *inode)
{
	char path[64], wanted[64], target[64];
	struct dirent *entry;
	bool found = false;
	DIR *directory;

	snprintf(path, sizeof(path), "/proc/%d/fd", process);
	snprintf(wanted, sizeof(wanted), "socket:[%s]", inode);
	directory = opendir(path);
	while (directory != NULL && !found && (entry = readdir(directory)) != NULL) {
		const ssize_t length = readlinkat(dirfd(directory), entry->d_name, target,
						  sizeof(target) - 1);

		target[length > 0 ? length : 0] = '\0';
		found = strcmp(target, wanted) == 0;
	}
	if (directory != NULL)
		closedir(directory);
	return found;
}

/* The port that a process listens on in IPv4, 0 for none (proc_net_tcp.rst of the kernel). */
static unsigned int find_port(pid_t process)
{
	FILE *file = fopen("/proc/net/tcp", "re");
	unsigned int port, state, found = 0;
	char line[512], inode[32];

	while (found == 0 && fgets(line, sizeof(line), file) != NULL) {
		if (sscanf(line, " %*d: %*x:%x %*x:%*x %x %*x:%*x %*x:%*x %*x %*d %*d %31s", &port, &state,
			   inode) == 3 &&
		    state == 0x0a && has_socket(process, inode))
			found = port;
	}
	fclose(file);
	return found;
}

/* Whether it answers queries: it listens before it has opened its storage, and answers 503 until then. */
static bool is_ready(const struct prometheus *prometheus)
{
	struct run run;
	bool ready;

	run_program(&run, &(struct run_options){0},
		    (const char *[]){prometheus->promtool, "query", "instant", prometheus->url, "1", NULL});
	ready = run.status == 0;
	run_release(&run);
	return ready;
}

static void prometheus_begin(struct prometheus *prometheus, const char *first, const char *second)
{
	static const struct run_options ordinary;
	const char *program = need_program("prometheus");
	char config[4096], config_option[512], storage_option[512];
	unsigned int port;

	prometheus->promtool = need_program("promtool");
	snprintf(config, sizeof(config),
		 "global:\n  scrape_interval: %s\n  scrape_timeout: %s\n  evaluation_interval: 1s\n"
		 "rule_files: ['%s/prometheus/ctop.rules.yml']\n"
		 "scrape_configs:\n- job_name: ctop\n  static_configs:\n  - targets: ['%s', '%s']\n",
		 scrape_interval, scrape_interval, DATA_DIRECTORY, first, second);
	write_file(scratch_path("prometheus.yml"), config, strlen(config));
	snprintf(config_option, sizeof(config_option), "--config.file=%s", scratch_path("prometheus.yml"));
	snprintf(storage_option, sizeof(storage_option), "--storage.tsdb.path=%s", scratch_path("tsdb"));
	run_start(&prometheus->running, &ordinary,
		  (const char *[]){program, config_option, storage_option, "--web.listen-address=127.0.0.1:0",
				   NULL});
	await("Prometheus listens", (port = find_port(prometheus->running.child)) != 0);
	snprintf(prometheus->url, sizeof(prometheus->url), "http://127.0.0.1:%u", port);
	await("Prometheus is ready", is_ready(prometheus));
}

static void prometheus_end(struct prometheus *prometheus)
{
	struct run run;

	kill(prometheus->running.child, SIGTERM);
	run_finish(&prometheus->running, &run, &(struct run_options){0});
	run_release(&run);
}

/* The number of series in a query's answer, and the value of the first. */
static size_t query(const struct prometheus *prometheus, const char *expression, const char *at,
		    double *ret_value)
{
	char time_option[64];
	const char *arguments[] = {prometheus->promtool, "query", "instant", prometheus->url,
				   expression,           NULL,    NULL};
	struct run run;
	size_t count = 0;

	*ret_value = NAN;
	snprintf(time_option, sizeof(time_option), "--time=%s", at != NULL ? at : "");
	if (at != NULL)
		arguments[5] = time_option;
	run_program(&run, &(struct run_options){0}, arguments);
	if (run.status == 0) {
		for (const char *found = run.output; (found = strstr(found, " => ")) != NULL; found += 4) {
			if (count++ == 0)
				*ret_value = strtod(found + 4, NULL);
		}
	} else {
		fail_msg("%s: %s%s", expression, run.errors, run.output);
	}
	run_release(&run);
	return count;
}

/*
 * Asks until an answer has so many series. A scrape that took longer than it may takes all series of its
 * target away until the next one.
 */
static void await_series(const struct prometheus *prometheus, const char *expression, size_t least,
			 size_t most)
{
	double value;
	size_t count;

	if (!wait_until(
		    (count = query(prometheus, expression, NULL, &value), least <= count && count <= most)))
		fail_msg("%s has %zu series, not %zu to %zu", expression, count, least, most);
}

/* Asks until the value is at least `least`. */
static void await_value(const struct prometheus *prometheus, const char *expression, double least)
{
	double value = NAN;

	if (!wait_until((query(prometheus, expression, NULL, &value), value >= least)))
		fail_msg("%s is %.3f, not %.3f", expression, value, least);
}

/* --- the dashboard --- */

/* Replaces what Grafana does; the caller frees it. */
static char *fill_in(const char *expression)
{
	static const char *const variables[][2] = {
		{"$__rate_interval", "10s"}, {"$axis", "process"}, {"$group", ".*"}, {"$instance", ".*"}};
	char *text = strdup(expression);

	for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
		char *found;

		while ((found = strstr(text, variables[i][0])) != NULL) {
			char *longer = malloc(strlen(text) + 32);

			sprintf(longer, "%.*s%s%s", (int)(found - text), text, variables[i][1],
				found + strlen(variables[i][0]));
			free(text);
			text = longer;
		}
	}
	return text;
}

struct dashboard {
	const struct prometheus *prometheus;
	bool has_delays, knows_ends;
	size_t asked, excused;
};

/* Why there may be no answer on this host; NULL where there has to be one. */
static const char *find_excuse(const struct dashboard *dashboard, const char *expression)
{
	if (!dashboard->has_delays &&
	    (strstr(expression, "block_io_wait") != NULL || strstr(expression, "reclaim_wait") != NULL))
		return "delay accounting is off here";
	if (!dashboard->knows_ends && strstr(expression, "ended_threads") != NULL)
		return "nobody tells of threads that end here";
	return NULL;
}

static void ask_dashboard(struct dashboard *dashboard, const char *expression)
{
	char *text = fill_in(expression);
	const char *excuse = find_excuse(dashboard, text);
	double value;

	dashboard->asked++;
	if (excuse == NULL) {
		await_series(dashboard->prometheus, text, 1, SIZE_MAX);
	} else if (query(dashboard->prometheus, text, NULL, &value) == 0) {
		/* a wait that is under way may give a series all the same, until it ends */
		print_message("nothing, since %s: %s\n", excuse, text);
		dashboard->excused++;
	}
	free(text);
}

/* The selector in "label_values(SELECTOR, LABEL)". */
static void ask_variable(struct dashboard *dashboard, const char *words)
{
	const char *begin = strchr(words, '('), *end = strrchr(words, ',');
	char selector[512];

	assert_true(begin != NULL && end != NULL);
	snprintf(selector, sizeof(selector), "%.*s", (int)(end - begin - 1), begin + 1);
	ask_dashboard(dashboard, selector);
}

static void ask_panels(struct dashboard *dashboard)
{
	size_t length;
	char *text = read_file(DATA_DIRECTORY "/grafana/ctop.json", &length), problem[256];
	yajl_val tree = yajl_tree_parse(text, problem, sizeof(problem)), panels, variables;

	if (tree == NULL)
		fail_msg("%s", problem);
	panels = json_member(tree, "panels");
	for (size_t i = 0; i < panels->u.array.len; i++) {
		yajl_val targets = json_member(panels->u.array.values[i], "targets");

		for (size_t k = 0; targets != NULL && k < targets->u.array.len; k++)
			ask_dashboard(dashboard, json_text(targets->u.array.values[k], "expr"));
	}
	variables = json_member(json_member(tree, "templating"), "list");
	for (size_t i = 0; i < variables->u.array.len; i++) {
		yajl_val words = json_member(variables->u.array.values[i], "query");

		if (YAJL_IS_OBJECT(words))
			ask_variable(dashboard, json_text(words, "query"));
	}
	yajl_tree_free(tree);
	free(text);
}

/* --- */

static void check_metrics(const struct prometheus *prometheus, const struct exporter *exporter)
{
	char *page = exporter_scrape(exporter, false);
	struct run run;

	write_file(scratch_path("page"), page, strlen(page));
	run_program(&run, &(struct run_options){.input = scratch_path("page")},
		    (const char *[]){prometheus->promtool, "check", "metrics", NULL});
	run_expect(&run, 0);
	assert_string_equal(run.errors, "");
	assert_string_equal(run.output, "");
	run_release(&run);
	free(page);
}

/* It asked for OpenMetrics, and understood it: units are in that format alone. */
static void check_format(const struct prometheus *prometheus)
{
	struct exporter api = {.where = ""};
	char *answer;
	int connection;

	snprintf(api.where, sizeof(api.where), "%s", prometheus->url + strlen("http://"));
	connection = exporter_connect(&api);
	answer = exporter_ask(
		connection,
		"GET /api/v1/targets/metadata?metric=ctop_group_run_seconds&limit=1 HTTP/1.1\r\n"
		"Host: a\r\n\r\n",
		true);
	assert_non_null(answer);
	assert_non_null(strstr(answer, "\"type\":\"counter\""));
	assert_non_null(strstr(answer, "\"unit\":\"seconds\""));
	free(answer);
	close(connection);
}

/* The first and the last sample of a series in the window that ends at `at`. */
struct samples {
	double first, first_s, last, last_s;
	size_t count;
};

static struct samples find_samples(const struct prometheus *prometheus, const char *series, const char *at)
{
	struct samples samples = {.count = 0};
	char expression[256], time_option[64];
	struct run run;
	char *line, *rest;

	snprintf(expression, sizeof(expression), "%s[%us]", series, window_s);
	snprintf(time_option, sizeof(time_option), "--time=%s", at);
	run_program(&run, &(struct run_options){0},
		    (const char *[]){prometheus->promtool, "query", "instant", prometheus->url, expression,
				     time_option, NULL});
	run_expect(&run, 0);
	rest = run.output;
	while ((line = strsep(&rest, "\n")) != NULL) {
		double value, time_s;

		if (sscanf(line, "%lf @[%lf]", &value, &time_s) != 2)
			continue;
		if (samples.count++ == 0) {
			samples.first = value;
			samples.first_s = time_s;
		}
		samples.last = value;
		samples.last_s = time_s;
	}
	run_release(&run);
	assert_true(samples.count >= 2);
	return samples;
}

/*
 * rate() of the load's CPU time over a window against what the load says of itself between the rounds from
 * which the first and the last sample of the window come: when they were scraped is a matter of the machine.
 * Whether a round or the load's own reading was interrupted for long is, too.
 */
static void compare_rates(const struct prometheus *prometheus, const struct exporter *exporter,
			  const struct load *load)
{
	static const char series[] = "ctop_group_run_seconds_total{axis=\"process\",group=\"ctop-burn\"}";
	char rounds_of[256], expression[512], at[32];

	snprintf(rounds_of, sizeof(rounds_of), "ctop_round_timestamp_seconds{instance=\"%s\"}",
		 exporter->where);
	for (struct measurement measurement = {0}; measure_again(&measurement);) {
		double end_s, told, rate;
		struct samples samples, rounds;

		sleep(window_s); /* over which both count */
		end_s = (double)clock_ns(CLOCK_REALTIME) / 1e9;
		/* samples have the times at which their scrapes began, and are there in this order */
		snprintf(expression, sizeof(expression), "timestamp(%s)", rounds_of);
		await_value(prometheus, expression, end_s);
		snprintf(at, sizeof(at), "%.3f", end_s);
		snprintf(expression, sizeof(expression), "rate(%s[%us])", series, window_s);
		assert_int_equal(query(prometheus, expression, at, &rate), 1);
		samples = find_samples(prometheus, series, at);
		rounds = find_samples(prometheus, rounds_of, at);
		assert_int_equal(samples.count, rounds.count);
		told = (usage_at(load, rounds.last) - usage_at(load, rounds.first)) /
		       (samples.last_s - samples.first_s);
		print_message("%s: %.5f CPUs, by the load's getrusage(2) %.5f: %+.2f %%, %zu samples\n",
			      expression, rate, told, (rate / told - 1) * 100, samples.count);
		measure_between(&measurement, "rate() by what the load says", rate / told, 0.98, 1.02);
	}
}

static void test_scrapes(void **state)
{
	static const char *const recorded[] = {"axis_group:ctop_group_run_seconds:rate5m",
					       "axis_group:ctop_group_run_queue_wait:share_rate5m",
					       "group:ctop_group_run_seconds:sum_rate5m",
					       "axis:ctop_group_run_seconds:sum_rate5m"};
	struct exporter first, second;
	struct prometheus prometheus;
	struct dashboard dashboard = {.prometheus = &prometheus};
	struct load load;
	double value;
	char *page;

	(void)state;
	need_program("prometheus");
	need_program("promtool");
	exporter_begin(&first, NULL,
		       (const char *[]){"--listen", "127.0.0.1:0", "-d", "0.25", "--public", NULL});
	exporter_begin(&second, NULL,
		       (const char *[]){"--listen", "127.0.0.1:0", "-d", "1", "-g", "thread,user", "--limit",
					"3", NULL});
	page = exporter_scrape_for(&first, "ctop_group_threads{axis=\"process\"");
	dashboard.knows_ends = page_value(page, "ctop_feature_on{feature=\"exits\"}") == 1;
	dashboard.has_delays = page_value(page, "ctop_source_read_threads{source=\"delays\"}") > 0;
	free(page);
	if (!dashboard.knows_ends)
		print_message("threads that end are not watched here: the load has none\n");
	load_begin(&load, dashboard.knows_ends);
	prometheus_begin(&prometheus, first.where, second.where);
	await_value(&prometheus, "sum(up{job=\"ctop\"})", 2);
	await_value(&prometheus,
		    "count_over_time(ctop_group_run_seconds_total{axis=\"process\",group=\"ctop-burn\"}[1m])",
		    5);
	compare_rates(&prometheus, &first, &load);

	/* both are there, each with its own */
	await_series(&prometheus, "count by (instance) (ctop_build_info)", 2, 2);
	await_series(&prometheus, "ctop_group_threads{axis=\"thread\"}", 1, 4);
	await_series(&prometheus, "ctop_group_run_seconds_total{axis=\"thread\",group=\"(other)\"}", 1, 1);
	await_series(&prometheus, "ctop_groups_folded{axis=\"thread\"} > 0", 1, 1);
	/* no sample was refused, nor doubled */
	assert_int_equal(query(&prometheus,
			       "sum(scrape_samples_scraped - scrape_samples_post_metric_relabeling)", NULL,
			       &value),
			 1);
	assert_true(value == 0);
	for (size_t i = 0; i < sizeof(recorded) / sizeof(recorded[0]); i++)
		await_series(&prometheus, recorded[i], 1, SIZE_MAX);
	check_format(&prometheus);
	check_metrics(&prometheus, &first);
	check_metrics(&prometheus, &second);
	ask_panels(&dashboard);
	print_message("%zu queries of the dashboard, %zu excused\n", dashboard.asked, dashboard.excused);
	assert_true(dashboard.asked > 25);
	prometheus_end(&prometheus);
	load_end(&load);
	exporter_end(&first);
	exporter_end(&second);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rules),
		cmocka_unit_test(test_file),
		cmocka_unit_test(test_scrapes),
	};
	const struct CMUnitTest long_tests[] = {cmocka_unit_test(test_scrapes)};

	if (argc > 1 && strcmp(argv[1], "--long") == 0) {
		scrape_interval = "1s";
		window_s = 40;
		return cmocka_run_group_tests_name("Prometheus", long_tests, NULL, NULL);
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
