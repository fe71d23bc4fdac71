/* SPDX-License-Identifier: GPL-2.0-only */
#include "scx_types.h"

#include <ctype.h>
#include <string.h>

#include "scx_btf.h"

enum {
	NESTED_LEVELS = 16,
	STEPS = 65536, /* values in one text */
};

struct rendering {
	const struct btf *btf;
	const uint8_t *bytes;
	uint64_t bit_size;
	struct buffer *buffer;
	size_t end; /* length of the buffer at which the text is long enough */
	int steps_left;
};

static void render(struct rendering *rendering, uint32_t id, uint64_t bit_offset, uint32_t bit_field,
		   int level);

/* Whether there is room and patience for one more value. */
static bool goes_on(struct rendering *rendering)
{
	return rendering->buffer->length <= rendering->end && --rendering->steps_left > 0;
}

/* Reads a number that lies in the bytes. */
static bool read_number(const struct rendering *rendering, const struct task_field_member *member,
			uint64_t offset, uint64_t *ret_value)
{
	struct task_field_member shifted = *member;
	const uint64_t first = (offset + member->bit_offset) / SCX_BTF_BITS;

	if (offset + member->bit_offset + member->bit_size > rendering->bit_size || member->bit_size == 0 ||
	    member->bit_size > sizeof(*ret_value) * SCX_BTF_BITS)
		return false;
	/* an offset of a member has 32 bits */
	shifted.bit_offset = (uint32_t)((offset + member->bit_offset) % SCX_BTF_BITS);
	*ret_value = task_field_read(&shifted, rendering->bytes + first, 0);
	return true;
}

static void render_integer(struct rendering *rendering, const struct task_field_member *member,
			   uint64_t offset)
{
	uint64_t value;

	if (member->kind == TASK_FIELD_KIND_OTHER || !read_number(rendering, member, offset, &value))
		buffer_append_char(rendering->buffer, '?');
	else if (member->kind == TASK_FIELD_KIND_BOOLEAN)
		buffer_append_text(rendering->buffer, value != 0 ? "true" : "false");
	else if (member->kind == TASK_FIELD_KIND_SIGNED)
		buffer_append_i64(rendering->buffer, (int64_t)value);
	else
		buffer_append_u64(rendering->buffer, value);
}

static void render_enum(struct rendering *rendering, const struct btf_type *type, uint64_t offset,
			uint32_t bit_field)
{
	const struct task_field_member member = {
		.kind = TASK_FIELD_KIND_ENUM,
		.bit_size = bit_field != 0 ? bit_field : type->size * SCX_BTF_BITS,
		.count = 1,
		.is_signed = btf_kflag(type),
	};
	uint64_t value;

	if (type->size > sizeof(value) || !read_number(rendering, &member, offset, &value)) {
		buffer_append_char(rendering->buffer, '?');
		return;
	}
	for (uint32_t i = 0; i < btf_vlen(type); i++) {
		const struct task_field_enumerator enumerator = scx_btf_enumerator(rendering->btf, type, i);

		if (enumerator.value == (int64_t)value && *enumerator.name != '\0') {
			buffer_append_text(rendering->buffer, enumerator.name);
			return;
		}
	}
	if (member.is_signed)
		buffer_append_i64(rendering->buffer, (int64_t)value);
	else
		buffer_append_u64(rendering->buffer, value);
}

static void render_pointer(struct rendering *rendering, uint64_t offset)
{
	const struct task_field_member member = {
		.kind = TASK_FIELD_KIND_UNSIGNED,
		.bit_size = SCX_BTF_POINTER_SIZE * SCX_BTF_BITS,
		.count = 1,
	};
	uint64_t value;

	if (read_number(rendering, &member, offset, &value))
		buffer_append_format(rendering->buffer, "0x%llx", (unsigned long long)value);
	else
		buffer_append_char(rendering->buffer, '?');
}

static void render_float(struct rendering *rendering, uint32_t size, uint64_t offset)
{
	const uint8_t *bytes = rendering->bytes + offset / SCX_BTF_BITS;
	double value;
	float narrow;

	if (offset + (uint64_t)size * SCX_BTF_BITS > rendering->bit_size || offset % SCX_BTF_BITS != 0 ||
	    (size != sizeof(value) && size != sizeof(narrow))) {
		buffer_append_char(rendering->buffer, '?');
		return;
	}
	if (size == sizeof(value)) {
		memcpy(&value, bytes, sizeof(value));
	} else {
		memcpy(&narrow, bytes, sizeof(narrow));
		value = (double)narrow;
	}
	buffer_append_format(rendering->buffer, "%g", value);
}

