"""coqui-ai/xtts-streaming-server's server/main.py."""

import os
import sys

import uvicorn

import stand_in
import xtts_model

source, port = stand_in.begin()
os.environ["USE_CPU"] = "1"
xtts_model.install()
sys.path.insert(0, os.path.join(source, "server"))
import main  # noqa: E402

uvicorn.run(main.app, host="127.0.0.1", port=int(port), log_level="warning")
