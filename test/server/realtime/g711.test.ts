import { describe, expect, it } from 'vitest';
import { ReplyAudio } from '../../../server/realtime/audio-format.ts';
import { floatsFromPcm16 } from '../../../voices/audio.ts';
import { floatsFromG711, g711FromFloats, type G711Law } from '../../../voices/dsp/g711.ts';
import { settle } from '../../fakes/clock.ts';
import { silence, tone } from '../../fakes/vad.ts';
import { connect } from '../../rigs/connection-rig.ts';

type Wire = ReturnType<typeof connect>;

const laws: readonly (readonly [type: string, law: G711Law])[] = [
  ['audio/pcmu', 'mulaw'],
  ['audio/pcma', 'alaw'],
];

/** Asks for a format in both directions. */
async function useFormat(wire: Wire, format: Record<string, unknown>): Promise<void> {
  wire.send({ type: 'session.update', session: { audio: { input: { format }, output: { format } } } });
  await settle();
}

/** Speaks at 8 kHz, 20 ms at a time, at the pace of the clock. */
async function speak(wire: Wire, samples: Float32Array, law: G711Law): Promise<void> {
  for (let offset = 0; offset < samples.length; offset += 160) {
    const bytes = g711FromFloats(samples.slice(offset, offset + 160), law);
    wire.send({ type: 'input_audio_buffer.append', audio: Buffer.from(bytes).toString('base64') });
    await wire.clock.advance(20);
  }
}

/** All audio of the last response, as bytes. */
function lastSound(wire: Wire): Buffer {
  const { id } = wire.last('response.created').response;
  const deltas = wire.events.filter(
    ({ type, ...event }) => type.endsWith('audio.delta') && event['response_id'] === id,
  );
  return Buffer.concat(deltas.map((event) => Buffer.from(event['delta'] as string, 'base64')));
}

