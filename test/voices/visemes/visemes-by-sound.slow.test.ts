import { readFileSync } from 'node:fs';
import { afterAll, expect, it } from 'vitest';
import { LIVE2D } from '../../../server/client/mouth/viseme-tables.js';
import { visemes, type MouthMovement } from '../../../voices/synthesizer.ts';
import { openFlite } from '../../../voices/synthesizers/flite.ts';
import { readNetwork, storeNetwork } from '../../../voices/visemes/sound-network.ts';
import { openings, VisemesBySound } from '../../../voices/visemes/visemes-by-sound.ts';
import { hearLines } from '../../bench/visemes/by-sound.ts';
import { linesOfCharacters, speakLines, type VoicedLine } from '../../bench/visemes/voiced-lines.ts';
import { array, assert, integer, property } from '../../fakes/property.ts';

const flite = openFlite();
afterAll(() => flite.close());

async function unheard(count: number): Promise<VoicedLine[]> {
  return Array.fromAsync(speakLines({ engine: flite, id: 'slt' }, await linesOfCharacters(0, count)));
}

/** The shape of each millisecond. */
function drawn(movements: readonly (readonly [MouthMovement, lengthMs: number])[]): string[] {
  return movements.flatMap(([told, lengthMs]) =>
    Array.from({ length: lengthMs }, (_, ms) => {
      const shape = told.visemes.findLast(({ startMs }) => startMs <= ms);
      return `${shape?.viseme} ${shape?.weight}`;
    }),
  );
}

it('finds seven classes of shapes and the opening of the jaw in a voice that it never heard', async () => {
  const { classes, jaw } = hearLines(await unheard(5));
  expect(classes).toBeGreaterThanOrEqual(0.7);
  expect(jaw).toBeGreaterThanOrEqual(0.8);
}, 60_000);

it('gives the same shapes for any cuts of the audio, ascending from 0 within each chunk', async () => {
  const [line] = await unheard(1);
  const { samples, sampleRate } = line as VoicedLine;
  const perMs = sampleRate / 1000;
  const sound = samples.subarray(0, 800 * perMs);
  const whole = drawn([[new VisemesBySound(sampleRate).take({ samples: sound, sampleRate }), 800]]);
  expect(new Set(whole).size).toBeGreaterThan(4);
  assert(
    property(array(integer({ min: 1, max: 200 }), { minLength: 1, maxLength: 20 }), (lengths) => {
      const hearing = new VisemesBySound(sampleRate);
      const cut: [MouthMovement, number][] = [];
      for (let atMs = 0, index = 0; atMs < 800; index += 1) {
        const ms = Math.min(lengths[index % lengths.length] ?? 1, 800 - atMs);
        const told = hearing.take({ samples: sound.subarray(atMs * perMs, (atMs + ms) * perMs), sampleRate });
        const starts = told.visemes.map(({ startMs }) => startMs);
        expect(starts[0]).toBe(0);
        expect(starts.every((startMs, place) => startMs < ms && startMs >= (starts[place - 1] ?? 0))).toBe(true);
        cut.push([told, ms]);
        atMs += ms;
      }
      // A change is known at the end of its frame and told as 10 ms earlier, unless a cut lies in between.
      const differing = drawn(cut).filter(
        (shape, ms) =>
          shape !== whole[ms] &&
          shape !== whole[Math.max(0, ms - 20)] &&
          !whole.slice(Math.max(0, ms - 20), ms).includes(shape),
      );
      expect(differing).toEqual([]);
    }),
    { numRuns: 25 },
  );
});

it.each([8_000, 22_050, 44_100, 48_000])('keeps the mouth at rest in silence at %d Hz', (sampleRate) => {
  const hearing = new VisemesBySound(sampleRate);
  const told = hearing.take({ samples: new Float32Array(sampleRate / 2), sampleRate });
  expect(told.visemes).toEqual([{ viseme: 'sil', startMs: 0 }]);
});

it('opens the mouth as far as the tables of the clients', () => {
  expect(openings).toEqual(visemes.map((viseme) => LIVE2D[viseme]['ParamMouthOpenY']));
});

it('reads only its own weights, which are small', () => {
  const bytes = readFileSync('voices/visemes/sound.bin');
  expect(bytes.length).toBeLessThanOrEqual(60_000);
  expect(Buffer.compare(storeNetwork(readNetwork(bytes)), bytes)).toBe(0);
  expect(() => readNetwork(bytes.subarray(4))).toThrow('does not contain the weights');
});
