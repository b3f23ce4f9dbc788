import { describe, expect, it } from 'vitest';
import { connect } from '../../rigs/connection-rig.ts';

const lantern = { id: 'lantern', name: 'brass lantern', about: 'unlit, by the door', can: ['light', 'take'] };

const offers = [
  { name: 'point_at', about: 'points with the hand', target: 'object' },
  { name: 'walk_to', about: 'goes there', target: 'either', when: 'end', stops_on_barge_in: true },
  { name: 'nod' },
];

type Wire = ReturnType<typeof connect>;

/** A connection with a game: a lantern, and actions. */
async function play(says: readonly string[], options: Parameters<typeof connect>[0] = {}): Promise<Wire> {
  const wire = connect({ says, ...options });
  wire.send({ type: 'session.update', session: { x_dramatis: { actions: offers } } });
  wire.send({ type: 'x_dramatis.world', id: 'w1', set: { place: 'the garden' }, objects: [lantern] });
  await wire.clock.advance(100);
  return wire;
}

/** All events of a type. */
function all(wire: Wire, type: string): any[] {
  return wire.events.filter((event) => event.type === type);
}

async function ask(wire: Wire, ms = 6_000): Promise<void> {
  wire.send({ type: 'response.create' });
  await wire.clock.advance(ms);
}

describe('the world of a game', () => {
  it('takes a change, returns its revision, and takes the same id once', async () => {
    const wire = await play(['Yes.']);
    const taken = wire.last('x_dramatis.world_taken');
    expect(taken).toMatchObject({ id: 'w1', revision: 1, dropped_events: 0, respond: 'silent' });
    expect(taken.tokens + taken.tokens_left).toBe(2_048);
    wire.send({ type: 'x_dramatis.world', id: 'w1', set: { place: 'the cellar' } });
    await wire.clock.advance(20);
    expect(wire.last('x_dramatis.world_taken')).toMatchObject({ id: 'w1', revision: 1 });
    await ask(wire);
    const { facts } = wire.engines.agent.asked[0]!.surroundings!('fake');
    expect(facts).toEqual(['place: the garden', 'object lantern: brass lantern; unlit, by the door; can: light, take']);
    await wire.hangUp();
  });

  it('refuses a change beyond its limits, whole', async () => {
    const wire = await play(['Yes.']);
    const objects = Array.from({ length: 200 }, (_, index) => ({ id: `thing${index}`, name: `thing ${index}` }));
    wire.send({ type: 'x_dramatis.world', id: 'w2', objects });
    await wire.clock.advance(20);
    expect(wire.last('error').error).toMatchObject({ code: 'world_full' });
    wire.send({ type: 'x_dramatis.world', id: 'w3' });
    await wire.clock.advance(20);
    expect(wire.last('x_dramatis.world_taken')).toMatchObject({ id: 'w3', revision: 2 });
    await wire.hangUp();
  });

  it('lets the character react if the game says so, after the user and after what it says', async () => {
    const wire = await play(['One two three four five six seven eight nine ten.', 'Who goes there?']);
    wire.send({ type: 'response.create' });
    await wire.clock.advance(300);
    wire.send({ type: 'x_dramatis.world', id: 'w2', events: [{ text: 'A shot is heard.' }], respond: 'must' });
    await wire.clock.advance(20);
    expect(wire.last('x_dramatis.world_taken').respond).toBe('after_reply');
    await wire.clock.advance(4_000);
    expect(all(wire, 'response.done').map(({ response }) => response.status)).toEqual(['completed', 'completed']);
    const around = wire.engines.agent.asked[1]!.surroundings!('fake');
    expect(around.reacts).toBe('must');
    expect(around.facts).toContain('just now: A shot is heard.');
    await wire.hangUp();
  });

  it('breaks off the reply after a word, with a dash, and reacts', async () => {
    const wire = await play(['One two three four five six seven eight nine ten.', 'To arms!']);
    wire.send({ type: 'response.create' });
    await wire.clock.advance(340);
    wire.send({ type: 'x_dramatis.world', id: 'w2', events: [{ text: 'An alarm.' }], respond: 'interrupt' });
    await wire.clock.advance(140);
    expect(wire.last('x_dramatis.world_taken').respond).toBe('interrupt');
    const [done] = all(wire, 'response.done');
    expect(done.response).toMatchObject({ status: 'cancelled', status_details: { reason: 'event' } });
    expect(done.response.output[0].content[0].transcript).toBe('One two three four—');
    await wire.clock.advance(3_000);
    expect(all(wire, 'response.done')[1].response.output[0].content[0].transcript).toBe('To arms!');
    await wire.hangUp();
  });

  it('may react by itself once in ten seconds, and may keep silent', async () => {
    const wire = await play(['[silence]', 'Again?']);
    for (const id of ['a1', 'a2']) {
      wire.send({ type: 'x_dramatis.world', id, events: [{ text: `Event ${id}.` }], respond: 'auto' });
      await wire.clock.advance(1_000);
    }
    expect(all(wire, 'x_dramatis.world_taken').map(({ respond }) => respond)).toEqual(['silent', 'auto', 'silent']);
    const [done, another] = all(wire, 'response.done');
    expect(done.response).toMatchObject({ status: 'completed', output: [] });
    expect(another).toBeUndefined();
    await wire.hangUp();
  });

  it('is nothing for a transcription session', async () => {
    const wire = connect({ intent: 'transcription' });
    wire.send({ type: 'x_dramatis.world', id: 'w1', set: { place: 'here' } });
    await wire.clock.advance(20);
    expect(wire.last('error').error).toMatchObject({ code: 'invalid_intent' });
    await wire.hangUp();
  });
});

