import { pcm16FromFloats, Rechunker } from '../audio.ts';
import type { OmniMessage, OmniOptions, OmniSound } from '../omni.ts';
import { resample } from '../dsp/resampler.ts';
import { wavBytes } from '../dsp/wav.ts';

/** How a Realtime API differs from the others. */
export interface RealtimeDialect {
  /** Besides the key. */
  readonly headers: Readonly<Record<string, string>>;
  /** What `session.update` sets. */
  session(messages: readonly OmniMessage[], options: SessionOptions): object;
  /** Events that tell the talk, its last message included. */
  talk(messages: readonly OmniMessage[]): Promise<readonly object[]>;
  /** What `response.create` asks for. */
  response(options: Pick<OmniOptions, 'maxTokens'>): object;
}

export interface SessionOptions {
  readonly model: string;
  readonly speaks: boolean;
  /** Absent: the model's default. */
  readonly voice?: string | undefined;
}

export type RealtimeDialectName = 'openai' | 'beta' | 'qwen' | 'glm';

/** Hertz of what OpenAI hears, and of what all of them say. */
const sampleRate = 24_000;
/** The others hear at this, in pieces of this length. */
const buffered = { sampleRate: 16_000, pieceMs: 500 } as const;

const turnsAreOurs = { turn_detection: null };

/** OpenAI since general availability, and another Dramatis. */
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
  talk: async (messages) => itemsOf(messages, 'output_text'),
  response: ({ maxTokens }) => limited(maxTokens, 'max_output_tokens'),
};

/** OpenAI before, and servers that still copy that, such as speaches. */
const beta: RealtimeDialect = {
  headers: { 'openai-beta': 'realtime=v1' },
  session: (messages, options) => ({ ...flatSession(messages, options), ...turnsAreOurs }),
  talk: async (messages) => itemsOf(messages, 'text'),
  response: ({ maxTokens }) => limited(maxTokens, 'max_response_output_tokens'),
};

/** Qwen-Omni on Alibaba Cloud: it is told what was said before in its instructions, and hears at 16 kHz. */
const qwen: RealtimeDialect = {
  headers: {},
  session: (messages, options) => ({
    ...flatSession(messages, options),
    instructions: personaAndTalk(messages),
    ...turnsAreOurs,
  }),
  talk: (messages) => lastSaid(messages, async (samples) => pcm16FromFloats(samples)),
  response: () => ({}),
};

/** GLM-Realtime: the same, but each piece of sound is a WAV, and no turns are detected only if it is told that the client does. */
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
  talk: (messages) => lastSaid(messages, (samples) => wavBytes(samples, buffered.sampleRate)),
  response: () => ({}),
};

export const realtimeDialects: Readonly<Record<RealtimeDialectName, RealtimeDialect>> = { openai, beta, qwen, glm };

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

/** The talk so far as a text; its last message is left out. */
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

/** The last message alone: its sound by the buffer, else its text. */
async function lastSaid(
  messages: readonly OmniMessage[],
  encode: (samples: Float32Array) => Promise<Buffer>,
): Promise<readonly object[]> {
  const last = messages.at(-1);
  if (last === undefined || last.role === 'system') return [];
  const { text, sound } = last;
  return [
    ...(text === '' ? [] : [created({ role: last.role, text }, 'text')]),
    ...(sound === undefined ? [] : [...(await appended(sound, encode)), { type: 'input_audio_buffer.commit' }]),
  ];
}

async function appended(
  { samples, sampleRate: from }: OmniSound,
  encode: (samples: Float32Array) => Promise<Buffer>,
): Promise<readonly object[]> {
  const pieces = new Rechunker((buffered.sampleRate * buffered.pieceMs) / 1_000);
  const heard = resample(samples, from, buffered.sampleRate);
  const cut = [...pieces.push(heard), pieces.flush()].filter(({ length }) => length > 0);
  const encoded = await Promise.all(cut.map(encode));
  return encoded.map((bytes) => ({ type: 'input_audio_buffer.append', audio: bytes.toString('base64') }));
}

function limited(maxTokens: number | undefined, name: string): object {
  return maxTokens === undefined || maxTokens === Infinity ? {} : { [name]: maxTokens };
}
