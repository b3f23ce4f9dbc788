import { EvalError } from '../eval-error.ts';
import { readPromptFile } from '../judge/message.ts';

/** Texts of a prompt after its placeholders are filled. */
export interface FilledPrompt {
  readonly system: string;
  readonly user: string;
}

/** Prompt files of a benchmark. */
export interface Prompts {
  /** SHA-256 by file. */
  readonly hashes: Readonly<Record<string, string>>;
  /** Fills the placeholders `{{name}}` of a file. Throws an `EvalError` for one without a value. */
  fill(file: string, values: Readonly<Record<string, string>>): FilledPrompt;
}

/** Reads prompt files: system text, a line `=== user ===`, user text; from `folder`, or our own. */
export function openPrompts(files: readonly string[], folder: string | undefined): Prompts {
  const read = new Map(files.map((file) => [file, readPromptFile(file, folder)]));
  return {
    hashes: Object.fromEntries([...read].map(([file, { hash }]) => [file, hash])),
    fill(file, values) {
      const text = read.get(file)?.text ?? '';
      const [system = '', user = ''] = text.split(/^=== user ===\n/m).map((part) => filled(part.trim(), file, values));
      return { system, user };
    },
  };
}

/** A single pass, because inserted text may itself contain double braces. */
function filled(text: string, file: string, values: Readonly<Record<string, string>>): string {
  return text.replaceAll(/\{\{([a-z_]+)\}\}/g, (_, name: string) => {
    const value = values[name];
    if (value === undefined)
      throw new EvalError('usage', `${file}: {{${name}}} has no value in this protocol. Remove it from the prompt.`);
    return value;
  });
}
