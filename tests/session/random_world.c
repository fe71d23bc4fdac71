/* SPDX-License-Identifier: GPL-2.0-only */
#include "random_world.h"

#include <stdlib.h>
#include <string.h>

#include "tests/cmocka_include.h"

#include "snapshot/ended_set.h"
#include "snapshot/thread_match.h"
#include "window/column.h"
#include "window/ended.h"

uint64_t random_state;

uint64_t random_below(uint64_t limit)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state % limit;
}

bool one_in(uint64_t n)
{
	return random_below(n) == 0;
}

static const char *const process_names[] = {"web", "db", "kworker", "a"};
static const char *const thread_names[] = {"io-1", "io-2", "io-3", "main", "", "x7"};
static const char *const cgroup_names[] = {"/", "/system.slice/a.service", "/user.slice/session-3.scope"};
static const char *const policy_names[] = {"SCHED_OTHER", "SCHED_FIFO", "SCHED_BATCH"};
static const reason_id some_reasons[] = {REASON_READ, REASON_READ, REASON_NOT_PERMITTED, REASON_OFF_AT_FORK,
					 REASON_OVER_BUDGET};

static reason_id random_reason(void)
{
	return some_reasons[random_below(sizeof(some_reasons) / sizeof(some_reasons[0]))];
}

/* --- what happens to the threads --- */

static uint64_t random_value(enum metric metric)
{
	switch (metric_type(metric)->encoding) {
	case METRIC_ENCODING_STRING:
	case METRIC_ENCODING_CPU_SET:
		return random_below(3);
	case METRIC_ENCODING_CHARACTER:
		return (uint64_t) "SRDI"[random_below(4)];
	case METRIC_ENCODING_BOOLEAN:
		return random_below(2);
	default:
		return one_in(3) ? 0 : random_below(50) * NS_PER_MS;
	}
}

static void change_value(struct thread *thread, enum metric metric)
{
	if (metric_type(metric)->kind != METRIC_KIND_COUNTER)
		thread->values[metric] = random_value(metric);
	else if (one_in(20))
		thread->values[metric] /= 2; /* it went backwards */
	else
		thread->values[metric] += random_below(3 * NS_PER_MS);
	thread->moved = true;
}

static void begin_thread(struct thread *thread, struct world *world)
{
	/* never that of another thread with its number */
	thread->start = world->now_ns / NS_PER_TICK - (!world->is_seen && one_in(4) ? 1000 : 0) +
			world->begun++ % 100;
	thread->name = (unsigned int)random_below(6);
	thread->flags = one_in(4) ? THREAD_KERNEL : 0;
	if (one_in(2))
		thread->flags |= THREAD_JEMALLOC_MEASURED;
	thread->uid = (uint32_t)random_below(2);
	for (int i = METRIC_THREAD_COUNT + 1; i < METRIC_COUNT; i++)
		thread->values[i] = random_value((enum metric)i);
	for (size_t i = 0; i < SOURCE_COUNT; i++)
		thread->reasons[i] = random_reason();
	for (size_t i = 0; i < EXCEPTIONS; i++) {
		thread->exceptions[i].metric = METRIC_COUNT;
		if (one_in(15)) {
			thread->exceptions[i].metric = (enum metric)(
				METRIC_THREAD_COUNT + 1 +
				random_below(METRIC_COUNT - METRIC_THREAD_COUNT - 1));
			thread->exceptions[i].reason = random_reason();
		}
	}
	thread->row = UINT32_MAX;
	thread->moved = true;
}

static int compare_threads(const void *a, const void *b)
{
	const struct thread *left = a, *right = b;

	return left->tid < right->tid ? -1 : left->tid > right->tid;
}

void world_add_thread(struct world *world)
{
	struct thread *thread = &world->threads[world->count];
	uint32_t tgid = (uint32_t)random_below(PROCESSES) * 1000 + 1000;
	uint32_t tid = one_in(PROCESSES) ? tgid : tgid + 1 + (uint32_t)random_below(500);

	for (size_t i = 0; i < world->count; i++) {
		if (world->threads[i].tid == tid)
			return;
	}
	*thread = (struct thread){
		.tgid = tgid, .tid = tid, .process = tgid / 1000 % 4, .cgroup = tgid / 1000 % 3};
	begin_thread(thread, world);
	world->count++;
	qsort(world->threads, world->count, sizeof(*thread), compare_threads);
}

