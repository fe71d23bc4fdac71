/* SPDX-License-Identifier: GPL-2.0-only */
#include "tests/cmocka_include.h"

#include <stdio.h>
#include <string.h>

#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "snapshot/container_names.h"
#include "snapshot/user_names.h"
#include "window/grouping.h"

static void add_names(struct snapshot *snapshot, struct name_text pcomm, struct name_text comm,
		      struct name_text cgroup)
{
	uint32_t id = (uint32_t)snapshot->thread_count + 1;
	size_t thread = snapshot_add_thread(snapshot, id, id);
	struct triple triple = {
		string_pool_intern(&snapshot->strings, pcomm.text, pcomm.length),
		string_pool_intern(&snapshot->strings, comm.text, comm.length),
		string_pool_intern(&snapshot->strings, cgroup.text, cgroup.length),
	};

	snapshot->triple[thread] = snapshot_intern_triple(snapshot, triple);
}

static void add_thread(struct snapshot *snapshot, const char *pcomm, const char *comm, const char *cgroup)
{
	add_names(snapshot, name_text_of(pcomm), name_text_of(comm), name_text_of(cgroup));
}

/* Threads `prefix0` … of process and cgroup "p". */
static struct snapshot *snapshot_of_pool(const char *prefix, int first, int count)
{
	struct snapshot *snapshot = snapshot_create();
	char name[64];

	for (int i = first; i < first + count; i++) {
		snprintf(name, sizeof(name), "%s%d", prefix, i);
		add_thread(snapshot, "p", name, "/");
	}
	return snapshot;
}

static void assert_group_key(const struct grouping *grouping, uint32_t group, const char *key, size_t length)
{
	size_t key_length;
	const char *text = grouping_key(grouping, group, &key_length);

	assert_int_equal(key_length, length);
	assert_memory_equal(text, key, length);
	assert_int_equal(grouping_find(grouping, key, length), group);
}

static size_t members_of(const struct grouping *grouping, const struct snapshot *snapshot, uint32_t group)
{
	size_t members = 0;

	for (size_t i = 0; i < snapshot->thread_count; i++)
		members += grouping_of_thread(grouping, 0, snapshot, i) == group;
	return members;
}

static struct grouping *group_with(const struct snapshot *snapshot, struct grouping_options options)
{
	return grouping_create(&options, &snapshot, 1, NULL);
}

static struct grouping *group_by(enum axis axis, const struct snapshot *snapshot)
{
	return group_with(snapshot, (struct grouping_options){.axis = axis});
}

static size_t members_of_label(const struct grouping *grouping, const struct snapshot *snapshot,
			       const char *wanted)
{
	size_t members = 0;

	for (uint32_t group = 0; group < grouping_count(grouping); group++) {
		size_t length;
		const char *label = grouping_label(grouping, group, &length);

		if (length == strlen(wanted) && memcmp(label, wanted, length) == 0)
			members += members_of(grouping, snapshot, group);
	}
	return members;
}

/* The processes of ctop itself are one row, whatever their threads are called; another ctop is not in it. */
static void test_self(void **state)
{
	static const enum axis axes_of_names[] = {AXIS_PROCESS, AXIS_THREAD, AXIS_THREAD_EXACT, AXIS_PID};
	struct snapshot *snapshot = snapshot_create();
	struct grouping *grouping;

	(void)state;
	snapshot->provenance.present = true;
	add_names(snapshot, name_self, name_text_of("ctop"), name_text_of("/"));
	add_names(snapshot, name_self, name_text_of("capture"), name_text_of("/"));
	add_thread(snapshot, "ctop", "ctop", "/");
	for (size_t i = 0; i < sizeof(axes_of_names) / sizeof(axes_of_names[0]); i++) {
		grouping = group_by(axes_of_names[i], snapshot);
		assert_int_equal(grouping_count(grouping), 2);
		assert_int_equal(members_of_label(grouping, snapshot, name_self.text), 2);
		grouping_release(grouping);
	}
	grouping = group_with(snapshot,
			      (struct grouping_options){.axis = AXIS_THREAD, .rules = &name_rules_ktstr});
	assert_int_equal(members_of_label(grouping, snapshot, name_self.text), 0);
	assert_int_equal(members_of_label(grouping, snapshot, "ctop"), 2);
	grouping_release(grouping);
	snapshot_release(snapshot);
}

/* A libvirt domain keeps its group when it restarts: systemd escapes the changing number. */
static void test_own_cgroups(void **state)
{
	static const char *const paths[] = {"/machine.slice/machine-qemu\\x2d3\\x2dweb01.scope",
					    "/machine.slice/machine-qemu\\x2d7\\x2dweb01.scope",
					    "/system.slice/run-r0123456789abcdef0123456789abcdef.scope",
					    "/system.slice/run-r1123456789abcdef0123456789abcdef.scope"};
	struct snapshot *snapshot = snapshot_create();
	struct grouping *grouping;

	(void)state;
	snapshot->provenance.present = true;
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		add_thread(snapshot, "p", "p", paths[i]);
	grouping = group_by(AXIS_CGROUP, snapshot);
	assert_int_equal(grouping_count(grouping), 2);
	assert_int_equal(
		members_of_label(grouping, snapshot, "/machine.slice/machine-qemu\\x2d{N}\\x2dweb{N}.scope"),
		2);
	assert_int_equal(members_of_label(grouping, snapshot, "/system.slice/run-r{H}.scope"), 2);
	grouping_release(grouping);
	grouping = group_with(snapshot,
			      (struct grouping_options){.axis = AXIS_CGROUP, .rules = &name_rules_ktstr});
	assert_int_equal(grouping_count(grouping), 4);
	grouping_release(grouping);
	snapshot_release(snapshot);
}

