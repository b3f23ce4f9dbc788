import { describe, expect, it } from 'vitest';
import type { PcmBlock } from '../../../voices/calls/pcm-stream.ts';
import {
  withWordTimings,
  speechUnits,
  type SpeakingRate,
  type WordTimingOptions,
  type TimedAudio,
} from '../../../voices/synthesis/estimated-word-timings.ts';
import { tone } from '../../fakes/vad.ts';

const text = 'Mind the step, traveller, and the low beam. ';

/** Audio of this many milliseconds, in blocks of 100 ms. */
async function* sound(ms: number, sampleRate = 24_000): AsyncGenerator<PcmBlock> {
  for (let at = 0; at < ms; at += 100) yield { samples: tone(Math.min(100, ms - at), sampleRate), sampleRate };
}

function told(
  blocks: AsyncIterable<PcmBlock>,
  form: Partial<WordTimingOptions> = {},
  words = text,
): Promise<TimedAudio[]> {
  const pace: SpeakingRate = { msPerUnit: undefined };
  return Array.fromAsync(
    withWordTimings(words, blocks, { sampleRate: 24_000, fadeOutMs: 0, comesWhole: false, pace, ...form }),
  );
}

const lengthMs = (pieces: readonly TimedAudio[]): number =>
  pieces.reduce((sum, { samples }) => sum + samples.length, 0) / 24;

describe('estimated word timings', () => {
  it.each([
    ['as long as guessed', 3_300],
    ['shorter', 900],
    ['longer', 9_000],
  ])('all words come with the audio when it is %s', async (_name, ms) => {
    const pieces = await told(sound(ms));
    expect(pieces.map((piece) => piece.text).join('')).toBe(text);
    expect(lengthMs(pieces)).toBeCloseTo(ms, 0);
    for (const { samples, words } of pieces) {
      for (const word of words) expect(word.endMs).toBeLessThanOrEqual(samples.length / 24 + 0.001);
    }
  });

  it('the words come neither all at once nor all at the end', async () => {
    const pieces = await told(sound(3_300));
    const half = pieces
      .slice(0, pieces.length / 2)
      .map((piece) => piece.text)
      .join('');
    expect(half.length).toBeGreaterThan(text.length * 0.3);
    expect(half.length).toBeLessThan(text.length * 0.8);
  });

  it('the estimate improves once the speaking rate of the voice is known', async () => {
    const pace: SpeakingRate = { msPerUnit: undefined };
    await told(sound(9_000), { pace });
    expect(pace.msPerUnit).toBeCloseTo(9_000 / speechUnits(text));
    const pieces = await told(sound(9_000), { pace });
    const third = pieces
      .slice(0, pieces.length / 3)
      .map((piece) => piece.text)
      .join('');
    expect(third.length).toBeLessThan(text.length * 0.5);
  });

  it('the words need no spaces between them', async () => {
    const pieces = await told(sound(1_500), {}, '你好，旅人。');
    expect(pieces.map((piece) => piece.text).join('')).toBe('你好，旅人。');
    expect(pieces.filter((piece) => piece.text !== '').length).toBeGreaterThan(2);
  });
});

describe('streamed speech', () => {
  it('audio that comes whole is one chunk with its words spread over all of it', async () => {
    const [piece, ...others] = await told(sound(2_000), { comesWhole: true });
    expect(others).toEqual([]);
    expect(piece?.text).toBe(text);
    expect(piece?.words.at(-1)?.endMs).toBeCloseTo(2_000, -1);
  });

  it('streamed audio is resampled to the requested rate', async () => {
    expect(lengthMs(await told(sound(1_000, 32_000)))).toBeCloseTo(1_000, 0);
  });

  it.each([true, false])('audio that ends abruptly is faded out (in one piece: %s)', async (comesWhole) => {
    const pieces = await told(sound(1_000), { comesWhole, fadeOutMs: 40 });
    const last = pieces.at(-1)?.samples ?? new Float32Array(0);
    const peak = (samples: Float32Array): number => samples.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
    expect(peak(last.slice(-48))).toBeLessThan(0.05);
  });

  it('no audio gives no chunk', async () => {
    expect(await told(sound(0))).toEqual([]);
    expect(await told(sound(0), { comesWhole: true })).toEqual([]);
  });
});

