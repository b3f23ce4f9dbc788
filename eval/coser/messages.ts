/** Special speaker that describes the environment of the characters. */
export const environment = 'Environment';

/** One message of a scene. Thoughts are in brackets, actions in parentheses. */
export interface SceneMessage {
  readonly character: string;
  readonly text: string;
}

/** Removes what others cannot perceive: thoughts in brackets, and reasoning between tags. */
export function withoutThoughts(text: string): string {
  return text
    .replaceAll(/<\s*((?:system|role)?[_\s]*think(?:ing)?)\s*>[\s\S]*?<\/\s*\1\s*>/gi, '')
    .replaceAll(/\[[^\]]*\]/g, '')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join('\n');
}

/** The text with its speaker's name in front, unless a line names the speaker already. */
export function named({ character, text }: SceneMessage): string {
  const starts = [`${character}:`, `${character}：`];
  const isNamed = text.split('\n').some((line) => starts.some((start) => line.trim().startsWith(start)));
  return isNamed ? text : `${character}: ${text}`;
}

/** A message as others perceive it; the environment has no thoughts. */
export function perceived(message: SceneMessage): SceneMessage {
  return message.character === environment ? message : { ...message, text: withoutThoughts(message.text) };
}

/** A scene without thoughts, for a reader; `bare` leaves the names out. */
export function transcriptOf(messages: readonly SceneMessage[], { bare = false } = {}): string {
  return messages
    .map((message) => perceived(message))
    .map((message) => (bare ? message.text : named(message)).replaceAll(/^\n+|\n+$/g, ''))
    .join('\n\n');
}

/** Shortest and longest phrases, in words, that count as repeated. */
const loop = { shortest: 5, longest: 30, times: 5 };
const echo = { shortest: 15, longest: 30 };
const letterRun = /\p{L}{100,}/u;

/**
 * Returns a text up to where it begins to repeat itself: a phrase five times in a row, a long phrase a second time, or a
 * word of a hundred letters.
 */
export function cutRepetition(text: string): string {
  const run = letterRun.exec(text);
  const start = run === null ? text : text.slice(0, run.index);
  const words = [...start.matchAll(/\p{Script=Han}|[^\s\p{Script=Han}]+/gu)];
  const kept = firstRepetition(words.map(([word]) => word));
  const next = words[kept];
  return (next === undefined ? start : start.slice(0, next.index)).trim();
}

/** Number of words before the first repetition. */
function firstRepetition(words: readonly string[]): number {
  let kept = words.length;
  const same = (at: number, other: number, length: number): boolean => {
    for (let step = 0; step < length; step += 1) if (words[at + step] !== words[other + step]) return false;
    return true;
  };
  for (let length = loop.shortest; length <= loop.longest; length += 1) {
    for (let at = 0; at + loop.times * length <= words.length && at + length < kept; at += 1) {
      if (same(at, at + length, (loop.times - 1) * length)) kept = at + length;
    }
  }
  const seen = new Map<string, number>();
  for (let at = 0; at + echo.shortest <= kept; at += 1) {
    const phrase = words.slice(at, at + echo.shortest).join(' ');
    const first = seen.get(phrase);
    if (first === undefined) seen.set(phrase, at);
    else if (at - first >= echo.shortest) return Math.min(kept, at);
  }
  return kept;
}
