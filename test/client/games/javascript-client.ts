import { toBase64 } from '../../../server/client/audio/pcm.js';
import { decodeFrame } from '../../../server/client/connection/binary-frame.js';
import { Moments } from '../../../server/client/moments.js';
import { openTalk } from '../../../server/client/open-talk.js';
import type {
  SpeakerListener,
  Talk,
  TalkClock,
  TalkEvent,
  TalkSocket,
  TalkSpeaker,
} from '../../../server/client/types/api.d.ts';
import type { Input } from './server-script.ts';

type Call = Readonly<Record<string, unknown>>;

/** What a client does upon one input: to the network, to the loudspeaker, to the game. Each in order. */
export interface Step {
  readonly input: Input;
  readonly wire: Call[];
  readonly speaker: Call[];
  readonly game: Call[];
}

/** Gives a case to `dramatis/client` and records what it does. */
export async function playCase(inputs: readonly Input[]): Promise<Step[]> {
  const steps: Step[] = [];
  const client = new RecordedClient(() => steps.at(-1)!);
  for (const input of inputs) {
    steps.push({ input, wire: [], speaker: [], game: [] });
    if (input.do === 'open') client.open();
    else client.take(input);
    // All promises of the client settle without timers here.
    await new Promise((resolve) => setImmediate(resolve));
  }
  const recorded = structuredClone(steps);
  client.talk.close();
  return recorded;
}

/** `dramatis/client` on a fake network, loudspeaker and clock. */
class RecordedClient {
  readonly #now: () => Step;
  readonly #clock = new StillClock();
  #socket: FakeSocket | undefined;
  #speaker: FakeSpeaker | undefined;
  #talk: Talk | undefined;

  constructor(now: () => Step) {
    this.#now = now;
  }

