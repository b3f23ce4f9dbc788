using System.Collections.Generic;

namespace Dramatis
{
    /// <summary>The mouth of the speaker at the sample that is heard now.</summary>
    public sealed class LipSync
    {
        sealed class Item
        {
            public readonly MouthTimeline Timeline = new MouthTimeline();
            public string ResponseId;
            public double Received;
            public bool IsTold;
        }

        readonly Dictionary<string, Item> items = new Dictionary<string, Item>();
        string heardItem;
        double heardSamples;
        string heldResponse;

        /// <summary>The weights of the shapes to draw now. Closed (`sil`) if nothing is heard. Null: only the loudness is
        /// known.</summary>
        public Dictionary<string, double> Weights() => WeightsAt(heardSamples);

        /// <summary>The same at another sample at 24 kHz of the item that is heard.</summary>
        public Dictionary<string, double> WeightsAt(double sample)
        {
            if (heardItem == null) return new Dictionary<string, double> { { "sil", 1 } };
            return items.TryGetValue(heardItem, out var item) && item.IsTold ? item.Timeline.WeightsAt(sample) : null;
        }

        internal void Take(JsonObject told)
        {
            switch (told.Text("type"))
            {
                case "x_dramatis.visemes":
                    var item = Find(told.Text("item_id"), told.Text("response_id"));
                    item.IsTold = true;
                    item.Timeline.Tell(told);
                    break;
                case "x_dramatis.hold":
                    heldResponse = told.Text("response_id");
                    heardItem = null;
                    break;
                case "x_dramatis.resume":
                    foreach (var each in items.Values)
                        if (each.ResponseId == told.Text("response_id")) each.Timeline.Resume(each.Received, told.Number("later_samples") ?? 0);
                    break;
                case "response.done":
                    var response = told.Object("response");
                    if (response?.Text("status") == "cancelled") Drop(new[] { response.Text("id") });
                    break;
            }
        }

        internal void Received(string itemId, string responseId, double samples)
        {
            Find(itemId, responseId).Received = samples;
            if (heldResponse == responseId) heldResponse = null;
        }

        internal void Heard(string itemId, string responseId, double samples)
        {
            if (heldResponse == responseId) return;
            heardItem = itemId;
            heardSamples = samples;
        }

        internal void Stopped(ICollection<string> responseIds)
        {
            heardItem = null;
            Drop(responseIds);
        }

        internal void Ended(string itemId)
        {
            if (heardItem == itemId) heardItem = null;
            items.Remove(itemId);
        }

        void Drop(ICollection<string> responseIds)
        {
            foreach (var item in new List<KeyValuePair<string, Item>>(items))
                if (responseIds.Contains(item.Value.ResponseId)) items.Remove(item.Key);
        }

        Item Find(string itemId, string responseId)
        {
            if (items.TryGetValue(itemId, out var known)) return known;
            return items[itemId] = new Item { ResponseId = responseId };
        }
    }
}
