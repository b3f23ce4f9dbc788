import { serveWorker } from '../runtime/worker-serve.ts';
import { endOfTurnProbability, type Pause } from './end-of-turn.ts';

serveWorker<Pause, number>((pause) => Promise.resolve({ reply: endOfTurnProbability(pause) }));
