/** A piece of a text, in UTF-16 units. */
export interface Section {
  readonly title: string;
  readonly from: number;
  readonly to: number;
}

const numberWord =
  '(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)(?:[- ](?:one|two|three|four|five|six|seven|eight|nine))?|hundred|the (?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|last))';
const roman = '(?=[ivxlcdm])m{0,3}(?:cm|cd|d?c{0,3})(?:xc|xl|l?x{0,3})(?:ix|iv|v?i{0,3})';
const number = `(?:\\d{1,3}|${roman}|${numberWord})`;
const kind = '(?:chapter|prologue|epilogue|preface|introduction|conclusion|appendix|interlude|part|book)';
const heading = new RegExp(
  `^(?:#{1,6}[ \\t]+\\S.*|${kind}(?:[ \\t]+${number})?(?:[ \\t]*[.:—–-]?[ \\t]*\\S.{0,39})?|${number}[.:]?)$`,
  'iu',
);
const longestHeading = 50;
/** Lines that begin with such a word and go on as a sentence are no headings. */
const sentence = /[a-z,;]$|[.!?]["”’]?$/;

/** True if a line of an English text is the heading of a chapter. */
export function isHeading(line: string): boolean {
  const trimmed = line.trim();
  if (trimmed === '' || trimmed.length > longestHeading || !heading.test(trimmed)) return false;
  const isPlain = new RegExp(`^(?:#.*|(?:${kind}[ \\t]+)?${number}[.:]?|${kind})$`, 'iu').test(trimmed);
  // "Part of me wished to go" begins like a heading; a title is in capitals, or follows a number or a mark.
  const isNumbered = new RegExp(`^${kind}[ \\t]+${number}(?![\\w])`, 'iu').test(trimmed);
  const isMarked = new RegExp(`^${kind}[ \\t]*[.:—–-]`, 'iu').test(trimmed);
  return (
    isPlain ||
    isNumbered ||
    isMarked ||
    (/^\p{Lu}/u.test(trimmed) && !sentence.test(trimmed.toLowerCase() === trimmed ? trimmed : lastWord(trimmed)))
  );
}

function lastWord(text: string): string {
  const word = text.split(/\s+/).at(-1) ?? '';
  return /^\p{Lu}/u.test(word) ? 'X' : word;
}

const chineseHeading =
  /^[\s　]*第[\d０-９零〇一二两三四五六七八九十百千万]+[章节回卷部篇集幕折场段曲文](?![^\s　：:、.．]{20})/u;

/** True if a line of a Chinese text is the heading of a chapter: at the start of the line, and short. */
export function isChineseHeading(line: string): boolean {
  return line.trim().length <= longestHeading && chineseHeading.test(line);
}

/**
 * Cuts a text at headings. A piece shorter than `leastLength` joins the next one, and the last joins the one before.
 * Text before the first heading is a piece without a title.
 */
export function sectionsOf(
  text: string,
  { isStart, leastLength }: { readonly isStart: (line: string) => boolean; readonly leastLength: number },
): Section[] {
  const starts: { readonly title: string; readonly from: number }[] = [];
  for (let from = 0; from < text.length;) {
    const end = text.indexOf('\n', from);
    const to = end < 0 ? text.length : end;
    if (to - from <= 200) {
      const line = text.slice(from, to);
      if (isStart(line)) starts.push({ title: line.trim(), from });
    }
    from = to + 1;
  }
  if (starts[0]?.from !== 0) starts.unshift({ title: '', from: 0 });
  const pieces = starts.map(({ title, from }, index) => ({ title, from, to: starts[index + 1]?.from ?? text.length }));
  const sections: Section[] = [];
  let held: Section | undefined;
  for (const piece of pieces) {
    const joined: Section =
      held === undefined
        ? piece
        : { title: held.title === '' ? piece.title : held.title, from: held.from, to: piece.to };
    held = joined.to - joined.from < leastLength ? joined : undefined;
    if (held === undefined) sections.push(joined);
  }
  if (held !== undefined) {
    const last = sections.pop();
    sections.push(last === undefined ? held : { ...last, to: held.to });
  }
  return sections;
}
