import type { RunView } from '../run-view.ts';
import type { RunSummary } from '../summary/summary.ts';
import { html, nothing, score, scrollTable, type Markup } from '../../report/html.ts';
import { originSection, tiles, type Tile } from '../../report/page.ts';

/** Tiles with the headline numbers. */
export function keyFigures(summary: RunSummary): Markup {
  const { groups, samples, answered, fallbacks, waits, health, spentDollars } = summary;
  const standIns =
    fallbacks === 0
      ? []
      : [{ name: 'Stand-ins', value: String(fallbacks), note: 'replies were fallbacks for the LLM' }];
  const overall = groups
    .filter(({ key }) => key === 'en' || key === 'zh')
    .map(({ label, row: { overall: it } }): Tile => {
      const interval =
        it.low === null || it.high === null
          ? 'too few roles for an interval'
          : `95 %: ${it.low.toFixed(3)}–${it.high.toFixed(3)}`;
      return { name: `Overall, ${label}`, value: score(it.value, 4), note: interval };
    });
  const cost = spentDollars === 0 ? [] : [{ name: 'Cost', value: `$${spentDollars.toFixed(2)}`, note: 'of the judge' }];
  const wait =
    waits.n === 0
      ? []
      : [
          {
            name: 'Wait for the first sound',
            value: `${Math.round(waits.median ?? 0)} ms`,
            note: `median; p95 ${Math.round(waits.p95 ?? 0)} ms`,
          },
        ];
  return tiles([
    ...overall,
    { name: 'Dialogues', value: `${answered} / ${samples}`, note: answered === samples ? 'all answered' : 'answered' },
    ...standIns,
    { name: 'Judgments', value: `${health.scored} / ${health.asked + health.failed}`, note: 'with readable scores' },
    ...wait,
    ...cost,
  ]);
}

/** Judge health: position bias, repeatability, and unreadable or refused replies. */
export function judgeSection({ health }: RunSummary): Markup {
  const share = (count: number): string =>
    health.swapped === 0 ? '–' : `${((100 * count) / health.swapped).toFixed(1)} %`;
  const swapped: Tile[] =
    health.swapped === 0
      ? [{ name: 'Order', value: 'never swapped', note: 'the system always came first, as in the reference' }]
      : [
          {
            name: 'Flips',
            value: share(health.flips),
            note: `the better one changed with the order, of ${health.swapped} pairs`,
          },
          { name: 'First wins both', value: share(health.firstWinsBoth), note: 'the first one won in both orders' },
          { name: 'Second wins both', value: share(health.secondWinsBoth), note: 'the second one won in both orders' },
          { name: 'Advantage of the first', value: score(health.firstAdvantage), note: 'points, mean' },
        ];
  const repeats: Tile[] =
    health.repeatDeviation === null
      ? []
      : [{ name: 'Repeats', value: score(health.repeatDeviation), note: 'points, standard deviation of one question' }];
  return tiles([
    { name: 'Answered', value: String(health.asked), note: `${health.failed} failed` },
    {
      name: 'Unreadable',
      value: String(health.unparsed),
      note: `${health.repeatedReplies} replies were asked for again`,
    },
    { name: 'Refused', value: String(health.refused), note: health.models.join(', ') || 'model not told' },
    ...swapped,
    ...repeats,
  ]);
}

/** Table of the paralinguistic cues. */
export function cueSection({ cues }: RunSummary): Markup {
  if (cues.length === 0) return nothing;
  const rows = cues.map(({ name, label, language, value, low, high, n, missing }) => {
    const interval = low === null || high === null ? '' : `${low.toFixed(2)}–${high.toFixed(2)}`;
    const why = Object.entries(missing).map(([reason, count]) => `${count} × ${reason}`);
    const cells = [language === 'en' ? 'English' : 'Chinese', score(value), interval, String(n), why.join('; ')];
    return html`<tr>
      <th scope="row">${name.split(/[.:]/)[0] ?? name} <small>${label}</small></th>
      ${cells.map((cell) => html`<td>${cell}</td>`)}
    </tr>`;
  });
  const head = ['Cue', 'Language', 'Mean', '95 %', 'n', 'Without a value'].map((name) => html`<th>${name}</th>`);
  return html`<section>
    <h2>Measured cues</h2>
    ${scrollTable('plain', head, rows)}
  </section>`;
}

/** Provenance of the numbers, so that others can reproduce them. */
export function originOf(view: RunView, summary: RunSummary): Markup {
  const { header } = view.record;
  return originSection(header, [
    ['System', summary.agent],
    ...systemFacts(view),
    [
      'Judge',
      `${summary.judge}${summary.health.models.length === 0 ? '' : ` (answered as ${summary.health.models.join(', ')})`}`,
    ],
    ['Protocol', `${summary.protocol}, ${summary.parser} parser, ${summary.aggregation}`],
    ['Data', `${header.data.samples} dialogues, SHA-256 ${header.data.hash}`],
  ]);
}

/** Engines reported by a Dramatis server. */
function systemFacts(view: RunView): readonly (readonly [string, string])[] {
  const told = [...view.facts.keys()].flatMap((sample) => {
    const { engines } = (view.outputOf(sample)?.system ?? {}) as { engines?: Record<string, string> | null };
    return engines === null || engines === undefined
      ? []
      : [
          Object.entries(engines)
            .map((each) => each.join(' '))
            .join(', '),
        ];
  });
  return [...new Set(told)].map((text) => ['Engines', text] as const);
}
