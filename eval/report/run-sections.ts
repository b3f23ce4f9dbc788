import type { RunView } from '../speechrole/run-view.ts';
import type { RunSummary } from '../speechrole/summary/summary.ts';
import { mean, quantile } from '../statistics.ts';
import { escape, score, svg, svgText } from './html.ts';

interface Tile {
  readonly name: string;
  readonly value: string;
  readonly note: string;
}

function tiles(list: readonly Tile[]): string {
  const one = ({ name, value, note }: Tile): string =>
    `<div class="tile"><span>${escape(name)}</span><b>${escape(value)}</b><small>${escape(note)}</small></div>`;
  return `<div class="tiles">${list.map(one).join('')}</div>`;
}

/** Tiles with the headline numbers. */
export function keyFigures(summary: RunSummary): string {
  const { groups, samples, answered, waits, health, spentDollars } = summary;
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
    { name: 'Judgments', value: `${health.scored} / ${health.asked + health.failed}`, note: 'with readable scores' },
    ...wait,
    ...cost,
  ]);
}

/** Judge health: position bias, repeatability, and unreadable or refused replies. */
export function judgeSection({ health }: RunSummary): string {
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

/** Latency histogram, and the mean share of each component. */
export function waitSection(view: RunView, summary: RunSummary): string {
  if (summary.waits.n === 0) return '<p class="note">No waits were measured: these answers existed before.</p>';
  const owners = new Map<string, number[]>();
  for (const sample of view.facts.keys()) {
    for (const { latency } of view.outputOf(sample)?.answers ?? []) {
      const shares = (latency as { owners?: Record<string, number | null> } | null)?.owners ?? {};
      for (const [owner, ms] of Object.entries(shares))
        if (typeof ms === 'number') owners.set(owner, [...(owners.get(owner) ?? []), ms]);
    }
  }
  const parts = [...owners].map(([name, values]) => ({ name, value: mean(values) ?? 0 }));
  const { userText, speed } = view.config;
  const from = userText ? 'the user’s text' : 'the end of the user’s speech';
  const caveat = userText || speed === 1 ? '' : `; recordings were streamed ${speed} × as fast as spoken`;
  const total = parts.reduce((sum, { value }) => sum + value, 0);
  const shares =
    total === 0
      ? ''
      : `<figure><figcaption>Who owns the wait, mean over ${summary.waits.n} turns</figcaption>${stackedBar(parts, 'ms')}</figure>`;
  return `<div class="waits"><figure><figcaption>From ${from} to the first sound of the answer, at the client; ${summary.waits.n} turns${caveat}</figcaption>${histogram(summary.waits.all, 'Waits')}</figure>${shares}</div>`;
}

/** Table of the paralinguistic cues. */
export function cueSection({ cues }: RunSummary): string {
  if (cues.length === 0) return '';
  const rows = cues.map(({ name, label, language, value, low, high, n, missing }) => {
    const interval = low === null || high === null ? '' : `${low.toFixed(2)}–${high.toFixed(2)}`;
    const why = Object.entries(missing).map(([reason, count]) => `${count} × ${reason}`);
    const cells = [language === 'en' ? 'English' : 'Chinese', score(value), interval, String(n), why.join('; ')];
    return `<tr><th scope="row">${escape(name.split(/[.:]/)[0] ?? name)} <small>${escape(label)}</small></th>${cells.map((cell) => `<td>${escape(cell)}</td>`).join('')}</tr>`;
  });
  const head = ['Cue', 'Language', 'Mean', '95 %', 'n', 'Without a value'].map((name) => `<th>${name}</th>`).join('');
  return `<section><h2>Measured cues</h2><div class="scroll"><table class="plain"><thead><tr>${head}</tr></thead><tbody>${rows.join('')}</tbody></table></div></section>`;
}

/** Table of failures with their codes, the first 50. */
export function failureSection(view: RunView): string {
  const { failures } = view.record;
  if (failures.length === 0) return '';
  const rows = failures
    .slice(0, 50)
    .map(
      ({ sample, ask, code, message }) =>
        `<tr><td>${escape(sample)}</td><td>${escape(ask ?? 'the system')}</td><td>${escape(code)}</td><td>${escape(message)}</td></tr>`,
    );
  const more = failures.length > 50 ? `<p class="note">and ${failures.length - 50} more.</p>` : '';
  return `<section><h2>What failed</h2><div class="scroll"><table class="plain"><tbody>${rows.join('')}</tbody></table></div>${more}</section>`;
}

/** Provenance of the numbers, so that others can reproduce them. */
export function originSection(view: RunView, summary: RunSummary): string {
  const { header } = view.record;
  const facts: readonly (readonly [string, string])[] = [
    ['Begun', header.at],
    ['Dramatis', `${header.versions['dramatis'] ?? '?'}, commit ${header.commit ?? 'none'}`],
    ['Node', header.versions['node'] ?? '?'],
    ['System', summary.agent],
    ...systemFacts(view),
    [
      'Judge',
      `${summary.judge}${summary.health.models.length === 0 ? '' : ` (answered as ${summary.health.models.join(', ')})`}`,
    ],
    ['Protocol', `${summary.protocol}, ${summary.parser} parser, ${summary.aggregation}`],
    ['Data', `${header.data.samples} dialogues, SHA-256 ${header.data.hash}`],
    ...Object.entries(header.prompts).map(([name, hash]) => [`Prompt ${name}`, `SHA-256 ${hash}`] as const),
    [
      'Seeds',
      Object.entries(header.seeds)
        .map(([name, seed]) => `${name} ${seed}`)
        .join(', '),
    ],
  ];
  const rows = facts.map(([name, value]) => `<tr><th scope="row">${escape(name)}</th><td>${escape(value)}</td></tr>`);
  const config = escape(JSON.stringify(header.config, null, 2));
  return `<section><h2>How this was made</h2><table class="plain facts"><tbody>${rows.join('')}</tbody></table><details><summary>Configuration</summary><pre>${config}</pre></details></section>`;
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

const size = { width: 640, height: 240 };

const margin = { top: 26, right: 16, bottom: 40, left: 40 };

/** Histogram of durations in milliseconds, with median and 95th percentile. `sorted` must not be empty. */
function histogram(sorted: readonly number[], what: string): string {
  const end = niceEnd(quantile(sorted, 0.99) ?? 1);
  const count = 32;
  const bins = Array.from({ length: count }, () => 0);
  for (const value of sorted) {
    const bin = Math.min(count - 1, Math.floor((value / end) * count));
    bins[bin] = (bins[bin] ?? 0) + 1;
  }
  const inner = { width: size.width - margin.left - margin.right, height: size.height - margin.top - margin.bottom };
  const most = Math.max(...bins);
  const x = (value: number): number => margin.left + (Math.min(value, end) / end) * inner.width;
  const floor = size.height - margin.bottom;
  const boxes = bins.map((number, bin) => {
    const high = (number / most) * inner.height;
    const left = margin.left + (bin / count) * inner.width;
    const title = `<title>${Math.round((bin / count) * end)}–${Math.round(((bin + 1) / count) * end)} ms: ${number}</title>`;
    return `<rect x="${(left + 0.8).toFixed(1)}" y="${(floor - high).toFixed(1)}" width="${(inner.width / count - 1.6).toFixed(1)}" height="${high.toFixed(1)}" rx="1.5" class="bar series-0">${title}</rect>`;
  });
  const ticks = [0, 0.25, 0.5, 0.75, 1].map((share) =>
    svgText(x(share * end), floor + 18, `${Math.round(share * end)}`, { anchor: 'middle', className: 'tick' }),
  );
  const [median, p95] = [quantile(sorted, 0.5) ?? 0, quantile(sorted, 0.95) ?? 0];
  const clash = Math.abs(x(p95) - x(median)) < 110;
  const marks = [
    mark(x(median), `median ${Math.round(median)} ms`, floor, 0),
    mark(x(p95), `p95 ${Math.round(p95)} ms`, floor, clash ? 13 : 0),
  ];
  const axis = `<line x1="${margin.left}" x2="${size.width - margin.right}" y1="${floor}" y2="${floor}" class="spoke"/>`;
  const unit = svgText(size.width - margin.right, floor + 34, 'milliseconds', { anchor: 'end', className: 'tick' });
  const label = `${what}: median ${Math.round(median)}, 95th percentile ${Math.round(p95)} milliseconds, ${sorted.length} values`;
  return svg(size.width, size.height, label, [...boxes, axis, ...ticks, unit, ...marks].join(''));
}

function mark(x: number, text: string, floor: number, shift: number): string {
  const atRight = x > size.width - 110;
  const line = `<line x1="${x.toFixed(1)}" x2="${x.toFixed(1)}" y1="${margin.top - 8}" y2="${floor}" class="mark"/>`;
  return (
    line +
    svgText(x + (atRight ? -5 : 5), margin.top + shift, text, {
      anchor: atRight ? 'end' : 'start',
      className: 'tick strong',
    })
  );
}

/** Rounds up to 1, 2, 4, 5, 8 or 10 times a power of ten. */
function niceEnd(value: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, value)));
  return (([1, 2, 4, 5, 8, 10].find((each) => each * power >= value) as number) ?? 10) * power;
}

