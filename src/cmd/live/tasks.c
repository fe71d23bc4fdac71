/* SPDX-License-Identifier: GPL-2.0-only */
#include "tasks.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/worker.h"

/* How long the end waits for tasks that must finish: in all, and while no thread uses CPU time for them. */
#define FINISH_PATIENCE_NS (10 * NS_PER_S)
#define IDLE_PATIENCE_NS   (700 * NS_PER_MS)
/* The least CPU time since the last look that counts as work. */
#define WORK_NS NS_PER_MS

struct thread {
	struct thread *next;
	struct tasks *tasks;
	struct task task;
	clockid_t clock; /* of its CPU time */
};

struct tasks {
	pthread_mutex_t lock;
	pthread_cond_t changed; /* something that the lock guards */
	struct thread *threads; /* that are under way; guarded by the lock */
};

struct tasks *tasks_create(void)
{
	struct tasks *tasks = memory_allocate_zero(1, sizeof(*tasks));

	pthread_mutex_init(&tasks->lock, NULL);
	worker_initialise_condition(&tasks->changed);
	return tasks;
}

/* Called with the lock held. */
static void forget(struct tasks *tasks, struct thread *thread)
{
	struct thread **place = &tasks->threads;

	while (*place != thread)
		place = &(*place)->next;
	*place = thread->next;
	free(thread);
}

static void *work(void *argument)
{
	struct thread *thread = argument;
	struct tasks *tasks = thread->tasks;

	thread->task.run(thread->task.argument);
	pthread_mutex_lock(&tasks->lock);
	forget(tasks, thread);
	pthread_cond_broadcast(&tasks->changed);
	pthread_mutex_unlock(&tasks->lock);
	return NULL;
}

int tasks_start(struct tasks *tasks, struct task task)
{
	struct thread *thread = memory_allocate(sizeof(*thread));
	pthread_t id;
	int result;

	pthread_mutex_lock(&tasks->lock);
	*thread = (struct thread){.next = tasks->threads, .tasks = tasks, .task = task};
	tasks->threads = thread;
	result = worker_start(&id, work, thread);
	if (result == 0) {
		/* it cannot end meanwhile: that takes the lock */
		pthread_getcpuclockid(id, &thread->clock);
		pthread_detach(id);
	} else {
		forget(tasks, thread);
	}
	pthread_mutex_unlock(&tasks->lock);
	return result;
}

/* Whether a task is under way that must finish. `*ret_work_ns`: CPU time of the threads of those. */
static bool is_finishing(const struct tasks *tasks, uint64_t *ret_work_ns)
{
	bool finishing = false;

	*ret_work_ns = 0;
	for (const struct thread *thread = tasks->threads; thread != NULL; thread = thread->next) {
		if (thread->task.must_finish)
			*ret_work_ns += clock_ns(thread->clock);
		finishing |= thread->task.must_finish;
	}
	return finishing;
}

/* Called and returns with the lock held, as the next one. */
static void wait_for_change(struct tasks *tasks, uint64_t until_ns)
{
	const struct timespec until = clock_timespec(until_ns);

	pthread_cond_timedwait(&tasks->changed, &tasks->lock, &until);
}

void tasks_finish(struct tasks *tasks)
{
	const uint64_t begun = clock_ns(CLOCK_MONOTONIC);
	uint64_t now = begun, moved = begun, work_ns = 0, work_now;

	pthread_mutex_lock(&tasks->lock);
	while (is_finishing(tasks, &work_now) && now - begun < FINISH_PATIENCE_NS &&
	       now - moved < IDLE_PATIENCE_NS) {
		if (work_now < work_ns || work_now - work_ns >= WORK_NS) {
			work_ns = work_now;
			moved = now;
		}
		wait_for_change(tasks, now + IDLE_PATIENCE_NS / 10);
		now = clock_ns(CLOCK_MONOTONIC);
	}
	pthread_mutex_unlock(&tasks->lock);
}

bool tasks_stop(struct tasks *tasks, uint64_t deadline_ns)
{
	bool ended;

	pthread_mutex_lock(&tasks->lock);
	while (tasks->threads != NULL && clock_ns(CLOCK_MONOTONIC) < deadline_ns)
		wait_for_change(tasks, deadline_ns);
	ended = tasks->threads == NULL;
	pthread_mutex_unlock(&tasks->lock);
	return ended;
}

void tasks_release(struct tasks *tasks)
{
	if (tasks == NULL)
		return;
	pthread_cond_destroy(&tasks->changed);
	pthread_mutex_destroy(&tasks->lock);
	free(tasks);
}
