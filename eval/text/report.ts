import { openEmbedder, type ClipEmbedder } from '../report/clips.ts';
import { html, nothing, scrollTable, type Markup } from '../report/html.ts';
import { failureSection, originSection, pageHtml, tiles, type Tile } from '../report/page.ts';
import { runPaths } from '../run-folder.ts';
import { measurementKey } from '../run-log.ts';
import type { TextConfig } from './config.ts';
import { judgeName } from './judging.ts';
import { namedValues, type Cell } from './rows.ts';
import type { TextRun } from './run.ts';
import { summarizeText, type SummaryRow, type TextSummary } from './summary.ts';
import { columnsOf, coverageNote, coverageOf, figureText, rangeText } from './tables.ts';
import type { SampleFacts, TextTask } from './text-task.ts';
import { mean } from '../../voices/dsp/statistics.ts';

/** Renders a run's report: one self-contained HTML file that works offline. */
export async function textReportHtml<Config extends TextConfig, Facts extends SampleFacts, Output>(
  task: TextTask<Config, Facts, Output>,
  run: TextRun<Config, Facts, Output>,
  { worst }: { readonly worst: number },
): Promise<string> {
  const summary = summarizeText(task, run);
  const { protocol, judge, at, isJudgeChecked, path } = summary;
  const unchecked = isJudgeChecked ? '' : ' · judge not checked';
  const how = `protocol ${protocol} · judge ${judge} · over ${path} · ${at.slice(0, 10)}${unchecked}`;
  const notes = summary.notes.map((note) => html`<p class="note">${note}</p>`);
  return pageHtml(
    { title: task.title, name: summary.name, how },
    html`${keyFigures(summary)}
      <section>
        <h2>Scores</h2>
        ${scoreTable(task, summary.rows, 'Part')} ${repeatTable(task, summary)} ${notes}
      </section>
      <section>
        <h2>Missing scores</h2>
        ${missingTable(summary)}
      </section>
      <section>
        <h2>By role</h2>
        ${scoreTable(task, summary.byGroup, 'Role or book')}
      </section>
      ${await worstSection(task, run, worst)} ${failureSection(run.record.failures)}
      ${originSection(run.record.header, [
        ['System', `${summary.agent}, over ${path}`],
        [
          'Judge',
          `${judge}${summary.health.models.length === 0 ? '' : `, answered as ${summary.health.models.join(', ')}`}`,
        ],
        ['Protocol', `${protocol}, ${summary.parser} parser`],
        ['Data', `${summary.samples} items, ${run.record.header.data.hash}`],
      ])}`,
  );
}

function keyFigures(summary: TextSummary): Markup {
  const { answered, samples, fallbacks, unheard, health, firstAudio, spentDollars } = summary;
  const list: Tile[] = [
    { name: 'Items', value: `${answered} / ${samples}`, note: answered === samples ? 'all answered' : 'answered' },
    ...(summary.judge === 'none'
      ? []
      : [
          {
            name: 'Judgments',
            value: `${health.readable} / ${health.asked + health.failed}`,
            note: `${health.unreadable} unreadable, ${health.refused} refused, ${health.failed} failed`,
          },
        ]),
    ...(fallbacks === 0
      ? []
      : [{ name: 'Stand-ins', value: String(fallbacks), note: 'replies were fallbacks for the LLM' }]),
    ...(unheard === 0 ? [] : [{ name: 'Unheard', value: String(unheard), note: 'turns not understood' }]),
    ...(firstAudio.n === 0
      ? []
      : [
          {
            name: 'Wait for the first sound',
            value: `${Math.round(firstAudio.median ?? 0)} ms`,
            note: `median; p95 ${Math.round(firstAudio.p95 ?? 0)} ms`,
          },
        ]),
    ...(spentDollars === 0 ? [] : [{ name: 'Cost', value: `$${spentDollars.toFixed(2)}`, note: 'of the judge' }]),
  ];
  return tiles(list);
}

function scoreTable(task: Parameters<typeof columnsOf>[0], rows: readonly SummaryRow[], first: string): Markup {
  const columns = columnsOf(task);
  const cellOf = (cell: Cell | undefined, column: (typeof columns)[number]): Markup =>
    cell === undefined || cell.of === 0
      ? html`<td>–</td>`
      : html`<td>
          ${figureText(cell.value, column)}<br /><small>${rangeText(cell, column)} · ${coverageOf(cell)}</small>
        </td>`;
  const lines = rows.map(
    ({ label, cells }) =>
      html`<tr>
        <th scope="row">${label}</th>
        ${columns.map((column) => cellOf(cells[column.key], column))}
      </tr>`,
  );
  const heads = columns.map(({ label, help }) => html`<th scope="col" title="${help}">${label}</th>`);
  const isMarked = rows.some(({ cells }) => Object.values(cells).some((cell) => coverageOf(cell).endsWith('†')));
  return html`${scrollTable(
    'plain',
    html`<th scope="col">${first}</th>
      ${heads}`,
    lines,
  )}
  ${isMarked ? html`<p class="note">${coverageNote}</p>` : nothing}`;
}

