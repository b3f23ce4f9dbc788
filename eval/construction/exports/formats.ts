import { environment } from '../coser/plots.ts';
import { messageOf, type Dialogue, type Turn } from '../records/dialogue.ts';
import type { OutputRow } from '../runner/stage.ts';
import type { Conversation } from './conversation.ts';

/** Choices of an export. */
export interface ExportOptions {
  /** Names of the two sides in ShareGPT's form. */
  readonly tags: readonly [user: string, role: string];
  /** `last`: a row for each dialogue; `all`: a row for each answer, with what came before as history. */
  readonly turns: 'last' | 'all';
}

/** Rows of one conversation. */
export type Format = (conversation: Conversation, options: ExportOptions) => readonly OutputRow[];

/** Messages of a chat: the loss is on those of the assistant. */
export interface ChatMessage {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
}

/** Conversations that go to `val.jsonl` or are left for the benchmarks; all others are for training. */
export function splitOf({
  labels = {},
}: {
  readonly labels?: Readonly<Record<string, unknown>> | undefined;
}): 'train' | 'dev' | 'test' {
  const { split } = labels;
  return split === 'dev' || split === 'test' ? split : 'train';
}

const splitFile = { train: 'train.jsonl', dev: 'val.jsonl', test: 'test.jsonl' } as const;

function fileOf(conversation: Conversation): string {
  return splitFile[splitOf(conversation)];
}

export function messagesOf({ system, exchanges }: Conversation): readonly ChatMessage[] {
  return [
    { role: 'system', content: system },
    ...exchanges.flatMap(({ user, reply }): ChatMessage[] => [
      { role: 'user', content: user },
      { role: 'assistant', content: reply },
    ]),
  ];
}

const chatml: Format = (conversation) => [
  { file: fileOf(conversation), value: { messages: messagesOf(conversation) } },
];

/** ms-swift: recordings of the user are `<audio>` in the text, and in the same order in `audios`. */
const msSwift: Format = (conversation) => {
  const { system, exchanges } = conversation;
  const isSpoken = exchanges.every(({ userAudio }) => userAudio !== undefined);
  const messages: readonly ChatMessage[] = isSpoken
    ? [
        { role: 'system', content: system },
        ...exchanges.flatMap(({ reply }): ChatMessage[] => [
          { role: 'user', content: '<audio>' },
          { role: 'assistant', content: reply },
        ]),
      ]
    : messagesOf(conversation);
  const audios = isSpoken ? { audios: exchanges.map(({ userAudio }) => userAudio) } : {};
  return [{ file: fileOf(conversation), value: { messages, ...audios } }];
};

const sharegpt: Format = (conversation, { tags: [user, role] }) => [
  {
    file: fileOf(conversation),
    value: {
      conversations: [
        { from: 'system', value: conversation.system },
        ...conversation.exchanges.flatMap((exchange) => [
          { from: user, value: exchange.user },
          { from: role, value: exchange.reply },
        ]),
      ],
    },
  },
];

const alpaca: Format = (conversation, { turns }) => {
  const { system, exchanges } = conversation;
  const rows = exchanges.map(({ user, reply }, at) => ({
    instruction: user,
    input: '',
    output: reply,
    system,
    history: exchanges.slice(0, at).map((before) => [before.user, before.reply]),
  }));
  return (turns === 'last' ? rows.slice(-1) : rows).map((value) => ({ file: fileOf(conversation), value }));
};

/** RoCIT: one text for each answer; the loss begins at the character `loss_from`. */
const rocit: Format = (conversation) =>
  conversation.exchanges.map(({ user, reply }) => ({
    file: fileOf(conversation),
    value: rocitRow(conversation.system, user, reply),
  }));

/** A training text of RoleLLM. */
export function rocitRow(
  system: string,
  user: string,
  reply: string,
): { readonly text: string; readonly loss_from: number } {
  const before = `### Instruction:\n${system}</s>\n\n### Input:\n${user}</s>\n\n### Response:\n`;
  return { text: `${before}${reply}</s>`, loss_from: Array.from(before).length };
}

