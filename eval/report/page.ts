import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { FailedLine, RunHeader } from '../run-log.ts';
import { html, nothing, scrollTable, styleSheet, type Content, type Markup } from './html.ts';

/** A second wall behind `html`: even markup that a text smuggled in could run no script and load nothing. */
const contentSecurityPolicy =
  "default-src 'none'; style-src 'unsafe-inline'; media-src data:; base-uri 'none'; form-action 'none'";

/** Renders a report: one self-contained HTML file that works offline. */
export function pageHtml(
  head: { readonly title: string; readonly name: string; readonly how: string },
  content: Content,
): string {
  const style = styleSheet(readFileSync(path.join(import.meta.dirname, 'report.css'), 'utf8'));
  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta http-equiv="Content-Security-Policy" content="${contentSecurityPolicy}" />
        <title>${head.name}: ${head.title}</title>
        ${style}
      </head>
      <body>
        <main>
          <header class="top">
            <p>${head.title}</p>
            <h1>${head.name}</h1>
            <p class="how">${head.how}</p>
          </header>
          ${content}
        </main>
      </body>
    </html> `;
  return page.toString();
}

/** A headline number. */
export interface Tile {
  readonly name: string;
  readonly value: string;
  readonly note: string;
}

/** Renders headline numbers side by side. */
export function tiles(list: readonly Tile[]): Markup {
  const one = ({ name, value, note }: Tile): Markup =>
    html`<div class="tile"><span>${name}</span><b>${value}</b><small>${note}</small></div>`;
  return html`<div class="tiles">${list.map(one)}</div>`;
}

/** Table of failures with their codes, the first 50. */
export function failureSection(failures: readonly FailedLine[]): Markup {
  if (failures.length === 0) return nothing;
  const rows = failures.slice(0, 50).map(
    ({ sample, ask, code, message }) =>
      html`<tr>
        <td>${sample}</td>
        <td>${ask ?? 'the system'}</td>
        <td>${code}</td>
        <td>${message}</td>
      </tr>`,
  );
  const more = failures.length > 50 ? html`<p class="note">and ${failures.length - 50} more.</p>` : nothing;
  return html`<section>
    <h2>What failed</h2>
    ${scrollTable('plain', nothing, rows)} ${more}
  </section>`;
}

/** Provenance of the numbers, so that others can reproduce them; `facts` are those of the benchmark. */
export function originSection(header: RunHeader, facts: readonly (readonly [string, string])[]): Markup {
  const all: readonly (readonly [string, string])[] = [
    ['Begun', header.at],
    ['Dramatis', `${header.versions['dramatis'] ?? '?'}, commit ${header.commit ?? 'none'}`],
    ['Node', header.versions['node'] ?? '?'],
    ...facts,
    ...Object.entries(header.prompts).map(([name, hash]) => [`Prompt ${name}`, `SHA-256 ${hash}`] as const),
    [
      'Seeds',
      Object.entries(header.seeds)
        .map(([name, seed]) => `${name} ${seed}`)
        .join(', '),
    ],
  ];
  const rows = all.map(
    ([name, value]) =>
      html`<tr>
        <th scope="row">${name}</th>
        <td>${value}</td>
      </tr>`,
  );
  const config = JSON.stringify(header.config, null, 2);
  return html`<section>
    <h2>How this was made</h2>
    <table class="plain facts">
      <tbody>
        ${rows}
      </tbody>
    </table>
    <details>
      <summary>Configuration</summary>
      <pre>${config}</pre>
    </details>
  </section>`;
}
