// Numbered frames over sockets that break.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "dialer.hpp"
#include "frame.hpp"
#include "json.hpp"
#include "outbox.hpp"

namespace dramatis {

struct TalkOptions {
    /// Id of the character, such as `alice`.
    std::string character;
    /// An API key or a client secret. Ship no API key in a game: fetch a client secret from your own server.
    std::string key;
    /// A number from 0 to 1 for the waits between two attempts to connect.
    std::function<double()> random = [] { return 0.5; };
};

/// Numbers frames in both directions over one socket after another and resumes after a loss, so that each arrives exactly once
/// and in order. Opens a new session if the old one is gone.
class Link {
public:
    struct Owner {
        std::function<void(const Json&)> take;
        std::function<void(const std::string& responseId, const std::string& itemId, double offset, const Samples&)> sound;
        std::function<void(const ConnectionChange&)> changed;
    };

    Link(TalkOptions options, Transport transport, Owner owner)
        : options_(std::move(options)),
          owner_(std::move(owner)),
          dialer_(std::move(transport), options_.random, [this] { dial(); }, [this](const ConnectionChange& change) { lost(change); }),
          heartbeat_([this] { beat(); }, [this] { dialer_.redial(); }) {}

    Link(const Link&) = delete;
    Link& operator=(const Link&) = delete;

    void open() {
        owner_.changed(ConnectionChange{"connecting"});
        dialer_.open();
    }

    void close() {
        token_.clear();
        isOpen_ = false;
        heartbeat_.stop();
        if (dialer_.close()) owner_.changed(ConnectionChange{"closed"});
    }

    void tick(double ms) {
        dialer_.tick(ms);
        heartbeat_.tick(ms);
    }

    void socketClosed(int code) { dialer_.socketClosed(code); }

    bool send(const Json& told) {
        if (!hasSession()) return false;
        push(0, [this, &told](std::int64_t number) { return Frame(numbered(told, number)); });
        return true;
    }

    /// Sends an event now or never.
    void mention(const Json& told) {
        if (isOpen_ && isOurs_) dialer_.send(numbered(told, 0));
    }

    bool sendAudio(const Bytes& pcm16, int player) {
        if (!hasSession()) return false;
        const std::int64_t offset = sentSamples_[player];
        sentSamples_[player] += static_cast<std::int64_t>(pcm16.size() / 2);
        push(static_cast<double>(pcm16.size() / 2) * 1000 / sampleRate, [&](std::int64_t number) {
            if (number > 0 && isBinary_) return Frame(encodeFrame(number, offset, pcm16, player));
            Json told = Json::object({{"type", "input_audio_buffer.append"}, {"audio", toBase64(pcm16)}});
            if (player != 0) told.set("x_dramatis", Json::object({{"player", player}}));
            return Frame(numbered(told, number));
        });
        return true;
    }

    void receiveText(const std::string& text) {
        dialer_.noteFrame();
        heartbeat_.heard();
        const Json told = Json::parse(text);
        if (!told["type"].text().empty()) handle(told);
    }

    void receiveBytes(const Bytes& bytes) {
        dialer_.noteFrame();
        heartbeat_.heard();
        const auto frame = decodeFrame(bytes);
        if (!frame || !isNext(frame->sequence)) return;
        const auto reply = replies_.find(frame->replyNumber);
        if (reply == replies_.end()) return;
        owner_.sound(reply->second.responseId, reply->second.itemId, static_cast<double>(frame->offset), frame->samples);
    }

private:
    struct Reply {
        std::string responseId;
        std::string itemId;
    };

    static constexpr const char* extensions = "binary,resume,hold,nod,notice,voice,cues,visemes";

    bool hasSession() const { return !token_.empty() || isOpen_; }

    /// As JSON with sequence number (unless 0) and what has been received.
    std::string numbered(const Json& told, std::int64_t number) const {
        if (token_.empty()) return told.write();
        Json copy = told;
        if (number > 0) copy.set("x_seq", number);
        return copy.set("x_ack", received_).write();
    }

    void push(double audioMs, const std::function<Frame(std::int64_t)>& write) {
        if (token_.empty()) return dialer_.send(write(0));
        outbox_.add(audioMs, write);
        pump();
    }

    void pump() {
        if (!isOpen_) return;
        for (const Frame* frame = outbox_.next(); frame != nullptr; frame = outbox_.next()) dialer_.send(*frame);
    }

    void dial() {
        const std::string x = std::string("x=") + extensions;
        const std::string query = token_.empty() ? "model=" + escaped(options_.character) + "&" + x : x + "&after=" + std::to_string(received_);
        std::vector<std::string> protocols = {"realtime"};
        if (!options_.key.empty()) protocols.push_back("openai-insecure-api-key." + options_.key);
        if (!token_.empty()) protocols.push_back("dramatis-resume." + token_);
        dialer_.transport().dial(query, protocols);
    }

