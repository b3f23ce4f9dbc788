import { shareOf, summarize, type BenchRow, type BenchShare } from '../kit/stats.ts';
import type { Observed, Span } from './turns-scene.ts';
import type { Kind, ScriptedScene } from './turns-script.ts';

/** A scene with its result. */
export interface Played {
  readonly scene: ScriptedScene;
  readonly observed: Observed;
}

const bench = 'turns';
/** Windows of the τ-voice panel (sierra-research/tau2-bench, docs/interaction-metrics.md). */
const yieldWithinMs = 2_000;
const selectiveForMs = 1_000;
const silentForMs = 2_000;
const tickMs = 200;

/** Turns that end with a sentence, by their transcripts; others are fragments of read sentences, at whose ends waiting is right. */
const wholeSentences =
  /^(?:LJ001-0002|jfk\.wav@8|libri-1998|libri-2412-153948-0000|libri-2412-153948-0001\.flac@7|vad-labelled)/;

/** Time span of the user's speech, or of the noise if there is no voice, from the start of the scene. */
function userSpan({ scene, observed }: Played): Span {
  const { startMs, endMs } = observed;
  const [first] = scene.voice;
  const last = scene.voice.at(-1);
  return first === undefined || last === undefined
    ? { fromMs: startMs, toMs: endMs }
    : { fromMs: startMs + first.fromMs, toMs: startMs + last.toMs };
}

/** Returns whether the reply was stopped for good. */
export function yielded(played: Played): boolean {
  const { fromMs } = userSpan(played);
  return played.observed.stopped.some((atMs) => atMs >= fromMs && atMs <= fromMs + yieldWithinMs);
}

/** Returns whether the listener heard nothing of the reply for a whole tick, whether it was stopped or only held. */
export function fellSilent(played: Played): boolean {
  const { fromMs } = userSpan(played);
  const { heard, stopped } = played.observed;
  // A reply that reached its end has not yielded.
  const lastMs = stopped.length > 0 ? Infinity : (heard.at(-1)?.toMs ?? 0);
  for (let tickAtMs = fromMs; tickAtMs + tickMs <= Math.min(lastMs, fromMs + selectiveForMs); tickAtMs += tickMs) {
    if (!heard.some((span) => span.fromMs < tickAtMs + tickMs && span.toMs > tickAtMs)) return true;
  }
  return false;
}

/** Returns whether the sound had an effect that only a user turn may have: it stopped the reply, or got an answer. */
export function countedAsTurn({ scene, observed }: Played): boolean {
  const { stopped, answers, startMs } = observed;
  return stopped.some((atMs) => atMs >= startMs) || (scene.over && answers.length > 0);
}

/** Returns whether the character answered a sound made while it was silent. */
export function answeredNoise(played: Played): boolean {
  const { toMs } = userSpan(played);
  return played.observed.answers.some((atMs) => atMs <= toMs + silentForMs);
}

/** Time from the end of the user's turn to the first audio of the answer; undefined if there is none. */
export function responseMs(played: Played): number | undefined {
  const { toMs } = userSpan(played);
  const atMs = played.observed.answers.find((answerMs) => answerMs >= toMs - tickMs);
  return atMs === undefined ? undefined : Math.max(0, atMs - toMs);
}

/**
 * Number of times the character started to speak while the user did; with `pauses`, also in pauses inside the user's
 * turn.
 */
export function incursions({ scene, observed }: Played, { pauses }: { readonly pauses: boolean }): number {
  const [first, last] = [scene.voice[0], scene.voice.at(-1)];
  const whole = first === undefined || last === undefined ? [] : [{ fromMs: first.fromMs, toMs: last.toMs }];
  const beginIn = ({ fromMs, toMs }: Span): number =>
    observed.heard.filter((span) => {
      const atMs = span.fromMs - observed.startMs;
      // The last tick of a turn may already be its end.
      return atMs > fromMs && atMs < toMs - tickMs;
    }).length;
  return (pauses ? whole : scene.voice).reduce((sum, span) => sum + beginIn(span), 0);
}

/** Total time in which the listener heard nothing of a reply that went on later. */
export function brokenOffMs({ scene, observed }: Played): number {
  const { heard, startMs } = observed;
  return heard.reduce((sum, { fromMs }, index) => {
    const before = heard[index - 1];
    return before === undefined || !scene.over || before.toMs < startMs ? sum : sum + fromMs - before.toMs;
  }, 0);
}

/**
 * From the start of the interruption: time until the loudspeaker was silent, and time until the reply was abandoned.
 */
