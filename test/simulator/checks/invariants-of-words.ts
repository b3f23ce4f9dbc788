import type { Step } from '../step.ts';
import type { PersonRun, Run } from '../world.ts';

/** Checks that the transcripts are a subsequence of what was said: no word is invented or transcribed twice. */
export function wordsOnce({ person: { mouth, record } }: PersonRun): string[] {
  const said = mouth.said.flatMap(({ word }) => (word === undefined ? [] : [word.text]));
  let place = 0;
  for (const { id } of record.items) {
    for (const word of (record.transcripts.get(id) ?? '').split(' ').filter(Boolean)) {
      const found = said.indexOf(word, place);
      if (found < 0) return [`“${word}” was understood, and not said then`];
      place = found + 1;
    }
  }
  return [];
}

/** Steps that may keep words from being transcribed: buttons, settings. */
const takesWords: ReadonlySet<Step['do']> = new Set(['send', 'commit', 'mute', 'vanish', 'hang up', 'stop server']);

/** Checks that no word said while the session was listening is lost. */
export function wordsKept({ person: { mouth, record }, part, probe, engines }: PersonRun): string[] {
  const isBroken = part.engines?.hears?.some(({ fails, unclear }) => fails !== undefined || unclear === true) === true;
  const isPatient = allSteps(part.script).every((step) => !takesWords.has(step.do));
  const isListening = part.session === undefined && part.engines?.deafAt === undefined && part.client !== 'plain';
  if (isBroken || !isPatient || !isListening || probe === undefined || engines.length > 1 || record.lostMs > 0)
    return [];
  const understood = new Set([...record.transcripts.values()].flatMap((text) => (text ?? '').split(' ')));
  const lost = mouth.said.filter(({ word }) => word !== undefined && !understood.has(word.text));
  // Too short to be told from a cough.
  const missed = lost.filter((one) => runAround(one, mouth.said) >= leastRunMs);
  return missed.map(({ word }) => `“${word?.text}” was said, and never understood`);
}

const leastRunMs = 400;

/** Length of the speech without pauses around a word. */
function runAround(
  one: PersonRun['person']['mouth']['said'][number],
  said: PersonRun['person']['mouth']['said'],
): number {
  const place = said.indexOf(one);
  let [first, last] = [place, place];
  while (said[first - 1]?.endMs === said[first]?.startMs) first -= 1;
  while (said[last + 1]?.startMs === said[last]?.endMs) last += 1;
  return (said[last]?.endMs ?? 0) - (said[first]?.startMs ?? 0);
}

/** All steps of a script, including those inside `meanwhile`. */
export function allSteps(steps: readonly Step[]): Step[] {
  return steps.flatMap((step) => [step, ...(step.do === 'meanwhile' ? allSteps(step.steps) : [])]);
}

/** Checks that the words of one conversation do not appear in another: neither heard, nor in a history, nor spoken. */
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
