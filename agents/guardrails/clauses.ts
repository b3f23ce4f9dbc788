import { isOpener } from './assistant-phrases.ts';
import type { Violation } from '../violation.ts';
import type { GuardrailCheck } from './guardrail-rules.ts';

/** Longest clause that is held back, in characters; phrases for synthesis are cut at this length too. */
const longestClause = 90;

/** Characters of a sentence, before the clause that is checked, that the guardrail reads again with it. */
const longestSentence = 600;

/** Text released clause by clause. */
export interface Clauses<Part> {
  add(part: Part): Part[];
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
  const letOut = (): Part[] => {
    violation ??= guard((sentence + heldText).trim());
    if (violation !== undefined) return [];
    sentence = /[.!?。！？\n]["”’」』)]*\s*$/u.test(heldText) ? '' : (sentence + heldText).slice(-longestSentence);
    const parts = held;
    held = [];
    heldText = '';
    return parts;
  };
  return {
    get violation() {
      return violation;
    },
    add(part) {
      if (violation !== undefined) return [];
      held.push(part);
      heldText += part.text;
      const isClause = /[,;:.!?—，；：。！？、\n]["”’」』)]*\s*$/u.test(heldText);
      return (isClause && !isOpener(heldText)) || heldText.length >= longestClause ? letOut() : [];
    },
    rest: () => (violation === undefined && held.length > 0 ? letOut() : []),
  };
}
