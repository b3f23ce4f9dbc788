using System;
using System.Collections.Generic;

namespace Dramatis
{
    /// <summary>Numbers frames in both directions over one socket after another and resumes after a loss, so that each arrives
    /// exactly once and in order. Opens a new session if the old one is gone.</summary>
    sealed class Link
    {
        const string Extensions = "binary,resume,hold,nod,notice,voice,cues,visemes";

        readonly TalkOptions options;
        readonly Talk talk;
        readonly Dialer dialer;
        readonly Outbox outbox = new Outbox();
        readonly ReplySounds sounds = new ReplySounds();
        readonly Heartbeat heartbeat;
        string token;
        long received;
        /// <summary>The next number may be any: the server was restarted.</summary>
        bool mayJump;
        bool isOpen;
        bool isOurs;
        bool isBinary;
        readonly Dictionary<int, long> sentSamples = new Dictionary<int, long>();
        long hadHere;
        long hadThere;

        public Link(TalkOptions options, Talk talk, ITransport transport)
        {
            this.options = options;
            this.talk = talk;
            dialer = new Dialer(transport, options.Random, Dial, Lost);
            heartbeat = new Heartbeat(Beat, Redial);
        }

        public bool HasSession => token != null || isOpen;

        public void Open()
        {
            talk.Changed(new ConnectionChange("connecting"));
            dialer.Open();
        }

        public void Close()
        {
            End();
            isOpen = false;
            heartbeat.Stop();
            if (dialer.Close()) talk.Changed(new ConnectionChange("closed"));
        }

        public void Tick(double ms)
        {
            dialer.Tick(ms);
            heartbeat.Tick(ms);
        }

        public void SocketClosed(int code) => dialer.SocketClosed(code);

        public bool Send(JsonObject told)
        {
            if (!HasSession) return false;
            Push(0, number => Json.Write(Numbered(told, number)));
            return true;
        }

        /// <summary>Sends an event now or never.</summary>
        public void Mention(JsonObject told)
        {
            if (isOpen && isOurs) dialer.Send(Json.Write(Numbered(told, 0)));
        }

        public bool SendAudio(byte[] pcm16, int player)
        {
            if (!HasSession) return false;
            sentSamples.TryGetValue(player, out var offset);
            sentSamples[player] = offset + pcm16.Length / 2;
            Push(pcm16.Length / 2 * 1000.0 / Pcm.SampleRate, number =>
            {
                if (number > 0 && isBinary) return BinaryFrame.Encode(number, offset, pcm16, player);
                var told = new JsonObject().With("type", "input_audio_buffer.append").With("audio", Convert.ToBase64String(pcm16));
                if (player != 0) told.With("x_dramatis", new JsonObject().With("player", player));
                return Json.Write(Numbered(told, number));
            });
            return true;
        }

        /// <summary>A copy with sequence number (unless 0) and what has been received.</summary>
        JsonObject Numbered(JsonObject told, long number)
        {
            var copy = new JsonObject();
            foreach (var field in told) copy[field.Key] = field.Value;
            if (token == null) return copy;
            if (number > 0) copy.With("x_seq", number);
            return copy.With("x_ack", received);
        }

        void Push(double audioMs, Func<long, object> write)
        {
            if (token == null)
            {
                dialer.Send(write(0));
                return;
            }
            outbox.Add(audioMs, write);
            Pump();
        }

        void Pump()
        {
            if (!isOpen) return;
            for (var data = outbox.Next(); data != null; data = outbox.Next()) dialer.Send(data);
        }

        void Dial(ITransport transport)
        {
            var query = token == null ? "model=" + Uri.EscapeDataString(options.Character) + "&x=" + Extensions : "x=" + Extensions + "&after=" + received;
            var protocols = new List<string> { "realtime" };
            if (!string.IsNullOrEmpty(options.Key)) protocols.Add("openai-insecure-api-key." + options.Key);
            if (token != null) protocols.Add("dramatis-resume." + token);
            transport.Dial(query, protocols);
        }

        void Lost(ConnectionChange change)
        {
            isOpen = false;
            heartbeat.Stop();
            if (change.Kind != "lost") End();
            talk.Changed(change);
        }

        void End() => token = null;

        void Redial() => dialer.Redial();

        void Beat()
        {
            if (token != null) Mention(new JsonObject().With("type", "x_dramatis.ack"));
            Pump();
        }

        public void ReceiveText(string text)
        {
            dialer.NoteFrame();
            heartbeat.Heard();
            if (Json.Parse(text) is JsonObject told && told.Text("type") != null) Handle(told);
        }

        public void ReceiveBytes(byte[] bytes)
        {
            dialer.NoteFrame();
            heartbeat.Heard();
            var frame = BinaryFrame.Decode(bytes);
            if (frame == null || !IsNext(frame.Sequence)) return;
            if (sounds.IsKnown(frame.ReplyNumber, out var responseId, out var itemId)) talk.Sound(responseId, itemId, frame.Offset, frame.Samples);
        }

        void Handle(JsonObject told)
        {
            switch (told.Text("type"))
            {
                case "session.created":
                    Begin(told.Object("session"));
                    break;
                case "x_dramatis.resumed":
                    Resume(told);
                    return;
                case "x_dramatis.ack":
                    heartbeat.Answered();
                    var processed = told.Number("x_ack");
                    if (processed != null) outbox.Acknowledge((long)processed, (long)(told.Number("x_kept") ?? processed));
                    Pump();
                    return;
                case "error":
                    var code = told.Object("error")?.Text("code");
                    if (code == "session_not_resumable" || code == "resume_not_allowed")
                    {
                        token = null;
                        Redial();
                        return;
                    }
                    dialer.NoteError(told.Object("error"));
                    break;
            }
            var number = told.Number("x_seq");
            if (number != null && !IsNext((long)number)) return;
            if (sounds.Take(told, out var offset, out var samples)) talk.Sound(told.Text("response_id"), told.Text("item_id"), offset, samples);
            else talk.Take(told);
        }

        void Begin(JsonObject session)
        {
            var about = session?.Object("x_dramatis");
            var extensions = about?.List("extensions") ?? new List<object>();
            token = about?.Object("resume")?.Text("token");
            received = 0;
            mayJump = false;
            isOurs = extensions.Count > 0;
            isBinary = extensions.Contains("binary");
            sounds.Clear();
            hadHere = hadThere = 0;
            Opened(true, false, outbox.Reset());
        }

        void Resume(JsonObject told)
        {
            var isRestarted = told.Flag("restarted") == true;
            var processed = told.Number("received");
            if (isRestarted) mayJump = true;
            Opened(false, isRestarted, isRestarted && processed == null ? outbox.Restart() : outbox.Resume((long)(processed ?? 0)));
            if (received > hadHere || (processed ?? 0) > hadThere) dialer.NoteTraffic();
            hadHere = received;
            hadThere = (long)(processed ?? 0);
        }

        void Opened(bool isNew, bool isRestarted, double lostMs)
        {
            dialer.Establish();
            isOpen = true;
            talk.Changed(new ConnectionChange("open") { IsNew = isNew, IsRestarted = isRestarted, LostMs = lostMs });
            heartbeat.Start();
            Pump();
        }

        /// <summary>True if this frame is the next one. A gap is filled by the next connection.</summary>
        bool IsNext(long sequence)
        {
            if (sequence <= received) return false;
            if (sequence > received + 1 && !mayJump)
            {
                Redial();
                return false;
            }
            received = sequence;
            mayJump = false;
            return true;
        }
    }
}
