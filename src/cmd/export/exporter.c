/* SPDX-License-Identifier: GPL-2.0-only */
#include "exporter.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/queue.h"
#include "base/stat_file.h"
#include "base/worker.h"
#include "cmd/line/capture_loop.h"
#include "cmd/line/command.h"
#include "session/session.h"
#include "snapshot/user_names.h"

/* The second round comes soon, so that there is something to scrape. */
#define SECOND_ROUND_DELAY_NS NS_PER_S
#define OPEN_PATIENCE_NS      (5 * NS_PER_S)
#define END_PATIENCE_NS       NS_PER_S
#define FILE_END_PATIENCE_NS  (2 * NS_PER_S)
/* How long a round waits for the names of users that nobody has asked for before. */
#define USER_PATIENCE_NS (500 * NS_PER_MS)
/* Besides three intervals: without a round for so long, the last one is too old to be shown. */
#define STALE_NS (10 * NS_PER_S)

/* The groups as written last in a format. */
struct written {
	struct buffer text;
	uint64_t round; /* number of the round, 0: none */
	uint64_t write_ns;
};

struct exporter {
	struct exporter_options options;
	struct capture_loop *capture;
	struct queue *done;      /* an event comes after the last round; what it is does not matter */
	bool waits_for_names;    /* groups are named after users */
	struct session *session; /* these two belong to the thread that captures */
	bool failure_noted;
	char *failure;    /* why the capture could not be opened; set before `done` is readable */
	const char *path; /* of the file, as the user calls it; NULL: none is written */
	char *target;     /* where links lead from there: what is written is what is removed */
	pthread_t file_thread;
	bool is_failing; /* of that thread: the file could not be written, which was reported */
	pthread_mutex_t lock;
	pthread_cond_t changed; /* something that the lock guards */

	/* Everything below is guarded by the lock. */
	struct export *export;
	struct written written[EXPOSITION_FORMAT_COUNT];
	bool is_ending;
	uint64_t finished_ns;   /* CLOCK_BOOTTIME, when the newest round was added */
	uint64_t start_unix_ns; /* of this process: told once, lest it changes with the clock */
	uint64_t rounds, failed_rounds, file_failures, capture_cpu_ns;
};

/* --- the thread that captures --- */

/* Makes the numbers that a round adds, once more if names of users have come meanwhile. */
static struct export_round *make_round(const struct exporter *exporter, struct session *session)
{
	const unsigned int names_before = user_names_generation();
	struct export_round *round = export_round_create(exporter->export, session);

	if (round == NULL || !exporter->waits_for_names || !user_names_wait(USER_PATIENCE_NS) ||
	    user_names_generation() == names_before)
		return round;
	export_round_release(round);
	return export_round_create(exporter->export, session);
}

static void note_failure(struct exporter *exporter, const char *text)
{
	pthread_mutex_lock(&exporter->lock);
	exporter->failed_rounds++;
	pthread_mutex_unlock(&exporter->lock);
	if (!exporter->failure_noted)
		command_note("a round could not be taken: %s", text);
	exporter->failure_noted = true;
}

/* Adds a round; returns whether more are wanted. */
static bool add_round(struct exporter *exporter, struct snapshot *snapshot)
{
	struct export_round *round;
	bool is_done = false;

	exporter->failure_noted = false;
	session_add_round(exporter->session, snapshot);
	/* nothing is counted from a base: what ended since need not be kept */
	session_set_base(exporter->session);
	round = make_round(exporter, exporter->session);
	pthread_mutex_lock(&exporter->lock);
	exporter->rounds++;
	if (round != NULL) {
		export_add(exporter->export, round);
		exporter->finished_ns = clock_ns(CLOCK_BOOTTIME);
		is_done = export_round_count(exporter->export) == exporter->options.rounds;
	}
	exporter->capture_cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	pthread_cond_broadcast(&exporter->changed);
	pthread_mutex_unlock(&exporter->lock);
	export_round_release(round);
	return !is_done;
}

