import { connectRealtime, type ReceivedEvent } from '../../../server/protocol/client.ts';
import { wireSampleRate } from '../../../server/protocol/limits.ts';
import { Replayer } from '../../../server/protocol/replay.ts';
import { readCharacters } from '../../../server/cast/cast.ts';
import { pcm16FromFloats } from '../../../voices/audio.ts';
import { utterances, type SpokenClip } from '../kit/recordings.ts';
import { startServerProcess } from './server-process.ts';
import { summarize, type BenchRow } from '../kit/stats.ts';

const bench = 'soak';
const characters = [
  'sherlock-holmes',
  'abraham-lincoln',
  'queen-elizabeth-i',
  'd-artagnan',
  'coriolanus',
  'captain-nemo',
  'alice',
];

/** Measurements of one session. */
interface Tally {
  turns: number;
  /** Transcripts that share less than half of their words with the transcript of the same clip on its own. */
  strange: string[];
  /** Utterances that were not understood well enough to be answered. */
  unclear: number;
  /** Replies with a line of another character. */
  foreign: number;
  unanswered: number;
  readonly lateMs: number[];
  readonly firstAudioMs: number[];
}

/**
 * Many concurrent sessions for minutes, each with its own clips and character. Checks that transcripts and replies are
 * not mixed up, that audio is on time, and that memory stays flat. `--sessions 10 --minutes 5` unless given.
 */
export async function* run(args: readonly string[]): AsyncIterable<BenchRow> {
  const option = (name: string, fallback: number): number =>
    Number(args[args.indexOf(`--${name}`) + 1] ?? fallback) || fallback;
  const sessions = args.includes('--sessions') ? option('sessions', 10) : 10;
  const minutes = args.includes('--minutes') ? option('minutes', 5) : 5;
  const clips = await utterances(320, { minMs: 900, maxMs: 6_000 });
  const server = await startServerProcess();
  const ownLines = new Map([...(await readCharacters({}))].map(([id, one]) => [id, linesOf(one)]));
  const alone = new Map<string, string | null>();
  for (const clip of clips) alone.set(clip.name, await transcriptOf(server.url, clip));
  const memory: number[] = [];
  const endMs = performance.now() + minutes * 60_000;
  const sampling = setInterval(() => memory.push(server.memoryMib()), 5_000);
  const tallies = await Promise.all(
    Array.from({ length: sessions }, (_, index) => {
      const mine = clips.filter((_clip, place) => place % sessions === index % sessions);
      const character = characters[index % characters.length] ?? '';
      return converse(
        server.url,
        character,
        ownLines.get(character) ?? '',
        mine.length > 0 ? mine : clips,
        alone,
        endMs,
      );
    }),
  );
  clearInterval(sampling);
  await server.stop();
  for (const tally of tallies) for (const line of tally.strange) console.error(`strange: ${line}`);
  const sum = (pick: (tally: Tally) => number): number => tallies.reduce((total, tally) => total + pick(tally), 0);
  // Warm after 90 s: by then every session holds as much audio as is kept.
  const warm = memory.slice(18);
  const half = Math.floor(warm.length / 2);
  yield summarize(bench, `turns, ${sessions} sessions, ${minutes} min`, 'count', [sum((tally) => tally.turns)]);
  yield summarize(bench, 'transcripts that are not of the clip sent', 'count', [sum((tally) => tally.strange.length)]);
  yield summarize(bench, 'transcripts held back as unclear', 'count', [sum((tally) => tally.unclear)]);
  yield summarize(bench, 'replies with lines of another character', 'count', [sum((tally) => tally.foreign)]);
  yield summarize(bench, 'turns without an answer', 'count', [sum((tally) => tally.unanswered)]);
  yield summarize(
    bench,
    'end of speech → first audio',
    'ms',
    tallies.flatMap((tally) => tally.firstAudioMs),
  );
  yield summarize(
    bench,
    'longest gap in a reply',
    'ms',
    tallies.flatMap((tally) => tally.lateMs),
  );
  yield summarize(bench, 'memory, first half after warm-up', 'MiB', warm.slice(0, half));
  yield summarize(bench, 'memory, second half', 'MiB', warm.slice(half));
}

async function transcriptOf(url: string, clip: SpokenClip): Promise<string | null> {
  const signal = new AbortController().signal;
  const client = await connectRealtime({ url, character: 'alice', signal });
  const replayer = new Replayer(client, { signal, serverVad: false, untilFirstAudio: true });
  const { turns } = await replayer.play(pcm16FromFloats(clip.samples));
  await replayer.close();
  return turns[0]?.transcript ?? null;
}

async function converse(
  url: string,
  character: string,
  ownLines: string,
  clips: readonly SpokenClip[],
  alone: ReadonlyMap<string, string | null>,
  endMs: number,
): Promise<Tally> {
  const signal = new AbortController().signal;
  const tally: Tally = { turns: 0, strange: [], unclear: 0, foreign: 0, unanswered: 0, lateMs: [], firstAudioMs: [] };
  const client = await connectRealtime({ url, character, signal });
  const gaps = gapWatch(tally);
  const replayer = new Replayer(client, { signal, serverVad: false, onEvent: gaps });
  for (let turn = 0; performance.now() < endMs; turn += 1) {
    const clip = clips[turn % clips.length] as SpokenClip;
    const { turns } = await replayer.play(pcm16FromFloats(clip.samples));
    tally.turns += 1;
    const [first] = turns;
    if (first === undefined || first.status !== 'completed') tally.unanswered += 1;
    else {
      const expected = alone.get(clip.name) ?? '';
      if (first.transcript === null) tally.unclear += 1;
      else if (sharedWords(first.transcript, expected) < 0.5)
        tally.strange.push(`${clip.name}: ${first.transcript} / ${expected}`);
      if (!ownLines.includes(plain(first.reply))) tally.foreign += 1;
      if (first.firstAudioMs !== null) tally.firstAudioMs.push(first.firstAudioMs);
    }
  }
  await replayer.close();
  return tally;
}

/**
 * Simulates playback to find the time that a listener would have waited inside a reply because the next block was late.
 */
function gapWatch(tally: Tally): (event: ReceivedEvent) => void {
  let startMs: number | undefined;
  let receivedMs = 0;
  let lateMs = 0;
  return (event) => {
    if (event.type === 'response.output_audio.delta') {
      startMs ??= event.atMs;
      lateMs = Math.max(lateMs, event.atMs - startMs - receivedMs);
      receivedMs += Buffer.from(String(event['delta']), 'base64').length / 2 / (wireSampleRate / 1000);
    } else if (event.type === 'response.done') {
      if (startMs !== undefined) tally.lateMs.push(lateMs);
      startMs = undefined;
      receivedMs = 0;
      lateMs = 0;
    }
  };
}

/** Share of words common to both texts (Dice coefficient); 1 if both are empty. */
function sharedWords(one: string, other: string): number {
  const [a, b] = [one, other].map((text) => new Set(plain(text).split(' ').filter(Boolean)));
  if (a === undefined || b === undefined || a.size + b.size === 0) return 1;
  return (2 * a.intersection(b).size) / (a.size + b.size);
}

function linesOf(character: {
  readonly lines: readonly { readonly reply: string }[];
  readonly evasions: readonly string[];
  readonly repeatRequests: readonly string[];
}): string {
  return [...character.lines.map((line) => line.reply), ...character.evasions, ...character.repeatRequests]
    .map(plain)
    .join('\n');
}

/** Letters and digits only: phrases are re-spaced on their way to the synthesizer. */
function plain(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
}
