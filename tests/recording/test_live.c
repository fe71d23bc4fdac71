/* SPDX-License-Identifier: GPL-2.0-only */
/* Rounds of this host, by both backends: what is decoded is what was recorded. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "../capture/live.h"
#include "round_compare.h"
#include "store/recording.h"

enum {
	ROUNDS = 12,
	PAUSE_MS = 50,
};

/* What the recorder and the reader each have of a round. */
struct pair {
	struct snapshot *live, *decoded;
};

static struct snapshot *decode(const struct recording *recording, const struct snapshot *against)
{
	struct snapshot *snapshot = NULL;
	struct error error = {""};

	if (recording_decode(recording->state.data, recording->state.length, recording->interval.data,
			     recording->interval.length, against, "the test", &snapshot, &error) < 0)
		fail_msg("%s", error.text);
	return snapshot;
}

static void assert_equal(const struct snapshot *live, const struct snapshot *decoded)
{
	const char *difference = round_difference(live, decoded);

	if (difference != NULL)
		fail_msg("%s is another one", difference);
}

static struct snapshot *record(struct recorder *recorder, struct snapshot *live, const struct pair *against,
			       const struct pair *before)
{
	struct recording recording = {0};
	struct snapshot *decoded;

	recorder_encode(recorder, live, against != NULL ? against->live : NULL,
			before != NULL ? before->live : NULL, 1.5, &recording);
	decoded = decode(&recording, against != NULL ? against->decoded : NULL);
	assert_equal(live, decoded);
	if (against != NULL && live->carried_serial == against->live->serial)
		assert_true(decoded->carried_serial == against->decoded->serial);
	else
		assert_true(decoded->carried_serial == 0);
	recording_release(&recording);
	return decoded;
}

static void check_rounds(struct capture *capture)
{
	struct recorder *recorder = recorder_create(3);
	struct pair rounds[ROUNDS];

	for (size_t i = 0; i < ROUNDS; i++) {
		const struct pair *before = i != 0 ? &rounds[i - 1] : NULL;

		if (i != 0)
			live_sleep_ms(PAUSE_MS);
		rounds[i].live = i == ROUNDS / 2 ? live_full(capture) : live_round(capture);
		rounds[i].decoded = record(recorder, rounds[i].live, before, before);
		snapshot_release(record(recorder, rounds[i].live, NULL, before));
		/* against one long ago, and against a later one */
		snapshot_release(record(recorder, rounds[i].live, &rounds[0], NULL));
		snapshot_release(record(recorder, rounds[0].live, &rounds[i], NULL));
	}
	for (size_t i = 0; i < ROUNDS; i++) {
		snapshot_release(rounds[i].live);
		snapshot_release(rounds[i].decoded);
	}
	recorder_release(recorder);
}

static void test_rounds(void **state)
{
	struct capture *capture = live_open(NULL, 0);

	(void)state;
	check_rounds(capture);
	capture_close(capture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_rounds)};
	int failed = cmocka_run_group_tests_name("procfs", tests, NULL, NULL);

	if (live_choose_bpf())
		failed += cmocka_run_group_tests_name("BPF", tests, NULL, NULL);
	return failed;
}
