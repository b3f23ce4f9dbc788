import { afterEach, describe, expect, it } from 'vitest';
import { lines, type Line, type LineOptions } from '../lines.ts';

const words = Array.from({ length: 30 }, (_, index) => `w${index + 1}`);
/** A clause of 400 ms, then one of 2.6 s. */
const reply = `${words.slice(0, 4).join(' ')}, ${words.slice(4).join(' ')}.`;
/** The words of the reply that have begun after so long. */
const begunBy = (ms: number): string => `w1 w2 w3 w4, ${words.slice(4, Math.ceil(ms / 100)).join(' ')}`;

const open: Line[] = [];
afterEach(async () => {
  for (const line of open.splice(0)) await line.hangUp();
});

describe.each(Object.entries(lines))('a sound over a reply over %s', (transport, openLine) => {
  /** A line on which the reply has been playing for 600 ms. */
  async function speaking(options: Partial<LineOptions>): Promise<Line> {
    const line = await openLine({ hears: [], says: [reply, 'Yes?'], ...options });
    open.push(line);
    await line.wait(600);
    return line;
  }

  it('pauses the reply at a cough and resumes it from the start of the clause', async () => {
    const line = await speaking({ hears: [''] });
    await line.sound(200);
    expect(line.events.map(({ type }) => type)).toContain('x_dramatis.hold');
    await line.wait(4_000);
    expect(line.last('response.done').response).toMatchObject({
      status: 'completed',
      output: [{ content: [{ transcript: reply }] }],
    });
    const types = line.events.map(({ type }) => type);
    for (const type of ['conversation.item.truncated', 'input_audio_buffer.speech_started'])
      expect(types).not.toContain(type);
    // All of it, and "w5 w6 w7" of the clause once more.
    const againMs = line.heardMs() - 3_000;
    expect(againMs).toBeGreaterThan(200);
    expect(againMs).toBeLessThan(600);
    expect(line.last('x_dramatis.resume')['later_ms']).toBeLessThan(1_000);
  });

  it('pauses the reply in the middle of a word, although more of it had been sent', async () => {
    const line = await speaking({ hears: [''] });
    await line.sound(160);
    expect(line.events.map(({ type }) => type)).not.toContain('x_dramatis.resume');
    // Held after 96 ms and what the windows of the VAD take.
    expect(line.heardMs()).toBeGreaterThan(600);
    expect(line.heardMs()).toBeLessThan(780);
  });

  it('cancels the reply for words where it was paused and ends the history there', async () => {
    const line = await speaking({ hears: ['wait a moment'] });
    await line.sound(400);
    expect(line.last('response.done').response).toMatchObject({
      status: 'cancelled',
      status_details: { reason: 'turn_detected' },
    });
    const { audio_end_ms: endMs } = line.last('conversation.item.truncated');
    expect(endMs).toBeLessThanOrEqual(line.heardMs() + 20);
    // On the phone the last mark tells what was heard.
    expect(endMs).toBeGreaterThan(line.heardMs() - (transport === 'phone' ? 160 : 40));
    await line.wait(1_500);
    expect(line.said()).toBe(begunBy(endMs));
  });

  it('ends the history at the last heard word if the words come after the reply was resumed', async () => {
    const line = await speaking({ hears: ['', 'stop it please'] });
    await line.sound(200);
    await line.wait(1_000);
    await line.sound(400);
    expect(line.last('response.done').response.status).toBe('cancelled');
    // All that was heard, less the words that were heard twice: "w5 w6 w7" or one more.
    const heard = Math.ceil(line.heardMs() / 100);
    await line.wait(1_500);
    const last = Number(/w(\d+)$/.exec(line.said())?.[1]);
    expect(last).toBeGreaterThanOrEqual(heard - 5);
    expect(last).toBeLessThanOrEqual(heard - 2);
    expect(last).toBeGreaterThan(9);
  });

  it('cuts a reply that was sent completely where it was heard', async () => {
    const line = await openLine({ hears: ['wait a moment'], says: ['w1 w2 w3 w4.', 'Yes?'] });
    open.push(line);
    await line.wait(120);
    expect(line.last('response.done').response.status).toBe('completed');
    await line.sound(200);
    const { audio_end_ms: endMs } = line.last('conversation.item.truncated');
    expect(endMs).toBeGreaterThan(0);
    expect(endMs).toBeLessThan(400);
    expect(line.heardMs()).toBeLessThan(400);
    if (transport === 'WebRTC') expect(line.told()).toContain('output_audio_buffer.cleared');
  });

  it('keeps the reply playing if speech does not interrupt', async () => {
    const line = await speaking({ hears: ['wait a moment'], interrupts: false });
    await line.sound(400);
    await line.wait(3_500);
    expect(line.events.find(({ type }) => type === 'response.done')).toMatchObject({
      response: { status: 'completed' },
    });
    expect(line.events.map(({ type }) => type)).not.toContain('conversation.item.truncated');
    expect(line.heardMs()).toBeGreaterThanOrEqual(2_980);
  });
});

it('sends a WebRTC client nothing about a cough but includes the delivery in the latency breakdown', async () => {
  const line = await lines.WebRTC({ hears: [''], says: [reply] });
  open.push(line);
  await line.wait(600);
  await line.sound(200);
  await line.wait(4_000);
  expect(line.told().filter((type) => /^x_dramatis|output_audio_buffer|speech_started/.test(type))).toEqual([
    'output_audio_buffer.started',
    'output_audio_buffer.stopped',
  ]);
  const { latency } = line.last('response.done').response.x_dramatis;
  expect(latency.owners.delivery).toBe(latency.heard_ms - latency.first_audio_ms);
});
