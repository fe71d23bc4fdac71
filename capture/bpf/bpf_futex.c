/* SPDX-License-Identifier: GPL-2.0-only */
#include "bpf_futex.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/memory.h"
#include "bpf_object.h"
#include "futex.skel.h"

struct bpf_futex {
	struct futex *object;
	unsigned char *read; /* of the iterator, which hands over nothing */
	size_t read_capacity;
	uint64_t addresses[FUTEX_RECORDS];
	struct futex_sums sums[FUTEX_RECORDS];
};

/* Counts waits under way up to now; the first time, makes room for each thread, too. */
static int count_unfinished(struct bpf_futex *futex)
{
	const int descriptor = bpf_iter_create(bpf_link__fd(futex->object->links.count_unfinished));
	ssize_t result;

	if (descriptor < 0)
		return -errno;
	result = bpf_iterator_read(descriptor, NULL, &futex->read, &futex->read_capacity);
	close(descriptor);
	return result < 0 ? (int)result : 0;
}

static struct feature_result start(struct bpf_futex *futex, struct bpf_scope scope,
				   const struct futex_calls *calls, struct arena *arena)
{
	struct feature_result result;
	int failure;

	bpf_object_listen();
	futex->object = futex__open();
	if (futex->object == NULL)
		return bpf_object_load(NULL, -errno, NULL, scope, arena);
	futex->object->rodata->scoped = true;
	futex->object->rodata->calls = *calls;
	result = bpf_object_load(futex->object->skeleton, 0, futex->object->maps.scope, scope, arena);
	if (result.state != FEATURE_STATE_ON)
		return result;
	failure = futex__attach(futex->object);
	if (failure == 0)
		failure = count_unfinished(futex);
	return failure == 0 ? result : bpf_refused(arena, failure, "the programs at events");
}

struct bpf_futex *bpf_futex_open(uint32_t process, const struct futex_calls *calls, struct arena *arena,
				 struct feature_result *ret_result)
{
	struct bpf_futex *futex;

	*ret_result = bpf_check(arena);
	if (ret_result->state != FEATURE_STATE_ON)
		return NULL;
	futex = memory_allocate_zero(1, sizeof(*futex));
	*ret_result = start(futex, (struct bpf_scope){&process, 1}, calls, arena);
	if (ret_result->state == FEATURE_STATE_ON)
		return futex;
	bpf_futex_close(futex);
	return NULL;
}

void bpf_futex_close(struct bpf_futex *futex)
{
	if (futex == NULL)
		return;
	futex__destroy(futex->object);
	free(futex->read);
	free(futex);
}

int bpf_futex_read(struct bpf_futex *futex, struct bpf_futex_reading *ret_reading)
{
	struct futex *object = futex->object;
	uint32_t place, count = FUTEX_RECORDS;
	int result = count_unfinished(futex);

	if (result < 0)
		return result;
	/* there is room for all, so one call takes them; a wait that is counted just then may be lost */
	result = bpf_map_lookup_and_delete_batch(bpf_map__fd(object->maps.sums), NULL, &place,
						 futex->addresses, futex->sums, &count, NULL);
	if (result < 0 && result != -ENOENT)
		return result;
	*ret_reading = (struct bpf_futex_reading){futex->addresses, futex->sums, count,
						  object->bss->overflowed != 0};
	object->bss->overflowed = 0;
	return 0;
}
