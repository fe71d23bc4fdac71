/* SPDX-License-Identifier: GPL-2.0-only */
/* CPUs, disks and networks of the host. Rounds of versions that did not read them have no stream of them. */
#include "round.h"

#include <string.h>

enum {
	STREAM_LISTS = STREAM_DEVICES, /* and the times */
	STREAM_DEVICE_NAMES,
	STREAM_DEVICE_NUMBERS,
	STREAM_CPU_NUMBERS,
};

static uint64_t code_number(struct round *round, unsigned int stream, uint64_t number, uint64_t expected)
{
	return coder_residual(&round->coder, &round->streams[stream], number, expected);
}

static void *code_list(struct round *round, void *items, size_t *count, size_t size)
{
	struct coder *coder = &round->coder;

	*count = coder_count(coder, &round->streams[STREAM_LISTS], coder->decoding ? 0 : *count);
	return coder->decoding && *count != 0 ? arena_allocate_zero(&round->now->arena, *count, size) : items;
}

static void code_cpus(struct round *round, struct devices *devices, const struct devices *against)
{
	devices->cpus = code_list(round, devices->cpus, &devices->cpu_count, sizeof(*devices->cpus));
	for (size_t i = 0; i < devices->cpu_count; i++) {
		struct cpu_ticks *cpu = &devices->cpus[i];
		const struct cpu_ticks expected = i < against->cpu_count ? against->cpus[i]
									 : (struct cpu_ticks){0};
		const struct cpu_ticks coded = {
			.number = (uint32_t)code_number(round, STREAM_CPU_NUMBERS, cpu->number,
							i != 0 ? devices->cpus[i - 1].number + 1 : 0),
			.idle = code_number(round, STREAM_CPU_NUMBERS, cpu->idle, expected.idle),
			.all = code_number(round, STREAM_CPU_NUMBERS, cpu->all, expected.all),
		};

		if (round->coder.decoding)
			*cpu = coded;
		if (coded.number >= DEVICES_CPUS_MAX)
			coder_fail(&round->coder);
	}
}

/* A name that stands where it stood before is left out. */
static const char *code_name(struct round *round, const char *name, const char *expected)
{
	struct coder *coder = &round->coder;
	struct coder_stream *stream = &round->streams[STREAM_DEVICE_NAMES];
	const bool is_same = coder_bit(coder, stream,
				       !coder->decoding && expected != NULL && strcmp(name, expected) == 0);
	size_t length = is_same || coder->decoding ? 0 : strlen(name);

	if (is_same && expected == NULL) {
		coder_fail(coder);
		return "";
	}
	if (is_same) {
		name = expected;
		length = strlen(expected);
	} else {
		name = coder_text(coder, stream, name, &length);
	}
	return coder->decoding ? arena_duplicate(&round->now->arena, name, length) : name;
}

static void code_devices(struct round *round, struct device **devices, size_t *count,
			 const struct device *against, size_t against_count)
{
	*devices = code_list(round, *devices, count, sizeof(**devices));
	for (size_t i = 0; i < *count && !round->coder.failed; i++) {
		struct device *device = &(*devices)[i];
		const struct device expected = i < against_count ? against[i] : (struct device){0};
		const char *name = code_name(round, device->name, expected.name);
		const struct device coded = {
			.name = name,
			.busy_ms = code_number(round, STREAM_DEVICE_NUMBERS, device->busy_ms,
					       expected.busy_ms),
			.read_bytes = code_number(round, STREAM_DEVICE_NUMBERS, device->read_bytes,
						  expected.read_bytes),
			.write_bytes = code_number(round, STREAM_DEVICE_NUMBERS, device->write_bytes,
						   expected.write_bytes),
		};

		if (round->coder.decoding)
			*device = coded;
	}
}

void round_code_devices(struct round *round)
{
	static const struct devices none;
	struct coder *coder = &round->coder;
	struct coder_stream *lists = &round->streams[STREAM_LISTS];
	const struct devices *against = round->against != NULL ? &round->against->provenance.devices : &none;
	struct devices devices = round->now->provenance.devices;

	if (coder->decoding ? lists->next == lists->end : devices.read_at_ns == 0)
		return;
	devices.read_at_ns = code_number(round, STREAM_LISTS, devices.read_at_ns, against->read_at_ns);
	devices.cpu_end = (uint32_t)code_number(round, STREAM_LISTS, devices.cpu_end, against->cpu_end);
	code_cpus(round, &devices, against);
	code_devices(round, &devices.disks, &devices.disk_count, against->disks, against->disk_count);
	code_devices(round, &devices.networks, &devices.network_count, against->networks,
		     against->network_count);
	if (coder->decoding && devices.cpu_end > DEVICES_CPUS_MAX)
		coder_fail(coder);
	if (coder->decoding && !coder->failed)
		round->now->provenance.devices = devices;
}
