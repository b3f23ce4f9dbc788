import { cardSchema } from '../characters/card.ts';

const english = {
  greetings: ['Yes?'],
  evasions: [
    'Hm.',
    'Let me think.',
    'I would rather not say.',
    'Who knows.',
    'That is a long story.',
    'Ask me another.',
  ],
  repeats: ['What was that?', 'Say that again.', 'I did not hear you.'],
};
const chinese = {
  greetings: ['嗯？'],
  evasions: ['嗯。', '让我想想。', '这个不好说。', '谁知道呢。', '说来话长。', '问点别的吧。'],
  repeats: ['你说什么？', '再说一遍。', '我没听清。'],
};

/** A role of a benchmark as a character. */
export interface PromptRole {
  readonly id: string;
  readonly role: string;
  readonly language: 'en' | 'zh';
  /** Name of the benchmark. */
  readonly source: string;
  readonly name?: string;
  readonly profile?: string;
  readonly gender?: 'female' | 'male' | 'neutral' | undefined;
}

/** A card that only carries a benchmark's prompt; what the schema requires besides is never used. */
export function promptCard(wanted: PromptRole): ReturnType<typeof cardSchema.parse> {
  const { id, role, language, source, gender = 'neutral' } = wanted;
  const lines = language === 'zh' ? chinese : english;
  const name = (wanted.name ?? role).slice(0, 400);
  return cardSchema.parse({
    id,
    name,
    tagline: `${role}, of ${source}`.slice(0, 120),
    identity: `${name}, as ${source} has it`.slice(0, 400),
    work: { title: source, rights: 'The benchmark is the property of its authors; for evaluation only.' },
    languages: [language],
    profile: wanted.profile?.trim().slice(0, 8_000) || role,
    background: 'As the profile tells.',
    relationships: [],
    temperament: ['as the profile tells'],
    style: 'As the profile and the script show.',
    catchphrases: [],
    knowledge: { knows: 'What the profile and the script tell.', unknown: 'Anything outside that world.' },
    greetings: lines.greetings,
    evasions: lines.evasions,
    repeatRequests: lines.repeats,
    voice: { gender, description: `the voice of ${role}`.slice(0, 400) },
    persona: 'instructions',
  });
}
