/* SPDX-License-Identifier: GPL-2.0-only */
#include "round.h"

#include <string.h>

#include "base/number.h"
#include "capture/procfs/text_scan.h"

/* nr_running() of kernel/sched/core.c: all runnable threads of the host; cheaper here than in /proc/stat. */
static uint64_t count_runnable(struct capture *capture)
{
	struct buffer *buffer = &capture->text;
	struct text rest, word = {NULL, 0}, runnable, threads;
	uint64_t running;

	if (roots_read(&capture->roots, ROOT_PROC, "loadavg", buffer) < 0)
		return UINT64_MAX;
	rest = text_of(buffer);
	for (size_t i = 0; i < 4; i++) {
		if (!text_next_word(&rest, &word))
			return UINT64_MAX;
	}
	if (!text_split(word, '/', &runnable, &threads) ||
	    !number_parse_u64(runnable.data, runnable.length, &running))
		return UINT64_MAX;
	return running;
}

void runnable_look(struct round *round)
{
	uint64_t now;

	if (!round->watches_runnable)
		return;
	now = count_runnable(round->capture);
	if (now < round->runnable)
		round->runnable = now;
}

void runnable_watch(struct round *round)
{
	struct capture *capture = round->capture;
	struct runnable_watch *watch = &capture->runnable;
	uint64_t found = 0;
	bool was_short = watch->looks > watch->found;

	for (size_t row = 0; row < round->snapshot->thread_count; row++)
		found += round->states[row].state == 'R';
	if (round->all_states && round->unseen_found == 0)
		watch->paused_until = capture->round + ROTATION_ROUNDS;
	runnable_look(round);
	watch->look_at_all = was_short && round->runnable != UINT64_MAX && round->runnable > found &&
			     round->runnable > watch->found && watch->looks > found &&
			     capture->round >= watch->paused_until && !round->all_states;
	watch->looks = round->runnable != UINT64_MAX ? round->runnable : 0;
	watch->found = found;
}
