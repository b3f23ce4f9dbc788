import { readFileSync } from 'node:fs';
import path from 'node:path';
import { runName, type RunView } from '../speechrole/run-view.ts';
import { summarizeRun } from '../speechrole/summary/summary.ts';
import { openEmbedder } from './clips.ts';
import { escape } from './html.ts';
import { cueSection, failureSection, judgeSection, keyFigures, originSection, waitSection } from './run-sections.ts';
import { categoryMap, winRates, plots, roleMap, scoreTable } from './score-sections.ts';
import { worstSection } from './worst-section.ts';

export interface ReportOptions {
  /** Number of worst dialogues shown, with their recordings. */
  readonly worst: number;
}

/** Renders a run's report: one self-contained HTML file that works offline. */
export async function reportHtml(view: RunView, { worst }: ReportOptions): Promise<string> {
  const summary = summarizeRun(view);
  const style = readFileSync(path.join(import.meta.dirname, 'report.css'), 'utf8');
  const name = escape(runName(view));
  const how = escape(
    `protocol ${summary.protocol} · judge ${summary.judge} · ${summary.aggregation} · ${summary.at.slice(0, 10)}`,
  );
  const isJudged = summary.health.asked > 0;
  const judged = !isJudged
    ? ''
    : `<section><h2>Scores</h2>${scoreTable(summary)}${plots(summary)}</section>
<section><h2>Against the reference</h2>${winRates(summary)}</section>
<section><h2>By kind of question</h2>${categoryMap(summary)}</section>
<section><h2>The judge</h2>${judgeSection(summary)}</section>`;
  const roles = !isJudged ? '' : `<section><h2>By role</h2>${roleMap(summary)}</section>`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${name}: SpeechRole-Eval</title>
<style>${style}</style>
</head>
<body>
<main>
<header class="top"><p>SpeechRole-Eval</p><h1>${name}</h1><p class="how">${how}</p></header>
${keyFigures(summary)}
${judged}
<section><h2>Latency</h2>${waitSection(view, summary)}</section>
${cueSection(summary)}
${await worstSection(view, openEmbedder(), worst)}
${roles}
${failureSection(view)}
${originSection(view, summary)}
</main>
</body>
</html>
`;
}
