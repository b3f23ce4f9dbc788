import { isOpener } from './assistant-phrases.ts';
import type { Slip } from '../violation.ts';
import type { RoleGuard } from './guardrail-rules.ts';

/** A sentence may be long; this much of it is not waited for. Phrases are cut there too. */
const longestClause = 90;

/** Text that is let out by the clause. */
export interface Clauses<Part> {
  add(part: Part): Part[];
  rest(): Part[];
  /** What was wrong with the clause at which it ended; nothing is let out any more. */
  readonly slip: Slip | undefined;
}

/** Holds text back until a clause has ended and its sentence so far is what the character may say. */
export function openClauses<Part extends { readonly text: string }>(guard: RoleGuard): Clauses<Part> {
  let held: Part[] = [];
  let heldText = '';
  let sentence = '';
  let slip: Slip | undefined;
  const letOut = (): Part[] => {
    slip ??= guard((sentence + heldText).trim());
    if (slip !== undefined) return [];
    sentence = /[.!?。！？\n]["”’」』)]*\s*$/u.test(heldText) ? '' : sentence + heldText;
    const parts = held;
    held = [];
    heldText = '';
    return parts;
  };
  return {
    get slip() {
      return slip;
    },
    add(part) {
      if (slip !== undefined) return [];
      held.push(part);
      heldText += part.text;
      const isClause = /[,;:.!?—，；：。！？、\n]["”’」』)]*\s*$/u.test(heldText);
      return (isClause && !isOpener(heldText)) || heldText.length >= longestClause ? letOut() : [];
    },
    rest: () => (slip === undefined && held.length > 0 ? letOut() : []),
  };
}