/* A mark tells ctop's own names from threads of the same name. */
static void test_impostors(void **state)
{
	static const struct {
		enum axis axis;
		bool keep_names;
	} cases[] = {{AXIS_PROCESS, false}, {AXIS_THREAD, false}, {AXIS_THREAD_EXACT, false},
		     {AXIS_ALL, false},     {AXIS_ALL, true},     {AXIS_PROCESS, true}};
	const struct name_text names[] = {name_self, name_other, name_ended};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct snapshot *snapshot = snapshot_create();
		struct grouping *grouping;
		size_t own = 0;

		snapshot->provenance.present = true;
		for (size_t name = 0; name < sizeof(names) / sizeof(names[0]); name++) {
			add_names(snapshot, names[name], names[name], name_text_of("/"));
			add_thread(snapshot, names[name].text, names[name].text, "/");
			/* a lone byte 1 as a name is no mark */
			add_thread(snapshot, "p", "\1", "/");
		}
		grouping = group_with(snapshot, (struct grouping_options){
							.axis = cases[i].axis,
							.keep_thread_names = cases[i].keep_names,
						});
		assert_int_equal(grouping_count(grouping), 7);
		for (uint32_t group = 0; group < grouping_count(grouping); group++) {
			size_t key_length, length;
			const char *key = grouping_key(grouping, group, &key_length);
			const char *label = grouping_label(grouping, group, &length);

			own += grouping_is_own(grouping, group);
			assert_int_equal(grouping_find(grouping, key, key_length), group);
			assert_true(length != 0 && label[length - 1] != '\0');
		}
		assert_int_equal(own, 3);
		if (cases[i].axis != AXIS_ALL)
			assert_int_equal(members_of_label(grouping, snapshot, "(ended)"), 2);
		grouping_release(grouping);
		/* ktstr knows no such marks */
		grouping = group_with(snapshot, (struct grouping_options){
							.axis = cases[i].axis,
							.keep_thread_names = cases[i].keep_names,
							.rules = &name_rules_ktstr,
						});
		assert_int_equal(grouping_count(grouping), 4);
		grouping_release(grouping);
		snapshot_release(snapshot);
	}
}

/* A thread without a known cgroup gets one of ctop's own names there. */
static void test_own_name_as_cgroup(void **state)
{
	static const char parts[] = "(gone)\0p\0p";
	struct snapshot *snapshot = snapshot_create();
	struct grouping *grouping;
	size_t length;

	(void)state;
	snapshot->provenance.present = true;
	add_names(snapshot, name_text_of("p"), name_text_of("p"), name_gone);
	grouping = group_by(AXIS_CGROUP, snapshot);
	assert_string_equal(grouping_label(grouping, 0, &length), "(gone)");
	assert_int_equal(length, strlen("(gone)"));
	assert_true(grouping_is_own(grouping, 0));
	grouping_release(grouping);
	grouping = group_by(AXIS_CONTAINER, snapshot);
	assert_string_equal(grouping_label(grouping, 0, &length), "(gone)");
	assert_int_equal(length, strlen("(gone)"));
	grouping_release(grouping);
	/* with process and thread names, the label has no mark and the row is ordinary */
	grouping = group_by(AXIS_ALL, snapshot);
	assert_group_key(grouping, 0, parts, sizeof(parts) - 1);
	assert_memory_equal(grouping_label(grouping, 0, &length), parts, sizeof(parts));
	assert_int_equal(length, sizeof(parts) - 1);
	assert_false(grouping_is_own(grouping, 0));
	grouping_release(grouping);
	snapshot_release(snapshot);
}

