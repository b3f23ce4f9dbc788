import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { EvalError } from '../../eval-error.ts';

/** A prompt file: a `[system]` and a `[user]` part with placeholders such as `{{chunk}}`. */
export interface Prompt {
  readonly name: string;
  /** SHA-256 of the file. */
  readonly hash: string;
  readonly system: string;
  readonly user: string;
}

const shipped = path.resolve(import.meta.dirname, '..', 'prompts');

/** Reads prompts by name, such as `coser/extract`; a file of the same name in `folder` replaces the one that ships. */
export function openPrompts(folder?: string): (name: string) => Prompt {
  const known = new Map<string, Prompt>();
  return (name) => {
    const found = known.get(name) ?? readPrompt(name, folder);
    known.set(name, found);
    return found;
  };
}

function readPrompt(name: string, folder: string | undefined): Prompt {
  const own = folder === undefined ? undefined : path.join(folder, `${name}.txt`);
  const file = own !== undefined && existsSync(own) ? own : path.join(shipped, `${name}.txt`);
  const text = readFileSync(file, 'utf8');
  const [before = '', system = '', user = ''] = text.split(/^\[(?:system|user)\]\n/m);
  if (before.trim() !== '' || system.trim() === '' || user.trim() === '')
    throw new EvalError('data', `${file} must have a part [system] and then a part [user], each on a line of its own.`);
  return { name, hash: createHash('sha256').update(text).digest('hex'), system: system.trim(), user: user.trim() };
}

/** Fills the placeholders of a template; values are taken as they are. Throws if a value is missing. */
export function fillPrompt(template: string, values: Readonly<Record<string, string>>): string {
  return template.replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) => {
    const value = values[name];
    if (value === undefined) throw new EvalError('data', `A prompt has the unknown placeholder {{${name}}}.`);
    return value;
  });
}
