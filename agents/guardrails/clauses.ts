import { isOpener } from './assistant-phrases.ts';
import type { Violation } from '../violation.ts';
import type { GuardrailCheck } from './guardrail-rules.ts';

/** Longest clause that is held back, in characters; phrases for synthesis are cut at this length too. */
const longestClause = 90;

/** Characters of a sentence, before the clause that is checked, that the guardrail reads again with it. */
const longestSentence = 600;

/** Text released clause by clause. */
export interface Clauses<Part> {
  /** A clause that begins behind another announces itself: its white space and first character, as `next`, come at once. */
  add(part: Part): (Part & { readonly next?: string })[];
  rest(): Part[];
  /** The violation that stopped the text; nothing is released after it. */
  readonly violation: Violation | undefined;
}

/** Holds text back until a clause is complete and the sentence so far passes the guardrail. */
export function openClauses<Part extends { readonly text: string }>(guard: GuardrailCheck): Clauses<Part> {
  let held: Part[] = [];
  let heldText = '';
  let sentence = '';
  let violation: Violation | undefined;
  let hasSpoken = false;
  const letOut = (): Part[] => {
    violation ??= guard((sentence + heldText).trim());
    if (violation !== undefined) return [];
    sentence = /[.!?。！？\n]["”’」』)]*\s*$/u.test(heldText) ? '' : (sentence + heldText).slice(-longestSentence);
    const parts = held;
    held = [];
    heldText = '';
    hasSpoken ||= parts.length > 0;
    return parts;
  };
  /** Takes the white space off a part that follows a clause, so that the clause is known to have ended. */
  const split = (part: Part): { readonly gap?: Part & { readonly next: string }; readonly rest: Part } => {
    const text = part.text.trimStart();
    if (!hasSpoken || held.length > 0 || text === '') return { rest: part };
    const gap = part.text.slice(0, part.text.length - text.length);
    if (sentence !== '') sentence += gap;
    return {
      gap: { ...part, text: gap, next: String.fromCodePoint(text.codePointAt(0) ?? 32) },
      rest: { ...part, text },
    };
  };
  return {
    get violation() {
      return violation;
    },
    add(part) {
      if (violation !== undefined) return [];
      const { gap, rest } = split(part);
      held.push(rest);
      heldText += rest.text;
      const isClause = /[,;:.!?—，；：。！？、\n]["”’」』)]*\s*$/u.test(heldText);
      const out = (isClause && !isOpener(heldText)) || heldText.length >= longestClause ? letOut() : [];
      return gap === undefined ? out : [gap, ...out];
    },
    rest: () => (violation === undefined && held.length > 0 ? letOut() : []),
  };
}
