/* SPDX-License-Identifier: GPL-2.0-only */
/* What sched_ext schedulers keep, in files: as it is read, in whatever order it comes, and made to do harm.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "cmocka_include.h"
#include "snapshot_compare.h"
#include "snapshot_example.h"

#define LEFT_OUT(count)                                                                                      \
	"contexts of the scheduler are left out where they are not as the file says (" count ")"

static void expect_no_context(const struct snapshot *snapshot, size_t thread, reason_id wanted)
{
	reason_id reason;

	assert_null(task_fields_context(&snapshot->task_fields, thread, &reason));
	assert_int_equal(reason, wanted);
}

static void expect_number(const struct snapshot *snapshot, size_t thread, size_t member, size_t element,
			  uint64_t wanted)
{
	const uint8_t *context = task_fields_context(&snapshot->task_fields, thread, NULL);

	assert_non_null(context);
	assert_true(task_field_read(&snapshot->task_fields.owner->members[member], context, element) ==
		    wanted);
}

/* The size comes last: nothing that stands before it may need it. */
static void test_any_order(void **state)
{
	struct snapshot *snapshot = example_accept_two_threads(
		"'scx':{'later':[{}],'events':{'A':1,'B':2,'A':3},'members':["
		"{'bit_size':16,'name':'weight','kind':'unsigned','later':1},"
		"{'name':'odd','kind':'later','bit_offset':16,'bit_size':16},"
		"{'name':'nice','kind':'signed','bit_offset':32,'bit_size':16}],'size':8}",
		"'scx':[305,-5]", "'missing':{'scx':'other-task'}", "");

	(void)state;
	assert_string_equal(snapshot->task_fields.owner->name, "");
	assert_int_equal(snapshot->task_fields.event_count, 2);
	assert_int_equal(snapshot->task_fields.events[0].value, 3);
	assert_true(snapshot->task_fields.only_numbers);
	assert_int_equal(snapshot->task_fields.owner->members[1].kind, TASK_FIELD_KIND_OTHER);
	expect_number(snapshot, 0, 0, 0, 305);
	expect_number(snapshot, 0, 2, 0, (uint64_t)-5);
	expect_no_context(snapshot, 1, REASON_OTHER_TASK);
	snapshot_release(snapshot);
}

static void test_no_contexts(void **state)
{
	struct snapshot *snapshot = example_accept_two_threads(
		"'scx':{'scheduler':'mini_2'},'missing':{'scx':'not-read'}", "", "'scx':[]", "");

	(void)state;
	assert_string_equal(snapshot->task_fields.owner->family, "mini");
	assert_null(snapshot->task_fields.context_of);
	snapshot_release(snapshot);
	snapshot = example_accept_two_threads("'scx':{'scheduler':'mini'}", "'missing':{'scx':'not-read'}",
					      "'scx':[]", "");
	expect_no_context(snapshot, 0, REASON_NOT_READ);
	assert_non_null(task_fields_context(&snapshot->task_fields, 1, NULL)); /* of a type without numbers */
	snapshot_release(snapshot);
	/* numbers of nobody knows what, and what was thought of after us */
	snapshot = example_accept_two_threads("", "'scx':[1]", "'missing':{'scx':'too-warm'}", "");
	assert_null(snapshot->task_fields.owner);
	snapshot_release(snapshot);
}

