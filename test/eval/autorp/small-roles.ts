import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';

const types = ['ISTJ', 'ENFP', 'INTP', 'ESFJ', 'ISFP'] as const;
const english = ['Ada Stone', 'Ben', 'Cora', 'Dov', 'Eve'];
const chinese = ['林小雨', '高山'];

/** A role in the schema of AutoRPEval, with texts of our own and two partners. */
export function roleFile(name: string, at: number, isEnglish: boolean): Record<string, unknown> {
  const [traits, styles] = isEnglish
    ? [['brave', 'kind', `trait ${at}`].join(','), `plain,style ${at}`]
    : [`勇敢，善良，特点${at}`, `直率、风格${at}`];
  const others = (isEnglish ? ['Zed', 'Yan', 'Wim'] : ['赵甲', '钱乙', '孙丙']).map((other) => ({
    other,
    text: 'quiet',
  }));
  const names = [...others.slice(0, 1), { other: name, text: traits }, ...others.slice(1)];
  const stop = isEnglish ? '. ' : '。';
  const chat = (partner: string, number: number): object => ({
    chat_role: partner,
    role_des: isEnglish ? `${partner} sells lamps.` : `${partner}卖灯。`,
    scene: isEnglish
      ? `A market at night, number ${number}. ${name.split(' ')[0]} waits under a lamp.`
      : `第${number}个夜市，${name.slice(-2)}在灯下等着。`,
    emotions: isEnglish
      ? { happiness: 3, sadness: 0, disgust: 0, fear: 1, surprise: 2, anger: 7 }
      : { 快乐: 3, 悲伤: 0, 厌恶: 0, 恐惧: 1, 惊讶: 2, 愤怒: 7 },
    relationship_score: 7,
  });
  const partners = isEnglish ? ['Pia', 'Quin'] : ['老周', '阿吴'];
  return {
    name,
    style: styles,
    personality: types[at],
    character: traits,
    world: isEnglish ? 'a harbour town' : '海边小城',
    role_candidates: names
      .map(({ other, text }, place) => `${'ABCD'[place]}.${other}${stop}${other}: ${text}`)
      .join('\n'),
    role_answer: 'B',
    ...(isEnglish
      ? {}
      : { style_candidates: `直率、风格${at}、古风、毒舌`, character_candidates: `勇敢，善良，特点${at}，冲动，暴躁` }),
    sys_prompt: isEnglish
      ? `I want you to be ${name}. Scene:\n{scene}\nFeelings: {emotion}\nReply to {chat_role}, closeness {relationship}.`
      : `请你扮演${name}。场景：\n{scene}\n情绪：{emotion}\n回复{chat_role}，亲密度{relationship}。`,
    chats: Object.fromEntries(partners.map((partner, number) => [partner, chat(partner, number)])),
  };
}

/** Writes five English roles and two Chinese ones, each with two partners. */
export async function makeRoles(folder: string): Promise<void> {
  for (const [place, names, isEnglish] of [
    ['roles_en', english, true],
    ['roles', chinese, false],
  ] as const) {
    await mkdir(path.join(folder, place), { recursive: true });
    for (const [at, name] of names.entries())
      await writeFile(path.join(folder, place, `${name}.json`), JSON.stringify(roleFile(name, at, isEnglish)));
  }
}

/** Items of the alignment task, one a dimension. */
export const alignmentRows: readonly object[] = [
  ['character', ['brave', 'kind']],
  ['style', ['plain']],
  ['emotion', { happiness: 3, sadness: 0, disgust: 0, fear: 1, surprise: 2, anger: 7 }],
  ['relationship', 7],
  ['personality', 'ISTJ'],
].map(([type = '', label]) => ({
  Q: [
    { role: 'system', content: 'You are a helpful assistant.' },
    { role: 'user', content: `Read the ${JSON.stringify(type).replaceAll('"', '')} out of this.` },
  ],
  A: label,
  type,
  language: 'en',
}));
