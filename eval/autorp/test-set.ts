import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { EvalError } from '../eval-error.ts';
import { seededRandom, shuffled } from '../statistics.ts';
import { dataHash, isSelected, jsonRowsOf, readJsonFile, shortHash } from '../text/data.ts';
import type { LoadedData, SampleFacts } from '../text/text-task.ts';
import type { AutoRpConfig } from './config.ts';
import { emotionNames, type Emotions } from './replies.ts';

/** Parts of a profile that a reply of the judge, or of a model in the alignment task, is about. */
export type Dimension = 'character' | 'style' | 'emotion' | 'relationship' | 'personality';

/** One role and one partner, who meet in a scene. */
export interface Meeting extends SampleFacts {
  readonly kind: 'meeting';
  /** System prompt of the role, with scene, emotions and closeness. */
  readonly persona: string;
  readonly world: string;
  readonly traits: readonly string[];
  readonly styles: readonly string[];
  /** MBTI type. */
  readonly personality: string;
  /** Labels among which the judge chooses. */
  readonly candidates: { readonly traits: readonly string[]; readonly styles: readonly string[] };
  /** Four roles, one of which is this. */
  readonly choices: readonly { readonly letter: string; readonly name: string; readonly text: string }[];
  readonly answer: string;
  readonly partner: { readonly name: string; readonly description: string };
  readonly scene: string;
  readonly emotions: Emotions;
  /** Closeness to the partner, 0 to 10. */
  readonly relationship: number;
}

/** One item of the alignment task: the system under test reads a profile's part out of a given dialogue. */
export interface AlignmentItem extends SampleFacts {
  readonly kind: 'alignment';
  readonly dimension: Dimension;
  readonly system: string;
  readonly question: string;
  readonly label: readonly string[] | Emotions | number | string;
}

export type AutoRpFacts = Meeting | AlignmentItem;

const score = z.coerce.number().min(0).max(10);
const sixEmotions = z
  .record(z.string(), score)
  .refine((given) => emotionNames.en.every((name, at) => name in given || (emotionNames.zh[at] ?? '') in given), {
    error: `the six emotions are ${emotionNames.en.join(', ')}, or ${emotionNames.zh.join(', ')}`,
  });
const meetingSchema = z.looseObject({
  chat_role: z.string().min(1),
  role_des: z.string(),
  scene: z.string(),
  emotions: sixEmotions,
  relationship_score: score,
});
const roleSchema = z.looseObject({
  name: z.string().min(1),
  style: z.string(),
  character: z.string(),
  personality: z.string().regex(/^[EI][NS][FT][JP]$/),
  world: z.string().default(''),
  sys_prompt: z.string(),
  style_candidates: z.string().optional(),
  character_candidates: z.string().optional(),
  role_candidates: z.string(),
  role_answer: z.string().regex(/^[A-D]$/),
  chats: z.record(z.string(), z.unknown()),
});
type Role = z.infer<typeof roleSchema> & { readonly language: 'en' | 'zh' };

const alignmentSchema = z.looseObject({
  Q: z.array(z.object({ role: z.string(), content: z.string() })).min(1),
  A: z.union([z.array(z.string()), z.record(z.string(), z.number()), z.number(), z.string()]),
  type: z.enum(['character', 'style', 'emotion', 'relationship', 'personality']),
  language: z.enum(['cn', 'en']),
});

/**
 * Reads the roles of AutoRPEval with their partners, or its alignment items, which are one file. Unreadable roles and
 * meetings are left out and named. Throws `EvalError`.
 */
