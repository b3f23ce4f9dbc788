"""A model of Whisper's shape, in whisper.cpp's format, that says one sentence whatever it hears.

The weights of all layers are zero, so what the decoder says depends on the position alone: the embedding of each position
points in a direction of its own, and so does that of the token to say there.
"""

import struct

import numpy

state = 64
audio_context, text_context = 1_500, 448
sizes = "vocab audio_context audio_state audio_head audio_layer text_context text_state text_head text_layer mels type"


def read_head(path):
    """The sizes, filters and tokens of one of the models without weights that whisper.cpp has for its tests."""
    with open(path, "rb") as file:
        whole = file.read()
    magic, *values = struct.unpack_from("<12i", whole)
    mels, bins = struct.unpack_from("<2i", whole, 48)
    at = 56 + 4 * mels * bins
    filters = whole[48:at]
    count = struct.unpack_from("<i", whole, at)[0]
    start, tokens = at, []
    at += 4
    for _ in range(count):
        length = struct.unpack_from("<i", whole, at)[0]
        tokens.append(whole[at + 4 : at + 4 + length])
        at += 4 + length
    return magic, dict(zip(sizes.split(), values)), filters, tokens, whole[start:at]


def tensors(size, token_at):
    """Names, shapes (as numpy has them) and values other than zero."""
    yield "encoder.positional_embedding", (audio_context, state), None
    yield "encoder.conv1.weight", (state, size["mels"], 3), None
    yield "encoder.conv1.bias", (state, 1), None
    yield "encoder.conv2.weight", (state, state, 3), None
    yield "encoder.conv2.bias", (state, 1), None
    positions = numpy.zeros((text_context, state), numpy.float32)
    words = numpy.zeros((size["vocab"], state), numpy.float32)
    for position in range(text_context):
        direction = min(position, len(token_at) - 1)
        positions[position, direction] = 1_000
        words[token_at[direction], direction] = 5
    yield "decoder.positional_embedding", positions.shape, positions
    yield "decoder.token_embedding.weight", words.shape, words
    for part, norm in (("encoder", "ln_post"), ("decoder", "ln")):
        yield f"{part}.{norm}.weight", (state,), numpy.ones(state)
        yield f"{part}.{norm}.bias", (state,), None
        attentions = ["attn"] if part == "encoder" else ["attn", "cross_attn"]
        for layer in range(size["audio_layer" if part == "encoder" else "text_layer"]):
            block = f"{part}.blocks.{layer}"
            for name in [f"{each}_ln" for each in attentions] + ["mlp_ln"]:
                yield f"{block}.{name}.weight", (state,), None
                yield f"{block}.{name}.bias", (state,), None
            for name, shape in (("0", (4 * state, state)), ("2", (state, 4 * state))):
                yield f"{block}.mlp.{name}.weight", shape, None
                yield f"{block}.mlp.{name}.bias", shape[:1], None
            for attention in attentions:
                for name in ("query", "key", "value", "out"):
                    yield f"{block}.{attention}.{name}.weight", (state, state), None
                    if name != "key":
                        yield f"{block}.{attention}.{name}.bias", (state,), None


def write_model(source, path, sentence):
    magic, size, filters, tokens, token_bytes = read_head(source)
    size.update(audio_state=state, audio_head=1, text_state=state, text_head=1, type=1)
    # After the text come the end, the start, 99 languages, and six marks; then the times, of 20 ms each.
    end = len(tokens)
    first_time = end + 1 + 99 + 7
    words = sentence.split(" ")
    said = [tokens.index(f" {word}".encode()) for word in words[:-1]]
    said += [tokens.index(f" {words[-1].rstrip('.')}".encode()), tokens.index(b".")]
    # The language is told at the first position, the sentence from the third on. It takes the whole window of 30 s.
    token_at = [end + 2, end, first_time, *said, first_time + 1_500, end]
    with open(path, "wb") as file:
        file.write(struct.pack("<12i", magic, *size.values()) + filters + token_bytes)
        for name, shape, values in tensors(size, token_at):
            # Weights are 16-bit floats, all else is 32-bit.
            is_half = name.endswith(".weight") and len(shape) > 1
            dtype = numpy.float16 if is_half else numpy.float32
            file.write(struct.pack("<3i", len(shape), len(name), int(is_half)))
            file.write(struct.pack(f"<{len(shape)}i", *reversed(shape)) + name.encode())
            file.write((numpy.zeros(shape) if values is None else values).astype(dtype).tobytes())