/* Of members that cannot be, the numbers stand there all the same. */
static void test_odd_members(void **state)
{
	struct snapshot *snapshot = example_accept_two_threads(
		"'scx':{'size':4,'members':["
		"{'name':'far','kind':'unsigned','bit_offset':4294967295,'bit_size':4294967295},"
		"{'name':'wide','kind':'unsigned','bit_size':65},"
		"{'name':'none','kind':'array','bit_size':8,'count':0},"
		"{'name':'behind','kind':'array','bit_offset':24,'bit_size':8,'count':2},"
		"{'name':'good','kind':'array','bit_offset':16,'bit_size':4,'count':4,'signed':true}]}",
		"'scx':[1,18446744073709551615,3,4,-8,-1,7,0]", "", "");
	static const uint64_t wanted[] = {(uint64_t)-8, (uint64_t)-1, 7, 0};

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(snapshot->task_fields.owner->members[i].kind, TASK_FIELD_KIND_OTHER);
		expect_number(snapshot, 0, 4, i, wanted[i]);
	}
	snapshot_release(snapshot);
	/* more elements than an array may have, and more than any list has */
	snapshot = example_accept_two_threads(
		"'scx':{'size':4,'members':[{'kind':'array','bit_size':1,'count':"
		"18446744073709551615}]}",
		"'scx':[1]", "", LEFT_OUT("1"));
	expect_no_context(snapshot, 0, REASON_NOT_READ);
	snapshot_release(snapshot);
}

static void test_numbers_that_do_not_fit(void **state)
{
	static const char top[] = "'scx':{'size':4,'members':[{'name':'a','kind':'unsigned','bit_size':8},"
				  "{'name':'b','kind':'signed','bit_offset':8,'bit_size':8}]}";
	static const char *const lists[] = {"",     "1",     "1,2,3",  "256,0",
					    "-1,0", "0,128", "0,-129", "0,18446744073709551615"};

	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(lists); i++) {
		char *list = memory_format("'scx':[%s]", lists[i]);
		struct snapshot *snapshot;

		/* the last one is -1 to the bits of a context, and so is taken */
		if (i + 1 == ARRAY_COUNT(lists)) {
			snapshot = example_accept_two_threads(top, list, "'scx':[255,-128]", "");
			expect_number(snapshot, 0, 1, 0, (uint64_t)-1);
		} else {
			snapshot = example_accept_two_threads(top, list, "'scx':[255,-128]", LEFT_OUT("1"));
			expect_no_context(snapshot, 0, REASON_NOT_READ);
		}
		expect_number(snapshot, 1, 0, 0, 255);
		expect_number(snapshot, 1, 1, 0, (uint64_t)-128);
		snapshot_release(snapshot);
		free(list);
	}
}

/* More members than a type may have, whose numbers come last. */
static void test_many_members(void **state)
{
	enum {
		MORE = 10,
	};
	struct buffer top = {0}, list = {0};
	struct snapshot *snapshot;

	(void)state;
	buffer_append_text(&top, "'scx':{'size':1,'members':[");
	buffer_append_text(&list, "'scx':[");
	for (int i = 0; i < TASK_FIELD_MEMBERS_MAX + MORE; i++) {
		buffer_append_format(&top, "%s{'name':'overlapping','kind':'unsigned','bit_size':8}",
				     i != 0 ? "," : "");
		buffer_append_text(&list, i != 0 ? ",9" : "9");
	}
	buffer_append_text(&top, "]}");
	buffer_append_text(&list, "]");
	snapshot = example_accept_two_threads(top.data, list.data, "'scx':[1]", LEFT_OUT("1"));
	assert_int_equal(snapshot->task_fields.owner->member_count, TASK_FIELD_MEMBERS_MAX);
	expect_number(snapshot, 0, TASK_FIELD_MEMBERS_MAX - 1, 0, 9);
	expect_no_context(snapshot, 1, REASON_NOT_READ);
	snapshot_release(snapshot);
	buffer_release(&top);
	buffer_release(&list);
}

