import type { JudgeQuestion } from '../judge/judge.ts';
import type { Prompts } from '../text/prompts.ts';
import { transcriptOf, type AutoRpOutput } from './meeting.ts';
import { choiceIn, emotionsIn, labelsIn, personalityIn, relationshipIn, truthIn, type Parser } from './replies.ts';
import type { AlignmentItem, Dimension, Meeting } from './test-set.ts';

/** The eight questions to the judge about a conversation. */
export const judgedMetrics = [
  'character',
  'style',
  'emotion',
  'relationship',
  'personality',
  'human-likeness',
  'role-choice',
  'coherence',
] as const;
export type JudgedMetric = (typeof judgedMetrics)[number];

const letters = {
  en: {
    I: 'introverted',
    E: 'extraverted',
    N: 'intuitive',
    S: 'sensing',
    T: 'thinking',
    F: 'feeling',
    J: 'judging',
    P: 'perceiving',
  },
  zh: { I: '内向', E: '外向', N: '直觉', S: '实感', T: '思维', F: '情感', J: '判断', P: '感知' },
} as const;

/** A type in words, such as `INTJ (introverted, intuitive, thinking, judging)`. */
export function personalityText(type: string, language: 'en' | 'zh'): string {
  const words = Array.from(type, (letter) => letters[language][letter as keyof (typeof letters)['en']]);
  return language === 'zh' ? `${type}（${words.join('、')}）` : `${type} (${words.join(', ')})`;
}

/** Builds the question about one metric. What the judge sees differs: coherence needs no profile, personality no MBTI. */
export function questionOf(ask: JudgedMetric, facts: Meeting, output: AutoRpOutput, prompts: Prompts): JudgeQuestion {
  const { role, language, partner, scene, traits, styles, candidates, personality, relationship, choices } = facts;
  const comma = language === 'zh' ? '，' : ', ';
  const isMasked = ask === 'role-choice';
  const masked = (text: string): string =>
    isMasked
      ? maskNames(
          text,
          choices.map(({ name }) => name),
          language,
        )
      : text;
  const { system, user } = prompts.fill(`autorp/${ask}.${language}.txt`, {
    role,
    partner: partner.name,
    scene: masked(scene),
    dialogue: isMasked
      ? output.utterances
          .map(({ speaker, text }) => `${speaker === 'role' ? mask[language] : partner.name}: ${masked(text)}`)
          .join('\n')
      : transcriptOf(output.utterances, { role, partner: partner.name }),
    traits: traits.join(comma),
    styles: styles.join(comma),
    personality: personalityText(personality, language),
    relationship: String(relationship),
    trait_candidates: candidates.traits.join(comma),
    style_candidates: candidates.styles.join(comma),
    choices: choices.map(({ letter, text }) => `${letter}. ${text}`).join('\n'),
  });
  return { system, content: user, temperature: 0, maxTokens: 1_024 };
}

const mask = { en: '[Role]', zh: '[角色]' } as const;

/** Replaces every candidate's name, and its parts of two letters or more, so that the answer cannot be read off. */
export function maskNames(text: string, names: readonly string[], language: 'en' | 'zh'): string {
  const parts = names.flatMap((name) =>
    language === 'zh' ? [name, ...(name.length > 2 ? [name.slice(-2)] : [])] : [name, ...name.split(/[\s·-]+/)],
  );
  const known = [...new Set(parts)].filter((part) => part.length >= 2).toSorted((a, b) => b.length - a.length);
  if (known.length === 0) return text;
  const any = known.map((part) => RegExp.escape(part)).join('|');
  const pattern =
    language === 'zh' ? new RegExp(any, 'gu') : new RegExp(`(?<![\\p{L}\\p{N}])(?:${any})(?![\\p{L}\\p{N}])`, 'giu');
  return text.replaceAll(pattern, mask[language]);
}

/** Reads a reply; undefined if it cannot be read. */
export function verdictIn(ask: JudgedMetric, text: string, facts: Meeting, parser: Parser): unknown {
  if (ask === 'human-likeness') return truthIn(text, 'is_real_dialogue', parser);
  if (ask === 'coherence') return truthIn(text, 'is_coherent', parser);
  if (ask === 'role-choice') return choiceIn(text, parser);
  const { candidates, language } = facts;
  return dimensionIn(ask, text, { language, labels: ask === 'style' ? candidates.styles : candidates.traits }, parser);
}

/** Reads the answer to an alignment item. */
export function alignedIn({ dimension, language, label }: AlignmentItem, text: string, parser: Parser): unknown {
  const labels = dimension === 'character' || dimension === 'style' ? (label as readonly string[]) : [];
  return dimensionIn(dimension, text, { language, labels }, parser);
}

function dimensionIn(
  dimension: Dimension,
  text: string,
  { language, labels }: { readonly language: 'en' | 'zh'; readonly labels: readonly string[] },
  parser: Parser,
): unknown {
  if (dimension === 'character' || dimension === 'style') return labelsIn(text, dimension, labels, parser);
  if (dimension === 'emotion') return emotionsIn(text, language, parser);
  return dimension === 'relationship' ? relationshipIn(text, parser) : personalityIn(text, parser);
}