static void end_thread(struct world *world)
{
	size_t index;

	if (world->count <= 1)
		return;
	index = random_below(world->count);
	world->count--;
	memmove(&world->threads[index], &world->threads[index + 1],
		(world->count - index) * sizeof(world->threads[0]));
}

/* Something that a thread may do in a round, or that happens to it. */
static void stir(struct world *world, struct thread *thread)
{
	switch (random_below(10)) {
	case 0: /* execve(2): another name, the numbers go on */
		thread->process = (unsigned int)random_below(4);
		thread->name = (unsigned int)random_below(6);
		thread->moved = true;
		break;
	case 1: /* execve(2) by another thread of the process: the numbers are that one's */
		if (world->is_seen && thread->tid != thread->tgid)
			break;
		thread->values[METRIC_RUN_TIME_NS] += 100 * NS_PER_S;
		thread->moved = true;
		break;
	case 2: /* the number is used again */
		begin_thread(thread, world);
		break;
	case 3:
		thread->cgroup = (unsigned int)random_below(3);
		thread->moved = true;
		break;
	case 4:
		thread->reasons[random_below(SOURCE_COUNT)] = random_reason();
		thread->moved = true;
		break;
	default:
		for (int i = METRIC_THREAD_COUNT + 1; i < METRIC_COUNT; i++) {
			if (one_in(4))
				change_value(thread, (enum metric)i);
		}
		break;
	}
}

/* A fact about the whole host may change while no thread moves; then all threads that it affects have moved.
 */
static void turn_switches(struct world *world)
{
	size_t source = random_below(SOURCE_COUNT);

	if (one_in(4))
		world->delays_off = !world->delays_off;
	if (one_in(3))
		world->own_times = !world->own_times;
	if (one_in(4))
		world->metric_reason[METRIC_THREAD_COUNT + 1 +
				     random_below(METRIC_COUNT - METRIC_THREAD_COUNT - 1)] = random_reason();
	if (!one_in(8))
		return;
	world->by_thread[source] = !world->by_thread[source];
	world->uniform[source] = random_reason();
	for (size_t i = 0; i < world->count; i++)
		world->threads[i].moved |= world->threads[i].reasons[source] != world->uniform[source];
}

void world_advance(struct world *world)
{
	/* a quiet round now and then */
	const uint64_t part = one_in(2) ? 1000 : (world->is_quiet ? 20 : 1) + random_below(10);

	for (uint32_t i = 0; i < world->count; i++) {
		world->threads[i].row = i;
		world->threads[i].moved = false;
	}
	for (size_t i = random_below(4); i > 0; i--)
		end_thread(world);
	for (size_t i = 0; i < world->count; i++) {
		struct thread *thread = &world->threads[i];

		if (one_in(part))
			stir(world, thread);
		thread->stuck_ns = thread->values[METRIC_STATE] == 'D' ? thread->stuck_ns + 2 * NS_PER_S : 0;
		/* that a wait goes on is no move, and nothing says so when a short one is over */
		thread->waiting_ns = one_in(3) ? 0 : thread->waiting_ns + 2 * NS_PER_S;
	}
	for (size_t i = random_below(5); i > 0 && world->count < THREADS_MAX; i--)
		world_add_thread(world);
	if (world->round != 0 && (!world->is_quiet || one_in(10)))
		turn_switches(world);
	world->now_ns += !world->is_seen && one_in(10) ? 0 : 2 * NS_PER_S;
	world->round++;
}

/* --- snapshots of them --- */

static uint32_t intern(struct snapshot *snapshot, const char *text)
{
	return string_pool_intern(&snapshot->strings, text, strlen(text));
}

/* Ids differ from round to round, as those of a capture may. */
static void fill_pools(struct snapshot *snapshot, const struct world *world, uint64_t sets[3])
{
	static const uint32_t cpus[] = {0, 1, 2, 3};

	for (size_t i = 0; i < 3; i++) {
		const size_t turned = (i + world->round) % 3;

		intern(snapshot, policy_names[turned]);
		sets[turned] = cpu_set_intern(&snapshot->cpu_sets, cpus, turned + 1);
	}
}

