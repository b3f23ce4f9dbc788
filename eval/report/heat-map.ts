import { heatColors } from './heat-colors.ts';
import { escape, score } from './html.ts';

export interface HeatRow {
  readonly label: string;
  readonly note: string;
  readonly values: readonly (number | null)[];
}

/** Renders a table whose cells are coloured by their ratio to the reference, with a heading per group. */
export function heatMap(
  columns: readonly string[],
  groups: readonly { readonly heading: string; readonly rows: readonly HeatRow[] }[],
): string {
  const body = groups.map(({ heading, rows }) => {
    const head =
      heading === '' ? '' : `<tr class="group"><th colspan="${columns.length + 1}">${escape(heading)}</th></tr>`;
    return head + rows.map(heatRow).join('');
  });
  const heads = columns.map((name) => `<th scope="col">${escape(name)}</th>`).join('');
  return `<div class="scroll"><table class="heat"><thead><tr><th></th>${heads}</tr></thead><tbody>${body.join('')}</tbody></table></div>`;
}

function heatRow({ label, note, values }: HeatRow): string {
  const cells = values.map((value) => {
    const { fill, ink } = heatColors(value);
    return `<td style="background:${fill};color:${ink}">${score(value)}</td>`;
  });
  const small = note === '' ? '' : ` <small>${escape(note)}</small>`;
  return `<tr><th scope="row">${escape(label)}${small}</th>${cells.join('')}</tr>`;
}

/** Renders the colour scale's legend. */
export function heatLegend(): string {
  const steps = [0.2, 0.4, 0.6, 0.8, 1, 1.2, 1.4, 1.6, 1.8];
  const cells = steps.map((value) => {
    const { fill, ink } = heatColors(value);
    return `<span style="background:${fill};color:${ink}">${value.toFixed(1)}</span>`;
  });
  return `<p class="legend heat-legend"><span class="word">worse than the reference</span>${cells.join('')}<span class="word">better</span></p>`;
}
