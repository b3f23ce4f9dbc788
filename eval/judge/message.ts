import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { EvalError } from '../eval-error.ts';

/** A prompt file: a system message, and a user message with placeholders for texts and recordings. */
export interface PromptTemplate {
  readonly file: string;
  /** SHA-256 of the file. */
  readonly hash: string;
  readonly system: string;
  readonly user: string;
}

/** A piece of a filled prompt: text, or the placeholder of one speaker's recordings. */
export type PromptPiece = { readonly text: string } | { readonly speaker: 'first' | 'second' };

const divider = /^=== user ===\n/m;

const ownPrompts = path.join(import.meta.dirname, '..', 'prompts');

/** Reads a file from the prompt folder, by default our own. */
export function readPromptFile(
  name: string,
  folder: string = ownPrompts,
): { readonly text: string; readonly hash: string } {
  const file = path.join(folder, name);
  try {
    const text = readFileSync(file, 'utf8');
    return { text, hash: createHash('sha256').update(text).digest('hex') };
  } catch (cause) {
    throw new EvalError(
      'usage',
      `${file} cannot be read. The folder of --prompts must contain every file of eval/prompts.`,
      cause,
    );
  }
}

/**
 * Reads a template: system text, a line `=== user ===`, then user text that contains `{{first_audio}}` and
 * `{{second_audio}}`.
 */
export function readTemplate(name: string, folder?: string): PromptTemplate {
  const { text, hash } = readPromptFile(name, folder);
  const [system, user, ...more] = text.split(divider);
  const whole = user !== undefined && more.length === 0;
  if (!whole || !user.includes('{{first_audio}}') || !user.includes('{{second_audio}}')) {
    const form = 'a system text, a line "=== user ===", and a user text with {{first_audio}} and {{second_audio}}';
    throw new EvalError('usage', `${name}: a prompt must consist of ${form}.`);
  }
  return { file: name, hash, system: (system ?? '').trimEnd(), user: user.trimEnd() };
}

/** Fills a template's placeholders. Throws an `EvalError` for one without a value, so that the judge never sees it. */
export function fillTemplate(template: PromptTemplate, values: Readonly<Record<string, string>>): PromptPiece[] {
  // A single pass over the template, because inserted text may itself contain double braces.
  return template.user.split(/(\{\{[a-z_]+\}\})/).reduce<PromptPiece[]>((pieces, part) => {
    const name = /^\{\{([a-z_]+)\}\}$/.exec(part)?.[1];
    if (name === 'first_audio' || name === 'second_audio')
      return [...pieces, { speaker: name === 'first_audio' ? 'first' : 'second' }];
    const text = name === undefined ? part : values[name];
    if (text === undefined)
      throw new EvalError(
        'usage',
        `${template.file}: {{${name}}} has no value in this protocol. Remove it from the prompt.`,
      );
    const last = pieces.at(-1);
    if (last === undefined || !('text' in last)) return [...pieces, { text }];
    return [...pieces.slice(0, -1), { text: last.text + text }];
  }, []);
}

/** Audio format of a judge's API, and its other peculiarities. */
export interface JudgeDialect {
  /** Builds the message part for one WAV in base64. */
  audioPart(base64: string): object;
  /** True if the API takes one recording per request: all are joined, and the text gives the time range of each. */
  readonly oneRecording: boolean;
  /** True if the API answers only as a stream. */
  readonly streamOnly: boolean;
  /** Parameter that requests a JSON answer. */
  readonly structured: 'json_schema' | 'json_object' | 'none';
}

const inputAudio = (data: string): object => ({ type: 'input_audio', input_audio: { data, format: 'wav' } });

/**
 * Known dialects. `data-url` is what the reference implementation sends (Gemini behind OpenAI-compatible gateways);
 * `openai` sends bare base64, as strict servers require.
 */
export const judgeDialects = {
  openai: { audioPart: inputAudio, oneRecording: false, streamOnly: false, structured: 'json_schema' },
  'data-url': {
    audioPart: (base64) => inputAudio(`data:audio/wav;base64,${base64}`),
    oneRecording: false,
    streamOnly: false,
    structured: 'json_schema',
  },
  vllm: {
    audioPart: (base64) => ({ type: 'audio_url', audio_url: { url: `data:audio/wav;base64,${base64}` } }),
    oneRecording: false,
    streamOnly: false,
    structured: 'json_schema',
  },
  dashscope: {
    audioPart: (base64) => inputAudio(`data:;base64,${base64}`),
    oneRecording: true,
    streamOnly: true,
    structured: 'none',
  },
} as const satisfies Record<string, JudgeDialect>;

export type JudgeDialectName = keyof typeof judgeDialects;

/** Recordings of both speakers, one per round. */
export interface JudgeClips {
  readonly first: readonly JudgeClip[];
  readonly second: readonly JudgeClip[];
}

export interface JudgeClip {
  /** WAV file in base64. */
  readonly base64: string;
  readonly seconds: number;
}

/**
 * Builds the content of a user message: texts and recordings in the order of the prompt. `join` concatenates several
 * clips into one WAV.
 */
export async function messageContent(
  pieces: readonly PromptPiece[],
  clips: JudgeClips,
  dialect: JudgeDialect,
  join: (clips: readonly JudgeClip[]) => Promise<string>,
): Promise<object[]> {
  if (!dialect.oneRecording) {
    return pieces.flatMap((piece): object[] =>
      'text' in piece
        ? [{ type: 'text', text: piece.text }]
        : clips[piece.speaker].map((clip) => dialect.audioPart(clip.base64)),
    );
  }
  const order = pieces.flatMap((piece) => ('speaker' in piece ? [piece.speaker] : []));
  let at = 0;
  const places = new Map(
    order.map((speaker) => [
      speaker,
      clips[speaker].map((clip, round) => {
        const from = at;
        at += clip.seconds + joinGapSeconds;
        return `(round ${round + 1}: in the recording from ${from.toFixed(1)} s to ${(from + clip.seconds).toFixed(1)} s)`;
      }),
    ]),
  );
  const text = pieces.map((piece) => ('text' in piece ? piece.text : (places.get(piece.speaker) ?? []).join('\n')));
  const all = order.flatMap((speaker) => clips[speaker]);
  return [dialect.audioPart(await join(all)), { type: 'text', text: text.join('') }];
}

/** Silence between joined recordings. */
export const joinGapSeconds = 1;