    static std::string escaped(const std::string& text) {
        std::string safe;
        for (const char letter : text) {
            const bool isPlain = (letter >= '0' && letter <= '9') || (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || letter == '-' || letter == '_' || letter == '.';
            if (isPlain) safe += letter;
            else {
                const auto byte = static_cast<unsigned char>(letter);
                safe += '%';
                safe += "0123456789ABCDEF"[byte >> 4];
                safe += "0123456789ABCDEF"[byte & 15];
            }
        }
        return safe;
    }

    void lost(const ConnectionChange& change) {
        isOpen_ = false;
        heartbeat_.stop();
        if (change.kind != "lost") token_.clear();
        owner_.changed(change);
    }

    void beat() {
        if (!token_.empty()) mention(Json::object({{"type", "x_dramatis.ack"}}));
        pump();
    }

    void handle(const Json& told) {
        const std::string& type = told["type"].text();
        if (type == "session.created") begin(told["session"]);
        else if (type == "x_dramatis.resumed") return resume(told);
        else if (type == "x_dramatis.ack") return acknowledge(told);
        else if (type == "error") {
            const std::string& code = told["error"]["code"].text();
            if (code == "session_not_resumable" || code == "resume_not_allowed") {
                token_.clear();
                return dialer_.redial();
            }
            dialer_.noteError(told["error"]);
        }
        if (told["x_seq"].isNumber() && !isNext(static_cast<std::int64_t>(told["x_seq"].number()))) return;
        if (type == "response.output_audio.delta") return delta(told);
        name(told);
        owner_.take(told);
    }

    void acknowledge(const Json& told) {
        heartbeat_.answered();
        if (told["x_ack"].isNumber()) {
            const double processed = told["x_ack"].number();
            outbox_.acknowledge(static_cast<std::int64_t>(processed), static_cast<std::int64_t>(told["x_kept"].number(processed)));
        }
        pump();
    }

    void begin(const Json& session) {
        const Json& about = session["x_dramatis"];
        token_ = about["resume"]["token"].text();
        received_ = 0;
        mayJump_ = false;
        isOurs_ = !about["extensions"].items().empty();
        isBinary_ = about["extensions"].has("binary");
        replies_.clear();
        hadHere_ = hadThere_ = 0;
        opened(true, false, outbox_.reset());
    }

    void resume(const Json& told) {
        const bool isRestarted = told["restarted"].isTrue();
        const auto processed = static_cast<std::int64_t>(told["received"].number());
        if (isRestarted) mayJump_ = true;
        opened(false, isRestarted, isRestarted && !told["received"].isNumber() ? outbox_.restart() : outbox_.resume(processed));
        if (received_ > hadHere_ || processed > hadThere_) dialer_.noteTraffic();
        hadHere_ = received_;
        hadThere_ = processed;
    }

    void opened(bool isNew, bool isRestarted, double lostMs) {
        dialer_.establish();
        isOpen_ = true;
        owner_.changed(ConnectionChange{"open", isNew, isRestarted, lostMs});
        heartbeat_.start();
        pump();
    }

    /// True if this frame is the next one. A gap is filled by the next connection.
    bool isNext(std::int64_t sequence) {
        if (sequence <= received_) return false;
        if (sequence > received_ + 1 && !mayJump_) {
            dialer_.redial();
            return false;
        }
        received_ = sequence;
        mayJump_ = false;
        return true;
    }

    /// Notes which reply a number in a binary frame stands for.
    void name(const Json& told) {
        const std::string& type = told["type"].text();
        if (type == "response.created") {
            const Json& number = told["response"]["x_dramatis"]["number"];
            if (number.isNumber()) replies_[static_cast<int>(number.number())] = {told["response"]["id"].text(), ""};
        } else if (type == "response.output_item.added") {
            for (auto& [number, reply] : replies_)
                if (reply.responseId == told["response_id"].text()) reply.itemId = told["item"]["id"].text();
        } else if (type == "response.done") {
            for (auto reply = replies_.begin(); reply != replies_.end();)
                reply = reply->second.responseId == told["response"]["id"].text() ? replies_.erase(reply) : std::next(reply);
        }
    }

    void delta(const Json& told) {
        const Samples samples = samplesOf(fromBase64(told["delta"].text()));
        double& offset = receivedSamples_[told["item_id"].text()];
        owner_.sound(told["response_id"].text(), told["item_id"].text(), offset, samples);
        offset += static_cast<double>(samples.size());
    }

    TalkOptions options_;
    Owner owner_;
    Dialer dialer_;
    Heartbeat heartbeat_;
    Outbox outbox_;
    std::map<int, Reply> replies_;
    std::map<std::string, double> receivedSamples_;
    std::string token_;
    std::int64_t received_ = 0;
    /// The next number may be any: the server was restarted.
    bool mayJump_ = false;
    bool isOpen_ = false;
    bool isOurs_ = false;
    bool isBinary_ = false;
    /// By player.
    std::map<int, std::int64_t> sentSamples_;
    std::int64_t hadHere_ = 0;
    std::int64_t hadThere_ = 0;
};

}  // namespace dramatis
