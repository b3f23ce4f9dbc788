import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadSceneCasts } from '../../../characters/scene.ts';
import { maySpeak, type Part } from '../../../server/responders/turn-order.ts';
import { actingModel, characters, garden, openScene, stages } from '../../rigs/scene-rig.ts';

describe('scene', () => {
  it('plays the script to its end with each turn by its own speaker if there is no model', async () => {
    const rig = openScene();
    rig.begin();
    await rig.clock.advance(120_000);
    expect(rig.said().map(([who]) => who)).toEqual(garden.scene.script.map(({ speaker }) => speaker));
    expect(new Set(rig.voices)).toEqual(new Set(['sherlock-holmes', 'alice', 'abraham-lincoln', 'environment']));
    expect(
      rig
        .said()
        .map(([, text]) => text)
        .join(' '),
    ).not.toMatch(/[()[\]]/);
    expect(rig.of('reply-ended').at(-1)?.end.rest).toBe('scene-end');
    const cues = rig.of('reply-cue').map(({ cue }) => cue.text);
    expect(cues).toContain('kneels by the fountain');
    expect(rig.faults).toEqual([]);
    await rig.close();
  });

  it('lets the user interrupt a scene, answers with the addressed character and continues', async () => {
    const rig = openScene();
    rig.begin();
    await rig.clock.advance(4_000);
    const before = rig.said().length;
    await rig.speak(1_200);
    await rig.silence(1_500);
    await rig.clock.advance(120_000);
    const cut = rig.of('reply-item-ended').find((event) => event.cut);
    expect(cut).toBeDefined();
    expect(rig.said()[before + 1]?.[0]).toBe('alice');
    expect(rig.of('reply-ended').at(-1)?.end.rest).toBe('scene-end');
    await rig.close();
  });

  it('waits for the user if the model names them next, and continues without them if the client asks', async () => {
    const stage = { ...garden, scene: { ...garden.scene, script: [] } };
    const who = ['Alice', 'The host', 'The host', 'The host', 'Abraham Lincoln', 'The host'];
    const rig = openScene({ model: actingModel(who, 'So it is.'), stage, hears: ['Mr Lincoln, who has the key?'] });
    const said = () => rig.said().map(([speaker]) => speaker);
    rig.begin();
    await rig.clock.advance(60_000);
    expect(said()).toEqual(['alice']);
    expect(rig.of('reply-ended').at(-1)?.end).toMatchObject({ status: 'completed', rest: 'users-turn' });
    rig.send({ type: 'reply', request: { inConversation: true } });
    await rig.clock.advance(60_000);
    expect(said()).toEqual(['alice', 'sherlock-holmes']);
    expect(rig.of('reply-ended').at(-1)?.end.rest).toBe('users-turn');
    await rig.speak(1_200);
    await rig.silence(1_500);
    await rig.clock.advance(60_000);
    expect(said()).toEqual(['alice', 'sherlock-holmes', 'abraham-lincoln']);
    expect(rig.of('reply-ended').at(-1)?.end.rest).toBe('users-turn');
    expect(rig.faults).toEqual([]);
    await rig.close();
  });

  it('plays a scene with a model that picks the next speaker, hides thoughts from others and ends it', async () => {
    const model = actingModel([
      '**Next Speaker:** Alice',
      '"Abraham Lincoln"',
      'nobody at all',
      'Alice',
      'Sherlock Holmes',
    ]);
    const rig = openScene({ model });
    rig.begin();
    await rig.clock.advance(120_000);
    const who = rig.said().map(([speaker]) => speaker);
    expect(who.slice(0, 3)).toEqual(['environment', 'alice', 'abraham-lincoln']);
    expect(who).toHaveLength(6);
    expect(rig.of('reply-ended').at(-1)?.end.rest).toBe('scene-end');
    const toAlice = model.prompts.findLast(([system]) => system?.text.startsWith('You are Alice'));
    expect(toAlice?.[0]?.text).toContain('You found the key under the table');
    expect(toAlice?.[0]?.text).toContain('The host');
    const all = (toAlice ?? [])
      .slice(1)
      .map(({ text }) => text)
      .join('\n');
    expect(all).toContain('Abraham Lincoln: (nods) So it is, friends.');
    expect(all).not.toContain('I know.');
    await rig.close();
  });
});

describe('scene files', () => {
  it('ships playable scenes with at least three characters each', () => {
    expect(stages.length).toBeGreaterThanOrEqual(2);
    for (const { stage } of stages) expect(stage?.cast.length).toBeGreaterThanOrEqual(3);
  });

  it.each([
    ['invalid JSON', '{', /not valid JSON/],
    [
      'an unknown character',
      JSON.stringify({
        ...garden.scene,
        characters: [
          { id: 'nobody', motivation: 'x' },
          { id: 'alice', motivation: 'x' },
        ],
      }),
      /no character "nobody"/,
    ],
    [
      'a speaker who is not in the cast',
      JSON.stringify({ ...garden.scene, script: [{ speaker: 'captain-nemo', text: 'Ahoy.' }] }),
      /"captain-nemo" speaks in the script/,
    ],
    ['too many turns', JSON.stringify({ ...garden.scene, turns: 21 }), /turns/],
  ])('refuses a scene file with %s and names the file', async (_what, text, message) => {
    const folder = await mkdtemp(path.join(tmpdir(), 'dramatis-scenes-'));
    await mkdir(path.join(folder, 'scenes'));
    await writeFile(path.join(folder, 'scenes', 'bad.json'), text);
    await expect(loadSceneCasts(folder, characters)).rejects.toThrow(message);
    await expect(loadSceneCasts(folder, characters)).rejects.toThrow(/bad\.json/);
    await rm(folder, { recursive: true });
  });
});

describe('maySpeak', () => {
  it('lets the user interrupt any speaker and no character interrupt the user', () => {
    const holders: (Part | undefined)[] = ['user', 'character', 'environment', undefined];
    for (const holder of holders) {
      expect(maySpeak({ holder, userPlays: true }, 'user')).toBe('now');
      expect(maySpeak({ holder, userPlays: false }, 'user')).toBe('never');
      for (const claimant of ['character', 'environment'] as const)
        expect(maySpeak({ holder, userPlays: true }, claimant)).toBe(holder === undefined ? 'now' : 'after');
    }
    expect(maySpeak({ holder: 'user', userPlays: false }, 'character')).toBe('now');
  });
});
