import type { WebSocket } from 'ws';
import { Rechunker } from '../../../voices/audio.ts';
import { isOpusHeader, OggReader, openOggOpusWriter } from '../../../voices/dsp/ogg-opus.ts';
import { openOpusDecoder, openOpusEncoder } from '../../../voices/dsp/opus.ts';
import { openEngineServer, type EngineServer } from './engine-server.ts';
import { tone } from '../vad.ts';

/** Deviations of the server from its default behaviour. */
export interface MoshiOptions {
  /** Its reply to anything: a word every 160 ms. */
  readonly says?: string;
  /** Words that it speaks over the user's speech. */
  readonly mutters?: string;
  /** Begins like the Rust server: its metadata, then a handshake with versions. The Python server sends a single byte. */
  readonly beginsLikeRust?: boolean;
  /** Cuts its Ogg stream at this many bytes. */
  readonly cutsAt?: number;
  /** After this many frames it reports an error, or sends something that is not Ogg. */
  readonly failsAfter?: { readonly frames: number; readonly with: Buffer };
}

export interface MoshiServer extends EngineServer {
  /** Seconds of audio received, including silence, and seconds of speech in it. */
  readonly heard: { seconds: number; voiced: number };
}

const frameSamples = 1_920;

/** Moshi's server: one frame out for each frame in, with words in between; one conversation at a time. */
export async function openMoshiServer(options: MoshiOptions = {}): Promise<MoshiServer> {
  const heard = { seconds: 0, voiced: 0 };
  let turn: Promise<void> = Promise.resolve();
  const server = await openEngineServer(
    {},
    {
      'WS /api/chat': (socket) => {
        const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
        turn = turn.then(async () => {
          await serve(socket, options, heard);
          await closed;
        });
      },
    },
  );
  return Object.assign(server, { heard });
}

async function serve(socket: WebSocket, options: MoshiOptions, heard: MoshiServer['heard']): Promise<void> {
  if (socket.readyState !== socket.OPEN) return;
  const decoder = await openOpusDecoder(24_000);
  const encoder = await openOpusEncoder(24_000);
  const reader = new OggReader();
  const writer = openOggOpusWriter(24_000, encoder.delaySamples);
  const frames = new Rechunker(frameSamples);
  const model = openModel(options);
  let count = 0;
  let rest: Buffer = Buffer.alloc(0);
  const tell = (bytes: Buffer): void => {
    rest = Buffer.concat([rest, bytes]);
    const { cutsAt = rest.length } = options;
    for (; rest.length >= cutsAt && rest.length > 0; rest = rest.subarray(cutsAt)) {
      socket.send(Buffer.concat([Buffer.of(1), rest.subarray(0, cutsAt)]));
    }
  };
  const step = (input: Float32Array): void => {
    count += 1;
    if (options.failsAfter?.frames === count) return socket.send(options.failsAfter.with);
    const isVoiced = input.some((sample) => Math.abs(sample) > 0.1);
    heard.seconds += 0.08;
    heard.voiced += isVoiced ? 0.08 : 0;
    const { text, sound } = model(isVoiced);
    if (text !== undefined) socket.send(Buffer.concat([Buffer.of(2), Buffer.from(text, 'utf8')]));
    const packets = [0, 480, 960, 1_440].map((at) => encoder.encode(sound.subarray(at, at + 480)));
    // A page may hold any number of packets.
    tell(writer.page(packets.slice(0, 1), 20));
    tell(writer.page(packets.slice(1), 20));
  };
  const metadata = Buffer.from('\u0004{"text_temperature":0.8,"lm_model_file":"moshi"}');
  if (options.beginsLikeRust === true) socket.send(metadata);
  socket.send(options.beginsLikeRust === true ? Buffer.alloc(9) : Buffer.of(0));
  tell(writer.head());
  socket.on('message', (data: Buffer) => {
    if (data[0] !== 1) return;
    for (const packet of reader.push(data.subarray(1))) {
      if (!isOpusHeader(packet)) for (const frame of frames.push(decoder.decode(packet))) step(frame);
    }
  });
  socket.once('close', () => {
    encoder.close();
    decoder.close();
  });
}

/** Speaks over the user's speech; replies after three frames of silence. */
function openModel({ says = 'Good evening, my friend.', mutters = '' }: MoshiOptions) {
  let silent = -1;
  const words = (text: string): string[] => (text === '' ? [] : text.split(/(?= )/));
  // In the model's format: a space before each word.
  const waiting = { reply: words(says === '' ? '' : ` ${says}`), remark: words(mutters) };
  let sounding = 0;
  return (isVoiced: boolean): { readonly text: string | undefined; readonly sound: Float32Array } => {
    if (isVoiced) silent = 0;
    else if (silent >= 0) silent += 1;
    const list = silent >= 3 ? waiting.reply : silent === 0 ? waiting.remark : [];
    const text = sounding > 0 ? undefined : list.shift();
    if (text !== undefined) sounding = 2;
    sounding -= 1;
    return { text, sound: sounding >= 0 ? tone(80) : new Float32Array(frameSamples) };
  };
}
