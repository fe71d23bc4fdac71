/* SPDX-License-Identifier: GPL-2.0-only */
#include "exporter.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/worker.h"
#include "cmd/line/command.h"
#include "cmd/line/privilege.h"
#include "own_process.h"
#include "session/session.h"
#include "snapshot/user_names.h"

/* The second round comes soon, so that there is something to scrape. */
#define SECOND_ROUND_DELAY_NS NS_PER_S
#define OPEN_PATIENCE_NS      (5 * NS_PER_S)
#define END_PATIENCE_NS       NS_PER_S
/* How long a round waits for the names of users that nobody has asked for before. */
#define USER_PATIENCE_NS (500 * NS_PER_MS)
/* After how long without a round, beside three intervals, what was read last is not shown any more. */
#define STALE_NS (10 * NS_PER_S)

/* The groups as written last in a format. */
struct written {
	struct buffer text;
	uint64_t round; /* of which it is, 0: none */
	uint64_t write_ns;
};

struct exporter {
	struct exporter_options options;
	pthread_t thread;
	int done;             /* eventfd */
	atomic_bool cancel;   /* read by a capture under way */
	bool waits_for_names; /* groups are named after users */
	pthread_mutex_t lock;
	pthread_cond_t changed; /* something that the lock guards */

	/* Everything below is guarded by the lock. */
	struct export *export;
	struct written written[EXPOSITION_FORMAT_COUNT];
	bool is_open, stop, woken;
	int open_result;
	struct error error;
	uint64_t finished_ns; /* CLOCK_MONOTONIC, when the newest round was added */
	uint64_t rounds, failed_rounds, capture_cpu_ns;
};

/* --- the thread that captures --- */

static void announce_done(struct exporter *exporter)
{
	const uint64_t one = 1;

	if (write(exporter->done, &one, sizeof(one)) < 0 && errno != EAGAIN)
		abort();
}

/* What a round adds; once the users of new groups have their names, with those. */
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

static void note_failure(struct exporter *exporter, const struct error *error, bool *noted)
{
	pthread_mutex_lock(&exporter->lock);
	exporter->failed_rounds++;
	pthread_mutex_unlock(&exporter->lock);
	if (!*noted)
		command_note("a round could not be taken: %s", error->text);
	*noted = true;
}

/* Takes one and adds it; returns whether all are there now. */
static bool take_round(struct exporter *exporter, struct capture *capture, struct session *session,
		       bool *noted)
{
	struct capture_round_options options = {.only_needed = true};
	struct snapshot *snapshot;
	struct export_round *round;
	struct error error;
	const char *notice;
	bool is_done = false;
	int result;

	export_needs(exporter->export, &options.needed, &options.cgroup_records, &options.smaps);
	result = capture_round(capture, &options, &exporter->cancel, &snapshot, &error);
	notice = capture_take_notice(capture);
	if (notice != NULL)
		command_note("%s", notice);
	if (result < 0) {
		if (result != -ECANCELED)
			note_failure(exporter, &error, noted);
		return false;
	}
	*noted = false;
	session_add_round(session, snapshot);
	round = make_round(exporter, session);
	pthread_mutex_lock(&exporter->lock);
	exporter->rounds++;
	if (round != NULL) {
		export_add(exporter->export, round);
		exporter->finished_ns = clock_ns(CLOCK_MONOTONIC);
		is_done = export_round_count(exporter->export) == exporter->options.rounds;
	}
	exporter->capture_cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	pthread_cond_broadcast(&exporter->changed);
	pthread_mutex_unlock(&exporter->lock);
	export_round_release(round);
	return is_done;
}

/* Waits until the clock shows `deadline_ns`; false at the end. */
static bool wait_until(struct exporter *exporter, struct capture *capture, uint64_t deadline_ns)
{
	bool goes_on;

	pthread_mutex_lock(&exporter->lock);
	while (!exporter->stop && clock_ns(CLOCK_MONOTONIC) < deadline_ns) {
		uint64_t next;
		struct timespec until;

		pthread_mutex_unlock(&exporter->lock);
		next = capture_serve_ended(capture);
		pthread_mutex_lock(&exporter->lock);
		if (exporter->stop)
			break;
		until = clock_timespec(next < deadline_ns ? next : deadline_ns);
		pthread_cond_timedwait(&exporter->changed, &exporter->lock, &until);
	}
	goes_on = !exporter->stop;
	pthread_mutex_unlock(&exporter->lock);
	return goes_on;
}

static void run_rounds(struct exporter *exporter, struct capture *capture)
{
	const uint64_t interval_ns = exporter->options.interval_ns;
	struct session *session = session_create();
	uint64_t deadline_ns = clock_ns(CLOCK_MONOTONIC);
	bool noted = false, is_first = true;

	do {
		uint64_t now;

		if (take_round(exporter, capture, session, &noted)) {
			announce_done(exporter);
			break;
		}
		now = clock_ns(CLOCK_MONOTONIC);
		deadline_ns += is_first && interval_ns > SECOND_ROUND_DELAY_NS ? SECOND_ROUND_DELAY_NS
									       : interval_ns;
		/* a round that takes longer than the interval delays the next one */
		if (deadline_ns < now || deadline_ns > now + interval_ns)
			deadline_ns = now + (is_first ? 0 : interval_ns);
		is_first = false;
	} while (wait_until(exporter, capture, deadline_ns));
	session_release(session);
}

