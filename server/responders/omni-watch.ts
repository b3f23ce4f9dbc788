import { openClauses } from '../../agents/guardrails/clauses.ts';
import type { Slip } from '../../agents/violation.ts';
import type { RoleGuard } from '../../agents/guardrails/guardrail-rules.ts';
import type { OmniPart } from '../../voices/omni.ts';
import { Queue } from '../../voices/runtime/queue.ts';
import { lettersIn } from '../session/contract/cues.ts';

type TextPart = Extract<OmniPart, { readonly type: 'text-delta' }>;

/** A reply of a model that speaks by itself, while its words are watched. */
export interface WatchedReply {
  readonly parts: AsyncIterable<OmniPart>;
  /** Why nothing more comes of it; undefined while the character is in role. */
  readonly slip: Slip | undefined;
  /** Whether sound may be heard up to so many letters of the reply. */
  readonly mayBeHeard: (letters: number) => boolean;
}

/**
 * Watches what a model says, by the clause, as soon as the words come: it is read ahead of its sound, which is paced. At a slip
 * nothing more is read; of what was read, sound may be heard up to the clause before. Sound that went out before its words came, or
 * before their clause was whole, cannot be taken back: to wait for that would cost every reply a clause of silence. What is only
 * written (`speaks` false) waits for its clause.
 */
export function watchOmni(parts: AsyncIterable<OmniPart>, guard: RoleGuard, speaks: boolean): WatchedReply {
  const read = new Queue<OmniPart>();
  const clauses = openClauses<TextPart>(guard);
  let safeLetters = 0;
  const letOut = (passed: readonly TextPart[]): void => {
    for (const part of passed) {
      safeLetters += lettersIn(part.text);
      if (!speaks) read.push(part);
    }
  };
  const reading = async (): Promise<void> => {
    for await (const part of parts) {
      if (part.type === 'text-delta') letOut(clauses.add(part));
      if (part.type === 'omni-end') letOut(clauses.rest());
      if (clauses.slip !== undefined) return;
      if (speaks || part.type !== 'text-delta') read.push(part);
    }
  };
  reading().then(
    () => read.end(),
    (fault: unknown) => read.fail(fault),
  );
  return {
    parts: read,
    get slip() {
      return clauses.slip;
    },
    mayBeHeard: (letters) => clauses.slip === undefined || letters <= safeLetters,
  };
}
