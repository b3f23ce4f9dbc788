import { EngineError } from '../../voices/engine.ts';
import type { ChatModel, Message } from '../chat.ts';
import { endMark, partsOf, plain, speakerNamed } from './speaker-named.ts';

/** A participant who may be chosen. */
export interface Candidate {
  readonly name: string;
  /** Other names a model may use for them. */
  readonly aliases?: readonly string[];
}

/** State of the scene for choosing the next speaker. */
export interface Choice<Who extends Candidate> {
  readonly circumstance: string;
  /** All participants who may speak now. */
  readonly candidates: readonly Who[];
  /** Candidates that can be found by address; all by default. */
  readonly callable?: readonly Who[];
  /** Last speaker, if a participant of the scene. */
  readonly last?: string | undefined;
  /** The conversation so far, oldest first; characters have a `name`, the user has none. */
  readonly history: readonly Message[];
  /** Number of turns in the scene so far. */
  readonly turns: number;
  /** The user's name in the conversation. */
  readonly userName: string;
  /** True if the user may be chosen. */
  readonly mayBeUser?: boolean;
}

/** Turns after which a model may end a scene: six, as in CoSER (`i_round >= 5`, counted from 0, after the turn). */
export const endFromTurn = 6;
/** Timeout of the model's choice: a longer wait would be a gap in the scene. */
const longestChoiceMs = 5_000;

/** True if a line ends in a dash: the next speaker cuts it off. */
export function isBrokenOff(text: string): boolean {
  return /(?:[—–]|--|——)["'”’»」』)）]*\s*$/u.test(text);
}

/** Addressee: the last candidate named in the text, if any. */
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
 * Chooses the next speaker without a model: the candidate named last in the last message; otherwise, if the user has
 * spoken, the candidate who spoke before them; otherwise the one silent longest. Deterministic; undefined if the only
 * candidate is the one who just spoke.
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
 * Asks a model for the next speaker. Falls back to `nextByAddress` if it names nobody who may speak, names the last
 * speaker, fails, or takes longer than `longestMs`. `end`: the scene is over; `user`: wait for the user.
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
