import { describe, expect, it } from 'vitest';
import type { ChatModel, Message } from '../../../agents/chat.ts';
import {
  isBrokenOff,
  nextByAddress,
  nextSpeaker,
  type Choice,
  speakerNamed,
} from '../../../agents/scene/next-speaker.ts';
import { EngineError } from '../../../voices/engine.ts';
import { fakeChat } from '../actor/stand-ins.ts';

const names = ['King Lear', 'Cordelia', 'Cordelia the Younger', 'Environment', '孙悟空'];
const candidates = names.map((name) => ({ name }));
const { signal } = new AbortController();

function choice(
  talk: readonly (readonly [string | undefined, string])[],
  turns = talk.length,
): Choice<{ name: string }> {
  const history = talk.map(([name, text]): Message =>
    name === undefined ? { role: 'user', text } : { role: 'assistant', name, text },
  );
  const last = history.at(-1)?.name;
  return { circumstance: 'A heath.', candidates, last, history, turns, userName: 'The fool' };
}

describe('name in an answer', () => {
  it.each([
    ['King Lear', 'King Lear'],
    ['**King Lear**', 'King Lear'],
    ['"King Lear"', 'King Lear'],
    ['“King Lear”.', 'King Lear'],
    ['# Next Speaker: King Lear', 'King Lear'],
    // CoSER's code reads these three wrongly.
    ['**Next Speaker:** King Lear', 'King Lear'],
    ['Next Speaker: **King Lear**', 'King Lear'],
    ['Next speaker is "King Lear"', 'King Lear'],
    ['1. Reasoning: Cordelia was asked.\n2. Next Speaker: Environment', 'Environment'],
    ['Cordelia spoke to her father.\n\n**King Lear**', 'King Lear'],
    ['Cordelia the Younger', 'Cordelia the Younger'],
    ['king lear (angrily)', 'King Lear'],
    ['`Next Speaker`: `Cordelia`', 'Cordelia'],
    ['下一个：孙悟空。', '孙悟空'],
    ['<END CHAT>', 'end'],
    ['Next Speaker: **<END CHAT>**', 'end'],
    ['random', undefined],
    ['The Duke of Kent', undefined],
    ['', undefined],
    ['{"next_speaker": "King Lear", "reason": "Cordelia has been silent"}', 'King Lear'],
    ['```json\n{ "name": "King Lear" }\n```', 'King Lear'],
    ['<think>Cordelia spoke. <END CHAT>? No.</think>\nKing Lear', 'King Lear'],
    ['<think>\nPerhaps Cordelia.\n</think>\n\n**Next Speaker**: _King Lear_', 'King Lear'],
    ['King Lear, because Cordelia has asked him a question.', 'King Lear'],
    ['**King Lear** should speak next, as Cordelia waits for him.', 'King Lear'],
    ['King Lear (Cordelia has just spoken to him)', 'King Lear'],
    ['Cordelia has just spoken, so it is King Lear.', 'King Lear'],
    ['Not Cordelia. King Lear.', 'King Lear'],
    ['KING LEAR!!!', 'King Lear'],
    ['- King Lear', 'King Lear'],
    ['> “King Lear”', 'King Lear'],
    ['king-lear', 'King Lear'],
    ['King_Lear', 'King Lear'],
    ['Kíng  Léar', 'King Lear'],
    ['Lear', 'King Lear'],
    ['King Lear\n\nLet me know if you need anything else!', 'King Lear'],
    ['Next speaker - Cordelia the Younger', 'Cordelia the Younger'],
    ['The next speaker is Cordelia, not King Lear', 'Cordelia'],
    ['Next Speaker:\nKing Lear', 'King Lear'],
    ['下一位发言者：**孙悟空**（King Lear 刚刚说过话）', '孙悟空'],
    ['下一个说话的人是孙悟空', '孙悟空'],
    ['下一个应该是「孙悟空」。', '孙悟空'],
    ['《孙悟空》', '孙悟空'],
    ['孙悟空，因为King Lear问了他', '孙悟空'],
    ['King Lear刚说完，轮到孙悟空了', '孙悟空'],
    ['悟空', '孙悟空'],
    ['The End.', 'end'],
    ['[END CHAT]', 'end'],
    ['end_chat', 'end'],
    ['The scene is over.', 'end'],
    ['（场景结束）', 'end'],
    ['剧终', 'end'],
    ['King Lear. Do not <END CHAT> yet.', 'King Lear'],
    ['The fool', undefined],
    ['Nobody. Everybody is silent.', undefined],
    ['🎭🎭🎭', undefined],
    ['唐僧', undefined],
    ['Queen', undefined],
  ])('the next speaker is read from an LLM answer: %s', (answer, expected) => {
    expect(speakerNamed(answer, names)).toBe(expected);
  });
});

