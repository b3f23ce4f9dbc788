import { describe, expect, it } from 'vitest';
import type { Message } from '../../../agents/chat.ts';
import type { Hears } from '../../../agents/scene/hearing.ts';
import { actingModel, garden, openScene } from '../../rigs/scene-rig.ts';
import { defaultSettings } from '../../rigs/session-rig.ts';

const stage = { ...garden, scene: { ...garden.scene, script: [] } };

type Scene = ReturnType<typeof openScene>;

function hear(scene: Scene, hears: Hears): void {
  scene.send({ type: 'update', settings: { ...defaultSettings, hears }, echo: {} });
}

function type(scene: Scene, text: string, id: string): void {
  const content = [{ type: 'text' as const, text }];
  scene.send({ type: 'item-add', item: { id, type: 'message', role: 'user', status: 'completed', content } });
  scene.send({ type: 'reply', request: { inConversation: true } });
}

const isOf = (name: string) => (prompt: readonly Message[]) => prompt[0]?.text.startsWith(`You are ${name}`) === true;
const inAll = (prompts: readonly (readonly Message[])[]) => JSON.stringify(prompts);

describe('who hears whom in a scene', () => {
  it('keeps what the user said from those who did not hear it, whoever is addressed, and lets another one answer', async () => {
    const model = actingModel(['Alice', 'Abraham Lincoln', 'Alice', 'The host'], 'So it is.');
    const scene = openScene({ model, stage });
    hear(scene, { alice: { user: 0 }, 'abraham-lincoln': { user: 0 } });
    type(scene, 'Alice, the key is a CANARY.', 'u1');
    await scene.clock.advance(30_000);
    expect(scene.said()[0]?.[0]).toBe('sherlock-holmes');
    expect(scene.said().length).toBeGreaterThan(1);
    expect(inAll(model.prompts.filter(isOf('Sherlock Holmes')))).toContain('CANARY');
    const deaf = model.prompts.filter((prompt) => isOf('Alice')(prompt) || isOf('Abraham Lincoln')(prompt));
    expect(deaf.length).toBeGreaterThan(0);
    expect(inAll(deaf)).not.toContain('CANARY');
    // What was out of earshot then stays unknown to those who come nearer.
    hear(scene, {});
    type(scene, 'Alice, come here.', 'u2');
    await scene.clock.advance(30_000);
    expect(inAll(model.prompts.filter(isOf('Alice')))).not.toContain('CANARY');
    expect(inAll(model.prompts.filter(isOf('Alice')))).toContain('come here');
    expect(scene.faults).toEqual([]);
    await scene.close();
  });

  it('keeps what one character said from another, who hears a voice if it is near enough for that', async () => {
    const line = (who: string) => (who === 'Sherlock Holmes' ? 'The CANARY was here.' : 'So it is.');
    const model = actingModel(['Sherlock Holmes', 'Alice', 'Abraham Lincoln', 'Alice', 'Abraham Lincoln'], line);
    const scene = openScene({ model, stage });
    hear(scene, { alice: { 'sherlock-holmes': 0.4 }, 'abraham-lincoln': { 'sherlock-holmes': 0 } });
    scene.begin();
    await scene.clock.advance(30_000);
    const prompts = inAll(model.prompts.filter(isOf('Alice')));
    expect(prompts).toContain('Sherlock Holmes: (says something, too far away to make out.)');
    expect(prompts).not.toContain('CANARY');
    const far = model.prompts.filter(isOf('Abraham Lincoln'));
    expect(far.length).toBeGreaterThan(0);
    expect(inAll(far)).not.toContain('CANARY');
    expect(inAll(far)).not.toContain('too far away');
    await scene.close();
  });

  it('continues as before if no character has noticed the user', async () => {
    const model = actingModel(['Alice', 'Abraham Lincoln', 'The host'], 'So it is.');
    const scene = openScene({ model, stage });
    const nobody = { user: 0 };
    hear(scene, { alice: nobody, 'abraham-lincoln': nobody, 'sherlock-holmes': nobody, environment: nobody });
    type(scene, 'The CANARY sings.', 'u1');
    await scene.clock.advance(30_000);
    expect(scene.said().length).toBeGreaterThan(0);
    expect(inAll(model.prompts)).not.toContain('CANARY');
    expect(scene.faults).toEqual([]);
    await scene.close();
  });

  it('changes only the feelings of those who understood the words', async () => {
    const scene = openScene({ model: actingModel(['The host']), stage });
    hear(scene, { alice: { user: 0.4 } });
    const content = [{ type: 'text' as const, text: 'I hate you all! You are disgusting liars!' }];
    scene.send({ type: 'item-add', item: { id: 'u', type: 'message', role: 'user', status: 'completed', content } });
    scene.send({ type: 'reply', request: { inConversation: true } });
    await scene.clock.advance(10_000);
    const felt = scene.of('reply-ended')[0]!.end.castFeelings!;
    expect(felt['sherlock-holmes']!.emotions).not.toEqual(felt['alice']!.emotions);
    await scene.close();
  });
});
