/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Programs with thread data as jemalloc's generations lay it out, built, stripped, split and packed in all
 * ways that debug data comes in.
 */
#include <dlfcn.h>
#include <elf.h>
#include <elfutils/version.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "../cmocka_include.h"
#include "../needs.h"
#include "probe/object/jemalloc_symbol.h"
#include "probe/dwarf/resolve.h"
#include "probe/object/known_build.h"
#include "probe/resolver/object_files.h"

#define SOURCE TEST_DATA "/generation.c"

/* A temporary directory in which programs are built with the tools of this machine. */
static char workshop[] = "/tmp/ctop-probe-XXXXXX";

static bool run(const char *format, va_list arguments)
{
	char command[2048], line[2304];

	vsnprintf(command, sizeof(command), format, arguments);
	/* the tools must not inherit a sanitizer or other options of this test */
	snprintf(line, sizeof(line), "unset LD_PRELOAD; { %s; } >log 2>&1", command);
	return system(line) == 0;
}

/* Runs a shell command, quietly; true when it exits with 0. */
static bool workshop_run(const char *format, ...) __attribute__((format(printf, 1, 2)));

static bool workshop_run(const char *format, ...)
{
	va_list arguments;
	bool worked;

	va_start(arguments, format);
	worked = run(format, arguments);
	va_end(arguments);
	return worked;
}

