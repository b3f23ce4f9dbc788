import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { request, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { toFile } from 'openai';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Engines } from '../../../server/engines/engines.ts';
import { concatSamples } from '../../../voices/audio.ts';
import { EngineError } from '../../../voices/engine.ts';
import { wavBytes } from '../../../voices/dsp/wav.ts';
import { fakeEngines } from '../../fakes/engines.ts';
import { fakeRecognizer } from '../../fakes/recognizer.ts';
import { silence, tone } from '../../fakes/vad.ts';
import { openScratch } from '../../eval/scratch.ts';
import { client, failureOf } from '../../rigs/serve-rig.ts';

describe('POST /v1/audio/transcriptions', () => {
  const recorded = async (...parts: Float32Array[]): Promise<File> =>
    toFile(await wavBytes(concatSamples(parts), 24_000), 'speech.wav');
  const spoken = (): Promise<File> => recorded(silence(200), tone(600), silence(200));

  it('returns the transcript and duration of a recording', async () => {
    const { openai } = await client();
    const answer = await openai.audio.transcriptions.create({ model: 'whisper-1', file: await spoken() });
    expect(answer).toMatchObject({
      text: 'hello there',
      usage: { type: 'duration', seconds: 1 },
      x_dramatis: { unclear: null },
    });
  });

  it('returns the transcript as plain text or with time segments', async () => {
    const { openai } = await client();
    const file = await spoken();
    const text = await openai.audio.transcriptions.create({ model: 'any', file, response_format: 'text' });
    expect(text as unknown).toBe('hello there\n');
    const verbose = await openai.audio.transcriptions.create({ model: 'any', file, response_format: 'verbose_json' });
    expect(verbose).toMatchObject({ task: 'transcribe', language: 'en', duration: 1, text: 'hello there' });
    const [segment] = verbose.segments ?? [];
    expect(segment).toMatchObject({ text: 'hello there' });
    expect(segment?.start).toBeGreaterThan(0.1);
    expect(segment?.end).toBeLessThan(0.9);
  });

  it('passes the whole recording to the ASR engine at its rate and in the named language', async () => {
    const languages: (string | undefined)[] = [];
    const engines = fakeEngines();
    const plain = fakeRecognizer(['hello there']);
    const recognizer: Engines['recognizer'] = {
      ...plain,
      transcribe: (audio, options) => {
        languages.push(options.language);
        return plain.transcribe(audio, options);
      },
    };
    const { openai } = await client({ ...engines, recognizer });
    await openai.audio.transcriptions.create({ model: 'any', file: await recorded(tone(510)), language: 'en' });
    expect(plain.heardMs).toEqual([512]);
    expect(languages).toEqual(['en']);
    expect(engines.fakeVad.openStreams).toBe(0);
  });

  it('returns an empty transcript for silence and the reason for unclear speech', async () => {
    const unclear = { code: 'language_not_supported', message: 'This does not sound like English.' } as const;
    const { openai, url } = await client(fakeEngines({ hears: [{ text: '', unclear }] }));
    const quiet = await openai.audio.transcriptions.create({ model: 'any', file: await recorded(silence(600)) });
    expect(quiet).toMatchObject({ text: '', x_dramatis: { unclear: null } });
    const answer = await openai.audio.transcriptions.create({ model: 'any', file: await spoken() });
    expect(answer).toMatchObject({ text: '', x_dramatis: { unclear } });
    const form = new FormData();
    form.set('file', await spoken());
    form.set('response_format', 'text');
    const bare = await fetch(`${url}/v1/audio/transcriptions`, { method: 'POST', body: form });
    expect([await bare.text(), bare.headers.get('x-dramatis-unclear')]).toEqual(['\n', 'language_not_supported']);
  });

  it('refuses recordings that are unreadable, empty, too large or too long', async () => {
    const { openai, ask, url } = await client();
    const create = async (bytes: Uint8Array): Promise<unknown> =>
      openai.audio.transcriptions.create({ model: 'any', file: await toFile(bytes, 'a.wav') });
    const unreadable = { status: 400, code: 'audio_file_unreadable', param: 'file' };
    expect(await failureOf(create(Buffer.from('this is not a readable recording')))).toEqual(unreadable);
    expect(await failureOf(create(Buffer.alloc(0)))).toMatchObject({ status: 400, code: 'audio_file_empty' });
    const huge = await failureOf(create(Buffer.alloc(26 * 2 ** 20)));
    expect(huge).toMatchObject({ status: 413, code: 'audio_file_too_large' });
    const long = await wavBytes(new Float32Array(8_000 * 601), 8_000);
    expect(await failureOf(create(long))).toMatchObject({ status: 413, code: 'audio_file_too_long' });
    const file = await spoken();
    const srt = openai.audio.transcriptions.create({ model: 'any', file, response_format: 'srt' });
    expect(await failureOf(srt)).toMatchObject({ status: 400, code: 'invalid_value', param: 'response_format' });
    expect((await ask('/v1/audio/transcriptions', { body: {} })).body.error).toMatchObject({ code: 'invalid_event' });
    const empty = await fetch(`${url}/v1/audio/transcriptions`, { method: 'POST', body: new FormData() });
    expect(empty.status).toBe(400);
  });

  it('refuses a request by its length or key before it reads the recording', async () => {
    const { port } = await client(fakeEngines(), { apiKeys: 'key' });
    const announce = async (headers: Record<string, string>): Promise<unknown[]> => {
      const type = { 'content-type': 'multipart/form-data; boundary=x', 'content-length': String(27 * 2 ** 20) };
      const asking = request({
        port,
        path: '/v1/audio/transcriptions',
        method: 'POST',
        headers: { ...type, ...headers },
      });
      asking.on('error', () => undefined);
      asking.flushHeaders();
      const [response] = (await once(asking, 'response')) as [IncomingMessage];
      const { error } = JSON.parse((await response.toArray()).join('')) as { error: { code: string } };
      asking.destroy();
      return [response.statusCode, error.code];
    };
    expect(await announce({ authorization: 'Bearer key' })).toEqual([413, 'audio_file_too_large']);
    expect(await announce({ authorization: 'Bearer wrong' })).toEqual([401, 'invalid_api_key']);
  });

  it('validates the other fields before it decodes the recording', async () => {
    const { openai } = await client();
    const file = await toFile(Buffer.from('this is not a readable recording'), 'a.wav');
    const asking = openai.audio.transcriptions.create({ model: 'any', file, response_format: 'srt' });
    expect(await failureOf(asking)).toMatchObject({ code: 'invalid_value', param: 'response_format' });
  });

  it('leaves no temporary files and names none in its errors', async () => {
    // A folder of its own, since servers of other tests write to the shared one at the same time.
    await using scratch = await openScratch();
    vi.stubEnv('TMPDIR', scratch.path);
    onTestFinished(() => void vi.unstubAllEnvs());
    const { openai } = await client();
    const file = await toFile(Buffer.from('this is not a readable recording'), 'a.wav');
    const fault = await openai.audio.transcriptions.create({ model: 'any', file }).catch((reason: unknown) => reason);
    expect((fault as Error).message).not.toMatch(/tmp|dramatis-upload/);
    await openai.audio.transcriptions.create({ model: 'any', file: await spoken() });
    expect(await readdir(tmpdir())).toEqual([]);
  });

  it('reports the failure of the ASR engine', async () => {
    const broken = new EngineError('moonshine', 'ENGINE_UNAVAILABLE', 'its worker thread ended');
    const { openai } = await client(fakeEngines({ hears: [broken] }));
    const asking = openai.audio.transcriptions.create({ model: 'any', file: await spoken() });
    expect(await failureOf(asking)).toMatchObject({ status: 503, code: 'ENGINE_UNAVAILABLE' });
  });
});
