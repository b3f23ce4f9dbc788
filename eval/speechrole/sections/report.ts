import { runName, type RunView } from '../run-view.ts';
import { summarizeRun } from '../summary/summary.ts';
import { openEmbedder } from '../../report/clips.ts';
import { html, nothing } from '../../report/html.ts';
import { failureSection, pageHtml } from '../../report/page.ts';
import { cueSection, judgeSection, keyFigures, originOf } from './run-sections.ts';
import { waitSection } from './wait-section.ts';
import { categoryMap, winRates, plots, roleMap, scoreTable } from './score-sections.ts';
import { worstSection } from './worst-section.ts';

export interface ReportOptions {
  /** Number of worst dialogues shown, with their recordings. */
  readonly worst: number;
}

/** Renders a run's report: one self-contained HTML file that works offline. */
export async function reportHtml(view: RunView, { worst }: ReportOptions): Promise<string> {
  const summary = summarizeRun(view);
  const name = runName(view);
  const how = `protocol ${summary.protocol} · judge ${summary.judge} · ${summary.aggregation} · ${summary.at.slice(0, 10)}${summary.isJudgeChecked ? '' : ' · judge not checked'}`;
  const isJudged = summary.health.asked > 0;
  const judged = !isJudged
    ? nothing
    : html`<section>
          <h2>Scores</h2>
          ${scoreTable(summary)}${plots(summary)}
        </section>
        <section>
          <h2>Against the reference</h2>
          ${winRates(summary)}
        </section>
        <section>
          <h2>By kind of question</h2>
          ${categoryMap(summary)}
        </section>
        <section>
          <h2>The judge</h2>
          ${judgeSection(summary)}
        </section>`;
  const roles = !isJudged
    ? nothing
    : html`<section>
        <h2>By role</h2>
        ${roleMap(summary)}
      </section>`;
  return pageHtml(
    { title: 'SpeechRole-Eval', name, how },
    html`${keyFigures(summary)} ${judged}
      <section>
        <h2>Latency</h2>
        ${waitSection(view, summary)}
      </section>
      ${cueSection(summary)} ${await worstSection(view, openEmbedder(), worst)} ${roles}
      ${failureSection(view.record.failures)} ${originOf(view, summary)}`,
  );
}