/* ktstr replaces invalid bytes with U+FFFD and keeps systemd's escapes. */
static void test_reference_names(void **state)
{
	static const char *const cgroups[][2] = {
		{"/caf\\xc3\\xa9\\x2d1.service", "/caf\\xc3\\xa9\\x2d1.service"},
		{"/caf\\xc3\\xa9\\xc3.service", "/caf\\xc3\\xa9\uFFFD.service"},
		{"/\\xe8\\xa1", "/\uFFFD\uFFFD"},
	};
	struct snapshot *snapshot = snapshot_create();
	struct grouping *grouping;

	(void)state;
	add_thread(snapshot, "x\\xe8\\xa1", "x", "/");
	add_thread(snapshot, "x\\xe8\\xa2", "x", "/");
	/* a file that another program wrote */
	grouping = group_with(snapshot,
			      (struct grouping_options){.axis = AXIS_PROCESS, .rules = &name_rules_ktstr});
	assert_int_equal(grouping_count(grouping), 2);
	grouping_release(grouping);
	snapshot->provenance.present = true;
	grouping = group_by(AXIS_PROCESS, snapshot);
	assert_int_equal(grouping_count(grouping), 2);
	grouping_release(grouping);
	grouping = group_with(snapshot,
			      (struct grouping_options){.axis = AXIS_PROCESS, .rules = &name_rules_ktstr});
	assert_int_equal(grouping_count(grouping), 1);
	assert_group_key(grouping, 0, "x\uFFFD\uFFFD", 7);
	grouping_release(grouping);
	for (size_t i = 0; i < sizeof(cgroups) / sizeof(cgroups[0]); i++) {
		struct snapshot *one = snapshot_create();

		one->provenance.present = true;
		add_thread(one, "p", "p", cgroups[i][0]);
		grouping = group_with(
			one, (struct grouping_options){.axis = AXIS_CGROUP, .rules = &name_rules_ktstr});
		assert_group_key(grouping, 0, cgroups[i][1], strlen(cgroups[i][1]));
		grouping_release(grouping);
		snapshot_release(one);
	}
	snapshot_release(snapshot);
}

static void test_singleton_revert(void **state)
{
	static const char *const pool[] = {"rayon-pool-0", "rayon-pool-1", "rayon-pool-2", "rayon-pool-3"};
	struct snapshot *snapshot = snapshot_of_pool("worker-", 0, 8);
	struct grouping *grouping;

	(void)state;
	for (int i = 0; i < 4; i++)
		add_thread(snapshot, "p", pool[i], "/");
	add_thread(snapshot, "p", "main", "/");
	grouping = group_by(AXIS_THREAD, snapshot);
	assert_int_equal(grouping_count(grouping), 3);
	assert_group_key(grouping, 0, "main", 4);
	assert_group_key(grouping, 1, "rayon-pool-{N}", 14);
	assert_group_key(grouping, 2, "worker-{N}", 10);
	assert_int_equal(members_of(grouping, snapshot, 0), 1);
	assert_int_equal(members_of(grouping, snapshot, 1), 4);
	assert_int_equal(members_of(grouping, snapshot, 2), 8);
	assert_int_equal(grouping_find(grouping, "", 0), UINT32_MAX);
	assert_int_equal(grouping_find(grouping, "worker-0", 8), UINT32_MAX);
	grouping_release(grouping);
	snapshot_release(snapshot);
}

static void test_one_thread_keeps_its_name(void **state)
{
	struct snapshot *snapshot = snapshot_of_pool("worker-", 0, 1);
	struct grouping *grouping = group_by(AXIS_THREAD, snapshot);

	(void)state;
	assert_group_key(grouping, 0, "worker-0", 8);
	grouping_release(grouping);
	snapshot_release(snapshot);
}

/* The vote is one of threads, not of distinct names: two threads of one name are enough. */
static void test_threads_vote(void **state)
{
	struct snapshot *snapshot = snapshot_create();
	struct grouping *grouping;

	(void)state;
	add_thread(snapshot, "job-1", "a", "/");
	add_thread(snapshot, "job-1", "b", "/");
	grouping = group_by(AXIS_PROCESS, snapshot);
	assert_int_equal(grouping_count(grouping), 1);
	assert_group_key(grouping, 0, "job-{N}", 7);
	grouping_release(grouping);
	snapshot_release(snapshot);
}

static void test_vote_over_both_snapshots(void **state)
{
	struct grouping_options options = {.axis = AXIS_THREAD};
	struct snapshot *baseline = snapshot_of_pool("worker-", 7, 1);
	struct snapshot *candidate = snapshot_of_pool("worker-", 0, 3);
	const struct snapshot *const list[] = {baseline, candidate};
	struct grouping *grouping = grouping_create(&options, list, 2, NULL);

	(void)state;
	assert_int_equal(grouping_count(grouping), 1);
	assert_group_key(grouping, 0, "worker-{N}", 10);
	assert_int_equal(grouping_of_triple(grouping, 0, baseline->triple[0]), 0);
	assert_int_equal(grouping_of_triple(grouping, 1, candidate->triple[2]), 0);
	grouping_release(grouping);
	snapshot_release(baseline);
	snapshot_release(candidate);
}

static void test_pattern_stays_in_a_session(void **state)
{
	struct grouping_options options = {.axis = AXIS_THREAD};
	struct pattern_memory memory = {0};
	struct snapshot *two = snapshot_of_pool("worker-", 0, 2);
	struct snapshot *one = snapshot_of_pool("worker-", 1, 1);
	const struct snapshot *list[] = {one};
	struct grouping *grouping = grouping_create(&options, list, 1, &memory);

	(void)state;
	assert_group_key(grouping, 0, "worker-1", 8);
	grouping_release(grouping);
	list[0] = two;
	grouping_release(grouping_create(&options, list, 1, &memory));
	list[0] = one;
	grouping = grouping_create(&options, list, 1, &memory);
	assert_group_key(grouping, 0, "worker-{N}", 10);
	grouping_release(grouping);
	options.axis = AXIS_PROCESS;
	grouping = grouping_create(&options, list, 1, &memory);
	assert_group_key(grouping, 0, "p", 1);
	grouping_release(grouping);
	pattern_memory_release(&memory);
	snapshot_release(one);
	snapshot_release(two);
}

