"""Kokoro-FastAPI's api/src/main.py."""

import os
import sys

import stand_in

source, port = stand_in.begin()
sys.path.insert(0, source)
stand_in.absent("torch", "kokoro", "phonemizer", "psutil")
os.environ.update(
    API_LOG_LEVEL="WARNING",
    USE_GPU="false",
    ENABLE_WEB_PLAYER="false",
    MODEL_DIR=os.path.join(source, "api/src/models"),
    VOICES_DIR=os.path.join(source, "api/src/voices/v1_0"),
    TEMP_FILE_DIR=os.path.join(os.getcwd(), "temp"),
)
rate = 24_000

from api.src.inference import kokoro_v1  # noqa: E402
from api.src.inference.base import AudioChunk  # noqa: E402
from api.src.services.text_processing import phonemizer, text_processor  # noqa: E402
from api.src.structures import WordTimestamp  # noqa: E402


async def load_model(self, path):
    self._model = "kokoro"


async def generate(self, text, voice, speed=1.0, lang_code=None, return_timestamps=False):
    name, path = voice
    assert os.path.exists(path), path
    told = [WordTimestamp(word=word, start_time=0.06 * at, end_time=0.06 * (at + 1)) for at, word in enumerate(text.split())]
    yield AudioChunk(stand_in.tone(text, rate), word_timestamps=told if return_timestamps else None)


kokoro_v1.KokoroV1.load_model = load_model
kokoro_v1.KokoroV1.generate = generate
kokoro_v1.KokoroV1.is_loaded = property(lambda self: self._model is not None)
for place in (phonemizer, text_processor):
    place.phonemize = lambda text, *_given, **_options: text

import uvicorn  # noqa: E402

from api.src.main import app  # noqa: E402

uvicorn.run(app, host="127.0.0.1", port=int(port), log_level="warning")
