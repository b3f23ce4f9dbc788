import { openJudgeServer, type JudgeFault } from '../../fakes/servers/judge-server.ts';

/**
 * The judge of the bench `eval`, in a separate process: takes 300 ms per answer, and breaks one answer in a hundred.
 */
const kinds: readonly JudgeFault[] = ['garbled', 'refusal', 'status-500', 'cut'];
const judge = await openJudgeServer({
  delayMs: Number(process.argv[2]),
  faultAt: (number) => (number % 100 === 99 ? kinds[Math.floor(number / 100) % kinds.length] : undefined),
});
process.on('message', () => process.send?.({ faults: judge.faults }));
process.on('disconnect', () => process.exit());
process.send?.({ url: judge.url });
