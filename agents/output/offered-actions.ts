/** An action of a game that a character may choose at any word of a reply. */
export interface OfferedAction {
  readonly name: string;
  readonly aliases: readonly string[];
  /** Description for the chat model, such as "points with the hand". */
  readonly about: string;
  /** Kind of its target: an object of the world, a participant, either, or none. */
  readonly target: 'none' | 'object' | 'person' | 'either';
  readonly args: Readonly<Record<string, ActionArgument>>;
  /** It takes place at its word, or when all of the reply was heard. */
  readonly when: 'word' | 'end';
  /** It takes time, and ends if the user interrupts. */
  readonly stopsOnBargeIn: boolean;
}

/** One argument of an action. */
export interface ActionArgument {
  readonly type: 'string' | 'number' | 'integer' | 'boolean';
  readonly isRequired: boolean;
  /** The only values; any if absent. */
  readonly choices?: readonly (string | number)[] | undefined;
  readonly minimum?: number | undefined;
  readonly maximum?: number | undefined;
}

/** An object or a person that an action may be done to. */
export interface Target {
  readonly id: string;
  readonly names: readonly string[];
  readonly kind: 'object' | 'person';
  /** Names of actions that an object allows. */
  readonly can?: readonly string[] | undefined;
}

/** The things and people around, and the one that "this" means. */
export interface Targets {
  readonly all: readonly Target[];
  readonly attention?: string | undefined;
}

type Arguments = Readonly<Record<string, string | number | boolean>>;

/** An action of the offer as a chat model wrote it. */
export interface ChosenAction {
  readonly offer: OfferedAction;
  readonly target?: string | undefined;
  readonly args: Arguments;
}

const article = /^(?:the|an?|my|your|his|her|its|their|our)\s+/u;
const preposition = /^(?:at|to|towards?|onto|into|on|in|of|with|from|for|up|down|over|after|by)\s+/u;
const pointer = /^(?:this|that|it|this one|that one|这个?|那个?|它)$/u;

/**
 * Resolves text in brackets to an action of the offer: name and target by exact name, id or alias, without article, then
 * by a part that only one has. Never guesses between two, and refuses what the offer does not allow; undefined then.
 */
export function actionIn(inside: string, offers: readonly OfferedAction[], around: Targets): ChosenAction | undefined {
  const named = namedIn(inside, offers);
  if (named === undefined) return undefined;
  const { offer } = named;
  const { args: written, rest } = argumentsIn(named.rest, offer);
  const args = checked(written, offer.args);
  if (args === undefined) return undefined;
  const said = plain(rest);
  if (offer.target === 'none') return said === '' || /^\p{L}+ly$/u.test(said) ? { offer, args } : undefined;
  const target = targetIn(said, allowedFor(offer, around.all), around.attention);
  return target === undefined ? undefined : { offer, target: target.id, args };
}

/** Returns true if the text begins with the name of an action on offer. */
export function namesAction(inside: string, offers: readonly OfferedAction[]): boolean {
  return namedIn(inside, offers) !== undefined;
}

/** Returns the form in which a chat model writes an action, without its brackets. */
export function writtenAction({ offer, target, args }: ChosenAction): string {
  const given = Object.entries(args).map(([name, value]) => `${name}=${quoted(String(value))}`);
  return [offer.name, ...(target === undefined ? [] : [target]), ...given].join(' ');
}

/** Returns an action in words, such as "points at the brass lantern"; as it was written, if that was in words. */
export function toldAction(inside: string, chosen: ChosenAction, targetName: string | undefined): string {
  const isWords = !/[_=]/u.test(inside) && plain(inside) !== plain(writtenAction(chosen));
  if (isWords) return inside;
  const [verb = '', ...rest] = wordsOf(chosen.offer.name);
  const isName = targetName === undefined || /^(?:\p{Lu}|(?:the|an?|my|your)\s)/u.test(targetName);
  const target = targetName === undefined ? [] : [isName ? targetName : `the ${targetName}`];
  return [thirdPerson(verb), ...rest, ...target].join(' ');
}

function thirdPerson(verb: string): string {
  if (!/^[a-z]+$/u.test(verb)) return verb;
  if (/(?:s|sh|ch|x|z|o)$/u.test(verb)) return `${verb}es`;
  return /[^aeiou]y$/u.test(verb) ? `${verb.slice(0, -1)}ies` : `${verb}s`;
}

/** Returns the line of an offer in a prompt, such as `(point_at OBJECT): points with the hand`. */
export function offerLine({ name, about, target, args, when }: OfferedAction): string {
  const targets = { none: '', object: ' OBJECT', person: ' PERSON', either: ' OBJECT-OR-PERSON' };
  const slots = Object.entries(args).map(([arg, rule]) => {
    const slot = `${arg}=${rule.choices?.join('|') ?? rule.type}`;
    return rule.isRequired ? ` ${slot}` : ` [${slot}]`;
  });
  const told = [about, when === 'end' ? 'when you have finished speaking' : ''].filter(Boolean).join(', ');
  return `(${name}${targets[target]}${slots.join('')})${told === '' ? '' : `: ${told}`}`;
}

