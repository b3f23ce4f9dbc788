import { readFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';

const schema = z.record(
  z.string(),
  z.object({
    language: z.enum(['en', 'zh']),
    gender: z.enum(['female', 'male']),
    /** Where its other dialogues went: `train` is in-domain for models trained on SpeechRole-Data, `dev` out-of-domain. */
    split: z.enum(['train', 'dev']),
  }),
);

/** What the paper's Tables 5 and 6 say of the 98 roles, by the keys that the data uses (the tables misspell three). */
export const paperRoles = schema.parse(
  JSON.parse(readFileSync(path.join(import.meta.dirname, 'paper-roles.json'), 'utf8')),
);

/** In 4 dialogues each. */
export const paperSampleCount = 392;

/** The language of a role that the paper does not know is told by its text: Chinese where a tenth of it is Han. */
export function languageOf(role: string, text: string): 'en' | 'zh' {
  const known = paperRoles[role]?.language;
  if (known !== undefined) return known;
  const han = text.match(/\p{Script=Han}/gu)?.length ?? 0;
  return han * 10 >= text.length && han > 0 ? 'zh' : 'en';
}
