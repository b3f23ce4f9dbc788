import { sampleRate } from './speech.ts';
import type { PersonRun, Run } from './world.ts';

/** The recognizer never hears the same sound twice, nor a word before another that was said before it. */
export function wordsOnce({ person, engines }: PersonRun): string[] {
  const samplesOf = new Map(
    person.mouth.said.map(({ level, startMs, endMs }) => [level, ((endMs - startMs) * sampleRate) / 1000]),
  );
  return engines.flatMap(({ utterances }) => {
    const heard = utterances.flatMap((utterance) => utterance.heard);
    const total = new Map<number, number>();
    for (const { word, samples } of heard) total.set(word.level, (total.get(word.level) ?? 0) + samples);
    const twice = [...total].filter(([level, samples]) => samples > (samplesOf.get(level) ?? 0) + 1);
    const early = heard.filter(({ word }, index) => word.level < (heard[index - 1]?.word.level ?? 0));
    return [
      ...twice.map(([level]) => `sound of word ${level} was recognized twice`),
      ...early.map(({ word }) => `word ${word.level} was recognized out of order`),
    ];
  });
}

/** What is said in one conversation is heard, thought of and spoken in no other. */
export function wordsApart({ people, vocabulary }: Run): string[] {
  return people.flatMap(({ person, engines }) => {
    const own = new Set([person.name, `${person.name}'s character`]);
    const heardByServer = engines.flatMap(({ utterances }) => utterances.flatMap(({ heard }) => heard));
    const heardByPerson = person.speaker.heard;
    const foreign = [...heardByServer, ...heardByPerson].filter(({ word }) => !own.has(word.speaker));
    const thought = engines.flatMap(({ histories }) => histories.flatMap((history) => history.map(({ text }) => text)));
    const saidByOthers = vocabulary.wordsOf((speaker) => !own.has(speaker));
    const saidByOwn = vocabulary.wordsOf((speaker) => own.has(speaker));
    const strange = thought.filter((text) =>
      text.split(/\s+/u).some((word) => saidByOthers.has(word) && !saidByOwn.has(word)),
    );
    return [
      ...foreign.map(({ word }) => `${person.name} has a word of ${word.speaker}`),
      ...strange.map(() => `the mind of ${person.name} was told what somebody else said`),
    ];
  });
}
