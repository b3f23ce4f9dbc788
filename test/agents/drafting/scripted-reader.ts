import type { ChatModel, ChatPart, Message } from '../../../agents/chat.ts';

/** The way in which a model wraps its JSON. */
export type Manner = (json: string, call: number) => string;

/** A fake model that reads books. Records its calls and the highest number of concurrent ones. */
export interface Reader extends ChatModel {
  readonly calls: {
    readonly kind: 'passage' | 'condense' | 'complete';
    readonly system: string;
    readonly text: string;
  }[];
  mostAtOnce: number;
}

/** Typical flaws of models: a code fence, chatter with braces, extra commas, bare lists, a truncated answer. */
export const sloppy: Manner = (json, call) =>
  [
    json,
    `\`\`\`json\n${json}\n\`\`\``,
    `Here {you} are:\n${json}\nShall I {go} on?`,
    json.replace(/\}\]\}$/, '},]}'),
    /^\{"statements":(\[.*\])\}$/s.exec(json)?.[1] ?? json,
    `${json.slice(0, -2)}, {"field": "profile", "text": "half of a`,
  ][call % 6] ?? json;

/** Reads `chronicle` by rules: quotes its statements about Ada Finch, and makes one false statement per passage. */
export function openReader(manner: Manner = (json) => json, completion: object = {}): Reader {
  let running = 0;
  const reader: Reader = {
    name: 'reader',
    calls: [],
    mostAtOnce: 0,
    async *chat(messages): AsyncGenerator<ChatPart> {
      running += 1;
      reader.mostAtOnce = Math.max(reader.mostAtOnce, running);
      await new Promise((resolve) => setImmediate(resolve));
      const asked = askedIn(messages);
      reader.calls.push(asked);
      const answer =
        asked.kind === 'passage'
          ? { statements: statementsOf(asked.text) }
          : asked.kind === 'condense'
            ? { sentences: sentencesOf(asked.text) }
            : completion;
      running -= 1;
      yield { type: 'text-delta', text: manner(JSON.stringify(answer), reader.calls.length) };
      yield { type: 'chat-end', reason: 'stop', inputTokens: 100, outputTokens: 50 };
    },
  };
  return reader;
}

function askedIn(messages: readonly Message[]): Reader['calls'][number] {
  const system = messages[0]?.text ?? '';
  const kind = system.startsWith('You collect') ? 'passage' : system.startsWith('Below') ? 'condense' : 'complete';
  return { kind, system, text: messages.at(-1)?.text ?? '' };
}

function statementsOf(passage: string): object[] {
  const sentences = passage.match(/Ada Finch[^.“”]*\./g) ?? [];
  const said = [...passage.matchAll(/“([^”]+)” asked [^.]*\. “([^”]+)” said Ada Finch/g)];
  return [
    ...sentences.map((quote) => ({ field: 'life', text: quote, quote, about: null })),
    ...said.map(([quote, about = '', text = '']) => ({ field: 'line', about, text, quote })),
    ...(passage.includes('patient') ? [{ field: 'trait', text: 'Patient', quote: 'as patient as the river' }] : []),
    ...(passage.includes('stern') ? [{ field: 'trait', text: 'stern', quote: 'she was stern with the drunk' }] : []),
    { field: 'catchphrase', text: 'deep enough for fools', quote: 'deep enough for fools' },
    { field: 'profile', text: 'She is a duchess.', quote: 'the Duchess of Low Water' },
    { field: 'mood', text: 'x', quote: 'y' },
  ];
}

/** A sentence from the first and last statements, and two without a valid source. */
function sentencesOf(numbered: string): object[] {
  const rows = numbered.trim().split('\n');
  const words = (row = ''): string => row.replace(/^\d+\. /, '');
  return [
    { text: `${words(rows[0])} Then: ${words(rows.at(-1))}`.slice(0, 300), from: [1, rows.length] },
    { text: 'She was never there.', from: [] },
    { text: 'She was elsewhere.', from: [9_999] },
  ];
}

/** A made-up book about a ferrywoman, with the given number of chapters of about 600 characters each. */
export function chronicle(chapters: number): string {
  const trades = [
    'tinker',
    'bishop',
    'fiddler',
    'widow',
    'soldier',
    'miller',
    'thief',
    'judge',
    'midwife',
    'clockmaker',
  ];
  return Array.from({ length: chapters }, (_, index) => {
    const trade = trades[index % trades.length] ?? '';
    return `Chapter ${index + 1}.

In the ${index + 1}th spring Ada Finch took a ${trade} over the river in the rain of day ${index + 7}. The reeds stood high, and the rope was wet, and nobody spoke for the length of the crossing, since the ${trade} was afraid of water.

“How deep is it at post ${index + 1}?” asked the ${trade}. “Deep enough for number ${index + 1},” said Ada Finch. ${index % 3 === 0 ? 'She was as patient as the river. ' : ''}${index % 7 === 0 ? 'And she was stern with the drunk. ' : ''}It was deep enough for fools, as she told everybody.

When they landed the ${trade} paid her with a story, and she went back alone, with the lamp in the bow and the dog asleep.`;
  }).join('\n\n');
}