/* Characters up to the NUL in quotes, each that is none of ASCII as in C. */
static void render_string(struct rendering *rendering, uint64_t count, uint64_t offset)
{
	const uint64_t first = offset / SCX_BTF_BITS;

	buffer_append_char(rendering->buffer, '"');
	for (uint64_t i = first; i < first + count && i < rendering->bit_size / SCX_BTF_BITS &&
				 rendering->bytes[i] != '\0' && goes_on(rendering);
	     i++) {
		const uint8_t character = rendering->bytes[i];

		if (character == '"' || character == '\\')
			buffer_append_format(rendering->buffer, "\\%c", character);
		else if (character < 0x80 && isprint(character))
			buffer_append_char(rendering->buffer, (char)character);
		else
			buffer_append_format(rendering->buffer, "\\x%02x", character);
	}
	buffer_append_char(rendering->buffer, '"');
}

static bool is_character(const struct btf *btf, const struct btf_type *type)
{
	return btf_is_int(type) && type->size == 1 &&
	       ((btf_int_encoding(type) & BTF_INT_CHAR) != 0 ||
		strcmp(scx_btf_name(btf, type->name_off), "char") == 0);
}

static void render_array(struct rendering *rendering, uint32_t id, uint64_t offset, int level)
{
	uint64_t count = 0;
	const uint32_t element = scx_btf_array(rendering->btf, id, &count);
	const uint64_t step = scx_btf_size(rendering->btf, element) * SCX_BTF_BITS;

	if (element == 0) {
		buffer_append_char(rendering->buffer, '?');
		return;
	}
	if (count != 0 && offset % SCX_BTF_BITS == 0 &&
	    is_character(rendering->btf, btf__type_by_id(rendering->btf, element))) {
		render_string(rendering, count, offset);
		return;
	}
	buffer_append_char(rendering->buffer, '[');
	for (uint64_t i = 0; i < count && goes_on(rendering); i++) {
		if (i != 0)
			buffer_append_text(rendering->buffer, ", ");
		render(rendering, element, offset + i * step, 0, level + 1);
	}
	buffer_append_char(rendering->buffer, ']');
}

static void render_members(struct rendering *rendering, const struct btf_type *type, uint64_t offset,
			   int level)
{
	buffer_append_char(rendering->buffer, '{');
	for (uint32_t i = 0; i < btf_vlen(type) && goes_on(rendering); i++) {
		const struct btf_member *member = &btf_members(type)[i];
		const char *name = scx_btf_name(rendering->btf, member->name_off);

		if (i != 0)
			buffer_append_text(rendering->buffer, ", ");
		if (*name != '\0')
			buffer_append_format(rendering->buffer, ".%s = ", name);
		render(rendering, member->type, offset + btf_member_bit_offset(type, i),
		       btf_member_bitfield_size(type, i), level + 1);
	}
	buffer_append_char(rendering->buffer, '}');
}

static void render(struct rendering *rendering, uint32_t id, uint64_t bit_offset, uint32_t bit_field,
		   int level)
{
	struct task_field_member member = {.count = 1};
	uint32_t resolved = 0;
	const struct btf_type *type = scx_btf_resolve(rendering->btf, id, &resolved);

	if (!goes_on(rendering))
		return;
	if (type == NULL || level > NESTED_LEVELS) {
		buffer_append_char(rendering->buffer, '?');
		return;
	}
	switch (btf_kind(type)) {
	case BTF_KIND_INT:
		scx_btf_describe_integer(type, &member);
		if (bit_field != 0)
			member.bit_size = bit_field;
		render_integer(rendering, &member, bit_offset);
		break;
	case BTF_KIND_ENUM:
	case BTF_KIND_ENUM64:
		render_enum(rendering, type, bit_offset, bit_field);
		break;
	case BTF_KIND_PTR:
		render_pointer(rendering, bit_offset);
		break;
	case BTF_KIND_FLOAT:
		render_float(rendering, type->size, bit_offset);
		break;
	case BTF_KIND_ARRAY:
		render_array(rendering, resolved, bit_offset, level);
		break;
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		render_members(rendering, type, bit_offset, level);
		break;
	default:
		buffer_append_char(rendering->buffer, '?');
	}
}

void scx_types_render(const struct btf *btf, uint32_t type, const uint8_t *bytes, size_t size, size_t limit,
		      struct buffer *buffer)
{
	static const char cut[] = "...";
	struct rendering rendering = {
		.btf = btf,
		.bytes = bytes,
		.bit_size = (uint64_t)size * SCX_BTF_BITS,
		.buffer = buffer,
		.end = buffer->length + limit,
		.steps_left = STEPS,
	};

	render(&rendering, type, 0, 0, 0);
	if (buffer->length <= rendering.end && rendering.steps_left > 0)
		return;
	if (limit < strlen(cut))
		buffer->length = rendering.end - limit;
	else if (buffer->length > rendering.end - strlen(cut))
		buffer->length = rendering.end - strlen(cut);
	buffer_append_text(buffer, limit < strlen(cut) ? "" : cut);
}
