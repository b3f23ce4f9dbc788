/** Path of the ffmpeg that comes as a package; rejects where there is none for this system. */
export async function ffmpegPath(): Promise<string> {
  return (await import('@ffmpeg-installer/ffmpeg')).default.path;
}
