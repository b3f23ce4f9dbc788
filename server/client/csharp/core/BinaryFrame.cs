using System;

namespace Dramatis
{
    /// <summary>A frame of sound: 12 bytes, little-endian, then 16-bit mono samples at 24 kHz. The table is in the server's
    /// client/connection/binary-frame.js.</summary>
    public sealed class BinaryFrame
    {
        const int HeaderBytes = 12;
        const byte Input = 1;
        const byte Reply = 2;

        public int ReplyNumber;
        public long Sequence;
        /// <summary>Samples of the reply before this frame.</summary>
        public long Offset;
        public short[] Samples;

        /// <summary>The frame of a reply; null if these bytes are none.</summary>
        public static BinaryFrame Decode(byte[] bytes)
        {
            if (bytes.Length < HeaderBytes || bytes.Length % 2 != 0 || bytes[0] != Reply || bytes[1] != 0) return null;
            var frame = new BinaryFrame { ReplyNumber = bytes[2] | bytes[3] << 8, Sequence = Word(bytes, 4), Offset = Word(bytes, 8) };
            frame.Samples = Pcm.FromBytes(bytes, HeaderBytes);
            return frame;
        }

        /// <summary>Writes what the user, or a player, says. Sequence and offset wrap at 2^32.</summary>
        public static byte[] Encode(long sequence, long offset, byte[] pcm16, int player = 0)
        {
            var bytes = new byte[HeaderBytes + pcm16.Length];
            bytes[0] = Input;
            bytes[2] = (byte)player;
            bytes[3] = (byte)(player >> 8);
            for (var index = 0; index < 4; index += 1)
            {
                bytes[4 + index] = (byte)(sequence >> 8 * index);
                bytes[8 + index] = (byte)(offset >> 8 * index);
            }
            Buffer.BlockCopy(pcm16, 0, bytes, HeaderBytes, pcm16.Length);
            return bytes;
        }

        static long Word(byte[] bytes, int at) => (uint)(bytes[at] | bytes[at + 1] << 8 | bytes[at + 2] << 16 | bytes[at + 3] << 24);
    }

    /// <summary>16-bit little-endian mono sound at 24 kHz.</summary>
    public static class Pcm
    {
        public const int SampleRate = 24000;

        public static short[] FromBytes(byte[] bytes, int from = 0)
        {
            var samples = new short[(bytes.Length - from) / 2];
            for (var index = 0; index < samples.Length; index += 1)
                samples[index] = (short)(bytes[from + 2 * index] | bytes[from + 2 * index + 1] << 8);
            return samples;
        }

        /// <summary>Samples from -1 to 1; those outside are clipped.</summary>
        public static byte[] ToBytes(float[] samples, int count)
        {
            var bytes = new byte[count * 2];
            for (var index = 0; index < count; index += 1)
            {
                var value = (short)Math.Round(Math.Max(-32768f, Math.Min(32767f, samples[index] * 32768f)));
                bytes[2 * index] = (byte)value;
                bytes[2 * index + 1] = (byte)(value >> 8);
            }
            return bytes;
        }
    }
}
