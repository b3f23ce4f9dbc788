import { pcm16FromFloats, Rechunker } from '../audio.ts';
import type { OmniMessage, OmniOptions, OmniAudio } from '../omni.ts';
import { resample } from '../dsp/resampler.ts';
import { wavBytes } from '../dsp/wav.ts';

/** Differences between Realtime APIs. */
export interface RealtimeDialect {
  /** Headers besides the API key. */
  readonly headers: Readonly<Record<string, string>>;
  /** True: settings that the server does not take are reported as errors before `session.updated`, and the others apply. */
  readonly reportsUnsupportedSettings?: boolean;
  /** Returns the session fields of `session.update`. */
  session(messages: readonly OmniMessage[], options: SessionOptions): object;
  /** Returns the events that send the conversation, its last message included, and request the response. */
  turnEvents(messages: readonly OmniMessage[], options: TurnOptions): Promise<readonly object[]>;
}

type TurnOptions = Pick<OmniOptions, 'maxTokens'>;

export interface SessionOptions extends TurnOptions {
  readonly model: string;
  readonly speaks: boolean;
  /** Absent: the model's default. */
  readonly voice?: string | undefined;
}

export type RealtimeDialectName = 'openai' | 'beta' | 'speaches' | 'qwen' | 'glm';

/** Input rate of OpenAI's API, and output rate of all of them, in hertz. */
const sampleRate = 24_000;
/** Input format of the other APIs: the rate, and the length of the pieces that audio is appended in. */
const buffered = { sampleRate: 16_000, pieceMs: 500 } as const;

const turnsAreOurs = { turn_detection: null };

/** OpenAI since general availability, and another Dramatis server. */
const openai: RealtimeDialect = {
  headers: {},
  session(messages, { speaks, voice }) {
    const format = { type: 'audio/pcm', rate: sampleRate };
    return {
      type: 'realtime',
      instructions: persona(messages),
      output_modalities: [speaks ? 'audio' : 'text'],
      audio: { input: { format, ...turnsAreOurs }, output: { format, ...(voice === undefined ? {} : { voice }) } },
    };
  },
  turnEvents: async (messages, { maxTokens }) => [
    ...itemsOf(messages, 'output_text'),
    asked(limited(maxTokens, 'max_output_tokens')),
  ],
};

/** OpenAI's beta API, and another Dramatis server. */
const beta: RealtimeDialect = {
  headers: { 'openai-beta': 'realtime=v1' },
  session: (messages, options) => ({ ...flatSession(messages, options), ...turnsAreOurs }),
  turnEvents: async (messages, { maxTokens }) => [
    ...itemsOf(messages, 'text'),
    asked(limited(maxTokens, 'max_response_output_tokens')),
  ],
};

/**
 * speaches: the beta API without audio formats, and with speech through the input buffer only. Turn detection cannot be
 * turned off and makes the response to committed speech; at threshold 1 its VAD hears none, so that it ends no turn.
 */
const speaches: RealtimeDialect = {
  headers: {},
  reportsUnsupportedSettings: true,
  session: (messages, { speaks, voice, maxTokens }) => ({
    modalities: speaks ? ['text', 'audio'] : ['text'],
    instructions: persona(messages),
    turn_detection: {
      type: 'server_vad',
      threshold: 1,
      prefix_padding_ms: 0,
      silence_duration_ms: 550,
      create_response: true,
    },
    ...(voice === undefined ? {} : { voice }),
    ...limited(maxTokens, 'max_response_output_tokens'),
  }),
  async turnEvents(messages) {
    const last = messages.at(-1);
    const written = (each: OmniMessage): boolean => each.text !== '' && each.sound === undefined;
    if (last?.sound === undefined) return [...itemsOf(messages.filter(written), 'text'), asked({})];
    const speech = await appended(last.sound, { sampleRate, pieceMs: 3_000 }, async (samples) =>
      pcm16FromFloats(samples),
    );
    return [...itemsOf(messages.filter(written), 'text'), ...speech, committed];
  },
};

/** Qwen-Omni on Alibaba Cloud: takes the conversation so far in its instructions, and audio at 16 kHz. */
const qwen: RealtimeDialect = {
  headers: {},
  session: (messages, options) => ({
    ...flatSession(messages, options),
    instructions: personaAndTalk(messages),
    ...turnsAreOurs,
  }),
  turnEvents: async (messages) => [
    ...(await lastSaid(messages, async (samples) => pcm16FromFloats(samples))),
    asked({}),
  ],
};

