/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Is a thread-local variable of this very program where probe/process/tls.c says? tls.sh links it in several
 * ways. Prints the segment and succeeds if so, for the main thread and for another one.
 */
#include <elf.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/auxv.h>

#include "probe/process/tls.h"

#ifdef BIG
static _Thread_local _Alignas(256) volatile char big[BIG]; /* raises the alignment of the segment only */
#endif
static _Thread_local volatile char first = 1;
_Thread_local volatile char marker = 2;

/* The offset of `marker` in the TLS image, from the linker. */
extern const uint64_t marker_offset;
__asm__(".pushsection .data.rel.ro, \"aw\"\n"
	".balign 8\n"
	".globl marker_offset\n"
	"marker_offset: .quad marker@dtpoff\n"
	".popsection\n");

static const Elf64_Phdr *find_segment(void)
{
	const Elf64_Phdr *headers = (const Elf64_Phdr *)getauxval(AT_PHDR);

	for (unsigned long i = 0; i < getauxval(AT_PHNUM); i++)
		if (headers[i].p_type == PT_TLS)
			return &headers[i];
	return NULL;
}

static void *check(void *unused)
{
	const Elf64_Phdr *header = find_segment();
	const struct tls_segment segment = {header->p_vaddr, header->p_memsz, header->p_align};
	const uint64_t thread_pointer = (uint64_t)__builtin_thread_pointer();
	uint64_t distance = 0, address = 0;

	(void)unused;
#ifdef BIG
	big[0]++;
#endif
	first++;
	if (tls_executable_distance(&segment, tls_native_variant(), &distance) < 0 ||
	    tls_address(thread_pointer, distance, tls_native_variant(), marker_offset, 0, &address) < 0)
		return (void *)1;
	printf("p_vaddr %#lx p_memsz %lu p_align %lu: computed %#lx, is %#lx\n", segment.address,
	       segment.size, segment.alignment, address, (uint64_t)&marker);
	return address == (uint64_t)&marker ? NULL : (void *)1;
}

int main(void)
{
	pthread_t thread;
	void *wrong;

	if (pthread_create(&thread, NULL, check, NULL) != 0 || pthread_join(thread, &wrong) != 0)
		return 2;
	return wrong != NULL || check(NULL) != NULL;
}
