import { judgeDialects, messageContent, joinGapSeconds, type JudgeClip, fillTemplate } from '../../judge/message.ts';
import type { Judge, JudgeReply } from '../../judge/judge.ts';
import { measurementKey } from '../../run-log.ts';
import type { Score, Scorer, Solved } from '../../task.ts';
import type { DialogueOutput } from '../data/task.ts';
import { metricKeys, type MetricKey } from './metrics.ts';
import type { Strictness } from './parse-scores.ts';
import type { Protocol, ProtocolQuestion } from './protocols.ts';
import { ratioOf, type JudgedPair } from './scores.ts';
import { roleNameOf, type DialogueInput, type DialogueTarget } from '../data/test-data.ts';
import { readFile } from 'node:fs/promises';
import { concatSamples } from '../../../voices/audio.ts';
import { readAudioFile } from '../../../voices/dsp/audio-file.ts';
import { resample } from '../../../voices/dsp/resampler.ts';
import { readWav, wavBytes } from '../../../voices/dsp/wav.ts';
import type { AudioStore } from '../../run-folder.ts';
import { EvalError } from '../../eval-error.ts';

/** Log record of one question: all replies of the judge, including unreadable ones. */
export interface JudgedAsk {
  readonly replies: readonly JudgeReply[];
}

/** The scorer's name in the log. */
export const judgeScorerName = 'judge';

export interface JudgeScorerOptions {
  readonly protocol: Protocol;
  /** Absent if a log is only read. */
  readonly judge?: Judge;
  readonly strictness: Strictness;
  /** Maximum retries of a question whose reply has no readable scores. */
  readonly parseRetries: number;
}

type DialogueScorer = Scorer<DialogueInput, DialogueTarget, DialogueOutput>;

/** Judges dialogues against their reference. Each score is the ratio to the reference. */
export function judgeScorer(options: JudgeScorerOptions): DialogueScorer {
  const { protocol, judge, strictness, parseRetries } = options;
  const clipsOf = openClips(protocol.clips);
  const byKey = new Map(protocol.questions.map((ask) => [ask.key, ask]));
  return {
    name: judgeScorerName,
    measurementKeys: () => [...byKey.keys()],
    async measure(key, solved, context): Promise<JudgedAsk> {
      const ask = byKey.get(key);
      if (judge === undefined || ask === undefined)
        throw new Error(`no judge is open, or the protocol has no question ${key}`);
      const { test, reference } = await clipsOf(solved, context.audio);
      const clips = ask.first === 'test' ? { first: test, second: reference } : { first: reference, second: test };
      const pieces = fillTemplate(protocol.template, { ...dialogueValues(solved), ...protocol.valuesFor(ask) });
      const content = await messageContent(pieces, clips, judgeDialects[judge.dialect], joinClips);
      const { temperature, schema } = protocol;
      const replies: JudgeReply[] = [];
      do {
        replies.push(await judge.ask({ system: protocol.template.system, content, temperature, schema }, context));
      } while (!isReadable(replies.at(-1) as JudgeReply, ask, options) && replies.length <= parseRetries);
      return { replies };
    },
    score: (_solved, measured) =>
      metricKeys.map((metric): Score => {
        const pair = judgedPairs(protocol, measured, strictness)[metric];
        const value = pair === undefined || pair === null ? null : ratioOf(pair);
        const why = pair === undefined ? 'not judged' : pair === null ? 'no scores could be read' : undefined;
        return { name: metric, value, ...(why === undefined ? {} : { why }) };
      }),
  };
}

function dialogueValues({
  sample: { input },
}: Solved<DialogueInput, DialogueTarget, DialogueOutput>): Record<string, string> {
  return {
    system_prompt: input.systemPrompt,
    questions: input.turns.map((turn) => turn.text).join('\n###\n'),
    role: roleNameOf(input.systemPrompt) ?? input.role,
  };
}

function isReadable(reply: JudgeReply, ask: ProtocolQuestion, { protocol, strictness }: JudgeScorerOptions): boolean {
  const wanted = ask.metric === 'all' ? metricKeys.length : 1;
  return Object.keys(protocol.parse(reply.text, ask, strictness)).length === wanted;
}

