import { Player } from '../../server/client/audio/player.js';
import type { ServerEvent } from '../../server/client/types/api.d.ts';
import { openConnection } from '../../server/realtime/connection.ts';
import { CallTalk } from '../../server/transports/webrtc/call-talk.ts';
import { Call } from '../../server/transports/webrtc/call.ts';
import { ResumableStream } from '../../server/connections/resumable-stream.ts';
import type { PeerConnection } from '../../server/transports/webrtc/peer.ts';
import type { OutgoingPacket } from '../../server/transports/webrtc/rtp.ts';
import { openOpusDecoder, openOpusEncoder } from '../../voices/dsp/opus.ts';
import { SimulatedSpeaker } from '../client/simulated-speaker.ts';
import type { RecordedEvent } from '../conformance/realtime-order.ts';
import { settle } from '../fakes/clock.ts';
import { fakeSynthesizer } from '../fakes/synthesizer.ts';
import { silence, tone } from '../fakes/vad.ts';
import { recordConnection } from '../rigs/connection-rig.ts';
import { call as phoneCall } from '../rigs/phone-rig.ts';
import { loudness } from '../rigs/webrtc-rig.ts';

/** What the user's sounds are recognized as, what the character says, and whether speech stops it. */
export interface LineOptions {
  readonly hears: readonly string[];
  readonly says: readonly string[];
  readonly interrupts?: boolean;
}

/** A user who hears a reply over one transport in virtual time; the reply has just begun. */
export interface Line {
  /** Lets time pass in which the user is silent. */
  wait(ms: number): Promise<void>;
  /** Lets time pass in which the user makes a sound. */
  sound(ms: number): Promise<void>;
  /** How much of the reply was heard, repetitions included. */
  heardMs(): number;
  /** Everything that the session sent to the transport. */
  readonly events: readonly RecordedEvent[];
  last(type: string): any;
  /** What the client got over the transport. */
  told(): readonly string[];
  /** What the LLM is told that the character said first. */
  said(): string;
  hangUp(): Promise<void>;
}

const saidIn = (histories: readonly (readonly { readonly role: string; readonly text: string }[])[]): string =>
  histories.at(-1)?.find(({ role }) => role === 'assistant')?.text ?? 'nothing';

const detection = (interrupts = true) =>
  ({ type: 'server_vad', interrupt_response: interrupts, create_response: interrupts }) as const;

/** Our own client: its player with the real playback queue. */
async function overWebSocket({ hears, says, interrupts }: LineOptions): Promise<Line> {
  const active = new Set<string>();
  const told: string[] = [];
  const player: Player = new Player({
    send: (event) => rig.send(event),
    mention: (event) => rig.send(event),
    isActive: (responseId) => active.has(responseId),
    onEvent: () => undefined,
  });
  const speaker = new SimulatedSpeaker(player.listener);
  player.speaker = speaker;
  const take = (event: Record<string, any>): boolean => {
    told.push(event['type'] as string);
    if (event['type'] === 'response.created') active.add(event['response'].id as string);
    if (event['type'] === 'response.done') active.delete(event['response'].id as string);
    const isAudio = event['type'] === 'response.output_audio.delta';
    const pcm16 = isAudio ? new Uint8Array(Buffer.from(event['delta'] as string, 'base64')) : undefined;
    player.take((pcm16 === undefined ? event : { ...event, pcm16 }) as ServerEvent);
    return true;
  };
  const rig = recordConnection(
    { hears, says },
    {
      client: { holds: true },
      startWith: { audio: { input: { turn_detection: detection(interrupts) } } },
      peer: { send: (event) => take(JSON.parse(JSON.stringify(event)) as Record<string, any>) },
    },
  );
  take({
    type: 'session.created',
    session: {
      audio: { input: { turn_detection: detection(interrupts) } },
      x_dramatis: { extensions: ['heard', 'hold'] },
    },
  });
  const pass = async (samples: Float32Array): Promise<void> => {
    for (let at = 0; at < samples.length; at += 480) {
      rig.connection.receiveAudio(samples.subarray(at, at + 480), 24_000);
      speaker.advance(20);
      await rig.clock.advance(20);
    }
    await settle();
  };
  rig.send({ type: 'response.create' });
  await rig.clock.advance(20);
  return {
    ...rig,
    wait: (ms) => pass(silence(ms)),
    sound: (ms) => pass(tone(ms)),
    heardMs: () => speaker.played.reduce((sum, block) => sum + block.filter((sample) => sample !== 0).length, 0) / 24,
    told: () => told,
    said: () => saidIn(rig.engines.agent.histories),
  };
}

