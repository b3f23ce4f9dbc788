import { joinTexts } from '../recognition/decode-ahead.ts';

/** What the server is asked to do. */
export type FunasrMode = '2pass' | 'online' | 'offline';

/** One message of the server. */
export interface FunasrResult {
  readonly mode: string;
  readonly text: string;
  readonly is_final?: boolean | undefined;
  readonly is_end?: boolean | undefined;
}

/** What was said, out of the results as they come. */
export interface FunasrText {
  readonly text: string;
  /** The sound is over. */
  readonly hasEnded: boolean;
  /** `maybe-over`: the last result may have been the last. */
  readonly state: 'under-way' | 'maybe-over' | 'over';
  end(): void;
  take(result: FunasrResult): void;
}

/**
 * Words of the first pass are added to each other; the second pass replaces them. Which result is the last the servers tell in
 * opposite ways: for the C++ server `is_final` is the end of the stream, for the Python server it means that somebody speaks. So
 * a change of it tells; where it never was anything else, one has to wait.
 */
export function openFunasrText(mode: FunasrMode): FunasrText {
  const corrected: string[] = [];
  let early = '';
  let hasEnded = false;
  let firstFinal: boolean | undefined;
  let state: FunasrText['state'] = 'under-way';
  const decides = (result: FunasrResult): boolean =>
    hasEnded && (mode === 'online' || result.mode.endsWith('offline') || result.text === '');
  return {
    get text() {
      return joinTexts([...corrected, withoutLeadingMarks(early)]);
    },
    get hasEnded() {
      return hasEnded;
    },
    get state() {
      return state;
    },
    end() {
      hasEnded = true;
    },
    take(result) {
      if (result.mode.endsWith('offline')) {
        // A second pass that understood nothing does not take back what the first understood.
        corrected.push(withoutLeadingMarks(result.text === '' ? early : result.text));
        early = '';
      } else {
        early += result.text;
      }
      firstFinal ??= result.is_final;
      if (result.is_end === true) state = 'over';
      else if (!decides(result)) state = 'under-way';
      else state = result.is_final !== firstFinal ? 'over' : 'maybe-over';
    },
  };
}

/** What is left of the sentence before. */
function withoutLeadingMarks(text: string): string {
  return text.replace(/^[\s，。、！？；：,.!?;:]+/, '');
}
