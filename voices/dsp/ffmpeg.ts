/** Path of the bundled ffmpeg; rejects if there is none for this system. */
export async function ffmpegPath(): Promise<string> {
  return (await import('@ffmpeg-installer/ffmpeg')).default.path;
}
