import type { Felt } from '../../characters/emotion.ts';
import { isGesture, looksLikeDirection } from '../../voices/text/stage-directions.ts';
import { emotionNamed, emotionTags, endsSentence, type FeltText } from './emotion-tags.ts';
import type { TextFilter } from './text-filter.ts';

/** Kinds of unspoken text: actions visible to all, private thoughts, narration of the setting. */
export const cueKinds = ['action', 'thought', 'narration'] as const;

export type CueKind = (typeof cueKinds)[number];

/** An unspoken part of a reply. */
export interface Cue {
  readonly kind: CueKind;
  readonly text: string;
}

/** A part of a reply, in the order it was written. */
export type PerformancePart =
  | ({ readonly type: 'speech'; readonly text: string } & Felt)
  | ({ readonly type: 'cue' } & Cue);

/**
 * Convention of the script. `marked`: the model was asked to put thoughts in square brackets and actions in parentheses,
 * so every bracket counts. `spoken`: it was asked to write only speech, so only brackets between sentences that look
 * like a stage direction count.
 */
export type ScriptForm = 'marked' | 'spoken';

/** Returns true for text in brackets that names an action of a game. */
type IsOffered = (inside: string) => boolean;

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

const markOrLineEnd = /[[［【〔{｛(（*_\n]/u;

const squares = '[［【〔{｛';

/** For `spoken` scripts: longer text in brackets is not a stage direction, in characters. */
const longestDirection = 300;

/** Longest cue, in characters, so that a bracket that never closes is not read again and again while it grows. */
const longestSpokenCue = 500;
const longestMarkedCue = 4_000;

/** Characters in which a line shows that it is the narrator's. */
const longestLabel = 64;

/** For `spoken` scripts: longest bracket inside a sentence that is waited for, in characters. */
const longestGesture = 24;

const narrators = ['narrator:', 'narrator：', 'narration:', 'environment:', 'environment：', '旁白：', '旁白:'];

function asSpeech(felt: FeltText): PerformancePart {
  return { type: 'speech', ...felt };
}

/**
 * Parses a script as it streams: speech, (actions), [thoughts], [emotion] tags and narrator lines. `isOffered`: text in
 * brackets is an action of the game, which may stand within a sentence.
 */
export function performanceScript(form: ScriptForm = 'spoken', isOffered?: IsOffered): TextFilter<PerformancePart[]> {
  const tags = emotionTags();
  let held = '';
  /** Tail of the speech so far. */
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
  /** Advances one step; undefined if more text is needed. */
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
    const found = bracketIn(held, { form, isLast, isApart: endsSentence(before), isOffered });
    if (found === undefined) return undefined;
    held = held.slice(found.length);
    // A tag does not count as text when looking for the end of a sentence.
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

/** Length of the plain text before the next mark, or up to the end of the line. */
function plainLength(text: string): number {
  const at = text.search(markOrLineEnd);
  if (at < 0) return text.length;
  return text[at] === '\n' ? at + 1 : at;
}

/** Reads a narrator line at the start of a text, and what follows it; `wait` if the text may still become one. */
function narratedLine(text: string, isLast: boolean): { text: string; rest: string } | 'wait' | undefined {
  const start = text.slice(0, longestLabel);
  const head = start.replace(/^[\s*_]+/u, '').toLowerCase();
  const label = narrators.find((each) => head.startsWith(each));
  const isUndecided = !isLast && text.length < longestLabel;
  if (label === undefined) return isUndecided && narrators.some((each) => each.startsWith(head)) ? 'wait' : undefined;
  const labelAt = start.toLowerCase().indexOf(label);
  const line = text.slice(labelAt + label.length, labelAt + longestMarkedCue);
  const end = line.indexOf('\n');
  if (end < 0 && !isLast && text.length < longestMarkedCue) return 'wait';
  const told = end < 0 ? line : line.slice(0, end);
  return {
    text: told.replaceAll('*', ''),
    rest: text.slice(labelAt + label.length + told.length + (end < 0 ? 0 : 1)),
  };
}

interface Place {
  readonly form: ScriptForm;
  readonly isLast: boolean;
  /** True between sentences. */
  readonly isApart: boolean;
  readonly isOffered: IsOffered | undefined;
}

/** Reads a construct at the start of `held`; what has not closed within the longest cue ends as if the reply did. */
function bracketIn(held: string, place: Place): Found | undefined {
  const start = held.slice(0, place.form === 'marked' ? longestMarkedCue : longestSpokenCue);
  return bracketAt(start, { ...place, isLast: place.isLast || start.length < held.length });
}

/**
 * Reads the construct at the mark that starts the text: a cue, a tag, or plain speech; undefined if more text is
 * needed.
 */
function bracketAt(text: string, place: Place): Found | undefined {
  const { form, isLast, isApart, isOffered } = place;
  const mark = /^(?:\*{1,3}|_{1,3}|.)/su.exec(text)?.[0] ?? '';
  if (mark === text && isRun(mark) && !isLast) return undefined;
  const end = closingOf(text, mark, form);
  if (end === undefined && !isLast && mayClose(text, place)) return undefined;
  if (end === undefined) return unclosed(text, mark, place);
  const inside = text.slice(mark.length, end);
  const length = end + mark.length;
  if (isRun(mark) && isApart) {
    const isStressed = stressed(inside, text.slice(length), isLast);
    if (isStressed === undefined) return undefined;
    if (isStressed) return { says: mark, length: mark.length };
  }
  const emotion = squares.includes(mark) || inside === inside.toLowerCase() ? emotionNamed(inside) : undefined;
  // Emotion tags are passed on to the emotion tag filter.
  if (emotion !== undefined && isApart) return { tag: `[${inside.trim()}]`, length };
  const kind = emotion === undefined ? kindOf({ mark, inside, form, isApart, isOffered }) : 'action';
  return kind === undefined ? { says: mark, length: mark.length } : { kind, inside, length };
}

/** True for emphasis ("*Horses* are noble", "**Rules:**"), not a stage direction; undefined if not known yet. */
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

/** An unclosed bracket: an emotion tag or short direction cut off at the end still counts as one. */
function unclosed(text: string, mark: string, { form, isApart }: Place): Found {
  if (form === 'marked' && !isRun(mark)) {
    const inside = text.slice(mark.length);
    return { kind: squares.includes(mark) ? 'thought' : 'action', inside, length: text.length };
  }
  if (!isApart) return { says: mark, length: mark.length };
  const inside = /^[^\n]*/u.exec(text.slice(mark.length))?.[0] ?? '';
  const isShort = inside.trim().split(/\s+/u).length <= 4;
  if (isShort && (emotionNamed(inside) !== undefined || looksLikeDirection(inside, isRun(mark))))
    return { kind: 'action', inside, length: mark.length + inside.length };
  return { says: mark, length: mark.length };
}

/** Index of the closing mark; nested brackets of the same kind are closed first. */
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

function mayClose(text: string, { form, isApart, isOffered }: Place): boolean {
  const isMarked = form === 'marked' && !isRun(text);
  if (isMarked) return true;
  if (text.includes('\n')) return false;
  return text.length <= (isApart || isOffered !== undefined ? longestDirection : longestGesture);
}

interface Bracketed {
  readonly mark: string;
  readonly inside: string;
  readonly form: ScriptForm;
  /** True between sentences. */
  readonly isApart: boolean;
  readonly isOffered: IsOffered | undefined;
}

/** Kind of the text between marks; undefined if it is speech. */
function kindOf({ mark, inside, form, isApart, isOffered }: Bracketed): CueKind | undefined {
  if (isOffered?.(inside) === true) return 'action';
  const isSquare = squares.includes(mark);
  if (form === 'marked' && !isRun(mark)) return isSquare ? 'thought' : 'action';
  if (isNote(inside)) return 'thought';
  if (isGesture(inside)) return 'action';
  if (!isApart || !/^\s*\p{L}/u.test(inside)) return undefined;
  if (isSquare) return /^[\p{L}\s-]{1,23}$/u.test(inside) ? 'action' : 'thought';
  return looksLikeDirection(inside, isRun(mark)) ? 'action' : undefined;
}

/** A note about the text to the reader ("OOC: is this all right?"), outside the role-play. */
function isNote(inside: string): boolean {
  return /^[\s([（]*(?:ooc|out of character|(?:author['’]?s )?note|a\/n|end of (?:role-?play|scene)|备注|注|场外|系统)\s*(?:[:：,，]|$)/iu.test(
    inside,
  );
}
