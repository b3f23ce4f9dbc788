import { estimateTokens } from '../../../agents/llm/token-estimate.ts';

/** Separators at which a long line may be cut, the best first. */
const separators = ['\n.。！？!?', ',，、;；:：()（）[]【】{}"“”\'‘’「」『』<>《》'];

/** Index after the last good separator before the middle of a line; the middle if there is none. */
export function halfOf(line: string): number {
  const middle = Math.floor(line.length / 2);
  for (const marks of separators)
    for (let at = middle - 1; at >= 0; at -= 1) if (marks.includes(line[at] as string)) return at + 1;
  return isSurrogate(line, middle) ? middle + 1 : Math.max(1, middle);
}

function isSurrogate(text: string, at: number): boolean {
  return /[\uDC00-\uDFFF]/.test(text[at] ?? '');
}

/** A piece of a text in UTF-16 units. */
export interface Piece {
  readonly from: number;
  readonly to: number;
}

/**
 * Cuts a range of a text into pieces of at most `mostTokens`, made of whole lines, with one token for each line break; a
 * line that is longer is halved.
 */
export function piecesOf(text: string, range: Piece, mostTokens: number): Piece[] {
  const pieces: Piece[] = [];
  let from = range.from;
  let tokens = 0;
  for (const line of linesOf(text, range, mostTokens)) {
    const more = estimateTokens(text.slice(line.from, line.to)) + 1;
    if (tokens > 0 && tokens + more > mostTokens) {
      pieces.push({ from, to: line.from });
      from = line.from;
      tokens = 0;
    }
    tokens += more;
  }
  if (from < range.to) pieces.push({ from, to: range.to });
  return pieces.filter((piece) => text.slice(piece.from, piece.to).trim() !== '');
}

/** Lines with their breaks; those that are too long in halves of halves. */
function* linesOf(text: string, { from, to }: Piece, mostTokens: number): Generator<Piece> {
  for (let start = from; start < to;) {
    const found = text.indexOf('\n', start);
    const end = found < 0 || found >= to ? to : found + 1;
    yield* halves(text, { from: start, to: end }, mostTokens);
    start = end;
  }
}

function* halves(text: string, { from, to }: Piece, mostTokens: number): Generator<Piece> {
  const line = text.slice(from, to);
  if (line.length < 2 || estimateTokens(line) + 1 <= mostTokens) {
    yield { from, to };
    return;
  }
  const at = from + halfOf(line.replace(/\n$/, ''));
  yield* halves(text, { from, to: at }, mostTokens);
  yield* halves(text, { from: at, to }, mostTokens);
}
