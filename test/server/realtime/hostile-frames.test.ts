import { describe, expect, it } from 'vitest';
import { createInputRateLimit } from '../../../server/http/rate-limit.ts';
import { limits } from '../../../server/protocol/limits.ts';
import { measureFrame } from '../../../server/realtime/frame-size.ts';
import { settle } from '../../fakes/clock.ts';
import { connect, recordConnection } from '../../rigs/connection-rig.ts';

const mebibyte = 1024 * 1024;

async function codeOf(frame: string): Promise<string | undefined> {
  const wire = connect();
  wire.connection.receiveText(Buffer.from(frame));
  await settle();
  const { length } = wire.events.filter(({ type }) => type === 'error');
  expect(length).toBeLessThanOrEqual(1);
  const code = wire.last('error')?.error.code as string | undefined;
  // The session lives on.
  wire.send({ type: 'session.update', session: { instructions: 'It rains.' } });
  await settle();
  expect(wire.types().at(-1)).toBe('session.updated');
  await wire.hangUp();
  return code;
}

function metadataOf(entries: number): string {
  const values = Array.from({ length: entries }, (_unused, place) => `"${place}":0`).join(',');
  return `{"type":"response.create","response":{"metadata":{${values}}}}`;
}

describe('a hostile frame', () => {
  it('with 500,000 metadata entries is refused before it is parsed', async () => {
    expect(await codeOf(metadataOf(500_000))).toBe('message_too_large');
  });

  it.each([
    ['tools', `{"type":"session.update","session":{"tools":[${'1,'.repeat(9 * mebibyte)}1]}}`],
    ['unknown fields', `{"type":"response.create","x":[${'[],'.repeat(6 * mebibyte)}0]}`],
    ['content parts', `{"type":"conversation.item.create","item":{"content":[${'{},'.repeat(6 * mebibyte)}0]}}`],
  ])('of 18 MiB of tiny %s is measured no further than the limit of values', async (_what, frame) => {
    expect(measureFrame(Buffer.from(frame)).values).toBe(limits.frameValues + 1);
    expect(await codeOf(frame)).toBe('message_too_large');
  });

  it('with 300 KiB of short texts is refused', async () => {
    const texts = Array.from({ length: 30 }, () => 'x'.repeat(10_240));
    expect(await codeOf(JSON.stringify({ type: 'response.create', response: { metadata: texts } }))).toBe(
      'message_too_large',
    );
  });

  it.each([
    ['metadata', { type: 'response.create', response: { metadata: { text: 'x'.repeat(mebibyte) } } }],
    ['an unknown field named audio', { type: 'session.update', session: { x: { audio: 'x'.repeat(mebibyte) } } }],
    ['a tool', { type: 'session.update', session: { tools: [{ description: 'x'.repeat(mebibyte) }] } }],
  ])('with a text of 1 MiB as %s is refused', async (_where, event) => {
    expect(await codeOf(JSON.stringify(event))).toBe('text_too_long');
  });

  it('nested 2,000,000 levels deep is refused at the 65th', async () => {
    const frame = Buffer.from(`{"type":"session.update","x":${'['.repeat(2_000_000)}`);
    expect(measureFrame(frame).levels).toBe(limits.nestingLevels + 1);
    expect(await codeOf(frame.toString())).toBe('invalid_event');
  });
});

describe('measureFrame', () => {
  it('counts escaped quotes as part of their string', () => {
    const text = JSON.stringify({ a: '",[{', b: ['\\', '\\"', 'x'.repeat(limits.mediaStringBytes + 1)] });
    expect(measureFrame(Buffer.from(text))).toMatchObject({ values: 6, levels: 2 });
    expect(measureFrame(Buffer.from(text)).mediaBytes).toBeGreaterThan(limits.mediaStringBytes);
  });

  it('looks at each byte once, however many backslashes come before a quote', () => {
    const text = Buffer.from(`"${'\\'.repeat(200_000)}"`);
    let reads = 0;
    const counted = new Proxy(text, {
      get(target, key) {
        if (typeof key === 'string' && /^\d+$/.test(key)) reads += 1;
        const value: unknown = Reflect.get(target, key, target);
        return typeof value === 'function' ? (value.bind(target) as unknown) : value;
      },
    });
    measureFrame(counted);
    expect(reads).toBeLessThan(2 * text.length);
  });
});

describe('the rate of events by their size', () => {
  it('is limited for texts and not for audio', async () => {
    const inflow = createInputRateLimit({ maxEventsPerSecond: 200, maxAudioRate: 100 }, () => 0);
    const wire = recordConnection({}, { inflow });
    const audio = Buffer.alloc(48_000).toString('base64');
    for (let sent = 0; sent < 100; sent += 1)
      wire.send({ type: 'input_audio_buffer.append', event_id: `e${sent}`, audio });
    await settle();
    expect(wire.types()).not.toContain('error');
    const update = { type: 'session.update', session: { instructions: 'x'.repeat(49_000) } };
    for (let sent = 0; sent < 100; sent += 1) wire.send(update);
    await settle();
    expect(wire.last('error').error).toMatchObject({ code: 'rate_limit_exceeded' });
    const updated = wire.types().filter((type) => type === 'session.updated').length;
    expect(updated).toBeGreaterThan(30);
    expect(updated).toBeLessThan(50);
  });
});

describe('a conversation', () => {
  const item = (id: string, parts: number, characters: number) => ({
    type: 'conversation.item.create',
    item: {
      id,
      type: 'message',
      role: 'user',
      content: Array.from({ length: parts }, () => ({ type: 'input_text', text: 'x'.repeat(characters) })),
    },
  });

  it('refuses an item with over 100,000 characters in its parts together', async () => {
    const wire = connect();
    wire.send(item('a', 11, 10_000));
    await settle();
    expect(wire.last('error').error).toMatchObject({ code: 'invalid_value', param: 'item.content' });
    await wire.hangUp();
  });

  it('is full once it holds 4 Mi characters, and has room again when items are deleted', async () => {
    const wire = connect();
    for (let added = 0; added < 50; added += 1) wire.send(item(`i${added}`, 5, 20_000));
    await settle();
    expect(wire.last('error').error).toMatchObject({ code: 'conversation_full' });
    expect(wire.types().filter((type) => type === 'conversation.item.done').length).toBe(41);
    wire.send({ type: 'conversation.item.delete', item_id: 'i0' });
    wire.send(item('again', 5, 20_000));
    await settle();
    expect(wire.last('conversation.item.done').item.id).toBe('again');
    await wire.hangUp();
  });
});

describe('responses out of band', () => {
  it('are refused beyond four at once in one session', async () => {
    const wire = connect();
    for (let asked = 0; asked < 6; asked += 1)
      wire.send({ type: 'response.create', response: { conversation: 'none' } });
    await settle();
    expect(wire.types().filter((type) => type === 'response.created')).toHaveLength(4);
    const errors = wire.events.filter(({ type }) => type === 'error');
    expect(errors).toMatchObject([
      { error: { code: 'too_many_responses' } },
      { error: { code: 'too_many_responses' } },
    ]);
    await wire.hangUp();
  });
});
