import type { Readable } from 'node:stream';
import { EngineError } from '../../../voices/engine.ts';
import type { Talk, TalkEvent } from '../../client/types/api.d.ts';
import { openTalk, TalkError } from '../../client/open-talk.js';
import { printable } from '../../terminal/text.ts';
import { TerminalSpeaker, type PcmSink } from './terminal-speaker.ts';

export interface TerminalTalkOptions {
  readonly url: string;
  readonly character: string;
  readonly apiKey?: string;
  /** 16-bit little-endian mono PCM at the wire's sample rate. */
  readonly microphone: Readable;
  readonly player: PcmSink;
  /** Ends the conversation. */
  readonly signal: AbortSignal;
  readonly print: (text: string) => void;
}

/**
 * Runs a conversation until it ends and prints both sides. Throws `TalkError` if the server refuses it, and
 * `EngineError` if the microphone fails.
 */
export async function terminalTalk(options: TerminalTalkOptions): Promise<void> {
  const { url, character, apiKey, microphone, player, signal } = options;
  const talk = openTalk({
    url,
    character,
    ...(apiKey === undefined ? {} : { apiKey }),
    speaker: async (listener) => new TerminalSpeaker(player, listener),
  });
  const page = pageOf(options.print);
  const end = (): void => talk.close();
  signal.addEventListener('abort', end, { once: true });
  microphone.on(
    'data',
    wholeSamples((pcm16) => talk.sendAudio(pcm16)),
  );
  let isOver = false;
  let failure: EngineError | undefined;
  microphone.on('error', (fault: unknown) => {
    // A recorder that was stopped reports that as an error.
    if (isOver || signal.aborted) return;
    const [reason] = (fault instanceof Error ? fault.message : String(fault)).split('\n');
    failure = new EngineError(
      'microphone',
      'ENGINE_UNAVAILABLE',
      `${reason?.replace(/\.$/, '')}. \`dramatis doctor\` checks it.`,
    );
    talk.close();
  });
  for await (const event of talk.events) show(event, character, page, talk);
  isOver = true;
  page.end();
  signal.removeEventListener('abort', end);
  if (failure !== undefined) throw failure;
  await talk.opened.catch((fault: unknown) => {
    if (!(fault instanceof TalkError) || fault.code !== 'closed') throw fault;
  });
}

/** Regroups bytes into whole 16-bit samples. */
function wholeSamples(take: (pcm16: Uint8Array<ArrayBuffer>) => void): (bytes: Buffer) => void {
  let rest: Uint8Array = new Uint8Array(0);
  return (bytes) => {
    const all = new Uint8Array(rest.length + bytes.length);
    all.set(rest);
    all.set(bytes, rest.length);
    const whole = all.length - (all.length % 2);
    rest = all.subarray(whole);
    take(all.subarray(0, whole));
  };
}

/** Printed output; the last line may still grow. */
interface TalkPrinter {
  say(name: string): void;
  add(text: string): void;
  end(): void;
  note(text: string): void;
}

function pageOf(print: (text: string) => void): TalkPrinter {
  let isOpen = false;
  const end = (): void => {
    if (isOpen) print('\n');
    isOpen = false;
  };
  const say = (name: string): void => {
    end();
    print(`${name}: `);
    isOpen = true;
  };
  return {
    say,
    end,
    add: (text) => print(printable(text)),
    note(text) {
      end();
      print(printable(`[${text}]\n`));
    },
  };
}

function show(event: TalkEvent, character: string, page: TalkPrinter, talk: Talk): void {
  switch (event.type) {
    case 'connection.open':
      if (event.isNew) talk.send({ type: 'response.create', response: { x_dramatis: { greeting: true } } });
      else page.note('reconnected');
      return;
    case 'connection.lost':
      return page.note(`connection lost, reconnecting in ${(event.retryInMs / 1000).toFixed(1)} s`);
    case 'x_dramatis.session_expiring':
      return page.note(`this session ends in ${event.expires_in_s} s`);
    case 'x_dramatis.warning':
      return page.note(event.message);
    case 'response.output_item.added':
      if (event.item.type === 'message') page.say(character);
      return;
    case 'response.output_audio_transcript.delta':
      return page.add(event.delta);
    case 'response.done':
      return page.end();
    case 'conversation.item.input_audio_transcription.completed':
      if (event.transcript === '') return;
      page.say('you');
      page.add(event.transcript);
      return page.end();
    case 'conversation.item.input_audio_transcription.failed':
    case 'error':
      return page.note(event.error.message ?? event.error.code ?? 'something went wrong');
    default:
  }
}
