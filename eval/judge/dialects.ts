import type { PromptPiece } from './template.ts';

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
