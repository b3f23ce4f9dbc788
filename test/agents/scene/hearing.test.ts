import { describe, expect, it } from 'vitest';
import type { Message } from '../../../agents/chat.ts';
import { asHeard, graspOf, heardByOf, listenersTo, type Hears } from '../../../agents/scene/hearing.ts';
import * as fc from '../../fakes/property.ts';

const ids = ['watson', 'holmes', 'alice'] as const;
const clarity = fc.constantFrom(0, 0.1, 0.4, 0.5, 0.9, 1);
const hears: fc.Arbitrary<Hears> = fc.dictionary(
  fc.constantFrom(...ids),
  fc.dictionary(fc.constantFrom('user', ...ids), clarity),
);

describe('hearing by distance', () => {
  it('grasps every word from 0.5 on, below that a voice, and nothing at 0', () => {
    const heardBy = heardByOf({ watson: { user: 0.4, holmes: 0 }, alice: { user: 0.5 } }, 'user');
    expect(heardBy).toEqual({ watson: 0.4 });
    expect(['watson', 'alice', 'holmes'].map((id) => graspOf(heardBy, id))).toEqual(['voice', 'words', 'words']);
    expect(graspOf(heardByOf({ watson: { holmes: 0 } }, 'holmes'), 'watson')).toBe('nothing');
    expect(heardByOf(undefined, 'user')).toBeUndefined();
  });

  it('never lets a listener read a word that it did not make out, nor lose one that it did', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(hears, fc.constantFrom('user', ...ids)), { maxLength: 12 }),
        fc.constantFrom(...ids),
        (said, listener) => {
          const history = said.map(([now, by], index): Message => {
            const about = { text: `CANARY${index}.`, heardBy: heardByOf(now, by) };
            return by === 'user' ? { role: 'user', ...about } : { role: 'assistant', name: by, ...about };
          });
          const read = asHeard(history, listener, false);
          const expected = said.flatMap(([now, by], index) => {
            const clear = by === listener ? 1 : (now[listener]?.[by] ?? 1);
            if (clear === 0) return [];
            return [clear < 0.5 ? '(says something, too far away to make out.)' : `CANARY${index}.`];
          });
          expect(read.map(({ text }) => text)).toEqual(expected);
        },
      ),
    );
  });

  it('takes answers from those who made out the words, else from those who heard a voice, else from anybody', () => {
    const all = ids.map((id) => ({ id }));
    const names = (heardBy: Record<string, number>) => listenersTo(all, heardBy).map(({ id }) => id);
    expect(names({ watson: 0, holmes: 0.3 })).toEqual(['alice']);
    expect(names({ watson: 0, holmes: 0.3, alice: 0 })).toEqual(['holmes']);
    expect(names({ watson: 0, holmes: 0, alice: 0 })).toEqual([...ids]);
  });
});