static void fill_thread(struct snapshot *snapshot, const struct world *world, size_t row,
			const uint64_t sets[3])
{
	const struct thread *thread = &world->threads[row];

	for (int i = METRIC_THREAD_COUNT + 1; i < METRIC_COUNT; i++) {
		enum metric metric = (enum metric)i;
		uint64_t value = thread->values[metric];

		if (metric_type(metric)->encoding == METRIC_ENCODING_STRING)
			value = intern(snapshot, policy_names[value]);
		else if (metric_type(metric)->encoding == METRIC_ENCODING_CPU_SET)
			value = sets[value];
		if (value != 0)
			snapshot_column(snapshot, metric)[row] = value;
	}
	for (size_t i = 0; i < SOURCE_COUNT; i++) {
		if (world->by_thread[i])
			snapshot_source_reasons(snapshot, (enum source)i)[row] = thread->reasons[i];
		if (world->own_times && i % 2 == 0 && thread->tid % 4 == 0) /* not read again */
			snapshot_read_times(snapshot, (enum source)i)[row] = 500 * NS_PER_S;
	}
	for (size_t i = 0; i < EXCEPTIONS; i++) {
		if (thread->exceptions[i].metric != METRIC_COUNT)
			snapshot_add_exception(snapshot, row, thread->exceptions[i].metric,
					       thread->exceptions[i].reason);
	}
	snapshot->start_time[row] = thread->start;
	snapshot->thread_flags[row] = thread->flags;
	snapshot->uid[row] = thread->uid;
	snapshot->stuck_ns[row] = thread->stuck_ns;
	if (!world->knows_waits)
		return;
	snapshot->waiting_ns[row] = thread->waiting_ns;
	snapshot->stuck_ns[row] = 0;
	if ((thread->values[METRIC_STATE] == 'R' || thread->values[METRIC_STATE] == 'D') &&
	    thread->waiting_ns >= SNAPSHOT_STUCK_AFTER_NS)
		snapshot->stuck_ns[row] = thread->waiting_ns;
}

/* Fills a snapshot that has nothing yet, but for names. */
static struct snapshot *fill_photograph(const struct world *world, struct snapshot *snapshot)
{
	uint64_t sets[3];

	snapshot->provenance.boottime_ns = world->now_ns;
	snapshot->provenance.features[FEATURE_DELAYS].state = world->delays_off ? FEATURE_STATE_OFF
										: FEATURE_STATE_ON;
	for (size_t i = 0; i < SOURCE_COUNT; i++)
		snapshot->default_reason[i] = world->uniform[i];
	for (size_t i = 0; i < METRIC_COUNT; i++)
		snapshot->metric_reason[i] = world->metric_reason[i];
	fill_pools(snapshot, world, sets);
	snapshot_reserve(snapshot, THREADS_MAX);
	snapshot->stuck_ns = memory_allocate_zero(THREADS_MAX, sizeof(uint64_t));
	if (world->knows_waits)
		snapshot->waiting_ns = memory_allocate_zero(THREADS_MAX, sizeof(uint64_t));
	for (size_t row = 0; row < world->count; row++) {
		const struct thread *thread = &world->threads[row];

		fixture_thread(snapshot, thread->tgid, thread->tid, process_names[thread->process],
			       thread_names[thread->name], 0);
		fixture_cgroup(snapshot, row, cgroup_names[thread->cgroup]);
		fill_thread(snapshot, world, row, sets);
	}
	return snapshot;
}

struct snapshot *world_photograph(const struct world *world)
{
	return fill_photograph(world, fixture_snapshot((double)world->now_ns / 1e9));
}

/* Marks the threads that moved, as a capture that compares its rounds does. */
void world_say_moved(struct snapshot *snapshot, const struct world *world, const struct snapshot *before)
{
	snapshot->carried_serial = before->serial;
	snapshot->carried_row = memory_allocate((world->count + 1) * sizeof(uint32_t));
	snapshot->moved = memory_allocate((world->count + 1) * sizeof(uint32_t));
	snapshot->moved_known = true;
	for (uint32_t i = 0; i < world->count; i++) {
		snapshot->carried_row[i] = world->threads[i].row;
		if (world->threads[i].moved)
			snapshot->moved[snapshot->moved_count++] = i;
	}
}

/* --- what a round has besides --- */

void world_find_seen(const struct world *world, struct besides *besides)
{
	struct snapshot *now = world_photograph(world);

	snapshot_finish(now);
	besides->seen = memory_allocate_zero(besides->before->thread_count + 1, sizeof(*besides->seen));
	free(thread_match(now, besides->before, besides->seen, NULL));
	snapshot_release(now);
}

