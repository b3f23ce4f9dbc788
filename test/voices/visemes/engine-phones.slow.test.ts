import { afterAll, describe, expect, it } from 'vitest';
import { loadCharacter } from '../../../characters/character.ts';
import type { MouthMovement, SpeechChunk, Voice } from '../../../voices/synthesizer.ts';
import { isEspeakInstalled, openEspeak } from '../../../voices/synthesizers/espeak.ts';
import { openFlite } from '../../../voices/synthesizers/flite.ts';
import { segmentsOf } from '../../../voices/visemes/phone-table.ts';
import { lengthMs, speakAll } from '../synthesis/speaking.ts';

const flite = openFlite();
const espeak = openEspeak();
afterAll(() => Promise.all([flite.close(), espeak.close()]));

const voice = (id: string, pitch = 1, rate = 1): Voice => ({ kind: 'preset', id, pitch, rate });

/** Lines of the characters, in turns. */
async function linesOf(count: number): Promise<string[]> {
  const packs = await Promise.all(
    ['sherlock-holmes', 'alice', 'captain-nemo', 'abraham-lincoln'].map((id) => loadCharacter(`characters/${id}`)),
  );
  const spoken = packs.map(({ lines }) => lines.map(({ reply }) => reply));
  return Array.from({ length: count }, (_, index) => spoken[index % 4]?.[Math.floor(index / 4)] ?? 'Good day.');
}

/** Checks that the mouth covers the chunk: each sound is mapped, joined to the next, and ends with the speech. */
function expectWhole(chunk: SpeechChunk): void {
  const { visemes, phones } = chunk.mouth as MouthMovement;
  expect(phones.flatMap(({ sound }) => segmentsOf(sound).filter(({ isKnown }) => !isKnown))).toEqual([]);
  expect(phones[0]?.startMs).toBe(0);
  expect(phones.slice(1).map(({ startMs }) => startMs)).toEqual(phones.slice(0, -1).map(({ endMs }) => endMs));
  expect(visemes[0]?.startMs).toBe(0);
  expect(visemes.filter(({ startMs }, index) => index > 0 && startMs <= (visemes[index - 1]?.startMs ?? 0))).toEqual(
    [],
  );
  expect(visemes.at(-1)?.viseme).toBe('sil');
  expect(visemes.at(-1)?.startMs).toBeLessThanOrEqual(lengthMs([chunk]));
}

/** The shift of the labels, in milliseconds, at which vowels correlate best with loudness: 0 if they fit the sound. */
function bestShiftMs(chunks: readonly SpeechChunk[]): number {
  const shifts = Array.from({ length: 17 }, (_, index) => (index - 8) * 5);
  const fits = shifts.map((shiftMs) => correlation(chunks.flatMap((chunk) => windowsOf(chunk, shiftMs))));
  return shifts[fits.indexOf(Math.max(...fits))] ?? Number.NaN;
}

/** Windows of 5 ms that lie in a sound: 1 for a vowel, otherwise 0, and the level. */
function windowsOf({ frame, mouth }: SpeechChunk, shiftMs: number): [vowel: number, level: number][] {
  const length = frame.sampleRate / 200;
  return (mouth as MouthMovement).phones.flatMap(({ sound, startMs, endMs }) => {
    if (sound === '') return [];
    const vowel = segmentsOf(sound)[0]?.isVowel === true ? 1 : 0;
    const count = Math.floor((endMs - startMs) / 5);
    return Array.from({ length: count }, (_, index): [number, number] => {
      const from = Math.max(0, Math.round(((startMs + shiftMs) / 5 + index) * length));
      const energy = frame.samples.subarray(from, from + length).reduce((sum, sample) => sum + sample * sample, 0);
      return [vowel, Math.log(energy / length + 1e-5)];
    });
  });
}

function correlation(pairs: readonly (readonly [number, number])[]): number {
  const mean = (of: (pair: readonly [number, number]) => number): number =>
    pairs.reduce((sum, pair) => sum + of(pair), 0) / pairs.length;
  const left = mean(([x]) => x);
  const right = mean(([, y]) => y);
  const both = mean(([x, y]) => (x - left) * (y - right));
  return both / Math.sqrt(mean(([x]) => (x - left) ** 2) * mean(([, y]) => (y - right) ** 2));
}

describe('phones of Flite', () => {
  it('every sound of 40 lines has a shape, and the shapes cover the speech', async () => {
    const chunks = await speakAll(flite, voice('slt'), await linesOf(40));
    expect(chunks.length).toBeGreaterThanOrEqual(40);
    for (const chunk of chunks) expectWhole(chunk);
  }, 120_000);

  it.each([
    [1, 1],
    [0.5, 1],
    [2, 1],
    [1, 0.5],
    [1, 2],
  ])(
    'sounds keep their place at pitch %d and rate %d',
    async (pitch, rate) => {
      for (const id of ['awb', 'rms']) {
        const chunks = await speakAll(flite, voice(id, pitch, rate), await linesOf(5));
        expect(Math.abs(bestShiftMs(chunks))).toBeLessThanOrEqual(15);
        for (const chunk of chunks) expectWhole(chunk);
      }
    },
    120_000,
  );

  it('the lips are closed for 40 ms or more before they open for p, b and m', async () => {
    const chunks = await speakAll(flite, voice('slt'), ['My purple puppy bit Bob, but Pam may pay.']);
    const visemes = chunks[0]?.mouth?.visemes ?? [];
    const closures = visemes.flatMap(({ viseme, startMs }, index) =>
      viseme === 'PP' ? [(visemes[index + 1]?.startMs ?? 0) - startMs] : [],
    );
    expect(closures.length).toBeGreaterThanOrEqual(10);
    for (const ms of closures) expect(ms).toBeGreaterThanOrEqual(39.9);
  });
});

