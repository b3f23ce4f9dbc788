import type { Emotion } from '../characters/emotion.ts';
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
  '(': ')',
  '（': '）',
  '*': '*',
};
const opener = /[[［【(（*]/u;
/** Only where a model was told to write speech alone: longer text in brackets is no direction. */
const longestDirection = 300;
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
    const said = isBehindCue && /^$|\s$/u.test(before) ? text.trimStart() : text;
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
    const text = held.slice(0, found.length);
    held = held.slice(found.length);
    return found.kind === undefined ? say(text) : cue(found.kind, found.inside);
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
function bracketAt(
  text: string,
  { form, isLast, isApart }: Place,
): { kind: CueKind | undefined; inside: string; length: number } | undefined {
  const mark = text.charAt(0);
  const end = closingOf(text, form);
  if (end === undefined && !isLast && mayClose(text, form, isApart)) return undefined;
  const inside = text.slice(1, end ?? text.length);
  const isWhole = end !== undefined || (form === 'marked' && mark !== '*');
  const kind = isWhole ? kindOf({ mark, inside, form, isApart }) : undefined;
  const length = end === undefined ? text.length : end + 1;
  if (kind !== undefined) return { kind, inside, length };
  // A tag of an emotion goes through whole, to where such tags are understood.
  const isTag = end !== undefined && emotionNamed(inside) !== undefined;
  return { kind, inside, length: isTag ? length : 1 };
}

/** Where what is opened by the first character is closed. */
function closingOf(text: string, form: ScriptForm): number | undefined {
  const close = closers[text.charAt(0)] ?? '';
  const end = text.indexOf(close, 1);
  if (end < 0) return undefined;
  const isOneLine = !text.slice(0, end).includes('\n');
  return isOneLine || (form === 'marked' && close !== '*') ? end : undefined;
}

function mayClose(text: string, form: ScriptForm, isApart: boolean): boolean {
  const isMarked = form === 'marked' && !text.startsWith('*');
  return isMarked || (isApart && !text.includes('\n') && text.length <= longestDirection);
}

interface Bracketed {
  readonly mark: string;
  readonly inside: string;
  readonly form: ScriptForm;
  /** It stands between sentences. */
  readonly isApart: boolean;
}

/** What text between marks is; undefined: speech, or a tag. */
function kindOf({ mark, inside, form, isApart }: Bracketed): CueKind | undefined {
  const isSquare = '[［【'.includes(mark);
  if (isSquare && emotionNamed(inside) !== undefined) return form === 'marked' && !isApart ? 'action' : undefined;
  if (form === 'marked' && mark !== '*') return isSquare ? 'thought' : 'action';
  if (!isApart || !/^\s*\p{L}/u.test(inside)) return undefined;
  if (isSquare) return /^[\p{L}\s-]{1,23}$/u.test(inside) ? 'action' : 'thought';
  return looksLikeAction(inside) ? 'action' : undefined;
}

/** "bows deeply", "in a low voice", "笑": of the speaker, from outside. What this misses, voices still leave unsaid where they see it. */
function looksLikeAction(inside: string): boolean {
  const text = inside.trim().toLowerCase();
  if (/\p{Script=Han}/u.test(text)) return text.length <= 30 && !/[我你您吗？]/u.test(text);
  if (/\b(?:i|i'm|i’m|me|my|we|our|us|you|your|this|is|was|perhaps|yes|always)\b|[?!]$/u.test(text)) return false;
  return /^(?:(?:he|she|they|in an?|with|aside)\b|\p{L}{3,}ly\b|\p{L}{2,}[^s\P{L}]s\b|\p{L}{2,}ing\b)/u.test(text);
}
