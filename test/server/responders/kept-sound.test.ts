import { setImmediate as others } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { openOpusEncoder } from '../../../voices/dsp/opus.ts';
import type { Character } from '../../../characters/character.ts';
import { Journal, type SessionLog } from '../../../server/journal/journal.ts';
import type { JournalLine } from '../../../server/journal/lines.ts';
import { keepingSound, soundKept } from '../../../server/responders/kept-sound.ts';
import type {
  FeltPhrase,
  KeptSound,
  ReplyOptions,
  Responder,
  RestOfPhrase,
} from '../../../server/session/contract/responder.ts';
import type { SpeechChunk } from '../../../voices/synthesizer.ts';

const hertz = { first: 300, step: 50 };

/** An engine whose every phrase has another tone, in chunks of 100 ms: a chunk for each word. */
function tones(sampleRate = 24_000) {
  const asked: string[] = [];
  let made = 0;
  const speak = async function* (said: AsyncIterable<FeltPhrase>): AsyncIterable<SpeechChunk> {
    let atMs = 0;
    for await (const { text } of said) {
      const pitch = hertz.first + hertz.step * asked.length;
      asked.push(text);
      for (const word of text.split(/(?<=\s)/u)) {
        const samples = Float32Array.from({ length: sampleRate / 10 }, (_, index) => {
          return 0.3 * Math.sin(2 * Math.PI * pitch * (atMs / 1000 + index / sampleRate));
        });
        made += 1;
        yield {
          text: word,
          frame: { samples, sampleRate, atMs },
          words: [{ text: word.trim(), startMs: 0, endMs: 100 }],
        };
        atMs += 100;
      }
    }
  };
  return { asked, speak, made: () => made };
}

async function* saying(...texts: readonly string[]): AsyncIterable<FeltPhrase> {
  for (const text of texts) yield { text };
}

/** The tone of a piece of sound, by its zero crossings, after what the codec needs to begin. */
function pitchOf(chunks: readonly SpeechChunk[]): number {
  const { sampleRate = 1 } = chunks[0]?.frame ?? {};
  const samples = chunks.flatMap(({ frame }) => [...frame.samples]).slice(sampleRate / 20);
  const rises = samples.filter((sample, index) => index > 0 && sample >= 0 && (samples[index - 1] ?? 0) < 0).length;
  return Math.round((rises / samples.length) * sampleRate);
}

const unrepeatable = { isRepeatable: () => false };

async function record(...texts: readonly string[]): Promise<KeptSound[]> {
  const sounds: KeptSound[] = [];
  const speak = keepingSound(tones().speak, { ...unrepeatable, heard: 'Well. ', keepSound: (one) => sounds.push(one) });
  expect(await Array.fromAsync(speak(saying(...texts)))).toHaveLength(texts.join('').trim().split(' ').length);
  return sounds;
}

