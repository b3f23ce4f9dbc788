import * as fc from '../../../fakes/property.ts';
import { describe, expect, it } from 'vitest';
import { parseTwilioMessage } from '../../../../server/transports/phone/messages.ts';
import { g711FromFloats } from '../../../../voices/dsp/g711.ts';
import { silence, tone } from '../../../fakes/vad.ts';
import { call } from '../../../rigs/phone-rig.ts';

const longLine = 'One two three four five six seven eight nine ten eleven twelve.';
const quiet = (ms: number): Float32Array => silence(ms, 8_000);
const voice = (ms: number): Float32Array => tone(ms, 8_000);

describe('phone call', () => {
  it('sends the greeting in 20 ms pieces with a mark after each delta', async () => {
    const phone = call({ says: ['Good evening.'] });
    phone.stream.greet();
    await phone.speak(quiet(600));
    expect(phone.engines.agent.situations).toEqual(['greeting']);
    expect(phone.twilio.sound).toHaveLength(200 * 8);
    expect(phone.twilio.sound[800]).toBeCloseTo(0.2, 2);
    for (const command of phone.twilio.commands) {
      expect(command.streamSid).toBe('MZ1');
      if (command.event === 'media')
        expect(Buffer.from(command.media.payload, 'base64').length).toBeLessThanOrEqual(160);
    }
    // Slices of 60 ms: three whole ones, and what is left.
    expect(phone.twilio.count('mark')).toBeGreaterThanOrEqual(4);
    expect(phone.twilio.commands.at(-1)?.event).toBe('mark');
    await phone.hangUp();
  });

  it('reports the heard position from each returned mark', async () => {
    const phone = call({ says: [longLine] });
    phone.stream.greet();
    await phone.speak(quiet(400));
    const heard = phone.asked.filter(({ type }) => type === 'x_dramatis.heard');
    expect(heard.length).toBeGreaterThan(2);
    expect(heard.at(-1)).toMatchObject({ response_id: phone.last('response.created').response.id });
    expect(heard.map(({ samples }) => samples)).toEqual(heard.map(({ samples }) => samples).toSorted((a, b) => a - b));
    expect(heard.at(-1)?.['samples'] / 24).toBeLessThanOrEqual(phone.twilio.playedBytes / 8);
    await phone.hangUp();
  });

  it('counts only returned marks as heard when marks come late', async () => {
    const phone = call({ says: [longLine], marks: 'late' });
    phone.stream.greet();
    await phone.speak(quiet(300));
    await phone.speak(voice(400));
    const heardMs = phone.truncations()[0]?.['audio_end_ms'] as number;
    expect(heardMs).toBeGreaterThan(0);
    expect(heardMs).toBeLessThan(phone.twilio.playedBytes / 8);
    expect(phone.last('conversation.item.truncated').audio_end_ms).toBe(heardMs);
    // Twilio returns the marks of cleared audio; they do not count as heard.
    const before = phone.asked.length;
    for (const name of phone.twilio.marks()) phone.stream.receive({ event: 'mark', mark: { name } });
    expect(phone.asked).toHaveLength(before);
    await phone.hangUp();
  });

  it('estimates the heard position of a phone reply if marks never come back', async () => {
    const phone = call({ says: [longLine, 'Yes?'], marks: 'never' });
    phone.stream.greet();
    await phone.speak(quiet(300));
    await phone.speak(voice(400));
    expect(phone.truncations()).toEqual([]);
    expect(phone.asked.some(({ type }) => type === 'x_dramatis.heard')).toBe(false);
    await phone.speak(quiet(1_500));
    const said = phone.engines.agent.histories.at(-1)?.[0]?.text ?? '?';
    expect(longLine.startsWith(said)).toBe(true);
    expect(said.length).toBeLessThan(longLine.length);
    await phone.hangUp();
  });

  it('clears nothing if everything has been played', async () => {
    const phone = call();
    phone.stream.greet();
    await phone.speak(quiet(1_000));
    await phone.speak(voice(600));
    expect(phone.twilio.count('clear')).toBe(0);
    expect(phone.truncations()).toEqual([]);
    await phone.hangUp();
  });

  it('counts the heard position of each reply from its own beginning', async () => {
    const phone = call({ says: [longLine] });
    phone.stream.greet();
    await phone.speak(quiet(300));
    await phone.speak(voice(400));
    await phone.speak(quiet(900));
    const playedBefore = phone.twilio.playedBytes;
    await phone.speak(voice(400));
    const [first, second] = phone.truncations();
    expect(second?.['item_id']).not.toBe(first?.['item_id']);
    expect(second?.['audio_end_ms']).toBeLessThan(900);
    expect(playedBefore).toBeGreaterThan(0);
    await phone.hangUp();
  });

  it('ignores audio that is not the caller’s', async () => {
    const phone = call();
    const payload = Buffer.from(g711FromFloats(voice(600), 'mulaw')).toString('base64');
    phone.stream.receive({ event: 'media', media: { payload, track: 'outbound' } });
    phone.stream.receive({ event: 'dtmf' });
    phone.stream.receive({ event: 'mark', mark: { name: 'never sent' } });
    expect(phone.asked).toEqual([]);
    await phone.hangUp();
  });

  it('never reports more as heard than was played, for any order of marks and speech', async () => {
    const act = fc.record({
      speaks: fc.boolean(),
      ms: fc.integer({ min: 1, max: 45 }).map((pieces) => pieces * 20),
    });
    const marks = fc.constantFrom('prompt' as const, 'late' as const, 'never' as const);
    await fc.assert(
      fc.asyncProperty(fc.array(act, { maxLength: 8 }), marks, async (script, comeBack) => {
        const hears = ['hello there', '', 'Right.'];
        const phone = call({ says: [longLine, 'One two three.'], hears, marks: comeBack });
        phone.stream.greet();
        for (const { speaks, ms } of script) {
          const heardBefore = phone.truncations().length;
          await phone.speak(speaks ? voice(ms) : quiet(ms));
          for (const { audio_end_ms: heardMs } of phone.truncations().slice(heardBefore)) {
            expect(heardMs).toBeLessThanOrEqual(phone.twilio.reachedBytes / 8);
          }
        }
        await phone.hangUp();
      }),
      { numRuns: 40 },
    );
  });
});

