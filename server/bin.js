#!/usr/bin/env -S node --max-semi-space-size=8 --heap-growing-percent=100
import { existsSync } from 'node:fs';

// A clone runs the TypeScript; the npm package holds it compiled, because Node runs no TypeScript under node_modules.
const compiled = new URL('../dist/server/main.js', import.meta.url);
const source = new URL('./main.ts', import.meta.url);

if (Number(process.versions.node.split('.')[0]) < 24) {
  process.stderr.write(`dramatis: Node 24 or later is required; this is ${process.version}. See https://nodejs.org.\n`);
  process.exitCode = 1;
} else await import((existsSync(source) ? source : compiled).href);
