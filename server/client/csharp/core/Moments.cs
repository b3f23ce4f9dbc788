using System;
using System.Collections.Generic;

namespace Dramatis
{
    /// <summary>Tells cues and actions when their sample is heard. What the user does not hear never happens.</summary>
    sealed class Moments
    {
        sealed class Moment
        {
            public double At;
            public JsonObject Event;
        }

        readonly Action<JsonObject> onDue;
        List<Moment> waiting = new List<Moment>();

        public Moments(Action<JsonObject> onDue)
        {
            this.onDue = onDue;
        }

        public void Take(JsonObject told)
        {
            switch (told.Text("type"))
            {
                case "x_dramatis.cue":
                case "x_dramatis.action":
                    // A reply without words has no item: its actions wait for nothing.
                    if (told.Text("action_id") != null && told.Text("item_id") == null)
                    {
                        onDue(told);
                        break;
                    }
                    var at = told.Number("samples") ?? 0;
                    var index = waiting.FindIndex(each => each.At > at);
                    waiting.Insert(index < 0 ? waiting.Count : index, new Moment { At = at, Event = told });
                    break;
                case "x_dramatis.resume":
                    // The clause is said again: what was not heard of it comes later.
                    foreach (var each in waiting)
                        if (each.Event.Text("response_id") == told.Text("response_id")) each.At += told.Number("later_samples") ?? 0;
                    break;
                case "x_dramatis.action_off":
                    waiting.RemoveAll(each => each.Event.Text("action_id") == told.Text("action_id"));
                    break;
            }
        }

        public void Heard(string itemId, string responseId, double samples)
        {
            var due = waiting.FindAll(each => each.At < samples && IsIn(each.Event, itemId, responseId));
            waiting.RemoveAll(due.Contains);
            foreach (var each in due) onDue(each.Event);
        }

        /// <summary>A cue that comes before its item was opened names the response alone.</summary>
        static bool IsIn(JsonObject told, string itemId, string responseId)
        {
            var item = told.Text("item_id");
            return item == null ? told.Text("response_id") == responseId : item == itemId;
        }

        public void ForgetItem(string itemId) => waiting.RemoveAll(each => each.Event.Text("item_id") == itemId);

        public void ForgetResponses(ICollection<string> ids) => waiting.RemoveAll(each => ids.Contains(each.Event.Text("response_id")));
    }
}