static bool take_event(void *context, const struct capture_event *event)
{
	struct exporter *exporter = context;
	bool goes_on = true;

	switch (event->kind) {
	case CAPTURE_ROUND:
		goes_on = add_round(exporter, event->snapshot);
		break;
	case CAPTURE_NO_ROUND:
		note_failure(exporter, event->text);
		break;
	case CAPTURE_NO_LATENCY:
		command_note("latency is not measured; `ctop doctor` says why");
		break;
	case CAPTURE_NOTICE:
		command_note("%s", event->text);
		break;
	case CAPTURE_NOT_OPEN:
		exporter->failure = memory_duplicate(event->text);
		goes_on = false;
		break;
	default:
		break;
	}
	free(event->text);
	if (!goes_on)
		queue_send(exporter->done, &(char){0});
	return goes_on;
}

/* --- others --- */

static void release(struct exporter *exporter)
{
	for (size_t i = 0; i < EXPOSITION_FORMAT_COUNT; i++)
		buffer_release(&exporter->written[i].text);
	capture_loop_release(exporter->capture);
	session_release(exporter->session);
	export_release(exporter->export);
	queue_release(exporter->done);
	free(exporter->failure);
	free(exporter->target);
	pthread_mutex_destroy(&exporter->lock);
	pthread_cond_destroy(&exporter->changed);
	free(exporter);
}

static bool names_users(const struct export_options *options)
{
	for (size_t i = 0; i < options->axis_count; i++) {
		if (options->axes[i] == AXIS_USER)
			return true;
	}
	return false;
}

int exporter_start(const struct exporter_options *options, struct exporter **ret_exporter,
		   struct error *error)
{
	struct exporter *exporter = memory_allocate_zero(1, sizeof(*exporter));
	struct capture_loop_options capture = {
		.capture = options->capture,
		.settings = {.interval_ns = options->interval_ns,
			     .latency = options->capture.latency,
			     .round.only_needed = true},
		.second_round_ns = options->interval_ns > SECOND_ROUND_DELAY_NS ? SECOND_ROUND_DELAY_NS : 0,
		.context = exporter,
		.send = take_event,
	};
	struct capture_round_options *round = &capture.settings.round;
	int result;

	exporter->options = *options;
	exporter->export = export_create(&options->export);
	exporter->session = session_create();
	exporter->waits_for_names = names_users(&options->export);
	pthread_mutex_init(&exporter->lock, NULL);
	worker_initialise_condition(&exporter->changed);
	exporter->finished_ns = clock_ns(CLOCK_BOOTTIME);
	export_needs(exporter->export, &round->needed, &round->cgroup_records, &round->smaps);
	result = queue_create(sizeof(char), NULL, &exporter->done, error);
	if (result == 0)
		result = capture_loop_start(&capture, OPEN_PATIENCE_NS, &exporter->capture, error);
	if (result < 0)
		release(exporter);
	else
		*ret_exporter = exporter;
	return result;
}

int exporter_done_descriptor(const struct exporter *exporter)
{
	return queue_descriptor(exporter->done);
}

const char *exporter_failure(const struct exporter *exporter)
{
	return exporter->failure;
}

/* The groups in a format, written when they are asked for the first time after a round. The lock is held. */
static const struct written *write_groups(struct exporter *exporter, enum exposition_format format)
{
	struct written *written = &exporter->written[format];
	struct exposition exposition = {.buffer = &written->text, .format = format};
	const uint64_t begun_ns = clock_ns(CLOCK_MONOTONIC), round = export_round_count(exporter->export);

	if (written->round == round)
		return written;
	buffer_clear(&written->text);
	export_write_groups(exporter->export, &exposition);
	exposition_release(&exposition);
	written->round = round;
	written->write_ns = clock_ns(CLOCK_MONOTONIC) - begun_ns;
	return written;
}