static void test_axes(void **state)
{
	struct grouping_options options = {0};
	struct snapshot *snapshot = snapshot_create();
	struct grouping *grouping;

	(void)state;
	add_thread(snapshot, "proc-1", "t-1", "/s@4.service/x1");
	add_thread(snapshot, "", "", "");
	options.axis = AXIS_ALL;
	grouping = group_with(snapshot, options);
	assert_int_equal(grouping_count(grouping), 2);
	assert_group_key(grouping, 0, "\0", 2);
	assert_group_key(grouping, 1, "/s@{I}.service/x{N}\0proc-{N}\0t-{N}", 34);
	grouping_release(grouping);

	options.keep_thread_names = true;
	grouping = group_with(snapshot, options);
	assert_group_key(grouping, 1, "/s@{I}.service/x{N}\0proc-1\0t-1", 30);
	grouping_release(grouping);

	grouping = group_by(AXIS_CGROUP, snapshot);
	assert_group_key(grouping, 0, "", 0);
	assert_group_key(grouping, 1, "/s@{I}.service/x{N}", 19);
	grouping_release(grouping);

	grouping = group_by(AXIS_THREAD_EXACT, snapshot);
	assert_group_key(grouping, 1, "t-1", 3);
	grouping_release(grouping);
	snapshot_release(snapshot);
}

static void test_names_kept(void **state)
{
	struct grouping_options options = {.axis = AXIS_THREAD, .keep_thread_names = true};
	struct snapshot *snapshot = snapshot_of_pool("worker-", 0, 3);
	struct grouping *grouping = group_with(snapshot, options);

	(void)state;
	assert_int_equal(grouping_count(grouping), 3);
	assert_group_key(grouping, 1, "worker-1", 8);
	grouping_release(grouping);
	snapshot_release(snapshot);
}

static void assert_label(const struct grouping *grouping, const char *key, const char *label)
{
	const struct name_text own = name_find_own(key, strlen(key));
	uint32_t group = grouping_find(grouping, key, own.length != 0 ? own.length : strlen(key));
	size_t length;

	assert_int_not_equal(group, UINT32_MAX);
	assert_string_equal(grouping_label(grouping, group, &length), label);
	assert_int_equal(length, strlen(label));
}

/* A snapshot that ctop captured itself. */
static struct snapshot *own_snapshot(const char *const *names, size_t count)
{
	struct snapshot *snapshot = snapshot_create();

	snapshot->provenance.present = true;
	for (size_t i = 0; i < count; i++)
		add_thread(snapshot, names[i], names[i], "/");
	return snapshot;
}

static void test_own_patterns(void **state)
{
	static const char *const names[] = {"cc1",     "cc1",     "cc1",     "ab12",    "bc1",
					    "python3", "python3", "python3", "python3", "pool-1",
					    "pool-2",  "",        "  ",      "   ",     "\t"};
	struct snapshot *snapshot = own_snapshot(names, ARRAY_COUNT(names));
	struct grouping *grouping = group_by(AXIS_PROCESS, snapshot);

	(void)state;
	assert_ptr_equal(grouping_rules(grouping), &name_rules_ctop);
	assert_int_equal(grouping_count(grouping), 9);
	assert_label(grouping, "cc1", "cc1");
	assert_int_equal(members_of(grouping, snapshot, grouping_find(grouping, "cc1", 3)), 3);
	assert_label(grouping, "ab12", "ab12");
	assert_label(grouping, "bc1", "bc1");
	assert_label(grouping, "python{N}", "python3");
	assert_label(grouping, "pool-{N}", "pool-{N}");
	assert_label(grouping, "", "(no name)");
	assert_label(grouping, "  ", "\"  \"");
	assert_label(grouping, "   ", "\"   \"");
	assert_label(grouping, "\t", "(blank)");
	grouping_release(grouping);
	/* the parts of the axis of all three follow the same rule */
	grouping = group_by(AXIS_ALL, snapshot);
	assert_int_equal(grouping_count(grouping), 9);
	{
		size_t length;
		uint32_t group = grouping_find(grouping, "/\0python{N}\0python{N}", 21);

		assert_int_not_equal(group, UINT32_MAX);
		assert_memory_equal(grouping_label(grouping, group, &length), "/\0python3\0python3", 18);
		assert_int_equal(length, 17);
	}
	grouping_release(grouping);
	/* names kept are seen too */
	grouping = group_by(AXIS_THREAD_EXACT, snapshot);
	assert_label(grouping, "", "(no name)");
	grouping_release(grouping);
	/* ktstr's rule, by choice or where another program captured */
	for (int i = 0; i < 2; i++) {
		grouping = group_with(snapshot,
				      (struct grouping_options){.axis = AXIS_PROCESS,
								.rules = i == 0 ? &name_rules_ktstr : NULL});
		assert_ptr_equal(grouping_rules(grouping), &name_rules_ktstr);
		assert_int_equal(grouping_count(grouping), 7);
		assert_label(grouping, "{H}", "{H}");
		assert_label(grouping, "python{N}", "python{N}");
		assert_label(grouping, "", "");
		grouping_release(grouping);
		snapshot->provenance.present = false;
	}
	snapshot_release(snapshot);
}

