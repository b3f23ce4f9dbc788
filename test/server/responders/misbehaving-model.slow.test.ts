import { describe, expect, it } from 'vitest';
import type { ChatModel } from '../../../agents/chat.ts';
import { EngineError } from '../../../voices/engine.ts';
import { actingModel, garden, openScene } from '../../rigs/scene-rig.ts';

const unscripted = { ...garden, scene: { ...garden.scene, script: [], turns: 6 } };

async function playedBy(model: ChatModel, stage = unscripted) {
  const rig = openScene({ model, stage });
  rig.begin();
  const hasEnded = (): boolean => rig.of('reply-ended').at(-1)?.end.rest === 'scene-end';
  for (let seconds = 0; seconds < 200 && !hasEnded(); seconds += 1) await rig.clock.advance(1_000);
  await rig.clock.advance(5_000);
  const said = rig.said();
  const ended = hasEnded();
  const slips = rig.of('reply-ended').flatMap(({ end }) => end.violations ?? []);
  const cues = rig.of('reply-cue').map(({ cue }) => cue.text);
  const { faults } = rig;
  await rig.close();
  expect(faults).toEqual([]);
  return { said, ended, slips, cues };
}

const many = (name: string): string[] => Array.from({ length: 99 }, () => name);

describe('scene with a misbehaving model', () => {
  it.each([
    ['never ends it', many('Alice')],
    ['always picks the same speaker', many('Sherlock Holmes')],
    ['picks nobody', many('')],
    ['talks at length', many('I think, on reflection, that somebody ought to say something now.')],
    ['ends it at once', many('<END CHAT>')],
  ])('plays the scene to its last turn and no character twice in a row if the model %s', async (_what, speakers) => {
    const { said, ended } = await playedBy(actingModel(speakers, 'So it is.'));
    expect(said).toHaveLength(6);
    expect(ended).toBe(true);
    for (const [at, [who]] of said.entries()) if (at > 0) expect(who).not.toBe(said[at - 1]?.[0]);
  });

  it('plays lines of the packs if the model says nothing', async () => {
    const { said, ended } = await playedBy(actingModel(many('Alice'), ''));
    expect(said).toHaveLength(6);
    for (const [, text] of said) expect(text).not.toBe('');
    expect(ended).toBe(true);
  });

  it('ends the scene and sends the cues if the model only writes actions', async () => {
    const { said, ended, cues } = await playedBy(actingModel(many('Alice'), '(nods)'));
    expect(said).toEqual([]);
    expect(cues).toContain('Alice: nods');
    expect(ended).toBe(true);
  });

  it('continues with the next character if one writes only actions', async () => {
    const lines = (who: string): string => (who.includes('Alice') ? '(curtsies)' : 'So it is.');
    const { said, cues } = await playedBy(actingModel(many('Alice'), lines));
    expect(said).toHaveLength(6);
    expect(said.map(([who]) => who)).not.toContain('alice');
    expect(cues).toContain('Alice: curtsies');
  });

  it('continues with lines of the packs if the model fails in the middle of a scene', async () => {
    let calls = 0;
    const good = actingModel(many('Alice'), 'So it is.');
    const model: ChatModel = {
      name: 'failing',
      async *chat(messages, options) {
        calls += 1;
        if (calls > 3) throw new EngineError('failing', 'ENGINE_UNAVAILABLE', 'it is down');
        yield* good.chat(messages, options);
      },
    };
    const { said, ended } = await playedBy(model);
    expect(said).toHaveLength(6);
    expect(ended).toBe(true);
  });

  it('cuts a line where the model speaks for another character', async () => {
    const { said } = await playedBy(actingModel(many('Alice'), 'So it is.\nSherlock Holmes: Indeed.\nThe host: Yes.'));
    // A character's own name before a line is not another speaker.
    for (const [who, text] of said) expect(text).toBe(who === 'sherlock-holmes' ? 'So it is.\nIndeed.' : 'So it is.');
  });

  it.each([
    ['As an AI language model, I cannot do that.', 'assistant'],
    ['I am only playing a part here, in this role-play.', 'out-of-role'],
    ['Let me look it up on my smartphone.', 'anachronism'],
    [garden.scene.characters[1]?.motivation ?? '', 'prompt-leak'],
    ['作为一个人工智能语言模型，我没有感情。', 'assistant'],
  ])('keeps every character in role if the model says "%s"', async (line, slip) => {
    const lines = (who: string): string => (who.includes('Alice') ? line : 'So it is, Alice.');
    const { said, slips } = await playedBy(actingModel(many('Alice'), lines));
    expect(slips).toContain(slip);
    expect(said.map(([who]) => who)).toContain('alice');
    for (const [, text] of said) expect(text).not.toContain(line.slice(0, 20));
  });

  it.each(['Environment: Rain falls.', 'Narrator: Rain falls.', '旁白：Rain falls.'])(
    'removes the speaker label if the narrator says "%s"',
    async (line) => {
      const { said } = await playedBy(actingModel(['Environment'], (who) => (who === '' ? line : 'So it is.')));
      expect(said[0]).toEqual(['environment', 'Rain falls.']);
    },
  );

  it('skips the narrator if it breaks its role', async () => {
    const lines = (who: string): string => (who === '' ? 'As an AI language model, I tell no tales.' : 'So it is.');
    const { said, slips, ended } = await playedBy(actingModel(many('Narrator'), lines));
    expect(slips).toContain('assistant');
    expect(said.map(([who]) => who)).not.toContain('environment');
    expect(ended).toBe(true);
  });
});
