import { readFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';

const schema = z.record(
  z.string(),
  z.object({
    language: z.enum(['en', 'zh']),
    gender: z.enum(['female', 'male']),
    /**
     * Split of the role's other dialogues: `train` is in-domain for models trained on SpeechRole-Data, `dev`
     * out-of-domain.
     */
    split: z.enum(['train', 'dev']),
  }),
);

/** The paper's Tables 5 and 6: its 98 roles by the keys that the data uses (the tables misspell three). */
export const paperRoles = schema.parse(
  JSON.parse(readFileSync(path.join(import.meta.dirname, 'paper-roles.json'), 'utf8')),
);

/** 98 roles with 4 dialogues each. */
export const paperSampleCount = 392;

/** Returns a role's language; for roles not in the paper, Chinese if at least a tenth of the text is Han. */
export function languageOf(role: string, text: string): 'en' | 'zh' {
  const known = paperRoles[role]?.language;
  if (known !== undefined) return known;
  const han = text.match(/\p{Script=Han}/gu)?.length ?? 0;
  return han * 10 >= text.length && han > 0 ? 'zh' : 'en';
}
