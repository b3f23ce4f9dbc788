import { describe, expect, it } from 'vitest';
import type { ChatModel } from '../../../agents/chat.ts';
import { castScenes } from '../../../server/cast/cast-scene.ts';
import { serverEventSchema } from '../../../server/protocol/server-events.ts';
import { userMessage, type Item } from '../../../server/session/contract/item.ts';
import { sceneResponder } from '../../../server/responders/scene-responder.ts';
import { cascade } from '../../../server/responders/responder.ts';
import { fakeAgent } from '../../fakes/agent.ts';
import { fakeRecognizer } from '../../fakes/recognizer.ts';
import { fakeSynthesizer } from '../../fakes/synthesizer.ts';
import { recordConnection, type ConnectionKind } from '../../rigs/connection-rig.ts';
import { actingModel, characters, stages } from '../../rigs/scene-rig.ts';

const known = new Map([...characters, ...stages.map((stage) => [stage.id, stage] as const)]);
const holmes = known.get('sherlock-holmes')!;

/** A session with Holmes that may choose a scene; the characters of the scene say their names. */
function connect(kind: ConnectionKind = {}, { bound = false, model }: { bound?: boolean; model?: ChatModel } = {}) {
  const seen: (readonly string[])[] = [];
  const responderFor = (character: typeof holmes) => {
    const { stage } = character;
    if (stage === undefined) return speaking(character.name);
    return sceneResponder({
      stage: { ...stage, scene: { ...stage.scene, script: [] } },
      responderOf: ({ name }) => speaking(name),
      model,
    });
  };
  const speaking = (name: string) => {
    const inner = cascade({
      recognizer: fakeRecognizer([]),
      agent: fakeAgent(Array.from({ length: 40 }, () => `I am ${name} and I speak.`)),
      synthesizer: fakeSynthesizer(),
      voice: { kind: 'preset', id: name },
    });
    return {
      ...inner,
      reply: (history: Parameters<typeof inner.reply>[0], options: Parameters<typeof inner.reply>[1]) => {
        seen.push(history.map(({ text }) => text));
        return inner.reply(history, options);
      },
    };
  };
  const deps = { config: { defaultCharacter: 'alice' }, engines: { responderFor }, characters: known };
  const castScene = castScenes(holmes, deps, bound ? [] : undefined);
  const wire = recordConnection(
    { says: Array.from({ length: 9 }, () => 'Elementary, it is.') },
    { ...kind, castScene },
  );
  const choose = (scene: unknown): void => wire.send({ type: 'session.update', session: { x_dramatis: { scene } } });
  const speakers = (): unknown[] =>
    wire.events.flatMap(({ type, item }: any) =>
      type === 'response.output_item.done' ? [item.x_dramatis?.speaker?.id ?? null] : [],
    );
  const say = (text: string): void =>
    wire.send({
      type: 'conversation.item.create',
      item: { type: 'message', role: 'user', content: [{ type: 'input_text', text }] },
    });
  return {
    ...wire,
    choose,
    say,
    speakers,
    seen,
    async hangUp() {
      await wire.hangUp();
      for (const event of wire.events) serverEventSchema.parse(event);
    },
  };
}