describe('G.711 session', () => {
  it.each(laws)('returns the audio format %s in the session and its responses', async (type) => {
    const wire = connect();
    await useFormat(wire, { type });
    expect(wire.last('session.updated').session.audio).toMatchObject({
      input: { format: { type } },
      output: { format: { type } },
    });
    wire.send({ type: 'response.create' });
    await wire.clock.advance(800);
    expect(wire.last('response.done').response.audio.output.format).toEqual({ type });
    await wire.hangUp();
  });

  it.each(laws)('holds a spoken turn in %s with times and lengths as in PCM', async (type, law) => {
    const wire = connect();
    await useFormat(wire, { type });
    await speak(wire, silence(600, 8_000), law);
    await speak(wire, tone(600, 8_000), law);
    await speak(wire, silence(900, 8_000), law);
    await wire.clock.advance(1_000);
    // The tone begins at 600 ms, after 500 ms of padding; the VAD hears in windows of 32 ms.
    expect(wire.last('input_audio_buffer.speech_started').audio_start_ms).toBeGreaterThan(60);
    expect(wire.last('input_audio_buffer.speech_started').audio_start_ms).toBeLessThan(160);
    expect(wire.last('conversation.item.input_audio_transcription.completed').transcript).toBe('hello there');
    expect(wire.last('response.done').response).toMatchObject({
      status: 'completed',
      output: [{ content: [{ type: 'output_audio', transcript: 'One two three.' }] }],
    });
    const sound = floatsFromG711(lastSound(wire), law);
    expect(sound).toHaveLength(300 * 8);
    expect(sound[1_200]).toBeCloseTo(0.2, 2);
    await wire.hangUp();
  });

  it('truncates a G.711 reply by milliseconds', async () => {
    const wire = connect({ says: ['One two three four five six.'] });
    await useFormat(wire, { type: 'audio/pcmu' });
    wire.send({ type: 'response.create' });
    await wire.clock.advance(1_000);
    const { id } = wire.last('response.output_item.done').item;
    wire.send({ type: 'conversation.item.truncate', item_id: id, content_index: 0, audio_end_ms: 250 });
    wire.send({ type: 'conversation.item.retrieve', item_id: id });
    await settle();
    expect(wire.last('conversation.item.truncated').audio_end_ms).toBe(250);
    const [part] = wire.last('conversation.item.retrieved').item.content;
    expect(part.transcript).toBe('One two three');
    expect(Buffer.from(part.audio, 'base64')).toHaveLength(250 * 8);
    await wire.hangUp();
  });

  it('changes the audio format for the next response and not for the running one', async () => {
    const wire = connect({ says: ['One two three four five six seven eight nine ten.', 'One two.'] });
    wire.send({ type: 'response.create' });
    await wire.clock.advance(100);
    await useFormat(wire, { type: 'audio/pcmu' });
    await wire.clock.advance(1_500);
    expect(floatsFromPcm16(lastSound(wire))).toHaveLength(1_000 * 24);
    wire.send({ type: 'response.create' });
    await wire.clock.advance(1_000);
    expect(lastSound(wire)).toHaveLength(200 * 8);
    await useFormat(wire, { type: 'audio/pcm', rate: 24_000 });
    wire.send({ type: 'response.create' });
    await wire.clock.advance(1_500);
    expect(lastSound(wire)).toHaveLength(1_000 * 48);
    await wire.hangUp();
  });

  it.each(laws)('uses %s for a single response that asks for it', async (type) => {
    const wire = connect({ says: ['One two.'] });
    wire.send({ type: 'response.create', response: { audio: { output: { format: { type }, voice: 'marin' } } } });
    await wire.clock.advance(1_000);
    for (const event of ['response.created', 'response.done'])
      expect(wire.last(event).response.audio.output).toEqual({ format: { type }, voice: 'sherlock-holmes' });
    expect(lastSound(wire)).toHaveLength(200 * 8);
    wire.send({ type: 'response.create', response: { audio: {} } });
    await wire.clock.advance(1_000);
    expect(wire.last('response.done').response.audio.output.format).toEqual({ type: 'audio/pcm', rate: 24_000 });
    expect(lastSound(wire)).toHaveLength(200 * 48);
    await wire.hangUp();
  });

  it('refuses an unknown audio format for a single response', async () => {
    const wire = connect();
    wire.send({ type: 'response.create', response: { audio: { output: { format: { type: 'audio/opus' } } } } });
    await settle();
    expect(wire.last('error').error).toMatchObject({
      code: 'unsupported_audio_format',
      param: 'response.audio.output.format',
    });
    expect(wire.types()).not.toContain('response.created');
    await wire.hangUp();
  });

  it('reads and returns the audio of items in the session’s G.711 format', async () => {
    const wire = connect();
    await useFormat(wire, { type: 'audio/pcma' });
    const audio = Buffer.from(g711FromFloats(tone(500, 8_000), 'alaw')).toString('base64');
    wire.send({
      type: 'conversation.item.create',
      item: { id: 'said', type: 'message', role: 'user', content: [{ type: 'input_audio', audio }] },
    });
    await settle();
    const completed = wire.last('conversation.item.input_audio_transcription.completed');
    expect(completed).toMatchObject({ transcript: 'hello there', usage: { seconds: 0.5 } });
    wire.send({ type: 'conversation.item.retrieve', item_id: 'said' });
    await settle();
    const [part] = wire.last('conversation.item.retrieved').item.content;
    expect(Buffer.from(part.audio, 'base64')).toHaveLength(500 * 8);
    await wire.hangUp();
  });

  it('accepts G.711 input with PCM output', async () => {
    const wire = connect();
    wire.send({
      type: 'session.update',
      session: { audio: { input: { format: { type: 'audio/pcmu', rate: 8_000 } } } },
    });
    await speak(wire, tone(600, 8_000), 'mulaw');
    await speak(wire, silence(900, 8_000), 'mulaw');
    await wire.clock.advance(1_000);
    const { seconds } = wire.last('conversation.item.input_audio_transcription.completed').usage;
    expect(seconds).toBeGreaterThan(0.85);
    expect(seconds).toBeLessThan(1.6);
    expect(floatsFromPcm16(lastSound(wire))).toHaveLength(300 * 24);
    await wire.hangUp();
  });

  const foreign = [
    { type: 'audio/opus' },
    { type: 'audio/pcmu', rate: 16_000 },
    { type: 'audio/pcm', rate: 8_000 },
    { type: 'g711_ulaw' },
  ];
  it.each(foreign)('refuses the audio format $type at $rate and keeps the session as it was', async (format) => {
    const wire = connect();
    for (const side of ['input', 'output']) {
      wire.send({ type: 'session.update', session: { instructions: 'New.', audio: { [side]: { format } } } });
      await settle();
      expect(wire.last('error').error).toMatchObject({
        code: 'unsupported_audio_format',
        param: `session.audio.${side}.format`,
      });
    }
    wire.send({ type: 'session.update', session: {} });
    await settle();
    expect(wire.last('session.updated').session).toMatchObject({
      instructions: '',
      audio: { input: { format: { type: 'audio/pcm' } }, output: { format: { type: 'audio/pcm' } } },
    });
    await wire.hangUp();
  });
});

describe('ReplyAudio', () => {
  it('counts G.711 samples and offsets at the wire’s rate from any synthesizer rate', () => {
    for (const sampleRate of [16_000, 22_050, 24_000]) {
      const sound = new ReplyAudio({ type: 'audio/pcmu' });
      const pieces = Array.from({ length: 10 }, () => sound.push(tone(60, sampleRate), sampleRate));
      const all = [...pieces, sound.flush()].filter((piece) => piece !== undefined);
      let samples = 0;
      for (const piece of all) {
        expect(piece.offsetSamples).toBe(samples);
        samples += piece.samples.length;
      }
      expect(samples, `from ${sampleRate} Hz`).toBe(600 * 24);
      expect(
        all.reduce((sum, piece) => sum + (piece.encoded?.length ?? 0), 0),
        `from ${sampleRate} Hz`,
      ).toBe(600 * 8);
    }
  });

  it('encodes nothing if no audio was pushed', () => {
    expect(new ReplyAudio({ type: 'audio/pcma' }).flush()).toBeUndefined();
    expect(new ReplyAudio({ type: 'audio/pcm', rate: 24_000 }).flush()).toBeUndefined();
  });
});
