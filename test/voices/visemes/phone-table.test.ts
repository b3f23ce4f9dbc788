import { array, assert, constantFrom, double, property, record } from '../../fakes/property.ts';
import { expect, it } from 'vitest';
import type { TimedPhone } from '../../../voices/synthesizer.ts';
import { ipaFromArpabet, segmentsOf } from '../../../voices/visemes/phone-table.ts';
import { visemesOf } from '../../../voices/visemes/visemes-of-phones.ts';

const arpabet =
  'pau p b m f v th dh t d k g ch jh sh zh s z n ng l r er aa ah ae eh ey ax hh ih iy y ao ow oy uh uw w ay aw';

const shapesOf = (sound: string): string[] => segmentsOf(sound).map(({ shape: [viseme] }) => viseme);

it('every sound of Flite has a known shape', () => {
  for (const name of arpabet.split(' ')) {
    const ipa = ipaFromArpabet(name);
    expect(ipa).toBeDefined();
    expect(segmentsOf(ipa ?? '?').every(({ isKnown }) => isKnown)).toBe(true);
  }
  expect(ipaFromArpabet('xx')).toBeUndefined();
});

it('stress, length and tone do not change the shape, and the longest symbol wins', () => {
  expect(shapesOf('ˈaʊ')).toEqual(['aa', 'ou']);
  expect(shapesOf('uː')).toEqual(['ou']);
  expect(shapesOf('ɔ̃')).toEqual(['oh']);
  expect(shapesOf('tʃ')).toEqual(['CH']);
  expect(shapesOf('tʃʰ')).toEqual(['CH']);
  expect(shapesOf('pf')).toEqual(['PP', 'FF']);
  expect(shapesOf('əl')).toEqual(['E', 'nn']);
  expect(shapesOf('')).toEqual([]);
});

it('an unknown vowel is E, an unknown consonant DD, and both are reported as unknown', () => {
  expect(segmentsOf('ﬀ')).toEqual([{ shape: ['DD'], isVowel: false, isKnown: false }]);
});

it('a diphthong turns at 60 percent', () => {
  const phones = [{ sound: 'aɪ', startMs: 0, endMs: 100 }];
  expect(visemesOf(phones)).toEqual([
    { viseme: 'aa', startMs: 0 },
    { viseme: 'ih', startMs: 60 },
  ]);
});

it('a short closure begins earlier, up to the middle of the shape before', () => {
  const phones = (vowelMs: number): TimedPhone[] => [
    { sound: 'i', startMs: 0, endMs: vowelMs },
    { sound: 'p', startMs: vowelMs, endMs: vowelMs + 20 },
    { sound: 'a', startMs: vowelMs + 20, endMs: 300 },
  ];
  expect(visemesOf(phones(100)).map(({ startMs }) => startMs)).toEqual([0, 80, 120]);
  expect(visemesOf(phones(20)).map(({ startMs }) => startMs)).toEqual([0, 10, 40]);
});

it('sounds too short to be seen leave no two shapes at one time', () => {
  const phones = [
    { sound: 'a', startMs: 0, endMs: 1e-128 },
    { sound: 't', startMs: 1e-128, endMs: 2e-128 },
    { sound: 'p', startMs: 2e-128, endMs: 3e-128 },
  ];
  expect(visemesOf(phones)).toEqual([{ viseme: 'PP', startMs: 0 }]);
});

it('shapes ascend, begin at 0 and differ from their neighbours for any sounds', () => {
  const sound = constantFrom('', 'p', 'm', 'aɪ', 'tʃ', 'h', 'ə', 'pf', '?', 'l', 't');
  const run = array(record({ sound, ms: double({ min: 0, max: 200, noNaN: true }) }), { maxLength: 40 });
  assert(
    property(run, (sounds) => {
      let endMs = 0;
      const phones = sounds.map(({ sound: said, ms }) => ({ sound: said, startMs: endMs, endMs: (endMs += ms) }));
      const made = visemesOf(phones);
      expect(made[0]?.startMs).toBe(0);
      for (const [index, shape] of made.slice(1).entries()) {
        const before = made[index];
        expect(shape.startMs).toBeGreaterThan(before?.startMs ?? 0);
        expect([shape.viseme, shape.weight]).not.toEqual([before?.viseme, before?.weight]);
      }
    }),
  );
});