/** RoleBench: single questions, in the folders of its instruction split. */
const rolebench: Format = (conversation) => {
  const { role, language, exchanges, labels } = conversation;
  const folder = language === 'zh' ? 'rolebench-zh' : 'rolebench-eng/instruction-generalization';
  const part = labels['part'] === 'general' ? 'general' : 'role_specific';
  const name = splitOf(conversation) === 'test' ? 'test' : 'train';
  const type = typeof labels['type'] === 'string' ? labels['type'] : part === 'general' ? 'general' : 'script_agnostic';
  const [first, ...more] = exchanges;
  return first === undefined || more.length > 0
    ? []
    : [
        {
          file: `${folder}/${part}/${name}.jsonl`,
          value: { role, question: first.user, generated: [first.reply], type },
        },
      ];
};

/** SpeechRole: lists by split, mode and role. Recordings are beside the lines. */
const speechrole: Format = (conversation) => {
  const { role, system, exchanges, labels } = conversation;
  const key = typeof labels['key'] === 'string' ? labels['key'] : role;
  const split = splitOf(conversation);
  const dialogue = exchanges.map(({ user, reply, userAudio, replyAudio, moreReplyAudio = [] }) => ({
    user,
    role: reply,
    ...(userAudio === undefined ? {} : { user_speech_path: userAudio }),
    ...(replyAudio === undefined ? {} : { [split === 'test' ? 'role_speech_path1' : 'role_speech_path']: replyAudio }),
    ...Object.fromEntries(moreReplyAudio.map((audio, at) => [`role_speech_path${at + 2}`, audio])),
  }));
  const { category } = labels;
  return [
    {
      file: `${split}_data/${exchanges.length === 1 ? 'single' : 'multi'}_turn/${key.replaceAll('/', '-')}.json`,
      value: { dialogue, system_prompt: system, ...(typeof category === 'string' ? { category } : {}) },
    },
  ];
};

/** Formats in which any dialogue can be written. */
export const formats = { 'ms-swift': msSwift, sharegpt, alpaca, chatml, rocit, rolebench, speechrole } as const;
export type FormatName = keyof typeof formats;

/** Rows of a whole dialogue, of all its speakers; `index` counts the dialogues of the export. */
type WholeFormat = (dialogue: Dialogue, index: number) => readonly OutputRow[];

/** CoSER: conversations with [thoughts] and (actions); those held out are scenes that `eval run --task coser` acts. */
const coser: WholeFormat = ({ turns, scene = '', profiles = {}, labels = {}, source, system = '' }, index) => {
  const nameOf = ({ kind, speaker }: Turn): string => (kind === 'environment' ? environment : speaker);
  const counts = new Map<string, number>();
  for (const turn of turns) counts.set(nameOf(turn), (counts.get(nameOf(turn)) ?? 0) + 1);
  const speakers = [...counts].toSorted(([, left], [, right]) => right - left).map(([name]) => name);
  const people = speakers.filter((name) => name !== environment);
  const numberOf = (value: unknown, otherwise: number): number => (typeof value === 'number' ? value : otherwise);
  return [
    {
      file: splitFile[splitOf({ labels })],
      value: {
        scenario: scene || system,
        topic: typeof labels['topic'] === 'string' ? labels['topic'] : '',
        key_characters: people.map((name) => ({ name, motivation: '' })),
        dialogues: turns.map((turn) => ({ character: nameOf(turn), message: messageOf(turn) })),
        speaking_characters_w_env: [...people, environment],
        major_characters: people,
        plot: { summary: '', key_characters: [], i_p: numberOf(labels['i_p'], index) },
        character_profiles: profiles,
        book: typeof labels['book'] === 'string' ? labels['book'] : source,
        i_p: numberOf(labels['i_p'], index),
        i_c: numberOf(labels['i_c'], 0),
      },
    },
  ];
};

/** Beyond Dialogue: lines of two, actions in full-width parentheses; dialogues of more are left out. */
const beyondDialogue: WholeFormat = ({ turns, scene = '', labels = {} }) => {
  const speakers = [...new Set(turns.map(({ speaker }) => speaker))];
  const role =
    turns.find(({ target }) => target === true)?.speaker ?? turns.find(({ kind }) => kind === 'character')?.speaker;
  if (speakers.length !== 2 || role === undefined) return [];
  const dialogues = turns.map(({ speaker, text, action }) => ({
    role: speaker,
    dialogue: action === undefined ? text : `${text}（${action}）`,
  }));
  return [
    {
      file: splitFile[splitOf({ labels })],
      value: { role, partner: speakers.find((name) => name !== role), scene, dialogues },
    },
  ];
};

/** Forms of whole dialogues. */
export const wholeFormats = { coser, 'beyond-dialogue': beyondDialogue } as const;
