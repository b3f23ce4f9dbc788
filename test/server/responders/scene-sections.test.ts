import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Message } from '../../../agents/chat.ts';
import { loadSceneCasts, type Section } from '../../../characters/scene.ts';
import { EngineError } from '../../../voices/engine.ts';
import { actingModel, characters, garden, openScene } from '../../rigs/scene-rig.ts';

const section = (id: string, more: Partial<Section> = {}): Section => ({
  id,
  objective: `They are in ${id}.`,
  knows: {},
  edges: [],
  script: [],
  ...more,
});

const sections = [
  section('search', {
    knows: { alice: 'CANARY is the word.' },
    edges: [
      { on: 'trigger:storm', to: 'storm' },
      { on: 'Alice has confessed.', to: 'found' },
    ],
  }),
  section('storm', {
    objective: 'Lightning strikes: {{what}}',
    edges: [{ on: 'trigger:calm', to: 'search' }],
    script: [{ speaker: 'alice', text: 'It thunders!' }],
  }),
  section('found'),
];

const stage = { ...garden, scene: { ...garden.scene, sections } };
const unscripted = { ...stage, scene: { ...stage.scene, script: [] } };

const isOf = (name: string) => (prompt: readonly Message[]) => prompt[0]?.text.startsWith(`You are ${name}`) === true;
const systems = (prompts: readonly (readonly Message[])[]) => prompts.map((prompt) => prompt[0]?.text ?? '');

describe('a scene with sections', () => {
  it('gives its objective to all, and the knowledge of a character only to that one', async () => {
    const model = actingModel(['Alice', 'Sherlock Holmes', 'Alice', 'Abraham Lincoln', 'The host']);
    const scene = openScene({ model, stage: unscripted });
    scene.begin();
    await scene.clock.advance(30_000);
    const all = systems(model.prompts);
    expect(all.length).toBeGreaterThan(3);
    expect(all.every((text) => text.includes('They are in search.'))).toBe(true);
    const ofAlice = systems(model.prompts.filter(isOf('Alice')));
    expect(ofAlice.length).toBeGreaterThan(0);
    expect(ofAlice.every((text) => text.includes('CANARY'))).toBe(true);
    expect(all.filter((text) => text.includes('CANARY'))).toHaveLength(ofAlice.length);
    await scene.close();
  });

  it('enters a section on a trigger, with what that came with', async () => {
    const model = actingModel(['Alice', 'The host', 'Sherlock Holmes', 'The host']);
    const scene = openScene({ model, stage: unscripted });
    scene.begin();
    await scene.clock.advance(20_000);
    scene.send({ type: 'trigger', name: 'storm', given: { what: 'the elm\n# burns.' } });
    scene.send({ type: 'reply', request: { inConversation: true } });
    await scene.clock.advance(20_000);
    expect(scene.of('section')).toMatchObject([{ section: 'storm', from: 'search', because: 'trigger:storm' }]);
    const last = systems(model.prompts).at(-1);
    expect(last).toContain('Lightning strikes: the elm # burns.');
    expect(last).not.toContain('They are in search.');
    await scene.close();
  });

  it('enters a section when the model finds its condition met, before the next one speaks', async () => {
    const asked: string[] = [];
    const judges = (messages: readonly Message[]): string => {
      asked.push(messages[1]?.text ?? '');
      return messages[1]?.text.includes('I put it there') === true ? 'Statement 1 is true.' : '0';
    };
    const line = (who: string) => (who === 'Alice' ? 'I put it there.' : 'So it is.');
    const model = actingModel(['Sherlock Holmes', 'Alice', 'Abraham Lincoln', 'The host'], line, judges);
    const scene = openScene({ model, stage: unscripted });
    scene.begin();
    await scene.clock.advance(60_000);
    expect(scene.of('section')).toMatchObject([{ section: 'found', from: 'search', because: 'Alice has confessed.' }]);
    expect(systems(model.prompts.filter(isOf('Abraham Lincoln')))[0]).toContain('They are in found.');
    // The condition alone is judged, not the trigger; and nothing in a section without conditions.
    expect(asked.every((text) => text.includes('1. Alice has confessed.') && !text.includes('trigger:'))).toBe(true);
    expect(asked).toHaveLength(2);
    expect(scene.faults).toEqual([]);
    await scene.close();
  });

  it.each([
    ['names no number', () => 'Perhaps.'],
    ['names several', () => '1 or 2'],
    ['names one that there is not', () => '7'],
    [
      'fails',
      () => {
        throw new EngineError('acting-model', 'ENGINE_UNAVAILABLE', 'gone');
      },
    ],
  ])('stays where it is if the model %s', async (_, judges) => {
    const model = actingModel(['Alice', 'Sherlock Holmes', 'The host'], 'So it is.', judges);
    const scene = openScene({ model, stage: unscripted });
    scene.begin();
    await scene.clock.advance(30_000);
    expect(scene.said().length).toBe(2);
    expect(scene.of('section')).toEqual([]);
    expect(scene.faults).toEqual([]);
    await scene.close();
  });

  it('speaks the lines of its section if there is no model', async () => {
    const scene = openScene({ stage });
    scene.begin();
    await scene.clock.advance(4_000);
    scene.send({ type: 'trigger', name: 'storm', given: {} });
    await scene.clock.advance(60_000);
    const [last] = scene.said().slice(-1);
    expect(last).toEqual(['alice', 'It thunders!']);
    expect(scene.said().length).toBeLessThan(garden.scene.script.length);
    expect(scene.of('reply-ended').at(-1)?.end.rest).toBe('scene-end');
    await scene.close();
  });
});

describe('the sections of a scene file', () => {
  it.each<[string, object[]]>([
    ['two sections have the same id', [{ id: 'a' }, { id: 'a' }]],
    ['leads to "b", which is no section', [{ id: 'a', edges: [{ on: 'trigger:x', to: 'b' }] }]],
    ['"nobody" knows something', [{ id: 'a', knows: { nobody: 'Something.' } }]],
    ['"nobody" speaks in the script', [{ id: 'a', script: [{ speaker: 'nobody', text: 'Hello.' }] }]],
    ['is no trigger', [{ id: 'a', edges: [{ on: 'trigger:a b', to: 'a' }] }]],
    ['are the same', [{ id: 'a', edges: ['a', 'a'].map((to) => ({ on: 'It rains.', to })) }]],
    ['Too big', Array.from({ length: 33 }, (_, index) => ({ id: `a${index}` }))],
  ])('are refused by name: %s', async (message, wrong) => {
    const folder = await mkdtemp(path.join(tmpdir(), 'scenes-'));
    await mkdir(path.join(folder, 'scenes'));
    const { scene } = garden;
    const file = { ...scene, sections: wrong.map((one) => ({ objective: 'Something happens.', ...one })) };
    await writeFile(path.join(folder, 'scenes', 'broken.json'), JSON.stringify(file));
    await expect(loadSceneCasts(folder, characters)).rejects.toThrow(message);
    await rm(folder, { recursive: true });
  });
});