export function yieldMs(played: Played): { readonly silentMs: number; readonly decidedMs: number } | undefined {
  const { fromMs } = userSpan(played);
  const decidedAtMs = played.observed.stopped.find((atMs) => atMs >= fromMs);
  if (decidedAtMs === undefined) return undefined;
  const last = played.observed.heard.findLast((span) => span.fromMs <= decidedAtMs);
  return { silentMs: (last?.toMs ?? decidedAtMs) - fromMs, decidedMs: decidedAtMs - fromMs };
}

/** The panel, row by row. */
export function* panelOf(all: readonly Played[]): Iterable<BenchRow | BenchShare> {
  const of = (...kinds: readonly Kind[]): Played[] => all.filter(({ scene }) => kinds.includes(scene.kind));
  yield* yieldRows(of('interruption'), 'interruption');
  yield* yieldRows(of('interruption under echo'), 'interruption under echo');
  for (const kind of ['backchannel', 'tic', 'noise', 'non-directed'] as const) yield* selectivityRows(of(kind), kind);
  yield share('echo alone: reply goes on', of('echo'), (one) => !countedAsTurn(one));
  yield* turnRows(of('turn'), 'turn');
  yield* turnRows(of('turn with pauses'), 'turn with pauses');
  yield* turnRows(of('turn', 'turn with pauses'), 'all turns');
  yield* turnRows(
    of('turn').filter(({ scene }) => wholeSentences.test(scene.source)),
    'complete turns',
  );
  yield* turnRows(of('interruption').filter(yielded), 'interruption, after yielding');
}

function share(metric: string, played: readonly Played[], isRight: (one: Played) => boolean): BenchShare {
  return shareOf(bench, metric, played.map(isRight));
}

function* yieldRows(played: readonly Played[], name: string): Iterable<BenchRow | BenchShare> {
  yield share(`${name}: yields within 2 s`, played, yielded);
  for (const variety of varietiesOf(played))
    yield share(`${name}, ${variety}: yields`, ofVariety(played, variety), yielded);
  for (const client of ['holds', 'stock'] as const) {
    const times = played.flatMap((one) => (one.scene.client === client ? (yieldMs(one) ?? []) : []));
    const silentMs = times.map((one) => one.silentMs);
    const afterMs = times.map((one) => Math.max(0, one.silentMs - one.decidedMs));
    yield summarize(bench, `${name}, client ${client}: start of speech → silence`, 'ms', silentMs);
    yield summarize(bench, `${name}, client ${client}: certain → silence`, 'ms', afterMs);
  }
  const decided = played.flatMap((one) => yieldMs(one)?.decidedMs ?? []);
  yield summarize(bench, `${name}: start of speech → certain`, 'ms', decided);
}

function* selectivityRows(played: readonly Played[], name: string): Iterable<BenchRow | BenchShare> {
  const over = played.filter(({ scene }) => scene.over);
  const silent = played.filter(({ scene }) => !scene.over);
  yield share(`${name} over a reply: goes on`, over, (one) => !countedAsTurn(one));
  for (const variety of varietiesOf(over))
    yield share(`${name} over a reply, ${variety}: goes on`, ofVariety(over, variety), (one) => !countedAsTurn(one));
  for (const client of ['holds', 'stock'] as const) {
    const those = over.filter(({ scene }) => scene.client === client);
    yield share(`${name} over a reply, client ${client}: no silent tick within 1 s`, those, (one) => !fellSilent(one));
  }
  const goesOn = over.filter((one) => !countedAsTurn(one));
  yield summarize(bench, `${name} over a reply that goes on: broken off for`, 'ms', goesOn.map(brokenOffMs));
  const repeats = goesOn.map(({ observed }) => observed.repeatedMs);
  yield summarize(bench, `${name} over a reply that goes on: said again`, 'ms', repeats);
  if (silent.length > 0) yield share(`${name} in silence: no answer within 2 s`, silent, (one) => !answeredNoise(one));
}

function* turnRows(played: readonly Played[], name: string): Iterable<BenchRow | BenchShare> {
  yield share(`${name}: answered`, played, (one) => responseMs(one) !== undefined);
  const latencies = played.flatMap((one) => responseMs(one) ?? []);
  yield summarize(bench, `${name}: end of speech → answer`, 'ms', latencies);
  yield share(`${name}: not talked into`, played, (one) => incursions(one, { pauses: false }) === 0);
  if (name.includes('turn'))
    yield share(`${name}: nor in its pauses`, played, (one) => incursions(one, { pauses: true }) === 0);
}

function varietiesOf(played: readonly Played[]): string[] {
  const all = [...new Set(played.map(({ scene }) => scene.variety))];
  return all.length > 1 ? all : [];
}

function ofVariety(played: readonly Played[], variety: string): Played[] {
  return played.filter(({ scene }) => scene.variety === variety);
}