/* The same, for a command that must work: else its output is shown and the test fails. */
static void workshop_make(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void workshop_make(const char *format, ...)
{
	va_list arguments;
	bool worked;

	va_start(arguments, format);
	worked = run(format, arguments);
	va_end(arguments);
	if (worked)
		return;
	if (system("cat log >&2") != 0)
		fprintf(stderr, "no log\n");
	fail_msg("a command failed: %s", format);
}

/* Is there a tool of that name? When not, a line says what is skipped. */
static bool workshop_has(const char *tool)
{
	if (workshop_run("command -v %s", tool))
		return true;
	print_message("SKIP: no %s\n", tool);
	return false;
}

enum {
	LIBRARIES_MAX = 3,
};

static struct resolution resolved;
static unsigned int opened;

static int open_file(void *context, uint32_t object, enum resolve_file file, const char *name,
		     uint32_t ordinal)
{
	const int descriptor = object_files_ask(context, object, file, name != NULL ? name : "", ordinal);

	opened += descriptor >= 0;
	return descriptor;
}

/* Makes a link of the process to a file of the workshop, or to one of the host by its whole path. */
static void link_file(const char *file, const char *up, const char *link)
{
	char target[512];

	snprintf(target, sizeof(target), "%s%s", file[0] == '/' ? "" : up, file);
	unlink(link);
	assert_int_equal(symlink(target, link), 0);
}

/* Resolves for a process whose root is the workshop. */
static void resolve_with(const char *executable, const char *const *libraries, uint32_t count)
{
	static char paths[LIBRARIES_MAX][512];
	struct mapped_object objects[LIBRARIES_MAX];
	const struct process_map map = {.objects = objects, .count = count};
	struct object_files files;
	const struct resolve_source source = {&files, count, open_file};
	char path[512];
	int process;

	link_file(executable, "../", "process/exe");
	for (uint32_t i = 0; i < count; i++) {
		snprintf(paths[i], sizeof(paths[i]), "%s%s", libraries[i][0] == '/' ? "" : "/", libraries[i]);
		objects[i] = (struct mapped_object){
			.path = paths[i], .start = 4096 * i, .end = 4096 * (i + 1)};
		snprintf(path, sizeof(path), "process/map_files/%x-%x", 4096 * i, 4096 * (i + 1));
		link_file(libraries[i], "../../", path);
	}
	process = open("process", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(process >= 0);
	snprintf(path, sizeof(path), "/%s", executable);
	object_files_open(&files, process, path, &map);
	opened = 0;
	resolve(&source, &resolved);
	process_root_close(&files.root);
	close(process);
}

static void resolve_program(const char *executable)
{
	resolve_with(executable, NULL, 0);
}

static void assert_tag(enum heap_tag tag)
{
	if (resolved.tag != tag)
		print_message("%s\n", resolved.text);
	assert_string_equal(resolved.tag == HEAP_TAG_NONE ? "" : heap_tags[resolved.tag].name,
			    tag == HEAP_TAG_NONE ? "" : heap_tags[tag].name);
}

static void assert_layout(enum layout_origin origin, uint64_t allocated, uint64_t deallocated)
{
	assert_tag(HEAP_TAG_NONE);
	assert_string_equal(resolved.text, "");
	assert_int_equal(resolved.layout.origin, origin);
	assert_int_equal(resolved.layout.allocated, allocated);
	assert_int_equal(resolved.layout.deallocated, deallocated);
}

static void assert_found(const char *executable)
{
	resolve_program(executable);
	assert_layout(LAYOUT_ORIGIN_DWARF, 824, 840);
	assert_int_equal(resolved.layout.object, LAYOUT_EXECUTABLE);
}

static void assert_text(const char *part)
{
	if (strstr(resolved.text, part) == NULL)
		fail_msg("\"%s\" is not in \"%s\"", part, resolved.text);
}

struct generation {
	const char *definition;
	uint64_t size, allocated, deallocated;
};

static const struct generation generations[] = {
	{"GENERATION_4_5", 104, 16, 24},    {"GENERATION_5_0", 6104, 8, 16},
	{"GENERATION_5_1", 6144, 16, 24},   {"GENERATION_5_2", 6216, 16, 24},
	{"GENERATION_5_3", 2632, 824, 840}, {"PLACE_ANONYMOUS", 56, 16, 32},
};

static const char *const debug_flags[] = {
	"-g",
	"-gdwarf-2 -gstrict-dwarf",
	"-gdwarf-4",
	"-gdwarf-5",
	"-gdwarf-4 -gpubnames",
	"-g -gdwarf64 -gpubnames",
	"-g -gz=zlib",
	"-gdwarf-4 -fdebug-types-section",
	"-g -flto",
	"-g -static",
	"-g -O2",
};

static void test_generations(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(generations) / sizeof(generations[0]); i++) {
		for (size_t flags = 0; flags < sizeof(debug_flags) / sizeof(debug_flags[0]); flags++) {
			const struct generation *generation = &generations[i];
			const bool is_expression = strstr(debug_flags[flags], "dwarf-2") != NULL;

			/* one generation with all flags, all generations with the first */
			if (i != 4 && flags != 0)
				continue;
			workshop_make("cc %s -D%s " SOURCE " -o a", debug_flags[flags],
				      generation->definition);
			resolve_program("a");
			if (is_expression) {
				assert_tag(HEAP_TAG_DWARF_PARSE_FAILURE);
				assert_text("not a constant");
				continue;
			}
			assert_layout(LAYOUT_ORIGIN_DWARF, generation->allocated, generation->deallocated);
			assert_string_equal(resolved.layout.version, "");
			assert_true(resolved.layout.tls.size >= generation->size);
			assert_true(resolved.layout.symbol + generation->size <= resolved.layout.tls.size);
			assert_int_equal(opened, 1);
		}
	}
}

static void test_clang(void **state)
{
	(void)state;
	if (!workshop_has("clang"))
		skip();
	workshop_make("clang -g -DGENERATION_5_3 " SOURCE " -o a");
	assert_found("a");
	/* nothing leads to the unit, and names are referred to by number */
	workshop_make("clang -gdwarf-5 -DGENERATION_5_3 -DACCESS=elsewhere " SOURCE " -o a");
	assert_found("a");
}

struct refusal {
	const char *flags;
	enum heap_tag tag;
	const char *text;
};

static const struct refusal refusals[] = {
	{"-g -DPLACE_OTHER", HEAP_TAG_DWARF_PARSE_FAILURE, "own debug data: no struct tsd_s"},
	{"-g -DPLACE_REVERSED", HEAP_TAG_DWARF_PARSE_FAILURE, "offsets 24 and 16 are impossible"},
	{"-g -DPLACE_HALF", HEAP_TAG_DWARF_PARSE_FAILURE, "only one of the two"},
	{"-DGENERATION_5_3", HEAP_TAG_DWARF_PARSE_FAILURE, "no .debug_info; no known build"},
	{"-g -DGENERATION_5_3 -DSYMBOL=mytsd_tls", HEAP_TAG_JEMALLOC_NOT_FOUND, ""},
	{"-g -DGENERATION_5_3 -DSYMBOL=_tsd_tls", HEAP_TAG_JEMALLOC_NOT_FOUND, ""},
	{"-g -DGENERATION_5_3 -DSYMBOL=je_tsd_tls_extra", HEAP_TAG_JEMALLOC_NOT_FOUND, ""},
};

static void test_refusals(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
		workshop_make("cc %s " SOURCE " -o a", refusals[i].flags);
		resolve_program("a");
		assert_tag(refusals[i].tag);
		assert_text(refusals[i].text);
	}
	/* a file without thread storage has no such symbol, whatever its names are */
	workshop_make("echo 'int je_tsd_tls; int main(void) { return je_tsd_tls; }' >b.c; cc -g b.c -o b");
	resolve_program("b");
	assert_tag(HEAP_TAG_JEMALLOC_NOT_FOUND);
	resolve_program("missing");
	assert_tag(HEAP_TAG_JEMALLOC_NOT_FOUND);
	assert_text("executable");
}

