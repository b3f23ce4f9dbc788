"""speaches, with its own VAD replaced, too, and an LLM behind it that always says the same."""

import http.server
import json
import os
import shutil
import sys
import threading
import types

import stand_in

source, port = stand_in.begin()
names = "opentelemetry faster_whisper huggingface_hub kokoro_onnx onnx_asr piper pyannote ctranslate2 aiortc httpx_ws"
stand_in.absent(*names.split(), "onnxruntime", "torch", "gradio", "aiostream", "sounddevice")
rate = 24_000


class Llm(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        assert request["messages"][-1]["role"] == "user", request["messages"]
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        chunk = {"id": "1", "object": "chat.completion.chunk", "created": 0, "model": "llm"}
        for word in ["Good ", "evening, ", "my ", "friend."]:
            choice = {"index": 0, "delta": {"role": "assistant", "content": word}, "finish_reason": None}
            self.wfile.write(f"data: {json.dumps({**chunk, 'choices': [choice]})}\n\n".encode())
        self.wfile.write(b"data: [DONE]\n\n")

    def log_message(self, *_given):
        pass


llm = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Llm)
threading.Thread(target=llm.serve_forever, daemon=True).start()
os.environ.update(
    UVICORN_HOST="127.0.0.1",
    UVICORN_PORT=port,
    ENABLE_UI="false",
    LOG_LEVEL="warning",
    CHAT_COMPLETION_BASE_URL=f"http://127.0.0.1:{llm.server_address[1]}/v1",
)
os.makedirs("realtime-console/dist")
shutil.copy(os.path.join(source, "model_aliases.json"), ".")
sys.path.insert(0, os.path.join(source, "src"))

import numpy  # noqa: E402
import openai  # noqa: E402
import soundfile  # noqa: E402
import uvicorn  # noqa: E402

from openai.types.beta.realtime import conversation_item_input_audio_transcription_completed_event as completed  # noqa: E402

# Older packages have another name for a parameter that is left out, and no type for what a transcript has used.
openai.omit = getattr(openai, "omit", openai.NOT_GIVEN)
if not hasattr(completed, "UsageTranscriptTextUsageDuration"):
    completed.UsageTranscriptTextUsageDuration = dict
from speaches import dependencies  # noqa: E402
from speaches.executors import kokoro, whisper  # noqa: E402
from speaches.executors.silero_vad_v5 import SpeechTimestamp, SileroVADModelManager  # noqa: E402
from speaches.realtime import input_audio_buffer_event_router  # noqa: E402
from speaches.routers import speech, stt  # noqa: E402


def decode_audio(file, sampling_rate):
    samples, file_rate = soundfile.read(file, dtype="float32")
    assert file_rate == sampling_rate, file_rate
    return samples


class Kokoro:
    async def create_stream(self, text, _voice, lang, speed):
        for piece in numpy.array_split(stand_in.tone(text, rate), 3):
            yield piece, rate


class Transcriber:
    def __init__(self, model):
        pass

    def transcribe(self, samples, **_options):
        seconds = len(samples) / 16_000
        text = stand_in.SENTENCE if numpy.abs(samples).max() > 0.05 else ""
        scores = {"temperature": 0, "avg_logprob": -0.2, "compression_ratio": 1, "no_speech_prob": 0.01}
        spoken = {"id": 0, "seek": 0, "start": 0, "end": seconds, "text": f" {text}", "tokens": [], "words": None}
        settings = types.SimpleNamespace(word_timestamps=False)
        info = types.SimpleNamespace(language="en", duration=seconds, transcription_options=settings)
        return iter([types.SimpleNamespace(**spoken, **scores)]), info


def speech_timestamps(samples, *, vad_options=None, **_options):
    """No VAD is ever quite certain."""
    loud = numpy.flatnonzero(numpy.abs(samples) > 0.05)
    if len(loud) == 0 or (vad_options is not None and vad_options.threshold > 0.99):
        return []
    return [SpeechTimestamp(start=int(loud[0]), end=int(loud[-1]))]


dependencies.decode_audio = decode_audio
kokoro.KokoroModelManager._load_fn = lambda _self, _model_id: Kokoro()
whisper.WhisperModelManager._load_fn = lambda _self, _model_id: "whisper"
whisper.BatchedInferencePipeline = Transcriber
SileroVADModelManager.handle_vad_request = lambda _self, request, **_options: speech_timestamps(request.audio.data)
input_audio_buffer_event_router.get_speech_timestamps = speech_timestamps

listed = {"created": 0, "owned_by": "nobody", "language": ["en"]}
voice = kokoro.KokoroModel(
    id="speaches-ai/Kokoro-82M-v1.0-ONNX",
    task=kokoro.TASK_NAME_TAG,
    sample_rate=rate,
    voices=kokoro.VOICES,
    **listed,
)
ear = whisper.Model(id="Systran/faster-distil-whisper-small.en", task=whisper.TASK_NAME_TAG, **listed)
registry = dependencies.get_executor_registry()
for executor in registry.all_executors():
    executor.model_registry.list_local_models = lambda: iter(())
kokoro.kokoro_model_registry.list_local_models = lambda: iter((voice,))
whisper.whisper_model_registry.list_local_models = lambda: iter((ear,))
for router in (speech, stt):
    router.get_model_card_data_or_raise = lambda _model_id: None
speech.find_executor_for_model_or_raise = lambda *_given: registry.text_to_speech[1]
stt.find_executor_for_model_or_raise = lambda *_given: registry.transcription[0]

from speaches.main import create_app  # noqa: E402

uvicorn.run(create_app(), host="127.0.0.1", port=int(port), log_level="warning")
