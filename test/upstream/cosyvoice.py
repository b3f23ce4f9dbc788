"""CosyVoice's runtime/python/fastapi/server.py. Clips are read as its frontend of that commit reads them."""

import os
import runpy
import sys

import soundfile
import torch
import torchaudio

import stand_in

source, port = stand_in.begin()
sys.path.insert(0, source)
rate = 24_000


def load(file, backend="soundfile"):
    """torchaudio.load with the one backend that the server asks for; older versions lack the argument."""
    samples, sample_rate = soundfile.read(file, dtype="float32", always_2d=True)
    return torch.tensor(samples.T), sample_rate


torchaudio.load = load
from cosyvoice.utils.file_utils import load_wav  # noqa: E402

with open(os.path.join(source, "cosyvoice/cli/frontend.py"), encoding="utf8") as frontend:
    takes_path = "load_wav(prompt_wav" in frontend.read()


class CosyVoice2:
    sample_rate = rate

    def __init__(self, model_dir=None):
        pass

    def speak(self, text, clip):
        samples = load_wav(clip, 24_000) if takes_path else clip
        assert samples.shape[1] / (24_000 if takes_path else 16_000) <= 30, "do not support audio longer than 30s"
        yield {"tts_speech": torch.tensor(stand_in.tone(text, rate)).unsqueeze(0)}

    def inference_zero_shot(self, text, _prompt, clip):
        return self.speak(text, clip)

    def inference_cross_lingual(self, text, clip):
        return self.speak(text, clip)

    def inference_instruct2(self, text, _manner, clip):
        return self.speak(text, clip)


def no_first_version(_model_dir):
    raise ValueError("not CosyVoice 1")


stand_in.module("cosyvoice.cli.cosyvoice", AutoModel=CosyVoice2, CosyVoice2=CosyVoice2, CosyVoice=no_first_version)
stand_in.on_loopback()
server = os.path.join(source, "runtime/python/fastapi/server.py")
sys.argv = [server, "--port", port]
runpy.run_path(server, run_name="__main__")
