import type { ClientEvent, Talk, TalkEvent } from '../../server/client/types/api.d.ts';
import { Moments } from '../../server/client/moments.js';
import { openTalk } from '../../server/client/open-talk.js';
import { Loudspeaker } from './loudspeaker.ts';
import { Microphone } from './microphone.ts';
import type { Network } from './network.ts';
import { ClientRecord } from './record.ts';
import type { Scheduler } from './scheduler.ts';
import { sampleRate, type Vocabulary } from './speech.ts';
import type { Step } from './step.ts';

/** Our page keeps sending silence for this time after it was muted. */
const mutedTailMs = 2_000;
/** Longest time that a person waits for an expected event. */
const patienceMs = 60_000;

type PlacedEvent = Parameters<ConstructorParameters<typeof Moments>[0]>[0];

interface PersonParts {
  readonly name: string;
  readonly scheduler: Scheduler;
  readonly vocabulary: Vocabulary;
  readonly network: Network;
  readonly stopServer: (graceMs: number) => void;
  readonly killServer: () => void;
  /** False: the microphone sends nothing while the person is silent. */
  readonly sendsSilence: boolean;
  /** Length of the microphone's audio blocks. */
  readonly chunkMs: number;
}

/** A person with our own client: voice and microphone, loudspeaker and hearing, and keyboard. */
export class Person {
  readonly name: string;
  readonly mouth: Microphone;
  readonly network: Network;
  readonly record = new ClientRecord();
  /** Actions of the character that took place in the person's game, as their word was heard. */
  readonly performed: { readonly atMs: number; readonly event: PlacedEvent }[] = [];
  /** What the game has sent, with its time. */
  readonly sent: { readonly atMs: number; readonly event: ClientEvent }[] = [];
  /** Events that the person waited for in vain. */
  readonly vain: string[] = [];
  readonly #parts: PersonParts;
  readonly #scheduler: Scheduler;
  readonly #silence: Uint8Array<ArrayBuffer>;
  readonly #moments = new Moments((event) => {
    if (event.action_id !== undefined) this.performed.push({ atMs: this.#scheduler.now(), event });
  });
  #talk: Talk | undefined;
  #speaker: Loudspeaker | undefined;
  #isMuted = false;
  #isGone = false;
  #mutedMs = 0;
  /** Time up to which the microphone has sent its audio. */
  #recordedMs = 0;
  #waiting: { readonly isDone: () => boolean; readonly go: () => void }[] = [];

  constructor(parts: PersonParts) {
    this.#parts = parts;
    this.#scheduler = parts.scheduler;
    this.name = parts.name;
    this.#silence = new Uint8Array((sampleRate * parts.chunkMs * 2) / 1000);
    this.network = parts.network;
    this.mouth = new Microphone(parts.scheduler, parts.vocabulary, parts.name);
  }

  get speaker(): Loudspeaker {
    if (this.#speaker === undefined) throw new Error('the talk has not begun');
    return this.#speaker;
  }

  /** The conversation has ended, from either side. */
  get isGone(): boolean {
    return this.#isGone;
  }

  /** There is a session, and it can be reached. */
  get isConnected(): boolean {
    return this.record.connection.at(-1)?.type === 'connection.open' && !this.network.isFrozen;
  }

  /** Nothing is playing, and no reply is being made. */
  get isQuiet(): boolean {
    return !this.#theTalk.isPlaying && !this.#theTalk.isAnswering && !this.mouth.isSpeaking;
  }

  /** Opens the conversation and the microphone; resolves once there is a session. */
  async begin(): Promise<void> {
    const { vocabulary, network } = this.#parts;
    this.#talk = openTalk({
      url: 'http://simulated/',
      character: 'sherlock-holmes',
      WebSocket: network.WebSocket,
      clock: this.#scheduler,
      fetch: async () => this.#askHealth(),
      speaker: async (listener) => (this.#speaker = new Loudspeaker(this.#scheduler, vocabulary, listener)),
      onEvent: (event) => this.#take(event),
    });
    this.#recordedMs = this.#scheduler.now();
    this.#listen();
    await this.until(() => this.record.sessions > 0, 'the first session');
  }

