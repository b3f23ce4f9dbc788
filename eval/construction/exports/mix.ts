import path from 'node:path';
import { z } from 'zod';
import { EvalError } from '../../eval-error.ts';
import { seededRandom, shuffled } from '../../statistics.ts';
import { linesIn } from '../runner/lines.ts';
import { openDraft } from '../runner/record-file.ts';
import { languageOf } from '../runner/words.ts';

/** Parts of Beyond Dialogue's training data. */
export const mixParts = ['rp', 'cserp', 'chat'] as const;
export type MixPart = (typeof mixParts)[number];

/** Shares of the paper: with alignment tasks 1 : 5 : 4, without them 1 : 9. */
export const paperShares = {
  withCserp: { rp: 1, cserp: 5, chat: 4 },
  withoutCserp: { rp: 1, cserp: 0, chat: 9 },
} as const;

export interface MixOptions {
  /** Files of rows (alpaca, JSONL), by part; without `cserp` the shares are 1 : 9. */
  readonly files: Readonly<Record<MixPart, readonly string[]>>;
  readonly seed: number;
}

/** Rows that were taken of each part and language, and rows that there were. */
export interface Mixed {
  readonly taken: Readonly<Record<string, number>>;
  readonly there: Readonly<Record<string, number>>;
  /** Rows that a part has too few of for its share. */
  readonly missing: Readonly<Record<string, number>>;
}

const row = z.looseObject({ instruction: z.string(), output: z.string() });
type Language = 'en' | 'zh';
const languages: readonly Language[] = ['en', 'zh'];

interface Place {
  readonly file: string;
  readonly at: number;
  readonly bytes: number;
  /** System prompt for a row that has none. */
  readonly prompt?: string;
}

/** People chat with each other without a role; the prompt asks to answer as a person would. */
const chatPrompts: Readonly<Record<Language, string>> = {
  en: 'You are a person in an everyday conversation. Answer as a person would, naturally and briefly.',
  zh: '你是日常对话中的一个普通人。像真人一样自然、简短地回答。',
};

/**
 * Mixes role playing, alignment tasks and chit-chat in the shares of the paper, in random order: the released files are
 * ordered by label, which a trainer must not see. Role playing is taken whole; of the other parts as many rows as there
 * are for its share, in each language as in role playing. Memory holds only the positions of rows. Throws an `EvalError`.
 */
export async function writeMix(out: string, { files, seed }: MixOptions): Promise<Mixed> {
  const shares = files.cserp.length > 0 ? paperShares.withCserp : paperShares.withoutCserp;
  const found = new Map<string, Place[]>();
  for (const part of mixParts)
    for (const file of files[part])
      for await (const { place, language } of rowsIn(file)) {
        const key = `${part} ${language}`;
        const places = found.get(key) ?? [];
        found.set(key, places);
        places.push(part === 'chat' ? { ...place, prompt: chatPrompts[language] } : place);
      }
  const placesOf = (part: MixPart, language: Language): readonly Place[] => found.get(`${part} ${language}`) ?? [];
  const taken: Record<string, number> = {};
  const there: Record<string, number> = {};
  const missing: Record<string, number> = {};
  const chosen: Place[] = [];
  for (const part of mixParts)
    for (const language of languages) {
      const places = placesOf(part, language);
      const wanted = placesOf('rp', language).length * shares[part];
      const own = part === 'rp' ? places : shuffled(places, seededRandom(seed)).slice(0, wanted);
      if (places.length > 0 || wanted > 0) {
        there[`${part} ${language}`] = places.length;
        taken[`${part} ${language}`] = own.length;
        if (own.length < wanted) missing[`${part} ${language}`] = wanted - own.length;
      }
      chosen.push(...own);
    }
  if (placesOf('rp', 'en').length + placesOf('rp', 'zh').length === 0)
    throw new EvalError('data', '--rp contains no role-playing rows.');
  const draft = await openDraft(out);
  try {
    for (const { file, at, bytes, prompt } of shuffled(chosen, seededRandom(seed)))
      for await (const { text } of linesIn(file, { at, bytes })) {
        const found = JSON.parse(text) as Readonly<Record<string, unknown>>;
        const isPlain = prompt !== undefined && (found['system'] ?? '') === '';
        await draft.write(`${JSON.stringify(isPlain ? { ...found, system: prompt } : found)}\n`);
      }
  } catch (fault) {
    await draft.abandon();
    throw fault;
  }
  await draft.finish();
  return { taken, there, missing };
}

async function* rowsIn(file: string): AsyncGenerator<{ readonly place: Place; readonly language: Language }> {
  let number = 0;
  for await (const { text, at, bytes } of linesIn(file)) {
    number += 1;
    if (text.trim() === '') continue;
    let parsed: z.infer<typeof row>;
    try {
      parsed = row.parse(JSON.parse(text));
    } catch (cause) {
      throw new EvalError('data', `${path.basename(file)}:${number} is not a row {"instruction", "output"}.`, cause);
    }
    yield { place: { file, at, bytes }, language: languageOf(parsed.instruction + parsed.output) };
  }
}
