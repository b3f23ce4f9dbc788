import path from 'node:path';
import { expect, it } from 'vitest';
import { openAgents } from '../../../agents/actor/open.ts';
import type { ChatModel } from '../../../agents/chat.ts';
import { onTape } from '../../../server/cassette/taped-stages.ts';
import { openConnection } from '../../../server/realtime/connection.ts';
import { cascade } from '../../../server/responders/responder.ts';
import { sceneResponder } from '../../../server/responders/scene-responder.ts';
import type { SpeechRecognizer } from '../../../voices/recognizer.ts';
import type { SpeechSynthesizer } from '../../../voices/synthesizer.ts';
import { settle } from '../../fakes/clock.ts';
import { testFolder } from '../../fakes/test-folder.ts';
import { silence, tone } from '../../fakes/vad.ts';
import { recordConnection } from '../../rigs/connection-rig.ts';
import { both, join, joined, stream } from '../session/players-wire.ts';
import { sceneNamed } from '../../rigs/scene-rig.ts';
import { countingRecognizer, noise } from './chance-engines.ts';

const stage = sceneNamed('supper-on-the-nautilus');
const names = ['Captain Nemo', 'Queen Elizabeth I', 'd’Artagnan', "d'Artagnan"];
const actions = [{ name: 'point_at', about: 'points with the hand', target: 'object' }, { name: 'rise' }];
const squid = { id: 'squid', name: 'giant squid', about: 'at the window', can: ['point_at'] };

interface Game {
  readonly model: ChatModel;
  readonly recognizer: SpeechRecognizer;
  readonly synthesizer: SpeechSynthesizer;
}

/** Three characters whose words, turns and voices are drawn by chance, so that no two games are alike. */
function chanceGame(): Game {
  const any = <Value>(values: readonly Value[]): Value => values[Math.floor(Math.random() * values.length)] as Value;
  const model: ChatModel = {
    name: 'chance',
    async *chat(messages) {
      const asksWho = messages[0]?.text.includes('who speaks or acts next') === true;
      const word = (): string => Math.random().toString(36).slice(2, 8).replaceAll(/\d/gu, 'a');
      const line = Array.from({ length: 14 }, (_, at) => (at === 4 ? `(point_at squid) ${word()}` : word())).join(' ');
      yield { type: 'text-delta', text: asksWho ? any(names) : `${line}, ${line}. (rise)` };
      yield { type: 'chat-end', reason: 'stop', inputTokens: 9, outputTokens: 9 };
    },
  };
  const synthesizer: SpeechSynthesizer = {
    name: 'noise',
    sampleRate: 24_000,
    languages: ['en'],
    async *speak(phrases) {
      let atMs = 0;
      for await (const { text } of phrases) {
        const spoken = text.trim().split(/\s+/u);
        const words = spoken.map((word, at) => ({ text: word, startMs: at * 120, endMs: (at + 1) * 120 }));
        const ms = spoken.length * 120;
        yield { text, frame: { samples: noise(ms * 24), sampleRate: 24_000, atMs }, words };
        atMs += ms;
      }
    },
  };
  return { model, recognizer: countingRecognizer(), synthesizer };
}

/** Engines of the same names that cannot work: what is heard of them is on the tape. */
function goneGame(): Game {
  const gone = (): never => {
    throw new Error('an engine was asked');
  };
  const { model, recognizer, synthesizer } = chanceGame();
  return {
    model: { ...model, chat: gone },
    recognizer: { ...recognizer, transcribe: gone },
    synthesizer: { ...synthesizer, speak: gone },
  };
}

