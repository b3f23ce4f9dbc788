import { estimateTokens } from '../../../agents/llm/token-estimate.ts';
import type { Piece } from './halve.ts';
import { piecesOf } from './halve.ts';
import { isChineseHeading, isHeading, sectionsOf, type Section } from './sections.ts';

const leastSectionLength = 2_000;
const leastSections = 6;

/**
 * Cuts a book for extraction: whole chapters are gathered up to half of `tokens` at least, up to twice that is one
 * chunk, and more is cut into pieces of `tokens`, the last of which may have twice that. A book with fewer than six
 * chapters is cut without regard to them.
 */
export function storyChunks(text: string, tokens: number): Piece[] {
  const sections = storySections(text, leastSectionLength);
  if (sections.length < leastSections) return piecesOf(text, { from: 0, to: text.length }, tokens);
  const chunks: Piece[] = [];
  let gathered: Piece | undefined;
  const close = (): void => {
    if (gathered !== undefined) chunks.push(...cut(text, gathered, tokens));
    gathered = undefined;
  };
  for (const { from, to } of sections) {
    gathered = { from: gathered?.from ?? from, to };
    if (estimateTokens(text.slice(gathered.from, gathered.to)) >= tokens / 2) close();
  }
  close();
  return chunks;
}

/** Chapters of a text in either language; one shorter than `leastLength` joins the next. */
export function storySections(text: string, leastLength: number): Section[] {
  return sectionsOf(text, { isStart: (line) => isHeading(line) || isChineseHeading(line), leastLength });
}

function cut(text: string, piece: Piece, tokens: number): Piece[] {
  if (estimateTokens(text.slice(piece.from, piece.to)) <= tokens * 2) return [piece];
  const pieces = piecesOf(text, piece, tokens);
  const [before, last] = pieces.slice(-2);
  if (before === undefined || last === undefined) return pieces;
  return estimateTokens(text.slice(before.from, last.to)) <= tokens * 2
    ? [...pieces.slice(0, -2), { from: before.from, to: last.to }]
    : pieces;
}

const rightsWords = /\b(?:rights|reserved|reproduced|copyright|reproduce|permission)\b/gi;

/** Blanks short lines about rights, so that places in the text stay; for the first chunk of a book. */
export function withoutRightsLines(text: string): string {
  return text.replaceAll(/[^\n]+/g, (line) => {
    const isAboutRights = new Set(line.toLowerCase().match(rightsWords) ?? []).size >= 2;
    return isAboutRights && line.split(/\s+/).length < 50 ? ' '.repeat(line.length) : line;
  });
}

/** Replaces tabs by spaces where they are more than a twentieth of the text. */
export function withoutManyTabs(text: string): string {
  const tabs = text.split('\t').length - 1;
  return tabs * 20 > text.length ? text.replaceAll('\t', ' ') : text;
}
