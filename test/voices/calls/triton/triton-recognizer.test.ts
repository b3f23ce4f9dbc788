import { describe, expect, it } from 'vitest';
import type { CallPolicy } from '../../../../voices/calls/call-policy.ts';
import type { TranscriptPart } from '../../../../voices/recognizer.ts';
import { adapter } from '../../../../voices/recognizers/triton.ts';
import { recognizerConformance } from '../../../conformance/recognizer.ts';
import { behind } from '../../../conformance/upstream.ts';
import { vadFrames } from '../../../fakes/speech-frames.ts';
import {
  inferRoute,
  openTritonServer,
  type TritonOutput,
  type TritonServer,
} from '../../../fakes/servers/triton-server.ts';
import { tone } from '../../../fakes/vad.ts';
import { openEngine, promptly } from '../../../rigs/voice-engine-rig.ts';
import { streamOf } from '../../../fakes/spoken.ts';

const speech = tone(1_600, 16_000);
const signal = new AbortController().signal;

/** A tensor with one text, in Triton's encoding. */
function transcript(text: string): TritonOutput {
  const bytes = Buffer.from(text, 'utf8');
  const raw = Buffer.concat([Buffer.alloc(4), bytes]);
  raw.writeUInt32LE(bytes.length);
  return { name: 'TRANSCRIPTS', datatype: 'BYTES', shape: [1], raw };
}

/** Inputs that each model family declares. */
const families = {
  whisper: ['TEXT_PREFIX', 'WAV', 'WAV_LENS'],
  'old whisper': ['TEXT_PREFIX', 'WAV'],
  sensevoice: ['WAV', 'WAV_LENS', 'LANGUAGE', 'TEXT_NORM'],
  paraformer: ['WAV', 'WAV_LENS'],
} as const;

function openHearing(text = 'hello there', inputs: readonly string[] = families.whisper) {
  return openTritonServer(() => [transcript(text)], { inputs });
}

recognizerConformance({
  title: 'triton',
  speech,
  says: /^hello there$/,
  behindServer: true,
  undetectable: {
    'falls silent halfway': 'of one answer there is no half',
    'breaks off halfway': 'of one answer there is no half',
    'closes its half of the connection halfway': 'of one answer there is no half',
  },
  open: async (care?: CallPolicy) => {
    const server = await openHearing();
    const engine = openEngine(adapter, { baseUrl: server.url, model: 'infer_bls' }, promptly(care));
    return behind(engine, server, inferRoute);
  },
  openHearing: async (text) => {
    const server = await openHearing(text);
    return behind(openEngine(adapter, { baseUrl: server.url, model: 'infer_bls' }, promptly()), server, inferRoute);
  },
});

async function hear(server: TritonServer, given: object = {}, language?: string): Promise<TranscriptPart | undefined> {
  const engine = openEngine(adapter, { baseUrl: server.url, model: 'infer_bls', ...given });
  const options = { signal, ...(language === undefined ? {} : { language }) };
  return (await Array.fromAsync(engine.transcribe(streamOf(vadFrames(speech, 16_000)), options))).at(-1);
}

describe('recognizer on Triton', () => {
  it.each(Object.entries(families))(
    'a %s model on Triton gets the inputs it declares and no others',
    async (_name, inputs) => {
      await using server = await openHearing('So', inputs);
      expect(await hear(server, {}, 'en-GB')).toMatchObject({ text: 'So' });
      const [request] = server.seen;
      expect(Object.keys(request?.inputs ?? {})).toEqual([...inputs]);
      const { WAV, WAV_LENS: length } = request?.inputs ?? {};
      expect(WAV?.raw.length).toBe((WAV?.shape[1] ?? 0) * 4);
      if (length !== undefined) expect(length.raw.readInt32LE(0)).toBe(WAV?.shape[1]);
    },
  );

  it.each([
    ['en-GB', {}, '<|startoftranscript|><|en|><|transcribe|><|notimestamps|>'],
    [undefined, { language: 'de' }, '<|startoftranscript|><|de|><|transcribe|><|notimestamps|>'],
    [undefined, {}, '<|startoftranscript|>'],
  ])('Whisper on Triton, of %s with %o, gets the prompt %s', async (language, given, prefix) => {
    await using server = await openHearing();
    await hear(server, given, language);
    expect(server.seen[0]?.text('TEXT_PREFIX')).toBe(prefix);
  });

  it('SenseVoice on Triton gets the language as a number, and its tags are not words', async () => {
    await using server = await openHearing('<|zh|><|NEUTRAL|><|Speech|><|withitn|>你好。', families.sensevoice);
    expect(await hear(server, {}, 'zh-Hans')).toMatchObject({ text: '你好。', language: 'zh' });
    expect(server.seen[0]?.inputs['LANGUAGE']?.raw.readInt32LE(0)).toBe(3);
    expect(server.seen[0]?.inputs['TEXT_NORM']?.raw.readInt32LE(0)).toBe(14);
  });

  it('a Triton model with an input that we do not have is refused', async () => {
    await using server = await openHearing('', ['AUDIO_SIGNAL']);
    await expect(hear(server)).rejects.toMatchObject({
      code: 'ENGINE_BAD_REPLY',
      detail: expect.stringContaining('AUDIO_SIGNAL') as string,
    });
  });

  it('doctor says that the model "whisper" of k2-fsa, which takes tokens, is not the one to name', async () => {
    await using server = await openHearing('', ['WAV', 'DECODER_INPUT_IDS', 'MEL_LENS']);
    const engine = openEngine(adapter, { baseUrl: server.url, model: 'whisper' });
    await expect(engine.check?.({ signal })).rejects.toMatchObject({
      code: 'ENGINE_REFUSED',
      detail: expect.stringContaining('infer_bls') as string,
    });
  });

  it('a transcript that Triton cut off is reported', async () => {
    const { raw, ...rest } = transcript('hello there');
    await using server = await openTritonServer(() => [{ ...rest, raw: raw.subarray(0, 9) }], {
      inputs: families.whisper,
    });
    await expect(hear(server)).rejects.toMatchObject({ code: 'ENGINE_BAD_REPLY' });
  });
});
