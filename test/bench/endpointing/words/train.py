"""Trains the words part of the turn detector: P(the turn is over | its last words, a pause after them).

    python3 train.py --sources DIR --minutes 15 --out ../../../../voices/turn-detectors/words.bin

A gated recurrent network over words (English) and characters (Chinese), run over each turn once: every position is an
example. The last one is an end; the others are pauses inside a turn, each weighed by how often people pause there:
often after a comma or a sentence, seldom in the middle of a phrase, always after a filler. Needs only Debian's
python3-torch and python3-numpy. Weights are stored as 8-bit integers, one scale for each row.
"""
import argparse, collections, math, random, re, struct, time
import numpy
import torch
import corpus

EMBEDDING, HIDDEN, LONGEST, CONTEXT = 48, 96, 30, 8
ENGLISH_WORDS, CHINESE_CHARACTERS, ENDINGS = 11_000, 2_600, 1_024
PAD, NO_CONTEXT, STATEMENT, QUESTION, CHINESE_OTHER = range(5)
SPECIAL = 5
# How often a pause is made after a word, by what follows it; see `corpus.py`.
PAUSES = {0: 0.05, 1: 0.5, 2: 0.4}
AFTER_FILLER = 0.9
FILLERS = {"en": ["um", "uh", "er", "hmm", "you know", "i mean", "like", "well"], "zh": ["嗯", "呃", "那 个", "就 是 说"]}
HOMOPHONES = [set(one.split()) for one in (
    "their there they're|to too two|your you're|its it's|for four|know no|right write|hear here|by buy bye|son sun|"
    "one won|see sea|whole hole|where wear|which witch|would wood|week weak|knew new|then than|of off|our are|"
    "in and|a the|he's his|were we're|who's whose|的 地 得|他 她 它|在 再|那 哪|做 作|吗 嘛|吧 把|有 又|是 事").split("|")]
SOUNDS_LIKE = {word: sorted(group - {word}) for group in HOMOPHONES for word in group}


def hash_of(text):
    value = 2166136261
    for byte in text.encode():
        value = ((value ^ byte) * 16777619) & 0xFFFFFFFF
    return value


class Vocabulary:
    def __init__(self, counts):
        english = [word for word, _ in counts.most_common() if word.isascii()][:ENGLISH_WORDS]
        chinese = [word for word, _ in counts.most_common() if not word.isascii()][:CHINESE_CHARACTERS]
        self.words = english + chinese
        self.place = {word: SPECIAL + ENDINGS + index for index, word in enumerate(self.words)}
        self.size = SPECIAL + ENDINGS + len(self.words)

    def of(self, token):
        known = self.place.get(token)
        if known is not None:
            return known
        # An unknown English word is known by its ending, as "ing" or "tion".
        return SPECIAL + hash_of(token[-3:]) % ENDINGS if token.isascii() else CHINESE_OTHER


def context_of(before, vocabulary):
    if not before:
        return [NO_CONTEXT]
    last = [vocabulary.of(token) for token, _ in corpus.tokens(before)][-CONTEXT:]
    return last + [QUESTION if corpus.asks(before) else STATEMENT]


def noisy(turn, language, random):
    """As a recognizer hears it: fillers are said, words dropped, one taken for another of the same sound."""
    heard = []
    for token, gap in turn:
        if random.random() < 0.02:
            heard += [[word, 3] for word in random.choice(FILLERS[language]).split()]
        if random.random() < 0.02 and heard and gap == 0:
            continue
        if token in SOUNDS_LIKE and random.random() < 0.04:
            token = random.choice(SOUNDS_LIKE[token])
        heard.append([token, gap])
    return heard or turn


def example(turn, vocabulary, random, noise=True):
    _, language, kind, before, said = turn
    if noise:
        said = noisy(said, language, random)
    # A turn is also heard from its middle on: only the last words are looked at.
    start = max(0, len(said) - LONGEST)
    if start > 0 and random.random() < 0.6:
        start = random.randrange(start + 1)
    part = said[start:start + LONGEST]
    context = context_of(before if random.random() < 0.6 else "", vocabulary)
    ends = start + LONGEST >= len(said)
    base = {"prose": 0.5}.get(kind, 1.0)
    labels, weights = [0.0] * len(context), [0.0] * len(context)
    for index, (_, gap) in enumerate(part):
        is_end = ends and index == len(part) - 1
        labels.append(1.0 if is_end else 0.0)
        weights.append(base * (1.0 if is_end else AFTER_FILLER if gap == 3 else PAUSES[gap]))
    return context + [vocabulary.of(token) for token, _ in part], labels, weights


class Model(torch.nn.Module):
    def __init__(self, size):
        super().__init__()
        self.embedding = torch.nn.Embedding(size, EMBEDDING, padding_idx=PAD)
        self.gru = torch.nn.GRU(EMBEDDING, HIDDEN, batch_first=True)
        self.out = torch.nn.Linear(HIDDEN, 1)

    def forward(self, ids, dropout=0.0):
        inputs = torch.nn.functional.dropout(self.embedding(ids), dropout, self.training)
        states, _ = self.gru(inputs)
        return self.out(torch.nn.functional.dropout(states, dropout, self.training)).squeeze(-1)


def batch_of(examples):
    longest = max(len(ids) for ids, _, _ in examples)
    pad = lambda rows: [list(row) + [0] * (longest - len(row)) for row in rows]
    ids, labels, weights = zip(*examples)
    return torch.tensor(pad(ids)), torch.tensor(pad(labels)), torch.tensor(pad(weights))


