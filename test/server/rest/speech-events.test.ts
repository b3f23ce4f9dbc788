import { expect, it } from 'vitest';
import type { Engines } from '../../../server/engines/engines.ts';
import { EngineError } from '../../../voices/engine.ts';
import type { MouthMovement, SpeechSynthesizer } from '../../../voices/synthesizer.ts';
import { fakeEngines } from '../../fakes/engines.ts';
import { fakeSynthesizer } from '../../fakes/synthesizer.ts';
import { tone } from '../../fakes/vad.ts';
import { client } from '../../rigs/serve-rig.ts';

const wanted = { model: 'tts-1', voice: 'alice', input: 'One two.', stream_format: 'sse', response_format: 'pcm' };

const mouth: MouthMovement = {
  basis: 'engine',
  visemes: [
    { viseme: 'sil', startMs: 0 },
    { viseme: 'ou', startMs: 25 },
  ],
  phones: [{ sound: 'u', startMs: 0, endMs: 100 }],
};

/** Two chunks of 100 ms; of the second one the voice tells no shapes. */
function voice(fault?: Error): SpeechSynthesizer {
  const chunk = (text: string) => ({
    frame: { samples: tone(100), sampleRate: 24_000, atMs: 0 },
    text,
    words: [{ text: text.trim(), startMs: 5, endMs: 95 }],
  });
  return {
    ...fakeSynthesizer(),
    async *speak() {
      yield { ...chunk('One '), mouth };
      if (fault !== undefined) throw fault;
      yield chunk('two.');
    },
  };
}

async function eventsOf(body: object, synthesizer = voice()): Promise<{ type: string; [field: string]: unknown }[]> {
  const engines: Engines = {
    ...fakeEngines(),
    voiceOf: () => ({ synthesizer, voice: { kind: 'preset', id: 'fake' } }),
  };
  const { url } = await client(engines);
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(`${url}/v1/audio/speech`, { method: 'POST', headers, body: JSON.stringify(body) });
  expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
  const lines = (await response.text()).split('\n\n').filter((line) => line !== '');
  return lines.map((line) => JSON.parse(line.replace(/^data: /, '')));
}

it('streams speech as the events of OpenAI, and nothing else unless it is asked for', async () => {
  const events = await eventsOf(wanted);
  expect(new Set(events.map(({ type }) => type))).toEqual(new Set(['speech.audio.delta', 'speech.audio.done']));
  const sound = events.flatMap(({ audio }) => (typeof audio === 'string' ? [Buffer.from(audio, 'base64')] : []));
  expect(Buffer.concat(sound)).toHaveLength(2 * 4_800);
  expect(events.at(-1)).toMatchObject({ type: 'speech.audio.done', usage: { input_tokens: 8, output_tokens: 0 } });
});

it('sends words and shapes ahead of their audio, in samples of the text', async () => {
  const events = await eventsOf({ ...wanted, x_dramatis: { timings: ['words', 'visemes', 'phones'] } });
  const told = events.map(({ audio, ...event }) => (audio === undefined ? event : { type: event.type }));
  const delta = { type: 'speech.audio.delta' };
  expect(told.slice(0, 6)).toEqual([
    { type: 'x_dramatis.words', words: [[120, 2_280, 'One']] },
    {
      type: 'x_dramatis.visemes',
      basis: 'engine',
      from: 0,
      until: 2_400,
      visemes: [
        [0, 'sil'],
        [600, 'ou'],
      ],
      phones: [[0, 'u']],
    },
    delta,
    { type: 'x_dramatis.words', words: [[2_520, 4_680, 'two.']] },
    {
      type: 'x_dramatis.visemes',
      basis: 'sound',
      from: 2_400,
      until: 4_800,
      visemes: expect.any(Array),
      phones: [],
    },
    delta,
  ]);
});

it('ends with an error if the voice fails, in the shape of all errors', async () => {
  const events = await eventsOf(wanted, voice(new EngineError('voice', 'ENGINE_UNAVAILABLE', 'its worker ended')));
  expect(events.at(-1)).toMatchObject({ type: 'error', error: { code: 'ENGINE_UNAVAILABLE' } });
});

it('refuses timings without events', async () => {
  const { ask } = await client();
  const body = { ...wanted, stream_format: 'audio', x_dramatis: { timings: ['visemes'] } };
  const { status, body: answer } = await ask('/v1/audio/speech', { body });
  expect([status, answer.error.code, answer.error.param]).toEqual([400, 'invalid_value', 'x_dramatis']);
});
