import { readPromptFile, readTemplate, type PromptTemplate } from '../../judge/message.ts';
import { z } from 'zod';
import { EvalError } from '../../eval-error.ts';
import type { ClipFormat } from './judge-scorer.ts';
import { metricKeys, type MetricKey } from './metrics.ts';
import {
  isRecord,
  looseJson,
  parseJson,
  scoresIn,
  strictMetricScores,
  strictScores,
  tolerantMetricScores,
  tolerantScores,
  type ScorePair,
  type Strictness,
} from './parse-scores.ts';

export const protocolNames = ['v1', 'v2', 'dramatis'] as const;
export type ProtocolName = (typeof protocolNames)[number];

/** One question to the judge. */
export interface ProtocolQuestion {
  /** Unique among a dialogue's questions. */
  readonly key: string;
  /** One metric, or all at once. */
  readonly metric: MetricKey | 'all';
  /** Speaker whose recordings come first. */
  readonly first: 'test' | 'reference';
}

/** A judging protocol: prompts, questions, audio format and parser. */
export interface Protocol {
  readonly name: ProtocolName;
  readonly template: PromptTemplate;
  readonly questions: readonly ProtocolQuestion[];
  readonly clips: ClipFormat;
  readonly temperature: number | undefined;
  readonly schema: object | undefined;
  /** Template values besides those of the dialogue. */
  valuesFor(ask: ProtocolQuestion): Readonly<Record<string, string>>;
  /** Parses the scores in a reply, of first and second speaker, by metric. Empty if none are readable. */
  parse(text: string, ask: ProtocolQuestion, strictness: Strictness): Readonly<Partial<Record<MetricKey, ScorePair>>>;
  readonly promptHashes: Readonly<Record<string, string>>;
}

export interface ProtocolOptions {
  /** Template folder to use instead of ours. */
  readonly prompts?: string | undefined;
  /** Repeats of each order; only for `dramatis`. */
  readonly repeats: number;
}

/** Opens a protocol; its texts come from files. Throws an `EvalError` if they are unusable. */
export function openProtocol(name: ProtocolName, { prompts, repeats }: ProtocolOptions): Protocol {
  const template = readTemplate(`${name}.txt`, prompts);
  const file = readPromptFile('metrics.json', prompts);
  const metrics = z.record(z.enum(metricKeys), z.string()).safeParse(parseJson(file.text));
  if (!metrics.success)
    throw new EvalError(
      'usage',
      `metrics.json must be a JSON object with a text for each of ${metricKeys.join(', ')}.`,
    );
  const promptHashes = { [template.file]: template.hash, 'metrics.json': file.hash };
  const common = { name, template, promptHashes };
  const ofMetric = (ask: ProtocolQuestion): Record<string, string> =>
    ask.metric === 'all' ? {} : { metric: metrics.data[ask.metric] };
  if (name === 'v1') {
    return {
      ...common,
      questions: metricKeys.map((metric) => ({ key: metric, metric, first: 'test' })),
      clips: { whole: true },
      // The reference implementation leaves both to the server.
      temperature: undefined,
      schema: undefined,
      valuesFor: ofMetric,
      parse: (text, ask, strictness) => only(ask, strictness === 'strict' ? strictScores(text) : tolerantScores(text)),
    };
  }
  if (name === 'v2') {
    return {
      ...common,
      questions: [{ key: 'all', metric: 'all', first: 'test' }],
      clips: { whole: false, maxSeconds: 60 },
      temperature: 0,
      schema: undefined,
      valuesFor: () => allMetrics(metrics.data),
      parse: (text, _ask, strictness) =>
        strictness === 'strict' ? (strictMetricScores(text) ?? {}) : tolerantMetricScores(text),
    };
  }
  return {
    ...common,
    questions: metricKeys.flatMap((metric) =>
      Array.from({ length: repeats }, (_, repeat) => repeat + 1).flatMap((repeat) =>
        (['test', 'reference'] as const).map((first) => ({ key: `${metric}/${first}-first/${repeat}`, metric, first })),
      ),
    ),
    clips: { whole: false, sampleRate: 16_000 },
    temperature: 0,
    schema: verdictSchema,
    valuesFor: ofMetric,
    parse(text, ask, strictness) {
      const value = strictness === 'strict' ? parseJson(text) : looseJson(text);
      return only(ask, isRecord(value) ? scoresIn(value) : null);
    },
  };
}

const verdictSchema = {
  type: 'object',
  additionalProperties: false,
  // Property order matters: reasons before scores.
  properties: {
    speaker_a: { type: 'string' },
    speaker_b: { type: 'string' },
    comparison: { type: 'string' },
    score_a: { type: 'number' },
    score_b: { type: 'number' },
  },
  required: ['speaker_a', 'speaker_b', 'comparison', 'score_a', 'score_b'],
};

function only(ask: ProtocolQuestion, pair: ScorePair | null): Partial<Record<MetricKey, ScorePair>> {
  return pair === null || ask.metric === 'all' ? {} : { [ask.metric]: pair };
}

function allMetrics(texts: Readonly<Record<MetricKey, string>>): Record<string, string> {
  const example = Object.fromEntries(metricKeys.map((key) => [key, { reason: '…', score_a: 8, score_b: 9 }]));
  return {
    metrics: metricKeys.map((key) => `### ${key}:\n${texts[key]}`).join('\n\n'),
    example: JSON.stringify(example, null, 2),
  };
}
