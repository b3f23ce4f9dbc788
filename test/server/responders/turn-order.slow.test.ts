import { describe, expect, it } from 'vitest';
import { breathMs, userTurnMs } from '../../../server/responders/turn-order.ts';
import { actingModel, garden, openScene, sceneNamed } from '../../rigs/scene-rig.ts';

/** One phrase of so many words, each 100 ms of sound, that never names anybody. */
const words = (count: number): string => Array.from({ length: count }, (_, at) => `word${at + 1}`).join(' ');

/** `garden` without its script and with these tempers. */
function gardenWith(tempers: Record<string, { patience: number; interruptibility: number }>): typeof garden {
  const cast = garden.cast.map((character) => ({
    ...character,
    turnTaking: { ...character.turnTaking, ...tempers[character.id] },
  }));
  return { scene: { ...garden.scene, script: [], turns: 3 }, cast };
}

describe('interruptions between characters', () => {
  it('derives from patience and interruptibility after how long a character may be interrupted', () => {
    const yielding = { patience: 0.5, interruptibility: 1 };
    const stubborn = { patience: 0.5, interruptibility: 0.1 };
    expect(userTurnMs(yielding, { patience: 0.9, interruptibility: 1 })).toBe(Infinity);
    expect(userTurnMs(stubborn, { patience: 0, interruptibility: 1 })).toBe(Infinity);
    expect(userTurnMs(yielding, { patience: 0, interruptibility: 0 })).toBe(4_000);
    expect(userTurnMs(yielding, { patience: 0.5, interruptibility: 0 })).toBeGreaterThan(8_000);
    expect(breathMs({ patience: 0, interruptibility: 0 })).toBeLessThan(breathMs({ patience: 1, interruptibility: 0 }));
  });

  it('lets an impatient character interrupt another at the end of a word and speak at once', async () => {
    const stage = gardenWith({
      'abraham-lincoln': { patience: 1, interruptibility: 1 },
      alice: { patience: 0, interruptibility: 0 },
      'sherlock-holmes': { patience: 1, interruptibility: 0 },
    });
    const lines = (who: string): string => (who.includes('Lincoln') ? `My dear Alice, ${words(60)}.` : 'Oh!');
    const rig = openScene({ stage, model: actingModel(['Abraham Lincoln', 'Sherlock Holmes'], lines) });
    rig.begin();
    await rig.clock.advance(60_000);
    expect(
      rig
        .said()
        .map(([who]) => who)
        .slice(0, 2),
    ).toEqual(['abraham-lincoln', 'alice']);
    // Each word takes 100 ms: after 4 s a phrase has just begun, and three of its words are still spoken.
    expect(rig.said()[0]?.[1]).toBe(`My dear Alice, ${words(40)}—`);
    const [lincoln, alice] = rig.of('reply-item-ended').map(({ item }) => item.content[0]);
    expect(lincoln).toMatchObject({ type: 'audio', durationMs: 4_300 });
    // No pause before her word.
    expect(alice).toMatchObject({ type: 'audio', durationMs: 100 });
    expect(rig.of('reply-ended')[0]?.end.status).toBe('completed');
    expect(rig.faults).toEqual([]);
    await rig.close();
  });

  it('lets no character interrupt a stubborn character or the environment', async () => {
    const calm = { patience: 0, interruptibility: 0 };
    const stage = gardenWith({ 'abraham-lincoln': calm, alice: calm, 'sherlock-holmes': calm });
    const rig = openScene({ stage, model: actingModel(['Abraham Lincoln', 'Alice'], `${words(90)}.`) });
    rig.begin();
    await rig.clock.advance(60_000);
    expect(rig.said()[0]?.[1]).toContain('word90.');
    await rig.close();
  });

  it('does not let a character be interrupted right after it interrupted', async () => {
    const eager = { patience: 0, interruptibility: 1 };
    const stage = gardenWith({ 'abraham-lincoln': eager, alice: eager, 'sherlock-holmes': eager });
    const rig = openScene({
      stage,
      model: actingModel(
        Array.from({ length: 9 }, () => 'Alice'),
        `${words(90)}.`,
      ),
    });
    rig.begin();
    await rig.clock.advance(60_000);
    expect(rig.said().map(([, text]) => text.endsWith('—'))).toEqual([true, false, true]);
    await rig.close();
  });

  it('continues at once after a scripted line that breaks off', async () => {
    const { scene, cast } = sceneNamed('supper-on-the-nautilus');
    const script = [
      { speaker: 'captain-nemo', text: 'There is nobody here but the few who wished to be—' },
      { speaker: 'queen-elizabeth-i', text: 'Forgotten.' },
    ];
    const rig = openScene({ stage: { scene: { ...scene, script }, cast } });
    rig.begin();
    await rig.clock.advance(20_000);
    expect(rig.said().map(([who]) => who)).toEqual(['captain-nemo', 'queen-elizabeth-i']);
    const [, elizabeth] = rig.of('reply-item-ended').map(({ item }) => item.content[0]);
    expect(elizabeth).toMatchObject({ durationMs: 100 });
    await rig.close();
  });
});

describe('feelings in a scene', () => {
  it('tracks each character’s feelings in a scene, passes them to its LLM and reports them after each turn', async () => {
    const lines = (who: string): string =>
      who.includes('Alice') ? 'Mister Holmes, you are a liar and a fool!' : 'Hm.';
    const model = actingModel(['Alice', 'Abraham Lincoln', 'Sherlock Holmes'], lines);
    const stage = { ...garden, scene: { ...garden.scene, script: [], turns: 3 } };
    const rig = openScene({ stage, model });
    rig.begin();
    await rig.clock.advance(30_000);
    const ends = rig.of('reply-ended').map(({ end }) => end);
    expect(ends[1]?.castFeelings?.['sherlock-holmes']?.emotions.anger).toBeGreaterThan(1);
    expect(ends[1]?.castFeelings?.['abraham-lincoln']?.emotions.anger).toBe(0);
    expect(ends[1]?.feelings.emotions.anger).toBe(0);
    expect(ends[2]?.feelings).toEqual(ends[2]?.castFeelings?.['sherlock-holmes']);
    const asHolmes = model.prompts.find(([system]) => system?.text.startsWith('You are Sherlock Holmes'));
    expect(asHolmes?.[0]?.text).toContain('a little angry');
    const asLincoln = model.prompts.find(([system]) => system?.text.startsWith('You are Abraham Lincoln'));
    expect(asLincoln?.[0]?.text).not.toContain('angry');
    await rig.close();
  });
});