def area(scores, labels, weights):
    order = numpy.argsort(scores)
    labels, weights = labels[order], weights[order]
    negatives = numpy.cumsum(weights * (1 - labels))
    return float((negatives * weights * labels).sum() / max(1e-9, negatives[-1] * (weights * labels).sum()))


def score(model, turns, vocabulary, noise):
    model.eval()
    draw = random.Random(11)
    scores, labels, weights = [], [], []
    with torch.no_grad():
        for start in range(0, len(turns), 256):
            ids, label, weight = batch_of([example(turn, vocabulary, draw, noise) for turn in turns[start:start + 256]])
            keep = weight > 0
            scores.append(model(ids)[keep]); labels.append(label[keep]); weights.append(weight[keep])
    return [torch.cat(one).numpy() for one in (scores, labels, weights)]


def report(name, scores, labels, weights, bias=0.0):
    """Held-out: area under the curve, and of each tenth of the probability what share were ends."""
    chances = 1 / (1 + numpy.exp(-(scores + bias)))
    print("%s: n %d ends, %d others; area %.3f; log loss %.3f" % (
        name, labels.sum(), (1 - labels).sum(), area(scores, labels, weights),
        -(weights * (labels * numpy.log(chances + 1e-9) + (1 - labels) * numpy.log(1 - chances + 1e-9))).sum() / weights.sum()))
    cells = []
    for tenth in range(10):
        inside = (chances >= tenth / 10) & (chances < (tenth + 1) / 10 + (tenth == 9))
        if weights[inside].sum() > 0:
            cells.append("%.2f→%.2f" % ((chances * weights)[inside].sum() / weights[inside].sum(),
                                        (labels * weights)[inside].sum() / weights[inside].sum()))
    print("   said→was:", " ".join(cells))


def store(model, vocabulary, bias, path):
    """Header, words, then each matrix: one float scale a row and its 8-bit integers. Read by `words.ts`."""
    words = "\n".join(vocabulary.words).encode()
    state = {name: one.detach().numpy().astype("float32") for name, one in model.state_dict().items()}
    with open(path, "wb") as file:
        file.write(struct.pack("<7I", 0x31445457, EMBEDDING, HIDDEN, SPECIAL, ENDINGS, len(vocabulary.words), len(words)))
        file.write(words + b"\n" * (-len(words) % 4))
        for name in ("embedding.weight", "gru.weight_ih_l0", "gru.weight_hh_l0", "out.weight"):
            scales = numpy.abs(state[name]).max(axis=1) / 127 + 1e-12
            file.write(scales.astype("<f4").tobytes())
            numbers = numpy.round(state[name] / scales[:, None]).astype("int8").tobytes()
            file.write(numbers + b"\0" * (-len(numbers) % 4))
        for name in ("gru.bias_ih_l0", "gru.bias_hh_l0"):
            file.write(state[name].astype("<f4").tobytes())
        file.write(struct.pack("<f", float(state["out.bias"][0]) + bias))


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--sources", required=True)
    options.add_argument("--characters", default="characters")
    options.add_argument("--rolebench")
    options.add_argument("--minutes", type=float, default=15)
    options.add_argument("--out", required=True)
    options = options.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(3)
    draw = random.Random(3)
    turns = list(corpus.turns(options.sources, options.characters, options.rolebench))
    learned = [turn for turn in turns if not corpus.held_out(turn[0])]
    unseen = [turn for turn in turns if corpus.held_out(turn[0])]
    # The packs are what users really ask: they count four times.
    learned += [turn for turn in learned if turn[0].endswith("/")] * 3
    vocabulary = Vocabulary(collections.Counter(token for turn in learned for token, _ in turn[4]))
    model = Model(vocabulary.size)
    print("%d turns to learn from, %d held out, %d tokens known" % (len(learned), len(unseen), vocabulary.size), flush=True)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    began, seen, losses = time.time(), 0, []
    share = 0.0
    while share < 1:
        draw.shuffle(learned)
        for start in range(0, len(learned), 4096):
            # Of similar length in one batch: little padding.
            examples = sorted((example(turn, vocabulary, draw) for turn in learned[start:start + 4096]),
                              key=lambda one: len(one[0]))
            batches = [examples[place:place + 128] for place in range(0, len(examples), 128)]
            draw.shuffle(batches)
            for batch in batches:
                ids, labels, weights = batch_of(batch)
                model.train()
                logits = model(ids, 0.15)
                loss = torch.nn.functional.binary_cross_entropy_with_logits(logits, labels, weights, reduction="sum")
                loss = loss / weights.sum()
                optimizer.zero_grad()
                loss.backward()
                torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
                seen += len(batch)
                losses.append(float(loss))
            share = (time.time() - began) / 60 / options.minutes
            for group in optimizer.param_groups:
                group["lr"] = 3e-3 * max(0.02, (1 + math.cos(math.pi * min(1, share))) / 2)
            print("%4.1f min, %d turns, loss %.4f" % ((time.time() - began) / 60, seen, sum(losses[-100:]) / 100), flush=True)
            if share >= 1:
                break
    for noise in (False, True):
        for name, chosen in (
                ("English speeches", lambda turn: turn[1] == "en" and turn[2] == "speech"),
                ("English narration", lambda turn: turn[2] == "prose"),
                ("English packs", lambda turn: turn[1] == "en" and turn[2] == "talk"),
                ("Chinese", lambda turn: turn[1] == "zh")):
            report(name + (", with noise" if noise else ""),
                   *score(model, [turn for turn in unseen if chosen(turn)], vocabulary, noise))
    store(model, vocabulary, 0.0, options.out)


main()