static void fill_amounts(struct ended_amounts *amounts, uint64_t least)
{
	for (size_t i = 0; i < ENDED_METRICS; i++)
		amounts->of[i] = least + random_below(20 * NS_PER_MS);
	amounts->delayed = random_below(2);
}

/* Those that are gone tell of themselves, or not; others were in no round. */
static void fill_ended(struct snapshot *snapshot, const struct besides *besides)
{
	const struct snapshot *before = besides->before;
	struct ended_set *set = ended_set_create();
	struct ended_thread *thread;
	struct ended_group *group;

	snapshot->ended = set;
	for (uint32_t row = 0; row < before->thread_count; row++) {
		const struct triple *names = &before->triples[before->triple[row]];

		if (besides->seen[row] || one_in(3))
			continue;
		thread = ended_set_add_thread(
			set,
			ended_set_triple(
				set, name_text_of(snapshot_text(before, names->pcomm)),
				name_text_of(one_in(5) ? "late" : snapshot_text(before, names->comm)),
				name_text_of(snapshot_text(before, names->cgroup))),
			false);
		thread->tgid = before->tgid[row];
		thread->tid = before->tid[row];
		thread->start_time = before->start_time[row];
		fill_amounts(&thread->amounts, 30 * NS_PER_MS);
	}
	for (size_t i = random_below(4); i > 0; i--) {
		group = ended_set_group(set,
					ended_set_triple(set, name_text_of(one_in(2) ? "cc1" : "web"),
							 name_text_of("cc1"), name_text_of("/")),
					one_in(5));
		group->threads += 3;
		group->processes += 2;
		group->unknown += random_below(2);
		fill_amounts(&group->amounts, 0);
	}
	for (size_t i = random_below(3); i > 0; i--) {
		thread = ended_set_add_thread(
			set, ended_set_triple(set, name_text_of("sh"), name_text_of("sh"), name_text_of("/")),
			one_in(5));
		thread->tgid = thread->tid = 90000 + (uint32_t)random_below(1000);
		thread->start_time = besides->now_ns / NS_PER_TICK - random_below(2000);
		fill_amounts(&thread->amounts, 0);
	}
	set->lower_bound = one_in(4);
	set->lost = one_in(10);
	set->unread = one_in(10);
	if (one_in(5))
		set->reasons[random_below(ENDED_METRICS)] = REASON_NOT_PERMITTED;
}

static void fill_latency(struct snapshot *snapshot)
{
	static const char *const names[] = {"web", "db", "a", "gone"};

	snapshot->latency.present = true;
	snapshot->latency.span_ns = 2 * NS_PER_S;
	snapshot->latency.events = random_below(100);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const uint32_t name = string_pool_intern(&snapshot->strings, names[i], strlen(names[i]));
		const uint32_t index = (uint32_t)snapshot->latency.count;
		struct latency_waits *waits;

		if (one_in(2))
			continue;
		latency_add_record(snapshot, name, name, name);
		waits = latency_own_waits(&snapshot->latency, index);
		waits->of[LATENCY_RUN_QUEUE].buckets[random_below(LATENCY_BUCKETS)] = random_below(9);
		waits->of[LATENCY_BLOCKED].sum_ns = random_below(NS_PER_S);
		latency_add_time(&snapshot->latency,
				 &(struct latency_time){index, LATENCY_PROCESS_UNKNOWN, WAIT_CLASS_DISK,
							random_below(NS_PER_S)});
		latency_add_time(&snapshot->latency,
				 &(struct latency_time){index, 0, WAIT_CLASS_FUTEX, random_below(NS_PER_S)});
	}
	for (uint32_t i = 0; i < snapshot->latency.count; i++)
		*MEMORY_APPEND(snapshot->latency.delays, snapshot->latency.delay_count,
			       snapshot->latency.delay_capacity) = (struct latency_delay){
			.victim = i,
			.culprit = (uint32_t)random_below(snapshot->latency.count),
			.cause = LATENCY_CAUSE_THREADS,
			.time_ns = 1 + random_below(NS_PER_S),
			.waits = 1,
		};
}

void world_fill_interval(struct snapshot *snapshot, const struct besides *besides)
{
	random_state = besides->chance;
	if (besides->telling == TOLD && besides->before != NULL)
		fill_ended(snapshot, besides);
	if (besides->before != NULL && besides->telling != UNTOLD)
		fill_latency(snapshot);
}

