import { textOf, type Item } from '../contract/item.ts';
import type { Problem, SessionEvent } from '../contract/events.ts';
import type { Report, ReportedWords } from '../contract/report.ts';

/** Reports of one session; a button that is stuck reports no more. */
const mostReports = 20;
/** Messages before the reported one that belong to it. */
const mostBefore = 5;

/** Returns the event of a report, with the words around what is reported; the problem if there is no such item. */
export function reported(
  items: readonly Item[],
  { itemId, reason, note }: Report,
  before: number,
): SessionEvent | Problem {
  if (before >= mostReports)
    return { code: 'too_many_reports', message: `This session has reported ${mostReports} times.`, param: 'type' };
  const at = items.findIndex(({ id }) => id === itemId);
  if (at < 0) return { code: 'item_not_found', message: 'There is no item with this id to report.', param: 'item_id' };
  const said = items.slice(Math.max(0, at - mostBefore), at + 1).flatMap((item): ReportedWords[] => {
    const text = textOf(item);
    return item.type === 'message' && text !== '' ? [{ role: item.role, by: item.speaker?.id, text }] : [];
  });
  return { type: 'reported', itemId, reason, note, said };
}