/** Renders one stacked bar, with a legend below. */
function stackedBar(parts: readonly { readonly name: string; readonly value: number }[], unit: string): string {
  const width = 640;
  const known = parts.filter(({ value }) => value > 0);
  const total = known.reduce((sum, { value }) => sum + value, 0);
  let left = 0;
  const rows: string[] = [];
  const boxes = known.map(({ name, value }, index) => {
    const wide = (value / total) * width;
    const title = `<title>${name}: ${value.toFixed(0)} ${unit}</title>`;
    const box = `<rect x="${left.toFixed(1)}" y="0" width="${Math.max(1, wide - 1.5).toFixed(1)}" height="26" rx="3" class="bar part-${index % 8}">${title}</rect>`;
    const column = (index % 4) * 160;
    const row = 52 + Math.floor(index / 4) * 22;
    rows.push(
      `<rect x="${column}" y="${row - 10}" width="11" height="11" rx="2.5" class="bar part-${index % 8}"/>`,
      svgText(column + 17, row, `${name} ${value.toFixed(0)} ${unit}`, { className: 'tick' }),
    );
    left += wide;
    return box;
  });
  const label = known.map(({ name, value }) => `${name} ${value.toFixed(0)} ${unit}`).join(', ');
  return svg(width, 40 + Math.ceil(known.length / 4) * 22, label, [...boxes, ...rows].join(''));
}
