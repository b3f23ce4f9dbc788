import { openTextModelServer, type TextFault } from '../../fakes/servers/text-model-server.ts';

/** The judge of the bench `eval-text`, in a separate process: answers after 20 ms, and badly one time in ten. */
const kinds: readonly TextFault[] = ['garbled', 'status-429', 'refusal', 'cut'];
const judge = await openTextModelServer(
  { judge: () => 'The first is nearer to the role in manner and knowledge.\nVerdict: A' },
  { delayMs: 20, faultAt: (number) => (number % 10 === 9 ? kinds[Math.floor(number / 10) % kinds.length] : undefined) },
);
process.on('disconnect', () => process.exit());
process.send?.({ url: judge.url });
