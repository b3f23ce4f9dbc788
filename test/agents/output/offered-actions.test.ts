import { describe, expect, it } from 'vitest';
import {
  actionIn,
  offerLine,
  toldAction,
  writtenAction,
  type OfferedAction,
} from '../../../agents/output/offered-actions.ts';
import { performanceScript } from '../../../agents/output/performance.ts';
import { namesAction } from '../../../agents/output/offered-actions.ts';
import * as fc from '../../fakes/property.ts';

function offer(name: string, more: Partial<OfferedAction> = {}): OfferedAction {
  return { name, aliases: [], about: '', target: 'none', args: {}, when: 'word', stopsOnBargeIn: false, ...more };
}

const offers = [
  offer('point_at', { target: 'object', about: 'points with the hand' }),
  offer('light', { target: 'object' }),
  offer('walk_to', {
    target: 'either',
    when: 'end',
    args: { speed: { type: 'string', isRequired: false, choices: ['slow', 'fast'] } },
  }),
  offer('nod', { aliases: ['bow head'] }),
  offer('wave'),
  offer('count', { args: { n: { type: 'integer', isRequired: true, minimum: 1, maximum: 5 } } }),
];

const objects = [
  { id: 'lantern', names: ['brass lantern'], kind: 'object' as const, can: ['light'] },
  { id: 'gate_1', names: ['iron gate'], kind: 'object' as const },
  { id: 'gate_2', names: ['garden gate'], kind: 'object' as const },
];
const people = [{ id: 'user', names: ['player'], kind: 'person' as const }];
const around = { all: [...objects, ...people], attention: 'gate_2' };

/** The action in a bracket, in the form in which a model writes it. */
function chosen(inside: string): string | undefined {
  const action = actionIn(inside, offers, around);
  return action && writtenAction(action);
}

describe('an action in brackets', () => {
  it.each([
    ['point_at lantern', 'point_at lantern'],
    ['Points at the brass lantern.', 'point_at lantern'],
    ['pointing to the lantern', 'point_at lantern'],
    ['point_at that', 'point_at gate_2'],
    ['walk_to the player speed=fast', 'walk_to user speed=fast'],
    ['walk to iron gate', 'walk_to gate_1'],
    ['light the lantern', 'light lantern'],
    ['nods slowly', 'nod'],
    ['bows head', 'nod'],
    ['count n=3', 'count n=3'],
  ])('is one of the offer: (%s)', (inside, written) => {
    expect(chosen(inside)).toBe(written);
  });

  it.each([
    ['an unknown action', 'fly_to lantern'],
    ['an unknown target', 'point_at moon'],
    ['two things of one name', 'point_at the gate'],
    ['an object that does not allow it', 'light the iron gate'],
    ['a person where an object is asked for', 'point_at player'],
    ['no target', 'point_at'],
    ['more than the action', 'nods off to sleep'],
    ['an argument beyond its schema', 'count n=9'],
    ['a missing argument', 'count'],
    ['a choice that is none', 'walk_to player speed=flying'],
  ])('stays a direction with %s: (%s)', (_, inside) => {
    expect(chosen(inside)).toBeUndefined();
  });

  it('is told in words, and offered with what it needs', () => {
    const action = actionIn('point_at lantern', offers, around)!;
    expect(toldAction('point_at lantern', action, 'brass lantern')).toBe('points at the brass lantern');
    expect(toldAction('raises a finger', action, 'brass lantern')).toBe('raises a finger');
    expect(offers.map(offerLine).slice(0, 3)).toEqual([
      '(point_at OBJECT): points with the hand',
      '(light OBJECT)',
      '(walk_to OBJECT-OR-PERSON [speed=slow|fast]): when you have finished speaking',
    ]);
  });

  it('is never anything but an action and a target of the offer, in 10,000 texts', () => {
    const tokens =
      'point_at points at light the gate lantern iron walk_to user nod n=3 n=x ( ) [ （ * \n speed=slow this gate_1 " = One. count system: 光';
    const word = fc.constantFrom(...tokens.split(' '));
    const names = new Set(offers.map(({ name }) => name));
    const targets = new Set(around.all.map(({ id }) => id));
    fc.assert(
      fc.property(fc.array(word, { maxLength: 14 }), fc.nat(3), (words, cut) => {
        const text = words.join(' ');
        const script = performanceScript('spoken', (inside) => namesAction(inside, offers));
        const parts = script.add(text.slice(0, cut)).concat(script.add(text.slice(cut)), script.rest());
        for (const part of parts) {
          const action = part.type === 'cue' ? actionIn(part.text, offers, around) : undefined;
          if (action === undefined) continue;
          expect(names.has(action.offer.name)).toBe(true);
          expect(action.target === undefined || targets.has(action.target)).toBe(true);
          expect(action.target === undefined).toBe(action.offer.target === 'none');
        }
      }),
      { numRuns: 10_000 },
    );
  });

  it('may stand within a sentence, as no other direction may', () => {
    const script = performanceScript('spoken', (inside) => namesAction(inside, offers));
    const all = script.add('Take (point').concat(script.add('_at lantern) this one (as ever) now.'), script.rest());
    expect(all.filter(({ type }) => type === 'cue')).toEqual([
      { type: 'cue', kind: 'action', text: 'point_at lantern' },
    ]);
    expect(all.flatMap((part) => (part.type === 'speech' ? [part.text] : [])).join('')).toBe(
      'Take this one (as ever) now.',
    );
  });
});
