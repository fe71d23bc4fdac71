/* SPDX-License-Identifier: GPL-2.0-only */
/* Reading many pieces of memory, some of which are not there. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../cmocka_include.h"
#include "probe/process/transfer.h"

enum {
	PIECE = 24,
	PAGES = 8,
};

static struct transfer transfer;
static char *memory; /* PAGES pages; page 3 and page 5 cannot be read */
static size_t page_size;
static char bytes[TRANSFER_MAX * PIECE];
static struct transfer_way way;

static int map_memory(void **state)
{
	(void)state;
	page_size = (size_t)sysconf(_SC_PAGESIZE);
	memory = mmap(NULL, PAGES * page_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return -1;
	for (size_t i = 0; i < PAGES * page_size; i++)
		memory[i] = (char)(i * 7 + i / 251);
	if (mprotect(memory + 3 * page_size, page_size, PROT_NONE) < 0)
		return -1;
	return munmap(memory + 5 * page_size, page_size);
}

static bool is_there(const char *address, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		const size_t page = (size_t)(address + i - memory) / page_size;

		if (page == 3 || page == 5 || page >= PAGES)
			return false;
	}
	return true;
}

/* Reads our own memory and compares all pieces with it. */
static void check_pieces(void)
{
	size_t at = 0;

	memset(bytes, 0x55, sizeof(bytes));
	way.calls = 0;
	assert_int_equal(transfer_run(&transfer, getpid(), bytes, &way), 0);
	for (size_t i = 0; i < transfer.count; i++) {
		const char *address = transfer.pieces[i].iov_base;
		const size_t size = transfer.pieces[i].iov_len;

		assert_int_equal(transfer.read[i], is_there(address, size));
		if (transfer.read[i])
			assert_memory_equal(bytes + at, address, size);
		at += size;
	}
}

static void add(const char *address, size_t size)
{
	transfer_add(&transfer, (uint64_t)(uintptr_t)address, size);
}

static void test_all_there(void **state)
{
	(void)state;
	transfer_clear(&transfer);
	for (size_t i = 0; i < TRANSFER_MAX; i++)
		add(memory + i * 8, PIECE);
	assert_int_equal(transfer.count, TRANSFER_MAX);
	check_pieces();
	assert_int_equal(way.calls, 1);
}

static void test_holes(void **state)
{
	static const size_t holes[] = {0, 1, 50, 98, 99};

	(void)state;
	for (size_t hole = 0; hole < sizeof(holes) / sizeof(holes[0]); hole++) {
		transfer_clear(&transfer);
		for (size_t i = 0; i < 100; i++)
			add(i == holes[hole] ? memory + 3 * page_size + 64 : memory + i * PIECE, PIECE);
		check_pieces();
		assert_true(way.calls <= 2);
	}
}

/* A piece whose beginning is there comes in part, and is not read; sizes of all kinds. */
static void test_straddling(void **state)
{
	(void)state;
	transfer_clear(&transfer);
	add(memory, 8);
	add(memory + 3 * page_size - 8, PIECE);
	add(memory + 100, 4);
	add(memory + 3 * page_size - PIECE, PIECE);
	add(memory + 4 * page_size - 1, 2);
	add(memory + 5 * page_size - 3, 4);
	add(memory + 5 * page_size, 1);
	add(memory + 6 * page_size - 1, 2);
	add(memory + 6 * page_size, 1);
	check_pieces();
}

static void test_random_pieces(void **state)
{
	unsigned int seed = 7;

	(void)state;
	for (unsigned int round = 0; round < 200; round++) {
		transfer_clear(&transfer);
		for (size_t i = 0; i < 60; i++) {
			const size_t size = 1 + (size_t)rand_r(&seed) % PIECE;
			const size_t at = (size_t)rand_r(&seed) % (PAGES * page_size - PIECE);

			add(memory + at, size);
		}
		check_pieces();
	}
}

static void test_nothing_there(void **state)
{
	(void)state;
	transfer_clear(&transfer);
	for (size_t i = 0; i < 100; i++)
		add(memory + 5 * page_size + i, PIECE);
	transfer_add(&transfer, UINT64_MAX - 4, PIECE);
	transfer_add(&transfer, 0, PIECE);
	way.calls = 0;
	assert_int_equal(transfer_run(&transfer, getpid(), bytes, &way), 0);
	for (size_t i = 0; i < transfer.count; i++)
		assert_false(transfer.read[i]);
	assert_int_equal(
		transfer_read(getpid(), (uint64_t)(uintptr_t)(memory + 5 * page_size - 2), bytes, 4, &way),
		-EFAULT);
}

static void test_no_process(void **state)
{
	const pid_t child = fork();

	(void)state;
	if (child == 0)
		_exit(0);
	assert_int_equal(waitpid(child, NULL, 0), child);
	transfer_clear(&transfer);
	add(memory, PIECE);
	assert_int_equal(transfer_run(&transfer, child, bytes, &way), -ESRCH);
	assert_int_equal(transfer_read(child, (uint64_t)(uintptr_t)memory, bytes, 4, &way), -ESRCH);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_there),     cmocka_unit_test(test_holes),
		cmocka_unit_test(test_straddling),    cmocka_unit_test(test_random_pieces),
		cmocka_unit_test(test_nothing_there), cmocka_unit_test(test_no_process),
	};

	return cmocka_run_group_tests(tests, map_memory, NULL);
}
