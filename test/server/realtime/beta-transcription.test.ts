import { describe, expect, it } from 'vitest';
import { settle } from '../../fakes/clock.ts';
import { silence, tone } from '../../fakes/vad.ts';
import { connectBeta } from '../../rigs/beta-rig.ts';
import { serve } from '../../rigs/serve-rig.ts';

const beta = { 'openai-beta': 'realtime=v1' };

describe('a transcription session of the beta', () => {
  it('greets under its own name, in its own shape, and begins no conversation', async () => {
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

  it('takes its update, says what is in effect, and hears in the format it asked for', async () => {
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

  it('hears turns, under names of the beta, and never answers', async () => {
    const wire = connectBeta({ intent: 'transcription' });
    await wire.stream(tone(600));
    await wire.stream(silence(900));
    await wire.clock.advance(1_000);
    const types = wire.events.map(({ type }) => type);
    expect(types).toContain('conversation.item.created');
    expect(types).toContain('conversation.item.input_audio_transcription.completed');
    expect(types.filter((type) => type.startsWith('response.'))).toEqual([]);
    await wire.hangUp();
  });

  it('may be asked for with the other session’s event, and answers as what it is', async () => {
    const wire = connectBeta({ intent: 'transcription' });
    wire.send({ type: 'session.update', session: { turn_detection: null } });
    await settle();
    expect(wire.last('transcription_session.updated').session.turn_detection).toBeNull();
    await wire.hangUp();
  });

  it('cannot be made of a session that speaks', async () => {
    const wire = connectBeta();
    wire.send({ type: 'transcription_session.update', event_id: 'mine', session: {} });
    await settle();
    expect(wire.last('error').error).toMatchObject({ code: 'invalid_value', param: 'session.type', event_id: 'mine' });
    await wire.hangUp();
  });

  it('opens for who asks for it in the address', async () => {
    const { call } = await serve();
    const wire = call('?intent=transcription', beta);
    const { session } = await wire.until('transcription_session.created');
    expect(session.object).toBe('realtime.transcription_session');
  });

  it('is made over HTTP first, as old SDKs do, and begun with the secret', async () => {
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
