import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import OpenAI, { toFile } from 'openai';
import { describe, expect, it } from 'vitest';
import type { CharacterAgent } from '../../agents/agent.ts';
import { openMind } from '../../agents/open.ts';
import type { Character } from '../../characters/character.ts';
import type { Engines } from '../../server/engines.ts';
import { encodeSpeech, type SpeechFormat } from '../../server/http/rest/encode-speech.ts';
import { cascade } from '../../server/session/responder.ts';
import { concatSamples, floatsFromPcm16 } from '../../voices/audio.ts';
import { EngineError } from '../../voices/engine.ts';
import type { SpeechSynthesizer } from '../../voices/synthesizer.ts';
import { readWav, wavBytes } from '../../voices/wav.ts';
import { fakeAgent } from '../fakes/agent.ts';
import { openChatServer, says } from '../fakes/chat-server.ts';
import { fakeEngines } from '../fakes/engines.ts';
import { fakeRecognizer } from '../fakes/recognizer.ts';
import { fakeSynthesizer } from '../fakes/synthesizer.ts';
import { silence, tone } from '../fakes/vad.ts';
import { serve } from './serve-rig.ts';

const hello = [{ role: 'user', content: 'Hello' }] as const;

/** A stock client of the server. */
async function client(engines: Engines = fakeEngines(), flags: Record<string, string> = {}) {
  const server = await serve({ engines, flags });
  return { ...server, openai: new OpenAI({ baseURL: `${server.url}/v1`, apiKey: 'none', maxRetries: 0 }) };
}

/** The engines with another mind. */
function thinking(agentFor: (character: Character) => CharacterAgent): Engines {
  const engines = fakeEngines();
  const responderFor: Engines['responderFor'] = (character) =>
    cascade({ recognizer: engines.recognizer, agent: agentFor(character), ...engines.voiceOf(character) });
  return { ...engines, responderFor };
}

/** What a stock client is told of a failure. */
async function failureOf(call: Promise<unknown>): Promise<{ status: unknown; code: unknown; param: unknown }> {
  const fault = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(fault instanceof OpenAI.APIError)) throw new Error(`no API error: ${String(fault)}`);
  return { status: fault.status as unknown, code: fault.code, param: fault.param };
}

/** Sends a request by hand, waits for `begun`, hangs up, and waits for `ended`. */
async function hangUp(port: number, path: string, body: string, begun: Promise<unknown>, ended: Promise<unknown>) {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  const head = `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}`;
  socket.write(`${head}\r\n\r\n${body}`);
  await begun;
  socket.destroy();
  await ended;
}

