import { describe, expect, it } from 'vitest';
import {
  latencyComponents,
  type LatencyComponent,
  type Latency,
} from '../../../server/session/contract/turn-timings.ts';
import { EngineError } from '../../../voices/engine.ts';
import { settle } from '../../fakes/clock.ts';
import { tone } from '../../fakes/vad.ts';
import { openRig } from '../../rigs/session-rig.ts';

type Rig = ReturnType<typeof openRig>;

/** Lets the engines of a rig take time on its clock. */
function slow(rig: Rig, delays: { recognizerMs?: number; mindMs?: number; synthesizerMs?: number }): Rig {
  const { clock, recognizer, agent, synthesizer } = rig;
  const wait = async (ms: number | undefined, signal: AbortSignal): Promise<void> => {
    if (ms !== undefined) await clock.sleep(ms, signal);
  };
  const fast = { recognizer: { ...recognizer }, agent: { ...agent }, synthesizer: { ...synthesizer } };
  recognizer.transcribe = async function* (audio, options) {
    for await (const part of fast.recognizer.transcribe(audio, options)) {
      if (part.type === 'transcript-final') await wait(delays.recognizerMs, options.signal);
      yield part;
    }
  };
  agent.reply = async function* (history, options) {
    await wait(delays.mindMs, options.signal);
    yield* fast.agent.reply(history, options);
  };
  synthesizer.speak = async function* (phrases, options) {
    for await (const chunk of fast.synthesizer.speak(phrases, options)) {
      await wait(delays.synthesizerMs, options.signal);
      yield chunk;
    }
  };
  return rig;
}

/** The latency breakdown of the last reply, checked to add up. */
function ledgerOf(rig: Rig): Latency {
  const latency = rig.of('reply-ended').at(-1)?.end.latency;
  if (latency === undefined) throw new Error('no reply has ended');
  const sum = latencyComponents.reduce((tenths, owner) => tenths + Math.round((latency.owners[owner] ?? 0) * 10), 0);
  expect(sum).toBe(Math.round(latency.total_ms * 10));
  return latency;
}

/** The latency components above zero. */
function debts(latency: Latency): Partial<Record<LatencyComponent, number>> {
  return Object.fromEntries(
    latencyComponents.flatMap((owner) => ((latency.owners[owner] ?? 0) > 0 ? [[owner, latency.owners[owner]]] : [])),
  );
}

const ask = { type: 'reply', request: { inConversation: true } } as const;

