import { describe, expect, it } from 'vitest';
import { PlayerFloor } from '../../../../server/session/input/players.ts';
import { sharedProbe } from '../../../../server/session/input/silence.ts';
import type { VadWindow } from '../../../../server/session/input/utterance.ts';
import * as fc from '../../../fakes/property.ts';

const windowMs = 32;
const sampleRate = 1_000;

/** A session that hears windows, in which speech has the floor from its start to its end. */
function conversation() {
  const heard: VadWindow[] = [];
  const state = { heardMs: 0, isFree: true };
  const floor = new PlayerFloor({
    listening: {
      get heardMs() {
        return state.heardMs;
      },
    },
    turns: {
      get isFree() {
        return state.isFree;
      },
    },
  });
  const clocks = new Map<number, number>();
  let arrivedMs = 0;
  return {
    floor,
    heard,
    /** A player sends a window, in which speech starts or ends or nothing does. */
    send(player: number, edge?: 'speech-start' | 'speech-end', upTo?: number) {
      const atMs = clocks.get(player) ?? 0;
      clocks.set(player, atMs + windowMs);
      arrivedMs += 1;
      const frame = { samples: new Float32Array(windowMs), sampleRate, atMs };
      const window = { type: 'heard', frame, voiced: edge !== undefined, arrivedMs, upTo, failure: undefined } as const;
      for (const one of floor.take({ ...window, player, edge: edge && { type: edge, atMs } })) {
        expect(one.frame.atMs).toBeCloseTo(state.heardMs);
        state.heardMs += windowMs;
        if (one.edge !== undefined) state.isFree = one.edge.type === 'speech-end';
        heard.push(one);
      }
    },
    players: () => heard.map(({ player }) => player ?? 0),
    edges: () => heard.flatMap(({ player, edge }) => (edge === undefined ? [] : [[player ?? 0, edge.type] as const])),
  };
}

describe('a line that several players probe', () => {
  it('answers all who have asked, though only the last probe is answered', () => {
    let last: () => void = () => undefined;
    const probe = sharedProbe((answered) => (last = answered));
    const answered: number[] = [];
    for (const one of [1, 2]) probe(() => answered.push(one));
    last();
    last();
    expect(answered).toEqual([1, 2]);
  });
});

describe('the floor of several players', () => {
  it('goes to the one who speaks first, with what was said before the VAD was sure', () => {
    const talk = conversation();
    for (let count = 0; count < 3; count += 1) {
      talk.send(0);
      talk.send(2);
    }
    expect(talk.players()).toEqual([0, 0, 0]);
    talk.send(2, 'speech-start');
    expect(talk.players()).toEqual([0, 0, 0, 2, 2, 2, 2]);
    expect(talk.floor.holder).toBe(2);
    talk.send(0);
    expect(talk.players()).toHaveLength(7);
  });

  it('lets others wait until the turn is over, the first of them first, and hears all that they said', () => {
    const talk = conversation();
    talk.send(1, 'speech-start');
    talk.send(3, 'speech-start');
    talk.send(2, 'speech-start');
    for (let count = 0; count < 5; count += 1) for (const player of [1, 2, 3]) talk.send(player);
    talk.send(3, 'speech-end');
    expect(new Set(talk.players())).toEqual(new Set([1]));
    talk.send(1, 'speech-end');
    talk.send(2, 'speech-end');
    expect(talk.edges()).toEqual([
      [1, 'speech-start'],
      [1, 'speech-end'],
      [3, 'speech-start'],
      [3, 'speech-end'],
      [2, 'speech-start'],
      [2, 'speech-end'],
    ]);
  });

  it('marks no message as done while an earlier one waits', () => {
    const talk = conversation();
    talk.send(1, 'speech-start', 1);
    talk.send(2, 'speech-start', 2);
    talk.send(1, undefined, 3);
    talk.send(1, 'speech-end', 4);
    expect(talk.heard.map(({ upTo }) => upTo)).toEqual([1, undefined, undefined, 2]);
  });

  it('keeps half a minute of what waits, and takes the floor from one who leaves', () => {
    const talk = conversation();
    talk.send(1, 'speech-start');
    talk.send(2, 'speech-start');
    for (let count = 0; count < 2_000; count += 1) talk.send(2);
    expect(talk.floor.keep(new Set([2]))).toBe(false);
    expect(talk.floor.holder).toBe(0);
    talk.send(0, 'speech-end');
    const of2 = talk.heard.filter(({ player }) => player === 2);
    expect(of2).toHaveLength(Math.floor(30_000 / windowMs));
    expect(of2[0]?.edge?.type).toBe('speech-start');
  });

  it('never mixes two turns, loses no speech that is short enough, and keeps the audio time', () => {
    const step = fc.record({ player: fc.constantFrom(0, 1, 2), speaks: fc.boolean() });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const talk = conversation();
        const speaking = new Set<number>();
        const starts = new Map<number, number>();
        for (const { player, speaks } of [...steps, ...[0, 1, 2].map((one) => ({ player: one, speaks: false }))]) {
          const before = speaking.has(player);
          if (speaks) speaking.add(player);
          else speaking.delete(player);
          const edge = speaks === before ? undefined : speaks ? 'speech-start' : 'speech-end';
          if (edge === 'speech-start') starts.set(player, (starts.get(player) ?? 0) + 1);
          talk.send(player, edge);
        }
        const edges = talk.edges();
        for (let at = 0; at < edges.length; at += 2) {
          expect(edges[at]?.[1]).toBe('speech-start');
          expect(edges[at + 1]).toEqual([edges[at]?.[0], 'speech-end']);
        }
        for (const [player, count] of starts)
          expect(edges.filter(([one, type]) => one === player && type === 'speech-start')).toHaveLength(count);
      }),
    );
  });
});
