import { once } from 'node:events';
import { createServer, Socket, type AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { seededRandom } from '../../../eval/statistics.ts';
import { Queue } from '../../../voices/runtime/streams.ts';

/** Network conditions of the proxy. All can be changed while it runs. */
export interface NetworkConditions {
  /** Cuts a connection after this many bytes, both ways together; drawn for each connection. */
  cutAfterBytes?: { readonly least: number; readonly most: number } | undefined;
  /** Maximum random delay of each piece; pieces never overtake each other. */
  jitterMs?: number;
  /** This share of the pieces is delayed by another `stallMs`. */
  stallShare?: number;
  stallMs?: number;
  /** Bytes per second in each direction. */
  bytesPerSecond?: number;
}

/** A TCP proxy on loopback that simulates bad networks; random, but reproducible from its seed. */
export interface FlakyProxy extends AsyncDisposable {
  readonly url: string;
  readonly weather: NetworkConditions;
  /** Connections accepted so far, and connections cut. */
  readonly taken: number;
  readonly cuts: number;
  /** Cuts every connection: both ends get a reset, and data in flight is lost. */
  cut(): void;
  /** Stops all data on the current connections without telling either end; new ones are not affected. */
  freeze(): void;
  /** Ends `freeze`; the data passes. */
  thaw(): void;
  /** Accepts new connections, but passes no data on them until `admit`. */
  hold(): void;
  admit(): void;
  /** Sends new connections to another port. */
  retarget(port: number): void;
}

/** Opens a proxy in front of a loopback port. */
export async function openFlakyProxy(port: number, seed = 1, weather: NetworkConditions = {}): Promise<FlakyProxy> {
  const random = seededRandom(seed);
  const pairs = new Set<Pair>();
  let target = port;
  let taken = 0;
  let cuts = 0;
  let gate = openGate();
  const server = createServer({ noDelay: true }, (client) => {
    taken += 1;
    const pair = new Pair(client, weather, random, () => {
      pairs.delete(pair);
      cuts += 1;
    });
    pairs.add(pair);
    client.once('close', () => pairs.delete(pair));
    void gate.opened.then(() => pair.reach(target));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const frozen: Pair[] = [];
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    weather,
    get taken() {
      return taken;
    },
    get cuts() {
      return cuts;
    },
    cut() {
      for (const pair of pairs) pair.cut();
    },
    freeze() {
      frozen.push(...pairs);
      for (const pair of pairs) pair.freeze();
    },
    thaw() {
      for (const pair of frozen.splice(0)) pair.thaw();
    },
    hold() {
      gate = closedGate();
    },
    admit() {
      gate.open();
    },
    retarget(other) {
      target = other;
    },
    async [Symbol.asyncDispose]() {
      gate.open();
      for (const pair of pairs) pair.cut();
      server.close();
      await once(server, 'close');
    },
  };
}

/** One connection through the proxy: two sockets, and the data between them. */
class Pair {
  readonly #client: Socket;
  readonly #weather: NetworkConditions;
  readonly #random: () => number;
  readonly #onCut: () => void;
  readonly #upstream = new Socket();
  #bytesLeft = Infinity;
  #ice = openGate();
  #isCut = false;

  constructor(client: Socket, weather: NetworkConditions, random: () => number, onCut: () => void) {
    this.#client = client;
    this.#weather = weather;
    this.#random = random;
    this.#onCut = onCut;
    this.#upstream.setNoDelay(true);
    const { cutAfterBytes } = weather;
    if (cutAfterBytes !== undefined) {
      this.#bytesLeft = cutAfterBytes.least + random() * (cutAfterBytes.most - cutAfterBytes.least);
    }
    for (const socket of [client, this.#upstream]) socket.on('error', () => undefined);
  }

  reach(port: number): void {
    if (this.#isCut || this.#client.destroyed) return;
    this.#upstream.connect(port, '127.0.0.1');
    void this.#pass(this.#client, this.#upstream);
    void this.#pass(this.#upstream, this.#client);
  }

  cut(): void {
    if (this.#isCut) return;
    this.#isCut = true;
    this.#ice.open();
    this.#client.resetAndDestroy();
    this.#upstream.resetAndDestroy();
    this.#onCut();
  }

  freeze(): void {
    this.#ice = closedGate();
  }

  thaw(): void {
    this.#ice.open();
  }

  /** Forwards data from one side to the other, under the network conditions. */
  async #pass(from: Socket, to: Socket): Promise<void> {
    const underWay = new Queue<{ readonly data: Buffer; readonly dueMs: number }>();
    const delivering = this.#deliver(underWay, to);
    try {
      for await (const data of from as AsyncIterable<Buffer>) {
        const { jitterMs = 0, stallShare = 0, stallMs = 0, bytesPerSecond = Infinity } = this.#weather;
        const stalls = stallShare > 0 && this.#random() < stallShare;
        const lateMs = (jitterMs > 0 ? this.#random() * jitterMs : 0) + (stalls ? stallMs : 0);
        underWay.push({ data, dueMs: performance.now() + lateMs });
        // Not reading in the meantime makes the sender wait, as a slow link does.
        if (bytesPerSecond !== Infinity) await pause((data.length / bytesPerSecond) * 1000);
      }
      underWay.end();
    } catch (fault) {
      underWay.fail(fault);
    }
    await delivering;
  }

  async #deliver(underWay: Queue<{ readonly data: Buffer; readonly dueMs: number }>, to: Socket): Promise<void> {
    try {
      for await (const { data, dueMs } of underWay) {
        const waitMs = dueMs - performance.now();
        if (waitMs > 0) await pause(waitMs);
        await this.#ice.opened;
        if (this.#isCut) return;
        if (!to.write(data.subarray(0, Math.max(0, Math.ceil(this.#bytesLeft))))) await once(to, 'drain');
        this.#bytesLeft -= data.length;
        if (this.#bytesLeft <= 0) return this.cut();
      }
      await this.#ice.opened;
      to.end();
    } catch {
      // A broken side breaks the other.
      to.destroy();
    }
  }
}

interface Gate {
  readonly opened: Promise<void>;
  open(): void;
}

function closedGate(): Gate {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { opened: promise, open: resolve };
}

function openGate(): Gate {
  return { opened: Promise.resolve(), open: () => undefined };
}
