import { z } from 'zod';
import { environment } from '../coser/plots.ts';
import { partsOf, type Turn } from '../records/dialogue.ts';
import { openingMark, type Exchange } from './conversation.ts';

/** The part of a dialogue that a row of a form holds. */
export interface ReadDialogue {
  readonly system?: string | undefined;
  readonly scene?: string | undefined;
  /** Absent if the format does not contain it. */
  readonly role?: string | undefined;
  readonly turns: readonly Turn[];
  readonly labels?: Readonly<Record<string, unknown>>;
}

/** Reads a row; undefined if it has another form. `role` is the name of the role where the form has none. */
export type Reader = (row: unknown, role: string) => ReadDialogue | undefined;

/** Turns of questions and answers. The mark of a role that speaks first is no question. */
function turnsOf(exchanges: readonly Exchange[], role: string): readonly Turn[] {
  return exchanges.flatMap(({ user, reply, userAudio, replyAudio, moreReplyAudio }): Turn[] => [
    ...(user === openingMark
      ? []
      : [
          {
            speaker: 'User',
            kind: 'user' as const,
            text: user,
            ...(userAudio === undefined ? {} : { audio: userAudio }),
          },
        ]),
    {
      speaker: role,
      kind: 'character',
      ...partsOf(reply),
      ...(replyAudio === undefined ? {} : { audio: replyAudio }),
      ...(moreReplyAudio === undefined || moreReplyAudio.length === 0 ? {} : { moreAudio: [...moreReplyAudio] }),
      target: true,
    },
  ]);
}

const chat = z.object({
  messages: z.array(z.object({ role: z.enum(['system', 'user', 'assistant']), content: z.string() })).min(2),
  audios: z.array(z.string()).optional(),
});

/** Messages of a chat; each `<audio>` is the next of `audios`, without its text. */
const chatml: Reader = (row, role) => {
  const { data } = chat.safeParse(row);
  if (data === undefined) return undefined;
  const audios = [...(data.audios ?? [])];
  const system = data.messages.find((each) => each.role === 'system')?.content;
  const said = data.messages.filter((each) => each.role !== 'system');
  const exchanges: Exchange[] = [];
  for (let at = 0; at + 1 < said.length; at += 2) {
    const [question, answer] = [said[at], said[at + 1]];
    if (question?.role !== 'user' || answer?.role !== 'assistant') return undefined;
    const userAudio = question.content.includes('<audio>') ? audios.shift() : undefined;
    const user = question.content.replaceAll('<audio>', '');
    exchanges.push({ user, reply: answer.content, ...(userAudio === undefined ? {} : { userAudio }) });
  }
  return exchanges.length === 0 ? undefined : { system, turns: turnsOf(exchanges, role) };
};

const shared = z.object({ conversations: z.array(z.object({ from: z.string(), value: z.string() })).min(2) });

const sharegpt: Reader = (row, role) => {
  const { data } = shared.safeParse(row);
  const roles = { system: 'system', human: 'user', user: 'user', gpt: 'assistant', assistant: 'assistant' } as const;
  const messages = data?.conversations.map(({ from, value }) => ({
    role: Object.hasOwn(roles, from) ? roles[from as keyof typeof roles] : from,
    content: value,
  }));
  return chatml({ messages }, role);
};

const alpacaRow = z.object({
  instruction: z.string(),
  input: z.string().default(''),
  output: z.string(),
  system: z.string().optional(),
  history: z.array(z.tuple([z.string(), z.string()])).default([]),
});

const alpaca: Reader = (row, role) => {
  const { data } = alpacaRow.safeParse(row);
  if (data === undefined) return undefined;
  const { instruction, input, output, system, history } = data;
  const last = [[instruction, input].filter(Boolean).join('\n'), output] as const;
  const exchanges = [...history, last].map(([user, reply]) => ({ user, reply }));
  return { system, turns: turnsOf(exchanges, role) };
};