describe('the actions of a game', () => {
  it('sends an action with the sample of its word, also within a sentence', async () => {
    const wire = await play(
      ['Take that (point_at lantern) one, (walk_to user) and follow. (bows deeply) Now. (nods)'],
      {
        cues: 'visible',
      },
    );
    await ask(wire);
    const actions = all(wire, 'x_dramatis.action');
    expect(actions.map(({ name, target, samples, text }) => [name, target, samples, text])).toEqual([
      ['point_at', 'lantern', 4_800, 'points at the brass lantern'],
      ['nod', undefined, 14_400, 'nods'],
      ['walk_to', 'user', 14_400, 'walks to the user'],
    ]);
    expect(all(wire, 'x_dramatis.cue').map(({ text }) => text)).toEqual(['bows deeply']);
    const { transcript } = wire.last('response.done').response.output[0].content[0];
    expect(transcript).toBe('Take that one, and follow. Now.');
    await ask(wire);
    expect(wire.engines.agent.histories[1]!.at(-1)!.text).toBe(
      'Take that (point_at lantern) one, and follow. Now. (nod) (walk_to user)',
    );
    await wire.hangUp();
  });

  it('withdraws what the user did not hear, and the history leaves it out', async () => {
    const wire = await play(['One (nod) two three four five (point_at lantern) six (nod) seven eight. (walk_to user)']);
    wire.send({ type: 'response.create' });
    await wire.clock.advance(300);
    wire.send({ type: 'response.cancel' });
    await wire.clock.advance(2_000);
    const told = all(wire, 'x_dramatis.action').map(({ name, action_id: id }) => [name, id]);
    const off = all(wire, 'x_dramatis.action_off').map(({ action_id: id, because }) => [id, because]);
    expect(told.map(([name]) => name)).toEqual(['nod', 'point_at', 'nod']);
    expect(off).toEqual(told.slice(1).map(([, id]) => [id, 'unheard']));
    await ask(wire);
    expect(wire.engines.agent.histories[1]!.at(-1)!.text).toBe('One (nod) two three');
    await wire.hangUp();
  });

  it('stops actions in progress when the user begins to speak', async () => {
    const wire = await play(['I come. (walk_to lantern)']);
    await ask(wire, 2_000);
    const [{ action_id: id }] = all(wire, 'x_dramatis.action');
    const { tone, silence } = await import('../../fakes/vad.ts');
    await wire.stream(tone(900));
    await wire.stream(silence(200));
    expect(wire.last('x_dramatis.action_off')).toMatchObject({ action_id: id, because: 'barge_in' });
    await wire.hangUp();
  });

  it('informs the character about the outcome of its actions', async () => {
    const wire = await play(['Look. (point_at lantern)', 'Oh.', 'Well.']);
    await ask(wire, 2_000);
    const [{ action_id: id }] = all(wire, 'x_dramatis.action');
    const outcome = { action_id: id, outcome: 'failed', note: 'It is out of reach.', respond: 'must' };
    wire.send({ type: 'x_dramatis.action_done', ...outcome });
    wire.send({ type: 'x_dramatis.action_done', ...outcome });
    wire.send({ type: 'x_dramatis.action_done', ...outcome, action_id: 'act_none' });
    await wire.clock.advance(2_000);
    expect(all(wire, 'x_dramatis.world_taken').filter(({ id: of }) => of === id)).toHaveLength(1);
    expect(wire.last('error').error.code).toBe('action_not_found');
    const around = wire.engines.agent.asked[1]!.surroundings!('fake');
    expect(around.news).toEqual(['your action (point_at lantern): failed. It is out of reach.']);
    await wire.hangUp();
  });

  it('counts an action without an outcome as unknown after 30 s', async () => {
    const wire = await play(['Look. (point_at lantern)', 'Well.']);
    await ask(wire, 29_000);
    expect(all(wire, 'x_dramatis.world_taken')).toHaveLength(1);
    await wire.clock.advance(2_000);
    expect(wire.last('x_dramatis.world_taken').revision).toBe(2);
    await ask(wire, 2_000);
    expect(wire.engines.agent.asked[1]!.surroundings!('fake').news).toEqual([
      'your action (point_at lantern): unknown',
    ]);
    await wire.hangUp();
  });

  it('does nothing that is not on offer', async () => {
    const wire = await play(['(fly_to lantern) One. (point_at moon) Two. (nods) Three.'], { cues: 'visible' });
    wire.send({ type: 'session.update', session: { x_dramatis: { actions: null } } });
    await ask(wire);
    expect(all(wire, 'x_dramatis.action')).toEqual([]);
    await wire.hangUp();
  });
});
