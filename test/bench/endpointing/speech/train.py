"""Trains the sound part of the turn detector: P(the turn is over | the last 1.4 s of sound before a silence).

    python3 train.py --cases FILE [FILE] --out ../../../../voices/turn-detectors/sound.bin

FILE is what `npm run bench -- endpointing --half tuned --every 1 --cases FILE` has heard, one case a line. Two small convolutions over
the frames of `sound-frames.ts`. A fifth of the speakers at a time is left out: the printed areas, and the weights that join words
and sound in `end-of-turn.ts`, are of speakers that were not learned from. Needs only Debian's python3-torch and python3-numpy.
"""
import argparse, hashlib, json, struct
import numpy
import torch

VALUES, FRAMES, KEPT, CHANNELS, WIDTH, STRIDE = 11, 120, 70, 32, 5, 2
ROUNDS, RATE, LEAST_MS, ASKED_MS = 40, 3e-3, 150, 200


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Conv1d(VALUES, CHANNELS, WIDTH, STRIDE)
        self.second = torch.nn.Conv1d(CHANNELS, CHANNELS, WIDTH, STRIDE)
        self.out = torch.nn.Linear(3 * CHANNELS, 1)

    def forward(self, frames):
        inside = torch.relu(self.second(torch.relu(self.first(frames))))
        seen = torch.cat([inside.mean(2), inside.amax(2), inside[:, :, -1]], 1)
        return self.out(torch.nn.functional.dropout(seen, 0.3, self.training)).squeeze(-1)


class Cases:
    def __init__(self, paths):
        rows = {}
        for path in paths:
            for line in open(path):
                one = json.loads(line)
                if "kind" in one and one.get("half", "tuned") == "tuned":
                    rows[one["id"], one["turnMs"]] = {**rows.get((one["id"], one["turnMs"]), {}), **one}
        rows = list(rows.values())
        shape = lambda one: numpy.array(one["frames"], "float32").reshape(FRAMES, VALUES)[-KEPT:].T
        self.frames = numpy.stack([shape(one) for one in rows])
        self.ends = numpy.array([one["kind"] == "end" for one in rows], "float32")
        self.silences = numpy.array([one.get("silentMs") or 0 for one in rows])
        self.words = numpy.array([one.get("words", numpy.nan) for one in rows])
        self.sampled = numpy.array([one.get("sampled", False) for one in rows])
        self.folds = numpy.array([hashlib.md5(one["speaker"].encode()).digest()[0] % 5 for one in rows])


def varied(frames):
    """Another voice and room; and heard only from its middle on, so that the length tells little."""
    count = len(frames)
    result = frames.clone()
    result[:, 3:] += 0.2 * torch.randn(count, VALUES - 3, 1)
    result[:, 2:3] += 0.15 * torch.randn(count, 1, 1)
    result[:, 0:1] *= torch.empty(count, 1, 1).uniform_(0.7, 1.3)
    result += 0.08 * torch.randn_like(result)
    # Noise of the room: what is quiet is lifted.
    result[:, 2:] = torch.maximum(result[:, 2:], torch.empty(count, 1, 1).uniform_(-3.5, -2.2))
    lengths = torch.randint(24, KEPT + 1, (count, 1))
    heard = (KEPT - torch.arange(KEPT)[None]) <= lengths
    return result * heard[:, None].float()


def fit(frames, ends, seed):
    torch.manual_seed(seed)
    model = Model()
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE, weight_decay=1e-2)
    frames, ends = torch.tensor(frames), torch.tensor(ends)
    weights = torch.where(ends > 0, 0.5 / ends.mean(), 0.5 / (1 - ends.mean()))
    steps = ROUNDS * ((len(frames) + 127) // 128)
    done = 0
    model.train()
    for _ in range(ROUNDS):
        for chosen in torch.randperm(len(frames)).split(128):
            for group in optimizer.param_groups:
                group["lr"] = RATE * max(0.02, 1 - done / steps)
            done += 1
            logits = model(varied(frames[chosen]))
            loss = torch.nn.functional.binary_cross_entropy_with_logits(logits, ends[chosen], reduction="none")
            optimizer.zero_grad()
            (loss * weights[chosen]).mean().backward()
            optimizer.step()
    return model.eval()


def score(model, frames):
    with torch.no_grad():
        return model(torch.tensor(frames)).numpy().astype("float64")


def area(scores, ends):
    ranks = numpy.empty(len(scores))
    ranks[numpy.argsort(scores)] = numpy.arange(1, len(scores) + 1)
    positives = ends.sum()
    return (ranks[ends > 0].sum() - positives * (positives + 1) / 2) / (positives * (len(ends) - positives))


def regression(columns, ends):
    """Logistic regression in which ends and pauses weigh the same: bias, then a weight for each column."""
    inputs = numpy.stack([numpy.ones(len(ends)), *columns], 1)
    weights = numpy.where(ends > 0, 0.5 / ends.mean(), 0.5 / (1 - ends.mean()))
    found = numpy.zeros(inputs.shape[1])
    for _ in range(30):
        chances = 1 / (1 + numpy.exp(-inputs @ found))
        slope = inputs.T @ (weights * (ends - chances))
        bend = (inputs * (weights * chances * (1 - chances))[:, None]).T @ inputs + 1e-6 * numpy.eye(len(found))
        found = found + numpy.linalg.solve(bend, slope)
    return found


def store(model, path):
    """Header, then floats: each convolution as channels, inputs, places, then its bias; the output's weights and bias."""
    with open(path, "wb") as file:
        file.write(struct.pack("<6I", 0x31534454, VALUES, CHANNELS, WIDTH, STRIDE, KEPT))
        for layer in (model.first, model.second, model.out):
            for one in (layer.weight, layer.bias):
                file.write(one.detach().numpy().astype("<f4").tobytes())


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--cases", required=True, nargs="+")
    options.add_argument("--out")
    options = options.parse_args()
    torch.set_num_threads(1)
    cases = Cases(options.cases)
    learned = (cases.ends > 0) | (cases.silences >= LEAST_MS)
    print("%d ends, %d pauses" % (cases.ends[learned].sum(), (1 - cases.ends[learned]).sum()), flush=True)
    if options.out:
        store(fit(cases.frames[learned], cases.ends[learned], 11), options.out)
    sound = numpy.zeros(len(cases.ends))
    for fold in range(5):
        inside = learned & (cases.folds != fold)
        model = fit(cases.frames[inside], cases.ends[inside], fold)
        sound[cases.folds == fold] = score(model, cases.frames[cases.folds == fold])
    print("sound, unseen speakers: area %.3f" % area(sound[learned], cases.ends[learned]), flush=True)
    known = ~numpy.isnan(cases.words) & ((cases.ends > 0) & cases.sampled | (cases.ends == 0) & (cases.silences >= ASKED_MS))
    ends, words, sound = cases.ends[known], cases.words[known], sound[known]
    print("joined on %d ends and %d pauses" % (ends.sum(), (1 - ends).sum()))
    for name, columns in (("both", [words, sound]), ("words", [words]), ("sound", [sound])):
        found = regression(columns, ends)
        joined = found[0] + sum(weight * column for weight, column in zip(found[1:], columns))
        print("%s: bias and weights %s, area %.3f" % (name, " ".join("%.2f" % one for one in found), area(joined, ends)))


if __name__ == "__main__":
    main()
