using System;
using System.Collections.Generic;
using System.Linq;

namespace Dramatis
{
    /// <summary>Plays replies, tells the server how much of them was heard, and cuts them off when the user speaks.</summary>
    sealed class Player
    {
        /// <summary>`event_id` of what the client sends unasked; errors about it mean nothing.</summary>
        public const string Unasked = "unasked";
        const int ReportSamples = 3600;

        sealed class Item
        {
            public string Id;
            public string ResponseId;
            public int Received;
            /// <summary>Received before the last hold; will not be played.</summary>
            public int Base;
            /// <summary>Heard when the last hold came; -1 if there was none.</summary>
            public int Held = -1;

            public int Heard(int played) => Math.Min(played > 0 ? Base + played : Held >= 0 ? Held : Base, Received);
        }

        readonly Talk talk;
        readonly Speaker speaker;
        readonly List<Item> items = new List<Item>();
        /// <summary>Responses that were cut off here while the server still made them.</summary>
        readonly HashSet<string> cut = new HashSet<string>();
        /// <summary>Responses in progress of which sound has come.</summary>
        readonly HashSet<string> begun = new HashSet<string>();
        bool canInterrupt = true;
        bool tellsHeard;
        string reported;
        int reportedSamples;

        public Player(Talk talk, Speaker speaker)
        {
            this.talk = talk;
            this.speaker = speaker;
        }

        public bool IsPlaying => speaker.IsPlaying || items.Any(item => item.Held >= 0);

        public bool IsCut(string responseId) => cut.Contains(responseId);

        /// <summary>Reports what was heard since the last call.</summary>
        public void Update() => speaker.Poll(Progress, Ended);

        public void Take(JsonObject told)
        {
            switch (told.Text("type"))
            {
                case "session.created":
                case "session.updated":
                    Obey(told.Object("session"));
                    break;
                case "input_audio_buffer.speech_started":
                    if (IsPlaying && canInterrupt) Cut(null, true);
                    break;
                case "x_dramatis.hold":
                    Hold();
                    break;
                case "response.output_item.added":
                    var added = told.Object("item");
                    if (added?.Text("type") != "message") break;
                    if (!IsCut(told.Text("response_id"))) Open(added.Text("id"), told.Text("response_id"));
                    else if (!begun.Contains(told.Text("response_id"))) Truncate(added.Text("id"), 0);
                    break;
                case "response.output_audio.done":
                    speaker.Complete(told.Text("item_id"));
                    break;
                case "response.done":
                    Done(told.Object("response"));
                    break;
            }
        }

        public void Play(string itemId, string responseId, short[] samples)
        {
            if (IsCut(responseId)) return;
            var item = Open(itemId, responseId);
            begun.Add(responseId);
            item.Received += samples.Length;
            speaker.Play(itemId, samples);
            talk.Note(PlaybackKind.Play, itemId, 0, samples);
        }

        /// <summary>Stops at once. `active`: the response in progress, of which nothing may have come.</summary>
        public void Cut(string active, bool tells)
        {
            var stopped = items.ToList();
            items.Clear();
            var ids = stopped.Select(item => item.ResponseId).Concat(active == null ? new string[0] : new[] { active }).Distinct().ToList();
            if (ids.Count == 0) return;
            foreach (var id in ids) if (talk.IsActive(id)) cut.Add(id);
            talk.LipSync.Stopped(ids);
            talk.Moments.ForgetResponses(ids);
            var isUnheard = active != null && !begun.Contains(active);
            var played = new Dictionary<string, int>();
            if (speaker.IsPlaying) played = Silence();
            foreach (var item in stopped)
            {
                var heard = item.Heard(played.TryGetValue(item.Id, out var samples) ? samples : 0);
                Close(item, heard);
                if (!tells || item.Received == 0 && item.ResponseId != active) continue;
                if (item.Received > 0) Report(item.ResponseId, heard, true, false);
                Truncate(item.Id, heard);
            }
            if (tells && isUnheard) Report(active, 0, true, false);
        }

        /// <summary>The session is gone.</summary>
        public void Abandon()
        {
            Cut(null, false);
            cut.Clear();
            begun.Clear();
        }