/* Adds all that is besides its threads to a photograph. */
static struct snapshot *finish_round(const struct world *world, const struct besides *besides,
				     struct snapshot *snapshot)
{
	struct provenance *provenance = &snapshot->provenance;

	provenance->features[FEATURE_EXITS].state = besides->telling == TOLD ? FEATURE_STATE_ON
									     : FEATURE_STATE_OFF;
	provenance->features[FEATURE_ALL_PROCESSES].state = FEATURE_STATE_ON;
	provenance->features[FEATURE_PID_NAMESPACE].state = FEATURE_STATE_ON;
	provenance->features[FEATURE_LATENCY].state = FEATURE_STATE_ON;
	provenance->forks = (struct optional_u64){world->begun, true};
	if (besides->telling == LEFT_OVER) {
		provenance->cpu_ticks_known = true;
		provenance->cpu_ticks_at_ns = provenance->boottime_ns;
		provenance->cpu_ticks[0] = besides->busy_ticks;
		provenance->cpu_ticks[3] = provenance->boottime_ns / NS_PER_TICK;
	}
	snapshot->resident_missing = REASON_READ;
	for (size_t row = 0; row < snapshot->thread_count; row++) {
		if (snapshot->tid[row] == snapshot->tgid[row])
			snapshot_add_resident(snapshot, row, 4096 * (snapshot->start_time[row] % 1000),
					      provenance->boottime_ns);
	}
	world_fill_interval(snapshot, besides);
	snapshot_finish(snapshot);
	return snapshot;
}

struct snapshot *world_make_round(const struct world *world, const struct besides *besides)
{
	return finish_round(world, besides, world_photograph(world));
}

struct snapshot *world_go_on(const struct world *world, const struct besides *besides,
			     const struct snapshot *names)
{
	struct snapshot *snapshot = fixture_snapshot((double)world->now_ns / 1e9);

	snapshot_begin_names(snapshot, names);
	return finish_round(world, besides, fill_photograph(world, snapshot));
}

void world_begin(struct world *world, uint64_t seed)
{
	random_state = seed * UINT64_C(88172645463325252);
	*world = (struct world){.now_ns = 1000 * NS_PER_S,
				.knows_waits = seed % 3 != 0,
				.is_quiet = seed % 2 == 0,
				.is_seen = true};
	while (world->count < THREADS_MAX / 2)
		world_add_thread(world);
	for (size_t i = 0; i < SOURCE_COUNT; i++)
		world->by_thread[i] = one_in(2);
}

struct snapshot *world_begin_round(const struct world *world, struct besides *besides,
				   const struct snapshot *before)
{
	besides->chance = random_below(UINT64_MAX) | 1;
	besides->now_ns = world->now_ns;
	besides->before = before;
	if (before != NULL)
		world_find_seen(world, besides);
	return world_make_round(world, besides);
}

void world_end_round(struct world *world, struct besides *besides)
{
	free(besides->seen);
	besides->seen = NULL;
	random_state = besides->chance + 1;
	world_advance(world);
	besides->busy_ticks += random_below(200);
}

struct session *world_live_session(struct snapshot *const rounds[], int base, int now)
{
	struct session *session = session_create();

	for (int i = 0; i <= now; i++) {
		session_add_round(session, snapshot_reference(rounds[i]));
		if (i == base)
			session_set_base(session);
	}
	return session;
}

/* --- the same twice --- */

static void expect_same_cell(const struct cell *a, const struct cell *b, const char *column, const char *row)
{
	if (a->state != b->state || a->form != b->form || a->unit != b->unit || a->partial != b->partial ||
	    a->rose != b->rose || a->unanimous != b->unanimous || a->reason != b->reason ||
	    memcmp(&a->value, &b->value, sizeof(a->value)) != 0 ||
	    memcmp(&a->sort, &b->sort, sizeof(a->sort)) != 0 || (a->text == NULL) != (b->text == NULL) ||
	    (a->text != NULL && strcmp(a->text, b->text) != 0))
		fail_msg("cells of %s in %s differ: state %d, reason %d, %s%.17g, %s, beside %d, %d, "
			 "%s%.17g, %s",
			 column, row, (int)a->state, a->reason, a->partial ? ">= " : "", a->sort,
			 a->text != NULL ? a->text : "no text", (int)b->state, b->reason,
			 b->partial ? ">= " : "", b->sort, b->text != NULL ? b->text : "no text");
}