const rocitParts =
  /^### Instruction:\n([\s\S]*?)<\/s>\n\n### Input:\n([\s\S]*?)<\/s>\n\n### Response:\n([\s\S]*?)<\/s>$/;

const rocit: Reader = (row, role) => {
  const { data } = z.object({ text: z.string() }).safeParse(row);
  const [, system, user, reply] = rocitParts.exec(data?.text ?? '') ?? [];
  return user === undefined || reply === undefined ? undefined : { system, turns: turnsOf([{ user, reply }], role) };
};

const roleBenchRow = z.object({
  role: z.string().min(1),
  question: z.string(),
  generated: z.array(z.string()).min(1),
  type: z.union([z.string(), z.array(z.string())]).optional(),
});

const rolebench: Reader = (row) => {
  const { data } = roleBenchRow.safeParse(row);
  if (data === undefined) return undefined;
  const { role, question: user, generated, type } = data;
  const labels =
    type === undefined ? {} : { type: [type].flat()[0], part: type === 'general' ? 'general' : 'role_specific' };
  return { role, turns: turnsOf([{ user, reply: generated[0] ?? '' }], role), labels };
};

const speechRow = z.looseObject({
  dialogue: z
    .array(z.looseObject({ user: z.string(), role: z.string(), user_speech_path: z.string().optional() }))
    .min(1),
  system_prompt: z.string().default(''),
  category: z.string().optional(),
});

const speechrole: Reader = (row, role) => {
  const { data } = speechRow.safeParse(row);
  if (data === undefined) return undefined;
  const exchanges = data.dialogue.map((turn): Exchange => {
    const [replyAudio, ...moreReplyAudio] = [
      'role_speech_path',
      'role_speech_path1',
      'role_speech_path2',
      'role_speech_path3',
    ]
      .map((key) => turn[key])
      .filter((audio) => typeof audio === 'string');
    return { user: turn.user, reply: turn.role, userAudio: turn.user_speech_path, replyAudio, moreReplyAudio };
  });
  const labels = {
    mode: exchanges.length === 1 ? 'single' : 'multi',
    ...(data.category === undefined ? {} : { category: data.category }),
  };
  return { system: data.system_prompt, turns: turnsOf(exchanges, role), labels };
};

const acted = z.looseObject({
  scenario: z.string().optional(),
  dialogues: z.array(z.object({ character: z.string().min(1), message: z.string() })).min(1),
});

/** A conversation of CoSER: [thoughts], (actions) and speech of several characters and the environment. */
const coser: Reader = (row) => {
  const { data } = acted.safeParse(row);
  return data === undefined
    ? undefined
    : {
        scene: data.scenario,
        turns: data.dialogues.map(({ character, message }) => ({
          speaker: character,
          kind: character === environment ? 'environment' : 'character',
          ...partsOf(message),
        })),
      };
};

const talked = z.looseObject({
  scene: z.string().optional(),
  dialogues: z.array(z.object({ role: z.string().min(1), dialogue: z.string() })).min(1),
});

/** A conversation of Beyond Dialogue, of the role and its partner. */
const beyondDialogue: Reader = (row, role) => {
  const { data } = talked.safeParse(row);
  return data === undefined
    ? undefined
    : {
        scene: data.scene,
        turns: data.dialogues.map(({ role: speaker, dialogue }) => ({
          speaker,
          kind: speaker === role ? 'character' : 'user',
          ...partsOf(dialogue),
          target: speaker === role,
        })),
      };
};

/** Forms that can be read as dialogues; `ms-swift` is `chatml` with recordings. */
export const readers = {
  'ms-swift': chatml,
  sharegpt,
  alpaca,
  chatml,
  rocit,
  rolebench,
  speechrole,
  coser,
  'beyond-dialogue': beyondDialogue,
} as const satisfies Record<string, Reader>;
export type ReaderName = keyof typeof readers;
