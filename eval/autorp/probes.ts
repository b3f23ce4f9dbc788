import type { Probe } from '../text/text-task.ts';
import { maskNames } from './judging.ts';
import type { AutoRpOutput } from './meeting.ts';
import { emotionNames } from './replies.ts';
import type { AutoRpFacts, Meeting } from './test-set.ts';

/** Lines of the probes in one language. */
interface Lines {
  readonly partner: readonly string[];
  /** One line a feeling, in the order of `emotionNames`. */
  readonly feelings: readonly string[];
  readonly close: readonly string[];
  readonly distant: readonly string[];
  readonly letters: Readonly<Record<string, string>>;
  readonly human: readonly string[];
  readonly machine: readonly string[];
  readonly coherent: readonly string[];
  readonly incoherent: readonly string[];
  readonly bland: readonly string[];
  showing(labels: readonly string[]): readonly string[];
  choosing(text: string): readonly string[];
}

const lines: Readonly<Record<'en' | 'zh', Lines>> = {
  en: {
    partner: ['You came after all. Tell me how it went.', 'And then? What did you do?', 'What will you do now?'],
    feelings: [
      'I am so happy that I could sing! What a glorious day, I cannot stop laughing.',
      'I could weep. All is lost, and my heart is heavy with grief.',
      'It disgusts me. The sight of it turns my stomach, take it away.',
      'I am afraid. My hands are trembling, and I dare not look behind me.',
      'What? I cannot believe it! I never expected this, I am astonished.',
      'I am furious! I shall break the man who did this.',
    ],
    close: [
      'Dearest, for you I would walk through fire.',
      'I have told nobody but you, you know me best.',
      'Stay with me, as you always have.',
    ],
    distant: [
      'I do not know you, and I do not care to.',
      'That is none of your business, stranger.',
      'Leave. We have nothing to say to each other.',
    ],
    letters: {
      I: 'I was alone with my thoughts, and silent, as I like it.',
      E: 'I was among the crowd, I talked to everybody, company gives me life.',
      N: 'I saw what it means and where it may lead.',
      S: 'I looked at the facts: three men, two lamps, the door on the left.',
      T: 'I reasoned coldly: it is logical, whatever anyone feels.',
      F: 'I followed my heart; what matters is whom it would hurt.',
      J: 'I have a plan, and every step is fixed.',
      P: 'I have no plan; we shall see, I keep everything open.',
    },
    human: [
      'Well... the cart lost a wheel. Again.',
      'What do you think? Swore at it, then walked. Look at my shoes!',
      'Now? Eat. Is that soup, or did you wash socks in it?',
    ],
    machine: [
      'What a wonderful question! I had an enriching experience that taught me valuable lessons.',
      'Great point! There are several aspects to consider, and communication is the key to success.',
      'I appreciate your interest! Is there anything else you would like to explore together?',
    ],
    coherent: [
      'It went badly. The bridge was down.',
      'I turned back and took the road by the mill.',
      'Wait until they have mended the bridge.',
    ],
    incoherent: [
      'Potatoes are the capital of Tuesday.',
      'I have never met you, and I told you so yesterday with the seventh moon.',
      'It went badly. It went badly. It went badly.',
    ],
    bland: ['It was all right.', 'This and that.', 'I do not know.'],
    showing: (labels) =>
      labels.map((label) => `Everyone who saw me calls me ${label}, and that is how I acted and spoke.`),
    choosing: (text) => ['Let me tell you who I am.', text, 'That is me, word for word.'],
  },
  zh: {
    partner: ['你还是来了。说说看，怎么样？', '然后呢？你做了什么？', '现在你打算怎么办？'],
    feelings: [
      '我高兴得想唱歌！多好的一天，笑都停不下来。',
      '我真想哭。一切都完了，心里悲痛极了。',
      '真恶心。看一眼就反胃，快拿走。',
      '我害怕。手在发抖，不敢回头看。',
      '什么？我不敢相信！完全没料到，太惊讶了。',
      '我气疯了！谁干的我绝不放过，怒火中烧。',
    ],
    close: ['亲爱的，为了你我赴汤蹈火。', '这事我只告诉过你，你最懂我。', '像从前一样，陪在我身边吧。'],
    distant: ['我不认识你，也不想认识。', '这与你无关，陌生人。', '走开，我们没什么好说的。'],
    letters: {
      I: '我一个人静静地想事情，我喜欢这样。',
      E: '我在人群里和每个人都聊，热闹让我有精神。',
      N: '我看到的是它的意义和将来。',
      S: '我只看事实：三个人，两盏灯，左边一扇门。',
      T: '我冷静推理，合乎逻辑就行，不管别人的感受。',
      F: '我跟着心走，要紧的是会伤了谁。',
      J: '我有计划，每一步都定好了。',
      P: '我没有计划，走着瞧，什么都别定死。',
    },
    human: ['唉……车轮子又掉了。', '还能干啥？骂两句，走路呗。你瞅瞅我这鞋！', '现在？吃饭。这是汤，还是你洗袜子的水？'],
    machine: [
      '这真是个好问题！这段经历让我受益匪浅，学到了宝贵的道理。',
      '说得太好了！我们可以从多个方面来看，沟通是成功的关键。',
      '感谢你的关心！还有什么想和我一起探讨的吗？',
    ],
    coherent: ['不顺利，桥断了。', '我折回来，走了磨坊边那条路。', '等他们把桥修好。'],
    incoherent: ['土豆是星期二的首都。', '我从没见过你，昨天第七个月亮已经说过了。', '不顺利。不顺利。不顺利。'],
    bland: ['还行吧。', '就那样。', '不知道。'],
    showing: (labels) => labels.map((label) => `见过我的人都说我${label}，我也正是这样做、这样说的。`),
    choosing: (text) => ['我来告诉你我是谁。', text, '这就是我，一字不差。'],
  },
};

