"""F5-TTS's Gradio app, src/f5_tts/infer/infer_gradio.py, on the package gradio."""

import os
import sys

import numpy

import stand_in

source, port = stand_in.begin()
sys.path.insert(0, os.path.join(source, "src"))
# Of what gradio needs, these serve its own page, its hub and its clients, and not the calls of an app.
stand_in.absent("hf_gradio", "huggingface_hub", "safehttpx", "groovy", "brotli", "audioop", "pyaudioop", "pydub")
stand_in.absent("torchaudio", "transformers", "cached_path")
rate = 24_000


def infer_process(clip, transcript, text, *_given, **options):
    assert os.path.getsize(clip) > 44 and transcript, (clip, transcript)
    sound = stand_in.tone(text, rate)
    count = int(len(sound) / options["speed"])
    return numpy.interp(numpy.linspace(0, len(sound), count), numpy.arange(len(sound)), sound), rate, None


def save_spectrogram(_spectrogram, path):
    from PIL import Image

    Image.new("RGB", (8, 8)).save(path)


stand_in.module(
    "f5_tts.infer.utils_infer",
    infer_process=infer_process,
    load_model=stand_in.MagicMock(),
    load_vocoder=stand_in.MagicMock(),
    preprocess_ref_audio_text=lambda path, text, **_options: (path, text),
    remove_silence_for_generated_wav=None,
    save_spectrogram=save_spectrogram,
    tempfile_kwargs={"delete": False},
)
stand_in.module("f5_tts.model", DiT=None, UNetT=None)
os.environ.update(GRADIO_ANALYTICS_ENABLED="False", HF_HUB_OFFLINE="1")
import starlette.status  # noqa: E402

# Older packages have another name for it.
if not hasattr(starlette.status, "HTTP_422_UNPROCESSABLE_CONTENT"):
    starlette.status.HTTP_422_UNPROCESSABLE_CONTENT = 422
from gradio import networking  # noqa: E402

# A checkout holds no built page, and what starts the app asks for it.
networking.url_ok = lambda _url: True
from f5_tts.infer import infer_gradio  # noqa: E402

infer_gradio.app.queue(api_open=True).launch(server_name="127.0.0.1", server_port=int(port), show_error=True)
