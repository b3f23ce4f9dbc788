"""Fits the weights of `agents/scripted/part-hits.ts` on the searches of `searches.ts`, and prints how searches end.

    python3 test/bench/agents/vectors/fit.py searches.jsonl

Right: the trigger's own line is first and sure enough; wrong: another line is; false: some line is sure enough though the
own line is not in the pack. `words` is the search without vectors. Needs Debian's python3-sklearn.
"""
import json
import sys

import numpy
from sklearn.linear_model import LogisticRegression

FEATURES = [1, 2, 4, 5, 6]
NAMES = ['fit', 'suitability', 'lead', 'likeness', 'likenessLead']


def main():
    searches = [json.loads(line) for line in open(sys.argv[1], encoding='utf8')]
    rows = numpy.array([row for search in searches for row in search['rows']])
    owners = numpy.array([at for at, search in enumerate(searches) for _ in search['rows']])
    weights = numpy.array([1.0 if searches[at]['size'] == 'whole' else 0.7 for at in owners])
    features, own = rows[:, FEATURES], rows[:, 0]
    half = owners % 2 == 0
    sure = numpy.zeros(len(rows))
    for part in (half, ~half):
        model = LogisticRegression(C=100, max_iter=5_000).fit(features[~part], own[~part], weights[~part])
        sure[part] = model.predict_proba(features[part])[:, 1]
    model = LogisticRegression(C=100, max_iter=5_000).fit(features, own, weights)
    print({name: round(float(value), 2) for name, value in zip(NAMES, model.coef_[0])}, 'bias', model.intercept_.round(2))
    usable = rows[:, 7] == 0
    for name, score, least in (('words', rows[:, 3], 0.48), ('with vectors', sure, 0.3)):
        first, first_of_others = {}, {}
        for at in numpy.argsort(-score):
            if usable[at]:
                first.setdefault(owners[at], (score[at], own[at]))
                if own[at] == 0:
                    first_of_others.setdefault(owners[at], score[at])
        for size in ('whole', '150 lines', '40 lines', '12 lines'):
            ours = [at for at, search in enumerate(searches) if search['size'] == size and search['isOwn']]
            theirs = [at for at, search in enumerate(searches) if search['size'] == size and not search['isOwn']]
            best = numpy.array([first.get(at, (-1, 0)) for at in ours])
            share = lambda flags: f'{numpy.mean(flags):.1%}'
            print(
                f'{name}, {size} (n {len(ours)}): right {share((best[:, 0] >= least) & (best[:, 1] == 1))}, wrong',
                f'{share((best[:, 0] >= least) & (best[:, 1] == 0))}, false',
                f'{share([first_of_others.get(at, -1) >= least for at in ours])}; of other packs',
                f'{share([first.get(at, (-1, 0))[0] >= least for at in theirs])} (n {len(theirs)})',
            )


if __name__ == '__main__':
    main()
