import { describe, expect, it } from 'vitest';
import { settle } from '../../fakes/clock.ts';
import { silence, tone } from '../../fakes/vad.ts';
import { serve } from '../../rigs/serve-rig.ts';
import { connect } from '../../rigs/connection-rig.ts';

describe('transcription session', () => {
  it('opens a transcription session without any settings for speech output', async () => {
    const wire = connect({ intent: 'transcription' });
    expect(wire.events[0]).toMatchObject({
      type: 'session.created',
      session: {
        type: 'transcription',
        object: 'realtime.transcription_session',
        include: null,
        audio: {
          input: {
            format: { type: 'audio/pcm', rate: 24_000 },
            transcription: { model: 'fake-recognizer' },
            turn_detection: { type: 'semantic_vad', eagerness: 'auto', create_response: true },
          },
        },
      },
    });
    const session = wire.events[0]?.['session'] as Record<string, unknown>;
    expect(Object.keys(session)).not.toContain('instructions');
    expect(Object.keys(session['audio'] as object)).toEqual(['input']);
    await wire.hangUp();
  });

  it('transcribes turns and never replies in a transcription session', async () => {
    const wire = connect({ intent: 'transcription', hears: ['hello there', 'good bye'] });
    for (const _turn of [1, 2]) {
      await wire.stream(tone(600));
      await wire.stream(silence(900));
    }
    await wire.clock.advance(2_000);
    const transcripts = wire.events.filter((event) => event.type.endsWith('transcription.completed'));
    expect(transcripts.map((event) => [event['transcript'], event['usage']])).toEqual([
      ['hello there', { type: 'duration', seconds: expect.any(Number) as number }],
      ['good bye', { type: 'duration', seconds: expect.any(Number) as number }],
    ]);
    expect(wire.types().filter((type) => type.startsWith('response.'))).toEqual([]);
    expect(wire.engines.agent.histories).toEqual([]);
    await wire.hangUp();
  });

  it('transcribes audio that the client commits itself', async () => {
    const wire = connect({ intent: 'transcription' });
    wire.send({
      type: 'session.update',
      session: { type: 'transcription', audio: { input: { turn_detection: null } } },
    });
    await wire.stream(tone(600));
    wire.send({ type: 'input_audio_buffer.commit' });
    await settle(20);
    expect(wire.last('conversation.item.input_audio_transcription.completed').transcript).toBe('hello there');
    await wire.hangUp();
  });

  it('refuses response.create in a transcription session', async () => {
    const wire = connect({ intent: 'transcription' });
    wire.send({ type: 'response.create', event_id: 'mine' });
    await settle();
    expect(wire.last('error').error).toMatchObject({ code: 'invalid_intent', event_id: 'mine' });
    await wire.hangUp();
  });

  it('stays a transcription session and keeps transcribing, with any settings of the client', async () => {
    const wire = connect({ intent: 'transcription' });
    wire.send({ type: 'session.update', session: { type: 'realtime' } });
    await settle();
    expect(wire.last('error').error).toMatchObject({ code: 'invalid_value', param: 'session.type' });
    const audio = { input: { transcription: null, turn_detection: { idle_timeout_ms: 200 } } };
    wire.send({ type: 'session.update', session: { audio, include: ['item.input_audio_transcription.logprobs'] } });
    await settle();
    expect(wire.last('session.updated').session).toMatchObject({
      type: 'transcription',
      include: ['item.input_audio_transcription.logprobs'],
      audio: { input: { transcription: { model: 'fake-recognizer' } } },
    });
    await wire.stream(tone(600));
    await wire.stream(silence(3_000));
    expect(wire.types()).not.toContain('input_audio_buffer.timeout_triggered');
    await wire.hangUp();
  });

  it('refuses to turn a conversation into a transcription session', async () => {
    const wire = connect();
    wire.send({ type: 'session.update', session: { type: 'transcription' } });
    await settle();
    expect(wire.last('error').error).toMatchObject({ code: 'invalid_value', param: 'session.type' });
    await wire.hangUp();
  });
});

describe('intent in the URL', () => {
  it('opens a transcription session by the intent in the URL with any model name', async () => {
    const { call } = await serve();
    const client = call('?intent=transcription&model=whisper-1');
    const { session } = await client.until('session.created');
    expect(session).toMatchObject({ type: 'transcription', object: 'realtime.transcription_session' });
    client.send({ type: 'response.create' });
    expect((await client.until('error'))['error']).toMatchObject({ code: 'invalid_intent' });
    client.socket.close();
  });

  it('opens a conversation for any other intent in the URL', async () => {
    const { call } = await serve();
    const client = call('?intent=conversation&model=sherlock-holmes');
    expect((await client.until('session.created'))['session']).toMatchObject({ type: 'realtime' });
    client.socket.close();
  });
});