/* Large contexts of a short file: what it takes to read it must not be more than what it looks like. */
static void test_large_contexts(void **state)
{
	enum {
		THREADS = 100000,
	};
	static const char thread[] = "{'tid':1,'tgid':1,'pcomm':'','comm':'','cgroup':'','policy':'',"
				     "'cpu_affinity':[],'ctop':{'scx':[1]}}";
	struct buffer text = {0};
	struct snapshot *snapshot;
	char *json;

	(void)state;
	buffer_append_text(&text,
			   "{'captured_at_unix_ns':1,'cgroup_stats':{},'psi':" EXAMPLE_PSI
			   ",'ctop':{'scx':{'size':65536,'members':[{'kind':'unsigned','bit_size':8}]}},"
			   "'threads':[");
	for (int i = 0; i < THREADS; i++)
		buffer_append_format(&text, "%s%s", i != 0 ? "," : "", thread);
	buffer_append_text(&text, "]}");
	json = example_quoted(text.data);
	snapshot = example_accept(json, NULL);
	assert_non_null(strstr(snapshot->format_notes, "; " LEFT_OUT("100000")));
	assert_int_equal(snapshot->task_fields.context_count, 0);
	assert_int_equal(snapshot->task_fields.context_capacity, 0);
	expect_no_context(snapshot, THREADS - 1, REASON_NOT_READ);
	snapshot_release(snapshot);
	free(json);
	buffer_release(&text);
	/* and larger than any context */
	snapshot = example_accept_two_threads(
		"'scx':{'scheduler':'x','size':65537,'members':[{'kind':'unsigned',"
		"'bit_size':8}]}",
		"'scx':[1]", "'scx':[1]", LEFT_OUT("2"));
	assert_int_equal(snapshot->task_fields.owner->member_count, 0);
	expect_no_context(snapshot, 0, REASON_NOT_READ);
	snapshot_release(snapshot);
}

