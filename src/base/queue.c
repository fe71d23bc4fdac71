/* SPDX-License-Identifier: GPL-2.0-only */
#include "queue.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "memory.h"

enum {
	TRIES = 3, /* to wake the receiver */
};

struct queue {
	size_t event_size;
	void (*discard)(void *event);
	int descriptor;
	pthread_mutex_t lock;
	/* Everything below is guarded by the lock. */
	size_t count;
	char *events; /* QUEUE_LENGTH places, the oldest first */
};

int queue_create(size_t event_size, void (*discard)(void *event), struct queue **ret_queue,
		 struct error *error)
{
	const int descriptor = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	struct queue *queue;

	if (descriptor < 0)
		return error_set(error, -errno, "cannot create an event descriptor: %s", strerror(errno));
	queue = memory_allocate_zero(1, sizeof(*queue));
	queue->event_size = event_size;
	queue->discard = discard;
	queue->descriptor = descriptor;
	queue->events = memory_allocate_zero(QUEUE_LENGTH, event_size);
	pthread_mutex_init(&queue->lock, NULL);
	*ret_queue = queue;
	return 0;
}

static void *event_at(struct queue *queue, size_t place)
{
	return queue->events + place * queue->event_size;
}

static void remove_event(struct queue *queue, size_t place)
{
	queue->count--;
	memmove(event_at(queue, place), event_at(queue, place + 1),
		(queue->count - place) * queue->event_size);
}

static void take_event(struct queue *queue, size_t place, void *ret_event)
{
	memcpy(ret_event, event_at(queue, place), queue->event_size);
	remove_event(queue, place);
}

static void discard_event(struct queue *queue)
{
	if (queue->discard != NULL)
		queue->discard(queue->events);
	remove_event(queue, 0);
}

void queue_release(struct queue *queue)
{
	if (queue == NULL)
		return;
	while (queue->count != 0)
		discard_event(queue);
	close(queue->descriptor);
	pthread_mutex_destroy(&queue->lock);
	free(queue->events);
	free(queue);
}

int queue_descriptor(const struct queue *queue)
{
	return queue->descriptor;
}

void queue_send(struct queue *queue, const void *event)
{
	const uint64_t one = 1;

	pthread_mutex_lock(&queue->lock);
	if (queue->count == QUEUE_LENGTH)
		discard_event(queue);
	memcpy(event_at(queue, queue->count++), event, queue->event_size);
	/* without this the receiver would not wake; a full counter is readable already */
	for (int tries = 0; tries < TRIES; tries++)
		if (write(queue->descriptor, &one, sizeof(one)) > 0 || errno == EAGAIN)
			break;
	pthread_mutex_unlock(&queue->lock);
}

bool queue_take(struct queue *queue, void *ret_event)
{
	uint64_t sent;
	bool found;

	pthread_mutex_lock(&queue->lock);
	found = queue->count != 0;
	if (found)
		take_event(queue, 0, ret_event);
	else if (read(queue->descriptor, &sent, sizeof(sent)) < 0)
		errno = 0; /* it was not readable, or stays so and is read again */
	pthread_mutex_unlock(&queue->lock);
	return found;
}

bool queue_withdraw(struct queue *queue, bool (*matches)(const void *event), void *ret_event)
{
	bool found = false;

	pthread_mutex_lock(&queue->lock);
	for (size_t i = queue->count; i-- > 0 && !found;) {
		found = matches(event_at(queue, i));
		if (found)
			take_event(queue, i, ret_event);
	}
	pthread_mutex_unlock(&queue->lock);
	return found;
}
