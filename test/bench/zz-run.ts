import { run } from './zz-net.ts';
for await (const r of run()) console.log(JSON.stringify(r));