describe('a chat with a character', () => {
  it('is answered whole, with usage, and says which mind answered', async () => {
    const { openai } = await client();
    const answer = await openai.chat.completions.create({ model: 'alice', messages: [...hello] });
    expect(answer).toMatchObject({
      id: expect.stringMatching(/^chatcmpl-/),
      object: 'chat.completion',
      model: 'alice',
      choices: [
        { index: 0, message: { role: 'assistant', content: 'One two three.', refusal: null }, finish_reason: 'stop' },
      ],
      usage: { prompt_tokens: 3, completion_tokens: 5, total_tokens: 8 },
      x_dramatis: { mind: { name: 'fake-mind' } },
    });
  });

  it('is streamed to a client that asks for it, with usage at the end where wanted', async () => {
    const { openai } = await client(fakeEngines({ says: ['One two three. Four five six.'] }));
    const stream = await openai.chat.completions.create({
      model: 'alice',
      messages: [...hello],
      stream: true,
      stream_options: { include_usage: true },
    });
    const chunks = await Array.fromAsync(stream);
    expect(chunks[0]?.choices[0]?.delta).toMatchObject({ role: 'assistant' });
    const text = chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('');
    expect(text).toBe('One two three. Four five six.');
    expect(chunks.length).toBeGreaterThan(4);
    expect(chunks.at(-2)?.choices[0]?.finish_reason).toBe('stop');
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { total_tokens: 8 } });
    expect(new Set(chunks.map((chunk) => chunk.id)).size).toBe(1);
  });

  it('lays system messages under the persona as the scene, and passes the bound on tokens on', async () => {
    await using llm = await openChatServer(says(['Elementary.']));
    const mind = openMind({ baseUrl: llm.baseUrl, model: 'fake' });
    const { openai } = await client(thinking(mind));
    const answer = await openai.chat.completions.create({
      model: 'gpt-5',
      messages: [
        { role: 'system', content: 'We stand in the rain.' },
        { role: 'user', content: 'What do you see?' },
        { role: 'assistant', content: 'Mud.' },
        { role: 'developer', content: [{ type: 'text', text: 'It is midnight.' }] },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What ' },
            { type: 'text', text: 'else?' },
          ],
        },
      ],
      max_completion_tokens: 77,
      temperature: 0.3,
    });
    expect(answer.choices[0]?.message.content).toBe('Elementary.');
    expect(answer.usage).toMatchObject({ prompt_tokens: 11, completion_tokens: 7 });
    const sent = llm.requests[0]?.body as { messages: { role: string; content: string }[]; max_tokens: number };
    const [system, ...talk] = sent.messages;
    expect(system?.content).toMatch(/Holmes[^]*We stand in the rain\.\nIt is midnight\./);
    expect(talk.map((message) => message.role)).toEqual(['user', 'assistant', 'user']);
    expect(talk.at(-1)?.content).toContain('What else?');
    expect(JSON.stringify(sent)).toContain('77');
  });

  it('tells by its finish reason that the reply was cut short', async () => {
    await using llm = await openChatServer(says(['Elementary, my'], { finish: 'length' }));
    const { openai } = await client(thinking(openMind({ baseUrl: llm.baseUrl, model: 'fake' })));
    const answer = await openai.chat.completions.create({ model: 'alice', messages: [...hello], max_tokens: 3 });
    expect(answer.choices[0]?.finish_reason).toBe('length');
  });

  it('begins with a greeting where nobody has spoken yet', async () => {
    const engines = fakeEngines();
    const { openai } = await client(engines);
    await openai.chat.completions.create({ model: 'alice', messages: [{ role: 'system', content: 'Noon.' }] });
    expect(engines.agent.situations).toEqual(['greeting']);
    expect(engines.agent.histories).toEqual([[]]);
  });

  it('is with the default character for stock models, and refused with unknown ones', async () => {
    const { openai } = await client(thinking((character) => fakeAgent([`I am ${character.id}.`])));
    const ask = (model: string): Promise<OpenAI.ChatCompletion> =>
      openai.chat.completions.create({ model, messages: [...hello] });
    expect((await ask('gpt-4o-mini')).choices[0]?.message.content).toBe('I am sherlock-holmes.');
    expect((await ask('alice')).choices[0]?.message.content).toBe('I am alice.');
    expect(await failureOf(ask('nobody'))).toEqual({ status: 404, code: 'unknown_character', param: 'model' });
  });

  const bad: [what: string, body: unknown, code: string, param: string][] = [
    ['no messages', { model: 'alice' }, 'invalid_event', 'messages'],
    ['an empty talk', { messages: [] }, 'invalid_value', 'messages'],
    ['an unknown role', { messages: [{ role: 'ghost', content: 'boo' }] }, 'invalid_value', 'messages.0.role'],
    [
      'a text too long',
      { messages: [{ role: 'user', content: 'x'.repeat(20_001) }] },
      'text_too_long',
      'messages.0.content',
    ],
    ['several choices', { messages: hello, n: 2 }, 'invalid_value', 'n'],
    ['a wild temperature', { messages: hello, temperature: 3 }, 'invalid_value', 'temperature'],
  ];
  for (const [what, body, code, param] of bad) {
    it(`is refused with ${what}`, async () => {
      const { ask } = await client();
      const answer = await ask('/v1/chat/completions', { body });
      expect([answer.status, answer.body.error.code, answer.body.error.param]).toEqual([400, code, param]);
      expect(answer.body.error.message.length).toBeLessThan(400);
    });
  }

  it('tells the failure of an engine with a status before the first word, and in the stream after it', async () => {
    const broken = new EngineError('llm', 'ENGINE_TIMEOUT', 'it said nothing for 10 seconds');
    const { openai, log } = await client(fakeEngines({ says: [broken] }));
    const asking = openai.chat.completions.create({ model: 'alice', messages: [...hello], stream: true });
    expect(await failureOf(asking as Promise<unknown>)).toMatchObject({ status: 504, code: 'ENGINE_TIMEOUT' });
    const late = thinking((character) => ({
      character,
      async *reply() {
        yield { type: 'mind', name: 'late' };
        yield { type: 'text-delta', text: 'Once upon a time there was a fox. And ' };
        throw broken;
      },
    }));
    const second = await client(late);
    const stream = await second.openai.chat.completions.create({ model: 'alice', messages: [...hello], stream: true });
    expect(await failureOf(Array.fromAsync(stream))).toMatchObject({ code: 'ENGINE_TIMEOUT' });
    expect([...log, ...second.log].join('')).not.toContain('fox');
  });

  for (const stream of [false, true]) {
    it(`stops being thought of when the client hangs up, ${stream ? 'streamed' : 'whole'}`, async () => {
      const [begun, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const waiting = thinking((character) => ({
        character,
        async *reply(_history, { signal }) {
          yield { type: 'mind', name: 'slow' };
          yield { type: 'text-delta', text: 'Well, now. ' };
          begun.resolve();
          await new Promise<never>((_resolve, reject) => {
            signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
          }).finally(() => ended.resolve());
        },
      }));
      const { port, log, ask } = await client(waiting, { maxRequests: '1' });
      const body = JSON.stringify({ messages: hello, stream });
      await hangUp(port, '/v1/chat/completions', body, begun.promise, ended.promise);
      const next = async (): Promise<number> => (await ask('/v1/chat/completions', { body: {} })).status;
      await expect.poll(next).toBe(400);
      expect(log.join('')).not.toContain('"level":50');
    });
  }
});

