import { openEngineServer, type EngineServer } from '../engine-server.ts';
import { pcmOf, wavHeader } from '../../server-audio.ts';
import { placedIn, type Placed } from './placed-words.ts';

/** Deviations of the server from its default behaviour. */
export interface InworldOptions {
  readonly voices?: readonly string[];
  /** gRPC code that its stream ends with, after the first line. */
  readonly failsWith?: number;
  /** Tells no times, as for a model that has none. */
  readonly isTimeless?: boolean;
}

/** Lines of JSON: audio as a WAV each, with the words and sounds that begin in it. */
export function openInworldServer(options: InworldOptions = {}): Promise<EngineServer> {
  const { voices = ['Dennis', 'my-clone'] } = options;
  const json = { 'content-type': 'application/json' };
  return openEngineServer({
    'GET /tts/v1/voices': () => ({
      headers: json,
      body: JSON.stringify({ voices: voices.map((voiceId) => ({ voiceId, languages: ['en'] })) }),
    }),
    'POST /tts/v1/voice:stream': (request) => {
      const { text, voiceId, audioConfig } = request.json() as {
        readonly text: string;
        readonly voiceId: string;
        readonly audioConfig: { readonly sampleRateHertz: number };
      };
      if (!voices.includes(voiceId)) {
        const body = JSON.stringify({ code: 5, message: `no voice for ${text}`, details: [] });
        return { status: 404, headers: json, body };
      }
      return { headers: json, body: lines(text, audioConfig.sampleRateHertz, options) };
    },
  });
}

function* lines(text: string, sampleRate: number, { failsWith, isTimeless }: InworldOptions): Generator<string> {
  const pcm = pcmOf(text, sampleRate);
  const { words, sounds } = placedIn(text);
  const size = 2 * Math.round(sampleRate * 0.15);
  for (let at = 0; at < pcm.length; at += size) {
    const isHere = ({ start }: Placed): boolean => Math.floor(start / 0.15 + 1e-9) === at / size;
    const audio = Buffer.concat([wavHeader(sampleRate), pcm.subarray(at, at + size)]);
    const timestampInfo = { wordAlignment: alignmentOf(words.filter(isHere), sounds.filter(isHere)) };
    const result = { audioContent: audio.toString('base64'), ...(isTimeless !== true && { timestampInfo }) };
    yield `${JSON.stringify({ result })}\n`;
    if (failsWith === undefined) continue;
    yield `${JSON.stringify({ error: { code: failsWith, message: `no: ${text}`, details: [] } })}\n`;
    return;
  }
}

/** Words with a space between them, which is a word too. */
function alignmentOf(words: readonly Placed[], sounds: readonly Placed[]): object {
  const all = words.flatMap((word) => [{ text: ' ', start: word.start, end: word.start }, word]);
  return {
    words: all.map(({ text }) => text),
    wordStartTimeSeconds: all.map(({ start }) => start),
    wordEndTimeSeconds: all.map(({ end }) => end),
    phoneticDetails: all.map((word, wordIndex) => ({
      wordIndex,
      phones:
        word.text === ' '
          ? [phone('[silence]', word)]
          : sounds
              .filter(({ start }) => start >= word.start && start < word.end)
              .map((sound) => phone(sound.text, sound)),
    })),
  };
}

function phone(phoneSymbol: string, { start, end }: Placed): object {
  return { phoneSymbol, startTimeSeconds: start, durationSeconds: end - start, visemeSymbol: 'aei' };
}
