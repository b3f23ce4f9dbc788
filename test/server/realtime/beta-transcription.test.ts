import { describe, expect, it } from 'vitest';
import { settle } from '../../fakes/clock.ts';
import { connectBeta } from '../../rigs/connection-rig.ts';
import { serve } from '../../rigs/serve-rig.ts';

const beta = { 'openai-beta': 'realtime=v1' };

describe('beta transcription session', () => {
  it('opens a beta transcription session with its own event and shape', async () => {
    const wire = connectBeta({ intent: 'transcription' });
    expect(wire.events).toHaveLength(1);
    expect(wire.events[0]).toEqual({
      type: 'transcription_session.created',
      event_id: expect.any(String),
      session: {
        id: expect.stringMatching(/^sess_/),
        object: 'realtime.transcription_session',
        expires_at: expect.any(Number),
        modalities: ['audio', 'text'],
        input_audio_format: 'pcm16',
        input_audio_transcription: { model: 'fake-recognizer' },
        input_audio_noise_reduction: null,
        turn_detection: {
          type: 'server_vad',
          threshold: 0.5,
          prefix_padding_ms: 500,
          silence_duration_ms: expect.any(Number),
        },
        include: null,
        x_dramatis: { character: { id: 'sherlock-holmes' } },
      },
    });
    await wire.hangUp();
  });

  it('applies and returns the settings of a beta transcription session', async () => {
    const wire = connectBeta({ intent: 'transcription' });
    wire.send({
      type: 'transcription_session.update',
      event_id: 'mine',
      session: {
        input_audio_format: 'g711_ulaw',
        input_audio_transcription: { model: 'gpt-4o-transcribe', prompt: '', language: 'fr' },
        turn_detection: null,
        input_audio_noise_reduction: { type: 'near_field' },
        include: ['item.input_audio_transcription.logprobs'],
      },
    });
    await settle();
    expect(wire.last('transcription_session.updated').session).toMatchObject({
      object: 'realtime.transcription_session',
      input_audio_format: 'g711_ulaw',
      input_audio_transcription: { model: 'gpt-4o-transcribe', language: 'fr' },
      turn_detection: null,
      include: ['item.input_audio_transcription.logprobs'],
    });
    wire.send({ type: 'input_audio_buffer.append', audio: Buffer.alloc(8_000, 0x80).toString('base64') });
    wire.send({ type: 'input_audio_buffer.commit' });
    await settle(20);
    const { transcript, usage } = wire.last('conversation.item.input_audio_transcription.completed');
    expect({ transcript, seconds: Math.round(usage.seconds) }).toEqual({ transcript: 'hello there', seconds: 1 });
    await wire.hangUp();
  });

  it('accepts session.update in a beta transcription session', async () => {
    const wire = connectBeta({ intent: 'transcription' });
    wire.send({ type: 'session.update', session: { turn_detection: null } });
    await settle();
    expect(wire.last('transcription_session.updated').session.turn_detection).toBeNull();
    await wire.hangUp();
  });

  it('refuses to turn a beta conversation into a transcription session', async () => {
    const wire = connectBeta();
    wire.send({ type: 'transcription_session.update', event_id: 'mine', session: {} });
    await settle();
    expect(wire.last('error').error).toMatchObject({ code: 'invalid_value', param: 'session.type', event_id: 'mine' });
    await wire.hangUp();
  });

  it('creates a beta transcription session over HTTP and opens it with its client secret', async () => {
    const { ask, call } = await serve({ flags: { apiKeys: 'key' } });
    const { status, body } = await ask('/v1/realtime/transcription_sessions', {
      key: 'key',
      body: {
        input_audio_format: 'g711_alaw',
        input_audio_transcription: { model: 'gpt-4o-transcribe', language: 'en' },
        client_secret: { expires_at: { anchor: 'created_at', seconds: 30 } },
      },
    });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      object: 'realtime.transcription_session',
      input_audio_format: 'g711_alaw',
      input_audio_transcription: { model: 'gpt-4o-transcribe', language: 'en' },
      client_secret: { value: expect.stringMatching(/^ek_/) },
    });
    expect(body.client_secret.expires_at * 1_000 - Date.now()).toBeLessThanOrEqual(30_000);
    const wire = call('?intent=transcription', { ...beta, authorization: `Bearer ${body.client_secret.value}` });
    const { session } = await wire.until('transcription_session.created');
    expect(session).toMatchObject({ input_audio_format: 'g711_alaw', input_audio_transcription: { language: 'en' } });
  });
});
