import { EngineError } from '../../../voices/engine.ts';
import { interruptSignal } from '../../terminal/interrupt.ts';
import { openTargetServer } from '../target-server.ts';
import { findPlayer, findRecorder, openRecorder, soundToolsRemedy, PlayerProcess } from './audio-tools.ts';
import { terminalTalk } from './terminal-talk.ts';
import { parseCommand } from '../../terminal/commands.ts';
import { requireFlag, requireNone, textFlag } from '../../terminal/flags.ts';
import { printLine } from '../../terminal/text.ts';

/** `dramatis talk`: a voice conversation in the terminal. Without echo cancellation, so use headphones. */
export async function run(args: string[]): Promise<number> {
  const parsed = parseCommand('talk', '--character ID [--url URL]', args, {
    character: { type: 'string', value: 'ID', help: 'character to talk to' },
    url: { type: 'string', value: 'URL', help: 'a running server (default: starts one)' },
  });
  if (parsed === undefined) return 0;
  requireNone(parsed.positionals);
  const character = requireFlag(parsed.values.character, 'character');
  const recording = findRecorder();
  const player = findPlayer();
  if (recording === undefined) throw missing('recorder');
  if (player === undefined) throw missing('player');
  const signal = interruptSignal();
  const server = await openTargetServer(textFlag(parsed.values.url), parsed.config);
  const speaker = new PlayerProcess(player);
  const microphone = openRecorder(recording);
  try {
    printLine(`You are talking to ${character}; use headphones. Ctrl-C ends the conversation.\n`);
    const print = (text: string): void => void process.stdout.write(text);
    await terminalTalk({ ...server, character, microphone: microphone.stream(), player: speaker, signal, print });
    return 0;
  } finally {
    microphone.stop();
    speaker.flush();
    await server.close();
  }
}

function missing(program: 'recorder' | 'player'): EngineError {
  return new EngineError(program, 'ENGINE_MISSING', `no audio ${program} was found. ${soundToolsRemedy}`);
}
