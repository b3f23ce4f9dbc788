import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Message } from '../../../agents/chat.ts';
import type { FindPackMatches } from '../../../agents/prompting/pack-search.ts';
import { planEngines } from '../../../server/engines/engine-plan.ts';
import { openEngines } from '../../../server/engines/engines.ts';
import { omniResponder } from '../../../server/responders/omni-responder.ts';
import { cascade } from '../../../server/responders/responder.ts';
import type { ReplyOptions, Responder, SpokenPart } from '../../../server/session/contract/responder.ts';
import { TurnTimings } from '../../../server/session/contract/turn-timings.ts';
import type { AudioFrame } from '../../../voices/audio.ts';
import { openContext } from '../../../voices/calls/context.ts';
import type { OmniMessage, OmniModel } from '../../../voices/omni.ts';
import { adapter } from '../../../voices/omnis/openai-chat-audio.ts';
import { vadFrames } from '../../fakes/speech-frames.ts';
import { fakeAgent } from '../../fakes/agent.ts';
import { openChatAudioServer } from '../../fakes/servers/chat-audio-server.ts';
import { ManualClock } from '../../fakes/clock.ts';
import type { EngineServer } from '../../fakes/servers/engine-server.ts';
import { fakeRecognizer } from '../../fakes/recognizer.ts';
import { fakeSynthesizer } from '../../fakes/synthesizer.ts';
import { openTranscriptionServer } from '../../fakes/servers/transcription-server.ts';
import { tone } from '../../fakes/vad.ts';
import { characters } from '../../rigs/serve-rig.ts';
import { enginesFile } from '../../rigs/engine-rig.ts';
import { openRig } from '../../rigs/session-rig.ts';

const [character] = characters.values();
if (character === undefined) throw new Error('no pack');
const recognizer = fakeRecognizer(['hello there']);
const backup = cascade({
  recognizer,
  agent: fakeAgent(['I am only the backup.']),
  synthesizer: fakeSynthesizer(),
  voice: { kind: 'preset', id: 'fake' },
});

function respondWith(model: OmniModel): Responder {
  return omniResponder({ model, voice: 'coral', character: character!, recognizer, backup });
}

function openAt(server: EngineServer): Responder {
  const settings = adapter.settings.parse({ baseUrl: `${server.url}/v1`, model: 'gpt-audio' });
  return respondWith(adapter.open(settings, openContext('omni', { callPolicy: [{ retries: 0 }] })));
}

const spoken: readonly Message[] = [{ role: 'user', text: 'hello there' }];

async function hear(responder: Responder): Promise<void> {
  async function* frames(): AsyncGenerator<AudioFrame> {
    yield* vadFrames(tone(640, 16_000), 16_000);
  }
  await Array.fromAsync(responder.listen(frames(), { signal: new AbortController().signal }));
}

function reply(
  responder: Responder,
  history = spoken,
  {
    speaks = true,
    signal = new AbortController().signal,
    onViolation = () => undefined,
  }: Partial<Pick<ReplyOptions, 'speaks' | 'signal' | 'onViolation'>> = {},
): Promise<SpokenPart[]> {
  const options = { signal, speaks, onViolation, scene: '', speed: 1, trace: new TurnTimings(new ManualClock()) };
  return Array.fromAsync(responder.reply(history, options));
}

function lastMessageOf(server: EngineServer): { readonly content: unknown } {
  const body = server.requests.at(-1)?.json() as { readonly messages: { readonly content: unknown }[] } | undefined;
  return body?.messages.at(-1) ?? { content: undefined };
}

