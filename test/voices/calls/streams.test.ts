import { describe, expect, it } from 'vitest';
import { openBase64 } from '../../../voices/calls/base64-stream.ts';
import {
  isFormatFault,
  pcmBlocks,
  pcmBlocksOfMessages,
  type PcmBlock,
  type RawFormat,
} from '../../../voices/calls/pcm-stream.ts';
import { serverSentEvents, type ServerSentEvent } from '../../../voices/calls/sse.ts';
import { concatSamples, floatsFromPcm16 } from '../../../voices/audio.ts';
import { pcmOf, wavHeader } from '../../fakes/server-audio.ts';

async function* cut(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}
const eventsOf = (text: string, size: number): Promise<ServerSentEvent[]> =>
  Array.fromAsync(serverSentEvents(cut(Buffer.from(text), size)));

describe('server-sent events', () => {
  const stream = ': ping\n\nevent: delta\ndata: {"a":\ndata: "é先"}\n\ndata:no space\r\n\r\n\rdata: [DONE]\n\n';

  it.each([1, 2, 3, 5, 1_000])(
    'server-sent events are the same however the bytes are cut: %i at a time',
    async (size) => {
      expect(await eventsOf(stream, size)).toEqual([
        { event: 'delta', data: '{"a":\n"é先"}' },
        { event: '', data: 'no space' },
        { event: '', data: '[DONE]' },
      ]);
    },
  );

  it('the last server-sent event counts without its empty line', async () => {
    expect(await eventsOf('data: last', 4)).toEqual([{ event: '', data: 'last' }]);
  });
});

describe('base64 stream', () => {
  const bytes = Buffer.from('Mind the step, traveller.');

  it.each([1, 3, 4, 7])('a base64 stream may be cut anywhere: %i characters at a time', (size) => {
    const base64 = openBase64();
    const pieces = bytes.toString('base64').match(new RegExp(`.{1,${size}}`, 'g')) ?? [];
    expect(Buffer.concat(pieces.map((piece) => base64.decode(piece)))).toEqual(bytes);
  });

  it('a base64 stream may consist of pieces that are padded each', () => {
    const base64 = openBase64();
    const pieces = [bytes.subarray(0, 5), bytes.subarray(5, 6), bytes.subarray(6)];
    expect(Buffer.concat(pieces.map((piece) => base64.decode(piece.toString('base64'))))).toEqual(bytes);
  });
});

describe('audio stream of a server', () => {
  const pcm = pcmOf('one two', 24_000);
  const samples = floatsFromPcm16(pcm);
  const raw: RawFormat = { sampleRate: 24_000 };
  const joined = (blocks: readonly PcmBlock[]): Float32Array => concatSamples(blocks.map((block) => block.samples));

  it.each([1, 3, 1_021, 100_000])('streamed PCM is the same however its bytes are cut: %i at a time', async (size) => {
    expect(joined(await Array.fromAsync(pcmBlocks(cut(pcm, size), raw)))).toEqual(samples);
  });

  it.each([
    ['no length', 0],
    ['an endless length', 0xff_ff_ff_ff],
    ['its length', pcm.length],
    ['more than comes', pcm.length * 9],
  ])('streamed audio may be a WAV whose header claims %s', async (_name, dataBytes) => {
    const wav = Buffer.concat([wavHeader(32_000, { dataBytes, list: true }), pcm]);
    const blocks = await Array.fromAsync(pcmBlocks(cut(wav, 777), raw));
    expect(new Set(blocks.map(({ sampleRate }) => sampleRate))).toEqual(new Set([32_000]));
    expect(joined(blocks)).toEqual(samples);
  });

  it('streamed audio may be floats, with NaN as silence', async () => {
    const bytes = Buffer.from(Float32Array.of(0.5, Number.NaN, -0.25).buffer);
    const blocks = await Array.fromAsync(pcmBlocks(cut(bytes, 3), { sampleRate: 16_000, encoding: 'f32' }));
    expect(joined(blocks)).toEqual(Float32Array.of(0.5, 0, -0.25));
  });

  it('streamed audio may have a WAV header in every message, in the first, or in none', async () => {
    const parts = [pcm.subarray(0, 4_801), pcm.subarray(4_801)];
    const headed = (which: readonly boolean[]): Promise<PcmBlock[]> => {
      async function* messages(): AsyncGenerator<Buffer> {
        for (const [index, part] of parts.entries()) {
          yield which[index] === true ? Buffer.concat([wavHeader(32_000, { dataBytes: part.length }), part]) : part;
        }
      }
      return Array.fromAsync(pcmBlocksOfMessages(messages(), raw));
    };
    const rates = async (which: readonly boolean[]): Promise<number[]> => [
      ...new Set((await headed(which)).map(({ sampleRate }) => sampleRate)),
    ];
    expect(joined(await headed([false, false]))).toEqual(samples);
    expect(await rates([false, false])).toEqual([24_000]);
    expect(await rates([true, false])).toEqual([32_000]);
    expect(await rates([true, true])).toEqual([32_000]);
  });

  it('an unreadable WAV stream is reported', async () => {
    const bytes = Buffer.concat([wavHeader(24_000).subarray(0, 20), Buffer.alloc(40, 0xee)]);
    const reading = Array.fromAsync(pcmBlocks(cut(bytes, 11), raw));
    expect(isFormatFault(await reading.catch((cause: unknown) => cause))).toBe(true);
  });
});
