import { describe, expect, it } from 'vitest';
import { speaksBeta } from '../../../server/realtime/beta.ts';
import { g711FromFloats } from '../../../voices/dsp/g711.ts';
import { settle } from '../../fakes/clock.ts';
import { silence, tone } from '../../fakes/vad.ts';
import { connectBeta } from '../../rigs/connection-rig.ts';

describe('beta client', () => {
  const asks: [what: string, headers: Record<string, string>, beta: boolean][] = [
    ['the header', { 'openai-beta': 'realtime=v1' }, true],
    ['the header among others', { 'openai-beta': 'assistants=v2, realtime=v1' }, true],
    ['the subprotocol', { 'sec-websocket-protocol': 'realtime, openai-beta.realtime-v1' }, true],
    ['another beta', { 'openai-beta': 'assistants=v2' }, false],
    [
      'an API key that looks like it',
      { 'sec-websocket-protocol': 'openai-insecure-api-key.openai-beta.realtime-v1' },
      false,
    ],
    ['nothing', {}, false],
  ];
  it.each(asks)('detects whether a client wants the beta by %s', (_what, headers, beta) => {
    expect(speaksBeta(headers)).toBe(beta);
  });

  it('opens a beta session in the beta’s shape, followed by its conversation', async () => {
    const wire = connectBeta();
    expect(wire.events.map(({ type }) => type)).toEqual(['session.created', 'conversation.created']);
    const { session } = wire.last('session.created');
    expect(session).toMatchObject({
      object: 'realtime.session',
      model: 'sherlock-holmes',
      modalities: ['audio', 'text'],
      voice: 'sherlock-holmes',
      input_audio_format: 'pcm16',
      output_audio_format: 'pcm16',
      input_audio_transcription: { model: 'fake-recognizer' },
      input_audio_noise_reduction: null,
      turn_detection: { type: 'server_vad', create_response: true },
      tool_choice: 'auto',
      temperature: 0.8,
      max_response_output_tokens: 'inf',
    });
    for (const gaOnly of ['type', 'audio', 'output_modalities', 'max_output_tokens']) {
      expect(session).not.toHaveProperty(gaOnly);
    }
    expect(wire.last('conversation.created').conversation).toEqual({
      id: `conv_${session.id}`,
      object: 'realtime.conversation',
    });
    await wire.hangUp();
  });

  it('applies and returns flat beta settings, including nulls of old SDKs', async () => {
    const wire = connectBeta();
    wire.send({
      type: 'session.update',
      session: {
        modalities: ['text', 'audio'],
        instructions: 'It rains.',
        voice: 'alloy',
        input_audio_format: 'g711_ulaw',
        output_audio_format: 'g711_alaw',
        input_audio_transcription: { model: 'whisper-1', language: null, prompt: null },
        turn_detection: { type: 'server_vad', threshold: 0.6, silence_duration_ms: 900, create_response: null },
        tools: null,
        tool_choice: 'auto',
        temperature: 0.6,
        max_response_output_tokens: 200,
        input_audio_noise_reduction: { type: 'near_field' },
        client_secret: { expires_after: 600 },
      },
    });
    await settle();
    expect(wire.events.filter(({ type }) => type === 'error')).toEqual([]);
    expect(wire.last('session.updated').session).toMatchObject({
      modalities: ['audio', 'text'],
      instructions: 'It rains.',
      voice: 'sherlock-holmes',
      input_audio_format: 'g711_ulaw',
      output_audio_format: 'g711_alaw',
      input_audio_transcription: { model: 'whisper-1' },
      turn_detection: { type: 'server_vad', threshold: 0.6, silence_duration_ms: 900, create_response: true },
      max_response_output_tokens: 200,
    });
    wire.send({
      type: 'session.update',
      session: { modalities: ['text'], turn_detection: null, input_audio_transcription: null },
    });
    await settle();
    expect(wire.last('session.updated').session).toMatchObject({
      modalities: ['text'],
      turn_detection: null,
      input_audio_transcription: null,
      input_audio_format: 'g711_ulaw',
      instructions: 'It rains.',
    });
    wire.send({ type: 'session.update', session: { turn_detection: { type: 'server_vad' } } });
    wire.send({ type: 'session.update', session: { turn_detection: { type: 'none' } } });
    await settle();
    expect(wire.last('session.updated').session.turn_detection).toBeNull();
    await wire.hangUp();
  });

  it('holds a spoken turn with barge-in in beta events only', async () => {
    const wire = connectBeta({
      says: [
        'One two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty.',
        'Yes?',
      ],
    });
    await wire.stream(silence(200));
    await wire.stream(tone(600));
    await wire.stream(silence(1_300));
    await wire.stream(tone(600));
    const itemId = wire.last('response.output_item.added').item.id;
    wire.send({ type: 'conversation.item.truncate', item_id: itemId, content_index: 0, audio_end_ms: 200 });
    await wire.stream(silence(900));
    await wire.clock.advance(800);
    const order = wire.events.map(({ type }) => type);
    expect(order.filter((type) => !type.endsWith('.delta') && type !== 'rate_limits.updated')).toEqual([
      'session.created',
      'conversation.created',
      'input_audio_buffer.speech_started',
      'input_audio_buffer.speech_stopped',
      'input_audio_buffer.committed',
      'conversation.item.created',
      'conversation.item.input_audio_transcription.completed',
      'response.created',
      'response.output_item.added',
      'conversation.item.created',
      'response.content_part.added',
      'input_audio_buffer.speech_started',
      'response.audio.done',
      'response.audio_transcript.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.done',
      'conversation.item.truncated',
      'input_audio_buffer.speech_stopped',
      'input_audio_buffer.committed',
      'conversation.item.created',
      'conversation.item.input_audio_transcription.completed',
      'response.created',
      'response.output_item.added',
      'conversation.item.created',
      'response.content_part.added',
      'response.audio.done',
      'response.audio_transcript.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.done',
    ]);
    expect(wire.last('response.output_item.done').item.content).toMatchObject([{ type: 'audio', transcript: 'Yes?' }]);
    expect(wire.last('response.done').response).toMatchObject({
      object: 'realtime.response',
      status: 'completed',
      modalities: ['audio', 'text'],
      voice: 'sherlock-holmes',
      output_audio_format: 'pcm16',
      temperature: 0.8,
      output: [{ role: 'assistant', content: [{ type: 'audio', transcript: 'Yes?' }] }],
      usage: { total_tokens: expect.any(Number) },
    });
    await wire.hangUp();
  });

  it('sends and receives G.711 under its beta names', async () => {
    const wire = connectBeta();
    wire.send({
      type: 'session.update',
      session: { input_audio_format: 'g711_ulaw', output_audio_format: 'g711_ulaw', turn_detection: null },
    });
    const audio = Buffer.from(g711FromFloats(tone(600, 8_000), 'mulaw')).toString('base64');
    wire.send({ type: 'input_audio_buffer.append', audio });
    wire.send({ type: 'input_audio_buffer.commit' });
    wire.send({
      type: 'response.create',
      response: { modalities: ['audio', 'text'], output_audio_format: 'g711_ulaw' },
    });
    await wire.clock.advance(1_500);
    expect(wire.last('conversation.item.input_audio_transcription.completed').transcript).toBe('hello there');
    expect(wire.last('response.done').response.output_audio_format).toBe('g711_ulaw');
    const deltas = wire.events.filter(({ type }) => type === 'response.audio.delta');
    const bytes = deltas.reduce((sum, event) => sum + Buffer.from(event['delta'] as string, 'base64').length, 0);
    expect(bytes).toBe(300 * 8);
    await wire.hangUp();
  });

  it('answers a typed message as text with items in beta content types', async () => {
    const wire = connectBeta();
    const content = [{ type: 'input_text', text: 'Who are you?' }];
    wire.send({ type: 'conversation.item.create', item: { type: 'message', role: 'user', content } });
    wire.send({
      type: 'conversation.item.create',
      item: { id: 'said', type: 'message', role: 'assistant', content: [{ type: 'text', text: 'I am I.' }] },
    });
    const response = {
      modalities: ['text'],
      temperature: 0.7,
      max_response_output_tokens: 'inf',
      tools: null,
      metadata: { topic: 'x' },
    };
    wire.send({ type: 'response.create', response });
    wire.send({ type: 'conversation.item.retrieve', item_id: 'said' });
    await wire.clock.advance(300);
    expect(wire.last('conversation.item.retrieved').item.content).toEqual([{ type: 'text', text: 'I am I.' }]);
    expect(wire.last('response.text.done').text.trim()).toBe('One two three.');
    expect(wire.last('response.done').response).toMatchObject({
      modalities: ['text'],
      metadata: { topic: 'x' },
      output: [{ content: [{ type: 'text' }] }],
    });
    await wire.hangUp();
  });

  it('refuses an unknown audio format of the beta with the GA error', async () => {
    const wire = connectBeta();
    for (const name of ['mp3', 'constructor', '__proto__']) {
      wire.send({ type: 'session.update', event_id: name, session: { output_audio_format: name } });
      await settle();
      expect(wire.last('error').error).toMatchObject({ code: 'unsupported_audio_format', event_id: name });
    }
    await wire.hangUp();
  });

  it('accepts settings in the GA shape from a beta client', async () => {
    const wire = connectBeta();
    wire.send({
      type: 'session.update',
      session: { type: 'realtime', output_modalities: ['text'], audio: { input: { turn_detection: null } } },
    });
    await settle();
    expect(wire.last('session.updated').session).toMatchObject({ modalities: ['text'], turn_detection: null });
    await wire.hangUp();
  });
});
