import { describe, expect, it } from 'vitest';
import { tone } from '../../fakes/vad.ts';
import { defaultSettings, openRig } from '../../rigs/session-rig.ts';
import { connect } from '../../rigs/connection-rig.ts';

const idle = (idleMs: number): Parameters<typeof openRig>[0] => ({
  says: ['One two three.', 'Are you there?'],
  settings: { turnDetection: { ...defaultSettings.turnDetection!, idleMs } },
});

async function firstReply(rig: ReturnType<typeof openRig>): Promise<void> {
  rig.send({ type: 'reply', request: { inConversation: true } });
  await rig.silence(400);
}

describe('idle timeout', () => {
  it('speaks up after the idle timeout, counted from the end of the heard reply', async () => {
    const rig = openRig(idle(1_000));
    await firstReply(rig);
    await rig.silence(1_600);
    const [event] = rig.of('idle');
    // The reply of 300 ms was sent at once; it was heard to its end 300 ms into the silence.
    expect(event?.fromMs).toBeGreaterThan(200);
    expect(event?.fromMs).toBeLessThan(400);
    expect((event?.atMs ?? 0) - (event?.fromMs ?? 0)).toBeGreaterThanOrEqual(1_000);
    expect((event?.atMs ?? 0) - (event?.fromMs ?? 0)).toBeLessThan(1_100);
    expect(rig.agent.situations).toEqual([undefined, 'idle']);
  });

  it('adds an empty user item in protocol order when the idle timeout is over', async () => {
    const rig = openRig(idle(800));
    await firstReply(rig);
    await rig.silence(1_400);
    const types = rig.types();
    expect(types.slice(types.indexOf('idle'), types.indexOf('idle') + 5)).toEqual([
      'idle',
      'audio-committed',
      'item-added',
      'transcript-final',
      'reply-started',
    ]);
    expect(rig.of('idle')[0]?.itemId).toBe(rig.of('audio-committed')[0]?.itemId);
    expect(rig.of('item-added')[0]?.item).toMatchObject({ role: 'user', content: [{ type: 'audio', transcript: '' }] });
    expect(rig.agent.histories[1]).toEqual([{ role: 'assistant', text: 'One two three.' }]);
  });

  it('speaks up after the idle timeout even if the client sends no audio', async () => {
    const rig = openRig(idle(1_000));
    await firstReply(rig);
    await rig.clock.advance(2_500);
    expect(rig.of('idle')).toHaveLength(1);
  });

  it('speaks up once and not again until the user has done something', async () => {
    const rig = openRig({ ...idle(1_000), hears: ['yes'] });
    await firstReply(rig);
    await rig.silence(10_000);
    expect(rig.of('idle')).toHaveLength(1);
    await rig.speak(600);
    await rig.silence(10_000);
    expect(rig.agent.situations).toEqual([undefined, 'idle', undefined, 'idle']);
    rig.send({ type: 'reply', request: { inConversation: true } });
    await rig.clock.advance(10_000);
    expect(rig.of('idle')).toHaveLength(3);
  });

  it('never speaks up unless the client asked for an idle timeout', async () => {
    const rig = openRig({ says: ['One two three.'] });
    await firstReply(rig);
    await rig.silence(5_000);
    expect(rig.of('idle')).toEqual([]);
    expect(rig.of('reply-started')).toHaveLength(1);
  });

  it('never speaks up before the first reply', async () => {
    const rig = openRig(idle(500));
    await rig.silence(3_000);
    expect(rig.of('idle')).toEqual([]);
  });

  it('never speaks up while the client is disconnected', async () => {
    const rig = openRig(idle(500));
    await firstReply(rig);
    rig.session.away(true);
    await rig.clock.advance(5_000);
    expect(rig.of('idle')).toEqual([]);
  });
});

describe('idle countdown', () => {
  it('restarts the idle countdown when the user types', async () => {
    const rig = openRig(idle(1_000));
    await firstReply(rig);
    await rig.silence(600);
    rig.send({
      type: 'item-add',
      item: { id: 'a', type: 'message', role: 'user', status: 'completed', content: [{ type: 'text', text: 'hm' }] },
    });
    await rig.silence(800);
    expect(rig.of('idle')).toEqual([]);
    await rig.silence(400);
    expect(rig.of('idle')).toHaveLength(1);
  });

  it('restarts the idle countdown after a sound that was not speech', async () => {
    const rig = openRig({ ...idle(1_000), hears: [''] });
    await firstReply(rig);
    await rig.silence(600);
    await rig.speak(300);
    await rig.silence(1_300);
    expect(rig.of('idle')).toEqual([]);
    await rig.silence(500);
    expect(rig.of('idle')).toHaveLength(1);
  });

  it('pauses the idle countdown while a function call is pending', async () => {
    const wire = connect({ says: [{ calls: [{ name: 'look_up', arguments: '{}' }] }, 'It rains.', 'Are you there?'] });
    const turn_detection = { type: 'server_vad', idle_timeout_ms: 500 };
    const tools = [{ type: 'function', name: 'look_up' }];
    wire.send({ type: 'session.update', session: { tools, audio: { input: { turn_detection } } } });
    wire.send({ type: 'response.create' });
    await wire.clock.advance(4_000);
    expect(wire.types()).not.toContain('input_audio_buffer.timeout_triggered');
    const call_id = wire.last('response.function_call_arguments.done').call_id as string;
    wire.send({ type: 'conversation.item.create', item: { type: 'function_call_output', call_id, output: '{}' } });
    wire.send({ type: 'response.create' });
    await wire.clock.advance(2_000);
    expect(wire.last('input_audio_buffer.timeout_triggered')).toMatchObject({
      item_id: wire.last('input_audio_buffer.committed').item_id,
      audio_start_ms: expect.any(Number) as number,
      audio_end_ms: expect.any(Number) as number,
    });
    await wire.hangUp();
  });

  it('prefers speech that begins in the last moment of the idle countdown', async () => {
    const rig = openRig(idle(1_000));
    await firstReply(rig);
    await rig.silence(700);
    rig.send({ type: 'audio', samples: tone(600), sampleRate: 24_000 });
    await rig.silence(900);
    expect(rig.of('idle')).toEqual([]);
    expect(rig.of('speech-started')).toHaveLength(1);
  });
});