static void test_prefixes(void **state)
{
	static const char *const prefixes[] = {"", "je_", "_rjem_je_", "jemalloc_je_", "custom_prefix_"};

	(void)state;
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		workshop_make("cc -g -DGENERATION_5_3 -DSYMBOL=%stsd_tls -DACCESS=%stsd_fetch_slow " SOURCE
			      " -o a",
			      prefixes[i], prefixes[i]);
		assert_found("a");
	}
	/* no function with the prefix: the members' names lead to the unit */
	workshop_make("cc -g -DGENERATION_5_3 -DACCESS=elsewhere " SOURCE " -o a");
	assert_found("a");
}

/* Whether a thread-local variable of this name is taken for jemalloc's. */
static bool is_found_by_name(const char *name)
{
	struct jemalloc_symbols symbols;
	struct elf_object object;
	struct error error;
	int descriptor;
	bool found;

	workshop_make("echo '__thread long %s;' | cc -x c -c - -o name.o", name);
	descriptor = open("name.o", O_RDONLY | O_CLOEXEC);
	assert_int_equal(elf_object_open(&object, descriptor, &error), 0);
	close(descriptor);
	found = jemalloc_symbols_find(&object, &symbols);
	elf_object_release(&object);
	return found;
}

static void test_symbol_names(void **state)
{
	(void)state;
	assert_true(is_found_by_name("tsd_tls"));
	assert_true(is_found_by_name("je_tsd_tls"));
	assert_true(is_found_by_name("_rjem_je_tsd_tls"));
	assert_true(is_found_by_name("jemalloc_je_tsd_tls"));
	assert_true(is_found_by_name("custom_prefix_tsd_tls"));
	/* nor any of the symbols without a name, which every object has */
	assert_false(is_found_by_name("mytsd_tls"));
	assert_false(is_found_by_name("_tsd_tls"));
	assert_false(is_found_by_name("tsd_tls_v2"));
	assert_false(is_found_by_name("je_tsd_tls_extra"));
	assert_false(is_found_by_name("tsd"));
	assert_false(is_found_by_name("tls"));
	assert_false(is_found_by_name("je_tsd"));
}

/* Makes `full`, and `bare` without any debug data or symbols. */
static void make_stripped(const char *flags)
{
	workshop_make("rm -rf bare* usr; cc -g -DGENERATION_5_3 %s " SOURCE " -o full && "
		      "objcopy --only-keep-debug full full.dbg && strip full -o bare",
		      flags);
	resolve_program("bare");
	assert_tag(HEAP_TAG_JEMALLOC_NOT_FOUND);
}

static void test_files_beside(void **state)
{
	(void)state;
	make_stripped("");
	workshop_make("cp full.dbg bare.debuginfo");
	assert_found("bare");
	workshop_make("mv bare.debuginfo bare.debug");
	assert_found("bare");
	/* one that cannot be read does not stand in the way */
	workshop_make("echo nonsense and more of it >bare.debuginfo");
	assert_found("bare");
	/* another build's */
	workshop_make("cc -g -DGENERATION_5_2 " SOURCE
		      " -o other && rm bare.debuginfo && cp other bare.debug");
	resolve_program("bare");
	assert_tag(HEAP_TAG_JEMALLOC_NOT_FOUND);
	assert_text("another build id");
	/* symbols kept, debug data elsewhere */
	workshop_make("strip --strip-debug full -o bare && cp full.dbg bare.debug");
	assert_found("bare");
}

static void test_build_id(void **state)
{
	(void)state;
	make_stripped("-Wl,--build-id=0xabcdef0123");
	workshop_make("mkdir -p usr/lib/debug/.build-id/ab && "
		      "cp full.dbg usr/lib/debug/.build-id/ab/cdef0123.debug");
	assert_found("bare");
	/* under the right name, of another build */
	workshop_make("cc -g -DGENERATION_5_3 -Wl,--build-id=0xabcdef0124 " SOURCE
		      " -o usr/lib/debug/.build-id/ab/cdef0123.debug");
	resolve_program("bare");
	assert_tag(HEAP_TAG_JEMALLOC_NOT_FOUND);
	assert_text("build id: another build id");
}

static void test_debuglink(void **state)
{
	(void)state;
	make_stripped("-Wl,--build-id=none");
	workshop_make("mkdir -p .debug && cp full.dbg .debug/linked.dbg && cp full.dbg linked.dbg && "
		      "objcopy --add-gnu-debuglink=linked.dbg bare && rm linked.dbg");
	resolve_program("bare");
	assert_layout(LAYOUT_ORIGIN_DWARF, 824, 840);
	workshop_make("printf x >>.debug/linked.dbg");
	resolve_program("bare");
	assert_tag(HEAP_TAG_JEMALLOC_NOT_FOUND);
	assert_text("debuglink: another CRC");
	/* the next candidate may be right */
	workshop_make("mkdir -p usr/lib/debug && cp full.dbg usr/lib/debug/linked.dbg");
	assert_found("bare");
	workshop_make("rm -rf .debug");
}

