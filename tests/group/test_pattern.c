/* SPDX-License-Identifier: GPL-2.0-only */
#include "tests/cmocka_include.h"

#include <string.h>

#include "window/cgroup_key.h"
#include "window/glob.h"
#include "window/pattern.h"

struct vector {
	const char *input, *output;
};

static const struct vector pattern_vectors[] = {
	{"tokio-worker-12", "tokio-worker-{N}"},
	{"kworker/0:0", "kworker/{N}:{N}"},
	{"worker_5", "worker_{N}"},
	{"kworker/3:2", "kworker/{N}:{N}"},
	{"rayon.pool.7", "rayon.pool.{N}"},
	{"kworker/u8:3", "kworker/u{N}:{N}"},
	{"Chrome thread 4", "Chrome thread {N}"},
	{"kworker/u16:0", "kworker/u{N}:{N}"},
	{"pool-2-thread-7", "pool-{N}-thread-{N}"},
	{"kworker/0:0-wq_reclaim", "kworker/{N}:{N}-wq_reclaim"},
	{"0", "{N}"},
	{"kworker/47:2-wq_reclaim", "kworker/{N}:{N}-wq_reclaim"},
	{"worker-", "worker-"},
	{"kworker/0:1H", "kworker/{N}:{N}H"},
	{"worker7", "worker{N}"},
	{"kworker/0:1H-wq_prio", "kworker/{N}:{N}H-wq_prio"},
	{"cpu0", "cpu{N}"},
	{"kworker/0:1+events", "kworker/{N}:{N}+events"},
	{"kworker/0:1-events", "kworker/{N}:{N}-events"},
	{"CamelCaseWord0", "CamelCaseWord{N}"},
	{"1H", "{N}H"},
	{"CamelCaseWord175", "CamelCaseWord{N}"},
	{"100Hz", "{N}Hz"},
	{"gadget-v2", "gadget-v{N}"},
	{"3z", "{N}z"},
	{"thingo-r2", "thingo-r{N}"},
	{"1aZ", "{N}aZ"},
	{"t1", "t{N}"},
	{"42xyz", "{N}xyz"},
	{"t-1", "t-{N}"},
	{"1a", "{H}"},
	{"ab_5", "ab_{N}"},
	{"0f", "{H}"},
	{"u8", "u{N}"},
	{"42abc", "{H}"},
	{"a0", "{H}"},
	{"a1", "{H}"},
	{"a1234", "{H}"},
	{"1a2", "{H}"},
	{"abc123def456", "{H}"},
	{"7890ab", "{H}"},
	{"650ab12cd34ef", "{H}"},
	{"session-a1234", "session-{H}"},
	{"e2e", "{H}"},
	{"e2e_proc", "{H}_proc"},
	{"abc", "abc"},
	{"a", "a"},
	{"init", "init"},
	{"proto303handler", "proto303handler"},
	{"BPF_CUBIC", "BPF_CUBIC"},
	{"bloop-tangler", "bloop-tangler"},
	{"whirly-gig-15", "whirly-gig-{N}"},
	{"worker[42]", "worker[{N}]"},
	{"systemd-network[105904]", "systemd-network[{N}]"},
	{"dev[1ab]", "dev[{H}]"},
	{"foo[bar]", "foo[bar]"},
	{"dev[abc]", "dev[abc]"},
	{"", ""},
	/* segmentation */
	{"a..b", "a..b"},
	{"yy._650", "yy._{N}"},
	{"a-[1]", "a-[{N}]"},
	/* every separator, Unicode white space, and what is no separator */
	{"1.2-3_4/5:6@7+8[9]0", "{N}.{N}-{N}_{N}/{N}:{N}@{N}+{N}[{N}]{N}"},
	{"w\u00a01\u20032\u30003", "w\u00a0{N}\u2003{N}\u3000{N}"},
	{"1,2", "1,2"},
	{"\u00e9t\u00e91 5", "\u00e9t\u00e91 {N}"},
	{"bad\xff"
	 "1-2",
	 "bad\xff"
	 "1-{N}"},
	{"cut\xe2\x80", "cut\xe2\x80"},
};

