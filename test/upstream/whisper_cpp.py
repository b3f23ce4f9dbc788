"""whisper.cpp's examples/server, built in the checkout, with a model that says one sentence."""

import os
import sys

import stand_in
import whisper_model

source, port = stand_in.begin()
server = os.path.join(source, "build/bin/whisper-server")
if not os.path.exists(server):
    sys.exit(f"Build it first: cmake -S {source} -B {source}/build, then cmake --build {source}/build -t whisper-server")
whisper_model.write_model(os.path.join(source, "models/for-tests-ggml-tiny.bin"), "model.bin", stand_in.SENTENCE)
os.execv(server, [server, "--model", "model.bin", "--host", "127.0.0.1", "--port", port, "--threads", "2"])
