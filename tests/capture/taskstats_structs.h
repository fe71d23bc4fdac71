/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CTOP_TEST_TASKSTATS_STRUCTS_H
#define CTOP_TEST_TASKSTATS_STRUCTS_H

#include <stdint.h>

/* The shapes of struct taskstats as a compiler lays them out; what capture/procfs/taskstats.def is checked
 * against.
 */
struct stats_v15 {
	uint16_t version;
	uint32_t ac_exitcode;
	uint8_t ac_flag, ac_nice;
	uint64_t cpu_count __attribute__((aligned(8))), cpu_delay_total, cpu_delay_max, cpu_delay_min;
	uint64_t blkio_count, blkio_delay_total, blkio_delay_max, blkio_delay_min;
	uint64_t swapin_count, swapin_delay_total, swapin_delay_max, swapin_delay_min;
	uint64_t cpu_run_real_total, cpu_run_virtual_total;
	char ac_comm[32];
	uint8_t ac_sched __attribute__((aligned(8))), ac_pad[3];
	uint32_t ac_uid __attribute__((aligned(8))), ac_gid, ac_pid, ac_ppid, ac_btime;
	uint64_t ac_etime __attribute__((aligned(8))), ac_utime, ac_stime, ac_minflt, ac_majflt, coremem,
		virtmem;
	uint64_t hiwater_rss, hiwater_vm, read_char, write_char, read_syscalls, write_syscalls;
	uint64_t read_bytes, write_bytes, cancelled_write_bytes, nvcsw, nivcsw, ac_utimescaled,
		ac_stimescaled;
	uint64_t cpu_scaled_run_real_total;
	uint64_t freepages_count, freepages_delay_total, freepages_delay_max, freepages_delay_min;
	uint64_t thrashing_count, thrashing_delay_total, thrashing_delay_max, thrashing_delay_min;
	uint64_t ac_btime64;
	uint64_t compact_count, compact_delay_total, compact_delay_max, compact_delay_min;
	uint32_t ac_tgid;
	uint64_t ac_tgetime __attribute__((aligned(8))), ac_exe_dev, ac_exe_inode;
	uint64_t wpcopy_count, wpcopy_delay_total, wpcopy_delay_max, wpcopy_delay_min;
	uint64_t irq_count, irq_delay_total, irq_delay_max, irq_delay_min;
};

struct stats_v16 {
	uint16_t version;
	uint32_t ac_exitcode;
	uint8_t ac_flag, ac_nice;
	uint64_t cpu_count __attribute__((aligned(8))), cpu_delay_total;
	uint64_t blkio_count, blkio_delay_total;
	uint64_t swapin_count, swapin_delay_total;
	uint64_t cpu_run_real_total, cpu_run_virtual_total;
	char ac_comm[32];
	uint8_t ac_sched __attribute__((aligned(8))), ac_pad[3];
	uint32_t ac_uid __attribute__((aligned(8))), ac_gid, ac_pid, ac_ppid, ac_btime;
	uint64_t ac_etime __attribute__((aligned(8))), ac_utime, ac_stime, ac_minflt, ac_majflt, coremem,
		virtmem;
	uint64_t hiwater_rss, hiwater_vm, read_char, write_char, read_syscalls, write_syscalls;
	uint64_t read_bytes, write_bytes, cancelled_write_bytes, nvcsw, nivcsw, ac_utimescaled,
		ac_stimescaled;
	uint64_t cpu_scaled_run_real_total;
	uint64_t freepages_count, freepages_delay_total;
	uint64_t thrashing_count, thrashing_delay_total;
	uint64_t ac_btime64;
	uint64_t compact_count, compact_delay_total;
	uint32_t ac_tgid;
	uint64_t ac_tgetime __attribute__((aligned(8))), ac_exe_dev, ac_exe_inode;
	uint64_t wpcopy_count, wpcopy_delay_total;
	uint64_t irq_count, irq_delay_total;
	uint64_t cpu_delay_max, cpu_delay_min;
	uint64_t blkio_delay_max, blkio_delay_min;
	uint64_t swapin_delay_max, swapin_delay_min;
	uint64_t freepages_delay_max, freepages_delay_min;
	uint64_t thrashing_delay_max, thrashing_delay_min;
	uint64_t compact_delay_max, compact_delay_min;
	uint64_t wpcopy_delay_max, wpcopy_delay_min;
	uint64_t irq_delay_max, irq_delay_min;
};

struct stats_v17 {
	struct stats_v16 start;
	struct {
		int64_t seconds, nanoseconds;
	} max_time_stamps[8];
};

#endif