describe('word timings that the engine tells', () => {
  /** Blocks of audio with the words that begin in each: [text, start, end]. */
  async function* captioned(...blocks: [ms: number, ...told: [string, number, number][]][]): AsyncGenerator<PcmBlock> {
    for (const [ms, ...words] of blocks) {
      const heard = words.map(([said, startMs, endMs]) => ({ text: said, startMs, endMs }));
      yield { samples: tone(ms, 24_000), sampleRate: 24_000, ...(heard.length > 0 && { told: heard }) };
    }
  }
  const placed = (pieces: readonly TimedAudio[]): (readonly [string, number, number])[] => {
    let atMs = 0;
    return pieces.flatMap(({ samples, words }) => {
      const from = atMs;
      atMs += samples.length / 24;
      return words.map((word) => [word.text, Math.round(from + word.startMs), Math.round(from + word.endMs)] as const);
    });
  };

  it('words that were split or read otherwise keep their place', async () => {
    const said = 'I don’t owe 10 tents, ten pounds.';
    const block = captioned([
      1_000,
      ['I', 0, 80],
      ['don', 100, 150],
      ['’t', 150, 190],
      ['owe', 200, 290],
      ['ten', 300, 390],
      ['tents', 400, 490],
      [',', 490, 500],
      ['ten', 600, 690],
      ['pounds', 700, 900],
      ['.', 900, 1_000],
    ]);
    const pieces = await told(block, {}, said);
    expect(pieces.map((piece) => piece.text).join('')).toBe(said);
    expect(pieces.every(({ isExact }) => isExact === true)).toBe(true);
    const words = placed(pieces);
    expect(words.map(([word]) => word)).toEqual(['I', 'don’t', 'owe', '10', 'tents,', 'ten', 'pounds.']);
    expect(words.filter(([word]) => word !== '10' && word !== 'owe').map(([, startMs]) => startMs)).toEqual([
      0, 100, 400, 600, 700,
    ]);
    const [, tenMs = 0] = words[3] ?? [];
    expect(tenMs).toBeGreaterThan(200);
    expect(tenMs).toBeLessThan(400);
  });

  it('words come with the block that says them, and a text without spaces is split', async () => {
    const pieces = await told(captioned([200, ['你好', 0, 190]], [300, ['世界', 210, 480]], [50]), {}, '你好，世界。 ');
    expect(pieces.map((piece) => piece.text)).toEqual(['你好，', '世界。', '', ' ']);
    expect(placed(pieces).map(([word, startMs]) => [word, startMs])).toEqual([
      ['你', 0],
      ['好，', expect.any(Number)],
      ['世', 210],
      ['界。', expect.any(Number)],
    ]);
  });

  it('words that the engine leaves out at the end come with the last audio', async () => {
    const pieces = await told(captioned([500, ['Mind', 0, 190], ['the', 200, 290]]), {}, 'Mind the 7.');
    expect(pieces.map((piece) => piece.text)).toEqual(['Mind the ', '7.']);
  });

  it('an engine that tells no words with its first audio is timed by estimates', async () => {
    const pieces = await told(captioned([400], [400, ['step', 400, 500]]));
    expect(pieces.map((piece) => piece.text).join('')).toBe(text);
    expect(pieces.map(({ isExact }) => isExact)).not.toContain(true);
  });
});

