import { partsOf, type Dialogue } from '../records/dialogue.ts';
import { fillPrompt, type Prompt } from '../runner/prompts.ts';
import type { OutputRow } from '../runner/stage.ts';
import { languageRule, type TextLanguage } from '../runner/words.ts';
import { aspects, emotionNames, type AlignedDialogue, type AlignedRole, type Aspect } from './align.ts';
import { dialogueText } from './dialogues.ts';
import { roleFile } from './role-file.ts';
import type { Role } from './roles.ts';
import { labelsOf } from './scenes.ts';

/** A row in alpaca's form. */
export interface AlpacaRow {
  readonly instruction: string;
  readonly input: string;
  readonly output: string;
  readonly system: string;
  readonly history: readonly (readonly [string, string])[];
}

/** Everything that is written of a role: dialogues, training rows with and without alignment, CSERP, and a role file. */
export function roleRows(
  { role, dialogues }: AlignedRole,
  {
    rights,
    promptOf,
    roles,
  }: { readonly rights: string; readonly promptOf: (aspect: Aspect) => Prompt; readonly roles: readonly Role[] },
): readonly OutputRow[] {
  const folder = dialogues[0]?.language === 'zh' ? 'roles' : 'roles_en';
  return [
    ...dialogues.flatMap((dialogue) => [
      { file: 'dialogues.jsonl', value: generalDialogue(role, dialogue, rights) },
      { file: 'rp.jsonl', value: lastTurnRow(dialogue, systemPrompt(role, dialogue, 'profile')) },
      { file: 'rpa.jsonl', value: lastTurnRow(dialogue, systemPrompt(role, dialogue, 'aligned')) },
      ...aspects.map((aspect) => ({ file: 'cserp.jsonl', value: cserpRow(aspect, promptOf(aspect), role, dialogue) })),
    ]),
    { file: `${folder}/${role.name}.json`, value: roleFile(role, dialogues, roles) },
  ];
}

/** System prompt of a role in a dialogue: labels of the whole profile, or those that the dialogue shows. */
export function systemPrompt(
  role: Role,
  { alignment, language, scene, partner }: AlignedDialogue,
  labels: 'profile' | 'aligned',
): string {
  const isAligned = labels === 'aligned';
  const traits = isAligned && alignment.character.length > 0 ? alignment.character : role.traits;
  const manner = isAligned && alignment.style.length > 0 ? alignment.style : role.manner;
  const mbti = isAligned ? alignment.personality : role.mbti;
  const emotions = emotionNames.map((name) => `${emotionWords[language][name]} ${alignment.emotion[name]}`);
  return language === 'zh'
    ? [
        `你是${role.name}${role.world === '' ? '' : `，来自${role.world}`}。`,
        `性格：${traits.join('、')}\n说话风格：${manner.join('、')}\nMBTI：${mbti}`,
        `场景：${scene}`,
        `你此刻的情绪（0到10）：${emotions.join('，')}`,
        `你与${partner}的亲密程度（0到10）：${alignment.relationship}`,
        '以这个角色的身份说话，动作写在括号里。',
      ].join('\n')
    : [
        `You are ${role.name}${role.world === '' ? '' : `, of ${role.world}`}.`,
        `Traits: ${traits.join(', ')}\nManner of speech: ${manner.join(', ')}\nMBTI: ${mbti}`,
        `Scene: ${scene}`,
        `What you feel now, from 0 to 10: ${emotions.join(', ')}`,
        `How close you are to ${partner}, from 0 to 10: ${alignment.relationship}`,
        'Speak as this character; actions stand in parentheses.',
      ].join('\n');
}

const emotionWords: Readonly<Record<TextLanguage, Readonly<Record<(typeof emotionNames)[number], string>>>> = {
  en: {
    happiness: 'happiness',
    sadness: 'sadness',
    disgust: 'disgust',
    fear: 'fear',
    surprise: 'surprise',
    anger: 'anger',
  },
  zh: { happiness: '快乐', sadness: '悲伤', disgust: '厌恶', fear: '恐惧', surprise: '惊讶', anger: '愤怒' },
};

/** The last turn of a dialogue with the turns before as history. */
function lastTurnRow({ rows }: AlignedDialogue, system: string): AlpacaRow {
  const pairs: [string, string][] = [];
  for (let at = 0; at + 1 < rows.length; at += 2) pairs.push([rows[at]?.dialogue ?? '', rows[at + 1]?.dialogue ?? '']);
  const [instruction = '', output = ''] = pairs.pop() ?? [];
  return { instruction, input: '', output, system, history: pairs };
}

function cserpRow(
  aspect: Aspect,
  prompt: Prompt,
  role: Role,
  dialogue: AlignedDialogue,
): AlpacaRow & { readonly aspect: Aspect } {
  const values = {
    scene: dialogue.scene,
    dialogue: dialogueText(dialogue),
    partner: dialogue.partner,
    language: languageRule(dialogue.language),
    ...labelsOf(role.name, [role]),
  };
  const instruction = `${fillPrompt(prompt.system, values)}\n\n${fillPrompt(prompt.user, values)}`;
  const output = dialogue.alignment.reasons[aspect];
  return { aspect, instruction, input: '', output, system: 'You are a helpful assistant.', history: [] };
}

function generalDialogue(role: Role, dialogue: AlignedDialogue, rights: string): Dialogue {
  const { reasons: _reasons, ...labels } = dialogue.alignment;
  return {
    id: dialogue.id,
    language: dialogue.language,
    source: dialogue.title,
    rights,
    scene: dialogue.scene,
    system: systemPrompt(role, dialogue, 'aligned'),
    turns: dialogue.rows.map(({ role: speaker, dialogue: line }) => ({
      speaker,
      kind: speaker === role.name ? ('character' as const) : ('user' as const),
      ...partsOf(line),
      target: speaker === role.name,
    })),
    labels: { ...labels, role: role.name, partner: dialogue.partner },
    provenance: dialogue.provenance as Dialogue['provenance'],
  };
}