        Dictionary<string, int> Silence()
        {
            talk.Note(PlaybackKind.Stop, null, 0, null);
            return speaker.Stop();
        }

        void Close(Item item, int heard)
        {
            talk.LipSync.Ended(item.Id);
            talk.Moments.ForgetItem(item.Id);
            talk.Note(PlaybackKind.Cut, item.Id, heard, null);
        }

        /// <summary>The user makes a sound: sound that was not heard is dropped; the server sends it again.</summary>
        void Hold()
        {
            var held = items.Where(item => item.Received != item.Base).ToList();
            var played = Silence();
            foreach (var item in held)
            {
                var heard = item.Heard(played.TryGetValue(item.Id, out var samples) ? samples : 0);
                item.Base = item.Received;
                item.Held = heard;
                Report(item.ResponseId, heard, true, true);
                if (!talk.IsActive(item.ResponseId)) EndHeld(item);
            }
        }

        void EndHeld(Item item)
        {
            items.Remove(item);
            var heard = item.Heard(0);
            Close(item, heard);
            Truncate(item.Id, heard);
        }

        void Progress(string itemId, int played)
        {
            var item = items.Find(each => each.Id == itemId);
            if (item == null) return;
            var heard = played + item.Base;
            Played(item.ResponseId, heard, false);
            talk.LipSync.Heard(itemId, item.ResponseId, heard);
            talk.Moments.Heard(itemId, item.ResponseId, heard);
        }

        void Ended(string itemId)
        {
            var item = items.Find(each => each.Id == itemId);
            if (item == null) return;
            items.Remove(item);
            Played(item.ResponseId, item.Received, true);
            talk.LipSync.Ended(itemId);
            talk.Moments.Heard(itemId, item.ResponseId, double.PositiveInfinity);
            talk.Note(PlaybackKind.Ended, itemId, item.Received, null);
        }

        void Done(JsonObject response)
        {
            var id = response.Text("id");
            var wasCut = cut.Remove(id);
            if (response.Text("status") == "cancelled" && !wasCut)
            {
                Cut(id, true);
                cut.Remove(id);
                begun.Remove(id);
                return;
            }
            begun.Remove(id);
            foreach (var item in items.Where(each => each.ResponseId == id).ToList())
            {
                speaker.Complete(item.Id);
                if (item.Received == 0) Ended(item.Id);
                else if (item.Held >= 0 && item.Received == item.Base) EndHeld(item);
            }
        }

        void Obey(JsonObject session)
        {
            var detection = session?.Object("audio")?.Object("input")?.Object("turn_detection");
            canInterrupt = detection?.Flag("interrupt_response") != false;
            tellsHeard = session?.Object("x_dramatis")?.List("extensions")?.Contains("heard") == true;
        }

        Item Open(string itemId, string responseId)
        {
            var known = items.Find(each => each.Id == itemId);
            if (known == null) items.Add(known = new Item { Id = itemId, ResponseId = responseId });
            return known;
        }

        /// <summary>Reports soon after the start, every 150 ms, and at the end.</summary>
        void Played(string responseId, int samples, bool isLast)
        {
            if (responseId != reported) reportedSamples = int.MinValue / 2;
            reported = responseId;
            if (samples <= 0 || samples - reportedSamples < ReportSamples && !isLast) return;
            reportedSamples = samples;
            Report(responseId, samples, isLast, false);
        }

        void Report(string responseId, int samples, bool isFinal, bool isHeld)
        {
            if (!tellsHeard) return;
            var told = new JsonObject().With("type", "x_dramatis.heard").With("event_id", Unasked).With("response_id", responseId).With("samples", samples);
            if (isHeld) told.With("held", true);
            if (isFinal) talk.Send(told);
            else talk.Mention(told);
        }

        void Truncate(string itemId, int heard)
        {
            var told = new JsonObject().With("type", "conversation.item.truncate").With("event_id", Unasked).With("item_id", itemId);
            talk.Send(told.With("content_index", 0).With("audio_end_ms", heard * 1000L / Pcm.SampleRate));
        }
    }
}
