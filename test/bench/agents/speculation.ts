import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { CharacterAgent } from '../../../agents/agent.ts';
import { loadCharacters, type Character } from '../../../characters/character.ts';
import { readConfig } from '../../../server/config/config.ts';
import { openEngines, type Engines } from '../../../server/engines/engines.ts';
import { buildApp } from '../../../server/app/app.ts';
import { connectRealtime } from '../../../server/protocol/client.ts';
import { Replayer, type ReplayedTurn } from '../../../server/protocol/replay.ts';
import { builtInCharacters } from '../../../server/cast/cast.ts';
import { cascade } from '../../../server/responders/responder.ts';
import { pcm16FromFloats } from '../../../voices/audio.ts';
import type { SpeechSynthesizer } from '../../../voices/synthesizer.ts';
import { fakeSynthesizer } from '../../fakes/synthesizer.ts';
import { utterances } from '../kit/recordings.ts';
import { summarize, type BenchRow } from '../kit/stats.ts';

const bench = 'speculation';
/** Typical latencies of a remote chat model and of a cloning synthesizer. */
const firstTokenMs = 300;
const firstSoundMs = 150;
const reply =
  'That is a good question, and I shall think about it. Let us talk of it over tea, when the rain has stopped.';

/**
 * Real recordings, sent in real time to the real VAD, recognizer and turn detector; reply source and synthesizer have
 * realistic latencies. Compares the time from the end of speech to the first audio at the client with and without
 * speculative replies, in alternation, and reports the wasted work.
 */
export async function* run(): AsyncIterable<BenchRow> {
  const clips = (await utterances(320, { minMs: 700, maxMs: 8_000 })).slice(0, 20);
  const engines = await openEngines({});
  const slow = withDelays(engines);
  const ways = await Promise.all(['0', '3'].map(async (drafts) => ({ drafts, ...(await serve(slow, drafts)) })));
  const turns = new Map<string, ReplayedTurn[]>(ways.map(({ drafts }) => [drafts, []]));
  try {
    const signal = new AbortController().signal;
    for (const clip of clips) {
      for (const { drafts, url } of ways) {
        const client = await connectRealtime({ url, character: 'abraham-lincoln', signal });
        const replayer = new Replayer(client, { signal, serverVad: true, untilFirstAudio: true });
        const { turns: played } = await replayer.play(pcm16FromFloats(clip.samples));
        await replayer.close();
        turns.get(drafts)?.push(...played.filter((turn) => turn.firstAudioMs !== null));
      }
    }
  } finally {
    await Promise.all(ways.map(({ close }) => close()));
    await engines.close();
  }
  for (const [drafts, played] of turns) {
    const how = drafts === '0' ? 'without drafts' : 'with drafts';
    yield summarize(
      bench,
      `${how}: end of speech → first audio`,
      'ms',
      played.map((turn) => turn.firstAudioMs ?? 0),
    );
    yield summarize(
      bench,
      `${how}: end of turn → first audio`,
      'ms',
      played.map(({ latency }) => Number(latency?.first_audio_ms) - Number(latency?.endpoint_ms)),
    );
  }
  const spent = (turns.get('3') ?? []).flatMap(({ speculation }) => speculation ?? []);
  yield summarize(
    bench,
    'drafts per turn',
    'count',
    spent.map(({ drafts }) => drafts),
  );
  yield summarize(
    bench,
    'drafts that became the answer',
    'share',
    spent.map(({ used }) => Number(used)),
  );
  yield summarize(
    bench,
    'wasted per turn: tokens',
    'count',
    spent.map((turn) => turn.wasted_tokens),
  );
  yield summarize(
    bench,
    'wasted per turn: speech',
    'ms',
    spent.map((turn) => turn.wasted_speech_ms),
  );
}

async function serve(
  engines: Engines,
  drafts: string,
): Promise<{ readonly url: string; readonly close: () => Promise<void> }> {
  const config = readConfig({
    flags: { port: '0', logLevel: 'silent', speculativeRepliesPerTurn: drafts },
    environment: {},
  });
  const characters = new Map((await loadCharacters(builtInCharacters)).map((pack) => [pack.id, pack]));
  const app = await buildApp({ config, engines, characters, version: '0' });
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, close: () => app.close() };
}

function withDelays(engines: Engines): Engines {
  const { recognizer } = engines;
  const synthesizer = slowVoice();
  const voice = { kind: 'preset', id: 'slow' } as const;
  const parts = { recognizer, synthesizer, voice };
  return { ...engines, responderFor: (character) => cascade({ ...parts, agent: slowMind(character) }) };
}

function slowMind(character: Character): CharacterAgent {
  return {
    character,
    async *reply(_history, { signal, onCost }) {
      yield { type: 'reply-source', name: 'slow' };
      await pause(firstTokenMs, undefined, { signal });
      let outputTokens = 0;
      for (const text of reply.split(/(?<=\s)/u)) {
        outputTokens += 1;
        onCost?.({ inputTokens: 0, outputTokens });
        yield { type: 'text-delta', text };
      }
      yield { type: 'usage', inputTokens: 0, outputTokens, cutShort: false };
    },
  };
}

function slowVoice(): SpeechSynthesizer {
  const voice = fakeSynthesizer();
  return {
    ...voice,
    async *speak(phrases, options) {
      let isFirst = true;
      for await (const chunk of voice.speak(phrases, options)) {
        if (isFirst) await pause(firstSoundMs, undefined, { signal: options.signal });
        isFirst = false;
        yield chunk;
      }
    },
  };
}