/* A pattern that once stood for two names stays one in a session, and the key never changes. */
static void test_label_in_a_session(void **state)
{
	static const char *const two_names[] = {"python3", "python2"}, *const one_name[] = {"python3",
											    "python3"};
	struct grouping_options options = {.axis = AXIS_PROCESS};
	struct snapshot *two = own_snapshot(two_names, 2), *one = own_snapshot(one_name, 2);
	const struct snapshot *rounds[] = {one, two, one};
	static const char *const labels[] = {"python3", "python{N}", "python{N}"};
	struct pattern_memory memory = {0};

	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(rounds); i++) {
		struct grouping *grouping = grouping_create(&options, &rounds[i], 1, &memory);

		assert_int_equal(grouping_count(grouping), 1);
		assert_label(grouping, "python{N}", labels[i]);
		grouping_release(grouping);
	}
	pattern_memory_release(&memory);
	snapshot_release(one);
	snapshot_release(two);
}

/* Two snapshots are counted together: one group, whatever the version before. */
static void test_label_of_two_snapshots(void **state)
{
	static const char *const three[] = {"python3", "gcc-12"}, *const two[] = {"python2", "gcc-12"};
	struct grouping_options options = {.axis = AXIS_PROCESS};
	struct snapshot *before = own_snapshot(two, 2), *after = own_snapshot(three, 2);
	const struct snapshot *const list[] = {before, after};
	struct grouping *grouping = grouping_create(&options, list, 2, NULL);

	(void)state;
	assert_int_equal(grouping_count(grouping), 2);
	assert_label(grouping, "python{N}", "python{N}");
	assert_label(grouping, "gcc-{N}", "gcc-12");
	grouping_release(grouping);
	snapshot_release(before);
	snapshot_release(after);
}

static void add_process(struct snapshot *snapshot, uint32_t tgid, uint32_t tid, uint64_t start_time,
			const char *name, uint32_t uid)
{
	add_thread(snapshot, name, name, "/");
	snapshot->tgid[snapshot->thread_count - 1] = tgid;
	snapshot->tid[snapshot->thread_count - 1] = tid;
	snapshot->start_time[snapshot->thread_count - 1] = start_time;
	snapshot->uid[snapshot->thread_count - 1] = uid;
}

/* A process is its id and the start of its leader; where no leader is known, of its first thread. */
static void test_processes(void **state)
{
	struct grouping_options options = {.axis = AXIS_PID};
	struct snapshot *snapshot = snapshot_create(), *ended = snapshot_create();
	const struct snapshot *const list[] = {snapshot, ended};
	struct grouping *grouping;
	bool by_thread;

	(void)state;
	add_process(snapshot, 99, 99, 5, "x", 0);
	add_process(snapshot, 4120, 4121, 3, "engine", 0);
	add_process(snapshot, 4120, 4120, 7, "engine", 0);
	add_process(snapshot, 99, 100, 6, "x", 0);
	add_process(snapshot, 50, 52, 9, "", 0);
	add_process(snapshot, 50, 51, 8, "", 0);
	snapshot_intern_triple(ended, (struct triple){string_pool_intern(&ended->strings, "x", 1), 0, 0});
	grouping = grouping_create(&options, list, 2, NULL);
	assert_int_equal(grouping_count(grouping), 4);
	assert_label(grouping, "99:5", "99 x");
	assert_label(grouping, "4120:7", "4120 engine");
	assert_label(grouping, "50:8", "50 (no name)");
	assert_label(grouping, "(ended)", "(ended)");
	assert_int_equal(grouping_pid(grouping, grouping_find(grouping, "4120:7", 6)), 4120);
	assert_int_equal(grouping_pid(grouping, grouping_find(grouping, name_ended.text, name_ended.length)),
			 0);
	assert_int_equal(grouping_of_thread(grouping, 0, snapshot, 1), grouping_find(grouping, "4120:7", 6));
	assert_int_equal(grouping_of_thread(grouping, 0, snapshot, 3), grouping_find(grouping, "99:5", 4));
	assert_int_equal(grouping_of_triple(grouping, 1, 0),
			 grouping_find(grouping, name_ended.text, name_ended.length));
	assert_int_equal(grouping_map(grouping, 0, &by_thread)[4], grouping_find(grouping, "50:8", 4));
	assert_true(by_thread);
	grouping_release(grouping);
	snapshot_release(snapshot);
	snapshot_release(ended);
}

