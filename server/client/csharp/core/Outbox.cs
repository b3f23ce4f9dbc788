using System;
using System.Collections.Generic;

namespace Dramatis
{
    /// <summary>Numbers the frames of the client from 1 and keeps them until the server has them. Of sound, only the last 30
    /// seconds are kept; what did not arrive and was dropped counts as lost.</summary>
    sealed class Outbox
    {
        const int MostEvents = 1000;
        const double MostAudioMs = 30000;

        sealed class Kept
        {
            public long Sequence;
            public double AudioMs;
            /// <summary>A text or bytes.</summary>
            public object Data;
        }

        readonly List<Kept> kept = new List<Kept>();
        /// <summary>Sound that was sent and dropped before the server had it.</summary>
        readonly List<Kept> doubtful = new List<Kept>();
        long sequence;
        long handed;
        long received;
        double lostMs;

        public void Add(double audioMs, Func<long, object> write)
        {
            sequence += 1;
            kept.Add(new Kept { Sequence = sequence, AudioMs = audioMs, Data = write(sequence) });
            double sum = 0;
            var events = 0;
            foreach (var frame in kept)
            {
                sum += frame.AudioMs;
                if (frame.AudioMs == 0) events += 1;
            }
            if (sum > MostAudioMs) GiveUp(frame => frame.AudioMs > 0);
            else if (events > MostEvents) GiveUp(frame => frame.AudioMs == 0);
        }

        /// <summary>The next frame that was not sent yet; null if there is none.</summary>
        public object Next()
        {
            foreach (var frame in kept)
            {
                if (frame.Sequence <= handed) continue;
                handed = frame.Sequence;
                return frame.Data;
            }
            return null;
        }

        public void Acknowledge(long processed, long safe)
        {
            received = Math.Max(received, processed);
            kept.RemoveAll(frame => frame.Sequence <= safe);
            doubtful.RemoveAll(frame => frame.Sequence <= safe);
        }

        /// <summary>Frames after this one will be sent again. Returns the milliseconds of sound that are lost.</summary>
        public double Resume(long processed)
        {
            received = processed;
            handed = processed;
            return TakeLost();
        }

        /// <summary>Goes on with another server process. What was sent is not sent again: it would be said twice.</summary>
        public double Restart()
        {
            doubtful.AddRange(kept.FindAll(frame => frame.Sequence <= handed));
            var lost = TakeLost();
            Acknowledge(handed, handed);
            return lost;
        }

        public double Reset()
        {
            doubtful.AddRange(kept);
            var lost = TakeLost();
            doubtful.Clear();
            kept.Clear();
            sequence = handed = received = 0;
            return lost;
        }

        double TakeLost()
        {
            var sum = lostMs;
            foreach (var frame in doubtful) if (frame.Sequence > received) sum += frame.AudioMs;
            doubtful.RemoveAll(frame => frame.Sequence > received);
            lostMs = 0;
            return sum;
        }

        void GiveUp(Predicate<Kept> isOfKind)
        {
            var index = kept.FindIndex(isOfKind);
            if (index < 0) return;
            var frame = kept[index];
            kept.RemoveAt(index);
            if (frame.Sequence > handed) lostMs += frame.AudioMs;
            else doubtful.Add(frame);
        }
    }
}