describe('latency breakdown of a turn', () => {
  it('attributes the latency of a spoken turn to its components', async () => {
    const rig = slow(openRig({}), { recognizerMs: 60, mindMs: 200, synthesizerMs: 100 });
    await rig.speak(800);
    await rig.silence(4_000);
    const latency = ledgerOf(rig);
    expect(latency.total_ms).toBe(latency.first_audio_ms);
    expect(debts(latency)).toMatchObject({ recognizer: 60, mind: 200, synthesizer: 100 });
    expect(Object.keys(debts(latency))).toEqual(['silence', 'recognizer', 'mind', 'synthesizer']);
    // Windows of 32 ms in pieces of 20 ms: the silence is exact to a piece.
    expect(latency.owners.silence).toBeGreaterThan(480);
    expect(latency.owners.silence).toBeLessThan(540);
    expect(latency.owners).toMatchObject({ vad: 0, client: 0, phrase: 0, delivery: null });
  });

  it('counts audio that the client did not send as arrival time', async () => {
    const rig = openRig({});
    await rig.speak(800);
    await rig.silence(60);
    await rig.clock.advance(4_000);
    const { arrival, silence } = ledgerOf(rig).owners;
    expect(arrival).toBeGreaterThan(400);
    expect(silence).toBeGreaterThan(400);
  });

  it('extends the latency to the moment the client heard the reply', async () => {
    const rig = openRig({});
    await rig.speak(800);
    await rig.silence(640);
    const replyId = rig.of('reply-started')[0]?.replyId ?? '';
    await rig.clock.advance(150);
    rig.send({ type: 'heard', replyId, heardMs: 50 });
    await rig.clock.advance(4_000);
    const latency = ledgerOf(rig);
    expect(latency.owners.delivery).toBeGreaterThan(0);
    expect(latency.total_ms).toBe(latency.heard_ms);
  });

  it('attributes the time until the client asks to the client', async () => {
    const rig = openRig({ settings: { turnDetection: null } });
    await rig.speak(500);
    rig.send({ type: 'audio-commit' });
    await rig.clock.advance(700);
    rig.send(ask);
    await rig.clock.advance(2_000);
    expect(debts(ledgerOf(rig))).toMatchObject({ client: 700 });
  });

  it('counts the time before a push-to-talk commit as silence', async () => {
    const rig = openRig({ settings: { turnDetection: null } });
    await rig.speak(500);
    await rig.silence(60);
    await rig.clock.advance(300);
    rig.send({ type: 'audio-commit' });
    rig.send(ask);
    await rig.clock.advance(2_000);
    const latency = ledgerOf(rig);
    expect(debts(latency)).toEqual({ silence: latency.total_ms });
    expect(latency.total_ms).toBeGreaterThanOrEqual(340);
    expect(latency.total_ms).toBeLessThanOrEqual(400);
  });

  it('does not count a commit without speech from speech of long ago', async () => {
    const rig = openRig({ settings: { turnDetection: null }, hears: ['first', 'second'] });
    await rig.speak(500);
    await rig.silence(60);
    rig.send({ type: 'audio-commit' });
    await rig.clock.advance(60_000);
    await rig.silence(500);
    rig.send({ type: 'audio-commit' });
    rig.send(ask);
    await rig.clock.advance(2_000);
    expect(ledgerOf(rig).total_ms).toBe(0);
  });

  it('does not count a second reply from the turn that was already answered', async () => {
    const rig = openRig({});
    await rig.speak(800);
    await rig.silence(4_000);
    rig.send(ask);
    await rig.clock.advance(4_000);
    expect(rig.of('reply-ended')).toHaveLength(2);
    expect(ledgerOf(rig)).toMatchObject({ basis: 'text', total_ms: 0 });
  });

  it('has no speech components for typed turns and greetings', async () => {
    const rig = slow(openRig({}), { mindMs: 80, synthesizerMs: 40 });
    rig.send({ type: 'reply', request: { inConversation: true, situation: 'greeting' } });
    await rig.clock.advance(4_000);
    const latency = ledgerOf(rig);
    expect(debts(latency)).toEqual({ mind: 80, synthesizer: 40 });
    expect(latency).toMatchObject({ basis: 'text', owners: { silence: null, vad: null, recognizer: null } });
  });

  it('attributes pending recognition to the ASR engine when the client asks early', async () => {
    const rig = slow(openRig({ settings: { turnDetection: null } }), { recognizerMs: 240 });
    rig.send({ type: 'audio', samples: tone(500), sampleRate: 24_000 });
    rig.send({ type: 'audio-commit' });
    rig.send(ask);
    await rig.clock.advance(3_000);
    expect(debts(ledgerOf(rig))).toEqual({ recognizer: 240 });
  });

  it('ends the latency of a text reply at its first words and of a function call at its end', async () => {
    const call = { name: 'look', arguments: '{}' };
    const rig = slow(openRig({ says: ['One.', { calls: [call] }] }), { mindMs: 60 });
    rig.send({ type: 'reply', request: { inConversation: true, speaks: false } });
    await rig.clock.advance(1_000);
    expect(debts(ledgerOf(rig))).toEqual({ mind: 60 });
    const toolbox = { tools: [{ name: 'look', parameters: {} }], choice: 'auto', parallel: true } as const;
    rig.send({ type: 'reply', request: { inConversation: true, toolbox } });
    await rig.clock.advance(1_000);
    expect(rig.of('reply-call')).toHaveLength(1);
    expect(debts(ledgerOf(rig))).toEqual({ mind: 60 });
  });

  it('ends the latency of a failed or cancelled turn with the turn', async () => {
    const gone = new EngineError('fake', 'ENGINE_UNAVAILABLE', 'gone');
    const rig = slow(openRig({ says: [gone, 'Never said.'] }), { mindMs: 100, synthesizerMs: 500 });
    rig.send(ask);
    await rig.clock.advance(1_000);
    expect(rig.of('reply-ended')[0]?.end.status).toBe('failed');
    expect(debts(ledgerOf(rig))).toEqual({ mind: 100 });
    rig.send(ask);
    await rig.clock.advance(240);
    rig.send({ type: 'reply-cancel' });
    await settle();
    expect(debts(ledgerOf(rig))).toEqual({ mind: 100, synthesizer: 140 });
  });
});
