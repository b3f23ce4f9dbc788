import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import type { CallCost } from '../../voices/calls/calls.ts';
import type { CallPolicy } from '../../voices/calls/call-policy.ts';
import { openContext, type Adapter } from '../../voices/calls/context.ts';
import type { EngineLifecycle } from '../../voices/engine.ts';
import type { ReferenceVoice, SpeechChunk, SpeechSynthesizer, Voice } from '../../voices/synthesizer.ts';
import { writeWav } from '../../voices/dsp/wav.ts';
import { secretKey, type Opened } from '../conformance/upstream.ts';
import type { EngineServer } from '../fakes/servers/engine-server.ts';
import { tone } from '../fakes/vad.ts';
import { phrasesOf } from '../fakes/spoken.ts';

/** A reference clip for the tests of one file. */
export async function clipForTests(options: { readonly ms?: number; readonly language?: string } = {}) {
  const folder = await mkdtemp(path.join(tmpdir(), 'dramatis-clip-'));
  const wavPath = path.join(folder, 'martha.wav');
  const transcript = 'I keep the house.';
  const language = options.language ?? 'en';
  beforeAll(() => writeWav(wavPath, tone(options.ms ?? 4_000, 16_000), 16_000));
  afterAll(() => rm(folder, { recursive: true, force: true }));
  const consent = 'Martha said so';
  const voice: ReferenceVoice = { kind: 'reference', wavPath, transcript, language, consent };
  return { voice, folder, defaultClip: { wav: wavPath, transcript, language, consent } };
}

/** Opens an engine of this kind, as the engines file would. */
export function openEngine<Engine, Settings>(
  adapter: Adapter<Engine, Settings>,
  given: Record<string, unknown>,
  care: CallPolicy = {},
  log?: (cost: CallCost) => void,
): Engine & EngineLifecycle {
  const settings = adapter.settings.parse(given);
  return adapter.open(
    settings,
    openContext('voice', { key: secretKey, callPolicy: [care, adapter.callPolicy?.(settings)], log }),
  );
}

/** A synthesizer with its server, for the conformance suite; both are closed after each test. */
export async function opened<Settings>(
  adapter: Adapter<SpeechSynthesizer, Settings>,
  given: Record<string, unknown>,
  {
    server,
    route,
    care,
  }: { readonly server: EngineServer; readonly route: string; readonly care?: CallPolicy | undefined },
): Promise<Opened<SpeechSynthesizer>> {
  // Abandoned calls keep no concurrency slot, because the test servers drop them at once.
  const engine = openEngine(adapter, { baseUrl: server.url, ...given }, { graceMs: 0, ...care });
  return { engine, upstream: { server, route }, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

export async function say(
  engine: SpeechSynthesizer,
  voice: Voice,
  options: { readonly speed?: number; readonly language?: string; readonly text?: string } = {},
): Promise<SpeechChunk[]> {
  const { text = 'Mind the step.', ...rest } = options;
  const { signal } = new AbortController();
  return Array.fromAsync(engine.speak(phrasesOf(text), { signal, voice, ...rest }));
}
