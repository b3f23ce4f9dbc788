"""XTTS in place of the package TTS, for both of its servers."""

import os

import torch

import stand_in

rate = 24_000
languages = ["en", "es", "fr", "de", "it", "pt", "pl", "tr", "ru", "nl", "cs", "ar", "zh-cn", "ja", "hu", "ko", "hi"]


class XttsConfig:
    languages = languages

    def load_json(self, _path):
        pass


def latents():
    return torch.full((1, 32, 1024), 0.25), torch.full((1, 512, 1), 0.5)


class Xtts:
    def __init__(self):
        names = ("gpt_cond_latent", "speaker_embedding")
        self.speaker_manager = type("Speakers", (), {"speakers": {"Claribel Dervla": dict(zip(names, latents()))}})()

    @staticmethod
    def init_from_config(_config):
        return Xtts()

    def load_checkpoint(self, *_given, **_options):
        pass

    def to(self, _device):
        return self

    def get_conditioning_latents(self, path):
        assert os.path.getsize(path) > 44
        return latents()

    def inference_stream(self, text, language, gpt_cond_latent, speaker_embedding, **_options):
        assert language in languages, language
        assert gpt_cond_latent.shape == (1, 32, 1024) and speaker_embedding.shape == (1, 512, 1)
        yield from torch.tensor(stand_in.tone(text, rate)).chunk(3)


def install():
    for name in ("TTS", "TTS.tts", "TTS.tts.configs", "TTS.tts.models", "TTS.utils"):
        stand_in.module(name)
    stand_in.module("TTS.api", TTS=None)
    stand_in.module("TTS.tts.configs.xtts_config", XttsConfig=XttsConfig)
    stand_in.module("TTS.tts.models.xtts", Xtts=Xtts)
    stand_in.module("TTS.utils.generic_utils", get_user_data_dir=lambda _name: ".")
    stand_in.module("TTS.utils.manage", ModelManager=stand_in.MagicMock)