describe('choosing a scene during a session', () => {
  it('plays a scene chosen during a session without the conversation before, and leaves it again', async () => {
    const wire = connect();
    wire.say('I am the mayor.');
    wire.send({ type: 'response.create' });
    await wire.clock.advance(5_000);
    wire.choose({ id: 'the-locked-garden' });
    await wire.clock.advance(1);
    const { session } = wire.last('session.updated');
    expect(session.x_dramatis.scene).toMatchObject({ id: 'the-locked-garden', title: 'The Locked Garden' });
    expect(session.x_dramatis.character.id).toBe('scene:the-locked-garden');
    expect(session.audio.output.voice).toBe('scene:the-locked-garden');
    wire.send({ type: 'response.create', response: { x_dramatis: { greeting: true } } });
    await wire.clock.advance(5_000);
    expect(wire.seen.flat().join(' ')).not.toContain('mayor');
    expect(wire.speakers().slice(1, 4)).toEqual(['sherlock-holmes', 'alice', 'abraham-lincoln']);
    expect(Object.keys(wire.last('response.done').response.x_dramatis.cast_feelings)).toContain('alice');
    wire.choose(null);
    await wire.clock.advance(1);
    expect(wire.last('session.updated').session.x_dramatis).toMatchObject({ character: { id: 'sherlock-holmes' } });
    expect(wire.last('session.updated').session.x_dramatis.scene).toBeUndefined();
    const spoken = wire.speakers().length;
    await wire.clock.advance(20_000);
    expect(wire.speakers()).toHaveLength(spoken);
    wire.send({ type: 'response.create' });
    await wire.clock.advance(5_000);
    expect(wire.speakers().at(-1)).toBeNull();
    await wire.hangUp();
  });

  it('cancels the running reply of a scene when another scene is chosen', async () => {
    const wire = connect();
    wire.choose({ id: 'the-locked-garden' });
    wire.send({ type: 'response.create' });
    await wire.clock.advance(100);
    wire.choose({ id: 'supper-on-the-nautilus' });
    await wire.clock.advance(20_000);
    const dones = wire.events.filter(({ type }) => type === 'response.done') as any[];
    expect(dones).toHaveLength(1);
    expect(dones[0].response).toMatchObject({ status: 'cancelled' });
    const types = wire.types();
    expect(types.lastIndexOf('session.updated')).toBeGreaterThan(types.lastIndexOf('response.done'));
    const detection = () => wire.last('session.updated').session.audio.input.turn_detection;
    expect(detection()).toMatchObject({ create_response: false, interrupt_response: false });
    wire.choose({ id: 'the-locked-garden' });
    await wire.clock.advance(1);
    expect(detection()).toMatchObject({ create_response: true, interrupt_response: true });
    await wire.hangUp();
  });

  it('continues the scene if the client sends the current scene again', async () => {
    const wire = connect();
    wire.choose({ id: 'the-locked-garden' });
    wire.send({ type: 'response.create' });
    await wire.clock.advance(400);
    wire.choose(wire.last('session.updated').session.x_dramatis.scene);
    await wire.clock.advance(10_000);
    const [first] = wire.events.filter(({ type }) => type === 'response.done') as any[];
    expect(first.response.status).toBe('completed');
    await wire.hangUp();
  });

  it.each([
    [{ id: 'no-such-scene' }, 'unknown_scene'],
    [{ id: 'sherlock-holmes' }, 'unknown_scene'],
    [{ id: '' }, 'invalid_value'],
    [{}, 'invalid_event'],
    ['the-locked-garden', 'invalid_event'],
  ])('refuses the scene %j together with the rest of its update', async (scene, code) => {
    const wire = connect();
    wire.send({ type: 'session.update', event_id: 'e1', session: { instructions: 'new', x_dramatis: { scene } } });
    await wire.clock.advance(1);
    expect(wire.last('error').error).toMatchObject({ code, event_id: 'e1' });
    expect(wire.last('error').error.param).toContain('x_dramatis.scene');
    expect(wire.last('session.updated')).toBeUndefined();
    await wire.hangUp();
  });

  it('refuses a scene to a client secret for another character', async () => {
    const wire = connect({}, { bound: true });
    wire.choose({ id: 'the-locked-garden' });
    await wire.clock.advance(1);
    expect(wire.last('error').error.code).toBe('character_not_allowed');
    await wire.hangUp();
  });

  it('reports that the scene waits for the user and that it has ended', async () => {
    const wire = connect(
      {},
      { model: actingModel(['Alice', 'The host', ...Array.from({ length: 9 }, () => '<END CHAT>')]) },
    );
    wire.choose({ id: 'the-locked-garden' });
    wire.send({ type: 'response.create' });
    await wire.clock.advance(60_000);
    expect(wire.last('response.done').response).toMatchObject({ output: [], x_dramatis: { users_turn: true } });
    wire.send({ type: 'response.create' });
    await wire.clock.advance(120_000);
    const { output, x_dramatis: about } = wire.last('response.done').response;
    expect([output, about.scene_ended, about.users_turn]).toEqual([[], true, undefined]);
    await wire.hangUp();
  });

  it('continues the scene with its history after a restart', async () => {
    const first = connect();
    first.choose({ id: 'the-locked-garden' });
    await first.clock.advance(1);
    const { session } = first.last('session.updated');
    await first.hangUp();
    const message = (id: string, text: string): Item => ({
      ...userMessage(id),
      content: [{ type: 'text', text }],
    });
    const items = [message('a', 'I am the mayor.'), message('b', 'Alice, hello.')];
    const wire = connect({ restored: { id: 'sess_1', session, items, beforeScene: new Set(['a']) } });
    wire.send({ type: 'response.create' });
    await wire.clock.advance(1_500);
    expect(wire.speakers()[0]).toBe('alice');
    expect(wire.seen.flat()).not.toContain('The host: I am the mayor.');
    expect(wire.seen.flat()).toContain('The host: Alice, hello.');
    wire.connection.close();
    await wire.connection.done;
  });
});
