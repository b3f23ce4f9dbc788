import { z } from 'zod';
import { openBase64 } from '../calls/base64-stream.ts';
import type { Meter } from '../calls/calls.ts';
import { badReply, brokenOff, errorWord, readJson, type Upstream } from '../calls/http-faults.ts';
import { isFormatFault, pcmBlocks, type PcmBlock } from '../calls/pcm-stream.ts';
import { serverSentEvents } from '../calls/sse.ts';
import { EngineError } from '../engine.ts';
import type { OmniPart } from '../omni.ts';

/** Schema of a chunk; each field is missing or null with some server. */
const chunkSchema = z.object({
  error: z.unknown().optional(),
  /** vLLM-Omni: kind of data in `content`. */
  modality: z.string().nullish(),
  choices: z
    .array(
      z.object({
        delta: z
          .object({
            content: z.string().nullish(),
            audio: z.object({ data: z.string().nullish(), transcript: z.string().nullish() }).nullish(),
          })
          .nullish(),
        finish_reason: z.string().nullish(),
      }),
    )
    .nullish(),
  usage: z.object({ prompt_tokens: z.number().nullish(), completion_tokens: z.number().nullish() }).nullish(),
});
type Chunk = z.infer<typeof chunkSchema>;

/** Shorter audio counts as no speech; milliseconds. */
const leastMs = 50;
const rawRate = 24_000;

interface Reading {
  readonly upstream: Upstream;
  readonly meter: Meter;
  /** True if the reply must contain audio; if false, audio is dropped. */
  readonly speaks: boolean;
}

/** Reads a stream with text in `content` or `audio.transcript`, and audio in `audio.data` or as WAVs in `content`. */
export async function* readChatAudio(bytes: AsyncIterable<Uint8Array>, reading: Reading): AsyncGenerator<OmniPart> {
  const { upstream, meter, speaks } = reading;
  const sound = openSound(upstream);
  const wordsIn = openWords();
  let finish: string | undefined;
  let soundMs = 0;
  for await (const { data } of serverSentEvents(bytes)) {
    if (data === '[DONE]') break;
    const chunk = readChunk(data, upstream);
    count(chunk, meter);
    for (const choice of chunk.choices ?? []) {
      finish = choice.finish_reason ?? finish;
      const text = wordsIn(chunk, choice);
      if (text !== '') yield { type: 'text-delta', text };
      for (const block of speaks ? await sound.take(soundIn(chunk, choice)) : []) {
        soundMs += (block.samples.length / block.sampleRate) * 1000;
        meter.audioSeconds = Math.round(soundMs) / 1000;
        yield { type: 'sound', ...block };
      }
    }
  }
  if (finish === undefined) throw brokenOff(upstream);
  if (speaks && soundMs < leastMs) {
    const detail =
      'the model replied without audio. Check that the server serves the complete model, and check its log.';
    throw new EngineError(upstream.name, 'ENGINE_BAD_REPLY', detail);
  }
  const reason = finish === 'length' ? 'length' : finish === 'content_filter' ? 'filter' : 'stop';
  yield { type: 'omni-end', reason, inputTokens: meter.inputTokens ?? 0, outputTokens: meter.outputTokens ?? 0 };
}

type Choice = NonNullable<Chunk['choices']>[number];

function count({ usage }: Chunk, meter: Meter): void {
  meter.inputTokens = usage?.prompt_tokens ?? meter.inputTokens ?? 0;
  meter.outputTokens = usage?.completion_tokens ?? meter.outputTokens ?? 0;
}

/** Takes each chunk's text from one field only, the first that had any: some servers fill both with the same words. */
function openWords(): (chunk: Chunk, choice: Choice) => string {
  let place: 'content' | 'transcript' | undefined;
  return ({ modality }, { delta }) => {
    const content = modality === 'audio' ? '' : (delta?.content ?? '');
    const transcript = delta?.audio?.transcript ?? '';
    if (content !== '') place ??= transcript === '' ? 'content' : 'transcript';
    if (transcript !== '') place ??= 'transcript';
    return place === 'content' ? content : transcript;
  };
}

function soundIn({ modality }: Chunk, { delta }: Choice): string {
  return (modality === 'audio' ? delta?.content : delta?.audio?.data) ?? '';
}

function readChunk(data: string, upstream: Upstream): Chunk {
  const chunk = readJson(data, chunkSchema, upstream, 'an invalid chunk of a reply');
  if (chunk.error !== undefined && chunk.error !== null) {
    const word = errorWord(data);
    const detail = `the server reported an error in its stream${word === undefined ? '' : ` (${word})`}`;
    throw new EngineError(upstream.name, 'ENGINE_UNAVAILABLE', detail);
  }
  return chunk;
}

/** Decodes audio from consecutive pieces of base64. */
function openSound(upstream: Upstream): { take(encoded: string): Promise<readonly PcmBlock[]> } {
  const base64 = openBase64();
  let held: Buffer = Buffer.alloc(0);
  return {
    async take(encoded) {
      const bytes = Buffer.concat([held, base64.decode(encoded)]);
      const isWav = bytes.toString('latin1', 0, 4) === 'RIFF';
      const whole = isWav ? bytes : bytes.subarray(0, bytes.length - (bytes.length % 2));
      held = bytes.subarray(whole.length);
      try {
        return whole.length === 0 ? [] : await Array.fromAsync(pcmBlocks([whole], { sampleRate: rawRate }));
      } catch (cause) {
        if (isFormatFault(cause)) throw badReply(upstream, 'an unreadable WAV file');
        throw cause;
      }
    },
  };
}
