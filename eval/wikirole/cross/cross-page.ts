import { html, nothing, scrollTable, type Markup } from '../../report/html.ts';
import { pageHtml } from '../../report/page.ts';
import { scatter } from '../../report/scatter.ts';
import { coverageNote, coverageOf, figureText, probabilityText, rangeText } from '../../text/tables.ts';
import { nameOf, type Cross, type CrossCell, type CrossMetric } from './cross.ts';

/** Renders the matrices as one HTML file, with a scatter plot for each metric. `how` says how the runs were judged. */
export function crossPage(cross: Cross, how: string): string {
  const sections = cross.metrics.map((each) => metricSection(each, cross));
  const name = `${cross.seeds.length} seed models, ${cross.supervisors.length} supervisors`;
  return pageHtml({ title: 'WikiRoleEval: cross-supervision', name, how }, html`${sections} ${runSection(cross)}`);
}

function metricSection(each: CrossMetric, cross: Cross): Markup {
  const { metric, cells, differences, above } = each;
  const isMarked = cells.some((cell) => coverageOf(cell).endsWith('†'));
  return html`<section>
    <h2>${metric.label}: ${metric.help}</h2>
    ${matrix(each, cross)} ${isMarked ? html`<p class="note">${coverageNote}</p>` : nothing} ${plot(each)}
    ${differences.length === 0 ? nothing : differenceTable(each)}
    ${
      above.of === 0
        ? nothing
        : html`<p class="note">Better than the supervisor with profiles: ${above.n} of ${above.of}.</p>`
    }
  </section>`;
}

function matrix({ metric, cells }: CrossMetric, { supervisors, seeds }: Cross): Markup {
  const shown = (cell: CrossCell | undefined): Markup =>
    cell === undefined
      ? html`<td>–</td>`
      : html`<td>
          ${figureText(cell.value, metric)}<br /><small>${rangeText(cell, metric)} · ${coverageOf(cell)}</small>
        </td>`;
  const at = (supervisor: string | null, seed: string | null): Markup =>
    shown(cells.find((each) => each.supervisor === supervisor && each.seed === seed));
  const rows = [...supervisors, ...(cells.some(({ supervisor }) => supervisor === null) ? [null] : [])];
  const lines = rows.map(
    (supervisor) =>
      html`<tr>
        <th scope="row">${supervisor ?? '(untrained)'}</th>
        ${at(supervisor, null)} ${seeds.map((seed) => at(supervisor, seed))}
      </tr>`,
  );
  return scrollTable(
    'scores',
    html`<th scope="col">Data of</th>
      <th scope="col">with profiles</th>
      ${seeds.map((seed) => html`<th scope="col">${seed}</th>`)}`,
    lines,
  );
}

/** Each trained model: what its supervisor reaches with profiles, and what it reaches itself. */
function plot({ metric, cells }: CrossMetric): Markup {
  const { scale = 1, digits = 4 } = metric;
  const points = cells.flatMap(({ supervisor, seed, value, low, high }) => {
    const taught = cells.find((each) => each.supervisor === supervisor && each.seed === null)?.value;
    if (supervisor === null || seed === null || value === null || typeof taught !== 'number') return [];
    const scaled = (end: number | null): number | null => (end === null ? null : end * scale);
    return [
      { label: seed, column: supervisor, x: taught * scale, y: value * scale, low: scaled(low), high: scaled(high) },
    ];
  });
  if (points.length === 0) return nothing;
  const axes = { x: 'Supervisor with profiles', y: 'Seed model trained on its data', digits: Math.min(digits, 2) };
  return html`<figure>${scatter(points, axes)}</figure>`;
}

function differenceTable({ metric, differences }: CrossMetric): Markup {
  const rows = differences.map(
    (each) =>
      html`<tr>
        <th scope="row">${nameOf(each)}, minus ${each.minus === 'supervision' ? 'its supervisor' : 'untrained'}</th>
        <td>${figureText(each.difference, metric)}</td>
        <td>${rangeText(each, metric)}</td>
        <td>${probabilityText(each.p)}</td>
        <td>${each.n}</td>
      </tr>`,
  );
  return scrollTable(
    'scores',
    html`<th scope="col"></th>
      <th scope="col">difference</th>
      <th scope="col">95 %</th>
      <th scope="col">p (Holm)</th>
      <th scope="col">n</th>`,
    rows,
  );
}

function runSection({ runs }: Cross): Markup {
  const rows = runs.map((run) => {
    const failed = Object.entries(run.failures).map(([code, { count, message }]) => `${count} × ${code}: ${message}`);
    return html`<tr>
      <th scope="row">${nameOf(run)}</th>
      <td>${run.answered} of ${run.roles} roles answered</td>
      <td>${run.ended ?? 'not finished'}</td>
      <td>${failed.length === 0 ? 'nothing failed' : failed.join('; ')}</td>
      <td>${run.folder}</td>
    </tr>`;
  });
  return html`<section>
    <h2>Runs</h2>
    ${scrollTable('plain', nothing, rows)}
  </section>`;
}
