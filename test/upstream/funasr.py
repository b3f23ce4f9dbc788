"""FunASR's runtime/python/websocket/funasr_wss_server.py."""

import os
import runpy
import sys
import time

import numpy
import torch

import stand_in

source, port = stand_in.begin()
words = stand_in.SENTENCE.rstrip(".").lower().split()


def is_loud(audio):
    samples = numpy.frombuffer(audio, dtype=numpy.int16)
    return len(samples) > 0 and numpy.abs(samples.astype(numpy.int32)).max() > 1000


class AutoModel:
    def __init__(self, model, **_options):
        self.model = model

    def generate(self, input, cache=None, is_final=False, **options):
        # The name of the punctuation model has "vad" in it, too.
        if "punc" in self.model:
            return [{"text": input + "."}]
        if "vad" in self.model:
            return [{"value": self.voiced(input, cache)}]
        if "campplus" in self.model:
            return [{"spk_embedding": torch.zeros(1, 192)}]
        if cache is not None:
            # The first pass: a word for each block.
            cache["said"] = cache.get("said", 0) + 1
            said = words[cache["said"] - 1 : cache["said"]] if is_loud(input) else []
            return [{"text": "".join(f" {word}" for word in said)}]
        # The second pass is slower than the end of speech.
        time.sleep(0.3)
        return [{"text": " ".join(words) if is_loud(input) else ""}]

    def voiced(self, audio, cache):
        atMs = cache.get("atMs", 0)
        cache["atMs"] = atMs + len(audio) // 32
        speaks = cache.get("speaks", False)
        cache["quietMs"] = 0 if is_loud(audio) else cache.get("quietMs", 0) + len(audio) // 32
        if is_loud(audio) and not speaks:
            cache["speaks"] = True
            return [[atMs, -1]]
        if speaks and cache["quietMs"] > 800:
            cache["speaks"] = False
            return [[-1, cache["atMs"]]]
        return []


stand_in.module("funasr", AutoModel=AutoModel)
server = os.path.join(source, "runtime/python/websocket/funasr_wss_server.py")
sys.argv = [server, "--host", "127.0.0.1", "--port", port, "--certfile", "", "--device", "cpu", "--ngpu", "0"]
runpy.run_path(server, run_name="__main__")
