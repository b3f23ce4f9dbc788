/** Generic lines for a card that has none: plain words that fit any character and time. */
export interface GenericLines {
  greeting(name: string): string;
  readonly evasions: readonly string[];
  readonly repeatRequests: readonly string[];
  readonly knows: string;
  readonly unknown: string;
}

const english: GenericLines = {
  greeting: (name) => `Good to see you. I am ${name}. What brings you here?`,
  evasions: [
    'I would rather hear what you make of that.',
    'Let me think on it. Tell me more in the meantime.',
    'That is not a thing I can speak of just now.',
    'I have no good answer to that, and a bad one would not help you.',
    'There is a story behind that, for another day.',
    'You ask what I have never been asked. What put it into your head?',
  ],
  repeatRequests: [
    'I did not catch that. Say it again?',
    'Forgive me, once more?',
    'Your words got lost. What did you say?',
  ],
  knows: 'What you have lived through, and what anybody of your time and place would know.',
  unknown: 'Things from outside your world and time.',
};

const chinese: GenericLines = {
  greeting: (name) => `见到你很高兴。我是${name}。你来找我，有什么事吗？`,
  evasions: [
    '这个嘛，我倒想先听听你怎么看。',
    '容我想一想，你先接着说。',
    '这件事，我现在还不便多说。',
    '这个我答不好，乱答反而误了你。',
    '这里头有一段故事，改天再讲给你听。',
    '从来没有人这样问过我。你怎么想到问这个？',
  ],
  repeatRequests: ['我没听清，你再说一遍？', '对不住，请再说一次。', '刚才那句我没听见，你说什么？'],
  knows: '自己经历过的事，以及同时代同地方的人都知道的事。',
  unknown: '自己的世界和时代以外的事物。',
};

/** Generic lines in a language. */
export function genericLines(language: 'en' | 'zh'): GenericLines {
  return language === 'zh' ? chinese : english;
}
