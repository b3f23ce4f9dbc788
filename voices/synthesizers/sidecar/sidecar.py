"""A sidecar: a speech model behind openapi.json, without packages. Put your model into speak(). Run: python3 sidecar.py 8094"""
import array, base64, itertools, json, math, sys, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

ENGINE, RATE, LANGUAGES, MOST_WAITING = "tone", 24000, ["en", "zh"], 8
turn, places = threading.Lock(), threading.Semaphore(MOST_WAITING)

def speak(text, language, clip, transcript, voice, speed):
    """Yields pieces of sound, floats in [-1, 1] at RATE. clip: the bytes of a WAV, or None. Here: a tone, 60 ms a word."""
    for word in text.split():
        yield [0.3 * math.sin(2 * math.pi * 220 * n / RATE) for n in range(int(RATE * 0.06 / speed))]

class Sidecar(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def begin(self, status, **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), str(value))
        self.end_headers()

    def answer(self, status, value, **headers):
        body = json.dumps(value).encode()
        self.begin(status, content_type="application/json", content_length=len(body), **headers)
        self.wfile.write(body)

    def do_GET(self):
        if self.path != "/health":
            return self.answer(404, {"error": {"message": "no such route", "type": "not_found"}})
        self.answer(200, {"status": "ok", "engine": ENGINE, "sample_rate": RATE, "languages": LANGUAGES, "max_concurrency": 1})

    def do_POST(self):
        try:
            asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
            text, reference = asked["input"], asked.get("ref_audio")
            clip = base64.b64decode(reference.split(",", 1)[1]) if reference else None
        except (ValueError, KeyError, TypeError, IndexError, AttributeError) as fault:
            return self.answer(400, {"error": {"message": repr(fault), "type": "invalid_request"}})
        if not places.acquire(blocking=False):
            return self.answer(429, {"error": {"message": "too many wait", "type": "busy"}}, retry_after=1)
        try:
            with turn:
                self.sound(speak(text, asked.get("language"), clip, asked.get("ref_text"), asked.get("voice"), asked.get("speed", 1)))
        except OSError:
            self.close_connection = True  # nobody listens any more
        finally:
            places.release()

    def sound(self, pieces):
        first = next(pieces, [])  # what fails until here is no 200
        self.begin(200, content_type="audio/pcm", x_sample_rate=RATE, transfer_encoding="chunked")
        for piece in itertools.chain([first], pieces):
            pcm = array.array("h", (int(max(-1, min(1, value)) * 32767) for value in piece)).tobytes()
            self.wfile.write(b"%x\r\n%b\r\n" % (len(pcm), pcm) if pcm else b"")
        self.wfile.write(b"0\r\n\r\n")

server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Sidecar)
print(server.server_port, flush=True)
server.serve_forever()
