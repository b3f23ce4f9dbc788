import { toBase64 } from '../../../server/client/audio/pcm.js';
import { pcmOf, Server, type Input } from './server-script.ts';

const piece = toBase64(pcmOf(240, 7));

/** Cases of a client that serves several players. */
export const playerCases: Readonly<Record<string, readonly Input[]>> = {
  'names the player who types': new Server()
    .also({ do: 'say', text: 'I am here.', player: 2 })
    .begin(1)
    .done(1, 'completed')
    .also({ do: 'say', text: 'So am I.', player: 0 })
    .begin(2)
    .done(2, 'completed')
    .also({ do: 'say', text: 'And I.' }).steps,
  'sends the sound of each player by its number, each from its first sample on': new Server().also(
    { do: 'audio', pcm16: piece, player: 2 },
    { do: 'audio', pcm16: piece, player: 300 },
    { do: 'audio', pcm16: piece },
    { do: 'audio', pcm16: piece, player: 2 },
  ).steps,
  'sends the sound of players as base64 to a server without extensions': new Server(true).also(
    { do: 'audio', pcm16: piece, player: 2 },
    { do: 'audio', pcm16: piece },
  ).steps,
};
