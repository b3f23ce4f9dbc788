import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { Character } from '../../characters/character.ts';
import { Resampler } from '../../voices/dsp/resampler.ts';
import { limits, wireSampleRate } from '../protocol/limits.ts';
import type { AuthGuard } from '../http/auth-guard.ts';
import { sendProblem } from '../http/problem.ts';
import { speakText } from '../speech/speak-text.ts';
import { noSuchCharacter } from '../connections/caller-choice.ts';
import { parseBody } from '../http/request-body.ts';
import { answer, withFirstItem } from './answer.ts';
import { contentTypes, encodeSpeech, type SpeechFormat } from './encode-speech.ts';
import type { RestParts } from './rest.ts';
import { speechEvents, speechTimings, TimingEvents } from './speech-events.ts';

const voiceName = z.string().min(1).max(256);

const schema = z.looseObject({
  input: z.string().min(1).max(limits.textCharacters),
  voice: z.union([voiceName, z.looseObject({ id: voiceName })]),
  response_format: z.enum(Object.keys(contentTypes) as [SpeechFormat, ...SpeechFormat[]]).default('mp3'),
  speed: z.number().min(0.25).max(4).default(1),
  stream_format: z.enum(['audio', 'sse']).default('audio'),
  x_dramatis: z.object({ timings: speechTimings.default([]) }).optional(),
});

/** OpenAI's voice names, which stock clients send. They map to the default character. */
const foreignVoices = new Set('alloy ash ballad cedar coral echo fable marin nova onyx sage shimmer verse'.split(' '));

/** `POST /v1/audio/speech`: speaks a text in a character's voice. The response is streamed during synthesis. */
export function addSpeech(app: FastifyInstance, parts: RestParts, auth: AuthGuard): void {
  app.post('/v1/audio/speech', { onRequest: auth.work }, async (request, reply) => {
    const parsed = parseBody(schema, request.body);
    if ('problem' in parsed) return sendProblem(reply, 400, parsed.problem);
    const { input, voice: wanted, response_format: format, speed, stream_format: stream, x_dramatis } = parsed.body;
    const id = typeof wanted === 'string' ? wanted : wanted.id;
    const character = parts.characters.get(foreignVoices.has(id) ? parts.config.defaultCharacter : id);
    if (character === undefined) return sendProblem(reply, 404, { ...noSuchCharacter(id, parts), param: 'voice' });
    if (x_dramatis !== undefined && stream !== 'sse') {
      const message = 'Timings come as events: set stream_format to "sse".';
      return sendProblem(reply, 400, { code: 'invalid_value', message, param: 'x_dramatis' });
    }
    return answer(request, reply, async (signal) => {
      const timings = new TimingEvents(x_dramatis?.timings ?? []);
      const blocks = speechOf(input, character, { ...parts, speed, timings, signal });
      const first = await blocks.next();
      if (first.done === true) {
        return sendProblem(reply, 400, {
          code: 'invalid_value',
          message: 'The text has nothing that can be spoken.',
          param: 'input',
        });
      }
      const bytes = await withFirstItem(encodeSpeech(rejoin(first.value, blocks), format, signal));
      if (stream === 'sse') {
        const onFault = (fault: unknown): void => {
          if (!signal.aborted) request.log.error({ fault: String(fault) }, 'speech failed');
        };
        const events = speechEvents(bytes, timings, { characters: input.length, onFault });
        reply.header('cache-control', 'no-cache').type('text/event-stream; charset=utf-8');
        return reply.send(Readable.from(events, { objectMode: false }));
      }
      return reply.type(contentTypes[format]).send(Readable.from(bytes, { objectMode: false }));
    });
  });
}

/** Yields blocks of speech at the wire's sample rate as they are synthesized, and notes their times. */
async function* speechOf(
  input: string,
  character: Character,
  {
    engines,
    speed,
    timings,
    signal,
  }: Pick<RestParts, 'engines'> & { speed: number; timings: TimingEvents; signal: AbortSignal },
): AsyncGenerator<Float32Array> {
  const { synthesizer, voice } = engines.voiceOf(character);
  const resampler = new Resampler(synthesizer.sampleRate, wireSampleRate);
  let spoke = false;
  const visemes = timings.tellsMovement ? { aligner: engines.aligner, language: character.languages[0] } : undefined;
  for await (const block of speakText(input, synthesizer, { signal, voice, speed, visemes })) {
    spoke ||= block.samples.length > 0;
    timings.note(block);
    yield resampler.push(block.samples);
  }
  if (spoke) yield resampler.flush();
}

async function* rejoin<Item>(first: Item, rest: AsyncIterable<Item>): AsyncGenerator<Item> {
  yield first;
  yield* rest;
}
