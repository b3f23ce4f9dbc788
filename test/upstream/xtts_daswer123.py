"""daswer123/xtts-api-server's package, with one voice in its folder of speakers."""

import os
import runpy
import sys

import soundfile

import stand_in
import xtts_model

source, port = stand_in.begin()
xtts_model.install()
sys.path.insert(0, source)
os.mkdir("speakers")
soundfile.write("speakers/calm.wav", stand_in.tone("a clip of a voice", xtts_model.rate), xtts_model.rate)
# It plays on loudspeakers.
stand_in.module("xtts_api_server.RealtimeTTS", TextToAudioStream=None, CoquiEngine=None)
from xtts_api_server import modeldownloader  # noqa: E402

modeldownloader.download_model = lambda *_given: None
modeldownloader.check_tts_version = lambda: None
stand_in.on_loopback()
sys.argv = ["xtts_api_server", "--host", "127.0.0.1", "--port", port, "--device", "cpu"]
runpy.run_module("xtts_api_server", run_name="__main__")