describe('sounds that the engine tells', () => {
  /** A message without audio. */
  const silentMs = 0;
  /** Audio of some length, with words and sounds, each [name, start, end]. */
  async function* placed(
    ...blocks: { ms: number; words?: [string, number, number][]; sounds?: [string, number, number][] }[]
  ): AsyncGenerator<PcmBlock> {
    for (const { ms, words, sounds } of blocks) {
      yield {
        samples: tone(ms, 24_000),
        sampleRate: 24_000,
        ...(words && { told: words.map(([said, startMs, endMs]) => ({ text: said, startMs, endMs })) }),
        ...(sounds && { sounds: sounds.map(([sound, startMs, endMs]) => ({ sound, startMs, endMs })) }),
      };
    }
  }
  const shapesOf = ({ mouth }: TimedAudio): (readonly [string, number])[] | undefined =>
    mouth?.visemes.map(({ viseme, startMs }) => [viseme, Math.round(startMs)] as const);

  it('words and sounds that come ahead of their audio go with the piece in which they begin', async () => {
    const pieces = await told(
      placed(
        {
          ms: silentMs,
          words: [
            ['My', 50, 250],
            ['boat', 300, 700],
          ],
          sounds: [
            ['m', 50, 120],
            ['aɪ', 120, 250],
            ['b', 300, 400],
            ['oʊ', 400, 600],
            ['t', 600, 700],
          ],
        },
        { ms: 280 },
        { ms: 500 },
      ),
      { times: 'sounds' },
      'My boat.',
    );
    expect(pieces.map((piece) => piece.text)).toEqual(['My ', 'boat.', '']);
    expect(pieces.map(({ words }) => words.map(({ startMs }) => Math.round(startMs)))).toEqual([[50], [30], []]);
    expect(pieces.map(({ mouth }) => mouth?.basis)).toEqual(['engine', 'engine', 'engine']);
    expect(shapesOf(pieces[0] as TimedAudio)).toEqual([
      ['sil', 0],
      ['PP', 50],
      ['aa', 120],
      ['ih', 228],
    ]);
    expect(shapesOf(pieces[1] as TimedAudio)).toEqual([
      ['ih', 0],
      ['PP', 30],
      ['oh', 130],
      ['ou', 250],
      ['DD', 330],
    ]);
    expect(pieces[1]?.mouth?.phones.map(({ sound }) => sound)).toEqual(['aɪ', 'b', 'oʊ', 't']);
    expect(shapesOf(pieces[2] as TimedAudio)).toEqual([['sil', 0]]);
  });

  it('audio waits for its sounds until the next audio has come, and no longer', async () => {
    const come: number[] = [];
    async function* counted(): AsyncGenerator<PcmBlock> {
      const blocks = placed(
        { ms: 300 },
        { ms: silentMs, words: [['ah', 0, 600]], sounds: [['ɑ', 0, 300]] },
        { ms: 300 },
        { ms: 300 },
        { ms: silentMs, sounds: [['b', 600, 900]] },
      );
      for await (const block of blocks) {
        yield block;
        come.push(block.samples.length / 24);
      }
    }
    const pieces: TimedAudio[] = [];
    const comeBefore: number[] = [];
    const form = { sampleRate: 24_000, fadeOutMs: 0, comesWhole: false, pace: { msPerUnit: undefined } } as const;
    for await (const piece of withWordTimings('ah', counted(), { ...form, times: 'sounds' })) {
      pieces.push(piece);
      comeBefore.push(come.length);
    }
    // The second block goes when the third has come; the sounds of the third come in time.
    expect(pieces.map(({ samples }) => Math.round(samples.length / 24))).toEqual([290, 10, 300, 290, 10]);
    expect(comeBefore[0]).toBe(1);
    expect(lengthMs(pieces)).toBeCloseTo(900, 0);
    expect(
      pieces
        .map(shapesOf)
        .flat()
        .map((shape) => shape?.[0]),
    ).toContain('PP');
  });

  it('an engine that tells shapes alone gives no sounds', async () => {
    const [piece] = await told(
      placed({
        ms: 300,
        words: [['pa', 0, 290]],
        sounds: [
          ['p', 0, 100],
          ['ɑ', 100, 290],
        ],
      }),
      { times: 'shapes' },
      'pa',
    );
    expect(shapesOf(piece as TimedAudio)).toEqual([
      ['PP', 0],
      ['aa', 100],
    ]);
    expect(piece?.mouth?.phones).toEqual([]);
  });

  it('an engine that sends no times this once is timed by estimates from its second audio on', async () => {
    const pieces = await told(placed({ ms: 300 }, { ms: 300 }, { ms: 300 }), { times: 'sounds' });
    expect(pieces.map((piece) => piece.text).join('')).toBe(text);
    expect(pieces.every(({ mouth, isExact }) => mouth === undefined && isExact === undefined)).toBe(true);
  });
});