/* Maps a file for changes; the caller unmaps it. */
static unsigned char *map_file(const char *path, size_t *ret_size)
{
	const int descriptor = open(path, O_RDWR);
	struct stat status;
	unsigned char *image;

	assert_true(descriptor >= 0 && fstat(descriptor, &status) == 0);
	*ret_size = (size_t)status.st_size;
	image = mmap(NULL, *ret_size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
	assert_true(image != MAP_FAILED);
	close(descriptor);
	return image;
}

static void test_alternate(void **state)
{
	unsigned char *image, *note;
	size_t size;

	(void)state;
	if (!workshop_has("dwz"))
		skip();
	/* what two units share becomes a partial unit */
	workshop_make(
		"echo '#include \"" SOURCE "\"' >second.c && "
		"cc -g -O2 -DGENERATION_5_3 -c " SOURCE " && "
		"cc -g -O2 -DGENERATION_5_3 -DLIBRARY -DSYMBOL=other -DACCESS=other_access -c second.c && "
		"cc generation.o second.o -o a && dwz a && readelf --debug-dump a | grep -q partial_unit");
	assert_found("a");
	/* structures that two programs share move to the common file */
	workshop_make("rm -rf usr; mkdir -p usr/lib/debug/.dwz; "
		      "cc -g -DGENERATION_5_3 " SOURCE " -o a && cc -g -O2 -DGENERATION_5_3 " SOURCE
		      " -o b && "
		      "dwz -m common.debug -M /usr/lib/debug/.dwz/common.debug a b");
	resolve_program("a");
	assert_tag(HEAP_TAG_DWARF_PARSE_FAILURE);
	assert_text("alternate debug file common.debug is missing");
	workshop_make("cp common.debug usr/lib/debug/.dwz/");
	assert_found("a");
	assert_found("b");
	/* of another build */
	image = map_file("usr/lib/debug/.dwz/common.debug", &size);
	note = memmem(image, size, "GNU", 4);
	assert_non_null(note);
	note[4] ^= 1;
	munmap(image, size);
	resolve_program("a");
	assert_tag(HEAP_TAG_DWARF_PARSE_FAILURE);
	/* of structures that differ, only the names of the members move */
	workshop_make("cc -g -DGENERATION_5_3 " SOURCE " -o a && cc -g -DGENERATION_5_2 " SOURCE " -o b && "
		      "dwz -m common.debug -M /usr/lib/debug/.dwz/common.debug a b && "
		      "! grep -q setter_thread_deallocated a");
	resolve_program("a");
	assert_tag(HEAP_TAG_DWARF_PARSE_FAILURE);
	workshop_make("cp common.debug usr/lib/debug/.dwz/");
	assert_found("a");
	resolve_program("b");
	assert_layout(LAYOUT_ORIGIN_DWARF, 16, 24);
}

struct package_case {
	const char *tool;
	const char *flags;
};

static const struct package_case package_cases[] = {
	{"dwp", "-gdwarf-4"},      {"dwp", "-gdwarf-4 -fdebug-types-section"},      {"llvm-dwp", "-gdwarf-4"},
	{"llvm-dwp", "-gdwarf-5"}, {"llvm-dwp", "-gdwarf-5 -fdebug-types-section"},
};

/* The debug data of the program `a` are in its package. */
static void assert_package_is_read(void)
{
	if (_ELFUTILS_PREREQ(0, 191)) {
		assert_found("a");
		return;
	}
	resolve_program("a");
	assert_tag(HEAP_TAG_DWARF_PARSE_FAILURE);
	assert_text(".dwp: reading it needs libdw 0.191 or later");
}

static void test_packages(void **state)
{
	size_t tried = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(package_cases) / sizeof(package_cases[0]); i++) {
		const struct package_case *package = &package_cases[i];

		if (!workshop_has(package->tool))
			continue;
		tried++;
		workshop_make("rm -f *.dwo *.dwp a*; echo 'int other(void) { return 1; }' >other.c && "
			      "cc %s -gsplit-dwarf -c other.c && "
			      "cc %s -gsplit-dwarf -DGENERATION_5_3 -c " SOURCE " && "
			      "cc other.o generation.o -o a && %s -e a -o p",
			      package->flags, package->flags, package->tool);
		resolve_program("a");
		assert_tag(HEAP_TAG_DWARF_PARSE_FAILURE);
		workshop_make("mv p a.dwp");
		assert_package_is_read();
		/* skeleton units may be in a file beside it */
		workshop_make("objcopy --only-keep-debug a a.debug && strip --strip-debug a");
		assert_package_is_read();
		workshop_make("rm a.debug; head -c 300 a.dwp >b && mv b a.dwp");
		resolve_program("a");
		assert_tag(HEAP_TAG_DWARF_PARSE_FAILURE);
		assert_text(".dwp: ");
	}
	if (tried == 0)
		skip();
}

