"""GPT-SoVITS's api_v2.py."""

import os
import runpy
import sys

import numpy

import stand_in

source, port = stand_in.begin()
# It finds its packages and translations from the working folder.
os.chdir(source)
rate = 32_000


class TTS_Config:
    languages = ["auto", "auto_yue", "en", "zh", "ja", "yue", "ko", "all_zh", "all_ja", "all_yue", "all_ko"]
    version = "v2"

    def __init__(self, _path):
        pass


class TTS:
    def __init__(self, _config):
        pass

    def run(self, request):
        path = request["ref_audio_path"]
        if not os.path.exists(path):
            raise ValueError(f"{path} not exists")
        sound = stand_in.pcm16(stand_in.tone(request["text"], rate))
        if request["streaming_mode"] or request["return_fragment"]:
            for piece in numpy.array_split(sound, 3):
                yield rate, piece
        else:
            yield rate, sound


sys.path.insert(0, source)
stand_in.module("GPT_SoVITS.TTS_infer_pack.TTS", TTS=TTS, TTS_Config=TTS_Config)
stand_in.on_loopback()
sys.argv = ["api_v2.py", "-a", "127.0.0.1", "-p", port]
runpy.run_path("api_v2.py", run_name="__main__")
