using System;
using System.Collections.Generic;

namespace Dramatis
{
    /// <summary>Knows which reply a number in a binary frame stands for, and reads sound that comes as base64.</summary>
    sealed class ReplySounds
    {
        sealed class Reply
        {
            public string ResponseId;
            public string ItemId = "";
        }

        readonly Dictionary<int, Reply> replies = new Dictionary<int, Reply>();
        readonly Dictionary<string, long> received = new Dictionary<string, long>();

        public void Clear() => replies.Clear();

        public bool IsKnown(int number, out string responseId, out string itemId)
        {
            var isKnown = replies.TryGetValue(number, out var reply);
            responseId = reply?.ResponseId;
            itemId = reply?.ItemId;
            return isKnown;
        }

        /// <summary>True if the event is sound in base64.</summary>
        public bool Take(JsonObject told, out long offset, out short[] samples)
        {
            offset = 0;
            samples = null;
            switch (told.Text("type"))
            {
                case "response.created":
                    var number = told.Object("response")?.Object("x_dramatis")?.Number("number");
                    if (number != null) replies[(int)number] = new Reply { ResponseId = told.Object("response").Text("id") };
                    break;
                case "response.output_item.added":
                    foreach (var reply in replies.Values)
                        if (reply.ResponseId == told.Text("response_id")) reply.ItemId = told.Object("item").Text("id");
                    break;
                case "response.done":
                    foreach (var reply in new List<KeyValuePair<int, Reply>>(replies))
                        if (reply.Value.ResponseId == told.Object("response")?.Text("id")) replies.Remove(reply.Key);
                    break;
                case "response.output_audio.delta":
                    samples = Pcm.FromBytes(Convert.FromBase64String(told.Text("delta") ?? ""));
                    received.TryGetValue(told.Text("item_id"), out offset);
                    received[told.Text("item_id")] = offset + samples.Length;
                    return true;
            }
            return false;
        }
    }
}
