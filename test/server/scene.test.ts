import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ChatModel, Message } from '../../agents/chat.ts';
import { openMind } from '../../agents/open.ts';
import { loadStages } from '../../characters/scene.ts';
import { readCharacters } from '../../server/cast.ts';
import { mayTakeFloor, type Part } from '../../server/session/floor.ts';
import { cascade } from '../../server/session/responder.ts';
import { sceneResponder } from '../../server/session/scene-responder.ts';
import { fakeRecognizer } from '../fakes/recognizer.ts';
import { fakeSynthesizer } from '../fakes/synthesizer.ts';
import { openRig } from './session-rig.ts';

const characters = await readCharacters({});
const stages = await loadStages('characters', characters);
const sceneNamed = (id: string) => {
  const stage = stages.find((each) => each.id === `scene:${id}`)?.stage;
  if (stage === undefined) throw new Error(`no scene ${id}`);
  return stage;
};
const garden = sceneNamed('the-locked-garden');

/** A session on a scene; `model` plays everybody and chooses who speaks. */
function openScene({
  model,
  stage = garden,
  hears = ['Alice, where is the cat?'],
}: { model?: ChatModel; stage?: typeof garden; hears?: string[] } = {}) {
  const mind = openMind(model === undefined ? [] : [{ model }]);
  const recognizer = fakeRecognizer(hears);
  const voices: string[] = [];
  const responder = sceneResponder({
    stage,
    model,
    responderOf: (character) => {
      voices.push(character.id);
      const voice = { kind: 'preset', id: character.id } as const;
      return cascade({ recognizer, agent: mind(character), synthesizer: fakeSynthesizer(), voice });
    },
  });
  const rig = openRig({ responder });
  const said = () =>
    rig.of('reply-item-ended').map(({ item }) => {
      const [part] = item.content;
      return [item.speaker?.id, part?.type === 'audio' ? (part.transcript ?? '') : ''] as const;
    });
  const begin = () => rig.send({ type: 'reply', request: { inConversation: true, situation: 'greeting' } });
  return { ...rig, voices, said, begin };
}

/** Answers each question for the next speaker and each for a reply in turn. */
function actingModel(
  speakers: readonly string[],
  line = '[I know.] (nods) So it is, friends.',
): ChatModel & { prompts: Message[][] } {
  const prompts: Message[][] = [];
  let next = 0;
  return {
    name: 'acting-model',
    prompts,
    async *chat(messages) {
      const asksWho = messages[0]?.text.includes('who speaks or acts next') === true;
      if (!asksWho) prompts.push([...messages]);
      const text = asksWho ? (speakers[next++] ?? '<END CHAT>') : line;
      yield { type: 'text-delta', text };
      yield { type: 'chat-end', reason: 'stop', inputTokens: 1, outputTokens: 1 };
    },
  };
}

describe('a scene', () => {
  it('is played to its end by its script, each turn by its own speaker, where no model plays', async () => {
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
    expect(rig.of('reply-ended').at(-1)?.end.endsScene).toBe(true);
    const cues = rig.of('reply-cue').map(({ cue }) => cue.text);
    expect(cues).toContain('kneels by the fountain');
    expect(rig.faults).toEqual([]);
    await rig.close();
  });

  it('gives the floor to a user who plays, answers them by whom they spoke to, and goes on', async () => {
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
    expect(rig.of('reply-ended').at(-1)?.end.endsScene).toBe(true);
    await rig.close();
  });

  it('is played by a model: it chooses who speaks, sees no thoughts of others, and ends the scene', async () => {
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
    expect(rig.of('reply-ended').at(-1)?.end.endsScene).toBe(true);
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

  it('has at most its turns', async () => {
    const model = actingModel(
      Array.from({ length: 99 }, (_, index) => (index % 2 === 0 ? 'Alice' : 'Sherlock Holmes')),
    );
    const stage = { ...garden, scene: { ...garden.scene, turns: 7 } };
    const rig = openScene({ model, stage });
    rig.begin();
    await rig.clock.advance(200_000);
    expect(rig.said()).toHaveLength(7);
    await rig.close();
  });
});

describe('scene files', () => {
  it('that come along have three characters and more, whose script they can play', () => {
    expect(stages.length).toBeGreaterThanOrEqual(2);
    for (const { stage } of stages) expect(stage?.cast.length).toBeGreaterThanOrEqual(3);
  });

  it.each([
    ['no JSON', '{', /not valid JSON/],
    [
      'a character that is not there',
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
      'a stranger in the script',
      JSON.stringify({ ...garden.scene, script: [{ speaker: 'captain-nemo', text: 'Ahoy.' }] }),
      /"captain-nemo" speaks in the script/,
    ],
    ['too many turns', JSON.stringify({ ...garden.scene, turns: 21 }), /turns/],
  ])('with %s are refused by name', async (_what, text, message) => {
    const folder = await mkdtemp(path.join(tmpdir(), 'dramatis-scenes-'));
    await mkdir(path.join(folder, 'scenes'));
    await writeFile(path.join(folder, 'scenes', 'bad.json'), text);
    await expect(loadStages(folder, characters)).rejects.toThrow(message);
    await expect(loadStages(folder, characters)).rejects.toThrow(/bad\.json/);
    await rm(folder, { recursive: true });
  });
});

describe('the floor', () => {
  it('is taken by a user who plays from anybody, and from the user by nobody', () => {
    const holders: (Part | undefined)[] = ['user', 'character', 'environment', undefined];
    for (const holder of holders) {
      expect(mayTakeFloor({ holder, userPlays: true }, 'user')).toBe('now');
      expect(mayTakeFloor({ holder, userPlays: false }, 'user')).toBe('never');
      for (const claimant of ['character', 'environment'] as const)
        expect(mayTakeFloor({ holder, userPlays: true }, claimant)).toBe(holder === undefined ? 'now' : 'after');
    }
    expect(mayTakeFloor({ holder: 'user', userPlays: false }, 'character')).toBe('now');
  });
});
