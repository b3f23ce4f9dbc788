import { setTimeout as pause } from 'node:timers/promises';
import type { TalkEvent, TalkSpeaker } from '../../../server/client/types/api.d.ts';
import { openTalk } from '../../../server/client/open-talk.js';
import { pcm16FromFloats } from '../../../voices/audio.ts';
import { SimulatedSpeaker } from '../../client/simulated-speaker.ts';
import { openFlakyProxy } from '../../fakes/network/flaky-proxy.ts';
import { utterances, type SpokenClip } from '../kit/recordings.ts';
import { startServerProcess } from './server-process.ts';
import { summarize, type BenchRow } from '../kit/stats.ts';

const bench = 'network';
const turns = 10;
const cutEveryMs = 5_000;
const weather = { jitterMs: 60, stallShare: 0.02, stallMs: 200 };
const chunkMs = 40;
const chunkSamples = 24 * chunkMs;
/** Block length of a loudspeaker: 128 samples. */
const blockMs = 16 / 3;
/** A turn without a reply within this time counts as unanswered. */
const patienceMs = 20_000;

/** Measurements of one conversation. */
interface Seen {
  readonly transcripts: string[];
  readonly gapsMs: number[];
  readonly backMs: number[];
  /** Reply samples that were missing or came twice, events likewise, and user audio that was given up. */
  misplacedSamples: number;
  misnumbered: number;
  lostMs: number;
  newSessions: number;
  unanswered: number;
}

/**
 * Ten real utterances, sent in real time to the real engines, twice at the same time: over a good line, and over one
 * with jitter and stalls that is cut every five seconds. Measures what is lost, and the time to reconnect.
 */
export async function* run(): AsyncIterable<BenchRow> {
  const clips = (await utterances(320, { minMs: 1_500, maxMs: 5_000 })).slice(0, turns);
  if (clips.length === 0) return;
  const server = await startServerProcess();
  const proxy = await openFlakyProxy(Number(new URL(server.url).port), 1, weather);
  const cutting = setInterval(() => proxy.cut(), cutEveryMs);
  const [calm, rough] = await Promise.all([converse(server.url, clips), converse(proxy.url, clips)]);
  clearInterval(cutting);
  const { cuts } = proxy;
  await proxy[Symbol.asyncDispose]();
  await server.stop();
  const said = calm.transcripts.flatMap(wordsOf);
  const arrived = rough.transcripts.flatMap(wordsOf);
  yield summarize(bench, `cuts in ${turns} spoken turns`, 'count', [cuts]);
  yield summarize(bench, 'cut → session goes on', 'ms', rough.backMs);
  yield summarize(bench, 'samples of replies missing or repeated', 'count', [rough.misplacedSamples]);
  yield summarize(bench, 'events missing or repeated', 'count', [rough.misnumbered]);
  yield summarize(bench, 'sound of the user lost', 'ms', [rough.lostMs]);
  yield summarize(bench, 'sessions that had to begin anew', 'count', [rough.newSessions]);
  for (const [line, seen] of Object.entries({ 'good line': calm, 'bad line': rough })) {
    yield summarize(bench, `silence inside a reply, ${line}`, 'ms', seen.gapsMs);
    yield summarize(bench, `turns without an answer, ${line}`, 'count', [seen.unanswered]);
  }
  yield summarize(bench, 'words understood over the good line', 'count', [said.length]);
  yield summarize(bench, 'words that differ over the bad line', 'count', [differing(said, arrived)]);
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}']+/gu) ?? [];
}

/** Number of words that are in one text but not in the other. */
function differing(left: readonly string[], right: readonly string[]): number {
  const count = new Map<string, number>();
  for (const word of left) count.set(word, (count.get(word) ?? 0) + 1);
  for (const word of right) count.set(word, (count.get(word) ?? 0) - 1);
  return [...count.values()].reduce((sum, one) => sum + Math.abs(one), 0);
}