static void *run(void *argument)
{
	struct exporter *exporter = argument;
	struct capture *capture;
	struct error error = {""};
	int result = privilege_open_capture(&exporter->options.capture, &capture, &error);

	pthread_mutex_lock(&exporter->lock);
	exporter->is_open = true;
	exporter->open_result = result;
	exporter->error = error;
	pthread_cond_broadcast(&exporter->changed);
	pthread_mutex_unlock(&exporter->lock);
	if (result < 0) {
		announce_done(exporter);
		return NULL;
	}
	run_rounds(exporter, capture);
	capture_close(capture);
	return NULL;
}

/* --- others --- */

static void release(struct exporter *exporter)
{
	for (size_t i = 0; i < EXPOSITION_FORMAT_COUNT; i++)
		buffer_release(&exporter->written[i].text);
	export_release(exporter->export);
	close(exporter->done);
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
	const struct timespec until = clock_timespec(clock_ns(CLOCK_MONOTONIC) + OPEN_PATIENCE_NS);
	int result = 0;

	exporter->options = *options;
	exporter->export = export_create(&options->export);
	exporter->waits_for_names = names_users(&options->export);
	exporter->done = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	pthread_mutex_init(&exporter->lock, NULL);
	worker_initialise_condition(&exporter->changed);
	exporter->finished_ns = clock_ns(CLOCK_MONOTONIC);
	result = exporter->done < 0 ? -errno : worker_start(&exporter->thread, run, exporter);
	if (result < 0) {
		release(exporter);
		return error_set(error, result, "cannot start a thread: %s", strerror(-result));
	}
	pthread_mutex_lock(&exporter->lock);
	while (!exporter->is_open && result == 0)
		result = -pthread_cond_timedwait(&exporter->changed, &exporter->lock, &until);
	result = exporter->open_result;
	if (result < 0)
		*error = exporter->error;
	pthread_mutex_unlock(&exporter->lock);
	if (result < 0)
		exporter_stop(exporter);
	else
		*ret_exporter = exporter;
	return result;
}

bool exporter_stop(struct exporter *exporter)
{
	atomic_store(&exporter->cancel, true);
	pthread_mutex_lock(&exporter->lock);
	exporter->stop = true;
	pthread_cond_broadcast(&exporter->changed);
	pthread_mutex_unlock(&exporter->lock);
	if (!worker_join(exporter->thread, clock_ns(CLOCK_MONOTONIC) + END_PATIENCE_NS))
		return false;
	release(exporter);
	return true;
}

int exporter_done_descriptor(const struct exporter *exporter)
{
	return exporter->done;
}

const char *exporter_failure(const struct exporter *exporter)
{
	return exporter->open_result < 0 ? exporter->error.text : NULL;
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

/* How long without a round until what was read last is not shown any more. */
static uint64_t stale_after_ns(const struct exporter *exporter)
{
	return 3 * exporter->options.interval_ns + STALE_NS;
}

void exporter_write(struct exporter *exporter, enum exposition_format format, struct export_health *health,
		    struct buffer *page)
{
	struct exposition exposition = {.buffer = page, .format = format};
	uint64_t age_ns;

	own_process_read(health);
	health->now_boottime_ns = clock_ns(CLOCK_BOOTTIME);
	pthread_mutex_lock(&exporter->lock);
	age_ns = clock_ns(CLOCK_MONOTONIC) - exporter->finished_ns;
	health->rounds = exporter->rounds;
	health->failed_rounds = exporter->failed_rounds;
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

bool exporter_wait(struct exporter *exporter, uint64_t *round)
{
	const uint64_t patience_ns = stale_after_ns(exporter), now = clock_ns(CLOCK_MONOTONIC);
	struct timespec until;
	bool is_due;
	int result = 0;

	pthread_mutex_lock(&exporter->lock);
	until = clock_timespec((exporter->finished_ns + patience_ns > now ? exporter->finished_ns : now) +
			       patience_ns + 1);
	while (!exporter->woken && export_round_count(exporter->export) == *round && result == 0)
		result = pthread_cond_timedwait(&exporter->changed, &exporter->lock, &until);
	is_due = !exporter->woken || export_round_count(exporter->export) != *round;
	*round = export_round_count(exporter->export);
	pthread_mutex_unlock(&exporter->lock);
	return is_due;
}

void exporter_wake(struct exporter *exporter)
{
	pthread_mutex_lock(&exporter->lock);
	exporter->woken = true;
	pthread_cond_broadcast(&exporter->changed);
	pthread_mutex_unlock(&exporter->lock);
}