static void test_users(void **state)
{
	struct snapshot *snapshot = snapshot_create();
	struct grouping *grouping;
	char host[256];

	(void)state;
	add_process(snapshot, 1, 1, 5, "init", 0);
	add_process(snapshot, 2, 2, 5, "a", 3999999);
	add_process(snapshot, 3, 3, 5, "b", UINT32_MAX);
	add_process(snapshot, 4, 4, 5, "c", 0);
	/* on another host user 0 is not known by the name it has here */
	for (int here = 0; here < 2; here++) {
		user_name(0);
		user_name(3999999);
		assert_true(user_names_wait(60 * NS_PER_S));
		grouping = group_by(AXIS_USER, snapshot);
		assert_int_equal(grouping_count(grouping), 3);
		assert_label(grouping, "0", here ? user_name(0) : "0");
		assert_label(grouping, "3999999", "3999999");
		assert_label(grouping, "?", "(unknown)");
		assert_int_equal(members_of(grouping, snapshot, grouping_find(grouping, "0", 1)), 2);
		grouping_release(grouping);
		assert_int_equal(gethostname(host, sizeof(host)), 0);
		snapshot->provenance.hostname = host;
	}
	snapshot_release(snapshot);
}

static void set_wait(struct snapshot *snapshot, size_t thread, enum wait_class class, const char *object)
{
	snapshot->wait_class[thread] = (uint8_t) class;
	snapshot->wait_object[thread] = string_pool_intern(&snapshot->strings, object, strlen(object));
}

static void test_waits(void **state)
{
	struct snapshot *snapshot = snapshot_create();
	struct grouping *grouping;

	(void)state;
	for (uint32_t id = 1; id <= 5; id++)
		add_process(snapshot, id, id, 5, "postgres", 0);
	grouping = group_by(AXIS_WAIT, snapshot);
	assert_int_equal(grouping_count(grouping), 1);
	assert_label(grouping, "(unknown)", "(unknown)");
	grouping_release(grouping);
	/* the same address in two processes is two futexes */
	snapshot_make_wait_columns(snapshot);
	set_wait(snapshot, 0, WAIT_CLASS_FUTEX, "0x7f00 lock");
	set_wait(snapshot, 1, WAIT_CLASS_FUTEX, "0x7f00 lock");
	set_wait(snapshot, 2, WAIT_CLASS_SOCKET, ":5432");
	set_wait(snapshot, 3, WAIT_CLASS_SOCKET, ":5432");
	grouping = group_by(AXIS_WAIT, snapshot);
	assert_int_equal(grouping_count(grouping), 4);
	assert_label(grouping, "futex 0x7f00 lock of 1", "futex 0x7f00 lock of 1");
	assert_label(grouping, "futex 0x7f00 lock of 2", "futex 0x7f00 lock of 2");
	assert_label(grouping, "(unknown)", "(unknown)");
	assert_int_equal(members_of(grouping, snapshot, grouping_find(grouping, "socket :5432", 12)), 2);
	grouping_release(grouping);
	snapshot_release(snapshot);
}

/* All threads of a host, including ended ones, form one group under its name. */
static void test_host(void **state)
{
	struct snapshot *snapshots[] = {snapshot_create(), snapshot_create()};
	const struct grouping_options options = {.axis = AXIS_HOST, .rules = &name_rules_ctop};
	struct grouping *grouping;

	(void)state;
	add_process(snapshots[0], 1, 1, 5, "init", 0);
	add_process(snapshots[0], 2, 2, 5, "worker-1", 7);
	add_process(snapshots[1], 1, 1, 5, "init", 0);
	for (size_t named = 0; named <= 2; named++) {
		grouping = grouping_create(&options, (const struct snapshot *const *)snapshots, 2, NULL);
		assert_int_equal(grouping_count(grouping), 1);
		assert_int_equal(members_of(grouping, snapshots[0], 0), 2);
		/* the label is "host" if the snapshots have no host name or two different ones */
		assert_label(grouping, "host", named == 1 ? "db-1" : "host");
		grouping_release(grouping);
		if (named < 2)
			snapshots[named]->provenance.hostname = named == 0 ? "db-1" : "db-2";
	}
	snapshot_release(snapshots[0]);
	snapshot_release(snapshots[1]);
}

#define FIRST_ID  "a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1"
#define SECOND_ID "b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2"
#define THIRD_ID  "c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3c3"

