import { EngineError } from '../../voices/engine.ts';
import type { ChatModel, Message } from '../chat.ts';
import { endMark, partsOf, plain, speakerNamed } from './speaker-named.ts';

/** Who may be chosen. */
export interface Candidate {
  readonly name: string;
  /** What else a model may call them. */
  readonly aliases?: readonly string[];
}

/** Where the next speaker is to be chosen. */
export interface Choice<Who extends Candidate> {
  readonly circumstance: string;
  /** Everybody who may speak now. */
  readonly candidates: readonly Who[];
  /** Those of them who are found by address; all by default. */
  readonly callable?: readonly Who[];
  /** Who spoke last, if one of the scene did. */
  readonly last?: string | undefined;
  /** The talk so far, oldest first; those of the scene by `name`, the user without. */
  readonly history: readonly Message[];
  /** Turns of the scene so far. */
  readonly turns: number;
  /** What the user is called in the talk. */
  readonly userName: string;
  /** Whether the user may be chosen. */
  readonly mayBeUser?: boolean;
}

/** A model may end a scene from this turn on (CoSER). */
export const endFromTurn = 5;
/** So long a model may think about who is next: longer would be a hole in the scene. */
const longestChoiceMs = 5_000;

/** A line that ends so was cut short by whoever speaks next. */
export function isBrokenOff(text: string): boolean {
  return /(?:[—–]|--|——)["'”’»」』)）]*\s*$/u.test(text);
}

/** Whom words are said to: whoever they name last; undefined where they name nobody of these. */
export function nameIn<Who extends Candidate>(text: string, candidates: readonly Who[]): Who | undefined {
  const words = ` ${plain(text)} `;
  const named = candidates.map((who) => ({
    who,
    at: Math.max(...callsOf(who.name).map((call) => words.lastIndexOf(call))),
  }));
  return named.filter(({ at }) => at >= 0).toSorted((left, right) => right.at - left.at)[0]?.who;
}

function callsOf(name: string): string[] {
  const calls = [plain(name), ...partsOf(name)].filter((call) => call !== '');
  return calls.length === 0 ? ['\0'] : calls.map((call) => (/\p{Script=Han}/u.test(call) ? call : ` ${call} `));
}

/**
 * Who speaks next without a model: whoever was named last in the last words; else, where the user has spoken, who spoke before
 * them; else who has been silent longest. Always the same for the same talk; undefined where there is no candidate but who has
 * just spoken.
 */
export function nextByAddress<Who extends Candidate>({
  candidates,
  callable = candidates,
  history,
  last,
}: Pick<Choice<Who>, 'candidates' | 'callable' | 'history' | 'last'>): Who | undefined {
  const free = callable.filter(({ name }) => name !== last);
  const named = nameIn(history.at(-1)?.text ?? '', free);
  if (named !== undefined) return named;
  const spokeAt = (name: string): number => history.findLastIndex((message) => message.name === name);
  const byTurn = free.toSorted((left, right) => spokeAt(left.name) - spokeAt(right.name));
  const before = byTurn.at(-1);
  const answersUser = history.at(-1)?.role === 'user' && before !== undefined && spokeAt(before.name) >= 0;
  return answersUser ? before : byTurn[0];
}

/**
 * Asks a model who speaks next; where it names nobody who may, who has just spoken, fails, or thinks for longer than `longestMs`,
 * they are found by address. `end`: the scene is over; `user`: they wait for the user.
 */
export async function nextSpeaker<Who extends Candidate>(
  choice: Choice<Who>,
  model: ChatModel,
  signal: AbortSignal,
  longestMs = longestChoiceMs,
): Promise<Who | 'end' | 'user' | undefined> {
  const names = namesIn(choice);
  try {
    const answer = await answerOf(model, choice, AbortSignal.any([signal, AbortSignal.timeout(longestMs)]));
    const aliases = choice.candidates.flatMap(({ name, aliases: also = [] }) => also.map((alias) => ({ name, alias })));
    const named = speakerNamed(answer, names, aliases);
    if (named === 'end' && choice.turns >= endFromTurn) return 'end';
    if (choice.mayBeUser === true && named === choice.userName) return 'user';
    const chosen = choice.candidates.find(({ name }) => name === named && name !== choice.last);
    return chosen ?? nextByAddress(choice);
  } catch (cause) {
    signal.throwIfAborted();
    const isTooSlow = cause instanceof DOMException && cause.name === 'TimeoutError';
    if (!isTooSlow && !(cause instanceof EngineError)) throw cause;
    return nextByAddress(choice);
  }
}

function namesIn({ candidates, userName, mayBeUser = false }: Choice<Candidate>): string[] {
  return [...candidates.map(({ name }) => name), ...(mayBeUser ? [userName] : [])];
}

async function answerOf(model: ChatModel, choice: Choice<Candidate>, signal: AbortSignal): Promise<string> {
  let answer = '';
  for await (const part of model.chat(promptFor(choice), { signal, temperature: 0, maxTokens: 120 }))
    if (part.type === 'text-delta') answer += part.text;
  return answer;
}

function promptFor(choice: Choice<Candidate>): Message[] {
  const { circumstance, history, userName } = choice;
  const names = namesIn(choice)
    .map((name) => `- ${name}`)
    .join('\n');
  const talk = history
    .map(({ name, role, text }) => `${role === 'user' ? userName : (name ?? '')}: ${text}`)
    .join('\n');
  return [
    {
      role: 'system',
      text: `You follow a scene and say who speaks or acts next.\n\n# The scene\n${circumstance}\n\n# Who is there\n${names}\n\nAnswer with one name of that list and nothing else. If the scene has come to its end, answer ${endMark}.`,
    },
    { role: 'user', text: `# So far\n${talk === '' ? '(nobody has spoken yet)' : talk}\n\nWho is next?` },
  ];
}
