import type { Character } from '../../characters/character.ts';
import { feelingsInWords } from '../scene/feel.ts';
import { personaWords } from '../prompting/persona-words.ts';
import { sceneOf } from '../prompting/prompt.ts';
import type { Recipe } from '../prompting/recipe.ts';
import { recalledOf } from '../prompting/recalled.ts';
import { atLastUserMessage, directionsIn, talkWindow } from '../prompting/talk-window.ts';
import { withPreface } from './plain-talk.ts';
import { isChinese, nameAndWork } from './second-person.ts';

/**
 * CoSER's given-circumstance acting (appendix, and gca_evaluation as coded): profile, current scenario, the other
 * characters, the character's inner thoughts, and an output format with thoughts in brackets and actions in
 * parentheses; 60 words a turn, temperature 0, 512 tokens. Only text that is neither thought nor action is spoken. The
 * original retrieves experiences by embeddings (`expr3`); we use embeddings with BM25 if an embedder is configured,
 * otherwise only BM25.
 */
export const coser: Recipe = (character) => {
  const recall = recalledOf(character);
  return (history, settings) => {
    const {
      scene = '',
      historyTokens = 3_000,
      hasTools = false,
      motivation = '',
      others = [],
      feelings,
      near,
    } = settings;
    const { before, userMessage = '', after } = atLastUserMessage(talkWindow(history, historyTokens));
    const parts = [
      instruction(character, {
        scene: sceneOf([scene, ...directionsIn(history)]),
        // The paper has no feelings; in a scene with others they are part of the role.
        thoughts: [
          motivation,
          others.length === 0 || feelings === undefined ? '' : feelingsInWords(feelings, isChinese(character)),
        ],
        others,
        recalled: recall(history, near),
      }),
      hasTools ? personaWords(character).functions : '',
    ];
    const start = isChinese(character) ? '===对话开始===' : '===Conversation Start===';
    return {
      messages: [
        { role: 'system', text: parts.filter(Boolean).join('\n\n') },
        ...withPreface(start, before, userMessage === '' ? '...' : userMessage),
        ...after,
      ],
      sampling: { temperature: 0 },
      maxTokens: 512,
    };
  };
};

interface Circumstance {
  readonly scene: string;
  readonly thoughts: readonly string[];
  readonly others: readonly { readonly name: string; readonly profile: string }[];
  readonly recalled: readonly string[];
}

function instruction(character: Character, { scene, thoughts, others, recalled }: Circumstance): string {
  const { name, identity, profile, background, style, scenario = '', relationships } = character;
  const chinese = isChinese(character);
  const people = [
    ...others.map((other) => `${other.name}: ${other.profile}`),
    ...relationships.map((person) => `${person.name}: ${person.relation}`),
  ];
  const section = (title: string, text: string): string => (text === '' ? '' : `===${title}===\n${text}`);
  const [who, where, them, inside, facts, form] = chinese
    ? [`${name}的人物介绍`, '当前场景', '其他人物', '你内心的想法', '有关的背景', '要求']
    : [`Profile of ${name}`, 'The present scene', 'The other characters', 'Your inner thoughts', 'Background', 'Form'];
  return [
    chinese ? `你是${name}（${character.work.title}）。` : `You are ${nameAndWork(character)}.`,
    section(who ?? '', [identity, profile, background, style].filter(Boolean).join('\n')),
    section(where ?? '', [scenario, scene].filter(Boolean).join('\n')),
    section(them ?? '', people.join('\n')),
    section(inside ?? '', thoughts.filter(Boolean).join('\n')),
    section(facts ?? '', recalled.join('\n')),
    section(
      form ?? '',
      chinese
        ? '写出想法、话语和动作。[想法]写在方括号里，别人看不见；（动作）写在圆括号里，别人看得见；其余就是说出口的话。像人一样说得简短，不超过六十个字。'
        : 'Give thought, speech and action. [Thoughts] stand in square brackets, and nobody sees them; (actions) in parentheses, which all see; the rest is what you say. Speak as briefly as people do, in sixty words at most.',
    ),
  ]
    .filter(Boolean)
    .join('\n\n');
}