/*
 * Compresses the .debug_… sections of a program with zstd, as newer linkers do (gABI, "Compressed Sections").
 */
static void compress_sections(const char *path, uint64_t claimed_more)
{
	size_t size;
	unsigned char *image = map_file(path, &size);
	const Elf64_Ehdr *header = (const void *)image;
	Elf64_Shdr *sections = (void *)(image + header->e_shoff);
	const char *names = (const char *)image + sections[header->e_shstrndx].sh_offset;
	FILE *file = fopen(path, "a");

	assert_non_null(file);
	for (size_t i = 0; i < header->e_shnum; i++) {
		Elf64_Shdr *section = &sections[i];
		const Elf64_Chdr head = {
			.ch_type = 2, .ch_size = section->sh_size + claimed_more, .ch_addralign = 1};
		const size_t bound = ZSTD_compressBound(section->sh_size);
		char *packed;
		size_t length;

		if (strncmp(names + section->sh_name, ".debug_", 7) != 0)
			continue;
		packed = malloc(bound);
		assert_non_null(packed);
		length = ZSTD_compress(packed, bound, image + section->sh_offset, section->sh_size, 1);
		assert_false(ZSTD_isError(length));
		/* the header wants to be aligned */
		fseek(file, 0, SEEK_END);
		while (ftell(file) % 8 != 0)
			fputc(0, file);
		section->sh_offset = (Elf64_Off)ftell(file);
		section->sh_size = sizeof(head) + length;
		section->sh_flags |= SHF_COMPRESSED;
		assert_int_equal(fwrite(&head, sizeof(head), 1, file), 1);
		assert_int_equal(fwrite(packed, 1, length, file), length);
		fflush(file);
		free(packed);
	}
	fclose(file);
	munmap(image, size);
}

static void test_zstd(void **state)
{
	(void)state;
	workshop_make("cc -g -DGENERATION_5_3 " SOURCE " -o a");
	compress_sections("a", 0);
	assert_found("a");
	workshop_make("cc -g -DGENERATION_5_3 " SOURCE " -o a");
	compress_sections("a", 1);
	resolve_program("a");
	assert_tag(HEAP_TAG_DWARF_PARSE_FAILURE);
	assert_text("cannot be unpacked: damaged");
	workshop_make("cc -g -DGENERATION_5_3 " SOURCE " -o a");
	compress_sections("a", UINT64_C(1) << 40);
	resolve_program("a");
	assert_tag(HEAP_TAG_DWARF_PARSE_FAILURE);
	assert_text("MiB when unpacked");
}

static void test_old_zlib(void **state)
{
	(void)state;
	workshop_make("cc -g -DGENERATION_5_3 " SOURCE " -o a");
	if (!workshop_run(
		    "objcopy --compress-debug-sections=zlib-gnu a && readelf -S a | grep -q zdebug_info")) {
		skip_test("objcopy does not write .zdebug_ sections");
	}
	assert_found("a");
}

static void test_library(void **state)
{
	static const char *const libraries[] = {"/nowhere.so", "other.so", "liballocator.so"};
	static const char *const preferred[] = {"liballocator.so", "other.so"};

	(void)state;
	workshop_make("rm -f a other.so; echo 'int main(void) { return 0; }' >main.c && cc main.c -o a && "
		      "echo '__thread int x; int other(void) { return x; }' >other.c && "
		      "cc -shared -fPIC other.c -o other.so && "
		      "cc -g -shared -fPIC -ftls-model=initial-exec -DLIBRARY -DGENERATION_5_3 " SOURCE
		      " -o liballocator.so");
	resolve_with("a", libraries, 3);
	assert_layout(LAYOUT_ORIGIN_DWARF, 824, 840);
	assert_int_equal(resolved.layout.object, 2);
	/* jemalloc in the executable comes first, then the first library that can be read */
	workshop_make("cc -g -DGENERATION_5_1 " SOURCE " -o b");
	resolve_with("b", libraries, 3);
	assert_layout(LAYOUT_ORIGIN_DWARF, 16, 24);
	workshop_make("strip --strip-debug liballocator.so && cp liballocator.so unknown.so");
	resolve_with("a", libraries, 3);
	assert_tag(HEAP_TAG_JEMALLOC_IN_DSO);
	assert_text("no .debug_info; no known build");
	workshop_make("cc -g -shared -fPIC -DLIBRARY -DGENERATION_5_2 " SOURCE " -o other.so");
	resolve_with("a", preferred, 2);
	assert_layout(LAYOUT_ORIGIN_DWARF, 16, 24);
	assert_int_equal(resolved.layout.object, 1);
}

