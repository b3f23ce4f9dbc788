import { openEmbeddedVoices } from '../../voices/synthesizers/embedded.ts';
import { readCharacters } from '../../server/serve.ts';
const voices = openEmbeddedVoices({ sampleRate: 16000 });
const cs=[...(await readCharacters({})).values()].filter(c=>c.languages[0]==='en');
async function* one(t:string){yield {text:t};}
const rows:number[][]=[];
for (let k=0;k<3;k++) for (const c of cs) { const {synthesizer,voice}=voices.forCharacter(c.voice); for (const t of ['I hear you well enough, my friend,','but what would you have me do about the matter now that the ship has sailed?']) { const s=performance.now(); let n=0,first=0; for await (const {frame} of synthesizer.speak(one(t),{signal:new AbortController().signal,voice})) {first||=performance.now()-s; n+=frame.samples.length;} rows.push([n/16, first, performance.now()-s]); } }
console.log(rows.map(r=>r.map(Math.round).join(' ')).join('\n')); process.exit(0);
