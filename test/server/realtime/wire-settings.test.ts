import { describe, expect, it } from 'vitest';
import { settle } from '../../fakes/clock.ts';
import { fakeSynthesizer } from '../../fakes/synthesizer.ts';
import { silence, tone } from '../../fakes/vad.ts';
import { connect } from '../../rigs/connection-rig.ts';

type Wire = ReturnType<typeof connect>;

interface Echo {
  readonly audio: { readonly input: { readonly turn_detection: unknown; readonly transcription: unknown } };
}

async function update(wire: Wire, session: unknown): Promise<Echo> {
  wire.send({ type: 'session.update', session });
  await settle();
  return wire.last('session.updated').session as Echo;
}

const detection = (turn_detection: unknown): unknown => ({ audio: { input: { turn_detection } } });

describe('semantic VAD', () => {
  it.each([
    ['high', 2_000],
    ['auto', 2_500],
    ['medium', 4_000],
    ['low', 8_000],
  ])('waits longer for an unfinished user turn with the eagerness %s', async (eagerness, pauseMs) => {
    const wire = connect({ completeness: [0] });
    await update(wire, detection({ type: 'semantic_vad', eagerness }));
    await wire.stream(tone(600));
    await wire.stream(silence(pauseMs - 60));
    expect(wire.types()).not.toContain('input_audio_buffer.speech_stopped');
    await wire.stream(silence(200));
    expect(wire.types()).toContain('input_audio_buffer.speech_stopped');
    await wire.hangUp();
  });

  it('answers a finished user turn quickly with any eagerness', async () => {
    const wire = connect({ completeness: [0.9] });
    await update(wire, detection({ type: 'semantic_vad', eagerness: 'low' }));
    await wire.stream(tone(600));
    await wire.stream(silence(480));
    expect(wire.types()).toContain('input_audio_buffer.speech_stopped');
    await wire.hangUp();
  });

  it('ends the turn only by silence if the client sets its length', async () => {
    const wire = connect({ completeness: [0.9] });
    await update(wire, detection({ silence_duration_ms: 900 }));
    await wire.stream(tone(600));
    await wire.stream(silence(840));
    expect(wire.types()).not.toContain('input_audio_buffer.speech_stopped');
    await wire.stream(silence(200));
    expect(wire.types()).toContain('input_audio_buffer.speech_stopped');
    await wire.hangUp();
  });

  it('returns only the settings of the active turn detection and keeps them over partial updates', async () => {
    const wire = connect();
    const low = { type: 'semantic_vad', eagerness: 'low', create_response: true, interrupt_response: true };
    const first = await update(wire, detection({ type: 'semantic_vad', eagerness: 'low', threshold: 0.9 }));
    expect(first.audio.input.turn_detection).toEqual(low);
    const second = await update(wire, detection({ interrupt_response: false }));
    expect(second.audio.input.turn_detection).toEqual({ ...low, interrupt_response: false });
    const third = await update(wire, detection({ type: 'server_vad' }));
    expect(third.audio.input.turn_detection).toMatchObject({ threshold: 0.5, interrupt_response: true });
    await wire.hangUp();
  });
});

describe('max_output_tokens', () => {
  it('passes the token limit of session or response to the LLM and returns it', async () => {
    const wire = connect({ says: ['Yes.'] });
    await update(wire, { max_output_tokens: 100 });
    for (const response of [{}, { max_output_tokens: 7 }, { max_output_tokens: 'inf' }]) {
      wire.send({ type: 'response.create', response });
      await wire.clock.advance(300);
    }
    expect(wire.engines.agent.asked.map((options) => options.maxTokens)).toEqual([100, 7, undefined]);
    const echoed = wire.events
      .filter((event) => event.type === 'response.done')
      .map((event) => (event['response'] as { max_output_tokens: unknown }).max_output_tokens);
    expect(echoed).toEqual([100, 7, 'inf']);
    await wire.hangUp();
  });

  it('ends a response as incomplete if the LLM reached the token limit', async () => {
    const wire = connect({ says: [{ text: 'I was about to', cutShort: 'length' }] });
    wire.send({ type: 'response.create' });
    await wire.clock.advance(1_000);
    expect(wire.last('response.done').response).toMatchObject({
      status: 'incomplete',
      status_details: { type: 'incomplete', reason: 'max_output_tokens' },
      output: [{ status: 'incomplete' }],
    });
    await wire.hangUp();
  });
});