describe('speech in a character’s voice', () => {
  const wanted = { model: 'tts-1', voice: 'alice', input: 'One two three.' } as const;

  it('comes as WAV and as bare PCM, 300 ms for three words', async () => {
    const { openai } = await client();
    const wav = await openai.audio.speech.create({ ...wanted, response_format: 'wav' });
    expect(wav.headers.get('content-type')).toBe('audio/wav');
    const { samples, sampleRate } = await readWav(new Uint8Array(await wav.arrayBuffer()));
    expect([samples.length, sampleRate]).toEqual([7_200, 24_000]);
    const pcm = await openai.audio.speech.create({ ...wanted, response_format: 'pcm' });
    expect(floatsFromPcm16(new Uint8Array(await pcm.arrayBuffer()))).toEqual(samples);
  });

  const formats: [SpeechFormat, type: string, magic: RegExp][] = [
    ['mp3', 'audio/mpeg', /^(ID3|\xff[\xe2-\xff])/],
    ['opus', 'audio/ogg; codecs=opus', /^OggS/],
    ['flac', 'audio/flac', /^fLaC/],
    ['aac', 'audio/aac', /^\xff[\xf0-\xff]/],
  ];
  for (const [format, type, magic] of formats) {
    it(`comes as ${format}, and says what it said`, async () => {
      const { openai, ask } = await client();
      const answer = await openai.audio.speech.create({ ...wanted, response_format: format });
      expect(answer.headers.get('content-type')).toBe(type);
      const bytes = Buffer.from(await answer.arrayBuffer());
      expect(bytes.toString('latin1')).toMatch(magic);
      const again = await openai.audio.transcriptions.create({
        model: 'any',
        file: await toFile(bytes, `a.${format}`),
      });
      expect(again.text).toBe('hello there');
      expect((await ask('/healthz')).status).toBe(200);
    });
  }

  it('comes as MP3 where no format is named, as OpenAI has it', async () => {
    const { openai } = await client();
    expect((await openai.audio.speech.create(wanted)).headers.get('content-type')).toBe('audio/mpeg');
  });

  it('begins before the text has been spoken to its end', async () => {
    const rest = Promise.withResolvers<void>();
    const { url } = await client(speakingWith(gatedSynthesizer(rest.promise)));
    const response = await fetch(`${url}/v1/audio/speech`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...wanted, input: 'First one. Then the other.', response_format: 'wav' }),
    });
    const reader = response.body!.getReader();
    let length = 0;
    while (length < 44 + 2_400) length += (await reader.read()).value?.length ?? 0;
    rest.resolve();
    for (let next = await reader.read(); !next.done; next = await reader.read()) length += next.value.length;
    expect(length).toBe(44 + 2 * 4_800);
  });

  it('is at the pace that is asked for', async () => {
    const speeds: (number | undefined)[] = [];
    const plain = fakeSynthesizer();
    const synthesizer: SpeechSynthesizer = {
      ...plain,
      speak: (phrases, options) => {
        speeds.push(options.speed);
        return plain.speak(phrases, options);
      },
    };
    const { openai } = await client(speakingWith(synthesizer));
    await openai.audio.speech.create({ ...wanted, speed: 0.25, response_format: 'pcm' });
    await openai.audio.speech.create({ ...wanted, speed: 4, response_format: 'pcm' });
    expect(speeds).toEqual([0.25, 4]);
  });

  it('has the default character’s voice for the names of OpenAI’s voices', async () => {
    const asked: string[] = [];
    const engines = fakeEngines();
    const voiceOf: Engines['voiceOf'] = (character) => {
      asked.push(character.id);
      return engines.voiceOf(character);
    };
    const { openai } = await client({ ...engines, voiceOf }, { defaultCharacter: 'alice' });
    await openai.audio.speech.create({ ...wanted, voice: 'marin', response_format: 'pcm' });
    await openai.audio.speech.create({ ...wanted, voice: { id: 'sun-wukong' }, response_format: 'pcm' });
    expect(asked).toEqual(['alice', 'sun-wukong']);
  });

  const bad: [what: string, change: Record<string, unknown>, status: number, code: string, param: string][] = [
    ['an unknown voice', { voice: 'nobody' }, 404, 'unknown_character', 'voice'],
    ['no text', { input: '' }, 400, 'invalid_value', 'input'],
    ['nothing to say', { input: '…' }, 400, 'invalid_value', 'input'],
    ['more than 20,000 characters', { input: 'x'.repeat(20_001) }, 400, 'text_too_long', 'input'],
    ['a pace out of range', { speed: 4.1 }, 400, 'invalid_value', 'speed'],
    ['an unknown format', { response_format: 'ogg' }, 400, 'invalid_value', 'response_format'],
  ];
  for (const [what, change, status, code, param] of bad) {
    it(`is refused with ${what}`, async () => {
      const { ask } = await client(speakingWith(mute));
      const answer = await ask('/v1/audio/speech', { body: { ...wanted, ...change } });
      expect([answer.status, answer.body.error.code, answer.body.error.param]).toEqual([status, code, param]);
    });
  }

  it('tells the failure of the engine, whatever the format', async () => {
    const error = new EngineError('espeak', 'ENGINE_MISSING', 'it is not installed');
    const { openai } = await client(speakingWith(fakeSynthesizer({ failOn: 'One', error })));
    for (const response_format of ['wav', 'mp3'] as const) {
      const asking = openai.audio.speech.create({ ...wanted, response_format });
      expect(await failureOf(asking)).toMatchObject({ status: 501 });
    }
  });

  it('stops being made when the client hangs up', async () => {
    for (const response_format of ['wav', 'opus']) {
      const [begun, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const synthesizer: SpeechSynthesizer = {
        ...fakeSynthesizer(),
        async *speak(_phrases, { signal }) {
          yield { frame: { samples: tone(100), sampleRate: 24_000, atMs: 0 }, text: 'Hm.' };
          begun.resolve();
          await new Promise<never>((_resolve, reject) => {
            signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
          }).finally(() => ended.resolve());
        },
      };
      const { port, log } = await client(speakingWith(synthesizer));
      const body = JSON.stringify({ ...wanted, response_format });
      await hangUp(port, '/v1/audio/speech', body, begun.promise, ended.promise);
      expect(log.join('')).not.toContain('"level":50');
    }
  });

  it('fails as its source fails, in the middle of being encoded', async () => {
    async function* breaking(): AsyncGenerator<Float32Array> {
      yield tone(200);
      throw new EngineError('voice', 'ENGINE_UNAVAILABLE', 'its worker ended');
    }
    const { signal } = new AbortController();
    for (const format of ['pcm', 'flac'] as const) {
      await expect(Array.fromAsync(encodeSpeech(breaking(), format, signal))).rejects.toThrow('its worker ended');
    }
  });
});

