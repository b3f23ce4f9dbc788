import type { PersonRun, Run } from './world.ts';

/** The recognizer never hears a word twice, nor one before another that was said before it. */
export function wordsOnce({ engines }: PersonRun): string[] {
  return engines.flatMap(({ utterances }) => {
    const levels = utterances.flatMap(({ heard }) => heard.map(({ word }) => word.level));
    return levels.flatMap((level, index) =>
      level > (levels[index - 1] ?? 0) ? [] : [`word ${index} of what was recognized was heard twice, or out of order`],
    );
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