describe('the sound of phrases that is kept', () => {
  it('is that of each phrase, once, with what the reply says before it', async () => {
    const sounds = await record('One two three. ', 'Four five.');
    expect(sounds.map(({ before, text }) => [before, text])).toEqual([
      ['Well. ', 'One two three. '],
      ['Well. One two three. ', 'Four five.'],
    ]);
    expect(sounds.map(({ pieces }) => pieces.reduce((sum, { samples }) => sum + samples, 0))).toEqual([7_200, 4_800]);
  });

  it('is there before the phrase is heard to its end, and no more than the beginning of the next is made', async () => {
    const sounds: KeptSound[] = [];
    const engine = tones();
    const speak = keepingSound(engine.speak, { ...unrepeatable, keepSound: (one) => sounds.push(one) });
    const listener = speak(saying('One two three four. ', 'Five six. ', 'Seven.'))[Symbol.asyncIterator]();
    await listener.next();
    for (let turns = 0; turns < 200; turns += 1) await others();
    expect(sounds.map(({ text }) => text)).toEqual(['One two three four. ']);
    expect(engine.made()).toBe(5);
    await listener.return?.();
  });

  it('holds no encoder after its listener has left, whichever chunk it left at', async () => {
    let open = 0;
    const openEncoder: typeof openOpusEncoder = async (...given) => {
      const encoder = await openOpusEncoder(...given);
      open += 1;
      const close = (): void => {
        open -= 1;
        encoder.close();
      };
      return { ...encoder, close };
    };
    for (let chunks = 1; chunks <= 7; chunks += 1) {
      const options = { ...unrepeatable, keepSound: () => undefined, openEncoder };
      const speech = keepingSound(tones().speak, options)(saying('One two. ', 'Three four. ', 'Five six. ', 'Seven.'));
      const listener = speech[Symbol.asyncIterator]();
      for (let count = 0; count < chunks; count += 1) await listener.next();
      for (let turns = 0; turns < 100; turns += 1) await others();
      await listener.return?.();
      for (let turns = 0; turns < 100; turns += 1) await others();
      expect([chunks, open]).toEqual([chunks, 0]);
    }
  });

  it('is said in place of the phrase, at the length it had, and made for the next ones', async () => {
    const [sound] = await record('One two three. ');
    const engine = tones();
    engine.asked.push('another voice');
    const kept: KeptSound[] = [];
    const rest = { text: 'One two three. ', before: 'Well. ', saidMs: 150, sound } as RestOfPhrase;
    const heard = 'Well. One two three. ';
    const speak = keepingSound(engine.speak, { ...unrepeatable, heard, rest, keepSound: (one) => kept.push(one) });
    const chunks = await Array.fromAsync(speak(saying('One two three. ', 'Four five.')));
    expect(engine.asked.slice(1)).toEqual(['Four five.']);
    expect(chunks.map(({ text, frame }) => [text, frame.samples.length, frame.atMs])).toEqual([
      ['One ', 2_400, 0],
      ['two ', 2_400, 100],
      ['three. ', 2_400, 200],
      ['Four ', 2_400, 300],
      ['five.', 2_400, 400],
    ]);
    expect(pitchOf(chunks.slice(0, 3))).toBeCloseTo(hertz.first, -1);
    expect(pitchOf(chunks.slice(3))).toBeCloseTo(hertz.first + hertz.step, -1);
    // A second kill finds it again.
    expect(kept[0]).toBe(sound);
    expect(kept.map(({ before }) => before)).toEqual(['Well. ', 'Well. One two three. ']);
  });

  it('of a reply that ends with the phrase asks the engine for nothing', async () => {
    const [sound] = await record('One two.');
    const engine = tones();
    const rest = { text: 'One two.', before: '', saidMs: 0, isLast: true, sound } as RestOfPhrase;
    const speak = keepingSound(engine.speak, { ...unrepeatable, rest });
    expect(await Array.fromAsync(speak(saying('One two.')))).toHaveLength(2);
    expect(engine.asked).toEqual([]);
  });

  it('has the length of the original at other rates, too', async () => {
    const sounds: KeptSound[] = [];
    const speak = keepingSound(tones(44_100).speak, { ...unrepeatable, keepSound: (one) => sounds.push(one) });
    await Array.fromAsync(speak(saying('One two three.')));
    expect(sounds[0]?.pieces.reduce((sum, { samples }) => sum + samples, 0)).toBe(7_200);
  });

  it('bug: lost samples if a fallback engine went on at another rate in the middle of a phrase', async () => {
    const sounds: KeptSound[] = [];
    const atRates = async function* (said: AsyncIterable<FeltPhrase>): AsyncIterable<SpeechChunk> {
      await Array.fromAsync(said);
      for (const [place, rate] of [44_100, 16_000, 44_100].entries()) {
        const samples = new Float32Array(rate / 10);
        yield { text: ['One ', 'two ', 'three.'][place]!, frame: { samples, sampleRate: rate, atMs: place * 100 } };
      }
    };
    await Array.fromAsync(
      keepingSound(atRates, { ...unrepeatable, keepSound: (one) => sounds.push(one) })(saying('One two three.')),
    );
    expect(sounds[0]?.pieces.reduce((sum, { samples }) => sum + samples, 0)).toBe(7_200);
  });

  it('of phrases that are repeatable is not kept, and a failing engine fails as before', async () => {
    const kept: KeptSound[] = [];
    const options = { isRepeatable: () => true, keepSound: (one: KeptSound) => kept.push(one) };
    await Array.fromAsync(keepingSound(tones().speak, options)(saying('One.')));
    expect(kept).toEqual([]);
    const broken = keepingSound(
      // oxlint-disable-next-line require-yield
      async function* () {
        throw new Error('no voice');
      },
      { ...options, ...unrepeatable },
    );
    await expect(Array.fromAsync(broken(saying('One.')))).rejects.toThrow('no voice');
  });

  it('bug: the sound of a speculative reply was written though nobody confirmed it', async () => {
    const [sound] = await record('One two.');
    const lines: JournalLine[] = [];
    const log = { isShared: true, write: (more: readonly JournalLine[]) => lines.push(...more) };
    const speaking = {
      async *reply(_history: unknown, { keepSound }: ReplyOptions) {
        keepSound?.(sound!);
        yield* [];
      },
    };
    const engines = { responderFor: () => speaking as unknown as Responder };
    const kept = soundKept(engines, new Journal(log as unknown as SessionLog)).responderFor({} as Character);
    const confirmed = Promise.withResolvers<void>();
    await Array.fromAsync(kept.reply([], { confirmed: confirmed.promise } as ReplyOptions));
    await others();
    expect(lines).toEqual([]);
    confirmed.resolve();
    await others();
    expect(lines).toMatchObject([{ type: 'sound', text: 'One two.' }]);
    await Array.fromAsync(kept.reply([], {} as ReplyOptions));
    expect(lines).toHaveLength(2);
  });
});
