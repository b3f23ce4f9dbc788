/** Types of the part of node-record-lpcm16 1.0 used here; the package has none of its own. */
declare module 'node-record-lpcm16' {
  import type { ChildProcess } from 'node:child_process';
  import type { Readable } from 'node:stream';

  export interface Recording {
    readonly process: ChildProcess;
    stream(): Readable;
    stop(): void;
  }
  const recorder: {
    record(options: {
      sampleRate: number;
      channels: number;
      audioType: 'raw';
      recorder: 'rec' | 'sox' | 'arecord';
      threshold: number;
    }): Recording;
  };
  export default recorder;
}
