import { hash } from 'node:crypto';
import { tokensOf } from '../../text-metrics/tokens.ts';
import type { Dialogue } from './dialogue.ts';

/** A conversation that is for training and is in the test data too. */
export interface Leak {
  readonly id: string;
  readonly why: 'same conversation' | 'same question' | 'same words in an answer';
  /** The text they have in common; empty for the same conversation. */
  readonly text: string;
}

const gramTokens = 13;
const shortestQuestion = 8;
/** Keys of texts that are asked or answered, in the test data of any of the papers. */
const spoken =
  /^(?:user|role|question|instruction|generated|answers?|reference|message|dialogues?|value|content|output|prompts|asks|text)$/;

/** Texts of test data, in memory as 48 bits of a hash each. */
export class KnownTexts {
  readonly #ids = new Set<string>();
  readonly #texts = new Set<number>();
  readonly #grams = new Set<number>();

  /** Adds a dialogue of a build. */
  addDialogue({ id, turns }: Dialogue): void {
    this.#ids.add(id);
    for (const { text } of turns) this.#addText(text);
  }

  /** Adds a row of any test set: all that is asked or answered in it. */
  addRow(row: unknown, key = ''): void {
    if (typeof row === 'string') {
      if (spoken.test(key)) this.#addText(row);
    } else if (Array.isArray(row)) for (const item of row) this.addRow(item, key);
    else if (row !== null && typeof row === 'object')
      for (const [name, value] of Object.entries(row))
        if (!/^(?:plot|meta|system\w*|\w*profiles?)$/.test(name)) this.addRow(value, name);
  }

  /** The first thing that a dialogue for training has in common with the test data. */
  leakOf({ id, turns }: Dialogue): Leak | undefined {
    if (this.#ids.has(id)) return { id, why: 'same conversation', text: '' };
    const first = turns.find(({ kind }) => kind !== 'environment')?.text ?? '';
    if (plain(first).length >= shortestQuestion && this.#texts.has(slotOf(plain(first))))
      return { id, why: 'same question', text: first };
    for (const { text } of turns)
      for (const gram of gramsOf(text))
        if (this.#grams.has(slotOf(gram))) return { id, why: 'same words in an answer', text: gram };
    return undefined;
  }

  #addText(text: string): void {
    this.#texts.add(slotOf(plain(text)));
    for (const gram of gramsOf(text)) this.#grams.add(slotOf(gram));
  }
}

/** Letters and digits of a text in lower case, without marks. */
function plain(text: string): string {
  return tokensOf(text, 'han').join(' ');
}

/** Runs of 13 words, or Han characters, of a text. */
function* gramsOf(text: string): Generator<string> {
  const tokens = tokensOf(text, 'han');
  for (let at = 0; at + gramTokens <= tokens.length; at += 1) yield tokens.slice(at, at + gramTokens).join(' ');
}

function slotOf(text: string): number {
  return hash('sha1', text, 'buffer').readUIntBE(0, 6);
}
