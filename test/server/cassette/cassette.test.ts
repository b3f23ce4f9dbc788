import { readFileSync, rmSync, writeFileSync, appendFileSync } from 'node:fs';
import path from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { openAgents } from '../../../agents/actor/open.ts';
import type { ChatModel, Message } from '../../../agents/chat.ts';
import { onTape } from '../../../server/cassette/taped-stages.ts';
import type { Engines } from '../../../server/engines/engines.ts';
import { cascade } from '../../../server/responders/responder.ts';
import { concatSamples, type AudioFrame } from '../../../voices/audio.ts';
import { EngineError } from '../../../voices/engine.ts';
import type { TranscriptPart } from '../../../voices/recognizer.ts';
import type { Phrase } from '../../../voices/synthesizer.ts';
import { fakeEngines } from '../../fakes/engines.ts';
import { chanceModel, countingRecognizer, noise, noiseSynthesizer } from './chance-engines.ts';
import * as fc from '../../fakes/property.ts';
import { begin, say } from '../../rigs/memory-rig.ts';
import { serve } from '../../rigs/serve-rig.ts';
import { testFolder } from '../../fakes/test-folder.ts';

let folder: string;
let file: string;
beforeEach(() => {
  folder = testFolder();
  file = path.join(folder, 'talk.jsonl');
});

const { signal } = new AbortController();

function stages() {
  const model = chanceModel();
  const synthesizer = noiseSynthesizer();
  const recognizer = countingRecognizer();
  const voice = { kind: 'preset', id: 'noise' } as const;
  const given = {
    asr: { recognizer },
    llm: { models: [{ model }] },
    omnis: { name: '' },
    tts: { voiceOf: (_character: { speech: unknown }) => ({ synthesizer, voice }) },
  };
  const open = () => onTape(given, file);
  return { model, synthesizer, recognizer, given, open };
}

const ask = async (model: ChatModel, text: string, settings = {}): Promise<string> => {
  const messages: Message[] = [{ role: 'user', text }];
  const parts = await Array.fromAsync(model.chat(messages, { signal, ...settings }));
  return parts.map((part) => (part.type === 'text-delta' ? part.text : '')).join('');
};

const modelOf = ({ llm }: { llm: { models: readonly { model: ChatModel }[] } }): ChatModel => llm.models[0]!.model;

async function* framesOf(samples: Float32Array, size: number): AsyncGenerator<AudioFrame> {
  for (let at = 0; at < samples.length; at += size)
    yield { samples: samples.subarray(at, at + size), sampleRate: 16_000, atMs: at / 16 };
}

async function* phrasesOf(...texts: string[]): AsyncGenerator<Phrase> {
  for (const text of texts) yield { text };
}

