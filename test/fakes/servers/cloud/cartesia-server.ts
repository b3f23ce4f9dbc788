import type { WebSocket } from 'ws';
import { openEngineServer, type EngineServer, type Pause } from '../engine-server.ts';
import { pcmOf } from '../../server-audio.ts';
import { placedIn, type Placed } from './placed-words.ts';

/** Deviations of the server from its default behaviour. */
export interface CartesiaOptions {
  readonly voices?: readonly string[];
  /** Error that every context ends with, after its first audio: HTTP status and code. */
  readonly failsWith?: readonly [status: number, code: string | null];
  /** Times of a stretch come before its audio, and not after it. */
  readonly timesFirst?: boolean;
}

/** Requests of the client, in order. */
export interface CartesiaServer extends EngineServer {
  readonly asked: Readonly<Record<string, unknown>>[];
}

export const cartesiaVoice = '6ccbfb76-1fc6-48f7-b71d-91ac6298247b';

/** Contexts on a WebSocket: chunks of audio, times of words and of phonemes, `done` or `error`. */
export async function openCartesiaServer(options: CartesiaOptions = {}): Promise<CartesiaServer> {
  const { voices = [cartesiaVoice, 'my-clone'] } = options;
  const asked: Readonly<Record<string, unknown>>[] = [];
  const json = { 'content-type': 'application/json' };
  const found = Object.fromEntries(
    voices.map((id) => [`GET /voices/${id}`, () => ({ headers: json, body: JSON.stringify({ id, name: 'Any' }) })]),
  );
  const server = await openEngineServer(found, {
    'WS /tts/websocket': (socket, _request, pause) => {
      socket.on('message', (data: Buffer) => {
        const request = JSON.parse(data.toString('utf8')) as Request;
        asked.push(request as unknown as Readonly<Record<string, unknown>>);
        pause.go();
        answer(socket, request, { ...options, voices, pause });
      });
    },
  });
  return Object.assign(server, { asked });
}

interface Request {
  readonly context_id: string;
  readonly transcript: string;
  readonly voice: { readonly id: string };
  readonly output_format: { readonly sample_rate: number };
}

function answer(
  socket: WebSocket,
  { context_id, transcript, voice, output_format: { sample_rate: rate } }: Request,
  { voices = [], failsWith, timesFirst, pause }: CartesiaOptions & { readonly pause: Pause },
): void {
  const tell = (type: string, more: object = {}): void =>
    socket.send(JSON.stringify({ type, done: false, status_code: 206, context_id, ...more }));
  const fail = (status_code: number, error_code: string | null): void => {
    tell('error', { done: true, status_code, error_code, title: 'No', message: `no: ${transcript}` });
    pause.rest();
  };
  if (!voices.includes(voice.id)) return fail(404, 'voice_not_found');
  const pcm = pcmOf(transcript, rate);
  const { words, sounds } = placedIn(transcript);
  const size = 2 * Math.round(rate * 0.15);
  for (let at = 0; at < pcm.length; at += size) {
    const isHere = ({ start }: Placed): boolean => Math.floor(start / 0.15 + 1e-9) === at / size;
    const here = { words: words.filter(isHere), sounds: sounds.filter(isHere) };
    const times = (): void => {
      tell('timestamps', { word_timestamps: { words: here.words.map(({ text }) => text), ...spans(here.words) } });
      const phonemes = here.sounds.map(({ text }) => text);
      tell('phoneme_timestamps', { phoneme_timestamps: { phonemes, ...spans(here.sounds) } });
    };
    if (timesFirst === true) times();
    tell('chunk', { data: pcm.subarray(at, at + size).toString('base64'), step_time: 12 });
    if (timesFirst !== true) times();
    if (failsWith !== undefined) return fail(...failsWith);
  }
  tell('done', { done: true, status_code: 200 });
  pause.rest();
}

function spans(placed: readonly Placed[]): object {
  return { start: placed.map(({ start }) => start), end: placed.map(({ end }) => end) };
}