export async function loadAutoRp(config: AutoRpConfig): Promise<LoadedData<AutoRpFacts>> {
  const problems: string[] = [];
  const isFile = (await stat(config.data).catch(() => undefined))?.isFile() === true;
  const { files, facts } = isFile
    ? { files: [config.data], facts: alignmentItems(await readJsonFile(config.data), problems) }
    : await meetingsIn(config, problems);
  const chosen = facts.filter((each) => isSelected(each, config)).slice(0, config.select.limit);
  if (chosen.some(({ kind }) => kind === 'meeting') && !/^(?:outputs:|none$|probes$)/.test(config.agent)) {
    if (config.models['partner'] === undefined) throw new EvalError('usage', '--partner is required: URL#MODEL.');
  }
  return {
    samples: () => chosen,
    count: chosen.length,
    roles: new Map(chosen.map(({ role, language }) => [role, language])),
    hash: await dataHash(files, config.select),
    problems,
  };
}

function alignmentItems(whole: unknown, problems: string[]): AlignmentItem[] {
  const rows: readonly unknown[] = Array.isArray(whole) ? whole : [];
  return rows.flatMap((row, at): AlignmentItem[] => {
    const parsed = alignmentSchema.safeParse(row);
    if (!parsed.success) {
      problems.push(`item ${at + 1}: ${z.prettifyError(parsed.error)}`);
      return [];
    }
    const { Q: messages, A: label, type: dimension, language } = parsed.data;
    const id = `alignment/${language}/${dimension}/${String(at + 1).padStart(4, '0')}`;
    return [
      {
        kind: 'alignment',
        id,
        // Each item is a group of its own, because the file does not name its role.
        group: id,
        role: 'analyst',
        language: language === 'cn' ? 'zh' : 'en',
        dimension,
        system: messages.find(({ role }) => role === 'system')?.content ?? '',
        question: messages.findLast(({ role }) => role === 'user')?.content ?? '',
        label: typeof label === 'object' && !Array.isArray(label) ? emotionsOf(label) : label,
      },
    ];
  });
}

async function meetingsIn(
  config: AutoRpConfig,
  problems: string[],
): Promise<{ readonly files: readonly string[]; readonly facts: readonly Meeting[] }> {
  const files: string[] = [];
  const roles: Role[] = [];
  for (const [folder, language] of [
    ['roles', 'zh'],
    ['roles_en', 'en'],
  ] as const) {
    const place = path.join(config.data, folder);
    const names = (await readdir(place).catch(() => [])).filter((name) => name.endsWith('.json')).toSorted();
    for (const name of names) {
      const file = path.join(place, name);
      files.push(file);
      const parsed = roleSchema.safeParse(await readJsonFile(file));
      if (parsed.success) roles.push({ ...parsed.data, language });
      else problems.push(`${file}: ${z.prettifyError(parsed.error)}`);
    }
  }
  if (files.length === 0)
    throw new EvalError('data', `${config.data} has neither roles/ nor roles_en/. Give the folder that contains them.`);
  const chosen = config.meetings === undefined ? roles : await rolesMeeting(roles, config.meetings, problems);
  if (config.meetings !== undefined) files.push(config.meetings);
  return { files, facts: chosen.flatMap((role) => meetingsOf(role, { roles, config, problems })) };
}

const ownMeeting = z.looseObject({ role: z.string() });

/** The roles with partners and scenes of a file instead of their own; roles that it does not name have none. */
async function rolesMeeting(roles: readonly Role[], file: string, problems: string[]): Promise<readonly Role[]> {
  const chats = new Map<string, Record<string, unknown>>(roles.map(({ name }) => [name, {}]));
  for await (const { row, value } of jsonRowsOf(file, (where) => problems.push(where))) {
    const parsed = ownMeeting.safeParse(value);
    const of = chats.get(parsed.data?.role ?? '');
    if (of !== undefined) of[`row ${row} of ${file}`] = value;
    else problems.push(`${file}:${row}: ${parsed.success ? `no role "${parsed.data.role}" in the data` : 'no role'}`);
  }
  return roles.map((role) => ({ ...role, chats: chats.get(role.name) ?? {} }));
}

interface Around {
  readonly roles: readonly Role[];
  readonly config: AutoRpConfig;
  readonly problems: string[];
}

