/* SPDX-License-Identifier: GPL-2.0-only */
#include "dwarf_members.h"

#include <dwarf.h>
#include <errno.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"

#define STRUCT_NAME "tsd_s"

enum {
	DEPTH_MAX = 256,
	/* Entries between two looks at the clock. */
	ENTRIES_PER_CHECK = 1024,
};

struct member_names {
	const char *allocated, *deallocated;
	bool in_tsd_only; /* they mean nothing elsewhere */
};

static const struct member_names member_names[TSD_MEMBER_SPELLINGS] = {
	{"cant_access_tsd_items_directly_use_a_getter_or_setter_thread_allocated", /* 5.2.0 and later */
	 "cant_access_tsd_items_directly_use_a_getter_or_setter_thread_deallocated", false},
	{"use_a_getter_or_setter_instead_thread_allocated", /* 5.0 and 5.1 */
	 "use_a_getter_or_setter_instead_thread_deallocated", false},
	{"thread_allocated", "thread_deallocated", true}, /* 4.x */
};

const char *tsd_member_allocated(size_t index)
{
	return member_names[index].allocated;
}

int dwarf_limit_check(const struct dwarf_limit *limit, struct error *error)
{
	if (clock_ns(CLOCK_MONOTONIC) < limit->deadline_ns)
		return 0;
	return error_set(error, -ETIME, "the time allowed is over");
}

/* The name of an entry itself, or NULL: nothing that it refers to is followed. */
static const char *entry_name(Dwarf_Die *entry)
{
	Dwarf_Attribute attribute;

	return dwarf_attr(entry, DW_AT_name, &attribute) != NULL ? dwarf_formstring(&attribute) : NULL;
}

/* The offset of a member, a constant; -ENOENT without one (a union), an error for an expression. */
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

/* Takes the offset of `member` unless it is known already. */
static int take_offset(Dwarf_Die *member, const char *name, bool *known, uint64_t *ret_offset,
		       struct error *error)
{
	int result;

	if (*known)
		return 0;
	result = member_offset(member, ret_offset);
	*known = result == 0;
	if (result < 0 && result != -ENOENT)
		return error_set(error, -EBADMSG, "the offset of %s is not a constant", name);
	return 0;
}

static int look_at_member(Dwarf_Die *member, bool is_in_tsd, struct tsd_members *members, struct error *error)
{
	const char *name = entry_name(member);

	for (size_t i = 0; name != NULL && i < TSD_MEMBER_SPELLINGS; i++) {
		const struct member_names *names = &member_names[i];

		if (names->in_tsd_only && !is_in_tsd)
			continue;
		if (strcmp(name, names->allocated) == 0)
			return take_offset(member, name, &members->has_allocated, &members->allocated, error);
		if (strcmp(name, names->deallocated) == 0)
			return take_offset(member, name, &members->has_deallocated, &members->deallocated,
					   error);
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
