import { afterAll, describe, expect, it } from 'vitest';
import type { Phrase, Voice } from '../../../voices/synthesizer.ts';
import { openFlite } from '../../../voices/synthesizers/flite.ts';
import { lengthMs, levelDb, medianPitch, peakOf, speakAll } from '../synthesis/speaking.ts';
import { phrasesOf } from '../../fakes/spoken.ts';

const flite = openFlite();
afterAll(() => flite.close());

const sentence = 'I am delighted to meet you, my dear old friend.';

function voice(id: string, pitch = 1, rate = 1): Voice {
  return { kind: 'preset', id, pitch, rate };
}

describe('Flite', () => {
  it('Flite has voices of different pitch, one of them female', async () => {
    const pitches = new Map<string, number>();
    for (const id of flite.voices) pitches.set(id, medianPitch(await speakAll(flite, voice(id), [sentence])));
    expect(pitches.get('rms')).toBeLessThan(115);
    expect(pitches.get('awb')).toBeGreaterThan(115);
    expect(pitches.get('slt')).toBeGreaterThan(150);
  });

  it.each(['rms', 'awb', 'slt', 'kal16'])('Flite changes the pitch of %s by the requested factor', async (id) => {
    const plain = medianPitch(await speakAll(flite, voice(id), [sentence]));
    const high = medianPitch(await speakAll(flite, voice(id, 1.3), [sentence]));
    const low = medianPitch(await speakAll(flite, voice(id, 0.8), [sentence]));
    expect(high / plain).toBeGreaterThan(1.2);
    expect(high / plain).toBeLessThan(1.4);
    expect(low / plain).toBeGreaterThan(0.72);
    expect(low / plain).toBeLessThan(0.88);
  });

  it.each(['rms', 'awb', 'slt'])(
    'Flite changes the tempo of %s by rate and speed without changing the pitch',
    async (id) => {
      const plain = lengthMs(await speakAll(flite, voice(id), [sentence]));
      const quick = lengthMs(await speakAll(flite, voice(id, 1, 1.25), [sentence]));
      const slow = lengthMs(await speakAll(flite, voice(id), [sentence], { speed: 0.8 }));
      const high = lengthMs(await speakAll(flite, voice(id, 1.3), [sentence]));
      expect(plain / quick).toBeCloseTo(1.25, 1);
      expect(plain / slow).toBeCloseTo(0.8, 1);
      expect(high / plain).toBeCloseTo(1, 1);
    },
  );

  it('Flite voices have similar levels without clipping', async () => {
    for (const id of flite.voices) {
      const chunks = await speakAll(flite, voice(id), [sentence]);
      expect(levelDb(chunks)).toBeGreaterThan(-24);
      expect(levelDb(chunks)).toBeLessThan(-18);
      expect(peakOf(chunks)).toBeLessThan(1);
    }
  });

  it('Flite starts to sound at once and pauses longer after a sentence than after a comma', async () => {
    const [clause, stop] = await speakAll(flite, voice('rms'), ['My dear friend, ', 'my dear friend. ']);
    for (const chunk of [clause, stop]) {
      const samples = chunk?.frame.samples ?? new Float32Array(0);
      const loud = samples.findIndex((value) => Math.abs(value) > 0.02);
      expect(loud).toBeGreaterThan(0);
      expect((loud / flite.sampleRate) * 1000).toBeLessThan(60);
    }
    const tail = (samples: Float32Array): number =>
      samples.length - samples.findLastIndex((value) => Math.abs(value) > 0.01);
    expect(tail(stop?.frame.samples ?? new Float32Array(0))).toBeGreaterThan(
      tail(clause?.frame.samples ?? new Float32Array(0)),
    );
  });

  it('Flite times each word within its chunk, in order', async () => {
    const [chunk] = await speakAll(flite, voice('slt'), ['Dr. Smith paid $5.50, and then he left.']);
    const words = chunk?.words ?? [];
    expect(words.map(({ text }) => text)).toEqual(['Dr.', 'Smith', 'paid', '$5.50,', 'and', 'then', 'he', 'left.']);
    for (const [index, word] of words.entries()) {
      expect(word.endMs).toBeGreaterThan(word.startMs);
      expect(word.startMs).toBeGreaterThanOrEqual(words[index - 1]?.endMs ?? 0);
    }
    expect(words.at(-1)?.endMs).toBeLessThan(lengthMs(chunk === undefined ? [] : [chunk]));
  });

  it('Flite skips phrases that it cannot pronounce', async () => {
    const chunks = await speakAll(flite, voice('rms'), ['', '...', '你好。', '😀', 'Yes.']);
    expect(chunks.map(({ text }) => text)).toEqual(['Yes.']);
  });

  it.each(['-o /etc/passwd', '--help', '%s%n "quoted" $(id) `id`', 'two\nlines\u0000\u0001', 'naïve Ærø — £5 … 3°'])(
    'Flite takes %j for plain text',
    async (text) => {
      const chunks = await speakAll(flite, voice('slt'), [text]);
      expect(chunks.map((chunk) => chunk.text)).toEqual([text]);
      expect(lengthMs(chunks)).toBeGreaterThan(300);
    },
  );

  it('Flite cuts a very long phrase into chunks that join to its text, made only as they are read', async () => {
    const long = 'a word and another one '.repeat(4500);
    const controller = new AbortController();
    const speech = flite.speak(phrasesOf(long), { signal: controller.signal, voice: voice('kal16') });
    const chunks = speech[Symbol.asyncIterator]();
    let text = '';
    for (let count = 0; count < 5; count += 1) text += (await chunks.next()).value?.text ?? '';
    expect(long.startsWith(text)).toBe(true);
    expect(text.length).toBeGreaterThan(400);
    controller.abort(new Error('enough'));
    await expect(chunks.next()).rejects.toThrow('enough');
  });

  it('Flite uses its default voice for an unknown voice or a clip', async () => {
    const unknown = await speakAll(flite, voice('nobody'), ['Hello.']);
    const clip: Voice = { kind: 'reference', wavPath: '/none.wav', transcript: '', language: 'en', consent: 'x' };
    const cloned = await speakAll(flite, clip, ['Hello.']);
    const own = await speakAll(flite, voice('rms'), ['Hello.']);
    expect(unknown[0]?.frame.samples).toEqual(own[0]?.frame.samples);
    expect(cloned[0]?.frame.samples).toEqual(own[0]?.frame.samples);
  });

  it('Flite works at most one phrase ahead of its reader', async () => {
    let taken = 0;
    async function* source(): AsyncGenerator<Phrase> {
      for (; taken < 5;) {
        taken += 1;
        yield { text: `Number ${taken}.` };
      }
    }
    const { signal } = new AbortController();
    const seen: number[] = [];
    for await (const chunk of flite.speak(source(), { signal, voice: voice('kal16') })) {
      expect(chunk.text).toBe(`Number ${seen.length + 1}.`);
      seen.push(taken);
    }
    expect(seen).toEqual([2, 3, 4, 5, 5]);
  });

  it('Flite speaks at the sample rate it was opened with, and not after it was closed', async () => {
    const other = openFlite({ sampleRate: 16_000 });
    await other.warm();
    const chunks = await speakAll(other, voice('slt'), [sentence]);
    expect(chunks[0]?.frame.sampleRate).toBe(16_000);
    expect(lengthMs(chunks)).toBeCloseTo(lengthMs(await speakAll(flite, voice('slt'), [sentence])), -2);
    await other.close();
    await expect(speakAll(other, voice('slt'), ['Hello.'])).rejects.toMatchObject({ code: 'ENGINE_UNAVAILABLE' });
  });
});
