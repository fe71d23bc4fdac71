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

/* A thread, on its own stack. */
struct thread {
	struct thread *next;
	clockid_t clock;
	bool must_finish; /* the task that it works on */
};

struct tasks {
	pthread_mutex_t lock;
	pthread_cond_t changed; /* something that the lock guards */
	/* Everything below is guarded by the lock. */
	struct thread *threads; /* that run */
	unsigned int starting;  /* and those that are about to */
	unsigned int idle;      /* threads that wait for a task */
	struct task *waiting;   /* in the order of their start */
	size_t waiting_count, waiting_capacity;
	bool stop;
};

struct tasks *tasks_create(void)
{
	struct tasks *tasks = memory_allocate_zero(1, sizeof(*tasks));

	pthread_mutex_init(&tasks->lock, NULL);
	worker_initialise_condition(&tasks->changed);
	return tasks;
}

static struct task remove_task(struct tasks *tasks, size_t place)
{
	const struct task task = tasks->waiting[place];

	tasks->waiting_count--;
	for (size_t i = place; i < tasks->waiting_count; i++)
		tasks->waiting[i] = tasks->waiting[i + 1];
	return task;
}

/* Waits for a task; false where the thread is not needed any more. Called with the lock held. */
static bool take_task(struct tasks *tasks, struct task *ret_task)
{
	while (tasks->waiting_count == 0) {
		if (tasks->stop || tasks->idle != 0)
			return false;
		tasks->idle++;
		pthread_cond_wait(&tasks->changed, &tasks->lock);
		tasks->idle--;
	}
	*ret_task = remove_task(tasks, 0);
	return true;
}

static void *work(void *argument)
{
	struct tasks *tasks = argument;
	struct thread own = {.next = NULL}, **place;
	struct task task;

	pthread_getcpuclockid(pthread_self(), &own.clock);
	pthread_mutex_lock(&tasks->lock);
	tasks->starting--;
	own.next = tasks->threads;
	tasks->threads = &own;
	while (take_task(tasks, &task)) {
		own.must_finish = task.must_finish;
		pthread_mutex_unlock(&tasks->lock);
		task.run(task.argument);
		pthread_mutex_lock(&tasks->lock);
		own.must_finish = false;
		pthread_cond_broadcast(&tasks->changed);
	}
	place = &tasks->threads;
	while (*place != &own)
		place = &(*place)->next;
	*place = own.next;
	pthread_cond_broadcast(&tasks->changed);
	pthread_mutex_unlock(&tasks->lock);
	return NULL;
}

int tasks_start(struct tasks *tasks, struct task task)
{
	int result = 0;

	pthread_mutex_lock(&tasks->lock);
	*MEMORY_APPEND(tasks->waiting, tasks->waiting_count, tasks->waiting_capacity) = task;
	if (tasks->idle + tasks->starting < tasks->waiting_count) {
		result = worker_start(NULL, work, tasks);
		if (result == 0)
			tasks->starting++;
		else
			(void)remove_task(tasks, tasks->waiting_count - 1);
	}
	pthread_cond_broadcast(&tasks->changed);
	pthread_mutex_unlock(&tasks->lock);
	return result;
}

/* Whether a task is under way, or waits, that must finish. `*ret_work_ns`: CPU time of those threads. */
static bool is_finishing(const struct tasks *tasks, uint64_t *ret_work_ns)
{
	bool finishing = false;

	*ret_work_ns = 0;
	for (size_t i = 0; i < tasks->waiting_count; i++)
		finishing |= tasks->waiting[i].must_finish;
	for (const struct thread *thread = tasks->threads; thread != NULL; thread = thread->next) {
		if (thread->must_finish)
			*ret_work_ns += clock_ns(thread->clock);
		finishing |= thread->must_finish;
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
	tasks->stop = true;
	pthread_cond_broadcast(&tasks->changed);
	while ((tasks->threads != NULL || tasks->starting != 0) && clock_ns(CLOCK_MONOTONIC) < deadline_ns)
		wait_for_change(tasks, deadline_ns);
	ended = tasks->threads == NULL && tasks->starting == 0;
	pthread_mutex_unlock(&tasks->lock);
	return ended;
}

void tasks_release(struct tasks *tasks)
{
	if (tasks == NULL)
		return;
	pthread_cond_destroy(&tasks->changed);
	pthread_mutex_destroy(&tasks->lock);
	free(tasks->waiting);
	free(tasks);
}