  async perform(steps: readonly Step[]): Promise<void> {
    for (const step of steps) {
      if (this.#isGone) return;
      await this.#perform(step);
    }
  }

  /** Resolves when the condition holds, or after `withinMs`. */
  async until(isDone: () => boolean, what: string, withinMs = patienceMs): Promise<boolean> {
    if (isDone()) return true;
    return new Promise((resolve) => {
      const waiter = { isDone: () => isDone() || this.#isGone, go: () => end(true) };
      const callOff = this.#scheduler.after(withinMs, () => end(false));
      const end = (isFine: boolean): void => {
        callOff();
        this.#waiting = this.#waiting.filter((one) => one !== waiter);
        if (!isFine) this.vain.push(`${this.name} waited in vain for ${what}`);
        resolve(isFine);
      };
      this.#waiting.push(waiter);
    });
  }

  send(event: ClientEvent): void {
    this.#theTalk.send(event);
  }

  hangUp(): void {
    this.#theTalk.close();
  }

  get #theTalk(): Talk {
    if (this.#talk === undefined) throw new Error('the talk has not begun');
    return this.#talk;
  }

  async #perform(step: Step): Promise<void> {
    switch (step.do) {
      case 'say':
        this.mouth.say(step.text, step.wordMs);
        return this.#pause(this.mouth.endMs - this.#scheduler.now());
      case 'babble':
        this.mouth.say(this.#parts.vocabulary.invent(step.words), step.wordMs);
        return this.#pause(this.mouth.endMs - this.#scheduler.now());
      case 'cough':
        this.mouth.cough(step.ms);
        return this.#pause(step.ms);
      case 'wait':
        return this.#pause(step.ms);
      case 'hear':
      case 'hear out':
      case 'await':
        return this.#await(step);
      case 'meanwhile':
        return void this.perform(step.steps);
      case 'weather':
        return void Object.assign(this.network.weather, step.weather);
      case 'cut':
        return this.network.cut(step.downMs);
      case 'freeze':
        this.network.freeze(true);
        return void this.#scheduler.after(step.ms, () => this.network.freeze(false));
      case 'stop server':
        return this.#parts.stopServer(step.graceMs);
      case 'kill server':
        return this.#parts.killServer();
      default:
        return this.#use(step);
    }
  }

  async #await(step: Extract<Step, { do: 'hear' | 'hear out' | 'await' }>): Promise<void> {
    if (step.do === 'hear') {
      const count = this.speaker.heard.length + step.words;
      const isHeard = this.until(() => this.speaker.heard.length >= count, `${step.words} words`, step.withinMs);
      if (!(await isHeard) && step.withinMs !== undefined) this.vain.pop();
    } else if (step.do === 'await') {
      const { length } = this.record.events;
      const isNew = (): boolean => this.record.events.slice(length).some(({ event }) => event.type === step.event);
      await this.until(isNew, step.event);
    } else {
      const { size } = this.record.replies;
      const isNew = !this.isQuiet || (await this.until(() => this.record.replies.size > size, 'a reply'));
      if (isNew) await this.until(() => this.isQuiet, 'the end of a reply');
    }
  }

  /** Performs a step that uses the client. */
  #use(step: Step): void {
    const talk = this.#theTalk;
    switch (step.do) {
      case 'write':
        return void talk.say(step.text);
      case 'send':
        this.sent.push({ atMs: this.#scheduler.now(), event: step.event });
        return void talk.send(step.event);
      case 'commit':
        this.#sendRest();
        return void talk.send({ type: 'input_audio_buffer.commit' });
      case 'ask':
        return void talk.send({ type: 'response.create' });
      case 'greet':
        return void talk.send({ type: 'response.create', response: { x_dramatis: { greeting: true } } });
      case 'interrupt':
        return void talk.interrupt();
      case 'mute':
      case 'unmute':
        this.#isMuted = step.do === 'mute';
        this.#mutedMs = 0;
        return;
      case 'hang up':
        return talk.close();
      case 'vanish':
        this.network.cut(Infinity);
        this.#isGone = true;
        return talk.close();
      default:
    }
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => this.#scheduler.after(ms, resolve));
  }

  #take(event: TalkEvent): void {
    this.record.take(event, this.#scheduler.now());
    this.#moments.take(event);
    if (/^connection\.(closed|refused|replaced)$/u.test(event.type)) this.#isGone = true;
    this.#look();
  }

  #look(): void {
    for (const { isDone, go } of this.#waiting) if (isDone()) go();
  }

  /** The microphone: sends one audio block at a time while the conversation lasts. */
  #listen(): void {
    this.#scheduler.after(this.#parts.chunkMs, () => {
      if (this.#isGone) return this.#look();
      this.#listen();
      this.#sendSound();
      this.#look();
    });
  }

  /** Sends the audio that does not fill a block yet. */
  #sendRest(): void {
    const now = this.#scheduler.now();
    const sound = this.mouth.record(this.#recordedMs, now);
    this.#recordedMs = now;
    if (sound !== undefined && !this.#isMuted) this.#theTalk.sendAudio(sound);
  }

  #sendSound(): void {
    const now = this.#scheduler.now();
    const sound = this.mouth.record(this.#recordedMs, now);
    this.#recordedMs = now;
    if (this.#isMuted) this.#mutedMs += this.#parts.chunkMs;
    if (this.#mutedMs > mutedTailMs || (sound === undefined && !this.#parts.sendsSilence)) return;
    this.#theTalk.sendAudio(this.#isMuted || sound === undefined ? this.#silence : sound);
  }

  async #askHealth(): Promise<Pick<Response, 'status' | 'ok' | 'json'>> {
    if (this.network.isDown) throw new TypeError('fetch failed');
    return { status: 200, ok: true, json: async () => ({ sessions: { active: 0, most: 64 } }) };
  }
}
