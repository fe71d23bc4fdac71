/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_PATTERN_H
#define CTOP_PATTERN_H

#include <stddef.h>

#include "base/buffer.h"
#include "name_rules.h"

/*
 * Appends the token pattern of a name: `worker-12` gives `worker-{N}`, `7890ab` gives `{H}`. Separators are
 * copied: by ktstr's rules, . - _ / : @ + [ ] and Unicode white space. Bytes that are not UTF-8 count
 * as letters without a class.
 *
 * By ctop's own rules, all ASCII punctuation separates, so that `GC Thread#7` gives `GC Thread#{N}`. An
 * escape of an ASCII character by systemd, `\x2d`, is one separator; the escape of another byte, `\xe8`, is a
 * letter without a class. Letters before the 32 hexadecimal digits of a systemd id remain: `run-r` with
 * digits gives `run-r{H}` (sd_id128_randomize(3)).
 */
void pattern_append(struct buffer *buffer, const char *name, size_t length, const struct name_rules *rules);

/*
 * Appends a cgroup path with `@INSTANCE.service` turned into `@{I}.service` where the instance holds none of
 * '.', '_', '-' and is not empty.
 */
void pattern_append_systemd_instances(struct buffer *buffer, const char *path, size_t length);

/*
 * Appends the pattern of a container name. `namespace/pod/container` gets the pattern of its pod template:
 * `shop/web-7d9f8b6c5-x2k4p/app` becomes `shop/web-{H}-{N}/app`. Other names get the pattern of
 * pattern_append() by ctop's own rules.
 */
void pattern_append_container(struct buffer *buffer, const char *name, size_t length);

#endif
