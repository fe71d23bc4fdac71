/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A program whose thread data is laid out like that of a jemalloc generation, by the definition GENERATION_…;
 * it allocates nothing with it. PLACE_… puts the members where jemalloc does not.
 */
#include <stdint.h>

#ifndef SYMBOL
#define SYMBOL je_tsd_tls
#endif
#ifndef ACCESS
#define ACCESS je_tsd_fetch_slow
#endif

#if defined(GENERATION_4_5)
struct tsd_s {
	int state;
	void *tcache;
	uint64_t thread_allocated, thread_deallocated;
	char rest[72];
};
#elif defined(GENERATION_5_0)
struct tsd_s {
	int state;
	uint64_t use_a_getter_or_setter_instead_thread_allocated;
	uint64_t use_a_getter_or_setter_instead_thread_deallocated;
	char rest[6080];
};
#elif defined(GENERATION_5_1)
struct tsd_s {
	int state;
	void *use_a_getter_or_setter_instead_tcache_enabled;
	uint64_t use_a_getter_or_setter_instead_thread_allocated;
	uint64_t use_a_getter_or_setter_instead_thread_deallocated;
	char rest[6112];
};
#elif defined(GENERATION_5_2)
struct tsd_s {
	int state;
	void *cant_access_tsd_items_directly_use_a_getter_or_setter_tcache_enabled;
	uint64_t cant_access_tsd_items_directly_use_a_getter_or_setter_thread_allocated;
	uint64_t cant_access_tsd_items_directly_use_a_getter_or_setter_thread_deallocated;
	char rest[6184];
};
#elif defined(GENERATION_5_3)
struct tsd_s {
	char first[816];
	int state;
	uint64_t cant_access_tsd_items_directly_use_a_getter_or_setter_thread_allocated;
	uint64_t cant_access_tsd_items_directly_use_a_getter_or_setter_thread_allocated_next_event_fast;
	uint64_t cant_access_tsd_items_directly_use_a_getter_or_setter_thread_deallocated;
	char rest[1784];
};
#elif defined(PLACE_ANONYMOUS) /* mangled names in a structure without a name */
struct tsd_s {
	struct {
		uint64_t first[2];
		uint64_t cant_access_tsd_items_directly_use_a_getter_or_setter_thread_allocated;
		uint64_t fast;
		uint64_t cant_access_tsd_items_directly_use_a_getter_or_setter_thread_deallocated;
	} * nested;
	char rest[48];
};
#elif defined(PLACE_OTHER)     /* plain names in another structure mean nothing */
struct statistics {
	uint64_t thread_allocated, thread_deallocated;
};
struct tsd_s {
	struct statistics statistics;
};
#elif defined(PLACE_REVERSED)  /* cannot be true */
struct tsd_s {
	uint64_t first[2];
	uint64_t cant_access_tsd_items_directly_use_a_getter_or_setter_thread_deallocated;
	uint64_t cant_access_tsd_items_directly_use_a_getter_or_setter_thread_allocated;
};
#elif defined(PLACE_SAME)      /* cannot be true */
struct tsd_s {
	uint64_t first[2];
	union {
		uint64_t cant_access_tsd_items_directly_use_a_getter_or_setter_thread_deallocated;
		uint64_t cant_access_tsd_items_directly_use_a_getter_or_setter_thread_allocated;
	} both;
};
#elif defined(PLACE_HALF)      /* one member only */
struct tsd_s {
	uint64_t first[2];
	uint64_t cant_access_tsd_items_directly_use_a_getter_or_setter_thread_allocated;
};
#endif

__thread struct tsd_s SYMBOL = {0};

struct tsd_s *ACCESS(void);

__attribute__((noinline)) struct tsd_s *ACCESS(void)
{
	return &SYMBOL;
}

#ifndef LIBRARY
int main(void)
{
	return ACCESS() == 0;
}
#endif