async function converse(url: string, clips: readonly SpokenClip[]): Promise<Seen> {
  const seen: Seen = {
    transcripts: [],
    gapsMs: [],
    backMs: [],
    misplacedSamples: 0,
    misnumbered: 0,
    lostMs: 0,
    newSessions: -1,
    unanswered: 0,
  };
  let speaker: SimulatedSpeaker | undefined;
  const note = notebook(seen, () => speaker);
  const talk = openTalk({
    url,
    character: 'abraham-lincoln',
    onEvent: note.take,
    speaker: async (listener): Promise<TalkSpeaker> => (speaker = new SimulatedSpeaker(listener)),
  });
  await talk.opened;
  const clock = playOn(() => speaker);
  for (const clip of clips) {
    const startMs = performance.now();
    const before = note.ended;
    for (let offset = 0; ; offset += chunkSamples) {
      const waited = performance.now() - startMs - clip.speechMs;
      if (offset > clip.samples.length && ((note.ended > before && !talk.isPlaying) || waited > patienceMs)) break;
      const chunk = new Float32Array(chunkSamples);
      chunk.set(clip.samples.subarray(Math.min(offset, clip.samples.length), offset + chunkSamples));
      talk.sendAudio(new Uint8Array(pcm16FromFloats(chunk)));
      const waitMs = startMs + (offset / chunkSamples + 1) * chunkMs - performance.now();
      if (waitMs > 0) await pause(waitMs);
    }
    if (note.ended === before) seen.unanswered += 1;
  }
  clearInterval(clock);
  talk.close();
  return seen;
}

/** Lets a loudspeaker play in real time. */
function playOn(speaker: () => SimulatedSpeaker | undefined): NodeJS.Timeout {
  let playedMs = performance.now();
  return setInterval(() => {
    const ms = Math.floor((performance.now() - playedMs) / blockMs) * blockMs;
    playedMs += ms;
    speaker()?.advance(ms);
  }, 10);
}

/** Records the playback of a conversation; `ended` counts the replies that were played to the end. */
function notebook(seen: Seen, speaker: () => SimulatedSpeaker | undefined) {
  const line = lineBook(seen);
  let samples = 0;
  let playing: { readonly itemId: string; readonly atBlock: number } | undefined;
  const blocks = (): number => speaker()?.played.length ?? 0;
  const notes = {
    ended: 0,
    take: (event: TalkEvent): void => {
      line(event);
      if (event.type === 'response.created') samples = 0;
      else if (event.type === 'response.output_audio.delta') {
        seen.misplacedSamples += Math.abs(event.offset_samples - samples);
        samples = event.offset_samples + event.pcm16.length / 2;
      } else if (event.type === 'playback.progress' && event.playedMs > 0 && playing?.itemId !== event.itemId) {
        playing = { itemId: event.itemId, atBlock: blocks() };
      } else if (event.type === 'playback.ended') {
        notes.ended += 1;
        if (playing?.itemId !== event.itemId) return;
        seen.gapsMs.push(Math.max(0, (blocks() - playing.atBlock) * blockMs - samples / 24));
      }
    },
  };
  return notes;
}

/** Records the connection events and transcripts of a conversation. */
function lineBook(seen: Seen): (event: TalkEvent) => void {
  let sequence = 0;
  let lostAtMs: number | undefined;
  return (event) => {
    if (event.type === 'connection.lost') lostAtMs ??= performance.now();
    else if (event.type === 'connection.open') {
      if (lostAtMs !== undefined) seen.backMs.push(performance.now() - lostAtMs);
      lostAtMs = undefined;
      seen.lostMs += event.lostMs;
      if (event.isNew) [seen.newSessions, sequence] = [seen.newSessions + 1, 0];
    } else if ('x_seq' in event && event.x_seq !== undefined) {
      if (event.x_seq !== sequence + 1) seen.misnumbered += 1;
      sequence = event.x_seq;
    }
    if (event.type !== 'conversation.item.input_audio_transcription.completed') return;
    if (event.transcript !== '') seen.transcripts.push(event.transcript);
  };
}