/** A call whose peer connection is the test; sound goes through Opus. */
async function overWebRtc({ hears, says, interrupts }: LineOptions): Promise<Line> {
  const [encoder, decoder, ear] = await Promise.all([
    openOpusEncoder(24_000),
    openOpusDecoder(24_000),
    openOpusDecoder(24_000),
  ]);
  const told: string[] = [];
  let heardMs = 0;
  const peer = {
    mostBytes: 256 * 1024,
    sendText: (text: string) => told.push((JSON.parse(text) as RecordedEvent).type) > 0,
    sendPacket: ({ payload }: OutgoingPacket) => void (heardMs += loudness(ear.decode(payload)) > 0.05 ? 20 : 0),
    endSoon: () => undefined,
  };
  let call: Call | undefined;
  let connect: (() => void) | undefined;
  const rig = recordConnection(
    { hears, says, synthesizer: fakeSynthesizer({ sings: true }) },
    {
      client: { holds: true },
      startWith: { audio: { input: { turn_detection: detection(interrupts) } } },
      open(parts, recorder) {
        const { clock, onFault } = parts.ports;
        call = new Call({
          offer: { sdp: '', audio: { payloadType: 111 }, hasEvents: false } as never,
          encoder,
          decoder,
          clock,
          openPeer: (listener) => {
            connect = listener.onConnect;
            return peer as unknown as PeerConnection;
          },
          onFault,
          onEnd: () => undefined,
        });
        const link = new ResumableStream({ binary: false, resumable: false, keptBytes: 0, clock });
        link.attach(call);
        const talk = new CallTalk({ call, link, clock, onFault });
        connect?.();
        const connection = openConnection(parts, {
          send: (event) => recorder.send(event) && talk.send(event),
          sendAudio: (audio) => talk.sendAudio(audio),
        });
        talk.connect(connection);
        return connection;
      },
    },
  );
  rig.send({ type: 'response.create' });
  await rig.clock.advance(20);
  return {
    ...rig,
    wait: (ms) => rig.stream(silence(ms)),
    sound: (ms) => rig.stream(tone(ms)),
    heardMs: () => heardMs,
    told: () => told,
    said: () => saidIn(rig.engines.agent.histories),
    async hangUp() {
      await rig.hangUp();
      call?.close('ended');
      for (const codec of [encoder, decoder, ear]) codec.close();
    },
  };
}

/** A phone call through Twilio, whose marks come back at once. */
async function overPhone({ hears, says, interrupts = true }: LineOptions): Promise<Line> {
  const phone = phoneCall({ hears, says, interrupts });
  phone.stream.greet();
  await phone.clock.advance(20);
  return {
    ...phone,
    wait: (ms) => phone.speak(silence(ms, 8_000)),
    sound: (ms) => phone.speak(tone(ms, 8_000)),
    heardMs: () => phone.twilio.playedBytes / 8,
    told: () => phone.twilio.commands.map(({ event }) => event),
    said: () => saidIn(phone.engines.agent.histories),
  };
}

/** Every transport, each with its real code on the server's side. */
export const lines = { WebSocket: overWebSocket, WebRTC: overWebRtc, phone: overPhone };