void expect_same_table(const struct table *a, const struct table *b, bool ignore_marks)
{
	assert_int_equal(a->row_count, b->row_count);
	assert_int_equal(a->column_count, b->column_count);
	for (size_t i = 0; i < a->row_count; i++) {
		const struct table_row *left = &a->rows[i], *right = &b->rows[i];

		assert_int_equal(left->key_length, right->key_length);
		assert_memory_equal(left->key, right->key, left->key_length);
		assert_int_equal(left->threads, right->threads);
		assert_int_equal(left->thread, right->thread);
		if (!ignore_marks)
			assert_int_equal(left->mark, right->mark);
		for (size_t j = 0; j < a->column_count; j++)
			expect_same_cell(&left->cells[j], &right->cells[j], a->columns[j].name, left->label);
	}
}

/* All columns but those of sched_ext, in static storage. */
static const enum column *all_columns(bool with_latency, size_t *ret_count)
{
	static enum column columns[COLUMN_TOTAL];

	*ret_count = 0;
	for (int i = 0; i < COLUMN_TASK_FIELDS; i++) {
		const enum column_operation operation = column_entry((enum column)i)->operation;

		if (i != COLUMN_COUNT &&
		    (with_latency ||
		     (operation != COLUMN_OPERATION_LATENCY && operation != COLUMN_OPERATION_TIME &&
		      operation != COLUMN_OPERATION_BLAME && operation != COLUMN_OPERATION_BAR)))
			columns[(*ret_count)++] = (enum column)i;
	}
	return columns;
}

static void expect_same_explanation(struct session *const sessions[2], const struct view *view,
				    const struct table_row *row, size_t column)
{
	struct buffer lines[2] = {{0}, {0}};

	for (size_t s = 0; s < 2; s++)
		session_explain(sessions[s], view, row->key, row->key_length, column, &lines[s]);
	assert_int_equal(lines[0].length, lines[1].length);
	assert_memory_equal(lines[0].data, lines[1].data, lines[0].length);
	buffer_release(&lines[0]);
	buffer_release(&lines[1]);
}

/* Both sessions are of the same rounds, [0] with what moved. */
static void expect_same_view(struct session *const sessions[2], const struct view *view, bool is_file)
{
	struct table *tables[2];

	for (size_t s = 0; s < 2; s++)
		tables[s] = session_table(sessions[s], view);
	expect_same_table(tables[0], tables[1], view->hide_gone);
	if (view->level == VIEW_LEVEL_GROUPS && tables[0]->row_count != 0 && !is_file) {
		const struct table_row *row = &tables[0]->rows[random_below(tables[0]->row_count)];
		struct table *metrics_of[2];

		for (size_t s = 0; s < 2; s++)
			metrics_of[s] = session_metric_table(sessions[s], view, row->key, row->key_length);
		expect_same_explanation(sessions, view, row, random_below(view->column_count));
		assert_int_equal(metrics_of[0] == NULL, metrics_of[1] == NULL);
		if (metrics_of[0] != NULL)
			expect_same_table(metrics_of[0], metrics_of[1], false);
		table_release(metrics_of[0]);
		table_release(metrics_of[1]);
	}
	table_release(tables[0]);
	table_release(tables[1]);
}

void expect_same_mode(struct session *const sessions[2], enum window_mode mode, enum sameness sameness)
{
	for (int axis = AXIS_COUNT; axis >= 0; axis--) {
		struct view view;

		/* slow: some axes of each round, so that all come up over the rounds */
		if (ADDRESS_SANITIZER && !one_in(3))
			continue;
		view_initialise(&view);
		view.mode = mode;
		if (axis == AXIS_COUNT)
			view.level = VIEW_LEVEL_THREADS;
		else
			view.grouping.axis = (enum axis)axis;
		view.hide_kernel_threads = one_in(3);
		view.columns = all_columns(sameness != SAME_MOMENT || mode != WINDOW_MODE_TOTAL,
					   &view.column_count);
		view.sort = view.columns[random_below(view.column_count)];
		view.hide_gone = sameness != SAME_ROUNDS;
		expect_same_view(sessions, &view, sameness == SAME_FILE);
		view_release(&view);
	}
}

void expect_same_views(struct session *const sessions[2], enum sameness sameness)
{
	for (int mode = 0; mode < WINDOW_MODE_COUNT; mode++)
		expect_same_mode(sessions, (enum window_mode)mode, sameness);
}
