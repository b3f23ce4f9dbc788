"""F5-TTS's src/f5_tts/socket_server.py."""

import os
import sys

import numpy
import torch

import stand_in

source, port = stand_in.begin()
sys.path.insert(0, os.path.join(source, "src"))
stand_in.absent("hydra", "omegaconf", "huggingface_hub", "torchaudio")
rate = 24_000


def infer_batch_process(_clip, _transcript, texts, *_given, **_options):
    for text in texts:
        for piece in numpy.array_split(stand_in.tone(text, rate), 3):
            yield piece, rate


def chunk_text(text, max_chars=135):
    return [text]


stand_in.module(
    "f5_tts.infer.utils_infer",
    chunk_text=chunk_text,
    infer_batch_process=infer_batch_process,
    load_model=stand_in.MagicMock(),
    load_vocoder=stand_in.MagicMock(),
    preprocess_ref_audio_text=lambda path, text: (path, text),
)
import torchaudio  # noqa: E402

torchaudio.load = lambda _path: (torch.zeros(1, 5 * rate), rate)
from f5_tts import socket_server  # noqa: E402

socket_server.OmegaConf = stand_in.MagicMock()
socket_server.OmegaConf.load.return_value.model.mel_spec.target_sample_rate = rate
socket_server.get_class = stand_in.MagicMock()
processor = socket_server.TTSStreamingProcessor("F5TTS_v1_Base", "", "", "clip.wav", "A clip.", device="cpu")
socket_server.start_server("127.0.0.1", int(port), processor)
