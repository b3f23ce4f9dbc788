"""Moshi's moshi/server.py."""

import importlib
import os
import sys
import types

import numpy
import torch

import opus_stream
import stand_in

source, port = stand_in.begin()
sys.modules.pop("moshi", None)
rate, frame_rate, books = 24_000, 12.5, 8
frame = int(rate / frame_rate)
words = stand_in.SENTENCE.split()


class Mimi:
    """Its codes are 1 in a loud frame and 0 in a quiet one."""

    sample_rate, frame_rate = rate, frame_rate

    def streaming_forever(self, _batch):
        pass

    def reset_streaming(self):
        self.at = 0

    def encode(self, chunk):
        assert chunk.shape == (1, 1, frame), chunk.shape
        return torch.full((1, books, 1), int(chunk.abs().max() > 0.05), dtype=torch.long)

    def decode(self, codes):
        at, self.at = self.at, self.at + frame
        tone = 0.3 * numpy.sin(numpy.arange(at, at + frame) * 2 * numpy.pi * 220 / rate)
        return torch.from_numpy((tone * codes[0, 0, 0].item()).astype(numpy.float32))[None, None]


class LMGen:
    """After a loud stretch and 240 ms of silence it speaks a sentence, a word in 160 ms."""

    lm_model = types.SimpleNamespace(dep_q=books)

    def __init__(self, *_given, **_options):
        pass

    def streaming_forever(self, _batch):
        self.reset_streaming()

    def reset_streaming(self):
        self.quiet = self.said = None

    def step(self, codes):
        if codes[0, 0, 0].item() == 1:
            self.quiet = 0
        elif self.quiet is not None:
            self.quiet += 1
            if self.quiet == 3:
                self.quiet, self.said = None, 0
        tokens = torch.zeros((1, books + 1, 1), dtype=torch.long)
        tokens[0, 0, 0] = 3
        if self.said is not None:
            tokens[0, 1:, 0] = 1
            if self.said % 2 == 0:
                tokens[0, 0, 0] = 10 + self.said // 2
            self.said += 1
            if self.said == 2 * len(words):
                self.said = None
        return tokens


mimi = Mimi()
mimi.reset_streaming()
loaded = types.SimpleNamespace(
    model_type="moshi",
    lm_gen_config={},
    get_mimi=lambda device: mimi,
    get_text_tokenizer=lambda: types.SimpleNamespace(id_to_piece=lambda token: "▁" + words[token - 10]),
    get_moshi=lambda **_options: None,
)
checkpoints = types.SimpleNamespace(from_hf_repo=lambda *_given, **_options: loaded)
loaders = types.SimpleNamespace(DEFAULT_REPO="kyutai/moshiko-pytorch-bf16", CheckpointInfo=checkpoints)
stand_in.module("huggingface_hub", hf_hub_download=None)
stand_in.module("sentencepiece", SentencePieceProcessor=object)
stand_in.module(
    "sphn", OpusStreamReader=opus_stream.OpusStreamReader, OpusStreamWriter=opus_stream.OpusStreamWriter
)
stand_in.module("moshi", __path__=[os.path.join(source, "moshi", "moshi")])
stand_in.module("moshi.models", loaders=loaders, MimiModel=Mimi, LMModel=object, LMGen=LMGen)
stand_in.module("moshi.run_inference", get_condition_tensors=lambda *_given, **_options: {})
torch.cuda.synchronize = lambda: None
sys.argv = ["server", "--host", "127.0.0.1", "--port", port, "--device", "cpu", "--static", "none"]
importlib.import_module("moshi.server")
