import { readFileSync } from 'node:fs';
import path from 'node:path';
import { LuauState } from 'luau-web';
import { WebSocket } from 'ws';
import { beforeAll, describe, expect, it } from 'vitest';
import { openFlakyProxy } from '../../fakes/network/flaky-proxy.ts';
import { openRig } from '../../rigs/talk-rig.ts';
import { comparable, recorded } from './compare.ts';
import type { Input } from './server-script.ts';

const client = path.resolve(import.meta.dirname, '../../../server/client/luau/dramatis.luau');
const read = (file: string): string => readFileSync(file, 'utf8');
const driver = (name: string): string => path.join(import.meta.dirname, 'luau', name);

interface Done {
  readonly wire: Record<string, any>[];
  readonly game: Record<string, any>[];
}

/** One state for all: a second one in the same process loses its functions. */
let open: () => Promise<unknown[]>;

beforeAll(async () => {
  const state = await LuauState.createAsync();
  const modules = `local Dramatis = (function() ${read(client)} end)()\nlocal Json = (function() ${read(driver('json.luau'))} end)()`;
  [open] = await state.loadstring(`${modules}\n${read(driver('driver.luau'))}`, 'dramatis.luau', true)();
});

/** A client in Luau. */
async function openLuau(): Promise<(input: object) => Promise<Done>> {
  const [take] = (await open()) as [(input: string) => Promise<[string]>];
  return async (input) => JSON.parse((await take(JSON.stringify(input)))[0]) as Done;
}

/** What a client without sound takes. */
const silent: readonly Input['do'][] = ['open', 'text', 'say', 'send', 'close', 'lost', 'wait'];

/** Tables of Lua do not tell an empty object from an empty list, and do not hold null. */
function asLua(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(asLua);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([, each]) => each !== null);
  return entries.length === 0 ? [] : Object.fromEntries(entries.map(([name, each]) => [name, asLua(each)]));
}

describe('the client in Luau', () => {
  const cases = recorded.filter(({ steps }) => steps.every(({ input }) => silent.includes(input.do)));

  it('finds cases without sound', () => {
    expect(cases.length).toBeGreaterThan(4);
  });

  it.each(cases)('$name', async ({ steps }) => {
    const take = await openLuau();
    for (const { input, wire, game } of steps) {
      const { wire: sent, game: told } = await take(input);
      const done = { wire: sent, game: told.filter(({ call }) => call !== 'says'), speaker: [] };
      // It asks for fewer extensions, and loses no sound.
      const expected = JSON.stringify({ wire, game })
        .replaceAll('binary,resume,hold,nod,notice,voice,cues,visemes', 'resume,notice,cues')
        .replaceAll(',"lostMs":0', '');
      const wanted = comparable([{ ...(JSON.parse(expected) as Done), speaker: [] }]);
      expect(asLua(comparable([done]))).toEqual(asLua(wanted));
    }
  });

  it('talks by text with the server, through a line that drops', async () => {
    const says = ['One two three four five.', 'Six.'];
    await using rig = await openRig({ says });
    await using proxy = await openFlakyProxy(rig.port);
    let socket: WebSocket | undefined;
    let work = Promise.resolve();
    const game: Record<string, any>[] = [];
    const waiting = new Set<() => void>();
    const take = await openLuau();
    const dial = ({ query, protocols }: Record<string, any>): void => {
      const mine = new WebSocket(`${proxy.url.replace('http', 'ws')}/v1/realtime?${query}`, protocols);
      socket = mine;
      mine.on('message', (data: Buffer) => void (mine === socket && give({ do: 'text', written: data.toString() })));
      mine.on('close', (code) => void (mine === socket && give({ do: 'lost', code })));
      mine.on('error', () => undefined);
    };
    // One input after the other, and what the client does upon each.
    const give = (input: object): Promise<void> =>
      (work = work.then(async () => {
        const done = await take(input);
        for (const call of done.wire) {
          if (call['call'] === 'text') socket?.send(JSON.stringify(call['event']));
          else if (call['call'] === 'close') socket?.close(call['code']);
          else dial(call);
        }
        game.push(...done.game);
        for (const look of waiting) look();
      }));
    const until = (isIt: (call: Record<string, any>) => boolean): Promise<void> =>
      new Promise((resolve) => {
        const look = (): void => void (game.some(isIt) && waiting.delete(look) && resolve());
        waiting.add(look);
        look();
      });
    const isDone = (call: Record<string, any>): boolean => call['event']?.type === 'response.done';
    await give({ do: 'open' });
    await until(({ call, isNew }) => call === 'open' && isNew);
    await give({
      do: 'send',
      event: { type: 'session.update', session: { type: 'realtime', output_modalities: ['text'] } },
    });
    await give({ do: 'say', text: 'Who are you?' });
    await until(({ call }) => call === 'says');
    proxy.cut();
    await until(({ call, isNew }) => call === 'open' && isNew === false);
    await until(isDone);
    await give({ do: 'say', text: 'And then?' });
    await until(() => game.filter(isDone).length === 2);
    expect(game.flatMap(({ call, text }) => (call === 'says' ? [text] : [])).join('')).toBe(says.join(''));
    const numbers = game.flatMap(({ event }) => (event === undefined ? [] : [event.x_seq]));
    expect(numbers).toEqual(numbers.map((_, index) => index + 1));
    await give({ do: 'close' });
  });
});