static void test_architecture(void **state)
{
	size_t size;
	unsigned char *image;

	(void)state;
	workshop_make("cc -g -DGENERATION_5_3 " SOURCE " -o a");
	image = map_file("a", &size);
	((Elf64_Ehdr *)(void *)image)->e_machine = EM_RISCV;
	munmap(image, size);
	resolve_program("a");
	assert_tag(HEAP_TAG_ARCH_MISMATCH);
	assert_text("64 bits, ELF machine 243");
#if defined(__x86_64__)
	if (!workshop_run("cc -m32 -ffreestanding -nostdlib -static -e main -g -DGENERATION_5_3 " SOURCE
			  " -o a")) {
		print_message("SKIP: no 32-bit programs from this compiler\n");
		return;
	}
	resolve_program("a");
	assert_tag(HEAP_TAG_ARCH_MISMATCH);
	assert_text("32 bits, ELF machine 3");
#endif
}

static const char *find_library(const char *name)
{
	static char path[256];
	static const char *const directories[] = {"/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu",
						  "/usr/lib64", "/usr/lib"};

	for (size_t i = 0; i < sizeof(directories) / sizeof(directories[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", directories[i], name);
		if (access(path, R_OK) == 0)
			return path;
	}
	return NULL;
}

#if defined(__x86_64__) /* builds of other machines are not known */
/* Finds the distribution's jemalloc 5.3.0. */
static const char *find_jemalloc(const char *name)
{
	const char *path = find_library(name);

	if (path != NULL && workshop_run("grep -q '5[.]3[.]0-0-g' %s", path))
		return path;
	skip_test("there is no %s of jemalloc 5.3.0", name);
}

static void test_known_library(void **state)
{
	const char *found = find_jemalloc("libjemalloc.so.2");
	const char *libraries[1] = {found};
	size_t size;
	unsigned char *image, *version;

	(void)state;
	workshop_make("echo 'int main(void) { return 0; }' >main.c && cc main.c -o a");
	resolve_with("a", libraries, 1);
	assert_layout(LAYOUT_ORIGIN_KNOWN_BUILD, 824, 840);
	assert_string_equal(resolved.layout.version, "5.3.0");
	assert_int_equal(resolved.layout.object, 0);
	assert_int_equal(resolved.layout.symbol, 0);
	assert_int_equal(resolved.layout.tls.size, 2632);
	/* another release of the same size is not known */
	workshop_make("cp %s copy.so", found);
	image = map_file("copy.so", &size);
	version = memmem(image, size, "5.3.0-0-g", 9);
	assert_non_null(version);
	version[2] = '2';
	munmap(image, size);
	libraries[0] = "copy.so";
	resolve_with("a", libraries, 1);
	assert_tag(HEAP_TAG_JEMALLOC_IN_DSO);
	assert_text("no known build");
}

static void test_known_program(void **state)
{
	const char *archive = find_jemalloc("libjemalloc.a");

	(void)state;
	workshop_make("echo 'int mallctl(void); int main(void) { return mallctl(); }' >main.c && "
		      "cc main.c %s -lm -lpthread -o a && strip a -o b",
		      archive);
	resolve_program("a");
	assert_layout(LAYOUT_ORIGIN_KNOWN_BUILD, 824, 840);
	assert_string_equal(resolved.layout.version, "5.3.0");
	assert_false(resolved.is_static);
	/* stripped of its symbols: its thread storage is the structure and nothing else */
	resolve_program("b");
	assert_layout(LAYOUT_ORIGIN_KNOWN_BUILD, 824, 840);
	workshop_make("echo '__thread int x; int mallctl(void); int main(void) { return mallctl() + x; }' "
		      ">main.c && "
		      "cc main.c %s -lm -lpthread -o a && strip a -o b",
		      archive);
	resolve_program("a");
	assert_layout(LAYOUT_ORIGIN_KNOWN_BUILD, 824, 840);
	/* the variable's place is unknown, but the version text proves that jemalloc is there */
	resolve_program("b");
	assert_tag(HEAP_TAG_DWARF_PARSE_FAILURE);
	assert_text("jemalloc without symbols, no known build");
}

struct known_case {
	const char *version;
	unsigned int size, allocated, deallocated;
	bool is_known;
};

static const struct known_case known_cases[] = {
	{"4.5.0-0-g04380e79f1e2428bd0ad000bbc6e3d2dfc6b66a5", 104, 16, 24, true},
	{"5.0.1-0-g896ed3a8b3f41998d4fb4d625d30ac63ef2d51fb", 6104, 8, 16, true},
	{"5.1.0-0-g0", 6144, 16, 24, true}, /* as redis has it */
	{"5.2.1-0-gea6b3e973b477b8061e0076bb257dbd7f3faa756", 6216, 16, 24, true},
	{"5.3.0-0-g54eaed1d8b56b1aa528be3bdd1877e59c56fa90c", 2632, 824, 840, true},
	{"5.3.1-0-g54eaed1d8b56b1aa528be3bdd1877e59c56fa90c", 1968, 928, 944, true},
	{"5.3.0-0-g54eaed1d8b56b1aa528be3bdd1877e59c56fa90c", 2640, 0, 0, false},
	{"5.3.0-1-g54eaed1d8b56b1aa528be3bdd1877e59c56fa90c", 2632, 0, 0, false},
	{"5.3.0-0-g54eaed1", 2632, 0, 0, false},
	{"x5.3.0-0-g54eaed1d8b56b1aa528be3bdd1877e59c56fa90c", 2632, 0, 0, false},
	{"5.3.0.0-0-g54eaed1d8b56b1aa528be3bdd1877e59c56fa90c", 2632, 0, 0, false},
	{"5.3-0-g54eaed1d8b56b1aa528be3bdd1877e59c56fa90c", 2632, 0, 0, false},
	{"", 2632, 0, 0, false},
};

/* Builds a library that looks like a stripped jemalloc: exported interface, version, thread storage. */
static void make_library(const char *version, unsigned int size, const char *flags)
{
	workshop_make(
		"printf '%%s\\n' '__thread char data[%u - OTHERS] __attribute__((visibility(\"hidden\")));'"
		" '__thread char others[OTHERS] __attribute__((visibility(\"hidden\")));'"
		" 'const char *mallctl(int i) { data[i]++; if (OTHERS) others[i]++; return \"%s\"; }' "
		">known.c && "
		"cc -O -shared -fPIC %s known.c -o known.so && strip known.so",
		size, version, flags);
}

static void test_known_fingerprints(void **state)
{
	static const char *const libraries[] = {"known.so"};
	static const char *const refused[] = {
		"-ftls-model=global-dynamic -DOTHERS=0", /* no static thread storage */
		"-ftls-model=initial-exec -DOTHERS=16",  /* more in it than one variable */
		/* the same inside another library that exports no jemalloc symbol */
		"-ftls-model=initial-exec -DOTHERS=16 -fvisibility=hidden",
	};
	unsigned char *image, *other;
	size_t size;

	(void)state;
	workshop_make("echo 'int main(void) { return 0; }' >main.c && cc main.c -o a");
	for (size_t i = 0; i < sizeof(known_cases) / sizeof(known_cases[0]); i++) {
		const struct known_case *known = &known_cases[i];

		make_library(known->version, known->size, "-ftls-model=initial-exec -DOTHERS=0");
		resolve_with("a", libraries, 1);
		if (!known->is_known) {
			assert_tag(HEAP_TAG_JEMALLOC_IN_DSO);
			continue;
		}
		assert_layout(LAYOUT_ORIGIN_KNOWN_BUILD, known->allocated, known->deallocated);
		assert_int_equal(strncmp(resolved.layout.version, known->version, 5), 0);
	}
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		make_library(known_cases[4].version, known_cases[4].size, refused[i]);
		resolve_with("a", libraries, 1);
		assert_tag(HEAP_TAG_JEMALLOC_IN_DSO);
	}
	/* with both relocations to one place, as Debian's for arm64 has them */
	image = map_file("known.so", &size);
	other = memmem(image, size, (uint64_t[]){R_X86_64_TPOFF64, 16}, 16);
	assert_non_null(other);
	memset(other + 8, 0, 8);
	munmap(image, size);
	resolve_with("a", libraries, 1);
	assert_layout(LAYOUT_ORIGIN_KNOWN_BUILD, known_cases[4].allocated, known_cases[4].deallocated);
}
#endif

static void test_known_builds(void **state)
{
	(void)state;
	assert_int_equal(known_build_find(EM_X86_64, "5.3.0", 2632)->allocated, 824);
	assert_int_equal(known_build_find(EM_X86_64, "5.0.1", 6104)->deallocated, 16);
	assert_null(known_build_find(EM_X86_64, "5.3.0", 2640));
	assert_null(known_build_find(EM_X86_64, "5.2.0", 6216));
	assert_null(known_build_find(EM_AARCH64, "5.3.0", 2632));
	assert_int_equal(known_build_find(EM_AARCH64, "5.3.0", 2696)->allocated, 888);
	assert_null(known_build_find(EM_X86_64, "5.3.0", 2696));
}

#if defined(__GLIBC__)
/* What the library of this very process says in its memory. */
static void assert_own_c_library(void)
{
	const uint32_t *size = dlsym(RTLD_DEFAULT, "_thread_db_sizeof_pthread");
	const uint32_t *tid = dlsym(RTLD_DEFAULT, "_thread_db_pthread_tid");
	const uint32_t *offset = dlsym(RTLD_DEFAULT, "_thread_db_link_map_l_tls_offset");

	assert_int_equal(resolved.c_library.kind, C_LIBRARY_GLIBC);
	if (size == NULL || tid == NULL || offset == NULL)
		return;
	assert_true(resolved.c_library.threads_known);
	assert_true(resolved.c_library.links_known);
	assert_int_equal(resolved.c_library.pthread_size, *size);
	assert_int_equal(resolved.c_library.tid_offset, tid[2]);
	assert_int_equal(resolved.c_library.link_tls_offset, offset[2]);
	assert_int_equal(resolved.c_library.dtv_entry_size, 16);
}

static void test_c_library(void **state)
{
	const char *libraries[] = {"nothing", find_library("libc.so.6")};

	(void)state;
	if (libraries[1] == NULL)
		skip_test("there is no libc.so.6 in the usual directories");
	workshop_make("cc -g -DGENERATION_5_3 " SOURCE " -o a");
	resolve_with("a", libraries, 2);
	assert_layout(LAYOUT_ORIGIN_DWARF, 824, 840);
	assert_false(resolved.is_static);
	assert_own_c_library();
	workshop_make("cc -g -static -DGENERATION_5_3 " SOURCE " -Wl,-u,pthread_create -lpthread -o a");
	assert_found("a");
	assert_true(resolved.is_static);
	assert_own_c_library();
	/* the symbols of a stripped static program are in its debug file */
	workshop_make("rm -f a.debug b*; strip a -o b && mv a b.debug");
	assert_found("b");
	assert_own_c_library();
}
#endif

static void test_musl(void **state)
{
	(void)state;
	if (!workshop_has("musl-gcc"))
		skip();
	workshop_make("musl-gcc -g -DGENERATION_5_3 " SOURCE " -o a");
	assert_found("a");
	assert_int_equal(resolved.c_library.kind, C_LIBRARY_MUSL);
	assert_false(resolved.is_static);
	workshop_make("musl-gcc -g -static -DGENERATION_5_3 " SOURCE " -o a");
	assert_found("a");
	assert_int_equal(resolved.c_library.kind, C_LIBRARY_MUSL);
	assert_true(resolved.is_static);
}

/* Files cut short and files with bytes changed: any outcome, but always one. */
static void test_damage(void **state)
{
	size_t size;
	unsigned char *image;

	(void)state;
	workshop_make("cc -g -DGENERATION_5_3 " SOURCE " -o full");
	for (size_t length = 0; length < 20000; length += 997) {
		workshop_make("head -c %zu full >a", length);
		resolve_program("a");
	}
	workshop_make("cp full a");
	image = map_file("a", &size);
	for (size_t round = 0, at = 7; round < 2000; round++) {
		unsigned char kept;

		at = (at * 1103515245 + 12345) % size;
		kept = image[at];
		image[at] = (unsigned char)(round * 37 + 255);
		resolve_program("a");
		if (round % 3 != 0)
			image[at] = kept;
	}
	munmap(image, size);
}

static int open_workshop(void **state)
{
	(void)state;
	if (mkdtemp(workshop) == NULL || chdir(workshop) != 0)
		return -1;
	workshop_make("mkdir -p process/map_files && ln -s .. process/root");
	return 0;
}

static int close_workshop(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", workshop);
	return chdir("/") == 0 && system(command) == 0 ? 0 : -1;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_symbol_names),
		cmocka_unit_test(test_known_builds),
#if defined(__x86_64__)
		cmocka_unit_test(test_known_fingerprints),
		cmocka_unit_test(test_known_library),
		cmocka_unit_test(test_known_program),
#endif
		cmocka_unit_test(test_generations),
		cmocka_unit_test(test_clang),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_prefixes),
		cmocka_unit_test(test_files_beside),
		cmocka_unit_test(test_build_id),
		cmocka_unit_test(test_debuglink),
		cmocka_unit_test(test_alternate),
		cmocka_unit_test(test_packages),
		cmocka_unit_test(test_zstd),
		cmocka_unit_test(test_old_zlib),
		cmocka_unit_test(test_library),
		cmocka_unit_test(test_architecture),
#if defined(__GLIBC__)
		cmocka_unit_test(test_c_library),
#endif
		cmocka_unit_test(test_musl),
		cmocka_unit_test(test_damage),
	};

	return cmocka_run_group_tests(tests, open_workshop, close_workshop);
}
