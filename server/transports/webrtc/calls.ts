import { randomBytes } from 'node:crypto';
import type { FastifyBaseLogger } from 'fastify';
import { openOpusDecoder, openOpusEncoder } from '../../../voices/dsp/opus.ts';
import type { Config } from '../../config/config.ts';
import { openSession, type SessionDeps } from '../../connections/open-session.ts';
import type { Refusal } from '../../http/problem.ts';
import { resolveCharacter } from '../../connections/caller-choice.ts';
import { wireSampleRate } from '../../protocol/limits.ts';
import { systemClock } from '../../session/contract/clock.ts';
import { Call } from './call.ts';
import { startOf, type CallRequest } from './call-request.ts';
import { iceSettingsFor } from './ice.ts';
import { readOffer, type Offer } from './offer.ts';
import type { PeerRoute } from './peer.ts';
import { UdpPorts } from './udp-ports.ts';

export interface AnsweredCall {
  readonly id: string;
  readonly sdp: string;
}

/** A call request, with the addresses of both sides. */
interface Asked extends CallRequest {
  readonly model: string | undefined;
  /** The local address that the client connected to. */
  readonly reached: string | undefined;
  readonly clientAddress: string;
}

interface Held {
  readonly call: Call;
  readonly owner: string | undefined;
  readonly ended: Promise<void>;
  hangUp(): void;
}

/** The WebRTC calls of one server. */
export class Calls {
  readonly #held = new Map<string, Held>();
  readonly #config: Config;
  readonly #ports: UdpPorts | undefined;

  constructor(config: Config) {
    this.#config = config;
    this.#ports = config.webrtcPorts === undefined ? undefined : new UdpPorts(config.webrtcPorts);
  }

  /** Answers a call and opens its session. Returns a `Refusal` if that fails. */
  async answer(request: Asked, deps: SessionDeps, log: FastifyBaseLogger): Promise<AnsweredCall | Refusal> {
    const { caller } = deps;
    const model = request.model ?? request.session?.model;
    const character = resolveCharacter(model, caller.secret, deps);
    if ('code' in character) return { status: character.code === 'unknown_character' ? 404 : 403, problem: character };
    const offer = readOffer(request.sdp);
    if ('code' in offer) return { status: 400, problem: offer };
    const id = `rtc_${randomBytes(16).toString('base64url')}`;
    const way = await this.#wayTo(request);
    if ('status' in way) return way;
    const held = await this.#open(id, offer, way, caller.owner, log).catch((fault: unknown) => {
      this.#giveBack(way);
      throw fault;
    });
    const sdp = await held.call.peer.answer(offer);
    if (typeof sdp !== 'string') {
      held.call.peer.end();
      return { status: sdp.code === 'webrtc_unavailable' ? 503 : 400, problem: sdp };
    }
    // The last slot may have been taken in the meantime.
    const refusal = deps.sessions.refusalFor(caller);
    if (refusal !== undefined) {
      held.call.peer.end();
      return refusal;
    }
    const startWith = startOf(caller.secret?.startWith, request.session);
    const connection = openSession(
      { character, model: model ?? character.id, client: { holds: true }, startWith },
      held.call,
      deps,
      log,
    );
    held.call.connect(connection);
    held.hangUp = () => connection.close();
    log.info({ call: id, session: connection.id }, 'call answered');
    void held.ended.then(() => connection.close());
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
    for (const { call } of this.#held.values()) call.peer.endSoon();
    await Promise.all([...this.#held.values()].map(({ call }) => call.peer.closed));
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
  ): Promise<Held> {
    // Loaded on demand: it takes a moment, and many servers never get a call.
    const { PeerConnection } = await import('./peer.ts');
    const [encoder, decoder] = await Promise.all([openOpusEncoder(wireSampleRate), openOpusDecoder(wireSampleRate)]);
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    const call = new Call({
      offer,
      encoder,
      decoder,
      clock: systemClock,
      openPeer: (listener) => new PeerConnection(way, listener),
      onFault: (fault) =>
        log.error({ call: id, fault: fault instanceof Error ? fault.stack : String(fault) }, 'call failed'),
      onEnd: () => {
        this.#held.delete(id);
        log.info({ call: id }, 'call ended');
        end();
      },
    });
    const held: Held = { call, owner, ended, hangUp: () => call.peer.end() };
    this.#held.set(id, held);
    void call.peer.closed.then(() => this.#giveBack(way));
    return held;
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
