import { isGesture, isSentence, looksLikeDirection } from './stage-directions.ts';

/** Position of a mark in the text. */
export interface MarkupContext {
  /** True if only white space and markup came before on this line. */
  readonly lineStart: boolean;
  /** The character before the mark as written; '' at the start of the text. */
  readonly previous: string;
  /** The last spoken character; '' if there is none yet. */
  readonly said: string;
  /** True if no more text will come. */
  readonly ended: boolean;
}

/** How to treat the next characters: consume `take` of them and speak `say` instead. `fence` opens a code block. */
export interface MarkupStep {
  readonly take: number;
  readonly say: string;
  readonly fence?: boolean;
}

/** Examines text that begins with the rule's mark. Undefined means more text is needed to decide. */
type Rule = (rest: string, context: MarkupContext) => MarkupStep | undefined;

/** Longest stage direction or bracketed span; one that has not closed by then is not markup. */
const spanLimit = 200;

const linkLimit = 500;

/** Characters after which an asterisk can open a span; after anything else it closes one or stands inside a word. */
const opensAfter = /[\s"“‘「『(（.,;:!?…。，；：！？—–-]/u;

/** Rules by their first character; `link` is an h at the start of a word, `number` a digit at the start of a line. */
export const markupRules: Readonly<Record<string, Rule | undefined>> = {
  '*': asterisk,
  '(': (rest, context) => parenthesis(rest, context, ')'),
  '（': (rest, context) => parenthesis(rest, context, '）'),
  '[': bracket,
  ']': closingBracket,
  '【': (rest, context) => dropSpan(rest, context, '】'),
  '［': (rest, context) => dropSpan(rest, context, '］'),
  '〔': (rest, context) => dropSpan(rest, context, '〕'),
  _: underscore,
  '`': backtick,
  '#': (rest, context) => atLineStart(rest, context, /^#{1,6}\s/, /^#{1,6}$/),
  // A horizontal rule of dashes: every dash after a dropped one is dropped too.
  '-': (rest, context) =>
    context.lineStart && context.previous === '-' ? drop(1) : atLineStart(rest, context, /^-(?:\s|--)/, /^--?$/),
  '+': (rest, context) => atLineStart(rest, context, /^\+\s/, /^\+$/),
  '•': () => drop(1),
  '>': (_rest, context) => (context.lineStart ? drop(1) : keep('>')),
  '<': tag,
  '~': wave,
  '～': wave,
  '|': () => drop(1),
  '\\': escape,
  link,
  number: listNumber,
};

/** Between digits a tilde means "to" and becomes a dash; elsewhere it marks strikethrough or a drawn-out sound. */
function wave(rest: string, context: MarkupContext): MarkupStep | undefined {
  if (rest.length < 2 && !context.ended) return undefined;
  return /\d/.test(context.previous) && /^.\d/.test(rest) ? { take: 1, say: '–' } : drop(1);
}

function drop(take: number): MarkupStep {
  return { take, say: '' };
}

function keep(character: string): MarkupStep {
  return { take: 1, say: character };
}

/** Index of `close` on this line within the limit, -1 if it will not come, undefined if it still may. */
function closerOf(rest: string, close: string, limit: number, ended: boolean): number | undefined {
  const head = rest.slice(0, limit);
  const lineEnd = head.indexOf('\n');
  const at = head.indexOf(close, 1);
  if (at >= 0 && (lineEnd < 0 || at < lineEnd)) return at;
  return lineEnd >= 0 || rest.length >= limit || ended ? -1 : undefined;
}

/** The next character that is no space: '\n' at a line end, '' at the end of the text, undefined if not known yet. */
function characterAfter(rest: string, from: number, ended: boolean): string | undefined {
  const found = /^[^\S\n]*(\n|\S)/u.exec(rest.slice(from, from + spanLimit));
  if (found !== null) return found[1];
  return ended || rest.length >= from + spanLimit ? '' : undefined;
}

function asterisk(rest: string, context: MarkupContext): MarkupStep | undefined {
  const run = /^\*{1,200}/.exec(rest)?.[0].length ?? 1;
  if (run === rest.length && !context.ended && run < spanLimit) return undefined;
  const opens = run === 1 && /^\*\S/.test(rest) && (context.previous === '' || opensAfter.test(context.previous));
  if (!opens) return drop(run);
  const close = closerOf(rest, '*', spanLimit, context.ended);
  if (close === undefined) return undefined;
  const inside = rest.slice(1, close);
  if (close < 0 || /\s$/u.test(inside)) return drop(1);
  const after = characterAfter(rest, close + 1, context.ended);
  if (after === undefined) return undefined;
  return isStageDirection({ inside, isStarred: true, before: context.said, after }) ? drop(close + 1) : drop(1);
}

function parenthesis(rest: string, context: MarkupContext, closing: string): MarkupStep | undefined {
  const close = closerOf(rest, closing, spanLimit, context.ended);
  if (close === undefined) return undefined;
  if (close < 0) return keep(rest.charAt(0));
  const after = characterAfter(rest, close + 1, context.ended);
  if (after === undefined) return undefined;
  const inside = rest.slice(1, close);
  const aside = inside.trim().split(/\s+/u).length > 6 || isSentence(inside.trim());
  const direction = !aside && isStageDirection({ inside, before: context.said, after });
  return direction ? drop(close + 1) : keep(rest.charAt(0));
}

/** Brackets hold stage directions and notes, except for the text of a link, whose address `closingBracket` drops. */
function bracket(rest: string, context: MarkupContext): MarkupStep | undefined {
  const close = closerOf(rest, ']', spanLimit, context.ended);
  if (close === undefined) return undefined;
  if (close < 0) return drop(1);
  if (close + 1 === rest.length && !context.ended) return undefined;
  return rest[close + 1] === '(' ? drop(1) : drop(close + 1);
}

function closingBracket(rest: string, context: MarkupContext): MarkupStep | undefined {
  if (rest.length < 2 && !context.ended) return undefined;
  if (rest[1] !== '(') return drop(1);
  const close = closerOf(rest, ')', linkLimit, context.ended);
  if (close === undefined) return undefined;
  return drop(close < 0 ? 1 : close + 1);
}

function dropSpan(rest: string, context: MarkupContext, closing: string): MarkupStep | undefined {
  const close = closerOf(rest, closing, spanLimit, context.ended);
  return close === undefined ? undefined : drop(Math.max(1, close + 1));
}

function underscore(rest: string, context: MarkupContext): MarkupStep | undefined {
  const next = rest[1];
  if (next === undefined && !context.ended) return undefined;
  const inWord = /[\p{L}\p{N}]/u.test(context.previous) && next !== undefined && /[\p{L}\p{N}]/u.test(next);
  return inWord ? { take: 1, say: ' ' } : drop(1);
}

function backtick(rest: string, context: MarkupContext): MarkupStep | undefined {
  const run = /^`{1,200}/.exec(rest)?.[0].length ?? 1;
  if (run === rest.length && !context.ended && run < spanLimit) return undefined;
  return { take: run, say: '', fence: run >= 3 && context.lineStart };
}

/** Drops what `mark` matches at the start of a line; `maybe` matches text that may still become a match. */
function atLineStart(rest: string, context: MarkupContext, mark: RegExp, maybe: RegExp): MarkupStep | undefined {
  if (!context.lineStart) return keep(rest.charAt(0));
  if (rest.length < spanLimit && !context.ended && maybe.test(rest)) return undefined;
  const found = mark.exec(rest);
  // Keep the white space after a mark: line ends must still be seen.
  return found === null ? keep(rest.charAt(0)) : drop(found[0].trimEnd().length);
}

/** "1. " begins a list item; at the start only number one does, because "42. That is the answer." is speech. */
function listNumber(rest: string, context: MarkupContext): MarkupStep | undefined {
  if (context.said === '' && !rest.startsWith('1')) return keep(rest.charAt(0));
  return atLineStart(rest, context, /^\d{1,2}[.)]\s/, /^\d{1,2}[.)]?$/);
}

function tag(rest: string, context: MarkupContext): MarkupStep | undefined {
  if (rest.length < 2 && !context.ended) return undefined;
  if (!/^<[A-Za-z/!]/.test(rest)) return keep('<');
  const close = closerOf(rest, '>', spanLimit, context.ended);
  if (close === undefined) return undefined;
  const isTag = close > 0 && /^<(?:!--.*|\/?[A-Za-z][\w-]*(?:\s[^<>]*=[^<>]*)?\s*\/?)>$/.test(rest.slice(0, close + 1));
  return isTag ? drop(close + 1) : keep('<');
}

function escape(rest: string, context: MarkupContext): MarkupStep | undefined {
  const next = rest[1];
  if (next === undefined) return context.ended ? drop(1) : undefined;
  if (/[*_`~|<>\\#]/.test(next)) return drop(2);
  return drop(1);
}

/** Speaks only the host of a web address. */
function link(rest: string, context: MarkupContext): MarkupStep | undefined {
  const start = rest.slice(0, 8).toLowerCase();
  const complete = /^https?:\/\//.exec(start);
  if (complete === null) {
    const maybe = !context.ended && ['http://', 'https://'].some((scheme) => scheme.startsWith(start));
    return maybe ? undefined : keep(rest.charAt(0));
  }
  const address = /^[^\s<>)\]"“”]*/u.exec(rest.slice(0, linkLimit))?.[0] ?? '';
  if (address.length === rest.length && !context.ended) return undefined;
  const bare = address.replace(/[.,;:!?'*_]+$/u, '');
  const host = /^https?:\/\/(?:www\.)?([^/?#:]*)/i.exec(bare)?.[1] ?? '';
  return { take: Math.max(1, bare.length), say: host };
}

/** Text between marks that may be a stage direction. */
interface MarkedText {
  readonly inside: string;
  readonly isStarred?: boolean;
  /** The last character spoken before it; '' if there is none. */
  readonly before: string;
  /** The first non-space character after it: '\n' at a line end, '' at the end of the text. */
  readonly after: string;
}

/** A direction stands between sentences; inside a sentence only a gesture counts as one. */
function isStageDirection({ inside, isStarred = false, before, after }: MarkedText): boolean {
  if (isGesture(inside)) return true;
  const startsApart = before === '' || /[.!?…。！？，,;；:："”’」』)）—–-]/u.test(before);
  const endsApart = after === '' || /[\n\p{Lu}\p{N}"“‘「『([*（—…\p{Script=Han}]/u.test(after);
  return startsApart && (endsApart || /\p{Script=Han}/u.test(inside)) && looksLikeDirection(inside, isStarred);
}
