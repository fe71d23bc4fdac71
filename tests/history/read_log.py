#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""
A reader of histories, written from ctop-history(5) alone.

read_log.py FILE...                        checks a file and prints a line for each frame: kind, time, offset, content
read_log.py --replace OLD NEW FILE...      replaces a text in facts and corrects the checksum; OLD and NEW must have
                                           the same length
"""
import struct
import sys
import zlib

HEADER = b"ctoplog\n" + struct.pack("<II", 1, 0)
MAGIC = bytes.fromhex("c7469e")
HEAD = struct.Struct("<3sBIQQI")
ROUND, INTERVAL, MARK, FACTS, INDEX = range(1, 6)
PLACE_NUMBERS = 3  # in an index: offset, time, length of the payload
RECORD_NUMBERS = 14
AGAINST, FACTS_OFFSET = 5, 7  # indexes of numbers in a record


def frame_at(data, offset):
    """Returns kind, time and payload of the frame at an offset, or None if no valid frame is there."""
    head = data[offset:offset + HEAD.size]
    if len(head) < HEAD.size:
        return None
    magic, kind, length, own_offset, time, checksum = HEAD.unpack(head)
    payload = data[offset + HEAD.size:offset + HEAD.size + length]
    if magic != MAGIC or own_offset != offset or len(payload) < length \
            or zlib.crc32(head[:-4] + payload) != checksum:
        return None
    return kind, time, payload


def frames(data):
    """Yields offset, kind, time and payload of each valid frame, and of damaged bytes with the kind None."""
    offset = 16
    while offset < len(data):
        frame = frame_at(data, offset)
        if frame is not None:
            yield (offset, *frame)
            offset += HEAD.size + len(frame[2])
            continue
        later = data.find(MAGIC, offset + 1)
        while later >= 0 and frame_at(data, later) is None:
            later = data.find(MAGIC, later + 1)
        if later < 0:
            return
        yield offset, None, 0, data[offset:later]
        offset = later


def numbers_at(payload, at, before):
    """Returns the numbers, stored as differences from `before`, and the offset just past them."""
    numbers = []
    for last in before:
        number = shift = 0
        while True:
            byte = payload[at]
            at += 1
            number |= (byte & 0x7f) << shift
            shift += 7
            if byte < 0x80:
                break
        numbers.append((last + ((number >> 1) ^ -(number & 1))) % 2**64)
    return tuple(numbers), at


def texts(payload, count):
    found = payload.split(b"\0")
    assert len(found) == count + 1 and found[count] == b"", "texts that do not end with a NUL byte"
    return [text.decode() for text in found[:count]]


def read(data):
    assert data[:16] == HEADER, "not a history of version 1"
    facts, rounds, marks, listed = {}, {}, [], {}
    listed_marks = []
    index = 0
    listed_to = 16
    for offset, kind, time, payload in frames(data):
        if kind is None:
            print("damage", offset, len(payload))
        elif kind == FACTS:
            facts[offset] = texts(payload, 5)
            print("facts", offset, *facts[offset], sep="\t")
        elif kind == MARK:
            marks.append(offset)
            print("mark", time, offset, *texts(payload, 3), sep="\t")
        elif kind == ROUND:
            record, _ = numbers_at(payload, 0, RECORD_NUMBERS * (0,))
            against = record[AGAINST]
            assert against == 0 or offset - against in rounds, "told from a round that is not there"
            assert record[FACTS_OFFSET] in facts, "facts that are not there"
            assert not rounds or time > max(entry[0] for entry in rounds.values()), "times do not ascend"
            rounds[offset] = (time, len(payload), *record)
            print("round", time, offset, *record, sep="\t")
        elif kind == INDEX:
            previous, begin, round_count, mark_count = struct.unpack("<QQII", payload[:24])
            assert (previous, begin) == (index, listed_to), "indexes that do not follow one another"
            at = 24 + 8 * mark_count
            listed_marks += struct.unpack("<%dQ" % mark_count, payload[24:at])
            entry = (PLACE_NUMBERS + RECORD_NUMBERS) * (0,)
            for _ in range(round_count):
                entry, at = numbers_at(payload, at, entry)
                listed[entry[0]] = entry[1:]
            assert at == len(payload), "an index that is longer than what it lists"
            index, listed_to = offset, offset + HEAD.size + len(payload)
            print("index", time, offset, round_count, mark_count, sep="\t")
    for where, entry in listed.items():
        assert rounds[where] == entry, "an index says something else of a round"
    assert listed_marks == marks[:len(listed_marks)], "an index lists other marks"
    assert listed.keys() == set(list(rounds)[:len(listed)]), "an index leaves rounds out"


def replace(path, old, new):
    with open(path, "rb") as file:
        data = bytearray(file.read())
    for offset, kind, _, payload in list(frames(bytes(data))):
        if kind == FACTS:
            end = offset + HEAD.size
            data[end:end + len(payload)] = payload.replace(old.encode(), new.encode())
            checksum = zlib.crc32(data[offset:end - 4] + data[end:end + len(payload)])
            data[end - 4:end] = struct.pack("<I", checksum)
    with open(path, "r+b") as file:
        file.write(data)


if sys.argv[1] == "--replace":
    for name in sys.argv[4:]:
        replace(name, sys.argv[2], sys.argv[3])
else:
    for name in sys.argv[1:]:
        with open(name, "rb") as log:
            read(log.read())