/** Result of one question. */
export interface QuestionOutcome {
  readonly ask: ProtocolQuestion;
  readonly outcome: 'scored' | 'unparsed' | 'refused';
  readonly replies: readonly JudgeReply[];
  /** Text of the reply that counts: the first with readable scores. */
  readonly text: string;
  readonly pairs: Readonly<Partial<Record<MetricKey, JudgedPair>>>;
}

/** Parses the judge's replies about one dialogue, question by question; unanswered questions are skipped. */
export function readOutcomes(
  protocol: Protocol,
  measured: ReadonlyMap<string, unknown>,
  strictness: Strictness,
): QuestionOutcome[] {
  return protocol.questions.flatMap((ask): QuestionOutcome[] => {
    const kept = measured.get(measurementKey(judgeScorerName, ask.key)) as JudgedAsk | undefined;
    if (kept === undefined) return [];
    const read = kept.replies.map((reply) => ({ reply, scores: protocol.parse(reply.text, ask, strictness) }));
    const best = read.reduce((most, each) =>
      Object.keys(each.scores).length > Object.keys(most.scores).length ? each : most,
    );
    const pairs = Object.fromEntries(
      Object.entries(best.scores).map(([metric, [first, second]]) => [
        metric,
        ask.first === 'test' ? { test: first, reference: second } : { test: second, reference: first },
      ]),
    );
    const refused = kept.replies.some((reply) => isRefusal(reply));
    const outcome = Object.keys(pairs).length > 0 ? 'scored' : refused ? 'refused' : 'unparsed';
    return [{ ask, outcome, replies: kept.replies, text: best.reply.text, pairs }];
  });
}

const inability = "I(?:'m| am)? (?:can(?:no|')t|won't|will not|unable to|not able to)";
/** A judge refuses the task, or to hear recordings; “I cannot fault either” refuses nothing. */
const refusals = [
  new RegExp(`\\b${inability} (?:evaluate|judge|assess|score|rate|compare|assist|comply|help|fulfil|complete)\\b`, 'i'),
  new RegExp(
    `\\b${inability} (?:hear|listen|access|process|play|analy[sz]e|provide)\\b[^.!?]*\\b(?:audio|recordings?|files?|clips?|sounds?|speech|voices?|scores?|ratings?|evaluations?|judge?ments?)\\b`,
    'i',
  ),
  /(?:无法|不能)(?:评价|评估|评分|打分|收听|播放|提供|完成|处理(?:音频|录音|语音|这))/,
];

/** True if the server reports a refusal, or a sentence at the beginning of the reply refuses the task. */
export function isRefusal({ refusal, text }: JudgeReply): boolean {
  const start = text.slice(0, 300).replaceAll('’', "'");
  return refusal !== null || refusals.some((sentence) => sentence.test(start));
}

/**
 * Computes a dialogue's scores by metric: the mean over all questions about it, with the same number of answers in both
 * orders, because otherwise the first position's advantage would remain. Null: asked, but too few replies could be
 * read. Absent: not asked.
 */
export function judgedPairs(
  protocol: Protocol,
  measured: ReadonlyMap<string, unknown>,
  strictness: Strictness,
): Partial<Record<MetricKey, JudgedPair | null>> {
  const outcomes = readOutcomes(protocol, measured, strictness);
  const wanted = (metric: MetricKey): number =>
    protocol.questions.filter((ask) => ask.metric === metric || ask.metric === 'all').length;
  const pairs: Partial<Record<MetricKey, JudgedPair | null>> = {};
  for (const metric of metricKeys) {
    const about = outcomes.filter(({ ask }) => ask.metric === metric || ask.metric === 'all');
    if (about.length < wanted(metric)) continue;
    const scored = about.flatMap(({ ask, pairs: found }) => {
      const pair = found[metric];
      return pair === undefined ? [] : [{ first: ask.first, pair }];
    });
    const balanced = balance(scored);
    const average = (which: 'test' | 'reference'): number =>
      balanced.reduce((sum, { pair }) => sum + pair[which], 0) / balanced.length;
    pairs[metric] = balanced.length === 0 ? null : { test: average('test'), reference: average('reference') };
  }
  return pairs;

  /** Keeps equally many answers of both orders, if the protocol swaps. */
  function balance<Each extends { readonly first: 'test' | 'reference' }>(scored: readonly Each[]): Each[] {
    if (!protocol.questions.some((ask) => ask.first === 'reference')) return [...scored];
    const of = (first: 'test' | 'reference'): Each[] => scored.filter((each) => each.first === first);
    const count = Math.min(of('test').length, of('reference').length);
    return [...of('test').slice(0, count), ...of('reference').slice(0, count)];
  }
}

