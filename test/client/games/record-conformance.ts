/** Writes `conformance.json`: what `dramatis/client` does in each case. Run it with `node` after adding one. */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { cases } from './conformance-cases.ts';
import { playCase } from './javascript-client.ts';

const recorded: unknown[] = [];
for (const [name, inputs] of Object.entries(cases)) recorded.push({ name, steps: await playCase(inputs) });
const lines = recorded.map((each) => JSON.stringify(each)).join(',\n');
await writeFile(path.join(import.meta.dirname, 'conformance.json'), `[\n${lines}\n]\n`);