describe('next speaker without an LLM', () => {
  it('the next speaker is who was named last, else who has been silent longest, never the last speaker, deterministically', () => {
    expect(nextByAddress(choice([['King Lear', 'Environment aside: what say you, Cordelia?']]))?.name).toBe('Cordelia');
    expect(nextByAddress(choice([['Cordelia', 'I am your daughter.']]))?.name).toBe('King Lear');
    expect(nextByAddress(choice([['King Lear', '大圣孙悟空来也']]))?.name).toBe('孙悟空');
    const round = choice([
      ['King Lear', 'Blow.'],
      ['Cordelia', 'Nothing.'],
      ['Cordelia the Younger', 'Nothing.'],
      ['Environment', 'Rain.'],
    ]);
    expect(nextByAddress(round)?.name).toBe('孙悟空');
    expect(nextByAddress({ ...round, candidates: candidates.slice(0, 1), last: 'King Lear' })).toBeUndefined();
  });
});

describe('addressee of a user who names nobody', () => {
  it('a user who names no character is answered by the previous speaker, not by the one who has been silent longest', () => {
    const talk = choice([
      ['King Lear', 'Blow.'],
      ['Cordelia', 'Nothing.'],
      [undefined, 'Why do you say that?'],
    ]);
    expect(nextByAddress(talk)?.name).toBe('Cordelia');
    expect(nextByAddress(choice([[undefined, 'Good day.']]))?.name).toBe('King Lear');
  });
});

describe('line that breaks off', () => {
  it.each(['But if you —', 'But if you--', '“But if you—”', '可是——'])('the line breaks off: "%s"', (text) => {
    expect(isBrokenOff(text)).toBe(true);
  });
  it.each(['But — no.', 'Well-', '', 'Yes.'])('the line does not break off: "%s"', (text) => {
    expect(isBrokenOff(text)).toBe(false);
  });
});

describe('next speaker by an LLM', () => {
  const asked = choice([
    ['King Lear', 'Speak, Cordelia.'],
    ['Cordelia', 'Nothing, my lord.'],
  ]);
  const says = (answer: string, where = asked) => nextSpeaker(where, fakeChat([answer]), signal);

  it('the next speaker is the one that the LLM names', async () => {
    expect(await says('**Next Speaker:** Environment')).toEqual({ name: 'Environment' });
  });

  it('the next speaker may be named by an alias', async () => {
    const tells = { name: 'A voice', aliases: ['Environment', '旁白'] };
    const where = { ...asked, candidates: [{ name: 'King Lear' }, tells] };
    for (const answer of ['**Environment**', '下一位：旁白', 'Next Speaker: environment'])
      expect(await nextSpeaker(where, fakeChat([answer]), signal)).toEqual(tells);
  });

  it.each(['random', 'Gloucester', 'Cordelia', ''])(
    'the next speaker is found by address if the LLM says "%s"',
    async (answer) => {
      expect(await says(answer)).toEqual(nextByAddress(asked));
    },
  );

  it('the LLM may end the scene, but only after six turns, as in CoSER', async () => {
    expect(await says('<END CHAT>', { ...asked, turns: 5 })).toEqual(nextByAddress(asked));
    expect(await says('<END CHAT>', { ...asked, turns: 6 })).toBe('end');
  });

  it('the next speaker is found by address if the LLM fails', async () => {
    const failing = fakeChat([], { error: new EngineError('fake-model', 'ENGINE_TIMEOUT', 'slow') });
    expect(await nextSpeaker(asked, failing, signal)).toEqual(nextByAddress(asked));
  });

  it('the next speaker is found by address if the LLM takes too long', async () => {
    const slow: ChatModel = {
      name: 'slow',
      // eslint-disable-next-line require-yield
      async *chat(_messages, { signal: stopped }) {
        await new Promise((_, reject) => stopped.addEventListener('abort', () => reject(stopped.reason)));
      },
    };
    expect(await nextSpeaker(asked, slow, signal, 1)).toEqual(nextByAddress(asked));
  });
});
