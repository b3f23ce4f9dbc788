"""fish-speech's tools/api_server.py. Its web framework kui (with baize) is needed; the rest of its packages are not.

This file cannot have the name of the package.
"""

import os
import queue
import sys
import threading
from dataclasses import dataclass
from typing import Optional

import soundfile
import torch

import stand_in

source, port = stand_in.begin()
sys.path.insert(0, source)
names = "ormsgpack pyrootutils torchaudio librosa cachetools natsort lightning pytorch_lightning lightning_utilities hydra omegaconf rich transformers"
stand_in.absent(*names.split(), "tiktoken", "loralib", "einops", "grpc", "loguru")
rate = 44_100
text_of = {}

import torchaudio  # noqa: E402


def load(file, backend=None):
    samples, sample_rate = soundfile.read(file, dtype="float32", always_2d=True)
    return torch.tensor(samples.T), sample_rate


class Resample:
    def __init__(self, orig_freq, new_freq):
        self.ratio = new_freq / orig_freq

    def __call__(self, waveform):
        return torch.nn.functional.interpolate(waveform[None], scale_factor=self.ratio)[0]


torchaudio.load = load
torchaudio.transforms = stand_in.module("torchaudio.transforms", Resample=Resample)
torchaudio.list_audio_backends = lambda: ["soundfile"]


class DAC:
    """The codec: what it encodes is lost, what it decodes is the tone of a text."""

    sample_rate = rate
    device = torch.device("cpu")

    def encode(self, audios, lengths):
        assert audios.shape[0] == 1 and audios.shape[2] == int(lengths[0]), audios.shape
        return torch.zeros(1, 10, 4), lengths

    def from_indices(self, codes):
        return torch.tensor(stand_in.tone(text_of[int(codes[0, 0, 0])], rate)).reshape(1, 1, -1)


@dataclass
class GenerateRequest:
    request: dict
    response_queue: queue.Queue


@dataclass
class GenerateResponse:
    action: str
    codes: Optional[torch.Tensor] = None


@dataclass
class WrappedGenerateResponse:
    status: str
    response: Optional[GenerateResponse] = None


def launch_thread_safe_queue(**_options):
    requests = queue.Queue()

    def work():
        while True:
            asked = requests.get()
            answer = asked.response_queue.put
            clips, transcripts = asked.request["prompt_tokens"], asked.request["prompt_text"]
            assert len(clips) == len(transcripts), (clips, transcripts)
            text_of[len(text_of)] = asked.request["text"]
            codes = torch.full((10, 4), len(text_of) - 1)
            answer(WrappedGenerateResponse("success", GenerateResponse("sample", codes)))
            answer(WrappedGenerateResponse("success", GenerateResponse("next")))

    threading.Thread(target=work, daemon=True).start()
    return requests


stand_in.module("fish_speech.tokenizer", IM_END_TOKEN="", MODALITY_TOKENS={}, FishTokenizer=object)
stand_in.module("fish_speech.models", __path__=[])
stand_in.module("fish_speech.models.dac", __path__=[])
stand_in.module("fish_speech.models.dac.modded_dac", DAC=DAC)
stand_in.module("fish_speech.models.dac.inference", load_model=lambda **_options: DAC())
stand_in.module("fish_speech.models.text2semantic", __path__=[])
stand_in.module(
    "fish_speech.models.text2semantic.inference",
    GenerateRequest=GenerateRequest,
    GenerateResponse=GenerateResponse,
    WrappedGenerateResponse=WrappedGenerateResponse,
    launch_thread_safe_queue=launch_thread_safe_queue,
)
sys.argv = ["api_server.py", "--device", "cpu"]

import uvicorn  # noqa: E402

from tools.api_server import create_app  # noqa: E402

uvicorn.run(create_app(), host="127.0.0.1", port=int(port), log_level="warning")
