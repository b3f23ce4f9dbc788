import { createHash } from 'node:crypto';
import { WebSocket } from 'ws';
import type { EventOf, ServerEvent, Talk, TalkEvent, TalkOptions } from '../../server/client/types/api.d.ts';
import { openTalk } from '../../server/client/open-talk.js';
import { pcm16FromFloats } from '../../voices/audio.ts';
import type { RecordedEvent } from '../conformance/realtime-order.ts';
import { fakeEngines } from '../fakes/engines.ts';
import { seededRandom } from '../../eval/statistics.ts';
import { fakeSynthesizer } from '../fakes/synthesizer.ts';
import { silence, tone } from '../fakes/vad.ts';
import { serve } from './serve-rig.ts';

/** The server on fake engines. Records, as bytes, the audio that its recognizer received and its synthesizer made. */
export async function openRig(
  options: Omit<NonNullable<Parameters<typeof fakeEngines>[0]>, 'synthesizer'> & {
    flags?: Record<string, string>;
  } = {},
) {
  const synthesizer = noisySynthesizer();
  const engines = fakeEngines({ ...options, synthesizer });
  const heard: string[] = [];
  const transcribe = engines.recognizer.transcribe.bind(engines.recognizer);
  engines.recognizer.transcribe = async function* (audio, transcription) {
    const hash = createHash('sha256');
    async function* noted() {
      for await (const frame of audio) {
        hash.update(pcm16FromFloats(frame.samples));
        yield frame;
      }
    }
    yield* transcribe(noted(), transcription);
    heard.push(hash.digest('hex'));
  };
  // Replies are sent as fast as they are made, so that no test waits for real time.
  const server = await serve({ engines, flags: { playoutAheadMs: '5000', ...options.flags } });
  return {
    ...server,
    engines,
    /** All audio of the replies, as synthesized. */
    made: () => Buffer.concat(synthesizer.made),
    /** A hash of all audio of each utterance. */
    heard,
    [Symbol.asyncDispose]: () => server.app.close(),
  };
}

/** A conversation whose events are recorded and can be awaited. */
export function recordTalk(options: Omit<TalkOptions, 'onEvent'>) {
  const all: TalkEvent[] = [];
  const waiting = new Set<() => void>();
  const talk: Talk = openTalk({
    character: 'alice',
    WebSocket,
    ...options,
    onEvent(event) {
      all.push(event);
      for (const look of waiting) look();
    },
  });
  const send = (samples: Float32Array): void => {
    for (let offset = 0; offset < samples.length; offset += 960) {
      talk.sendAudio(new Uint8Array(pcm16FromFloats(samples.subarray(offset, offset + 960))));
    }
  };
  return {
    talk,
    all,
    of: <Type extends TalkEvent['type']>(type: Type) =>
      all.filter((event): event is EventOf<Type> => event.type === type),
    /** Resolves when this many events of a type have come. */
    until: <Type extends TalkEvent['type']>(type: Type, count = 1) =>
      new Promise<EventOf<Type>>((resolve) => {
        const look = (): void => {
          const found = all.filter((event): event is EventOf<Type> => event.type === type);
          const last = found[count - 1];
          if (last === undefined) return;
          waiting.delete(look);
          resolve(last);
        };
        waiting.add(look);
        look();
      }),
    /** The server's events, in the form that the order checker takes. */
    fromServer: (): RecordedEvent[] =>
      all
        .filter((event): event is ServerEvent => !/^(connection|playback|microphone|speaker)\./.test(event.type))
        .map((event) => ({ ...event, event_id: event.event_id ?? `frame_${event.x_seq}` })),
    /** All audio of the replies, as received. */
    replySound: (): Buffer => {
      const sounds = all.filter((event) => event.type === 'response.output_audio.delta');
      return Buffer.concat(sounds.map(({ pcm16 }) => pcm16));
    },
    /** Sends audio in blocks of 40 ms, faster than real time. */
    send,
    /** Speaks for a moment and falls silent. */
    speak(ms = 600) {
      send(tone(ms));
      send(silence(1_000));
    },
  };
}

/** Speaks noise, 100 ms per word, no two words alike; `made` is all of it as 16-bit PCM. */
function noisySynthesizer(): ReturnType<typeof fakeSynthesizer> & { readonly made: Buffer[] } {
  const random = seededRandom(7);
  const made: Buffer[] = [];
  const plain = fakeSynthesizer();
  return {
    ...plain,
    made,
    async *speak(phrases, options) {
      for await (const chunk of plain.speak(phrases, options)) {
        const samples = chunk.frame.samples.map(() => Math.round((random() - 0.5) * 20_000) / 32_768);
        made.push(pcm16FromFloats(samples));
        yield { ...chunk, frame: { ...chunk.frame, samples } };
      }
    },
  };
}
