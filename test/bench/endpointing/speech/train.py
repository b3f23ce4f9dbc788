"""Trains the sound part of the turn detector: P(the turn is over | the last 1.4 s of sound before a silence).

    python3 train.py --cases FILE [FILE] --out ../../../../voices/turn-detectors/sound.bin

FILE is what `npm run bench -- endpointing --half tuned --every 1 --cases FILE` has heard, one case a line. Two small convolutions over
the frames of `sound-frames.ts`, clean or over a telephone. They learn from speakers who hesitate (`LEARNED`) alone: taught fluent
readers as well, they learn by which microphone a set was recorded, or nothing. A fifth of the speakers at a time is left out: the
printed areas are of speakers that were not learned from. Needs only Debian's python3-torch and python3-numpy.
"""
import argparse, hashlib, json, struct
import numpy
import torch

VALUES, FRAMES, KEPT, CHANNELS, WIDTH, STRIDE = 11, 120, 70, 32, 5, 2
ROUNDS, RATE = 40, 3e-3
LEARNED = "train-speechocean762"
# Limits of the sound's log-odds, as in `sound.ts`, and beside words, as in `end-of-turn.ts`.
MOST, MOST_URGING = 2.5, 1


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
                if "kind" in one and one["half"] == "tuned":
                    rows[one["set"], one["id"], one["turnMs"]] = one
        rows = list(rows.values())
        shape = lambda frames: numpy.array(frames, "float32").reshape(FRAMES, VALUES)[-KEPT:].T
        self.frames = numpy.stack([shape(one["frames"]) for one in rows])
        self.called = numpy.stack([shape(one["calledFrames"]) for one in rows])
        self.ends = numpy.array([one["kind"] == "end" for one in rows], "float32")
        self.kinds = numpy.array([one["kind"] for one in rows])
        self.words = numpy.array([one["words"] for one in rows])
        self.sampled = numpy.array([one["sampled"] for one in rows])
        self.sets = numpy.array([one["set"] for one in rows])
        self.folds = numpy.array([hashlib.md5((one["set"] + one["speaker"]).encode()).digest()[0] % 5 for one in rows])
        self.learned = self.sets == LEARNED


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


def fit(cases, inside, seed):
    torch.manual_seed(seed)
    model = Model()
    optimizer = torch.optim.AdamW(model.parameters(), lr=RATE, weight_decay=1e-2)
    clean, called, ends = (torch.tensor(one[inside]) for one in (cases.frames, cases.called, cases.ends))
    weights = torch.where(ends > 0, 0.5 / ends.mean(), 0.5 / (1 - ends.mean()))
    steps = ROUNDS * ((len(clean) + 127) // 128)
    done = 0
    model.train()
    for _ in range(ROUNDS):
        for chosen in torch.randperm(len(clean)).split(128):
            for group in optimizer.param_groups:
                group["lr"] = RATE * max(0.02, 1 - done / steps)
            done += 1
            frames = torch.where(torch.rand(len(chosen), 1, 1) < 0.5, called[chosen], clean[chosen])
            logits = model(varied(frames))
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


def regression(columns, ends, weights):
    """Logistic regression: bias, then a weight for each column."""
    inputs = numpy.stack([numpy.ones(len(ends)), *columns], 1)
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
    print("%d ends, %d pauses" % (cases.ends[cases.learned].sum(), (1 - cases.ends[cases.learned]).sum()), flush=True)
    if options.out:
        store(fit(cases, cases.learned, 11), options.out)
    sound = numpy.zeros(len(cases.ends))
    for fold in range(5):
        outside = cases.folds == fold
        sound[outside] = score(fit(cases, cases.learned & ~outside, fold), cases.frames[outside])
    sound = numpy.clip(sound, -MOST, MOST)
    known = ((cases.kinds == "end") & cases.sampled) | (cases.kinds == "pause")
    groups = {"learners": known & cases.learned, "fluent": known & ~cases.learned}
    # Learners and fluent speakers weigh the same, and so do ends and pauses.
    weights = numpy.zeros(len(known))
    for some in groups.values():
        for kind in (0, 1):
            weights[some & (cases.ends == kind)] = 1 / (some & (cases.ends == kind)).sum()
    weights *= known.sum() / weights.sum()
    joined = [cases.words, numpy.minimum(sound, MOST_URGING)]
    for name, columns in (("both", joined), ("words", [cases.words]), ("sound", [sound])):
        found = regression([column[known] for column in columns], cases.ends[known], weights[known])
        scores = found[0] + sum(weight * column for weight, column in zip(found[1:], columns))
        areas = ["%s %.3f" % (group, area(scores[some], cases.ends[some])) for group, some in groups.items()]
        print("%s: bias and weights %s, area of %s" % (name, " ".join("%.2f" % one for one in found), ", ".join(areas)))


if __name__ == "__main__":
    main()
