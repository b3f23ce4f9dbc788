using System;
using System.Collections.Concurrent;
using System.Collections.Generic;
using System.IO;
using System.Net.WebSockets;
using System.Text;
using System.Threading;
using System.Threading.Tasks;

namespace Dramatis
{
    /// <summary>The socket of .NET. Its frames wait until `Pump` hands them to the talk, on the game's thread.</summary>
    public sealed class ClientSocket : ITransport
    {
        readonly Uri server;
        readonly ConcurrentQueue<Arrival> arrivals = new ConcurrentQueue<Arrival>();
        Line line;

        struct Arrival
        {
            public Line From;
            public Action<Talk> Tell;
        }

        /// <param name="url">of the server, such as http://localhost:8080</param>
        public ClientSocket(string url)
        {
            var address = new UriBuilder(url);
            address.Scheme = address.Scheme.Replace("http", "ws");
            if (address.Path == "/") address.Path = "/v1/realtime";
            server = address.Uri;
        }

        /// <summary>Hands over what has come. Call it once a frame, before `Talk.Update`.</summary>
        public void Pump(Talk talk)
        {
            while (arrivals.TryDequeue(out var arrival))
                if (arrival.From == line) arrival.Tell(talk);
        }

        public void Dial(string query, IList<string> protocols)
        {
            line?.Close(4000);
            var address = new UriBuilder(server) { Query = query };
            line = new Line(address.Uri, protocols, (from, tell) => arrivals.Enqueue(new Arrival { From = from, Tell = tell }));
        }

        public void Send(string text) => line?.Send(WebSocketMessageType.Text, Encoding.UTF8.GetBytes(text));

        public void Send(byte[] bytes) => line?.Send(WebSocketMessageType.Binary, bytes);

        public void Close(int code)
        {
            line?.Close(code);
            line = null;
        }

        /// <summary>One connection.</summary>
        sealed class Line
        {
            struct Outgoing
            {
                public WebSocketMessageType Type;
                public byte[] Bytes;
                public int CloseCode;
            }

            readonly ClientWebSocket socket = new ClientWebSocket();
            readonly CancellationTokenSource end = new CancellationTokenSource();
            readonly ConcurrentQueue<Outgoing> outgoing = new ConcurrentQueue<Outgoing>();
            readonly SemaphoreSlim isWaiting = new SemaphoreSlim(0);
            readonly Action<Line, Action<Talk>> tell;

            public Line(Uri address, IList<string> protocols, Action<Line, Action<Talk>> tell)
            {
                this.tell = tell;
                foreach (var protocol in protocols) socket.Options.AddSubProtocol(protocol);
                Task.Run(() => Run(address));
            }

            public void Send(WebSocketMessageType type, byte[] bytes)
            {
                outgoing.Enqueue(new Outgoing { Type = type, Bytes = bytes });
                isWaiting.Release();
            }

            public void Close(int code)
            {
                outgoing.Enqueue(new Outgoing { Type = WebSocketMessageType.Close, CloseCode = code });
                isWaiting.Release();
                end.CancelAfter(2000);
            }

            async Task Run(Uri address)
            {
                var code = 1006;
                try
                {
                    await socket.ConnectAsync(address, end.Token).ConfigureAwait(false);
                    var receiving = ReceiveAll();
                    await Task.WhenAll(SendAll(), receiving).ConfigureAwait(false);
                    code = receiving.Result;
                }
                catch (Exception fault)
                {
                    // .NET Standard does not tell the status otherwise.
                    if (fault.Message.Contains("401") || fault.Message.Contains("403")) code = 1008;
                }
                socket.Dispose();
                tell(this, talk => talk.SocketClosed(code));
            }

            async Task SendAll()
            {
                try
                {
                    for (; ; )
                    {
                        await isWaiting.WaitAsync(end.Token).ConfigureAwait(false);
                        // Declared apart: Mono's compiler fails on `out var` in an asynchronous method.
                        Outgoing next;
                        if (!outgoing.TryDequeue(out next)) continue;
                        if (next.Type == WebSocketMessageType.Close)
                        {
                            await socket.CloseOutputAsync((WebSocketCloseStatus)next.CloseCode, "", end.Token).ConfigureAwait(false);
                            return;
                        }
                        await socket.SendAsync(new ArraySegment<byte>(next.Bytes), next.Type, true, end.Token).ConfigureAwait(false);
                    }
                }
                catch (Exception)
                {
                    // The receiver learns of it, too.
                }
            }

            async Task<int> ReceiveAll()
            {
                try
                {
                    return await ReceiveUntilClosed().ConfigureAwait(false);
                }
                finally
                {
                    // The sender waits no longer.
                    end.Cancel();
                }
            }

            async Task<int> ReceiveUntilClosed()
            {
                var buffer = new ArraySegment<byte>(new byte[65536]);
                var message = new MemoryStream();
                for (; ; )
                {
                    var part = await socket.ReceiveAsync(buffer, end.Token).ConfigureAwait(false);
                    if (part.MessageType == WebSocketMessageType.Close) return (int)(part.CloseStatus ?? WebSocketCloseStatus.NormalClosure);
                    message.Write(buffer.Array, 0, part.Count);
                    if (!part.EndOfMessage) continue;
                    var bytes = message.ToArray();
                    message.SetLength(0);
                    if (part.MessageType == WebSocketMessageType.Binary) tell(this, talk => talk.SocketBytes(bytes));
                    else
                    {
                        var text = Encoding.UTF8.GetString(bytes);
                        tell(this, talk => talk.SocketText(text));
                    }
                }
            }
        }
    }
}
