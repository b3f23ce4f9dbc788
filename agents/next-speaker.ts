import { EngineError } from '../voices/engine.ts';
import type { ChatModel, Message } from './chat.ts';

/** Who may be chosen. */
export interface Candidate {
  readonly name: string;
}

/** Where the next speaker is to be chosen. */
export interface Choice<Who extends Candidate> {
  readonly circumstance: string;
  /** Everybody who may speak now. */
  readonly candidates: readonly Who[];
  /** Who spoke last, if one of the scene did. */
  readonly last?: string | undefined;
  /** The talk so far, oldest first; those of the scene by `name`, the user without. */
  readonly history: readonly Message[];
  /** Turns of the scene so far. */
  readonly turns: number;
  /** What the user is called in the talk. */
  readonly userName: string;
}

/** A model may end a scene from this turn on (CoSER). */
export const endFromTurn = 5;
const endMark = 'end chat';

/**
 * The name of a list that an answer of a model means: `end` for "<END CHAT>", undefined where it names nobody. Markdown, quotes,
 * labels and reasoning before it are passed over; of several names the last counts, of a line "Next Speaker: X" that one.
 */
export function speakerNamed(answer: string, names: readonly string[]): string | undefined {
  const labelled = [...answer.matchAll(/next\s+speaker["'*_#\s]*(?:[:：-]|\bis\b)(.*)$/gimu)].map(
    (match) => match[1] ?? '',
  );
  const lines = answer.split('\n').filter((line) => line.trim() !== '');
  for (const place of [labelled.findLast((line) => plain(line) !== ''), lines.at(-1), answer]) {
    const found = place === undefined ? undefined : nameIn(plain(place), names);
    if (found !== undefined) return found;
  }
  return undefined;
}

function nameIn(said: string, names: readonly string[]): string | undefined {
  const exact = names.find((name) => plain(name) === said);
  if (exact !== undefined) return exact;
  const places = [
    ...names.map((name) => ({ name, at: lastPlace(said, plain(name)), length: name.length })),
    { name: 'end', at: lastPlace(said, endMark), length: endMark.length },
  ].filter(({ at }) => at >= 0);
  // Of two names at one place, such as "Anne" and "Anne Elliot", the longer one is meant.
  return places.toSorted((left, right) => right.at - left.at || right.length - left.length)[0]?.name;
}

function lastPlace(text: string, word: string): number {
  return word === '' ? -1 : ` ${text} `.lastIndexOf(/\p{Script=Han}/u.test(word) ? word : ` ${word} `);
}

/** Letters and digits only, in lower case. */
function plain(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
}

/**
 * Who speaks next without a model: whoever was named last in the last words, else who has been silent longest. Always the same
 * for the same talk; undefined where there is no candidate but who has just spoken.
 */
export function nextByAddress<Who extends Candidate>({ candidates, history, last }: Choice<Who>): Who | undefined {
  const free = candidates.filter(({ name }) => name !== last);
  const words = ` ${plain(history.at(-1)?.text ?? '')} `;
  const named = free
    .map((who) => ({ who, at: Math.max(...partsOf(who.name).map((part) => words.lastIndexOf(part))) }))
    .filter(({ at }) => at >= 0)
    .toSorted((left, right) => right.at - left.at)[0];
  if (named !== undefined) return named.who;
  const spokeAt = (name: string): number => history.findLastIndex((message) => message.name === name);
  return free.toSorted((left, right) => spokeAt(left.name) - spokeAt(right.name))[0];
}

function partsOf(name: string): string[] {
  const words = plain(name).split(' ');
  const parts = words.length > 1 ? words.filter((word) => word.length > 3) : [];
  return [plain(name), ...parts].map((part) => (/\p{Script=Han}/u.test(part) ? part : ` ${part} `));
}

/** Asks a model who speaks next; whom it names wrongly, or cannot name, is found by address. `end`: the scene is over. */
export async function nextSpeaker<Who extends Candidate>(
  choice: Choice<Who>,
  model: ChatModel,
  signal: AbortSignal,
): Promise<Who | 'end' | undefined> {
  const names = choice.candidates.map(({ name }) => name);
  try {
    let answer = '';
    for await (const part of model.chat(promptFor(choice), { signal, temperature: 0, maxTokens: 120 }))
      if (part.type === 'text-delta') answer += part.text;
    const named = speakerNamed(answer, names);
    if (named === 'end' && choice.turns >= endFromTurn) return 'end';
    const chosen = choice.candidates.find(({ name }) => name === named && name !== choice.last);
    return chosen ?? nextByAddress(choice);
  } catch (cause) {
    signal.throwIfAborted();
    if (!(cause instanceof EngineError)) throw cause;
    return nextByAddress(choice);
  }
}

function promptFor({ circumstance, candidates, history, userName }: Choice<Candidate>): Message[] {
  const names = candidates.map(({ name }) => `- ${name}`).join('\n');
  const talk = history
    .map(({ name, role, text }) => `${role === 'user' ? userName : (name ?? '')}: ${text}`)
    .join('\n');
  return [
    {
      role: 'system',
      text: `You follow a scene and say who speaks or acts next.\n\n# The scene\n${circumstance}\n\n# Who is there\n${names}\n\nAnswer with one name of that list and nothing else. If the scene has come to its end, answer <END CHAT>.`,
    },
    { role: 'user', text: `# So far\n${talk === '' ? '(nobody has spoken yet)' : talk}\n\nWho is next?` },
  ];
}