function meetingsOf(role: Role, { roles, config, problems }: Around): Meeting[] {
  const { name, language, world, personality, role_answer: answer } = role;
  const traits = labelsOf(role.character);
  const styles = labelsOf(role.style);
  const others = roles.filter((each) => each.language === language && each.name !== name);
  const random = seededRandom(config.seed + Number.parseInt(shortHash(name).slice(0, 7), 16));
  const among = (own: readonly string[], given: string | undefined, theirs: readonly string[]): string[] =>
    config.candidates === 'own'
      ? [...own]
      : withDistractors(own, given === undefined ? theirs : labelsOf(given), random);
  const candidates = {
    traits: among(
      traits,
      role.character_candidates,
      others.flatMap(({ character }) => labelsOf(character)),
    ),
    styles: among(
      styles,
      role.style_candidates,
      others.flatMap(({ style }) => labelsOf(style)),
    ),
  };
  const choices = choicesOf(role.role_candidates);
  if (!choices.some(({ letter }) => letter === answer)) problems.push(`${name}: role_candidates has no ${answer}`);
  return Object.entries(role.chats).flatMap(([key, chat]): Meeting[] => {
    const parsed = meetingSchema.safeParse(chat);
    if (!parsed.success) {
      problems.push(`${name} and ${key}: ${z.prettifyError(parsed.error)}`);
      return [];
    }
    const { chat_role: partner, role_des: description, scene, relationship_score: relationship } = parsed.data;
    const emotions = emotionsOf(parsed.data.emotions);
    const common = { kind: 'meeting', group: name, role: name, language, world, traits, styles, personality } as const;
    const values = {
      scene,
      chat_role: partner,
      relationship: String(relationship),
      emotion: emotionText(emotions, language),
    };
    return [
      {
        ...common,
        id: `${language}/${shortHash(name)}/${shortHash(`${partner}\u{0}${scene}`)}`,
        persona: role.sys_prompt.replaceAll(
          /\{(scene|emotion|chat_role|relationship)\}/g,
          (_, at: keyof typeof values) => values[at],
        ),
        candidates,
        choices,
        answer,
        partner: { name: partner, description },
        scene,
        emotions,
        relationship,
      },
    ];
  });
}

/** Splits a list of labels at commas of any kind. */
export function labelsOf(text: string): string[] {
  return text
    .split(/[,，、]/)
    .map((label) => label.trim())
    .filter((label) => label !== '');
}

/** The own labels, as many others, in random order. */
function withDistractors(own: readonly string[], others: readonly string[], random: () => number): string[] {
  const foreign = [...new Set(others)].filter((label) => !own.includes(label));
  return shuffled([...own, ...shuffled(foreign, random).slice(0, own.length)], random);
}

function choicesOf(text: string): Meeting['choices'] {
  return [...text.matchAll(/^\s*([A-D])[.．、]\s*([\s\S]*?)(?=\n\s*[A-D][.．、]|$(?![\s\S]))/gm)].map((match) => {
    const about = (match[2] ?? '').trim();
    return { letter: match[1] ?? '', name: about.split(/[.。]/)[0]?.trim() ?? '', text: about };
  });
}

function emotionsOf(scores: Readonly<Record<string, number>>): Emotions {
  const [happiness = 0, sadness = 0, disgust = 0, fear = 0, surprise = 0, anger = 0] = emotionNames.en.map(
    (name, at) => scores[name] ?? scores[emotionNames.zh[at] ?? ''] ?? 0,
  );
  return [happiness, sadness, disgust, fear, surprise, anger];
}

/** Scores of emotions as a prompt has them. */
export function emotionText(emotions: Emotions, language: 'en' | 'zh'): string {
  const colon = language === 'zh' ? '：' : ': ';
  return emotionNames[language]
    .map((name, at) => `${name}${colon}${emotions[at]}`)
    .join(language === 'zh' ? '，' : ', ');
}
