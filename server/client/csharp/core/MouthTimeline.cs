using System;
using System.Collections.Generic;

namespace Dramatis
{
    /// <summary>The shapes of the mouth of one reply by sample at 24 kHz of its item, from `x_dramatis.visemes`.</summary>
    public sealed class MouthTimeline
    {
        /// <summary>Length of the crossfade, which ends as the next shape begins to sound: 60 ms.</summary>
        const int FadeSamples = 1440;

        struct Entry
        {
            public double From;
            /// <summary>Null: only the loudness is known.</summary>
            public string Viseme;
            public double Weight;
        }

        List<Entry> entries = new List<Entry>();
        double until;

        public void Tell(JsonObject told)
        {
            var from = told.Number("from") ?? 0;
            DropFrom(from);
            var visemes = told.List("visemes") ?? new List<object>();
            foreach (var each in visemes)
            {
                var row = (List<object>)each;
                entries.Add(new Entry { From = (double)row[0], Viseme = (string)row[1], Weight = row.Count > 2 ? (double)row[2] : 1 });
            }
            if (visemes.Count == 0) entries.Add(new Entry { From = from });
            until = told.Number("until") ?? double.PositiveInfinity;
        }

        /// <summary>After a hold, the last `later` samples before `at` (received so far) are said again, and what follows comes
        /// later.</summary>
        public void Resume(double at, double later)
        {
            if (later <= 0) return;
            var index = IndexAt(at - later);
            var again = index < 0 ? new Entry { Viseme = "sil", Weight = 1 } : entries[index];
            again.From = at;
            var moved = entries.FindAll(entry => entry.From > at - later);
            DropFrom(at);
            entries.Add(again);
            foreach (var entry in moved) entries.Add(new Entry { From = entry.From + later, Viseme = entry.Viseme, Weight = entry.Weight });
            until += later;
        }

        /// <summary>The weights of the shapes to draw at a sample, which fade into each other. Null: only the loudness is
        /// known.</summary>
        public Dictionary<string, double> WeightsAt(double sample)
        {
            var weights = new Dictionary<string, double>();
            if (sample >= until)
            {
                Add(weights, "sil", 1);
                return weights;
            }
            var index = IndexAt(sample);
            var now = index < 0 ? new Entry { Viseme = "sil", Weight = 1 } : entries[index];
            if (now.Viseme == null) return null;
            var hasNext = index + 1 < entries.Count;
            var end = Math.Min(hasNext ? entries[index + 1].From : double.PositiveInfinity, until);
            var following = hasNext ? entries[index + 1] : new Entry();
            if (end == until) following = new Entry { Viseme = "sil", Weight = 1 };
            if (following.Viseme == null || double.IsPositiveInfinity(end))
            {
                Add(weights, now.Viseme, now.Weight);
                return weights;
            }
            // Lips that close stay closed until the sound ends.
            var isOpening = now.Viseme == "PP" && following.Viseme != "PP";
            var share = isOpening ? 0 : Math.Max(0, 1 - (end - sample) / Math.Min(FadeSamples, end - now.From));
            Add(weights, now.Viseme, now.Weight * (1 - share));
            Add(weights, following.Viseme, following.Weight * share);
            return weights;
        }

        static void Add(Dictionary<string, double> weights, string viseme, double weight)
        {
            weights.TryGetValue(viseme, out var before);
            if (before + weight != 0) weights[viseme] = before + weight;
        }

        /// <summary>The last entry at or before a sample; -1 if there is none.</summary>
        int IndexAt(double sample)
        {
            var low = 0;
            var high = entries.Count;
            while (low < high)
            {
                var middle = (low + high) / 2;
                if (entries[middle].From <= sample) low = middle + 1;
                else high = middle;
            }
            return low - 1;
        }

        void DropFrom(double sample) => entries = entries.FindAll(entry => entry.From < sample);
    }
}