/* Containers have names, units theirs, and no two containers are one on the axis of cgroups either. */
static void test_containers(void **state)
{
	struct snapshot *snapshot = snapshot_create();
	struct grouping *grouping;

	(void)state;
	snapshot->provenance.present = true;
	container_names_set(FIRST_ID, "web");
	container_names_set(SECOND_ID, "shop/cart-0/app");
	add_thread(snapshot, "nginx", "nginx", "/system.slice/docker-" FIRST_ID ".scope");
	add_thread(snapshot, "nginx", "nginx", "/system.slice/docker-" FIRST_ID ".scope/workers");
	add_thread(snapshot, "app", "app", "/kubepods/pod1/" SECOND_ID);
	add_thread(snapshot, "x", "x", "/system.slice/docker-" THIRD_ID ".scope");
	add_thread(snapshot, "cron", "cron", "/system.slice/cron.service");
	add_thread(snapshot, "kthreadd", "kthreadd", "/");
	grouping = group_by(AXIS_CONTAINER, snapshot);
	assert_int_equal(grouping_count(grouping), 5);
	assert_int_equal(members_of_label(grouping, snapshot, "web"), 2);
	assert_label(grouping, "shop/cart-0/app", "shop/cart-0/app");
	assert_label(grouping, "c3c3c3c3c3c3", "c3c3c3c3c3c3");
	assert_label(grouping, "cron.service", "cron.service");
	assert_label(grouping, "/", "/");
	grouping_release(grouping);
	grouping = group_by(AXIS_CGROUP, snapshot);
	assert_int_equal(members_of_label(grouping, snapshot, "/system.slice/docker-a1a1a1a1a1a1.scope"), 1);
	assert_int_equal(members_of_label(grouping, snapshot, "/system.slice/docker-c3c3c3c3c3c3.scope"), 1);
	grouping_release(grouping);
	snapshot->provenance.present = false;
	grouping = group_by(AXIS_CGROUP, snapshot);
	assert_int_equal(members_of_label(grouping, snapshot, "/system.slice/docker-{H}.scope"), 2);
	grouping_release(grouping);
	snapshot_release(snapshot);
}

/* Pods of a template are one group where that is asked for; one alone keeps its name. */
static void test_folded_containers(void **state)
{
	struct snapshot *snapshot = snapshot_create();
	const struct grouping_options fold = {.axis = AXIS_CONTAINER, .fold_containers = true};
	struct grouping *grouping;

	(void)state;
	snapshot->provenance.present = true;
	container_names_set(FIRST_ID, "shop/web-7d9f8b6c5-x2k4p/app");
	container_names_set(SECOND_ID, "shop/web-7d9f8b6c5-zz9tq/app");
	container_names_set(THIRD_ID, "shop/cart-5d4c8b6f7-x2k4p/app");
	add_thread(snapshot, "app", "app", "/kubepods/pod1/" FIRST_ID);
	add_thread(snapshot, "app", "app", "/kubepods/pod2/" SECOND_ID);
	add_thread(snapshot, "app", "other", "/kubepods/pod2/" SECOND_ID "/inner");
	add_thread(snapshot, "app", "app", "/kubepods/pod3/" THIRD_ID);
	add_thread(snapshot, "app", "app", "/kubepods/pod3/" THIRD_ID "/inner");
	add_thread(snapshot, "x", "x",
		   "/docker-"
		   "d"
		   "4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4d4"
		   ".scope");
	grouping = group_by(AXIS_CONTAINER, snapshot);
	assert_int_equal(grouping_count(grouping), 4);
	assert_int_equal(members_of_label(grouping, snapshot, "shop/web-7d9f8b6c5-zz9tq/app"), 2);
	grouping_release(grouping);
	grouping = group_with(snapshot, fold);
	assert_int_equal(grouping_count(grouping), 3);
	assert_int_equal(members_of_label(grouping, snapshot, "shop/web-{H}-{N}/app"), 3);
	assert_label(grouping, "shop/cart-{H}-{N}/app", "shop/cart-5d4c8b6f7-x2k4p/app");
	assert_label(grouping, "d4d4d4d4d4d4", "d4d4d4d4d4d4");
	grouping_release(grouping);
	assert_false(grouping_options_agree(&fold, &(struct grouping_options){.axis = AXIS_CONTAINER}));
	snapshot_release(snapshot);
}

/* --- rounds that go on with the names of the round before --- */

/* Threads of a round, some of them with other names than in the last. */
static void churn(unsigned int names[][3], size_t count, unsigned int round)
{
	for (size_t i = 0; i < count; i++) {
		if ((i * 7 + round * 3) % 5 == 0)
			names[i][(i + round) % 3] = (unsigned int)(i * 11 + round * 13);
	}
}

static struct snapshot *named_round(unsigned int names[][3], size_t count, const struct snapshot *before,
				    bool by_ctop)
{
	static const char *const texts[] = {"web",     "worker-1", "worker-2", "worker-3", "cc1",     "bc",
					    "python3", "python2",  " ",        "a b",      "kworker", "io-a",
					    "io-b",    "db:main",  "db:bg7",   "x7",       "x8"};
	static const char *const cgroups[] = {"/", "/a.service", "/b@1.service", "/b@2.service",
					      "/c-12.scope"};
	struct snapshot *snapshot = snapshot_create();

	snapshot->provenance.present = by_ctop;
	if (before != NULL)
		snapshot_begin_names(snapshot, before->names_serial != 0 ? before : NULL);
	/* the threads come and go, too: so no thread has some of the names */
	for (size_t i = 0; i < count; i++) {
		if ((i + names[i][0]) % 4 != 0)
			add_thread(snapshot, texts[names[i][0] % ARRAY_COUNT(texts)],
				   texts[names[i][1] % ARRAY_COUNT(texts)],
				   cgroups[names[i][2] % ARRAY_COUNT(cgroups)]);
	}
	snapshot_finish(snapshot);
	return snapshot;
}

