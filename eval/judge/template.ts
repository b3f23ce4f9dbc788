import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { EvalError } from '../eval-error.ts';

/** A prompt file: a system message, and a user message with placeholders for texts and recordings. */
export interface PromptTemplate {
  readonly file: string;
  /** SHA-256 of the file. */
  readonly hash: string;
  readonly system: string;
  readonly user: string;
}

/** A piece of a filled prompt: text, or the placeholder of one speaker's recordings. */
export type PromptPiece = { readonly text: string } | { readonly speaker: 'first' | 'second' };

const divider = /^=== user ===\n/m;
const ownPrompts = path.join(import.meta.dirname, '..', 'prompts');

/** Reads a file from the prompt folder, by default our own. */
export function readPromptFile(
  name: string,
  folder: string = ownPrompts,
): { readonly text: string; readonly hash: string } {
  const file = path.join(folder, name);
  try {
    const text = readFileSync(file, 'utf8');
    return { text, hash: createHash('sha256').update(text).digest('hex') };
  } catch (cause) {
    throw new EvalError('usage', `${file}: this prompt is missing. --prompts needs the files of eval/prompts.`, cause);
  }
}

/**
 * Reads a template: system text, a line `=== user ===`, then user text that contains `{{first_audio}}` and
 * `{{second_audio}}`.
 */
export function readTemplate(name: string, folder?: string): PromptTemplate {
  const { text, hash } = readPromptFile(name, folder);
  const [system, user, ...more] = text.split(divider);
  const whole = user !== undefined && more.length === 0;
  if (!whole || !user.includes('{{first_audio}}') || !user.includes('{{second_audio}}')) {
    const advice =
      'a template is a system text, a line "=== user ===", and a user text with {{first_audio}} and {{second_audio}}';
    throw new EvalError('usage', `${name}: ${advice}.`);
  }
  return { file: name, hash, system: (system ?? '').trimEnd(), user: user.trimEnd() };
}

/** Fills a template's placeholders. Throws an `EvalError` for one without a value, so that the judge never sees it. */
export function fillTemplate(template: PromptTemplate, values: Readonly<Record<string, string>>): PromptPiece[] {
  // A single pass over the template, because inserted text may itself contain double braces.
  return template.user.split(/(\{\{[a-z_]+\}\})/).reduce<PromptPiece[]>((pieces, part) => {
    const name = /^\{\{([a-z_]+)\}\}$/.exec(part)?.[1];
    if (name === 'first_audio' || name === 'second_audio')
      return [...pieces, { speaker: name === 'first_audio' ? 'first' : 'second' }];
    const text = name === undefined ? part : values[name];
    if (text === undefined) throw new EvalError('usage', `${template.file}: nothing is known of {{${name}}}.`);
    const last = pieces.at(-1);
    if (last === undefined || !('text' in last)) return [...pieces, { text }];
    return [...pieces.slice(0, -1), { text: last.text + text }];
  }, []);
}
