import { readOutcomes, type QuestionOutcome } from '../judging/judge-scorer.ts';
import { metricKeys, metricShort } from '../judging/metrics.ts';
import { looseJson } from '../judging/parse-scores.ts';
import type { RunView } from '../run-view.ts';
import { overallOf, ratioOf, type JudgedSample } from '../judging/scores.ts';
import type { ClipEmbedder } from '../../report/clips.ts';
import { heatColors } from '../../report/heat-colors.ts';
import { html, nothing, score, type Markup } from '../../report/html.ts';

/** The dialogues with the lowest scores among those with all eight, with recordings, texts and the judge's reasons. */
export async function worstSection(view: RunView, clips: ClipEmbedder, count: number): Promise<Markup> {
  const ranked = view.judged
    .map((sample) => ({ sample, value: meanRatio(sample) }))
    .filter((each): each is { sample: JudgedSample; value: number } => each.value !== null)
    .toSorted((a, b) => a.value - b.value)
    .slice(0, count);
  if (ranked.length === 0) return nothing;
  const cards = await Promise.all(ranked.map(({ sample, value }) => card(view, clips, sample, value)));
  return html`<section>
    <h2>Worst dialogues</h2>
    ${cards}
  </section>`;
}

function meanRatio(sample: JudgedSample): number | null {
  const ratios = metricKeys.map((metric) => {
    const pair = sample.scores[metric];
    return pair === null || pair === undefined ? null : ratioOf(pair);
  });
  return overallOf(ratios);
}

async function card(view: RunView, clips: ClipEmbedder, sample: JudgedSample, value: number): Promise<Markup> {
  const rounds = await roundsOf(view, clips, sample);
  const outcomes = readOutcomes(view.protocol, view.record.measured.get(sample.id) ?? new Map(), view.config.parser);
  const chips = metricKeys.map((metric) => {
    const pair = sample.scores[metric];
    if (pair === null || pair === undefined) return html`<span class="chip">${metricShort[metric]} –</span>`;
    const { fill, ink } = heatColors(ratioOf(pair));
    return html`<span class="chip" style="background:${fill};color:${ink}"
      >${metricShort[metric]} ${plain(pair.test)} : ${plain(pair.reference)}</span
    >`;
  });
  const reasons = outcomes.map(rationale);
  const about = [
    sample.language === 'en' ? 'English' : 'Chinese',
    sample.mode === 'single' ? 'single turn' : 'multi-turn',
    sample.category ?? '',
  ]
    .filter(Boolean)
    .join(' · ');
  return html`<article class="card">
    <header>
      <h3>${sample.role}</h3>
      <span>${about}</span><b>${score(value)}</b>
    </header>
    ${rounds}
    <p class="chips">${chips}</p>
    <details>
      <summary>What the judge said</summary>
      <dl>${reasons}</dl>
    </details>
  </article>`;
}

/** The rounds of a dialogue: what the user said, and both answers to hear and read. */
function roundsOf(view: RunView, clips: ClipEmbedder, sample: JudgedSample): Promise<readonly Markup[]> {
  const facts = view.facts.get(sample.id);
  const answers = view.outputOf(sample.id)?.answers ?? [];
  return Promise.all(
    (facts?.turns ?? []).map(async (turn, at) => {
      const answer = answers[at];
      const reference = facts?.reference[at];
      const heard =
        answer?.heard === null || answer?.heard === undefined || answer.heard === turn.text
          ? nothing
          : html`<small>heard: ${answer.heard}</small>`;
      const wait =
        answer?.firstAudioMs === null || answer === undefined
          ? nothing
          : html`<small>after ${Math.round(answer.firstAudioMs)} ms</small>`;
      const ours = await clips.player(
        answer?.audio === undefined || answer.audio === null ? null : view.audio.pathOf(answer.audio),
      );
      const theirs = await clips.player(reference?.speech ?? null);
      return html`<div class="round">
        <p class="user"><span>User</span>${turn.text}${heard}</p>
        <div class="sides">
          <div>
            <h4>System ${wait}</h4>
            ${ours}
            <p>${answer?.text ?? ''}</p>
          </div>
          <div>
            <h4>Reference</h4>
            ${theirs}
            <p>${reference?.text ?? ''}</p>
          </div>
        </div>
      </div>`;
    }),
  );
}

function rationale({ ask, text, outcome }: QuestionOutcome): Markup {
  const name = ask.metric === 'all' ? 'All metrics' : metricShort[ask.metric];
  const order = ask.first === 'test' ? 'system as A' : 'reference as A';
  const value = looseJson(text);
  const parts =
    value === null
      ? [['', text] as const]
      : Object.entries(value).map(
          ([key, each]) => [key.replaceAll('_', ' '), typeof each === 'string' ? each : JSON.stringify(each)] as const,
        );
  const body = parts.map(([key, each]) => html`<p>${key === '' ? nothing : html`<b>${key}</b> `}${each}</p>`);
  return html`<dt>${name} <small>${order}${outcome === 'scored' ? '' : `, ${outcome}`}</small></dt>
    <dd>${body}</dd>`;
}

function plain(value: number): string {
  return Number.isInteger(value) ? String(value) : value.toFixed(1);
}
