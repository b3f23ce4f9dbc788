import { hash } from 'node:crypto';
import { seededRandom, shuffled } from '../../statistics.ts';
import type { AlignedDialogue } from './align.ts';
import type { Role } from './roles.ts';

const letters = ['A', 'B', 'C', 'D'] as const;

/**
 * A role in the form of AutoRPEval, which `characters import --from beyond-dialogue` and `eval run --task autorp` read.
 * The judge recognizes the role among at most four: others of the table, then partners.
 */
export function roleFile(role: Role, dialogues: readonly AlignedDialogue[], roles: readonly Role[]): object {
  const { name, traits, manner, mbti, world } = role;
  const isChinese = dialogues[0]?.language === 'zh';
  const title = dialogues[0]?.title ?? '';
  const aboutPartner = (partner: string): string => {
    const known = roles.find((each) => each.name === partner);
    if (known !== undefined) return describe(known, isChinese);
    return isChinese ? `${partner}是《${title}》中的人物。` : `${partner} is a person of ${title}.`;
  };
  const partners = dialogues.map(({ partner }) => partner);
  const others = [...new Set([...roles.map((each) => each.name), ...partners])].filter((each) => each !== name);
  const random = seededRandom(hash('sha1', name, 'buffer').readUInt32BE(0));
  const choices = shuffled([name, ...others.slice(0, letters.length - 1)], random);
  const stop = isChinese ? '。' : '. ';
  const seen = new Map<string, number>();
  return {
    name,
    style: manner.join(isChinese ? '、' : ','),
    personality: mbti,
    character: traits.join(isChinese ? '，' : ','),
    world,
    sys_prompt: promptOf(role, isChinese),
    role_candidates: choices
      .map((each, at) => {
        const about = each === name ? describe(role, isChinese) : aboutPartner(each);
        return `${letters[at]}.${each}${stop}${about}`;
      })
      .join('\n'),
    role_answer: letters[choices.indexOf(name)],
    chats: Object.fromEntries(
      dialogues.map(({ partner, scene, rows, alignment }) => {
        const count = (seen.get(partner) ?? 0) + 1;
        seen.set(partner, count);
        return [
          count === 1 ? partner : `${partner} ${count}`,
          {
            chat_role: partner,
            role_des: aboutPartner(partner),
            scene,
            emotions: alignment.emotion,
            relationship_score: alignment.relationship,
            relationship_analyse: alignment.reasons.relationship,
            dialogues: rows,
          },
        ];
      }),
    ),
  };
}

function describe({ name, traits, manner, world }: Role, isChinese: boolean): string {
  return isChinese
    ? `${name}${world === '' ? '' : `来自${world}，`}性格${traits.join('、')}，说话${manner.join('、')}。`
    : `${name}${world === '' ? ' is' : `, of ${world}, is`} ${traits.join(', ')}, and speaks in a ${manner.join(', ')} manner.`;
}

/** System prompt with slots for scene, feelings, partner and closeness, which the benchmark fills. */
function promptOf({ name, traits, manner, mbti, world }: Role, isChinese: boolean): string {
  return isChinese
    ? `你是${name}${world === '' ? '' : `，来自${world}`}。性格：${traits.join('、')}。说话风格：${manner.join('、')}。MBTI：${mbti}。\n` +
        '场景：{scene}\n情绪（0到10）：{emotion}\n你在和{chat_role}说话，亲密程度（0到10）：{relationship}。'
    : `You are ${name}${world === '' ? '' : `, of ${world}`}. Traits: ${traits.join(', ')}. Manner of speech: ${manner.join(', ')}. MBTI: ${mbti}.\n` +
        'Scene: {scene}\nWhat you feel, from 0 to 10: {emotion}\nYou talk to {chat_role}, closeness from 0 to 10: {relationship}.';
}