describe('the transcript of a recording', () => {
  const recorded = async (...parts: Float32Array[]): Promise<File> =>
    toFile(await wavBytes(concatSamples(parts), 24_000), 'speech.wav');
  const spoken = (): Promise<File> => recorded(silence(200), tone(600), silence(200));

  it('is its text, with how long the recording is', async () => {
    const { openai } = await client();
    const answer = await openai.audio.transcriptions.create({ model: 'whisper-1', file: await spoken() });
    expect(answer).toMatchObject({
      text: 'hello there',
      usage: { type: 'duration', seconds: 1 },
      x_dramatis: { unclear: null },
    });
  });

  it('may be bare text, or say where the speech lies', async () => {
    const { openai } = await client();
    const file = await spoken();
    const text = await openai.audio.transcriptions.create({ model: 'any', file, response_format: 'text' });
    expect(text as unknown).toBe('hello there\n');
    const verbose = await openai.audio.transcriptions.create({ model: 'any', file, response_format: 'verbose_json' });
    expect(verbose).toMatchObject({ task: 'transcribe', language: 'en', duration: 1, text: 'hello there' });
    const [segment] = verbose.segments ?? [];
    expect(segment).toMatchObject({ text: 'hello there' });
    expect(segment?.start).toBeGreaterThan(0.1);
    expect(segment?.end).toBeLessThan(0.9);
  });

  it('is heard to the last window, at the rate of the ear, with the language that is named', async () => {
    const languages: (string | undefined)[] = [];
    const engines = fakeEngines();
    const plain = fakeRecognizer(['hello there']);
    const recognizer: Engines['recognizer'] = {
      ...plain,
      transcribe: (audio, options) => {
        languages.push(options.language);
        return plain.transcribe(audio, options);
      },
    };
    const { openai } = await client({ ...engines, recognizer });
    await openai.audio.transcriptions.create({ model: 'any', file: await recorded(tone(510)), language: 'en' });
    expect(plain.heardMs).toEqual([512]);
    expect(languages).toEqual(['en']);
    expect(engines.fakeVad.openStreams).toBe(0);
  });

  it('is empty for silence, and for speech that is not clear, which says why', async () => {
    const unclear = { code: 'language_not_supported', message: 'This does not sound like English.' } as const;
    const { openai, url } = await client(fakeEngines({ hears: [{ text: '', unclear }] }));
    const quiet = await openai.audio.transcriptions.create({ model: 'any', file: await recorded(silence(600)) });
    expect(quiet).toMatchObject({ text: '', x_dramatis: { unclear: null } });
    const answer = await openai.audio.transcriptions.create({ model: 'any', file: await spoken() });
    expect(answer).toMatchObject({ text: '', x_dramatis: { unclear } });
    const form = new FormData();
    form.set('file', await spoken());
    form.set('response_format', 'text');
    const bare = await fetch(`${url}/v1/audio/transcriptions`, { method: 'POST', body: form });
    expect([await bare.text(), bare.headers.get('x-dramatis-unclear')]).toEqual(['\n', 'language_not_supported']);
  });

  it('is refused, with a code, where there is nothing to read', async () => {
    const { openai, ask, url } = await client();
    const create = async (bytes: Uint8Array): Promise<unknown> =>
      openai.audio.transcriptions.create({ model: 'any', file: await toFile(bytes, 'a.wav') });
    const unreadable = { status: 400, code: 'audio_file_unreadable', param: 'file' };
    expect(await failureOf(create(Buffer.from('this is no recording')))).toEqual(unreadable);
    expect(await failureOf(create(Buffer.alloc(0)))).toMatchObject({ status: 400, code: 'audio_file_empty' });
    const huge = await failureOf(create(Buffer.alloc(26 * 2 ** 20)));
    expect(huge).toMatchObject({ status: 413, code: 'audio_file_too_large' });
    const long = await wavBytes(new Float32Array(8_000 * 601), 8_000);
    expect(await failureOf(create(long))).toMatchObject({ status: 413, code: 'audio_file_too_long' });
    const file = await spoken();
    const srt = openai.audio.transcriptions.create({ model: 'any', file, response_format: 'srt' });
    expect(await failureOf(srt)).toMatchObject({ status: 400, code: 'invalid_value', param: 'response_format' });
    expect((await ask('/v1/audio/transcriptions', { body: {} })).body.error).toMatchObject({ code: 'invalid_event' });
    const empty = await fetch(`${url}/v1/audio/transcriptions`, { method: 'POST', body: new FormData() });
    expect(empty.status).toBe(400);
  });

  it('names no file of ours in its errors, and leaves none behind', async () => {
    const { openai } = await client();
    const file = await toFile(Buffer.from('this is no recording'), 'a.wav');
    const fault = await openai.audio.transcriptions.create({ model: 'any', file }).catch((reason: unknown) => reason);
    expect((fault as Error).message).not.toMatch(/tmp|dramatis-upload/);
    await openai.audio.transcriptions.create({ model: 'any', file: await spoken() });
    expect((await readdir(tmpdir())).filter((name) => name.startsWith('dramatis-upload-'))).toEqual([]);
  });

  it('tells the failure of the recognizer', async () => {
    const broken = new EngineError('moonshine', 'ENGINE_UNAVAILABLE', 'its worker thread ended');
    const { openai } = await client(fakeEngines({ hears: [broken] }));
    const asking = openai.audio.transcriptions.create({ model: 'any', file: await spoken() });
    expect(await failureOf(asking)).toMatchObject({ status: 503, code: 'ENGINE_UNAVAILABLE' });
  });
});

/** The engines with another voice. */
function speakingWith(synthesizer: SpeechSynthesizer): Engines {
  return { ...fakeEngines(), voiceOf: () => ({ synthesizer, voice: { kind: 'preset', id: 'fake' } }) };
}

/** Has nothing to say. */
const mute: SpeechSynthesizer = { ...fakeSynthesizer(), async *speak() {} };

/** Says 100 ms at once, and 100 ms more when told to. */
function gatedSynthesizer(gate: Promise<void>): SpeechSynthesizer {
  return {
    ...fakeSynthesizer(),
    async *speak() {
      yield { frame: { samples: tone(100), sampleRate: 24_000, atMs: 0 }, text: 'First one. ' };
      await gate;
      yield { frame: { samples: tone(100), sampleRate: 24_000, atMs: 100 }, text: 'Then the other.' };
    },
  };
}
