/** One line of a script: speaker and text. */
export interface ScriptLine {
  readonly speaker: string;
  readonly text: string;
}

const spoken = /^\s*([^:：「」\n]{1,80})\s*[:：]\s*(.+)$/u;

/** Speakers that narrate. */
const narrators = new Set(['旁白', 'scene', 'narrator', 'environment']);

/** Parses ChatHaruhi's form, `Name:「text」` in a line, brackets optional; other lines continue the speech before. */
export function scriptLines(script: string): ScriptLine[] {
  const lines: ScriptLine[] = [];
  for (const row of script.split(/\r?\n/u)) {
    const match = spoken.exec(row);
    if (match !== null) {
      const speaker = (match[1] ?? '').trim();
      if (!narrators.has(speaker.toLowerCase())) lines.push({ speaker, text: withoutBrackets(match[2] ?? '') });
    } else if (row.trim() !== '' && !row.startsWith('#') && !row.startsWith(':') && lines.length > 0) {
      const last = lines.pop();
      if (last !== undefined) lines.push({ ...last, text: `${last.text} ${withoutBrackets(row)}`.trim() });
    }
  }
  return lines;
}

/** Lines of others with one speaker's answer to each. */
export function exchangesOf(lines: readonly ScriptLine[], speaker: string): { ask: string; reply: string }[] {
  return lines.flatMap((line, index) => {
    const before = lines[index - 1];
    if (line.speaker !== speaker || before === undefined || before.speaker === speaker) return [];
    return [{ ask: before.text, reply: line.text }];
  });
}

/** The speaker of the same words as a name, otherwise sharing one, otherwise the most frequent; undefined if none. */
export function speakerNamed(lines: readonly ScriptLine[], name: string): string | undefined {
  const counts = new Map<string, number>();
  for (const { speaker } of lines) counts.set(speaker, (counts.get(speaker) ?? 0) + 1);
  const byCount = [...counts].toSorted((left, right) => right[1] - left[1]).map(([speaker]) => speaker);
  const wanted = wordsOf(name);
  return (
    byCount.find((speaker) => plain(speaker) === plain(name)) ??
    byCount.find((speaker) => wordsOf(speaker).some((word) => wanted.includes(word))) ??
    byCount[0]
  );
}

/** Words of a name, lower-case, without titles and particles. */
export function wordsOf(name: string): string[] {
  return plain(name)
    .split(' ')
    .filter((word) => word.length > 1 && !['the', 'of', 'dr', 'mr', 'mrs', 'prof', 'professor', 'de'].includes(word));
}

/** True if two names may be of one person: they share a word, or have the same letters ("D_Artagnan", "D'Artagnan"). */
export function isSameName(left: string, right: string): boolean {
  const letters = (name: string): string => plain(name).replaceAll(' ', '');
  return letters(left) === letters(right) || wordsOf(left).some((word) => wordsOf(right).includes(word));
}

function plain(name: string): string {
  return name
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/['’\p{M}]/gu, '')
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
}

function withoutBrackets(text: string): string {
  return text
    .trim()
    .replace(/^[「『"“]/u, '')
    .replace(/[」』"”]$/u, '')
    .trim();
}
