import recorder from 'node-record-lpcm16';
import { connectRealtime, type RealtimeClient, type ServerEvent } from '../protocol/client.ts';
import { wireSampleRate } from '../protocol/limits.ts';
import { interruptSignal } from './interrupt.ts';
import { reachServer } from './local-server.ts';
import { findPlayer, findRecorder, soundToolsRemedy, SpeakerPipe } from './sound-tools.ts';
import { parseCommand, requireFlag, UsageError } from './usage.ts';

/** `dramatis talk`: a conversation in the terminal. Without echo cancellation, so headphones are advised. */
export async function run(args: string[]): Promise<number> {
  const parsed = parseCommand('talk', '--character ID [--url URL]', args, {
    character: { type: 'string', value: 'ID', help: 'who to talk to' },
    url: { type: 'string', value: 'URL', help: 'a running server (default: one of its own)' },
  });
  if (parsed === undefined) return 0;
  const character = requireFlag(parsed.values.character, 'character');
  const recording = findRecorder();
  const player = findPlayer();
  if (recording === undefined) throw new UsageError(`No program for recording was found. ${soundToolsRemedy}`);
  if (player === undefined) throw new UsageError(`No program for playing was found. ${soundToolsRemedy}`);
  const signal = interruptSignal();
  const { url } = parsed.values;
  const server = await reachServer(typeof url === 'string' ? url : undefined, parsed.config);
  const speaker = new SpeakerPipe(player);
  const microphone = recorder.record({
    sampleRate: wireSampleRate,
    channels: 1,
    audioType: 'raw',
    recorder: recording,
    threshold: 0,
  });
  try {
    const client = await connectRealtime({ ...server, character, signal });
    console.log(`You are talking to ${character}; use headphones. Ctrl-C ends the conversation.\n`);
    client.send({ type: 'response.create', response: { x_dramatis: { greeting: true } } });
    microphone.stream().on('data', (pcm16: Buffer) => client.sendAudio(pcm16));
    microphone.stream().on('error', (fault: Error) => {
      console.error(`\nThe microphone failed: ${fault.message}. \`dramatis doctor\` checks it.`);
      client.close();
    });
    await show(client, character, speaker);
    return 0;
  } finally {
    microphone.stop();
    speaker.flush();
    await server.close();
  }
}

async function show(client: RealtimeClient, character: string, speaker: SpeakerPipe): Promise<void> {
  const reply = { itemId: '', startedMs: 0, sentMs: 0 };
  for await (const event of client.events) {
    if (event.type === 'response.output_item.added') {
      reply.itemId = (event['item'] as { id: string }).id;
      reply.sentMs = 0;
      process.stdout.write(`${character}: `);
    } else if (event.type === 'response.output_audio.delta') {
      const pcm16 = Buffer.from(String(event['delta']), 'base64');
      if (reply.sentMs === 0) reply.startedMs = event.atMs;
      reply.sentMs += pcm16.length / 2 / (wireSampleRate / 1000);
      speaker.write(pcm16);
    } else if (event.type === 'input_audio_buffer.speech_started') {
      speaker.flush();
      const heardMs = Math.round(Math.min(reply.sentMs, event.atMs - reply.startedMs));
      if (heardMs < reply.sentMs && reply.itemId !== '') {
        client.send({
          type: 'conversation.item.truncate',
          item_id: reply.itemId,
          content_index: 0,
          audio_end_ms: heardMs,
        });
      }
    } else write(event);
  }
}

function write(event: ServerEvent): void {
  if (event.type === 'response.output_audio_transcript.delta') process.stdout.write(String(event['delta']));
  if (event.type === 'response.done') process.stdout.write('\n');
  if (event.type === 'conversation.item.input_audio_transcription.completed' && event['transcript'] !== '') {
    console.log(`you: ${String(event['transcript'])}`);
  }
  const failed = event.type === 'error' || event.type === 'conversation.item.input_audio_transcription.failed';
  if (failed) console.log(`[${(event['error'] as { message: string }).message}]`);
}
