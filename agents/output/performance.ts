import type { Emotion } from '../../characters/emotion.ts';
import { isNote, isPlainGesture, looksLikeAction } from './directions.ts';
import { emotionNamed, emotionTags, endsSentence, type FeltText } from './emotion-tags.ts';

/** What a performance has besides speech: what all can see, what nobody is told, what is told of the place. */
export const cueKinds = ['action', 'thought', 'narration'] as const;

export type CueKind = (typeof cueKinds)[number];

/** Part of a reply that is not spoken. */
export interface Cue {
  readonly kind: CueKind;
  readonly text: string;
}

/** A piece of a performance, in the order it was written. */
export type PerformancePart =
  | { readonly type: 'speech'; readonly text: string; readonly emotion?: Emotion }
  | ({ readonly type: 'cue' } & Cue);

/**
 * `marked`: the model was told to put thoughts in square brackets and actions in parentheses, so all of them are. `spoken`: it
 * was told to write speech alone, so only what stands between sentences and looks like a direction is one.
 */
export type ScriptForm = 'marked' | 'spoken';

/** Feeds text deltas through; `rest` gives what was held back at the end. */
export interface Performance {
  add(delta: string): PerformancePart[];
  rest(): PerformancePart[];
}

const closers: Readonly<Record<string, string>> = {
  '[': ']',
  '［': '］',
  '【': '】',
  '〔': '〕',
  '{': '}',
  '｛': '｝',
  '(': ')',
  '（': '）',
};
const opener = /[[［【〔{｛(（*_]/u;
const squares = '[［【〔{｛';
/** Only where a model was told to write speech alone: longer text in brackets is no direction. */
const longestDirection = 300;
/** So long is a bracket inside a sentence waited for, where speech alone was asked for. */
const longestGesture = 24;
const narrators = ['narrator:', 'narrator：', 'narration:', 'environment:', 'environment：', '旁白：', '旁白:'];

function asSpeech(felt: FeltText): PerformancePart {
  return { type: 'speech', ...felt };
}

/** Reads a performance script as it streams: speech, (actions), [thoughts], [emotion] tags and lines of a narrator. */
export function performanceScript(form: ScriptForm = 'spoken'): Performance {
  const tags = emotionTags();
  let held = '';
  /** The end of the speech before, and whether white space that follows has been said already. */
  let before = '';
  let isBehindCue = false;
  let isLineStart = true;

  const say = (text: string): PerformancePart[] => {
    const said = isBehindCue && /^$|\s$/u.test(before) ? text.replace(/^[\s:：]+/u, '') : text;
    if (said === '') return [];
    isBehindCue = false;
    before = (before + said).slice(-12);
    isLineStart = /\n\s*$|^$/u.test(before) || (isLineStart && said.trim() === '');
    return tags.add(said).map(asSpeech);
  };
  const cue = (kind: CueKind, text: string): PerformancePart[] => {
    isBehindCue = true;
    const plain = text.trim().replaceAll(/\s+/gu, ' ');
    return [...tags.rest().map(asSpeech), ...(plain === '' ? [] : [{ type: 'cue', kind, text: plain } as const])];
  };
  /** Moves on by one step; undefined where more text is needed first. */
  const step = (isLast: boolean): PerformancePart[] | undefined => {
    if (held === '') return undefined;
    if (isLineStart) {
      const line = narratedLine(held, isLast);
      if (line === 'wait') return undefined;
      if (line !== undefined) {
        held = line.rest;
        return cue('narration', line.text);
      }
      isLineStart = false;
    }
    const until = plainLength(held);
    if (until > 0) {
      const text = held.slice(0, until);
      held = held.slice(until);
      const said = say(text);
      isLineStart ||= text.endsWith('\n');
      return said;
    }
    return stepAtOpener(isLast);
  };
  const stepAtOpener = (isLast: boolean): PerformancePart[] | undefined => {
    const found = bracketAt(held, { form, isLast, isApart: endsSentence(before) });
    if (found === undefined) return undefined;
    held = held.slice(found.length);
    // A tag is no part of the text that tells whether a sentence has ended.
    if ('tag' in found) return tags.add(found.tag).map(asSpeech);
    return 'says' in found ? say(found.says) : cue(found.kind, found.inside);
  };
  const take = (isLast: boolean): PerformancePart[] => {
    const parts: PerformancePart[] = [];
    for (let given = step(isLast); given !== undefined; given = step(isLast)) parts.push(...given);
    return parts;
  };
  return {
    add(delta) {
      held += delta;
      return take(false);
    },
    rest: () => [...take(true), ...tags.rest().map(asSpeech)],
  };
}

/** How much of a text is plain: up to a mark, or to the end of the line. */
function plainLength(text: string): number {
  const at = text.search(opener);
  const lineEnd = text.indexOf('\n');
  return Math.min(at < 0 ? text.length : at, lineEnd < 0 ? text.length : lineEnd + 1);
}

/** A line of a narrator at the head of a text, and what comes after it; `wait` where the text may still become one. */
function narratedLine(text: string, isLast: boolean): { text: string; rest: string } | 'wait' | undefined {
  const head = text.replace(/^[\s*_]+/u, '').toLowerCase();
  const label = narrators.find((each) => head.startsWith(each));
  if (label === undefined) return !isLast && narrators.some((each) => each.startsWith(head)) ? 'wait' : undefined;
  const labelAt = text.toLowerCase().indexOf(label);
  const end = text.indexOf('\n', labelAt);
  if (end < 0 && !isLast) return 'wait';
  const line = text.slice(labelAt + label.length, end < 0 ? text.length : end);
  return { text: line.replaceAll('*', ''), rest: end < 0 ? '' : text.slice(end + 1) };
}

interface Place {
  readonly form: ScriptForm;
  readonly isLast: boolean;
  /** It stands between sentences. */
  readonly isApart: boolean;
}

/** What begins with the mark at the head of a text: a cue, or so much speech; undefined where more text is needed first. */
function bracketAt(text: string, place: Place): Found | undefined {
  const { form, isLast, isApart } = place;
  const mark = /^(?:\*{1,3}|_{1,3}|.)/su.exec(text)?.[0] ?? '';
  if (mark === text && isRun(mark) && !isLast) return undefined;
  const end = closingOf(text, mark, form);
  if (end === undefined && !isLast && mayClose(text, form, isApart)) return undefined;
  if (end === undefined) return unclosed(text, mark, place);
  const inside = text.slice(mark.length, end);
  const length = end + mark.length;
  if (isRun(mark) && isApart) {
    const isStressed = stressed(inside, text.slice(length), isLast);
    if (isStressed === undefined) return undefined;
    if (isStressed) return { says: mark, length: mark.length };
  }
  const emotion = squares.includes(mark) || inside === inside.toLowerCase() ? emotionNamed(inside) : undefined;
  // A tag of an emotion goes through, to where such tags are understood.
  if (emotion !== undefined && isApart) return { tag: `[${emotion}]`, length };
  const kind = emotion === undefined ? kindOf({ mark, inside, form, isApart }) : 'action';
  return kind === undefined ? { says: mark, length: mark.length } : { kind, inside, length };
}

/** "*Horses* are noble", "**Rules:**": words of the sentence, and no direction before it. Undefined: what follows will tell. */
function stressed(inside: string, behind: string, isLast: boolean): boolean | undefined {
  if (/[:：]$/u.test(inside)) return true;
  if (!/^\p{Lu}/u.test(inside)) return false;
  const next = /\S/u.exec(behind)?.[0];
  return next === undefined && !isLast ? undefined : next !== undefined && /[\p{Ll},;]/u.test(next);
}

type Found = { readonly length: number } & (
  | { readonly kind: CueKind; readonly inside: string }
  | { readonly says: string }
  | { readonly tag: string }
);

function isRun(mark: string): boolean {
  return /^[*_]/u.test(mark);
}

/** A bracket that nothing closes: cut off in a tag or a short direction, it is one all the same. */
function unclosed(text: string, mark: string, { form, isApart }: Place): Found {
  if (form === 'marked' && !isRun(mark)) {
    const inside = text.slice(mark.length);
    return { kind: squares.includes(mark) ? 'thought' : 'action', inside, length: text.length };
  }
  const inside = /^[^\n]*/u.exec(text.slice(mark.length))?.[0] ?? '';
  const isShort = inside.trim().split(/\s+/u).length <= 4;
  if (isApart && isShort && (emotionNamed(inside) !== undefined || looksLikeAction({ mark, inside })))
    return { kind: 'action', inside, length: mark.length + inside.length };
  return { says: mark, length: mark.length };
}

/** Where what the mark opened is closed; brackets of its kind inside are closed first. */
function closingOf(text: string, mark: string, form: ScriptForm): number | undefined {
  const end = isRun(mark) ? text.indexOf(mark, mark.length) : closingBracket(text, mark, closers[mark] ?? '');
  if (end < 0) return undefined;
  const isOneLine = !text.slice(0, end).includes('\n');
  return isOneLine || (form === 'marked' && !isRun(mark)) ? end : undefined;
}

function closingBracket(text: string, open: string, close: string): number {
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === open) depth += 1;
    else if (text[at] === close) depth -= 1;
    if (depth === 0) return at;
  }
  return -1;
}

function mayClose(text: string, form: ScriptForm, isApart: boolean): boolean {
  const isMarked = form === 'marked' && !isRun(text);
  if (isMarked) return true;
  if (text.includes('\n')) return false;
  return text.length <= (isApart ? longestDirection : longestGesture);
}

interface Bracketed {
  readonly mark: string;
  readonly inside: string;
  readonly form: ScriptForm;
  /** It stands between sentences. */
  readonly isApart: boolean;
}

/** What text between marks is; undefined: speech. */
function kindOf({ mark, inside, form, isApart }: Bracketed): CueKind | undefined {
  const isSquare = squares.includes(mark);
  if (form === 'marked' && !isRun(mark)) return isSquare ? 'thought' : 'action';
  if (isNote(inside)) return 'thought';
  if (isPlainGesture(inside)) return 'action';
  if (!isApart || !/^\s*\p{L}/u.test(inside)) return undefined;
  if (isSquare) return /^[\p{L}\s-]{1,23}$/u.test(inside) ? 'action' : 'thought';
  return looksLikeAction({ mark, inside }) ? 'action' : undefined;
}
