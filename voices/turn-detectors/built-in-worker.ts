import { serveWorker } from '../runtime/worker-serve.ts';
import type { Pause } from './built-in.ts';
import { endOfTurnProbability } from './end-of-turn.ts';

serveWorker<Pause, number>((pause) => Promise.resolve({ reply: endOfTurnProbability(pause) }));
