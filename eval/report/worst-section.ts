import { readOutcomes, type QuestionOutcome } from '../speechrole/judging/judge-scorer.ts';
import { metricKeys, metricShort } from '../speechrole/judging/metrics.ts';
import { looseJson } from '../speechrole/judging/parse-scores.ts';
import type { RunView } from '../speechrole/run-view.ts';
import { ratioOf, type JudgedSample } from '../speechrole/judging/scores.ts';
import { mean } from '../statistics.ts';
import type { ClipEmbedder } from './clips.ts';
import { heatColors } from './heat-colors.ts';
import { escape, score } from './html.ts';

/** The dialogues with the lowest scores, with recordings, texts and the judge's reasons. */
export async function worstSection(view: RunView, clips: ClipEmbedder, count: number): Promise<string> {
  const ranked = view.judged
    .map((sample) => ({ sample, value: meanRatio(sample) }))
    .filter((each): each is { sample: JudgedSample; value: number } => each.value !== null)
    .toSorted((a, b) => a.value - b.value)
    .slice(0, count);
  if (ranked.length === 0) return '';
  const cards = await Promise.all(ranked.map(({ sample, value }) => card(view, clips, sample, value)));
  return `<section><h2>Worst dialogues</h2>${cards.join('')}</section>`;
}

function meanRatio(sample: JudgedSample): number | null {
  const ratios = metricKeys.map((metric) => {
    const pair = sample.scores[metric];
    return pair === null || pair === undefined ? null : ratioOf(pair);
  });
  return mean(ratios.filter((ratio) => ratio !== null));
}

async function card(view: RunView, clips: ClipEmbedder, sample: JudgedSample, value: number): Promise<string> {
  const facts = view.facts.get(sample.id);
  const answers = view.outputOf(sample.id)?.answers ?? [];
  const rounds = await Promise.all(
    (facts?.turns ?? []).map(async (turn, at) => {
      const answer = answers[at];
      const reference = facts?.reference[at];
      const heard =
        answer?.heard === null || answer?.heard === undefined || answer.heard === turn.text
          ? ''
          : `<small>heard: ${escape(answer.heard)}</small>`;
      const wait =
        answer?.firstAudioMs === null || answer === undefined
          ? ''
          : `<small>after ${Math.round(answer.firstAudioMs)} ms</small>`;
      const ours = await clips.player(
        answer?.audio === undefined || answer.audio === null ? null : view.audio.pathOf(answer.audio),
      );
      const theirs = await clips.player(reference?.speech ?? null);
      return `<div class="round"><p class="user"><span>User</span>${escape(turn.text)}${heard}</p><div class="sides"><div><h4>System ${wait}</h4>${ours}<p>${escape(answer?.text ?? '')}</p></div><div><h4>Reference</h4>${theirs}<p>${escape(reference?.text ?? '')}</p></div></div></div>`;
    }),
  );
  const outcomes = readOutcomes(view.protocol, view.record.measured.get(sample.id) ?? new Map(), view.config.parser);
  const chips = metricKeys.map((metric) => {
    const pair = sample.scores[metric];
    if (pair === null || pair === undefined) return `<span class="chip">${metricShort[metric]} –</span>`;
    const { fill, ink } = heatColors(ratioOf(pair));
    return `<span class="chip" style="background:${fill};color:${ink}">${metricShort[metric]} ${plain(pair.test)} : ${plain(pair.reference)}</span>`;
  });
  const reasons = outcomes.map(rationale).join('');
  const about = [
    sample.language === 'en' ? 'English' : 'Chinese',
    sample.mode === 'single' ? 'single turn' : 'multi-turn',
    sample.category ?? '',
  ]
    .filter(Boolean)
    .join(' · ');
  return `<article class="card"><header><h3>${escape(sample.role)}</h3><span>${escape(about)}</span><b>${score(value)}</b></header>${rounds.join('')}<p class="chips">${chips.join('')}</p><details><summary>What the judge said</summary><dl>${reasons}</dl></details></article>`;
}

function rationale({ ask, text, outcome }: QuestionOutcome): string {
  const name = ask.metric === 'all' ? 'All metrics' : metricShort[ask.metric];
  const order = ask.first === 'test' ? 'system as A' : 'reference as A';
  const value = looseJson(text);
  const parts =
    value === null
      ? [['', text] as const]
      : Object.entries(value).map(
          ([key, each]) => [key.replaceAll('_', ' '), typeof each === 'string' ? each : JSON.stringify(each)] as const,
        );
  const body = parts
    .map(([key, each]) => `<p>${key === '' ? '' : `<b>${escape(key)}</b> `}${escape(each)}</p>`)
    .join('');
  return `<dt>${name} <small>${order}${outcome === 'scored' ? '' : `, ${outcome}`}</small></dt><dd>${body}</dd>`;
}

function plain(value: number): string {
  return Number.isInteger(value) ? String(value) : value.toFixed(1);
}