describe('answers of an LLM on a cassette', () => {
  it('are played back word for word, and the model is not asked', async () => {
    const first = stages();
    const told = await ask(modelOf(first.open()), 'Hello');
    const second = stages();
    expect(await ask(modelOf(second.open()), 'Hello')).toBe(told);
    expect([first.model.asked, second.model.asked]).toEqual([1, 0]);
  });

  it('to the same request come in the order in which they were given, and the last one again', async () => {
    const recording = modelOf(stages().open());
    const told = [await ask(recording, 'Hello'), await ask(recording, 'Hello')];
    expect(told[0]).not.toBe(told[1]);
    const playing = modelOf(stages().open());
    const played = [await ask(playing, 'Hello'), await ask(playing, 'Hello'), await ask(playing, 'Hello')];
    expect(played).toEqual([told[0], told[1], told[1]]);
  });

  it('are missing with an error that says what to do, for another text and for another temperature', async () => {
    await ask(modelOf(stages().open()), 'Hello');
    const playing = modelOf(stages().open());
    for (const asking of [ask(playing, 'Hallo'), ask(playing, 'Hello', { temperature: 0.1 })]) {
      const fault = await asking.catch((cause: unknown) => cause);
      expect(fault).toBeInstanceOf(EngineError);
      expect(fault).toMatchObject({ code: 'ENGINE_NOT_RECORDED', message: expect.stringContaining('Delete the file') });
    }
  });

  it('that failed fail in the same way', async () => {
    const { given } = stages();
    const failing: ChatModel = {
      name: 'failing',
      async *chat() {
        yield { type: 'text-delta', text: 'I ' };
        throw new EngineError('failing', 'ENGINE_TIMEOUT', 'too slow');
      },
    };
    const withFailing = { ...given, llm: { models: [{ model: failing }] } };
    const one = await ask(modelOf(onTape(withFailing, file)), 'Hello').catch((cause: unknown) => cause);
    const other = await ask(modelOf(onTape(withFailing, file)), 'Hello').catch((cause: unknown) => cause);
    expect(other).toMatchObject({ code: 'ENGINE_TIMEOUT', message: (one as Error).message });
  });

  it('are recorded to the end if the user interrupts them', async () => {
    const talk = new AbortController();
    const recording = modelOf(stages().open());
    await expect(async () => {
      for await (const _ of recording.chat([{ role: 'user', text: 'Hello' }], { signal: talk.signal })) talk.abort();
    }).rejects.toThrow();
    await expect.poll(() => readFileSync(file, 'utf8')).toContain('chat-end');
    expect(await ask(modelOf(stages().open()), 'Hello')).toMatch(/^I say .* today\.$/);
  });
});

describe('speech on a cassette', () => {
  const speak = async (open: ReturnType<typeof stages>['open'], texts: string[], speed = 1) => {
    const { synthesizer, voice } = open().tts.voiceOf({ speech: { pace: 1 } });
    return Array.fromAsync(synthesizer.speak(phrasesOf(...texts), { signal, voice, speed }));
  };

  it('has the same samples, words and times, phrase by phrase', async () => {
    const first = await speak(stages().open, ['One two.', 'Three.']);
    const second = stages();
    expect(await speak(second.open, ['One two.', 'Three.'])).toEqual(first);
    expect(await speak(second.open, ['Three.'])).toEqual(
      first.slice(2).map((chunk, index) => ({ ...chunk, frame: { ...chunk.frame, atMs: index * 100 } })),
    );
    expect(second.synthesizer.spoken).toBe(0);
  });

  it('at another tempo is not on it', async () => {
    await speak(stages().open, ['One two.']);
    await expect(speak(stages().open, ['One two.'], 1.2)).rejects.toMatchObject({ code: 'ENGINE_NOT_RECORDED' });
  });
});