describe('omniResponder', () => {
  it('sends the user’s audio instead of the transcript to the omni model and plays its voice', async () => {
    await using server = await openChatAudioServer();
    const responder = openAt(server);
    await hear(responder);
    const parts = await reply(responder);
    expect(parts[0]).toEqual({ type: 'reply-source', name: 'omni' });
    const texts = parts.map((part) => (part.type === 'speech' ? part.chunk.text : ''));
    expect(texts.join('')).toBe('Good evening, my friend.');
    expect(texts.filter((text) => text !== '').length).toBeGreaterThan(1);
    expect(parts.at(-1)).toEqual({ type: 'usage', inputTokens: 60, outputTokens: 40, cutShort: false });
    const { content } = lastMessageOf(server);
    const sent = JSON.stringify(content);
    expect(sent).not.toContain('hello there');
    const wav = Buffer.from(/"data":"([^"]+)"/.exec(sent)?.[1] ?? '', 'base64');
    // 640 ms of speech and 800 ms of silence at 16 kHz.
    expect(wav.readUInt32LE(40)).toBe(1_440 * 32);
  });

  it('sends text to the omni model for a typed message', async () => {
    await using server = await openChatAudioServer();
    const responder = openAt(server);
    await hear(responder);
    await reply(responder, [{ role: 'user', text: 'typed words' }]);
    expect(lastMessageOf(server).content).toContain('typed words');
  });

  it('sends the nearest lore entries to the omni model', async () => {
    const model = talker(['Aye.']);
    const findByEmbedding: FindPackMatches = async () => ({
      lines: [],
      lore: ['A grey lady walks in the cellar.'],
      experiences: [],
    });
    await reply(omniResponder({ model, character, recognizer, backup, findByEmbedding }));
    expect(JSON.stringify(model.sent[0])).toContain('A grey lady walks in the cellar.');
  });

  it('returns text from the omni model if no audio is wanted', async () => {
    await using server = await openChatAudioServer();
    const parts = await reply(openAt(server), spoken, { speaks: false });
    const text = parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
    expect(text).toBe('Good evening, my friend.');
  });

  it('falls back to the cascade and reports why if the omni model is down', async () => {
    await using server = await openChatAudioServer();
    server.breaks({ kind: 'status', status: 500 });
    const parts = await reply(openAt(server));
    expect(parts[0]).toMatchObject({ type: 'reply-source', because: 'ENGINE_UNAVAILABLE' });
    const text = parts.map((part) => (part.type === 'speech' ? part.chunk.text : '')).join('');
    expect(text.trim()).toBe('I am only the backup.');
  });

  it('stops the omni model at once when the user interrupts', async () => {
    let stopped: AbortSignal | undefined;
    const model: OmniModel = {
      name: 'fake-omni',
      async *reply(_messages, { signal }) {
        stopped = signal;
        yield { type: 'text-delta', text: 'One two three four five six seven eight nine ten.' };
        for (let count = 0; count < 50; count += 1) {
          signal.throwIfAborted();
          yield { type: 'sound', samples: tone(200, 24_000), sampleRate: 24_000 };
        }
        yield { type: 'omni-end', reason: 'stop', inputTokens: 1, outputTokens: 1 };
      },
    };
    const rig = openRig({ responder: respondWith(model) });
    await rig.speak(500);
    await rig.silence(1_000);
    expect(rig.of('reply-audio').length).toBeGreaterThan(0);
    expect(stopped?.aborted).toBe(false);
    await rig.speak(1_000);
    expect(stopped?.aborted).toBe(true);
    expect(rig.of('reply-ended').at(-1)?.end.status).toBe('cancelled');
    expect(rig.faults).toEqual([]);
  });
});

/** Says `replies` one after the other, word by word, each word before its 200 ms of sound; keeps what it was sent. */
function talker(replies: readonly string[]): OmniModel & { readonly sent: OmniMessage[][] } {
  const sent: OmniMessage[][] = [];
  return {
    name: 'talker',
    sent,
    async *reply(messages) {
      const text = replies[sent.length] ?? 'Well.';
      sent.push([...messages]);
      const words = text.split(/(?<=\s)/u);
      for (const word of words) {
        yield { type: 'text-delta', text: word };
        yield { type: 'sound', samples: tone(200, 24_000), sampleRate: 24_000 };
      }
      yield { type: 'omni-end', reason: 'stop', inputTokens: 1, outputTokens: words.length };
    },
  };
}

const slipping = 'The hound is real enough. As an AI language model, I cannot go on the moor.';
const textOf = (parts: readonly SpokenPart[]): string =>
  parts.map((part) => (part.type === 'speech' ? part.chunk.text : part.type === 'text' ? part.text : '')).join('');

