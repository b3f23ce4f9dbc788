import type { ServerEvent } from '../../server/protocol/server-events.ts';
import { on, once } from 'node:events';
import { expect } from 'vitest';
import { afterEachTest } from '../fakes/cleanups.ts';
import { WebSocket } from 'ws';
import { MediaStream, telephoneSession } from '../../server/transports/phone/media-stream.ts';
import type { TwilioCommand } from '../../server/transports/phone/messages.ts';
import { floatsFromG711, g711FromFloats } from '../../voices/dsp/g711.ts';
import type { OutgoingAudio } from '../../server/realtime/encode.ts';
import { settle } from '../fakes/clock.ts';
import type { fakeEngines } from '../fakes/engines.ts';
import { recordConnection } from './connection-rig.ts';

/** Twilio with a phone: plays what it gets in real time, and returns marks when told to, or never. */
export class ScriptedTwilio {
  readonly commands: TwilioCommand[] = [];
  /** Commands still to be played, oldest first. */
  readonly #queue: TwilioCommand[] = [];
  /** Marks that were reached but not returned yet. */
  readonly #reached: string[] = [];
  playedBytes = 0;
  /** Like `playedBytes`, plus all audio that was skipped: the playback position in everything the session has said. */
  reachedBytes = 0;
  #spokenBytes = 0;
  #toldBytes = 0;
  /** End position of each queued piece in everything said. */
  readonly #ends = new Map<TwilioCommand, number>();

  /** Adds bytes of a reply that are on their way. */
  expect(bytes: number): void {
    this.#spokenBytes += bytes;
  }

  /** Marks everything said so far as never arriving. */
  skip(): void {
    this.#toldBytes = this.#spokenBytes;
  }

