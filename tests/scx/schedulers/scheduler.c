// SPDX-License-Identifier: GPL-2.0-only
/*
 * scheduler [--no-link] VARIANT...: runs a sched_ext scheduler of scheduler.bpf.c until SIGTERM or SIGINT:
 * `direct`, `before`, `after` or `cid`, from the file scheduler_VARIANT.o beside this program. At SIGUSR1 it
 * takes the scheduler out and puts in the next one that is named, after the last the first again. With
 * --no-link the loader makes no BPF link, as older ones do. Prints "enabled VARIANT" each time the kernel has
 * switched to one. Status 1 when the kernel takes a scheduler out or refuses it, 77 when there is no such
 * file or the kernel does not know its form.
 */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "ending.h"

enum {
	SKIPPED = 77,
	NS_BETWEEN_LOOKS = 100000000,
};

/* From include/uapi/linux/bpf.h, which may be older than the kernel. */
#define LINK_FLAG       (1U << 13)                 /* BPF_F_LINK, Linux 6.4 */
#define STRUCT_OPS_LINK ((enum bpf_attach_type)44) /* BPF_STRUCT_OPS */

/* An arena's address, whose low 32 bits must not wrap; that of released schedulers. */
#define ARENA_ADDRESS (1ULL << 44)

struct scheduler {
	struct bpf_object *object;
	struct bpf_link *registration;
	int link; /* of the kernel, where libbpf does not keep it; -1 */
};

static bool with_link = true;

static int object_path(const char *variant, char path[static PATH_MAX])
{
	ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);
	char *end;

	if (length < 0)
		return -errno;
	path[length] = '\0';
	end = strrchr(path, '/') + 1;
	return snprintf(end, (size_t)(path + PATH_MAX - end), "scheduler_%s.o", variant) <
			       path + PATH_MAX - end
		       ? 0
		       : -ENAMETOOLONG;
}

/* Whether the kernel has the operations of the variant `cid`. */
static bool kernel_has_cid(void)
{
	struct btf *types = btf__load_vmlinux_btf();
	bool has = types != NULL && btf__find_by_name_kind(types, "sched_ext_ops_cid", BTF_KIND_STRUCT) > 0;

	btf__free(types);
	return has;
}

static int load(struct bpf_object *object, struct bpf_map *operations)
{
	struct bpf_map *arena = bpf_object__find_map_by_name(object, "arena");
	struct bpf_program *program;

	bpf_object__for_each_program(program, object)
	{
		/* these two allocate; older versions of libbpf do not take a section's name for it */
		if (strcmp(bpf_program__name(program), "test_init") == 0 ||
		    strcmp(bpf_program__name(program), "test_init_task") == 0)
			bpf_program__set_flags(program, BPF_F_SLEEPABLE);
	}
	if (arena != NULL)
		bpf_map__set_map_extra(arena, ARENA_ADDRESS);
	if (with_link)
		bpf_map__set_map_flags(operations, LINK_FLAG);
	return bpf_object__load(object);
}

static void scheduler_stop(struct scheduler *scheduler)
{
	if (scheduler->link >= 0)
		close(scheduler->link);
	bpf_link__destroy(scheduler->registration);
	bpf_object__close(scheduler->object);
}

/* 0, or a negative errno and nothing to stop. */
static int scheduler_start(struct scheduler *scheduler, const char *path)
{
	struct bpf_map *operations;
	int status;

	*scheduler = (struct scheduler){.object = bpf_object__open_file(path, NULL), .link = -1};
	if (scheduler->object == NULL)
		return -errno;
	operations = bpf_object__find_map_by_name(scheduler->object, "scheduler");
	status = load(scheduler->object, operations);
	if (status == 0) {
		scheduler->registration = bpf_map__attach_struct_ops(operations);
		if (scheduler->registration == NULL)
			status = -errno;
	}
#if LIBBPF_MAJOR_VERSION == 1 && LIBBPF_MINOR_VERSION < 2
	/* later ones make the link themselves */
	if (status == 0 && with_link) {
		scheduler->link = bpf_link_create(bpf_map__fd(operations), 0, STRUCT_OPS_LINK, NULL);
		if (scheduler->link < 0)
			status = scheduler->link;
	}
#endif
	if (status != 0)
		scheduler_stop(scheduler);
	return status;
}

/* Waits for a signal; 0 when the kernel has ended the scheduler before. */
static int wait_for_signal(const sigset_t *signals, const struct scheduler *scheduler,
			   struct scheduler_ending *ending)
{
	static const struct timespec patience = {.tv_nsec = NS_BETWEEN_LOOKS};
	int map = bpf_object__find_map_fd_by_name(scheduler->object, "ending");
	unsigned int key = 0;

	for (;;) {
		int number = sigtimedwait(signals, NULL, &patience);

		if (number > 0)
			return number;
		if (bpf_map_lookup_elem(map, &key, ending) == 0 && ending->kind != 0)
			return 0;
	}
}

/* Runs it until a signal, whose number it returns; or minus the status to end with. */
static int run(const char *variant)
{
	char path[PATH_MAX];
	struct scheduler scheduler;
	struct scheduler_ending ending;
	sigset_t signals;
	int status = object_path(variant, path), number;

	if (status == 0 && access(path, R_OK) != 0) {
		printf("SKIP: there is no %s; the variants with an arena need clang 19 to be built\n", path);
		return -SKIPPED;
	}
	if (strcmp(variant, "cid") == 0 && !kernel_has_cid()) {
		printf("SKIP: this kernel has no schedulers in cid form (struct sched_ext_ops_cid)\n");
		return -SKIPPED;
	}
	if (status == 0)
		status = scheduler_start(&scheduler, path);
	if (status != 0) {
		fprintf(stderr, "scheduler: %s: %s\n", variant, strerror(-status));
		return -1;
	}
	printf("enabled %s\n", variant);
	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGUSR1);
	number = wait_for_signal(&signals, &scheduler, &ending);
	if (number == 0)
		fprintf(stderr, "scheduler: the kernel ended %s: %s (%d)\n", variant, ending.reason,
			ending.kind);
	scheduler_stop(&scheduler);
	return number == 0 ? -1 : number;
}

int main(int count, char **words)
{
	int first = 1, result;
	sigset_t signals;

	if (count > 1 && strcmp(words[1], "--no-link") == 0) {
		with_link = false;
		first = 2;
	}
	if (first >= count) {
		fprintf(stderr, "usage: scheduler [--no-link] {direct|before|after|cid}...\n");
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	sigfillset(&signals);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	for (int turn = first;; turn = turn + 1 < count ? turn + 1 : first) {
		result = run(words[turn]);
		if (result < 0)
			return -result;
		if (result != SIGUSR1)
			return 0;
	}
}
