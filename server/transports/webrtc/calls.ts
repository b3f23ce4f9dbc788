import { randomBytes } from 'node:crypto';
import type { FastifyBaseLogger } from 'fastify';
import { openOpusDecoder, openOpusEncoder } from '../../../voices/dsp/opus.ts';
import type { Config } from '../../config/config.ts';
import type { Refusal } from '../../http/problem.ts';
import { wireSampleRate } from '../../protocol/limits.ts';
import { systemClock } from '../../session/contract/clock.ts';
import type { SocketDeps } from '../../connections/open-stream.ts';
import { Call } from './call.ts';
import type { CallRequest } from './call-request.ts';
import { CallTalk } from './call-talk.ts';
import { iceSettingsFor } from './ice.ts';
import { readOffer, type Offer } from './offer.ts';
import { openTalk, resumeRefusal, type TalkRequest } from './open-talk.ts';
import type { PeerRoute } from './peer.ts';
import { UdpPorts } from './udp-ports.ts';

export interface AnsweredCall {
  readonly id: string;
  readonly sdp: string;
}

/** A call request, with the addresses of both sides. */
interface Asked extends TalkRequest, Pick<CallRequest, 'sdp'> {
  /** The local address that the client connected to. */
  readonly reached: string | undefined;
  readonly clientAddress: string;
}

interface Held {
  readonly owner: string | undefined;
  readonly closed: Promise<void>;
  endSoon(): void;
  hangUp(): void;
}

/** The WebRTC calls of one server. */
export class Calls {
  readonly #held = new Map<string, Held>();
  readonly #config: Config;
  readonly #ports: UdpPorts | undefined;
  readonly #newId: () => string;

  /** `nodeId`: of this server, if it is one of several: it is in the ids of its calls. */
  constructor(config: Config, nodeId?: string) {
    this.#config = config;
    this.#ports = config.webrtcPorts === undefined ? undefined : new UdpPorts(config.webrtcPorts);
    const prefix = nodeId === undefined ? 'rtc_' : `rtc_${nodeId}_`;
    this.#newId = () => `${prefix}${randomBytes(16).toString('base64url')}`;
  }

  /** Answers a call: opens its session, or continues one whose call broke. Returns a `Refusal` if that fails. */
  async answer(request: Asked, deps: SocketDeps, log: FastifyBaseLogger): Promise<AnsweredCall | Refusal> {
    const { caller } = deps;
    const missing = resumeRefusal(request.resume, deps);
    if (missing !== undefined) return missing;
    const offer = readOffer(request.sdp);
    if ('code' in offer) return { status: 400, problem: offer };
    const id = this.#newId();
    const way = await this.#wayTo(request);
    if ('status' in way) return way;
    const call = await this.#open(id, offer, way, caller.owner, log).catch((fault: unknown) => {
      this.#giveBack(way);
      throw fault;
    });
    const sdp = await call.peer.answer(offer);
    if (typeof sdp !== 'string') {
      call.peer.end();
      return { status: sdp.code === 'webrtc_unavailable' ? 503 : 400, problem: sdp };
    }
    const session = openTalk(call, request, deps, log);
    if ('status' in session) {
      call.peer.end();
      return session;
    }
    const { connection, peer } = session;
    log.info({ call: id, session: connection.id, resumed: request.resume !== undefined }, 'call answered');
    const endSoon = (): void =>
      void (peer instanceof CallTalk ? peer.silence : Promise.resolve()).then(() => call.peer.endSoon());
    const held = { owner: session.binding.owner, closed: call.peer.closed, endSoon };
    this.#held.set(id, { ...held, hangUp: () => connection.close() });
    void Promise.all([connection.done, call.peer.closed]).then(() => this.#held.delete(id));
    return { id, sdp };
  }

  /** Ends a call. Returns false if the account has no call with this id. */
  hangUp(id: string, owner: string | undefined): boolean {
    const held = this.#held.get(id);
    if (held === undefined || held.owner !== owner) return false;
    held.hangUp();
    return true;
  }

  async close(): Promise<void> {
    const held = [...this.#held.values()];
    for (const call of held) call.endSoon();
    await Promise.all(held.map(({ closed }) => closed));
  }

  async #wayTo({ reached, clientAddress }: Asked): Promise<PeerRoute | Refusal> {
    const reach = iceSettingsFor(this.#config, reached);
    if (reach.ports === undefined || this.#ports === undefined) return { reach, clientAddress, port: undefined };
    const port = await this.#ports.take(reach.host);
    return port === undefined ? noPort : { reach, clientAddress, port };
  }

  async #open(
    id: string,
    offer: Offer,
    way: PeerRoute,
    owner: string | undefined,
    log: FastifyBaseLogger,
  ): Promise<Call> {
    // Loaded on demand: it takes a moment, and many servers never get a call.
    const { PeerConnection } = await import('./peer.ts');
    const [encoder, decoder] = await Promise.all([openOpusEncoder(wireSampleRate), openOpusDecoder(wireSampleRate)]);
    const call: Call = new Call({
      offer,
      encoder,
      decoder,
      clock: systemClock,
      openPeer: (listener) => new PeerConnection(way, listener),
      onFault: (fault) =>
        log.error({ call: id, fault: fault instanceof Error ? fault.stack : String(fault) }, 'call failed'),
      onEnd: () => {
        // Without a session it is over; otherwise its session decides when.
        if (this.#held.get(id)?.hangUp === hangUp) this.#held.delete(id);
        log.info({ call: id }, 'call ended');
      },
    });
    const hangUp = (): void => call.peer.end();
    this.#held.set(id, { owner, closed: call.peer.closed, endSoon: () => call.peer.endSoon(), hangUp });
    void call.peer.closed.then(() => this.#giveBack(way));
    return call;
  }

  #giveBack({ port }: PeerRoute): void {
    if (port !== undefined) this.#ports?.giveBack(port);
  }
}

const noPort: Refusal = {
  status: 503,
  problem: { code: 'server_busy', message: 'All UDP ports for calls are in use. Try again later.' },
  retryAfterSeconds: 5,
};
