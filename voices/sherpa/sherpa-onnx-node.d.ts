/** Types of the parts that are used; the package ships none. Samples are mono, in [-1, 1]. */
declare module 'sherpa-onnx-node' {
  interface Sound {
    readonly samples: Float32Array;
    readonly sampleRate: number;
  }
  interface OfflineStream {
    acceptWaveform(sound: Sound): void;
  }
  interface OnlineStream extends OfflineStream {
    inputFinished(): void;
    setOption(key: string, value: string): void;
  }
  class OnlineRecognizer {
    constructor(config: object);
    createStream(): OnlineStream;
    isReady(stream: OnlineStream): boolean;
    decode(stream: OnlineStream): void;
    getResult(stream: OnlineStream): { readonly text: string };
  }
  class OfflineRecognizer {
    private constructor();
    static createAsync(config: object): Promise<OfflineRecognizer>;
    createStream(): OfflineStream;
    decodeAsync(stream: OfflineStream): Promise<{ readonly text: string; readonly lang?: string }>;
  }
  interface SpeakRequest {
    readonly text: string;
    readonly enableExternalBuffer: boolean;
    readonly generationConfig: object;
    /** Returns false to stop as soon as possible. */
    onProgress(news: { readonly samples: Float32Array }): boolean;
  }
  class OfflineTts {
    private constructor();
    static createAsync(config: object): Promise<OfflineTts>;
    readonly numSpeakers: number;
    readonly sampleRate: number;
    generateAsync(request: SpeakRequest): Promise<Sound>;
  }
  class SpeakerEmbeddingExtractor {
    constructor(config: object);
    readonly dim: number;
    createStream(): OnlineStream;
    isReady(stream: OnlineStream): boolean;
    compute(stream: OnlineStream, enableExternalBuffer: boolean): Float32Array;
  }
  class OfflineSpeakerDiarization {
    constructor(config: object);
    process(
      samples: Float32Array,
    ): readonly { readonly start: number; readonly end: number; readonly speaker: number }[];
    setConfig(config: object): void;
  }
  class OfflinePunctuation {
    constructor(config: object);
    addPunct(text: string): string;
  }
  class OnlinePunctuation {
    constructor(config: object);
    addPunct(text: string): string;
  }
}
