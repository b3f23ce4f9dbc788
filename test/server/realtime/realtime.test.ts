import { describe, expect, it } from 'vitest';
import { pcm16FromFloats } from '../../../voices/audio.ts';
import { settle } from '../../fakes/clock.ts';
import { silence, tone } from '../../fakes/vad.ts';
import { connect } from '../../rigs/connection-rig.ts';

describe('OpenAI Realtime connection', () => {
  it('opens a session with all effective settings', async () => {
    const wire = connect();
    expect(wire.events[0]).toMatchObject({
      type: 'session.created',
      session: {
        type: 'realtime',
        object: 'realtime.session',
        model: 'sherlock-holmes',
        output_modalities: ['audio'],
        tool_choice: 'auto',
        audio: {
          input: {
            format: { type: 'audio/pcm', rate: 24_000 },
            transcription: { model: 'fake-recognizer' },
            turn_detection: {
              type: 'semantic_vad',
              eagerness: 'auto',
              create_response: true,
              interrupt_response: true,
            },
          },
          output: { format: { type: 'audio/pcm', rate: 24_000 }, voice: 'sherlock-holmes', speed: 1 },
        },
      },
    });
    await wire.hangUp();
  });

  it('sends the events of a spoken turn in protocol order', async () => {
    const wire = connect();
    await wire.stream(silence(200));
    await wire.stream(tone(600));
    await wire.stream(silence(900));
    await wire.clock.advance(1_000);
    const order = wire.types().filter((type, index, all) => type !== all[index - 1]);
    expect(order.filter((type) => !type.endsWith('.delta'))).toEqual([
      'session.created',
      'input_audio_buffer.speech_started',
      'input_audio_buffer.speech_stopped',
      'input_audio_buffer.committed',
      'conversation.item.added',
      'conversation.item.done',
      'conversation.item.input_audio_transcription.completed',
      'response.created',
      'response.output_item.added',
      'conversation.item.added',
      'response.content_part.added',
      'response.output_audio.done',
      'response.output_audio_transcript.done',
      'response.content_part.done',
      'response.output_item.done',
      'conversation.item.done',
      'response.done',
      'rate_limits.updated',
    ]);
    expect(wire.last('response.done').response).toMatchObject({
      status: 'completed',
      status_details: null,
      output: [{ role: 'assistant', content: [{ type: 'output_audio', transcript: 'One two three.' }] }],
      usage: { input_token_details: { cached_tokens: 0 }, output_token_details: { text_tokens: 5 } },
      x_dramatis: { mind: { name: 'fake-mind' }, latency: { basis: 'speech_end' } },
    });
    await wire.hangUp();
  });

  it('returns the audio of a spoken user item', async () => {
    const wire = connect();
    await wire.stream(tone(600));
    await wire.stream(silence(900));
    const id = wire.last('input_audio_buffer.committed').item_id;
    wire.send({ type: 'conversation.item.retrieve', item_id: id });
    await settle();
    const [part] = wire.last('conversation.item.retrieved').item.content;
    expect(part).toMatchObject({ type: 'input_audio', transcript: 'hello there' });
    expect(Buffer.from(part.audio, 'base64').length / 48).toBeGreaterThan(850);
    await wire.hangUp();
  });

  it('transcribes an audio item before it answers it', async () => {
    const wire = connect();
    const audio = pcm16FromFloats(tone(500)).toString('base64');
    wire.send({
      type: 'conversation.item.create',
      item: { type: 'message', role: 'user', content: [{ type: 'input_audio', audio }] },
    });
    wire.send({ type: 'response.create' });
    await wire.clock.advance(600);
    expect(wire.last('conversation.item.input_audio_transcription.completed').transcript).toBe('hello there');
    expect(wire.engines.agent.histories[0]).toEqual([{ role: 'user', text: 'hello there' }]);
    await wire.hangUp();
  });

  const bad: [what: string, frame: string, code: string, param?: string][] = [
    ['invalid JSON', '{"type":', 'invalid_json'],
    ['JSON that is not an object', '[]', 'invalid_event', 'type'],
    ['an unknown type', '{"type":"session.explode"}', 'unknown_event_type', 'type'],
    ['a missing field', '{"type":"conversation.item.delete"}', 'invalid_event', 'item_id'],
    ['audio that is not base64', '{"type":"input_audio_buffer.append","audio":"%%%"}', 'invalid_audio', 'audio'],
    ['half a sample', '{"type":"input_audio_buffer.append","audio":"AAAA"}', 'invalid_audio', 'audio'],
    [
      'an unsupported format',
      '{"type":"session.update","session":{"audio":{"input":{"format":{"type":"audio/pcm","rate":44100}}}}}',
      'unsupported_audio_format',
      'session.audio.input.format',
    ],
    [
      'a threshold out of range',
      '{"type":"session.update","session":{"audio":{"input":{"turn_detection":{"threshold":7}}}}}',
      'invalid_value',
      'session.audio.input.turn_detection.threshold',
    ],
    [
      'a text of 100,000 characters',
      JSON.stringify({
        type: 'conversation.item.create',
        item: { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'x'.repeat(100_000) }] },
      }),
      'text_too_long',
      'item.content.0.text',
    ],
  ];
  for (const [what, frame, code, param] of bad) {
    it(`answers ${what} with ${code} and keeps the session`, async () => {
      const wire = connect();
      wire.connection.receiveText(frame);
      wire.send({ type: 'response.create' });
      await wire.clock.advance(800);
      expect(wire.last('error').error).toMatchObject({ code, ...(param === undefined ? {} : { param }) });
      expect(wire.last('response.done').response.status).toBe('completed');
      await wire.hangUp();
    });
  }
});
