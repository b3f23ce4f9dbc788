import { toFile } from 'openai';
import { describe, expect, it } from 'vitest';
import type { Engines } from '../../../server/engines/engines.ts';
import { encodeSpeech, type SpeechFormat } from '../../../server/rest/encode-speech.ts';
import { floatsFromPcm16 } from '../../../voices/audio.ts';
import { EngineError } from '../../../voices/engine.ts';
import type { SpeechSynthesizer } from '../../../voices/synthesizer.ts';
import { readWav } from '../../../voices/dsp/wav.ts';
import { fakeEngines } from '../../fakes/engines.ts';
import { fakeSynthesizer } from '../../fakes/synthesizer.ts';
import { tone } from '../../fakes/vad.ts';
import { client, failureOf, hangUp } from '../../rigs/serve-rig.ts';

describe('POST /v1/audio/speech', () => {
  const wanted = { model: 'tts-1', voice: 'alice', input: 'One two three.' } as const;

  it('returns speech as WAV and as raw PCM', async () => {
    const { openai } = await client();
    const wav = await openai.audio.speech.create({ ...wanted, response_format: 'wav' });
    expect(wav.headers.get('content-type')).toBe('audio/wav');
    const { samples, sampleRate } = await readWav(new Uint8Array(await wav.arrayBuffer()));
    expect([samples.length, sampleRate]).toEqual([7_200, 24_000]);
    const pcm = await openai.audio.speech.create({ ...wanted, response_format: 'pcm' });
    expect(floatsFromPcm16(new Uint8Array(await pcm.arrayBuffer()))).toEqual(samples);
  });

  const formats: [SpeechFormat, type: string, magic: RegExp][] = [
    ['mp3', 'audio/mpeg', /^(ID3|\xff[\xe2-\xff])/],
    ['opus', 'audio/ogg; codecs=opus', /^OggS/],
    ['flac', 'audio/flac', /^fLaC/],
    ['aac', 'audio/aac', /^\xff[\xf0-\xff]/],
  ];
  for (const [format, type, magic] of formats) {
    it(`returns speech as ${format} that can be transcribed again`, async () => {
      const { openai, ask } = await client();
      const answer = await openai.audio.speech.create({ ...wanted, response_format: format });
      expect(answer.headers.get('content-type')).toBe(type);
      const bytes = Buffer.from(await answer.arrayBuffer());
      expect(bytes.toString('latin1')).toMatch(magic);
      const again = await openai.audio.transcriptions.create({
        model: 'any',
        file: await toFile(bytes, `a.${format}`),
      });
      expect(again.text).toBe('hello there');
      expect((await ask('/healthz')).status).toBe(200);
    });
  }

  it('returns speech as MP3 by default', async () => {
    const { openai } = await client();
    expect((await openai.audio.speech.create(wanted)).headers.get('content-type')).toBe('audio/mpeg');
  });

  it('streams the first audio before the text is completely synthesized', async () => {
    const rest = Promise.withResolvers<void>();
    const { url } = await client(speakingWith(gatedSynthesizer(rest.promise)));
    const response = await fetch(`${url}/v1/audio/speech`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...wanted, input: 'First one. Then the other.', response_format: 'wav' }),
    });
    const reader = response.body!.getReader();
    let length = 0;
    while (length < 44 + 2_400) length += (await reader.read()).value?.length ?? 0;
    rest.resolve();
    for (let next = await reader.read(); !next.done; next = await reader.read()) length += next.value.length;
    expect(length).toBe(44 + 2 * 4_800);
  });

  it('passes the requested speed to the TTS engine', async () => {
    const speeds: (number | undefined)[] = [];
    const plain = fakeSynthesizer();
    const synthesizer: SpeechSynthesizer = {
      ...plain,
      speak: (phrases, options) => {
        speeds.push(options.speed);
        return plain.speak(phrases, options);
      },
    };
    const { openai } = await client(speakingWith(synthesizer));
    await openai.audio.speech.create({ ...wanted, speed: 0.25, response_format: 'pcm' });
    await openai.audio.speech.create({ ...wanted, speed: 4, response_format: 'pcm' });
    expect(speeds).toEqual([0.25, 4]);
  });

  it('uses the default character’s voice for OpenAI’s voice names', async () => {
    const asked: string[] = [];
    const engines = fakeEngines();
    const voiceOf: Engines['voiceOf'] = (character) => {
      asked.push(character.id);
      return engines.voiceOf(character);
    };
    const { openai } = await client({ ...engines, voiceOf }, { defaultCharacter: 'alice' });
    await openai.audio.speech.create({ ...wanted, voice: 'marin', response_format: 'pcm' });
    await openai.audio.speech.create({ ...wanted, voice: { id: 'sun-wukong' }, response_format: 'pcm' });
    expect(asked).toEqual(['alice', 'sun-wukong']);
  });

  const bad: [what: string, change: Record<string, unknown>, status: number, code: string, param: string][] = [
    ['an unknown voice', { voice: 'nobody' }, 404, 'unknown_character', 'voice'],
    ['no text', { input: '' }, 400, 'invalid_value', 'input'],
    ['text without words', { input: '…' }, 400, 'invalid_value', 'input'],
    ['more than 20,000 characters', { input: 'x'.repeat(20_001) }, 400, 'text_too_long', 'input'],
    ['a speed out of range', { speed: 4.1 }, 400, 'invalid_value', 'speed'],
    ['an unknown format', { response_format: 'ogg' }, 400, 'invalid_value', 'response_format'],
  ];
  it('refuses an invalid speech request and names the field', async () => {
    const { ask } = await client(speakingWith(mute));
    for (const [what, change, status, code, param] of bad) {
      const answer = await ask('/v1/audio/speech', { body: { ...wanted, ...change } });
      expect([answer.status, answer.body.error.code, answer.body.error.param], `with ${what}`).toEqual([
        status,
        code,
        param,
      ]);
    }
  });

  it('reports the failure of the TTS engine for every format', async () => {
    const error = new EngineError('espeak', 'ENGINE_MISSING', 'it is not installed');
    const { openai } = await client(speakingWith(fakeSynthesizer({ failOn: 'One', error })));
    for (const response_format of ['wav', 'mp3'] as const) {
      const asking = openai.audio.speech.create({ ...wanted, response_format });
      expect(await failureOf(asking)).toMatchObject({ status: 501 });
    }
  });

  it('stops the synthesis when the client disconnects', async () => {
    for (const response_format of ['wav', 'opus']) {
      const [begun, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const synthesizer: SpeechSynthesizer = {
        ...fakeSynthesizer(),
        async *speak(_phrases, { signal }) {
          yield { frame: { samples: tone(100), sampleRate: 24_000, atMs: 0 }, text: 'Hm.' };
          begun.resolve();
          await new Promise<never>((_resolve, reject) => {
            signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
          }).finally(() => ended.resolve());
        },
      };
      const { port, log } = await client(speakingWith(synthesizer));
      const body = JSON.stringify({ ...wanted, response_format });
      await hangUp(port, '/v1/audio/speech', body, begun.promise, ended.promise);
      expect(log.join('')).not.toContain('"level":50');
    }
  });

  it('fails the encoding if its audio source fails', async () => {
    async function* breaking(): AsyncGenerator<Float32Array> {
      yield tone(200);
      throw new EngineError('voice', 'ENGINE_UNAVAILABLE', 'its worker ended');
    }
    const { signal } = new AbortController();
    for (const format of ['pcm', 'flac'] as const) {
      await expect(Array.fromAsync(encodeSpeech(breaking(), format, signal))).rejects.toThrow('its worker ended');
    }
  });
});

/** The engines with another voice. */
function speakingWith(synthesizer: SpeechSynthesizer): Engines {
  return { ...fakeEngines(), voiceOf: () => ({ synthesizer, voice: { kind: 'preset', id: 'fake' } }) };
}

/** Has nothing to say. */
const mute: SpeechSynthesizer = { ...fakeSynthesizer(), async *speak() {} };

/** Says 100 ms at once, and 100 ms more when told to. */
function gatedSynthesizer(gate: Promise<void>): SpeechSynthesizer {
  return {
    ...fakeSynthesizer(),
    async *speak() {
      yield { frame: { samples: tone(100), sampleRate: 24_000, atMs: 0 }, text: 'First one. ' };
      await gate;
      yield { frame: { samples: tone(100), sampleRate: 24_000, atMs: 100 }, text: 'Then the other.' };
    },
  };
}
