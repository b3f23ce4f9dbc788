import { describe, expect, it } from 'vitest';
import { pcm16FromFloats } from '../../../voices/audio.ts';
import { silence, tone } from '../../fakes/vad.ts';
import { connect } from '../../rigs/connection-rig.ts';
import { both, join, joined, said, stream, type Wire } from './players-wire.ts';

/** Push to talk for two players. */
async function pressable(script: Parameters<typeof connect>[0]): Promise<Wire> {
  const wire = connect(script);
  wire.send({ type: 'session.update', session: { audio: { input: { turn_detection: null } } } });
  await join(wire, both);
  return wire;
}

const commit = (wire: Wire, player: number): void =>
  wire.send({ type: 'input_audio_buffer.commit', event_id: `c${player}`, x_dramatis: { player } });

const heardBy = (wire: Wire): unknown =>
  wire.engines.agent.histories.at(-1)?.flatMap(({ role, text }) => (role === 'user' ? [text] : []));

describe('push to talk of several players', () => {
  it('makes an item of what each says, in the order in which they release, though both press at once', async () => {
    const wire = await pressable({ hears: ['I was first', 'I was brief'], says: ['Good.', 'Well.'] });
    await stream(wire, { 1: tone(800), 2: joined(silence(200), tone(400)) });
    commit(wire, 2);
    await wire.clock.advance(20);
    await stream(wire, { 1: tone(800) });
    commit(wire, 1);
    wire.send({ type: 'response.create' });
    await wire.clock.advance(3_000);
    expect(said(wire)).toEqual(['Bob', 'Anna']);
    expect(heardBy(wire)).toEqual(['Bob: I was brief', 'Anna: I was first']);
    const lengthsMs = wire.events
      .filter(({ type }) => type === 'conversation.item.input_audio_transcription.completed')
      .map((event: any) => Math.round(event.usage.seconds * 1_000));
    expect(lengthsMs).toEqual([600, 1_600]);
    await wire.hangUp();
  });

  it('a commit takes what that player has sent, however long the VAD is, and the reply answers it', async () => {
    const wire = await pressable({ hears: ['open the door'], says: ['Good.'] });
    const pcm16 = pcm16FromFloats(tone(400)).toString('base64');
    wire.send({ type: 'input_audio_buffer.append', audio: pcm16, x_dramatis: { player: 2 } });
    commit(wire, 2);
    wire.send({ type: 'response.create' });
    await wire.clock.advance(3_000);
    expect(wire.types()).not.toContain('error');
    expect(heardBy(wire)).toEqual(['Bob: open the door']);
    await wire.hangUp();
  });

  it('a player without audio has nothing to commit, and a clear drops the audio of one alone', async () => {
    const wire = await pressable({ hears: ['keep me', 'drop me'], says: ['Good.'] });
    await stream(wire, { 1: tone(400) });
    commit(wire, 2);
    await wire.clock.advance(20);
    expect(wire.last('error').error).toMatchObject({ code: 'input_audio_buffer_commit_empty', event_id: 'c2' });
    await stream(wire, { 1: tone(400), 2: tone(400) });
    wire.send({ type: 'input_audio_buffer.clear', x_dramatis: { player: 2 } });
    await wire.clock.advance(20);
    commit(wire, 2);
    commit(wire, 1);
    await wire.clock.advance(1_000);
    expect(wire.events.filter(({ type }) => type === 'error')).toHaveLength(2);
    expect(said(wire)).toEqual(['Anna']);
    await wire.hangUp();
  });

  it('a player who leaves takes along what was not committed, and nothing of the others', async () => {
    const wire = await pressable({ hears: ['I stay', 'I go'], says: ['Good.'] });
    await stream(wire, { 1: tone(400), 2: tone(400) });
    await join(wire, [both[0]]);
    await stream(wire, { 1: tone(400) });
    commit(wire, 1);
    await wire.clock.advance(1_000);
    await join(wire, both);
    commit(wire, 2);
    await wire.clock.advance(1_000);
    expect(said(wire)).toEqual(['Anna']);
    expect(wire.last('error').error).toMatchObject({ code: 'input_audio_buffer_commit_empty' });
    await wire.hangUp();
  });

  it('gives way to turn detection and comes back; nothing is left of what was not committed', async () => {
    const wire = await pressable({ hears: ['lost', 'lost, too', 'by voice', 'by button'], says: ['Yes.', 'Good.'] });
    await stream(wire, { 1: tone(400), 2: tone(400) });
    wire.send({ type: 'session.update', session: { audio: { input: { turn_detection: { type: 'server_vad' } } } } });
    await wire.clock.advance(20);
    await stream(wire, { 2: joined(tone(800), silence(3_000)) });
    wire.send({ type: 'session.update', session: { audio: { input: { turn_detection: null } } } });
    await wire.clock.advance(20);
    await stream(wire, { 1: tone(400) });
    commit(wire, 1);
    await wire.clock.advance(1_000);
    expect(said(wire)).toEqual(['Bob', 'Anna']);
    await wire.hangUp();
  });
});