/** GLM-Realtime: like Qwen-Omni, but audio comes as WAVs, and `client_vad` turns server-side turn detection off. */
const glm: RealtimeDialect = {
  headers: {},
  session: (messages, options) => ({
    ...flatSession(messages, options),
    model: options.model,
    instructions: personaAndTalk(messages),
    input_audio_format: 'wav',
    output_audio_format: 'pcm',
    turn_detection: { type: 'client_vad' },
    beta_fields: { chat_mode: 'audio', tts_source: 'e2e', auto_search: false },
  }),
  turnEvents: async (messages) => [
    ...(await lastSaid(messages, (samples) => wavBytes(samples, buffered.sampleRate))),
    asked({}),
  ],
};

export const realtimeDialects: Readonly<Record<RealtimeDialectName, RealtimeDialect>> = {
  openai,
  beta,
  speaches,
  qwen,
  glm,
};

const committed = { type: 'input_audio_buffer.commit' };

function asked(response: object): object {
  return { type: 'response.create', response };
}

function flatSession(messages: readonly OmniMessage[], { speaks, voice }: SessionOptions): object {
  return {
    modalities: speaks ? ['text', 'audio'] : ['text'],
    instructions: persona(messages),
    input_audio_format: 'pcm16',
    output_audio_format: 'pcm16',
    ...(voice === undefined ? {} : { voice }),
  };
}

function persona(messages: readonly OmniMessage[]): string {
  return messages.flatMap(({ role, text }) => (role === 'system' ? [text] : [])).join('\n\n');
}

/** Returns the persona and the conversation so far as text, without the last message. */
function personaAndTalk(messages: readonly OmniMessage[]): string {
  const said = messages
    .slice(0, -1)
    .flatMap(({ role, text }) =>
      role === 'system' || text === '' ? [] : [`${role === 'user' ? 'User' : 'You'}: ${text}`],
    );
  const talk = said.length === 0 ? [] : ['What was said so far:', ...said];
  return [persona(messages), talk.join('\n')].filter(Boolean).join('\n\n');
}

function itemsOf(messages: readonly OmniMessage[], ownText: 'output_text' | 'text'): readonly object[] {
  return messages.flatMap((message) => (message.role === 'system' ? [] : [created(message, ownText)]));
}

function created({ role, text, sound }: OmniMessage, ownText: string): object {
  const content: object[] = [];
  if (text !== '') content.push({ type: role === 'assistant' ? ownText : 'input_text', text });
  if (sound !== undefined) {
    const audio = pcm16FromFloats(resample(sound.samples, sound.sampleRate, sampleRate)).toString('base64');
    content.push({ type: 'input_audio', audio });
  }
  return { type: 'conversation.item.create', item: { type: 'message', role, content } };
}

/** Returns events for the last message only: its text as an item, its audio through the input buffer. */
async function lastSaid(
  messages: readonly OmniMessage[],
  encode: (samples: Float32Array) => Promise<Buffer>,
): Promise<readonly object[]> {
  const last = messages.at(-1);
  if (last === undefined || last.role === 'system') return [];
  const { text, sound } = last;
  return [
    ...(text === '' ? [] : [created({ role: last.role, text }, 'text')]),
    ...(sound === undefined ? [] : [...(await appended(sound, buffered, encode)), committed]),
  ];
}

async function appended(
  { samples, sampleRate: from }: OmniAudio,
  { sampleRate: to, pieceMs }: { readonly sampleRate: number; readonly pieceMs: number },
  encode: (samples: Float32Array) => Promise<Buffer>,
): Promise<readonly object[]> {
  const pieces = new Rechunker((to * pieceMs) / 1_000);
  const heard = resample(samples, from, to);
  const cut = [...pieces.push(heard), pieces.flush()].filter(({ length }) => length > 0);
  const encoded = await Promise.all(cut.map(encode));
  return encoded.map((bytes) => ({ type: 'input_audio_buffer.append', audio: bytes.toString('base64') }));
}

function limited(maxTokens: number | undefined, name: string): object {
  return maxTokens === undefined || maxTokens === Infinity ? {} : { [name]: maxTokens };
}