  take(command: TwilioCommand): boolean {
    this.commands.push(command);
    if (command.event === 'media') {
      this.#toldBytes += Buffer.from(command.media.payload, 'base64').length;
      this.#ends.set(command, this.#toldBytes);
    }
    if (command.event !== 'clear') this.#queue.push(command);
    else
      for (const waiting of this.#queue.splice(0)) if (waiting.event === 'mark') this.#reached.push(waiting.mark.name);
    return true;
  }

  /** Plays for this long, or until the queue is empty. */
  play(ms: number): void {
    for (let leftBytes = ms * 8; leftBytes > 0;) {
      const [next] = this.#queue;
      if (next === undefined) break;
      const bytes = next.event === 'media' ? Buffer.from(next.media.payload, 'base64').length : 0;
      if (bytes > leftBytes) break;
      leftBytes -= bytes;
      this.playedBytes += bytes;
      this.reachedBytes = this.#ends.get(next) ?? this.reachedBytes;
      this.#queue.shift();
      while (this.#queue[0]?.event === 'mark') {
        const mark = this.#queue.shift();
        if (mark?.event === 'mark') this.#reached.push(mark.mark.name);
      }
    }
  }

  /** Returns the marks to give back now, except the last `heldBack`. */
  marks(heldBack = 0): string[] {
    return this.#reached.splice(0, Math.max(0, this.#reached.length - heldBack));
  }

  get sound(): Float32Array {
    const media = this.commands.flatMap((command) => (command.event === 'media' ? [command.media.payload] : []));
    return floatsFromG711(Buffer.concat(media.map((payload) => Buffer.from(payload, 'base64'))), 'mulaw');
  }

  count(event: TwilioCommand['event']): number {
    return this.commands.filter((command) => command.event === event).length;
  }
}

/** A phone call on fakes. `marks`: whether they come back at once, one block late, or never. */
export function call(
  options: Parameters<typeof fakeEngines>[0] & {
    marks?: 'prompt' | 'late' | 'never';
    /** False: speech does not stop a reply. */
    interrupts?: boolean;
  } = {},
) {
  const twilio = new ScriptedTwilio();
  const asked: Record<string, any>[] = [];
  const stream: MediaStream = new MediaStream(
    { streamSid: 'MZ1', tell: (command) => twilio.take(command) },
    {
      ask(event) {
        asked.push(event);
        rig.connection.receive(event);
      },
      hear: (samples) => rig.connection.receiveAudio(samples, 8_000),
    },
  );
  const { audio } = telephoneSession;
  const turnDetection = { type: 'server_vad', interrupt_response: options.interrupts ?? true } as const;
  const startWith = { audio: { ...audio, input: { ...audio?.input, turn_detection: turnDetection } } };
  const peer = {
    send(event: ServerEvent) {
      if (event.type === 'x_dramatis.hold') twilio.skip();
      return stream.send(event);
    },
    sendAudio(audio: OutgoingAudio) {
      twilio.expect(audio.encoded?.length ?? 0);
      return stream.sendAudio(audio);
    },
  };
  const rig = recordConnection(options, { startWith, client: { holds: true }, peer });
  const { clock, events } = rig;
  const returnMarks = (): void => {
    if (options.marks === 'never') return;
    for (const name of twilio.marks(options.marks === 'late' ? 1 : 0))
      stream.receive({ event: 'mark', mark: { name } });
  };
  return {
    ...rig,
    twilio,
    asked,
    stream,
    /** Sends the caller's audio; meanwhile Twilio plays. */
    async speak(samples: Float32Array) {
      for (let offset = 0; offset < samples.length; offset += 160) {
        const payload = Buffer.from(g711FromFloats(samples.slice(offset, offset + 160), 'mulaw')).toString('base64');
        stream.receive({ event: 'media', media: { payload, track: 'inbound' } });
        twilio.play(20);
        returnMarks();
        await clock.advance(20);
      }
      await settle();
    },
    truncations: () => asked.filter(({ type }) => type === 'conversation.item.truncate'),
    async hangUp() {
      await rig.hangUp();
      expect(events.filter(({ type }) => type === 'error')).toEqual([]);
    },
  };
}

type Json = Record<string, any>;

const open: WebSocket[] = [];
afterEachTest(() => {
  for (const socket of open.splice(0)) socket.close();
});

/** Twilio at the other end of a socket; the `connected` message has been sent. */
export async function dialPhone(at: string, headers: Record<string, string> = {}) {
  const socket = new WebSocket(`ws://${at}/v1/twilio`, { headers });
  open.push(socket);
  const messages = on(socket, 'message', { close: ['close'] }) as AsyncIterator<[Buffer]>;
  const closed = once(socket, 'close') as Promise<[number, Buffer]>;
  await once(socket, 'open');
  const send = (message: Json): void => socket.send(JSON.stringify(message));
  send({ event: 'connected', protocol: 'Call', version: '1.0.0' });
  return {
    socket,
    send,
    start: (customParameters: Record<string, string>) =>
      send({ event: 'start', sequenceNumber: '1', streamSid: 'MZ1', start: { streamSid: 'MZ1', customParameters } }),
    speak(samples: Float32Array) {
      for (let offset = 0; offset < samples.length; offset += 160) {
        const payload = Buffer.from(g711FromFloats(samples.slice(offset, offset + 160), 'mulaw')).toString('base64');
        send({ event: 'media', streamSid: 'MZ1', media: { track: 'inbound', payload } });
      }
    },
    /** The audio of the next reply; each mark is returned at once. */
    async listen(ms: number): Promise<Float32Array> {
      const heard: Buffer[] = [];
      while (heard.reduce((sum, piece) => sum + piece.length, 0) < ms * 8) {
        const { value } = (await messages.next()) as { value: [Buffer] };
        const command = JSON.parse(value[0].toString()) as Json;
        expect(command['streamSid']).toBe('MZ1');
        if (command['event'] === 'media') heard.push(Buffer.from(command['media'].payload as string, 'base64'));
        if (command['event'] === 'mark') send(command);
      }
      return floatsFromG711(Buffer.concat(heard), 'mulaw');
    },
    /** How the server hangs up. */
    async hungUp(): Promise<{ code: number; reason: string }> {
      const [code, reason] = await closed;
      return { code, reason: reason.toString() };
    },
  };
}
