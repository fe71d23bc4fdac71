/* SPDX-License-Identifier: GPL-2.0-only */
typedef int report_placeholder;