function repeatTable(task: Parameters<typeof columnsOf>[0], { overRepeats }: TextSummary): Markup {
  const columns = columnsOf(task).filter(({ key }) => (overRepeats[key]?.n ?? 0) > 0);
  if (columns.length === 0) return nothing;
  const rows = columns.map((column) => {
    const { mean = null, deviation = null, n = 0 } = overRepeats[column.key] ?? {};
    return html`<tr>
      <th scope="row">${column.label}</th>
      <td>${figureText(mean, column)}</td>
      <td>${figureText(deviation, column)}</td>
      <td>${n}</td>
    </tr>`;
  });
  const heads = ['Over repeats', 'mean', 'deviation', 'repeats'].map((head) => html`<th scope="col">${head}</th>`);
  return scrollTable('plain', heads, rows);
}

function missingTable({ missing }: TextSummary): Markup {
  const rows = Object.entries(missing).flatMap(([name, reasons]) =>
    Object.entries(reasons).map(
      ([why, count]) =>
        html`<tr>
          <th scope="row">${name}</th>
          <td>${count}</td>
          <td>${why}</td>
        </tr>`,
    ),
  );
  if (rows.length === 0) return html`<p>None.</p>`;
  return html`<table class="plain">
    <tbody>
      ${rows}
    </tbody>
  </table>`;
}

/** The items with the worst scores of the first metric, with their texts, sound, and all that the judge said. */
async function worstSection<Config extends TextConfig, Facts extends SampleFacts, Output>(
  task: TextTask<Config, Facts, Output>,
  run: TextRun<Config, Facts, Output>,
  count: number,
): Promise<Markup> {
  const ranked = run.scored
    .map((sample) => ({ ...sample, badness: badnessOf(task, sample) }))
    .filter(({ badness }) => badness !== null)
    .toSorted((a, b) => (b.badness ?? 0) - (a.badness ?? 0))
    .slice(0, count);
  if (ranked.length === 0) return nothing;
  const clips = openEmbedder();
  const items: Markup[] = [];
  for (const { id, scores } of ranked) {
    const output = run.outputOf(id);
    const texts = task
      .describe(run.facts.get(id) as Facts, output)
      .map(([label, text]) => html`<p><b>${label}</b> ${text}</p>`);
    const sounds = output === undefined ? [] : await soundsOf(task.answers(output), run, clips);
    const figures = scores.map(
      ({ name, value, why }) => `${name} ${value === null ? `– (${why ?? ''})` : value.toFixed(3)}`,
    );
    items.push(
      html`<details>
        <summary>${id}: ${figures.join(', ')}</summary>
        ${texts} ${sounds} ${repliesOf(task.asks(run.facts.get(id) as Facts, run.config), run.record.measured.get(id))}
      </details>`,
    );
  }
  return html`<section>
    <h2>Worst items</h2>
    ${items}
  </section>`;
}

function soundsOf(
  answers: ReturnType<TextTask<TextConfig, SampleFacts, unknown>['answers']>,
  run: Pick<TextRun<TextConfig, SampleFacts, unknown>, 'folder'>,
  clips: ClipEmbedder,
): Promise<Markup[]> {
  const { audio } = runPaths(run.folder);
  const named = answers.flatMap(({ audio: name }) => (name === null ? [] : [name]));
  return Promise.all(named.map((name) => clips.player(audio.pathOf(name))));
}

function badnessOf(
  { metrics }: Parameters<typeof columnsOf>[0],
  sample: Parameters<typeof namedValues>[0],
): number | null {
  for (const { key, isLower = false } of metrics) {
    const values = namedValues(sample, key).filter((value) => value !== null);
    if (values.length === 0) continue;
    return isLower ? mean(values) : -mean(values);
  }
  return null;
}

function repliesOf(asks: readonly string[], measured: ReadonlyMap<string, unknown> | undefined): Markup[] {
  return asks.flatMap((ask) => {
    const found = measured?.get(measurementKey(judgeName, ask)) as
      | { readonly replies?: readonly { readonly text: string; readonly refusal: string | null }[] }
      | undefined;
    const said = (found?.replies ?? []).map(({ text, refusal }) => refusal ?? text);
    return said.length === 0 ? [] : [html`<p><b>${ask}</b></p>`, html`<pre>${said.join('\n---\n')}</pre>`];
  });
}
