import { describe, expect, it } from 'vitest';
import type { Message } from '../../agents/chat.ts';
import { nextByAddress, nextSpeaker, speakerNamed, type Choice } from '../../agents/next-speaker.ts';
import { EngineError } from '../../voices/engine.ts';
import { fakeChat } from './stand-ins.ts';

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

describe('the name in an answer', () => {
  it.each([
    ['King Lear', 'King Lear'],
    ['**King Lear**', 'King Lear'],
    ['"King Lear"', 'King Lear'],
    ['“King Lear”.', 'King Lear'],
    ['# Next Speaker: King Lear', 'King Lear'],
    // These three are read wrongly by the code of CoSER.
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
  ])('%s', (answer, expected) => {
    expect(speakerNamed(answer, names)).toBe(expected);
  });
});

describe('who is next without a model', () => {
  it('is who was named last, or has been silent longest; never who has just spoken; always the same', () => {
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

describe('who is next by a model', () => {
  const asked = choice([
    ['King Lear', 'Speak, Cordelia.'],
    ['Cordelia', 'Nothing, my lord.'],
  ]);
  const says = (answer: string, where = asked) => nextSpeaker(where, fakeChat([answer]), signal);

  it('is whom it names', async () => {
    expect(await says('**Next Speaker:** Environment')).toEqual({ name: 'Environment' });
  });

  it.each(['random', 'Gloucester', 'Cordelia', ''])('is found by address where it says "%s"', async (answer) => {
    expect(await says(answer)).toEqual(nextByAddress(asked));
  });

  it('is nobody after an end, but no sooner than after five turns', async () => {
    expect(await says('<END CHAT>', { ...asked, turns: 4 })).toEqual(nextByAddress(asked));
    expect(await says('<END CHAT>', { ...asked, turns: 5 })).toBe('end');
  });

  it('is found by address where it fails', async () => {
    const failing = fakeChat([], { error: new EngineError('fake-model', 'ENGINE_TIMEOUT', 'slow') });
    expect(await nextSpeaker(asked, failing, signal)).toEqual(nextByAddress(asked));
  });
});
