import { expect, it } from 'vitest';
import { frameBufferOf } from '../../../server/connections/socket-transport.ts';
import { Blocks, joined } from '../../../server/session/history/blocks.ts';

it('sends an audio frame from a pooled buffer that is reused only after it was sent', () => {
  const texts = ['a'.repeat(5_000), '嗯'.repeat(2_000), 'b'.repeat(1_024)];
  const frames = texts.map((text) => frameBufferOf(text));
  expect(frames.map((frame) => frame?.bytes.toString())).toEqual(texts);
  const memory = frames[0]?.bytes.buffer;
  frames[0]?.release();
  const next = frameBufferOf('c'.repeat(4_000));
  expect(next?.bytes.buffer).toBe(memory);
  expect(next?.bytes.toString()).toBe('c'.repeat(4_000));
  expect(frames[1]?.bytes.toString()).toBe(texts[1]);
});

it('uses no pooled buffer for frames that are too short or too long', () => {
  expect(frameBufferOf('short')).toBeUndefined();
  expect(frameBufferOf('a'.repeat(9_000))).toBeUndefined();
  expect(frameBufferOf('嗯'.repeat(3_000))).toBeUndefined();
});

it('joins adjacent audio blocks in place and leaves others apart', () => {
  const blocks = new Blocks(1_000);
  const parts = Array.from({ length: 7 }, (_, index) => blocks.of(new Float32Array(300).fill(index / 16)));
  const all = joined(parts);
  expect(all.map((block) => block.length)).toEqual([900, 900, 300]);
  expect(all.map((block) => block.buffer)).toEqual([parts[0]?.buffer, parts[3]?.buffer, parts[6]?.buffer]);
  expect(all.flatMap((block) => [...block])).toEqual(parts.flatMap((block) => [...block]));
  expect(joined([parts[0] as Int16Array, parts[2] as Int16Array])).toHaveLength(2);
});