/** Audio preparation for a judge: `whole` sends the files unchanged; otherwise they are cut or resampled. */
export interface ClipFormat {
  readonly whole: boolean;
  readonly maxSeconds?: number;
  readonly sampleRate?: number;
}

/** Recordings of both speakers, one per round. */
export interface DialogueClips {
  readonly test: readonly JudgeClip[];
  readonly reference: readonly JudgeClip[];
}

type SolvedDialogue = Solved<DialogueInput, DialogueTarget, DialogueOutput>;

/**
 * Returns a function that prepares a dialogue's recordings, once per dialogue however many questions are asked about
 * it.
 */
export function openClips(shape: ClipFormat): (solved: SolvedDialogue, audio: AudioStore) => Promise<DialogueClips> {
  const prepared = new WeakMap<SolvedDialogue, Promise<DialogueClips>>();
  return (solved, audio) => {
    const known = prepared.get(solved);
    if (known !== undefined) return known;
    const made = prepare(solved, audio, shape);
    prepared.set(solved, made);
    return made;
  };
}

async function prepare(
  { sample, output }: SolvedDialogue,
  audio: AudioStore,
  shape: ClipFormat,
): Promise<DialogueClips> {
  const test = await Promise.all(
    output.answers.map(async (answer, round) => {
      if (answer.audio === null)
        throw new EvalError('agent', `${sample.id}: the answer of round ${round + 1} has no audio to judge.`);
      return clipOf(await audio.read(answer.audio), shape);
    }),
  );
  const reference = await Promise.all(
    sample.target.turns.map(async ({ speech }, round) => {
      if (speech === null)
        throw new EvalError(
          'data',
          `${sample.id}: round ${round + 1} has no reference recording. \`eval data check\` lists all that are missing.`,
        );
      return clipOf(await readReference(speech), shape);
    }),
  );
  return { test, reference };
}

async function readReference(file: string): Promise<Buffer> {
  if (/\.wav$/i.test(file)) {
    return readFile(file).catch((cause: unknown) => {
      throw new EvalError(
        'data',
        `${file}: the reference recording is missing. \`eval data check\` lists all that are missing.`,
        cause,
      );
    });
  }
  const { samples, sampleRate } = await readAudioFile(file, {
    sampleRate: 24_000,
    signal: new AbortController().signal,
  });
  return wavBytes(samples, sampleRate);
}

async function clipOf(wav: Buffer, { whole, maxSeconds, sampleRate }: ClipFormat): Promise<JudgeClip> {
  const sound = await readWav(wav);
  const seconds = sound.samples.length / sound.sampleRate;
  if (whole) return { base64: wav.toString('base64'), seconds };
  const cut = maxSeconds === undefined ? sound.samples : sound.samples.subarray(0, maxSeconds * sound.sampleRate);
  const rate = sampleRate ?? sound.sampleRate;
  const samples = rate === sound.sampleRate ? cut : resample(cut, sound.sampleRate, rate);
  return { base64: (await wavBytes(samples, rate)).toString('base64'), seconds: samples.length / rate };
}

/**
 * Joins clips into one WAV with silence between them, for judges that take one recording per request. Uses the sample
 * rate of the first.
 */
export async function joinClips(clips: readonly JudgeClip[]): Promise<string> {
  const sounds = await Promise.all(clips.map((clip) => readWav(Buffer.from(clip.base64, 'base64'))));
  const sampleRate = sounds[0]?.sampleRate ?? 16_000;
  const gap = new Float32Array(joinGapSeconds * sampleRate);
  const blocks = sounds.flatMap((sound) => [resample(sound.samples, sound.sampleRate, sampleRate), gap]);
  return (await wavBytes(concatSamples(blocks.slice(0, -1)), sampleRate)).toString('base64');
}