  get talk(): Talk {
    if (this.#talk === undefined) throw new Error('a case begins with "open"');
    return this.#talk;
  }

  open(): void {
    const now = this.#now;
    const moments = new Moments((event) => now().game.push({ call: 'due', event }));
    const keep = (socket: FakeSocket): void => void (this.#socket = socket);
    this.#talk = openTalk({
      url: 'http://game.test',
      character: 'alice',
      visemes: true,
      clock: this.#clock,
      WebSocket: class extends FakeSocket {
        constructor(url: string | URL, protocols: string[]) {
          super((call) => now().wire.push(call), url, protocols);
          keep(this);
        }
      },
      speaker: async (listener) => (this.#speaker = new FakeSpeaker(listener, (call) => now().speaker.push(call))),
      onEvent: (event) => {
        moments.take(event);
        tell(event, now());
      },
    });
    this.#talk.opened.catch(() => undefined);
  }

  take(input: Exclude<Input, { readonly do: 'open' }>): void {
    switch (input.do) {
      case 'text':
        return this.#socket?.take(JSON.stringify(input.frame));
      case 'binary':
        return this.#socket?.take(new Uint8Array(Buffer.from(input.frame, 'base64')).buffer);
      case 'lost':
        return this.#socket?.break(input.code);
      case 'render':
        return this.#speaker?.render(input.samples);
      case 'latency':
        if (this.#speaker !== undefined) this.#speaker.latencySamples = input.samples;
        return;
      case 'wait':
        return this.#clock.pass(input.ms);
      case 'say':
        return void this.talk.say(input.text, input);
      case 'audio':
        return void this.talk.sendAudio(new Uint8Array(Buffer.from(input.pcm16, 'base64')), input);
      case 'send':
        return void this.talk.send(input.event);
      case 'interrupt':
        return void this.talk.interrupt();
      case 'close':
        return this.talk.close();
      case 'mouth':
        this.#now().game.push({ call: 'mouth', weights: rounded(this.talk.mouth.weightsAt(input.sample)) });
    }
  }
}

function rounded(weights: Partial<Record<string, number>> | undefined): Record<string, number> | null {
  if (weights === undefined) return null;
  const told = Object.entries(weights).filter(([, weight]) => weight !== 0);
  return Object.fromEntries(told.map(([name, weight = 0]) => [name, Math.round(weight * 1e6) / 1e6]));
}

function tell(event: TalkEvent, step: Step): void {
  if (event.type === 'response.output_audio.delta') return;
  if (event.type === 'playback.cut') {
    step.speaker.push({ call: 'cut', item: event.itemId, heard: event.heardMs * 24 });
  } else if (event.type === 'playback.ended') step.speaker.push({ call: 'ended', item: event.itemId });
  else if (event.type === 'connection.open') {
    const { isNew, isRestarted, lostMs } = event;
    step.game.push({ call: 'open', isNew, isRestarted, lostMs });
  } else if (event.type === 'connection.lost') {
    step.game.push({ call: 'lost', attempt: event.attempt, retryInMs: event.retryInMs });
  } else if (event.type.startsWith('connection.')) step.game.push({ call: event.type.slice('connection.'.length) });
  else if (!/^(playback|speaker|microphone)\./.test(event.type)) step.game.push({ call: 'event', event });
}

/** A clock that the test moves; chance is always 0. */
class StillClock implements TalkClock {
  #now = 0;
  readonly #timers = new Set<{ readonly at: number; readonly run: () => void }>();

  random(): number {
    return 0;
  }

  after(ms: number, run: () => void): () => void {
    const timer = { at: this.#now + ms, run };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  pass(ms: number): void {
    const until = this.#now + ms;
    for (;;) {
      const [next] = [...this.#timers].filter(({ at }) => at <= until).sort((one, other) => one.at - other.at);
      if (next === undefined) break;
      this.#now = next.at;
      this.#timers.delete(next);
      next.run();
    }
    this.#now = until;
  }
}

/** A socket that opens at once. */
class FakeSocket implements TalkSocket {
  binaryType: TalkSocket['binaryType'] = 'arraybuffer';
  readyState = 0;
  readonly bufferedAmount = 0;
  onopen: TalkSocket['onopen'] = null;
  onmessage: TalkSocket['onmessage'] = null;
  onclose: TalkSocket['onclose'] = null;
  onerror: TalkSocket['onerror'] = null;
  readonly #record: (call: Call) => void;

  constructor(record: (call: Call) => void, url: string | URL, protocols: string[]) {
    this.#record = record;
    const { searchParams } = new URL(url);
    record({ call: 'dial', query: Object.fromEntries(searchParams), protocols });
    queueMicrotask(() => {
      this.readyState = 1;
      this.onopen?.({} as never);
    });
  }

  send(data: string | Uint8Array<ArrayBuffer>): void {
    if (typeof data === 'string') this.#record({ call: 'text', event: JSON.parse(data) });
    else this.#record({ call: 'binary', kind: decodeFrame(data)?.kind, frame: toBase64(data) });
  }

  close(code?: number): void {
    this.readyState = 3;
    this.#record({ call: 'close', code });
  }

  take(data: string | ArrayBuffer): void {
    this.onmessage?.({ data } as never);
  }

  break(code: number): void {
    this.readyState = 3;
    this.onclose?.({ code } as never);
  }
}

interface FakeItem {
  readonly id: string;
  queued: number;
  rendered: number;
  heard: number;
  isComplete: boolean;
}

/** A loudspeaker that renders as much as the test says; it is heard `latencySamples` later. */
class FakeSpeaker implements TalkSpeaker {
  readonly isRunning = true;
  latencySamples = 0;
  readonly #listener: SpeakerListener;
  readonly #record: (call: Call) => void;
  #items: FakeItem[] = [];
  /** What was rendered by the clock of rendered samples, one entry a sample. */
  #rendered: (FakeItem | undefined)[] = [];
  #heard = 0;

  constructor(listener: SpeakerListener, record: (call: Call) => void) {
    this.#listener = listener;
    this.#record = record;
  }

  get isPlaying(): boolean {
    return this.#items.length > 0;
  }

  play(id: string, samples: Float32Array): void {
    const sum = samples.reduce((total, sample) => total + sample * 32_768, 0);
    this.#record({ call: 'play', item: id, samples: samples.length, sum });
    const known = this.#items.find((item) => item.id === id);
    if (known === undefined) this.#items.push({ id, queued: samples.length, rendered: 0, heard: 0, isComplete: false });
    else known.queued += samples.length;
  }

  complete(id: string): void {
    const item = this.#items.find((each) => each.id === id);
    if (item !== undefined) item.isComplete = true;
  }

  async flush(): Promise<ReadonlyMap<string, number>> {
    this.#record({ call: 'stop' });
    const played = new Map(this.#items.map((item) => [item.id, item.heard / 24]));
    this.#items = [];
    return played;
  }

  close(): void {
    this.#items = [];
  }

  render(samples: number): void {
    for (let count = 0; count < samples; count += 1) {
      const next = this.#items.find((item) => item.queued > 0 || !item.isComplete);
      const item = next !== undefined && next.queued > 0 ? next : undefined;
      if (item !== undefined) {
        item.queued -= 1;
        item.rendered += 1;
      }
      this.#rendered.push(item);
    }
    const before = new Map(this.#items.map((item) => [item, item.heard]));
    for (; this.#heard < this.#rendered.length - this.latencySamples; this.#heard += 1) {
      const item = this.#rendered[this.#heard];
      if (item !== undefined) item.heard += 1;
    }
    for (let item = this.#items[0]; item !== undefined; item = this.#items[0]) {
      if (item.heard > (before.get(item) ?? 0)) this.#listener.onProgress(item.id, item.heard / 24, 0);
      if (!item.isComplete || item.queued > 0 || item.heard < item.rendered) return;
      this.#items.shift();
      this.#listener.onEnded(item.id);
    }
  }
}
