import { readConfig } from '../../server/config/config.ts';
import { loadCharacters } from '../../characters/character.ts';
import { buildApp } from '../../server/app/app.ts';
import { LiveSessions } from '../../server/http/live-sessions.ts';
import { builtInCharacters } from '../../server/cast/cast.ts';
import { cascade } from '../../server/responders/responder.ts';
import type { Message } from '../../agents/chat.ts';
import type { SpeechRecognizer } from '../../voices/recognizer.ts';
import { fakeAgent } from '../fakes/agent.ts';
import { fakeEngines } from '../fakes/engines.ts';
import { fakeSynthesizer } from '../fakes/synthesizer.ts';

/**
 * A server to be killed or stopped: a program that listens once a line comes in. Its recognizer tells the number of an utterance
 * by its pitch, and how long it was; its character says how much it knows.
 */

const recognizer: SpeechRecognizer & { warm(): Promise<void>; close(): Promise<void> } = {
  name: 'counting',
  sampleRate: 16_000,
  languages: ['en'],
  warm: async () => undefined,
  close: async () => undefined,
  async *transcribe(audio) {
    let loudMs = 0;
    let crossings = 0;
    let before = 0;
    for await (const { samples } of audio) {
      for (const sample of samples) {
        if (Math.abs(sample) > 0.004) loudMs += 1 / 16;
        if (sample * before < 0) crossings += 1;
        before = sample;
      }
    }
    const pitch = (crossings * 500) / Math.max(1, loudMs);
    const text = loudMs === 0 ? '' : `utterance ${Math.round(pitch / 100)} of ${Math.round(loudMs / 100) * 100} ms`;
    yield { type: 'transcript-final', text };
  },
};

function answerTo(history: readonly Message[]): string {
  const said = history.filter(({ role }) => role === 'user');
  const last = said.at(-1)?.text ?? 'nothing';
  return `So you told me ${last} after ${said.length - 1} others and that is it.`;
}

const agent = fakeAgent(['']);
agent.reply = async function* (history) {
  yield { type: 'reply-source', name: 'counting' };
  for (const text of answerTo(history).split(/(?<=\s)/)) yield { type: 'text-delta', text };
};
// A voice for calls survives Opus.
const synthesizer = fakeSynthesizer({ sings: process.env['TEST_SINGS'] !== undefined });
const voice = { kind: 'preset', id: 'fake' } as const;
const engines = {
  ...fakeEngines(),
  recognizer,
  responderFor: () => cascade({ recognizer, agent, synthesizer, voice }),
};

const config = readConfig({ flags: { store: true, logLevel: 'error' }, environment: process.env });
const characters = new Map((await loadCharacters(builtInCharacters)).map((pack) => [pack.id, pack]));
const sessions = new LiveSessions(config);
const [redisMs, nodeMs] = (process.env['TEST_PATIENCE_MS'] ?? '250,300').split(',').map(Number) as [number, number];
const patience = { redisMs, nodeMs };
const app = await buildApp({ config, engines, characters, version: '0', tls: undefined, sessions, patience });
const noticeMs = Number(process.env['TEST_NOTICE_MS'] ?? 0);
process.once('SIGTERM', () => {
  void sessions.drain(config.drainSeconds * 1000, { noticeMs, apartMs: 80 }).then(async () => {
    await app.close();
    process.exit();
  });
});
process.stdin.once('data', () => {
  void app.listen({ host: '127.0.0.1', port: config.port }).then(() => process.stdout.write('listening\n'));
});
process.stdout.write('loaded\n');
