import path from 'node:path';
import { EvalError } from '../../eval-error.ts';
import { linesIn } from '../runner/lines.ts';
import { dialogueSchema, type Dialogue } from './dialogue.ts';

/** Dialogues of a build. Throws an `EvalError` that names the line of one that is not valid. */
export async function* dialoguesIn(folder: string): AsyncGenerator<Dialogue> {
  const file = folder.endsWith('.jsonl') ? folder : path.join(folder, 'dialogues.jsonl');
  let number = 0;
  try {
    for await (const { text } of linesIn(file)) {
      number += 1;
      if (text.trim() !== '') yield dialogueSchema.parse(JSON.parse(text));
    }
  } catch (cause) {
    const place = number === 0 ? file : `${file}:${number}`;
    throw new EvalError('data', `${place} cannot be read as dialogues of a build.`, cause);
  }
}
