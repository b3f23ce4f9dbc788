import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { decodeText } from '../books/decode.ts';

/** A line of subtitles, in milliseconds. */
export interface Subtitle {
  readonly startMs: number;
  readonly endMs: number;
  readonly text: string;
}

/** Reads the subtitles beside a recording, `film.srt` or `film.vtt` beside `film.mkv`; none if there are none. */
export async function subtitlesBeside(recording: string): Promise<readonly Subtitle[]> {
  const { dir, name } = path.parse(recording);
  for (const ending of ['.srt', '.vtt']) {
    const bytes = await readFile(path.join(dir, `${name}${ending}`)).catch(() => undefined);
    if (bytes !== undefined) return parseSubtitles(decodeText(bytes).text);
  }
  return [];
}

const time = /(?:(\d+):)?(\d{1,2}):(\d{2})[.,](\d{3})/;
const range = new RegExp(`${time.source}\\s*-->\\s*${time.source}`);

/** Subtitles of SubRip or WebVTT, without markup; blocks of another form are skipped. */
export function parseSubtitles(text: string): readonly Subtitle[] {
  return text.split(/\r?\n\s*\r?\n/).flatMap((block) => {
    const lines = block.split(/\r?\n/);
    const at = lines.findIndex((line) => range.test(line));
    const [, ...parts] = range.exec(lines[at] ?? '') ?? [];
    const said = lines
      .slice(at + 1)
      .join(' ')
      .replaceAll(/<[^>]*>|\{\\[^}]*\}/g, '')
      .trim();
    if (at < 0 || said === '') return [];
    return [{ startMs: millisecondsOf(parts.slice(0, 4)), endMs: millisecondsOf(parts.slice(4)), text: said }];
  });
}

function millisecondsOf([hours = '0', minutes = '0', seconds = '0', thousandths = '0']: readonly (
  | string
  | undefined
)[]): number {
  return ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000 + Number(thousandths);
}

/** Subtitles that are shown for most of their time within a stretch, joined. */
export function subtitlesWithin(subtitles: readonly Subtitle[], startMs: number, endMs: number): string {
  return subtitles
    .filter((each) => {
      const common = Math.min(endMs, each.endMs) - Math.max(startMs, each.startMs);
      return common > (each.endMs - each.startMs) / 2;
    })
    .map(({ text }) => text)
    .join(' ');
}
