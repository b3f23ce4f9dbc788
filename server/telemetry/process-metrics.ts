import { collectDefaultMetrics, Counter, Gauge, type Registry } from 'prom-client';
import type { EngineLoad } from '../../voices/runtime/worker-pool.ts';
import type { EngineSummary } from '../engines/engines.ts';

/** Metrics of a server that is one of several nodes. */
export interface NodeCounts {
  /** Sessions whose latest events are only in this process. */
  readonly unkept: number;
  /** Sessions that ended here because another node had taken them over. */
  readonly fenced: number;
  /** Sessions that another node had left when it stopped, and this one took over. */
  readonly moved: number;
  /** Sockets that are passed on to other nodes. */
  readonly relayed: number;
  /** Clients that came back to their sessions, by how. */
  readonly resumes: Readonly<Record<string, number>>;
}

interface SessionCounts {
  readonly active: number;
  readonly opened: number;
  readonly most: number;
}

interface MemoryCounts {
  readonly state: string;
  readonly unkept: number;
}

/** Sources of the figures that are read when they are asked for. */
export interface ProcessFacts {
  /** The engines at the moment: an administrator may change them. */
  readonly engines: () => readonly EngineSummary[];
  readonly sessions: SessionCounts;
  /** Set if the server is one of several nodes. */
  readonly node?: NodeCounts | undefined;
  /** Set if characters remember users. */
  readonly memories?: MemoryCounts | undefined;
}

/** Registers figures that are read when they are asked for: sessions, engines, process, and the part among the nodes. */
export function processMetrics(registry: Registry, { engines, sessions, node, memories }: ProcessFacts): void {
  if (memories !== undefined) memoryMetrics(registry, memories);
  collectDefaultMetrics({ register: registry });
  if (node !== undefined) nodeMetrics(registry, node);
  engineMetrics(registry, engines);
  const registers = [registry];
  const live = new Gauge({
    name: 'dramatis_sessions',
    help: 'Open sessions.',
    registers,
    collect: (): void => live.set(sessions.active),
  });
  const most = new Gauge({
    name: 'dramatis_sessions_max',
    help: 'Most open sessions (DRAMATIS_MAX_SESSIONS).',
    registers,
    collect: (): void => most.set(sessions.most),
  });
  const opened = new Counter({
    name: 'dramatis_sessions_opened_total',
    help: 'Sessions opened since the server started.',
    registers,
    collect(): void {
      opened.reset();
      opened.inc(sessions.opened);
    },
  });
}

function nodeMetrics(registry: Registry, node: NodeCounts): void {
  const registers = [registry];
  const unkept = new Gauge({
    name: 'dramatis_sessions_unkept',
    help: 'Open sessions whose latest events Redis does not have: they would be lost with this node.',
    registers,
    collect: (): void => unkept.set(node.unkept),
  });
  const relayed = new Gauge({
    name: 'dramatis_relayed_sockets',
    help: 'Sockets that this node passes on to the nodes that have their sessions.',
    registers,
    collect: (): void => relayed.set(node.relayed),
  });
  const fenced = new Counter({
    name: 'dramatis_fenced_total',
    help: 'Sessions that this node dropped because another node had taken them over.',
    registers,
    collect(): void {
      fenced.reset();
      fenced.inc(node.fenced);
    },
  });
  const moves = new Counter({
    name: 'dramatis_moves_total',
    help: 'Sessions that a stopping node had left, and that this node took over.',
    registers,
    collect(): void {
      moves.reset();
      moves.inc(node.moved);
    },
  });
  const resumes = new Counter({
    name: 'dramatis_resumes_total',
    help: 'Clients that resumed their sessions, by how: here, relayed (to another node) or claimed (from Redis).',
    labelNames: ['how'],
    registers,
    collect(): void {
      resumes.reset();
      for (const [how, count] of Object.entries(node.resumes)) resumes.inc({ how }, count);
    },
  });
}

function memoryMetrics(registry: Registry, memories: MemoryCounts): void {
  const registers = [registry];
  const unkept = new Gauge({
    name: 'dramatis_memory_turns_unkept',
    help: 'Turns that the memory database does not have yet: they would be lost with this server.',
    registers,
    collect: (): void => unkept.set(memories.unkept),
  });
  const up = new Gauge({
    name: 'dramatis_memory_up',
    help: '1 if the memory database answers, otherwise 0.',
    registers,
    collect: (): void => up.set(memories.state === 'on' ? 1 : 0),
  });
}

/** Names of the stages in labels: those of the settings. */
const stageNames: Readonly<Record<EngineSummary['stage'], string>> = {
  vad: 'vad',
  turns: 'turns',
  recognizer: 'asr',
  omni: 'omni',
  mind: 'llm',
  synthesizer: 'tts',
};

/** Registers the calls of each engine that are made, and that wait for others. */
function engineMetrics(registry: Registry, engines: ProcessFacts['engines']): void {
  const registers = [registry];
  const labelNames = ['stage', 'engine'];
  const gaugeOf = (name: string, help: string, valueOf: (load: EngineLoad) => number): void => {
    const gauge: Gauge = new Gauge({
      name,
      help,
      labelNames,
      registers,
      collect(): void {
        gauge.reset();
        for (const { stage, load, health } of engines())
          for (const [engine, each] of Object.entries({ ...load, ...health }))
            gauge.set({ stage: stageNames[stage], engine }, valueOf(each));
      },
    });
  };
  gaugeOf('dramatis_engine_waiting', 'Calls that wait for a place at an engine.', ({ waiting }) => waiting);
  gaugeOf('dramatis_engine_in_flight', 'Calls that an engine is working on.', ({ running }) => running);
}
