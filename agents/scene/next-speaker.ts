import { EngineError } from '../../voices/engine.ts';
import type { ChatModel, Message } from '../chat.ts';

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

/** Marker that a model writes when a scene is over (CoSER). */
export const endMark = '<END CHAT>';

const label =
  /(?:next[\s_-]*speaker["'`*_#\s]*(?:[:：=-]|\bis\b)|下一(?:个|位)?(?:发言|说话|讲话|开口)?(?:的?(?:人|者|角色))?(?:应该|应当|该)?(?:是|为|[:：]))(.*)$/gimu;
const ends = new Set(
  'end chat|endchat|end|the end|end scene|end of scene|end of the scene|scene end|scene ends|the scene ends|the scene is over|scene over|结束|对话结束|结束对话|场景结束|本场结束|剧终|全剧终'.split(
    '|',
  ),
);
/** Text that may follow a name that is the answer, rather than part of its reasoning. */
const afterAnswer =
  /^\s*(?:$|[,，.。;；:：()（）!！–—-]|(?:because|since|for|as|should|must|will|would|is (?:the )?next|is to|speaks next|goes next|next)\b|因为|应该|应当|接着|接下来|来说|会|说|继续)/iu;

/** Alternative name of a participant. */
export interface Alias {
  readonly name: string;
  readonly alias: string;
}

/**
 * Finds the name of a list that a model's answer means: `end` for "<END CHAT>" and the like, undefined if it names
 * nobody. Ignores Markdown, quotes, labels and reasoning before it. A line "Next Speaker: X" takes precedence, then the
 * last line, then the name mentioned last; an alias or part of a name counts if it is unambiguous.
 */
export function speakerNamed(
  answer: string,
  names: readonly string[],
  aliases: readonly Alias[] = [],
): string | undefined {
  const said = answer.split('</think>').at(-1) ?? '';
  const labelled = [...said.matchAll(label)].map((match) => match[1] ?? '').findLast((rest) => plain(rest) !== '');
  if (labelled !== undefined) {
    const found = inAnswer(labelled, names, aliases, 'first');
    if (found !== undefined) return found;
  }
  const lines = said.split('\n').filter((line) => plain(line) !== '');
  for (const place of [lines.at(-1) ?? '', said]) {
    const found = inAnswer(place, names, aliases, 'last');
    if (found !== undefined) return found;
  }
  return undefined;
}

function inAnswer(
  text: string,
  names: readonly string[],
  aliases: readonly Alias[],
  which: 'first' | 'last',
): string | undefined {
  const said = plain(text);
  if (ends.has(said)) return 'end';
  const whole = placesOf(said, [
    ...names.map((name) => ({ name, word: plain(name) })),
    { name: 'end', word: plain(endMark) },
  ]);
  const others = [...aliases.map(({ name, alias }) => ({ name, word: plain(alias) })), ...partsOnlyOneHas(names)];
  const places = whole.length > 0 ? whole : placesOf(said, others);
  const [first] = places;
  if (first === undefined) return undefined;
  const answersAtOnce = first.at === 0 && afterAnswer.test(afterName(text, first.word));
  return which === 'first' || answersAtOnce ? first.name : places.at(-1)?.name;
}

interface Place {
  readonly name: string;
  readonly word: string;
  readonly at: number;
}

/** Positions of names, in order; of two at one position, such as "Anne" and "Anne Elliot", the longer one. */
function placesOf(said: string, wanted: readonly { readonly name: string; readonly word: string }[]): Place[] {
  const found = wanted.flatMap(({ name, word }) => occurrences(said, word).map((at) => ({ name, word, at })));
  const longestFirst = found.toSorted((left, right) => left.at - right.at || right.word.length - left.word.length);
  return longestFirst.filter(
    (place) =>
      !found.some(
        (other) =>
          other.word.length > place.word.length &&
          other.at <= place.at &&
          other.at + other.word.length >= place.at + place.word.length,
      ),
  );
}

function occurrences(said: string, word: string): number[] {
  if (word === '') return [];
  const isHan = /\p{Script=Han}/u.test(word);
  const [text, sought] = isHan ? [said, word] : [` ${said} `, ` ${word} `];
  const found: number[] = [];
  for (let at = text.indexOf(sought); at >= 0; at = text.indexOf(sought, at + 1)) found.push(at);
  return found;
}

/** The text after a name, with its punctuation: only letters are compared. */
function afterName(text: string, word: string): string {
  let letters = word.replaceAll(' ', '').length;
  let at = 0;
  for (const sign of text.normalize('NFKD')) {
    if (letters === 0) break;
    at += sign.length;
    if (/[\p{L}\p{N}]/u.test(sign)) letters -= 1;
  }
  return text
    .normalize('NFKD')
    .slice(at)
    .replace(/^[\p{M}*_"'”’»」』`\s]+/u, '');
}

/** Parts of names that may be used alone, such as "Holmes" and "黛玉". */
export function partsOf(name: string): string[] {
  const said = plain(name);
  if (/^\p{Script=Han}{3}$/u.test(said)) return [said.slice(1)];
  const words = said.split(' ');
  return words.length > 1 ? words.filter((word) => word.length > 3) : [];
}

function partsOnlyOneHas(names: readonly string[]): { name: string; word: string }[] {
  const parts = names.flatMap((name) => partsOf(name).map((word) => ({ name, word })));
  return parts.filter(({ name, word }) => !parts.some((other) => other.word === word && other.name !== name));
}

/** Normalizes to letters and digits, in lower case and without accents. */
export function plain(text: string): string {
  return text
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
}
