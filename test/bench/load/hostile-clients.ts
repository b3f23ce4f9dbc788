import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { WebSocket } from 'ws';

// Run as a child process: `URL KIND COUNT` starts so many attackers of one kind, which go on until they are killed.
const [url = '', kind = '', count = '20'] = process.argv.slice(2);
const http = url.replace(/^ws/, 'http').replace(/\/v1\/realtime.*$/, '');

/** One attacker: it attacks once, and is called again as soon as it is done. */
type Attack = (index: number) => Promise<void>;

/** What an attack over a session does, ten times a second. */
type SessionAttack = (send: (text: string) => void, round: number) => void;

const tiny = '0,'.repeat(9 * 1024 * 1024);
const metadata = Array.from({ length: 500_000 }, (_unused, place) => `"${place}":0`).join(',');
const format = '%s%n%x '.repeat(2_500);

/** An item of some 250 KB, the most that a frame may hold. */
function largeItem(id: string): string {
  const part = { type: 'input_text', text: 'I am, I am, '.repeat(800) };
  const item = { id, type: 'message', role: 'user', content: Array.from({ length: 10 }, () => part) };
  return JSON.stringify({ type: 'conversation.item.create', item });
}

const overSession: Readonly<Record<string, SessionAttack>> = {
  'frames of tiny values': (send) => send(`{"type":"session.update","session":{"tools":[${tiny}0]}}`),
  'half a million metadata entries': (send) => send(`{"type":"response.create","response":{"metadata":{${metadata}}}}`),
  'large items and replies to them': (send, round) => {
    send(largeItem(`i${round}`));
    send('{"type":"response.create"}');
  },
  'settings of 190 KiB': (send, round) => {
    const instructions = `${round}${'é'.repeat(45_000)}`;
    send(JSON.stringify({ type: 'session.update', session: { instructions } }));
  },
  'responses out of band': (send) => {
    for (let asked = 0; asked < 20; asked += 1) send('{"type":"response.create","response":{"conversation":"none"}}');
  },
  'text that is not JSON': (send) => {
    for (let sent = 0; sent < 100; sent += 1) send('{"type":');
  },
  'audio faster than real time': (send) => {
    const audio = Buffer.alloc(480_000).toString('base64');
    send(`{"type":"input_audio_buffer.append","audio":"${audio}"}`);
  },
};

const overHttp: Readonly<Record<string, () => Promise<unknown>>> = {
  'speech of format strings': () => post('/v1/audio/speech', { model: 'tts', voice: 'alice', input: format }),
  'chat with a text of 4 MB': () =>
    post('/v1/chat/completions', {
      model: 'alice',
      messages: [{ role: 'user', content: 'I am, '.repeat(700_000) }],
    }),
  'cards full of patterns': () => post('/characters/import', hostileCard()),
  'unknown paths with a body': () => post('/nowhere', { x: 'x'.repeat(900_000) }),
  'keys that are wrong': () => fetch(`${http}/v1/models`, { headers: { authorization: 'Bearer guess' } }).then(drain),
};

/** A Character Card V3 with 20,000 lorebook keys that are expensive patterns, and greetings full of brackets. */
function hostileCard(): object {
  const entries = Array.from({ length: 20_000 }, (_unused, id) => ({
    keys: [`/(((\\pL|i|k){30}){30})${id}/`],
    use_regex: true,
    content: 'x',
    enabled: true,
    insertion_order: 0,
    extensions: {},
  }));
  const data = { name: 'Mara', first_mes: '['.repeat(390_000), character_book: { entries, extensions: {} } };
  return { spec: 'chara_card_v3', spec_version: '3.0', data };
}

async function post(path: string, body: object): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  await drain(await fetch(`${http}${path}`, { method: 'POST', headers, body: JSON.stringify(body) }));
}

async function drain(response: Response): Promise<void> {
  await response.arrayBuffer();
  // A refused attacker tries again, but no faster than a person's program would.
  if (!response.ok) await pause(50);
}

async function attackSession(attack: SessionAttack): Promise<void> {
  const socket = new WebSocket(`${url}&x=resume`, { perMessageDeflate: false });
  socket.on('error', () => undefined);
  await once(socket, 'open');
  for (let round = 0; socket.readyState === WebSocket.OPEN; round += 1) {
    if (socket.bufferedAmount < 64 * 1024 * 1024) attack((text) => socket.send(text), round);
    await pause(100);
  }
}

/** Opens a session and leaves it at once, ten times a second. */
async function comeAndGo(): Promise<void> {
  const socket = new WebSocket(url, { perMessageDeflate: false });
  socket.on('error', () => undefined);
  await once(socket, 'message');
  socket.terminate();
  await pause(100);
}

/** A request whose body never ends. */
async function endlessBody(): Promise<void> {
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      await pause(1_000);
      controller.enqueue(new Uint8Array([0x20]));
    },
  });
  const headers = { 'content-type': 'application/json' };
  await fetch(`${http}/v1/chat/completions`, { method: 'POST', headers, body, duplex: 'half' } as RequestInit);
}

/** Begins a frame of 41 MiB on the phone's path, and never ends it. */
async function unfinishedCall(): Promise<void> {
  const socket = new WebSocket(url.replace(/\/v1\/realtime.*$/, '/v1/twilio'), { perMessageDeflate: false });
  socket.on('error', () => undefined);
  await once(socket, 'open');
  socket.send(Buffer.alloc(41 * 1024 * 1024), { fin: false });
  await once(socket, 'close');
}

function attackOf(name: string): Attack {
  const session = overSession[name];
  const request = overHttp[name];
  if (session !== undefined) return () => attackSession(session);
  if (request !== undefined) return () => request().then(() => undefined);
  if (name === 'sessions that come and go') return comeAndGo;
  if (name === 'bodies that never end') return endlessBody;
  return unfinishedCall;
}

/** All kinds of attackers. */
export const attackKinds: readonly string[] = [
  ...Object.keys(overSession),
  ...Object.keys(overHttp),
  'sessions that come and go',
  'bodies that never end',
  'unfinished frames of phone calls',
];

if (process.send !== undefined) {
  const attack = attackOf(kind);
  process.on('disconnect', () => process.exit());
  for (let index = 0; index < Number(count); index += 1)
    void (async () => {
      for (;;) await attack(index).catch(() => pause(100));
    })();
}