static void assert_same_groups(const struct grouping *a, const struct snapshot *of_a,
			       const struct grouping *b, const struct snapshot *of_b)
{
	assert_int_equal(grouping_count(a), grouping_count(b));
	for (uint32_t group = 0; group < grouping_count(a); group++) {
		size_t lengths[2];
		const char *texts[] = {grouping_key(a, group, &lengths[0]),
				       grouping_key(b, group, &lengths[1])};

		assert_int_equal(lengths[0], lengths[1]);
		assert_memory_equal(texts[0], texts[1], lengths[0]);
		texts[0] = grouping_label(a, group, &lengths[0]);
		texts[1] = grouping_label(b, group, &lengths[1]);
		assert_int_equal(lengths[0], lengths[1]);
		assert_memory_equal(texts[0], texts[1], lengths[0]);
	}
	for (size_t i = 0; i < of_a->thread_count; i++)
		assert_int_equal(grouping_of_thread(a, 0, of_a, i), grouping_of_thread(b, 0, of_b, i));
}

/* Names that a round takes over from the round before make the same groups as names that are read anew. */
static void test_names_go_on(void **state)
{
	enum {
		THREADS = 40,
		ROUNDS = 60,
	};

	(void)state;
	for (int by_ctop = 0; by_ctop < 2; by_ctop++) {
		struct pattern_memory of_kept = {0}, of_anew = {0}, *const memories[] = {&of_kept, &of_anew};
		unsigned int names[THREADS][3] = {{0}};
		struct snapshot *kept = snapshot_create();

		kept->names_serial = kept->serial;
		for (unsigned int round = 0; round < ROUNDS; round++) {
			struct snapshot *before = kept, *anew;

			churn(names, THREADS, round);
			/* the capture begins anew now and then, too */
			if (round % 20 == 19)
				before->names_serial = 0;
			kept = named_round(names, THREADS, before, by_ctop != 0);
			anew = named_round(names, THREADS, NULL, by_ctop != 0);
			snapshot_release(before);
			for (int axis = 0; axis < AXIS_COUNT; axis++) {
				const struct grouping_options options = {
					.axis = (enum axis)axis,
					.keep_thread_names = round % 4 == 3,
					.fold_containers = round % 2 == 0,
				};
				const struct snapshot *const rounds[] = {kept, anew};
				struct grouping *groupings[2];

				for (size_t i = 0; i < 2; i++)
					groupings[i] = grouping_create(&options, &rounds[i], 1, memories[i]);
				assert_same_groups(groupings[0], kept, groupings[1], anew);
				grouping_release(groupings[0]);
				grouping_release(groupings[1]);
			}
			snapshot_release(anew);
		}
		snapshot_release(kept);
		pattern_memory_release(&of_kept);
		pattern_memory_release(&of_anew);
	}
}

static void test_axis_names(void **state)
{
	(void)state;
	assert_int_equal(axis_find("pcomm"), AXIS_PROCESS);
	assert_int_equal(axis_find("process"), AXIS_PROCESS);
	assert_int_equal(axis_find("comm"), AXIS_THREAD);
	assert_int_equal(axis_find("thread"), AXIS_THREAD);
	assert_int_equal(axis_find("thread-exact"), AXIS_THREAD_EXACT);
	assert_int_equal(axis_find("comm-exact"), AXIS_THREAD_EXACT);
	assert_int_equal(axis_find("cgroup"), AXIS_CGROUP);
	assert_int_equal(axis_find("all"), AXIS_ALL);
	assert_int_equal(axis_find("pid"), AXIS_PID);
	assert_int_equal(axis_find("user"), AXIS_USER);
	assert_int_equal(axis_find("wait"), AXIS_WAIT);
	assert_int_equal(axis_find("host"), AXIS_HOST);
	assert_int_equal(axis_find("threads"), AXIS_COUNT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_self),
		cmocka_unit_test(test_impostors),
		cmocka_unit_test(test_own_name_as_cgroup),
		cmocka_unit_test(test_own_cgroups),
		cmocka_unit_test(test_reference_names),
		cmocka_unit_test(test_singleton_revert),
		cmocka_unit_test(test_one_thread_keeps_its_name),
		cmocka_unit_test(test_threads_vote),
		cmocka_unit_test(test_vote_over_both_snapshots),
		cmocka_unit_test(test_pattern_stays_in_a_session),
		cmocka_unit_test(test_axes),
		cmocka_unit_test(test_names_kept),
		cmocka_unit_test(test_own_patterns),
		cmocka_unit_test(test_label_in_a_session),
		cmocka_unit_test(test_label_of_two_snapshots),
		cmocka_unit_test(test_processes),
		cmocka_unit_test(test_users),
		cmocka_unit_test(test_waits),
		cmocka_unit_test(test_host),
		cmocka_unit_test(test_containers),
		cmocka_unit_test(test_folded_containers),
		cmocka_unit_test(test_names_go_on),
		cmocka_unit_test(test_axis_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
