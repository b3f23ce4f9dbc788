import { describe, expect, it } from 'vitest';
import { shareOf } from '../kit/stats.ts';
import {
  brokenOffMs,
  fellSilent,
  incursions,
  responseMs,
  countedAsTurn,
  yielded,
  yieldMs,
  type Played,
} from './turns-panel.ts';

/** A scene whose audio starts after a second, with voice in these spans. */
function played(options: {
  readonly over?: boolean;
  readonly voice?: readonly (readonly [number, number])[];
  readonly heard?: readonly (readonly [number, number])[];
  readonly stopped?: readonly number[];
  readonly answers?: readonly number[];
}): Played {
  const voice = (options.voice ?? [[0, 500]]).map(([fromMs, toMs]) => ({ fromMs, toMs }));
  const heard = (options.heard ?? []).map(([fromMs, toMs]) => ({ fromMs, toMs }));
  const { over = true, stopped = [], answers = [] } = options;
  return {
    scene: { kind: 'backchannel', over, voice } as unknown as Played['scene'],
    observed: { startMs: 1_000, endMs: 2_000, heard, stopped, answers } as unknown as Played['observed'],
  };
}

describe('turn-taking panel', () => {
  it('a reply stopped within two seconds yields, and its time is that of its last audio', () => {
    const one = played({ heard: [[0, 1_300]], stopped: [1_500] });
    expect(yielded(one)).toBe(true);
    expect(yieldMs(one)).toEqual({ silentMs: 300, decidedMs: 500 });
    expect(yielded(played({ heard: [[0, 3_200]], stopped: [3_200] }))).toBe(false);
  });

  it('the panel finds the 200 ms of silence that τ-voice counts as yielding, but not the end of a reply', () => {
    expect(
      fellSilent(
        played({
          heard: [
            [0, 1_150],
            [1_650, 4_000],
          ],
        }),
      ),
    ).toBe(true);
    expect(
      fellSilent(
        played({
          heard: [
            [0, 1_250],
            [1_550, 4_000],
          ],
        }),
      ),
    ).toBe(false);
    expect(fellSilent(played({ heard: [[0, 1_250]] }))).toBe(false);
    expect(
      brokenOffMs(
        played({
          heard: [
            [0, 1_150],
            [1_650, 4_000],
          ],
        }),
      ),
    ).toBe(500);
  });

  it('an answer to a backchannel, or a stop, counts as a turn', () => {
    expect(countedAsTurn(played({ heard: [[0, 4_000]] }))).toBe(false);
    expect(countedAsTurn(played({ heard: [[0, 1_600]], stopped: [1_600] }))).toBe(true);
    expect(countedAsTurn(played({ heard: [[0, 4_000]], answers: [3_000] }))).toBe(true);
  });

  it('the panel counts replies that start in a turn, and apart from them those that start in its pauses', () => {
    const turn = {
      over: false,
      voice: [
        [0, 500],
        [1_500, 2_500],
      ],
    } as const;
    const inPause = played({ ...turn, heard: [[2_000, 2_600]], answers: [2_000] });
    expect([incursions(inPause, { pauses: false }), incursions(inPause, { pauses: true })]).toEqual([0, 1]);
    const inSpeech = played({ ...turn, heard: [[2_700, 3_000]], answers: [2_700] });
    expect(incursions(inSpeech, { pauses: false })).toBe(1);
    const answer = played({ ...turn, heard: [[3_900, 5_000]], answers: [3_900] });
    expect([incursions(answer, { pauses: true }), responseMs(answer)]).toEqual([0, 400]);
  });
});

describe('share', () => {
  it('a share has the Wilson interval', () => {
    const share = shareOf('bench', 'metric', [...Array<boolean>(19).fill(true), false]);
    expect(share).toMatchObject({ n: 20, failures: 1, share: 0.95, low: 0.764, high: 0.991 });
  });
});
