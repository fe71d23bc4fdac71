#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# bytes.sh FILE: prints its bytes as the elements of an array in C.
od -An -v -tx1 "${1:?a file}" | sed 's/ *\([0-9a-f][0-9a-f]\)/0x\1,/g'
