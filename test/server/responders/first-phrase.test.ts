import path from 'node:path';
import { expect, it } from 'vitest';
import { actor } from '../../../agents/actor/actor.ts';
import type { ChatModel, ChatPart } from '../../../agents/chat.ts';
import { withGuardrail } from '../../../agents/guardrails/guardrail.ts';
import { loadCharacters } from '../../../characters/character.ts';
import { cascade } from '../../../server/responders/responder.ts';
import { TurnTimings } from '../../../server/session/contract/turn-timings.ts';
import { ManualClock } from '../../fakes/clock.ts';
import { fakeRecognizer } from '../../fakes/recognizer.ts';
import { fakeSynthesizer } from '../../fakes/synthesizer.ts';

const packs = await loadCharacters(path.resolve(import.meta.dirname, '../../../characters'));

it('the first phrase of an LLM waited until the guardrail had read the whole clause after it', async () => {
  const [character] = packs;
  if (character === undefined) throw new Error('no pack');
  const written: string[] = [];
  const model: ChatModel = {
    name: 'slow',
    async *chat(): AsyncGenerator<ChatPart> {
      for (const text of ['I once met', ' a Duchess', ' in a kitchen', '.', ' She', ' was', ' nursing', ' a baby.']) {
        written.push(text);
        yield { type: 'text-delta', text };
      }
      yield { type: 'chat-end', reason: 'stop', inputTokens: 1, outputTokens: 8 };
    },
  };
  const agent = withGuardrail(actor(character, model));
  const voice = { kind: 'preset', id: 'fake' } as const;
  const responder = cascade({ recognizer: fakeRecognizer([]), agent, synthesizer: fakeSynthesizer(), voice });
  const options = {
    signal: new AbortController().signal,
    speaks: false,
    scene: '',
    speed: 1,
    trace: new TurnTimings(new ManualClock()),
  };
  for await (const part of responder.reply([{ role: 'user', text: 'Tell me a story.' }], options)) {
    if (part.type !== 'text') continue;
    expect(part.text).toBe('I once met a Duchess in a kitchen. ');
    break;
  }
  expect(written.at(-1)).toBe(' She');
});
