import { describe, expect, it } from 'vitest';
import { silence, tone } from '../../../fakes/vad.ts';
import { call } from '../../../rigs/phone-rig.ts';

const words = Array.from({ length: 30 }, (_, index) => `w${index + 1}`);
/** A clause of 400 ms, then one of 2.6 s. */
const line = `${words.slice(0, 4).join(' ')}, ${words.slice(4).join(' ')}.`;

/** A phone call in which the character has been speaking for 600 ms, and the caller makes a sound. */
async function speaking(soundMs: number, options: Parameters<typeof call>[0]) {
  const phone = call({ says: [line, 'Yes?'], ...options });
  phone.stream.greet();
  const wait = (ms: number): Promise<void> => phone.speak(silence(ms, 8_000));
  await wait(600);
  await phone.speak(tone(soundMs, 8_000));
  return {
    ...phone,
    wait,
    playedMs: () => phone.twilio.playedBytes / 8,
    /** What of the reply the session was told last to have been heard. */
    toldMs: () => Number(phone.asked.findLast(({ type }) => type === 'x_dramatis.heard')?.['samples']) / 24,
    said: (): string | undefined => phone.engines.agent.histories.at(-1)?.[0]?.text,
  };
}

describe('sound over a reply on the phone', () => {
  it('clears Twilio’s buffer at a cough and resumes the reply from the start of the clause', async () => {
    const phone = await speaking(200, { hears: [''] });
    expect(phone.twilio.count('clear')).toBe(1);
    // The mark of what had been played is the last word on it.
    expect(phone.toldMs()).toBeLessThanOrEqual(phone.playedMs());
    expect(phone.toldMs()).toBeGreaterThan(phone.playedMs() - 80);
    expect(phone.asked.filter((event) => event['held'] === true)).toHaveLength(1);
    await phone.wait(4_000);
    expect(phone.last('response.done').response).toMatchObject({
      status: 'completed',
      output: [{ content: [{ transcript: line }] }],
    });
    // All of it, and "w5 w6 w7" of the clause once more.
    expect(phone.playedMs() - 3_000).toBeGreaterThan(200);
    expect(phone.playedMs() - 3_000).toBeLessThan(600);
    expect(phone.twilio.count('clear')).toBe(1);
    expect(phone.truncations()).toEqual([]);
    expect(phone.types()).not.toContain('input_audio_buffer.speech_started');
    // Every mark of the rest came back: heard to its end, in the count of what was sent.
    expect(phone.toldMs() * 8).toBeCloseTo(phone.twilio.reachedBytes, 0);
    await phone.hangUp();
  });

  it.each(['prompt', 'late'] as const)(
    'truncates a phone reply to its last mark when the caller speaks over it (marks come %s)',
    async (marks) => {
      const phone = await speaking(400, { hears: ['wait a moment'], marks });
      expect(phone.last('response.done').response.status).toBe('cancelled');
      expect(phone.twilio.count('clear')).toBe(1);
      const [cut, ...more] = phone.truncations();
      expect(more).toEqual([]);
      expect(cut).toMatchObject({ item_id: phone.last('response.output_item.done').item.id, content_index: 0 });
      expect(cut?.['audio_end_ms']).toBeLessThanOrEqual(phone.playedMs());
      expect(cut?.['audio_end_ms']).toBeGreaterThan(phone.playedMs() - 160);
      await phone.wait(1_500);
      expect(phone.said()).toBe(`w1 w2 w3 w4, ${words.slice(4, Math.ceil(cut?.['audio_end_ms'] / 100)).join(' ')}`);
      await phone.hangUp();
    },
  );

  it('estimates the heard position of a phone reply if marks never come back', async () => {
    const coughed = await speaking(200, { hears: [''], marks: 'never' });
    await coughed.wait(4_000);
    expect(coughed.last('response.done').response.status).toBe('completed');
    expect(coughed.asked.some(({ type }) => type === 'x_dramatis.heard')).toBe(false);
    expect(coughed.playedMs()).toBeGreaterThan(3_000);
    await coughed.hangUp();
    const said = await speaking(400, { hears: ['wait a moment'], marks: 'never' });
    await said.wait(1_500);
    expect(said.truncations()).toEqual([]);
    expect(said.said()).toMatch(/^w1 w2 w3 w4, w5 w6 w7( w8)?$/);
    await said.hangUp();
  });

  it('ends the history of a phone reply at the last heard word after it was resumed', async () => {
    const phone = await speaking(200, { hears: ['', 'stop it please'] });
    await phone.wait(1_000);
    await phone.speak(tone(400, 8_000));
    expect(phone.last('response.done').response.status).toBe('cancelled');
    // All that was heard, less the words that were heard twice: "w5 w6 w7" or one more.
    const heard = Math.ceil(phone.playedMs() / 100);
    await phone.wait(1_500);
    const last = Number(/w(\d+)$/.exec(phone.said() ?? '')?.[1]);
    expect(last).toBeGreaterThanOrEqual(heard - 5);
    expect(last).toBeLessThanOrEqual(heard - 2);
    expect(last).toBeGreaterThan(9);
    await phone.hangUp();
  });

  it('keeps a phone reply playing if speech does not interrupt', async () => {
    const phone = await speaking(400, { hears: ['wait a moment'], interrupts: false });
    await phone.wait(3_500);
    expect(phone.twilio.count('clear')).toBe(0);
    expect(phone.truncations()).toEqual([]);
    expect(phone.events.find(({ type }) => type === 'response.done')).toMatchObject({
      response: { status: 'completed' },
    });
    await phone.hangUp();
  });
});
