using System;
using System.Collections.Generic;

namespace Dramatis
{
    /// <summary>Plays items one after the other and knows how much of each was heard. `Render` may run on the audio thread,
    /// everything else on the game's.</summary>
    public sealed class Speaker
    {
        sealed class Item
        {
            public string Id;
            public readonly Queue<short[]> Blocks = new Queue<short[]>();
            /// <summary>Samples of the first block that were rendered.</summary>
            public int Used;
            public int Queued;
            public int Rendered;
            public int Heard;
            public bool IsComplete;
        }

        struct Stretch
        {
            public Item Item;
            public long Until;
            public int Rendered;
        }

        readonly object gate = new object();
        readonly List<Item> items = new List<Item>();
        /// <summary>What was rendered and is not heard yet, by the clock of rendered samples.</summary>
        readonly Queue<Stretch> stretches = new Queue<Stretch>();
        long clock;

        /// <summary>Samples at 24 kHz between `Render` and the ear: what the engine's own buffers hold.</summary>
        public int LatencySamples { get; set; }

        /// <summary>True from the first samples of an item until it has ended or was stopped.</summary>
        public bool IsPlaying { get { lock (gate) return items.Count > 0; } }

        /// <summary>Fills a part of the buffer with mono sound at 24 kHz, with silence where there is none.</summary>
        public void Render(float[] output, int from, int count)
        {
            lock (gate)
            {
                Array.Clear(output, from, count);
                var filled = 0;
                foreach (var item in items)
                {
                    var taken = Take(item, output, from + filled, count - filled);
                    filled += taken;
                    if (taken > 0) stretches.Enqueue(new Stretch { Item = item, Until = clock + filled, Rendered = item.Rendered });
                    if (item.Queued > 0 || !item.IsComplete) break;
                }
                clock += count;
            }
        }

        static int Take(Item item, float[] output, int from, int most)
        {
            var filled = 0;
            while (filled < most && item.Blocks.Count > 0)
            {
                var block = item.Blocks.Peek();
                var count = Math.Min(most - filled, block.Length - item.Used);
                for (var index = 0; index < count; index += 1) output[from + filled + index] = block[item.Used + index] / 32768f;
                filled += count;
                item.Used += count;
                if (item.Used < block.Length) break;
                item.Blocks.Dequeue();
                item.Used = 0;
            }
            item.Queued -= filled;
            item.Rendered += filled;
            return filled;
        }

        internal void Play(string itemId, short[] samples)
        {
            lock (gate)
            {
                var item = items.Find(each => each.Id == itemId);
                if (item == null) items.Add(item = new Item { Id = itemId });
                item.Blocks.Enqueue(samples);
                item.Queued += samples.Length;
            }
        }

        internal void Complete(string itemId)
        {
            lock (gate)
            {
                var item = items.Find(each => each.Id == itemId);
                if (item != null) item.IsComplete = true;
            }
        }

        /// <summary>Silence at once. Returns the samples heard of each item that had not ended.</summary>
        internal Dictionary<string, int> Stop()
        {
            lock (gate)
            {
                Listen();
                var heard = new Dictionary<string, int>();
                foreach (var item in items) heard[item.Id] = item.Heard;
                items.Clear();
                stretches.Clear();
                return heard;
            }
        }

        /// <summary>Tells, in order, which items were heard further and which have ended since the last call.</summary>
        internal void Poll(Action<string, int> onHeard, Action<string> onEnded)
        {
            var told = new List<Action>();
            lock (gate)
            {
                var before = new Dictionary<Item, int>();
                foreach (var item in items) before[item] = item.Heard;
                Listen();
                foreach (var item in new List<Item>(items))
                {
                    var heard = item.Heard;
                    if (heard > before[item]) told.Add(() => onHeard(item.Id, heard));
                    if (!item.IsComplete || item.Queued > 0 || heard < item.Rendered) break;
                    items.Remove(item);
                    told.Add(() => onEnded(item.Id));
                }
            }
            foreach (var tell in told) tell();
        }

        void Listen()
        {
            var heard = clock - LatencySamples;
            while (stretches.Count > 0 && stretches.Peek().Until <= heard)
            {
                var stretch = stretches.Dequeue();
                stretch.Item.Heard = stretch.Rendered;
            }
            if (stretches.Count == 0) return;
            var next = stretches.Peek();
            next.Item.Heard = (int)Math.Max(next.Item.Heard, next.Rendered - (next.Until - heard));
        }
    }
}