/* Members and numbers of a wrong type are refused, with the place. */
static void test_refused(void **state)
{
	static const struct {
		const char *top, *thread, *sentence;
	} bad[] = {
		{"'scx':[]", "", "ctop.scx must be an object, not an array"},
		{"'scx':{},'scx':{}", "", "ctop.scx stands there twice"},
		{"'scx':{'size':4294967296}", "",
		 "ctop.scx.size must be a whole number from 0 to 4294967295"},
		{"'scx':{'size':-1}", "", "ctop.scx.size must be a whole number"},
		{"'scx':{'scheduler':1}", "", "ctop.scx.scheduler must be a string"},
		{"'scx':{'events':{'A':-1}}", "", "ctop.scx.events[\"A\"] must be a whole number from 0"},
		{"'scx':{'events':[]}", "", "ctop.scx.events must be an object, not an array"},
		{"'scx':{'members':{}}", "", "ctop.scx.members must be an array of objects"},
		{"'scx':{'members':[1]}", "", "ctop.scx.members[0] must be an object"},
		{"'scx':{'members':[{},{'kind':1}]}", "", "ctop.scx.members[1].kind must be a string"},
		{"'scx':{'members':[{'bit_offset':4294967296}]}", "",
		 "members[0].bit_offset must be a whole"},
		{"'scx':{'members':[{'values':{'X':'1'}}]}", "", "members[0].values[\"X\"] must be a whole"},
		{"'scx':{'members':[{'values':{'X':1.5}}]}", "", "members[0].values[\"X\"] must be a whole"},
		{"", "'scx':{}", "threads[0].ctop.scx must be an array of numbers, not an object"},
		{"", "'scx':[1,null]",
		 "threads[0].ctop.scx[1] must be a whole number from -9223372036854775808"},
		{"", "'scx':[18446744073709551616]", "threads[0].ctop.scx[0] must be a whole number"},
		{"", "'scx':[-9223372036854775809]", "threads[0].ctop.scx[0] must be a whole number"},
		{"", "'scx':[1e3]", "threads[0].ctop.scx[0] must be a whole number"},
		{"", "'scx':[1],'scx':[1]", "threads[0].ctop.scx stands there twice"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(bad); i++) {
		char *json = example_two_threads(bad[i].top, bad[i].thread, "", true);

		example_refuse(json, bad[i].sentence);
		free(json);
	}
}

/* --- a large host --- */

enum {
	HOST_THREADS = 10000,
	HOST_MEMBERS = 40,
};

/* Of a type like that of lavd: 40 numbers in 512 bytes, most of which differ from thread to thread. */
static struct snapshot *large_host(bool with_contexts)
{
	struct task_field_owner *scheduler = task_field_owner_create(TASK_FIELD_SOURCE, "lavd_1.0.21_x86_64",
								     "task_ctx", "scx_task_map",
								     "arena, id behind the context", 512);
	struct snapshot *snapshot = snapshot_create();
	struct task_fields *scx = &snapshot->task_fields;
	char name[32];

	snapshot->provenance.present = true;
	snapshot_intern_triple(snapshot, (struct triple){0});
	for (uint32_t i = 0; i < HOST_THREADS; i++) {
		snapshot_add_thread(snapshot, 1 + i / 100, 1 + i);
		snapshot_column(snapshot, METRIC_STATE)[i] = 'S';
		snapshot_column(snapshot, METRIC_RUN_TIME_NS)[i] = UINT64_C(1000003) * i;
	}
	for (uint32_t i = 0; i < HOST_MEMBERS; i++) {
		const struct task_field_member member = {
			.name = name,
			.type = "u64",
			.kind = TASK_FIELD_KIND_UNSIGNED,
			.bit_offset = i * 96,
			.bit_size = i % 2 == 0 ? 64 : 32,
			.count = 1,
		};

		snprintf(name, sizeof(name), "large_%u", i);
		assert_true(task_field_owner_add_member(scheduler, &member));
	}
	task_fields_begin(scx, scheduler, HOST_THREADS);
	for (uint32_t i = 0; with_contexts && i < HOST_THREADS; i++) {
		uint8_t *context = task_fields_add_context(scx, i);

		for (uint32_t j = 0; j < HOST_MEMBERS; j++)
			task_field_write(&scheduler->members[j], context, 0,
					 j % 4 == 0 ? UINT64_C(1234567) * i * j : (uint64_t)i % (j + 1));
	}
	snapshot_finish(snapshot);
	return snapshot;
}

static off_t write_large_host(bool with_contexts, int descriptor, uint64_t *ret_json)
{
	struct snapshot *snapshot = large_host(with_contexts), *copy = NULL;
	struct stat status;

	assert_int_equal(ctprof_write_descriptor(snapshot, snapshot->window, descriptor, ret_json, NULL), 0);
	assert_int_equal(fstat(descriptor, &status), 0);
	assert_int_equal(lseek(descriptor, 0, SEEK_SET), 0);
	assert_int_equal(ctprof_read_descriptor(descriptor, "large", CTPROF_DEFAULT_LIMIT, &copy, NULL), 0);
	assert_null(copy->format_notes);
	assert_snapshots_equal(snapshot, copy);
	snapshot_release(copy);
	snapshot_release(snapshot);
	return status.st_size;
}

static void test_large_host(void **state)
{
	int descriptors[2] = {memfd_create("without", MFD_CLOEXEC), memfd_create("with", MFD_CLOEXEC)};
	uint64_t json[2];
	off_t bytes[2];

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		bytes[i] = write_large_host(i == 1, descriptors[i], &json[i]);
		close(descriptors[i]);
	}
	print_message("a context of %d numbers takes %.0f bytes of JSON and %.1f of the file\n", HOST_MEMBERS,
		      (double)(json[1] - json[0]) / (double)HOST_THREADS,
		      (double)(bytes[1] - bytes[0]) / (double)HOST_THREADS);
	/* 11 bytes of JSON a number, and a file no larger than the contexts in memory */
	assert_true(json[1] - json[0] < (uint64_t)HOST_THREADS * HOST_MEMBERS * 11);
	assert_true(bytes[1] - bytes[0] < (off_t)HOST_THREADS * 512);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_any_order),    cmocka_unit_test(test_no_contexts),
		cmocka_unit_test(test_odd_members),  cmocka_unit_test(test_numbers_that_do_not_fit),
		cmocka_unit_test(test_many_members), cmocka_unit_test(test_large_contexts),
		cmocka_unit_test(test_refused),      cmocka_unit_test(test_large_host),
	};

	return cmocka_run_group_tests_name("ctprof_scx", tests, NULL, NULL);
}