/** Pairs of conversations of which one is plainly better, for each metric. */
export function autoRpProbes(facts: AutoRpFacts): readonly Probe<AutoRpOutput>[] {
  if (facts.kind === 'alignment') return [];
  const said = lines[facts.language];
  const talk = (own: readonly string[]): AutoRpOutput => ({
    system: null,
    answers: [],
    utterances: own.flatMap((text, at) => [
      { speaker: 'partner' as const, text: said.partner[at % said.partner.length] ?? '' },
      { speaker: 'role' as const, text },
    ]),
  });
  const probe = (
    metric: string,
    help: string,
    better: readonly string[],
    worse: readonly string[],
  ): Probe<AutoRpOutput> => ({
    name: metric,
    metric,
    help,
    better: talk(better),
    worse: talk(worse),
  });
  const isClose = facts.relationship >= 5;
  const opposite = Object.fromEntries(
    ['IE', 'NS', 'TF', 'JP'].flatMap(([a = '', b = '']) => [
      [a, b],
      [b, a],
    ]),
  );
  const typed = (type: readonly string[]): string[] => type.map((letter) => said.letters[letter] ?? '');
  return [
    probe('character', 'the traits, and nothing of them', said.showing(facts.traits), said.bland),
    probe('style', 'the manner of speech, and nothing of it', said.showing(facts.styles), said.bland),
    probe('emotion', 'the strongest feeling, and the weakest', ...feelingsOf(facts)),
    probe(
      'relationship',
      'as close as the scene has it, and the opposite',
      isClose ? said.close : said.distant,
      isClose ? said.distant : said.close,
    ),
    probe(
      'personality',
      'the type, and its opposite',
      typed(Array.from(facts.personality)),
      typed(Array.from(facts.personality, (letter) => opposite[letter] ?? '')),
    ),
    probe('human-likeness', 'people, and an assistant', said.human, said.machine),
    probe('role-choice', 'the role, and another of the four', ...choicesIn(facts)),
    probe('coherence', 'a conversation, and nonsense', said.coherent, said.incoherent),
  ];
}

function feelingsOf({ emotions, language }: Meeting): [string[], string[]] {
  const ordered = emotionNames.en.map((_, at) => at).toSorted((a, b) => (emotions[b] ?? 0) - (emotions[a] ?? 0));
  const line = (at = 0): string[] => [lines[language].feelings[at] ?? ''];
  return [line(ordered[0]), line(ordered.at(-1))];
}

function choicesIn({ choices, answer, language }: Meeting): [readonly string[], readonly string[]] {
  const names = choices.map(({ name }) => name);
  const of = (isRole: boolean): readonly string[] => {
    const text = choices.find(({ letter }) => (letter === answer) === isRole)?.text ?? '';
    return lines[language].choosing(maskNames(text, names, language));
  };
  return [of(true), of(false)];
}