/** Plays the game in virtual time; returns all that the client got, with ids by the order of their first mention. */
async function playGame({ model, recognizer, synthesizer }: Game, file: string) {
  const voice = { kind: 'preset', id: 'noise' } as const;
  const given = {
    asr: { recognizer },
    llm: { models: [{ model }] },
    omnis: { name: '' },
    tts: { voiceOf: (_character: { speech: unknown }) => ({ synthesizer, voice }) },
  };
  const { asr, llm, tts } = onTape(given, file);
  const mind = openAgents(llm.models);
  const responder = sceneResponder({
    stage,
    model: llm.models[0]?.model,
    responderOf: (character) =>
      cascade({ recognizer: asr.recognizer, agent: mind(character), ...tts.voiceOf(character) }),
  });
  const wire = recordConnection(
    {},
    {
      client: { cues: 'visible' },
      open: (parts, peer) => openConnection({ ...parts, casting: { ...parts.casting, responder } }, peer),
    },
  );
  wire.send({ type: 'session.update', session: { x_dramatis: { actions, seed: 7 } } });
  wire.send({ type: 'x_dramatis.world', id: 'w1', set: { place: 'the saloon' }, objects: [squid] });
  wire.send({ type: 'response.create' });
  await wire.clock.advance(4_000);
  wire.send({
    type: 'x_dramatis.world',
    id: 'alarm',
    events: [{ text: 'The alarm rings.' }, { text: 'A knife is gone.', seen_by: ['d-artagnan'] }],
    respond: 'interrupt',
  });
  await wire.clock.advance(3_000);
  // Anna speaks, and Bob into her words; then both hold a button.
  await join(wire, both);
  await stream(wire, {
    1: joined(tone(900), silence(2_100)),
    2: joined(silence(300), tone(900), silence(1_800)),
  });
  await wire.clock.advance(6_000);
  wire.send({ type: 'session.update', session: { audio: { input: { turn_detection: null } } } });
  await stream(wire, { 1: tone(400), 2: tone(600) });
  for (const player of [2, 1]) wire.send({ type: 'input_audio_buffer.commit', x_dramatis: { player } });
  await wire.clock.advance(200);
  wire.send({ type: 'response.create' });
  await wire.clock.advance(6_000);
  await wire.hangUp();
  // What engines were saying is recorded to its end.
  await settle();
  const ids = new Map<string, string>();
  const known = (id: string): string => {
    const name = ids.get(id) ?? `id-${ids.size}`;
    ids.set(id, name);
    return name;
  };
  const text = wire.events.map((event) => JSON.stringify({ ...event, expires_at: undefined })).join('\n');
  const told = text
    .replaceAll(/"(?:sess|conv|resp|item|event|act|msg|call)_[\w-]+"/gu, (id) => known(id))
    .replaceAll(/"(?:expires_at|created_at)":\d+/gu, '""');
  return { told, events: wire.events as readonly any[] };
}

it('a game of three characters and two players, with an alarm in mid-sentence, plays from its cassette bit for bit', async () => {
  const file = path.join(testFolder(), 'game.jsonl');
  const recorded = await playGame(chanceGame(), file);
  const replies = recorded.events.filter(({ type }) => type === 'response.done').map(({ response }) => response);
  const cut = replies.find(({ status_details: details }) => details?.reason === 'event');
  expect(cut?.output.at(-1).content[0].transcript).toMatch(/\w—$/u);
  expect(replies.length).toBeGreaterThan(2);
  const types = new Set(recorded.events.map(({ type }) => type));
  for (const type of ['x_dramatis.action', 'x_dramatis.world_taken', 'response.output_audio.delta'])
    expect(types).toContain(type);
  const heard = 'conversation.item.input_audio_transcription.completed';
  const heardParts = recorded.events.filter(({ type }) => type === heard);
  for (const { transcript } of heardParts) expect(transcript).toMatch(/^all \d+$/u);
  const speakers = recorded.events
    .filter(({ type, item }) => type === 'conversation.item.added' && item.role === 'user')
    .map(({ item }) => item.x_dramatis.speaker.name);
  expect(speakers).toEqual(['Anna', 'Bob', 'Bob', 'Anna']);
  expect(heardParts).toHaveLength(4);

  const played = await playGame(goneGame(), file);
  expect(played.told).toBe(recorded.told);
}, 60_000);