describe('guardrail of the omni model', () => {
  it('cuts an omni reply before a role violation, retries with the reason and continues from the heard words', async () => {
    const model = talker([slipping, 'The moor is no place for us.']);
    const slips: string[] = [];
    const parts = await reply(respondWith(model), spoken, { onViolation: (slip) => slips.push(slip) });
    expect(slips).toEqual(['assistant']);
    expect(textOf(parts)).not.toContain('language model');
    expect(textOf(parts)).toMatch(/^The hound.*The moor is no place for us\.$/u);
    expect(model.sent[1]?.at(-1)).toMatchObject({ role: 'system' });
    expect(model.sent[1]?.at(-2)).toMatchObject({ role: 'assistant', text: expect.stringMatching(/^The hound/u) });
    expect(parts.filter(({ type }) => type === 'reply-source')).toHaveLength(1);
  });

  it('plays no audio of an omni reply after a role violation', async () => {
    const rig = openRig({ responder: respondWith(talker([`Yes. ${slipping}`, `As an AI language model, no.`])) });
    rig.send({ type: 'reply', request: { inConversation: true } });
    await rig.clock.advance(20_000);
    const [end] = rig.of('reply-ended');
    expect(end?.end).toMatchObject({ status: 'completed', violations: ['assistant', 'assistant'] });
    const [part] = end?.item?.content ?? [];
    expect(part?.type === 'audio' ? part.transcript : '').not.toMatch(/AI|model/u);
    await rig.close();
  });

  it('falls back to the cascade if the omni model violates its role twice and nothing was heard', async () => {
    const parts = await reply(respondWith(talker(['As an AI language model, no.', 'As an AI language model, never.'])));
    expect(textOf(parts).trim()).toBe('I am only the backup.');
  });

  it('writes no text of a role violation of the omni model', async () => {
    const parts = await reply(respondWith(talker([slipping, 'Come.'])), spoken, { speaks: false });
    expect(textOf(parts)).toBe('The hound is real enough. Come.');
  });

  it('lets the omni model tell the truth to a user who asks whether it is human', async () => {
    const asked = [{ role: 'user', text: 'Are you a real human?' }] as const;
    const parts = await reply(respondWith(talker(['As an AI language model, I am none.'])), asked);
    expect(textOf(parts)).toBe('As an AI language model, I am none.');
  });
});

describe('omni model in an engines file', () => {
  it('separates the audio of two sessions on one omni model and character', async () => {
    await using ear = await openTranscriptionServer();
    await using server = await openChatAudioServer();
    const hears = { kind: 'openai-transcriptions', dialect: 'speaches', baseUrl: `${ear.url}/v1`, model: 'whisper' };
    const talker = { kind: 'openai-chat-audio', baseUrl: `${server.url}/v1`, model: 'gpt-audio' };
    const file = await enginesFile({ engines: { ear: hears, talker }, asr: 'ear', omni: 'talker' });
    const engines = await openEngines({ engines: file });
    const [one, other] = [engines.responderFor(character), engines.responderFor(character)];
    await hear(one);
    await reply(other);
    const hasSound = (): boolean => JSON.stringify(lastMessageOf(server).content).includes('input_audio');
    expect(hasSound()).toBe(false);
    await reply(one);
    expect(hasSound()).toBe(true);
    await engines.close();
  });

  it('plans the omni model with LLM and TTS engine as fallback', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'dramatis-omni-'));
    const file = path.join(folder, 'engines.json');
    const omni = {
      kind: 'openai-chat-audio',
      baseUrl: 'http://127.0.0.1:9/v1',
      model: 'gpt-audio',
      voices: { '*': 'ash' },
    };
    await writeFile(file, JSON.stringify({ engines: { talker: omni }, omni: 'talker' }));
    const plan = planEngines({ engines: file }, {});
    await rm(folder, { recursive: true });
    expect(plan.omni).toMatchObject([{ name: 'talker', kind: 'openai-chat-audio', voices: { '*': 'ash' } }]);
    expect(plan.tts).toMatchObject([{ kind: 'embedded' }]);
  });
});
