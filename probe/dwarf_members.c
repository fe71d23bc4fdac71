/* SPDX-License-Identifier: GPL-2.0-only */
#include "dwarf_members.h"

#include <dwarf.h>
#include <errno.h>
#include <string.h>
#include <time.h>

#define STRUCT_NAME "tsd_s"

enum {
	DEPTH_MAX = 256,
	/* Entries between two looks at the clock. */
	ENTRIES_PER_CHECK = 1024,
};

struct member_name {
	const char *name;
	bool is_deallocated;
	bool in_tsd_only; /* means nothing elsewhere */
};

static const struct member_name member_names[] = {
	/* 5.2.0 and later */
	{"cant_access_tsd_items_directly_use_a_getter_or_setter_thread_allocated", false, false},
	{"cant_access_tsd_items_directly_use_a_getter_or_setter_thread_deallocated", true, false},
	/* 5.0 and 5.1 */
	{"use_a_getter_or_setter_instead_thread_allocated", false, false},
	{"use_a_getter_or_setter_instead_thread_deallocated", true, false},
	/* 4.x */
	{"thread_allocated", false, true},
	{"thread_deallocated", true, true},
};

int dwarf_limit_check(const struct dwarf_limit *limit, struct error *error)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	if ((uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec < limit->deadline_ns)
		return 0;
	return error_set(error, -ETIME, "the time for it is over");
}

/* The name of an entry itself, or NULL: nothing that it refers to is followed. */
static const char *entry_name(Dwarf_Die *entry)
{
	Dwarf_Attribute attribute;

	return dwarf_attr(entry, DW_AT_name, &attribute) != NULL ? dwarf_formstring(&attribute) : NULL;
}

/* The offset of a member, a constant; -ENOENT when there is none (a union), an error for an expression. */
static int member_offset(Dwarf_Die *member, uint64_t *ret_offset)
{
	Dwarf_Attribute attribute;
	Dwarf_Sword sword;
	Dwarf_Word word;

	if (dwarf_attr(member, DW_AT_data_member_location, &attribute) == NULL)
		return -ENOENT;
	switch (dwarf_whatform(&attribute)) {
	case DW_FORM_udata:
	case DW_FORM_data1:
	case DW_FORM_data2:
	case DW_FORM_data4:
	case DW_FORM_data8:
		if (dwarf_formudata(&attribute, &word) != 0)
			return -EBADMSG;
		*ret_offset = word;
		return 0;
	case DW_FORM_sdata:
	case DW_FORM_implicit_const:
		if (dwarf_formsdata(&attribute, &sword) != 0 || sword < 0)
			return -EBADMSG;
		*ret_offset = (uint64_t)sword;
		return 0;
	default:
		return -EOPNOTSUPP;
	}
}

static int look_at_member(Dwarf_Die *member, bool is_in_tsd, struct tsd_members *members, struct error *error)
{
	const char *name = entry_name(member);
	uint64_t offset;

	if (name == NULL)
		return 0;
	for (size_t i = 0; i < sizeof(member_names) / sizeof(member_names[0]); i++) {
		const struct member_name *known = &member_names[i];
		int result;

		if ((known->in_tsd_only && !is_in_tsd) || strcmp(name, known->name) != 0 ||
		    (known->is_deallocated ? members->has_deallocated : members->has_allocated))
			continue;
		result = member_offset(member, &offset);
		if (result == -ENOENT)
			return 0;
		if (result < 0)
			return error_set(error, -EBADMSG, "the offset of %s is no constant", name);
		if (known->is_deallocated) {
			members->has_deallocated = true;
			members->deallocated = offset;
		} else {
			members->has_allocated = true;
			members->allocated = offset;
		}
	}
	return 0;
}

/* The entry after `*entry` on its level: 0, 1 at the end, or -EBADMSG. It always lies further on. */
static int next_sibling(Dwarf_Die *entry)
{
	Dwarf_Die sibling;
	const int result = dwarf_siblingof(entry, &sibling);

	if (result != 0)
		return result < 0 ? -EBADMSG : 1;
	if ((const char *)sibling.addr <= (const char *)entry->addr)
		return -EBADMSG;
	*entry = sibling;
	return 0;
}

static int count_entry(struct dwarf_limit *limit, struct error *error)
{
	return ++limit->entries % ENTRIES_PER_CHECK == 0 ? dwarf_limit_check(limit, error) : 0;
}

static int read_tsd(Dwarf_Die *structure, struct tsd_members *members, struct dwarf_limit *limit,
		    struct error *error)
{
	Dwarf_Die member;
	int result = dwarf_child(structure, &member);

	while (result == 0) {
		if (count_entry(limit, error) < 0)
			return -ETIME;
		if (dwarf_tag(&member) == DW_TAG_member) {
			result = look_at_member(&member, true, members, error);
			if (result < 0)
				return result;
		}
		result = next_sibling(&member);
	}
	return result < 0 ? error_set(error, -EBADMSG, "damaged entries: %s", dwarf_errmsg(-1)) : 0;
}

static bool is_tsd(Dwarf_Die *entry)
{
	const char *name;

	if (dwarf_tag(entry) != DW_TAG_structure_type)
		return false;
	name = entry_name(entry);
	return name != NULL && strcmp(name, STRUCT_NAME) == 0;
}

int dwarf_members_walk(Dwarf_Die *unit, struct tsd_members *members, struct dwarf_limit *limit,
		       struct error *error)
{
	Dwarf_Die level[DEPTH_MAX];
	size_t depth = 0;
	int result = dwarf_child(unit, &level[0]);

	if (result != 0)
		return result < 0 ? error_set(error, -EBADMSG, "damaged entries: %s", dwarf_errmsg(-1)) : 0;
	for (;;) {
		Dwarf_Die *entry = &level[depth];
		bool descends = false;

		result = count_entry(limit, error);
		if (result < 0)
			return result;
		if (is_tsd(entry)) {
			result = read_tsd(entry, members, limit, error);
			if (result < 0 || members->has_allocated || members->has_deallocated)
				return result;
		} else {
			if (dwarf_tag(entry) == DW_TAG_member)
				result = look_at_member(entry, false, members, error);
			if (result < 0)
				return result;
			descends = depth + 1 < DEPTH_MAX && dwarf_haschildren(entry) > 0;
		}
		if (descends && dwarf_child(entry, &level[depth + 1]) == 0) {
			depth++;
			continue;
		}
		while ((result = next_sibling(&level[depth])) == 1) {
			if (depth == 0)
				return 0;
			depth--;
		}
		if (result < 0)
			return error_set(error, -EBADMSG, "damaged entries: %s", dwarf_errmsg(-1));
	}
}