describe('content filter', () => {
  it('ends a response as incomplete if the LLM’s content filter stopped it', async () => {
    const wire = connect({ says: [{ text: 'First you take', cutShort: 'filter' }] });
    wire.send({ type: 'response.create' });
    await wire.clock.advance(1_000);
    expect(wire.last('response.done').response).toMatchObject({
      status: 'incomplete',
      status_details: { type: 'incomplete', reason: 'content_filter' },
      output: [{ status: 'incomplete', content: [{ transcript: 'First you take' }] }],
    });
    await wire.hangUp();
  });
});

describe('session.update', () => {
  it('returns settings without effect as they were sent', async () => {
    const wire = connect();
    const kept = {
      prompt: { id: 'pmpt_1', version: '2' },
      reasoning: { effort: 'low' },
      include: ['item.input_audio_transcription.logprobs'],
      tracing: { workflow_name: 'w' },
      truncation: { type: 'retention_ratio', retention_ratio: 0.5 },
    };
    expect(wire.events[0]?.['session']).toMatchObject({
      prompt: null,
      include: null,
      tracing: null,
      truncation: 'auto',
    });
    expect(await update(wire, kept)).toMatchObject(kept);
    expect(await update(wire, { instructions: 'It rains.' })).toMatchObject(kept);
    expect(await update(wire, { prompt: null, tracing: 'auto' })).toMatchObject({ prompt: null, tracing: 'auto' });
    await wire.hangUp();
  });

  it('accepts unknown models, voices and recognizers and returns its own', async () => {
    const wire = connect();
    const session = await update(wire, {
      model: 'gpt-realtime-2.1',
      audio: {
        input: {
          transcription: { model: 'gpt-4o-transcribe', prompt: 'names', keywords: ['x'] },
          noise_reduction: { type: 'near_field' },
        },
        output: { voice: { id: 'voice_1' }, speed: 1.2 },
      },
    });
    expect(session).toMatchObject({
      model: 'sherlock-holmes',
      audio: { output: { voice: 'sherlock-holmes', speed: 1.2 } },
    });
    await wire.hangUp();
  });

  it('merges transcription settings and clears the language with null', async () => {
    const wire = connect();
    const transcription = async (wanted: unknown): Promise<unknown> =>
      (await update(wire, { audio: { input: { transcription: wanted } } })).audio.input.transcription;
    expect(await transcription({ language: 'fr' })).toEqual({ model: 'fake-recognizer', language: 'fr' });
    expect(await transcription({ model: 'whisper-1' })).toEqual({ model: 'whisper-1', language: 'fr' });
    expect(await transcription({ language: null })).toEqual({ model: 'whisper-1' });
    expect(await transcription(null)).toBeNull();
    await wire.hangUp();
  });

  it.each([
    ['null', null],
    ['an empty text', ''],
  ])('clears the instructions with %s', async (_what, instructions) => {
    const wire = connect({ says: ['Yes.'] });
    await update(wire, { instructions: 'It rains.' });
    expect(await update(wire, { instructions })).toMatchObject({ instructions: '' });
    wire.send({ type: 'response.create' });
    await wire.clock.advance(300);
    expect(wire.engines.agent.asked[0]?.scene).toBe('');
    await wire.hangUp();
  });

  it('changes the speaking speed from the next reply on', async () => {
    const speeds: (number | undefined)[] = [];
    const plain = fakeSynthesizer();
    const speak: typeof plain.speak = (phrases, options) => {
      speeds.push(options.speed);
      return plain.speak(phrases, options);
    };
    const wire = connect({ says: ['One two three four five six seven eight.'], synthesizer: { ...plain, speak } });
    wire.send({ type: 'response.create' });
    await wire.clock.advance(100);
    await update(wire, { audio: { output: { speed: 1.5 } } });
    await wire.clock.advance(1_500);
    wire.send({ type: 'response.create' });
    await wire.clock.advance(1_500);
    expect(speeds).toEqual([1, 1.5]);
    await wire.hangUp();
  });
});