/* In ctop's own rule, all ASCII punctuation and white space are separators. */
static const struct vector own_vectors[] = {
	{"GC Thread#0", "GC Thread#{N}"},
	{"scanner (2)", "scanner ({N})"},
	{"worker=1", "worker={N}"},
	{"tokio|1", "tokio|{N}"},
	{"run-r0123456789abcdef0123456789abcdef.scope", "run-r{H}.scope"},
	{"run-r00000000000000000000000000000000.scope", "run-r{H}.scope"},
	{"run-r0123456789abcdef0123456789abcde.scope", "run-r0123456789abcdef0123456789abcde.scope"},
	{"run-u1234.service", "run-u{N}.service"},
	{"qemu\\x2d3\\x2dweb", "qemu\\x2d{N}\\x2dweb"},
	{"machine-qemu\\x2d12\\x2dweb01.scope", "machine-qemu\\x2d{N}\\x2dweb{N}.scope"},
	{"a\\x2", "a\\x{N}"},
	{"1!2\"3#4$5%6&7'8(9)0*1+2,3-4.5/6",
	 "{N}!{N}\"{N}#{N}${N}%{N}&{N}'{N}({N}){N}*{N}+{N},{N}-{N}.{N}/{N}"},
	{"1:2;3<4=5>6?7@8[9\\0]1^2_3`4{5|6}7~8",
	 "{N}:{N};{N}<{N}={N}>{N}?{N}@{N}[{N}\\{N}]{N}^{N}_{N}`{N}{{N}|{N}}{N}~{N}"},
	/* an escaped invalid byte is a letter of no class, as the byte is to ktstr */
	{"x\\xe8\\xa1", "x\\xe8\\xa1"},
	{"x\\xe812", "x\\xe812"},
	{"x\\xe8-12", "x\\xe8-{N}"},
	{"\u00e9t\u00e91 5", "\u00e9t\u00e91 {N}"},
	{"w\u00a01\u20032\t3", "w\u00a0{N}\u2003{N}\t{N}"},
	/* ctop's own names */
	{"(ended)", "(ended)"},
	{"ctop (self)", "ctop (self)"},
	{"@{I}.service", "@{I}.service"},
	/* names that both rules fold alike */
	{"kworker/u16:0", "kworker/u{N}:{N}"},
	{"7890ab", "{H}"},
	{"", ""},
};

static void test_own_pattern(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(own_vectors) / sizeof(own_vectors[0]); i++) {
		const struct vector *vector = &own_vectors[i];
		struct buffer buffer = {0};

		buffer_append_char(&buffer, '<');
		pattern_append(&buffer, vector->input, strlen(vector->input), &name_rules_ctop);
		assert_string_equal(buffer.data + 1, vector->output);
		buffer_release(&buffer);
	}
}

static void test_pattern(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(pattern_vectors) / sizeof(pattern_vectors[0]); i++) {
		const struct vector *vector = &pattern_vectors[i];
		struct buffer buffer = {0};

		buffer_append_char(&buffer, '<');
		pattern_append(&buffer, vector->input, strlen(vector->input), &name_rules_ktstr);
		assert_string_equal(buffer.data + 1, vector->output);
		buffer_release(&buffer);
	}
}

struct path_vector {
	const char *path, *instances, *key;
};