describe('transcripts on a cassette', () => {
  const transcribe = (open: ReturnType<typeof stages>['open'], samples: Float32Array, size: number) =>
    Array.fromAsync(open().asr.recognizer.transcribe(framesOf(samples, size), { signal }));

  it('come at the same samples, however the sound is cut, among utterances that begin alike', async () => {
    const beginning = noise(4_000);
    const one = concatSamples([beginning, noise(3_000)]);
    const other = concatSamples([beginning, noise(5_000)]);
    const recording = stages();
    const tape = recording.open();
    const told = [];
    for (const sound of [one, other])
      told.push(await Array.fromAsync(tape.asr.recognizer.transcribe(framesOf(sound, 160), { signal })));
    for (const size of [160, 100, 4_999]) {
      const playing = stages();
      expect(await transcribe(playing.open, other, size)).toEqual(told[1]);
      expect(await transcribe(playing.open, one, size)).toEqual(told[0]);
      expect(playing.recognizer.heard).toBe(0);
    }
  });

  it('of a sound that was not recorded are missing, also if it goes on longer or ends sooner', async () => {
    const sound = noise(5_000);
    await transcribe(stages().open, sound, 160);
    for (const wrong of [noise(5_000), sound.subarray(0, 4_000), concatSamples([sound, noise(100)])])
      await expect(transcribe(stages().open, wrong, 160)).rejects.toMatchObject({ code: 'ENGINE_NOT_RECORDED' });
  });

  it('equal those that were recorded, for any utterances', async () => {
    const utterance = fc.array(fc.constantFrom(-0.5, 0.25, 0.5), { minLength: 1, maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(fc.array(utterance, { minLength: 1, maxLength: 4 }), fc.nat(3), async (utterances, which) => {
        rmSync(file, { force: true });
        const sounds = utterances.map((levels) =>
          concatSamples(levels.map((level) => new Float32Array(400).fill(level))),
        );
        const recorded = new Map<Float32Array, TranscriptPart[]>();
        const { recognizer } = stages().open().asr;
        for (const sound of sounds)
          recorded.set(sound, await Array.fromAsync(recognizer.transcribe(framesOf(sound, 160), { signal })));
        const sound = sounds[which % sounds.length]!;
        expect(await transcribe(stages().open, sound, 320)).toEqual(recorded.get(sound));
      }),
      { numRuns: 40 },
    );
  });
});

describe('the file of a cassette', () => {
  it('is not taken if it is something else, or of a newer version', () => {
    writeFileSync(file, '{"a":1}\n');
    expect(() => stages().open()).toThrow(/is not a cassette/);
    writeFileSync(file, '{"cassette":"dramatis","version":99}\n');
    expect(() => stages().open()).toThrow(/newer version of Dramatis/);
  });

  it('may end in half a line, as a kill leaves it', async () => {
    const told = await ask(modelOf(stages().open()), 'Hello');
    appendFileSync(file, '{"stage":"llm","key":"x","par');
    expect(await ask(modelOf(stages().open()), 'Hello')).toBe(told);
  });

  it('is refused with an omni model, which cannot be recorded', () => {
    const { given } = stages();
    expect(() => onTape({ ...given, omnis: { name: 'omni' } }, file)).toThrow(/omni model/);
  });
});

describe('a talk with a server on a cassette', () => {
  const talk = async () => {
    const made = stages();
    const { asr, llm, tts } = made.open();
    const agentFor = openAgents(llm.models);
    const engines: Engines = {
      ...fakeEngines(),
      recognizer: asr.recognizer,
      responderFor: (character) =>
        cascade({ ...tts.voiceOf(character), recognizer: asr.recognizer, agent: agentFor(character) }),
    };
    const server = await serve({ engines });
    const call = await begin(server, '?model=alice');
    const sounds: string[] = [];
    call.socket.on('message', (data: Buffer) => {
      const event = JSON.parse(data.toString()) as { type: string; delta?: string };
      if (/audio.*delta$|text\.delta$/.test(event.type)) sounds.push(`${event.type} ${event.delta}`);
    });
    await say(call, 'Who are you?');
    const content = [{ type: 'input_text', text: 'And your cat?' }];
    call.send({ type: 'conversation.item.create', item: { type: 'message', role: 'user', content } });
    call.send({ type: 'response.create' });
    const { response } = await call.until('response.done');
    return { sounds, response, call, ...made };
  };

  it('is the same to the last sample when it is played back, without a call to an engine', async () => {
    const recorded = await talk();
    const played = await talk();
    expect(recorded.sounds.length).toBeGreaterThan(4);
    expect(played.sounds).toEqual(recorded.sounds);
    expect([played.model.asked, played.synthesizer.spoken]).toEqual([0, 0]);
  });

  it('fails for a request that was not recorded; the character’s own lines are not used instead', async () => {
    await talk();
    const { call } = await talk();
    const content = [{ type: 'input_text', text: 'Something new?' }];
    call.send({ type: 'conversation.item.create', item: { type: 'message', role: 'user', content } });
    call.send({ type: 'response.create' });
    const { response } = await call.until('response.done');
    expect(response).toMatchObject({ status: 'failed', status_details: { error: { code: 'ENGINE_NOT_RECORDED' } } });
  });
});
