import { joinTexts } from '../recognition/decode-ahead.ts';

/** Recognition mode that the server is asked for. */
export type FunasrMode = '2pass' | 'online' | 'offline';

/** Message of the server. */
export interface FunasrResult {
  /** Absent: a message without words. */
  readonly mode?: string | undefined;
  readonly text: string;
  readonly spk_name?: string | undefined;
  readonly is_final?: boolean | undefined;
  readonly is_end?: boolean | undefined;
}

/** Transcript assembled from the results as they arrive. */
export interface FunasrText {
  readonly text: string;
  /** True once all audio has been sent. */
  readonly hasEnded: boolean;
  /** `maybe-over`: the last result may have been the final one. */
  readonly state: 'under-way' | 'maybe-over' | 'over';
  end(): void;
  take(result: FunasrResult): void;
}

/**
 * Assembles the transcript: words of the first pass are appended, the second pass replaces them. The servers mark the
 * last result in different ways. For the C++ server, `is_final` is the end of the stream. The Python server sets it in
 * every result of the second pass and confirms the end with `is_end`; a result with `spk_name` identifies it. Its older
 * versions confirm nothing, and `is_final` means that the user is speaking. So a change of the flag marks the end for a
 * server that is not identified; if the flag has never changed, the caller has to wait for more.
 */
export function openFunasrText(mode: FunasrMode): FunasrText {
  const corrected: string[] = [];
  let early = '';
  let hasEnded = false;
  let firstFinal: boolean | undefined;
  let confirmsEnd = false;
  let state: FunasrText['state'] = 'under-way';
  const decides = (result: FunasrResult): boolean =>
    hasEnded && !confirmsEnd && (mode === 'online' || isSecondPass(result) || result.text === '');
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
      confirmsEnd ||= result.spk_name !== undefined;
      if (isSecondPass(result)) {
        // An empty second pass does not discard the text of the first.
        corrected.push(withoutLeadingMarks(result.text === '' ? early : result.text));
        early = '';
      } else {
        early += result.text;
      }
      if (result.mode !== undefined) firstFinal ??= result.is_final;
      if (result.is_end === true || (hasEnded && result.mode === undefined && result.is_final === true)) state = 'over';
      else if (!decides(result)) state = 'under-way';
      else state = result.is_final !== firstFinal ? 'over' : 'maybe-over';
    },
  };
}

function isSecondPass({ mode = '' }: FunasrResult): boolean {
  return mode.endsWith('offline');
}

/** Removes leading punctuation, which belongs to the sentence before. */
function withoutLeadingMarks(text: string): string {
  return text.replace(/^[\s，。、！？；：,.!?;:]+/, '');
}
