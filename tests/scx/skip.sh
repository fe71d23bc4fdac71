#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# skip.sh NAME REASON: stands for a test that cannot be built here.
echo "skip - $1: $2"
exit 77
