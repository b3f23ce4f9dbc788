/** A text without its publisher's header and licence, and metadata of that header. */
export interface BookText {
  readonly text: string;
  readonly title?: string;
  readonly author?: string;
}

const begin = /^\*{3} ?START OF (?:THE|THIS) PROJECT GUTENBERG EBOOK.*\n/imu;
const end = /^\*{3} ?END OF (?:THE|THIS) PROJECT GUTENBERG EBOOK/imu;

/** Strips Project Gutenberg's header and licence, which say nothing of the characters; other texts stay unchanged. */
export function bookText(whole: string): BookText {
  const start = begin.exec(whole);
  if (start === null) return { text: whole };
  const header = whole.slice(0, start.index);
  const rest = whole.slice(start.index + start[0].length);
  const stop = end.exec(rest);
  const field = (name: string): string | undefined => new RegExp(`^${name}: *(.+)$`, 'imu').exec(header)?.[1]?.trim();
  const [title, author] = [field('Title'), field('Author')];
  return {
    text: (stop === null ? rest : rest.slice(0, stop.index)).trim(),
    ...(title === undefined ? {} : { title }),
    ...(author === undefined ? {} : { author }),
  };
}
