import { openClauses } from '../../agents/guardrails/clauses.ts';
import type { Slip } from '../../agents/violation.ts';
import type { RoleGuard } from '../../agents/guardrails/guardrail-rules.ts';
import type { OmniPart } from '../../voices/omni.ts';
import { Queue } from '../../voices/runtime/queue.ts';
import { lettersIn } from '../session/contract/cues.ts';

type TextPart = Extract<OmniPart, { readonly type: 'text-delta' }>;

/** A reply of an omni model whose words are being checked. */
export interface WatchedReply {
  readonly parts: AsyncIterable<OmniPart>;
  /** The guardrail violation that ended it; undefined while there is none. */
  readonly slip: Slip | undefined;
  /** Returns true if audio may be played up to this many letters of the reply. */
  readonly mayBeHeard: (letters: number) => boolean;
}

/**
 * Checks the words of an omni model clause by clause, as soon as they come: they are read ahead of their audio, which
 * is paced. At a violation reading stops; audio already read may be played up to the clause before. Audio sent before
 * its words came, or before their clause was complete, cannot be taken back: waiting for that would add a clause of
 * silence to every reply. Text-only replies (`speaks` false) wait for each clause.
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
