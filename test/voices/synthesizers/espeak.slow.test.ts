import { afterAll, describe, expect, it } from 'vitest';
import type { Voice } from '../../../voices/synthesizer.ts';
import { espeakMissing, isEspeakInstalled, openEspeak } from '../../../voices/synthesizers/espeak.ts';
import { lengthMs, levelDb, medianPitch, peakOf, speakAll } from '../synthesis/speaking.ts';

const espeak = openEspeak();
afterAll(() => espeak.close());

function voice(id: string, pitch = 1, rate = 1): Voice {
  return { kind: 'preset', id, pitch, rate };
}

describe('missing eSpeak NG', () => {
  it('a missing eSpeak NG is reported with its package and licence', () => {
    expect(espeakMissing()).toMatchObject({ code: 'ENGINE_MISSING', retryable: false });
    expect(espeakMissing().message).toMatch(/npm install @echogarden\/espeak-ng-emscripten \(GPL-3\.0\)/);
  });
});

// The package is optional, and its licence keeps it out of some installations.
describe.skipIf(!isEspeakInstalled())('eSpeak NG', () => {
  it('eSpeak NG speaks Mandarin, one chunk per phrase, with the time of each character', async () => {
    const chunks = await speakAll(espeak, voice('cmn'), ['你好，我是孙悟空。', '俺老孙来也！']);
    expect(chunks.map(({ text }) => text)).toEqual(['你好，我是孙悟空。', '俺老孙来也！']);
    const words = chunks[0]?.words ?? [];
    expect(words.map(({ text }) => text)).toEqual(['你', '好，', '我', '是', '孙', '悟', '空。']);
    for (const word of words) expect(word.endMs - word.startMs).toBeGreaterThan(80);
    const syllableMs = lengthMs(chunks) / 12;
    expect(syllableMs).toBeGreaterThan(150);
    expect(syllableMs).toBeLessThan(450);
  });

  it('eSpeak NG pronounces different tones differently', async () => {
    const [first] = await speakAll(espeak, voice('cmn'), ['妈']);
    const [fourth] = await speakAll(espeak, voice('cmn'), ['骂']);
    expect(first?.frame.samples).not.toEqual(fourth?.frame.samples);
  });

  it('eSpeak NG gives the same samples for the same seed, in any process and after any earlier speech', async () => {
    const say = async (engine: typeof espeak, text: string, seed: number) => {
      const phrases = (async function* () {
        yield { text };
      })();
      const { signal } = new AbortController();
      const chunks = await Array.fromAsync(engine.speak(phrases, { signal, voice: voice('fr+f2'), seed }));
      return chunks.map(({ frame }) => frame.samples);
    };
    const first = await say(espeak, 'Bonjour, mon ami.', 7);
    await say(espeak, 'Quelque chose de tout à fait différent.', 7);
    await speakAll(espeak, voice('cmn'), ['你好。']);
    expect(await say(espeak, 'Bonjour, mon ami.', 7)).toEqual(first);
    const other = openEspeak();
    expect(await say(other, 'Bonjour, mon ami.', 7)).toEqual(first);
    await other.close();
  });

  it('eSpeak NG claims to repeat a phrase only with a seed: without one, two calls differ', async () => {
    const phrase = { text: 'Good evening, my friend.' };
    expect(espeak.isRepeatable?.(phrase, { voice: voice('en'), seed: 7 })).toBe(true);
    expect(espeak.isRepeatable?.(phrase, { voice: voice('en') })).toBe(false);
    const [first, second] = [
      await speakAll(espeak, voice('en'), [phrase.text]),
      await speakAll(espeak, voice('en'), [phrase.text]),
    ];
    expect(second[0]?.frame.samples).not.toEqual(first[0]?.frame.samples);
  });

  it.each([
    ['en', 'Good morning, my friend.'],
    ['de', 'Guten Morgen, mein Freund.'],
    ['fr', 'Bonjour, mon ami.'],
    ['es', 'Buenos días, amigo.'],
    ['it', 'Buongiorno, amico mio.'],
    ['pt', 'Bom dia, meu amigo.'],
    ['ru', 'Доброе утро, мой друг.'],
    ['ko', '안녕하세요, 친구.'],
    ['ar', 'صباح الخير يا صديقي'],
    ['hi', 'सुप्रभात मेरे दोस्त'],
    ['el', 'Καλημέρα φίλε μου.'],
  ])('eSpeak NG speaks %s in a voice of another language', async (language, text) => {
    expect(espeak.languages).toContain(language);
    const own = await speakAll(espeak, voice(language), [text]);
    const wanted = await speakAll(espeak, voice('cmn'), [text], { language });
    expect(lengthMs(own)).toBeGreaterThan(700);
    expect(lengthMs(own)).toBeLessThan(4000);
    expect(lengthMs(wanted) / lengthMs(own)).toBeCloseTo(1, 1);
    expect(wanted[0]?.words?.length).toBe(own[0]?.words?.length);
  });

  it('eSpeak NG reads a script that the voice does not know in the language of the script', async () => {
    const russian = await speakAll(espeak, voice('ru'), ['Привет']);
    const guessed = await speakAll(espeak, voice('cmn'), ['Привет']);
    expect(lengthMs(guessed) / lengthMs(russian)).toBeCloseTo(1, 1);
  });

  it('eSpeak NG has male and female variants of each language', async () => {
    const text = ['你好，很高兴见到你。'];
    const man = medianPitch(await speakAll(espeak, voice('cmn+m1'), text));
    const woman = medianPitch(await speakAll(espeak, voice('cmn+f2'), text));
    expect(woman / man).toBeGreaterThan(1.5);
  });

  it('eSpeak NG follows pitch, rate and speed', async () => {
    const text = ['你好，很高兴见到你，我们一起去喝茶吧。'];
    const plain = await speakAll(espeak, voice('cmn'), text);
    const high = await speakAll(espeak, voice('cmn', 1.5), text);
    const quick = await speakAll(espeak, voice('cmn', 1, 1.3), text);
    const slow = await speakAll(espeak, voice('cmn'), text, { speed: 0.8 });
    expect(medianPitch(high) / medianPitch(plain)).toBeCloseTo(1.5, 0);
    expect(lengthMs(quick)).toBeLessThan(lengthMs(plain) * 0.87);
    expect(lengthMs(slow)).toBeGreaterThan(lengthMs(plain) * 1.1);
  });

  it('eSpeak NG variants have similar levels without clipping', async () => {
    for (const id of ['cmn', 'cmn+m3', 'cmn+f2', 'en-gb+f4', 'en-us+m7']) {
      const chunks = await speakAll(espeak, voice(id), [id.startsWith('cmn') ? '很高兴见到你。' : 'Nice to meet you.']);
      expect(levelDb(chunks)).toBeGreaterThan(-26);
      expect(levelDb(chunks)).toBeLessThan(-17);
      expect(peakOf(chunks)).toBeLessThan(1);
    }
  });

  it('eSpeak NG speaks markup, entities and phoneme brackets as plain text', async () => {
    const plain = lengthMs(await speakAll(espeak, voice('en'), ['hello there']));
    for (const text of [
      'hello <break time="3s"/> there',
      'hello [[there]]',
      'hello \u0001 there',
      'hello <prosody rate="x-slow">there',
    ]) {
      const chunks = await speakAll(espeak, voice('en'), [text]);
      expect(chunks.map((chunk) => chunk.text)).toEqual([text]);
      expect(lengthMs(chunks)).toBeGreaterThan(plain * 0.8);
    }
    const spoken = await speakAll(espeak, voice('en'), ['hello <break time="3s"/> there']);
    expect(spoken[0]?.words?.some(({ text }) => text.includes('break'))).toBe(true);
  });

  it('eSpeak NG speaks English for an unknown voice and the plain voice for an unknown variant', async () => {
    const english = lengthMs(await speakAll(espeak, voice('en'), ['Hello there, my friend.']));
    const unknown = lengthMs(await speakAll(espeak, voice('nobody'), ['Hello there, my friend.']));
    const variant = lengthMs(await speakAll(espeak, voice('en+nobody'), ['Hello there, my friend.']));
    expect(unknown / english).toBeCloseTo(1, 1);
    expect(variant / english).toBeCloseTo(1, 1);
  });

  it('eSpeak NG skips phrases without anything to say, and speaks the rest of a phrase full of marks', async () => {
    const marks = `${'。'.repeat(3000)}好${'！'.repeat(3000)}`;
    const chunks = await speakAll(espeak, voice('cmn'), ['', '……', '😀', marks]);
    expect(chunks.map(({ text }) => text).join('')).toBe(marks);
    expect(lengthMs(chunks)).toBeLessThan(2000);
  });
});