/* The age at which the last round is too old to be shown. */
static uint64_t stale_after_ns(const struct exporter *exporter)
{
	return 3 * exporter->options.interval_ns + STALE_NS;
}

static uint64_t read_field(const struct buffer *stat, int number)
{
	return strtoull(stat_file_field(stat, number), NULL, 10);
}

static uint64_t count_descriptors(void)
{
	DIR *directory = file_open_directory(AT_FDCWD, "/proc/self/fd");
	uint64_t count = 0;

	if (directory == NULL)
		return 0;
	while (readdir(directory) != NULL)
		count++;
	closedir(directory);
	return count > 3 ? count - 3 : 0; /* "." and "..", and the one of the directory itself */
}

/* Fills in the numbers of this process from /proc/self: CPU time, memory, descriptors, its start. When
 * something cannot be read, has_process stays false. */
static void read_own_process(struct export_health *health)
{
	struct buffer stat = {0};
	struct rlimit limit;
	uint64_t start_ns, boot_unix_ns;

	health->has_process = file_read(AT_FDCWD, "/proc/self/stat", &stat, STAT_FILE_BYTES_MAX) == 0 &&
			      getrlimit(RLIMIT_NOFILE, &limit) == 0;
	if (health->has_process) {
		start_ns = read_field(&stat, STAT_FILE_START_TIME) * NS_PER_TICK;
		boot_unix_ns = clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_BOOTTIME);
		health->cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
		health->virtual_bytes = read_field(&stat, STAT_FILE_VIRTUAL);
		health->resident_bytes = read_field(&stat, STAT_FILE_RESIDENT) *
					 (uint64_t)sysconf(_SC_PAGESIZE);
		health->start_unix_ns = boot_unix_ns + start_ns;
		health->open_fds = count_descriptors();
		health->max_fds = limit.rlim_cur;
	}
	buffer_release(&stat);
}

void exporter_write(struct exporter *exporter, enum exposition_format format, struct export_health *health,
		    struct buffer *page)
{
	struct exposition exposition = {.buffer = page, .format = format};
	uint64_t age_ns;

	read_own_process(health);
	pthread_mutex_lock(&exporter->lock);
	/* read with the lock held: a round that ends while this waits would seem to lie in the future */
	health->now_boottime_ns = clock_ns(CLOCK_BOOTTIME);
	if (exporter->start_unix_ns == 0)
		exporter->start_unix_ns = health->start_unix_ns;
	health->start_unix_ns = exporter->start_unix_ns;
	age_ns = health->now_boottime_ns - exporter->finished_ns;
	health->rounds = exporter->rounds;
	health->failed_rounds = exporter->failed_rounds;
	health->writes_file = exporter->path != NULL;
	health->file_failures = exporter->file_failures;
	health->capture_cpu_ns = exporter->capture_cpu_ns;
	health->stale = age_ns > stale_after_ns(exporter);
	if (!health->stale) {
		const struct written *written = write_groups(exporter, format);

		health->write_ns = written->write_ns;
		buffer_append(page, written->text.data, written->text.length);
	}
	export_write_health(exporter->export, health, &exposition);
	pthread_mutex_unlock(&exporter->lock);
	exposition_end(&exposition);
	exposition_release(&exposition);
}

/* --- the file --- */

/*
 * Waits until a page is due: at the first round after `*round`, which becomes that round's number. Without a
 * new round, a page is due when the last one is too old to be shown, and again after each such time, since
 * the page says its age. Returns false when the exporter ends.
 */
static bool wait_for_page(struct exporter *exporter, uint64_t *round)
{
	const uint64_t patience_ns = stale_after_ns(exporter);
	struct timespec until;
	uint64_t age_ns;
	bool is_due;
	int result = 0;

	pthread_mutex_lock(&exporter->lock);
	age_ns = clock_ns(CLOCK_BOOTTIME) - exporter->finished_ns;
	until = clock_timespec(clock_ns(CLOCK_MONOTONIC) + 1 +
			       (age_ns < patience_ns ? patience_ns - age_ns : patience_ns));
	while (!exporter->is_ending && export_round_count(exporter->export) == *round && result == 0)
		result = pthread_cond_timedwait(&exporter->changed, &exporter->lock, &until);
	is_due = !exporter->is_ending || export_round_count(exporter->export) != *round;
	*round = export_round_count(exporter->export);
	pthread_mutex_unlock(&exporter->lock);
	return is_due;
}

