import { openEngines } from '../../../server/engines/engines.ts';
import { readCharacters } from '../../../server/cast/cast.ts';
import { summarize, type BenchRow } from '../kit/stats.ts';
import { phrasesOf } from '../../fakes/spoken.ts';

const repeats = 20;
const lengths = [
  ['3 words', 'I am listening.'],
  ['12 words', 'The game is afoot, and we have very little time to lose.'],
  [
    '30 words',
    'When you have put aside everything that cannot have happened, whatever is left, however strange it may seem to you at first, is the thing that did happen, my dear friend.',
  ],
] as const;

/** Time to the first audio of a phrase, and the real-time factor of the whole; one voice of each kind. */
export async function* run(): AsyncIterable<BenchRow> {
  const engines = await openEngines({});
  const signal = new AbortController().signal;
  await engines.warm(signal);
  const characters = await readCharacters({});
  for (const id of ['sherlock-holmes', 'alice', 'sun-wukong']) {
    const character = characters.get(id);
    if (character === undefined) continue;
    const { synthesizer, voice } = engines.voiceOf(character);
    const phrases = id === 'sun-wukong' ? ([['Chinese, 12 characters', '俺老孙来也，你是何人？']] as const) : lengths;
    for (const [length, text] of phrases) {
      const first: number[] = [];
      const factor: number[] = [];
      for (let repeat = 0; repeat < repeats; repeat += 1) {
        const startMs = performance.now();
        let audioMs = 0;
        for await (const { frame } of synthesizer.speak(phrasesOf(text), { signal, voice })) {
          if (audioMs === 0) first.push(performance.now() - startMs);
          audioMs += (frame.samples.length / frame.sampleRate) * 1000;
        }
        factor.push(audioMs / (performance.now() - startMs));
      }
      yield summarize('synthesizer', `${id}, ${length}: first audio`, 'ms', first);
      yield summarize('synthesizer', `${id}, ${length}: faster than real time`, '×', factor);
    }
  }
  await engines.close();
}
