"""A stand-in for sphn: Opus in Ogg, piece by piece, by the system's libopus."""

import ctypes
import ctypes.util
import struct

import numpy

opus = ctypes.CDLL(ctypes.util.find_library("opus") or "libopus.so.0")
for name in ("opus_decoder_create", "opus_encoder_create"):
    getattr(opus, name).restype = ctypes.c_void_p


def crc(data):
    rest = 0
    for byte in data:
        rest ^= byte << 24
        for _ in range(8):
            rest = ((rest << 1) ^ 0x04C11DB7 if rest & 0x80000000 else rest << 1) & 0xFFFFFFFF
    return rest


class OpusStreamReader:
    def __init__(self, rate):
        self.rate = rate
        self.rest = b""
        self.packet = b""
        self.decoder = ctypes.c_void_p(opus.opus_decoder_create(rate, 1, None))

    def append_bytes(self, data):
        self.rest += data
        return numpy.concatenate([numpy.zeros(0, numpy.float32), *map(self.decode, self.packets())])

    def packets(self):
        while len(self.rest) >= 27 and len(self.rest) >= 27 + self.rest[26]:
            sizes = self.rest[27 : 27 + self.rest[26]]
            at = 27 + len(sizes)
            if len(self.rest) < at + sum(sizes):
                return
            assert self.rest[:4] == b"OggS", self.rest[:4]
            for size in sizes:
                self.packet += self.rest[at : at + size]
                at += size
                if size < 255:
                    if self.packet[:4] != b"Opus":
                        yield self.packet
                    self.packet = b""
            self.rest = self.rest[at:]

    def decode(self, packet):
        pcm = numpy.zeros(self.rate * 120 // 1000, numpy.float32)
        count = opus.opus_decode_float(
            self.decoder, packet, len(packet), pcm.ctypes.data_as(ctypes.c_void_p), len(pcm), 0
        )
        assert count >= 0, count
        return pcm[:count]


class OpusStreamWriter:
    def __init__(self, rate):
        self.size = rate * 20 // 1000
        # 2049: for sound of every kind.
        self.encoder = ctypes.c_void_p(opus.opus_encoder_create(rate, 1, 2049, None))
        self.pcm = numpy.zeros(0, numpy.float32)
        self.page_count = 0
        self.position = 0
        tags = b"OpusTags" + struct.pack("<I", 4) + b"sphn" + struct.pack("<I", 0)
        self.head = self.page(b"OpusHead" + struct.pack("<BBHIhB", 1, 1, 0, rate, 0, 0)) + self.page(tags)

    def page(self, packet):
        sizes = bytes([255] * (len(packet) // 255) + [len(packet) % 255])
        begins = 2 if self.page_count == 0 else 0
        head = struct.pack("<4sBBqIIIB", b"OggS", 0, begins, self.position, 1, self.page_count, 0, len(sizes))
        made = bytearray(head + sizes + packet)
        made[22:26] = struct.pack("<I", crc(made))
        self.page_count += 1
        return bytes(made)

    def append_pcm(self, samples):
        self.pcm = numpy.concatenate([self.pcm, samples.astype(numpy.float32)])
        made, self.head = self.head, b""
        while len(self.pcm) >= self.size:
            block, self.pcm = numpy.ascontiguousarray(self.pcm[: self.size]), self.pcm[self.size :]
            packet = ctypes.create_string_buffer(4000)
            count = opus.opus_encode_float(
                self.encoder, block.ctypes.data_as(ctypes.c_void_p), len(block), packet, len(packet)
            )
            assert count > 0, count
            self.position += 960
            made += self.page(packet.raw[:count])
        return made