describe.skipIf(!isEspeakInstalled())('phonemes of eSpeak NG', () => {
  it('every sound of 40 lines has a shape, and the shapes cover the speech', async () => {
    const chunks = await speakAll(espeak, voice('en'), await linesOf(40));
    for (const chunk of chunks) expectWhole(chunk);
    expect(Math.abs(bestShiftMs(chunks.slice(0, 8)))).toBeLessThanOrEqual(15);
  }, 120_000);

  it.each([
    [0.5, 1],
    [2, 1],
    [1, 0.5],
    [1, 2],
  ])(
    'sounds keep their place at pitch %d and rate %d',
    async (pitch, rate) => {
      const chunks = await speakAll(espeak, voice('en', pitch, rate), await linesOf(5));
      expect(Math.abs(bestShiftMs(chunks))).toBeLessThanOrEqual(15);
    },
    120_000,
  );

  it.each(Object.entries(sentences()))('every sound of %s has a row in the table', async (language, text) => {
    const chunks = await speakAll(espeak, voice(language), [text]);
    const sounds = chunks.flatMap(({ mouth }) => mouth?.phones.map(({ sound }) => sound) ?? []);
    expect(sounds.length).toBeGreaterThan(10);
    expect(sounds.filter((sound) => segmentsOf(sound).some(({ isKnown }) => !isKnown))).toEqual([]);
  });
});

/** One sentence with many sounds in each of thirty languages. */
function sentences(): Record<string, string> {
  return {
    en: 'The quick brown fox jumps over the lazy dog, while vision and judgement thrive.',
    'en-us': 'Further thoughts on butter, cherries, measure and yellow winter weather.',
    fr: 'Portez ce vieux whisky au juge blond qui fume dans un coin joyeux.',
    de: 'Zwölf Boxkämpfer jagen Viktor quer über den großen Sylter Deich.',
    es: 'El veloz murciélago hindú comía feliz cardillo y kiwi; la cigüeña tocaba el saxofón.',
    it: 'Quel vituperabile xenofobo zelante assaggia il whisky ed esclama: alleluja, gli gnocchi!',
    pt: 'À noite, vovô Kowalsky vê o ímã cair no pé do pinguim queixoso.',
    nl: 'Pas wijze lynx bezag vroom het fikse aquaduct bij Scheveningen.',
    pl: 'Pchnąć w tę łódź jeża lub ośm skrzyń fig.',
    cs: 'Příliš žluťoučký kůň úpěl ďábelské ódy.',
    sk: 'Kŕdeľ šťastných ďatľov učí pri ústí Váhu mĺkveho koňa obhrýzať kôru.',
    sv: 'Flygande bäckasiner söka hwila på mjuka tuvor.',
    da: 'Quizdeltagerne spiste jordbær med fløde, mens cirkusklovnen Walther spillede på xylofon.',
    nb: 'Vår sære Zulu fra badeøya spilte jo whist og quickstep i min taxi.',
    fi: 'Törkylempijävongahdus on pitkä suomen kielen sana.',
    et: 'Põdur Zagrebi tšellomängija-följetonist Ciqo külmetas kehvas garaažis.',
    lv: 'Glāžšķūņa rūķīši dzērumā čiepj Baha koncertflīģeļu vākus.',
    lt: 'Įlinkdama fechtuotojo špaga sublykčiojusi pragręžė apvalų arbūzą.',
    hu: 'Árvíztűrő tükörfúrógép, jó foxim és don Quijote húszwattos lámpánál ülve.',
    ro: 'Gheorghe, obezul, a reuşit să obţină jucându-se un flux în Quebec de o mie kilowaţioră.',
    tr: 'Pijamalı hasta yağız şoföre çabucak güvendi.',
    ru: 'Съешь же ещё этих мягких французских булок да выпей чаю.',
    uk: 'Чуєш їх, доцю, га? Кумедна ж ти, прощайся без ґольфів!',
    el: 'Ξεσκεπάζω την ψυχοφθόρα βδελυγμία σου, αγαπημένε φίλε.',
    hi: 'ऋषियों को सताने वाले दुष्ट राक्षसों के राजा रावण का सर्वनाश करने वाले।',
    ar: 'نص حكيم له سر قاطع وذو شأن عظيم مكتوب على ثوب أخضر',
    cmn: '你好，很高兴见到你，今天天气真好，我们一起去喝茶吧。',
    ko: '키스의 고유조건은 입술끼리 만나야 하고 특별한 기술은 필요치 않다.',
    vi: 'Do bạch kim rất quý nên sẽ dùng để lắp vô xương, những người ấy thương nhau.',
    sw: 'Watu wote wamezaliwa huru, hadhi na haki zao ni sawa; ng’ombe wanapenda majani.',
  };
}

it.skipIf(!isEspeakInstalled())('the words of eSpeak NG do not last through the pause after them', async () => {
  const [chunk] = await speakAll(espeak, voice('en'), ['Good evening, my friend, take a seat.']);
  const pauses = chunk?.mouth?.phones.filter(({ sound }) => sound === '') ?? [];
  const words = chunk?.words ?? [];
  for (const text of ['evening,', 'friend,', 'seat.']) {
    const at = words.findIndex((word) => word.text === text);
    expect(pauses.map(({ startMs }) => startMs)).toContain(words[at]?.endMs);
    expect((words[at + 1]?.startMs ?? Infinity) - (words[at]?.endMs ?? 0)).toBeGreaterThan(100);
  }
  expect(words[1]?.startMs).toBe(words[0]?.endMs);
});