function namedIn(inside: string, offers: readonly OfferedAction[]): { offer: OfferedAction; rest: string } | undefined {
  const words = [...inside.matchAll(/[\p{L}\p{N}\p{M}'’]+/gu)];
  const heads = words.map(([word]) => word.toLowerCase());
  const isStart = words[0] !== undefined && inside.slice(0, words[0].index).trim() === '';
  if (!isStart) return undefined;
  const whole = offers.flatMap((offer) =>
    [offer.name, ...offer.aliases].flatMap((name) => {
      const parts = wordsOf(name);
      const fits = parts.length > 0 && parts.every((part, at) => isForm(heads[at], part, at === 0));
      return fits ? [{ offer, length: parts.length }] : [];
    }),
  );
  const longest = Math.max(0, ...whole.map(({ length }) => length));
  const best = [...new Set(whole.filter(({ length }) => length === longest).map(({ offer }) => offer))];
  // By a part of its name, if no other action has that part.
  const parts =
    best.length > 0 ? [] : offers.filter(({ name }) => wordsOf(name).some((part) => isForm(heads[0], part, true)));
  const [offer, another] = best.length > 0 ? best : parts;
  if (offer === undefined || another !== undefined) return undefined;
  const last = words[Math.max(longest, 1) - 1];
  return last === undefined ? undefined : { offer, rest: inside.slice(last.index + last[0].length) };
}

/** Returns whether a word is the part of a name; its verb also as in "points" and "pointing". */
function isForm(word: string | undefined, part: string, isVerb: boolean): boolean {
  if (word === undefined || word === part) return word === part;
  if (!isVerb || part.length < 3) return false;
  return (
    word === `${part}s` || word === `${part}es` || word === `${part}ing` || word === `${part.replace(/e$/u, '')}ing`
  );
}

function argumentsIn(text: string, { args }: OfferedAction): { args: Readonly<Record<string, string>>; rest: string } {
  const found: Record<string, string> = {};
  const rest = text.replaceAll(
    /([\p{L}_][\p{L}\p{N}_-]*)\s*[=:：]\s*(?:"([^"]*)"|“([^”]*)”|'([^']*)'|([^\s,;]+))/gu,
    (whole: string, name: string, ...values: (string | undefined)[]) => {
      if (!Object.hasOwn(args, name)) return whole;
      found[name] = values.slice(0, 4).find((value) => value !== undefined) ?? '';
      return ' ';
    },
  );
  return { args: found, rest };
}

/** Returns the arguments in their types; undefined if one is missing, or not as its schema says. */
function checked(
  written: Readonly<Record<string, string>>,
  rules: Readonly<Record<string, ActionArgument>>,
): Arguments | undefined {
  const args: Record<string, string | number | boolean> = {};
  for (const [name, rule] of Object.entries(rules)) {
    const text = Object.hasOwn(written, name) ? written[name] : undefined;
    if (text === undefined && rule.isRequired) return undefined;
    if (text === undefined) continue;
    const value = valueOf(text, rule);
    if (value === undefined) return undefined;
    args[name] = value;
  }
  return args;
}

const longestText = 200;

function valueOf(
  text: string,
  { type, choices, minimum = -Infinity, maximum = Infinity }: ActionArgument,
): string | number | boolean | undefined {
  const choice = choices?.find((one) => String(one).toLowerCase() === text.trim().toLowerCase());
  if (choices !== undefined) return choice;
  if (type === 'string') return text.length <= longestText ? text : undefined;
  if (type === 'boolean')
    return /^(?:true|yes)$/iu.test(text) ? true : /^(?:false|no)$/iu.test(text) ? false : undefined;
  const number = text.trim() === '' ? NaN : Number(text);
  const isIn = Number.isFinite(number) && number >= minimum && number <= maximum;
  return isIn && (type === 'number' || Number.isInteger(number)) ? number : undefined;
}

/** Returns the possible targets of an action. If some object names the action, only objects that name it are possible. */
function allowedFor({ name, target }: OfferedAction, all: readonly Target[]): Target[] {
  const isNamed = all.some(({ can }) => can?.includes(name) === true);
  return all.filter(
    ({ kind, can }) =>
      (target === 'either' || kind === target) && (kind === 'person' || !isNamed || can?.includes(name) === true),
  );
}

function targetIn(said: string, targets: readonly Target[], attention: string | undefined): Target | undefined {
  const bare = said.replace(preposition, '').replace(article, '');
  if (pointer.test(said.replace(preposition, ''))) return targets.find(({ id }) => id === attention);
  const forms = [...new Set([said, said.replace(article, ''), bare])].filter((form) => form !== '');
  for (const form of forms) {
    const exact = targets.filter(({ id, names }) => [id, ...names].some((name) => plain(name) === form));
    if (exact.length > 0) return exact.length === 1 ? exact[0] : undefined;
  }
  const words = bare.split(' ').filter(Boolean);
  if (words.length === 0) return undefined;
  const partly = targets.filter(({ id, names }) =>
    [id, ...names].some((name) => {
      const own = plain(name).split(' ');
      return words.every((word) => own.includes(word));
    }),
  );
  return partly.length === 1 ? partly[0] : undefined;
}

function wordsOf(name: string): string[] {
  return plain(name).split(' ').filter(Boolean);
}

/** Lower case words with single spaces: `Point_At` and "point at" are the same. */
function plain(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\p{M}'’]+/gu, ' ')
    .trim();
}

function quoted(text: string): string {
  return /^[^\s,;"“”']+$/u.test(text) ? text : `"${text.replaceAll('"', "'")}"`;
}
