import type { WebSocket } from 'ws';
import { openEngineServer, type EngineServer, type Pause } from '../engine-server.ts';
import { pcmOf } from '../../server-audio.ts';
import { placedIn } from './placed-words.ts';

/** Deviations of the server from its default behaviour. */
export interface AzureOptions {
  readonly voices?: readonly string[];
  /** Code that it closes every connection with, after the turn has begun. */
  readonly closesWith?: number;
}

/** Paths and bodies of the client's messages, in order. */
export interface AzureServer extends EngineServer {
  readonly told: { readonly path: string; readonly body: string }[];
}

export const azureVoice = 'en-US-AvaMultilingualNeural';
export const azureRoute = 'WS /tts/cognitiveservices/websocket/v1';
const ticksPerSecond = 10_000_000;

/**
 * Azure Speech's WebSocket: `speech.config` once; for each text `synthesis.context` and `ssml`, answered by
 * `turn.start`, `response`, times of visemes and words, audio whose last message is empty, the length of it, `turn.end`.
 */
export async function openAzureServer(options: AzureOptions = {}): Promise<AzureServer> {
  const { voices = [azureVoice] } = options;
  const told: AzureServer['told'] = [];
  const server = await openEngineServer(
    {
      'GET /cognitiveservices/voices/list': () => ({
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(voices.map((ShortName) => ({ ShortName, Locale: 'en-US' }))),
      }),
    },
    {
      [azureRoute]: (socket, _request, pause) => {
        const seen: string[] = [];
        socket.on('message', (data: Buffer) => {
          const [head = '', body = ''] = data.toString('utf8').split('\r\n\r\n');
          const header = (name: string): string => new RegExp(`^${name}: (.*)$`, 'm').exec(head)?.[1]?.trim() ?? '';
          const path = header('Path');
          told.push({ path, body });
          seen.push(path);
          if (path !== 'ssml') return;
          pause.go();
          const isReady = seen[0] === 'speech.config' && seen.at(-2) === 'synthesis.context';
          // A connection that the server closes was not abandoned by its client.
          const close = (code: number, reason: string): void => {
            pause.refuse();
            socket.close(code, reason);
          };
          if (!isReady) return close(1007, 'no context');
          answer(socket, body, { ...options, voices, requestId: header('X-RequestId'), pause, close });
        });
      },
    },
  );
  return Object.assign(server, { told });
}

function answer(
  socket: WebSocket,
  ssml: string,
  {
    voices = [],
    closesWith,
    requestId,
    pause,
    close,
  }: AzureOptions & {
    readonly requestId: string;
    readonly pause: Pause;
    readonly close: (code: number, reason: string) => void;
  },
): void {
  const headers = (path: string): string =>
    `X-RequestId:${requestId}\r\nContent-Type:application/json\r\nPath:${path}\r\n`;
  const tell = (path: string, body: object): void => socket.send(`${headers(path)}\r\n${JSON.stringify(body)}`);
  const place = (Type: string, seconds: number, more: object = {}): void =>
    tell('audio.metadata', { Metadata: [{ Type, Data: { Offset: Math.round(seconds * ticksPerSecond), ...more } }] });
  const voice = /<voice name="([^"]*)">/.exec(ssml)?.[1] ?? '';
  const text = ssml
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll('&apos;', "'")
    .replaceAll('&amp;', '&');
  tell('turn.start', { context: { serviceTag: '1f' } });
  if (!voices.includes(voice)) return close(1007, `Unsupported voice ${voice}.`);
  if (closesWith !== undefined) return close(closesWith, 'no');
  tell('response', { context: { serviceTag: '1f' }, audio: { type: 'inline', streamId: 'A1' } });
  const { words, sounds } = placedIn(text);
  for (const { text: Text, start, end } of words) {
    for (const sound of sounds.filter((one) => one.start >= start - 1e-9 && one.start < end - 1e-9))
      place('Viseme', sound.start, { VisemeId: sound.text === 'm' ? 21 : 2, IsLastAnimation: true });
    const Duration = Math.round((end - start) * ticksPerSecond);
    place('WordBoundary', start, { Duration, text: { Text, Length: Text.length, BoundaryType: 'WordBoundary' } });
  }
  const end = words.at(-1)?.end ?? 0;
  place('Viseme', end, { VisemeId: 0, IsLastAnimation: true });
  const pcm = pcmOf(text, 24_000);
  const size = 2 * 24 * 150;
  for (let at = 0; at < pcm.length; at += size)
    socket.send(audioMessage(headers('audio'), pcm.subarray(at, at + size)));
  socket.send(audioMessage(headers('audio'), Buffer.alloc(0)));
  place('SessionEnd', pcm.length / 48_000);
  tell('turn.end', {});
  pause.rest();
}

function audioMessage(head: string, audio: Buffer): Buffer {
  const text = Buffer.from(`${head}X-StreamId:A1\r\n`, 'latin1');
  const length = Buffer.alloc(2);
  length.writeUInt16BE(text.length);
  return Buffer.concat([length, text, audio]);
}