describe('parseTwilioMessage', () => {
  const start = { streamSid: 'MZ1', callSid: 'CA1', tracks: ['inbound'], customParameters: { character: 'alice' } };
  const good: [what: string, message: Record<string, unknown>][] = [
    ['connected', { event: 'connected', protocol: 'Call', version: '1.0.0' }],
    ['start', { event: 'start', sequenceNumber: '1', streamSid: 'MZ1', start }],
    [
      'media',
      { event: 'media', streamSid: 'MZ1', media: { track: 'inbound', chunk: '1', timestamp: '5', payload: '' } },
    ],
    ['mark', { event: 'mark', streamSid: 'MZ1', mark: { name: '1' } }],
    ['dtmf', { event: 'dtmf', streamSid: 'MZ1', dtmf: { track: 'inbound_track', digit: '1' } }],
    ['stop', { event: 'stop', streamSid: 'MZ1', stop: { accountSid: 'AC1', callSid: 'CA1' } }],
  ];
  it.each(good)('parses the Twilio message %s', (event, message) => {
    expect(parseTwilioMessage(JSON.stringify(message))?.event).toBe(event);
  });

  const bad: [what: string, frame: string][] = [
    ['invalid JSON', '{"event":'],
    ['empty', ''],
    ['a JSON array', '[]'],
    ['null', 'null'],
    ['an unknown event', '{"event":"explode"}'],
    ['a start without a stream', '{"event":"start","start":{}}'],
    ['audio that is not a string', '{"event":"media","media":{"payload":5}}'],
    ['a mark without a name', '{"event":"mark","mark":{}}'],
    [
      'another codec',
      '{"event":"start","start":{"streamSid":"x","mediaFormat":{"encoding":"audio/opus","sampleRate":8000}}}',
    ],
    ['a parameter that is not a string', '{"event":"start","start":{"streamSid":"x","customParameters":{"key":{}}}}'],
  ];
  it.each(bad)('rejects a Twilio frame that is %s', (_what, frame) => {
    expect(parseTwilioMessage(frame)).toBeUndefined();
  });
});
