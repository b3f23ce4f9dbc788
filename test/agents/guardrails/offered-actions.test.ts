import { expect, it } from 'vitest';
import { actor } from '../../../agents/actor/actor.ts';
import type { ReplyPart } from '../../../agents/agent.ts';
import { withGuardrail } from '../../../agents/guardrails/guardrail.ts';
import { fakeChat, smallCharacter } from '../actor/stand-ins.ts';

it('lets a character do what the user asks for in the very words of the game', async () => {
  const agent = withGuardrail(actor(smallCharacter(), fakeChat(['There. (point_at brass lantern by the door) See?'])));
  const surroundings = () => ({
    facts: [],
    states: new Map(),
    news: [],
    actions: ['(point_at OBJECT)'],
    isAction: (inside: string) => inside.startsWith('point_at'),
  });
  const parts: ReplyPart[] = [];
  const history = [{ role: 'user', text: 'Point at brass lantern by the door!' }] as const;
  for await (const part of agent.reply(history, { signal: new AbortController().signal, surroundings }))
    parts.push(part);
  expect(parts.filter(({ type }) => type === 'cue')).toEqual([
    { type: 'cue', kind: 'action', text: 'point_at brass lantern by the door' },
  ]);
});