describe('metadata', () => {
  const entries = (count: number, length = 1): Record<string, string> =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`key${index}`, 'x'.repeat(length)]));

  it('returns the metadata of a response with up to sixteen entries of 512 characters', async () => {
    const wire = connect();
    wire.send({ type: 'response.create', response: { metadata: entries(16, 512) } });
    await wire.clock.advance(800);
    expect(wire.last('response.created').response.metadata).toEqual(entries(16, 512));
    expect(wire.last('response.done').response.metadata).toEqual(entries(16, 512));
    await wire.hangUp();
  });

  it.each([
    ['seventeen entries', entries(17)],
    ['an entry of 513 characters', entries(1, 513)],
    ['a key of 65 characters', { ['k'.repeat(65)]: 'x' }],
  ])('refuses metadata with %s', async (_what, metadata) => {
    const wire = connect();
    wire.send({ type: 'response.create', response: { metadata } });
    await settle();
    expect(wire.types()).toEqual(['session.created', 'error']);
    await wire.hangUp();
  });
});

describe('usage', () => {
  it('counts text tokens read and written and audio tokens spoken', async () => {
    const wire = connect({ says: ['One two three four.'] });
    wire.send({ type: 'response.create' });
    await wire.clock.advance(1_000);
    expect(wire.last('response.done').response.usage).toMatchObject({
      total_tokens: 3 + 5 + 8,
      input_tokens: 3,
      input_token_details: { text_tokens: 3, audio_tokens: 0, cached_tokens: 0 },
      output_tokens: 13,
      output_token_details: { text_tokens: 5, audio_tokens: 8 },
    });
    expect(wire.last('rate_limits.updated').rate_limits).toEqual([]);
    await wire.hangUp();
  });

  it('counts for a cancelled response the text that was written and the audio that was sent', async () => {
    const wire = connect({ says: [`One two three. ${'Four five six. '.repeat(20)}`] });
    wire.send({ type: 'response.create' });
    await wire.clock.advance(200);
    wire.send({ type: 'response.cancel' });
    await settle();
    const { status, usage } = wire.last('response.done').response;
    expect(status).toBe('cancelled');
    expect(usage).toMatchObject({ input_tokens: 3, output_token_details: { audio_tokens: 4 } });
    expect(usage.output_token_details.text_tokens).toBeGreaterThanOrEqual(3);
    expect(usage.output_token_details.text_tokens).toBeLessThan(30);
    await wire.hangUp();
  });
});

describe('recipe', () => {
  it('applies the prompt recipe of the session and refuses an unknown one', async () => {
    const wire = connect({ says: ['One two.'] });
    const session = await update(wire, { x_dramatis: { recipe: 'coser' } });
    expect(session).toMatchObject({ x_dramatis: { recipe: 'coser' } });
    wire.send({ type: 'session.update', session: { x_dramatis: { recipe: 'souffle' } } });
    await settle();
    expect(wire.last('error').error).toMatchObject({ param: 'session.x_dramatis.recipe' });
    wire.send({ type: 'response.create' });
    await wire.clock.advance(1_000);
    expect(wire.engines.agent.asked.at(-1)?.recipe).toBe('coser');
    await wire.hangUp();
  });
});
