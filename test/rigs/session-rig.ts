import { afterEachTest } from '../fakes/cleanups.ts';
import type { Section } from '../../characters/scene.ts';
import type { Speaker } from '../../server/session/contract/item.ts';
import type { SessionCommand, SessionEvent } from '../../server/session/contract/events.ts';
import { cascade } from '../../server/responders/responder.ts';
import type { Responder } from '../../server/session/contract/responder.ts';
import { Session } from '../../server/session/session.ts';
import type { SessionSettings } from '../../server/session/contract/settings.ts';
import type { SpeakerEncoder } from '../../voices/speaker-encoder.ts';
import type { TurnDetector } from '../../voices/turn-detector.ts';
import { fakeAgent } from '../fakes/agent.ts';
import { ManualClock, settle } from '../fakes/clock.ts';
import { fakeRecognizer } from '../fakes/recognizer.ts';
import { fakeSynthesizer } from '../fakes/synthesizer.ts';
import { fakeVad, silence, tone } from '../fakes/vad.ts';

const open: { close(): void }[] = [];
afterEachTest(() => open.splice(0).forEach((rig) => rig.close()));

export const defaultSettings: SessionSettings = {
  scene: '',
  speaks: true,
  transcribes: true,
  speed: 1,
  turnDetection: { threshold: 0.5, prefixPaddingMs: 300, silenceMs: 500, createsReply: true, interruptsReply: true },
};

/**
 * A listener who plays audio on arrival. Returns a function that takes each event and returns how much of the sent
 * audio has been heard by then.
 */
function listener(clock: ManualClock): (event: SessionEvent) => number {
  let sentMs = 0;
  let begunMs = 0;
  return (event) => {
    if (event.type === 'reply-audio') {
      if (sentMs === 0) begunMs = clock.now();
      sentMs += (event.samples.length / event.sampleRate) * 1000;
    }
    return Math.min(sentMs, clock.now() - begunMs);
  };
}

/** A session on fakes, with a manual clock; speech is sent at the pace of that clock. */
export function openRig(options: {
  readonly hears?: Parameters<typeof fakeRecognizer>[0];
  readonly says?: Parameters<typeof fakeAgent>[0];
  readonly synthesizer?: ReturnType<typeof fakeSynthesizer>;
  readonly settings?: Partial<SessionSettings>;
  readonly speculativeRepliesPerTurn?: number;
  readonly stopsAtOnce?: boolean;
  readonly nodEveryMs?: number;
  readonly turnDetector?: TurnDetector;
  readonly speakerEncoder?: SpeakerEncoder;
  readonly keptAudioMs?: number;
  /** Replaces the fake recognizer, agent and synthesizer. */
  readonly responder?: Responder;
  readonly cast?: readonly Speaker[];
  readonly sections?: readonly Section[];
}) {
  const clock = new ManualClock();
  const vad = fakeVad();
  const recognizer = fakeRecognizer(options.hears ?? ['hello there']);
  const agent = fakeAgent(options.says ?? ['One two three four five six seven eight nine ten.']);
  const synthesizer = options.synthesizer ?? fakeSynthesizer();
  const faults: unknown[] = [];
  let ids = 0;
  const session = new Session({
    responder: options.responder ?? cascade({ recognizer, agent, synthesizer, voice: { kind: 'preset', id: 'fake' } }),
    vad,
    clock,
    settings: { ...defaultSettings, ...options.settings },
    bargeInMs: 160,
    ...(options.cast === undefined ? {} : { speakers: options.cast }),
    ...(options.sections === undefined ? {} : { sections: options.sections }),
    speculativeRepliesPerTurn: options.speculativeRepliesPerTurn ?? 0,
    stopsAtOnce: options.stopsAtOnce === true,
    ...(options.nodEveryMs === undefined ? {} : { nodEveryMs: options.nodEveryMs }),
    ...(options.turnDetector === undefined ? {} : { turnDetector: options.turnDetector }),
    ...(options.speakerEncoder === undefined ? {} : { speakerEncoder: options.speakerEncoder }),
    aheadMs: 400,
    keptAudioMs: options.keptAudioMs ?? 20_000,
    newId: (kind) => `${kind}_${(ids += 1)}`,
    onFault: (fault) => faults.push(fault),
  });
  const events: SessionEvent[] = [];
  const reading = (async () => {
    const hears = listener(clock);
    for await (const event of session.events) {
      events.push(event);
      const heardMs = hears(event);
      if (options.stopsAtOnce === true && event.type === 'reply-held')
        session.send({ type: 'heard', replyId: event.replyId, heardMs });
    }
  })();
  const running = session.run();
  const rig = {
    session,
    clock,
    vad,
    recognizer,
    agent,
    synthesizer,
    events,
    faults,
    send: (command: SessionCommand) => session.send(command),
    /** Speaks, or is silent, at the pace of the rig's clock. */
    async speak(ms: number) {
      await stream(tone(ms));
    },
    /** Sends any audio, at 24 kHz. */
    hear: (samples: Float32Array) => stream(samples),
    async silence(ms: number) {
      await stream(silence(ms));
    },
    types: () => events.map((event) => event.type),
    of: <Type extends SessionEvent['type']>(type: Type) =>
      events.filter((event) => event.type === type) as (SessionEvent & { readonly type: Type })[],
    async close() {
      session.close();
      await Promise.all([running, reading]);
    },
  };
  async function stream(samples: Float32Array): Promise<void> {
    for (let offset = 0; offset < samples.length; offset += 480) {
      session.send({ type: 'audio', samples: samples.slice(offset, offset + 480), sampleRate: 24_000 });
      await clock.advance(20);
    }
    await settle();
  }
  open.push({ close: () => void rig.close() });
  return rig;
}