static int write_page(const struct exporter *exporter, const struct buffer *page, struct error *error)
{
	struct file_replacement replacement;
	int result = file_replacement_open(&replacement, exporter->target, 0644, true, error);

	if (result < 0)
		return result;
	/* node_exporter is another user, whatever the umask is; some file systems give all files one mode */
	(void)!fchmod(replacement.descriptor, 0644);
	result = file_write_all(replacement.descriptor, page->data, page->length);
	if (result == 0)
		return file_replacement_commit(&replacement, error);
	file_replacement_abandon(&replacement);
	return error_set(error, result, "cannot write %s: %s", exporter->path, strerror(-result));
}

/* Says once that it fails, and once that it works again. */
static void note_result(struct exporter *exporter, uint64_t round, int result, const struct error *error)
{
	if (result < 0) {
		pthread_mutex_lock(&exporter->lock);
		exporter->file_failures++;
		pthread_mutex_unlock(&exporter->lock);
		if (!exporter->is_failing)
			command_note("%s%s", error->text,
				     round == exporter->options.rounds ? "" : "; trying again each round");
	} else if (exporter->is_failing) {
		command_note("%s is written again", exporter->path);
	}
	exporter->is_failing = result < 0;
}

static void *write_pages(void *argument)
{
	struct exporter *exporter = argument;
	uint64_t round = 0;

	while (wait_for_page(exporter, &round)) {
		struct export_health health = {.own_names = true};
		struct buffer page = {0};
		struct error error;
		int result;

		exporter_write(exporter, EXPOSITION_TEXT, &health, &page);
		result = write_page(exporter, &page, &error);
		note_result(exporter, round, result, &error);
		buffer_release(&page);
	}
	return NULL;
}

int exporter_start_file(struct exporter *exporter, const char *path, struct error *error)
{
	const size_t length = strlen(path);
	struct file_replacement trial;
	int result = file_follow_links(path, &exporter->target, error);

	if (result == 0)
		result = file_replacement_open(&trial, exporter->target, 0644, true, error);
	if (result < 0)
		return result;
	file_replacement_abandon(&trial);
	if (length < 5 || strcmp(path + length - 5, ".prom") != 0)
		command_note("%s does not end in .prom, and node_exporter reads no other files", path);
	exporter->path = path;
	result = worker_start(&exporter->file_thread, write_pages, exporter);
	if (result < 0) {
		exporter->path = NULL;
		return error_set(error, result, "cannot start a thread: %s", strerror(-result));
	}
	return 0;
}

/* Returns false where its thread hangs. */
static bool stop_file(struct exporter *exporter, bool keeps_file)
{
	pthread_mutex_lock(&exporter->lock);
	exporter->is_ending = true;
	pthread_cond_broadcast(&exporter->changed);
	pthread_mutex_unlock(&exporter->lock);
	if (!worker_join(exporter->file_thread, clock_ns(CLOCK_MONOTONIC) + FILE_END_PATIENCE_NS))
		return false;
	if (!keeps_file)
		unlink(exporter->target);
	return true;
}

bool exporter_stop(struct exporter *exporter, bool keeps_file, bool *ret_is_failing)
{
	/* a thread that did not end in time still uses the exporter */
	if (exporter->path != NULL && !stop_file(exporter, keeps_file))
		return false;
	*ret_is_failing = exporter->is_failing;
	if (!capture_loop_stop(exporter->capture, clock_ns(CLOCK_MONOTONIC) + END_PATIENCE_NS))
		return false;
	release(exporter);
	return true;
}