static const struct path_vector path_vectors[] = {
	{"/user.slice/user-0.slice/user@0.service/boot.scope",
	 "/user.slice/user-0.slice/user@{I}.service/boot.scope",
	 "/user.slice/user-{N}.slice/user@{I}.service/boot.scope"},
	{"/user.slice/user-1001.slice/user@1001.service/boot.scope",
	 "/user.slice/user-1001.slice/user@{I}.service/boot.scope",
	 "/user.slice/user-{N}.slice/user@{I}.service/boot.scope"},
	{"/critical.slice/launcher@foo.bar.baz.service", "/critical.slice/launcher@foo.bar.baz.service",
	 "/critical.slice/launcher@foo.bar.baz.service"},
	{"/a.slice/x@.service", "/a.slice/x@.service", "/a.slice/x@.service"},
	{"/a.slice/x@b@0.service", "/a.slice/x@{I}.service", "/a.slice/x@{I}.service"},
	{"/system.slice/crond.service", "/system.slice/crond.service", "/system.slice/crond.service"},
	{"/apps.slice/run-17.fluxcap9000_01.zz3", "/apps.slice/run-17.fluxcap9000_01.zz3",
	 "/apps.slice/run-{N}.fluxcap{N}_{N}.zz{N}"},
	{"/user.slice/session-[a1b2c3d4]/scope", "/user.slice/session-[a1b2c3d4]/scope",
	 "/user.slice/session-[{H}]/scope"},
	{"/runner-[xyz]/scope", "/runner-[xyz]/scope", "/runner-[xyz]/scope"},
	{"/a@1/b@2.service", "/a@1/b@{I}.service", "/a@{N}/b@{I}.service"},
	{"/a@x", "/a@x", "/a@x"},
	{"", "", ""},
};

/* Pods are of their template; what else a container is called has the pattern of a name. */
static void test_containers(void **state)
{
	static const struct {
		const char *name, *pattern;
	} cases[] = {
		{"shop/web-7d9f8b6c5-abcde/app", "shop/web-{H}-{N}/app"},
		{"shop/web-7d9f8b6c5-x2k4p/app", "shop/web-{H}-{N}/app"},
		{"shop/web2-front-5c4b/x-1", "shop/web2-front-5c4b/x-1"},
		{"shop/report-29384720-x2k4p/job", "shop/report-{N}-{N}/job"},
		{"kube-system/kube-proxy-x2k4p/kube-proxy", "kube-system/kube-proxy-{N}/kube-proxy"},
		{"kube-system/kube-proxy/kube-proxy", "kube-system/kube-proxy/kube-proxy"},
		{"kube-system/web-nginx/nginx", "kube-system/web-nginx/nginx"},
		{"db/postgres-0/postgres", "db/postgres-{N}/postgres"},
		{"a/-abcde/c", "a/-abcde/c"},
		{"a//c", "a//c"},
		{"a/12345/c", "a/12345/c"},
		{"//", "//"},
		{"shop_web_1", "shop_web_{N}"},
		{"user@1000.service", "user@{N}.service"},
		{"a/b", "a/b"},
	};
	struct buffer buffer = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		buffer_clear(&buffer);
		pattern_append_container(&buffer, cases[i].name, strlen(cases[i].name));
		assert_string_equal(buffer.data, cases[i].pattern);
	}
	buffer_release(&buffer);
}

static void assert_cgroup_key(const struct grouping_options *options, const char *path, const char *key)
{
	struct cgroup_key_rules rules;
	struct buffer buffer = {0};

	buffer_append_char(&buffer, '<');
	cgroup_key_rules_initialise(&rules, options);
	cgroup_key_append(&rules, path, strlen(path), &buffer);
	assert_string_equal(buffer.data + 1, key);
	cgroup_key_rules_release(&rules);
	buffer_release(&buffer);
}

static void test_cgroup_keys(void **state)
{
	struct grouping_options options = {.axis = AXIS_CGROUP, .rules = &name_rules_ctop};

	(void)state;
	for (size_t i = 0; i < sizeof(path_vectors) / sizeof(path_vectors[0]); i++) {
		const struct path_vector *vector = &path_vectors[i];
		struct buffer buffer = {0};

		buffer_append_char(&buffer, '<');
		pattern_append_systemd_instances(&buffer, vector->path, strlen(vector->path));
		assert_string_equal(buffer.data + 1, vector->instances);
		buffer_release(&buffer);
		assert_cgroup_key(&options, vector->path, vector->key);
	}
}

