import { expect, it } from 'vitest';
import type { ClientEvent, PlaybackEvent, ServerEvent } from '../../server/client/types/api.d.ts';
import { Player } from '../../server/client/audio/player.js';
import { pcm16FromFloats } from '../../voices/audio.ts';
import { settle } from '../fakes/clock.ts';
import { SimulatedSpeaker } from './simulated-speaker.ts';

/** To whole 20 ms: a flush lets one block of 5 ms fade out. */
function blocksOf(ms = Number.NaN): number {
  return Math.floor(ms / 20) * 20;
}

/** A player that is held after 500 ms of a reply of which 1 s was received; `isDone`: the server has finished it. */
async function playing(isDone = false) {
  const sent: ClientEvent[] = [];
  const events: PlaybackEvent[] = [];
  const player = new Player({
    send: (event) => sent.push(event),
    mention: () => undefined,
    isActive: () => !isDone,
    onEvent: (event) => events.push(event),
  });
  const speaker = new SimulatedSpeaker(player.listener);
  player.speaker = speaker;
  const take = (event: unknown): void => player.take(event as ServerEvent);
  const receive = (ms: number, level: number): void =>
    take({
      type: 'response.output_audio.delta',
      response_id: 'r',
      item_id: 'i',
      pcm16: pcm16FromFloats(new Float32Array(ms * 24).fill(level)),
    });
  take({ type: 'session.created', session: { x_dramatis: { extensions: ['heard', 'hold'] } } });
  take({ type: 'response.output_item.added', response_id: 'r', item: { id: 'i', type: 'message' } });
  receive(1_000, 0.1);
  speaker.advance(500);
  if (isDone) take({ type: 'response.done', response: { id: 'r', status: 'completed' } });
  take({ type: 'x_dramatis.hold', response_id: isDone ? 'next' : 'r' });
  await settle();
  const heard = (): number[] => sent.flatMap((event) => ('samples' in event ? [Number(event['samples']) / 24] : []));
  return { player, sent, events, speaker, take, receive, heard };
}

it('reports the heard position of a resumed reply even if that is all that was received', async () => {
  const { receive, sent, speaker, take } = await playing();
  take({ type: 'x_dramatis.resume', response_id: 'r' });
  receive(600, 0.2);
  speaker.advance(400);
  take({ type: 'input_audio_buffer.speech_started', item_id: 'u', audio_start_ms: 0 });
  await settle();
  const marks = sent.filter(({ type }) => type === 'x_dramatis.heard').map((event) => 'held' in event);
  expect(marks).toEqual([true, false]);
});

it('ends a held reply where it was held if the server has finished it and repeats nothing', async () => {
  const { events, player, sent } = await playing(true);
  await settle();
  expect(player.isPlaying).toBe(false);
  expect(blocksOf(events.find((event) => event.type === 'playback.cut')?.heardMs)).toBe(500);
  expect(sent.map(({ type }) => type)).toContain('conversation.item.truncate');
});

it('reports a held reply as still playing to the page that shows it', async () => {
  const { player, receive, speaker, take } = await playing();
  expect([speaker.isPlaying, player.isPlaying]).toEqual([false, true]);
  receive(200, 0.2);
  take({ type: 'response.output_audio.done', response_id: 'r', item_id: 'i' });
  take({ type: 'response.done', response: { id: 'r', status: 'completed' } });
  expect(player.isPlaying).toBe(true);
  speaker.advance(400);
  expect(player.isPlaying).toBe(false);
});

it('ends a held reply where it was held if its voice has failed and no audio follows', async () => {
  const { player, events, sent, take } = await playing();
  take({ type: 'response.done', response: { id: 'r', status: 'failed' } });
  await settle();
  expect(player.isPlaying).toBe(false);
  expect(blocksOf(events.find((event) => event.type === 'playback.cut')?.heardMs)).toBe(500);
  const truncation = sent.find(({ type }) => type === 'conversation.item.truncate');
  expect(blocksOf(Number(truncation?.['audio_end_ms']))).toBe(500);
});