static void test_flatten(void **state)
{
	static const char *const globs[] = {"[invalid", "/kubepods/*/workload", "/kubepods/**", "/u-[0-9]"};
	struct grouping_options options = {
		.axis = AXIS_CGROUP, .rules = &name_rules_ctop, .flatten = globs, .flatten_count = 4};

	(void)state;
	assert_cgroup_key(&options, "/kubepods/pod-abc-123/workload", "/kubepods/*/workload");
	assert_cgroup_key(&options, "/kubepods/a/b/workload", "/kubepods/*/workload");
	assert_cgroup_key(&options, "/kubepods/a/b", "/kubepods/**");
	assert_cgroup_key(&options, "/u-7", "/u-[{N}-{N}]");
	assert_cgroup_key(&options, "/other/7", "/other/{N}");
	options.keep_cgroup_names = true;
	assert_cgroup_key(&options, "/u-7", "/u-[0-9]");
	assert_cgroup_key(&options, "/other/7", "/other/7");
}

struct glob_vector {
	const char *pattern, *text;
	int matches; /* -1: the pattern does not compile */
};

static const struct glob_vector glob_vectors[] = {
	{"", "", 1},
	{"", "a", 0},
	{"abc", "abc", 1},
	{"abc", "abcd", 0},
	{"a?c", "abc", 1},
	{"a?c", "a/c", 1},
	{"a?c", "a\u00e9c", 1},
	{"a?c", "ac", 0},
	{"a*c", "ac", 1},
	{"a*c", "a/b/c", 1},
	{"a*b*c", "axbxbxc", 1},
	{"a*b*c", "axcxb", 0},
	{"*", "", 1},
	{"*", ".hidden/x", 1},
	{"[abc]", "b", 1},
	{"[abc]", "d", 0},
	{"[!abc]", "d", 1},
	{"[!abc]", "a", 0},
	{"[!abc]", "/", 1},
	{"[a-z]", "m", 1},
	{"[a-z]", "M", 0},
	{"[a-]", "-", 1},
	{"[]]", "]", 1},
	{"[!]]", "]", 0},
	{"[!]]", "x", 1},
	{"[z-a]", "m", 0},
	{"[\u00e0-\u00ff]", "\u00e9", 1},
	{"a[0-9]?*", "a1bcd", 1},
	{"/a/**", "/a/", 1},
	{"/a/**", "/a/b/c", 1},
	{"/a/**", "/a", 0},
	{"/a/**/c", "/a/c", 1},
	{"/a/**/c", "/a/b/b/c", 1},
	{"/a/**/c", "/a/bc", 0},
	{"**/c", "c", 1},
	{"**/c", "x/c", 1},
	{"**/c", "xc", 0},
	{"**", "any/thing", 1},
	{"a**", "", -1},
	{"**a", "", -1},
	{"a/**b", "", -1},
	{"***", "", -1},
	{"[abc", "", -1},
	{"[]", "", -1},
	{"[!]", "", -1},
	{"{a,b}", "{a,b}", 1},
	{"{a,b}", "a", 0},
};

static void test_glob(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(glob_vectors) / sizeof(glob_vectors[0]); i++) {
		const struct glob_vector *vector = &glob_vectors[i];
		struct glob *glob = glob_compile(vector->pattern, strlen(vector->pattern));

		if (vector->matches < 0) {
			assert_null(glob);
			continue;
		}
		assert_non_null(glob);
		if (glob_matches(glob, vector->text, strlen(vector->text)) != (vector->matches != 0))
			fail_msg("%s against %s", vector->pattern, vector->text);
		glob_release(glob);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pattern),    cmocka_unit_test(test_own_pattern),
		cmocka_unit_test(test_containers), cmocka_unit_test(test_cgroup_keys),
		cmocka_unit_test(test_flatten),    cmocka_unit_test(test_glob),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
